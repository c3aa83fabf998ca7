/* trouble [OP2_NAME=VALUE...]: op_solve and what can be wrong with it, by the plugin. Everything is an error in words, after
 * which the library works on. What is warned of is looked for by trouble.sh. */
#include "grid.h"

static void fails(int code, const char *words) {
  check(op_last_error()->code == code);
  check(strstr(op_last_error()->message, words) != NULL);
}

static void refuse(const struct grid *g, op_dat b, op_dat x, int code, const char *words) {
  check(op_solve(g->k, b, x, "good_") == code);
  fails(code, words);
}

static void solve(const struct grid *g) {
  const double *zeros = memory((size_t)g->nodes, sizeof *zeros);
  double *y = memory((size_t)g->nodes, sizeof *y), *b = memory((size_t)g->nodes, sizeof *b), most = 0;
  check(op_put_data(g->x, zeros) == OP_OK);
  const long long before = op_counters()->iterations;
  check(op_solve(g->k, g->b, g->x, "good_") == OP_OK);
  check(op_counters()->iterations > before);
  check(grid_multiply((void *)g) == OP_OK);
  check(op_fetch_data(g->y, y) == OP_OK && op_fetch_data(g->b, b) == OP_OK);
  for (int n = 0; op_is_root() && n < g->nodes; n++) {
    const double error = y[n] > b[n] ? y[n] - b[n] : b[n] - y[n];
    most = error > most ? error : most;
  }
  check(most < 1e-6);
  free((void *)zeros);
  free(y);
  free(b);
}

static void be_refused(const struct grid *g) {
  op_dat pairs = op_decl_dat(g->node_set, 2, "double", NULL, "pairs");
  op_dat floats = op_decl_dat(g->node_set, 1, "float", NULL, "floats");
  refuse(g, g->b, g->x, OP_ERR_STATE, "op_solve: matrix \"k\" is used before a loop filled it");
  check(op_fix_mat(g->k, g->fixed, g->fixed, 1) == OP_OK && grid_assemble(g) == OP_OK);
  refuse(g, pairs, g->x, OP_ERR_DIM, "\"pairs\", the right-hand side, has dim 2");
  refuse(g, g->b, g->weight, OP_ERR_MAP_SET, "\"weight\", the solution");
  refuse(g, g->b, floats, OP_ERR_TYPE, "op_solve: dat \"floats\", the solution, is of type \"float\"");
  refuse(g, g->b, g->b, OP_ERR_ALIAS, "are one dat");
  refuse(g, NULL, g->x, OP_ERR_HANDLE, "op_solve: the right-hand side is NULL");
  check(op_solve(g->k, g->b, g->x, "few_") == OP_ERR_SOLVER);
  fails(OP_ERR_SOLVER, "mat \"k\": PETSc's cg with the preconditioner ");
  fails(OP_ERR_SOLVER, "did not converge: DIVERGED_ITS after 2 iterations, with a residual of ");
  check(op_solve(g->k, g->b, g->x, "strange_") == OP_ERR_SOLVER);
  fails(OP_ERR_SOLVER, "nonsense");
}

static void work(int argc, char **argv) {
  char *words[] = {"trouble",  "-few_ksp_type",   "cg",   "-few_ksp_max_it", "2",  "-strange_pc_type",
                   "nonsense", "-good_ksp_rtoll", "1",    "-good_ksp_type",  "cg", "-good_pc_type",
                   "gamg",     "-good_ksp_rtol",  "1e-10"};
  enum { WORDS = sizeof words / sizeof *words };
  char **all = memory((size_t)argc + WORDS, sizeof *all);
  memcpy(all, words, sizeof words);
  memcpy(all + WORDS, argv + 1, (size_t)(argc - 1) * sizeof *all);
  check(op_init(argc - 1 + WORDS, all, 0) == OP_OK);
  struct grid g = grid_make(20);
  op_partition("rcb", "", g.node_set, NULL, g.at);
  be_refused(&g);
  solve(&g);
  /* Other values, the same matrix. */
  check(op_zero_mat(g.k) == OP_OK && grid_assemble(&g) == OP_OK);
  solve(&g);
  check(op_free_mat(g.k) == OP_OK);
  check(op_exit() == OP_OK);
  free(all);
}

int main(int argc, char **argv) {
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  work(argc, argv);
  /* Once more in one process: PETSc begins again. */
  work(argc, argv);
  printf("rank %d: done\n", op_rank());
  return 0;
}
