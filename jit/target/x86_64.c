/* x86-64, from CPUID. */
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "jit/target/row.h"

/* Registers that the system must save: bits of XCR0. */
enum { STATE_NONE = 0, STATE_YMM = 0x06, STATE_ZMM = 0xe6 };

static const struct target_feature features_known[] = {
    {"adx", WORD_7B, 19, STATE_NONE, NULL, NULL},
    {"aes", WORD_1C, 25, STATE_NONE, "sse2", NULL},
    {"avx", WORD_1C, 28, STATE_YMM, "sse4.2", NULL},
    {"avx2", WORD_7B, 5, STATE_YMM, "avx", NULL},
    {"avx512bf16", WORD_71A, 5, STATE_ZMM, "avx512bw", NULL},
    {"avx512bitalg", WORD_7C, 12, STATE_ZMM, "avx512bw", NULL},
    {"avx512bw", WORD_7B, 30, STATE_ZMM, "avx512f", NULL},
    {"avx512cd", WORD_7B, 28, STATE_ZMM, "avx512f", NULL},
    {"avx512dq", WORD_7B, 17, STATE_ZMM, "avx512f", NULL},
    {"avx512f", WORD_7B, 16, STATE_ZMM, "avx2", "fma"},
    {"avx512fp16", WORD_7D, 23, STATE_ZMM, "avx512bw", "avx512vl"},
    {"avx512ifma", WORD_7B, 21, STATE_ZMM, "avx512f", NULL},
    {"avx512vbmi", WORD_7C, 1, STATE_ZMM, "avx512bw", NULL},
    {"avx512vbmi2", WORD_7C, 6, STATE_ZMM, "avx512bw", NULL},
    {"avx512vl", WORD_7B, 31, STATE_ZMM, "avx512f", NULL},
    {"avx512vnni", WORD_7C, 11, STATE_ZMM, "avx512f", NULL},
    {"avx512vpopcntdq", WORD_7C, 14, STATE_ZMM, "avx512f", NULL},
    {"avxvnni", WORD_71A, 4, STATE_YMM, "avx2", NULL},
    {"bmi", WORD_7B, 3, STATE_NONE, NULL, NULL},
    {"bmi2", WORD_7B, 8, STATE_NONE, NULL, NULL},
    {"crc32", WORD_1C, 20, STATE_NONE, "sse4.2", NULL},
    {"cx16", WORD_1C, 13, STATE_NONE, NULL, NULL},
    {"f16c", WORD_1C, 29, STATE_YMM, "avx", NULL},
    {"fma", WORD_1C, 12, STATE_YMM, "avx", NULL},
    {"fma4", WORD_81C, 16, STATE_YMM, "avx", "sse4a"},
    {"gfni", WORD_7C, 8, STATE_NONE, "sse2", NULL},
    {"lzcnt", WORD_81C, 5, STATE_NONE, NULL, NULL},
    {"movbe", WORD_1C, 22, STATE_NONE, NULL, NULL},
    {"pclmul", WORD_1C, 1, STATE_NONE, "sse2", NULL},
    {"popcnt", WORD_1C, 23, STATE_NONE, NULL, NULL},
    {"prfchw", WORD_81C, 8, STATE_NONE, NULL, NULL},
    {"sahf", WORD_81C, 0, STATE_NONE, NULL, NULL},
    {"sha", WORD_7B, 29, STATE_NONE, "sse2", NULL},
    {"sse", WORD_1D, 25, STATE_NONE, NULL, NULL},
    {"sse2", WORD_1D, 26, STATE_NONE, "sse", NULL},
    {"sse3", WORD_1C, 0, STATE_NONE, "sse2", NULL},
    {"sse4.1", WORD_1C, 19, STATE_NONE, "ssse3", NULL},
    {"sse4.2", WORD_1C, 20, STATE_NONE, "sse4.1", NULL},
    {"sse4a", WORD_81C, 6, STATE_NONE, "sse3", NULL},
    {"ssse3", WORD_1C, 9, STATE_NONE, "sse3", NULL},
    {"vaes", WORD_7C, 9, STATE_YMM, "aes", "avx"},
    {"vpclmulqdq", WORD_7C, 10, STATE_YMM, "pclmul", "avx"},
    {"xop", WORD_81C, 11, STATE_YMM, "fma4", NULL},
};
enum { FEATURES = sizeof features_known / sizeof *features_known };

/* Models of one name; the family and models are the displayed ones. The newest that clang 19 knows stands for its
 * successors; an older clang takes what it knows (jit/clang/machine.cc). */
