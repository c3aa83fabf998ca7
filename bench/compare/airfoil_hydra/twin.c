#include "twin.h"

#include "common/colouring.h"
#include "common/report.h"
#include "common/touch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fields {
  const struct box *box;
  struct colouring blocks;
  int parallel;
  double *q, *grad, *res;
};

static void gradient_range(const struct fields *f, int begin, int end) {
  const double *restrict q = f->q, *restrict normal = f->box->normal;
  const int *restrict nodes = f->box->edge_nodes;
  double *restrict grad = f->grad;
  for (int e = begin; e < end; e++) {
    int one = nodes[2 * e], two = nodes[2 * e + 1];
    double *restrict grad1 = grad + GRADIENTS * one, *restrict grad2 = grad + GRADIENTS * two;
    double part[GRADIENTS];
    for (int v = 0; v < VARIABLES; v++) {
      double mean = 0.5 * (q[VARIABLES * one + v] + q[VARIABLES * two + v]);
      for (int d = 0; d < 3; d++)
        part[3 * v + d] = mean * normal[3 * e + d];
    }
#pragma omp simd
    for (int k = 0; k < GRADIENTS; k++) {
      grad1[k] += part[k];
      grad2[k] -= part[k];
    }
  }
}

static void close_gradients(const struct fields *f) {
  for (int b = 0; b < f->box->boundary; b++) {
    int node = f->box->boundary_node[b];
    for (int v = 0; v < VARIABLES; v++)
      for (int d = 0; d < 3; d++)
        f->grad[GRADIENTS * node + 3 * v + d] +=
            f->q[VARIABLES * node + v] * f->box->boundary_normal[3 * b + d];
  }
}

/* STRIP edges side by side, for vectors: the numbers of their nodes, the way from the first to the second, the
 * normals of their faces, and at each end the state and the gradients, and the state half way as seen from there. */
enum { STRIP = 4, ROUND_VARIABLES = (VARIABLES + 3) / 4 * 4, ROUND_GRADIENTS = (GRADIENTS + 3) / 4 * 4 };
struct side {
  double q[ROUND_VARIABLES][STRIP], g[ROUND_GRADIENTS][STRIP];
  double state[VARIABLES][STRIP], normal_speed[STRIP], pressure[STRIP], sound[STRIP];
};
struct strip {
  int one[STRIP], two[STRIP];
  double dx[3][STRIP], normal[3][STRIP], flux[VARIABLES][STRIP];
  struct side left, right;
};

typedef double four __attribute__((vector_size(4 * sizeof(double))));

/* Rows of `width` numbers, of which all are brought beside those of the other nodes, four by four: processors are
 * slow at reading from many places. What follows the last row is read and not used. */
static inline void turn_rows(const double *restrict table, int width, const int node[STRIP],
                             double (*restrict to)[STRIP]) {
  const double *a = table + width * node[0], *b = table + width * node[1], *c = table + width * node[2],
               *d = table + width * node[3];
  for (int first = 0; first < width; first += 4) {
    four r0, r1, r2, r3;
    memcpy(&r0, a + first, sizeof r0);
    memcpy(&r1, b + first, sizeof r1);
    memcpy(&r2, c + first, sizeof r2);
    memcpy(&r3, d + first, sizeof r3);
    four even01 = __builtin_shufflevector(r0, r1, 0, 4, 2, 6);
    four odd01 = __builtin_shufflevector(r0, r1, 1, 5, 3, 7);
    four even23 = __builtin_shufflevector(r2, r3, 0, 4, 2, 6);
    four odd23 = __builtin_shufflevector(r2, r3, 1, 5, 3, 7);
    r0 = __builtin_shufflevector(even01, even23, 0, 1, 4, 5);
    r1 = __builtin_shufflevector(odd01, odd23, 0, 1, 4, 5);
    r2 = __builtin_shufflevector(even01, even23, 2, 3, 6, 7);
    r3 = __builtin_shufflevector(odd01, odd23, 2, 3, 6, 7);
    memcpy(to[first], &r0, sizeof r0);
    memcpy(to[first + 1], &r1, sizeof r1);
    memcpy(to[first + 2], &r2, sizeof r2);
    memcpy(to[first + 3], &r3, sizeof r3);
  }
}

