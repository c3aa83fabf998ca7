/* Partitioners against what they promise, and following against its definition, for meshes spread in several ways. */
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "crew.h"
#include "random_mesh.h"
#include "spread/parts/numbers.h"
#include "spread/parts/parts.h"

enum { MOST_POINTS = 4000 };

struct points {
  int count, dim, parts;
  partitioner *partitioner;
  double coords[3 * MOST_POINTS];
  long long weights[MOST_POINTS];
  bool weighted;
  int owner[MOST_POINTS]; /* the rank that has the point when it is asked for */
  int part[MOST_POINTS];  /* the answer */
};

static int part_points(struct comm *comm, void *user, struct error *err) {
  struct points *p = user;
  long count = 0;
  long long *numbers = array_new((size_t)p->count, sizeof *numbers);
  long long *weights = array_new((size_t)p->count, sizeof *weights);
  double *coords = array_new((size_t)p->count * 3, sizeof *coords);
  int *part = array_new((size_t)p->count, sizeof *part);
  for (int i = 0; i < p->count; i++)
    if (p->owner[i] % comm->size == comm->rank) {
      for (int d = 0; d < p->dim; d++)
        coords[count * p->dim + d] = p->coords[i * p->dim + d];
      weights[count] = p->weights[i];
      numbers[count++] = i;
    }
  const struct part_request request = {.comm = comm,
                                       .parts = p->parts,
                                       .total = p->count,
                                       .count = count,
                                       .numbers = numbers,
                                       .weights = p->weighted ? weights : NULL,
                                       .coords = coords,
                                       .dim = p->dim};
  int code = p->partitioner(&request, part, err);
  for (long i = 0; i < count; i++)
    p->part[numbers[i]] = part[i];
  free(numbers);
  free(weights);
  free(coords);
  free(part);
  return code;
}

/* Some coordinates are the same, as on a grid. */
static struct points *random_points(uint64_t seed, int dim, bool grid) {
  uint64_t state = seed * 77777 + 5;
  struct points *p = calloc(1, sizeof *p);
  p->count = random_below(&state, 8) ? 1 + random_below(&state, MOST_POINTS) : random_below(&state, 6);
  p->dim = dim;
  for (int i = 0; i < p->count * dim; i++)
    p->coords[i] = grid ? random_below(&state, 12) - 6.0 : random_below(&state, 1 << 30) * 1e-6 - 400;
  for (int i = 0; i < p->count; i++) {
    p->weights[i] = 1 + random_below(&state, 9);
    p->owner[i] = random_below(&state, 64);
  }
  return p;
}

/* ---- the definition of recursive coordinate bisection ---- */

static const struct points *sorting;
static int sorting_axis;

static int before(const void *a, const void *b) {
  const int i = *(const int *)a, j = *(const int *)b;
  const double x = sorting->coords[i * sorting->dim + sorting_axis],
               y = sorting->coords[j * sorting->dim + sorting_axis];
  return x < y ? -1 : x > y ? 1 : (i > j) - (i < j);
}

static void cut(const struct points *p, int *list, int count, int first, int parts, int *part) {
  if (parts == 1) {
    for (int i = 0; i < count; i++)
      part[list[i]] = first;
    return;
  }
  double most = -1;
  int axis = 0;
  for (int d = 0; d < p->dim; d++) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < count; i++) {
      low = fmin(low, p->coords[list[i] * p->dim + d]);
      high = fmax(high, p->coords[list[i] * p->dim + d]);
    }
    if (high - low > most) {
      most = high - low;
      axis = d;
    }
  }
  sorting = p;
  sorting_axis = axis;
  qsort(list, (size_t)count, sizeof *list, before);
  long long total = 0, below = 0;
  for (int i = 0; i < count; i++)
    total += p->weighted ? p->weights[list[i]] : 1;
  const long long target = total * (parts / 2) / parts;
  int left = 0;
  while (left < count && below + (p->weighted ? p->weights[list[left]] : 1) <= target)
    below += p->weighted ? p->weights[list[left++]] : (left++, 1);
  cut(p, list, left, first, parts / 2, part);
  cut(p, list + left, count - left, first + parts / 2, parts - parts / 2, part);
}

static const int part_counts[] = {1, 2, 3, 5, 8, 13, 64, 300};
enum { PART_COUNTS = sizeof part_counts / sizeof *part_counts };

