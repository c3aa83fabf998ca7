/* The load of a large flow solver: seven variables on the nodes of a three-dimensional mesh and their
 * gradients, seven by three, at both ends of every edge, so that the flux loop touches eighty-one values per
 * edge. Reconstructed states, a flux with smoothing, and diffusion with the mean gradient corrected along
 * the edge. Checked by what must hold exactly - gradients of a linear field, no residual in uniform flow,
 * nothing lost between nodes - and against hand-written loops. */
#include "box.h"
#include "twin.h"

#include "common/memory.h"
#include "common/options.h"
#include "common/output.h"
#include "common/picture.h"
#include "common/ranks.h"
#include "common/report.h"

#include <math.h>
#include <op2jit.h>
#include <stdlib.h>

static double gam, viscosity;

OP_KERNEL_DEF(
    gradient,
    void gradient(const double *normal, const double *q1, const double *q2, double *g1, double *g2) {
      for (int v = 0; v < 7; v++) {
        double mean = 0.5 * (q1[v] + q2[v]);
        for (int d = 0; d < 3; d++) {
          g1[3 * v + d] += mean * normal[d];
          g2[3 * v + d] -= mean * normal[d];
        }
      }
    })

OP_KERNEL_DEF(
    close_gradient, void close_gradient(const double *normal, const double *q, double *g) {
      for (int v = 0; v < 7; v++)
        for (int d = 0; d < 3; d++)
          g[3 * v + d] += q[v] * normal[d];
    })

OP_KERNEL_DEF(
    divide, void divide(const double *volume, double *g) {
      for (int k = 0; k < 21; k++)
        g[k] /= *volume;
    })

OP_KERNEL_DEF(
    flux, void flux(const double *x1, const double *x2, const double *normal, const double *volume1,
                    const double *volume2, const double *q1, const double *q2, const double *g1,
                    const double *g2, double *res1, double *res2) {
      double dx[3];
      double left[7];
      double right[7];
      double f[7];
      double length2 = 0;
      double area2 = 0;
      for (int d = 0; d < 3; d++) {
        dx[d] = x2[d] - x1[d];
        length2 += dx[d] * dx[d];
        area2 += normal[d] * normal[d];
      }
      for (int v = 0; v < 7; v++) {
        left[v] = q1[v] + 0.5 * (g1[3 * v] * dx[0] + g1[3 * v + 1] * dx[1] + g1[3 * v + 2] * dx[2]);
        right[v] = q2[v] - 0.5 * (g2[3 * v] * dx[0] + g2[3 * v + 1] * dx[1] + g2[3 * v + 2] * dx[2]);
      }
      double il = 1 / left[0];
      double ir = 1 / right[0];
      double ul = il * (left[1] * normal[0] + left[2] * normal[1] + left[3] * normal[2]);
      double ur = ir * (right[1] * normal[0] + right[2] * normal[1] + right[3] * normal[2]);
      double pl =
          (gam - 1) * (left[4] - 0.5 * il * (left[1] * left[1] + left[2] * left[2] + left[3] * left[3]));
      double pr = (gam - 1) *
                  (right[4] - 0.5 * ir * (right[1] * right[1] + right[2] * right[2] + right[3] * right[3]));
      double wave = 0.5 * (fabs(ul) + fabs(ur) + sqrt(area2) * (sqrt(gam * pl * il) + sqrt(gam * pr * ir)));
      for (int v = 0; v < 7; v++)
        f[v] = 0.5 * (left[v] * ul + right[v] * ur) - 0.5 * wave * (right[v] - left[v]);
      for (int d = 0; d < 3; d++)
        f[1 + d] += 0.5 * (pl + pr) * normal[d];
      f[4] += 0.5 * (pl * ul + pr * ur);

      double share1 = *volume2 / (*volume1 + *volume2);
      double share2 = 1 - share1;
      double mu = viscosity * (1 + q1[5] + q2[5]);
      for (int v = 1; v < 7; v++) {
        double mean[3];
        double along = q2[v] - q1[v];
        double through = 0;
        for (int d = 0; d < 3; d++) {
          mean[d] = share1 * g1[3 * v + d] + share2 * g2[3 * v + d];
          along -= mean[d] * dx[d];
        }
        for (int d = 0; d < 3; d++)
          through += (mean[d] + along / length2 * dx[d]) * normal[d];
        f[v] -= mu * through;
      }
      for (int v = 0; v < 7; v++) {
        res1[v] += f[v];
        res2[v] -= f[v];
      }
    })