static inline void look_from(struct side *restrict side, const struct fields *f, const int *restrict node,
                             double share, const struct strip *restrict s) {
  turn_rows(f->q, VARIABLES, node, side->q);
  turn_rows(f->grad, GRADIENTS, node, side->g);
  for (int v = 0; v < VARIABLES; v++) {
    double(*g)[STRIP] = side->g + 3 * v;
#pragma omp simd
    for (int k = 0; k < STRIP; k++)
      side->state[v][k] =
          side->q[v][k] + share * (g[0][k] * s->dx[0][k] + g[1][k] * s->dx[1][k] + g[2][k] * s->dx[2][k]);
  }
#pragma omp simd
  for (int k = 0; k < STRIP; k++) {
    double s1 = side->state[1][k], s2 = side->state[2][k], s3 = side->state[3][k],
           inverse = 1 / side->state[0][k];
    double kinetic = 0.5 * inverse * (s1 * s1 + s2 * s2 + s3 * s3);
    side->normal_speed[k] = inverse * (s1 * s->normal[0][k] + s2 * s->normal[1][k] + s3 * s->normal[2][k]);
    side->pressure[k] = (BOX_GAMMA - 1) * (side->state[4][k] - kinetic);
    side->sound[k] = sqrt(BOX_GAMMA * side->pressure[k] * inverse);
  }
}

/* The last edge again, where there are fewer. */
static inline void read_strip(struct strip *restrict s, const struct fields *f, int edge, int count) {
  const int *restrict nodes = f->box->edge_nodes;
  const double *restrict x = f->box->x, *restrict normal = f->box->normal;
  for (int k = 0; k < STRIP; k++) {
    int e = edge + (k < count ? k : count - 1);
    s->one[k] = nodes[2 * e];
    s->two[k] = nodes[2 * e + 1];
    for (int d = 0; d < 3; d++) {
      s->dx[d][k] = x[3 * s->two[k] + d] - x[3 * s->one[k] + d];
      s->normal[d][k] = normal[3 * e + d];
    }
  }
}

static inline void convect(struct strip *restrict s) {
  struct side *left = &s->left, *right = &s->right;
  double wave[STRIP];
#pragma omp simd
  for (int k = 0; k < STRIP; k++) {
    double n0 = s->normal[0][k], n1 = s->normal[1][k], n2 = s->normal[2][k];
    wave[k] = 0.5 * (fabs(left->normal_speed[k]) + fabs(right->normal_speed[k]) +
                     sqrt(n0 * n0 + n1 * n1 + n2 * n2) * (left->sound[k] + right->sound[k]));
  }
  for (int v = 0; v < VARIABLES; v++) {
#pragma omp simd
    for (int k = 0; k < STRIP; k++)
      s->flux[v][k] =
          0.5 * (left->state[v][k] * left->normal_speed[k] + right->state[v][k] * right->normal_speed[k]) -
          0.5 * wave[k] * (right->state[v][k] - left->state[v][k]);
  }
#pragma omp simd
  for (int k = 0; k < STRIP; k++) {
    double pressure = 0.5 * (left->pressure[k] + right->pressure[k]);
    s->flux[1][k] += pressure * s->normal[0][k];
    s->flux[2][k] += pressure * s->normal[1][k];
    s->flux[3][k] += pressure * s->normal[2][k];
    s->flux[4][k] +=
        0.5 * (left->pressure[k] * left->normal_speed[k] + right->pressure[k] * right->normal_speed[k]);
  }
}

static inline void diffuse(struct strip *restrict s, const struct fields *f) {
  const double *restrict volume = f->box->volume;
  struct side *left = &s->left, *right = &s->right;
  double share1[STRIP], mu[STRIP], inverse[STRIP];
#pragma omp simd
  for (int k = 0; k < STRIP; k++) {
    int one = s->one[k], two = s->two[k];
    double dx0 = s->dx[0][k], dx1 = s->dx[1][k], dx2 = s->dx[2][k];
    share1[k] = volume[two] / (volume[one] + volume[two]);
    mu[k] = BOX_VISCOSITY * (1 + left->q[5][k] + right->q[5][k]);
    inverse[k] = 1 / (dx0 * dx0 + dx1 * dx1 + dx2 * dx2);
  }
  for (int v = 1; v < VARIABLES; v++) {
    double(*g1)[STRIP] = left->g + 3 * v, (*g2)[STRIP] = right->g + 3 * v;
#pragma omp simd
    for (int k = 0; k < STRIP; k++) {
      double dx0 = s->dx[0][k], dx1 = s->dx[1][k], dx2 = s->dx[2][k], share2 = 1 - share1[k];
      double mean0 = share1[k] * g1[0][k] + share2 * g2[0][k],
             mean1 = share1[k] * g1[1][k] + share2 * g2[1][k],
             mean2 = share1[k] * g1[2][k] + share2 * g2[2][k];
      double along = right->q[v][k] - left->q[v][k] - mean0 * dx0 - mean1 * dx1 - mean2 * dx2;
      double slope = along * inverse[k];
      s->flux[v][k] -=
          mu[k] * ((mean0 + slope * dx0) * s->normal[0][k] + (mean1 + slope * dx1) * s->normal[1][k] +
                   (mean2 + slope * dx2) * s->normal[2][k]);
    }
  }
}

