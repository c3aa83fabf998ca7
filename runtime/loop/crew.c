#include "loop/crew.h"

#include "loop/tuner.h"

/* The first runs find nothing in the caches, and threads asleep. */
enum { WARM_UP = 2, SELDOM = 4, MORE_SELDOM = 16 };
/* A side that takes so many times as long as the other one has lost: in two runs one thread, or in its first. */
static const double hopeless_many = 2, hopeless_one = 1.5, hopeless_first = 3;
/* The crew stays unless the other one is faster by this part of its time: less may be noise. */
static const double margin = 0.1;

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

/* The comparison is over; one with a clear outcome is not repeated soon. */
static void end(struct crew *crew, bool clear) {
  const double *seconds = crew->seconds;
  const int seldom = clear ? MORE_SELDOM : SELDOM;
  crew->compares = false;
  crew->comparisons++;
  crew->one = seconds[CREW_ONE] <= (crew->one ? 1 + margin : 1 - margin) * seconds[CREW_MANY];
  crew->lost += fmax(0, crew->spent - crew->compared * seconds[crew->one ? CREW_ONE : CREW_MANY]);
  crew->ask_at = crew->runs < LONG_MAX / seldom ? seldom * crew->runs : LONG_MAX;
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
  const bool clear = ones ? many > hopeless_many * one || (ones > 1 && one > hopeless_one * many)
                          : one > hopeless_first * many;
  if (crew->compared < CREW_RUNS && !clear)
    return;
  crew->seconds[CREW_MANY] = many;
  crew->seconds[CREW_ONE] = one;
  end(crew, clear);
}
