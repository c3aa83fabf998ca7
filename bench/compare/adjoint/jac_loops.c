/* One iteration of jac, from u, a and r to the new u and the sum of the squared changes, with its tangent
 * (names end in _d) and its adjoint (_b) as differentiation tools write them: what was read becomes
 * incremented, and the loops run in the opposite order. */
#include "adjoint.h"

#include "common/memory.h"
#include "common/ranks.h"

#include <math.h>
#include <stdlib.h>

OP_KERNEL_DEF(
    gather, void gather(const double *a, const double *u, double *du) { *du += *a * *u; })

OP_KERNEL_DEF(
    gather_d, void gather_d(const double *a, const double *a_d, const double *u, const double *u_d,
                            double *du_d) { *du_d += *a_d * *u + *a * *u_d; })

OP_KERNEL_DEF(
    gather_b, void gather_b(const double *a, double *a_b, const double *u, double *u_b, const double *du_b) {
      *a_b += *u * *du_b;
      *u_b += *a * *du_b;
    })

OP_KERNEL_DEF(
    update_d, void update_d(const double *r_d, const double *r, const double *du, const double *du_d,
                            const double *u, double *u_d, double *change_d) {
      double next = *du + *r;
      double next_d = *du_d + *r_d;
      *change_d += 2 * (next - *u) * (next_d - *u_d);
      *u_d = next_d;
    })

/* u_b comes in as the adjoint of the new u and leaves as that of the old. */
OP_KERNEL_DEF(
    update_b, void update_b(const double *r, double *r_b, const double *du, double *du_b, const double *u,
                            double *u_b, const double *change_b) {
      double next = *du + *r;
      double step_b = 2 * (next - *u) * *change_b;
      double next_b = *u_b + step_b;
      *u_b = -step_b;
      *du_b = next_b;
      *r_b += next_b;
    })

/* Where each field's noise starts. */
enum { A = 1, U, R, A_D, U_D, R_D, U_B };

struct jac {
  op_set nodes, edges;
  op_map ends;
  op_dat a, u, r, du;
  op_dat a_d, u_d, r_d, du_d;
  op_dat a_b, u_b, r_b, du_b;
};

static op_dat noise_on(op_set set, unsigned seed, const char *name) {
  double *values = adjoint_noise(op_get_size(set), seed);
  op_dat dat = op_decl_dat(set, 1, "double", values, name);
  free(values);
  return dat;
}

static op_dat zeros_on(op_set set, const char *name) {
  return op_decl_dat(set, 1, "double", NULL, name);
}

/* The edges of a grid of n x n nodes: a node, and a neighbour that it reads. */
static int *make_ends(int n, int *edge_count) {
  int edges = 0, *ends = room(8LL * n * n, sizeof *ends);
  for (int node = 0; node < n * n; node++) {
    int near[4] = {node >= n ? node - n : -1, node % n ? node - 1 : -1, (node + 1) % n ? node + 1 : -1,
                   node + n < n * n ? node + n : -1};
    for (int k = 0; k < 4; k++) {
      if (near[k] >= 0) {
        ends[2 * edges] = node;
        ends[2 * edges++ + 1] = near[k];
      }
    }
  }
  *edge_count = edges;
  return ends;
}

static struct jac declare(int n, const int *ends, int edges) {
  struct jac j;
  j.nodes = op_decl_set(declared(n * n), "nodes");
  j.edges = op_decl_set(declared(edges), "edges");
  j.ends = op_decl_map(j.edges, j.nodes, 2, ends, "ends");
  j.a = noise_on(j.edges, A, "a");
  j.u = noise_on(j.nodes, U, "u");
  j.r = noise_on(j.nodes, R, "r");
  j.a_d = noise_on(j.edges, A_D, "a_d");
  j.u_d = noise_on(j.nodes, U_D, "u_d");
  j.r_d = noise_on(j.nodes, R_D, "r_d");
  j.u_b = noise_on(j.nodes, U_B, "u_b");
  j.du = zeros_on(j.nodes, "du");
  j.du_d = zeros_on(j.nodes, "du_d");
  j.a_b = zeros_on(j.edges, "a_b");
  j.r_b = zeros_on(j.nodes, "r_b");
  j.du_b = zeros_on(j.nodes, "du_b");
  share_out(j.nodes);
  return j;
}

static op_arg own(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}

static op_arg at(const struct jac *j, op_dat dat, int end, op_access access) {
  return op_arg_dat(dat, end, j->ends, 1, "double", access);
}

