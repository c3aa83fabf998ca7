/* Matrix arguments become what loops know: a dat on the loop's set, an element's matrix on each of its elements
 * (mesh/matrix.h). The first loop that gives something since op_zero_mat writes it, later ones add. */
#ifndef OP2JIT_LOOP_MATRIX_H
#define OP2JIT_LOOP_MATRIX_H

#include "record/record.h"

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

#endif