TEST(coordinates_are_bisected_exactly) {
  for (uint64_t seed = 1; seed <= 24; seed++) {
    struct points *p = random_points(seed, 1 + (int)seed % 3, seed % 2);
    p->parts = part_counts[seed % PART_COUNTS];
    p->partitioner = parts_rcb;
    p->weighted = seed % 4 > 1;
    crew_run(1 + (int)(seed * 5 % 16), part_points, p);
    int *list = array_new((size_t)p->count, sizeof *list), *part = array_new((size_t)p->count, sizeof *part);
    for (int i = 0; i < p->count; i++)
      list[i] = i;
    cut(p, list, p->count, 0, p->parts, part);
    for (int i = 0; i < p->count; i++)
      if (part[i] != p->part[i])
        fail_msg("seed %d: point %d of %d is in part %d of %d, expected %d", (int)seed, i, p->count,
                 p->part[i], p->parts, part[i]);
    free(list);
    free(part);
    free(p);
  }
}

/* With as many parts as ranks the points of groups are cut by ranks of their own. */
TEST(groups_that_go_apart_are_cut_as_one) {
  partitioner *const all[] = {parts_rcb, parts_inertial};
  static const int ranks[] = {100, 128, 200};
  for (size_t k = 0; k < 2; k++)
    for (size_t n = 0; n < sizeof ranks / sizeof *ranks; n++) {
      struct points *p = random_points(n + 7, 2, n % 2);
      p->count = n ? MOST_POINTS : 90; /* fewer than parts */
      p->parts = ranks[n];
      p->partitioner = all[k];
      p->weighted = n == 1;
      crew_run(3, part_points, p);
      int *once = array_new(MOST_POINTS, sizeof *once), moved = 0;
      memcpy(once, p->part, sizeof p->part);
      crew_run(ranks[n], part_points, p);
      for (int i = 0; i < p->count; i++)
        moved += once[i] != p->part[i];
      /* Axes of inertia are sums, which ranks add up in their order. */
      assert_true(k ? moved <= p->count / 50 : moved == 0);
      free(once);
      free(p);
    }
}

static void check_balance(const struct points *p) {
  int *sizes = array_new((size_t)p->parts, sizeof *sizes);
  for (int i = 0; i < p->count; i++) {
    assert_in_range(p->part[i], 0, p->parts - 1);
    sizes[p->part[i]]++;
  }
  for (int k = 0; k < p->parts; k++)
    assert_true(abs(sizes[k] - p->count / p->parts) <= 2);
  free(sizes);
}

/* Points along a line that is no axis of the coordinates: the parts must be its pieces, in either direction. */
TEST(inertia_finds_the_long_way) {
  for (int parts = 2; parts <= 16; parts *= 2) {
    struct points *p = random_points(3, 2, false);
    p->count = 3200;
    p->parts = parts;
    p->partitioner = parts_inertial;
    uint64_t random = 11;
    for (int i = 0; i < p->count; i++) {
      const double along = i * 1.0, across = random_below(&random, 100) * 0.01;
      p->coords[2 * i] = 0.6 * along - 0.8 * across;
      p->coords[2 * i + 1] = 0.8 * along + 0.6 * across;
    }
    crew_run(7, part_points, p);
    check_balance(p);
    int changes = 0;
    for (int i = 1; i < p->count; i++)
      changes += p->part[i] != p->part[i - 1];
    assert_true(changes <= 5 * parts); /* neighbours along the line may change places across it */
    free(p);
  }
}

TEST(answers_do_not_depend_on_who_asks) {
  partitioner *const all[] = {parts_block, parts_random, parts_rcb};
  for (size_t k = 0; k < 3; k++) {
    struct points *p = random_points(k + 2, 3, true);
    p->parts = 13;
    p->partitioner = all[k];
    crew_run(1, part_points, p);
    int *once = array_new(MOST_POINTS, sizeof *once);
    memcpy(once, p->part, sizeof p->part);
    if (all[k] != parts_random)
      check_balance(p);
    for (int i = 0; i < p->count; i++)
      p->owner[i] = i % 3 ? 0 : p->owner[i];
    crew_run(9, part_points, p);
    assert_memory_equal(once, p->part, (size_t)p->count * sizeof(int));
    free(once);
    free(p);
  }
}

TEST(odd_coordinates_are_parted_too) {
  partitioner *const all[] = {parts_rcb, parts_inertial};
  for (size_t k = 0; k < 2; k++) {
    struct points *p = random_points(4, 3, false);
    p->count = 1000;
    for (int i = 0; i < p->count; i += 7)
      p->coords[3 * i + i % 3] = i % 2 ? NAN : i % 5 ? -0.0 : INFINITY;
    p->parts = 11;
    p->partitioner = all[k];
    crew_run(4, part_points, p);
    check_balance(p);
    free(p);
  }
}

