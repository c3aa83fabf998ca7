/* A mesh of one element: every row that the element reaches, copied into buffers with guard rows between them. The
 * kernel gets addresses only, whatever the access, so that what it really does is seen. Native functions and
 * generated code run on it alike. There are two such meshes, the sides, whose guards hold different things: what a
 * kernel makes of memory that it had no right to read differs between them. */
#ifndef OP2JIT_CHECK_CELL_H
#define OP2JIT_CHECK_CELL_H

#include <stdbool.h>
#include <stddef.h>

#include "backend/native_call.h"
#include "jit/load/load_bounds.h"
#include "mesh/data.h"
#include "record/launch.h"

/* Divisions of whole numbers by zero in kernels that are being checked, where the processor has a signal for them
 * (x86 does), and stops of generated code at memory outside a variable (jit/load/load_bounds.h): they end the call
 * that they happen in, between trap_begin and trap_end; what else has these signals goes to who had them before. */

void trap_begin(void);
void trap_end(void);
enum trap_cause { TRAP_NONE, TRAP_DIVIDED, TRAP_LEFT, TRAP_ASSERTED };
/* Calls run(user). TRAP_NONE: it came to its end. */
enum trap_cause trap_call(void (*run)(void *user), void *user);
/* An op_assert of a C function does not hold: ends the call. Comes back where none is being run. */
void trap_assert_failed(const char *condition);

/* The guards of side 0 hold numbers so small that adding to them shows, those of side 1 what is NaN as floating
 * point, so that reading one shows in every sum. */
enum { CELL_SIDES = 2 };

/* One argument's rows, each between guards. No two arguments share a row. */
struct cell_arg {
  unsigned char *memory[CELL_SIDES]; /* guard, row, guard, row, ..., guard */
  unsigned char *guards[CELL_SIDES]; /* what a guard holds */
  size_t row_bytes, guard_rows;      /* a guard is that many rows wide */
  int rows; /* 1, the arity for a vector, 0 for what is absent; through a ragged map as
                                        many as the element has, see cell_turn */
  bool ragged;
  void **vectors
      [CELL_SIDES]; /* native form: a vector argument's pointers, with pointers to guards around them */
  int *table;       /* generated code, and through a ragged map: where the rows are */
  long long
      first[3]; /* generated code, through a ragged map: where the element's begin and end in the table */
};

struct cell {
  const struct loop *loop;
  const struct launch *launch; /* the one that is checked */
  struct cell_arg args[OP_MAX_ARGS];
  native_call *call;       /* the native form, or NULL and */
  range_function function; /* generated code */
  struct desc desc;        /* of that code */
  void **frames[CELL_SIDES];
  void *pointers[CELL_SIDES][OP_MAX_ARGS]; /* of the parameters */
  const char *condition;                   /* of the op_assert that the last run ended at, NULL: none */
  struct bounds_finding outside;           /* of generated code: what the last run ended at, or `passed` */
  enum trap_cause trap;                    /* what the last run ended at */
  bool passed; /* some run reached the next row of a table by an index beyond the row before */
};

/* Runs the kernel's C function if it has one, else generated code. Collective. */
int cell_open(struct cell **out, struct op_context *ctx, const struct loop *loop, struct error *err);
void cell_free(struct cell *cell);

/* It becomes the mesh of that element: as many rows as it has targets. */
void cell_turn(struct cell *cell, long element);

/* Row r of an argument. */
static inline unsigned char *cell_row(const struct cell *cell, int side, int arg, int r) {
  const struct cell_arg *a = &cell->args[arg];
  return a->memory[side] + ((size_t)r * (a->guard_rows + 1) + a->guard_rows) * a->row_bytes;
}

/* Run the kernel once on what the rows of a side hold, up to an index of generated code that is outside an array,
 * or a division by zero. Variables of a native kernel that have no value hold what the guards of side `paint`
 * hold; -1: whatever is there. */
void cell_run(struct cell *cell, int side, int paint);
/* True if the last run ended at memory outside one of the kernel's own variables. */
static inline bool cell_left_variable(const struct cell *cell) {
  return cell->trap == TRAP_LEFT || (cell->outside.line && !cell->outside.passed);
}
/* Fill an argument's guards on `side` with what those of side `like` hold. */
void cell_set_guards(struct cell *cell, int side, int arg, int like);
/* The argument whose guard was written to since the last call, -1: none. The guards are whole again. */
int cell_broken_guard(struct cell *cell, int side);

/* ---- the rows that an element reaches in the mesh go into a cell, and back (rows.c) ---- */

/* The element, in the library's numbers, that row r of an argument belongs to. */
static inline long row_target(const struct loop_arg *arg, long element, int r) {
  return arg_target(arg, arg_begin(arg, element) + r);
}

static inline int user_number(const struct set *set, long element) {
  return set->to_user ? set->to_user[element] : (int)element;
}

/* An element's matrix begins with zeros, whatever was there. */
static inline bool is_matrix(const struct loop_arg *arg) {
  return arg->dat && arg->dat->segment;
}

/* The contents before the kernel writes are undefined: it must not read them. */
static inline bool is_undefined_before(const struct loop_arg *arg) {
  return (arg->access == OP_WRITE && !is_matrix(arg)) || (arg->access == OP_WORK && !arg->started);
}

/* The byte that fills undefined contents: another one for each argument and side, and as floating point or whole
 * numbers no value that programs compute. A bool is true in all code on side 0, also where only its last bit is
 * looked at, and false on side 1, so that code that reads it shows a difference. */
static inline int row_poison(const struct loop *loop, int side, int arg) {
  const enum type_code type = loop->args[arg].type;
  if (side == 0)
    return 0xA0 + arg % 16 + (type == TYPE_BOOL && arg % 2 == 0);
  return type == TYPE_BOOL ? false : 0x50 + arg % 16;
}

/* All rows of a side as the kernel finds them: zeros for OP_INC, poison for what is undefined. */
void rows_load(struct cell *cell, int side, long element);
/* True if row r, which the kernel may only read, still holds what rows_load put there. May load the row on side 1. */
bool row_is_unchanged(struct cell *cell, int side, int arg, int r, long element);
/* The start value of row r of an extremum. May load the row on side 1. */
const unsigned char *row_start(struct cell *cell, int arg, int r, long element);
/* Appends the remedy for a wrong k of OP_ROW: "let k in ...". */
void rows_remedy(const struct cell *cell, int i, struct text *out);
/* The rows of side 0 into the dats, slots and globals of the loop. */
void rows_store(struct cell *cell, long element);

#endif
