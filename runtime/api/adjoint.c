/* Derivatives: tapes, bars and dots, and what the program says of kernels. */
#include <string.h>

#include "api/api.h"
#include "backend/backend.h"
#include "base/list.h"
#include "ranks/agree.h"
#include "spread/data.h"
#include "tape/tape.h"

static struct tape *find(struct op_context *ctx, op_tape handle, const char *call) {
  return api_object(ctx, handle, HANDLE_TAPE, call, "the tape");
}

/* Derivatives are made of texts, and are texts. */
static int check_texts_run(const struct op_context *ctx, const char *call) {
  if (ctx->compiled)
    return error_set(api_error(), OP_ERR_STATE,
                     "%s: kernels that are functions of the program have no text to be differentiated; use "
                     "op_par_loop of op2jit.h",
                     call);
  if (ctx->backend == &backend_native)
    return error_set(
        api_error(), OP_ERR_BACKEND,
        "%s: the backend native runs functions of the program, and derivatives are texts; choose "
        "a backend that compiles (op2jit info lists those here)",
        call);
  return OP_OK;
}

/* ---- tapes ---- */

static void check_begin(struct op_context *ctx, int ninputs, const op_dat inputs[], struct dat **dats) {
  struct error *err = api_error();
  if (check_texts_run(ctx, "op_tape_begin"))
    return;
  if (ctx->tapes && ctx->tapes->tape)
    error_set(err, OP_ERR_STATE,
              ctx->tapes->tape->recording ? "op_tape_begin: a tape records already; call op_tape_end first"
                                          : "op_tape_begin: there is a tape, which keeps what it needs; call "
                                            "op_tape_free first, or op_tape_reverse for the last time");
  else if (ninputs < 0 || (ninputs && !inputs))
    error_set(err, OP_ERR_ARGUMENT, "op_tape_begin: %d inputs at %s; expected 0 or more, and where they are",
              ninputs, inputs ? "an address" : "NULL");
  for (int i = 0; !err->code && i < ninputs; i++) {
    dats[i] = api_object(ctx, inputs[i], HANDLE_DAT, "op_tape_begin", "an input");
    if (dats[i] && !lend_check_placed(dats[i], "op_tape_begin", err) && !type_is_real(dats[i]->type))
      error_set(err, OP_ERR_TYPE,
                "op_tape_begin: dat \"%s\" is of type \"%s\", which has no real numbers; there is no "
                "derivative by it",
                dats[i]->name, type_info(dats[i]->type)->name);
  }
}

op_tape op2jit_tape_begin(int ninputs, const op_dat inputs[], size_t bytes) {
  struct op_context *ctx = api_enter("op_tape_begin", FLUSH);
  if (!ctx)
    return NULL;
  struct dat **dats = array_new(ninputs > 0 ? (size_t)ninputs : 0, sizeof *dats);
  struct tape *tape = NULL;
  if (!dats)
    error_memory(api_error(), "the inputs of a tape", (size_t)ninputs * sizeof *dats);
  else
    check_begin(ctx, ninputs, inputs, dats);
  const int code = api_agree("op_tape_begin\ninputs\t%d\nbytes\t%zu\n", ninputs, bytes);
  if (!code)
    tape = tape_begin(ctx, ninputs, dats, bytes, api_error());
  free(dats);
  return api_leave_pointer(tape ? tape->handle : NULL);
}

/* The one that records; NULL with the error set. */
static struct tape *recording(const struct op_context *ctx, const char *call) {
  struct tape *tape = ctx->tapes ? ctx->tapes->tape : NULL;
  if (api_error()->code)
    return NULL;
  if (tape && tape->recording)
    return tape;
  error_set(api_error(), OP_ERR_STATE,
            "%s: nothing is recorded; call it between op_tape_begin and op_tape_end", call);
  return NULL;
}

static int leave_with_input(struct thing *thing, int code) {
  if (!code)
    thing->used = thing->input = thing->varied = true;
  return api_leave(code);
}

int op2jit_tape_input_gbl(op_gbl handle) {
  struct op_context *ctx = api_enter("op_tape_input_gbl", FLUSH);
  if (!ctx)
    return api_refused();
  struct gbl *gbl = api_object(ctx, handle, HANDLE_GBL, "op_tape_input_gbl", "the global");
  struct thing *thing =
      gbl && recording(ctx, "op_tape_input_gbl") ? thing_of_gbl(ctx, gbl, api_error()) : NULL;
  if (thing && !thing->real)
    error_set(api_error(), OP_ERR_TYPE,
              "op_tape_input_gbl: global \"%s\" is of type \"%s\", which has no real numbers", gbl->name,
              type_info(gbl->type)->name);
  const int code = api_agree("op_tape_input_gbl of global \"%s\"\n", gbl ? gbl->name : "");
  return leave_with_input(thing, code);
}

