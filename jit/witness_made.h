/* Values that a kernel is tried with. They are the same for a number in any process, and there are as many as one
 * likes: plain ones first, later mixtures in which the numbers of the kernel's text and of its constants occur
 * often. Never NaN or an infinity: what a kernel does with them is no mistake. */
#ifndef OP2JIT_JIT_WITNESS_MADE_H
#define OP2JIT_JIT_WITNESS_MADE_H

#include "jit/kernel/kernel.h"

enum { MADE_LITERALS = 64 };
struct made {
  double literals[MADE_LITERALS];
  int nliterals;
};

void made_open(struct made *m, const struct desc *d);
/* `place` numbers the values of one trial. */
void made_value(const struct made *m, unsigned long trial, unsigned place, enum type_code type, bool number,
                unsigned char *out);
/* A number as a value of that type: whole numbers are cut to it. */
void made_put(enum type_code type, double value, unsigned char *out);
/* Whether `got` is `start` plus `step`, but for rounding. A step, or a sum, that is not finite may be anything. */
bool made_is_added(enum type_code type, double start, const unsigned char *step, const unsigned char *got);

#endif
