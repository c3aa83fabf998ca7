/* Loops of each kind in which order could show, with numbers that are rounded everywhere; at the end one hash of all dats and
 * globals, in the program's order. The first rank declares everything.
 *
 *   bits [size=N] [steps=N] [shuffled] [renumber] [partition=LIBRARY] [meets] [drops] [OP2_...=...]
 *
 * shuffled: elements are numbered by chance. meets: with loops whose elements meet in what they write. drops: the hash of one
 * that adds otherwise, which must be another. */
#include <math.h>
#include <op2jit.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int side = 60, steps = 6;
static bool shuffled, renumber, meets, drops;
static const char *partition;

static const char *const area =
    "void area(const double *x[4], const double *q, double *t) {\n"
    "  const double a = (x[2][0] - x[0][0]) * (x[3][1] - x[1][1]) - (x[2][1] - x[0][1]) * (x[3][0] - "
    "x[1][0]);\n"
    "  *t = sqrt(fabs(a)) / (1.3 + q[0] * q[0] + exp(-q[1]) * 0.7 + sin(q[2]));\n}";
static const char *const flux =
    "void flux(const double *x0, const double *x1, const double *a, const double *b, const double *s,\n"
    "          const double *t, double *ra, double *rb) {\n"
    "  const double l = (x1[0] - x0[0]) * 1.1 + 2 * (x1[1] - x0[1]), w = l / (*s + *t + 3);\n"
    "  for (int i = 0; i < 3; i++) {\n    const double f = a[i] * b[i] / 3;\n"
    "    ra[i] -= f * w;\n    ra[i] += 0.1 * l * *s;\n    rb[i] += f * w + 0.01 * *t;\n  }\n}";
static const char *const nodal = "void nodal(const double *q, const double *t, float *m[4]) {\n"
                                 "  for (int k = 0; k < 4; k++) { m[k][0] += (float)(q[0] * *t) * (1 + k); "
                                 "m[k][1] += (float)(q[k % 3] / 3); }\n}";
static const char *const update = "void update(double *q, double *r, const double *t, double *sum, float "
                                  "*narrow, double *least, double *most) {\n"
                                  "  for (int i = 0; i < 3; i++) {\n    const double d = *t * r[i] / 5;\n    "
                                  "q[i] = 0.9 * q[i] + 0.01 * d;\n"
                                  "    r[i] *= 0.25;\n    sum[0] += d * d;\n    sum[1] += d * 1e-9 - q[i] * "
                                  "1e7;\n    *narrow += (float)d;\n  }\n"
                                  "  if (q[0] < *least) *least = q[0];\n  *most = fmax(*most, q[1] * *t);\n}";
static const char *const bounds =
    "void bounds(const double *q, double *low, double *high) {\n"
    "  low[0] = fmin(low[0], q[0]);\n  high[0] = fmax(high[0], q[1] - q[2]);\n}";
static const char *const first = /* zeros of both signs */
    "void first(const double *q, const int *number, double *zero, int *who, double *tie) {\n"
    "  const double z = q[0] * 0;\n  if (z < *zero) {\n    *zero = z;\n    *who = *number;\n  }\n"
    "  *tie = z <= *tie ? z : *tie;\n}";
/* Sums of values far from all that came before: one is gone with the next one of its lane, one is all that is left. */
static const char *const spikes =
    "void spikes(const double *q, const int *number, double *sum) {\n"
    "  const double far = *number % 600 == 500 ? 0x1p20 : *number % 600 == 532 ? -0x1p20 : 0;\n"
    "  sum[0] += far + (far == 0) * q[0];\n"
    "  sum[1] += *number % 700 == 600  ? q[0] * 0x1p-60\n"
    "            : *number % 700 < 600 ? 1.25 - 2.5 * (*number % 2)\n"
    "                                  : 0;\n}";
/* The rest of whole numbers lies on one side. */
static const char *const lean = "void lean(const int *number, double *t, double *sum) {\n"
                                "  const double whole = *number % 8 < 4 ? 1 : -1;\n"
                                "  *t = whole;\n  *sum += whole + (0x1p-43 - 0x1p-52);\n}";
