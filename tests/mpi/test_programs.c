/* Random programs on ranks: chains of loops over random meshes, with what of them waits and runs on copies, have the bits of
 * their loops one by one: with OP2_LAZY=on, auto and check, and in tiles. */
enum { SETS = 3, MAPS = 5, DATS = 8, LOOPS = 9, SIZE = 160, TURNS = 5 };

#include "random_programs.h"

enum { TRIM = OTHERS, KINDS };

static void draw_program(struct program *p, int seed) {
  state = 77 + 1000003ull * (unsigned)seed;
  draw_mesh(p, false);
  for (int l = 0; l < p->nloops; l++) {
    const int map = draw(MAPS), kind = draw(KINDS);
    const int own = kind <= CHANGE || kind == TRIM ? draw(SETS) : p->from[map], far = p->to[map];
    const int b = dat_on(p, kind == SPREAD || kind == ADD ? far : own, -1, false);
    const int a = dat_on(p, kind == SPREAD || kind == COLLECT ? far : own, b, false);
    p->loops[l].kind = kind;
    p->loops[l].map = map;
    p->loops[l].a = a;
    p->loops[l].b = b;
    p->loops[l].c = kind == ADD ? dat_on(p, far, b, false) : 0;
    p->loops[l].kind = kind == ADD && p->loops[l].c == a ? ASSIGN : p->loops[l].kind;
    if (p->loops[l].kind == ASSIGN && p->set_of[a] != p->set_of[b])
      p->loops[l].b = dat_on(p, p->set_of[a], a, false);
  }
}

/* ---- running it ---- */

/* `parted`: elements are dealt out anew, and so numbered inwards from other ranks' ones. */
static void declare(const struct program *p, bool parted, struct mesh *m) {
  static const char *const names[] = {"s0", "s1", "s2"};
  static int rows[2 * SIZE];
  for (int s = 0; s < SETS; s++) {
    const int n = begin_of(p->sizes[s], rank + 1) - begin_of(p->sizes[s], rank);
    m->sets[s] = op_decl_set(n, names[s]);
    for (int e = 0; e < n / 3; e++) /* every third element */
      rows[e] = 3 * e;
    m->some[s] = op_decl_subset(m->sets[s], n / 3, rows, "some");
  }
  for (int i = 0; i < MAPS; i++) {
    const int first = begin_of(p->sizes[p->from[i]], rank), end = begin_of(p->sizes[p->from[i]], rank + 1);
    for (int e = first; e < end; e++)
      for (int c = 0; c < 2; c++)
        rows[2 * (e - first) + c] = target(p, i, e, c);
    m->maps[i] = op_decl_map(m->sets[p->from[i]], m->sets[p->to[i]], 2, rows, "map");
  }
  declare_dats(p, m);
  check(!parted || op_partition("block", "", m->sets[0], NULL, NULL) == OP_OK);
}

static int run_loop(const struct program *p, const struct mesh *m, int l) {
  if (p->loops[l].kind != TRIM)
    return run_usual(p, m, l);
  return op_par_loop(change, "change", m->some[p->set_of[p->loops[l].a]],
                     own(m->dats[p->loops[l].a], OP_READ), own(m->dats[p->loops[l].b], OP_RW));
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
      struct program p = {0};
      struct mesh m;
      memset(&o, 0, sizeof o);
      begin_with(argc, argv, 3, ways[w]);
      draw_program(&p, seed + i);
      declare(&p, (seed + i) % 2, &m);
      run(&p, &m, &o);
      tiled += op_counters()->tiled;
      check(op_exit() == OP_OK);
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
