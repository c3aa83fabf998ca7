/* What the team costs: a run without work, a barrier, and regions of a host program in turn with the library's. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "exec/team.h"

enum { rounds = 2000, batch = 10, repeats = 5, barriers = 100 };
static const double most_seconds = 0.1;

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

static void host_rounds(struct work *w) {
  host_region(w);
}
static void library_rounds(struct work *w) {
  team_run(w->team, team_threads(w->team), library_piece, w);
}
static void both_rounds(struct work *w) {
  host_rounds(w);
  library_rounds(w);
}
static void empty_rounds(struct work *w) {
  team_run(w->team, team_threads(w->team), nothing, w);
}
static void barrier_rounds(struct work *w) {
  team_run(w->team, team_threads(w->team), many_barriers, w);
}

/* Microseconds for a round: the best of some repeats, each of which ends early on a machine that is busy with
 * other things. */
static double measure(struct work *w, void (*round)(struct work *)) {
  double best = 1e9;
  for (int r = 0; r < repeats; r++) {
    double start = now(), spent = 0;
    int done = 0;
    while (done < rounds && spent < most_seconds) {
      for (int i = 0; i < batch; i++)
        round(w);
      done += batch;
      spent = now() - start;
    }
    best = spent / done * 1e6 < best ? spent / done * 1e6 : best;
  }
  return best;
}

static int report(enum team_kind kind, struct error *err) {
  static const long sizes[] = {1000, 20000, 400000};
  struct work w = {.values = calloc(400000, sizeof(double))};
  int status = !w.values || team_open(&w.team, kind, 0, err);
  if (!status) {
    host_region(&w); /* so that the default team finds the host's pool */
    double run = measure(&w, empty_rounds), barrier = measure(&w, barrier_rounds) / barriers;
    printf("%s%s: run %.2f us, barrier %.2f us\n", team_name(w.team),
           kind == TEAM_PTHREAD ? " (a second set of threads, for comparison)" : "", run, barrier);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      w.n = sizes[i];
      double host = measure(&w, host_rounds), library = measure(&w, library_rounds),
             both = measure(&w, both_rounds);
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
