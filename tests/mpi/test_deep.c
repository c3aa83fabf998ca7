/* Loops of ranks that run on copies of others' elements while they wait: half a step of airfoil sends its state alone, has
 * the bits of loops one by one, and takes new coordinates; by itself, too, in tiles, and with neighbours as one; and where a
 * loop of the step can share no copies with the others. What runs while messages travel is counted where the library sends
 * them, awaits them, and runs elements, which go through here (the linker's --wrap). */
#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#include "check.h"
#include "exec/executor.h"

enum { WIDTH = 24, HEIGHT = 16, CELLS = WIDTH * HEIGHT, NODES = (WIDTH + 1) * (HEIGHT + 1) };
enum { UPRIGHT = (WIDTH - 1) * HEIGHT, EDGES = UPRIGHT + WIDTH * (HEIGHT - 1), BORDER = 2 * WIDTH };
enum { STEPS = 24, HALVES = 2 * 2 * STEPS, MOST = 64 * CELLS };

static int rank, size;

/* ---- what runs while messages travel ---- */

struct op_context;
struct exchange;
struct error;
static bool travels;
static long long ahead, tiled,
    all; /* elements that ran while messages travelled, in tiles of several loops, and all */

int __real_exchange_start(struct op_context *ctx, struct exchange *x, struct error *err);
int __wrap_exchange_start(struct op_context *ctx, struct exchange *x, struct error *err);
int __real_exchange_finish(struct op_context *ctx, struct exchange *x, double *waited, struct error *err);
int __wrap_exchange_finish(struct op_context *ctx, struct exchange *x, double *waited, struct error *err);
void __real_executor_run(struct team *team, const struct execution *e);
void __wrap_executor_run(struct team *team, const struct execution *e);

int __wrap_exchange_start(struct op_context *ctx, struct exchange *x, struct error *err) {
  travels = true;
  return __real_exchange_start(ctx, x, err);
}

int __wrap_exchange_finish(struct op_context *ctx, struct exchange *x, double *waited, struct error *err) {
  travels = false;
  return __real_exchange_finish(ctx, x, waited, err);
}

void __wrap_executor_run(struct team *team, const struct execution *e) {
  for (int i = 0; i < e->schedule->nitems; i++) {
    const struct item *item = &e->schedule->items[i];
    all += item->end - item->begin;
    ahead += travels ? item->end - item->begin : 0;
    tiled += e->nworks > 1 ? item->end - item->begin : 0;
  }
  __real_executor_run(team, e);
}

/* ---- a rank that is late where pairs of ranks measure messages, and the last of three waits for them ---- */

static bool is_late;

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes) {
  if (is_late && count == 2 && bytes == 64)
    usleep(1300000);
  return __real_calloc(count, bytes);
}

/* ---- the program ---- */

static const char *const save =
    "void save(const double *q, double *old) { for (int i = 0; i < 3; i++) old[i] = q[i]; }";
static const char *const pace =
    "void pace(const double *x0, const double *x1, const double *x2, const double *x3, const double *q, "
    "double *t) {\n"
    "  const double a = (x2[0] - x0[0]) * (x3[1] - x1[1]) - (x2[1] - x0[1]) * (x3[0] - x1[0]);\n"
    "  *t = 0.3 * a / (1 + q[0] * q[0] + q[1] * 0.7);\n}";
static const char *const flux =
    "void flux(const double *x0, const double *x1, const double *a, const double *b, const double *s,\n"
    "          const double *t, double *ra, double *rb) {\n"
    "  const double l = (x1[0] - x0[0]) + 2 * (x1[1] - x0[1]), w = l / (*s + *t + 3);\n"
    "  for (int i = 0; i < 3; i++) {\n    const double f = w * (a[i] - b[i]) / 3;\n"
    "    ra[i] -= f;\n    rb[i] += f;\n  }\n}";
static const char *const wall =
    "void wall(const double *x0, const double *x1, const double *q, const double *t, double *r) {\n"
    "  for (int i = 0; i < 3; i++) r[i] += (x1[0] - x0[0]) * *t * q[i] / 7;\n}";
