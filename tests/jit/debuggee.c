/* The program that test_gdb.sh runs under a debugger: one loop, its code made with debug information.
 *   debuggee FOLDER */
#include <stdio.h>

#include "build.h"
#include "jit/jit.h"

int main(int argc, char **argv) {
  struct desc d = build_loop(
      "thrice", "void thrice(const double *a, double *b)\n{\n  double t = 3 * a[0];\n  b[0] = t;\n}\n");
  struct jit_options options = {.dump = argc > 1 ? argv[1] : NULL};
  struct jit *jit;
  struct jit_code code;
  struct shape shape = {0};
  struct error err = {0};
  enum { N = 1000 }; /* so that all of the code runs, vectors and what is left */
  double a[N], b[N] = {0};
  for (int i = 0; i < N; i++)
    a[i] = i + 1;
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_WRITE);
  void *frame[16] = {a, b};
  if (jit_open(&jit, &options, &err) != OP_OK || jit_code(jit, &d, &shape, &code, &err) != OP_OK) {
    fprintf(stderr, "%s\n", error_message(&err));
    return 1;
  }
  code.run(frame, NULL, 0, N);
  printf("the last is %g\n", b[N - 1]);
  jit_close(jit);
  desc_free(&d);
  return 0;
}
