/* The processor that code is made for, from CPUID alone, in the words that clang uses. */
#ifndef OP2JIT_JIT_TARGET_H
#define OP2JIT_JIT_TARGET_H

#include <stdint.h>

#include "base/text.h"

/* What CPUID and XGETBV say, as far as it is looked at. */
enum target_word { WORD_1C, WORD_1D, WORD_7B, WORD_7C, WORD_7D, WORD_71A, WORD_81C, WORD_COUNT };
struct target_cpuid {
  char vendor[13];
  uint32_t signature; /* leaf 1, eax: family, model, stepping */
  uint32_t words[WORD_COUNT];
  uint64_t saved_state; /* XCR0: which registers the system saves; 0 if it saves none of the wide ones */
};

/* This machine's. A feature whose registers the system does not save counts as absent. `cpu` is a name for tuning
 * that clang 19 knows (an older one takes the nearest that it knows), "x86-64" if the processor is unknown;
 * `features` is complete and sorted: "+adx,+aes,-avx512f,...". Both are replaced. */
void target_host(struct text *cpu, struct text *features);

/* The same from given answers, for tests. */
void target_describe(const struct target_cpuid *cpuid, struct text *cpu, struct text *features);

/* Bytes of the widest vectors that such features have. */
int target_vector_bytes(const char *features);

/* Whose vector functions the compiler may call: "libmvec of glibc 2.36". Versions differ in what they have. */
void target_mathematics(struct text *out);

#endif