static const char *const update =
    "void update(const double *old, double *q, double *r, const double *t, double *sum) {\n"
    "  for (int i = 0; i < 3; i++) {\n    const double d = *t * r[i] / 5;\n    q[i] = old[i] + d;\n    r[i] "
    "= 0;\n"
    "    *sum += d * d;\n  }\n}";

static const char *const trim = "void trim(double *q, const double *old) { for (int i = 0; i < 3; i++) q[i] "
                                "= 0.75 * q[i] + old[i] / 4; }";

struct mesh {
  op_set cells, edges, border, nodes, some;
  op_map pcell, pecell, pedge, pbcell, pbedge;
  op_dat x, q, old, t, r;
  op_gbl sum;
  int nnodes, firstnode;
};

static int begin_of(int all, int r) {
  return (int)((long)all * r / size);
}

static int node(int cell, int corner) {
  static const int right[4] = {0, 1, 1, 0}, up[4] = {0, 0, 1, 1};
  return (cell / WIDTH + up[corner]) * (WIDTH + 1) + cell % WIDTH + right[corner];
}

static void coordinates(double *x, int first, int count, double shift) {
  for (int i = 0; i < count; i++) {
    const int n = first + i;
    x[2 * i] = n % (WIDTH + 1) + 0.01 * ((n * 7) % 11) + shift * sin(n);
    x[2 * i + 1] = n / (WIDTH + 1) + 0.01 * ((n * 5) % 13);
  }
}

static void edge_row(int e, int cells[2], int nodes[2]) {
  if (e < UPRIGHT) {
    cells[0] = e / (WIDTH - 1) * WIDTH + e % (WIDTH - 1);
    cells[1] = cells[0] + 1;
    nodes[0] = node(cells[0], 1);
    nodes[1] = node(cells[0], 2);
  } else {
    cells[0] = e - UPRIGHT;
    cells[1] = cells[0] + WIDTH;
    nodes[0] = node(cells[0], 3);
    nodes[1] = node(cells[0], 2);
  }
}

/* Each rank has its blocks, and rcb deals them out anew. */
static void declare(struct mesh *m) {
  static int pcell[4 * CELLS], pecell[2 * EDGES], pedge[2 * EDGES], pbcell[BORDER], pbedge[2 * BORDER];
  static double x[2 * NODES], q[3 * CELLS], centre[2 * CELLS];
  static int third[CELLS];
  const int c0 = begin_of(CELLS, rank), c1 = begin_of(CELLS, rank + 1), e0 = begin_of(EDGES, rank),
            e1 = begin_of(EDGES, rank + 1), b0 = begin_of(BORDER, rank), b1 = begin_of(BORDER, rank + 1);
  m->firstnode = begin_of(NODES, rank);
  m->nnodes = begin_of(NODES, rank + 1) - m->firstnode;
  for (int c = 0; c < c1 - c0; c++)
    third[c / 3] = c;
  for (int c = c0; c < c1; c++)
    for (int k = 0; k < 4; k++) {
      pcell[4 * (c - c0) + k] = node(c, k);
      centre[2 * (c - c0) + k % 2] = k % 2 ? c / WIDTH : c % WIDTH;
      if (k < 3)
        q[3 * (c - c0) + k] = 1 + 0.1 * sin(c + k);
    }
  for (int e = e0; e < e1; e++)
    edge_row(e, pecell + 2 * (e - e0), pedge + 2 * (e - e0));
  for (int b = b0; b < b1; b++) {
    const int cell = b < WIDTH ? b : (HEIGHT - 1) * WIDTH + b - WIDTH;
    pbcell[b - b0] = cell;
    pbedge[2 * (b - b0)] = node(cell, b < WIDTH ? 0 : 3);
    pbedge[2 * (b - b0) + 1] = node(cell, b < WIDTH ? 1 : 2);
  }
  coordinates(x, m->firstnode, m->nnodes, 0);
  m->cells = op_decl_set(c1 - c0, "cells");
  m->edges = op_decl_set(e1 - e0, "edges");
  m->border = op_decl_set(b1 - b0, "border");
  m->some = op_decl_subset(m->cells, (c1 - c0) / 3, third, "some");
  m->nodes = op_decl_set(m->nnodes, "nodes");
  m->pcell = op_decl_map(m->cells, m->nodes, 4, pcell, "pcell");
  m->pecell = op_decl_map(m->edges, m->cells, 2, pecell, "pecell");
  m->pedge = op_decl_map(m->edges, m->nodes, 2, pedge, "pedge");
  m->pbcell = op_decl_map(m->border, m->cells, 1, pbcell, "pbcell");
  m->pbedge = op_decl_map(m->border, m->nodes, 2, pbedge, "pbedge");
  m->x = op_decl_dat(m->nodes, 2, size % 2 ? "double" : "double:soa", x, "x");
  m->q = op_decl_dat(m->cells, 3, "double", q, "q");
  m->old = op_decl_dat(m->cells, 3, "double", NULL, "old");
  m->t = op_decl_dat(m->cells, 1, "double", NULL, "t");
  m->r = op_decl_dat(m->cells, 3, size % 2 ? "double:soa" : "double", NULL, "r");
  m->sum = op_decl_gbl(1, "double", NULL, "sum");
  const op_dat where = op_decl_dat(m->cells, 2, "double", centre, "where");
  check(m->pbedge && m->r && m->sum && op_partition("rcb", "", m->cells, NULL, where) == OP_OK);
}

