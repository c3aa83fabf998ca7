/* Copies the rows that an element reaches in the mesh into a cell, and back. */
#ifndef OP2JIT_CHECK_ROWS_H
#define OP2JIT_CHECK_ROWS_H

#include "check/cell.h"
#include "mesh/data.h"

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
