#include "twin.h"

#include "common/colouring.h"
#include "common/owners.h"
#include "common/report.h"
#include "common/threads.h"
#include "common/touch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An integration point of the reference square, in both directions at plus or minus this. */
static const double gauss = 0.57735026918962576451;

struct fields {
  const struct aero_mesh *mesh;
  struct colouring blocks;
  struct owners owners; /* of nodes by threads, if `form` wants them */
  enum aero_form form;
  int parallel;
  double *phi, *k, *residual, *u, *v, *p, *r;
};

struct point {
  double weight, shape[4], dx[4], dy[4], x, y;
};

static struct point point_of(const double *restrict x, const int nodes[4], int g) {
  static const int side[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  double s = gauss * side[g][0], t = gauss * side[g][1], ds[4], dt[4];
  double xs = 0, xt = 0, ys = 0, yt = 0;
  struct point at = {0};
  for (int i = 0; i < 4; i++) {
    double along = 1 + side[i][0] * s, up = 1 + side[i][1] * t;
    const double *node = x + 2 * nodes[i];
    at.shape[i] = 0.25 * along * up;
    ds[i] = 0.25 * side[i][0] * up;
    dt[i] = 0.25 * side[i][1] * along;
    xs += ds[i] * node[0];
    xt += dt[i] * node[0];
    ys += ds[i] * node[1];
    yt += dt[i] * node[1];
    at.x += at.shape[i] * node[0];
    at.y += at.shape[i] * node[1];
  }
  at.weight = xs * yt - xt * ys;
  for (int i = 0; i < 4; i++) {
    at.dx[i] = (ds[i] * yt - dt[i] * ys) / at.weight;
    at.dy[i] = (dt[i] * xs - ds[i] * xt) / at.weight;
  }
  return at;
}

/* Density as a function of the squared speed, and its derivative. */
static double density(double squared_speed, double *slope) {
  double base = 1 - 0.5 * (AERO_GAMMA - 1) * AERO_MACH * AERO_MACH * (squared_speed - 1);
  double rho = pow(base, 1 / (AERO_GAMMA - 1));
  *slope = -0.5 * AERO_MACH * AERO_MACH * rho / base;
  return rho;
}

/* Minus the divergence of density times the gradient of the potential that is to come out. */
static double source(double x, double y) {
  double sx = sin(M_PI * x), cx = cos(M_PI * x), sy = sin(M_PI * y), cy = cos(M_PI * y);
  double px = 1 + AERO_AMPLITUDE * M_PI * cx * sy, py = AERO_AMPLITUDE * M_PI * sx * cy;
  double second = -AERO_AMPLITUDE * M_PI * M_PI * sx * sy, mixed = AERO_AMPLITUDE * M_PI * M_PI * cx * cy;
  double slope, rho = density(px * px + py * py, &slope);
  return -(rho * 2 * second + 2 * slope * (px * px * second + 2 * px * py * mixed + py * py * second));
}

static void assemble_range(const struct fields *f, int begin, int end) {
  for (int cell = begin; cell < end; cell++) {
    const int *nodes = f->mesh->cell_nodes + 4 * cell;
    double k[16] = {0}, residual[4] = {0};
    for (int g = 0; g < 4; g++) {
      struct point at = point_of(f->mesh->x, nodes, g);
      double gx = 0, gy = 0, slope;
      for (int i = 0; i < 4; i++) {
        gx += at.dx[i] * f->phi[nodes[i]];
        gy += at.dy[i] * f->phi[nodes[i]];
      }
      double rho = density(gx * gx + gy * gy, &slope), load = source(at.x, at.y);
      for (int i = 0; i < 4; i++) {
        double along = at.dx[i] * gx + at.dy[i] * gy;
        residual[i] += at.weight * (rho * along - load * at.shape[i]);
        for (int j = 0; j < 4; j++)
          k[4 * i + j] += at.weight * (rho * (at.dx[i] * at.dx[j] + at.dy[i] * at.dy[j]) +
                                       2 * slope * along * (at.dx[j] * gx + at.dy[j] * gy));
      }
    }
    memcpy(f->k + 16 * (size_t)cell, k, sizeof k);
    for (int i = 0; i < 4; i++)
      f->residual[nodes[i]] += residual[i];
  }
}

static void multiply_range(const struct fields *f, int begin, int end) {
  const double *restrict p = f->p;
  double *restrict v = f->v;
  for (int cell = begin; cell < end; cell++) {
    const int *nodes = f->mesh->cell_nodes + 4 * cell;
    const double *restrict k = f->k + 16 * (size_t)cell;
    double p0 = p[nodes[0]], p1 = p[nodes[1]], p2 = p[nodes[2]], p3 = p[nodes[3]];
    for (int i = 0; i < 4; i++)
      v[nodes[i]] += k[4 * i] * p0 + k[4 * i + 1] * p1 + k[4 * i + 2] * p2 + k[4 * i + 3] * p3;
  }
}

/* One cell, adding to the nodes of thread t alone. */
static void multiply_border(const struct fields *f, int t, int cell) {
  const int *nodes = f->mesh->cell_nodes + 4 * cell;
  const double *k = f->k + 16 * (size_t)cell, *p = f->p;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4 && owners_has(&f->owners, t, nodes[i]); j++)
      f->v[nodes[i]] += k[4 * i + j] * p[nodes[j]];
}

