/* write_native FILE COUNT: kernels 0 .. COUNT-1 of the build's seed, as text and as function, in a C file. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "kernel.h"
#include "native.h"

static void write_literal(FILE *out, const char *s) {
  fputs("\n    \"", out);
  for (; *s; s++)
    if (*s == '\n')
      fputs("\\n\"\n    \"", out);
    else
      fprintf(out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
  fputs("\"", out);
}

static int write_kernels(FILE *out, int count) {
  char **texts = calloc((size_t)count, sizeof *texts);
  struct kernel *k = malloc(sizeof *k);
  fputs("#include \"native.h\"\n\n#include <math.h>\n#include <stdbool.h>\n\n", out);
  fputs(kernel_shared(), out);
  for (int i = 0; i < CONSTANTS; i++) {
    fprintf(out, "extern %s %s", vtypes[constants[i].type].c, constants[i].name);
    fprintf(out, constants[i].dim > 1 ? "[%d];\n" : ";\n", constants[i].dim);
  }
  for (int i = 0; texts && k && i < count; i++) {
    struct text text = {0};
    kernel_invent(k, NATIVE_SEED, i, false, false);
    kernel_print(k, &text);
    fprintf(out, "\n%s", text_str(&text));
    texts[i] = text_take(&text);
  }
  fputs("\nconst struct native_kernel native_kernels[] = {", out);
  for (int i = 0; texts && i < count; i++) {
    fputs("\n  {", out);
    write_literal(out, texts[i] ? texts[i] : "");
    fprintf(out, ", (op_kernel_function)k%d},", i);
    free(texts[i]);
  }
  fprintf(out, "\n};\nconst int native_count = %d;\n", count);
  bool good = texts && k && !ferror(out);
  free(texts);
  free(k);
  return good ? 0 : 1;
}

int main(int argc, char **argv) {
  FILE *out = argc == 3 ? fopen(argv[1], "w") : NULL;
  if (!out) {
    fprintf(stderr, "usage: write_native FILE COUNT\n");
    return 2;
  }
  int status = write_kernels(out, atoi(argv[2]));
  return fclose(out) || status ? 1 : 0;
}
