/* Objects that a compiler writes run, those that the loader does not take are refused, and what is loaded is
 * seen by gdb and perf and never both writable and executable. */
#include "../unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit/load/load.h"
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
  assert_true(code_bytes(code) >= 3 * 4096);
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
