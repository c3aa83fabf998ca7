#include "jit/target.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "jit/compiler.h"
#include "jit/load/load_extern.h"

/* Features, sorted by name, in the order of the list. `needs`: features, with blanks between them, that clang would
 * switch on with it, or without which it would be off. Some virtual machines hide one and show the other. */
struct feature {
  const char *name;
  int word, bit;
  unsigned long state; /* of another word all these bits, too */
  const char *needs;
};

static bool is_on(const struct feature *known, int count, const bool *on, const char *name, size_t length) {
  for (int i = 0; i < count; i++)
    if (strncmp(known[i].name, name, length) == 0 && known[i].name[length] == '\0')
      return on[i];
  return false;
}

static bool has_needs(const struct feature *known, int count, const bool *on, const char *needs) {
  for (const char *name = needs ? needs : ""; *name; name += strspn(name, " ")) {
    const size_t length = strcspn(name, " ");
    if (!is_on(known, count, on, name, length))
      return false;
    name += length;
  }
  return true;
}

/* Adds "+adx,-avx". A feature without one of its needs is switched off, in `on` too, and then those that need
 * it. */
static void list_features(const struct feature *known, int count, bool *on, struct text *out) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < count; i++)
      if (on[i] && !has_needs(known, count, on, known[i].needs)) {
        on[i] = false;
        changed = true;
      }
  }
  for (int i = 0; i < count; i++)
    text_addf(out, "%s%c%s", i ? "," : "", on[i] ? '+' : '-', known[i].name);
}

/* ---- x86-64, from CPUID ---- */
#ifdef __x86_64__
#include <cpuid.h>
#endif

/* Registers that the system must save: bits of XCR0. */
enum { YMM = 0x06, ZMM = 0xe6 };

static const struct feature x86_features[] = {
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
enum { X86_FEATURES = sizeof x86_features / sizeof *x86_features };

/* Models of one name; the family and models are the displayed ones. The newest that clang 19 knows stands for its
 * successors; an older clang takes what it knows (jit/clang/back.cc). */
enum { RANGES = 5 };
static const struct model {
  const char *vendor;
  unsigned char family;
  const char *name;
  unsigned char ranges[RANGES][2]; /* first and last; behind the first range zeros end them */
} models[] = {
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

static const char *x86_name(const struct target_cpuid *cpuid) {
  unsigned family = (cpuid->signature >> 8) & 0xf, model = (cpuid->signature >> 4) & 0xf;
  if (family == 0xf || family == 0x6)
    model |= ((cpuid->signature >> 16) & 0xf) << 4;
  if (family == 0xf)
    family += (cpuid->signature >> 20) & 0xff;
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    const struct model *known = &models[i];
    if (strcmp(known->vendor, cpuid->vendor) == 0 && known->family == family && is_among(known, model))
      return known->name;
  }
  return "x86-64";
}

void target_describe(const struct target_cpuid *cpuid, struct text *cpu, struct text *features) {
  bool on[X86_FEATURES];
  for (int i = 0; i < X86_FEATURES; i++) {
    const struct feature *f = &x86_features[i];
    on[i] = ((cpuid->words[f->word] >> f->bit) & 1) && (cpuid->saved_state & f->state) == f->state;
  }
  text_clear(cpu);
  text_add(cpu, x86_name(cpuid));
  text_clear(features);
  list_features(x86_features, X86_FEATURES, on, features);
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

static int bytes_of_x86(const char *features) {
  return strstr(features, "+avx512f") ? 64 : strstr(features, "+avx2") ? 32 : 16;
}

/* aarch64, identified by the kernel: HWCAP, MIDR and the length of SVE's vectors. */

#ifdef __aarch64__
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

/* Bits of HWCAP beside a feature's own, without which it is not whole. */
enum { PMULL = 1 << 4, ASIMDHP = 1 << 10, SHA512 = 1 << 21, SM3 = 1 << 18 };

static const struct feature arm_features[] = {
    {"aes", WORD_HWCAP, 3, PMULL, "neon"},        {"bf16", WORD_HWCAP2, 14, 0, "neon"},
    {"complxnum", WORD_HWCAP, 14, 0, "neon"},     {"crc", WORD_HWCAP, 7, 0, NULL},
    {"dotprod", WORD_HWCAP, 20, 0, "neon"},       {"fp-armv8", WORD_HWCAP, 0, 0, NULL},
    {"fp16fml", WORD_HWCAP, 23, 0, "fullfp16"},   {"fptoint", WORD_HWCAP2, 8, 0, "fp-armv8"},
    {"fullfp16", WORD_HWCAP, 9, ASIMDHP, "neon"}, {"i8mm", WORD_HWCAP2, 13, 0, "neon"},
    {"jsconv", WORD_HWCAP, 13, 0, "fp-armv8"},    {"lse", WORD_HWCAP, 8, 0, NULL},
    {"neon", WORD_HWCAP, 1, 0, "fp-armv8"},       {"rcpc", WORD_HWCAP, 15, 0, NULL},
    {"rdm", WORD_HWCAP, 12, 0, "neon"},           {"sha2", WORD_HWCAP, 6, 0, "neon"},
    {"sha3", WORD_HWCAP, 17, SHA512, "sha2"},     {"sm4", WORD_HWCAP, 19, SM3, "neon"},
    {"sve", WORD_HWCAP, 22, 0, "fullfp16"},       {"sve2", WORD_HWCAP2, 1, 0, "sve"},
};
enum { ARM_FEATURES = sizeof arm_features / sizeof *arm_features };

/* The part numbers of MIDR. Names are those that clang 19 knows; an older one takes what it knows (jit/clang/back.cc). */
static const struct part {
  unsigned maker, number;
  const char *name;
} parts[] = {
    {0x41, 0xd03, "cortex-a53"},    {0x41, 0xd07, "cortex-a57"},  {0x41, 0xd08, "cortex-a72"},
    {0x41, 0xd0b, "cortex-a76"},    {0x41, 0xd0c, "neoverse-n1"}, {0x41, 0xd40, "neoverse-v1"},
    {0x41, 0xd49, "neoverse-n2"},   {0x41, 0xd4a, "neoverse-e1"}, {0x41, 0xd4f, "neoverse-v2"},
    {0x41, 0xd83, "neoverse-v3"},   {0x41, 0xd8e, "neoverse-n3"}, {0x43, 0x0af, "thunderx2t99"},
    {0x43, 0x0b8, "thunderx3t110"}, {0x46, 0x001, "a64fx"},       {0x48, 0xd01, "tsv110"},
    {0x4e, 0x004, "carmel"},        {0xc0, 0xac3, "ampere1"},     {0xc0, 0xac4, "ampere1a"},
    {0xc0, 0xac5, "ampere1b"},
};

static const char *arm_name(uint64_t midr) {
  const unsigned maker = (midr >> 24) & 0xff, number = (midr >> 4) & 0xfff;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (parts[i].maker == maker && parts[i].number == number)
      return parts[i].name;
  return "generic";
}

/* Code is made for one length of SVE's vectors. Lengths that are no power of two have no vectors in the text of loops. */
static bool has_length(int bytes) {
  return bytes >= 16 && bytes <= 256 && (bytes & (bytes - 1)) == 0;
}

void target_describe_arm(const struct target_hwcap *hwcap, struct text *cpu, struct text *features) {
  enum { BITS = 8 };
  bool on[ARM_FEATURES];
  int sve = 0;
  for (int i = 0; i < ARM_FEATURES; i++) {
    const struct feature *f = &arm_features[i];
    on[i] = ((hwcap->words[f->word] >> f->bit) & 1) && (hwcap->words[WORD_HWCAP] & f->state) == f->state;
    if (strcmp(f->name, "sve") == 0) {
      on[i] &= has_length(hwcap->sve_bytes);
      sve = i;
    }
  }
  text_clear(cpu);
  text_add(cpu, arm_name(hwcap->midr));
  text_clear(features);
  list_features(arm_features, ARM_FEATURES, on, features);
  if (on[sve])
    text_addf(features, "," COMPILE_SVE_BITS "%d", hwcap->sve_bytes * BITS);
}

#ifdef __aarch64__
/* A register that the kernel reads for programs, if it says that it does; a system of several kinds of cores has several. */
static uint64_t read_midr(unsigned long hwcap) {
  const unsigned long reads_registers = 1ul << 11;
  uint64_t midr = 0;
  if (hwcap & reads_registers)
    __asm__("mrs %0, MIDR_EL1" : "=r"(midr));
  return midr;
}

static int read_sve_bytes(void) {
#ifndef PR_SVE_GET_VL
  enum { PR_SVE_GET_VL = 51, PR_SVE_VL_LEN_MASK = 0xffff };
#endif
  const int length = prctl(PR_SVE_GET_VL);
  return length < 0 ? 0 : length & PR_SVE_VL_LEN_MASK;
}

static void describe_host(struct text *cpu, struct text *features) {
  struct target_hwcap hwcap = {.words = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)}};
  hwcap.midr = read_midr(hwcap.words[WORD_HWCAP]);
  hwcap.sve_bytes = read_sve_bytes();
  target_describe_arm(&hwcap, cpu, features);
}
#endif

