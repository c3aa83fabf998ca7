/* The graph that partitioners take: both ways, each neighbour once, and all of those that meet; of very many that
 * meet in one target, a few for each, that still hold together. */
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "crew.h"
#include "random_mesh.h"
#include "spread/parts/graph.h"

struct trial {
  struct random_mesh mesh;
  int map;
  bool by_rows;
  struct graph *graphs; /* per rank */
};

static int prime(const struct trial *t) {
  return t->by_rows ? t->mesh.maps[t->map].to : t->mesh.maps[t->map].from;
}

static int build_one(struct comm *comm, void *user, struct error *err) {
  struct trial *t = user;
  struct share share;
  random_mesh_share(&t->mesh, comm->rank, false, &share);
  const long owned = share.sets[prime(t)].owned;
  long long *weights = array_new((size_t)owned, sizeof *weights);
  for (long e = 0; e < owned; e++)
    weights[e] = 3 * share.sets[prime(t)].numbers[e] + 1;
  int code = graph_build(&t->graphs[comm->rank], comm, &share, t->map, t->by_rows, weights, err);
  free(weights);
  share_free(&share);
  return code;
}

static const struct graph *of(const struct trial *t, long long number) {
  int r = 0;
  while (number >= t->graphs[r].first + t->graphs[r].size)
    r++;
  return &t->graphs[r];
}

static bool has(const struct trial *t, long long a, long long b) {
  const struct graph *g = of(t, a);
  for (long k = g->start[a - g->first]; k < g->start[a - g->first + 1]; k++)
    if (g->neighbours[k] == b)
      return true;
  return false;
}

static long degree(const struct trial *t, long long a) {
  const struct graph *g = of(t, a);
  return g->start[a - g->first + 1] - g->start[a - g->first];
}

/* Facts that any partitioner relies on. */
static void check_form(const struct trial *t) {
  long long next = 0;
  for (int r = 0; r < t->mesh.ranks; r++) {
    const struct graph *g = &t->graphs[r];
    assert_int_equal(g->first, next);
    assert_int_equal(g->total, t->mesh.size[prime(t)]);
    assert_int_equal(g->start[0], 0);
    next += g->size;
    for (long i = 0; i < g->size; i++) {
      assert_int_equal(g->weights[i], 3 * (g->first + i) + 1);
      for (long k = g->start[i]; k < g->start[i + 1]; k++) {
        const long long neighbour = g->neighbours[k];
        assert_in_range(neighbour, 0, g->total - 1);
        assert_true(neighbour != g->first + i);
        assert_true(k == g->start[i] || g->neighbours[k - 1] < neighbour);
        assert_true(has(t, neighbour, g->first + i));
      }
    }
  }
  assert_int_equal(next, t->mesh.size[prime(t)]);
}

/* Everybody who meets is there, and nobody else. */
static void check_all_pairs(const struct trial *t) {
  const struct random_map *map = &t->mesh.maps[t->map];
  const int n = t->mesh.size[prime(t)], rows = t->mesh.size[map->from], entries = rows * map->arity;
  bool *meet = array_new((size_t)n * (size_t)n, sizeof *meet);
  for (int i = 0; i < entries; i++)
    for (int k = 0; k < entries; k++) {
      if (t->by_rows && i / map->arity == k / map->arity)
        meet[map->table[i] * n + map->table[k]] = true;
      if (!t->by_rows && map->table[i] == map->table[k])
        meet[i / map->arity * n + k / map->arity] = true;
    }
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++)
      assert_int_equal(has(t, a, b), a != b && meet[a * n + b]);
  free(meet);
}

static void build(struct trial *t) {
  t->graphs = array_new((size_t)t->mesh.ranks, sizeof *t->graphs);
  crew_run(t->mesh.ranks, build_one, t);
  check_form(t);
}

static void forget(struct trial *t) {
  for (int r = 0; r < t->mesh.ranks; r++)
    graph_free(&t->graphs[r]);
  free(t->graphs);
}

/* How many sources share the target that most share. */
static int most_meeting(const struct random_mesh *mesh, const struct random_map *map) {
  int *meeting = array_new((size_t)mesh->size[map->to], sizeof *meeting), most = 0;
  for (int i = 0; i < mesh->size[map->from] * map->arity; i++)
    if (++meeting[map->table[i]] > most)
      most = meeting[map->table[i]];
  free(meeting);
  return most;
}

TEST(test_random) {
  int whole = 0;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    struct trial t = {0};
    random_mesh_new(&t.mesh, 1 + (int)(seed % 5), seed * 7919);
    for (t.map = 0; t.map < t.mesh.nmaps; t.map++)
      for (int by_rows = 0; by_rows < 2; by_rows++) {
        const struct random_map *map = &t.mesh.maps[t.map];
        t.by_rows = by_rows;
        build(&t);
        if (by_rows || most_meeting(&t.mesh, map) <= GRAPH_MOST_NEIGHBOURS) {
          check_all_pairs(&t);
          whole++;
        }
        forget(&t);
      }
    random_mesh_free(&t.mesh);
  }
  assert_true(whole > 30);
}

/* Elements that can be reached from the first one. */
static int reached(const struct trial *t, int n) {
  int *queue = array_new((size_t)n, sizeof *queue), count = 1;
  bool *seen = array_new((size_t)n, sizeof *seen);
  seen[0] = true;
  for (int at = 0; at < count; at++) {
    const struct graph *g = of(t, queue[at]);
    for (long k = g->start[queue[at] - g->first]; k < g->start[queue[at] - g->first + 1]; k++)
      if (!seen[g->neighbours[k]]) {
        seen[g->neighbours[k]] = true;
        queue[count++] = (int)g->neighbours[k];
      }
  }
  free(queue);
  free(seen);
  return count;
}

/* All entries of 30011 rows name one target: all pairs of them would need 922 GB. */
TEST(test_hub) {
  enum { RANKS = 3, SOURCES = 30011, ARITY = 8 };
  struct trial t = {.mesh = {.ranks = RANKS, .nsets = 2, .nmaps = 1, .size = {SOURCES, 1}}};
  t.mesh.maps[0] = (struct random_map){
      .from = 0, .to = 1, .arity = ARITY, .table = array_new(SOURCES * ARITY, sizeof(int))};
  for (int s = 0; s < 2; s++) {
    t.mesh.first[s] = array_new(RANKS + 1, sizeof **t.mesh.first);
    t.mesh.owner[s] = array_new((size_t)t.mesh.size[s], sizeof **t.mesh.owner);
    for (int r = 0; r <= RANKS; r++)
      t.mesh.first[s][r] = (long long)t.mesh.size[s] * r / RANKS;
    for (int e = 0; e < t.mesh.size[s]; e++)
      t.mesh.owner[s][e] = e * 5 % 7 % RANKS;
  }
  build(&t);
  for (int a = 0; a < SOURCES; a++)
    assert_int_equal(degree(&t, a), GRAPH_MOST_NEIGHBOURS);
  assert_int_equal(reached(&t, SOURCES), SOURCES);
  forget(&t);
  random_mesh_free(&t.mesh);
}
