/* bridge FILE: matrices, vectors and shells of op2jit_petsc.h on any number of ranks: answers beside one another, and counters:
 * neither an assembly nor a product copies anything, or sends a message of the library that is no halo. Residuals of
 * conjugate gradients go into FILE, to be compared with those of other numbers of ranks. */
#include <math.h>

#include "grid.h"

#include <petscksp.h>

#include "op2jit_petsc.h"

#define petsc(call) check((call) == 0)

struct counted {
  long long messages, exchanges, converted, views, records;
};

static struct counted now(void) {
  const op_counters_t *c = op_counters();
  return (struct counted){c->messages, c->exchanges, c->bytes_converted, c->bytes_of_views, c->records};
}

/* The largest difference of two dats. */
static double differ(const struct grid *g, op_dat a, op_dat b) {
  double *mine = memory((size_t)g->nodes, sizeof *mine), *theirs = memory((size_t)g->nodes, sizeof *theirs),
         most = 0;
  check(op_fetch_data(a, mine) == OP_OK && op_fetch_data(b, theirs) == OP_OK);
  for (int n = 0; op_is_root() && n < g->nodes; n++)
    most = fmax(most, fabs(mine[n] - theirs[n]));
  free(mine);
  free(theirs);
  return most;
}

static void put_x(const struct grid *g) {
  double *x = memory((size_t)g->nodes, sizeof *x);
  for (int n = 0; n < g->nodes; n++)
    x[n] = sin(n);
  check(op_put_data(g->x, x) == OP_OK);
  free(x);
}

/* y = K x by the matrix, in the dats' memory. */
static void multiply_by_matrix(const struct grid *g, Mat k, op_dat y) {
  const Vec in = op_dat_petsc(g->x, OP_READ), out = op_dat_petsc(y, OP_WRITE);
  check(in && out);
  petsc(MatMult(k, in, out));
  check(op_petsc_end(y) == OP_OK && op_petsc_end(g->x) == OP_OK);
}

static void compare_products(struct grid *g) {
  op_dat z = op_decl_dat(g->node_set, 1, "double", NULL, "z");
  put_x(g);
  check(op_fix_mat(g->k, g->fixed, g->fixed, 1) == OP_OK);
  check(op_zero_mat(g->k) == OP_OK && grid_assemble(g) == OP_OK);
  Mat k = op_mat_petsc(g->k);
  check(k != NULL);
  multiply_by_matrix(g, k, z);
  check(grid_multiply(g) == OP_OK);
  check(differ(g, g->y, z) < 1e-13);
  /* Again: nothing is copied, and no message is of the library's. */
  const struct counted before = now();
  check(op_zero_mat(g->k) == OP_OK && grid_assemble(g) == OP_OK);
  check(op_mat_petsc(g->k) == k);
  multiply_by_matrix(g, k, z);
  const struct counted after = now();
  check(after.messages == before.messages && after.exchanges == before.exchanges);
  check(after.converted == before.converted && after.views == before.views);
  check(after.records == before.records);
  check(differ(g, g->y, z) < 1e-13);
  /* Twice as much after a second loop. */
  check(grid_assemble(g) == OP_OK && op_mat_petsc(g->k) == k);
  double norm, twice;
  petsc(MatNorm(k, NORM_FROBENIUS, &twice));
  check(op_zero_mat(g->k) == OP_OK && grid_assemble(g) == OP_OK && op_mat_petsc(g->k) == k);
  petsc(MatNorm(k, NORM_FROBENIUS, &norm));
  check(twice > 1.5 * norm && twice < 2 * norm); /* what is fixed stays */
  op_free_dat(z);
}

static void compare_shell(struct grid *g) {
  Mat shell = op_shell_petsc(g->x, g->y, grid_multiply, g), k = op_mat_petsc(g->k);
  Vec in, out, by_matrix, plain_in, plain_out;
  PetscInt own;
  PetscReal norm;
  check(shell && k);
  petsc(MatCreateVecs(shell, &in, &out));
  petsc(VecDuplicate(out, &by_matrix));
  petsc(VecSetRandom(in, NULL));
  petsc(MatMult(k, in, by_matrix));
  petsc(MatMult(shell, in, out));
  const struct counted before = now();
  petsc(MatMult(shell, in, out));
  const struct counted after = now();
  check(after.converted == before.converted && after.views == before.views &&
        after.records == before.records);
  check(after.exchanges - before.exchanges <= 1); /* of x */
  petsc(VecAXPY(out, -1, by_matrix));
  petsc(VecNorm(out, NORM_INFINITY, &norm));
  check(norm < 1e-13);
  /* Vectors without room. */
  petsc(VecGetLocalSize(in, &own));
  petsc(VecCreate(PetscObjectComm((PetscObject)in), &plain_in));
  petsc(VecSetSizes(plain_in, own, PETSC_DETERMINE));
  petsc(VecSetFromOptions(plain_in));
  petsc(VecDuplicate(plain_in, &plain_out));
  petsc(VecCopy(in, plain_in));
  petsc(MatMult(shell, plain_in, plain_out));
  petsc(VecCopy(plain_out, out));
  petsc(VecAXPY(out, -1, by_matrix));
  petsc(VecNorm(out, NORM_INFINITY, &norm));
  check(norm < 1e-13);
  petsc(VecDestroy(&plain_in));
  petsc(VecDestroy(&plain_out));
  petsc(VecDestroy(&in));
  petsc(VecDestroy(&out));
  petsc(VecDestroy(&by_matrix));
  petsc(MatDestroy(&shell));
}

