/* Aero: compressible potential flow by bilinear finite elements. Each Newton step assembles a matrix for
 * every element and solves with conjugate gradients, whose product with the matrix is a loop over elements
 * that adds to their nodes. The source term is that of a potential given beforehand, so that the error is
 * known; it must fall by four when the elements are halved. */
#include "common/memory.h"
#include "common/options.h"
#include "common/output.h"
#include "common/picture.h"
#include "common/ranks.h"
#include "common/report.h"
#include "mesh.h"
#include "twin.h"

#include <math.h>
#include <op2jit.h>
#include <stdlib.h>

static double mach2, gm1, amplitude;

/* Element matrix and residual, by four integration points. */
OP_KERNEL_DEF(
    assemble, void assemble(const double *x[4], const double *phi[4], double *k, double *residual[4]) {
      static const double corner_s[4] = {-1, 1, 1, -1};
      static const double corner_t[4] = {-1, -1, 1, 1};
      const double pi = 3.14159265358979323846;
      const double gauss = 0.57735026918962576451;
      double sum[4] = {0, 0, 0, 0};
      for (int ij = 0; ij < 16; ij++)
        k[ij] = 0;
      for (int g = 0; g < 4; g++) {
        double s = gauss * corner_s[g];
        double t = gauss * corner_t[g];
        double shape[4], ds[4], dt[4], dx[4], dy[4];
        double xs = 0, xt = 0, ys = 0, yt = 0, px = 0, py = 0;
        for (int i = 0; i < 4; i++) {
          shape[i] = 0.25 * (1 + corner_s[i] * s) * (1 + corner_t[i] * t);
          ds[i] = 0.25 * corner_s[i] * (1 + corner_t[i] * t);
          dt[i] = 0.25 * corner_t[i] * (1 + corner_s[i] * s);
          xs += ds[i] * x[i][0];
          xt += dt[i] * x[i][0];
          ys += ds[i] * x[i][1];
          yt += dt[i] * x[i][1];
          px += shape[i] * x[i][0];
          py += shape[i] * x[i][1];
        }
        double det = xs * yt - xt * ys;
        double gx = 0, gy = 0;
        for (int i = 0; i < 4; i++) {
          dx[i] = (ds[i] * yt - dt[i] * ys) / det;
          dy[i] = (dt[i] * xs - ds[i] * xt) / det;
          gx += dx[i] * phi[i][0];
          gy += dy[i] * phi[i][0];
        }
        double base = 1 - 0.5 * gm1 * mach2 * (gx * gx + gy * gy - 1);
        double rho = pow(base, 1 / gm1);
        double slope = -0.5 * mach2 * rho / base;

        /* The source at this point, from the given potential x + a sin(pi x) sin(pi y). */
        double ux = 1 + amplitude * pi * cos(pi * px) * sin(pi * py);
        double uy = amplitude * pi * sin(pi * px) * cos(pi * py);
        double uxx = -amplitude * pi * pi * sin(pi * px) * sin(pi * py);
        double uxy = amplitude * pi * pi * cos(pi * px) * cos(pi * py);
        double given_base = 1 - 0.5 * gm1 * mach2 * (ux * ux + uy * uy - 1);
        double given_rho = pow(given_base, 1 / gm1);
        double given_slope = -0.5 * mach2 * given_rho / given_base;
        double load =
            -(given_rho * 2 * uxx + 2 * given_slope * ((ux * ux + uy * uy) * uxx + 2 * ux * uy * uxy));

        for (int i = 0; i < 4; i++) {
          double along = dx[i] * gx + dy[i] * gy;
          sum[i] += det * (rho * along - load * shape[i]);
          for (int j = 0; j < 4; j++)
            k[4 * i + j] +=
                det * (rho * (dx[i] * dx[j] + dy[i] * dy[j]) + 2 * slope * along * (dx[j] * gx + dy[j] * gy));
        }
      }
      for (int i = 0; i < 4; i++)
        residual[i][0] += sum[i];
    })

