/* What a kernel's text does that its arguments do not show. clang's tree says it (jit/clang/prove/prove_calls.h) where the
 * text is parsed, and the store keeps it (jit/proof/facts.h). Before that, and where there is no compiler, the words that
 * occur say it, here and nowhere else: a word that the kernel does not use counts all the same. */
#ifndef OP2JIT_JIT_FRONT_SAYS_H
#define OP2JIT_JIT_FRONT_SAYS_H

enum says {
  SAYS_SPEAKS = 1,    /* it prints, or asserts: the program sees when it runs */
  SAYS_ANY_ORDER = 2, /* it says OP_ANY_ORDER */
  SAYS_ROWS = 4,      /* it says OP_ROW */
  SAYS_DOUBLES = 8,   /* it has values of type double; words only */
  SAYS_SLOW = 16,     /* it divides, or calls what takes many times as long as an addition; words only */
  SAYS_READ = 32,     /* somebody looked; else nothing is known */
  SAYS_OF_TREE = SAYS_SPEAKS | SAYS_ANY_ORDER | SAYS_ROWS
};

#ifndef __cplusplus
#include "jit/front/describe.h"

struct tokens;

/* By its words: bits of enum says. */
int tokens_say(const struct tokens *t);
int text_says(const char *text);
/* Of a described text: what is known, or what its words say. */
static inline int desc_says(const struct desc *d) {
  return d->says & SAYS_READ || !d->text ? d->says : text_says(d->text);
}
#endif

#endif
