#include "tune/crew.h"

#include "tune/times.h"

/* The first runs find nothing in the caches, and threads asleep. */
enum { WARM_UP = 2, SELDOM = 4 };
/* A side that takes so many times as long as the other one has lost; so has one thread whose first run does. */
static const double hopeless = 2, hopeless_first = 3;

void crew_ask(struct crew *crew, int many, bool one) {
  crew->many = many;
  if (crew->ask_at > 0) {
    crew->compares = true;
    crew->compared = 0;
    crew->spent = 0;
    return;
  }
  crew->one = one;
  crew->ask_at = many > 0 ? WARM_UP : LONG_MAX;
}

/* A difference as small as the noise does not matter: there is no margin. */
static void end(struct crew *crew) {
  const double *seconds = crew->seconds;
  crew->compares = false;
  crew->comparisons++;
  crew->one = seconds[CREW_ONE] <= seconds[CREW_MANY];
  crew->lost += fmax(0, crew->spent - crew->compared * seconds[crew->one ? CREW_ONE : CREW_MANY]);
  crew->ask_at = crew->runs < LONG_MAX / SELDOM ? SELDOM * crew->runs : LONG_MAX;
}

void crew_compare(struct crew *crew, double seconds) {
  const bool is_one = crew->compared / 2 % CREW_SIDES == CREW_ONE, counts = crew->compared % 2;
  if (counts)
    crew->times[is_one][crew->compared / 4] = seconds;
  crew->compared++;
  crew->spent += seconds;
  const double many = times_median(crew->times[CREW_MANY], (crew->compared + 2) / 4);
  const int ones = crew->compared / 4;
  const double one = ones ? times_median(crew->times[CREW_ONE], ones) : is_one ? seconds : 0;
  const bool clear = ones ? one > hopeless * many || many > hopeless * one : one > hopeless_first * many;
  if (crew->compared < CREW_RUNS && !clear)
    return;
  crew->seconds[CREW_MANY] = many;
  crew->seconds[CREW_ONE] = one;
  end(crew);
}