static const char *const both = "void both(const float *m, const double *x, double *r, double *sum) {\n"
                                "  *r += m[0] * x[0] * 1e-3 + 1.0 / 3;\n  *sum += m[1] * 1.7 + x[1];\n}";
static const char *const shares = "void shares(const double *a, const double *b, double *r, double *s) {\n"
                                  "  r[0] += *a * 0.3 - *b;\n  s[0] += *b * 1.1 + *a * *a;\n}";
static const char *const walk = "void walk(const double *t, double *w) { w[0] = w[0] * 0.7 + *t * 0.3; }";
static const char *const tread = /* its elements meet, and it has results of each kind */
    "void tread(const double *v, const int *number, double *w, double *sum, float *narrow, double *least, "
    "double *most,\n"
    "           int *count, float *lowest, int *where) {\n"
    "  const double now = *w * 0.6 + *v * 0.4;\n  *w = now;\n  *sum += now * now / 3;\n  *narrow += "
    "(float)now;\n"
    "  *least = fmin(*least, now);\n  if (now * 0 > *most) *most = now * 0;\n  *count += now > 0.1;\n"
    "  if ((float)now < *lowest) {\n    *lowest = (float)now;\n    *where = *number;\n  }\n}";
static const char *const mark = /* who comes last leaves its mark */
    "void mark(const double *x, double *g, double *sum, int *count) {\n"
    "  *g = x[0] * 1.7 + x[1];\n  *sum += x[0] * x[1];\n  *count += 1;\n}";
static const char *const fan = "void fan(const double *q, int n, double **to) {\n"
                               "  for (int k = 0; k < n; k++) OP_ROW(to, k)[0] += q[0] * 0.3 + k * q[1];\n}";

/* ---- numbers by chance ---- */

static uint64_t state = 88172645463325252u;
static int below(int n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int)(state % (uint64_t)n);
}
static double some(void) {
  return below(1 << 30) / (double)(1 << 29) - 1 + 1e-7 * below(1000);
}

static int *numbers(int n) {
  int *list = malloc((size_t)(n + 1) * sizeof *list);
  for (int i = 0; i < n; i++)
    list[i] = i;
  for (int i = n - 1; shuffled && i > 0; i--) {
    const int k = below(i + 1), kept = list[i];
    list[i] = list[k];
    list[k] = kept;
  }
  return list;
}

/* ---- the mesh ---- */

static double sums[2], least = 1e30, most = -1e30, zero = 1, tie, spiked[2], leaned, other;
static double trod[3] = {0, 1e30, -1}, marked;
static int who = -1, counts[2], where = -1;
static float narrow, narrow_trod, lowest = 1e30f;
static op_gbl kept; /* with ranks it comes late */

struct mesh {
  op_set cells, edges, nodes, some, walkers;
  op_map cell, edge, ends, fans, walk;
  op_dat x, q, t, r, m, low, high, w, v, g;
};

static int *cell_of, *node_of, *edge_of; /* the number of each */

static void row_of_edge(int e, int cells[2], int nodes[2]) {
  const int upright = (side - 1) * side;
  const int c = e < upright ? e / (side - 1) * side + e % (side - 1) : e - upright;
  const int corner = c / side * (side + 1) + c % side;
  cells[0] = cell_of[c];
  cells[1] = cell_of[e < upright ? c + 1 : c + side];
  nodes[0] = node_of[e < upright ? corner + 1 : corner + side + 1];
  nodes[1] = node_of[corner + side + 2];
}

static void *filled(int n, size_t size, bool zero) {
  double *values = calloc((size_t)(n + 1), sizeof *values);
  for (int i = 0; i < n && !zero; i++)
    values[i] = some();
  for (int i = 0; i < n && size == sizeof(float); i++)
    ((float *)(void *)values)[i] = 0;
  return values;
}

static op_dat data(op_set set, int n, int dim, const char *type, bool zero, const char *name) {
  void *values = filled(n * dim, type[0] == 'f' ? sizeof(float) : sizeof(double), zero);
  const op_dat dat = op_decl_dat(set, dim, type, values, name);
  free(values);
  return dat;
}

