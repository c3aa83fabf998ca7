/* Random numbers that are the same on every machine: splitmix64. A seed and a number give a stream of its
 * own, so that leaving something out of a case does not change the rest of it. */
#ifndef OP2JIT_TESTS_RANDOM_H
#define OP2JIT_TESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
  uint64_t state;
};

static inline uint64_t random_next(struct random *r) {
  uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline struct random random_stream(uint64_t seed, uint64_t number) {
  struct random r = {seed * 0xd1342543de82ef95u + number};
  r.state = random_next(&r);
  return r;
}

/* 0 .. n-1; n > 0. */
static inline int random_below(struct random *r, int n) {
  return (int)(random_next(r) % (uint64_t)n);
}

static inline int random_between(struct random *r, int low, int high) {
  return low + random_below(r, high - low + 1);
}

static inline bool random_chance(struct random *r, int percent) {
  return random_below(r, 100) < percent;
}

static inline void random_shuffle(struct random *r, int *list, int n) {
  for (int i = n - 1; i > 0; i--) {
    int j = random_below(r, i + 1), t = list[i];
    list[i] = list[j];
    list[j] = t;
  }
}

#endif
