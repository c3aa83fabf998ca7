/* Random maps for the tests of plans and schedules. */
#ifndef TESTS_EXEC_MESH_H
#define TESTS_EXEC_MESH_H

#include <stdint.h>
#include <stdlib.h>

#include "plan/strategy.h"

static inline uint32_t random_next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

enum mesh_shape { MESH_NEAR, MESH_FAR, MESH_STAR, MESH_SHAPES };

/* A table of size * arity targets: near the element's own place, anywhere, or mostly target 0. */
static inline int *mesh_table(long size, int arity, long targets, enum mesh_shape shape, uint64_t seed) {
  int *table = calloc((size_t)(size * arity) + 1, sizeof *table);
  for (long i = 0; i < size * arity; i++) {
    long any = (long)(random_next(&seed) % (uint32_t)targets);
    long near = i / arity * targets / size + (long)(random_next(&seed) % 5) - 2;
    if (shape == MESH_STAR && random_next(&seed) % 4)
      any = 0;
    if (shape == MESH_NEAR)
      any = near < 0 ? 0 : near >= targets ? targets - 1 : near;
    table[i] = (int)any;
  }
  return table;
}

/* Edges of a grid of nx * ny cells, two cells each, in the order of the cells. Returns their number. */
static inline long mesh_grid(long nx, long ny, int **table) {
  long n = 0;
  int *edges = malloc((size_t)(4 * nx * ny) * sizeof *edges);
  for (long y = 0; y < ny; y++)
    for (long x = 0; x < nx; x++) {
      int cell = (int)(y * nx + x);
      if (x + 1 < nx) {
        edges[2 * n] = cell;
        edges[2 * n++ + 1] = cell + 1;
      }
      if (y + 1 < ny) {
        edges[2 * n] = cell;
        edges[2 * n++ + 1] = cell + (int)nx;
      }
    }
  *table = edges;
  return n;
}

static inline int schedule_chunks(struct schedule *s, long size, long chunk, struct error *err) {
  return schedule_request_chunks(s, &(struct plan_request){.size = size, .block_size = (int)chunk}, err);
}

/* The row's schedule and figures alone. */
static inline int schedule_owners(struct schedule *s, const struct plan_request *r, int threads,
                                  struct owner_shares *shares, struct error *err) {
  struct plan_entry e = {0};
  const struct plan_wish wish = {.request = *r, .threads = threads};
  const int code = strategy_owners.build(&e, &wish, NULL, err);
  *s = e.schedule;
  *shares = e.shares;
  return code;
}

#endif
