#include "tune/crew.h"

#include <limits.h>
#include <math.h>

/* The first runs find nothing in the caches, and threads asleep. */
enum { WARM_UP = 2, SELDOM = 4 };
/* Several threads that take so many times as long as one in a run are not tried more often. */
#define HOPELESS 2
/* Of all runs, that other looks may cost. */
#define SHARE 0.02

bool crew_can_pay(const struct crew *crew) {
  return crew->lost <= SHARE * crew->total;
}

void crew_ask(struct crew *crew, int many, bool one) {
  if (crew->ask_at == 0) {
    crew->one = one;
    crew->ask_at = many > 0 ? WARM_UP : LONG_MAX;
  } else
    duel_begin(&crew->duel, false);
  crew->many = many;
}

int crew_threads(const struct crew *crew) {
  const bool one = crew->duel.on ? duel_next(&crew->duel) == DUEL_ONE : crew->one;
  return one && crew->many > 0 ? 1 : crew->many;
}

/* Whoever won, a difference as small as the noise does not matter: no margin. */
static void end_duel(struct crew *crew) {
  const double one = duel_median(&crew->duel, DUEL_ONE), many = duel_median(&crew->duel, DUEL_MANY);
  crew->duel.on = false;
  crew->duels++;
  crew->one = one > 0 && one <= many;
  crew->on_one = one > 0 ? one : crew->on_one;
  crew->lost += fmax(0, crew->spent - crew->duel.runs * (crew->one ? one : many));
  crew->spent = 0;
  crew->ask_at = crew->runs < LONG_MAX / SELDOM ? SELDOM * crew->runs : LONG_MAX;
}

void crew_ran(struct crew *crew, double seconds) {
  if (crew->many == 0 || !(seconds > 0) || !isfinite(seconds))
    return;
  crew->runs += crew->runs < LONG_MAX;
  crew->total += seconds;
  if (!crew->duel.on)
    return;
  crew->spent += seconds;
  duel_record(&crew->duel, seconds);
  const double one = duel_median(&crew->duel, DUEL_ONE);
  if (!crew->duel.on || (one > 0 && duel_median(&crew->duel, DUEL_MANY) > HOPELESS * one))
    end_duel(crew);
}
