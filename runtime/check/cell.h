/* A mesh of one element: every row that the element reaches, copied into buffers with guard rows between them. The kernel
 * gets addresses only, whatever the access, so that what it really does is seen. Native functions and generated code run on
 * it alike. */
#ifndef OP2JIT_CHECK_CELL_H
#define OP2JIT_CHECK_CELL_H

#include <stdbool.h>
#include <stddef.h>

#include "backend/native/call.h"
#include "loop.h"

/* Guards hold numbers so small that adding to them shows; two kinds, so that reading one shows too. */
enum { CELL_GUARDS = 2 };

/* One argument's rows, each between guards. No two arguments share a row. */
struct cell_arg {
  unsigned char *memory;              /* guard, row, guard, row, ..., guard */
  unsigned char *guards[CELL_GUARDS]; /* what a guard holds */
  size_t row_bytes, guard_rows;       /* a guard is that many rows wide */
  int rows;                           /* 1, the arity for a vector, 0 for what is absent */
  void **vector;                      /* native form: a vector argument's pointers */
  int *table;                         /* generated code: where the rows are */
};

struct cell {
  const struct loop *loop;
  struct cell_arg args[OP_MAX_ARGS];
  native_call *call;       /* the native form, or NULL and */
  range_function function; /* generated code */
  struct desc desc;        /* of that code */
  void **frame;
};

int cell_open(struct cell **out, struct op_context *ctx, const struct loop *loop, struct error *err);
void cell_free(struct cell *cell);

/* Row r of an argument. */
static inline unsigned char *cell_row(const struct cell *cell, int arg, int r) {
  const struct cell_arg *a = &cell->args[arg];
  return a->memory + ((size_t)r * (a->guard_rows + 1) + a->guard_rows) * a->row_bytes;
}

/* Run the kernel once on what the rows hold, between guards of kind 0 or 1. Returns the argument whose guard it wrote to, -1:
 * none. */
int cell_run(struct cell *cell, int kind);

#endif
