/* ./dev bench cuda: the library on a GPU against hand-written CUDA of the same loops, in one run: airfoil in two
 * sizes, jac and a stream, in both precisions; airfoil with so few cells that launches bind it; then what the host
 * pays. Medians of several measurements, contenders taking turns; each loop's bytes a second beside those of a
 * copying kernel. An answer that differs fails. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "common/memory.h"
#include "common/options.h"
#include "common/report.h"
#include "samples/airfoil/mesh.h"

enum { MOST_REPEATS = 51 };

struct settings {
  int small, large, tiny, side, vector, repeats, warm;
  double seconds;
  const char *json, *source, *cache;
  const char *lazy; /* OP2_LAZY; NULL: as it comes */
  bool whole;       /* no kernel begins before the one before it has ended */
  int argc;
  char **argv;
};

/* Where everything is told twice. */
struct output {
  FILE *json;
  int wrong, cases;
};

static char *joined(const char *name, const char *value) {
  const size_t size = strlen(name) + strlen(value) + 1;
  char *made = room((long long)size, 1);
  snprintf(made, size, "%s%s", name, value);
  return made;
}

/* With these words behind the user's; names end with NULL. */
static void start_library(const struct settings *s, const char *const *words) {
  char *all[64];
  int count = 0;
  for (int i = 0; i < s->argc && count < 40; i++)
    all[count++] = s->argv[i];
  for (; *words; words++)
    all[count++] = strdup(*words);
  if (s->lazy)
    all[count++] = joined("OP2_LAZY=", s->lazy);
  all[count] = NULL;
  op_init(count, all, 0);
  for (int i = s->argc; i < count; i++)
    free(all[i]);
}

/* ---- measuring ---- */

static double time_of(const struct contender *c, int count) {
  double start = clock_seconds();
  for (int i = 0; i < count; i++)
    c->repeat(c->run);
  return (clock_seconds() - start) / count;
}

/* All contenders do the same number of repetitions, in turns. */
static void measure(const struct settings *s, const struct bare_case *of, double medians[], double lowest[],
                    double answers[]) {
  double times[MOST_CONTENDERS][MOST_REPEATS];
  for (int c = 0; c < of->count; c++)
    time_of(&of->contenders[c], s->warm);
  const double one = time_of(&of->contenders[of->count - 1], 2);
  for (int c = 0; c < of->count - 1; c++)
    time_of(&of->contenders[c], 2);
  const double wanted = s->seconds / (of->count * s->repeats) / one;
  const int count = wanted < 1 ? 1 : wanted > 1000 ? 1000 : (int)wanted;
  for (int r = 0; r < s->repeats; r++)
    for (int c = 0; c < of->count; c++)
      times[c][r] = time_of(&of->contenders[c], count);
  for (int c = 0; c < of->count; c++) {
    answers[c] = of->contenders[c].repeat(of->contenders[c].run);
    medians[c] = median(times[c], s->repeats);
    lowest[c] = times[c][0];
  }
}

static double worst_difference(const double *answers, int count) {
  double worst = 0;
  for (int c = 1; c < count; c++)
    worst = worse_of(worst, relative_difference(answers[0], answers[c]));
  return worst;
}

static void tell_contenders(struct output *out, const struct bare_case *of, const double *medians,
                            const double *lowest) {
  double best = INFINITY;
  for (int c = 1; c < of->count; c++)
    best = fmin(best, medians[c]);
  printf("\n%s\n  %-24s %10s %10s  %12s\n", of->name, "by", "ms", "lowest", "time/plain");
  fprintf(out->json, "%s\n    {\"case\": \"%s\", \"contenders\": [", out->cases++ ? "," : "", of->name);
  for (int c = 0; c < of->count; c++) {
    printf("  %-24s %10.4f %10.4f  %11.2fx\n", of->contenders[c].name, 1e3 * medians[c], 1e3 * lowest[c],
           medians[c] / medians[1]);
    fprintf(out->json, "%s{\"by\": \"%s\", \"ms\": %.6g, \"lowest_ms\": %.6g}", c ? ", " : "",
            of->contenders[c].name, 1e3 * medians[c], 1e3 * lowest[c]);
  }
  printf("  op2jit is %.2f times as fast as the plain form and %.2f times as fast as the best\n",
         medians[1] / medians[0], best / medians[0]);
}

