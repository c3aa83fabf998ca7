/* The processor that code is made for, as it identifies itself, in clang's words. */
#ifndef OP2JIT_JIT_TARGET_H
#define OP2JIT_JIT_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* The answers of CPUID and XGETBV that are used. */
enum target_word { WORD_1C, WORD_1D, WORD_7B, WORD_7C, WORD_7D, WORD_71A, WORD_81C, WORD_COUNT };
struct target_cpuid {
  char vendor[13];
  uint32_t signature; /* leaf 1, eax: family, model, stepping */
  uint32_t words[WORD_COUNT];
  uint64_t saved_state; /* XCR0: which registers the system saves; 0 if it saves none of the wide ones */
};

/* The answers of Linux about an aarch64. */
enum target_hwcap_word { WORD_HWCAP, WORD_HWCAP2, HWCAP_WORDS };
struct target_hwcap {
  unsigned long words[HWCAP_WORDS];
  uint64_t midr; /* maker and part; 0: unknown */
  int sve_bytes; /* of a vector, as this process has them; 0: none */
};

/* This machine's. A feature whose registers the system does not save counts as absent. `cpu` is a name for tuning
 * that clang 19 knows (an older one takes the nearest that it knows), "x86-64" or "generic" if the processor is unknown;
 * `features` is complete and sorted: "+adx,+aes,-avx512f,...", with SVE's length (jit/compiler.h). Both are replaced; empty where nothing can be compiled. */
void target_host(struct text *cpu, struct text *features);

/* The same from given answers, for tests. */
void target_describe(const struct target_cpuid *cpuid, struct text *cpu, struct text *features);
void target_describe_arm(const struct target_hwcap *hwcap, struct text *cpu, struct text *features);

/* Bytes of the widest lanes that such features have. */
int target_vector_bytes(const char *features);

/* The library of vector functions that the compiler may call: "libmvec of glibc 2.36". Versions differ in their
 * functions. */
void target_mathematics(struct text *out);

#endif