static void multiply_atomic(const struct fields *f, int cell) {
  const int *nodes = f->mesh->cell_nodes + 4 * cell;
  const double *k = f->k + 16 * (size_t)cell, *p = f->p;
  for (int i = 0; i < 4; i++) {
    double sum = 0;
    for (int j = 0; j < 4; j++)
      sum += k[4 * i + j] * p[nodes[j]];
#pragma omp atomic
    f->v[nodes[i]] += sum;
  }
}

static void multiply_by_owners(const struct fields *f) {
  const struct owners *o = &f->owners;
#pragma omp parallel
  {
    const int t = thread_number();
    for (int i = o->first_run[t]; i < o->first_run[t + 1]; i++)
      multiply_range(f, o->run[2 * i], o->run[2 * i + 1]);
    for (int i = o->first_border[t]; i < o->first_border[t + 1]; i++)
      multiply_border(f, t, o->border[i]);
  }
}

static void multiply_by_atomics(const struct fields *f) {
#pragma omp parallel for schedule(static)
  for (int cell = 0; cell < f->mesh->cells; cell++)
    multiply_atomic(f, cell);
}

/* A loop over cells that adds to nodes: in order, or block colour by block colour. */
static void over_cells(const struct fields *f, void (*range)(const struct fields *, int, int)) {
  if (!f->parallel) {
    range(f, 0, f->mesh->cells);
    return;
  }
#pragma omp parallel
  for (int colour = 0; colour < f->blocks.colours; colour++) {
#pragma omp for schedule(static)
    for (int i = f->blocks.first[colour]; i < f->blocks.first[colour + 1]; i++)
      range(f, colouring_begin(&f->blocks, f->blocks.order[i]),
            colouring_end(&f->blocks, f->blocks.order[i]));
  }
}

static void fix(const struct fields *f, double *x) {
  for (int i = 0; i < f->mesh->fixed; i++)
    x[f->mesh->fixed_node[i]] = 0;
}

static double start_gradient(const struct fields *f) {
  int nodes = f->mesh->nodes;
  double *restrict u = f->u, *restrict v = f->v, *restrict p = f->p, *restrict r = f->r;
  double *restrict residual = f->residual, sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum) if (parallel : f->parallel)
  for (int i = 0; i < nodes; i++) {
    u[i] = v[i] = 0;
    r[i] = p[i] = residual[i];
    sum += residual[i] * residual[i];
    residual[i] = 0;
  }
  return sum;
}

static double dot_range(const double *restrict p, const double *restrict v, int begin, int end) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = begin; i < end; i++)
    sum += p[i] * v[i];
  return sum;
}

static double advance_range(const struct fields *f, double alpha, int begin, int end) {
  double *restrict u = f->u, *restrict v = f->v, *restrict r = f->r, sum = 0;
  const double *restrict p = f->p;
#pragma omp simd reduction(+ : sum)
  for (int i = begin; i < end; i++) {
    u[i] += alpha * p[i];
    r[i] -= alpha * v[i];
    v[i] = 0;
    sum += r[i] * r[i];
  }
  return sum;
}

static void turn_range(const struct fields *f, double beta, int begin, int end) {
  const double *restrict r = f->r;
  double *restrict p = f->p;
  for (int i = begin; i < end; i++)
    p[i] = r[i] + beta * p[i];
}

/* Thread t of the team has the nodes share(t) .. share(t+1)-1, in every loop. */
static int share(int nodes, int thread) {
  return (int)((long long)nodes * thread / thread_count());
}