static void tell_loops(struct output *out, const struct bare *g) {
  struct loop_figure loops[MOST_LOOPS];
  const int count = library_loops(loops);
  printf("  %-16s %-28s %9s %9s %7s %5s %6s\n", "loop", "variant", "us", "GB/s", "copy", "regs", "spilt");
  fprintf(out->json, "], \"loops\": [");
  for (int i = 0; i < count; i++) {
    const struct loop_figure *f = &loops[i];
    const double rate = f->bytes / f->seconds;
    printf("  %-16s %-28s %9.2f %9.1f %5.1f %% %5d %6d\n", f->name, f->variant, 1e6 * f->seconds, 1e-9 * rate,
           100 * rate / g->copy, f->registers, f->spilled);
    fprintf(out->json,
            "%s{\"loop\": \"%s\", \"variant\": \"%s\", \"us\": %.6g, \"gb_s\": %.6g, \"share\": %.4g, "
            "\"registers\": %d, \"spilled\": %d}",
            i ? ", " : "", f->name, f->variant, 1e6 * f->seconds, 1e-9 * rate, rate / g->copy, f->registers,
            f->spilled);
  }
}

static void run_case(const struct settings *s, const struct bare *g, struct bare_case *of, double limit,
                     struct output *out) {
  double medians[MOST_CONTENDERS], lowest[MOST_CONTENDERS], answers[MOST_CONTENDERS];
  measure(s, of, medians, lowest, answers);
  const op_counters_t before = *op_counters();
  of->contenders[0].repeat(of->contenders[0].run);
  const long long moved = op_counters()->bytes_to_device - before.bytes_to_device +
                          op_counters()->bytes_from_device - before.bytes_from_device;
  const double difference = worst_difference(answers, of->count);
  tell_contenders(out, of, medians, lowest);
  tell_loops(out, g);
  printf("  %lld bytes between host and device in one repetition; answers differ by %.1e%s\n", moved,
         difference, difference <= limit ? "" : ": WRONG");
  fprintf(out->json, "], \"bytes_moved\": %lld, \"difference\": %.3g}", moved, difference);
  fflush(stdout);
  out->wrong += !(difference <= limit);
  for (int c = 0; c < of->count; c++)
    of->contenders[c].end(of->contenders[c].run);
}

/* ---- cases ---- */

static const struct twin_form forms[] = {{.apart = false, .coloured = false},
                                         {.apart = true, .coloured = false},
                                         {.apart = false, .coloured = true},
                                         {.apart = true, .coloured = true}};
enum { FORMS = sizeof forms / sizeof *forms };

static struct twin_form form_of(int which, bool single_precision) {
  struct twin_form form = forms[which];
  form.single_precision = single_precision;
  return form;
}

/* Variants are found in one run, with every candidate; a second one starts with what was found. */
static void tuned(const struct settings *s, struct contender (*make)(const void *mesh, bool single_precision),
                  const void *mesh, bool single_precision) {
  enum { ROUNDS = 400 };
  char *cache = joined("OP2_CACHE=", s->cache);
  start_library(s, (const char *const[]){"OP2_BACKEND=cuda", "OP2_TUNE=force", cache, NULL});
  struct contender c = make(mesh, single_precision);
  const double start = clock_seconds();
  for (int i = 0; i < ROUNDS && clock_seconds() - start < 15 * s->seconds; i++)
    c.repeat(c.run);
  c.end(c.run);
  op_exit();
  start_library(s, (const char *const[]){"OP2_BACKEND=cuda", "OP2_TUNE=use", cache, NULL});
  free(cache);
}

static struct contender make_airfoil(const void *mesh, bool single_precision) {
  return library_airfoil(mesh, single_precision);
}
static struct contender make_jac(const void *mesh, bool single_precision) {
  return library_jac(mesh, single_precision);
}
static struct contender make_stream(const void *size, bool single_precision) {
  return library_stream(*(const int *)size, single_precision);
}

static const char *const precisions[] = {"double", "float"};
/* Sums of many rounded numbers. */
static const double limits[] = {1e-9, 1e-3};

