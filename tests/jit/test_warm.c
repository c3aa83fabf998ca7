/* Two processes: the first compiles and has the compiler in its memory, the second finds the binary and has not.
 *   test_warm                runs itself twice
 *   test_warm cold|warm FILE one of the two */
#include <stdio.h>
#include <unistd.h>

#include "build.h"
#include "jit/jit.h"
#include "jit/key/signature.h"
#include "kernels-cache/store.h"

static int complain(const char *what) {
  fprintf(stderr, "test_warm: %s\n", what);
  return 1;
}

static bool mapped(const char *name) {
  char line[512];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps))
    found |= strstr(line, name) != NULL;
  if (maps)
    fclose(maps);
  return found;
}

static int run_loop(struct jit *jit, enum jit_from expected) {
  struct desc d = build_loop("twice", "void twice(const double *a, double *b) { b[0] = 2 * a[0]; }");
  struct shape shape = {0};
  struct jit_code code;
  struct error err = {0};
  double a[5] = {1, 2, 3, 4, 5}, b[5] = {0};
  int failed = 0;
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_WRITE);
  void *frame[16] = {a, b};
  if (desc_slots(&d) > 16 || jit_code(jit, &d, &shape, &code, &err) != OP_OK)
    failed = complain(error_message(&err));
  else {
    code.run(frame, NULL, 0, 5);
    if (code.from != expected)
      failed = complain("the code does not come from where it should");
    for (int i = 0; i < 5; i++)
      if (b[i] < 2 * a[i] || b[i] > 2 * a[i])
        failed = complain("a wrong result");
  }
  desc_free(&d);
  error_free(&err);
  return failed;
}

static int one_process(bool cold, const char *file) {
  struct store *store = NULL;
  struct jit *jit = NULL;
  struct error err = {0};
  struct store_options kept = {.path = file, .sentence = signature_difference};
  if (store_open(&store, &kept, &err) != OP_OK)
    return complain(error_message(&err));
  struct jit_options options = {.mode = JIT_ON, .store = store};
  int failed =
      jit_open(&jit, &options, &err) != OP_OK || run_loop(jit, cold ? JIT_FROM_COMPILER : JIT_FROM_CACHE);
  static const char *const names[] = {"op2jit-clang", "libLLVM", "libclang"};
  bool any = false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    any |= mapped(names[i]);
  if (any != cold)
    failed = complain(cold ? "compiled without a compiler?"
                           : "the compiler is loaded although nothing is compiled");
  jit_close(jit);
  store_close(store);
  error_free(&err);
  return failed;
}

static int both(const char *self) {
  char folder[] = "/tmp/op2jit-warm-XXXXXX", command[800];
  if (!mkdtemp(folder))
    return complain("no temporary folder");
  snprintf(command, sizeof command, "'%s' cold %s/k.db && '%s' warm %s/k.db", self, folder, self, folder);
  int failed = system(command) != 0;
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command) != 0 || failed;
}

int main(int argc, char **argv) {
  if (argc == 3)
    return one_process(strcmp(argv[1], "cold") == 0, argv[2]);
  return both(argv[0]);
}
