/* Halos against their definition, worked out by looking at the whole mesh. */
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "crew.h"
#include "random_mesh.h"
#include "spread/parts/build.h"
#include "spread/parts/mail.h"

struct trial {
  struct random_mesh mesh;
  struct built *built; /* per rank */
  uint64_t seed;
  int inwards; /* from this set; -1: numbers keep their order */
};

/* Checks run on the main thread, after all ranks have ended. */
#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition))                                                                                        \
      fail_msg("seed %llu, %d ranks: %s", (unsigned long long)t->seed, t->mesh.ranks, #condition);           \
  } while (0)

static int build_one(struct comm *comm, void *user, struct error *err) {
  struct trial *t = user;
  struct share share;
  random_mesh_share(&t->mesh, comm->rank, false, &share);
  int code = build_halos(comm, &share, t->inwards, &t->built[comm->rank], err);
  share_free(&share);
  return code;
}

/* ---- the definition ---- */

enum region { NOWHERE, CORE, BOUNDARY, EXEC, NONEXEC };

/* An element reaches what one of its entries does, and with it all its entries. */
static void entries_are_as_elements(const struct random_mesh *mesh, enum region *kinds[MOST_SETS]) {
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < mesh->nsets; k++) {
      const int s = pass == 0 ? mesh->nsets - 1 - k : k;
      for (int e = 0; mesh->begin[s] && e < mesh->size[mesh->of[s]]; e++)
        for (long long i = mesh->begin[s][e]; i < mesh->begin[s][e + 1]; i++) {
          enum region *element = &kinds[mesh->of[s]][e], *entry = &kinds[s][i];
          if (pass == 0 && *entry > *element)
            *element = *entry;
          if (pass == 1)
            *entry = *element;
        }
    }
}

static enum region *kinds_of(const struct random_mesh *mesh, int rank, enum region *kinds[MOST_SETS]) {
  for (int s = 0; s < mesh->nsets; s++) {
    kinds[s] = array_new((size_t)mesh->size[s], sizeof **kinds);
    for (int e = 0; e < mesh->size[s]; e++)
      kinds[s][e] = mesh->owner[s][e] == rank ? CORE : NOWHERE;
  }
  for (int m = 0; m < mesh->nmaps; m++) {
    const struct random_map *map = &mesh->maps[m];
    for (int i = 0; i < mesh->size[map->from] * map->arity; i++) {
      const int e = i / map->arity;
      const bool mine = mesh->owner[map->from][e] == rank,
                 target_mine = mesh->owner[map->to][map->table[i]] == rank;
      if (mine && !target_mine)
        kinds[map->from][e] = BOUNDARY;
      if (!mine && target_mine)
        kinds[map->from][e] = EXEC;
    }
  }
  entries_are_as_elements(mesh, kinds);
  for (int m = 0; m < mesh->nmaps; m++) {
    const struct random_map *map = &mesh->maps[m];
    for (int i = 0; i < mesh->size[map->from] * map->arity; i++) {
      const enum region source = kinds[map->from][i / map->arity];
      enum region *target = &kinds[map->to][map->table[i]];
      if ((source == CORE || source == BOUNDARY || source == EXEC) && *target == NOWHERE)
        *target = NONEXEC;
    }
  }
  return kinds[0];
}

static enum region kind_at(const long *extents, long local) {
  return local < extents[EXTENT_CORE]    ? CORE
         : local < extents[EXTENT_OWNED] ? BOUNDARY
         : local < extents[EXTENT_EXEC]  ? EXEC
                                         : NONEXEC;
}

static void check_set(const struct trial *t, int rank, int s, const enum region *kinds) {
  const struct built_set *set = &t->built[rank].sets[s];
  const long long *numbers = set->spread->numbers;
  long wanted = 0;
  for (int e = 0; e < t->mesh.size[s]; e++)
    wanted += kinds[e] != NOWHERE;
  CHECK(set->extents[EXTENT_NONEXEC] == wanted);
  bool *met = array_new((size_t)t->mesh.size[s], 1);
  for (long l = 0; l < wanted; l++) {
    CHECK(numbers[l] >= 0 && numbers[l] < t->mesh.size[s] && !met[numbers[l]]);
    met[numbers[l]] = true;
    CHECK(kinds[numbers[l]] == kind_at(set->extents, l));
    const bool same_kind = l > 0 && kind_at(set->extents, l - 1) == kind_at(set->extents, l);
    if (same_kind && l < set->extents[EXTENT_OWNED] && (t->inwards < 0 || l > set->extents[EXTENT_CORE]))
      CHECK(numbers[l - 1] < numbers[l]); /* the share was in ascending order */
    if (same_kind && l >= set->extents[EXTENT_OWNED])
      CHECK(t->mesh.owner[s][numbers[l - 1]] <= t->mesh.owner[s][numbers[l]]);
  }
  free(met);
}