OP_KERNEL_DEF(
    total, void total(const double *res, double *sum, double *size) {
      for (int v = 0; v < 7; v++) {
        *sum += res[v];
        *size += fabs(res[v]);
      }
    })

OP_KERNEL_DEF(
    hold, void hold(double *res) {
      for (int v = 0; v < 7; v++)
        res[v] = 0;
    })

OP_KERNEL_DEF(
    advance,
    void advance(const double *volume, const double *dt, double *q, double *res, double *g, double *sum) {
      for (int v = 0; v < 7; v++) {
        *sum += res[v] * res[v];
        q[v] -= *dt / *volume * res[v];
        res[v] = 0;
      }
      for (int k = 0; k < 21; k++)
        g[k] = 0;
    })

struct hydra {
  op_set nodes, edges, boundary;
  op_map edge_nodes, boundary_node;
  op_dat x, volume, normal, boundary_normal, q, grad, res;
};

static struct hydra declare(const struct box *box) {
  struct hydra h;
  h.nodes = op_decl_set(declared(box->nodes), "nodes");
  h.edges = op_decl_set(declared(box->edges), "edges");
  h.boundary = op_decl_set(declared(box->boundary), "boundary");
  h.edge_nodes = op_decl_map(h.edges, h.nodes, 2, box->edge_nodes, "edge_nodes");
  h.boundary_node = op_decl_map(h.boundary, h.nodes, 1, box->boundary_node, "boundary_node");
  h.x = op_decl_dat(h.nodes, 3, "double", box->x, "x");
  h.volume = op_decl_dat(h.nodes, 1, "double", box->volume, "volume");
  h.normal = op_decl_dat(h.edges, 3, "double", box->normal, "normal");
  h.boundary_normal = op_decl_dat(h.boundary, 3, "double", box->boundary_normal, "boundary_normal");
  h.q = op_decl_dat(h.nodes, VARIABLES, "double", NULL, "q");
  h.grad = op_decl_dat(h.nodes, GRADIENTS, "double", NULL, "grad");
  h.res = op_decl_dat(h.nodes, VARIABLES, "double", NULL, "res");
  share_out(h.nodes);
  return h;
}

static op_arg own(op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, dim, "double", access);
}

static op_arg end_of_edge(const struct hydra *h, op_dat dat, int end, int dim, op_access access) {
  return op_arg_dat(dat, end, h->edge_nodes, dim, "double", access);
}

static void find_gradients(const struct hydra *h) {
  op_par_loop(OP_KERNEL_OF(gradient), "gradient", h->edges, own(h->normal, 3, OP_READ),
              end_of_edge(h, h->q, 0, VARIABLES, OP_READ), end_of_edge(h, h->q, 1, VARIABLES, OP_READ),
              end_of_edge(h, h->grad, 0, GRADIENTS, OP_INC), end_of_edge(h, h->grad, 1, GRADIENTS, OP_INC));
  op_par_loop(OP_KERNEL_OF(close_gradient), "close_gradient", h->boundary,
              own(h->boundary_normal, 3, OP_READ),
              op_arg_dat(h->q, 0, h->boundary_node, VARIABLES, "double", OP_READ),
              op_arg_dat(h->grad, 0, h->boundary_node, GRADIENTS, "double", OP_INC));
  op_par_loop(OP_KERNEL_OF(divide), "divide", h->nodes, own(h->volume, 1, OP_READ),
              own(h->grad, GRADIENTS, OP_RW));
}

/* Gradients and fluxes; returns the sum of all residuals, over the sum of their sizes. */
static double find_residual(const struct hydra *h) {
  double sum = 0, size = 0;
  find_gradients(h);
  op_par_loop(OP_KERNEL_OF(flux), "flux", h->edges, end_of_edge(h, h->x, 0, 3, OP_READ),
              end_of_edge(h, h->x, 1, 3, OP_READ), own(h->normal, 3, OP_READ),
              end_of_edge(h, h->volume, 0, 1, OP_READ), end_of_edge(h, h->volume, 1, 1, OP_READ),
              end_of_edge(h, h->q, 0, VARIABLES, OP_READ), end_of_edge(h, h->q, 1, VARIABLES, OP_READ),
              end_of_edge(h, h->grad, 0, GRADIENTS, OP_READ), end_of_edge(h, h->grad, 1, GRADIENTS, OP_READ),
              end_of_edge(h, h->res, 0, VARIABLES, OP_INC), end_of_edge(h, h->res, 1, VARIABLES, OP_INC));
  op_par_loop(OP_KERNEL_OF(total), "total", h->nodes, own(h->res, VARIABLES, OP_READ),
              op_arg_gbl(&sum, 1, "double", OP_INC), op_arg_gbl(&size, 1, "double", OP_INC));
  return fabs(sum) / size;
}

