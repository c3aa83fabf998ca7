/* The native backend: the kernel's own C function, element by element, no plan and no compiler. Slow and plain:
 * the reference for every other backend, and the one for debuggers. */
#include "backend/backend.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "context/env.h"
#include "mesh/data.h"
#include "native_call.h"
#include "op2/op2jit_compiled.h"
#include "record/launch.h"
#include "services/services.h"

/* Words of a handle, see op2jit_row in op2jit.h. */
enum { HANDLE = 4 };

/* An argument's own memory: copies of rows that are not contiguous, scratch, numbers. */
struct native_arg {
  unsigned char *scratch;
  void **vector; /* a vector argument's pointers, or the handle of OP_ROW */
  int rows;      /* how many rows the kernel sees: 1, the arity for a vector, 0 through a ragged map */
};

struct native_state {
  native_call *call; /* with the arguments, and a number of targets for each ragged map */
  struct native_arg args[OP_MAX_ARGS];
};

static void native_drop(struct op_context *ctx, struct loop *loop) {
  (void)ctx;
  struct native_state *state = loop->ready.backend_state;
  if (!state)
    return;
  for (int i = 0; i < OP_MAX_ARGS; i++) {
    free(state->args[i].scratch);
    free(state->args[i].vector);
  }
  free(state);
  loop->ready.backend_state = NULL;
}

/* The user did not choose this backend: it is the only one left. */
static int lacks_compiler(struct op_context *ctx, const struct loop *loop, struct error *err) {
  struct error why = {0};
  if (context_compiler(ctx, &why))
    error_set(err, OP_ERR_BACKEND, "loop %s: the kernel has no native form, and %s", loop->name,
              error_message(&why));
  else
    error_set(
        err, OP_ERR_BACKEND,
        "loop %s: the kernel has no native form, and no backend that compiles works here (op2jit info says "
        "why)",
        loop->name);
  error_free(&why);
  return err->code;
}

/* Why this backend is asked, and what to change to ask another. */
static int lacks_native_form(struct op_context *ctx, const struct loop *loop, struct error *err) {
  const bool shadow = ctx->backend != &backend_native;
  const bool off = !shadow && strcmp(env_value(ctx->env, ENV_JIT), "off") == 0;
  if (!shadow && !off && !env_given(ctx->env, ENV_BACKEND))
    return lacks_compiler(ctx, loop, err);
  const char *who = shadow ? "OP2_SHADOW=native"
                    : off  ? "OP2_JIT=off"
                           : "OP2_BACKEND=native",
             *other = off ? "unset OP2_JIT" : "choose a backend that compiles (op2jit info lists those here)";
  if (ctx->columns_base) /* Fortran has no macros */
    return error_set(err, OP_ERR_BACKEND,
                     "loop %s: the kernel has no native form, which %s calls; name its procedure with "
                     "op_kernel_native, or %s",
                     loop->name, who, other);
  return error_set(
      err, OP_ERR_BACKEND,
      "loop %s: the kernel has no native form, which %s calls; define it with OP_KERNEL_DEF and pass "
      "OP_KERNEL_OF(%s), name its function with op_kernel_native, or %s",
      loop->name, who, loop->key.name, other);
}

static int native_variants(struct op_context *ctx, struct loop *loop, bool all, struct error *err) {
  (void)all;
  loop->ready.nvariants = loop->ready.threads = 1;
  /* The form may have been named since the loop was first seen. */
  if (!loop->native)
    loop->native = native_find(ctx->natives, loop->key.text, loop->key.name);
  if (!loop->native)
    return lacks_native_form(ctx, loop, err);
  struct native_state *state = calloc(1, sizeof *state);
  if (!state)
    return error_memory(err, "a native loop", sizeof *state);
  loop->ready.backend_state = state;
  const int nparameters = desc_parameter(&loop->desc, loop->nargs);
  if (nparameters > OP_MAX_ARGS)
    return error_set(
        err, OP_ERR_ARGUMENT,
        "loop %s: with the numbers of targets of its ragged maps the kernel has %d parameters; a "
        "native form has at most %d",
        loop->name, nparameters, OP_MAX_ARGS);
  state->call = native_call_of(nparameters);
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    struct native_arg *own = &state->args[i];
    const bool all = arg->map && arg->form == DESC_DAT && arg->idx < 0;
    const bool vector = all && !(arg->dat && arg->dat->segment);
    own->rows = all ? arg->map->arity : 1;
    size_t bytes;
    if (!size_mul(arg->bytes, (size_t)own->rows, &bytes))
      return error_set(err, OP_ERR_SIZE, "loop %s, argument %d: %d rows are more than can be addressed",
                       loop->name, i + 1, own->rows);
    own->scratch = array_new(bytes, 1);
    own->vector = vector ? array_new((size_t)(arg->map->first ? HANDLE : own->rows), sizeof(void *)) : NULL;
    if (!own->scratch || (vector && !own->vector))
      return error_memory(err, "a native loop's scratch", bytes);
  }
  return OP_OK;
}

