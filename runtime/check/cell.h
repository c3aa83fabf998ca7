/* A mesh of one element: every row that the element reaches, copied into buffers with guard rows between them. The kernel
 * gets addresses only, whatever the access, so that what it really does is seen. Native functions and generated code run on
 * it alike. */
#ifndef OP2JIT_CHECK_CELL_H
#define OP2JIT_CHECK_CELL_H

#include <stdbool.h>
#include <stddef.h>

#include "backend/native/call.h"
#include "loop.h"

/* One argument's rows, each between guards. No two arguments share a row. */
struct cell_arg {
  unsigned char *memory; /* guard, row, guard, row, ..., guard */
  unsigned char *guard;  /* what a guard row holds */
  size_t row_bytes;
  int rows;      /* 1, the arity for a vector, 0 for what is absent */
  void **vector; /* native form: a vector argument's pointers */
  int *table;    /* generated code: where the rows are */
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
  return a->memory + (size_t)(2 * r + 1) * a->row_bytes;
}

/* Run the kernel once on what the rows hold. Returns the argument whose guard it wrote to, -1: none. */
int cell_run(struct cell *cell);

#endif
