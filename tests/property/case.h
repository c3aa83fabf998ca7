/* One case: a short random program on a mesh of its own. A case is a function of its seed and of what the
 * shrinker leaves out. */
#ifndef OP2JIT_TESTS_CASE_H
#define OP2JIT_TESTS_CASE_H

#include "bind.h"

enum { CASE_KERNELS = 3, CASE_STEPS = 8 };

struct test_case {
  uint64_t seed;
  int number;
  int size_limit;
  bool mirrored, keeps, direct, odd; /* see world.h */
  bool meets;                        /* all kernels are meeting ones */
  bool none_meets;                   /* a strategy is forced that refuses loops whose elements meet */
  bool sums;                         /* see kernel.h */
  int longest;                       /* row of a ragged map; 0: any */
  int again;                         /* how often a new loop is run once more at once */
  bool all_again;                    /* and all loops before it, so that they are a period */
  unsigned skipped;                  /* steps that are left out, one bit each */
  struct kernel *kernels[CASE_KERNELS];
  char *texts[CASE_KERNELS]; /* what the library gets */
  int nkernels;
};

/* Case `number` of the run with this seed, as its settings ask for it; `native`: of kernels that are functions too. */
void case_make(struct test_case *c, uint64_t seed, int number, bool native);
void case_free(struct test_case *c);
/* True if the library agreed. The world is left open, for its program and its failure. */
bool case_run(const struct test_case *c, struct world *w, struct coverage *coverage);
/* Make a failing case smaller, by its steps and sizes, as long as it fails. */
void case_shrink(struct test_case *c);
/* As a C program, with the first difference in front. */
void case_print(const struct test_case *c, const struct world *w, FILE *out);
/* After op_init: constants and native forms. */
bool case_library_ready(bool native);

#endif
