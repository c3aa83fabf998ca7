/* Whatever the bytes are, the loader says so or loads something harmless: it never reads or writes outside.
 * Every truncation, and thousands of seeded changes; the address sanitizer sees the rest. */
#include "../unit.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/load/load.h"
#include "read_file.h"

static char **paths;
static int npaths;

static uint64_t state_of_random = 20250101;
static size_t random_below(size_t n) {
  state_of_random ^= state_of_random << 13;
  state_of_random ^= state_of_random >> 7;
  state_of_random ^= state_of_random << 17;
  return n ? state_of_random % n : 0;
}

/* A copy of exactly the size, so that a sanitizer sees one byte too many. True if it was refused. */
static bool refused(const unsigned char *bytes, size_t size) {
  unsigned char *exact = malloc(size ? size : 1);
  assert_non_null(exact);
  if (size)
    memcpy(exact, bytes, size);
  struct error err = {0};
  struct code *code;
  const int failed = code_load(&code, exact, size, "damaged", false, &err);
  free(exact);
  if (failed) {
    assert_null(code);
    assert_true(failed == OP_ERR_FILE || failed == OP_ERR_MEMORY);
    assert_true(strlen(error_message(&err)) > 0);
  } else
    code_free(code);
  error_free(&err);
  return failed != 0;
}

TEST(truncated) {
  for (int p = 0; p < npaths; p++) {
    size_t size;
    unsigned char *bytes = read_file(paths[p], &size);
    assert_false(refused(bytes, size));
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    const size_t table_end = header.e_shoff + (size_t)header.e_shnum * sizeof(Elf64_Shdr);
    for (size_t n = 0; n < size; n += 1 + n / 256)
      if (n < table_end || n < sizeof header)
        assert_true(refused(bytes, n));
      else
        refused(bytes, n);
    free(bytes);
  }
}

/* Where damage matters: the header, the section table, symbols and relocations. */
static size_t vital_place(const unsigned char *bytes, size_t size) {
  Elf64_Ehdr header;
  memcpy(&header, bytes, sizeof header);
  const size_t kind = random_below(8);
  if (kind == 0)
    return random_below(sizeof header);
  if (kind < 4)
    return header.e_shoff + random_below((size_t)header.e_shnum * sizeof(Elf64_Shdr));
  if (kind == 4)
    return random_below(size);
  Elf64_Shdr section;
  memcpy(&section, bytes + header.e_shoff + random_below(header.e_shnum) * sizeof section, sizeof section);
  return section.sh_size && section.sh_type != SHT_NOBITS ? section.sh_offset + random_below(section.sh_size)
                                                          : 0;
}

TEST(changed) {
  int refusals = 0, rounds = 0;
  static const unsigned char extremes[] = {0x00, 0xff, 0x7f, 0x80, 0x01};
  for (int p = 0; p < npaths; p++) {
    size_t size;
    unsigned char *bytes = read_file(paths[p], &size), *copy = malloc(size);
    assert_non_null(copy);
    for (int round = 0; round < 4000; round++, rounds++) {
      memcpy(copy, bytes, size);
      for (size_t n = 1 + random_below(3); n > 0; n--) {
        const size_t at = vital_place(bytes, size);
        if (random_below(2))
          copy[at] ^= (unsigned char)(1u << random_below(8));
        else
          copy[at] = extremes[random_below(sizeof extremes)];
      }
      refusals += refused(copy, size);
    }
    free(copy);
    free(bytes);
  }
  print_message("%d of %d changed objects were refused\n", refusals, rounds);
  assert_true(refusals > rounds / 20);
}

TEST(nothing_at_all) {
  assert_true(refused((const unsigned char *)"", 0));
  unsigned char noise[4096];
  for (int round = 0; round < 200; round++) {
    for (size_t i = 0; i < sizeof noise; i++)
      noise[i] = (unsigned char)random_below(256);
    memcpy(noise, "\177ELF\2\1\1", 7);
    assert_true(refused(noise, sizeof noise));
  }
}

int main(int argc, char **argv) {
  paths = argv + 1;
  npaths = argc - 1;
  return npaths > 0 ? run_these(NULL, NULL) : 2;
}
