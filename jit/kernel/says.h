/* Effects of a kernel that its arguments do not show. clang's tree gives them (jit/clang/prove/prove.cc)
 * where the text is parsed, and the store keeps them (jit/facts.h). Before that, and without a compiler,
 * the words in the text give them. A word counts even if the kernel does not use it. Only this file looks for
 * words. */
#ifndef OP2JIT_JIT_KERNEL_SAYS_H
#define OP2JIT_JIT_KERNEL_SAYS_H

enum says {
  SAYS_SPEAKS = 1,    /* it prints, or asserts: the program sees when it runs */
  SAYS_ANY_ORDER = 2, /* it says OP_ANY_ORDER */
  SAYS_ROWS = 4,      /* it says OP_ROW */
  SAYS_DOUBLES = 8,   /* it has values of type double; words only */
  SAYS_SLOW =
      16, /* it divides, or calls a function that takes many times as long as an addition; words only */
  SAYS_READ = 32, /* the text was read; else nothing is known */
  SAYS_OF_TREE = SAYS_SPEAKS | SAYS_ANY_ORDER | SAYS_ROWS
};

#ifndef __cplusplus
#include "jit/kernel/kernel.h"

struct tokens;

/* Bits of enum says by the words. */
int tokens_say(const struct tokens *t);
int text_says(const char *text);
/* The effects of a described text: those that are known, or those of its words. */
static inline int desc_says(const struct desc *d) {
  return d->says & SAYS_READ || !d->text ? d->says : text_says(d->text);
}
#endif

#endif
