/* Reports: numbers where they belong, aligned columns, JSON that a parser takes; and the triad. */
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/forms.h"
#include "run/caches.h"
#include "run/triad.h"

static const struct report_row rows[] = {
    {"res_calc",
     "blocks:1024",
     1000,
     2.5,
     0.01,
     0.05,
     50e6,
     400e6,
     REPORT_COMPILED,
     2.4,
     2.5,
     2.7,
     7,
     0.1,
     "",
     {0.25, 0.125, 300, 600, 1.5e6, 0.02},
     3,
     0},
    {"a_loop_with_a_long_name",
     NULL,
     10,
     0.5,
     0,
     0,
     1e6,
     1e6,
     REPORT_CACHE_HIT,
     0,
     0,
     0,
     0,
     0,
     NULL,
     {0, 0, 0, 0, 0, 0},
     0,
     0},
    {"say \"hi\"\n\\",
     "x",
     0,
     0,
     0,
     NAN,
     0,
     1e9,
     REPORT_NATIVE,
     0,
     0,
     0,
     1,
     0.02,
     "loop not vectorized: a \"reason\"",
     {0, 0, 0, 0, 0, 0},
     0,
     0},
};
static const struct trace_event events[] = {{"res_calc", "loop", 100.5, 0.25, 0},
                                            {"update", "loop", 100.0, 0.5, 3}};

static struct report make(int ranks) {
  return (struct report){.backend = "openmp",
                         .team = "pthread",
                         .threads = 2,
                         .ranks = ranks,
                         .triad = 40,
                         .cache_bytes = 32000000,
                         .rows = rows,
                         .nrows = 3,
                         .events = events,
                         .nevents = 2};
}

static void expect(const struct text *t, const char *part) {
  assert_true(text_ok(t));
  if (!strstr(text_str(t), part))
    fail_msg("\"%s\" is not in:\n%s", part, text_str(t));
}

CASE(numbers) {
  struct report r = make(1);
  assert_true(fabs(report_rate(&rows[0]) - 20) < 1e-12);
  assert_true(fabs(report_share(&r, &rows[0]) - 0.5) < 1e-12);
  assert_true(report_rate(&rows[2]) == 0);
  assert_false(report_in_cache(&r, &rows[0]));
  assert_true(report_in_cache(&r, &rows[1]));
  r.triad = 0;
  assert_true(report_share(&r, &rows[0]) == 0);
}

CASE(text) {
  struct report r = make(1);
  struct text out = {0};
  r.nrows = 2;
  report_text(&r, &out);
  expect(&out, "backend openmp, 2 threads (pthread), memory (triad) 40.0 GB/s\n");
  expect(&out, "  50%  compiled  blocks:1024\n");
  expect(&out, "tuning: 7 trials of other variants cost 0.1000 s, 3.3% of the loops' time\n");
  assert_null(strstr(text_str(&out), "without vector"));
  expect(&out, " small  cached    -\n");
  expect(&out, "2 loops: 1 compiled, 1 from the kernel cache, 0 native; 3 variants compiled for trials\n");
  assert_null(strstr(text_str(&out), "mean s"));
  assert_null(strstr(text_str(&out), "owner ranges"));
  /* columns are aligned: "code" begins where the origins do */
  const char *heading = strstr(text_str(&out), "loop "), *row = strstr(text_str(&out), "res_calc");
  assert_int_equal(strstr(heading, "code") - heading, strstr(row, "compiled") - row);
  expect(&out, "\nall loops                    1010     3.000000    0.010000    0.050000\n");
  expect(&out, "0.500000           -           -     0.02");
  text_clear(&out);
  r = make(4);
  report_text(&r, &out);
  expect(&out, "4 ranks");
  expect(&out, " runs without vector instructions: loop not vectorized: a \"reason\"\n");
  expect(&out, "res_calc                    2.400000     2.500000     2.700000     0.250000     0.125000     "
               "   300    "
               "    600      1.500     2.00%\n");
  /* A loop that moves nothing has no rate; the sum of rank 0 stands below its rows. */
  expect(&out, "nan        -      -  native");
  const char *sum = strstr(text_str(&out), "all loops "), *across = strstr(text_str(&out), "over the ranks ");
  assert_true(sum && across && sum < across);
  text_free(&out);
}