TEST(random_parts_are_even) {
  struct points *p = random_points(2, 1, false);
  p->count = MOST_POINTS;
  p->parts = 8;
  p->partitioner = parts_random;
  crew_run(3, part_points, p);
  int sizes[8] = {0};
  for (int i = 0; i < p->count; i++)
    sizes[p->part[i]]++;
  for (int k = 0; k < 8; k++)
    assert_in_range(sizes[k], 400, 600);
  free(p);
}

/* ---- following ---- */

struct follow_trial {
  struct random_mesh mesh;
  int parts, prime;
  bool declared;
  int *part[MOST_SETS]; /* of every element, by the ranks */
};

static int prime_part(int element, int parts) {
  return (int)((unsigned)element * 2654435761u >> 8) % parts;
}

static int follow_one(struct comm *comm, void *user, struct error *err) {
  struct follow_trial *t = user;
  struct share share;
  int *part[MOST_SETS] = {0};
  random_mesh_share(&t->mesh, comm->rank, t->declared, &share);
  const struct share_set *prime = &share.sets[t->prime];
  part[t->prime] = array_new((size_t)prime->owned, sizeof(int));
  for (long i = 0; i < prime->owned; i++)
    part[t->prime][i] = prime_part((int)prime->numbers[i] / 4, t->parts);
  int code = parts_follow(comm, &share, t->parts, part, err);
  for (int s = 0; s < share.nsets; s++) {
    for (long i = 0; !code && i < share.sets[s].owned; i++)
      t->part[s][share.sets[s].numbers[i]] = part[s][i];
    free(part[s]);
  }
  share_free(&share);
  return code;
}

static int most(const int *votes, int parts) {
  int best = -1;
  for (int k = 0; k < parts; k++)
    if (votes[k] && (best < 0 || votes[k] > votes[best]))
      best = k;
  return best;
}

/* Sets in the same order; each element by counting all votes. */
static void follow_slowly(const struct follow_trial *t, int *part[MOST_SETS]) {
  const struct random_mesh *mesh = &t->mesh;
  bool placed[MOST_SETS] = {0};
  placed[t->prime] = true;
  for (int e = 0; e < mesh->size[t->prime]; e++)
    part[t->prime][e] = prime_part(e / 4, t->parts);
  for (int round = 1; round < mesh->nsets; round++) {
    int set = -1, kind = 2;
    for (int k = 0; k < 2 && set < 0; k++)
      for (int s = 0; s < mesh->nsets && set < 0; s++)
        for (int m = 0; m < mesh->nmaps && !placed[s]; m++) {
          const struct random_map *map = &mesh->maps[m];
          if ((k ? map->to : map->from) == s && placed[k ? map->from : map->to]) {
            set = s;
            kind = k;
          }
        }
    for (int s = 0; s < mesh->nsets && set < 0; s++)
      if (!placed[s])
        set = s;
    for (int e = 0; e < mesh->size[set]; e++) {
      int votes[64] = {0};
      for (int m = 0; m < mesh->nmaps; m++) {
        const struct random_map *map = &mesh->maps[m];
        for (int i = 0; i < mesh->size[map->from] * map->arity; i++) {
          const int source = i / map->arity, target = map->table[i];
          if (kind == 0 && map->from == set && placed[map->to] && source == e)
            votes[part[map->to][target]]++;
          if (kind == 1 && map->to == set && placed[map->from] && target == e)
            votes[part[map->from][source]]++;
        }
      }
      const int best = most(votes, t->parts);
      const int size = mesh->size[set] / t->parts, rest = mesh->size[set] % t->parts;
      part[set][e] = best >= 0               ? best
                     : e < rest * (size + 1) ? e / (size + 1)
                                             : rest + (e - rest * (size + 1)) / size;
    }
    placed[set] = true;
  }
}

TEST(sets_follow_the_prime_set) {
  static const int ranks[] = {1, 2, 3, 4, 7, 8, 33, 64};
  long compared = 0;
  for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
    for (uint64_t seed = 1; seed <= 6; seed++) {
      struct follow_trial t = {.parts = ranks[i], .declared = seed % 2};
      int *wanted[MOST_SETS];
      random_mesh_new(&t.mesh, ranks[i], seed * 31 + i);
      t.prime = (int)seed % t.mesh.nsets;
      for (int s = 0; s < t.mesh.nsets; s++) {
        t.part[s] = array_new((size_t)t.mesh.size[s], sizeof(int));
        wanted[s] = array_new((size_t)t.mesh.size[s], sizeof(int));
      }
      crew_run(ranks[i], follow_one, &t);
      follow_slowly(&t, wanted);
      for (int s = 0; s < t.mesh.nsets; s++) {
        for (int e = 0; e < t.mesh.size[s]; e++, compared++)
          if (wanted[s][e] != t.part[s][e])
            fail_msg("%d ranks, seed %d: element %d of set %d goes to %d, expected %d", ranks[i], (int)seed,
                     e, s, t.part[s][e], wanted[s][e]);
        free(t.part[s]);
        free(wanted[s]);
      }
      random_mesh_free(&t.mesh);
    }
  assert_true(compared > 10000);
}

