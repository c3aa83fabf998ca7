/* Solvers, and what bridges to them are told. */
#include "solve/solve.h"
#include "api/api.h"
#include "base/log.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/coo.h"

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

static void check_vector(struct op_context *ctx, op_dat handle, const char *call, const char *what) {
  const struct dat *dat = api_object(ctx, handle, HANDLE_DAT, call, what);
  if (dat && dat->type != TYPE_DOUBLE)
    error_set(api_error(), OP_ERR_TYPE,
              "%s: dat \"%s\", %s, is of type \"%s\"; expected \"double\", as PETSc's vectors are", call,
              dat->name, what, type_info(dat->type)->name);
}

static void check_matrix(struct op_context *ctx, op_mat mat, const char *call) {
  const struct matrix *m = api_object(ctx, mat, HANDLE_MATRIX, call, "the matrix");
  if (m)
    coo_check(m, call, api_error());
}

int op2jit_solve(op_mat mat, op_dat b, op_dat x, const char *prefix) {
  const struct solver_table *table = NULL;
  long long iterations = 0;
  struct op_context *ctx = api_enter("op_solve", FLUSH);
  if (!ctx)
    return api_refused();
  check_matrix(ctx, mat, "op_solve");
  check_vector(ctx, b, "op_solve", "the right-hand side");
  check_vector(ctx, x, "op_solve", "the solution");
  int code = api_agree("op_solve of \"%s\"\n", prefix ? prefix : "");
  if (!code)
    code = solving_table(ctx, "op_solve", &table, api_error());
  if (api_leave(code))
    return code;
  code = table->solve(&calls, mat, b, x, prefix ? prefix : "", &iterations);
  ctx->counters->iterations += iterations;
  return code;
}

/* ---- for programs without PETSc's headers ---- */

/* The plugin, when what the call takes is looked at; NULL: the error is told. */
static const struct solver_table *leave_to_plugin(struct op_context *ctx, const char *call) {
  const struct solver_table *table = NULL;
  int code = api_error()->code; /* the same on all ranks */
  if (!code)
    code = solving_table(ctx, call, &table, api_error());
  return api_leave_local(code) ? NULL : table;
}

int op2jit_solver_ready(const char *call) {
  struct op_context *ctx = api_enter(call ? call : "op_solver_ready", KEEP);
  if (!ctx)
    return api_refused();
  return api_leave(api_agree("a first use of PETSc by %s\n", call ? call : "a program"));
}

int op2jit_solver_open(const void *petsc) {
  struct op_context *ctx = api_enter("op_solver_open", KEEP);
  const struct solver_table *table = ctx ? leave_to_plugin(ctx, "op_solver_open") : NULL;
  return table ? table->open(&calls, petsc) : api_refused();
}

void *op2jit_solver_mat(op_mat mat) {
  struct op_context *ctx = api_enter("op_solver_mat", FLUSH);
  if (!ctx)
    return NULL;
  check_matrix(ctx, mat, "op_solver_mat");
  const struct solver_table *table = leave_to_plugin(ctx, "op_solver_mat");
  return table ? table->mat(&calls, mat) : NULL;
}

void *op2jit_solver_vec(op_dat dat, op_access access) {
  struct op_context *ctx = api_enter("op_solver_vec", FLUSH);
  if (!ctx)
    return NULL;
  check_vector(ctx, dat, "op_solver_vec", "the vector");
  const struct solver_table *table = leave_to_plugin(ctx, "op_solver_vec");
  return table ? table->vec(&calls, dat, access) : NULL;
}

int op2jit_solver_place(op_dat dat, void *vec, op_access access) {
  struct op_context *ctx = api_enter("op_solver_place", FLUSH);
  if (!ctx)
    return api_refused();
  check_vector(ctx, dat, "op_solver_place", "the vector");
  if (!vec && !api_error()->code)
    error_set(api_error(), OP_ERR_ARGUMENT, "op_solver_place: the vector of PETSc is NULL");
  const struct solver_table *table = leave_to_plugin(ctx, "op_solver_place");
  return table ? table->place(&calls, dat, vec, access) : api_refused();
}

int op2jit_solver_end(op_dat dat) {
  struct op_context *ctx = api_enter("op_solver_end", KEEP);
  const struct solver_table *table = ctx ? leave_to_plugin(ctx, "op_solver_end") : NULL;
  return table ? table->end(&calls, dat) : api_refused();
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