/* The one strategy whose sums are not the same on any number of threads. */
CASE(owners) {
  struct report r = make(1);
  struct report_row row = rows[0];
  struct text out = {0};
  row.variant = "owners/strip8";
  r.rows = &row;
  r.nrows = 1;
  report_text(&r, &out);
  expect(&out, "res_calc runs by owner ranges: how its sums are rounded depends on the number of threads\n");
  text_free(&out);
}

/* Only of loops on a device. */
CASE(moved) {
  struct report r = make(1);
  struct report_row on_device[] = {rows[0], rows[1]};
  struct text out = {0};
  report_text(&r, &out);
  report_json(&r, &out);
  assert_null(strstr(text_str(&out), "moved"));
  on_device[0].moved = 48000;
  r.rows = on_device;
  r.nrows = 2;
  report_text(&r, &out);
  report_json(&r, &out);
  expect(&out, "moved between host and device, bytes a call: res_calc 48 a_loop_with_a_long_name 0\n");
  expect(&out, "\"bytes_moved\":48000,");
  text_free(&out);
}

CASE(chains) {
  const struct tiled_facts chain = {.first = "save",
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
  expect(&out, "  2.5%     80.00     30.00  save ... update\n");
  expect(&out,
         "\"chains\":[{\"first\":\"save\",\"last\":\"update\",\"loops\":9,\"runs\":100,\"seconds\":2.5");
  text_free(&out);
}

CASE(json) {
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

CASE(trace) {
  struct report r = make(1);
  struct text out = {0};
  report_trace(&r, &out);
  expect(&out, "\"name\":\"res_calc\",\"cat\":\"loop\",\"ph\":\"X\",\"ts\":500000.000,\"dur\":"
               "250000.000,\"pid\":0");
  expect(&out, "\"ts\":0.000,\"dur\":500000.000,\"pid\":3");
  text_free(&out);
}

CASE(nothing) {
  struct report r = {.backend = "seq", .threads = 1, .ranks = 1};
  struct text out = {0};
  report_text(&r, &out);
  expect(&out, "backend seq, 1 thread\n");
  expect(&out, "0 loops");
  text_clear(&out);
  report_json(&r, &out);
  expect(&out, "\"loops\":[\n]");
  text_free(&out);
}

CASE(bandwidth) {
  struct error err = {0};
  struct team *team = NULL;
  double rate = 0;
  struct env env = {0};
  struct text warnings = {0};
  assert_int_equal(env_read(&env, 0, NULL, &warnings, &err), OP_OK);
  assert_int_equal(team_open(&team, TEAM_DEFAULT, 2, &err), OP_OK);
  for (int threads = 1; threads <= 2; threads++) {
    assert_int_equal(triad_measure(team, threads, caches_bytes(&env, threads), &rate, &err), OP_OK);
    assert_true(rate > 0.05 && rate < 20000);
    printf("%d threads: %.1f GB/s\n", threads, rate);
  }
  team_close(team);
  text_free(&warnings);
  env_free(&env);
  error_free(&err);
}

int main(int argc, char **argv) {
  if (argc == 2) { /* for the test that a parser takes it */
    struct report r = make(4);
    struct text out = {0};
    (strcmp(argv[1], "trace") == 0 ? report_trace : report_json)(&r, &out);
    fputs(text_str(&out), stdout);
    text_free(&out);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers), cmocka_unit_test(text),      cmocka_unit_test(owners),
      cmocka_unit_test(chains),  cmocka_unit_test(json),      cmocka_unit_test(trace),
      cmocka_unit_test(nothing), cmocka_unit_test(bandwidth), cmocka_unit_test(moved)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
