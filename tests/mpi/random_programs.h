/* Shared by random programs on ranks: what all ranks draw alike, a mesh of it, and the loops that every such test has. A test says
 * before it includes this how many SETS, MAPS, DATS and LOOPS there are, and how many elements a set has at most (SIZE). */
#ifndef OP2JIT_TESTS_RANDOM_PROGRAMS_H
#define OP2JIT_TESTS_RANDOM_PROGRAMS_H

#include <stdbool.h>

#include "check.h"

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

/* Kinds of loops; OTHERS and what follows are a test's own. */
enum { ASSIGN, CHANGE, SPREAD, COLLECT, ADD, OTHERS };

struct program {
  int sizes[SETS], from[MAPS], to[MAPS], set_of[DATS];
  int shape[MAPS]; /* how far targets are */
  struct {
    int kind, map, a, b, c;
  } loops[LOOPS];
  int nloops;
};

/* Sets, maps and where dats are; the last shape may be rare. */
static void draw_mesh(struct program *p, bool rare) {
  for (int s = 0; s < SETS; s++)
    p->sizes[s] = SIZE / 2 + draw(SIZE / 2);
  for (int m = 0; m < MAPS; m++) {
    p->from[m] = draw(SETS);
    p->to[m] = draw(SETS);
    p->shape[m] = !rare ? draw(4) : draw(8) ? draw(3) : 3;
  }
  for (int d = 0; d < DATS; d++)
    p->set_of[d] = d < 2 * SETS ? d % SETS : draw(SETS);
  p->nloops = 3 + draw(LOOPS - 2);
}

/* A dat on the set that is another one than `but`; the first of each set stay as they are where it changes. */
static int dat_on(const struct program *p, int set, int but, bool changes) {
  int dat;
  do
    dat = draw(DATS);
  while (p->set_of[dat] != set || dat == but || (changes && dat < SETS));
  return dat;
}

struct mesh {
  op_set sets[SETS], some[SETS]; /* some of their elements */
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

static void declare_dats(const struct program *p, struct mesh *m) {
  static double values[SIZE];
  for (int d = 0; d < DATS; d++) {
    const int all = p->sizes[p->set_of[d]], first = begin_of(all, rank);
    for (int e = first; e < begin_of(all, rank + 1); e++)
      values[e - first] = 1.0 / (e + d + 3);
    m->dats[d] = op_decl_dat(m->sets[p->set_of[d]], 1, d % 3 ? "double" : "double:soa", values, "dat");
  }
}

static op_arg own(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}
static op_arg far(op_dat dat, int i, op_map map, op_access access) {
  return op_arg_dat(dat, i, map, 1, "double", access);
}

/* A loop of one of the kinds above. */
static int run_usual(const struct program *p, const struct mesh *m, int l) {
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
  default:
    return op_par_loop(add, "add", from, own(a, OP_READ), far(c, 1, map, OP_READ), far(b, 0, map, OP_INC));
  }
}

/* op_init with these assignments as well. */
static void begin_with(int argc, char **argv, int n, const char *const *assignments) {
  static char words[4][32];
  char *more[16];
  memcpy(more, argv, (size_t)argc * sizeof *argv);
  for (int i = 0; i < n; i++)
    more[argc + i] = strcpy(words[i], assignments[i]);
  check(op_init(argc + n, more, 0) == OP_OK);
  rank = op_rank();
}

#endif
