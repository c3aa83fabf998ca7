/* x86-64, from CPUID. */
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "jit/target/row.h"

/* Registers that the system must save: bits of XCR0. */
enum { YMM = 0x06, ZMM = 0xe6 };

static const struct target_feature features_known[] = {
    {"adx", WORD_7B, 19, 0, NULL},
    {"aes", WORD_1C, 25, 0, "sse2"},
    {"avx", WORD_1C, 28, YMM, "sse4.2"},
    {"avx2", WORD_7B, 5, YMM, "avx"},
    {"avx512bf16", WORD_71A, 5, ZMM, "avx512bw"},
    {"avx512bitalg", WORD_7C, 12, ZMM, "avx512bw"},
    {"avx512bw", WORD_7B, 30, ZMM, "avx512f"},
    {"avx512cd", WORD_7B, 28, ZMM, "avx512f"},
    {"avx512dq", WORD_7B, 17, ZMM, "avx512f"},
    {"avx512f", WORD_7B, 16, ZMM, "avx2 fma"},
    {"avx512fp16", WORD_7D, 23, ZMM, "avx512bw avx512vl"},
    {"avx512ifma", WORD_7B, 21, ZMM, "avx512f"},
    {"avx512vbmi", WORD_7C, 1, ZMM, "avx512bw"},
    {"avx512vbmi2", WORD_7C, 6, ZMM, "avx512bw"},
    {"avx512vl", WORD_7B, 31, ZMM, "avx512f"},
    {"avx512vnni", WORD_7C, 11, ZMM, "avx512f"},
    {"avx512vpopcntdq", WORD_7C, 14, ZMM, "avx512f"},
    {"avxvnni", WORD_71A, 4, YMM, "avx2"},
    {"bmi", WORD_7B, 3, 0, NULL},
    {"bmi2", WORD_7B, 8, 0, NULL},
    {"crc32", WORD_1C, 20, 0, "sse4.2"},
    {"cx16", WORD_1C, 13, 0, NULL},
    {"f16c", WORD_1C, 29, YMM, "avx"},
    {"fma", WORD_1C, 12, YMM, "avx"},
    {"fma4", WORD_81C, 16, YMM, "avx sse4a"},
    {"gfni", WORD_7C, 8, 0, "sse2"},
    {"lzcnt", WORD_81C, 5, 0, NULL},
    {"movbe", WORD_1C, 22, 0, NULL},
    {"pclmul", WORD_1C, 1, 0, "sse2"},
    {"popcnt", WORD_1C, 23, 0, NULL},
    {"prfchw", WORD_81C, 8, 0, NULL},
    {"sahf", WORD_81C, 0, 0, NULL},
    {"sha", WORD_7B, 29, 0, "sse2"},
    {"sse", WORD_1D, 25, 0, NULL},
    {"sse2", WORD_1D, 26, 0, "sse"},
    {"sse3", WORD_1C, 0, 0, "sse2"},
    {"sse4.1", WORD_1C, 19, 0, "ssse3"},
    {"sse4.2", WORD_1C, 20, 0, "sse4.1"},
    {"sse4a", WORD_81C, 6, 0, "sse3"},
    {"ssse3", WORD_1C, 9, 0, "sse3"},
    {"vaes", WORD_7C, 9, YMM, "aes avx"},
    {"vpclmulqdq", WORD_7C, 10, YMM, "pclmul avx"},
    {"xop", WORD_81C, 11, YMM, "fma4"},
};
enum { FEATURES = sizeof features_known / sizeof *features_known };

/* Models of one name; the family and models are the displayed ones. The newest that clang 19 knows stands for its
 * successors; an older clang takes what it knows (jit/clang/machine.cc). */
enum { RANGES = 5 };
static const struct model {
  const char *vendor;
  unsigned char family;
  const char *name;
  unsigned char ranges[RANGES][2]; /* first and last; behind the first range zeros end them */
} models_known[] = {
    {"AuthenticAMD", 0x15, "bdver1", {{0x00, 0x01}}},
    {"AuthenticAMD", 0x15, "bdver2", {{0x02, 0x1f}}},
    {"AuthenticAMD", 0x15, "bdver3", {{0x30, 0x3f}}},
    {"AuthenticAMD", 0x15, "bdver4", {{0x60, 0x7f}}},
    {"AuthenticAMD", 0x17, "znver1", {{0x00, 0x2f}}},
    {"AuthenticAMD", 0x17, "znver2", {{0x30, 0xff}}},
    {"AuthenticAMD", 0x19, "znver3", {{0x00, 0x0f}, {0x20, 0x5f}}},
    {"AuthenticAMD", 0x19, "znver4", {{0x10, 0x1f}, {0x60, 0xaf}}},
    {"AuthenticAMD", 0x1a, "znver5", {{0x00, 0xff}}},
    {"GenuineIntel", 0x06, "sandybridge", {{0x2a, 0x2a}, {0x2d, 0x2d}}},
    {"GenuineIntel", 0x06, "ivybridge", {{0x3a, 0x3a}, {0x3e, 0x3e}}},
    {"GenuineIntel", 0x06, "haswell", {{0x3c, 0x3c}, {0x3f, 0x3f}, {0x45, 0x46}}},
    {"GenuineIntel", 0x06, "broadwell", {{0x3d, 0x3d}, {0x47, 0x47}, {0x4f, 0x4f}, {0x56, 0x56}}},
    {"GenuineIntel", 0x06, "skylake", {{0x4e, 0x4e}, {0x5e, 0x5e}, {0x8e, 0x8e}, {0x9e, 0x9e}, {0xa5, 0xa6}}},
    {"GenuineIntel", 0x06, "skylake-avx512", {{0x55, 0x55}}},
    {"GenuineIntel", 0x06, "icelake-server", {{0x6a, 0x6c}}},
    {"GenuineIntel", 0x06, "icelake-client", {{0x7d, 0x7e}}},
    {"GenuineIntel", 0x06, "tigerlake", {{0x8c, 0x8d}}},
    {"GenuineIntel", 0x06, "sapphirerapids", {{0x8f, 0x8f}, {0xcf, 0xcf}}},
    {"GenuineIntel", 0x06, "graniterapids", {{0xad, 0xae}}},
    {"GenuineIntel", 0x06, "rocketlake", {{0xa7, 0xa7}}},
    {"GenuineIntel", 0x06, "alderlake", {{0x97, 0x9a}, {0xb7, 0xbf}}},
};

static bool is_among(const struct model *known, unsigned model) {
  for (int i = 0; i < RANGES && (i == 0 || known->ranges[i][1]); i++)
    if (known->ranges[i][0] <= model && model <= known->ranges[i][1])
      return true;
  return false;
}

static const char *tuning_name(const struct target_cpuid *cpuid) {
  unsigned family = (cpuid->signature >> 8) & 0xf, model = (cpuid->signature >> 4) & 0xf;
  if (family == 0xf || family == 0x6)
    model |= ((cpuid->signature >> 16) & 0xf) << 4;
  if (family == 0xf)
    family += (cpuid->signature >> 20) & 0xff;
  for (size_t i = 0; i < sizeof models_known / sizeof *models_known; i++) {
    const struct model *known = &models_known[i];
    if (strcmp(known->vendor, cpuid->vendor) == 0 && known->family == family && is_among(known, model))
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
