/* Rings against their definition, worked out by looking at the whole mesh. */
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../distribute/crew.h"
#include "../distribute/random_mesh.h"
#include "base/list.h"
#include "spread/parts/build.h"
#include "spread/rings.h"

enum { MOST_LAYERS = 4, MOST_RANKS = 9, NOWHERE = 1000 };

static int seeds = 40;

struct trial {
  struct random_mesh mesh;
  int layers;
  bool followed[MOST_MAPS];
  struct built built[MOST_RANKS];
  struct rings rings[MOST_RANKS];
  const char *wrong; /* NULL: nothing */
};

static int build_one(struct comm *comm, void *user, struct error *err) {
  struct trial *t = user;
  struct share share;
  struct built *built = &t->built[comm->rank];
  struct rings_set sets[MOST_SETS];
  struct rings_map maps[MOST_MAPS];
  random_mesh_share(&t->mesh, comm->rank, false, &share);
  const int code = build_halos(comm, &share, -1, built, err);
  share_free(&share);
  if (code)
    return code;
  for (int s = 0; s < t->mesh.nsets; s++)
    sets[s] = (struct rings_set){built->sets[s].spread, built->sets[s].extents};
  for (int m = 0; m < t->mesh.nmaps; m++)
    maps[m] = (struct rings_map){t->mesh.maps[m].from, t->mesh.maps[m].to, t->mesh.maps[m].arity,
                                 built->maps[m].table, t->followed[m]};
  const struct rings_mesh mesh = {sets, maps, t->mesh.nsets, t->mesh.nmaps};
  return rings_build(comm, &mesh, t->layers, &t->rings[comm->rank], err);
}

/* ---- the definition ---- */

/* An element's depth: half layers, behind them the fringe. */
struct depths_of {
  int *set[MOST_SETS];
};

/* By all maps, or by those that are followed. */
static void deepen(const struct trial *t, struct depths_of *d, int depth, bool all) {
  for (int m = 0; m < t->mesh.nmaps; m++) {
    const struct random_map *map = &t->mesh.maps[m];
    for (int i = 0; (all || t->followed[m]) && i < t->mesh.size[map->from] * map->arity; i++) {
      int *from = &d->set[map->from][i / map->arity], *to = &d->set[map->to][map->table[i]];
      if (depth % 2 && *to<depth && * from> depth)
        *from = depth;
      if (depth % 2 == 0 && *from<depth && * to> depth)
        *to = depth;
    }
  }
}

static void find_fringe(const struct trial *t, struct depths_of *d) {
  const int deepest = 2 * t->layers;
  for (int m = 0; m < t->mesh.nmaps; m++) {
    const struct random_map *map = &t->mesh.maps[m];
    for (int i = 0; i < t->mesh.size[map->from] * map->arity; i++) {
      int *to = &d->set[map->to][map->table[i]];
      if (d->set[map->from][i / map->arity] <= deepest && *to > deepest)
        *to = deepest + 1;
    }
  }
}

static void find_depths(const struct trial *t, int rank, struct depths_of *d) {
  for (int s = 0; s < t->mesh.nsets; s++) {
    d->set[s] = array_new((size_t)t->mesh.size[s], sizeof(int));
    for (int e = 0; e < t->mesh.size[s]; e++)
      d->set[s][e] = t->mesh.owner[s][e] == rank ? 0 : NOWHERE;
  }
  for (int depth = 1; depth <= 2 * t->layers; depth++)
    deepen(t, d, depth, depth <= 2);
  find_fringe(t, d);
}

/* ---- comparing ---- */

static void expect(struct trial *t, bool holds, const char *words) {
  if (!holds && !t->wrong)
    t->wrong = words;
}

static void check_set(struct trial *t, int rank, int s, const int *depth) {
  const struct ring_set *set = &t->rings[rank].sets[s];
  const int *owner = t->mesh.owner[s], deepest = 2 * t->layers + 1;
  long wanted[2 * MOST_LAYERS + 2] = {0};
  for (int e = 0; e < t->mesh.size[s]; e++)
    for (int v = depth[e]; v <= deepest; v++)
      wanted[v]++;
  for (int v = 0; v <= deepest; v++)
    expect(t, set->ends[v] == wanted[v], "another number of elements");
  for (int v = 0; !t->wrong && v <= deepest; v++)
    for (long i = v ? set->ends[v - 1] : 0; i < set->ends[v]; i++) {
      const long long e = set->numbers[i],
                      before = i && v > 2 && i > set->ends[v - 1] ? set->numbers[i - 1] : -1;
      expect(t, depth[e] == v, "another depth");
      expect(t, before < 0 || owner[before] < owner[e] || (owner[before] == owner[e] && before < e),
             "another order");
    }
}

