/* Where measurements belong: how near two places are, and which of two rows holds rather. */
#include "../unit.h"
#include <stdlib.h>
#include <string.h>

#include "record/record.h"
#include "tune/place.h"

static const char here[] = "znver4 0123456789ab", mesh[] = "elements=2^17 map=2 degree=4 reach=2^8";

static enum tuning_grade grade(const char *target, const char *fingerprint) {
  const struct store_tuning row = {.target = target, .mesh = fingerprint};
  return tuning_grade(&row, here, mesh);
}

/* Exact, the same class of mesh, the same family, nothing. */
TEST(grades_fall_back) {
  static const char other_mesh[] = "elements=2^20 map=2 degree=4 reach=2^9";
  assert_int_equal(grade(here, mesh), TUNING_EXACT);
  assert_int_equal(grade("znver4 ba9876543210", mesh), TUNING_MESH);
  assert_int_equal(grade(here, other_mesh), TUNING_TARGET);
  assert_int_equal(grade("znver4 ba9876543210", other_mesh), TUNING_FAMILY);
  assert_int_equal(grade("znver3 0123456789ab", mesh), TUNING_NOTHING);
  assert_int_equal(grade("znver", mesh), TUNING_NOTHING);
  assert_int_equal(grade("znver42", mesh), TUNING_NOTHING);
  assert_int_equal(grade(here, "elements=2^20 map=2 degree=4 reach=2^9 straight"), TUNING_NOTHING);
  assert_int_equal(grade(here, "elements=2^20 map=2 degree=4 reach=2^8 large"), TUNING_NOTHING);
  assert_int_equal(grade(here, "elements=2^17 map=2 degree=4 reach=2^8 heavy"), TUNING_NOTHING);
  for (int g = TUNING_FAMILY; g < TUNING_EXACT; g++) {
    assert_true(g < g + 1);
    assert_string_not_equal(tuning_grade_words((enum tuning_grade)g),
                            tuning_grade_words((enum tuning_grade)(g + 1)));
  }
}

/* By the gain over the default of the same run; then the newer one; then the name. */
TEST(the_larger_gain_holds) {
  const struct store_tuning quiet = {.variant = "a", .median = 1e-3, .baseline = 1.25e-3, .made = 1},
                            busy = {.variant = "b", .median = 5e-3, .baseline = 10e-3, .made = 1},
                            newer = {.variant = "c", .median = 2e-3, .baseline = 4e-3, .made = 2},
                            twin = {.variant = "d", .median = 2e-3, .baseline = 4e-3, .made = 2},
                            unknown = {.variant = "e", .median = 1e-6, .made = 9};
  const struct store_tuning *const order[] = {&newer, &twin, &busy, &quiet, &unknown};
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 5; j++)
      assert_int_equal(tuning_is_better(order[i], order[j]), i < j);
}

static void expect_carried(const char *name, const char *expected) {
  struct text out = {0};
  tuning_carry_over(name, &out);
  assert_string_equal(text_str(&out), expected);
  text_free(&out);
}

TEST(threads_are_not_carried_over) {
  expect_carried("chunks/scalar/threads4", "chunks/scalar");
  expect_carried("colours/strip8/4096", "colours/strip8/4096");
  expect_carried("colours/threads2/scalar", "colours/scalar");
}

/* Each map once; the middle between two powers of two belongs to the larger one. */
TEST(meshes_have_classes) {
  enum { EDGES = 1000, CELLS = 500 };
  static int near_table[2 * EDGES], far_table[4 * EDGES];
  for (int e = 0; e < EDGES; e++)
    for (int k = 0; k < 4; k++) {
      near_table[2 * e + k % 2] = e / 2;
      far_table[4 * e + k] = (e * 129) % CELLS;
    }
  /* What was declared is on other ranks too; the tables end where this rank's elements do. */
  struct set edges = {.size = 300 * EDGES, .extents = {[EXTENT_OWNED] = EDGES}},
             cells = {.size = 300 * CELLS, .extents = {[EXTENT_OWNED] = CELLS}};
  struct map near_map = {.from = &edges, .to = &cells, .arity = 2, .table = near_table},
             far_map = {.from = &edges, .to = &cells, .arity = 4, .table = far_table};
  struct loop loop = {.set = &edges, .nargs = 4};
  loop.args[0].map = loop.args[2].map = &near_map;
  loop.args[3].map = &far_map;
  struct text out = {0};
  tuning_fingerprint(&loop, &out);
  assert_string_equal(text_str(&out), "elements=2^10 map=2 degree=4 reach=2^1 map=4 degree=8 reach=2^8");
  text_clear(&out);
  loop.ready.straight = true;
  tuning_fingerprint(&loop, &out);
  assert_non_null(strstr(text_str(&out), "reach=2^8 straight"));
  text_clear(&out);
  loop.ready.large = true;
  tuning_fingerprint(&loop, &out);
  assert_non_null(strstr(text_str(&out), "reach=2^8 straight large"));
  text_clear(&out);
  loop.ready.heavy = true;
  tuning_fingerprint(&loop, &out);
  assert_non_null(strstr(text_str(&out), "reach=2^8 straight large heavy"));
  text_clear(&out);
  tuning_size_class(0, &out);
  assert_string_equal(text_str(&out), "elements=2^0");
  text_free(&out);
}
