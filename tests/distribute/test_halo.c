/* Halos against their definition, worked out by looking at the whole mesh. */
#include "../unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "crew.h"
#include "random_mesh.h"
#include "spread/parts/build.h"
#include "spread/parts/directory.h"
#include "spread/parts/mail.h"
#include "spread/parts/numbers.h"

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

/* What one entry reaches its element does, and with it all its entries. */
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

TEST(numbers_are_found_again) {
  uint64_t random = 77;
  for (int round = 0; round < 20; round++) {
    enum { COUNT = 3000 };
    long long given[COUNT];
    const long long stride = 1LL << (round % 7 * 5);
    for (int i = 0; i < COUNT; i++)
      given[i] = (i < 500 ? i : 500 + (i - 500) * 3) * stride;
    struct numbers n;
    assert_true(numbers_new(&n, given, COUNT / 2));
    for (int i = COUNT / 2; i < COUNT; i++)
      assert_int_equal(numbers_find(&n, given[i]), -1);
    for (int i = 0; i < COUNT; i++)
      assert_int_equal(numbers_add(&n, given[i]), i);
    for (int i = 0; i < 2 * COUNT; i++) {
      const int k = random_below(&random, COUNT);
      assert_int_equal(numbers_find(&n, given[k]), k);
    }
    assert_int_equal(numbers_find(&n, -1), -1);
    assert_int_equal(n.count, COUNT);
    numbers_free(&n);
  }
}

/* Owned numbers in several shapes: all that are there are found, their neighbours are not. */
TEST(stretches_are_found) {
  uint64_t random = 5;
  for (int round = 0; round < 200; round++) {
    enum { COUNT = 400 };
    long long given[2 * COUNT], next = round % 5 ? 0 : 1LL << 40;
    const int length = 1 + random_below(&random, 60), sorted = random_below(&random, COUNT + 1);
    for (int i = 0; i < COUNT; i++)
      given[i] = next += random_below(&random, length) ? 1 : 2 + random_below(&random, 1 << (round % 20));
    /* The others come in another order, behind them. */
    for (int i = sorted; i < COUNT; i++) {
      const int k = sorted + random_below(&random, i - sorted + 1);
      const long long other = given[i];
      given[i] = given[k];
      given[k] = other;
    }
    struct numbers n;
    assert_true(numbers_new(&n, given, COUNT));
    for (int i = 0; i < COUNT; i++)
      assert_int_equal(numbers_find(&n, given[i]), i);
    int added = COUNT;
    for (int i = 0; i < COUNT; i++) {
      const long long near = given[i] + (i % 2 ? 1 : -1);
      int known = -1;
      for (int k = 0; k < added; k++)
        known = given[k] == near ? k : known;
      assert_int_equal(numbers_find(&n, near), known);
      if (known < 0)
        given[added++] = near;
      assert_int_equal(numbers_add(&n, near), known < 0 ? added - 1 : known);
    }
    numbers_free(&n);
  }
}

