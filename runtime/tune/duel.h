/* One thread against all of them: what is better depends on what else the machine does, so both are measured in
 * turns, and the outcome holds for a while only. A pure function of the times it is told. */
#ifndef OP2JIT_DUEL_H
#define OP2JIT_DUEL_H

#include <stdbool.h>

enum duel_side { DUEL_MANY, DUEL_ONE, DUEL_SIDES };
enum { DUEL_TIMES = 4, DUEL_RUNS = 2 * DUEL_SIDES * DUEL_TIMES };

struct duel {
  double times[DUEL_SIDES][DUEL_TIMES];
  int runs; /* so far; two of a side in turn, of which the first, whose data lie in other caches, is not counted */
  bool on, all_runs; /* all_runs: also if the outcome is clear before */
};

void duel_begin(struct duel *duel, bool all_runs);
enum duel_side duel_next(const struct duel *duel);
/* A run of the next side took so long. `on` is false afterwards if that was the last one. */
void duel_record(struct duel *duel, double seconds);
/* Counted runs of a side, and their median, 0 of none. */
int duel_count(const struct duel *duel, enum duel_side side);
double duel_median(const struct duel *duel, enum duel_side side);
/* By which part of the time of all one thread has to be faster. */
extern const double duel_least;
/* One thread is faster by a fifth, and by more than what noise can do. */
bool duel_one_wins(const struct duel *duel);

#endif
