/* Accesses that the program leaves out: those that can be proved of the kernel. */
#include <string.h>

#include "api/api.h"
#include "jit/jit.h"
#include "jit/kernel/kernel.h"
#include "loop/loop.h"
#include "loop/matrix.h"
#include "mesh/globals.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "record/record.h"
#include "services/services.h"
#include "spread/spread.h"

enum { NONE = -1, CHOICES = 3 };

/* The choices, in this order. The last one of a dat needs no proof, as anything may be read and written. */
static const int of_dats[CHOICES] = {OP_INC, OP_WRITE, OP_RW};
static const int of_globals[CHOICES] = {OP_INC, OP_MIN, OP_MAX};

struct search {
  struct op_context *ctx;
  struct loop_call call;
  op_arg *args;            /* the caller's, with what is tried */
  int choice[OP_MAX_ARGS]; /* its number; NONE: the access is the program's, or is found */
  bool begun;
  int said[OP_MAX_ARGS];     /* what the accesses were */
  bool refuted[OP_MAX_ARGS]; /* the choice before it was, in a run */
};

static bool is_unsaid(const op_arg *arg) {
  return arg->access_ == (int)OP_UNSAID && (arg->form_ == DESC_DAT || arg->form_ == DESC_GBL);
}

static void take_choice(struct search *s, int i) {
  s->args[i].access_ = (s->args[i].form_ == DESC_DAT ? of_dats : of_globals)[s->choice[i]];
}

/* A payload goes with an extremum. */
static bool has_payload(const struct search *s, int i) {
  for (int j = 0; j < s->call.nargs; j++)
    if (s->args[j].form_ == DESC_INFO && s->args[j].ref_ == i + 1)
      return true;
  return false;
}

static bool goes_ragged(const struct search *s) {
  for (int i = 0; i < s->call.nargs; i++) {
    const struct map *map =
        s->args[i].map_ ? handle_object(s->ctx->handles, s->args[i].map_, HANDLE_MAP) : NULL;
    if (map && map->first)
      return true;
  }
  return false;
}

static int give_up(const struct search *s, int i, struct error *err) {
  if (s->args[i].form_ == DESC_DAT)
    return error_set(
        err, OP_ERR_ACCESS,
        "loop %s, argument %d: the access was left out, and the kernel does more than read it or add "
        "to it; say OP_WRITE or OP_RW if no two elements of the loop share a target of the map",
        s->call.name, i + 1);
  return error_set(
      err, OP_ERR_ACCESS,
      "loop %s, argument %d: the access of the global was left out, and the kernel does not only read "
      "it, add to it, or keep the smallest or largest value there; say which it is",
      s->call.name, i + 1);
}

static bool is_struct(const struct search *s, int i) {
  const op_arg *arg = &s->args[i];
  const struct gbl *gbl = arg->form_ == DESC_GBL && arg->idx_ == ARG_BY_HANDLE
                              ? handle_object(s->ctx->handles, arg->dat_, HANDLE_GBL)
                              : NULL;
  return type_is_struct(gbl ? gbl->type : (enum type_code)arg->type_);
}

/* The first one to try. A struct is not combined, and that a kernel writes all of it nothing proves. */
static int begin_choice(struct search *s, int i, struct error *err) {
  if (!is_struct(s, i)) {
    s->choice[i] = has_payload(s, i) ? 1 : 0;
    take_choice(s, i);
    return OP_OK;
  }
  if (s->args[i].form_ != DESC_DAT || s->args[i].map_ != OP_ID)
    return give_up(s, i, err);
  s->args[i].access_ = OP_RW;
  return OP_OK;
}

/* A pointer to const can only be read. */
static int begin(struct search *s, struct error *err) {
  struct kernel k = {0};
  int code = kernel_parse_unit(&k, s->ctx->shared, s->call.text, s->call.name, err);
  if (code)
    error_prefix(err, "loop %s: ", s->call.name);
  s->begun = !code;
  for (int i = 0; i < s->call.nargs && !code; i++) {
    s->choice[i] = NONE;
    s->said[i] = s->args[i].access_;
    if (!is_unsaid(&s->args[i]))
      continue;
    if (goes_ragged(s)) {
      code =
          error_set(err, OP_ERR_ACCESS,
                    "loop %s, argument %d: the access was left out, and the loop goes through a ragged map, "
                    "where none is found; say it",
                    s->call.name, i + 1);
      break;
    }
    s->args[i].access_ = OP_READ;
    if (i < k.nparameters && !k.parameters[i].is_const)
      code = begin_choice(s, i, err);
  }
  kernel_free(&k);
  return code;
}

/* The access cannot be proved: the next one. That elements do not meet in what they write through a map is the
 * program's promise, which nobody else can make. Of the two extrema the one that no run refutes will do. */
