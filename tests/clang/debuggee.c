/* A program for gdb to stop in: compiles a kernel with debug information, loads and runs it. */
#include "../unit.h"
#include <stdio.h>

#include "plugin.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  plugin_open(argv[1]);
  struct code *code =
      trial_load(&(struct trial){.text = "static void kernel(const double *in, double *out) {\n"
                                         "  double twice = 2 * in[0];\n"
                                         "  while (twice > out[0])\n"
                                         "    out[0] = 2 * out[0] + 1;\n"
                                         "}\n"
                                         "void a_loop(void *const *frame, const int *list, long "
                                         "begin, long end) {\n"
                                         "  for (long i = begin; i < end; i++)\n"
                                         "    kernel((const double *)frame[0] + i, (double "
                                         "*)frame[1] + i);\n"
                                         "}\n",
                                 .debug = 1});
  double in[4] = {1, 2, 3, 4}, out[4] = {0};
  range_of(code, "a_loop")((void *[]){in, out}, NULL, 0, 4);
  printf("out %g %g\n", out[0], out[3]);
  code_free(code);
  return 0;
}
