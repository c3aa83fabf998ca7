/* The program of docs/matrices.md: the heat equation in a square, assembled on triangles and solved by conjugate
 * gradients in plain C on what op_fetch_mat says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <op2jit.h>

enum { SIDE = 16, NODES = (SIDE + 1) * (SIDE + 1), TRIANGLES = 2 * SIDE * SIDE };

/* clang-format off */
OP_KERNEL_DEF(poisson, void poisson(const double **x, double *a, double **b) {
  const double u[3] = {x[1][1] - x[2][1], x[2][1] - x[0][1], x[0][1] - x[1][1]};
  const double v[3] = {x[2][0] - x[1][0], x[0][0] - x[2][0], x[1][0] - x[0][0]};
  const double twice = u[0] * v[1] - u[1] * v[0];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++)
      a[3 * i + j] = (u[i] * u[j] + v[i] * v[j]) / (2 * twice);
    b[i][0] += twice / 6;
  }
})
OP_KERNEL_DEF(leave_out, void leave_out(const int *fixed, double *b) { if (*fixed) *b = 0; })
/* clang-format on */

static double x[NODES][2], b[NODES], u[NODES], *values;
static int boundary[NODES], triangle[TRIANGLES][3];
static long long *offsets, *columns;

static void make_mesh(void) {
  for (int n = 0; n < NODES; n++) {
    const int i = n % (SIDE + 1), j = n / (SIDE + 1);
    x[n][0] = (double)i / SIDE;
    x[n][1] = (double)j / SIDE;
    boundary[n] = i == 0 || j == 0 || i == SIDE || j == SIDE;
  }
  for (int c = 0; c < SIDE * SIDE; c++) {
    const int n = c / SIDE * (SIDE + 1) + c % SIDE;
    const int two[2][3] = {{n, n + 1, n + SIDE + 2}, {n, n + SIDE + 2, n + SIDE + 1}};
    for (int t = 0; t < 6; t++)
      triangle[2 * c + t / 3][t % 3] = two[t / 3][t % 3];
  }
}

static void multiply(const double *from, double *to) {
  for (int n = 0; n < NODES; n++) {
    to[n] = 0;
    for (long long k = offsets[n]; k < offsets[n + 1]; k++)
      to[n] += values[k] * from[columns[k]];
  }
}

static double dot(const double *p, const double *q) {
  double sum = 0;
  for (int n = 0; n < NODES; n++)
    sum += p[n] * q[n];
  return sum;
}

static int solve(void) {
  static double r[NODES], p[NODES], q[NODES];
  int steps = 0;
  for (int n = 0; n < NODES; n++)
    p[n] = r[n] = b[n];
  for (double rr = dot(r, r); rr > 1e-24 && steps < NODES; steps++) {
    multiply(p, q);
    const double alpha = rr / dot(p, q), before = rr;
    for (int n = 0; n < NODES; n++) {
      u[n] += alpha * p[n];
      r[n] -= alpha * q[n];
    }
    rr = dot(r, r);
    for (int n = 0; n < NODES; n++)
      p[n] = r[n] + rr / before * p[n];
  }
  return steps;
}

int main(int argc, char **argv) {
  make_mesh();
  op_init(argc, argv, 0);
  if (op_rank_count() > 1) /* each rank would declare the whole mesh */
    return op_exit();
  op_set nodes = op_decl_set(NODES, "nodes"), triangles = op_decl_set(TRIANGLES, "triangles");
  op_map corners = op_decl_map(triangles, nodes, 3, triangle[0], "corners");
  op_dat at = op_decl_dat(nodes, 2, "double", x[0], "x");
  op_dat fixed = op_decl_dat(nodes, 1, "int", boundary, "fixed");
  op_dat load = op_decl_dat(nodes, 1, "double", NULL, "b");

  op_mat k = op_decl_mat(1, &corners, &corners, 1, 1, "double", "k");
  op_fix_mat(k, fixed, fixed, 1);
  op_par_loop(OP_KERNEL_OF(poisson), "poisson", triangles,
              op_arg_dat(at, OP_ALL, corners, 2, "double", OP_READ),
              op_arg_mat(k, corners, corners, 1, 1, "double", OP_INC),
              op_arg_dat(load, OP_ALL, corners, 1, "double", OP_INC));
  op_par_loop(OP_KERNEL_OF(leave_out), "leave_out", nodes, op_arg_dat(fixed, -1, OP_ID, 1, "int", OP_READ),
              op_arg_dat(load, -1, OP_ID, 1, "double", OP_RW));

  long long entries;
  op_fetch_mat(k, &entries, NULL, NULL, NULL);
  offsets = malloc((NODES + 1) * sizeof *offsets);
  columns = malloc((size_t)entries * sizeof *columns);
  values = malloc((size_t)entries * sizeof *values);
  if (!offsets || !columns || !values)
    return 1;
  op_fetch_mat(k, &entries, offsets, columns, values);

  op_fetch_data(load, b);
  const int steps = solve();
  const double middle = u[NODES / 2];
  op_printf("%lld entries, %d steps, %.4f in the middle\n", entries, steps, middle);
  free(offsets);
  free(columns);
  free(values);
  return op_exit() || fabs(middle - 0.0737) > 0.0005;
}
