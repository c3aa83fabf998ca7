/* Loaded code computes with every function of <math.h> what linked code computes, and the loader has every
 * function that the prelude declares. */
#include "../unit.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/kernel/prelude.h"
#include "jit/load/load.h"
#include "jit/load/load_extern.h"
#include "read_file.h"

double all(double x);
unsigned long divide(unsigned long high, unsigned long low, unsigned long by);
double multiply(double a, double b);

static const char *path;

TEST(same_as_linked) {
  size_t size;
  void *object = read_file(path, &size);
  struct error err = {0};
  struct code *code;
  if (code_load(&code, object, size, "mathematics", false, &err))
    fail_msg("%s", error_message(&err));
  void *at[] = {code_symbol(code, "all"), code_symbol(code, "divide"), code_symbol(code, "multiply")};
  double (*loaded_all)(double);
  unsigned long (*loaded_divide)(unsigned long, unsigned long, unsigned long);
  double (*loaded_multiply)(double, double);
  memcpy(&loaded_all, &at[0], sizeof at[0]);
  memcpy(&loaded_divide, &at[1], sizeof at[1]);
  memcpy(&loaded_multiply, &at[2], sizeof at[2]);
  for (int i = 1; i < 10; i++)
    assert_true(loaded_all(0.1 * i) == all(0.1 * i));
  assert_true(loaded_divide(5, 7, 11) == divide(5, 7, 11));
  assert_true(loaded_multiply(2, 3) == multiply(2, 3));
  code_free(code);
  free(object);
  error_free(&err);
}

/* A declaration in the prelude is a promise that a kernel which uses it can be loaded. */
TEST(has_what_the_prelude_declares) {
  struct externs externs = {0};
  int declared = 0;
  for (const char *line = jit_prelude(); *line; line = strchr(line, '\n') + 1) {
    if (strncmp(line, "#ifdef", 6) == 0)
      line = strstr(line, "#endif"); /* what is defined there is not called outside */
    if (*line == '#' || strncmp(line, "typedef", 7) == 0 || strncmp(line, "static inline ", 14) == 0)
      continue; /* the last are defined there */
    /* Names directly before an opening bracket. */
    const char *end = strchr(line, '\n');
    for (const char *open = line; (open = memchr(open, '(', (size_t)(end - open))); open++) {
      const char *start = open;
      char name[64];
      while (start > line && (start[-1] == '_' || (start[-1] >= '0' && start[-1] <= '9') ||
                              (start[-1] >= 'a' && start[-1] <= 'z')))
        start--;
      snprintf(name, sizeof name, "%.*s", (int)(open - start), start);
      if (!extern_find(&externs, name))
        fail_msg("the prelude declares %s, which the loader does not have", name);
      declared++;
    }
  }
  assert_true(declared > 120);
  assert_null(extern_find(&externs, "system"));
  assert_null(extern_find(&externs, ""));
  externs_close(&externs);
}

TEST(has_vector_forms) {
  struct externs externs = {0};
#ifdef __aarch64__
  void *library = dlopen(load_vector_library(), RTLD_LAZY); /* not every system has one */
  assert_int_equal(library != NULL, extern_find(&externs, "_ZGVnN2v_exp") != NULL);
  assert_int_equal(library != NULL, extern_find(&externs, "_ZGVnN4v_sinf") != NULL);
#else
  assert_non_null(extern_find(&externs, "_ZGVbN2v_exp"));
  assert_non_null(extern_find(&externs, "_ZGVdN8v_sinf"));
  assert_non_null(extern_find(&externs, "_ZGVeN8vv_pow"));
#endif
  assert_null(extern_find(&externs, "_ZGVeN8v_system"));
  externs_close(&externs);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  path = argv[1];
  return run_these(NULL, NULL);
}