/* ---- weights ---- */

struct weight_trial {
  struct random_mesh mesh;
  int prime, cost[MOST_SETS];
  bool declared;
  long long *weight; /* of every element of the prime set, by the ranks */
};

static int weigh_one(struct comm *comm, void *user, struct error *err) {
  struct weight_trial *t = user;
  struct share share;
  random_mesh_share(&t->mesh, comm->rank, t->declared, &share);
  const struct share_set *prime = &share.sets[t->prime];
  long long *weights = array_new((size_t)prime->owned, sizeof *weights);
  int code = parts_weights(comm, &share, t->prime, t->cost, weights, err);
  for (long i = 0; !code && i < prime->owned; i++)
    t->weight[prime->numbers[i]] = weights[i];
  free(weights);
  share_free(&share);
  return code;
}

/* Each element hands its cost on entry by entry, in real numbers. */
static void weigh_slowly(const struct weight_trial *t, double *load[MOST_SETS]) {
  const struct random_mesh *mesh = &t->mesh;
  struct share share;
  bool placed[MOST_SETS] = {0};
  struct follow_plan plan;
  struct error err = {0};
  random_mesh_share(mesh, 0, false, &share);
  placed[t->prime] = true;
  assert_int_equal(follow_plan(&share, placed, &plan, &err), OP_OK);
  for (int s = 0; s < mesh->nsets; s++)
    for (int e = 0; e < mesh->size[s]; e++)
      load[s][e] = t->cost[s];
  for (int i = plan.count - 1; i >= 0; i--) {
    const struct follow_step *step = &plan.steps[i];
    int *shares = array_new((size_t)mesh->size[step->set], sizeof *shares);
    for (int pass = 0; pass < 2; pass++)
      for (int m = 0; m < mesh->nmaps; m++) {
        const struct random_map *map = &mesh->maps[m];
        for (int k = 0; follow_leads(&plan, step, &share.maps[m]) && k < mesh->size[map->from] * map->arity;
             k++) {
          const int source = k / map->arity, target = map->table[k];
          const int mine = step->kind == FOLLOW_TARGETS ? source : target;
          if (pass == 0)
            shares[mine]++;
          else if (step->kind == FOLLOW_TARGETS)
            load[map->to][target] += load[step->set][mine] / shares[mine];
          else
            load[map->from][source] += load[step->set][mine] / shares[mine];
        }
      }
    free(shares);
  }
  follow_plan_free(&plan);
  share_free(&share);
}

TEST(costs_come_down_to_the_prime_set) {
  static const int ranks[] = {1, 2, 3, 7, 16};
  long different = 0;
  for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
    for (uint64_t seed = 1; seed <= 12; seed++) {
      struct weight_trial t = {.declared = seed % 2};
      double *load[MOST_SETS];
      random_mesh_new(&t.mesh, ranks[i], seed * 17 + i);
      t.prime = (int)seed % t.mesh.nsets;
      for (int s = 0; s < t.mesh.nsets; s++) {
        t.cost[s] = (int)(seed * 131 + (uint64_t)s * 1777) % MOST_COST;
        load[s] = array_new((size_t)t.mesh.size[s], sizeof **load);
      }
      const int size = t.mesh.size[t.prime];
      t.weight = array_new((size_t)size, sizeof *t.weight);
      crew_run(ranks[i], weigh_one, &t);
      weigh_slowly(&t, load);
      for (int e = 0; e < size; e++) {
        /* The unit is a 1024th; each share loses less than one. */
        const double wanted = load[t.prime][e], got = (double)t.weight[e] / 1024;
        if (fabs(got - wanted) > 0.01 * wanted + 5)
          fail_msg("%d ranks, seed %d: element %d weighs %g, expected %g", ranks[i], (int)seed, e, got,
                   wanted);
        different += t.weight[e] != t.weight[0];
      }
      free(t.weight);
      for (int s = 0; s < t.mesh.nsets; s++)
        free(load[s]);
      random_mesh_free(&t.mesh);
    }
  assert_true(different > 1000);
}
