/* Random programs on ranks: chains of loops over random meshes, with what of them waits and runs on copies, have the bits of
 * their loops one by one: with OP2_LAZY=on, auto and check, and in tiles. */
#include <stdbool.h>

#include "check.h"

enum { SETS = 3, MAPS = 5, DATS = 8, LOOPS = 9, SIZE = 160, TURNS = 5 };

static int rank, size;
static unsigned long long state;

static int draw(int below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (unsigned)below);
}

static const char *const assign = "void assign(const double *a, double *b) { *b = 0.5 * *a + 0.3; }";
static const char *const change = "void change(const double *a, double *b) { *b = 0.25 * *b - *a / 3; }";
static const char *const spread =
    "void spread(const double *a0, const double *a1, double *b0, double *b1) {\n"
    "  const double f = (*a0 - *a1) / 7;\n  *b0 += f;\n  *b1 -= 0.5 * f;\n}";
static const char *const collect =
    "void collect(const double *a0, const double *a1, double *b) { *b = *a0 / 3 - 0.2 * *a1; }";
static const char *const add =
    "void add(const double *a, const double *c0, double *b0) { *b0 += *a / 5 - *c0 / 9; }";

enum kind { ASSIGN, CHANGE, SPREAD, COLLECT, ADD, TRIM, KINDS };

/* What all ranks draw alike. */
struct program {
  int sizes[SETS], from[MAPS], to[MAPS], set_of[DATS];
  int shape[MAPS]; /* how far targets are */
  struct {
    enum kind kind;
    int map, a, b, c;
  } loops[LOOPS];
  int nloops;
};

static int dat_on(const struct program *p, int set, int but) {
  int dat;
  do
    dat = draw(DATS);
  while (p->set_of[dat] != set || dat == but);
  return dat;
}

static void draw_program(struct program *p, int seed) {
  state = 77 + 1000003ull * (unsigned)seed;
  for (int s = 0; s < SETS; s++)
    p->sizes[s] = SIZE / 2 + draw(SIZE / 2);
  for (int m = 0; m < MAPS; m++) {
    p->from[m] = draw(SETS);
    p->to[m] = draw(SETS);
    p->shape[m] = draw(4);
  }
  for (int d = 0; d < DATS; d++)
    p->set_of[d] = d < 2 * SETS ? d % SETS : draw(SETS);
  p->nloops = 3 + draw(LOOPS - 2);
  for (int l = 0; l < p->nloops; l++) {
    const int map = draw(MAPS), kind = draw(KINDS);
    const int own = kind <= CHANGE || kind == TRIM ? draw(SETS) : p->from[map], far = p->to[map];
    const int b = dat_on(p, kind == SPREAD || kind == ADD ? far : own, -1);
    const int a = dat_on(p, kind == SPREAD || kind == COLLECT ? far : own, b);
    p->loops[l].kind = (enum kind)kind;
    p->loops[l].map = map;
    p->loops[l].a = a;
    p->loops[l].b = b;
    p->loops[l].c = kind == ADD ? dat_on(p, far, b) : 0;
    p->loops[l].kind = kind == ADD && p->loops[l].c == a ? ASSIGN : p->loops[l].kind;
    if (p->loops[l].kind == ASSIGN && p->set_of[a] != p->set_of[b])
      p->loops[l].b = dat_on(p, p->set_of[a], a);
  }
}

/* ---- running it ---- */

struct mesh {
  op_set sets[SETS], subsets[SETS]; /* every third element */
  op_map maps[MAPS];
  op_dat dats[DATS];
};

static int begin_of(int all, int r) {
  return (int)((long)all * r / size);
}

static int target(const struct program *p, int m, int e, int column) {
  const int n = p->sizes[p->to[m]], place = (int)((long)e * n / p->sizes[p->from[m]]);
  const int far = p->shape[m] == 3 ? (e * 37 + column * 11) % n : place + column * (1 + p->shape[m]) + e % 3;
  return far % n;
}

/* `parted`: elements are dealt out anew, and so numbered inwards from other ranks' ones. */
static void declare(const struct program *p, bool parted, struct mesh *m) {
  static const char *const names[] = {"s0", "s1", "s2"};
  static int rows[2 * SIZE];
  static double values[SIZE];
  for (int s = 0; s < SETS; s++) {
    const int n = begin_of(p->sizes[s], rank + 1) - begin_of(p->sizes[s], rank);
    m->sets[s] = op_decl_set(n, names[s]);
    for (int e = 0; e < n / 3; e++)
      rows[e] = 3 * e;
    m->subsets[s] = op_decl_subset(m->sets[s], n / 3, rows, "some");
  }
  for (int i = 0; i < MAPS; i++) {
    const int first = begin_of(p->sizes[p->from[i]], rank), end = begin_of(p->sizes[p->from[i]], rank + 1);
    for (int e = first; e < end; e++)
      for (int c = 0; c < 2; c++)
        rows[2 * (e - first) + c] = target(p, i, e, c);
    m->maps[i] = op_decl_map(m->sets[p->from[i]], m->sets[p->to[i]], 2, rows, "map");
  }
  for (int d = 0; d < DATS; d++) {
    const int all = p->sizes[p->set_of[d]], first = begin_of(all, rank);
    for (int e = first; e < begin_of(all, rank + 1); e++)
      values[e - first] = 1.0 / (e + d + 3);
    m->dats[d] = op_decl_dat(m->sets[p->set_of[d]], 1, d % 3 ? "double" : "double:soa", values, "dat");
  }
  check(!parted || op_partition("block", "", m->sets[0], NULL, NULL) == OP_OK);
}

