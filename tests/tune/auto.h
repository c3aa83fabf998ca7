/* A program whose period no cache holds, if OP2_L3 says that it is small: two loops over a line of cells. */
#ifndef OP2JIT_TESTS_TUNE_AUTO_H
#define OP2JIT_TESTS_TUNE_AUTO_H

#include "../exec/ring.h"

/* More than the cache that is said to be there (OP2_L3), and whole numbers, so that sums are exact. */
enum { MANY = 30000, WIDTH = 8, ROUNDS = 16 };

OP_KERNEL_DEF(
    spread, void spread(const double *a, const double *b, double *ra, double *rb) {
      for (int d = 0; d < 8; d++) {
        ra[d] -= a[d] - b[d];
        rb[d] += a[d] - b[d];
      }
    })
OP_KERNEL_DEF(
    settle, void settle(double *r, double *q) {
      for (int d = 0; d < 8; d++) {
        q[d] += r[d] > 0 ? 1 : r[d] < 0 ? -1 : 0;
        r[d] = 0;
      }
    })
static op_set cells, edges;
static op_map ends;
static op_dat q, r;

/* The file of the store, in the folder. */
static const char *store_name = "auto.db";

static inline void open_program(int argc, char **argv) {
  static int pairs[2 * (MANY - 1)];
  static double values[MANY * WIDTH];
  works(op_init(argc, argv, 0));
  for (int i = 0; i < MANY * WIDTH; i++)
    values[i] = (double)(i * 7L % 1009);
  for (int e = 0; e < MANY - 1; e++) {
    pairs[2 * e] = e;
    pairs[2 * e + 1] = e + 1;
  }
  cells = op_decl_set(MANY, "cells");
  edges = op_decl_set(MANY - 1, "edges");
  ends = op_decl_map(edges, cells, 2, pairs, "ends");
  q = op_decl_dat(cells, WIDTH, "double", values, "q");
  r = op_decl_dat(cells, WIDTH, "double", NULL, "r");
}

/* With a cache of so many bytes, and up to two more words. */
static inline void begin_with(const char *cache, const char *more, const char *other) {
  char program[] = "program", variant[] = "OP2_VARIANT=scalar", l3[64], store[300], words[2][300];
  char *argv[] = {program, variant, l3, store, words[0], words[1], NULL};
  snprintf(l3, sizeof l3, "OP2_L3=%s", cache);
  snprintf(store, sizeof store, "OP2_CACHE=%s/%s", folder, store_name);
  snprintf(words[0], sizeof words[0], "%s", more);
  snprintf(words[1], sizeof words[1], "%s", other);
  open_program(*other ? 6 : *more ? 5 : 4, argv);
}

static inline void begin(const char *more) {
  begin_with("256K", more, "");
}

static inline void spread_once(void) {
  works(op_par_loop(OP_KERNEL_OF(spread), "spread", edges, op_arg_dat(q, 0, ends, WIDTH, "double", OP_READ),
                    op_arg_dat(q, 1, ends, WIDTH, "double", OP_READ),
                    op_arg_dat(r, 0, ends, WIDTH, "double", OP_INC),
                    op_arg_dat(r, 1, ends, WIDTH, "double", OP_INC)));
}

static inline void settle_by(const char *text, const char *name) {
  works(op_par_loop(text, name, cells, direct(r, WIDTH, "double", OP_RW), direct(q, WIDTH, "double", OP_RW)));
}

static inline void step(void) {
  spread_once();
  settle_by(OP_KERNEL_OF(settle), "settle");
}

static inline void steps(int n) {
  for (int i = 0; i < n; i++)
    step();
}

static inline long long waiting(void) {
  return op_counters()->waiting;
}

#endif
