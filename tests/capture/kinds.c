/* kinds [OP2_NAME=VALUE...]: loops with each kind of argument, in a period that comes twice; for OP2_CAPTURE. Of several ranks
 * the first one declares everything. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "op2jit.h"

enum { EDGES = 60, NODES = 41, ROWS = 24 };

struct state {
  double rho, u[2];
  int kind;
};
static const char *const shared = OP_KERNEL(
    struct state {
      double rho, u[2];
      int kind;
    };
    static double half(double x) { return 0.5 * x; });
static double half(double x) {
  return 0.5 * x;
}

static double gam = 1.4;

OP_KERNEL_DEF(
    flux, void flux(const double *x, const double *p, const double *const q[2], double *a, double *both[2],
                    float *f, const struct state *s) {
      *a += gam * x[0] * p[0] + half(x[1]) + 0.001 * s->rho;
      both[0][0] += q[0][0] * q[1][1];
      both[1][1] -= x[1];
      *f = (float)x[0];
    })
OP_KERNEL_DEF(
    update, void update(double *q, const double *a, int *count, const int *number) {
      q[0] = half(q[0]) + 0.25 * *a;
      q[1] -= 0.125;
      *count += *number % 3;
    })
OP_KERNEL_DEF(
    gather, void gather(int n, const double **q, double **w, double *s) {
      for (int k = 0; k < n; k++) {
        *s += OP_ROW(q, k)[0];
        OP_ROW(w, k)[0] += 1;
      }
    })
OP_KERNEL_DEF(
    some, void some(const double *q, double *x, const int *numbers, const double *kept) {
      x[0] = q[0] + 0.001 * numbers[0] + 1e-5 * *kept;
      x[1] = q[1] - 0.001 * numbers[1];
    })
OP_KERNEL_DEF(
    sums, void sums(const double *q, const double *scale, double *sum, long long *all, double *least,
                    int *place, const int *number, double *kept, double *work) {
      work[1] = *scale * q[1];
      *sum += work[1];
      *all += *number;
      *kept += q[0];
      if (q[0] < *least) {
        *least = q[0];
        *place = *number;
      }
    })
OP_KERNEL_DEF(
    states, void states(const double *q, struct state *s, float *most) {
      s->rho += q[0];
      s->u[1] = half(q[1]);
      s->kind++;
      *most = fmaxf(*most, (float)q[0]);
    })

/* The values of an element for a matrix: nothing but what this kernel leaves there. */
OP_KERNEL_DEF(
    fill, void fill(const double *const q[2], double *k) {
      for (int i = 0; i < 4; i++)
        k[i] = q[i / 2][0] * q[i % 2][1];
      k[0] += 1;
    })