static op_arg own(op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, dim, "double", access);
}
static op_arg far(op_dat dat, int i, op_map map, int dim, op_access access) {
  return op_arg_dat(dat, i, map, dim, "double", access);
}

static int half_step(const struct mesh *m) {
  int code = op_par_loop(pace, "pace", m->cells, far(m->x, 0, m->pcell, 2, OP_READ),
                         far(m->x, 1, m->pcell, 2, OP_READ), far(m->x, 2, m->pcell, 2, OP_READ),
                         far(m->x, 3, m->pcell, 2, OP_READ), own(m->q, 3, OP_READ), own(m->t, 1, OP_WRITE));
  code |= op_par_loop(flux, "flux", m->edges, far(m->x, 0, m->pedge, 2, OP_READ),
                      far(m->x, 1, m->pedge, 2, OP_READ), far(m->q, 0, m->pecell, 3, OP_READ),
                      far(m->q, 1, m->pecell, 3, OP_READ), far(m->t, 0, m->pecell, 1, OP_READ),
                      far(m->t, 1, m->pecell, 1, OP_READ), far(m->r, 0, m->pecell, 3, OP_INC),
                      far(m->r, 1, m->pecell, 3, OP_INC));
  code |= op_par_loop(wall, "wall", m->border, far(m->x, 0, m->pbedge, 2, OP_READ),
                      far(m->x, 1, m->pbedge, 2, OP_READ), far(m->q, 0, m->pbcell, 3, OP_READ),
                      far(m->t, 0, m->pbcell, 1, OP_READ), far(m->r, 0, m->pbcell, 3, OP_INC));
  return code | op_par_loop(update, "update", m->cells, own(m->old, 3, OP_READ), own(m->q, 3, OP_WRITE),
                            own(m->r, 3, OP_RW), own(m->t, 1, OP_READ), op_arg_global(m->sum, OP_INC));
}

static int step(const struct mesh *m, bool trims) {
  int code = op_par_loop(save, "save", m->cells, own(m->q, 3, OP_READ), own(m->old, 3, OP_WRITE));
  code |= half_step(m);
  code |= half_step(m);
  if (trims)
    code |= op_par_loop(trim, "trim", m->some, own(m->q, 3, OP_RW), own(m->old, 3, OP_READ));
  return code;
}

struct outcome {
  double q[3 * CELLS], sum;
  long long exchanges, messages, bytes, tiled, fused;
  long long usual,
      moved; /* exchanges of one step that the program looks at, and of one behind new coordinates */
};

static long long look_at_step(const struct mesh *m, bool trims) {
  static double q[3 * CELLS];
  const long long before = op_counters()->exchanges;
  check(step(m, trims) == OP_OK && op_fetch_data(m->q, q) == OP_OK);
  return op_counters()->exchanges - before;
}

