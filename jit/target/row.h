/* Kinds of processors that code is made for: the rows of target.c. */
#ifndef OP2JIT_JIT_TARGET_ROW_H
#define OP2JIT_JIT_TARGET_ROW_H

#include <stdbool.h>

#include "jit/target.h"

/* Tables are sorted by name, in the order of the list. `needs`: features, with blanks between them, that clang
 * would switch on with it, or without which it would be off. Some virtual machines hide one and show the other. */
struct target_feature {
  const char *name;
  int word, bit;
  unsigned long state; /* of another word all these bits, too */
  const char *needs;
};

struct target_row {
  const char *mark; /* a feature that is in its lists alone */
  /* This machine's, replacing both; NULL: this is none of them. */
  void (*describe)(struct text *cpu, struct text *features);
  int (*vector_bytes)(const char *features);
};
extern const struct target_row target_x86_64, target_aarch64;

/* Adds "+adx,-avx". A feature without one of its needs is switched off, in `on` too, and then those that need
 * it. */
void target_list(const struct target_feature *known, int count, bool *on, struct text *out);

#endif