OP_KERNEL_DEF(
    fix, void fix(double *x) { *x = 0; })

OP_KERNEL_DEF(
    start_gradient,
    void start_gradient(double *residual, double *u, double *v, double *p, double *r, double *rr) {
      *u = 0;
      *v = 0;
      *p = *residual;
      *r = *residual;
      *rr += *residual * *residual;
      *residual = 0;
    })

OP_KERNEL_DEF(
    multiply, void multiply(const double *k, const double *p[4], double *v[4]) {
      for (int i = 0; i < 4; i++)
        v[i][0] +=
            k[4 * i] * p[0][0] + k[4 * i + 1] * p[1][0] + k[4 * i + 2] * p[2][0] + k[4 * i + 3] * p[3][0];
    })

OP_KERNEL_DEF(
    product, void product(const double *p, const double *v, double *pv) { *pv += *p * *v; })

OP_KERNEL_DEF(
    advance, void advance(const double *p, double *v, double *u, double *r, const double *alpha, double *rr) {
      *u += *alpha * *p;
      *r -= *alpha * *v;
      *v = 0;
      *rr += *r * *r;
    })

OP_KERNEL_DEF(
    turn, void turn(const double *r, double *p, const double *beta) { *p = *r + *beta * *p; })

OP_KERNEL_DEF(
    correct, void correct(const double *u, double *phi) { *phi -= *u; })

struct aero {
  op_set nodes, cells, fixed;
  op_map cell_nodes, fixed_node;
  op_dat x, phi, k, residual, u, v, p, r;
};

static struct aero declare(const struct aero_mesh *mesh, const double *phi) {
  struct aero a;
  a.nodes = op_decl_set(declared(mesh->nodes), "nodes");
  a.cells = op_decl_set(declared(mesh->cells), "cells");
  a.fixed = op_decl_set(declared(mesh->fixed), "fixed");
  a.cell_nodes = op_decl_map(a.cells, a.nodes, 4, mesh->cell_nodes, "cell_nodes");
  a.fixed_node = op_decl_map(a.fixed, a.nodes, 1, mesh->fixed_node, "fixed_node");
  a.x = op_decl_dat(a.nodes, 2, "double", mesh->x, "x");
  a.phi = op_decl_dat(a.nodes, 1, "double", phi, "phi");
  a.k = op_decl_dat(a.cells, 16, "double", NULL, "k");
  a.residual = op_decl_dat(a.nodes, 1, "double", NULL, "residual");
  a.u = op_decl_dat(a.nodes, 1, "double", NULL, "u");
  a.v = op_decl_dat(a.nodes, 1, "double", NULL, "v");
  a.p = op_decl_dat(a.nodes, 1, "double", NULL, "p");
  a.r = op_decl_dat(a.nodes, 1, "double", NULL, "r");
  share_out(a.cells);
  return a;
}

static op_arg own(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}

static op_arg corners(const struct aero *a, op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, -4, a->cell_nodes, dim, "double", access);
}

static void fix_boundary(const struct aero *a, op_dat dat) {
  op_par_loop(OP_KERNEL_OF(fix), "fix", a->fixed, op_arg_dat(dat, 0, a->fixed_node, 1, "double", OP_WRITE));
}

/* Assembles, and returns the squared norm of the residual, from which conjugate gradients start. */
static double linearise(const struct aero *a) {
  double rr = 0;
  op_par_loop(OP_KERNEL_OF(assemble), "assemble", a->cells, corners(a, a->x, 2, OP_READ),
              corners(a, a->phi, 1, OP_READ), op_arg_dat(a->k, -1, OP_ID, 16, "double", OP_WRITE),
              corners(a, a->residual, 1, OP_INC));
  fix_boundary(a, a->residual);
  op_par_loop(OP_KERNEL_OF(start_gradient), "start_gradient", a->nodes, own(a->residual, OP_RW),
              own(a->u, OP_WRITE), own(a->v, OP_WRITE), own(a->p, OP_WRITE), own(a->r, OP_WRITE),
              op_arg_gbl(&rr, 1, "double", OP_INC));
  return rr;
}