static void airfoil_case(const struct settings *s, struct bare *g, int cells, bool single_precision,
                         struct output *out) {
  struct airfoil_mesh mesh;
  struct bare_case of = {.count = 1 + FORMS};
  mesh_generate(&mesh, cells);
  tuned(s, make_airfoil, &mesh, single_precision);
  snprintf(of.name, sizeof of.name, "airfoil, %d cells, %s%s", mesh.cells, precisions[single_precision],
           !s->lazy                      ? ""
           : s->whole                    ? ", one after the other"
           : strcmp(s->lazy, "off") == 0 ? ", loop by loop"
                                         : ", waiting");
  of.contenders[0] = library_airfoil(&mesh, single_precision);
  for (int f = 0; f < FORMS; f++)
    of.contenders[1 + f] = twin_airfoil(g, &mesh, form_of(f, single_precision));
  run_case(s, g, &of, limits[single_precision], out);
  op_exit();
  mesh_free(&mesh);
}

/* So few cells that launches are all that counts: as it comes, loop by loop, as a graph; and loop by loop where none begins
 * before the one before it has ended, as some may that wait themselves. */
static void tiny_cases(const struct settings *s, struct bare *g, struct output *out) {
  struct settings wanted = *s;
  airfoil_case(s, g, s->tiny, false, out);
  wanted.lazy = "off";
  airfoil_case(&wanted, g, s->tiny, false, out);
  wanted.lazy = "on";
  airfoil_case(&wanted, g, s->tiny, false, out);
  wanted.lazy = "off";
  wanted.whole = true;
  setenv("OP2_DEPENDENT", "off", 1);
  airfoil_case(&wanted, g, s->tiny, false, out);
  unsetenv("OP2_DEPENDENT");
}

static void jac_case(const struct settings *s, struct bare *g, bool single_precision, struct output *out) {
  struct jac_mesh mesh = jac_mesh_make(s->side);
  struct bare_case of = {.count = 3};
  tuned(s, make_jac, &mesh, single_precision);
  snprintf(of.name, sizeof of.name, "jac, %d nodes, %s", mesh.nodes, precisions[single_precision]);
  of.contenders[0] = library_jac(&mesh, single_precision);
  of.contenders[1] = twin_jac(g, &mesh, form_of(0, single_precision));
  of.contenders[2] = twin_jac(g, &mesh, form_of(3, single_precision));
  run_case(s, g, &of, limits[single_precision], out);
  op_exit();
  jac_mesh_free(&mesh);
}

static void stream_case(const struct settings *s, struct bare *g, bool single_precision, struct output *out) {
  struct bare_case of = {.count = 3};
  tuned(s, make_stream, &s->vector, single_precision);
  snprintf(of.name, sizeof of.name, "stream, %d rows of 4, %s", s->vector, precisions[single_precision]);
  of.contenders[0] = library_stream(s->vector, single_precision);
  of.contenders[1] = twin_stream(g, s->vector, form_of(0, single_precision));
  of.contenders[2] = twin_stream(g, s->vector, form_of(1, single_precision));
  run_case(s, g, &of, 0, out);
  op_exit();
}

/* ---- what the host pays ---- */

