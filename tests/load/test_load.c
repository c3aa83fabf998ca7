/* Objects that a compiler writes run, those that the loader does not take are refused, and what is loaded is
 * seen by gdb and perf and never both writable and executable. */
#include "../unit.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit/load/load.h"
#include "jit/load/load_machine.h"
#include "read_file.h"

enum { WHOLE, THREAD_LOCAL, CONSTRUCTOR, UNKNOWN, INDIRECT, OBJECTS };
static struct bytes {
  void *data;
  size_t size;
} objects[OBJECTS];

static struct code *load(int which, bool perf) {
  struct error err = {0};
  struct code *code = NULL;
  if (code_load(&code, objects[which].data, objects[which].size, "the_label", perf, &err))
    fail_msg("%s", error_message(&err));
  error_free(&err);
  return code;
}

/* Functions have all kinds of types; code_symbol gives an address. */
#define CALL(code, type, name) (*(__typeof__(type) *)(void *)&(void *){found(code, name)})
static void *found(struct code *code, const char *name) {
  void *at = code_symbol(code, name);
  assert_non_null(at);
  return at;
}

TEST(runs) {
  struct code *code = load(WHOLE, false);
  assert_true(CALL(code, double (*)(int), "use_table")(3) == 1000);
  assert_true(CALL(code, double (*)(int, double), "use_functions")(0, 9) == 3);
  assert_true(CALL(code, double (*)(int, double), "use_functions")(1, 8) == 2);
  assert_int_equal(CALL(code, int (*)(int), "use_data")(2), 42 + 42 + 0 + 2);
  assert_int_equal(CALL(code, int (*)(int), "use_data")(1), 43 + 85 + 0 + 4);
  assert_true(CALL(code, double (*)(double), "use_helper")(1) == 7);
  assert_int_equal(CALL(code, char (*)(int), "use_words")(2), 'w');
  assert_ptr_equal(CALL(code, const void *(*)(void), "own_address")(), code_symbol(code, "use_words"));
  unsigned char filled[100] = {0};
  CALL(code, void (*)(unsigned char *, int, unsigned long), "use_memset")(filled, 7, 50);
  assert_int_equal(filled[49], 7);
  assert_int_equal(filled[50], 0);
  static const int want[] = {300, 117, 33, 100 ^ 21, 400, 1, -100, 2, 99};
  for (int i = 0; i < 9; i++)
    assert_int_equal(CALL(code, int (*)(int, int), "use_switch")(i, 100), want[i]);
  assert_null(code_symbol(code, "no_such_function"));
  assert_null(code_symbol(code, "counter")); /* there, but not a function */
  assert_null(code_symbol(code, "sqrt"));    /* called, but not in the object */
  code_free(code);
}

/* Two copies of one object must not share their data. */
TEST(copies_are_apart) {
  struct code *a = load(WHOLE, false), *b = load(WHOLE, false);
  assert_int_equal(CALL(a, int (*)(int), "use_data")(2), 86);
  assert_int_equal(CALL(b, int (*)(int), "use_data")(2), 86);
  code_free(a);
  assert_int_equal(CALL(b, int (*)(int), "use_data")(1), 132);
  code_free(b);
}