static double iterate_gradient(const struct aero *a, double rr) {
  double pv = 0, next = 0;
  op_par_loop(OP_KERNEL_OF(multiply), "multiply", a->cells,
              op_arg_dat(a->k, -1, OP_ID, 16, "double", OP_READ), corners(a, a->p, 1, OP_READ),
              corners(a, a->v, 1, OP_INC));
  fix_boundary(a, a->v);
  op_par_loop(OP_KERNEL_OF(product), "product", a->nodes, own(a->p, OP_READ), own(a->v, OP_READ),
              op_arg_gbl(&pv, 1, "double", OP_INC));
  double alpha = rr / pv;
  op_par_loop(OP_KERNEL_OF(advance), "advance", a->nodes, own(a->p, OP_READ), own(a->v, OP_RW),
              own(a->u, OP_RW), own(a->r, OP_RW), op_arg_gbl(&alpha, 1, "double", OP_READ),
              op_arg_gbl(&next, 1, "double", OP_INC));
  double beta = next / rr;
  op_par_loop(OP_KERNEL_OF(turn), "turn", a->nodes, own(a->r, OP_READ), own(a->p, OP_RW),
              op_arg_gbl(&beta, 1, "double", OP_READ));
  return next;
}

static struct aero_history solve(const struct aero *a, const struct aero_limits *limits) {
  struct aero_history history = {0};
  double seconds = 0;
  int total = 0;
  double nodes = (double)op_get_global_size(a->nodes);
  while (history.steps < limits->newton) {
    int iterations = 0;
    double rr = linearise(a), enough = rr * limits->gradient_drop * limits->gradient_drop;
    double start = clock_seconds();
    history.residual[history.steps] = sqrt(rr / nodes);
    if (history.residual[history.steps++] <= limits->residual)
      break;
    for (; rr > enough && iterations < limits->gradient; iterations++)
      rr = iterate_gradient(a, rr);
    if (history.steps > 1) { /* the first step plans and compiles */
      seconds += clock_seconds() - start;
      total += iterations;
    }
    history.iterations[history.steps - 1] = iterations;
    op_par_loop(OP_KERNEL_OF(correct), "correct", a->nodes, own(a->u, OP_READ), own(a->phi, OP_RW));
  }
  history.seconds = total ? seconds / total : 0;
  return history;
}

static void print_history(const struct aero_history *history) {
  op_printf("  step      residual  iterations of conjugate gradients\n");
  for (int i = 0; i < history->steps; i++)
    op_printf("  %4d  %12.5e  %d\n", i, history->residual[i], history->iterations[i]);
}

static double error_of(const struct aero_mesh *mesh, const double *phi) {
  double worst = 0;
  for (int i = 0; i < mesh->nodes; i++)
    worst = worse_of(worst, fabs(phi[i] - aero_potential(mesh->x[2 * i], mesh->x[2 * i + 1])));
  return worst;
}

/* What is known of a run, at the first rank. */
static void check_all(struct check *check, const struct aero_mesh *mesh, const struct aero_limits *limits,
                      const struct aero_history *history, const double *phi, int compare) {
  double *by_hand_phi = aero_start(mesh), base = 0;
  double bytes = mesh->cells * (16 * 8.0 + 16) + mesh->nodes * (8 + 16 + 16 + 56 + 24.0);
  check_at_most(check, "residual after the last step", history->residual[history->steps - 1],
                limits->residual);
  struct aero_history by_hand = aero_twin(mesh, limits, 0, by_hand_phi);
  check_equal(check, "Newton steps, against the hand-written loops", history->steps, by_hand.steps);
  check_at_most(check, "first residual against the hand-written loops",
                relative_difference(history->residual[0], by_hand.residual[0]), 1e-12);
  check_at_most(check, "phi against the hand-written loops",
                largest_difference(phi, by_hand_phi, mesh->nodes), 1e-9);
  compare_header("one iteration of conjugate gradients");
  compare_row("hand-written, serial", by_hand.seconds, bytes, &base);
  free(by_hand_phi);
  if (compare) {
    double *again = aero_start(mesh);
    compare_row("hand-written, OpenMP", aero_twin(mesh, limits, 1, again).seconds, bytes, &base);
    check_at_most(check, "phi, hand-written with OpenMP", largest_difference(phi, again, mesh->nodes), 1e-9);
    free(again);
  }
  compare_row("op2jit", history->seconds, bytes, &base);
}

