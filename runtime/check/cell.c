#include "check/cell.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/code.h"
#include "base/list.h"
#include "context/context.h"
#include "jit/load/load_bounds.h"
#include "record/record.h"
#include "services/services.h"

/* The element of the small mesh is number 1: an index of -1 stays inside the table. */
enum { HERE = 1 };
/* A guard is so many bytes wide or a row more, and so many pointers to guards are around the pointers of a vector. */
enum { GUARD_BYTES = 64, GUARD_POINTERS = 8 };
static const unsigned char patterns[CELL_SIDES] = {0x05, 0xFF};

static bool is_vector(const struct loop_arg *arg) {
  return arg->form == DESC_DAT && arg->map && arg->idx < 0;
}

/* On all ranks at once. */
static int get_code(struct op_context *ctx, struct cell *cell, struct error *err) {
  const struct shape scalar = {.bounds = true};
  struct jit *jit = NULL;
  struct jit_code code = {0};
  int status = context_jit(ctx, &jit, err);
  if (!status)
    status = backend_code(ctx, NULL, jit, &cell->desc, &scalar, &code, err);
  cell->function = code.run;
  return status;
}

static const int numbers[] = {SIGFPE, BOUNDS_STOP};
enum { NUMBERS = sizeof numbers / sizeof *numbers };
static struct sigaction own, before[NUMBERS];
static bool begun[NUMBERS];
/* The call that runs on this thread. */
static _Thread_local jmp_buf *volatile back;

static int open_code(struct op_context *ctx, struct cell *cell, struct error *err) {
  const struct loop *loop = cell->loop;
  if (loop->native) {
    /* More is found, and told, by the native backend. */
    const int nparameters = desc_parameter(&loop->desc, loop->nargs);
    cell->call = native_call_of(nparameters < OP_MAX_ARGS ? nparameters : OP_MAX_ARGS);
    return OP_OK;
  }
  int status = desc_alone(&cell->desc, &loop->desc, err);
  if (!status)
    status = get_code(ctx, cell, err);
  if (status)
    error_prefix(err, "loop %s: ", loop->name);
  for (int side = 0; !status && side < CELL_SIDES; side++)
    if (!(cell->frames[side] = array_new((size_t)desc_slots(&cell->desc), sizeof(void *))))
      status = error_memory(err, "the checking form", 0);
  return status;
}

static unsigned char *guard(const struct cell_arg *a, int side, int g) {
  return a->memory[side] + (size_t)g * (a->guard_rows + 1) * a->row_bytes;
}

/* The guard before row g, counted in rows: as the numbers of a ragged map's targets are. */
static int guard_place(const struct cell_arg *a, int g) {
  return (int)((size_t)g * (a->guard_rows + 1));
}

static void set_guards(const struct cell_arg *a, int side, int like) {
  for (int g = 0; g <= a->rows; g++)
    memcpy(guard(a, side, g), a->guards[like], a->guard_rows * a->row_bytes);
}

void cell_set_guards(struct cell *cell, int side, int arg, int like) {
  set_guards(&cell->args[arg], side, like);
}

/* A pointer beyond the vector leads to a guard, so that what is done with it is seen. */
static bool make_side(struct cell *cell, int i, int side, size_t bytes) {
  struct cell_arg *own = &cell->args[i];
  const size_t guard_bytes = own->guard_rows * own->row_bytes;
  own->memory[side] = array_new(bytes, 1);
  own->guards[side] = array_new(guard_bytes, 1);
  own->vectors[side] = array_new((size_t)own->rows + 2 * GUARD_POINTERS, sizeof(void *));
  if (!own->memory[side] || !own->guards[side] || !own->vectors[side])
    return false;
  memset(own->guards[side], patterns[side], guard_bytes);
  set_guards(own, side, side);
  for (int r = -GUARD_POINTERS; r < own->rows + GUARD_POINTERS; r++)
    own->vectors[side][GUARD_POINTERS + r] =
        r >= 0 && r < own->rows ? cell_row(cell, side, i, r) : guard(own, side, r < 0 ? 0 : own->rows);
  /* An absent argument is a guard, too. */
  cell->pointers[side][desc_parameter(&cell->loop->desc, i)] =
      is_vector(&cell->loop->args[i]) ? (void *)(own->vectors[side] + GUARD_POINTERS)
      : own->rows == 0                ? guard(own, side, 0)
                                      : cell_row(cell, side, i, 0);
  return true;
}

/* Places beyond the element's lead to guards. */
static void turn_arg(struct cell_arg *a, int rows) {
  a->rows = rows;
  for (int r = -GUARD_POINTERS; r < rows + GUARD_POINTERS; r++)
    a->table[GUARD_POINTERS + r] =
        r >= 0 && r < rows ? guard_place(a, r) + (int)a->guard_rows : guard_place(a, r < 0 ? 0 : rows);
  a->first[HERE] = GUARD_POINTERS;
  a->first[HERE + 1] = GUARD_POINTERS + rows;
}

