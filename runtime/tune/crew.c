#include "tune/crew.h"

/* The first runs find nothing in the caches, and threads asleep. */
enum { WARM_UP = 2, SELDOM = 4 };
/* Several threads that take so many times as long as one in a run are not tried more often. */
#define HOPELESS 2

void crew_ask(struct crew *crew, int many, bool one) {
  if (crew->ask_at == 0) {
    crew->one = one;
    crew->ask_at = many > 0 ? WARM_UP : LONG_MAX;
  } else
    duel_begin(&crew->duel, false);
  crew->many = many;
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

void crew_compare(struct crew *crew, double seconds) {
  crew->spent += seconds;
  duel_record(&crew->duel, seconds);
  const double one = duel_median(&crew->duel, DUEL_ONE);
  if (!crew->duel.on || (one > 0 && duel_median(&crew->duel, DUEL_MANY) > HOPELESS * one))
    end_duel(crew);
}
