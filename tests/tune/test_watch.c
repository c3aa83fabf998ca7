/* OP2_LAZY=on: which loops wait in the variants that are known, as a period comes that has them, and which are tried. */
#include "../unit.h"

#include "base/list.h"
#include "context/context.h"
#include "loop/chain/queue.h"
#include "loop/period.h"

enum { FIRST, SECOND, OTHER, LOOPS };
static struct loop a[LOOPS], b[LOOPS];
static struct loop *const loops_a[] = {&a[FIRST], &a[SECOND]}, *const loops_b[] = {&b[FIRST], &b[SECOND]};
static struct queue queue;

static void expect(bool stays_a, bool stays_b) {
  const struct watch *w = &queue.watch;
  assert_true(watch_stays(w, &a[FIRST]) == stays_a && watch_stays(w, &a[SECOND]) == stays_a);
  assert_true(watch_stays(w, &b[FIRST]) == stays_b && watch_stays(w, &b[SECOND]) == stays_b);
  assert_false(watch_stays(w, &a[OTHER]) || watch_stays(w, &b[OTHER]));
}

TEST(loops_of_a_period_that_comes_are_not_tried) {
  static char something;
  struct chain_tuning *tuner = (struct chain_tuning *)(void *)&something;
  struct period first = {.loops = (struct loop **)loops_a, .n = 2, .tuner = tuner},
                second = {.loops = (struct loop **)loops_b, .n = 2, .tuner = tuner};
  struct list periods = {0};
  struct op_context ctx = {.queue = &queue, .periods = &periods};
  struct watch *w = &queue.watch;
  assert_true(list_add(&periods, &first) && list_add(&periods, &second));
  expect(false, false);
  watch_tunes(w, loops_a, 2);
  expect(true, false);
  assert_false(watch_rests(&ctx, w, &b[OTHER])); /* it begins no period */
  expect(true, false);
  assert_false(watch_rests(&ctx, w, &b[FIRST]));
  expect(false, true);
  assert_false(watch_rests(&ctx, w, &a[FIRST]));
  expect(true, false);
  queue.count = 1; /* nothing begins behind what waits */
  assert_false(watch_rests(&ctx, w, &b[FIRST]));
  expect(true, false);
  queue.count = 0;
  for (int i = 0; i < 2 * QUEUE_MOST + 8; i++) { /* no period ran meanwhile: they are left */
    watch_rests(&ctx, w, &b[OTHER]);
    watch_rests(&ctx, w, &a[FIRST]);
  }
  expect(false, false);
  watch_tunes(w, loops_b, 2);
  expect(false, true);
  list_free(&periods);
}
