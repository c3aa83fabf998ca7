/* Which copies run and travel, and what runs before they come, element by element: the random meshes, parts and chains of ranks.h, each rank with numbers of
 * its own as the library has them. What a rank owns has the values of the whole mesh after each segment, though nothing runs
 * and nothing travels but what is listed; and what is listed is no more than depths say, and of it nothing is needless. */
#include "../unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/early.h"
#include "ranks.h"

enum { CASES = 2500, MORE_CASES = 40000, MUTANT_CASES = 6000 };

static const struct depth_wish wish = {.layers = 1, .fringe = true};

/* A rank's own numbers. */
struct local {
  struct copies_set sets[SETS_MOST];
  int global[SETS_MOST][SIZE_MOST], local[SETS_MOST][SIZE_MOST];
  int tables[MAPS_MOST][SIZE_MOST * ARITY_MOST];
  struct chain_set sizes[SETS_MOST];
  struct chain_map maps[MAPS_MOST];
  struct chain chain;
};

/* ---- numbers ---- */

static bool reaches_owned_only(const struct world *w, int r, int set, int e) {
  bool only = true;
  for (int m = 0; m < w->chain.nmaps; m++)
    for (int c = 0; w->maps[m].from == set && c < w->maps[m].arity; c++)
      only &= w->depth[r][w->maps[m].to][w->tables[m][e * w->maps[m].arity + c]] == 0;
  return only;
}

static void number(const struct world *w, int r, int set, struct local *l) {
  long *const ends[] = {&l->sets[set].core, &l->sets[set].owned, &l->sets[set].rows, &l->sets[set].all};
  long n = 0;
  for (int part = 0; part < 4; part++) {
    for (int e = 0; e < w->sets[set].size; e++) {
      const int depth = w->depth[r][set][e];
      const int own = depth == 0 ? !reaches_owned_only(w, r, set, e) : depth + 1;
      if (own != part)
        continue;
      l->local[set][e] = (int)n;
      l->global[set][n++] = e;
    }
    *ends[part] = n;
  }
}

static void make_local(const struct world *w, int r, struct local *l) {
  memset(l, 0, sizeof *l);
  l->chain = w->chain;
  l->chain.sets = l->sizes;
  l->chain.maps = l->maps;
  for (int s = 0; s < w->chain.nsets; s++) {
    number(w, r, s, l);
    l->sizes[s].size = l->sets[s].all;
  }
  for (int m = 0; m < w->chain.nmaps; m++) {
    const int arity = w->maps[m].arity;
    l->maps[m] = w->maps[m];
    l->maps[m].table = l->tables[m];
    for (long e = 0; e < l->sets[w->maps[m].from].rows; e++)
      for (int c = 0; c < arity; c++)
        l->tables[m][e * arity + c] =
            l->local[w->maps[m].to][w->tables[m][l->global[w->maps[m].from][e] * arity + c]];
  }
}

/* ---- a chain ---- */

/* A value that may be overwritten has to be there, and nobody sees whether it was. */
static bool is_partial(const struct world *w) {
  bool any = false;
  for (int l = 0; l < w->chain.nloops; l++)
    any |= w->partial[l];
  return any;
}

static bool is_ragged(const struct world *w) {
  bool any = false;
  for (int m = 0; m < w->chain.nmaps; m++)
    any |= w->maps[m].first || !w->maps[m].table;
  return any;
}

static void list(const struct copies_list *from, const int *global, bool *marks) {
  memset(marks, 0, SIZE_MOST * sizeof *marks);
  for (long i = 0; i < from->count; i++)
    marks[global[from->elements[i]]] = true;
}

/* Of what a loop changes. */
static bool reaches_copies(const struct world *w, const struct local *l, const struct chain_loop *loop,
                           long e) {
  bool any = false;
  for (int i = 0; i < loop->naccesses; i++) {
    const struct chain_access *a = &loop->accesses[i];
    for (int k = 0; a->map >= 0 && w->changed[a->dat] && k < a->count; k++)
      any |= l->tables[a->map][e * l->maps[a->map].arity + a->first + k] >= l->sets[l->maps[a->map].to].owned;
  }
  return any;
}