/* Of one call, with so little to do that the GPU keeps up. */
static double launch_seconds(const struct settings *s) {
  enum { ROUNDS = 31, CALLS = 100 };
  double times[ROUNDS];
  start_library(s, (const char *const[]){"OP2_BACKEND=cuda", "OP2_TUNE=off", "OP2_CACHE=off", NULL});
  op_set set = op_decl_set(64, "few");
  op_dat x = op_decl_dat(set, 1, "double", NULL, "x");
  for (int r = -1; r < ROUNDS; r++) {
    const double start = clock_seconds();
    for (int i = 0; i < CALLS; i++)
      op_par_loop("void add_one(double *x) { *x += 1; }", "add_one", set,
                  op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
    if (r >= 0)
      times[r] = (clock_seconds() - start) / CALLS;
    library_wait();
  }
  op_exit();
  return median(times, ROUNDS);
}

/* From the first declaration to the end of the first iteration of a small airfoil; op_init apart. */
static void first_iteration(const struct settings *s, const char *cache, double *opening, double *first) {
  struct airfoil_mesh mesh;
  mesh_generate(&mesh, 2000);
  double start = clock_seconds();
  start_library(s, (const char *const[]){"OP2_BACKEND=cuda", "OP2_TUNE=off", cache, NULL});
  *opening = clock_seconds() - start;
  start = clock_seconds();
  struct contender c = library_airfoil(&mesh, false);
  c.repeat(c.run);
  *first = clock_seconds() - start;
  c.end(c.run);
  op_exit();
  mesh_free(&mesh);
}

static void host_costs(const struct settings *s, struct output *out) {
  char *cache = joined("OP2_CACHE=", s->cache);
  double opening, cold, warm;
  const double launch = launch_seconds(s);
  first_iteration(s, "OP2_CACHE=off", &opening, &cold);
  first_iteration(s, cache, &opening, &warm); /* fills the cache */
  first_iteration(s, cache, &opening, &warm);
  printf("\nthe host: %.2f us for a warm call; op_init %.1f ms; first iteration of airfoil %.1f ms cold, "
         "%.1f ms "
         "from the cache\n",
         1e6 * launch, 1e3 * opening, 1e3 * cold, 1e3 * warm);
  fprintf(out->json,
          "\n  ],\n  \"launch_us\": %.6g, \"op_init_ms\": %.6g, \"first_cold_ms\": %.6g, \"first_warm_ms\": "
          "%.6g\n}\n",
          1e6 * launch, 1e3 * opening, 1e3 * cold, 1e3 * warm);
  free(cache);
}

/* ---- all of it ---- */

static void run_all(const struct settings *s, struct bare *g, struct output *out) {
  printf("%s, sm_%d, NVRTC %s; a copying kernel moves %.1f GB/s\n", g->device.name, g->device.capability,
         g->nvrtc->version, 1e-9 * g->copy);
  fprintf(out->json, "{\n  \"gpu\": \"%s\", \"nvrtc\": \"%s\", \"copy_gb_s\": %.6g,\n  \"cases\": [",
          g->device.name, g->nvrtc->version, 1e-9 * g->copy);
  for (int single = 0; single < 2; single++) {
    if (s->small)
      airfoil_case(s, g, s->small, single != 0, out);
    jac_case(s, g, single != 0, out);
    stream_case(s, g, single != 0, out);
  }
  if (s->tiny)
    tiny_cases(s, g, out);
  for (int single = 0; single < 2 && s->large; single++)
    airfoil_case(s, g, s->large, single != 0, out);
  host_costs(s, out);
}

int main(int argc, char **argv) {
  struct settings s = {.small = PUBLISHED_CELLS,
                       .large = 11520000,
                       .tiny = 2000,
                       .side = 2000,
                       .vector = 20000000,
                       .repeats = 9,
                       .warm = 20,
                       .seconds = 2,
                       .json = "/dev/null",
                       .source = "bench/cuda/twins.cu",
                       .cache = "off",
                       .argc = argc,
                       .argv = argv};
  const struct option_entry options[] = {
      {"cells", OPTION_INT, &s.small, 0, 1e8, "cells of the small airfoil; 0: without it"},
      {"large", OPTION_INT, &s.large, 0, 1e8, "cells of the large airfoil; 0: without it"},
      {"tiny", OPTION_INT, &s.tiny, 0, 1e6, "cells of the airfoil that launches bind; 0: without it"},
      {"side", OPTION_INT, &s.side, 2, 10000, "nodes on a side of jac's grid"},
      {"rows", OPTION_INT, &s.vector, 1, 1e8, "rows of the stream"},
      {"repeats", OPTION_INT, &s.repeats, 1, MOST_REPEATS, "measurements of each"},
      {"warm", OPTION_INT, &s.warm, 1, 1e6, "repetitions before them"},
      {"seconds", OPTION_REAL, &s.seconds, 0, 100, "that a case is measured for"},
      {"json", OPTION_WORD, &s.json, 0, 0, "file for the figures"},
      {"source", OPTION_FILE, &s.source, 0, 0, "the hand-written kernels"},
      {"cache", OPTION_WORD, &s.cache, 0, 0, "database for what is compiled and tuned"},
  };
  enum options_outcome outcome = options_read(argc, argv, "op2jit on a GPU against hand-written CUDA",
                                              sizeof options / sizeof *options, options);
  if (outcome != OPTIONS_RUN)
    return outcome;
  struct output out = {.json = fopen(s.json, "w")};
  struct bare g;
  if (!out.json) {
    perror(s.json);
    return 1;
  }
  bare_open(&g, s.source);
  run_all(&s, &g, &out);
  bare_close(&g);
  fclose(out.json);
  printf(out.wrong ? "\n%d answers are WRONG\n" : "\nall answers agree\n", out.wrong);
  return out.wrong ? 1 : 0;
}