/* Twice, with other coordinates the second time; what travels is counted in the last steps. */
static void run(const struct mesh *m, bool trims, struct outcome *o) {
  static double x[2 * NODES];
  const double zero = 0;
  for (int turn = 0; turn < 2; turn++) {
    coordinates(x, m->firstnode, m->nnodes, 0.05 * turn);
    check(op_put_data(m->x, x) == OP_OK && op_put_gbl(m->sum, &zero) == OP_OK);
    op_counters_t before = {0};
    for (int s = 0; s < STEPS; s++) {
      if (s == STEPS / 2) {
        check(op_fetch_data(m->q, o->q) == OP_OK);
        before = *op_counters();
      }
      check(step(m, trims) == OP_OK);
    }
    check(op_fetch_data(m->q, o->q) == OP_OK && op_get_gbl(m->sum, &o->sum) == OP_OK);
    o->exchanges = op_counters()->exchanges - before.exchanges;
    o->messages = op_counters()->messages - before.messages;
    o->bytes = op_counters()->bytes_sent - before.bytes_sent;
    o->tiled = op_counters()->tiled;
    o->fused = op_counters()->fused;
  }
  for (int i = 0; i < 3; i++)
    o->usual = look_at_step(m, trims);
  coordinates(x, m->firstnode, m->nnodes, 0.02);
  check(op_put_data(m->x, x) == OP_OK);
  o->moved = look_at_step(m, trims);
}

/* To rounding: copies are added up in another order. */
static bool are_near(const double *a, const double *b) {
  bool near = true;
  for (int i = 0; i < 3 * CELLS; i++)
    near &= fabs(a[i] - b[i]) <= 1e-12 * (1 + fabs(b[i]));
  return near;
}

/* The report on it. */
static bool says(const char *words) {
  static char report[1 << 18];
  check(op_report_json(report, sizeof report) == OP_OK);
  return strstr(report, words) != NULL;
}

