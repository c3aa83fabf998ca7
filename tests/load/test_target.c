/* Features come from CPUID's bits, or HWCAP's, minus what the system does not save and what lacks its base. */
#include "../unit.h"
#include <stdlib.h>
#include <string.h>

#include "jit/target.h"

static struct text cpu, features;

static bool has(const char *item) {
  const size_t length = strlen(item);
  for (const char *at = text_str(&features); at; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, item, length) == 0 && (at[length] == ',' || at[length] == 0))
      return true;
  }
  return false;
}

static struct target_cpuid everything(const char *vendor, uint32_t signature) {
  struct target_cpuid cpuid = {.signature = signature, .saved_state = UINT64_MAX};
  strcpy(cpuid.vendor, vendor);
  memset(cpuid.words, 0xff, sizeof cpuid.words);
  return cpuid;
}

TEST(names_processors) {
  static const struct {
    const char *vendor;
    uint32_t signature;
    const char *cpu;
  } cases[] = {
      {"AuthenticAMD", 0x00a10f11, "znver4"},         {"AuthenticAMD", 0x00a00f11, "znver3"},
      {"AuthenticAMD", 0x00830f10, "znver2"},         {"AuthenticAMD", 0x00800f12, "znver1"},
      {"AuthenticAMD", 0x00b00f21, "znver5"},         {"GenuineIntel", 0x00050654, "skylake-avx512"},
      {"GenuineIntel", 0x000606a6, "icelake-server"}, {"GenuineIntel", 0x000806f8, "sapphirerapids"},
      {"GenuineIntel", 0x000306c3, "haswell"},        {"GenuineIntel", 0x000906ea, "skylake"},
      {"GenuineIntel", 0x000006f6, "x86-64"},         {"SomebodyElse", 0x00a10f11, "x86-64"},
      {"AuthenticAMD", 0x00b20f40, "znver5"},         {"AuthenticAMD", 0x00a20f12, "znver3"},
      {"AuthenticAMD", 0x00a60f12, "znver4"},         {"GenuineIntel", 0x000306f2, "haswell"},
      {"GenuineIntel", 0x00040651, "haswell"},        {"GenuineIntel", 0x000a0653, "skylake"},
      {"GenuineIntel", 0x000b0671, "alderlake"},      {"GenuineIntel", 0x00000600, "x86-64"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct target_cpuid cpuid = everything(cases[i].vendor, cases[i].signature);
    target_describe(&cpuid, &cpu, &features);
    assert_string_equal(text_str(&cpu), cases[i].cpu);
  }
}

static void check_sorted(void) {
  char *list = strdup(text_str(&features)), *save = NULL, *before = NULL;
  assert_non_null(list);
  for (char *item = strtok_r(list, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
    if (before)
      assert_true(strcmp(before, item) < 0);
    before = item;
  }
  free(list);
}

TEST(lists_all_features_sorted) {
  struct target_cpuid cpuid = everything("GenuineIntel", 0);
  target_describe(&cpuid, &cpu, &features);
  assert_null(strchr(text_str(&features), '-'));
  check_sorted();
  memset(cpuid.words, 0, sizeof cpuid.words);
  target_describe(&cpuid, &cpu, &features);
  assert_null(strchr(text_str(&features), '+'));
  assert_true(has("-avx512f") && has("-sse2"));
}

TEST(asks_what_the_system_saves) {
  struct target_cpuid cpuid = everything("GenuineIntel", 0);
  cpuid.saved_state = 0x7; /* x87, xmm, ymm */
  target_describe(&cpuid, &cpu, &features);
  assert_true(has("+avx2") && has("+fma") && has("-avx512f") && has("-avx512vl"));
  cpuid.saved_state = 0x3; /* no ymm */
  target_describe(&cpuid, &cpu, &features);
  assert_true(has("-avx") && has("-avx2") && has("-fma") && has("-f16c") && has("-vaes") && has("+sse4.2"));
}

TEST(drops_what_lacks_its_base) {
  struct target_cpuid cpuid = everything("GenuineIntel", 0);
  cpuid.words[WORD_7B] &= ~(1u << 5); /* a virtual machine that hides AVX2 only */
  target_describe(&cpuid, &cpu, &features);
  assert_true(has("+avx") && has("-avx2") && has("-avx512f") && has("-avx512bw") && has("-avx512fp16"));
  cpuid = everything("GenuineIntel", 0);
  cpuid.words[WORD_1C] &= ~(1u << 9); /* SSSE3 */
  target_describe(&cpuid, &cpu, &features);
  assert_true(has("+sse3") && has("-sse4.1") && has("-sse4.2") && has("-avx") && has("-avx512dq"));
}

TEST(host_is_stable) {
  target_host(&cpu, &features);
  char *first = strdup(text_str(&features));
  assert_non_null(first);
  target_host(&cpu, &features);
  assert_string_equal(first, text_str(&features));
  assert_true(has("+sse2") || has("+neon")); /* every processor of either kind has it */
  assert_true(text_ok(&cpu) && cpu.length > 0);
  free(first);
}

/* ---- aarch64 ----------------------------------------------------------------------------------------*/

static struct target_hwcap all_of_arm(unsigned maker, unsigned part, int sve_bytes) {
  return (struct target_hwcap){
      .words = {~0ul, ~0ul}, .midr = maker << 24 | 0xf << 16 | part << 4 | 1, .sve_bytes = sve_bytes};
}

TEST(names_parts_of_arm) {
  static const struct {
    unsigned maker, part;
    const char *cpu;
  } cases[] = {{0x41, 0xd0c, "neoverse-n1"},
               {0x41, 0xd40, "neoverse-v1"},
               {0x41, 0xd4f, "neoverse-v2"},
               {0x46, 0x001, "a64fx"},
               {0xc0, 0xac3, "ampere1"},
               {0x41, 0xfff, "generic"},
               {0, 0, "generic"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct target_hwcap hwcap = all_of_arm(cases[i].maker, cases[i].part, 0);
    target_describe_arm(&hwcap, &cpu, &features);
    assert_string_equal(text_str(&cpu), cases[i].cpu);
  }
}

TEST(lists_features_of_arm) {
  struct target_hwcap hwcap = all_of_arm(0x41, 0xd4f, 16);
  target_describe_arm(&hwcap, &cpu, &features);
  assert_null(strstr(text_str(&features), ",-"));
  assert_true(has("+neon") && has("+lse") && has("+sve") && has("+sve2") && has("+aes"));
  hwcap.words[WORD_HWCAP] &= ~(1ul << 4);  /* PMULL: AES is not whole */
  hwcap.words[WORD_HWCAP] &= ~(1ul << 10); /* ASIMDHP, which SVE needs */
  target_describe_arm(&hwcap, &cpu, &features);
  assert_true(has("+neon") && has("-aes") && has("-fullfp16") && has("-sve") && has("-sve2") &&
              has("-fp16fml"));
  assert_null(strstr(text_str(&features), "sve-bits"));
  hwcap = (struct target_hwcap){0};
  target_describe_arm(&hwcap, &cpu, &features);
  assert_null(strchr(text_str(&features), '+'));
  check_sorted();
}

/* One length of SVE's vectors is one target: code for another does not run. */
TEST(lengths_of_sve) {
  static const struct {
    int bytes, lanes;
    const char *says;
  } cases[] = {{0, 32, "-sve"},  {16, 32, "sve-bits=128"}, {32, 32, "sve-bits=256"},
               {48, 32, "-sve"}, {64, 64, "sve-bits=512"}, {256, 64, "sve-bits=2048"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct target_hwcap hwcap = all_of_arm(0x41, 0xd4f, cases[i].bytes);
    target_describe_arm(&hwcap, &cpu, &features);
    assert_true(has(cases[i].says));
    assert_int_equal(target_vector_bytes(text_str(&features)), cases[i].lanes);
  }
  assert_int_equal(target_vector_bytes("+adx,+avx,+avx2,-avx512f"), 32);
  assert_int_equal(target_vector_bytes("-adx,-avx2"), 16);
  assert_int_equal(target_vector_bytes(""), 16); /* of other processors nothing is known */
}

int main(void) {
  const int failures = run_these(NULL, NULL);
  text_free(&cpu);
  text_free(&features);
  return failures;
}
