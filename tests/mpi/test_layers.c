/* Random programs on ranks with OP2_LAYERS=2 to 4: what loops that wait make of others' elements, so that they exchange less
 * often, has the values of the loops one by one, to rounding; with OP2_FP=strict the bits. Among the loops are such as keep
 * to one layer: over subsets, by ragged maps, with RW that meets. The mesh is dealt out anew, new dats come, and data are
 * looked at. */
#include <math.h>

enum { SETS = 2, MAPS = 4, DATS = 7, LOOPS = 9, SIZE = 600, TURNS = 9, RAGGED = 3 };

#include "random_programs.h"

static const char *const least =
    "void least(const double *a, double *b0) { if (*a - 0.1 < *b0) *b0 = *a - 0.1; }";
static const char *const total =
    "void total(const double *a, double *b, double *s) { *b = *b / 2 + *a / 8; *s += *b; }";
static const char *const part = "void part(const double *a, double *b) { *b = *a / 2 - 0.1 * *b; }";
static const char *const rows =
    "void rows(int n, const double **a, double *b) {\n"
    "  double s = 0;\n  for (int i = 0; i < n; i++) s += *OP_ROW(a, i);\n  *b = s / 4 + 0.1;\n}";
static const char *const meet = "void meet(double *b0) { *b0 = 0.75 * *b0; }";

enum { LEAST = OTHERS, TOTAL, PART, ROWS, MEET, KINDS };

/* Most loops are such as run deeper, and go through maps. */
static int draw_kind(void) {
  const int kind = draw(KINDS + 20);
  return kind < KINDS ? kind : SPREAD + (kind - KINDS) % (ADD - SPREAD + 1);
}

static bool scatters; /* elements go anywhere, when the mesh is dealt out anew */

static void draw_program(struct program *p, int seed) {
  state = 78 + 1000003ull * (unsigned)seed;
  draw_mesh(p, true);
  scatters = draw(5) == 0;
  for (int l = 0; l < p->nloops; l++) {
    const int map = draw(l <= p->nloops / 2 ? MAPS / 2 : MAPS), kind = draw_kind(), set = draw(SETS);
    const bool near = kind <= CHANGE || kind == TOTAL || kind == PART, adds = kind == SPREAD || kind == ADD;
    const int own = near ? set : p->from[map], far = p->to[map];
    const int b = dat_on(p, adds || kind == LEAST || kind == MEET ? far : own, -1, true);
    const int a = dat_on(p, kind == SPREAD || kind == COLLECT || kind == ROWS ? far : own, b, false);
    p->loops[l].kind = kind;
    p->loops[l].map = map;
    p->loops[l].a = a;
    p->loops[l].b = b;
    p->loops[l].c = kind == ADD ? dat_on(p, far, b, false) : 0;
    if (kind == ADD && p->loops[l].c == a) {
      p->loops[l].kind = ASSIGN;
      p->loops[l].b = dat_on(p, p->set_of[a], a, true);
    }
  }
}

/* ---- running it ---- */

static op_map ragged[MAPS];
static op_gbl sum;

static void declare_map(const struct program *p, struct mesh *m, int i, bool has_rows) {
  static int table[2 * SIZE], targets[RAGGED * SIZE];
  static long long offsets[SIZE + 1];
  const int first = begin_of(p->sizes[p->from[i]], rank), end = begin_of(p->sizes[p->from[i]], rank + 1);
  int count = 0;
  for (int e = first; e < end; e++) {
    for (int c = 0; c < 2; c++)
      table[2 * (e - first) + c] = target(p, i, e, c);
    for (int c = 0; c <= e % RAGGED; c++)
      targets[count++] = target(p, i, e, c);
    offsets[e - first + 1] = count;
  }
  m->maps[i] = op_decl_map(m->sets[p->from[i]], m->sets[p->to[i]], 2, table, "map");
  if (has_rows)
    ragged[i] = op_decl_map_ragged(m->sets[p->from[i]], m->sets[p->to[i]], offsets, targets, "ragged");
}

static bool has(const struct program *p, int kind) {
  bool any = false;
  for (int l = 0; l < p->nloops; l++)
    any |= p->loops[l].kind == kind;
  return any;
}

static void declare(const struct program *p, struct mesh *m) {
  static const char *const names[] = {"s0", "s1"};
  static int members[SIZE];
  for (int s = 0; s < SETS; s++) {
    const int n = begin_of(p->sizes[s], rank + 1) - begin_of(p->sizes[s], rank);
    for (int e = 0; e < n; e++)
      members[e] = e;
    m->sets[s] = op_decl_set(n, names[s]);
    m->some[s] = op_decl_subset(m->sets[s], n / 2, members, "part");
  }
  for (int i = 0; i < MAPS; i++)
    declare_map(p, m, i, has(p, ROWS));
  declare_dats(p, m);
  sum = op_decl_gbl(1, "double", NULL, "sum");
}

static int run_loop(const struct program *p, const struct mesh *m, int l) {
  const op_map map = m->maps[p->loops[l].map];
  const op_dat a = m->dats[p->loops[l].a], b = m->dats[p->loops[l].b];
  const op_set from = m->sets[p->from[p->loops[l].map]], set = m->sets[p->set_of[p->loops[l].a]];
  switch (p->loops[l].kind) {
  case LEAST: return op_par_loop(least, "least", from, own(a, OP_READ), far(b, 1, map, OP_MIN));
  case TOTAL:
    return op_par_loop(total, "total", set, own(a, OP_READ), own(b, OP_RW), op_arg_global(sum, OP_INC));
  case PART:
    return op_par_loop(part, "part", m->some[p->set_of[p->loops[l].a]], own(a, OP_READ), own(b, OP_RW));
  case ROWS:
    return op_par_loop(rows, "rows", from, far(a, OP_ALL, ragged[p->loops[l].map], OP_READ),
                       own(b, OP_WRITE));
  case MEET: return op_par_loop(meet, "meet", from, far(b, 0, map, OP_RW));
  default: return run_usual(p, m, l);
  }
}