/* Rows of each dat that this rank owns and others need behind the segment. */
static void find_sent(const struct world *w, const struct local *l, int r, int s, const struct choice *choice,
                      struct copies_list sent[DATS_MOST]) {
  static int elements[TOGETHER_MOST][DATS_MOST][SIZE_MOST];
  for (int dat = 0; dat < w->chain.ndats; dat++) {
    const int set = w->dats[dat];
    sent[dat] = (struct copies_list){.elements = elements[s][dat]};
    for (int e = 0; e < w->sets[set].size; e++) {
      bool any = false;
      for (int other = 0; other < w->nranks; other++)
        any |= choice->need[s + 1][other][dat][e];
      if (any && w->owner[set][e] == r)
        sent[dat].elements[sent[dat].count++] = l->local[set][e];
    }
  }
}

/* Elements up to `cut` run together, and so do those behind. */
static void check_parts(const unsigned char *when, long cut, long owned, const char **wrong) {
  for (long e = 0; e < owned; e++)
    if ((when[e] == WHEN_EARLY) != (when[e < cut ? 0 : cut] == WHEN_EARLY) ||
        (when[e] == WHEN_EARLY && when[0] != WHEN_EARLY))
      *wrong = "a part does not run together, or before the first one";
}

/* The copies on the rank for n segments from s on. */
static int find_when(const struct world *w, const struct local *l, const struct depths *d, int s, int n,
                     struct deep_copies *const copies[TOGETHER_MOST], bool parts, struct choice *choice,
                     int r, const char **wrong) {
  struct copies_list sent[TOGETHER_MOST][DATS_MOST];
  long cuts[TOGETHER_MOST][LOOPS_MOST];
  struct early_segment segments[TOGETHER_MOST];
  struct error err = {0};
  unsigned char **when;
  const int first = d->first[s], end = d->first[s + n];
  for (int i = 0; i < n; i++) {
    find_sent(w, l, r, i, choice, sent[i]);
    for (int k = d->first[s + i]; k < d->first[s + i + 1]; k++)
      cuts[i][k - d->first[s + i]] = l->sets[l->chain.loops[k].set].core;
    segments[i] = (struct early_segment){d->first[s + i + 1], copies[i], sent[i], parts ? cuts[i] : NULL};
  }
  const int code = early_find(&when, &l->chain, l->sets, first, segments, n, first % 2 == 0, &err);
  for (int i = first; !code && i < end; i++) {
    const int set = l->chain.loops[i].set;
    memset(choice->when[r][i], WHEN_REST + 1, sizeof choice->when[r][i]);
    for (long e = 0; e < l->sets[set].all; e++)
      choice->when[r][i][l->global[set][e]] = when[i - first][e];
    if (parts)
      check_parts(when[i - first], l->sets[set].core, l->sets[set].owned, wrong);
    for (long e = 0; e < l->sets[set].owned; e++) /* tiles know what is owned alone */
      if (when[i - first][e] == WHEN_EARLY && reaches_copies(w, l, &l->chain.loops[i], e))
        *wrong = "an element does not wait, and reaches a copy";
  }
  if (!code)
    early_free(when, end - first);
  return code;
}

/* On each rank: the copies of segment s; `behind`: only what it needs. *wrong: there is no memory. */
static void find_copies(struct world *w, const struct local *l, const struct depths *d, int s, int place,
                        bool behind, struct deep_copies *c, struct choice *choice, const char **wrong) {
  struct error err = {0};
  for (int r = 0; r < w->nranks; r++) {
    if (deep_copies_find(&c[r], &l[r].chain, l[r].sets, d->first[s], d->first[s + 1], &err))
      *wrong = "there is no memory";
    for (int i = d->first[s]; !*wrong && !behind && i < d->first[s + 1]; i++)
      list(&c[r].run[i - d->first[s]], l[r].global[w->loops[i].set], choice->run[r][i]);
    for (int dat = 0; !*wrong && dat < w->chain.ndats; dat++)
      list(&c[r].need[dat], l[r].global[w->dats[dat]], choice->need[place][r][dat]);
  }
}

