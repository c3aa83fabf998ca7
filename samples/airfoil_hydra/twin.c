#include "twin.h"

#include "common/colouring.h"
#include "common/memory.h"
#include "common/report.h"

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
    for (int v = 0; v < VARIABLES; v++) {
      double mean = 0.5 * (q[VARIABLES * one + v] + q[VARIABLES * two + v]);
      for (int d = 0; d < 3; d++) {
        double part = mean * normal[3 * e + d];
        grad[GRADIENTS * one + 3 * v + d] += part;
        grad[GRADIENTS * two + 3 * v + d] -= part;
      }
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

struct side {
  double state[VARIABLES], normal_speed, pressure, sound;
};

/* The state half way along the edge, from one of its ends. */
static inline void look_from(struct side *side, const double *restrict q, const double *restrict g,
                             const double *restrict half, const double *restrict normal) {
  for (int v = 0; v < VARIABLES; v++)
    side->state[v] = q[v] + g[3 * v] * half[0] + g[3 * v + 1] * half[1] + g[3 * v + 2] * half[2];
  const double *s = side->state;
  double inverse = 1 / s[0], kinetic = 0.5 * inverse * (s[1] * s[1] + s[2] * s[2] + s[3] * s[3]);
  side->normal_speed = inverse * (s[1] * normal[0] + s[2] * normal[1] + s[3] * normal[2]);
  side->pressure = (BOX_GAMMA - 1) * (s[4] - kinetic);
  side->sound = sqrt(BOX_GAMMA * side->pressure * inverse);
}

static void flux_range(const struct fields *f, int begin, int end) {
  const double *restrict x = f->box->x, *restrict volume = f->box->volume;
  double *restrict res = f->res;
  for (int e = begin; e < end; e++) {
    int one = f->box->edge_nodes[2 * e], two = f->box->edge_nodes[2 * e + 1];
    const double *normal = f->box->normal + 3 * e, *q1 = f->q + VARIABLES * one, *q2 = f->q + VARIABLES * two;
    const double *g1 = f->grad + GRADIENTS * one, *g2 = f->grad + GRADIENTS * two;
    double dx[3], forward[3], back[3], length2 = 0, area2 = 0, flux[VARIABLES];
    for (int d = 0; d < 3; d++) {
      dx[d] = x[3 * two + d] - x[3 * one + d];
      forward[d] = 0.5 * dx[d];
      back[d] = -0.5 * dx[d];
      length2 += dx[d] * dx[d];
      area2 += normal[d] * normal[d];
    }
    struct side left, right;
    look_from(&left, q1, g1, forward, normal);
    look_from(&right, q2, g2, back, normal);
    double wave =
        0.5 * (fabs(left.normal_speed) + fabs(right.normal_speed) + sqrt(area2) * (left.sound + right.sound));
    for (int v = 0; v < VARIABLES; v++)
      flux[v] = 0.5 * (left.state[v] * left.normal_speed + right.state[v] * right.normal_speed) -
                0.5 * wave * (right.state[v] - left.state[v]);
    for (int d = 0; d < 3; d++)
      flux[1 + d] += 0.5 * (left.pressure + right.pressure) * normal[d];
    flux[4] += 0.5 * (left.pressure * left.normal_speed + right.pressure * right.normal_speed);
    double share1 = volume[two] / (volume[one] + volume[two]), share2 = 1 - share1;
    double mu = BOX_VISCOSITY * (1 + q1[5] + q2[5]);
    for (int v = 1; v < VARIABLES; v++) {
      double along = q2[v] - q1[v], through = 0, mean[3];
      for (int d = 0; d < 3; d++) {
        mean[d] = share1 * g1[3 * v + d] + share2 * g2[3 * v + d];
        along -= mean[d] * dx[d];
      }
      for (int d = 0; d < 3; d++)
        through += (mean[d] + along / length2 * dx[d]) * normal[d];
      flux[v] -= mu * through;
    }
    for (int v = 0; v < VARIABLES; v++) {
      res[VARIABLES * one + v] += flux[v];
      res[VARIABLES * two + v] -= flux[v];
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

static double *zeros(long long count, int parallel) {
  double *made = room(count, sizeof *made);
#pragma omp parallel for schedule(static) if (parallel)
  for (long long i = 0; i < count; i++)
    made[i] = 0;
  return made;
}

struct box_result hydra_twin(const struct box *box, int iterations, double dt, int parallel, double *q) {
  int block = box->edges / 64 < 128 ? 128 : box->edges / 64 > 8192 ? 8192 : box->edges / 64;
  struct fields f = {box,
                     colouring_make(box->edges, 2, box->edge_nodes, box->nodes, block),
                     parallel,
                     q,
                     zeros((long long)GRADIENTS * box->nodes, parallel),
                     zeros((long long)VARIABLES * box->nodes, parallel)};
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
  colouring_free(&f.blocks);
  free(f.grad);
  free(f.res);
  return result;
}
