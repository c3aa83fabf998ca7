/* How many threads a team has, if nobody says so, and how many of them pay for some work. */
#include "base/clock.h"
#include "run/team_fill.h"
#include "run/team_place.h"
#include "run/team_quota.h"

static const long spin_ns = 1000000;

int team_cpus(void) {
  struct cpus cpus;
  if (!cpus_allowed(&cpus))
    return 1;
  const int count = cpus_count(&cpus), quota = quota_cpus("");
  cpus_free(&cpus);
  return quota > 0 && quota < count ? quota : count;
}

void team_decide(struct team *team, int threads) {
  int cpus = team_cpus();
  if (!team->threads)
    team->threads = threads > 0 ? threads : cpus;
  team->patience.spin_ns = team->threads > cpus ? 0 : spin_ns;
}

static void no_work(void *argument, int thread, int threads) {
  (void)argument, (void)thread, (void)threads;
}

/* The least of some runs, as of threads that are awake; where others want the CPUs few will do. */
static double measure_cost(struct team *team, int threads) {
  enum { RUNS = 16, FEWEST = 4 };
  const double most_seconds = 0.5e-3, begun = clock_seconds();
  double least = 0, before = begun;
  for (int run = 0; run < RUNS && (run < FEWEST || before < begun + most_seconds); run++) {
    team_run(team, threads, no_work, NULL);
    const double now = clock_seconds();
    least = run == 0 || now - before < least ? now - before : least;
    before = now;
  }
  return least;
}

/* Between what two threads take and what all take it grows evenly. */
static double cost_of(struct team *team, int threads) {
  double *cost = team->cost;
  if (cost[COST_ALL] <= 0 && !team->running && !team->fill->busy(team)) {
    cost[COST_TWO] = measure_cost(team, 2);
    cost[COST_ALL] = team->threads > 2 ? measure_cost(team, team->threads) : cost[COST_TWO];
  }
  const double more = team->threads > 2 ? (double)(threads - 2) / (team->threads - 2) : 0;
  return cost[COST_TWO] + more * (cost[COST_ALL] - cost[COST_TWO]);
}

int team_best(struct team *team, double seconds, int phases, int most, double *takes) {
  int best = 2;
  for (int threads = 2; threads <= most;
       threads = threads < most && 2 * threads > most ? most : 2 * threads) {
    const double now = seconds / threads + phases * cost_of(team, threads);
    if (threads == 2 || now < *takes) {
      best = threads;
      *takes = now;
    }
  }
  return best;
}
