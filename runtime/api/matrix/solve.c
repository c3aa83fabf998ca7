/* Solvers, and what bridges to them are told. */
#include "solve/solve.h"
#include "api/api.h"
#include "base/log.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "solve/solver.h"

/* The bridge in the plugin makes the same calls as one in a program. */
static const struct solver_calls calls = {.layout_of = op2jit_layout_of,
                                          .dat_shape = op2jit_dat_shape,
                                          .coo_of = op2jit_coo_of,
                                          .coo_device = op2jit_coo_device,
                                          .coo_took = op2jit_coo_took,
                                          .where_is = op2jit_where_is,
                                          .lend = op2jit_lend,
                                          .lend_device = op2jit_lend_device,
                                          .lend_end = op2jit_lend_end,
                                          .place = op2jit_place,
                                          .place_end = op2jit_place_end,
                                          .keep = op2jit_keep,
                                          .kept = op2jit_kept,
                                          .comm_fortran = op2jit_comm_fortran,
                                          .arguments = op2jit_arguments,
                                          .bridge_error = op2jit_bridge_error,
                                          .bridge_warn = op2jit_bridge_warn,
                                          .last_error = op2jit_last_error};

int op2jit_solve(op_mat mat, op_dat b, op_dat x, const char *prefix) {
  struct op_context *ctx = api_enter("op_solve", FLUSH);
  const struct solver_table *table = NULL;
  long long iterations = 0;
  if (!ctx)
    return api_refused();
  int code = agree_on_call(ctx, api_error()->code, api_error(), "op_solve of \"%s\"\n", prefix ? prefix : "");
  if (!code)
    code = solving_table(ctx, &table, api_error());
  if (api_leave(code))
    return code;
  code = table->solve(&calls, mat, b, x, prefix ? prefix : "", &iterations);
  ctx->counters->iterations += iterations;
  return code;
}

int op2jit_arguments(char ***argv) {
  struct op_context *ctx = api_enter("op_arguments", KEEP);
  if (!ctx)
    return 0;
  if (argv)
    *argv = ctx->solving->argv;
  api_leave_local(OP_OK);
  return ctx->solving->argc;
}

int op2jit_bridge_error(int code, const char *message) {
  struct op_context *ctx = api_enter("op_bridge_error", KEEP);
  if (!ctx)
    return api_refused();
  if (code <= OP_OK || code >= OP_ERR_COUNT_)
    code = OP_ERR_INTERNAL;
  error_set(api_error(), code, "%s", message ? message : "a bridge failed");
  return api_leave(agree_on_success(ctx->comm, code, api_error()));
}

void op2jit_bridge_warn(const char *line) {
  struct op_context *ctx = api_enter("op_bridge_warn", KEEP);
  if (!ctx)
    return;
  if (line && ctx->comm->rank == 0)
    log_line(ctx->log, LOG_WARN, "solve", "%s", line);
  api_leave_local(OP_OK);
}
