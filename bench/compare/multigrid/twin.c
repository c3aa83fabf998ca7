#include "twin.h"

#include "common/colouring.h"
#include "common/report.h"
#include "common/touch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fields {
  const struct level *level;
  struct colouring blocks;
  int parallel;
  double *u, *right, *flow;
};

static void flow_range(const struct fields *f, int begin, int end) {
  const int *restrict cells = f->level->edge_cells;
  const double *restrict weight = f->level->weight, *restrict u = f->u;
  double *restrict flow = f->flow;
  for (int e = begin; e < end; e++) {
    int one = cells[2 * e], other = cells[2 * e + 1];
    double through = weight[e] * (u[other] - u[one]);
    flow[one] += through;
    flow[other] -= through;
  }
}

/* What flows into each cell. Small levels are left to one thread. */
static int worth_threads(const struct fields *f) {
  return f->parallel && f->level->cells > 4096;
}

static void add_flow(const struct fields *f) {
  if (!worth_threads(f)) {
    flow_range(f, 0, f->level->edges);
    return;
  }
#pragma omp parallel
  for (int colour = 0; colour < f->blocks.colours; colour++) {
#pragma omp for schedule(static)
    for (int i = f->blocks.first[colour]; i < f->blocks.first[colour + 1]; i++)
      flow_range(f, colouring_begin(&f->blocks, f->blocks.order[i]),
                 colouring_end(&f->blocks, f->blocks.order[i]));
  }
}

static void smooth(const struct fields *f, int sweeps, double damping) {
  int cells = f->level->cells;
  const double *restrict outer = f->level->outer, *restrict diagonal = f->level->diagonal;
  const double *restrict right = f->right;
  double *restrict u = f->u, *restrict flow = f->flow;
  for (int s = 0; s < sweeps; s++) {
    add_flow(f);
#pragma omp parallel for simd schedule(static) if (parallel : worth_threads(f))
    for (int c = 0; c < cells; c++) {
      u[c] += damping * (right[c] + flow[c] - outer[c] * u[c]) / diagonal[c];
      flow[c] = 0;
    }
  }
}

static double norm(const struct fields *f) {
  const double *restrict outer = f->level->outer, *restrict right = f->right, *restrict u = f->u;
  double *restrict flow = f->flow, sum = 0;
  int cells = f->level->cells;
  add_flow(f);
#pragma omp parallel for simd schedule(static) reduction(+ : sum) if (parallel : worth_threads(f))
  for (int c = 0; c < cells; c++) {
    double defect = right[c] + flow[c] - outer[c] * u[c];
    sum += defect * defect;
    flow[c] = 0;
  }
  return sqrt(sum / f->level->cells);
}

/* The children of a coarse cell are four fine ones; adding to parents row pair by row pair never meets. */
static void descend(const struct fields *fine, const struct fields *coarse) {
  int side = fine->level->side;
  const int *restrict parent = fine->level->parent;
  const double *restrict right = fine->right, *restrict outer = fine->level->outer, *restrict u = fine->u;
  double *restrict flow = fine->flow, *restrict sum = coarse->right;
  memset(coarse->right, 0, (size_t)coarse->level->cells * sizeof(double));
  memset(coarse->u, 0, (size_t)coarse->level->cells * sizeof(double));
  add_flow(fine);
#pragma omp parallel for schedule(static) if (worth_threads(fine))
  for (int pair = 0; pair < side / 2; pair++) {
    for (int c = 2 * pair * side; c < 2 * (pair + 1) * side; c++) {
      sum[parent[c]] += right[c] + flow[c] - outer[c] * u[c];
      flow[c] = 0;
    }
  }
}

static void ascend(const struct fields *coarse, const struct fields *fine) {
  const int *restrict around = fine->level->around;
  const double *restrict share = fine->level->share, *restrict from = coarse->u;
  double *restrict u = fine->u;
  int cells = fine->level->cells;
#pragma omp parallel for schedule(static) if (worth_threads(fine))
  for (int c = 0; c < cells; c++) {
    double sum = 0;
    for (int k = 0; k < CORNERS; k++)
      sum += share[CORNERS * c + k] * from[around[CORNERS * c + k]];
    u[c] += sum;
  }
}

static void cycle(const struct fields *f, int level, int count, const struct schedule *s) {
  if (level == count - 1) {
    smooth(f, s->last, s->damping);
    return;
  }
  smooth(f, s->before, s->damping);
  descend(f, f + 1);
  cycle(f + 1, level + 1, count, s);
  ascend(f + 1, f);
  smooth(f, s->after, s->damping);
}

/* The tables, where the threads have them that use them. */
static struct level level_copy(const struct level *level, int parallel) {
  struct level made = *level;
  made.edge_cells = touched_copy(level->edge_cells, level->edges, 2 * sizeof(int), parallel);
  made.weight = touched_copy(level->weight, level->edges, sizeof(double), parallel);
  made.outer = touched_copy(level->outer, level->cells, sizeof(double), parallel);
  made.diagonal = touched_copy(level->diagonal, level->cells, sizeof(double), parallel);
  made.parent = touched_copy(level->parent, level->cells, sizeof(int), parallel);
  made.around = touched_copy(level->around, level->cells, CORNERS * sizeof(int), parallel);
  made.share = touched_copy(level->share, level->cells, CORNERS * sizeof(double), parallel);
  return made;
}

static void level_release(struct level *level) {
  void *const owned[] = {level->edge_cells, level->weight, level->outer, level->diagonal,
                         level->parent,     level->around, level->share};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
    touched_free(owned[k]);
}

double multigrid_twin(const struct levels *levels, const struct schedule *schedule, int parallel,
                      const double *right, double *u, double *residual) {
  struct fields f[MOST_LEVELS] = {{0}};
  struct level own[MOST_LEVELS];
  for (int l = 0; l < levels->count; l++) {
    const struct level *level = &own[l];
    own[l] = level_copy(&levels->level[l], parallel);
    int block = level->edges / 64 < 128 ? 128 : level->edges / 64 > 8192 ? 8192 : level->edges / 64;
    f[l] = (struct fields){level,
                           colouring_make(level->edges, 2, level->edge_cells, level->cells, block),
                           parallel,
                           touched_copy(l == 0 ? u : NULL, level->cells, sizeof(double), parallel),
                           touched_copy(l == 0 ? right : NULL, level->cells, sizeof(double), parallel),
                           touched_zeros(level->cells, sizeof(double), parallel)};
  }
  double start = clock_seconds();
  residual[0] = norm(f);
  for (int k = 1; k <= schedule->cycles; k++) {
    cycle(f, 0, levels->count, schedule);
    residual[k] = norm(f);
  }
  double seconds = (clock_seconds() - start) / schedule->cycles;
  memcpy(u, f[0].u, (size_t)levels->level[0].cells * sizeof *u);
  for (int l = 0; l < levels->count; l++) {
    colouring_free(&f[l].blocks);
    level_release(&own[l]);
    touched_free(f[l].u);
    touched_free(f[l].right);
    touched_free(f[l].flow);
  }
  return seconds;
}
