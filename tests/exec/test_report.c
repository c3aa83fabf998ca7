/* Reports: numbers where they belong, aligned columns, JSON that a parser takes. */
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/halo.h"
#include "report/forms.h"

static struct report_row rows[] = {
    {.name = "res_calc",
     .stats = {.variant = "blocks:1024",
               .calls = 1000,
               .seconds = 2.5,
               .plan_seconds = 0.01,
               .compile_seconds = 0.05,
               .bytes = 50e6,
               .working_set = 400e6,
               .compiled = true,
               .trials = 7,
               .trial_seconds = 0.1,
               .scalar = "",
               .tried = 3},
     .least = 2.4,
     .most = 2.7,
     .across = {.seconds = 2.5,
                .exchange_seconds = 0.25,
                .waiting_seconds = 0.125,
                .messages = 600,
                .bytes_sent = 1.5e6,
                .exchanges = 300,
                .redundant = 0.02}},
    {.name = "a_loop_with_a_long_name",
     .stats = {.calls = 10, .seconds = 0.5, .bytes = 1e6, .working_set = 1e6, .from_cache = true}},
    {.name = "say \"hi\"\n\\",
     .stats = {.variant = "x",
               .compile_seconds = NAN,
               .working_set = 1e9,
               .trials = 1,
               .trial_seconds = 0.02,
               .scalar = "loop not vectorized: a \"reason\""}},
};
static const struct trace_event events[] = {
    {.kind = TRACE_LOOP,
     .name = "res_calc",
     .detail = "strip8",
     .start = 100.5,
     .seconds = 0.25,
     .bytes = 5e9},
    {.kind = TRACE_COMPILE, .name = "update", .detail = "", .start = 100.0, .seconds = 0.5},
    {.kind = TRACE_THREAD,
     .name = "res_calc",
     .detail = "strip8",
     .thread = 1,
     .start = 100.5,
     .seconds = 0.25,
     .waited = 0.125}};
static const char *const counters[] = {"instructions", "task-clock"};
static const double counted[] = {1.5e9, 5e7};

static struct report make(int ranks) {
  return (struct report){.backend = "openmp",
                         .team = "pthread",
                         .threads = 2,
                         .ranks = ranks,
                         .triad = 40,
                         .cache_bytes = 32 << 20,
                         .rows = rows,
                         .nrows = 3,
                         .wall = 4,
                         .began = 100,
                         .events = events,
                         .nevents = 3};
}

static void expect(const struct text *t, const char *part) {
  assert_true(text_ok(t));
  if (!strstr(text_str(t), part))
    fail_msg("\"%s\" is not in:\n%s", part, text_str(t));
}

TEST(numbers) {
  struct report r = make(1);
  assert_true(fabs(report_rate(&rows[0]) - 20) < 1e-12);
  assert_true(fabs(report_share(&r, &rows[0]) - 0.5) < 1e-12);
  assert_true(report_rate(&rows[2]) == 0);
  assert_false(report_in_cache(&r, &rows[0]));
  assert_true(report_in_cache(&r, &rows[1]));
  r.triad = 0;
  assert_true(report_share(&r, &rows[0]) == 0);
}

TEST(text) {
  struct report r = make(1);
  struct text out = {0};
  r.nrows = 2;
  report_text(&r, &out);
  expect(&out, "backend openmp, 2 threads (pthread), memory (triad) 40.0 GB/s\n");
  expect(&out, "\nloops took 3.00 s of the 4.00 s since op_init (75%)\n");
  expect(&out,
         "res_calc                  2.50 s    83%      1000  2.50 ms   20.0    50% compiled blocks:1024\n");
  expect(&out, "tuning: 7 trials of other variants cost 100 ms, 3.3% of the loops' time\n");
  assert_null(strstr(text_str(&out), "without vector"));
  expect(&out, " small cached   -\n");
  expect(&out, "2 loops: 1 compiled, 1 from the kernel cache, 0 native; 3 variants compiled for trials; "
               "compiling took 50.0 ms, plans 10.0 ms\n");
  assert_null(strstr(text_str(&out), "mean"));
  assert_null(strstr(text_str(&out), "\033"));
  assert_null(strstr(text_str(&out), "owner ranges"));
  /* columns are aligned: "code" begins where the origins do */
  const char *heading = strstr(text_str(&out), "loop "), *row = strstr(text_str(&out), "res_calc");
  assert_int_equal(strstr(heading, "code") - heading, strstr(row, "compiled") - row);
  text_clear(&out);
  r = make(4);
  report_text(&r, &out);
  expect(&out, "4 ranks");
  expect(&out, " runs without vector instructions: loop not vectorized: a \"reason\"\n");
  expect(&out, "res_calc                  2.40 s   2.50 s   2.70 s   250 ms   125 ms       600     1.500     "
               "2.00%\n");
  expect(&out, "  2.50 ms   20.0    50%   125 ms compiled blocks:1024\n");
  text_clear(&out);
  r.colour = true;
  report_text(&r, &out);
  expect(&out, "\033[1mloop ");
  text_clear(&out);
  r.device = "H100";
  report_text(&r, &out);
  expect(&out, "backend openmp, H100, 4 ranks, memory");
  text_free(&out);
}

