#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inner.h"
#include "ranks/comm.h"
#include "world.h"

int ranks_count(void) {
  return inner_comm() ? inner_comm()->size : 1;
}

bool ranks_agree(bool good) {
  struct error err = {0};
  long long all = good;
  if (ranks_count() > 1 &&
      inner_comm()->table->reduce_all(inner_comm(), &all, 1, COMM_LLONG, COMM_MIN, &err)) {
    fprintf(stderr, "ranks cannot agree: %s\n", error_message(&err));
    abort();
  }
  return all != 0;
}

uint64_t ranks_sum(uint64_t mine) {
  struct error err = {0};
  long long halves[2] = {(long long)(mine >> 32), (long long)(mine & UINT32_MAX)};
  if (ranks_count() > 1 &&
      inner_comm()->table->reduce_all(inner_comm(), halves, 2, COMM_LLONG, COMM_SUM, &err))
    abort();
  return ((uint64_t)halves[0] << 32) + (uint64_t)halves[1];
}

static int compare(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

void ranks_share(struct random *r, int size, int *begin, int *end) {
  const int n = ranks_count();
  *begin = 0;
  *end = size;
  if (n == 1)
    return;
  int cuts[65] = {0};
  const int kind = random_below(r, 4), all = random_below(r, n), me = op_rank();
  for (int i = 1; i < n; i++)
    cuts[i] = kind == 0   ? (i > all ? size : 0)
              : kind == 1 ? random_below(r, size + 1)
                          : (int)((long)size * i / n);
  cuts[n] = size;
  qsort(cuts, (size_t)n + 1, sizeof *cuts, compare);
  *begin = cuts[me];
  *end = cuts[me + 1];
}

/* ---- partitioners ---- */

/* A dat of the world that can be coordinates of set s, made if there is none; its values are of no matter. */
static int coordinates(struct world *w, int s) {
  for (int d = 0; d < w->ndats; d++)
    if (w->dats[d].set == s && w->dats[d].handle && w->dats[d].type == V_DOUBLE && !w->dats[d].boxed &&
        w->dats[d].dim <= 3)
      return d;
  return world_dat(w, s, random_between(&w->random, 1, 3), V_DOUBLE,
                   random_chance(&w->random, 50) ? W_SOA : W_AOS);
}

/* A rank for each element: some ranks may get none. */
static op_dat told_parts(struct world *w, int s) {
  const struct wset *set = &w->sets[s];
  int *parts = calloc((size_t)set->size + 1, sizeof *parts);
  if (!parts)
    abort();
  const int most = random_between(&w->random, 1, ranks_count());
  for (int e = 0; e < set->size; e++)
    parts[e] = random_below(&w->random, most);
  op_dat dat = op_decl_dat_temp(set->handle, 1, "int", parts + set->begin, "parts");
  free(parts);
  return dat;
}

/* PT-Scotch is there under Open MPI, in most builds. */
static bool has_scotch(void) {
  return getenv("OP2_TEST_SCOTCH") != NULL;
}

bool ranks_partition(struct world *w) {
  static const char *const names[] = {"block", "random", "external", "rcb", "inertial", "ptscotch"};
  struct random *r = w->odd ? &w->deal : &w->random;
  const int kinds = w->odd ? 2 : has_scotch() ? 6 : 5, kind = random_below(r, kinds);
  int s = random_below(r, w->nsets), dat = -1, map = -1;
  /* Entries go where their elements go. */
  while (w->sets[s].entries)
    s--;
  op_dat last = NULL, temporary = NULL;
  if (kind == 5) {
    if (!w->nmaps)
      return true;
    map = random_below(&w->random, w->nmaps);
    s = w->maps[map].from;
    if (w->sets[s].entries)
      return true;
  }
  if (kind == 2)
    last = temporary = told_parts(w, s);
  if (kind == 3 || kind == 4) {
    dat = coordinates(w, s);
    if (dat < 0)
      return true;
    last = w->dats[dat].handle;
  }
  world_say(w, "op_partition(\"%s\", \"\", s%d, ..., ...);\n", names[kind], s);
  const int code =
      op_partition(names[kind], "", w->sets[s].handle, map < 0 ? NULL : w->maps[map].handle, last);
  if (code)
    world_fail(w, "op_partition(\"%s\") failed: %s", names[kind], op_last_error()->message);
  if (temporary)
    op_free_dat_temp(temporary);
  return ranks_agree(code == OP_OK);
}