static double iterate_gradient(const struct fields *f, double rr) {
  int nodes = f->mesh->nodes;
  double pv = 0, next = 0;
  if (f->form == AERO_OWNERS)
    multiply_by_owners(f);
  else if (f->form == AERO_ATOMICS)
    multiply_by_atomics(f);
  else
    over_cells(f, multiply_range);
  fix(f, f->v);
#pragma omp parallel reduction(+ : pv) if (f->parallel)
  pv += dot_range(f->p, f->v, share(nodes, thread_number()), share(nodes, thread_number() + 1));
#pragma omp parallel reduction(+ : next) if (f->parallel)
  next += advance_range(f, rr / pv, share(nodes, thread_number()), share(nodes, thread_number() + 1));
#pragma omp parallel if (f->parallel)
  turn_range(f, next / rr, share(nodes, thread_number()), share(nodes, thread_number() + 1));
  return next;
}

static struct fields fields_make(const struct aero_mesh *given, const double *phi, enum aero_form form,
                                 int parallel) {
  struct aero_mesh *own = malloc(sizeof *own);
  if (!own)
    exit(EXIT_FAILURE);
  *own = *given;
  struct fields f = {.mesh = own, .form = form, .parallel = parallel};
  f.phi = touched_copy(phi, own->nodes, sizeof *phi, parallel);
  own->x = touched_copy(own->x, own->nodes, 2 * sizeof *own->x, parallel);
  own->cell_nodes = touched_copy(own->cell_nodes, own->cells, 4 * sizeof *own->cell_nodes, parallel);
  double **const each[] = {&f.residual, &f.u, &f.v, &f.p, &f.r};
  for (int i = 0; i < 5; i++)
    *each[i] = touched_zeros(own->nodes, sizeof(double), parallel);
  f.k = touched_zeros(own->cells, 16 * sizeof *f.k, parallel);
  const int fitting = own->cells / 64;
  f.blocks = colouring_make(own->cells, 4, own->cell_nodes, own->nodes,
                            fitting < 128    ? 128
                            : fitting > 8192 ? 8192
                                             : fitting);
  if (form == AERO_OWNERS)
    f.owners = owners_make(own->cells, 4, 4, own->cell_nodes, own->nodes);
  return f;
}

static void fields_free(struct fields *f) {
  double *const all[] = {f->residual, f->u, f->v, f->p, f->r, f->k, f->phi, f->mesh->x};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    touched_free(all[i]);
  touched_free(f->mesh->cell_nodes);
  colouring_free(&f->blocks);
  owners_free(&f->owners);
  free((void *)f->mesh);
}

/* Makes the matrix and the residual, and begins. Returns the residual's square. */
static double linearise_by_hand(const struct fields *f) {
  over_cells(f, assemble_range);
  fix(f, f->residual);
  return start_gradient(f);
}

double aero_twin_iterations(const struct aero_mesh *mesh, const double *phi, int iterations, int most,
                            enum aero_form form, double *u) {
  struct fields f = fields_make(mesh, phi, form, 1);
  double seconds = 0;
  for (int done = 0; done < iterations;) {
    double rr = linearise_by_hand(&f);
    const int end = done + most < iterations ? done + most : iterations;
    const double start = clock_seconds();
    for (; done < end; done++)
      rr = iterate_gradient(&f, rr);
    seconds += clock_seconds() - start;
  }
  memcpy(u, f.u, (size_t)mesh->nodes * sizeof *u);
  fields_free(&f);
  return seconds / iterations;
}

struct aero_history aero_twin(const struct aero_mesh *mesh, const struct aero_limits *limits, int parallel,
                              double *answer) {
  struct aero_history history = {0};
  struct fields f = fields_make(mesh, answer, AERO_COLOURS, parallel);
  double seconds = 0;
  int total = 0;
  while (history.steps < limits->newton) {
    int iterations = 0;
    double rr = linearise_by_hand(&f), enough = rr * limits->gradient_drop * limits->gradient_drop;
    history.residual[history.steps] = sqrt(rr / mesh->nodes);
    if (history.residual[history.steps++] <= limits->residual)
      break;
    const double start = clock_seconds();
    for (; rr > enough && iterations < limits->gradient; iterations++)
      rr = iterate_gradient(&f, rr);
    seconds += clock_seconds() - start;
    total += iterations;
    history.iterations[history.steps - 1] = iterations;
    for (int i = 0; i < mesh->nodes; i++)
      f.phi[i] -= f.u[i];
  }
  history.seconds = total ? seconds / total : 0;
  memcpy(answer, f.phi, (size_t)mesh->nodes * sizeof *answer);
  fields_free(&f);
  return history;
}
