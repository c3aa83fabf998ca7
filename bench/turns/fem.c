/* A loop over hexahedra of eight nodes, as finite elements without a matrix have it, in turns: fem_kernels.h, on the nodes
 * and cells of box.h. */
#include "turns.h"

#include "box.h"
#include "common/memory.h"
#include "common/report.h"
#include "common/touch.h"
#include "fem_kernels.h"

#include <string.h>

enum { CORNERS = 8 };
const double turns_limit = 1e-12;
const char *const turns_word = NULL;
static struct box box;
static double *start, *x, *u, *r, *share;
static int *corners;

/* ---- by hand ---- */

struct element {
  const double *x[CORNERS], *u[CORNERS];
  double *r[CORNERS];
};

static inline struct element element_of(int e) {
  struct element made;
  for (int k = 0; k < CORNERS; k++) {
    const int node = corners[CORNERS * e + k];
    made.x[k] = x + 3 * node;
    made.u[k] = u + node;
    made.r[k] = r + node;
  }
  return made;
}

static void by_hand_range(int begin, int end) {
  for (int e = begin; e < end; e++) {
    struct element of = element_of(e);
    hexahedron(of.x, of.u, of.r);
  }
}

static void by_hand_atomic(int e) {
  struct element of = element_of(e);
  double sum[CORNERS] = {0}, *into[CORNERS];
  for (int k = 0; k < CORNERS; k++)
    into[k] = sum + k;
  hexahedron(of.x, of.u, into);
  for (int k = 0; k < CORNERS; k++) {
#pragma omp atomic
    *of.r[k] += sum[k];
  }
}

struct owners; /* by_hand.h */
static void by_hand_border(const struct owners *owners, int t, int e);

static void by_hand_nodes(int begin, int end) {
  for (int k = begin; k < end; k++)
    relax(share + k, r + k, u + k);
}

static void by_hand_begin(double *answer) {
  (void)answer;
  memcpy(u, start, (size_t)box.nodes * sizeof *u);
}

static void by_hand_end(double *answer) {
  memcpy(answer, u, (size_t)box.nodes * sizeof *u);
}

#include "by_hand.h"

static void by_hand_border(const struct owners *owners, int t, int e) {
  struct element of = element_of(e);
  double aside = 0;
  for (int k = 0; k < CORNERS; k++)
    if (!owners_has(owners, t, corners[CORNERS * e + k]))
      of.r[k] = &aside;
  hexahedron(of.x, of.u, of.r);
}

/* ---- by the library ---- */

static struct {
  op_set nodes, cells;
  op_map corners;
  op_dat x, u, r, share;
} field;

static void declare(void) {
  field.nodes = op_decl_set(box.nodes, "nodes");
  field.cells = op_decl_set(box.cells, "cells");
  field.corners = op_decl_map(field.cells, field.nodes, CORNERS, box.corners, "corners");
  field.x = op_decl_dat(field.nodes, 3, "double", box.x, "x");
  field.u = op_decl_dat(field.nodes, 1, "double", start, "u");
  field.r = op_decl_dat(field.nodes, 1, "double", NULL, "r");
  field.share = op_decl_dat(field.nodes, 1, "double", share, "share");
}

static void step(void) {
  op_par_loop(OP_KERNEL_FILE("fem_kernels.h", hexahedron), "hexahedron", field.cells,
              op_arg_dat(field.x, -CORNERS, field.corners, 3, "double", OP_READ),
              op_arg_dat(field.u, -CORNERS, field.corners, 1, "double", OP_READ),
              op_arg_dat(field.r, -CORNERS, field.corners, 1, "double", OP_INC));
  op_par_loop(OP_KERNEL_FILE("fem_kernels.h", relax), "relax", field.nodes,
              op_arg_dat(field.share, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(field.r, -1, OP_ID, 1, "double", OP_RW),
              op_arg_dat(field.u, -1, OP_ID, 1, "double", OP_RW));
}

long long turns_prepare(int size, int library) {
  box = box_make(size);
  start = box_field(&box);
  share = box_shares(&box);
  turns_bytes = box.cells * 32.0 + box.nodes * (24.0 + 8.0 + 16.0 + 8.0 + 16.0 + 16.0);
  if (library) {
    declare();
  } else {
    corners = touched_copy(box.corners, box.cells, CORNERS * sizeof *corners, 1);
    x = touched_copy(box.x, box.nodes, 3 * sizeof *x, 1);
    u = touched_zeros(box.nodes, sizeof *u, 1);
    r = touched_zeros(box.nodes, sizeof *r, 1);
    by_hand_make(box.cells, CORNERS, CORNERS, corners, box.nodes);
  }
  return box.nodes;
}

double turns_library(int steps, double *answer) {
  op_put_data(field.u, start);
  turns_bring(field.u, field.nodes);
  const double begin = clock_seconds();
  for (int s = 0; s < steps; s++)
    step();
  op_barrier(); /* runs what waits */
  const double seconds = (clock_seconds() - begin) / steps;
  op_fetch_data(field.u, answer);
  return seconds;
}
