/* Any lines as the arguments of `op2jit check`: what is accepted is a description that prints. The first line is
 * the list of constants. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "jit/kernel/kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = OP_MAX_ARGS + 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1), *lines[MOST] = {NULL};
  int count = 0;
  struct error err = {0};
  struct desc d;
  struct text printed = {0};
  if (!text)
    return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  for (char *rest = text, *line; count < MOST && (line = strsep(&rest, "\n"));)
    lines[count++] = line;
  int code = arguments_parse(&d, lines + 1, count - 1, &err);
  if (!code)
    code = constants_parse(&d, lines[0], &err);
  if (!code)
    desc_print(&d, &printed);
  else if (!*error_message(&err))
    abort();
  desc_free(&d);
  text_free(&printed);
  error_free(&err);
  free(text);
  return 0;
}