/* Many work vectors, and no more records than loops. */
static void run_gmres(struct grid *g) {
  Mat shell = op_shell_petsc(g->x, g->y, grid_multiply, g);
  Vec b, u;
  KSP ksp;
  KSPConvergedReason reason;
  check(shell != NULL);
  petsc(MatCreateVecs(shell, &u, NULL));
  b = op_dat_petsc(g->b, OP_READ);
  petsc(KSPCreate(PetscObjectComm((PetscObject)shell), &ksp));
  petsc(KSPSetOperators(ksp, shell, shell));
  petsc(KSPSetType(ksp, KSPGMRES));
  PC pc;
  petsc(KSPGetPC(ksp, &pc));
  petsc(PCSetType(pc, PCNONE));
  petsc(KSPSetTolerances(ksp, 1e-3, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
  const struct counted before = now();
  petsc(KSPSolve(ksp, b, u));
  petsc(KSPGetConvergedReason(ksp, &reason));
  check(reason > 0 && now().records == before.records && now().views == before.views);
  check(now().records <= 10); /* of all that ran so far */
  check(op_petsc_end(g->b) == OP_OK);
  petsc(KSPDestroy(&ksp));
  petsc(VecDestroy(&u));
  petsc(MatDestroy(&shell));
}

enum { ITERATIONS = 100 };

static void write_residuals(const struct grid *g, const char *path) {
  PetscReal history[ITERATIONS + 1];
  KSP ksp;
  PC pc;
  const Mat k = op_mat_petsc(g->k);
  const Vec b = op_dat_petsc(g->b, OP_READ), x = op_dat_petsc(g->x, OP_WRITE);
  check(k && b && x);
  petsc(KSPCreate(PetscObjectComm((PetscObject)k), &ksp));
  petsc(KSPSetOperators(ksp, k, k));
  petsc(KSPSetType(ksp, KSPCG));
  petsc(KSPGetPC(ksp, &pc));
  petsc(PCSetType(pc, PCJACOBI));
  petsc(KSPSetTolerances(ksp, 1e-30, PETSC_DEFAULT, PETSC_DEFAULT, ITERATIONS));
  petsc(KSPSetResidualHistory(ksp, history, ITERATIONS + 1, PETSC_TRUE));
  petsc(KSPSolve(ksp, b, x));
  petsc(KSPDestroy(&ksp));
  check(op_petsc_end(g->x) == OP_OK && op_petsc_end(g->b) == OP_OK);
  FILE *file = op_is_root() ? fopen(path, "w") : NULL;
  check(!op_is_root() || file);
  for (int i = 0; file && i <= ITERATIONS; i++)
    fprintf(file, "%.7e\n", history[i]);
  if (file)
    fclose(file);
}

/* New numbers: matrices and vectors are made anew, and what the program kept is told to be old. */
static void change_numbers(struct grid *g) {
  Mat shell = op_shell_petsc(g->x, g->y, grid_multiply, g);
  Vec in;
  check(shell != NULL);
  check(op_renumber(g->ends) == OP_OK);
  PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  const PetscErrorCode refused = MatCreateVecs(shell, &in, NULL);
  PetscPopErrorHandler();
  check(refused == PETSC_ERR_ORDER);
  petsc(MatDestroy(&shell));
  compare_products(g);
  compare_shell(g);
}

int main(int argc, char **argv) {
  check(argc > 1 && op_init(argc, argv, 0) == OP_OK);
  struct grid g = grid_make(48);
  op_partition("rcb", "", g.node_set, NULL, g.at);
  compare_products(&g);
  compare_shell(&g);
  run_gmres(&g);
  write_residuals(&g, argv[1]);
  change_numbers(&g);
  check(op_free_mat(g.k) == OP_OK);
  check(op_exit() == OP_OK);
  return 0;
}