TEST(numbers_are_put_in_order) {
  uint64_t random = 9;
  for (int round = 0; round < 200; round++) {
    enum { COUNT = 300 };
    long long number[COUNT];
    const int count = random_below(&random, COUNT), stretch = 1 + random_below(&random, COUNT);
    for (int i = 0; i < count; i++)
      number[i] = i % stretch == 0 ? random_below(&random, 1000) : number[i - 1] + random_below(&random, 9);
    bool seen[COUNT] = {false};
    int *order = numbers_order(number, count);
    assert_non_null(order);
    for (int i = 0; i < count; i++) {
      assert_in_range(order[i], 0, count - 1);
      assert_false(seen[order[i]]);
      seen[order[i]] = true;
      assert_true(i == 0 || number[order[i]] >= number[order[i - 1]]);
    }
    free(order);
  }
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

/* Against a table of all ranks: few and many ranks, in any order, near and far apart. */
TEST(tallies_count_by_rank) {
  enum { RANKS = 3000, ITEMS = 5000 };
  uint64_t random = 11;
  for (int round = 0; round < 60; round++) {
    const int met = 1 + random_below(&random, round % 2 ? 12 : RANKS),
              apart = 1 + random_below(&random, 1 << 19);
    long wanted[RANKS] = {0}, at = 0;
    int rank_of[ITEMS];
    struct tally t;
    for (int i = 0; i < ITEMS; i++) {
      const int r = random_below(&random, 4) && i ? rank_of[i - 1] / apart : random_below(&random, met);
      wanted[r]++;
      rank_of[i] = r * apart;
    }
    int *order = tally_group(&t, rank_of, NULL, ITEMS);
    assert_true(order && t.total == ITEMS);
    for (int r = 0; r < RANKS; r++) {
      const int place = tally_place(&t, r * apart);
      assert_int_equal(place >= 0, wanted[r] > 0);
      for (long k = 0, last = -1; place >= 0 && k < t.items[place]; last = order[at++], k++)
        assert_true(rank_of[order[at]] == r * apart && order[at] > last && t.items[place] == wanted[r]);
    }
    assert_true(tally_add(&t, RANKS * apart, 0) && tally_place(&t, RANKS * apart) < 0);
    tally_free(&t);
    free(order);
  }
}

/* Rows that need several batches, of which some neighbours fill none, between stores of either layout. */
static int carry_many(struct comm *comm, void *user, struct error *err) {
  (void)user;
  enum { VALUES = 3, STEP = 20011 };
  const int ranks = comm->size, me = comm->rank;
  struct tally counts = {0}; /* both ways */
  for (int r = ranks - 1; r >= 0; r--)
    if (!tally_add(&counts, r, (long)((me + r) % 3) * STEP))
      abort();
  const long going = counts.total, coming = going;
  int *sent = array_new((size_t)going, sizeof *sent), *got = array_new((size_t)coming, sizeof *got);
  double *from = array_new((size_t)going * VALUES, sizeof *from);
  double *into = array_new((size_t)coming * VALUES, sizeof *into);
  for (long i = 0; i < going; i++) {
    sent[i] = (int)(going - 1 - i);
    for (int v = 0; v < VALUES; v++)
      from[i * VALUES + v] = (double)(i * VALUES + v) + 1e7 * me;
  }
  for (long i = 0; i < coming; i++)
    got[i] = (int)i;
  struct halo_exchange x = {0};
  int code = side_from_tally(&x.send, &counts, sent, err);
  if (!code)
    code = side_from_tally(&x.receive, &counts, got, err);
  const bool apart = ranks % 2;
  const struct row_store source = {from, sizeof *from, VALUES, 0},
                         target = {into, sizeof *into, VALUES, apart ? coming : 0};
  if (!code)
    code = carry(comm, &x.send, &x.receive, &source, &target, 1, err);
  long at = 0;
  for (int r = 0; !code && r < ranks; r++) {
    /* Rank r sends the rows before its rows for this one in descending order. */
    long all = 0, before = 0;
    for (int k = 0; k < ranks; k++) {
      all += (long)((r + k) % 3) * STEP;
      before += k < me ? (long)((r + k) % 3) * STEP : 0;
    }
    const int place = tally_place(&counts, r);
    for (long i = 0; place >= 0 && i < counts.items[place]; i++, at++)
      for (int v = 0; v < VALUES; v++)
        if (*(double *)row_value(&target, at, v) != (double)((all - 1 - before - i) * VALUES + v) + 1e7 * r)
          code = error_set(err, OP_ERR_INTERNAL, "row %ld of rank %d is another one's", i, r);
  }
  halo_exchange_free(&x);
  free(from);
  free(into);
  tally_free(&counts);
  return code;
}

TEST(many_rows_travel_in_batches) {
  for (int ranks = 1; ranks < 6; ranks++)
    crew_run(ranks, carry_many, NULL);
}

/* From the ranks that declared the elements to their owners: the same as if they had been there from the beginning. */
/* Does a rank know who declared what it owns? */
static bool homes_are_right(const struct random_mesh *mesh, int s, const struct share_set *set) {
  for (long i = 0; i < set->owned; i++) {
    int h = 0;
    while (h + 1 < set->homes.count && set->homes.list[h + 1].first <= set->numbers[i])
      h++;
    const long long *first = h < set->homes.count ? mesh->first[s] + set->homes.list[h].rank : NULL;
    if (!first || set->numbers[i] < first[0] || set->numbers[i] >= first[1])
      return false;
  }
  return true;
}

/* On to other owners, entries with their elements. */
static int move_on(struct comm *comm, const struct trial *t, struct share *share, struct error *err) {
  struct halo_exchange routes[MOST_SETS];
  int *part[MOST_SETS];
  for (int s = 0; s < share->nsets; s++) {
    const struct share_set *set = &share->sets[s];
    part[s] = array_new((size_t)set->owned, sizeof(int));
    for (long i = 0; !set->begin && i < set->owned; i++)
      part[s][i] = (int)(set->numbers[i] / 3 % comm->size);
    for (long e = 0; set->begin && e < share->sets[set->of].owned; e++)
      for (long long i = set->begin[e]; i < set->begin[e + 1]; i++)
        part[s][i] = part[set->of][e];
  }
  int code = share_move(comm, share, part, routes, err);
  for (int s = 0; s < share->nsets; s++) {
    if (!code && !homes_are_right(&t->mesh, s, &share->sets[s]))
      code = error_set(err, OP_ERR_INTERNAL, "it is forgotten who declared set %d", s);
    free(part[s]);
    halo_exchange_free(&routes[s]);
  }
  return code;
}

static int move_one(struct comm *comm, void *user, struct error *err) {
  struct trial *t = user;
  struct share moved, wanted;
  struct halo_exchange routes[MOST_SETS];
  int *part[MOST_SETS];
  random_mesh_share(&t->mesh, comm->rank, true, &moved);
  random_mesh_share(&t->mesh, comm->rank, false, &wanted);
  for (int s = 0; s < moved.nsets; s++) {
    part[s] = array_new((size_t)moved.sets[s].owned, sizeof(int));
    for (long i = 0; i < moved.sets[s].owned; i++)
      part[s][i] = t->mesh.owner[s][moved.sets[s].numbers[i]];
  }
  int code = share_move(comm, &moved, part, routes, err);
  for (int s = 0; !code && s < moved.nsets; s++)
    if (moved.sets[s].owned != wanted.sets[s].owned ||
        memcmp(moved.sets[s].numbers, wanted.sets[s].numbers,
               (size_t)moved.sets[s].owned * sizeof(long long)))
      code = error_set(err, OP_ERR_INTERNAL, "set %d did not arrive", s);
    else if (moved.sets[s].begin &&
             memcmp(moved.sets[s].begin, wanted.sets[s].begin,
                    (size_t)(moved.sets[moved.sets[s].of].owned + 1) * sizeof(long long)))
      code = error_set(err, OP_ERR_INTERNAL, "the entries of set %d did not arrive", s);
    else if (!homes_are_right(&t->mesh, s, &moved.sets[s]))
      code = error_set(err, OP_ERR_INTERNAL, "it is not known who declared set %d", s);
  for (int m = 0; !code && m < moved.nmaps; m++)
    if (memcmp(moved.maps[m].rows.entries, wanted.maps[m].rows.entries,
               (size_t)share_targets(&moved, &moved.maps[m]) * rows_entry_bytes(&wanted.maps[m].rows)))
      code = error_set(err, OP_ERR_INTERNAL, "map %d did not arrive", m);
  for (int s = 0; s < moved.nsets; s++) {
    free(part[s]);
    halo_exchange_free(&routes[s]);
  }
  if (!code)
    code = move_on(comm, t, &moved, err);
  share_free(&moved);
  share_free(&wanted);
  return code;
}

TEST(elements_move_with_their_rows) {
  for (uint64_t seed = 1; seed < 40; seed++) {
    const int ranks = 1 + (int)seed % 9;
    struct trial t = {.seed = seed};
    (seed % 2 ? random_mesh_new_ragged : random_mesh_new)(&t.mesh, ranks, seed);
    crew_run(ranks, move_one, &t);
    random_mesh_free(&t.mesh);
  }
}

/* In the order in which op_partition and op_renumber leave them, too. */
static int tell_in_any_order(struct comm *comm, void *user, struct error *err) {
  enum { EACH = 1000, HALF = EACH / 2, STEP = 7 };
  long long numbers[EACH];
  int values[EACH], answers[EACH];
  struct directory d;
  for (int i = 0; i < EACH; i++) {
    const int number = i * STEP % EACH;
    numbers[i] = EACH * comm->rank + HALF + number; /* half of them are the next rank's to know */
    numbers[i] %= (long long)EACH * comm->size;
    values[i] = 2 * comm->rank + number / HALF;
  }
  crew_traffic(comm);
  int code = directory_make(&d, comm, (long long)EACH * comm->size, numbers, EACH, values, 0, err);
  ((long long *)user)[comm->rank] = crew_traffic(comm).bytes;
  if (!code)
    code = directory_ask(&d, comm, numbers, EACH, answers, err);
  directory_free(&d);
  if (!code && memcmp(answers, values, sizeof values) != 0)
    code = error_set(err, OP_ERR_INTERNAL, "answers are not what was told");
  return code;
}

TEST(directories_are_told_in_stretches) {
  enum { RANKS = 3 };
  long long bytes[RANKS];
  crew_run(RANKS, tell_in_any_order, bytes);
  for (int r = 0; r < RANKS; r++)
    assert_in_range(bytes[r], 1, 100);
}
