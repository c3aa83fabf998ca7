/* Matrix arguments become what loops know: a dat on the loop's set, an element's matrix on each of its elements
 * (mesh/matrix/). The first loop that gives something since op_zero_mat writes it, later ones add. */
#ifndef OP2JIT_LOOP_MATRIX_H
#define OP2JIT_LOOP_MATRIX_H

#include "record/record.h"

struct segment;

/* A call with its matrix arguments as dats. */
struct lowered {
  struct loop_call call;
  op_arg args[OP_MAX_ARGS];
  struct segment *segments[OP_MAX_ARGS];
  bool filled[OP_MAX_ARGS]; /* what they were */
  int n;
};

#define MATRIX_IS_NONE "the matrix is %s; expected one made by op_decl_mat since op_init"

bool matrix_is_passed(const struct loop_call *call);
/* `call` with its list of arguments, which are known to be there; `to` keeps the new list. Collective, as making dats is.
 * Messages name the loop and the argument. */
int matrix_lower(struct op_context *ctx, const struct loop_call *call, struct lowered *to, struct error *err);
/* The call failed: nothing was given. */
void matrix_take_back(struct lowered *lowered);

#endif
