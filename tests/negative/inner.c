/* Errors that a right library never says to one process: what its parts say when they find them. */
#include <stddef.h>

#include "base/error.h"
#include "negative.h"
#include "op2jit_bridge.h"
#include "plan/plan.h"
#include "ranks/comm.h"

static void keep(struct said *said, struct error *err) {
  const op_error said_by_part = {err->code, error_kind(err->code)->name, error_message(err)};
  said_keep(said, &said_by_part);
  error_free(err);
}

/* A plan in which two blocks of one colour share a target. */
CASE(plan_broken, OP_ERR_PLAN, IN_MESH | RETURN_ONLY) {
  static const int table[] = {0, 1, 1, 2, 2, 3, 3, 4};
  const struct plan_column columns[] = {
      {.table = table, .arity = 2, .column = 0, .target = 0, .target_size = 5},
      {.table = table, .arity = 2, .column = 1, .target = 0, .target_size = 5}};
  const struct plan_request request = {.size = 4, .block_size = 2, .columns = columns, .ncolumns = 2};
  struct plan plan;
  struct error err = {0};
  if (plan_build(&plan, &request, NULL, &err) == OP_OK) {
    plan.ncolours = 1;
    plan.colour_first[1] = plan.nblocks;
    plan_verify(&plan, &request, 2, &err);
    plan_free(&plan);
  }
  keep(said, &err);
}

CASE(comm_of_one_rank, OP_ERR_INTERNAL, IN_MESH | RETURN_ONLY) {
  struct comm *comm = NULL;
  struct error err = {0};
  int number = 0;
  if (comm_open_alone(&comm, &err) == OP_OK)
    comm->table->broadcast(comm, &number, sizeof number, 1, &err);
  comm_close(comm);
  keep(said, &err);
}

CASE(comm_forbidden, OP_ERR_MPI, IN_MESH | RETURN_ONLY) {
  const struct comm_given given = {0, "Open MPI v4.1.4"};
  const struct comm_options options = {.wanted = "off", .given = &given};
  struct comm *comm = NULL;
  struct error err = {0};
  comm_open(&comm, &options, &err);
  comm_close(comm);
  keep(said, &err);
}

/* Solvers are PETSc's, and tests/petsc makes them fail; this is how any bridge tells that one did. */
CASE(solver_failed, OP_ERR_SOLVER, IN_MESH | RETURN_ONLY) {
  op_bridge_error(OP_ERR_SOLVER, "a solver: it did not converge");
}