/* What is asked for beside the answer. */
struct settings {
  int n, compare;
  const char *picture, *vtk;
};

/* Solve on n x n elements; returns the largest error, at the first rank. With `check`, everything about the run is
 * checked there, and written to files. */
static double run(int n, const struct aero_limits *limits, struct check *check, const struct settings *s) {
  struct aero_mesh mesh = aero_mesh_make(n);
  double *start = aero_start(&mesh), *phi = room(mesh.nodes, sizeof *phi), error = 0;
  struct aero a = declare(&mesh, start);
  struct aero_history history = solve(&a, limits);
  op_fetch_data(a.phi, phi);
  if (op_is_root())
    error = error_of(&mesh, phi);
  const op_dat shown[] = {a.x, a.phi};
  if (check && s->vtk && output_vtk_said(op_write_vtk(s->vtk, -1, 2, shown), s->vtk))
    check->failed++;
  if (check && op_is_root()) {
    op_printf("%d elements, %d nodes:\n", mesh.cells, mesh.nodes);
    print_history(&history);
    check_all(check, &mesh, limits, &history, phi, s->compare);
    if (s->picture && picture_png(s->picture, n + 1, n + 1, phi))
      check->failed++;
  }
  free(start);
  free(phi);
  aero_mesh_free(&mesh);
  return error;
}

int main(int argc, char **argv) {
  struct settings s = {.n = 64};
  const struct option_entry entries[] = {
      {"n", OPTION_INT, &s.n, 4, 10000, "n x n elements; n must be even"},
      {"compare", OPTION_FLAG, &s.compare, 0, 0, "run the hand-written loops with OpenMP too"},
      {"picture", OPTION_NEW_PICTURE, &s.picture, 0, 0, "write the potential to this PNG file"},
      {"vtk", OPTION_NEW_VTK, &s.vtk, 0, 0, "write mesh and potential for ParaView, under this name"},
  };
  enum options_outcome outcome = options_read(argc, argv, "compressible potential flow by finite elements",
                                              sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  const int n = s.n;
  if (n % 2)
    return options_refuse("--n %d: expected an even number", n);
  mach2 = AERO_MACH * AERO_MACH;
  gm1 = AERO_GAMMA - 1;
  amplitude = AERO_AMPLITUDE;
  op_init(argc, argv, 1);
  output_prepare(NULL, s.vtk);
  op_decl_const("mach2", 1, "double", &mach2);
  op_decl_const("gm1", 1, "double", &gm1);
  op_decl_const("amplitude", 1, "double", &amplitude);
  struct aero_limits limits = {
      .newton = AERO_MOST_STEPS, .gradient = 100 * n, .residual = 1e-11, .gradient_drop = 1e-8};
  struct check check = {0};
  double coarse = run(n / 2, &limits, NULL, &s), fine = run(n, &limits, &check, &s);
  op_printf("largest error: %.6e on %d x %d elements, %.6e on %d x %d\n", coarse, n / 2, n / 2, fine, n, n);
  check_between(&check, "order of convergence", log2(coarse / fine), 1.8, 2.2);
  int status = check_end(&check, "aero");
  op_exit();
  return status;
}