/* The kernel works on a copy of its rows. */
static bool dat_is_staged(const struct dat *dat) {
  return dat->soa || dat->segment;
}

static long target_of(const struct loop_arg *arg, long element, int row) {
  if (!arg->map)
    return element;
  int column = arg->idx < 0 ? row : arg->idx;
  return arg->map->table[(size_t)element * (size_t)arg->map->arity + (size_t)column];
}

/* An SoA row as the kernel's contiguous one, or a part of an element's matrix. An increment starts from nothing and is added afterwards, since two
 * arguments may increment the same target. */
static void load_row(const struct loop_arg *arg, long target, unsigned char *row) {
  if (arg->dat->segment) {
    memset(row, 0, arg->bytes);
    return;
  }
  if (arg->access == OP_INC) {
    type_start_sum(arg->type, row, (size_t)arg->dim);
    return;
  }
  for (int c = 0; c < arg->dim; c++)
    memcpy(row + (size_t)c * arg->dat->value_size, dat_value(arg->dat, target, c), arg->dat->value_size);
}

static void store_row(const struct loop_arg *arg, long target, const unsigned char *row) {
  if (arg->access == OP_READ)
    return;
  for (int c = 0; c < arg->dim; c++) {
    const unsigned char *value = row + (size_t)c * arg->dat->value_size;
    unsigned char *to = dat_value(arg->dat, target, c);
    if (arg->access == OP_INC)
      type_combine(arg->type, OP_INC, to, value);
    else if (access_is_extremum(arg->access))
      type_improve(arg->type, arg->access, to, to, value);
    else
      memcpy(to, value, arg->dat->value_size);
  }
}

/* Numbers travel as pointers. */
static void *number(long value) {
  return (void *)(intptr_t)value;
}

static long count_of(const struct loop_arg *arg, long element) {
  return map_end(arg->map, element) - map_begin(arg->map, element);
}

static void *handle_pointer(const struct loop_arg *arg, const struct native_arg *own, long element) {
  const long begin = map_begin(arg->map, element), count = count_of(arg, element);
  own->vector[0] = dat_value(arg->dat, arg->entry && count ? arg_target(arg, begin) : 0, 0);
  own->vector[1] = arg->entry ? NULL : arg->map->table + begin;
  own->vector[2] = number(arg->entry ? -arg->dim : arg->dim);
  own->vector[3] = number(count);
  return own->vector;
}

static void *dat_pointer(const struct loop_arg *arg, struct native_arg *own, long element) {
  if (arg->map && arg->map->first)
    return handle_pointer(arg, own, element);
  for (int r = 0; r < own->rows; r++) {
    long target = target_of(arg, element, r);
    unsigned char *row = dat_value(arg->dat, target, 0);
    if (dat_is_staged(arg->dat)) {
      row = own->scratch + (size_t)r * arg->bytes;
      load_row(arg, target, row);
    }
    if (own->vector)
      own->vector[r] = row;
    else if (own->rows == 1)
      return row;
  }
  return own->vector ? (void *)own->vector : own->scratch; /* an element's matrix is one row */
}

static void *number_pointer(const struct loop *loop, const struct loop_arg *arg, struct native_arg *own,
                            long element) {
  const struct set *set = arg->map ? arg->map->to : loop->set;
  const int first = loop->compiled ? loop->compiled->base : 0;
  int *numbers = (int *)(void *)own->scratch;
  for (int r = 0; r < arg->dim; r++) {
    long target = target_of(arg, element, r);
    numbers[r] = set->to_user && !loop->compiled ? set->to_user[target] : (int)target + first;
  }
  return numbers;
}

static void *global_pointer(const struct launch *launch, const struct loop_arg *arg, struct native_arg *own,
                            int i, unsigned char *slot) {
  switch (arg->access) {
  case OP_WORK:
    return arg->started ? memcpy(own->scratch, launch->globals + arg->offset, arg->bytes) : own->scratch;
  case OP_READ:
  case OP_WRITE:
  case OP_RW: return launch->globals + arg->offset;
  default: break;
  }
  if (arg->info < 0)
    return slot + arg->offset;
  memcpy(own->scratch, launch->user[i], arg->bytes);
  return own->scratch;
}

