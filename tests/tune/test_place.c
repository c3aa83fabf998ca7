/* Where measurements belong: how near two places are, and which of two rows holds rather. */
#include "../unit.h"
#include <stdlib.h>
#include <string.h>

#include "loop/place.h"
#include "record/record.h"

static const char here[] = "znver4 0123456789ab", mesh[] = "elements=2^17 map=2 degree=4 reach=2^8";

enum { NOTHING = -1, NEAR, HERE };

static int find_any(const void *of, const char *name) {
  return strcmp(name, of) == 0 ? 7 : -1;
}

/* How far a row of that place holds. */
static int nearness(const char *target, const char *fingerprint) {
  struct store_tuning row = {.target = target, .mesh = fingerprint, .variant = "v", .chosen = true};
  struct tuning_place place = {0};
  text_add(&place.target, here);
  text_add(&place.mesh, mesh);
  const struct tuning_found found = tuning_choose(&row, 1, &place, find_any, "v");
  assert_int_equal(found.variant, found.row ? 7 : -1);
  assert_int_equal(tuning_is_here(&row, &place), found.row && found.here);
  tuning_place_free(&place);
  return !found.row ? NOTHING : found.here ? HERE : NEAR;
}

/* Here, near, nothing. */
TEST(what_is_alike_holds) {
  static const char other_mesh[] = "elements=2^20 map=2 degree=4 reach=2^9";
  assert_int_equal(nearness(here, mesh), HERE);
  assert_int_equal(nearness("znver4 ba9876543210", mesh), NEAR);
  assert_int_equal(nearness(here, other_mesh), NEAR);
  assert_int_equal(nearness("znver4 ba9876543210", other_mesh), NEAR);
  assert_int_equal(nearness("znver3 0123456789ab", mesh), NOTHING);
  assert_int_equal(nearness("znver", mesh), NOTHING);
  assert_int_equal(nearness("znver42", mesh), NOTHING);
  assert_int_equal(nearness(here, "elements=2^20 map=2 degree=4 reach=2^9 straight"), NOTHING);
  assert_int_equal(nearness(here, "elements=2^20 map=2 degree=4 reach=2^8 large"), NOTHING);
  assert_int_equal(nearness(here, "elements=2^17 map=2 degree=4 reach=2^8 heavy"), NOTHING);
}

static int find_letter(const void *of, const char *name) {
  (void)of;
  return *name - 'a';
}

/* Of just this place; then by the gain over the default of the same run; then the newer one; then the name. */
TEST(the_larger_gain_holds) {
  struct store_tuning rows[] = {{.variant = "a", .median = 1e-3, .baseline = 1.25e-3, .made = 1},
                                {.variant = "b", .median = 5e-3, .baseline = 10e-3, .made = 1},
                                {.variant = "c", .median = 2e-3, .baseline = 4e-3, .made = 2},
                                {.variant = "d", .median = 2e-3, .baseline = 4e-3, .made = 2},
                                {.variant = "e", .median = 1e-6, .made = 9}};
  static const char order[] = "cdbae";
  enum { ROWS = sizeof rows / sizeof *rows };
  struct tuning_place place = {0};
  text_add(&place.target, here);
  text_add(&place.mesh, mesh);
  for (int r = 0; r < ROWS; r++) {
    rows[r].target = "znver4 ba9876543210";
    rows[r].mesh = mesh;
    rows[r].chosen = true;
  }
  for (int i = 0; i < ROWS; i++) {
    const int best = tuning_choose(rows, ROWS, &place, find_letter, NULL).variant;
    assert_int_equal(best, order[i] - 'a');
    rows[best].chosen = false;
  }
  rows[1].chosen = rows[4].chosen = true;
  rows[4].target = here;
  assert_int_equal(tuning_choose(rows, ROWS, &place, find_letter, NULL).variant, 4);
  tuning_place_free(&place);
}

static void expect_carried(const char *name, const char *expected) {
  const struct store_tuning row = {.target = here, .mesh = "elements=2^20", .variant = name, .chosen = true};
  struct tuning_place place = {0};
  text_add(&place.target, here);
  text_add(&place.mesh, mesh);
  assert_int_equal(tuning_choose(&row, 1, &place, find_any, expected).variant, 7);
  tuning_place_free(&place);
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
  /* Elements that were declared here are on other ranks too; the tables end where this rank's elements do. */
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