/* Several come to most nodes, each to one: with ranks they are where their node is. */
static void declare_walkers(struct mesh *m) {
  const int nnodes = (side + 1) * (side + 1), n = 3 * nnodes;
  int *at = malloc((size_t)n * sizeof *at);
  for (int i = 0; i < n; i++)
    at[i] = below(nnodes);
  m->walkers = op_decl_set(op_is_root() ? n : 0, "walkers");
  m->walk = op_decl_map(m->walkers, m->nodes, 1, at, "walk");
  m->v = data(m->walkers, n, 1, "double", false, "v");
  m->g = data(m->cells, side * side, 1, "double", true, "g");
  free(at);
}

static void declare(struct mesh *m) {
  const bool first = op_is_root();
  const int ncells = side * side, nnodes = (side + 1) * (side + 1), nedges = 2 * side * (side - 1);
  int *pcell = malloc((size_t)ncells * 4 * sizeof(int)), *pedge = malloc((size_t)nedges * 2 * sizeof(int)),
      *pends = malloc((size_t)nedges * 2 * sizeof(int)), *chosen = malloc((size_t)ncells * sizeof(int));
  double *x = malloc((size_t)nnodes * 2 * sizeof *x);
  cell_of = numbers(ncells);
  node_of = numbers(nnodes);
  edge_of = numbers(nedges);
  for (int c = 0; c < ncells; c++)
    for (int k = 0; k < 4; k++) {
      static const int right[4] = {0, 1, 1, 0}, up[4] = {0, 0, 1, 1};
      pcell[4 * cell_of[c] + k] = node_of[(c / side + up[k]) * (side + 1) + c % side + right[k]];
      chosen[c / 3] = c;
    }
  for (int e = 0; e < nedges; e++)
    row_of_edge(e, pedge + 2 * edge_of[e], pends + 2 * edge_of[e]);
  for (int n = 0; n < nnodes; n++) {
    x[2 * node_of[n]] = n % (side + 1) + 0.2 * some();
    x[2 * node_of[n] + 1] = n / (side + 1) + 0.2 * some();
  }
  /* Each has one target to six. */
  long long *begins = calloc((size_t)ncells + 1, sizeof *begins);
  int *reached = malloc((size_t)ncells * 6 * sizeof *reached);
  for (int c = 0; c < ncells; c++) {
    begins[c + 1] = begins[c] + 1 + c % 6;
    for (long long k = begins[c]; k < begins[c + 1]; k++)
      reached[k] = k % 3 ? below(nnodes) : pcell[4 * c + k % 4];
  }
  m->cells = op_decl_set(first ? ncells : 0, "cells");
  m->edges = op_decl_set(first ? nedges : 0, "edges");
  m->nodes = op_decl_set(first ? nnodes : 0, "nodes");
  m->some = op_decl_subset(m->cells, first ? ncells / 3 : 0, chosen, "some");
  m->cell = op_decl_map(m->cells, m->nodes, 4, pcell, "cell");
  m->edge = op_decl_map(m->edges, m->cells, 2, pedge, "edge");
  m->ends = op_decl_map(m->edges, m->nodes, 2, pends, "ends");
  m->fans = op_decl_map_ragged(m->cells, m->nodes, begins, reached, "fans");
  m->x = op_decl_dat(m->nodes, 2, "double", x, "x");
  m->q = data(m->cells, ncells, 3, "double", false, "q");
  m->t = data(m->cells, ncells, 1, "double", false, "t");
  m->r = data(m->cells, ncells, 3, "double", true, "r");
  m->m = data(m->nodes, nnodes, 2, "float", true, "m");
  m->low = data(m->nodes, nnodes, 1, "double", false, "low");
  m->high = data(m->nodes, nnodes, 1, "double", false, "high");
  kept = op_decl_gbl(1, "double", &other, "kept");
  m->w = data(m->nodes, nnodes, 1, "double", false, "w");
  if (meets)
    declare_walkers(m);
  free(pcell);
  free(pedge);
  free(pends);
  free(chosen);
  free(x);
  free(begins);
  free(reached);
}

/* ---- loops ---- */

