/* ./dev bench cpu: the library against hand-written loops, serial and with OpenMP, in one run: airfoil,
 * jac, vadd and synthetic loops, on one thread and on all. Medians of several measurements with their
 * spread, bytes per second by what each case must move, and the share of the machine's triad. */
#include "cpu/cpu.h"

#include "common/memory.h"
#include "common/options.h"
#include "common/report.h"

#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static cpu_case_begin *const all_cases[] = {cpu_airfoil, cpu_jac,  cpu_vadd, cpu_stream,
                                            cpu_gather,  cpu_add1, cpu_add3, cpu_add6};
enum { CASES = sizeof all_cases / sizeof *all_cases, MAX_REPEATS = 101 };

struct settings {
  struct cpu_sizes sizes;
  int repeats, threads, report;
  double warm, settle, each;
  const char *json, *svg;
};

static int threads_of_machine(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

static void use_threads(int threads) {
#ifdef _OPENMP
  omp_set_num_threads(threads);
#else
  (void)threads;
#endif
}

static double triad_once(double *restrict a, const double *restrict b, const double *restrict c, int size) {
  double start = clock_seconds();
#pragma omp parallel for simd schedule(static)
  for (int i = 0; i < size; i++)
    a[i] = b[i] + 3.0 * c[i];
  return clock_seconds() - start;
}

/* Bytes per second, without counting what a write reads first. */
static double measure_triad(int repeats) {
  enum { SIZE = 16000000 };
  double times[MAX_REPEATS], *a = room(SIZE, 8), *b = room(SIZE, 8), *c = room(SIZE, 8);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < SIZE; i++) {
    a[i] = 0;
    b[i] = 1;
    c[i] = 2;
  }
  triad_once(a, b, c, SIZE);
  for (int r = 0; r < repeats; r++)
    times[r] = triad_once(a, b, c, SIZE);
  free(a);
  free(b);
  free(c);
  return 24.0 * (double)SIZE / median(times, repeats);
}

/* Repetitions that take about `seconds`. */
static int count_for(double seconds, double one) {
  double count = seconds / one;
  return count < 1 ? 1 : count > 100000 ? 100000 : (int)count;
}

static double time_of(const struct cpu_case *of, int contender, int count) {
  double start = clock_seconds();
  for (int i = 0; i < count; i++)
    of->repeat[contender](of->run[contender]);
  return (clock_seconds() - start) / count;
}

/* The library repeats until it has made no trial for a while, at most for `seconds`; returns how often. A trial
 * among the measured repetitions would be counted as the chosen variant's. */
static int let_settle(const struct cpu_case *of, double seconds) {
  enum { QUIET = 40 };
  const double end = clock_seconds() + seconds;
  int done = 0, quiet = 0;
  for (long long trials = op_counters()->trials; quiet < QUIET && clock_seconds() < end; done++, quiet++) {
    of->repeat[CPU_LIBRARY](of->run[CPU_LIBRARY]);
    if (op_counters()->trials != trials)
      quiet = 0;
    trials = op_counters()->trials;
  }
  return done;
}

/* All contenders do as many repetitions before the measured ones, and then repeats * `count`; they take turns, so
 * that what disturbs the machine disturbs all. */
static void measure(const struct settings *s, struct cpu_case *of, struct cpu_row *row) {
  double times[CPU_CONTENDERS][MAX_REPEATS], slowest = 0;
  for (int c = 0; c < CPU_CONTENDERS; c++) {
    time_of(of, c, 2);
    double one = time_of(of, c, 1);
    slowest = one > slowest ? one : slowest;
  }
  int before = count_for(s->warm, slowest), count = count_for(s->each, slowest);
  for (int c = 0; c < CPU_CONTENDERS; c++)
    time_of(of, c, before);
  const int settling = let_settle(of, s->settle);
  for (int c = 0; c < CPU_CONTENDERS && settling; c++)
    if (c != CPU_LIBRARY)
      time_of(of, c, settling);
  for (int r = 0; r < s->repeats; r++)
    for (int c = 0; c < CPU_CONTENDERS; c++)
      times[c][r] = time_of(of, c, count);
  for (int c = 0; c < CPU_CONTENDERS; c++) {
    row->figure[c].median = median(times[c], s->repeats);
    row->figure[c].low = times[c][0];
    row->figure[c].high = times[c][s->repeats - 1];
  }
}

static void print_row(const struct cpu_row *row, double triad) {
  for (int c = 0; c < CPU_CONTENDERS; c++) {
    const struct cpu_figure *f = &row->figure[c];
    printf("  %-24s %-22s %9.3f  %8.3f ..%8.3f  %7.2f  %5.1f %%  %6.2fx\n", c == 0 ? row->name : "",
           cpu_contender_names[c], 1e3 * f->median, 1e3 * f->low, 1e3 * f->high,
           1e-9 * row->bytes / f->median, 100 * row->bytes / f->median / triad,
           row->figure[CPU_OPENMP].median / f->median);
  }
}