/* Fluxes in vectors; edges add to nodes one by one, since they may meet. */
static void flux_range(const struct fields *f, int begin, int end) {
  double *restrict res = f->res;
  struct strip s;
  for (int edge = begin; edge < end; edge += STRIP) {
    int count = end - edge < STRIP ? end - edge : STRIP;
    read_strip(&s, f, edge, count);
    look_from(&s.left, f, s.one, 0.5, &s);
    look_from(&s.right, f, s.two, -0.5, &s);
    convect(&s);
    diffuse(&s, f);
    for (int k = 0; k < count; k++) {
      for (int v = 0; v < VARIABLES; v++)
        res[VARIABLES * s.one[k] + v] += s.flux[v][k];
      for (int v = 0; v < VARIABLES; v++)
        res[VARIABLES * s.two[k] + v] -= s.flux[v][k];
    }
  }
}

/* A loop over edges that adds to nodes: in order, or block colour by block colour. */
static void over_edges(const struct fields *f, void (*range)(const struct fields *, int, int)) {
  if (!f->parallel) {
    range(f, 0, f->box->edges);
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

static double iterate(const struct fields *f, double dt, double *leak) {
  int nodes = f->box->nodes;
  const double *restrict volume = f->box->volume;
  double *restrict q = f->q, *restrict grad = f->grad, *restrict res = f->res, sum = 0, total = 0, size = 0;
  over_edges(f, gradient_range);
  close_gradients(f);
#pragma omp parallel for schedule(static) if (f->parallel)
  for (int node = 0; node < nodes; node++) {
    double inverse = 1 / volume[node];
    for (int k = 0; k < GRADIENTS; k++)
      grad[GRADIENTS * node + k] *= inverse;
  }
  over_edges(f, flux_range);
#pragma omp parallel for simd schedule(static) reduction(+ : total, size) if (parallel : f->parallel)
  for (int k = 0; k < VARIABLES * nodes; k++) {
    total += res[k];
    size += fabs(res[k]);
  }
  for (int b = 0; b < f->box->boundary; b++)
    memset(res + VARIABLES * f->box->boundary_node[b], 0, VARIABLES * sizeof *res);
#pragma omp parallel for schedule(static) reduction(+ : sum) if (f->parallel)
  for (int node = 0; node < nodes; node++) {
    double step = dt / volume[node];
    for (int v = 0; v < VARIABLES; v++) {
      sum += res[VARIABLES * node + v] * res[VARIABLES * node + v];
      q[VARIABLES * node + v] -= step * res[VARIABLES * node + v];
      res[VARIABLES * node + v] = 0;
    }
    for (int k = 0; k < GRADIENTS; k++)
      grad[GRADIENTS * node + k] = 0;
  }
  *leak = fabs(total) / size;
  return sqrt(sum);
}

struct box_result hydra_twin(const struct box *given, int iterations, double dt, int parallel, double *q) {
  struct box own = *given;
  const struct box *box = &own;
  int block = box->edges / 64 < 128 ? 128 : box->edges / 64 > 8192 ? 8192 : box->edges / 64;
  own.edge_nodes = touched_copy(own.edge_nodes, own.edges, 2 * sizeof *own.edge_nodes, parallel);
  own.normal = touched_copy(own.normal, own.edges, 3 * sizeof *own.normal, parallel);
  own.x = touched_copy(own.x, own.nodes, 3 * sizeof *own.x, parallel);
  own.volume = touched_copy(own.volume, own.nodes, sizeof *own.volume, parallel);
  struct fields f = {box,
                     colouring_make(box->edges, 2, box->edge_nodes, box->nodes, block),
                     parallel,
                     touched_copy(q, box->nodes, VARIABLES * sizeof *q, parallel),
                     touched_zeros(box->nodes, GRADIENTS * sizeof *q, parallel),
                     touched_zeros(box->nodes, VARIABLES * sizeof *q, parallel)};
  struct box_result result = {0, 0, 0, 0};
  double start = clock_seconds();
  for (int i = 0; i < iterations; i++) {
    double leak;
    result.last = iterate(&f, dt, &leak);
    if (i == 0) {
      result.first = result.last;
      result.leak = leak;
    }
  }
  result.seconds = (clock_seconds() - start) / iterations;
  memcpy(q, f.q, VARIABLES * (size_t)box->nodes * sizeof *q);
  colouring_free(&f.blocks);
  void *const owned[] = {own.edge_nodes, own.normal, own.x, own.volume, f.q, f.grad, f.res};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
    touched_free(owned[k]);
  return result;
}
