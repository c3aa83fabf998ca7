/* The variants that tuning tries beside a loop's default on the host: one thing at a time, the most promising first.
 * A pure function, the same on every rank. */
#ifndef OP2JIT_ALTERNATIVES_H
#define OP2JIT_ALTERNATIVES_H

#include "backend/code.h"

/* Facts of the loop. */
struct alternatives_of {
  long elements;
  int threads; /* that it may use */
  bool heavy;  /* few elements that take long, see code.h; the standard is cut for them */
  const struct shape *shapes;
  int nshapes; /* worth trying, see jit/emit */
  const struct shape
      *sorted;         /* of strips of elements sorted by the number of their targets; NULL: of no use */
  size_t turned_bytes; /* that one element increments through maps; 0: none */
};

enum { MOST_ALTERNATIVES = 20 };
/* Loops over fewer elements are not worth a trial, unless they are heavy. */
enum { TUNED_ELEMENTS = 4096 };

/* A run may be over before the last of these threads is awake. */
bool elements_are_few(long elements, int threads);

/* Fills `out` and returns how many there are; none of them equals `standard`. */
int alternatives(const struct variant *standard, const struct alternatives_of *loop,
                 struct variant out[MOST_ALTERNATIVES]);

#endif