/* NEON's registers are half as wide as AVX's and twice as many: lanes of 32 bytes are two of them, which are loaded and
 * stored by one instruction. Lanes are of 64 bytes at most. */
static int bytes_of_arm(const char *features) {
  const char *bits = strstr(features, COMPILE_SVE_BITS);
  const int bytes = bits ? atoi(bits + strlen(COMPILE_SVE_BITS)) / 8 : 0;
  return bytes >= 64 ? 64 : 32;
}

/* ---- whatever this is ---- */

/* Both are empty on another processor: nothing is compiled there (load_missing). */
#if !defined(__x86_64__) && !defined(__aarch64__)
static void describe_host(struct text *cpu, struct text *features) {
  text_clear(cpu);
  text_clear(features);
}
#endif

/* Asked once: on a virtual machine each of the processor's answers comes from its host, and takes tens of
 * microseconds. Empty if there was no memory then. */
static struct { char cpu[32], features[1024]; } host;

static void find_host(void) {
  struct text cpu = {0}, features = {0};
  describe_host(&cpu, &features);
  if (text_ok(&cpu) && text_ok(&features) && cpu.length < sizeof host.cpu &&
      features.length < sizeof host.features) {
    memcpy(host.cpu, text_str(&cpu), cpu.length);
    memcpy(host.features, text_str(&features), features.length);
  }
  text_free(&cpu);
  text_free(&features);
}

void target_host(struct text *cpu, struct text *features) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_host);
  if (!host.cpu[0]) {
    describe_host(cpu, features);
    return;
  }
  text_clear(cpu);
  text_add(cpu, host.cpu);
  text_clear(features);
  text_add(features, host.features);
}

int target_vector_bytes(const char *features) {
  return strstr(features, "fp-armv8") ? bytes_of_arm(features) : bytes_of_x86(features);
}

void target_mathematics(struct text *out) {
  const char *library = load_vector_library();
  if (strncmp(library, "libmvec", 7) == 0) {
    text_addf(out, "libmvec of glibc %s", gnu_get_libc_version());
    return;
  }
  void *found = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  text_add(out, found ? library : "no vector functions");
  if (found)
    dlclose(found);
}