static void check_tables(const struct trial *t, int rank) {
  for (int m = 0; m < t->mesh.nmaps; m++) {
    const struct random_map *map = &t->mesh.maps[m];
    const struct built_set *from = &t->built[rank].sets[map->from], *to = &t->built[rank].sets[map->to];
    const int *table = t->built[rank].maps[m].table;
    for (long i = 0; i < from->extents[EXTENT_EXEC] * map->arity; i++) {
      CHECK(table[i] >= 0 && table[i] < to->extents[EXTENT_NONEXEC]);
      const long long e = from->spread->numbers[i / map->arity];
      CHECK(to->spread->numbers[table[i]] == map->table[e * map->arity + i % map->arity]);
    }
  }
}

/* Entries stand in the order of their elements, where these are executed. */
static void check_entries(const struct trial *t, int rank, int s) {
  const struct built_set *set = &t->built[rank].sets[s], *of = &t->built[rank].sets[t->mesh.of[s]];
  const long long *begin = t->mesh.begin[s];
  long shortest = -1, longest = 0;
  CHECK(set->first[0] == 0 && set->first[of->extents[EXTENT_EXEC]] == set->extents[EXTENT_EXEC]);
  for (long l = 0; l < of->extents[EXTENT_EXEC]; l++) {
    const long long e = of->spread->numbers[l], length = begin[e + 1] - begin[e];
    CHECK(set->first[l + 1] - set->first[l] == length);
    for (long long k = 0; k < length; k++)
      CHECK(set->spread->numbers[set->first[l] + k] == begin[e] + k);
  }
  for (int e = 0; e < t->mesh.size[t->mesh.of[s]]; e++) {
    const long length = (long)(begin[e + 1] - begin[e]);
    shortest = shortest < 0 || length < shortest ? length : shortest;
    longest = length > longest ? length : longest;
  }
  CHECK(set->longest == longest && set->shortest == (shortest < 0 ? 0 : shortest));
}

/* ---- exchanges: both sides name the same elements, in the same order ---- */

static int neighbour(const struct halo_side *side, int rank) {
  for (int i = 0; i < side->count; i++)
    if (side->ranks[i] == rank)
      return i;
  return -1;
}

static long long number_at(const struct trial *t, int rank, int s, int local) {
  return t->built[rank].sets[s].spread->numbers[local];
}

static const struct halo_exchange *exec_of(const struct trial *t, int rank, int s, int m) {
  (void)m;
  return &t->built[rank].sets[s].spread->exec;
}
static const struct halo_exchange *nonexec_of(const struct trial *t, int rank, int s, int m) {
  (void)m;
  return &t->built[rank].sets[s].spread->nonexec;
}
static const struct halo_exchange *home_of(const struct trial *t, int rank, int s, int m) {
  (void)m;
  return &t->built[rank].sets[s].spread->home;
}
static const struct halo_exchange *map_halo_of(const struct trial *t, int rank, int s, int m) {
  (void)s;
  return t->built[rank].maps[m].halo;
}

/* `user`: the sender's elements are numbers among those that it declared. */
static void check_exchange(const struct trial *t, int s, int rank, const struct halo_side *receive,
                           const struct halo_exchange *(*of)(const struct trial *, int, int, int), int m,
                           bool user) {
  for (int i = 0; i < receive->count; i++) {
    const int peer = receive->ranks[i];
    CHECK(i == 0 || receive->ranks[i - 1] < peer);
    const struct halo_side *send = &of(t, peer, s, m)->send;
    const int j = neighbour(send, rank);
    CHECK(j >= 0);
    const long count = receive->first[i + 1] - receive->first[i];
    CHECK(count > 0 && send->first[j + 1] - send->first[j] == count);
    for (long k = 0; k < count; k++) {
      const int local = send->elements[send->first[j] + k];
      const long long theirs = user ? t->mesh.first[s][peer] + local : number_at(t, peer, s, local);
      CHECK(theirs == number_at(t, rank, s, receive->elements[receive->first[i] + k]));
      CHECK(of == map_halo_of || k == 0 || local > send->elements[send->first[j] + k - 1]);
    }
  }
}

static long total(const struct halo_side *side) {
  return side->first[side->count];
}