/* The longest loop is first; of many loops ten are shown, and the rest is added up, unless all are wanted. */
TEST(many) {
  enum { MANY = 30 };
  struct report_row many[MANY];
  char names[MANY][16];
  struct report r = make(1);
  struct text out = {0};
  for (int i = 0; i < MANY; i++) {
    snprintf(names[i], sizeof names[i], "loop%02d", i);
    many[i] = (struct report_row){.name = names[i], .stats = {.calls = 1, .seconds = i < 20 ? 1e-3 : i}};
  }
  r.rows = many;
  r.nrows = MANY;
  report_text(&r, &out);
  const char *last = strstr(text_str(&out), "loop29"), *before = strstr(text_str(&out), "loop28");
  assert_true(last && before && last < before);
  assert_null(strstr(text_str(&out), "loop19"));
  expect(&out, "20 others  20.0 ms   0.0%        20  1.00 ms   OP2_TIMING=text:all shows them\n");
  text_clear(&out);
  r.all = true;
  report_text(&r, &out);
  expect(&out, "loop19");
  assert_null(strstr(text_str(&out), "others"));
  text_free(&out);
}

TEST(three_digits) {
  static const struct {
    double seconds;
    const char *words;
  } times[] = {{2.5, "2.50 s"},    {0.99951, "1.00 s"},  {0.0831, "83.1 ms"}, {123.4, "123 s"},
               {450e-6, "450 us"}, {9.81e-9, "9.81 ns"}, {9.996, "10.0 s"},   {99.96, "100 s"}};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    char words[48];
    report_time(words, sizeof words, times[i].seconds);
    assert_string_equal(words, times[i].words);
  }
}

/* In tiles what a loop counts is not what the memory gives: the chain's own bytes are. */
TEST(tiles) {
  struct report r = make(1);
  struct report_row row = rows[0];
  struct tiled_facts chain = {.first = "save",
                              .last = "update",
                              .loops = 9,
                              .tiles = 40,
                              .chunks = 8,
                              .runs = 100,
                              .tile_bytes = 5e5,
                              .gap = 0.01,
                              .called_bytes = 3e8,
                              .bytes = 1e8,
                              .seconds = 0.5};
  struct text out = {0};
  row.stats.tiled_seconds = 1.3;
  r.rows = &row;
  r.nrows = 1;
  r.chains = &chain;
  r.nchains = 1;
  r.calls = 1000;
  r.waited = 900;
  report_text(&r, &out);
  expect(&out, " 20.0  tiles compiled ");
  expect(&out, "\n900 of 1000 calls waited to run with others\n");
  expect(&out, "\ntiles: the loop ran in tiles, ");
  expect(&out, "   300.00   100.00    50%  save ... update\n");
  row.stats.tiled_seconds = 1;
  r.waited = -1;
  text_clear(&out);
  report_text(&r, &out);
  expect(&out, " 20.0    50% compiled ");
  assert_null(strstr(text_str(&out), "waited"));
  text_free(&out);
}