static void check_map(struct trial *t, int rank, int m) {
  const struct random_map *map = &t->mesh.maps[m];
  const struct ring_set *from = &t->rings[rank].sets[map->from], *to = &t->rings[rank].sets[map->to];
  for (long e = 0; !t->wrong && e < from->ends[2 * t->layers]; e++)
    for (int i = 0; i < map->arity; i++) {
      const int target = t->rings[rank].tables[m][e * map->arity + i];
      expect(t, target >= 0 && target < to->ends[2 * t->layers + 1], "a row leads nowhere");
      expect(t, t->wrong || to->numbers[target] == map->table[from->numbers[e] * map->arity + i],
             "a row leads elsewhere");
    }
}

static int neighbour(const struct halo_side *side, int rank) {
  for (int i = 0; i < side->count; i++)
    if (side->ranks[i] == rank)
      return i;
  return -1;
}

/* All that a half layer adds arrives, from its owner, who sends the same. */
static void check_messages(struct trial *t, int rank, int s, int v) {
  const struct ring_set *set = &t->rings[rank].sets[s];
  const struct halo_side *receive = &set->exchanges[v].receive;
  long arrived = 0;
  for (int i = 0; i < receive->count; i++) {
    const struct ring_set *theirs = &t->rings[receive->ranks[i]].sets[s];
    const struct halo_side *send = &theirs->exchanges[v].send;
    const int k = neighbour(send, rank);
    const long count = receive->first[i + 1] - receive->first[i];
    expect(t, k >= 0 && send->first[k + 1] - send->first[k] == count, "a message has another length");
    for (long j = 0; !t->wrong && j < count; j++, arrived++) {
      const int mine = receive->elements[receive->first[i] + j], other = send->elements[send->first[k] + j];
      expect(t, other < theirs->ends[0], "what is sent is not owned");
      expect(t, mine == set->ends[v - 1] + arrived && set->numbers[mine] == theirs->numbers[other],
             "a message has other elements");
    }
  }
  expect(t, arrived == set->ends[v] - set->ends[v - 1], "not all arrives");
}

static long check_rank(struct trial *t, int rank) {
  struct depths_of d;
  long deep = 0;
  find_depths(t, rank, &d);
  for (int s = 0; s < t->mesh.nsets; s++) {
    check_set(t, rank, s, d.set[s]);
    for (int v = 3; !t->wrong && v <= 2 * t->layers + 1; v++)
      check_messages(t, rank, s, v);
    deep += t->rings[rank].sets[s].ends[2 * t->layers + 1] - t->rings[rank].sets[s].ends[2];
    free(d.set[s]);
  }
  for (int m = 0; m < t->mesh.nmaps; m++)
    check_map(t, rank, m);
  return deep;
}

/* The mistake, or NULL. *deep: copies behind the first layer. */
static const char *try_mesh(uint64_t seed, int ranks, int layers, long *deep) {
  struct trial *t = array_new(1, sizeof *t);
  uint64_t state = seed * 7919 + (uint64_t)layers;
  t->layers = layers;
  random_mesh_new(&t->mesh, ranks, seed);
  for (int m = 0; m < t->mesh.nmaps; m++)
    t->followed[m] = random_below(&state, 4) > 0;
  crew_run(ranks, build_one, t);
  for (int r = 0; r < ranks; r++)
    *deep += check_rank(t, r);
  for (int r = 0; r < ranks; r++) {
    rings_free(&t->rings[r]);
    built_free(&t->built[r]);
  }
  random_mesh_free(&t->mesh);
  const char *wrong = t->wrong;
  free(t);
  return wrong;
}

static const char *try_meshes(uint64_t seed, long *deep) {
  const char *wrong = NULL;
  for (int layers = 1; !wrong && layers <= MOST_LAYERS; layers++)
    wrong = try_mesh(seed, 2 + (int)(seed % (MOST_RANKS - 1)), layers, deep);
  return wrong;
}

TEST(rings_are_as_defined) {
  long deep = 0;
  for (int seed = 1; seed <= seeds; seed++) {
    const char *wrong = try_meshes((uint64_t)seed, &deep);
    if (wrong)
      fail_msg("seed %d: %s", seed, wrong);
  }
  assert_true(deep > 1000);
}

static int run_mutant(void) {
  long deep = 0;
  for (int seed = 1; seed <= seeds; seed++) {
    const char *wrong = try_meshes((uint64_t)seed, &deep);
    if (wrong) {
      printf("seed %d: %s\n", seed, wrong);
      return 0;
    }
  }
  printf("nobody noticed in %d meshes\n", seeds);
  return 1;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "mutant") == 0)
    return run_mutant();
  if (argc > 1 && strcmp(argv[1], "long") == 0)
    seeds = 2000;
  return run_these(NULL, NULL);
}