static op_arg own(op_dat dat, int dim, const char *type, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, dim, type, access);
}
static op_arg far(op_dat dat, int i, op_map map, int dim, const char *type, op_access access) {
  return op_arg_dat(dat, i, map, dim, type, access);
}

static void meet(const struct mesh *m) {
  op_par_loop(walk, "walk", m->cells, own(m->t, 1, "double", OP_READ),
              op_arg_may_meet(far(m->w, 1, m->cell, 1, "double", OP_RW)));
  op_par_loop(tread, "tread", m->walkers, own(m->v, 1, "double", OP_READ), op_arg_idx(-1, OP_ID),
              op_arg_may_meet(far(m->w, 0, m->walk, 1, "double", OP_RW)),
              op_arg_gbl(&trod[0], 1, "double", OP_INC), op_arg_gbl(&narrow_trod, 1, "float", OP_INC),
              op_arg_gbl(&trod[1], 1, "double", OP_MIN), op_arg_gbl(&trod[2], 1, "double", OP_MAX),
              op_arg_gbl(&counts[0], 1, "int", OP_INC), op_arg_gbl(&lowest, 1, "float", OP_MIN),
              op_arg_info(&where, 1, "int", 9));
  op_par_loop(mark, "mark", m->edges, far(m->x, 0, m->ends, 2, "double", OP_READ),
              op_arg_may_meet(far(m->g, 0, m->edge, 1, "double", OP_WRITE)),
              op_arg_gbl(&marked, 1, "double", OP_INC), op_arg_gbl(&counts[1], 1, "int", OP_INC));
}

static void step(const struct mesh *m) {
  op_par_loop(lean, "lean", m->cells, op_arg_idx(-1, OP_ID), own(m->t, 1, "double", OP_WRITE),
              op_arg_gbl(&leaned, 1, "double", OP_INC));
  op_par_loop(area, "area", m->cells, far(m->x, -4, m->cell, 2, "double", OP_READ),
              own(m->q, 3, "double", OP_READ), own(m->t, 1, "double", OP_WRITE));
  op_par_loop(flux, "flux", m->edges, far(m->x, 0, m->ends, 2, "double", OP_READ),
              far(m->x, 1, m->ends, 2, "double", OP_READ), far(m->q, 0, m->edge, 3, "double", OP_READ),
              far(m->q, 1, m->edge, 3, "double", OP_READ), far(m->t, 0, m->edge, 1, "double", OP_READ),
              far(m->t, 1, m->edge, 1, "double", OP_READ), far(m->r, 0, m->edge, 3, "double", OP_INC),
              far(m->r, 1, m->edge, 3, "double", OP_INC));
  op_par_loop(nodal, "nodal", m->cells, own(m->q, 3, "double", OP_READ), own(m->t, 1, "double", OP_READ),
              far(m->m, -4, m->cell, 2, "float", OP_INC));
  op_par_loop(bounds, "bounds", m->cells, own(m->q, 3, "double", OP_READ),
              far(m->low, 1, m->cell, 1, "double", OP_MIN), far(m->high, 2, m->cell, 1, "double", OP_MAX));
  op_par_loop(first, "first", m->cells, own(m->q, 3, "double", OP_READ), op_arg_idx(-1, OP_ID),
              op_arg_gbl(&zero, 1, "double", OP_MIN), op_arg_info(&who, 1, "int", 3),
              op_arg_gbl(&tie, 1, "double", OP_MIN));
  op_par_loop(spikes, "spikes", m->cells, own(m->q, 3, "double", OP_READ), op_arg_idx(-1, OP_ID),
              op_arg_gbl(spiked, 2, "double", OP_INC));
  op_par_loop(shares, "shares", m->some, own(m->t, 1, "double", OP_READ),
              far(m->x, 3, m->cell, 2, "double", OP_READ), far(m->w, 0, m->cell, 1, "double", OP_INC),
              far(m->w, 2, m->cell, 1, "double", OP_INC));
  op_par_loop(fan, "fan", m->cells, own(m->q, 3, "double", OP_READ),
              far(m->w, OP_ALL, m->fans, 1, "double", OP_INC));
  if (meets)
    meet(m);
  op_par_loop(both, "both", m->nodes, own(m->m, 2, "float", OP_READ), own(m->x, 2, "double", OP_READ),
              own(m->w, 1, "double", OP_INC), op_arg_global(kept, OP_INC));
  op_par_loop(update, "update", m->cells, own(m->q, 3, "double", OP_RW), own(m->r, 3, "double", OP_RW),
              own(m->t, 1, "double", OP_READ), op_arg_gbl(sums, 2, "double", OP_INC),
              op_arg_gbl(&narrow, 1, "float", OP_INC), op_arg_gbl(&least, 1, "double", OP_MIN),
              op_arg_gbl(&most, 1, "double", OP_MAX));
}

