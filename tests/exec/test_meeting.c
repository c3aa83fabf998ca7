/* Elements that come to one target: found as brute force finds them, and kept until the mesh changes. */
#include "../unit.h"
#include <stdlib.h>
#include <string.h>

#include "mesh.h"
#include "mesh/meeting.h"
#include "mesh/mesh.h"

enum { SIZE = 3000, ARITY = 3 };

static struct set from, to;
static int table[SIZE * ARITY];
static struct map map;

static void begin(long size, long targets) {
  meeting_free(&map);
  from = (struct set){.extents = {size, size, size, size}};
  to = (struct set){.extents = {targets, targets, targets, targets}};
  map = (struct map){
      .id = 7, .name = (char *)(size_t) "map", .from = &from, .to = &to, .arity = ARITY, .table = table};
}

static struct meeting look(unsigned epoch, const struct meeting_column *columns, int count) {
  struct error err = {0};
  struct meeting found;
  assert_int_equal(meeting_find(&map, epoch, &to, columns, count, &found, &err), 0);
  return found;
}

/* The rows of different elements: each has numbers of its own. */
static void fill_apart(long size, uint64_t seed) {
  for (long i = 0; i < size * ARITY; i++)
    table[i] = (int)i;
  for (long i = size * ARITY - 1; i > 0; i--) {
    const long other = (long)(random_next(&seed) % (uint64_t)(i + 1));
    const int was = table[i];
    table[i] = table[other];
    table[other] = was;
  }
}

static bool comes(long e, int target, const struct meeting_column *columns, int count) {
  bool found = false;
  for (int c = 0; c < count; c++)
    for (int k = 0; k < ARITY; k++)
      found |= !columns[c].map
                   ? target == e
                   : (columns[c].idx < 0 || columns[c].idx == k) && table[e * ARITY + k] == target;
  return found;
}

static void is_right(const struct meeting *found, const struct meeting_column *columns, int count,
                     bool meet) {
  if (!meet) {
    assert_int_equal(found->first, -1);
    return;
  }
  assert_true(found->repeats);
  assert_in_range(found->first, 0, found->second - 1);
  assert_true(comes(found->first, (int)found->target, columns, count));
  assert_true(comes(found->second, (int)found->target, columns, count));
}

TEST(rows_apart_do_not_meet) {
  const struct meeting_column all = {&map, -1, false}, some[] = {{&map, 0, false}, {&map, 2, false}};
  for (uint64_t seed = 1; seed < 6; seed++) {
    const long size = 1 + (long)(seed * 997 % SIZE);
    begin(size, size * ARITY);
    fill_apart(size, seed);
    struct meeting found = look(1, &all, 1);
    assert_int_equal(found.first, -1);
    assert_false(found.repeats);
    found = look(1, some, 2);
    assert_int_equal(found.first, -1);
  }
}

TEST(two_elements_with_one_target_are_found) {
  const struct meeting_column columns[] = {
      {&map, 1, false}, {&map, 2, false}, {&map, -1, false}, {NULL, -1, false}};
  for (uint64_t seed = 1; seed < 40; seed++) {
    begin(SIZE, SIZE * ARITY);
    fill_apart(SIZE, seed);
    const long a = (long)(random_next(&seed) % SIZE), b = (long)(random_next(&seed) % SIZE);
    const int ka = (int)(random_next(&seed) % ARITY), kb = (int)(random_next(&seed) % ARITY);
    table[a * ARITY + ka] = table[b * ARITY + kb];
    for (int c = 0; c < 3; c++) {
      const struct meeting found = look((unsigned)seed, &columns[c], 1);
      is_right(&found, &columns[c], 1, a != b && (c == 2 || (ka == c + 1 && kb == c + 1)));
    }
    const struct meeting found = look((unsigned)seed, columns, 2);
    is_right(&found, columns, 2, a != b && ka > 0 && kb > 0);
  }
}

/* One element twice is no meeting. */
TEST(an_element_with_a_target_twice_does_not_meet) {
  const struct meeting_column all = {&map, -1, false};
  begin(SIZE, SIZE * ARITY);
  fill_apart(SIZE, 3);
  table[5 * ARITY + 1] = table[5 * ARITY];
  struct meeting found = look(1, &all, 1);
  assert_int_equal(found.first, -1);
  assert_true(found.repeats);
  table[90 * ARITY + 1] = table[80 * ARITY];
  found = look(2, &all, 1);
  assert_int_equal(found.first, 80);
  assert_int_equal(found.second, 90);
}

TEST(own_elements_meet_those_of_others) {
  const struct meeting_column both[] = {{NULL, -1, false}, {&map, 0, false}};
  begin(SIZE, SIZE);
  for (int e = 0; e < SIZE; e++)
    table[e * ARITY] = e;
  struct meeting found = look(1, both, 2);
  assert_int_equal(found.first, -1);
  assert_true(found.repeats);
  table[100 * ARITY] = 200;
  found = look(2, both, 2);
  assert_int_equal(found.first, 100);
  assert_int_equal(found.second, 200);
  assert_int_equal(found.target, 200);
}

/* In order but for one place, anywhere: near the ends of what is looked at together, too. */
TEST(one_step_back_is_seen) {
  const struct meeting_column one = {&map, 1, false}, all = {&map, -1, false};
  static const int places[] = {1, 2, 1023, 1024, 1025, 2047, 2048, SIZE - 1};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    begin(SIZE, SIZE * ARITY);
    for (int k = 0; k < SIZE * ARITY; k++)
      table[k] = k;
    assert_false(look(1, &one, 1).repeats);
    assert_false(look(1, &all, 1).repeats);
    table[places[i] * ARITY + 1] = table[(places[i] - 1) * ARITY + 1];
    assert_int_equal(look(2, &one, 1).second, places[i]);
    assert_int_equal(look(2, &all, 1).first, places[i] - 1);
  }
  begin(0, SIZE);
  assert_false(look(3, &one, 1).repeats);
}

/* As long as the epoch is the same nobody looks at the table again. */
TEST(it_is_kept_until_the_mesh_changes) {
  const struct meeting_column first = {&map, 0, false}, second = {&map, 1, false};
  begin(SIZE, SIZE * ARITY);
  fill_apart(SIZE, 8);
  assert_int_equal(look(1, &first, 1).first, -1);
  table[7 * ARITY] = table[3 * ARITY];
  assert_int_equal(look(1, &first, 1).first, -1);
  assert_int_equal(look(1, &second, 1).first, -1);
  assert_int_equal(look(2, &first, 1).first, 3);
  from.extents[EXTENT_EXEC] = 5;
  assert_int_equal(look(2, &first, 1).first, 3);
  assert_int_equal(look(3, &first, 1).first, -1);
  meeting_free(&map);
}