static void check_exchanges(const struct trial *t, int rank) {
  for (int s = 0; s < t->mesh.nsets; s++) {
    const struct built_set *set = &t->built[rank].sets[s];
    check_exchange(t, s, rank, &set->spread->exec.receive, exec_of, 0, false);
    check_exchange(t, s, rank, &set->spread->nonexec.receive, nonexec_of, 0, false);
    check_exchange(t, s, rank, &set->spread->home.receive, home_of, 0, true);
    CHECK(total(&set->spread->exec.receive) == set->extents[EXTENT_EXEC] - set->extents[EXTENT_OWNED]);
    CHECK(total(&set->spread->nonexec.receive) == set->extents[EXTENT_NONEXEC] - set->extents[EXTENT_EXEC]);
    CHECK(total(&set->spread->home.receive) == set->extents[EXTENT_OWNED]);
    CHECK(total(&set->spread->home.send) == t->mesh.first[s][rank + 1] - t->mesh.first[s][rank]);
  }
}

/* The partial halo of a map is what its table reaches, each element once. */
static void check_map_halo(const struct trial *t, int rank, int m) {
  const struct random_map *map = &t->mesh.maps[m];
  const struct built_set *from = &t->built[rank].sets[map->from], *to = &t->built[rank].sets[map->to];
  const struct built_map *built = &t->built[rank].maps[m];
  const struct halo_side *receive = &built->halo->receive;
  check_exchange(t, map->to, rank, receive, map_halo_of, m, false);
  bool *reached = array_new((size_t)to->extents[EXTENT_NONEXEC], 1);
  long wanted = 0;
  for (long i = 0; i < from->extents[EXTENT_EXEC] * map->arity; i++)
    if (built->table[i] >= to->extents[EXTENT_OWNED] && !reached[built->table[i]]) {
      reached[built->table[i]] = true;
      wanted++;
    }
  CHECK(total(receive) == wanted);
  for (long i = 0; i < wanted; i++) {
    CHECK(reached[receive->elements[i]]);
    reached[receive->elements[i]] = false;
  }
  free(reached);
}

static long long check_trial(struct trial *t) {
  long long copies = 0;
  for (int rank = 0; rank < t->mesh.ranks; rank++) {
    enum region *kinds[MOST_SETS];
    kinds_of(&t->mesh, rank, kinds);
    for (int s = 0; s < t->mesh.nsets; s++) {
      check_set(t, rank, s, kinds[s]);
      copies += t->built[rank].sets[s].extents[EXTENT_NONEXEC] - t->built[rank].sets[s].extents[EXTENT_OWNED];
      free(kinds[s]);
    }
    for (int s = 0; s < t->mesh.nsets; s++)
      if (t->mesh.begin[s])
        check_entries(t, rank, s);
    check_tables(t, rank);
    check_exchanges(t, rank);
    for (int m = 0; m < t->mesh.nmaps; m++)
      check_map_halo(t, rank, m);
  }
  return copies;
}

static long long one_trial(int ranks, uint64_t seed, bool ragged) {
  struct trial t = {.seed = seed, .built = array_new((size_t)ranks, sizeof *t.built)};
  (ragged ? random_mesh_new_ragged : random_mesh_new)(&t.mesh, ranks, seed);
  t.inwards = seed % 3 ? (int)(seed % (uint64_t)t.mesh.nsets) : -1;
  crew_run(ranks, build_one, &t);
  long long copies = check_trial(&t);
  for (int r = 0; r < ranks; r++)
    built_free(&t.built[r]);
  free(t.built);
  random_mesh_free(&t.mesh);
  return copies;
}

TEST(halos_are_as_defined) {
  static const int ranks[] = {1, 2, 3, 4, 7, 8, 16, 33, 64};
  long long copies = 0;
  for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
    for (uint64_t seed = 1; seed <= (ranks[i] > 8 ? 12 : 60); seed++)
      copies += one_trial(ranks[i], seed * 100 + i, false) +
                (seed % 2 ? one_trial(ranks[i], seed * 100 + i, true) : 0);
  assert_true(copies > 150000);
}

enum { WIDTH = 20, HEIGHT = 9 };

/* From the border in the middle of a grid. */
static long steps_of(int rank, const struct built_set *cells, long cell) {
  const long x = (long)(cells->spread->numbers[cell] % WIDTH);
  return rank ? x - WIDTH / 2 : WIDTH / 2 - 1 - x;
}

/* A grid of cells in two halves, whose common border edges one rank owns: so the other one learns of its border by copies alone. Cells
 * by their distance from it, the farthest first; edges by that of the nearer cell; those of one distance in the program's order. */