static void find(struct world *w, const struct depths *d, int s, int n, bool parts, struct choice *choice,
                 const char **wrong) {
  static struct local l[RANKS_MOST];
  struct deep_copies c[TOGETHER_MOST + 1][RANKS_MOST] = {{{.ndats = 0}}};
  memset(choice, 0, sizeof *choice);
  for (int r = 0; r < w->nranks; r++)
    make_local(w, r, &l[r]);
  for (int i = 0; i <= n && s + i < d->nsegments; i++)
    find_copies(w, l, d, s + i, i, i == n, c[i], choice, wrong);
  for (int r = 0; r < w->nranks; r++) {
    struct deep_copies *own[TOGETHER_MOST] = {&c[0][r], &c[1][r], &c[2][r]};
    if (!*wrong && find_when(w, &l[r], d, s, n, own, parts, choice, r, wrong))
      *wrong = "there is no memory";
    for (int i = 0; i <= n; i++)
      deep_copies_free(&c[i][r]);
  }
}

static const char *try_case(struct world *w, long seed, struct choice *choice, bool spoilt, long *copies) {
  struct error err = {0};
  struct depths d;
  world_make(w, (uint64_t)seed, &wish);
  memset(w->starts, 0, sizeof w->starts);
  if (is_ragged(w) || (spoilt && is_partial(w)))
    return NULL;
  if (depths_build(&d, &w->chain, &wish, &err))
    return "there is no memory";
  world_start(w);
  for (int s = 0, n; s < d.nsegments && !w->wrong; s += n) {
    const int most = d.nsegments - s;
    n = spoilt ? 1 : 1 + (int)(seed % TOGETHER_MOST);
    n = n < most ? n : most;
    find(w, &d, s, n, seed % 4 == 3, choice, &w->wrong);
    if (!w->wrong)
      *copies += world_run_chosen(w, &d, s, n, choice, spoilt ? (int)(seed % 71) : -1);
  }
  depths_free(&d);
  return w->wrong;
}

struct room {
  struct world w;
  struct choice choice;
};

static long cases = CASES;

TEST(what_is_owned_is_right) {
  struct room *room = malloc(sizeof *room);
  long copies = 0;
  assert_non_null(room);
  for (long seed = 0; seed < cases; seed++) {
    const char *wrong = try_case(&room->w, seed, &room->choice, false, &copies);
    if (wrong)
      fail_msg("case %ld: %s", seed, wrong);
  }
  assert_true(copies > cases);
  free(room);
}

/* One copy that is listed does not run, or does not travel: that is seen, but where nobody sees what a loop makes. */
TEST(nothing_is_listed_for_nothing) {
  struct room *room = malloc(sizeof *room);
  long seen = 0, left_out = 0;
  assert_non_null(room);
  for (long seed = 0; seed < cases; seed++) {
    const char *wrong = try_case(&room->w, seed, &room->choice, true, &left_out);
    seen += wrong != NULL;
  }
  if (seen < left_out * 9 / 10)
    fail_msg("%ld were left out, and %ld seen", left_out, seen);
  free(room);
}

/* ---- programs ---- */

static int run_mutant(void) {
  struct room *room = malloc(sizeof *room);
  long copies = 0;
  for (long seed = 0; room && seed < MUTANT_CASES; seed++) {
    const char *wrong = try_case(&room->w, seed, &room->choice, false, &copies);
    if (wrong) {
      printf("case %ld: %s\n", seed, wrong);
      free(room);
      return 0;
    }
  }
  free(room);
  printf("nobody noticed in %d cases\n", MUTANT_CASES);
  return 1;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "mutant") == 0)
    return run_mutant();
  if (argc > 1 && strcmp(argv[1], "long") == 0)
    cases = MORE_CASES;
  return run_these(NULL, NULL);
}
