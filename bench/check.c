/* ./dev bench check: what it costs to be sure. The prover, once per loop and kernel text; the checking form,
 * against the same loops without it on the same backend, at its first calls and later; and OP2_SHADOW. */
#include "cpu/cpu.h"

#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/api.h"
#include "common/options.h"
#include "common/report.h"
#include "jit/prove.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/record.h"

enum { PROOFS = 15, REPEATS = 5 };

static const struct bench_program {
  const char *name;
  cpu_case_begin *begin;
} programs[] = {{"airfoil", cpu_airfoil}, {"jac", cpu_jac}};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static void start(const char *backend, const char *assignment) {
  char own[64], other[64];
  snprintf(own, sizeof own, "OP2_BACKEND=%s", backend);
  snprintf(other, sizeof other, "%s", assignment);
  char *argv[] = {"check", own, "OP2_THREADS=1", "OP2_TUNE=off", other};
  op_init(5, argv, 0);
}

/* ---- the prover --------------------------------------------------------------------------------*/

/* Milliseconds of a proof of the loop's kernel, by the clock and of processor time; false if it is not proved. */
static bool measure_proof(const struct plugin *plugin, const struct loop *loop, double *wall,
                          double *processor) {
  double times[PROOFS], busy[PROOFS];
  const struct shape scalar = {0};
  struct generated files = {0};
  struct error err = {0};
  int violations = 0;
  if (generate_c(&loop->desc, &scalar, &files, &err) != OP_OK)
    return false;
  for (int i = 0; i < PROOFS; i++) {
    struct proof proof;
    const double begin = op_wtime();
    const clock_t tick = clock();
    prove_ask(plugin, &loop->desc, &files, NULL, NULL, &proof);
    busy[i] = 1e3 * (double)(clock() - tick) / CLOCKS_PER_SEC;
    times[i] = 1e3 * (op_wtime() - begin);
    violations += proof.result.status != 0;
    for (int f = 0; f < proof.result.nfindings; f++)
      violations += proof.result.findings[f].verdict == PROVE_VIOLATED;
    proof_free(plugin, &proof);
  }
  generated_free(&files);
  *wall = median(times, PROOFS);
  *processor = median(busy, PROOFS);
  return violations == 0;
}

static int bench_prover(const struct cpu_sizes *sizes) {
  struct plugin plugin = {0};
  struct error err = {0};
  int wrong = 0;
  printf("the prover, once per kernel text and arguments, then remembered in the cache (target 5 ms)\n");
  if (plugin_find(&plugin, NULL, &err) != OP_OK || plugin_open(&plugin, &err) != OP_OK) {
    printf("  not measured: %s\n", error_message(&err));
    error_free(&err);
    return 0;
  }
  for (int p = 0; p < PROGRAMS; p++) {
    struct cpu_case of;
    start("native", "OP2_CHECK=off");
    programs[p].begin(&of, sizes);
    of.repeat[CPU_LIBRARY](of.run[CPU_LIBRARY]);
    struct loop **loops = loop_records(api_context());
    for (size_t i = 0; loops && i < api_context()->loops->count; i++) {
      double wall = 0, processor = 0;
      wrong += !measure_proof(&plugin, loops[i], &wall, &processor);
      printf("  %-10s %-12s %8.2f ms, of the processor %5.2f\n", programs[p].name, loops[i]->name, wall,
             processor);
    }
    free(loops);
    of.end(&of);
    op_exit();
  }
  plugin_free(&plugin);
  return wrong;
}

/* ---- the checking form -------------------------------------------------------------------------*/

struct times {
  double first, later; /* seconds of one iteration */
};

static struct times run(const struct bench_program *program, const struct cpu_sizes *sizes,
                        const char *backend, const char *assignment, int iterations) {
  struct cpu_case of;
  double times[REPEATS];
  start(backend, assignment);
  program->begin(&of, sizes);
  const double begin = op_wtime();
  of.repeat[CPU_LIBRARY](of.run[CPU_LIBRARY]);
  const double first = op_wtime() - begin;
  of.repeat[CPU_LIBRARY](of.run[CPU_LIBRARY]); /* the second call of a loop is watched in full too */
  for (int r = 0; r < REPEATS; r++) {
    const double again = op_wtime();
    for (int i = 0; i < iterations; i++)
      of.repeat[CPU_LIBRARY](of.run[CPU_LIBRARY]);
    times[r] = (op_wtime() - again) / iterations;
  }
  of.end(&of);
  op_exit();
  return (struct times){first, median(times, REPEATS)};
}

static void bench_form(const struct cpu_sizes *sizes, int iterations) {
  static const char *const backends[] = {"native", "seq"};
  static const char *const forms[][2] = {{"OP2_CHECK=on", "OP2_CHECK=on"},
                                         {"OP2_SHADOW=native", "OP2_SHADOW=native"},
                                         {"OP2_SHADOW=native:10", "OP2_SHADOW=native:10"}};
  printf("\nthe checking form, one thread, milliseconds of an iteration (target: later iterations within 10 "
         "times of native's)\n"
         "  %-10s %-8s %-22s %10s %10s %8s\n",
         "program", "backend", "form", "first", "later", "later/");
  for (int p = 0; p < PROGRAMS; p++)
    for (size_t b = 0; b < sizeof backends / sizeof *backends; b++) {
      const struct times normal = run(&programs[p], sizes, backends[b], "OP2_CHECK=off", iterations);
      printf("  %-10s %-8s %-22s %10.3f %10.3f %7.2fx\n", programs[p].name, backends[b], "normal",
             1e3 * normal.first, 1e3 * normal.later, 1.0);
      for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        const struct times checked = run(&programs[p], sizes, backends[b], forms[f][0], iterations);
        printf("  %-10s %-8s %-22s %10.3f %10.3f %7.2fx\n", "", "", forms[f][1], 1e3 * checked.first,
               1e3 * checked.later, checked.later / normal.later);
      }
    }
}

int main(int argc, char **argv) {
  struct cpu_sizes sizes = {.cells = 20000, .grid = 200, .vector = 1000, .block = 4096};
  int iterations = 16;
  const struct option_entry entries[] = {
      {"cells", OPTION_INT, &sizes.cells, 12, 1e7, "cells of airfoil's mesh"},
      {"grid", OPTION_INT, &sizes.grid, 2, 3000, "nodes on a side of jac's mesh"},
      {"iters", OPTION_INT, &iterations, 1, 1e6, "iterations of a measurement"},
  };
  enum options_outcome outcome = options_read(argc, argv, "what the prover and the checking form cost",
                                              sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  setenv("OP2_CACHE", "off", 1);
  int wrong = bench_prover(&sizes);
  bench_form(&sizes, iterations);
  if (wrong)
    printf("WRONG: %d kernels of the samples are not proved\n", wrong);
  return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
