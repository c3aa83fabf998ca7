/* Features come from CPUID's bits, minus what the system does not save and what lacks its base. */
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
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct target_cpuid cpuid = everything(cases[i].vendor, cases[i].signature);
    target_describe(&cpuid, &cpu, &features);
    assert_string_equal(text_str(&cpu), cases[i].cpu);
  }
}

TEST(lists_all_features_sorted) {
  struct target_cpuid cpuid = everything("GenuineIntel", 0);
  target_describe(&cpuid, &cpu, &features);
  assert_null(strchr(text_str(&features), '-'));
  char *list = strdup(text_str(&features)), *save = NULL, *before = NULL;
  assert_non_null(list);
  for (char *item = strtok_r(list, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
    if (before)
      assert_true(strcmp(before, item) < 0);
    before = item;
  }
  free(list);
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
  assert_true(has("+sse2")); /* every x86-64 has it */
  assert_true(text_ok(&cpu) && cpu.length > 0);
  free(first);
}

int main(void) {
  const int failures = run_these(NULL, NULL);
  text_free(&cpu);
  text_free(&features);
  return failures;
}