/* Measurements of an earlier run are not told as this one's. */
TEST(kept_times) {
  struct report r = make(1);
  struct chain_facts chain = {.first = "save",
                              .last = "update",
                              .loops = 9,
                              .tried = {.way = "tiles/512K/periods2", .settled = true}};
  struct text out = {0};
  chain.tried.seconds[CHAIN_LOOPS] = 2e-3;
  chain.tried.from[CHAIN_LOOPS] = 1790000000;
  chain.tried.seconds[CHAIN_TILED] = 1.5e-3;
  chain.tried.runs = 1.6e-3;
  r.ways = &chain;
  r.nways = 1;
  report_text(&r, &out);
  expect(&out, "   2.00 ms*    1.60 ms         -   1.50 ms         -         -  tiles/512K/periods2  save "
               "... update\n");
  expect(&out, "* not measured in this run, but kept from earlier ones, the first on 2026-09-21\n");
  text_clear(&out);
  chain.tried.from[CHAIN_LOOPS] = 0;
  report_text(&r, &out);
  assert_null(strstr(text_str(&out), "*"));
  text_free(&out);
}

/* The one strategy whose sums are not the same on any number of threads. */
TEST(owners) {
  struct report r = make(1);
  struct report_row row = rows[0];
  struct text out = {0};
  row.stats.variant = "owners/strip8";
  r.rows = &row;
  r.nrows = 1;
  report_text(&r, &out);
  expect(&out, "res_calc runs by owner ranges: how its sums are rounded depends on the number of threads\n");
  assert_null(strstr(text_str(&out), "same bits"));
  text_clear(&out);
  row.stats.variant = "gather/strip8";
  row.stats.ordered = true;
  row.stats.collect_seconds = 0.5;
  report_text(&r, &out);
  expect(
      &out,
      "res_calc has the same bits in any order, on any threads and ranks; to collect what elements add took "
      "500 ms, 20% of its time\n");
  text_clear(&out);
  report_json(&r, &out);
  expect(&out, "\"reproducible\":true,\"collect_seconds\":0.5");
  text_free(&out);
}

/* Only of loops on a device. */
TEST(moved) {
  struct report r = make(1);
  struct report_row on_device[] = {rows[0], rows[1]};
  struct text out = {0};
  report_text(&r, &out);
  report_json(&r, &out);
  assert_null(strstr(text_str(&out), "moved"));
  on_device[0].stats.moved = 48000;
  r.rows = on_device;
  r.nrows = 2;
  report_text(&r, &out);
  report_json(&r, &out);
  expect(&out, "moved between host and device, bytes a call: res_calc 48 a_loop_with_a_long_name 0\n");
  expect(&out, "\"bytes_moved\":48000,");
  text_free(&out);
}

static bool advises(struct report_row *row, const char *words) {
  struct report r = make(1);
  struct text out = {0};
  r.rows = row;
  r.nrows = 1;
  report_text(&r, &out);
  assert_true(text_ok(&out));
  const char *advice = strstr(text_str(&out), "advice: ");
  const bool found = words ? advice && strstr(advice, words) : advice != NULL;
  text_free(&out);
  return found;
}

TEST(advice) {
  struct report_row row = {.name = "a",
                           .stats = {.calls = 5000, .seconds = 2, .trials = 9, .trial_seconds = 0.3}};
  assert_true(advises(&row, "a spent 15% of its time in trials"));
  row.stats.trial_seconds = 0.1;
  assert_false(advises(&row, NULL));
  row.stats.seconds = 0.002;
  assert_true(advises(&row, "5000 calls of a took 0.40 us each"));
  row.stats.seconds = 0;
  assert_false(advises(&row, NULL));
  row.stats.seconds = 0.00002;
  row.stats.calls = 100;
  assert_false(advises(&row, NULL));
  struct report_detail detail = {.one = 1e-3, .many = 2.4e-3};
  row = (struct report_row){.name = "a", .stats = {.calls = 100, .seconds = 2}, .detail = &detail};
  assert_true(advises(&row, "a call of a takes 1.00 ms on one thread and 2.40 ms on 2; if the machine"));
  detail.runs_on_one = true;
  assert_true(advises(&row, "2.40 ms on 2, so it runs on one; if the machine"));
  detail.one = 2.35e-3;
  assert_false(advises(&row, NULL));
  detail.one = 0;
  assert_false(advises(&row, NULL));
}