int main(int argc, char **argv) {
  static const struct {
    const char *lazy, *more, *fuse;
    bool waits, tiles, trims;
    int layers; /* 0: 1, as by default */
  } ways[] = {{"OP2_LAZY=off", "OP2_TUNE=off", "OP2_FUSE=off", false, false, false, 0},
              {"OP2_LAZY=on", "OP2_TUNE=off", "OP2_FUSE=off", true, false, false, 0},
              {"OP2_LAZY=auto", "OP2_TUNE=off", "OP2_FUSE=off", true, false, false, 0},
              {"OP2_LAZY=check", "OP2_TUNE=off", "OP2_FUSE=off", false, false, false, 0},
              {"OP2_LAZY=on", "OP2_TILES=2000", "OP2_FUSE=off", true, true, false, 0},
              {"OP2_LAZY=check", "OP2_TILES=2000", "OP2_FUSE=off", false, true, false, 0},
              {"OP2_LAZY=on", "OP2_TUNE=off", "OP2_FUSE=on", true, false, false, 0},
              {"OP2_LAZY=on", "OP2_TILES=2000", "OP2_FUSE=auto", true, true, false, 0},
              {"OP2_LAZY=on", "OP2_TILES=2000", "OP2_FP=fast", true, true, false, 0},
              {"OP2_LAZY=on", "OP2_LAYERS=2", "OP2_FUSE=off", true, false, false, 2},
              {"OP2_LAZY=auto", "OP2_LAYERS=4", "OP2_FUSE=off", true, false, false, 4},
              {"OP2_LAZY=off", "OP2_TUNE=off", "OP2_FUSE=off", false, false, true, 0},
              {"OP2_LAZY=on", "OP2_TUNE=off", "OP2_FUSE=off", true, false, true, 0},
              {"OP2_LAZY=auto", "OP2_TILES=2000", "OP2_FUSE=off", true, true, true, 0}};
  static struct outcome first, o;
  long long apart = 0; /* elements that ran in tiles, but each loop by itself */
  check(argc > 1 && argc < 12);
  size = atoi(argv[1]);
  setenv("OP2_FUSE", "off", 1);
  setenv("OP2_HANG", "1", 1); /* ranks ask after a second whether they wait for each other */
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    char *more[16];
    struct mesh m = {0};
    memcpy(more, argv, (size_t)argc * sizeof *argv);
    more[argc] = strdup(ways[w].lazy);
    more[argc + 1] = strdup(ways[w].more);
    more[argc + 2] = strdup(ways[w].fuse);
    const bool begins = !w || ways[w].trims != ways[w - 1].trims;
    check(op_init(argc + 3, more, 0) == OP_OK);
    rank = op_rank();
    declare(&m);
    ahead = tiled = all = 0;
    is_late = rank == 1 && size == 3 && ways[w].layers == 2;
    run(&m, ways[w].trims, begins ? &first : &o);
    /* A loop over a subset ends chains; the others wait as they did. */
    check(size == 1 || says("\"chain_ends\"") == (ways[w].trims && ways[w].waits));
    /* In layers it exchanges less often than it would in one, and by what was measured of messages that saves time or not. */
    const bool layers = size > 1 && ways[w].layers;
    check(layers == says("\"exchanges_of_one\":") && !says("\"gain_seconds\":0}"));
    check(op_exit() == OP_OK);
    if (begins)
      continue;
    /* Without tuning neighbours are one at once, as in one process. */
    const bool fuses = strcmp(ways[w].fuse, "OP2_FUSE=on") == 0 || strcmp(ways[w].fuse, "OP2_FUSE=auto") == 0;
    check((o.fused > 0) == fuses || size == 1);
    const bool rounds = ways[w].layers || strcmp(ways[w].fuse, "OP2_FP=fast") == 0;
    check(rounds ? are_near(o.q, first.q) : memcmp(o.q, first.q, sizeof o.q) == 0);
    check(ways[w].tiles || ways[w].layers ? fabs(o.sum - first.sum) <= 1e-12 * fabs(first.sum)
                                          : memcmp(&o.sum, &first.sum, sizeof o.sum) == 0);
    check(!ways[w].tiles || size == 1 || o.tiled > 0);
    /* Most of half a step needs no message, though the loop that waits is the first or second one; and tiles are cut across
     * more than half a step, of which these few cells leave little. */
    if (ways[w].waits && !ways[w].trims && !ways[w].layers && size > 1 && size <= 4) {
      if (getenv("SAY"))
        fprintf(stderr, "%zu rank %d: %lld of %lld elements ahead, %lld in tiles, which run %lld times\n", w,
                rank, ahead, all, tiled, o.tiled);
      check(ways[w].tiles || 2 * ahead > all);
      check(!ways[w].tiles || 3 * o.tiled <= 2 * HALVES);
      /* All but some columns of cells beside the other rank run in them, while messages travel: cells are numbered inwards. */
      check(!ways[w].tiles || size > 2 || (all - ahead <= 15000 && all - tiled <= 15000));
    }
    if (!ways[w].waits || size == 1)
      continue;
    if (ways[w].layers) { /* the first step is in one layer */
      check(ways[w].layers * o.exchanges < first.exchanges + 4 * ways[w].layers);
      /* Coordinates, which no loop changes, travel with the state. */
      check(strcmp(ways[w].lazy, "OP2_LAZY=on") != 0 || o.moved == o.usual);
      continue;
    }
    /* The state in place of state and pace. */
    if (getenv("SAY"))
      fprintf(stderr, "%zu rank %d: exchanges %lld %lld messages %lld %lld bytes %lld %lld\n", w, rank,
              first.exchanges, o.exchanges, first.messages, o.messages, first.bytes, o.bytes);
    const bool across = ways[w].tiles && fuses;
    enum { HEADER = 16 }; /* bytes before each message, by which ranks that differ are found */
    check(o.exchanges == first.exchanges && o.messages <= first.messages &&
          (across ? o.bytes <= first.bytes + HEADER * o.messages : 10 * o.bytes < 9 * first.bytes));
    /* In tiles update runs with what comes behind the exchange: save and pace, whose outcome travels, too. */
    check(!across || size > 4 || 10 * all < 8 * apart);
    apart = ways[w].tiles && !across ? all : apart;
  }
  return 0;
}
