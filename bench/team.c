/* What the team costs: a run without work, a barrier, and regions of a host program in turn with the library's. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "team.h"

enum { rounds = 2000, repeats = 5, barriers = 100 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct work {
  struct team *team;
  double *values;
  long n;
};

static void piece(const struct work *w, int thread, int threads) {
  for (long i = w->n * thread / threads; i < w->n * (thread + 1) / threads; i++)
    w->values[i] = w->values[i] * 0.5 + 1;
}

static void library_piece(void *argument, int thread, int threads) {
  piece(argument, thread, threads);
}

static void host_region(const struct work *w) {
#pragma omp parallel num_threads(team_threads(w->team))
  piece(w, omp_get_thread_num(), omp_get_num_threads());
}

static void nothing(void *argument, int thread, int threads) {
  (void)argument;
  (void)thread;
  (void)threads;
}

static void many_barriers(void *argument, int thread, int threads) {
  const struct work *w = argument;
  (void)thread;
  (void)threads;
  for (int i = 0; i < barriers; i++)
    team_barrier(w->team);
}

/* Microseconds for each round of host (bit 0) and library (bit 1) regions; the best of some. */
static double regions(struct work *w, int which) {
  double best = 1e9;
  for (int r = 0; r < repeats; r++) {
    double start = now();
    for (int i = 0; i < rounds; i++) {
      if (which & 1)
        host_region(w);
      if (which & 2)
        team_run(w->team, team_threads(w->team), library_piece, w);
    }
    double us = (now() - start) / rounds * 1e6;
    best = us < best ? us : best;
  }
  return best;
}

static double runs(struct work *w, team_task *task, int count) {
  double best = 1e9;
  for (int r = 0; r < repeats; r++) {
    double start = now();
    for (int i = 0; i < count; i++)
      team_run(w->team, team_threads(w->team), task, w);
    double us = (now() - start) / count * 1e6;
    best = us < best ? us : best;
  }
  return best;
}

static int report(enum team_kind kind, struct error *err) {
  static const long sizes[] = {1000, 20000, 400000};
  struct work w = {.values = calloc(400000, sizeof(double))};
  int status = !w.values || team_open(&w.team, kind, 0, err);
  if (!status) {
    printf("%s%s: run %.2f us, barrier %.2f us\n", team_name(w.team),
           kind == TEAM_PTHREAD ? " (a second set of threads, for comparison)" : "",
           runs(&w, nothing, rounds), runs(&w, many_barriers, rounds / barriers) / barriers);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      w.n = sizes[i];
      double host = regions(&w, 1), library = regions(&w, 2), both = regions(&w, 3);
      printf("  %7ld values: host %8.2f us, library %8.2f us, in turn %8.2f us: %.2f times the sum\n", w.n,
             host, library, both, both / (host + library));
    }
  }
  team_close(w.team);
  free(w.values);
  return status;
}

int main(void) {
  struct error err = {0};
  int status = report(TEAM_DEFAULT, &err) || report(TEAM_PTHREAD, &err);
  if (status)
    fprintf(stderr, "team: %s\n", error_message(&err));
  error_free(&err);
  return status;
}
