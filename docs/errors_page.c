/* Prints docs/errors.md from the table of errors. */
#include <stdio.h>

#include "base/error.h"

int main(void) {
  printf(
      "# Errors\n\n"
      "What `op_last_error()->code` can be. The names stay the same from version to version; a message says\n"
      "what happened, to which loop, argument and element, what was expected and what to do.\n"
      "This page is made from the library's own table by `build/docs/errors_page > docs/errors.md`.\n\n"
      "| code | name | meaning | what to do |\n|---|---|---|---|\n");
  for (int code = 0; code < OP_ERR_COUNT_; code++) {
    const struct error_kind *kind = error_kind(code);
    printf("| %d | `%s` | %s | %s |\n", code, kind->name, kind->meaning, kind->remedy);
  }
  return fflush(stdout) || ferror(stdout);
}
