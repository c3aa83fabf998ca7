/* A way to run a loop on the host: how its elements are dealt out, what the generated code looks like, and the
 * block size. Its text is what reports show, OP2_VARIANT takes and the cache keeps: "colours/scalar/4096",
 * "chunks/strip8/threads1", "chunks/strip8/sorted". What the library chooses is left out, so that a name means the same on any mesh. */
#ifndef OP2JIT_VARIANT_H
#define OP2JIT_VARIANT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"
#include "jit/generate/shape.h"
#include "plan/strategy.h"

struct variant {
  const struct strategy *strategy;
  struct shape shape;
  bool sorted;    /* elements by the number of their targets, where a ragged map gives them different ones */
  int block_size; /* elements; 0: does not apply, or chosen by the library */
  int threads;    /* to use at most; 0: all that the loop may use */
};

void variant_print(const struct variant *variant, struct text *out);

/* Words of `spec` ("colours", "scalar", "4096", in any order, separated by '/') replace the members that they
 * name. OP_ERR_ENV with the words there are. */
int variant_apply(struct variant *variant, const char *spec, struct error *err);

#endif
