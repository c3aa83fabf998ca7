/* The variants that are tried beside the default, by name; and names as OP2_VARIANT takes them. */
#include "../unit.h"
#include <stdlib.h>
#include <string.h>

#include "backend/alternatives.h"
#include "context/forced.h"

static const struct shape shapes[] = {{.width = 8}, {.width = 0}, {.width = 4}};
static const struct shape straight_shapes[] = {
    {.width = 8, .straight = true}, {.width = 0}, {.width = 4, .straight = true}, {.width = 8}};
static const struct shape stream_shapes[] = {{.width = 8}, {.width = 0}, {.width = 8, .stream = true}};

/* The names, separated by blanks. */
static void expect(struct variant standard, struct alternatives_of loop, const char *names) {
  struct variant found[MOST_ALTERNATIVES];
  struct text list = {0};
  if (!loop.shapes) {
    loop.shapes = standard.shape.straight ? straight_shapes : shapes;
    loop.nshapes = standard.shape.straight ? 4 : 3;
  }
  const int count = alternatives(&standard, &loop, found);
  for (int i = 0; i < count; i++) {
    text_add(&list, i ? " " : "");
    variant_print(&found[i], &list);
  }
  assert_string_equal(text_str(&list), names);
  text_free(&list);
}

TEST(are_one_step_away) {
  const struct variant colours = {.strategy = &strategy_colours, .shape = {.width = 8}};
  const struct variant chunks = {.strategy = &strategy_chunks, .shape = {.width = 0}};
  const struct variant whole = {.strategy = &strategy_whole, .shape = {.width = 0}};
  expect(
      colours, (struct alternatives_of){.elements = 20000, .threads = 8, .turned_bytes = 64},
      "colours/scalar colours/strip4 owners/strip8 tasks/strip8 gather/strip8 colours/strip8/1024 "
      "colours/strip8/4096 colours/strip8/16384 colours/strip8/256 colours/strip8/64 colours/strip8/threads4 "
      "colours/strip8/threads2");
  expect(chunks, (struct alternatives_of){.elements = 8000, .threads = 8},
         "chunks/strip8 chunks/strip4 chunks/scalar/1024 chunks/scalar/threads4 chunks/scalar/threads2");
  expect(chunks, (struct alternatives_of){.elements = 1000000, .threads = 8},
         "chunks/strip8 chunks/strip4 chunks/scalar/1024 chunks/scalar/16384 chunks/scalar/threads4 "
         "chunks/scalar/threads2");
  expect(chunks, (struct alternatives_of){.elements = 1000000, .threads = 2},
         "chunks/strip8 chunks/strip4 chunks/scalar/1024 chunks/scalar/16384");
  expect(chunks, (struct alternatives_of){.elements = 10000, .threads = 2},
         "chunks/strip8 chunks/strip4 chunks/scalar/1024");
  expect(whole, (struct alternatives_of){.elements = 8000, .threads = 1}, "whole/strip8 whole/strip4");
}

/* Elements with different numbers of targets: strips of sorted ones. */
TEST(sort_elements) {
  const struct variant chunks = {.strategy = &strategy_chunks};
  const struct shape sorted = {.width = 8, .rows = true};
  expect(chunks, (struct alternatives_of){.elements = 8000, .threads = 1, .sorted = &sorted},
         "chunks/strip8 chunks/strip4 chunks/strip8+rows/sorted chunks/scalar/1024");
}

/* The gather form has no straight ranges: it is made of the same strips without them. */
TEST(know_straight_ranges) {
  const struct variant chunks = {.strategy = &strategy_chunks, .shape = {.width = 8, .straight = true}};
  const struct variant colours = {.strategy = &strategy_colours, .shape = {.width = 8, .straight = true}};
  expect(chunks, (struct alternatives_of){.elements = 8000, .threads = 1},
         "chunks/scalar chunks/strip4+straight chunks/strip8 chunks/strip8+straight/1024");
  expect(colours, (struct alternatives_of){.elements = 5000, .threads = 1, .turned_bytes = 64},
         "colours/scalar colours/strip4+straight colours/strip8 owners/strip8+straight tasks/strip8+straight "
         "gather/strip8 "
         "colours/strip8+straight/1024 colours/strip8+straight/4096 colours/strip8+straight/256 "
         "colours/strip8+straight/64");
}

/* Long rows are not turned round; one thread has no fewer; what runs in microseconds is left alone. */
TEST(leave_out_what_cannot_gain) {
  const struct variant colours = {.strategy = &strategy_colours, .shape = {.width = 8}};
  expect(colours, (struct alternatives_of){.elements = 5000, .threads = 1, .turned_bytes = 72},
         "colours/scalar colours/strip4 owners/strip8 tasks/strip8 colours/strip8/1024 colours/strip8/4096 "
         "colours/strip8/256 colours/strip8/64");
  expect(colours, (struct alternatives_of){.elements = 4095, .threads = 8, .turned_bytes = 8}, "");
}

