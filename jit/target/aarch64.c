/* aarch64, identified by the kernel: HWCAP, MIDR and the length of SVE's vectors. */
#include <stdlib.h>
#include <string.h>
#ifdef __aarch64__
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

#include "jit/compiler.h"
#include "jit/target/row.h"

/* Bits of HWCAP beside a feature's own, without which it is not whole. */
enum { PMULL = 1 << 4, ASIMDHP = 1 << 10, SHA512 = 1 << 21, SM3 = 1 << 18 };

static const struct target_feature features_known[] = {
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
enum { FEATURES = sizeof features_known / sizeof *features_known };

/* The part numbers of MIDR. Names are those that clang 19 knows; an older one takes what it knows (jit/clang/machine.cc). */
static const struct part {
  unsigned maker, number;
  const char *name;
} parts_known[] = {
    {0x41, 0xd03, "cortex-a53"},    {0x41, 0xd07, "cortex-a57"},  {0x41, 0xd08, "cortex-a72"},
    {0x41, 0xd0b, "cortex-a76"},    {0x41, 0xd0c, "neoverse-n1"}, {0x41, 0xd40, "neoverse-v1"},
    {0x41, 0xd49, "neoverse-n2"},   {0x41, 0xd4a, "neoverse-e1"}, {0x41, 0xd4f, "neoverse-v2"},
    {0x41, 0xd83, "neoverse-v3"},   {0x41, 0xd8e, "neoverse-n3"}, {0x43, 0x0af, "thunderx2t99"},
    {0x43, 0x0b8, "thunderx3t110"}, {0x46, 0x001, "a64fx"},       {0x48, 0xd01, "tsv110"},
    {0x4e, 0x004, "carmel"},        {0xc0, 0xac3, "ampere1"},     {0xc0, 0xac4, "ampere1a"},
    {0xc0, 0xac5, "ampere1b"},
};

static const char *tuning_name(uint64_t midr) {
  const unsigned maker = (midr >> 24) & 0xff, number = (midr >> 4) & 0xfff;
  for (size_t i = 0; i < sizeof parts_known / sizeof *parts_known; i++)
    if (parts_known[i].maker == maker && parts_known[i].number == number)
      return parts_known[i].name;
  return "generic";
}

/* Code is made for one length of SVE's vectors. Lengths that are no power of two have no vectors in the text of loops. */
static bool has_length(int bytes) {
  return bytes >= 16 && bytes <= 256 && (bytes & (bytes - 1)) == 0;
}

void target_describe_arm(const struct target_hwcap *hwcap, struct text *cpu, struct text *features) {
  enum { BITS = 8 };
  bool on[FEATURES];
  int sve = 0;
  for (int i = 0; i < FEATURES; i++) {
    const struct target_feature *f = &features_known[i];
    on[i] = ((hwcap->words[f->word] >> f->bit) & 1) && (hwcap->words[WORD_HWCAP] & f->state) == f->state;
    if (strcmp(f->name, "sve") == 0) {
      on[i] &= has_length(hwcap->sve_bytes);
      sve = i;
    }
  }
  text_clear(cpu);
  text_add(cpu, tuning_name(hwcap->midr));
  text_clear(features);
  target_list(features_known, FEATURES, on, features);
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
static int vector_bytes(const char *features) {
  const char *bits = strstr(features, COMPILE_SVE_BITS);
  const int bytes = bits ? atoi(bits + strlen(COMPILE_SVE_BITS)) / 8 : 0;
  return bytes >= 64 ? 64 : 32;
}

const struct target_row target_aarch64 = {.mark = "fp-armv8",
#ifdef __aarch64__
                                          .describe = describe_host,
#endif
                                          .vector_bytes = vector_bytes};