/* Start the library on a number of threads. */
static void start_library(int argc, char **argv, int threads) {
  char word[32];
  snprintf(word, sizeof word, "OP2_THREADS=%d", threads);
  char **words = room(argc + 2, sizeof *words);
  memcpy(words, argv, (size_t)argc * sizeof *words);
  words[argc] = word;
  words[argc + 1] = NULL;
  op_init(argc + 1, words, 0);
  free(words);
}

/* All cases with one number of threads; returns how many answers differ. */
static int run_team(const struct settings *s, int argc, char **argv, int threads, int team,
                    struct cpu_results *results) {
  int wrong = 0;
  use_threads(threads);
  results->threads[team] = threads;
  results->triad[team] = measure_triad(s->repeats);
  printf("\n%d thread%s, triad %.2f GB/s\n", threads, threads > 1 ? "s" : "", 1e-9 * results->triad[team]);
  printf("  %-24s %-22s %9s  %18s  %7s  %7s  %7s\n", "case", "by", "ms", "lowest .. highest", "GB/s", "triad",
         "OpenMP/");
  for (int k = 0; k < CASES; k++) {
    struct cpu_case of;
    struct cpu_row *row = &results->row[team][k];
    start_library(argc, argv, threads);
    all_cases[k](&of, &s->sizes);
    row->name = of.name;
    row->bytes = of.bytes;
    measure(s, &of, row);
    row->difference = of.difference(&of);
    print_row(row, results->triad[team]);
    if (!(row->difference <= 1e-8)) {
      printf("  WRONG: %s differs from the hand-written loops by %.2e\n", of.name, row->difference);
      wrong++;
    }
    if (s->report)
      op_timing_output();
    fflush(stdout);
    of.end(&of);
    op_exit();
  }
  return wrong;
}

int main(int argc, char **argv) {
  struct settings s = {
      .sizes = {.cells = 720000, .grid = 1000, .vector = 16000000, .block = 16384},
      .repeats = 7,
      .threads = threads_of_machine(),
      .warm = 1.0,
      .settle = 3.0,
      .each = 0.2,
      .json = "build/bench/cpu.json",
      .svg = "build/bench/cpu.svg",
  };
  const struct option_entry entries[] = {
      {"cells", OPTION_INT, &s.sizes.cells, 12, 2e8, "cells of airfoil's mesh"},
      {"grid", OPTION_INT, &s.sizes.grid, 2, 10000, "nodes on a side of the other meshes"},
      {"vector", OPTION_INT, &s.sizes.vector, 4, 2e9, "length of vectors"},
      {"block", OPTION_INT, &s.sizes.block, 64, 1e9, "block size of the hand-written loops"},
      {"repeats", OPTION_INT, &s.repeats, 5, MAX_REPEATS, "measurements, of which the median counts"},
      {"threads", OPTION_INT, &s.threads, 1, 4096, "measure one thread, and this many"},
      {"warm", OPTION_REAL, &s.warm, 0, 1000, "seconds before measuring, for the library's tuning"},
      {"settle", OPTION_REAL, &s.settle, 0, 1000,
       "seconds more, at most, until the library makes no more trials"},
      {"each", OPTION_REAL, &s.each, 0, 100, "seconds of a measurement"},
      {"report", OPTION_FLAG, &s.report, 0, 0,
       "print the library's own report, with the variants, after each case"},
      {"json", OPTION_WORD, &s.json, 0, 0, "file for the figures"},
      {"svg", OPTION_WORD, &s.svg, 0, 0, "file for the picture"},
  };
  enum options_outcome outcome =
      options_read(argc, argv, "the library against hand-written loops on this machine's processors",
                   sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;

  struct cpu_results *results = room(1, sizeof *results);
  memset(results, 0, sizeof *results);
  results->rows = CASES;
  results->teams = s.threads > 1 ? 2 : 1;
  printf("compiled with %s; hand-written loops with blocks of %d\n", __VERSION__, s.sizes.block);
  int wrong = run_team(&s, argc, argv, 1, 0, results);
  if (results->teams > 1)
    wrong += run_team(&s, argc, argv, s.threads, 1, results);
  int unwritten = cpu_write_json(results, s.json) || cpu_write_svg(results, s.svg);
  if (!unwritten)
    printf("\nfigures in %s, picture in %s\n", s.json, s.svg);
  free(results);
  return wrong || unwritten ? EXIT_FAILURE : EXIT_SUCCESS;
}
