/* floats [double|kernel]: a loop of floats, whose kernel calls functions of double, as C has them; then one with an
 * argument of type double, or one with a double in its kernel. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "op2jit.h"

enum { N = 1000 };

/* clang-format off */
OP_KERNEL_DEF(root, void root(const float *x, float *y, float *sum) {
  *y = (float)(sqrt(*x) * 0.5 + fabs(-*x));
  *sum += *y;
})
OP_KERNEL_DEF(twice, void twice(double *x) { *x *= 2; })
OP_KERNEL_DEF(inside, void inside(float *x) { double y = *x; *x = (float)(2 * y); })
/* clang-format on */

int main(int argc, char **argv) {
  static float x[N], y[N];
  static double d[N];
  float sum = 0, error = 0, expected = 0;
  op_init(argc, argv, 1);
  op_set set = op_decl_set(N, "set");
  for (int i = 0; i < N; i++)
    x[i] = (float)(i % 50);
  op_dat px = op_decl_dat(set, 1, "float", x, "x"), py = op_decl_dat(set, 1, "float", y, "y");
  op_dat pd = op_decl_dat(set, 1, "double", d, "d");
  op_par_loop(OP_KERNEL_OF(root), "root", set, op_arg_dat(px, -1, OP_ID, 1, "float", OP_READ),
              op_arg_dat(py, -1, OP_ID, 1, "float", OP_WRITE), op_arg_gbl(&sum, 1, "float", OP_INC));
  op_fetch_data(py, y);
  for (int i = 0; i < N; i++) {
    const float right = sqrtf(x[i]) * 0.5f + x[i];
    error = fmaxf(error, fabsf(y[i] - right));
    expected += right;
  }
  printf("floats: %s\n", error < 1e-4f && fabsf(sum / expected - 1) < 1e-4f ? "right" : "WRONG");
  if (argc > 1 && strcmp(argv[1], "double") == 0)
    op_par_loop(OP_KERNEL_OF(twice), "twice", set, op_arg_dat(pd, -1, OP_ID, 1, "double", OP_RW));
  if (argc > 1 && strcmp(argv[1], "kernel") == 0)
    op_par_loop(OP_KERNEL_OF(inside), "inside", set, op_arg_dat(px, -1, OP_ID, 1, "float", OP_RW));
  op_exit();
  return 0;
}
