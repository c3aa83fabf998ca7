/* A small program whose derivatives are known: values on the nodes of a ring go along its edges, some steps long, and what
 * is left is summed. Adjoints of its kernels are there by hand. */
#ifndef OP2JIT_TESTS_RING_H
#define OP2JIT_TESTS_RING_H

#include "../api/support.h"
#include "op2jit_adjoint.h"

enum { NODES = 60, EDGES = 2 * NODES };

static const char ring_zero[] = "static void zero(double *du) { *du = 0; }";
static const char ring_zero_b[] = "static void zero_b(double *du_b) { *du_b = 0; }";
static const char ring_gather[] =
    "static void gather(const double *a, const double *u, double *du) { *du += *a * *u * *u; }";
static const char ring_gather_b[] =
    "static void gather_b(const double *a, double *a_b, const double *u, double *u_b, const double *du_b) {"
    "  *a_b += *u * *u * *du_b; *u_b += 2 * *a * *u * *du_b; }";
static const char ring_update[] = "static void update(const double *f, const double *du, double *u) { *u = "
                                  "*f * *u * (2 - *u) + 0.1 * *du; }";
static const char ring_update_b[] =
    "static void update_b(const double *f, double *f_b, const double *du, double *du_b, const double *u, "
    "double *u_b) {"
    "  *f_b += *u * (2 - *u) * *u_b; *du_b += 0.1 * *u_b; *u_b = *f * (2 - 2 * *u) * *u_b; }";
static const char ring_total[] = "static void total(const double *u, double *sum) { *sum += *u * *u; }";
static const char ring_total_b[] =
    "static void total_b(const double *u, double *u_b, const double *sum_b) { *u_b += 2 * *u * *sum_b; }";

struct ring {
  op_set nodes, edges;
  op_map ends;
  op_dat a, u, du;
  op_gbl f, sum;
};

static const double ring_f = 0.8;

static inline double ring_a(int e) {
  return 0.3 + 0.1 * ((e * 7) % 5);
}
static inline double ring_u(int n) {
  return 1 + 0.05 * ((n * 3) % 11);
}
static inline int ring_end(int e, int k) {
  return k == 0 ? e / 2 : e % 2 ? (e / 2 + 1) % NODES : (e / 2 + NODES - 3) % NODES;
}

static inline void ring_say_adjoints(void) {
  works(op_kernel_adjoint(ring_zero, "zero", ring_zero_b, "zero_b"));
  works(op_kernel_adjoint(ring_gather, "gather", ring_gather_b, "gather_b"));
  works(op_kernel_adjoint(ring_update, "update", ring_update_b, "update_b"));
  works(op_kernel_adjoint(ring_total, "total", ring_total_b, "total_b"));
}

static inline struct ring ring_declare(void) {
  struct ring r;
  double a[EDGES], u[NODES];
  int ends[2 * EDGES];
  for (int e = 0; e < EDGES; e++) {
    a[e] = ring_a(e);
    ends[2 * e] = ring_end(e, 0);
    ends[2 * e + 1] = ring_end(e, 1);
  }
  for (int n = 0; n < NODES; n++)
    u[n] = ring_u(n);
  const int nodes = op_is_root() ? NODES : 0, edges = op_is_root() ? EDGES : 0;
  r.nodes = op_decl_set(nodes, "nodes");
  r.edges = op_decl_set(edges, "edges");
  r.ends = op_decl_map(r.edges, r.nodes, 2, ends, "ends");
  r.a = op_decl_dat(r.edges, 1, "double", a, "a");
  r.u = op_decl_dat(r.nodes, 1, "double", u, "u");
  r.du = op_decl_dat(r.nodes, 1, "double", NULL, "du");
  r.f = op_decl_gbl(1, "double", &ring_f, "f");
  r.sum = op_decl_gbl(1, "double", NULL, "sum");
  return r;
}

static inline void ring_step(const struct ring *r) {
  works(op_par_loop(ring_zero, "zero", r->nodes, direct(r->du, 1, "double", OP_WRITE)));
  works(op_par_loop(ring_gather, "gather", r->edges, direct(r->a, 1, "double", OP_READ),
                    op_arg_dat(r->u, 1, r->ends, 1, "double", OP_READ),
                    op_arg_dat(r->du, 0, r->ends, 1, "double", OP_INC)));
  works(op_par_loop(ring_update, "update", r->nodes, op_arg_global(r->f, OP_READ),
                    direct(r->du, 1, "double", OP_READ), direct(r->u, 1, "double", OP_RW)));
}

static inline void ring_total_up(const struct ring *r) {
  works(op_par_loop(ring_total, "total", r->nodes, direct(r->u, 1, "double", OP_READ),
                    op_arg_global(r->sum, OP_INC)));
}

/* The sum, and its derivatives by a, u and f, by hand: tangents of one direction at a time would do as well, but take
 * longer. */
static inline double ring_by_hand(int steps, double *a_b, double *u_b, double *f_b) {
  enum { MOST = 64 };
  static double u[MOST + 1][NODES];
  double du_b[NODES], sum = 0;
  for (int n = 0; n < NODES; n++)
    u[0][n] = ring_u(n);
  for (int s = 0; s < steps; s++)
    for (int n = 0; n < NODES; n++) {
      double du = 0;
      for (int e = 2 * n; e < 2 * n + 2; e++)
        du += ring_a(e) * u[s][ring_end(e, 1)] * u[s][ring_end(e, 1)];
      u[s + 1][n] = ring_f * u[s][n] * (2 - u[s][n]) + 0.1 * du;
    }
  memset(a_b, 0, EDGES * sizeof *a_b);
  *f_b = 0;
  for (int n = 0; n < NODES; n++) {
    sum += u[steps][n] * u[steps][n];
    u_b[n] = 2 * u[steps][n];
  }
  for (int s = steps - 1; s >= 0; s--) {
    for (int n = 0; n < NODES; n++) {
      *f_b += u[s][n] * (2 - u[s][n]) * u_b[n];
      du_b[n] = 0.1 * u_b[n];
      u_b[n] *= ring_f * (2 - 2 * u[s][n]);
    }
    for (int e = 0; e < EDGES; e++) {
      const double read = u[s][ring_end(e, 1)], b = du_b[ring_end(e, 0)];
      a_b[e] += read * read * b;
      u_b[ring_end(e, 1)] += 2 * ring_a(e) * read * b;
    }
  }
  return sum;
}

#endif
