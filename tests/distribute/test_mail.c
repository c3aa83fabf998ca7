/* Messages between ranks: numbers of elements, rows in batches, elements that move, who has what. */
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "crew.h"
#include "random_mesh.h"
#include "spread/parts/build.h"
#include "spread/parts/directory.h"
#include "spread/parts/mail.h"
#include "spread/parts/numbers.h"

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

/* Whether a rank knows who declared what it owns. */
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
static int move_on(struct comm *comm, const struct random_mesh *mesh, struct share *share,
                   struct error *err) {
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
    if (!code && !homes_are_right(mesh, s, &share->sets[s]))
      code = error_set(err, OP_ERR_INTERNAL, "it is forgotten who declared set %d", s);
    free(part[s]);
    halo_exchange_free(&routes[s]);
  }
  return code;
}

/* From the ranks that declared the elements to their owners: the same as if they had been there from the beginning. */
static int move_one(struct comm *comm, void *user, struct error *err) {
  const struct random_mesh *mesh = user;
  struct share moved, wanted;
  struct halo_exchange routes[MOST_SETS];
  int *part[MOST_SETS];
  random_mesh_share(mesh, comm->rank, true, &moved);
  random_mesh_share(mesh, comm->rank, false, &wanted);
  for (int s = 0; s < moved.nsets; s++) {
    part[s] = array_new((size_t)moved.sets[s].owned, sizeof(int));
    for (long i = 0; i < moved.sets[s].owned; i++)
      part[s][i] = mesh->owner[s][moved.sets[s].numbers[i]];
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
    else if (!homes_are_right(mesh, s, &moved.sets[s]))
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
    code = move_on(comm, mesh, &moved, err);
  share_free(&moved);
  share_free(&wanted);
  return code;
}

TEST(elements_move_with_their_rows) {
  for (uint64_t seed = 1; seed < 40; seed++) {
    const int ranks = 1 + (int)seed % 9;
    struct random_mesh mesh;
    (seed % 2 ? random_mesh_new_ragged : random_mesh_new)(&mesh, ranks, seed);
    crew_run(ranks, move_one, &mesh);
    random_mesh_free(&mesh);
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