/* Counted is the time in which ranks compute, without that in which they wait. */
TEST(advice_on_ranks) {
  struct report_rank ranks[] = {{.seconds = 2, .exchange_seconds = 0.6},
                                {.seconds = 2, .exchange_seconds = 0.2}};
  struct report_row row = {.name = "a", .stats = {.calls = 100, .seconds = 2}, .by_rank = ranks};
  struct report r = make(2);
  struct text out = {0};
  r.rows = &row;
  r.nrows = 1;
  report_advice(&r, &out);
  expect(&out, "rank 1 computed 1.12 times as long as the mean of the ranks, and the others waited for it; "
               "OP2_BALANCE=on");
  text_clear(&out);
  r.on_devices = true;
  report_advice(&r, &out);
  assert_int_equal(out.length, 0);
  r.on_devices = false;
  ranks[0].exchange_seconds = 0.3;
  report_advice(&r, &out);
  assert_int_equal(out.length, 0);
  text_free(&out);
}

TEST(advice_on_the_mesh) {
  struct report r = make(1);
  struct text out = {0};
  struct report_order orders[] = {
      {.map = "ecell", .loop = "res_calc", .seconds = 1.5, .fetches = 7.64, .own_fetches = 7.9},
      {.map = "good", .loop = "res_calc", .seconds = 1.5, .fetches = 1.2, .own_fetches = 3.1},
      {.map = "small", .loop = "res_calc", .seconds = 1.5, .own_fetches = 4.4},
      {.map = "pcell", .loop = "res_calc", .seconds = 1.5, .listed = "apply", .blocks = 69, .colours = 68}};
  struct report_unread unread[] = {{"x", 8e6}, {"tiny", 1000}};
  r.orders = orders;
  r.norders = 4;
  r.own_cache_bytes = (5 << 20) / 4;
  r.unread = unread;
  r.nunread = 2;
  struct report_moved moved[] = {{.name = "gam"}, {.name = "q", .element = 2, .dim = 4}};
  text_add(&moved[0].loops, "1.4");
  text_add(&moved[0].now, "1.3");
  text_add(&moved[1].loops, "7");
  text_add(&moved[1].now, "8");
  r.moved = moved;
  r.nmoved = 2;
  report_advice(&r, &out);
  assert_string_equal(
      text_str(&out),
      "in the order of map ecell each line of memory is fetched 7.6 times into the 32 MB of "
      "cache; op_renumber "
      "brings that near 1 (loops through it have 50% of the time, most of it res_calc)\n"
      "in the order of map small each line of memory is fetched 4.4 times into the 1.25 MB of "
      "cache of a core; op_renumber "
      "brings that down (loops through it have 50% of the time, most of it res_calc)\n"
      "in the order of map pcell the 69 blocks of apply would run in 68 turns, so it goes "
      "through a list; op_renumber makes that needless (loops through the map have 50% of the "
      "time)\n"
      "constant gam is 1.4 in loops, and the variable that it was copied from is 1.3 now; op_update_const "
      "gives "
      "loops the new value\n"
      "constant q[2] is 7 in loops, and the variable that it was copied from is 8 now; op_update_const gives "
      "loops "
      "the new value\n"
      "no loop reads dat x (8.0 MB), nor does the program fetch it; leave it out\n");
  for (int i = 0; i < 2; i++) {
    text_free(&moved[i].loops);
    text_free(&moved[i].now);
  }
  r.nmoved = 0;
  text_clear(&out);
  report_json(&r, &out);
  expect(&out, "\"advice\":[\"in the order of map ecell each");
  expect(&out, "\",\"no loop reads dat x (8.0 MB), nor does the program fetch it; leave it out\"]}\n");
  text_free(&out);
}

/* Edges of a grid of cells along its rows and columns: by rows each line is fetched once, in a scattered order once
 * for each of its two cells, and again where the next rows begin; a cache that holds all has nothing to fetch again. */