/* NULL with the error set. */
static struct thing *find_constant(struct op_context *ctx, const char *name, const char *call) {
  const struct constant *constant = name ? mesh_find_constant(ctx->mesh, name) : NULL;
  if (!constant)
    error_set(api_error(), OP_ERR_CONST, "%s: there is no constant \"%s\"", call, name ? name : "(NULL)");
  else if (type_is_struct(constant->type) || !type_is_real(constant->type))
    error_set(api_error(), OP_ERR_TYPE,
              "%s: constant \"%s\" is of type \"%s\"; derivatives are by double and float", call, name,
              type_info(constant->type)->name);
  return api_error()->code ? NULL : thing_of_constant(ctx, constant, api_error());
}

int op2jit_tape_input_const(const char *name) {
  struct op_context *ctx = api_enter("op_tape_input_const", FLUSH);
  if (!ctx)
    return api_refused();
  struct thing *thing =
      recording(ctx, "op_tape_input_const") ? find_constant(ctx, name, "op_tape_input_const") : NULL;
  const int code = api_agree("op_tape_input_const of \"%s\"\n", thing ? thing_name(thing) : "");
  return leave_with_input(thing, code);
}

static int tell(const char *call, int (*does)(struct op_context *ctx, struct tape *tape, struct error *err)) {
  struct op_context *ctx = api_enter(call, FLUSH);
  if (!ctx)
    return api_refused();
  struct tape *tape = recording(ctx, call);
  const int code = api_agree("%s", call);
  return api_leave(code ? code : does(ctx, tape, api_error()));
}

static int make_passive(struct op_context *ctx, struct tape *tape, struct error *err) {
  (void)ctx, (void)err;
  tape->passive = true;
  return OP_OK;
}

int op2jit_tape_passive(void) {
  return tell("op_tape_passive", make_passive);
}

int op2jit_tape_step(void) {
  return tell("op_tape_step", tape_step);
}

int op2jit_tape_fixed_begin(double tolerance, int most) {
  struct op_context *ctx = api_enter("op_tape_fixed_begin", FLUSH);
  if (!ctx)
    return api_refused();
  struct tape *tape = recording(ctx, "op_tape_fixed_begin");
  if (tape && !(tolerance > 0 && tolerance < 1 && most > 1))
    error_set(api_error(), OP_ERR_ARGUMENT,
              "op_tape_fixed_begin: tolerance %g, %d rounds; expected one between 0 and 1, and 2 or more",
              tolerance, most);
  const int code = api_agree("op_tape_fixed_begin\ntolerance\t%a\nmost\t%d\n", tolerance, most);
  return api_leave(code ? code : fixed_begin(ctx, tape, tolerance, most, api_error()));
}

int op2jit_tape_round(void) {
  return tell("op_tape_round", fixed_round);
}

int op2jit_tape_fixed_end(void) {
  return tell("op_tape_fixed_end", fixed_end);
}

int op2jit_tape_end(op_tape handle) {
  struct op_context *ctx = api_enter("op_tape_end", FLUSH);
  if (!ctx)
    return api_refused();
  struct tape *tape = find(ctx, handle, "op_tape_end");
  if (tape && !tape->recording)
    error_set(api_error(), OP_ERR_STATE, "op_tape_end: the tape has ended already");
  int code = api_agree("op_tape_end");
  if (!code)
    code = tape_end(ctx, tape, api_error());
  return api_leave(code);
}

static void check_reverse(const struct op_context *ctx, const struct tape *tape, const char *call) {
  if (tape->spent)
    error_set(api_error(), OP_ERR_STATE, "%s: the tape was reversed for the last time; record a new one",
              call);
  else if (tape->recording)
    error_set(api_error(), OP_ERR_STATE, "%s: the tape still records; call op_tape_end first", call);
  else if (tape->broken)
    error_set(api_error(), OP_ERR_STATE,
              "%s: a call failed while the tape recorded, or was reversed; record a new one", call);
  else
    lend_check_all(ctx, call, api_error());
}