struct outcome {
  double values[DATS][SIZE], sum;
};

/* The mesh is dealt out anew; data are looked at in between. */
static void run(const struct program *p, struct mesh *m, struct outcome *o) {
  for (int t = 0; t < TURNS; t++) {
    if (t == 2)
      check(op_partition(scatters ? "random" : "block", "", m->sets[0], NULL, NULL) == OP_OK);
    for (int l = 0; l < (t < 5 ? p->nloops / 2 + 1 : p->nloops); l++) /* later also by other maps */
      check(run_loop(p, m, l) == OP_OK);
    if (t == 4 || t == 6)
      check(op_fetch_data(m->dats[t], o->values[t]) == OP_OK);
    if (t == 7) {
      static double values[SIZE];
      op_dat more = op_decl_dat_temp(m->sets[0], 1, "double", NULL, "more");
      check(more && op_par_loop(assign, "assign", m->sets[0], own(m->dats[SETS], OP_READ),
                                own(more, OP_WRITE)) == OP_OK);
      check(op_par_loop(change, "change", m->sets[0], own(more, OP_READ), own(m->dats[SETS], OP_RW)) ==
            OP_OK);
      check(op_put_data(m->dats[DATS - 1], memset(values, 0, sizeof values)) == OP_OK);
      check(op_free_dat_temp(more) == OP_OK);
    }
  }
  for (int d = 0; d < DATS; d++)
    check(op_fetch_data(m->dats[d], o->values[d]) == OP_OK);
  check(op_get_gbl(sum, &o->sum) == OP_OK);
}

static bool is_near(double a, double b, double largest) {
  return fabs(a - b) <= 1e-11 * largest || (isnan(a) && isnan(b));
}

/* To rounding, of what is largest. */
static bool are_alike(const struct outcome *a, const struct outcome *b) {
  bool alike = true;
  double largest = 1;
  for (int d = 0; d < DATS; d++)
    for (int e = 0; e < SIZE; e++)
      largest = fmax(largest, fmax(fabs(a->values[d][e]), fabs(b->values[d][e])));
  for (int d = 0; d < DATS; d++)
    for (int e = 0; e < SIZE; e++)
      alike &= is_near(a->values[d][e], b->values[d][e], largest);
  return alike && is_near(a->sum, b->sum, SIZE * TURNS * LOOPS * largest);
}

/* The first of those of its floating point is loops one by one, in one layer. */
struct way {
  const char *assignments[4];
  bool first, bits;
};

int main(int argc, char **argv) {
  static const struct way ways[] = {
      {{"OP2_LAZY=off", "OP2_LAYERS=1", "OP2_FP=contract", "OP2_TUNE=off"}, true, false},
      {{"OP2_LAZY=on", "OP2_LAYERS=2", "OP2_FP=contract", "OP2_TUNE=off"}, false, false},
      {{"OP2_LAZY=on", "OP2_LAYERS=4", "OP2_FP=contract", "OP2_TUNE=off"}, false, false},
      {{"OP2_LAZY=check", "OP2_LAYERS=3", "OP2_FP=contract", "OP2_TUNE=off"}, false, false},
      {{"OP2_LAZY=auto", "OP2_LAYERS=3", "OP2_FP=contract", "OP2_TILES=1000"}, false, false},
      {{"OP2_LAZY=on", "OP2_LAYERS=3", "OP2_FP=contract", "OP2_TILES=1000"}, false, false},
      {{"OP2_LAZY=off", "OP2_LAYERS=1", "OP2_FP=strict", "OP2_TUNE=off"}, true, false},
      {{"OP2_LAZY=on", "OP2_LAYERS=3", "OP2_FP=strict", "OP2_TUNE=off"}, false, true}};
  enum { WAYS = sizeof ways / sizeof *ways };
  static struct outcome first, o;
  long long exchanges[WAYS] = {0};
  check(argc > 3 && argc < 12);
  size = atoi(argv[1]);
  const int cases = atoi(argv[2]), seed = atoi(argv[3]);
  for (int i = 0; i < cases; i++)
    for (int w = 0; w < WAYS; w++) {
      struct program p = {0};
      struct mesh m = {0};
      memset(&o, 0, sizeof o);
      begin_with(argc, argv, 4, ways[w].assignments);
      draw_program(&p, seed + i);
      declare(&p, &m);
      run(&p, &m, &o);
      exchanges[w] += op_counters()->exchanges;
      check(op_exit() == OP_OK);
      first = ways[w].first ? o : first;
      const bool good =
          ways[w].bits ? memcmp(first.values, o.values, sizeof o.values) == 0 : are_alike(&first, &o);
      if (!good)
        fprintf(stderr, "program %d, %s %s %s %s\n", seed + i, ways[w].assignments[0], ways[w].assignments[1],
                ways[w].assignments[2], ways[w].assignments[3]);
      check(good);
    }
  if (rank == 0)
    printf("%d programs, %lld exchanges, with layers %lld and %lld\n", cases, exchanges[0], exchanges[1],
           exchanges[2]);
  check(size == 1 || cases < 10 || (exchanges[1] < exchanges[0] && exchanges[2] <= exchanges[1]));
  return 0;
}