TEST(reach_of_maps) {
  enum { SIDE = 512, CELLS = SIDE * SIDE, EDGES = 2 * CELLS };
  int *table = malloc(2 * EDGES * sizeof *table);
  assert_non_null(table);
  for (int c = 0; c < CELLS; c++) {
    const int edges[4] = {c, c % SIDE == SIDE - 1 ? c : c + 1, c, c < CELLS - SIDE ? c + SIDE : c};
    memcpy(&table[4 * c], edges, sizeof edges);
  }
  const double by_rows = reach_fetches(table, EDGES, 2, CELLS, 32, 1 << 20);
  assert_true(by_rows > 0.9 && by_rows < 1.5);
  assert_true(reach_fetches(table, EDGES, 2, CELLS, 32, 32 << 20) == 0);
  for (int i = 0; i < 2 * EDGES; i++)
    table[i] = (int)((unsigned)table[i] * 2654435761u % CELLS);
  const double scattered = reach_fetches(table, EDGES, 2, CELLS, 32, 1 << 20);
  assert_true(scattered > 2 && scattered < 3);
  assert_true(reach_fetches(table, 0, 2, CELLS, 32, 1 << 20) == 0);
  free(table);
}

TEST(views) {
  struct report r = make(1);
  struct report_view views[] = {{"q", "its elements are renumbered"}};
  struct text out = {0};
  r.views = views;
  r.nviews = 1;
  report_text(&r, &out);
  assert_non_null(strstr(text_str(&out), "view q has a copy in the library: its elements are renumbered\n"));
  text_free(&out);
}

TEST(chains) {
  struct tiled_facts chain = {.first = "save",
                              .last = "update",
                              .loops = 9,
                              .tiles = 48,
                              .chunks = 8,
                              .runs = 100,
                              .tile_bytes = 1e6,
                              .gap = 0.025,
                              .called_bytes = 80e6,
                              .bytes = 30e6,
                              .cutting = 0.125,
                              .seconds = 2.5};
  struct report r = make(1);
  struct text out = {0};
  report_text(&r, &out);
  report_json(&r, &out);
  assert_null(strstr(text_str(&out), "chains"));
  r.chains = &chain;
  r.nchains = 1;
  report_text(&r, &out);
  report_json(&r, &out);
  expect(&out, "  2.5%    80.00    30.00   3.0%  save ... update\n");
  expect(&out, "\"chains\":[{\"first\":\"save\",\"last\":\"update\",\"loops\":9,\"runs\":100,\"seconds\":2.5,"
               "\"cutting_seconds\":0.125");
  text_free(&out);
}

/* In several layers, and in one. */
TEST(layers) {
  struct layers_facts facts = {.first = "save",
                               .last = "update",
                               .loops = 9,
                               .layers = 2,
                               .runs = 100,
                               .one = {.exchanges = 2, .bytes = 28.8e3, .twice = 0.013},
                               .here = {.exchanges = 1, .bytes = 43.3e3, .twice = 0.036},
                               .seconds = 0.0625,
                               .gain = 12.5e-6};
  struct report r = make(4);
  struct text out = {0};
  r.layers = &facts;
  r.nlayers = 1;
  report_text(&r, &out);
  report_json(&r, &out);
  expect(&out, " exchanges       kB received       run twice   saves us\n");
  expect(&out, "     2     1/    2     43.3/    28.8   3.60%/  1.30%      +12.5  save ... update\n");
  expect(&out, "\"exchanges\":1,\"bytes\":43300,\"twice\":0.036,\"exchanges_of_one\":2,"
               "\"bytes_of_one\":28800,\"twice_of_one\":0.013,\"seconds\":0.0625,\"gain_seconds\":1.25e-05");
  text_free(&out);
}

TEST(json) {
  struct report r = make(1);
  struct text out = {0};
  report_json(&r, &out);
  expect(&out, "\"name\":\"res_calc\",\"calls\":1000,\"seconds\":2.5");
  expect(&out, "\"trials\":7,\"compiled_for_trials\":3");
  expect(&out, "\"gb_per_second\":20,\"triad_share\":0.5");
  expect(&out, "\"in_cache\":true,\"code\":\"cache_hit\",\"variant\":null");
  expect(&out, "\"name\":\"say \\\"hi\\\"\\n\\\\\"");
  expect(&out, "\"compile_seconds\":null");
  expect(&out, "\"compiled_for_trials\":3,\"trial_seconds\":0.1");
  expect(&out, "\"scalar\":\"loop not vectorized: a \\\"reason\\\"\"}");
  expect(&out, "\"scalar\":null}");
  assert_null(strstr(text_str(&out), "min_seconds"));
  assert_null(strstr(text_str(&out), "nan"));
  text_clear(&out);
  r = make(4);
  report_json(&r, &out);
  expect(&out, "\"max_seconds\":2.7,\"exchange_seconds\":0.25,\"waiting_seconds\":0.125,\"exchanges\":300,"
               "\"messages\":600,\"bytes_sent\":1500000,\"redundant\":0.02");
  text_free(&out);
}

