/* Matrix arguments become what loops know: a dat on the loop's set, an element's matrix on each of its elements
 * (mesh/matrix.h). The first loop that gives something since op_zero_mat writes it, later ones add. */
#ifndef OP2JIT_LOOP_MATRIX_H
#define OP2JIT_LOOP_MATRIX_H

#include "base/error.h"
#include "include/op2jit.h"
#include "record/record.h"
#include <stdbool.h>

/* A call with its matrix arguments as dats. */
struct lowered {
  struct loop_call call;
  op_arg args[OP_MAX_ARGS];
  /* For the arguments that are matrices: */
  struct matrix *matrices[OP_MAX_ARGS];
  struct segment *segments[OP_MAX_ARGS];
  bool given[OP_MAX_ARGS], filled[OP_MAX_ARGS]; /* marked as filled; what they were */
};

#define MATRIX_IS_NONE "the matrix is %s; expected one made by op_decl_mat since op_init"

bool matrix_is_passed(const struct loop_call *call);
/* `call` with its list of arguments, which are known to be there; `to` keeps the new list. Collective, as making dats is.
 * Messages name the loop and the argument. */
int matrix_lower(struct op_context *ctx, const struct loop_call *call, struct lowered *to, struct error *err);
/* The call ran: what earlier runs know of its matrices is looked up, once. Collective then. */
int matrix_gave(struct op_context *ctx, const struct lowered *lowered, struct error *err);
/* The call failed: nothing was given. */
void matrix_take_back(struct lowered *lowered);

/* Which form of a matrix a loop fills: `coo`, a matrix for each element, which are added up when somebody wants the whole;
 * or `csr`, the rows themselves, into which elements add at once (spread/sums.h). A matrix has one form from
 * op_zero_mat to op_zero_mat. Both are timed, with what bridges take for it, and the better one stays: it is remembered
 * by the signature of its loops. */
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