static const struct model {
  const char *vendor;
  unsigned family, first, last;
  const char *name;
} models_known[] = {
    {"AuthenticAMD", 0x15, 0x00, 0x01, "bdver1"},
    {"AuthenticAMD", 0x15, 0x02, 0x1f, "bdver2"},
    {"AuthenticAMD", 0x15, 0x30, 0x3f, "bdver3"},
    {"AuthenticAMD", 0x15, 0x60, 0x7f, "bdver4"},
    {"AuthenticAMD", 0x17, 0x00, 0x2f, "znver1"},
    {"AuthenticAMD", 0x17, 0x30, 0xff, "znver2"},
    {"AuthenticAMD", 0x19, 0x00, 0x0f, "znver3"},
    {"AuthenticAMD", 0x19, 0x10, 0x1f, "znver4"},
    {"AuthenticAMD", 0x19, 0x20, 0x5f, "znver3"},
    {"AuthenticAMD", 0x19, 0x60, 0xaf, "znver4"},
    {"AuthenticAMD", 0x1a, 0x00, 0xff, "znver5"},
    {"GenuineIntel", 0x06, 0x2a, 0x2a, "sandybridge"},
    {"GenuineIntel", 0x06, 0x2d, 0x2d, "sandybridge"},
    {"GenuineIntel", 0x06, 0x3a, 0x3a, "ivybridge"},
    {"GenuineIntel", 0x06, 0x3e, 0x3e, "ivybridge"},
    {"GenuineIntel", 0x06, 0x3c, 0x3c, "haswell"},
    {"GenuineIntel", 0x06, 0x3f, 0x3f, "haswell"},
    {"GenuineIntel", 0x06, 0x45, 0x46, "haswell"},
    {"GenuineIntel", 0x06, 0x3d, 0x3d, "broadwell"},
    {"GenuineIntel", 0x06, 0x47, 0x47, "broadwell"},
    {"GenuineIntel", 0x06, 0x4f, 0x4f, "broadwell"},
    {"GenuineIntel", 0x06, 0x56, 0x56, "broadwell"},
    {"GenuineIntel", 0x06, 0x4e, 0x4e, "skylake"},
    {"GenuineIntel", 0x06, 0x5e, 0x5e, "skylake"},
    {"GenuineIntel", 0x06, 0x8e, 0x8e, "skylake"},
    {"GenuineIntel", 0x06, 0x9e, 0x9e, "skylake"},
    {"GenuineIntel", 0x06, 0xa5, 0xa6, "skylake"},
    {"GenuineIntel", 0x06, 0x55, 0x55, "skylake-avx512"},
    {"GenuineIntel", 0x06, 0x6a, 0x6c, "icelake-server"},
    {"GenuineIntel", 0x06, 0x7d, 0x7e, "icelake-client"},
    {"GenuineIntel", 0x06, 0x8c, 0x8d, "tigerlake"},
    {"GenuineIntel", 0x06, 0x8f, 0x8f, "sapphirerapids"},
    {"GenuineIntel", 0x06, 0xcf, 0xcf, "sapphirerapids"},
    {"GenuineIntel", 0x06, 0xad, 0xae, "graniterapids"},
    {"GenuineIntel", 0x06, 0xa7, 0xa7, "rocketlake"},
    {"GenuineIntel", 0x06, 0x97, 0x9a, "alderlake"},
    {"GenuineIntel", 0x06, 0xb7, 0xbf, "alderlake"},
};

static const char *tuning_name(const struct target_cpuid *cpuid) {
  unsigned family = (cpuid->signature >> 8) & 0xf, model = (cpuid->signature >> 4) & 0xf;
  if (family == 0xf || family == 0x6)
    model |= ((cpuid->signature >> 16) & 0xf) << 4;
  if (family == 0xf)
    family += (cpuid->signature >> 20) & 0xff;
  for (size_t i = 0; i < sizeof models_known / sizeof *models_known; i++) {
    const struct model *known = &models_known[i];
    if (strcmp(known->vendor, cpuid->vendor) == 0 && known->family == family && known->first <= model &&
        model <= known->last)
      return known->name;
  }
  return "x86-64";
}

void target_describe(const struct target_cpuid *cpuid, struct text *cpu, struct text *features) {
  bool on[FEATURES];
  for (int i = 0; i < FEATURES; i++) {
    const struct target_feature *f = &features_known[i];
    on[i] = ((cpuid->words[f->word] >> f->bit) & 1) && (cpuid->saved_state & f->state) == f->state;
  }
  text_clear(cpu);
  text_add(cpu, tuning_name(cpuid));
  text_clear(features);
  target_list(features_known, FEATURES, on, features);
}

#ifdef __x86_64__
static uint64_t read_saved_state(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

static void read_cpuid(struct target_cpuid *cpuid) {
  uint32_t a, b, c, d, highest;
  *cpuid = (struct target_cpuid){0};
  __cpuid(0, highest, b, c, d);
  memcpy(cpuid->vendor, &b, 4);
  memcpy(cpuid->vendor + 4, &d, 4);
  memcpy(cpuid->vendor + 8, &c, 4);
  __cpuid(1, cpuid->signature, b, cpuid->words[WORD_1C], cpuid->words[WORD_1D]);
  if ((cpuid->words[WORD_1C] >> 27) & 1) /* OSXSAVE */
    cpuid->saved_state = read_saved_state();
  if (highest >= 7) {
    uint32_t subleaves;
    __cpuid_count(7, 0, subleaves, cpuid->words[WORD_7B], cpuid->words[WORD_7C], cpuid->words[WORD_7D]);
    if (subleaves >= 1)
      __cpuid_count(7, 1, cpuid->words[WORD_71A], b, c, d);
  }
  __cpuid(0x80000000, highest, b, c, d);
  if (highest >= 0x80000001)
    __cpuid(0x80000001, a, b, cpuid->words[WORD_81C], d);
}

static void describe_host(struct text *cpu, struct text *features) {
  struct target_cpuid cpuid;
  read_cpuid(&cpuid);
  target_describe(&cpuid, cpu, features);
}

#endif

static int vector_bytes(const char *features) {
  return strstr(features, "+avx512f") ? 64 : strstr(features, "+avx2") ? 32 : 16;
}

const struct target_row target_x86_64 = {.mark = "adx",
#ifdef __x86_64__
                                         .describe = describe_host,
#endif
                                         .vector_bytes = vector_bytes};