/* One iteration by hand at the point moved by h along the tangent direction: the new u, and the sum of the squared changes. */
static double change_at(int n, const int *ends, int edges, double h, double *next) {
  long long nodes = (long long)n * n;
  double *a = adjoint_noise(edges, A), *a_d = adjoint_noise(edges, A_D), *u = adjoint_noise(nodes, U),
         *u_d = adjoint_noise(nodes, U_D), *r = adjoint_noise(nodes, R), *r_d = adjoint_noise(nodes, R_D);
  double change = 0;
  for (int node = 0; node < nodes; node++)
    next[node] = r[node] + h * r_d[node];
  for (int e = 0; e < edges; e++)
    next[ends[2 * e]] += (a[e] + h * a_d[e]) * (u[ends[2 * e + 1]] + h * u_d[ends[2 * e + 1]]);
  for (int node = 0; node < nodes; node++) {
    double step = next[node] - (u[node] + h * u_d[node]);
    change += step * step;
  }
  double *const owned[] = {a, a_d, u, u_d, r, r_d};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
    free(owned[k]);
  return change;
}

/* Against differences: of the change, and of the new u at each node, where the largest is of the order of one. */
static void check_tangent(struct check *check, const struct jac *j, int n, const int *ends, int edges,
                          double change_d) {
  const double h = 1e-5;
  const int nodes = n * n;
  double *up = room(nodes, sizeof *up), *down = room(nodes, sizeof *down), *u_d = room(nodes, sizeof *u_d);
  double slope = (change_at(n, ends, edges, h, up) - change_at(n, ends, edges, -h, down)) / (2 * h);
  op_fetch_data(j->u_d, u_d);
  for (int node = 0; node < nodes; node++)
    up[node] = (up[node] - down[node]) / (2 * h);
  check_at_most(check, "jac: tangent against a difference, relative", relative_difference(change_d, slope),
                1e-6);
  if (op_is_root())
    check_at_most(check, "jac: tangent of u against a difference", largest_difference(u_d, up, nodes), 1e-8);
  free(up);
  free(down);
  free(u_d);
}

void adjoint_jac(struct check *check, int n) {
  int edges, *ends = make_ends(n, &edges);
  struct jac j = declare(n, ends, edges);
  double change_d = 0, change_b = 0.7;
  op_dat start = noise_on(j.nodes, U_D, "u_d at the start"),
         seed = noise_on(j.nodes, U_B, "u_b at the start");
  op_par_loop(OP_KERNEL_OF(gather), "gather", j.edges, own(j.a, OP_READ), at(&j, j.u, 1, OP_READ),
              at(&j, j.du, 0, OP_INC));

  op_par_loop(OP_KERNEL_OF(gather_d), "gather_d", j.edges, own(j.a, OP_READ), own(j.a_d, OP_READ),
              at(&j, j.u, 1, OP_READ), at(&j, j.u_d, 1, OP_READ), at(&j, j.du_d, 0, OP_INC));
  op_par_loop(OP_KERNEL_OF(update_d), "update_d", j.nodes, own(j.r_d, OP_READ), own(j.r, OP_READ),
              own(j.du, OP_READ), own(j.du_d, OP_READ), own(j.u, OP_READ), own(j.u_d, OP_RW),
              op_arg_gbl(&change_d, 1, "double", OP_INC));
  check_tangent(check, &j, n, ends, edges, change_d);
  double forward = adjoint_dot(j.nodes, j.u_d, seed, 1) + change_d * change_b;

  op_par_loop(OP_KERNEL_OF(update_b), "update_b", j.nodes, own(j.r, OP_READ), own(j.r_b, OP_INC),
              own(j.du, OP_READ), own(j.du_b, OP_WRITE), own(j.u, OP_READ), own(j.u_b, OP_RW),
              op_arg_gbl(&change_b, 1, "double", OP_READ));
  op_par_loop(OP_KERNEL_OF(gather_b), "gather_b", j.edges, own(j.a, OP_READ), own(j.a_b, OP_INC),
              at(&j, j.u, 1, OP_READ), at(&j, j.u_b, 1, OP_INC), at(&j, j.du_b, 0, OP_READ));
  double of_u = adjoint_dot(j.nodes, j.u_b, start, 1), of_r = adjoint_dot(j.nodes, j.r_b, j.r_d, 1);
  double of_a = adjoint_dot(j.edges, j.a_b, j.a_d, 1);
  adjoint_check(check, "jac: dot-product test", forward, of_u + of_r + of_a,
                fabs(of_u) + fabs(of_r) + fabs(of_a) + sqrt((double)n * n));
  free(ends);
}