/* Returns the norm of the residual of the inner nodes; those on the boundary keep their state. */
static double advance_by(const struct hydra *h, double dt) {
  double sum = 0;
  op_par_loop(OP_KERNEL_OF(hold), "hold", h->boundary,
              op_arg_dat(h->res, 0, h->boundary_node, VARIABLES, "double", OP_WRITE));
  op_par_loop(OP_KERNEL_OF(advance), "advance", h->nodes, own(h->volume, 1, OP_READ),
              op_arg_gbl(&dt, 1, "double", OP_READ), own(h->q, VARIABLES, OP_RW),
              own(h->res, VARIABLES, OP_RW), own(h->grad, GRADIENTS, OP_WRITE),
              op_arg_gbl(&sum, 1, "double", OP_INC));
  return sqrt(sum);
}

static struct box_result run_library(const struct hydra *h, int iterations, double dt) {
  struct box_result result = {0, 0, 0, 0};
  double start = clock_seconds();
  for (int i = 0; i < iterations; i++) {
    if (i == 1)
      start = clock_seconds();
    double leak = find_residual(h);
    result.last = advance_by(h, dt);
    if (i == 0) {
      result.first = result.last;
      result.leak = leak;
    }
  }
  result.seconds = (clock_seconds() - start) / (iterations > 1 ? iterations - 1 : 1);
  return result;
}

/* Inside, the gradient of a linear field is found exactly. */
static void check_gradients(struct check *check, const struct box *box, const struct hydra *h, double *q) {
  double *grad = room((long long)GRADIENTS * box->nodes, sizeof *grad), worst = 0;
  for (int k = 0; k < VARIABLES * box->nodes; k++) {
    const double *x = box->x + 3 * (k / VARIABLES);
    int v = k % VARIABLES;
    q[k] = 2 + v + (v + 1) * x[0] - 0.5 * v * x[1] + 3 * x[2];
  }
  op_put_data(h->q, q);
  find_gradients(h);
  op_fetch_data(h->grad, grad);
  for (int node = 0; op_is_root() && node < box->nodes; node++) {
    for (int v = 0; v < VARIABLES && box_inside(box, node); v++) {
      const double exact[3] = {v + 1, -0.5 * v, 3};
      for (int d = 0; d < 3; d++)
        worst = worse_of(worst, fabs(grad[GRADIENTS * node + 3 * v + d] - exact[d]));
    }
  }
  check_at_most(check, "gradients of a linear field", worst, 1e-13 * box->n * 10);
  advance_by(h, 0); /* clears the gradients */
  free(grad);
}

static void check_uniform(struct check *check, const struct box *box, const struct hydra *h, double *q) {
  double area = 1.0 / ((box->n - 1.0) * (box->n - 1.0));
  box_state(box, 0, q);
  op_put_data(h->q, q);
  find_residual(h);
  check_at_most(check, "residual in uniform flow, over the area of a face",
                advance_by(h, 0) / (area * sqrt(box->nodes)), 1e-13);
}

struct settings {
  int n, iterations, compare;
  double step;
  const char *picture, *vtk;
};

static double length_of_step(const struct settings *s) {
  return s->step / (s->n - 1);
}

/* What was asked for: the density half way up, and state and gradients at the nodes of hexahedra, which only ParaView
 * needs. 0, or -1. */
static int write_results(const struct settings *s, const struct box *box, const struct hydra *h,
                         const double *q) {
  const op_dat shown[] = {h->x, h->q, h->grad};
  const int layer = box->n * box->n;
  if (s->vtk) {
    int *corners = box_hexahedra(box);
    op_set cells = op_decl_set(declared((box->n - 1) * (box->n - 1) * (box->n - 1)), "hexahedra");
    op_decl_map(cells, h->nodes, 8, corners, "corners");
    free(corners);
    const double time = s->iterations * length_of_step(s);
    if (output_vtk_said(op_write_vtk_at(s->vtk, -1, time, 3, shown), s->vtk))
      return -1;
  }
  if (!s->picture || !op_is_root())
    return 0;
  double *density = room(layer, sizeof *density);
  for (int k = 0; k < layer; k++)
    density[k] = q[VARIABLES * (box->n / 2 * layer + k)];
  int failed = picture_png(s->picture, box->n, box->n, density);
  free(density);
  return failed;
}