static int go_on(struct search *s, int i, enum prove_verdict verdict, struct error *err) {
  const bool dat = s->args[i].form_ == DESC_DAT, refuted = verdict == PROVE_VIOLATED;
  if (dat && s->args[i].map_ != OP_ID)
    return give_up(s, i, err);
  if (!dat && s->args[i].access_ == OP_MAX) {
    s->choice[i] = NONE;
    if (refuted == s->refuted[i])
      return give_up(s, i, err);
    s->args[i].access_ = refuted ? OP_MIN : OP_MAX;
    return OP_OK;
  }
  s->refuted[i] = refuted;
  s->choice[i]++;
  take_choice(s, i);
  return OP_OK;
}

static int ask_prover(struct search *s, enum prove_verdict verdicts[], bool *understood, struct error *err) {
  struct jit *jit = NULL;
  struct loop *loop = loop_new(s->ctx, &s->call, err);
  int code = loop ? context_jit(s->ctx, &jit, err) : err->code;
  if (!code && s->ctx->comm->rank == 0 && (code = jit_verdicts(jit, &loop->desc, verdicts, understood, err)))
    error_prefix(err, "loop %s, whose accesses were left out: ", s->call.name);
  if (loop)
    loop_free(s->ctx, loop);
  return code;
}

/* One rank has the compiler, of those with the same code: all take the first one's verdicts. */
static int verdicts_of(struct search *s, enum prove_verdict verdicts[], bool *understood, struct error *err) {
  double values[OP_MAX_ARGS + 1] = {0};
  *understood = true;
  for (int i = 0; i < s->call.nargs; i++)
    verdicts[i] = PROVE_PROVED;
  int code = ask_prover(s, verdicts, understood, err);
  for (int i = 0; i < s->call.nargs; i++)
    values[i] = (double)verdicts[i];
  values[s->call.nargs] = *understood ? 0 : 1;
  code = agree_on_largest(s->ctx->agreement, code, values, s->call.nargs + 1, err);
  for (int i = 0; i < s->call.nargs; i++)
    verdicts[i] = (enum prove_verdict)values[i];
  *understood = values[s->call.nargs] < 0.5;
  return code;
}

static bool is_open(const struct search *s, int i) {
  return s->choice[i] != NONE && s->args[i].access_ != OP_RW;
}

/* Each round looks at all arguments at once; what a text that does not compile is wrong in, the loop says. */
static int find(struct search *s, struct error *err) {
  enum prove_verdict verdicts[OP_MAX_ARGS] = {PROVE_PROVED};
  bool understood = true, again = true;
  int code = agree_on_success(s->ctx->agreement, begin(s, err), err);
  while (!code && again) {
    code = verdicts_of(s, verdicts, &understood, err);
    again = false;
    for (int i = 0; i < s->call.nargs && !code && understood; i++)
      if (is_open(s, i) && verdicts[i] != PROVE_PROVED) {
        code = go_on(s, i, verdicts[i], err);
        again |= is_open(s, i);
      }
  }
  return code;
}

int op2jit_find_accesses(const char *kernel_source, const char *kernel_name, op_set set, int nargs,
                         op_arg args[], const char *file, int line) {
  struct op_context *ctx = api_enter("op_find_accesses", FLUSH);
  if (!ctx)
    return api_refused();
  struct search s = {.ctx = ctx,
                     .args = args,
                     .call = loop_call_of(kernel_source, kernel_name, set, nargs, args, file, line)};
  int code = api_error()->code;
  if (!code && (!kernel_source || !kernel_name || !args))
    code = error_set(api_error(), OP_ERR_ARGUMENT, "op_find_accesses: the %s is %s",
                     !kernel_source ? "kernel's text"
                     : !kernel_name ? "kernel's name"
                                    : "list of arguments",
                     kernel_source ? "NULL" : handle_diagnosis(ctx->handles, NULL, HANDLE_KERNEL));
  if (!code && (nargs < 1 || nargs > OP_MAX_ARGS))
    code = error_set(api_error(), OP_ERR_NARGS, "loop %s: %d arguments; expected 1 to %d", kernel_name, nargs,
                     OP_MAX_ARGS);
  code = agree_on_call(ctx, code, api_error(), "op_find_accesses of loop %s\narguments\t%d\n",
                       kernel_name ? kernel_name : "", nargs);
  if (!code)
    code = mesh_distribute(ctx, api_error());
  struct lowered lowered = {.call = {.nargs = 0}};
  if (!code && matrix_is_passed(&s.call) && !(code = matrix_lower(ctx, &s.call, &lowered, api_error())))
    s.call.args = s.args = lowered.args;
  if (!code)
    code = agree_on_success(ctx->agreement, find(&s, api_error()), api_error());
  for (int i = 0; i < nargs && s.begun; i++)
    if (args[i].form_ != ARG_MATRIX)
      args[i].access_ = code ? s.said[i] : s.args[i].access_;
  matrix_take_back(&lowered);
  if (code && file && *file)
    error_prefix(api_error(), "%s:%d: ", file, line);
  return api_leave(code);
}