int op2jit_tape_reverse(op_tape handle, int last) {
  struct op_context *ctx = api_enter("op_tape_reverse", FLUSH);
  if (!ctx)
    return api_refused();
  struct tape *tape = find(ctx, handle, "op_tape_reverse");
  if (tape)
    check_reverse(ctx, tape, "op_tape_reverse");
  const int code = api_agree("op_tape_reverse\nlast\t%d\n", last != 0);
  return api_leave(code ? code : tape_reverse(ctx, tape, last != 0, api_error()));
}

int op2jit_tape_check(op_tape handle, int seed, double *difference) {
  struct op_context *ctx = api_enter("op_tape_check", FLUSH);
  if (!ctx)
    return api_refused();
  struct tape *tape = find(ctx, handle, "op_tape_check");
  if (tape)
    check_reverse(ctx, tape, "op_tape_check");
  if (tape && tape->carries && !api_error()->code)
    error_set(api_error(), OP_ERR_STATE,
              "op_tape_check: the tape records tangents, and the test would need others; check one without");
  if (tape && !difference && !api_error()->code)
    error_set(api_error(), OP_ERR_ARGUMENT, "op_tape_check: the place for the difference is NULL");
  const int code = api_agree("op_tape_check\nseed\t%d\n", seed);
  return api_leave(code ? code : tape_check(ctx, tape, (unsigned)seed, difference, api_error()));
}

int op2jit_tape_facts(op_tape handle, op_tape_facts_t *facts) {
  struct op_context *ctx = api_enter("op_tape_facts", KEEP);
  if (!ctx)
    return api_refused();
  const struct tape *tape = find(ctx, handle, "op_tape_facts");
  if (tape && !facts)
    error_set(api_error(), OP_ERR_ARGUMENT, "op_tape_facts: the place for the facts is NULL");
  if (!api_error()->code)
    *facts = (op_tape_facts_t){.steps = tape->nsteps,
                               .events = tape->nevents,
                               .bytes = (long long)tape->store.bytes,
                               .most = (long long)tape->store.most,
                               .versions = tape->store.versions,
                               .copied = tape->store.copied,
                               .checkpoints = tape->ncheckpoints,
                               .again = tape->again,
                               .reversed = tape->reversed,
                               .rounds = tape->rounds};
  return api_leave_local(api_error()->code);
}

int op2jit_tape_free(op_tape handle) {
  struct op_context *ctx = api_enter("op_tape_free", FLUSH);
  if (!ctx)
    return api_refused();
  struct tape *tape = find(ctx, handle, "op_tape_free");
  const int code = api_agree("op_tape_free");
  if (code)
    return api_leave(code);
  tape_spend(ctx, tape);
  for (int i = 0; i < tape->held_sets.count; i++)
    api_free_subset(ctx, tape->held_sets.items[i]);
  tape_free(ctx, tape);
  return api_leave(OP_OK);
}

/* ---- bars and dots ---- */

/* The companion of a dat, of a global, or (HANDLE_NONE) of the constant whose name `object` is. Facts about it take all ranks, so
 * they agree first. */
static void *beside(const char *call, enum beside which, enum handle_kind kind, const void *object) {
  struct op_context *ctx = api_enter(call, KEEP);
  if (!ctx)
    return NULL;
  struct dat *dat = kind == HANDLE_DAT ? api_object(ctx, object, kind, call, "the dat") : NULL;
  struct gbl *gbl = kind == HANDLE_GBL ? api_object(ctx, object, kind, call, "the global") : NULL;
  const char *constant = kind == HANDLE_NONE ? object : NULL;
  struct thing *thing = kind == HANDLE_NONE ? find_constant(ctx, constant, call) : NULL;
  if (api_agree("%s of \"%s\"\n", call, dat ? dat->name : gbl ? gbl->name : constant ? constant : ""))
    return api_leave_pointer(NULL);
  thing = dat ? thing_of_dat(ctx, dat, api_error()) : gbl ? thing_of_gbl(ctx, gbl, api_error()) : thing;
  const struct thing *found = thing ? thing_beside(ctx, thing, which, api_error()) : NULL;
  return api_leave_pointer(!found ? NULL : dat ? (void *)found->dat->handle : found->gbl->handle);
}

op_dat op2jit_bar(op_dat dat) {
  return beside("op_bar", BESIDE_BAR, HANDLE_DAT, dat);
}

op_dat op2jit_dot(op_dat dat) {
  return beside("op_dot", BESIDE_DOT, HANDLE_DAT, dat);
}