static op_arg own(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}
static op_arg far(op_dat dat, int i, op_map map, op_access access) {
  return op_arg_dat(dat, i, map, 1, "double", access);
}

static int run_loop(const struct program *p, const struct mesh *m, int l) {
  const op_map map = m->maps[p->loops[l].map];
  const op_dat a = m->dats[p->loops[l].a], b = m->dats[p->loops[l].b], c = m->dats[p->loops[l].c];
  const op_set from = m->sets[p->from[p->loops[l].map]], set = m->sets[p->set_of[p->loops[l].a]];
  switch (p->loops[l].kind) {
  case ASSIGN: return op_par_loop(assign, "assign", set, own(a, OP_READ), own(b, OP_WRITE));
  case CHANGE: return op_par_loop(change, "change", set, own(a, OP_READ), own(b, OP_RW));
  case SPREAD:
    return op_par_loop(spread, "spread", from, far(a, 0, map, OP_READ), far(a, 1, map, OP_READ),
                       far(b, 0, map, OP_INC), far(b, 1, map, OP_INC));
  case COLLECT:
    return op_par_loop(collect, "collect", from, far(a, 0, map, OP_READ), far(a, 1, map, OP_READ),
                       own(b, OP_WRITE));
  case TRIM:
    return op_par_loop(change, "change", m->subsets[p->set_of[p->loops[l].a]], own(a, OP_READ),
                       own(b, OP_RW));
  default:
    return op_par_loop(add, "add", from, own(a, OP_READ), far(c, 1, map, OP_READ), far(b, 0, map, OP_INC));
  }
}

struct outcome {
  double values[DATS][SIZE];
};

/* Data are looked at in the middle, too. */
static void run(const struct program *p, const struct mesh *m, struct outcome *o) {
  for (int t = 0; t < TURNS; t++) {
    for (int l = 0; l < p->nloops; l++)
      check(run_loop(p, m, l) == OP_OK);
    if (t == 2)
      check(op_fetch_data(m->dats[t], o->values[t]) == OP_OK);
  }
  for (int d = 0; d < DATS; d++)
    check(op_fetch_data(m->dats[d], o->values[d]) == OP_OK);
}

int main(int argc, char **argv) {
  static const char *const ways[][3] = {{"OP2_LAZY=off", "OP2_TUNE=off", "OP2_FUSE=auto"},
                                        {"OP2_LAZY=on", "OP2_TUNE=off", "OP2_FUSE=auto"},
                                        {"OP2_LAZY=auto", "OP2_TUNE=off", "OP2_FUSE=auto"},
                                        {"OP2_LAZY=check", "OP2_TUNE=off", "OP2_FUSE=auto"},
                                        {"OP2_LAZY=on", "OP2_TILES=1000", "OP2_FUSE=auto"},
                                        {"OP2_LAZY=auto", "OP2_TILES=1000", "OP2_FUSE=auto"},
                                        {"OP2_LAZY=check", "OP2_TILES=1000", "OP2_FUSE=auto"},
                                        {"OP2_LAZY=on", "OP2_TUNE=off", "OP2_FUSE=on"},
                                        {"OP2_LAZY=on", "OP2_TILES=1000", "OP2_FUSE=on"},
                                        {"OP2_LAZY=check", "OP2_TILES=1000", "OP2_FUSE=on"}};
  enum { WAYS = sizeof ways / sizeof *ways };
  static struct outcome first, o;
  long long tiled = 0;
  check(argc > 3 && argc < 12);
  size = atoi(argv[1]);
  const int cases = atoi(argv[2]), seed = atoi(argv[3]);
  for (int i = 0; i < cases; i++)
    for (int w = 0; w < WAYS; w++) {
      char *more[16];
      struct program p = {0};
      struct mesh m;
      memset(&o, 0, sizeof o);
      memcpy(more, argv, (size_t)argc * sizeof *argv);
      more[argc] = strdup(ways[w][0]);
      more[argc + 1] = strdup(ways[w][1]);
      more[argc + 2] = strdup(ways[w][2]);
      check(op_init(argc + 3, more, 0) == OP_OK);
      rank = op_rank();
      draw_program(&p, seed + i);
      declare(&p, (seed + i) % 2, &m);
      run(&p, &m, &o);
      tiled += op_counters()->tiled;
      check(op_exit() == OP_OK);
      free(more[argc]);
      free(more[argc + 1]);
      free(more[argc + 2]);
      first = w ? first : o;
      if (memcmp(&first, &o, sizeof o) != 0)
        fprintf(stderr, "program %d, %s %s %s\n", seed + i, ways[w][0], ways[w][1], ways[w][2]);
      check(memcmp(&first, &o, sizeof o) == 0);
    }
  /* Some of them do run in tiles while messages travel. */
  check(size == 1 || cases < 9 || tiled > 0);
  if (rank == 0)
    printf("%d programs, %lld chains in tiles\n", cases, tiled);
  return 0;
}