/* Without an unstable run, whose numbers say nothing about the loops. */
static int check_stable(struct check *check, const struct settings *s, const struct box_result *library) {
  const double most = 2, growth = library->last / library->first;
  if (growth <= most)
    return 1;
  op_printf("unstable: with --step %g the residual grows; take a shorter step\n", s->step);
  check_at_most(check, "growth of the residual", growth, most);
  return 0;
}

/* What the run gave against the hand-written loops, at the first rank. */
static void check_run(struct check *check, const struct settings *s, const struct box *box, const double *q,
                      const struct box_result *library) {
  long long count = (long long)VARIABLES * box->nodes;
  double *by_hand = room(count, sizeof *by_hand), dt = length_of_step(s), base = 0;
  box_state(box, 0.05, by_hand);
  struct box_result serial = hydra_twin(box, s->iterations, dt, 0, by_hand);
  check_at_most(check, "sum of all residuals, over the sum of their sizes", library->leak, 1e-13);
  /* In a flow that does not change any more it is rounding. */
  check_at_most(check, "norm of the last residual against the hand-written loops",
                difference_above(1e-2 * serial.first, library->last, serial.last), 1e-11);
  check_at_most(check, "state against the hand-written loops", largest_difference(q, by_hand, count), 1e-11);

  double bytes = box->edges * (2 * 8.0 + 2 * 24.0) +
                 box->nodes * 8.0 * (7 + 42 + 42 + 1 + 4 + 7 + 21 + 14 + 7 + 1 + 14 + 14 + 21);
  compare_header("one iteration");
  compare_row("hand-written, serial", serial.seconds, bytes, &base);
  if (s->compare) {
    box_state(box, 0.05, by_hand);
    compare_row("hand-written, OpenMP", hydra_twin(box, s->iterations, dt, 1, by_hand).seconds, bytes, &base);
    check_at_most(check, "state, hand-written with OpenMP", largest_difference(q, by_hand, count), 1e-11);
  }
  compare_row("op2jit", library->seconds, bytes, &base);
  free(by_hand);
}

static int run(const struct settings *s) {
  struct box box = box_make(s->n);
  double *q = room((long long)VARIABLES * box.nodes, sizeof *q);
  struct hydra hydra = declare(&box);
  struct check check = {0};
  check_gradients(&check, &box, &hydra, q);
  check_uniform(&check, &box, &hydra, q);

  box_state(&box, 0.05, q);
  op_put_data(hydra.q, q);
  struct box_result library = run_library(&hydra, s->iterations, length_of_step(s));
  op_fetch_data(hydra.q, q);
  op_printf("%d nodes, %d edges, %d iterations: norm of the residual from %.6e to %.6e\n", box.nodes,
            box.edges, s->iterations, library.first, library.last);
  if (op_is_root() && check_stable(&check, s, &library))
    check_run(&check, s, &box, q, &library);
  int unwritten = write_results(s, &box, &hydra, q);
  free(q);
  box_free(&box);
  int status = check_end(&check, "airfoil_hydra");
  return unwritten ? EXIT_FAILURE : status;
}

int main(int argc, char **argv) {
  struct settings s = {.n = 24, .iterations = 20, .step = 0.1};
  const struct option_entry entries[] = {
      {"n", OPTION_INT, &s.n, 3, 400, "n x n x n nodes"},
      {"iters", OPTION_INT, &s.iterations, 1, 1e9, "iterations"},
      {"step", OPTION_REAL, &s.step, 0, 0.2,
       "time step over the distance of nodes; longer ones are unstable"},
      {"compare", OPTION_FLAG, &s.compare, 0, 0, "run the hand-written loops with OpenMP too"},
      {"picture", OPTION_NEW_PICTURE, &s.picture, 0, 0, "write the density half way up to this PNG file"},
      {"vtk", OPTION_NEW_VTK, &s.vtk, 0, 0, "write the box for ParaView, under this name"},
  };
  enum options_outcome outcome =
      options_read(argc, argv, "the wide loops of a large flow solver: seven variables and their gradients",
                   sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  gam = BOX_GAMMA;
  viscosity = BOX_VISCOSITY;
  op_init(argc, argv, 1);
  output_prepare(NULL, s.vtk);
  op_decl_const("gam", 1, "double", &gam);
  op_decl_const("viscosity", 1, "double", &viscosity);
  int status = run(&s);
  op_exit();
  return status;
}
