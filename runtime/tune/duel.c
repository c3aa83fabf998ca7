#include "tune/duel.h"

#include <math.h>

#include "tune/times.h"

const double duel_least = 0.2;
/* However noisy the machine, half the time is better. */
#define MOST 0.5
/* Two runs that all took so much longer decide, and a first one that took even longer. */
#define HOPELESS 1.5
#define HOPELESS_FIRST 3.0

void duel_begin(struct duel *duel, bool all_runs) {
  *duel = (struct duel){.on = true, .all_runs = all_runs};
}

enum duel_side duel_next(const struct duel *duel) {
  return (enum duel_side)(duel->runs / 2 % DUEL_SIDES);
}

int duel_count(const struct duel *duel, enum duel_side side) {
  const int round = 2 * DUEL_SIDES, rest = duel->runs % round;
  return duel->runs / round + (rest >= 2 * ((int)side + 1));
}

double duel_median(const struct duel *duel, enum duel_side side) {
  return times_median(duel->times[side], duel_count(duel, side));
}

static bool is_hopeless(const struct duel *duel, bool counted, double seconds) {
  const double many = duel_median(duel, DUEL_MANY);
  if (!counted)
    return seconds > HOPELESS_FIRST * many;
  return duel_count(duel, DUEL_ONE) == 2 &&
         fmin(duel->times[DUEL_ONE][0], duel->times[DUEL_ONE][1]) > HOPELESS * many;
}

void duel_record(struct duel *duel, double seconds) {
  const enum duel_side side = duel_next(duel);
  const bool counted = duel->runs % 2 == 1;
  if (counted)
    duel->times[side][duel_count(duel, side)] = seconds;
  duel->runs++;
  if (duel->runs == DUEL_RUNS || (side == DUEL_ONE && !duel->all_runs && is_hopeless(duel, counted, seconds)))
    duel->on = false;
}

static double noise(const struct duel *duel, enum duel_side side) {
  const int count = duel_count(duel, side);
  return count ? times_spread(duel->times[side], count) / sqrt((double)count) : 0;
}

bool duel_one_wins(const struct duel *duel) {
  const double margin = fmin(MOST, fmax(duel_least, 2 * (noise(duel, DUEL_MANY) + noise(duel, DUEL_ONE))));
  return duel->runs == DUEL_RUNS && duel_median(duel, DUEL_ONE) < (1 - margin) * duel_median(duel, DUEL_MANY);
}