TEST(trace) {
  struct report r = make(1);
  struct text out = {0};
  report_trace(&r, &out);
  expect(&out, "{\"name\":\"res_calc\",\"cat\":\"loop\",\"ph\":\"X\",\"ts\":500000.000,\"dur\":250000.000,"
               "\"pid\":0,\"tid\":0,\"args\":{\"variant\":\"strip8\",\"gb_per_second\":20}}");
  expect(&out,
         "\"cat\":\"compile\",\"ph\":\"X\",\"ts\":0.000,\"dur\":500000.000,\"pid\":0,\"tid\":2,\"args\":{}}");
  expect(&out, "\"args\":{\"name\":\"preparing\"}");
  expect(&out, "\"tid\":12,\"args\":{\"variant\":\"strip8\",\"waited_us\":125000}}");
  expect(&out, "\"tid\":12,\"args\":{\"name\":\"thread 1\"}");
  text_free(&out);
}

/* One file, and nothing in the data can end its script. */
TEST(page) {
  struct report r = make(1);
  struct report_row row = rows[0];
  struct text out = {0};
  row.name = "</script><b>";
  r.rows = &row;
  r.nrows = 1;
  report_html(&r, &out);
  expect(&out, "<!DOCTYPE html>");
  expect(&out, "\\u003c/script>\\u003cb>");
  expect(&out, "\"kind\":\"compile\",\"name\":\"update\",\"detail\":\"\",\"start\":0,\"seconds\":0.5}");
  assert_null(strstr(text_str(&out), "@REPORT@"));
  assert_null(strstr(text_str(&out), "https:"));
  text_free(&out);
}

TEST(counts) {
  struct report r = make(1);
  struct report_row row = rows[0];
  struct text out = {0};
  row.stats.calls = 10;
  memcpy(row.stats.hardware, counted, sizeof counted);
  r.rows = &row;
  r.nrows = 1;
  r.counters = counters;
  r.ncounters = 2;
  report_text(&r, &out);
  expect(&out, "a call    instructions    task-clock\n");
  expect(&out, "res_calc         150 M       5.00 ms\n");
  text_clear(&out);
  report_json(&r, &out);
  expect(&out, "\"counters\":{\"instructions\":1.5e+09,\"task-clock\":50000000}");
  text_free(&out);
}

TEST(nothing) {
  struct report r = {.backend = "seq", .threads = 1, .ranks = 1};
  struct text out = {0};
  report_text(&r, &out);
  expect(&out, "backend seq, 1 thread\n");
  expect(&out, "0 loops");
  text_clear(&out);
  report_json(&r, &out);
  expect(&out, "\"loops\":[]");
  text_free(&out);
}

/* 500 loops on 64 ranks, for the test that a browser shows them. */
static void print_big_page(void) {
  enum { LOOPS = 500, RANKS = 64 };
  static struct report_row many[LOOPS];
  static char names[LOOPS][24];
  static struct report_rank by_rank[RANKS];
  struct report r = make(RANKS);
  struct text out = {0};
  for (int i = 0; i < RANKS; i++)
    by_rank[i] = (struct report_rank){.seconds = 1e-3 * i, .waiting_seconds = 1e-4 * i, .messages = i};
  for (int i = 0; i < LOOPS; i++) {
    snprintf(names[i], sizeof names[i], "<b>loop%03d</b>", i);
    many[i] = rows[i % 2];
    many[i].name = names[i];
    many[i].by_rank = by_rank;
  }
  r.rows = many;
  r.nrows = LOOPS;
  report_html(&r, &out);
  fputs(text_str(&out), stdout);
  text_free(&out);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "page") == 0) {
    print_big_page();
    return 0;
  }
  if (argc == 2) { /* for the test that a parser takes it */
    struct report r = make(4);
    struct text out = {0};
    (strcmp(argv[1], "trace") == 0 ? report_trace : report_json)(&r, &out);
    fputs(text_str(&out), stdout);
    text_free(&out);
    return 0;
  }
  return run_these(NULL, NULL);
}
