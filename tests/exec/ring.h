/* A ring of cells and edges and two loops on it, for tests of the whole library on the openmp backend; and a
 * folder for its caches. */
#ifndef TESTS_EXEC_RING_H
#define TESTS_EXEC_RING_H

#include "../api/support.h"

static const char *folder;

/* A ring of cells whose edges are a little out of order. */
enum { CELLS = 10007, EDGES = 20011 };

struct ring {
  op_set cells, edges;
  op_map ends;
  op_dat weight, value, change;
};

/* Numbers that are rounded when they are added: another order would have other bits. */
static const char move[] = OP_KERNEL(void move(const double *w, const double *a, const double *b, double *da,
                                               double *db, double *sum, double *most) {
  for (int n = 0; n < 3; n++) {
    double flux = *w * (a[n] - b[n]) / (3.0 + a[n] * b[n]);
    da[n] -= flux;
    db[n] += flux;
    *sum += flux * flux;
    if (flux > *most)
      *most = flux;
  }
});

static const char relax[] = OP_KERNEL(void relax(const double *change, double *value, double *sum) {
  for (int n = 0; n < 3; n++) {
    value[n] = value[n] + 0.3 * change[n];
    *sum += value[n] / 7.0;
  }
});

static inline void open_at(int diags, const char *variant, int threads, const char *tune, const char *cache) {
  char words[4][300], program[] = "program", backend[] = "OP2_BACKEND=openmp";
  char *argv[] = {program, backend, words[0], words[1], words[2], words[3], NULL};
  snprintf(words[0], sizeof words[0], "OP2_VARIANT=%s", variant);
  snprintf(words[1], sizeof words[1], "OP2_THREADS=%d", threads);
  snprintf(words[2], sizeof words[2], "OP2_TUNE=%s", tune);
  snprintf(words[3], sizeof words[3], "OP2_CACHE=%s/%s", folder, cache);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(6, argv, diags));
}

static inline void open_library(const char *variant, int threads, const char *tune, const char *cache) {
  open_at(0, variant, threads, tune, cache);
}

static inline double *random_values(int count, unsigned seed) {
  double *values = malloc((size_t)count * sizeof *values);
  assert_non_null(values);
  for (int i = 0; i < count; i++) {
    seed = seed * 1664525 + 1013904223;
    values[i] = 1.0 + seed / 3e9;
  }
  return values;
}

static inline struct ring declare(void) {
  struct ring m;
  int *table = malloc(2 * EDGES * sizeof *table);
  double *weight = random_values(EDGES, 1), *value = random_values(3 * CELLS, 2);
  assert_non_null(table);
  for (int e = 0; e < EDGES; e++) {
    const int place = (int)((long)e * CELLS / EDGES);
    table[2 * e] = (place + e * 7 % 13) % CELLS;
    table[2 * e + 1] = (place + 20 + e * 5 % 17) % CELLS;
  }
  m.cells = op_decl_set(CELLS, "cells");
  m.edges = op_decl_set(EDGES, "edges");
  m.ends = op_decl_map(m.edges, m.cells, 2, table, "ends");
  m.weight = op_decl_dat(m.edges, 1, "double", weight, "weight");
  m.value = op_decl_dat(m.cells, 3, "double", value, "value");
  m.change = op_decl_dat(m.cells, 3, "double", NULL, "change");
  free(table);
  free(weight);
  free(value);
  return m;
}

static inline void move_once(const struct ring *m, double *sum, double *most) {
  works(op_par_loop(move, "move", m->edges, op_arg_dat(m->weight, -1, OP_ID, 1, "double", OP_READ),
                    op_arg_dat(m->value, 0, m->ends, 3, "double", OP_READ),
                    op_arg_dat(m->value, 1, m->ends, 3, "double", OP_READ),
                    op_arg_dat(m->change, 0, m->ends, 3, "double", OP_INC),
                    op_arg_dat(m->change, 1, m->ends, 3, "double", OP_INC),
                    op_arg_gbl(sum, 1, "double", OP_INC), op_arg_gbl(most, 1, "double", OP_MAX)));
}

static inline void relax_once(const struct ring *m, double *sum) {
  works(op_par_loop(relax, "relax", m->cells, op_arg_dat(m->change, -1, OP_ID, 3, "double", OP_READ),
                    op_arg_dat(m->value, -1, OP_ID, 3, "double", OP_RW),
                    op_arg_gbl(sum, 1, "double", OP_INC)));
}

static inline int make_folder(void **state) {
  static char name[] = "/tmp/op2jit-exec-XXXXXX";
  (void)state;
  folder = mkdtemp(name);
  return folder ? 0 : -1;
}

static inline int remove_folder(void **state) {
  char command[128];
  (void)state;
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

#endif
