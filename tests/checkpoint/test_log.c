/* The log is written in few numbers and read again; sums of rows; places where least is live. */
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checkpoint/inner.h"
#include "context/context.h"

enum { KINDS = 40, EVENTS = 30000 };

static unsigned next(unsigned *state) {
  *state = *state * 1664525U + 1013904223U;
  return *state >> 8;
}

static void fill(struct happened *h, int kinds) {
  for (int i = 0; i < kinds; i++) {
    char line[32];
    snprintf(line, sizeof line, "kind %d", i);
    assert_int_equal(happened_kind(h, (uint64_t)i * 77 + 1, line), i);
    assert_int_equal(happened_kind(h, (uint64_t)i * 77 + 1, line), i);
  }
}

/* A period with something else now and then, of any length, and chance alone. */
static int event_at(int form, int e, unsigned *state) {
  const int period = form * form * 7 + 1;
  if (form == 5 || next(state) % 200 == 0)
    return (int)(next(state) % KINDS);
  return (e % period) * 13 % KINDS;
}

TEST(test_what_happened_is_read_again) {
  static int events[EVENTS];
  for (int form = 0; form < 6; form++) {
    struct happened h = {0};
    struct error err = {0};
    unsigned word = 5U + (unsigned)form;
    fill(&h, KINDS);
    for (int e = 0; e < EVENTS; e++) {
      events[e] = event_at(form, e, &word);
      assert_int_equal(happened_add(&h, events[e], &err), OP_OK);
      if (e % 7000 == 77)
        assert_int_equal(happened_end_pair(&h, &err), OP_OK);
    }
    assert_int_equal(happened_end_pair(&h, &err), OP_OK);
    if (form == 0)
      assert_true(h.npairs < EVENTS / 40);
    struct replay *replay = calloc(1, sizeof *replay);
    replay->pairs = h.pairs;
    replay->npairs = h.npairs;
    for (int e = 0; e < EVENTS; e++)
      assert_int_equal(replay_next(replay), events[e]);
    assert_int_equal(replay_next(replay), -1);
    free(replay);
    happened_free(&h);
  }
}

/* Any numbers: it ends, and nothing outside is read. */
TEST(test_damaged_pairs_are_refused) {
  unsigned word = 9;
  struct replay *replay = malloc(sizeof *replay);
  for (int round = 0; round < 2000; round++) {
    struct pair pairs[6];
    for (size_t i = 0; i < 6; i++)
      pairs[i] = (struct pair){(int)(next(&word) % 8) - 2, (int)(next(&word) % 8) - 2};
    pairs[3].distance = (int)(next(&word) * 256);
    memset(replay, 0, sizeof *replay);
    replay->pairs = pairs;
    replay->npairs = 6;
    int count = 0;
    while (replay_next(replay) >= 0)
      assert_true(++count < 100);
  }
  free(replay);
}

TEST(test_sums_do_not_depend_on_shares) {
  unsigned char rows[97 * 13];
  unsigned word = 3;
  for (size_t i = 0; i < sizeof rows; i++)
    rows[i] = (unsigned char)next(&word);
  const uint64_t whole = sum_rows(rows, 0, 97, 13);
  for (int cut = 0; cut <= 97; cut++)
    assert_true(sum_rows(rows, 0, cut, 13) + sum_rows(rows + 13 * cut, cut, 97 - cut, 13) == whole);
  for (size_t i = 0; i < sizeof rows; i++) {
    rows[i] ^= 1;
    assert_true(sum_rows(rows, 0, 97, 13) != whole);
    rows[i] ^= 1;
  }
}

/* Three events: 0 makes dat 0 of dat 1, 1 reads both and makes dat 2, 2 makes dat 1 of dat 2. Before 2 dat 2 alone is
 * live, which is small. */
TEST(test_the_place_is_where_least_is_live) {
  struct checkpoint k = {.nmarks = 3};
  struct mark marks[3] = {{.changed = true}, {.changed = true}, {.changed = true}};
  struct recorder recorder = {.state = &k};
  struct op_context ctx = {.recorder = &recorder};
  struct happened h = {0};
  struct error err = {0};
  struct kind_access of[3][3] = {{{0, false, true, 800}, {1, true, false, 800}},
                                 {{0, true, false, 800}, {1, true, false, 800}, {2, false, true, 8}},
                                 {{2, true, false, 8}, {1, false, true, 800}}};
  k.marks = marks;
  fill(&h, 3);
  for (int i = 0; i < 3; i++) {
    h.kinds[i].accesses = of[i];
    h.kinds[i].naccesses = i == 1 ? 3 : 2;
  }
  for (int e = 0; e < 20; e++) {
    assert_int_equal(happened_add(&h, e % 3, &err), OP_OK);
    const struct place place = place_best(&h, &ctx);
    if (e < 5)
      assert_true(place.period == 0 && place.wait == 0);
    else
      assert_true(place.period == 3 && (e + 1 + place.wait) % 3 == 2);
  }
  for (int i = 0; i < 3; i++)
    h.kinds[i].accesses = NULL;
  happened_free(&h);
}
