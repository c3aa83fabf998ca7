/* Mistakes in kernels, each with what is to be said of it, and its corrected twin. */
#ifndef OP2JIT_TESTS_CLANG_PLANTED_H
#define OP2JIT_TESTS_CLANG_PLANTED_H

/* Arguments are in letters: see parse_arguments of test_prover.c. */
struct mistake {
  const char *arguments;
  const char *wrong;
  int argument, line; /* of the finding: from 0, -1 the kernel; 0: no line is asked for */
  const char *says, *remedy;
  const char *right; /* the corrected twin */
};

extern const struct mistake planted[];
extern const int planted_count;

#endif
