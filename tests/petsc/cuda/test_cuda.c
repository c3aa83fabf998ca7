/* The work of op2jit_petsc.h where PETSc has CUDA, on the stand-in of the driver and on stand-ins of PETSc's calls for it, whose
 * vectors and matrices are those of the host: it compiles, answers are right, and nothing of an assembly or of a product by
 * the matrix comes to the host. */
#include <math.h>

#include "../grid.h"

#define PETSC_HAVE_CUDA 1
#include <petscksp.h>
#undef MATAIJCUSPARSE
#define MATAIJCUSPARSE MATAIJ

#include "op2jit_petsc.h"

static int placed;

PetscErrorCode VecCreateSeqCUDAWithArray(MPI_Comm comm, PetscInt block, PetscInt n, const PetscScalar *memory,
                                         Vec *out) {
  return VecCreateSeqWithArray(comm, block, n, cuda_on_host(memory), out);
}

PetscErrorCode VecCreateMPICUDAWithArray(MPI_Comm comm, PetscInt block, PetscInt n, PetscInt all,
                                         const PetscScalar *memory, Vec *out) {
  return VecCreateMPIWithArray(comm, block, n, all, cuda_on_host(memory), out);
}

PetscErrorCode VecCUDAPlaceArray(Vec vector, const PetscScalar memory[]) {
  placed++;
  return VecPlaceArray(vector, cuda_on_host(memory));
}

PetscErrorCode VecCUDAResetArray(Vec vector) {
  placed--;
  return VecResetArray(vector);
}

static void multiply_by_matrix(const struct grid *g, Mat k, op_dat y) {
  const Vec in = op_dat_petsc(g->x, OP_READ), out = op_dat_petsc(y, OP_WRITE);
  check(in && out && placed == 2);
  check(MatMult(k, in, out) == 0);
  check(op_petsc_end(y) == OP_OK && op_petsc_end(g->x) == OP_OK && placed == 0);
}

int main(int argc, char **argv) {
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  check(op_init(argc, argv, 0) == OP_OK);
  struct grid g = grid_make(12);
  op_partition("rcb", "", g.node_set, NULL, g.at);
  op_dat z = op_decl_dat(g.node_set, 1, "double", NULL, "z");
  double *x = memory((size_t)g.nodes, sizeof *x), *y = memory((size_t)g.nodes, sizeof *y);
  for (int n = 0; n < g.nodes; n++)
    x[n] = sin(n);
  check(op_put_data(g.x, x) == OP_OK && op_fix_mat(g.k, g.fixed, g.fixed, 1) == OP_OK);
  Mat k = NULL;
  for (int times = 0; times < 3; times++) {
    const op_counters_t before = *op_counters();
    const size_t to_host = cuda_copied[cudaMemcpyDeviceToHost],
                 within = cuda_copied[cudaMemcpyDeviceToDevice];
    check(op_zero_mat(g.k) == OP_OK && grid_assemble(&g) == OP_OK);
    Mat same = op_mat_petsc(g.k);
    check(same && (!k || same == k));
    k = same;
    multiply_by_matrix(&g, k, z);
    check(times == 0 || (op_counters()->bytes_from_device == before.bytes_from_device &&
                         op_counters()->bytes_to_device == before.bytes_to_device));
    check(cuda_copied[cudaMemcpyDeviceToHost] == to_host && cuda_copied[cudaMemcpyDeviceToDevice] > within);
  }
  check(cuda_waits >= 6);
  check(grid_multiply(&g) == OP_OK);
  check(op_fetch_data(z, x) == OP_OK && op_fetch_data(g.y, y) == OP_OK);
  for (int n = 0; op_is_root() && n < g.nodes; n++)
    check(fabs(x[n] - y[n]) < 1e-13);
  free(x);
  free(y);
  check(op_exit() == OP_OK);
  return 0;
}