TEST(core_is_numbered_inwards) {
  enum { UPRIGHT = (WIDTH - 1) * HEIGHT, EDGES = UPRIGHT + WIDTH * (HEIGHT - 1) };
  enum { CELLS_ = WIDTH * HEIGHT, CELL = 0, EDGE = 1, RANKS = 2 };
  struct trial trial = {.inwards = CELL, .built = array_new(RANKS, sizeof *trial.built)}, *t = &trial;
  t->mesh = (struct random_mesh){.ranks = RANKS, .nsets = 2, .nmaps = 1, .size = {CELLS_, EDGES}};
  t->mesh.maps[0] = (struct random_map){EDGE, CELL, 2, array_new(2 * EDGES, sizeof(int))};
  for (int s = 0; s < 2; s++) {
    t->mesh.owner[s] = array_new((size_t)t->mesh.size[s], sizeof(int));
    t->mesh.first[s] = array_new(RANKS + 1, sizeof(long long));
    t->mesh.first[s][1] = t->mesh.first[s][2] = t->mesh.size[s];
  }
  for (int c = 0; c < CELLS_; c++)
    t->mesh.owner[CELL][c] = c % WIDTH >= WIDTH / 2;
  for (int e = 0; e < EDGES; e++) {
    int *row = t->mesh.maps[0].table + 2 * e;
    row[0] = e < UPRIGHT ? e / (WIDTH - 1) * WIDTH + e % (WIDTH - 1) : e - UPRIGHT;
    row[1] = row[0] + (e < UPRIGHT ? 1 : WIDTH);
    t->mesh.owner[EDGE][e] = t->mesh.owner[CELL][row[0]];
  }
  crew_run(RANKS, build_one, t);
  check_trial(t);
  for (int rank = 0; rank < RANKS; rank++) {
    const struct built_set *cells = &t->built[rank].sets[CELL], *edges = &t->built[rank].sets[EDGE];
    const int *table = t->built[rank].maps[0].table;
    CHECK(cells->extents[EXTENT_OWNED] == CELLS_ / 2 && cells->extents[EXTENT_EXEC] == CELLS_ / 2);
    long last = WIDTH, number = -1;
    for (long l = 0; l < cells->extents[EXTENT_CORE]; l++) {
      const long far = steps_of(rank, cells, l);
      CHECK(far < last || (far == last && cells->spread->numbers[l] > number));
      last = far;
      number = cells->spread->numbers[l];
    }
    last = WIDTH;
    for (long e = 0; e < edges->extents[EXTENT_CORE]; e++) {
      const long a = steps_of(rank, cells, table[2 * e]), b = steps_of(rank, cells, table[2 * e + 1]),
                 far = a < b ? a : b;
      CHECK(far < last || (far == last && edges->spread->numbers[e] > number));
      last = far;
      number = edges->spread->numbers[e];
    }
    built_free(&t->built[rank]);
  }
  free(t->built);
  random_mesh_free(&t->mesh);
}

/* Rows that are carried home and back are the same. */
static int carry_both_ways(struct comm *comm, void *user, struct error *err) {
  struct trial *t = user;
  for (int s = 0; s < t->mesh.nsets; s++) {
    const struct built_set *set = &t->built[comm->rank].sets[s];
    const long owned = set->extents[EXTENT_OWNED];
    const long declared = (long)(t->mesh.first[s][comm->rank + 1] - t->mesh.first[s][comm->rank]);
    long long *here = array_new(2 * (size_t)owned, sizeof *here);
    long long *home = array_new(2 * (size_t)declared, sizeof *home);
    for (long i = 0; i < owned; i++)
      here[2 * i] = here[2 * i + 1] = set->spread->numbers[i];
    const struct halo_exchange *x = &set->spread->home;
    int code = carry_rows(comm, &x->receive, &x->send, 2 * sizeof *here, here, home, err);
    for (long i = 0; !code && i < declared; i++)
      if (home[2 * i] != t->mesh.first[s][comm->rank] + i || home[2 * i + 1] != home[2 * i])
        code = error_set(err, OP_ERR_INTERNAL, "element %ld of set %d came home as %lld", i, s, home[2 * i]);
    memset(here, 0, 2 * (size_t)owned * sizeof *here);
    if (!code)
      code = carry_rows(comm, &x->send, &x->receive, 2 * sizeof *here, home, here, err);
    for (long i = 0; !code && i < owned; i++)
      if (here[2 * i + 1] != set->spread->numbers[i])
        code = error_set(err, OP_ERR_INTERNAL, "element %ld of set %d came back as %lld", i, s, here[2 * i]);
    free(here);
    free(home);
    if (code)
      return code;
  }
  return OP_OK;
}

TEST(rows_go_home_and_back) {
  for (uint64_t seed = 1; seed < 20; seed++) {
    const int ranks = 1 + (int)seed % 9;
    struct trial t = {
        .seed = seed, .inwards = (int)seed % 2 - 1, .built = array_new((size_t)ranks, sizeof *t.built)};
    random_mesh_new(&t.mesh, ranks, seed);
    crew_run(ranks, build_one, &t);
    crew_run(ranks, carry_both_ways, &t);
    for (int r = 0; r < ranks; r++)
      built_free(&t.built[r]);
    free(t.built);
    random_mesh_free(&t.mesh);
  }
}