/* ---- the hash ---- */

static uint64_t hash = 14695981039346656037u;
static bool shows;

static void add(const char *name, const void *values, size_t bytes) {
  const unsigned char *p = values;
  uint64_t own = 14695981039346656037u;
  for (size_t i = 0; i < bytes; i++)
    own = (own ^ p[i]) * 1099511628211u;
  hash = (hash ^ own) * 1099511628211u;
  if (shows && op_is_root())
    printf("  %-6s %016llx\n", name, (unsigned long long)own);
}

static void add_dat(op_dat dat, int n, int dim, size_t size, const char *name) {
  void *values = calloc((size_t)(n * dim + 1), size);
  op_fetch_data(dat, values);
  add(name, values, op_is_root() ? (size_t)(n * dim) * size : 0);
  free(values);
}

static void add_all(const struct mesh *m) {
  const int ncells = side * side, nnodes = (side + 1) * (side + 1);
  add_dat(m->q, ncells, 3, sizeof(double), "q");
  add_dat(m->t, ncells, 1, sizeof(double), "t");
  add_dat(m->r, ncells, 3, sizeof(double), "r");
  add_dat(m->m, nnodes, 2, sizeof(float), "m");
  add_dat(m->low, nnodes, 1, sizeof(double), "low");
  add_dat(m->high, nnodes, 1, sizeof(double), "high");
  add_dat(m->w, nnodes, 1, sizeof(double), "w");
  if (meets)
    add_dat(m->g, ncells, 1, sizeof(double), "g");
  add("sums", sums, sizeof sums);
  add("narrow", &narrow, sizeof narrow);
  add("least", &least, sizeof least);
  add("most", &most, sizeof most);
  add("zero", &zero, sizeof zero);
  add("who", &who, sizeof who);
  add("tie", &tie, sizeof tie);
  add("spiked", spiked, sizeof spiked);
  add("leaned", &leaned, sizeof leaned);
  op_get_gbl(kept, &other);
  add("other", &other, sizeof other);
  add("trod", trod, sizeof trod);
  add("narrow", &narrow_trod, sizeof narrow_trod);
  add("lowest", &lowest, sizeof lowest);
  add("where", &where, sizeof where);
  add("marked", &marked, sizeof marked);
  add("counts", counts, sizeof counts);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    shuffled |= !strcmp(argv[i], "shuffled");
    renumber |= !strcmp(argv[i], "renumber");
    meets |= !strcmp(argv[i], "meets");
    drops |= !strcmp(argv[i], "drops");
    shows |= !strcmp(argv[i], "shows");
    if (!strncmp(argv[i], "partition=", 10))
      partition = argv[i] + 10;
    if (!strncmp(argv[i], "size=", 5))
      side = atoi(argv[i] + 5);
    if (!strncmp(argv[i], "steps=", 6))
      steps = atoi(argv[i] + 6);
  }
  struct mesh m;
  op_init(argc, argv, 0);
  declare(&m);
  if (partition)
    op_partition(partition, "", m.nodes, m.cell, m.x);
  if (renumber)
    op_renumber(m.edge);
  for (int i = 0; i < steps; i++)
    step(&m);
  if (drops)
    sums[0] = nextafter(sums[0], 0);
  add_all(&m);
  if (op_is_root())
    printf("bits %016llx\n", (unsigned long long)hash);
  return op_exit() != OP_OK;
}