op_gbl op2jit_bar_gbl(op_gbl gbl) {
  return beside("op_bar_gbl", BESIDE_BAR, HANDLE_GBL, gbl);
}

op_gbl op2jit_dot_gbl(op_gbl gbl) {
  return beside("op_dot_gbl", BESIDE_DOT, HANDLE_GBL, gbl);
}

op_gbl op2jit_bar_const(const char *name) {
  return beside("op_bar_const", BESIDE_BAR, HANDLE_NONE, name);
}

op_gbl op2jit_dot_const(const char *name) {
  return beside("op_dot_const", BESIDE_DOT, HANDLE_NONE, name);
}

int op2jit_tangent(int on) {
  struct op_context *ctx = api_enter("op_tangent", FLUSH);
  if (!ctx)
    return api_refused();
  struct tapes *tapes = api_error()->code ? NULL : tapes_get(ctx, api_error());
  if (tapes && tapes->tape && (on || tapes->tape->recording))
    error_set(api_error(), OP_ERR_STATE, "op_tangent: there is a tape; call op_tape_free first");
  else if (tapes && on)
    check_texts_run(ctx, "op_tangent");
  const int code = api_agree("op_tangent\non\t%d\n", on != 0);
  if (!code) {
    tapes->tangents = on != 0;
    ctx->recorder = tapes->tangents || tapes->tape ? &tape_recorder : NULL;
  }
  return api_leave(code);
}

/* ---- kernels, and loops alone ---- */

static int check_texts(const char *call, const char *const *texts, int n) {
  for (int i = 0; i < n && !api_error()->code; i++)
    if (!texts[i])
      error_set(api_error(), OP_ERR_ARGUMENT,
                "%s: argument %d is NULL; expected C text, and the name of a function", call, i + 1);
  return api_error()->code;
}

int op2jit_freeze_kernel(const char *kernel_source, const char *kernel_name) {
  struct op_context *ctx = api_enter("op_freeze_kernel", FLUSH);
  if (!ctx)
    return api_refused();
  const char *const texts[] = {kernel_source, kernel_name};
  const int code = agree_on_call(ctx, check_texts("op_freeze_kernel", texts, 2), api_error(),
                                 "op_freeze_kernel of %s\n", kernel_name ? kernel_name : "");
  return api_leave(code ? code : said_kernel(ctx, kernel_source, kernel_name, NULL, NULL, api_error()));
}

int op2jit_kernel_adjoint(const char *kernel_source, const char *kernel_name, const char *adjoint_source,
                          const char *adjoint_name) {
  struct op_context *ctx = api_enter("op_kernel_adjoint", FLUSH);
  if (!ctx)
    return api_refused();
  const char *const texts[] = {kernel_source, kernel_name, adjoint_source, adjoint_name};
  const int code = agree_on_call(ctx, check_texts("op_kernel_adjoint", texts, 4), api_error(),
                                 "op_kernel_adjoint of %s\nadjoint\t%s\n", kernel_name ? kernel_name : "",
                                 adjoint_name ? adjoint_name : "");
  return api_leave(
      code ? code : said_kernel(ctx, kernel_source, kernel_name, adjoint_source, adjoint_name, api_error()));
}

static int alone(const char *call, enum derive_mode mode, const struct loop_call *loop) {
  struct op_context *ctx = api_enter(call, FLUSH);
  if (!ctx)
    return api_refused();
  int code = api_error()->code;
  if (!code && !(code = check_texts_run(ctx, call)))
    code = tape_alone(ctx, loop, mode, api_error());
  if (code && loop->file && *loop->file)
    error_prefix(api_error(), "%s:%d: ", loop->file, loop->line);
  return api_leave(code);
}

int op2jit_tangent_loop_array(const char *kernel_source, const char *kernel_name, op_set set, int nargs,
                              const op_arg args[], const char *file, int line) {
  const struct loop_call call = loop_call_of(kernel_source, kernel_name, set, nargs, args, file, line);
  return alone("op_tangent_loop", DERIVE_TANGENT, &call);
}

int op2jit_adjoint_loop_array(const char *kernel_source, const char *kernel_name, op_set set, int nargs,
                              const op_arg args[], const char *file, int line) {
  const struct loop_call call = loop_call_of(kernel_source, kernel_name, set, nargs, args, file, line);
  return alone("op_adjoint_loop", DERIVE_ADJOINT, &call);
}