static int open_arg(struct cell *cell, int i, struct error *err) {
  const struct loop_arg *arg = &cell->loop->args[i];
  struct cell_arg *own = &cell->args[i];
  own->rows = !arg->present ? 0 : is_vector(arg) ? (int)arg_most(arg) : 1;
  own->ragged = is_vector(arg) && arg->map->first;
  own->row_bytes = arg->bytes;
  own->guard_rows = GUARD_BYTES / own->row_bytes + 1;
  size_t bytes;
  if (!size_mul(own->row_bytes, ((size_t)own->rows + 1) * (own->guard_rows + 1), &bytes))
    return error_set(err, OP_ERR_SIZE, "loop %s, argument %d: too large for the checking form",
                     cell->loop->name, i + 1);
  const size_t places = own->ragged ? (size_t)own->rows + 2 * GUARD_POINTERS
                                    : (size_t)(HERE + 1) * (size_t)(own->rows ? own->rows : 1);
  own->table = array_new(places, sizeof(int));
  if (!own->table || !make_side(cell, i, 0, bytes) || !make_side(cell, i, 1, bytes))
    return error_memory(err, "the checking form", bytes);
  if (own->ragged)
    turn_arg(own, own->rows);
  for (int r = 0; !own->ragged && r < own->rows; r++)
    own->table[HERE * own->rows + r] = (int)((size_t)r * (own->guard_rows + 1) + own->guard_rows);
  return OP_OK;
}

/* The words of a native kernel's handle, and before the first of a map the number of targets. */
static void turn_parameters(struct cell *cell, int i, int side, long count) {
  const struct cell_arg *a = &cell->args[i];
  const int parameter = desc_parameter(&cell->loop->desc, i);
  void **handle = cell->pointers[side][parameter];
  if (cell->loop->desc.args[i].counted)
    cell->pointers[side][parameter - 1] = (void *)(intptr_t)count;
  handle[0] = a->memory[side];
  handle[1] = a->table + GUARD_POINTERS;
  handle[2] = (void *)(intptr_t)cell->loop->args[i].dim;
  handle[3] = (void *)(intptr_t)(-1 - count); /* so that OP_ROW of op2jit_ragged.h looks at its k */
}

void cell_turn(struct cell *cell, long element) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    if (!cell->args[i].ragged)
      continue;
    const long count = arg_end(arg, element) - arg_begin(arg, element);
    if (arg->present && cell->args[i].rows != count)
      turn_arg(&cell->args[i], (int)count);
    for (int side = 0; side < CELL_SIDES; side++)
      turn_parameters(cell, i, side, count);
  }
}

/* Constants that are not compiled in are read where the mesh keeps them, for they may change between calls. */
static void fill_frame(const struct op_context *ctx, struct cell *cell, int side) {
  void **frame = cell->frames[side];
  const struct desc *d = &cell->desc;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (a->dat >= 0) {
      frame[desc_slot_dat(d, a->dat)] = cell->args[i].memory[side];
      frame[desc_slot_map(d, a->map)] = cell->args[i].table;
      if (cell->args[i].ragged)
        frame[desc_slot_first(d, a->map)] = cell->args[i].first;
    } else if (a->present)
      frame[desc_slot_arg(d, i)] = cell_row(cell, side, i, 0);
  }
  for (int i = 0; i < d->nconsts; i++)
    frame[desc_slot_const(d, i)] =
        d->consts[i].folded ? NULL : mesh_find_constant(ctx->mesh, d->consts[i].name)->value;
}

int cell_open(struct cell **out, struct op_context *ctx, const struct loop *loop, struct error *err) {
  struct cell *cell = calloc(1, sizeof *cell);
  if (!cell)
    return error_memory(err, "the checking form", sizeof *cell);
  cell->loop = loop;
  int code = open_code(ctx, cell, err);
  for (int i = 0; !code && i < loop->nargs; i++)
    code = open_arg(cell, i, err);
  if (code) {
    cell_free(cell);
    return code;
  }
  for (int side = 0; side < CELL_SIDES; side++)
    if (cell->frames[side])
      fill_frame(ctx, cell, side);
  *out = cell;
  return OP_OK;
}

void cell_free(struct cell *cell) {
  if (!cell)
    return;
  for (int i = 0; i < OP_MAX_ARGS; i++) {
    for (int side = 0; side < CELL_SIDES; side++) {
      free(cell->args[i].memory[side]);
      free(cell->args[i].guards[side]);
      free(cell->args[i].vectors[side]);
    }
    free(cell->args[i].table);
  }
  desc_free(&cell->desc);
  for (int side = 0; side < CELL_SIDES; side++)
    free(cell->frames[side]);
  free(cell);
}

