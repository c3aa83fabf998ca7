#include "tape/tape.h"

/* The binomials of revolve: with so many slots, and no step run more than `reps` times, `range` steps can be reversed. */
int schedule_next(int steps, int slots) {
  const long long s = (long long)slots + 1; /* the one in front of them counts */
  long long reps = 0, range = 1;
  if (slots < 1 || steps < 2)
    return 0;
  while (range < steps)
    reps++, range = range * (reps + s) / reps;
  const long long one = range * reps / (s + reps);
  const long long two = s > 1 ? one * s / (s + reps - 1) : 1;
  const long long three = s == 1 ? 0 : s > 2 ? two * (s - 1) / (s + reps - 2) : 1;
  const long long four = two * (reps - 1) / s;
  const long long five = s < 3 ? 0 : s > 3 ? three * (s - 2) / reps : 1;
  long long next = steps - two - three;
  if (steps <= one + three)
    next = four;
  else if (steps >= range - five)
    next = one;
  return next < 1 ? 1 : next >= steps ? steps - 1 : (int)next;
}

long long schedule_runs(int steps, int slots) {
  const long long s = (long long)slots + 1;
  long long reps = 0, range = 1, spared = 0; /* spared: the binomial of s + reps over reps - 1 */
  if (steps < 1)
    return 0;
  while (range < steps) {
    spared = reps ? spared * (s + reps + 1) / reps : 1;
    reps++;
    range = range * (reps + s) / reps;
  }
  return reps * steps - spared + steps;
}