/* Nor does it stream: what it writes first, it reads again at once. */
TEST(know_stores_past_the_caches) {
  const struct variant colours = {.strategy = &strategy_colours, .shape = {.width = 8}},
                       streamed = {.strategy = &strategy_colours, .shape = {.width = 8, .stream = true}};
  const struct alternatives_of loop = {
      .elements = 4200, .threads = 1, .turned_bytes = 8, .shapes = stream_shapes, .nshapes = 3};
  expect(colours, loop,
         "colours/scalar colours/strip8+stream owners/strip8 tasks/strip8 gather/strip8 colours/strip8/1024 "
         "colours/strip8/4096 colours/strip8/256 colours/strip8/64");
  expect(streamed, loop,
         "colours/strip8 colours/scalar owners/strip8+stream tasks/strip8+stream gather/strip8 "
         "colours/strip8+stream/1024 "
         "colours/strip8+stream/4096 colours/strip8+stream/256 colours/strip8+stream/64");
}

/* Pieces of whole strips; the gather form whatever it moves, as it leaves no thread without work; no usual sizes. */
TEST(cut_heavy_loops_finer) {
  const struct variant
      colours = {.strategy = &strategy_colours, .shape = {.width = 8}, .block_size = 8, .threads = 4},
      chunks = {.strategy = &strategy_chunks, .shape = {.width = 0}, .block_size = 32, .threads = 2};
  const struct alternatives_of few = {.elements = 300, .threads = 4, .heavy = true, .turned_bytes = 400},
                               more = {.elements = 2000, .threads = 2, .heavy = true};
  expect(colours, few,
         "colours/strip8/8/threads2 colours/strip8/8/threads1 colours/scalar/5/threads4 "
         "colours/strip4/8/threads4 "
         "owners/strip8/threads4 tasks/strip8/8/threads4 gather/strip8/8/threads4");
  expect(chunks, more, "chunks/scalar/32/threads1 chunks/strip8/32/threads2 chunks/strip4/32/threads2");
}

TEST(names_are_read_back) {
  struct error err = {0};
  struct text name = {0};
  struct variant v = {0};
  assert_int_equal(variant_apply(&v, "threads3/owners/128/sorted/strip4+straight+stream+piped+rows", &err),
                   OP_OK);
  variant_print(&v, &name);
  assert_string_equal(text_str(&name), "owners/strip4+straight+stream+piped+rows/sorted/128/threads3");
  struct variant again = {0};
  assert_int_equal(variant_apply(&again, text_str(&name), &err), OP_OK);
  assert_int_equal(again.threads, 3);
  assert_true(again.sorted);
  assert_int_equal(again.block_size, 128);
  for (const char *const *bad =
           (const char *const[]){"threads", "threads0", "threads-1", "threads2x", "64/64", "scalar/strip4",
                                 "chunks/owners", "threads2/threads2", "sorted/sorted", NULL};
       *bad; bad++) {
    assert_int_equal(variant_apply(&v, *bad, &err), OP_ERR_ENV);
    assert_non_null(strstr(error_message(&err), *bad));
    error_clear(&err);
  }
  assert_int_equal(variant_apply(&v, "64/128", &err), OP_ERR_ENV);
  assert_string_equal(error_message(&err),
                      "OP2_VARIANT: \"128\" in \"64/128\" is a second block size; give one");
  error_clear(&err);
  assert_int_equal(variant_apply(&v, "/64//", &err), OP_OK);
  text_free(&name);
  error_free(&err);
}

/* Words on layouts are the dats', not the loops'. */
TEST(words_are_told_apart) {
  static const char long_name[] = "soa=a_dat_whose_name_is_longer_than_any_word_that_stands_for_a_variant_is";
  static const struct {
    const char *value, *of_loop, *dat;
    bool says, soa;
  } said[] = {{"", "", "x", false, false},
              {"64/scalar", "64/scalar", "x", false, false},
              {"soa", "", "x", true, true},
              {"soa/aos=x", "", "x", true, false},
              {"soa/aos=x", "", "xx", true, true},
              {"soa/aos=xx", "", "x", true, true},
              {"/aos=x/64//soa/scalar/", "64/scalar", "x", true, false},
              {"/aos=x/64//soa/scalar/", "64/scalar", "y", true, true},
              {"soa=x,own:32", "32", "x", true, true},
              {"soa=x,own:32", "32", "y", false, false},
              {"own:32,aos/64", "32", "x", true, false},
              {"other:32,aos", "", "x", true, false},
              {"other:32", "", "x", false, false},
              {long_name, "", long_name + 4, true, true}};
  struct text words = {0};
  for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
    assert_int_equal(forced_for_loop(said[i].value, "own", &words), said[i].of_loop[0] != '\0');
    assert_string_equal(text_str(&words), said[i].of_loop);
    bool soa = false;
    assert_int_equal(forced_layout(said[i].value, said[i].dat, &soa), said[i].says);
    assert_int_equal(soa, said[i].soa);
  }
  text_free(&words);
}
