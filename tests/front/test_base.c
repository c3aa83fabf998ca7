/* The clock, and arrays that grow one by one. */
#include "../unit.h"

#include "base/clock.h"
#include "base/list.h"

TEST(the_clock_goes_on_and_its_units_agree) {
  const long ns = clock_ns(), ms = clock_ms();
  const double seconds = clock_seconds();
  assert_true(clock_ns() >= ns);
  assert_true(ms >= ns / 1000000 && ms - ns / 1000000 < 60000);
  assert_true(seconds >= 1e-9 * (double)ns && seconds - 1e-9 * (double)ns < 60);
}

TEST(an_array_has_room_for_one_more_whatever_its_count) {
  int *items = NULL;
  for (int n = 0; n < 1000; n++) {
    items = array_more(items, (size_t)n, sizeof *items);
    assert_non_null(items);
    items[n] = n;
  }
  for (int n = 0; n < 1000; n++)
    assert_int_equal(items[n], n);
  assert_ptr_equal(array_more(items, 1000, sizeof *items), items);
  assert_null(array_more(NULL, (size_t)1 << 60, 64));
  free(items);
}

/* Items that are taken out leave a longer array than the count says. */
TEST(a_list_keeps_its_order_when_items_go_and_come) {
  int values[64];
  struct list list = {0};
  for (int round = 0; round < 3; round++) {
    for (int i = list.count; i < 64; i++)
      assert_true(list_add(&list, &values[i]));
    for (int i = 0; i < 64; i++)
      assert_ptr_equal(list.items[i], &values[i]);
    for (int i = 63; i >= 7 + round; i--)
      list_remove(&list, &values[i]);
    list_remove(&list, &list);
    assert_int_equal(list.count, 7 + round);
  }
  list_free(&list);
  assert_null(list.items);
}
