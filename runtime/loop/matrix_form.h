/* Which form of a matrix a loop fills: `coo`, a matrix for each element, which are added up when somebody wants the whole;
 * or `csr`, the rows themselves, into which elements add at once (spread/sums.h). A matrix has one form from
 * op_zero_mat to op_zero_mat. Both are timed, with what bridges take for it, and the better one stays: it is remembered
 * by the signature of its loops. */
#ifndef OP2JIT_LOOP_MATRIX_FORM_H
#define OP2JIT_LOOP_MATRIX_FORM_H

#include <stdbool.h>

#include "base/error.h"
#include "include/op2jit.h"

struct loop;
struct matrix;
struct op_context;

/* A loop's gift to a matrix. */
struct form_gift {
  const struct segment *segments[OP_MAX_ARGS];
  int n;
  bool whole; /* some of it takes the place of what was there (OP_WRITE) */
};

/* Before a loop gives it: which form the matrix has is in m->summed then. Where what it holds must have the other one it is turned
 * over. Collective. OP_ERR_MEMORY, OP_ERR_MPI. */
int form_begin(struct op_context *ctx, struct matrix *m, const struct form_gift *gift, struct error *err);
/* After the first loop of a matrix of which nothing is known yet: what an earlier run found. Collective. */
int form_recall(struct op_context *ctx, struct matrix *m, const struct loop *loop, struct error *err);
/* The matrix is about to be freed: forget the loops that add to its rows. */
void form_forget(struct op_context *ctx, struct matrix *m);

#endif