TEST(refuses) {
  static const struct {
    int which;
    const char *says;
  } cases[] = {{THREAD_LOCAL, "thread-local"},
               {CONSTRUCTOR, "constructors"},
               {UNKNOWN, "\"system\""},
               {INDIRECT, "indirect function"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct error err = {0};
    struct code *code = (void *)&err;
    const struct bytes *object = &objects[cases[i].which];
    assert_int_equal(code_load(&code, object->data, object->size, "the_label", false, &err), OP_ERR_FILE);
    assert_null(code);
    assert_non_null(strstr(error_message(&err), cases[i].says));
    assert_non_null(strstr(error_message(&err), "loop the_label"));
    error_free(&err);
  }
}

/* The line of /proc/self/maps that holds an address. */
static void protection_of(const void *address, char protection[5]) {
  FILE *maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  char line[512];
  protection[0] = 0;
  while (fgets(line, sizeof line, maps)) {
    unsigned long from, to;
    char flags[5];
    if (sscanf(line, "%lx-%lx %4s", &from, &to, flags) == 3 && from <= (uintptr_t)address &&
        (uintptr_t)address < to)
      memcpy(protection, flags, 5);
  }
  fclose(maps);
}

TEST(never_written_and_run) {
  struct code *code = load(WHOLE, false);
  char protection[5];
  const void *at = code_symbol(code, "use_data");
  protection_of(at, protection);
  assert_string_equal(protection, "r-xp");
  FILE *maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  char line[512];
  while (fgets(line, sizeof line, maps))
    assert_null(strstr(line, "rwx"));
  fclose(maps);
  code_free(code);
  protection_of(at, protection);
  assert_string_not_equal(protection, "r-xp");
}

/* As gdb sees it. */
struct entry {
  struct entry *next, *previous;
  const unsigned char *image;
  uint64_t size;
};
extern struct {
  uint32_t version, action;
  struct entry *relevant, *first;
} __jit_debug_descriptor;

static int entries(void) {
  int n = 0;
  for (const struct entry *e = __jit_debug_descriptor.first; e; e = e->next)
    n++;
  return n;
}

TEST(registers_with_debuggers) {
  const int before = entries();
  struct code *a = load(WHOLE, false), *b = load(WHOLE, false), *c = load(WHOLE, false);
  assert_int_equal(entries(), before + 3);
  const struct entry *newest = __jit_debug_descriptor.first;
  assert_int_equal(newest->size, objects[WHOLE].size);
  assert_memory_equal(newest->image, "\177ELF", 4);
  code_free(b);
  assert_int_equal(entries(), before + 2);
  code_free(c);
  code_free(a);
  assert_int_equal(entries(), before);
}

TEST(writes_perf_map) {
  char path[64], line[256], want[64];
  snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
  unlink(path);
  struct code *code = load(WHOLE, true);
  snprintf(want, sizeof want, "%lx ", (unsigned long)(uintptr_t)code_symbol(code, "use_switch"));
  FILE *map = fopen(path, "r");
  assert_non_null(map);
  bool seen = false;
  while (fgets(line, sizeof line, map))
    if (strncmp(line, want, strlen(want)) == 0) {
      seen = true;
      assert_non_null(strstr(line, " the_label:use_switch\n"));
    }
  fclose(map);
  assert_true(seen);
  code_free(code);
  /* Not through somebody's link. */
  unlink(path);
  assert_int_equal(symlink("/tmp/op2jit_test_must_not_exist", path), 0);
  code_free(load(WHOLE, true));
  assert_int_equal(access("/tmp/op2jit_test_must_not_exist", F_OK), -1);
  unlink(path);
}

/* ---- relocations of aarch64, whatever this runs on ---------------------------------------------------*/

struct relocation {
  Elf64_Xword type;
  uint64_t place, target;
  int64_t addend;
  uint64_t before, after; /* what is there; after: 0 if it does not fit */
};

static void check_relocation(const struct relocation *r) {
  uint64_t there = r->before;
  const struct load_fix fix = {r->type, (unsigned char *)&there, r->place, r->target, r->addend};
  const bool fits = load_aarch64.fix(&fix);
  if (fits != (r->after != 0) || (fits && there != r->after))
    fail_msg("type %llu from %llx to %llx%+lld: %s, %llx instead of %llx", (unsigned long long)r->type,
             (unsigned long long)r->place, (unsigned long long)r->target, (long long)r->addend,
             fits ? "fits" : "does not fit", (unsigned long long)there, (unsigned long long)r->after);
}

/* The numbers are those of the assembler. */
TEST(aarch64_fixes) {
  const uint64_t at = 0x400000000, near = (uint64_t)1 << 27, far = (uint64_t)1 << 32;
  const struct relocation all[] = {
      {R_AARCH64_CALL26, at, at + 0x1000, 0, 0x94000000, 0x94000400},
      {R_AARCH64_CALL26, at, at - 4, 0, 0x94000000, 0x97ffffff},
      {R_AARCH64_CALL26, at, at + near - 4, 0, 0x94000000, 0x95ffffff},
      {R_AARCH64_CALL26, at, at - near, 0, 0x94000000, 0x96000000},
      {R_AARCH64_CALL26, at, at + near, 0, 0x94000000, 0},
      {R_AARCH64_CALL26, at, at - near - 4, 0, 0x94000000, 0},
      {R_AARCH64_CALL26, at, at + 2, 0, 0x94000000, 0},
      {R_AARCH64_CALL26, at + 2, at + 6, 0, 0x94000000, 0},
      {R_AARCH64_JUMP26, at, at + near - 8, 4, 0x14000000, 0x15ffffff},
      {R_AARCH64_JUMP26, at, at + near - 4, 4, 0x14000000, 0},
      {R_AARCH64_CONDBR19, at, at + 0xffffc, 0, 0x54000000, 0x547fffe0},
      {R_AARCH64_CONDBR19, at, at + 0x100000, 0, 0x54000000, 0},
      {R_AARCH64_TSTBR14, at, at - 0x8000, 0, 0x36000000, 0x36040000},
      {R_AARCH64_TSTBR14, at, at - 0x8004, 0, 0x36000000, 0},
      {R_AARCH64_LD_PREL_LO19, at, at + 8, 0, 0x58000000, 0x58000040},
      {R_AARCH64_ADR_PREL_LO21, at, at + 0xfffff, 0, 0x10000000, 0x707fffe0},
      {R_AARCH64_ADR_PREL_LO21, at, at + 0x100000, 0, 0x10000000, 0},
      {R_AARCH64_ADR_PREL_PG_HI21, at + 0xffc, at + 0x1000, 0, 0x90000000, 0xb0000000},
      {R_AARCH64_ADR_PREL_PG_HI21, at + 0xffc, at + 0xfff, 1, 0x90000000, 0xb0000000},
      {R_AARCH64_ADR_PREL_PG_HI21, at, at - 1, 0, 0x90000000, 0xf0ffffe0},
      {R_AARCH64_ADR_PREL_PG_HI21, at, at + far - 1, 0, 0x90000000, 0xf07fffe0},
      {R_AARCH64_ADR_PREL_PG_HI21, at, at + far, 0, 0x90000000, 0},
      {R_AARCH64_ADR_PREL_PG_HI21, at, at - far, 0, 0x90000000, 0x90800000},
      {R_AARCH64_ADR_PREL_PG_HI21, at, at - far - 1, 0, 0x90000000, 0},
      {R_AARCH64_ADD_ABS_LO12_NC, at, at + 0x5123, 0, 0x91000000, 0x91048c00},
      {R_AARCH64_LDST8_ABS_LO12_NC, at, at + 0x5123, 0, 0x39400000, 0x39448c00},
      {R_AARCH64_LDST16_ABS_LO12_NC, at, at + 0x5122, 0, 0x79400000, 0x79424400},
      {R_AARCH64_LDST32_ABS_LO12_NC, at, at + 0x5124, 0, 0xb9400000, 0xb9412400},
      {R_AARCH64_LDST64_ABS_LO12_NC, at, at + 0x5128, 0, 0xf9400000, 0xf9409400},
      {R_AARCH64_LDST64_ABS_LO12_NC, at, at + 0x5124, 0, 0xf9400000, 0},
      {R_AARCH64_LDST128_ABS_LO12_NC, at, at + 0x5120, 0, 0x3dc00000, 0x3dc04800},
      {R_AARCH64_LDST128_ABS_LO12_NC, at, at + 0x5128, 0, 0x3dc00000, 0},
      {R_AARCH64_ADR_GOT_PAGE, at, at + 0x2000, 0, 0x90000000, 0xd0000000},
      {R_AARCH64_ADR_GOT_PAGE, at, at + 0x2000, 8, 0x90000000, 0},
      {R_AARCH64_LD64_GOT_LO12_NC, at, at + 0x2008, 0, 0xf9400000, 0xf9400400},
      {R_AARCH64_MOVW_UABS_G0_NC, at, 0x123456789abcdef0, 0, 0xd2800000, 0xd29bde00},
      {R_AARCH64_MOVW_UABS_G1, at, 0x12345678, 0, 0xd2a00000, 0xd2a24680},
      {R_AARCH64_MOVW_UABS_G1, at, 0x112345678, 0, 0xd2a00000, 0},
      {R_AARCH64_MOVW_UABS_G3, at, 0x123456789abcdef0, 0, 0xd2e00000, 0xd2e24680},
      {R_AARCH64_ABS64, at, 0x123456789abcdef0, 1, 0, 0x123456789abcdef1},
      {R_AARCH64_ABS32, at, 0xffffffff, 0, 0, 0xffffffff},
      {R_AARCH64_ABS32, at, 0x100000000, 0, 0, 0},
      {R_AARCH64_PREL32, at, at - 1, 0, 0, 0xffffffff},
      {R_AARCH64_PREL32, at, at + 0x80000000, 0, 0, 0},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    check_relocation(&all[i]);
  assert_int_equal(load_aarch64.kind(R_AARCH64_TLSDESC).target, LOAD_UNKNOWN);
  assert_int_equal(load_aarch64.kind(R_AARCH64_ABS16).width, 2);
}

TEST(aarch64_stubs) {
  uint32_t stub[4];
  assert_int_equal(load_aarch64.stub_bytes, sizeof stub);
  load_aarch64.put_stub((unsigned char *)stub, 0x400000ff0, 0x400002018);
  static const uint32_t want[] = {0xd0000010, 0xf9400e11, 0xd61f0220, 0xd4200000};
  assert_memory_equal(stub, want, sizeof want);
}

/* An object for another processor is told from a damaged one. */
TEST(other_processors) {
  struct error err = {0};
  struct code *code = NULL;
  unsigned char *copy = malloc(objects[WHOLE].size);
  assert_non_null(copy);
  memcpy(copy, objects[WHOLE].data, objects[WHOLE].size);
  const Elf64_Half other = load_machine_here() == &load_aarch64 ? EM_X86_64 : EM_AARCH64;
  memcpy(copy + offsetof(Elf64_Ehdr, e_machine), &other, sizeof other);
  assert_int_equal(code_load(&code, copy, objects[WHOLE].size, "the_label", false, &err), OP_ERR_FILE);
  assert_non_null(strstr(error_message(&err), load_processor()));
  error_free(&err);
  free(copy);
}

int main(int argc, char **argv) {
  if (argc != OBJECTS + 1)
    return 2;
  for (int i = 0; i < OBJECTS; i++)
    objects[i].data = read_file(argv[i + 1], &objects[i].size);
  const int failures = run_these(NULL, NULL);
  for (int i = 0; i < OBJECTS; i++)
    free(objects[i].data);
  return failures;
}