int main(int argc, char **argv) {
  static double x[2 * EDGES], q[2 * NODES], view[NODES], w[ROWS * 3];
  static struct state all[NODES];
  static int counts[NODES];
  static int table[2 * EDGES], targets[ROWS * 3], members[EDGES / 2];
  static long long offsets[ROWS + 1];
  for (int e = 0; e < EDGES; e++) {
    x[2 * e] = 0.25 * (e % 7);
    x[2 * e + 1] = 1.0 / (1 + e);
    table[2 * e] = (e * 5) % NODES;
    table[2 * e + 1] = (e * 11 + 3) % NODES;
  }
  for (int n = 0; n < NODES; n++) {
    q[2 * n] = 1 + 0.125 * (n % 9);
    q[2 * n + 1] = sin(n);
    all[n] = (struct state){n, {1, 2}, n % 4};
  }
  for (int r = 0; r < ROWS; r++) {
    offsets[r + 1] = offsets[r] + r % 4;
    for (long long k = offsets[r]; k < offsets[r + 1]; k++)
      targets[k] = (int)((7 * k + r) % NODES);
  }
  for (int i = 0; i < EDGES / 2; i++)
    members[i] = 2 * i + 1;
  if (op_init(argc, argv, 0))
    return 1;
  OP_TYPE(struct state, rho, u, kind);
  op_decl_prelude(shared);
  op_decl_const("gam", 1, "double", &gam);
  const int mine = op_is_root();
  op_set edges = op_decl_set(mine * EDGES, "edges"), nodes = op_decl_set(mine * NODES, "nodes"),
         rows = op_decl_set(mine * ROWS, "rows");
  op_map map = op_decl_map(edges, nodes, 2, table, "map");
  op_map ragged = op_decl_map_ragged(rows, nodes, offsets, targets, "ragged");
  op_set odd = op_decl_subset(edges, mine * EDGES / 2, members, "half");
  op_dat dx = op_decl_dat(edges, 2, "double", x, "x"), dq = op_decl_dat(nodes, 2, "double", q, "q"),
         da = op_decl_dat_view(nodes, 1, "double", view, "a"),
         db = op_decl_dat(nodes, 2, "double:soa", NULL, "b"), df = op_decl_dat(edges, 1, "float", NULL, "f"),
         dc = op_decl_dat(nodes, 1, "int", NULL, "count"),
         dw = op_decl_dat(op_map_entries(ragged), 1, "double", w, "w"),
         ds = op_decl_dat(rows, 1, "double", NULL, "s"),
         dt = op_decl_dat(nodes, 1, "struct state", all, "state");
  op_gbl kept = op_decl_gbl(1, "double", NULL, "kept");
  op_mat matrix = op_decl_mat(1, &map, &map, 1, 1, "double", "matrix");
  double scale = 3, sum = 1, least = 1e9;
  float most = 0;
  long long numbers = 0;
  int place = -1;
  op_partition("block", "", nodes, NULL, NULL);
  for (int step = 0; step < 2; step++) {
    const double start = 7;
    op_par_loop(OP_KERNEL_OF(flux), "flux", edges, op_arg_dat(dx, -1, OP_ID, 2, "double", OP_READ),
                op_arg_dat(dq, 1, map, 2, "double", OP_READ), op_arg_dat(dq, -2, map, 2, "double", OP_READ),
                op_arg_dat(da, 0, map, 1, "double", OP_INC), op_arg_dat(db, OP_ALL, map, 2, "double", OP_INC),
                op_arg_dat(df, -1, OP_ID, 1, "float", OP_WRITE),
                op_arg_dat(dt, 1, map, 1, "struct state", OP_READ));
    op_par_loop(OP_KERNEL_OF(update), "update", nodes, op_arg_dat(dq, -1, OP_ID, 2, "double", OP_RW),
                op_arg_dat(da, -1, OP_ID, 1, "double", OP_READ), op_arg_dat(dc, -1, OP_ID, 1, "int", OP_INC),
                op_arg_idx(-1, OP_ID));
    op_par_loop(OP_KERNEL_OF(gather), "gather", rows, op_arg_dat(dq, OP_ALL, ragged, 2, "double", OP_READ),
                op_arg_dat(dw, OP_ALL, ragged, 1, "double", OP_RW),
                op_arg_dat(ds, -1, OP_ID, 1, "double", OP_INC));
    op_par_loop(OP_KERNEL_OF(some), "some", odd, op_arg_dat(dq, 0, map, 2, "double", OP_READ),
                op_arg_dat(dx, -1, OP_ID, 2, "double", OP_WRITE), op_arg_idx(-2, map),
                op_arg_global(kept, OP_READ));
    op_par_loop(OP_KERNEL_OF(sums), "sums", nodes, op_arg_dat(dq, -1, OP_ID, 2, "double", OP_READ),
                op_arg_gbl(&scale, 1, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC),
                op_arg_gbl(&numbers, 1, "long long", OP_INC), op_arg_gbl(&least, 1, "double", OP_MIN),
                op_arg_info(&place, 1, "int", 5), op_arg_idx(-1, OP_ID), op_arg_global(kept, OP_INC),
                op_arg_gbl(NULL, 2, "double", OP_WORK));
    if (argc > 1 && step) /* between two loops */
      op_put_gbl(kept, &start);
    op_par_loop(OP_KERNEL_OF(states), "states", nodes, op_arg_dat(dq, -1, OP_ID, 2, "double", OP_READ),
                op_arg_dat(dt, -1, OP_ID, 1, "struct state", OP_RW), op_arg_gbl(&most, 1, "float", OP_MAX));
    op_zero_mat(matrix);
    for (int twice = 0; twice < 2; twice++)
      op_par_loop(OP_KERNEL_OF(fill), "fill", twice ? odd : edges,
                  op_arg_dat(dq, -2, map, 2, "double", OP_READ),
                  op_arg_mat(matrix, map, map, 1, 1, "double", OP_INC));
    op_par_loop(OP_KERNEL_OF(fill), "fill", edges, op_arg_dat(dq, -2, map, 2, "double", OP_READ),
                op_arg_mat(matrix, map, map, 1, 1, "double", OP_INC));
  }
  op_put_gbl(kept, &scale); /* behind the last loop: no part of what these did */
  op_put_data(dc, counts);
  return op_exit() != OP_OK;
}