static void *pointer(const struct launch *launch, struct native_arg *own, int i, long element,
                     unsigned char *slot) {
  const struct loop_arg *arg = &launch->loop->args[i];
  if (!arg->present)
    return NULL;
  switch (arg->form) {
  case DESC_DAT: return dat_pointer(arg, own, element);
  case DESC_IDX: return number_pointer(launch->loop, arg, own, element);
  case DESC_GBL: return global_pointer(launch, arg, own, i, slot);
  case DESC_INFO: return memcpy(own->scratch, launch->user[i], arg->bytes);
  }
  return NULL;
}

static void finish_element(const struct launch *launch, struct native_state *state, long element,
                           unsigned char *slot) {
  const struct loop *loop = launch->loop;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!arg->present)
      continue;
    if (arg->form == DESC_GBL && arg->info >= 0)
      launch_offer_extremum(launch, i, slot, state->args[i].scratch, state->args[arg->info].scratch,
                            loop->set->to_user ? loop->set->to_user[element] : element);
    if (arg->form == DESC_DAT && dat_is_staged(arg->dat))
      for (int r = 0; r < state->args[i].rows; r++)
        store_row(arg, target_of(arg, element, r), state->args[i].scratch + (size_t)r * arg->bytes);
  }
}

static const char *native_name(const struct loop *loop, int variant) {
  (void)loop, (void)variant;
  return "native";
}

static bool native_is_ready(const struct loop *loop, int variant) {
  (void)variant;
  return loop->ready.backend_state;
}

static int native_select(struct op_context *ctx, struct launch *launch, struct error *err) {
  (void)ctx, (void)err;
  for (int p = 0; p < launch->loop->ready.nparts; p++)
    launch_set_slots(launch, p, 1);
  return OP_OK;
}

static void run_elements(const struct launch *launch, unsigned char *slot, long begin, long end) {
  const struct loop *loop = launch->loop;
  struct native_state *state = loop->ready.backend_state;
  void *pointers[OP_MAX_ARGS];
  for (long e = begin; e < end; e++) {
    for (int i = 0, p = 0; i < loop->nargs; i++) {
      if (loop->desc.args[i].counted)
        pointers[p++] = number(count_of(&loop->args[i], e));
      pointers[p++] = pointer(launch, &state->args[i], i, e, slot);
    }
    state->call(loop->native, pointers);
    finish_element(launch, state, e, slot);
  }
}

static int native_run(struct op_context *ctx, struct launch *launch, int part, struct error *err) {
  (void)err;
  enum { BETWEEN_POLLS = 1024 };
  const struct loop *loop = launch->loop;
  const struct loop_part *p = &loop->ready.parts[part];
  unsigned char *slot = loop->ready.nreductions
                            ? launch->slots + (size_t)launch->part_slots[part].first * loop->ready.slot_bytes
                            : NULL;
  for (long begin = p->begin, end; begin < p->end; begin = end) {
    end = begin + BETWEEN_POLLS < p->end ? begin + BETWEEN_POLLS : p->end;
    run_elements(launch, slot, begin, end);
    if (ctx->poll)
      ctx->poll(ctx);
  }
  return OP_OK;
}

/* ---- work: of chains in tests ---- */

enum { FRAME_LAUNCH, FRAME_SLOT, FRAME_SIZE };
static const struct reduction whole_slot = {.index = FRAME_SLOT};

static void run_range(void *const *frame, const int *list, long begin, long end) {
  (void)list;
  run_elements(frame[FRAME_LAUNCH], frame[FRAME_SLOT], begin, end);
}

/* Nothing else needs the frame. */
static int native_work(struct op_context *ctx, struct launch *launch, struct work *out, struct error *err) {
  (void)ctx, (void)err;
  launch->frame[FRAME_LAUNCH] = launch;
  launch->frame[FRAME_SLOT] = NULL;
  *out = (struct work){.function = run_range,
                       .frame = launch->frame,
                       .nframe = FRAME_SIZE,
                       .reductions = &whole_slot,
                       .nreductions = launch->loop->ready.nreductions > 0,
                       .slots = launch->slots,
                       .slot_bytes = launch->loop->ready.slot_bytes};
  return OP_OK;
}

const struct backend backend_native = {.name = "native",
                                       .help = "the kernels' own C functions, one element after the other",
                                       .variants = native_variants,
                                       .name_of = native_name,
                                       .is_ready = native_is_ready,
                                       .select = native_select,
                                       .run = native_run,
                                       .work = native_work,
                                       .drop = native_drop};