int cell_broken_guard(struct cell *cell, int side) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct cell_arg *a = &cell->args[i];
    for (int g = 0; g <= a->rows; g++)
      if (memcmp(guard(a, side, g), a->guards[side], a->guard_rows * a->row_bytes) != 0) {
        set_guards(a, side, side);
        return i;
      }
  }
  return -1;
}

/* A native kernel's own variables come to lie where this was: below a gap, for compilers lay out frames as they
 * like. Calls that a sanitizer adds on the way would paint over it. */
static __attribute__((noinline, no_sanitize_thread)) void paint_stack(int pattern) {
  enum { FRAME_BYTES = 1024 };
  unsigned char frame[FRAME_BYTES];
  memset(frame, pattern, sizeof frame);
  __asm__ volatile("" : : "r"(frame) : "memory");
}

static __attribute__((noinline, no_sanitize_thread)) void call_below_gap(const struct cell *cell, int side) {
  enum { GAP_BYTES = 128 };
  unsigned char gap[GAP_BYTES];
  __asm__ volatile("" : : "r"(gap) : "memory");
  cell->call(cell->loop->native, cell->pointers[side]);
  __asm__ volatile("" : : "r"(gap) : "memory");
}

/* C does not define `t[0][5]` of `double t[2][4]`, and programs use it. What is outside the whole table stops. */
static bool is_next_row(const struct bounds_finding *finding, void *user) {
  const struct cell *cell = user;
  return bounds_is_of_row(cell->desc.text, finding);
}

struct run {
  struct cell *cell;
  int side, paint;
};

static void run_kernel(void *user) {
  const struct run *run = user;
  struct cell *cell = run->cell;
  if (cell->function)
    bounds_call(cell->function, cell->frames[run->side], HERE, HERE + 1, is_next_row, cell, &cell->outside);
  else if (run->paint < 0)
    cell->call(cell->loop->native, cell->pointers[run->side]);
  else {
    paint_stack(patterns[run->paint]);
    call_below_gap(cell, run->side);
  }
}

static _Thread_local const char *failed;

/* The condition of the last op_assert that failed. */
static const char *trap_condition(void) {
  return failed;
}

enum trap_cause trap_call(void (*run)(void *user), void *user) {
  jmp_buf here;
  switch (setjmp(here)) {
  case TRAP_DIVIDED: return TRAP_DIVIDED;
  case TRAP_LEFT: return TRAP_LEFT;
  case TRAP_ASSERTED: return TRAP_ASSERTED;
  default: break;
  }
  back = &here;
  run(user);
  back = NULL;
  return TRAP_NONE;
}

void cell_run(struct cell *cell, int side, int paint) {
  struct run run = {cell, side, paint};
  cell->outside = (struct bounds_finding){0};
  cell->trap = trap_call(run_kernel, &run);
  if (cell->trap != TRAP_NONE)
    bounds_left();
  cell->condition = cell->trap == TRAP_ASSERTED ? trap_condition() : cell->outside.condition;
  cell->passed |= cell->outside.passed;
}

/* A signal that is not of the call goes to the handler of before: one that a process sent is sent again, and an
 * instruction runs again. */
static void ended(int number, siginfo_t *info, void *context) {
  (void)context;
  jmp_buf *to = back;
  const enum trap_cause cause = number == SIGFPE && info->si_code == FPE_INTDIV ? TRAP_DIVIDED
                                : number == BOUNDS_STOP && info->si_code > 0    ? TRAP_LEFT
                                                                                : TRAP_NONE;
  if (to && cause != TRAP_NONE) {
    back = NULL;
    longjmp(*to, (int)cause);
  }
  sigaction(number, &before[number == BOUNDS_STOP], NULL);
  if (info->si_code <= 0) {
    raise(number);
    sigaction(number, &own, NULL);
  }
}

void trap_begin(void) {
  /* The handler is left by a jump, which would leave the signal blocked. */
  own = (struct sigaction){.sa_flags = SA_SIGINFO | SA_NODEFER};
  own.sa_sigaction = ended;
  sigemptyset(&own.sa_mask);
  for (int i = 0; i < NUMBERS; i++)
    begun[i] = sigaction(numbers[i], &own, &before[i]) == 0;
}

void trap_end(void) {
  for (int i = 0; i < NUMBERS; i++) {
    if (begun[i])
      sigaction(numbers[i], &before[i], NULL);
    begun[i] = false;
  }
}

void trap_assert_failed(const char *condition) {
  jmp_buf *to = back;
  if (!to)
    return;
  back = NULL;
  failed = condition;
  longjmp(*to, TRAP_ASSERTED);
}
