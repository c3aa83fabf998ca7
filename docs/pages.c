/* Prints the pages of docs/ that are made from the library's own tables: `pages errors` is errors.md, `pages
 * environment` is environment.md. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "env.h"

static void print_made(const char *page) {
  printf("This page is made from the library's own table by `build/docs/pages %s > docs/%s.md`.\n\n", page,
         page);
}

static void print_errors(void) {
  printf(
      "# Errors\n\n"
      "What `op_last_error()->code` can be. The names stay the same from version to version; a message says\n"
      "what happened, to which loop, argument and element, what was expected and what to do.\n");
  print_made("errors");
  printf("| code | name | meaning | what to do |\n|---|---|---|---|\n");
  for (int code = 0; code < OP_ERR_COUNT_; code++) {
    const struct error_kind *kind = error_kind(code);
    printf("| %d | `%s` | %s | %s |\n", code, kind->name, kind->meaning, kind->remedy);
  }
}

/* "auto|on" as a table can hold it, and "#1-9" as people say it. */
static void print_values(const char *words) {
  if (words[0] == '#')
    printf("a number, %s", words + 1);
  else
    for (const char *p = words; *p; p++)
      printf("%.*s", *p == '|' ? 2 : 1, *p == '|' ? ", " : p);
}

static void print_escaped(const char *s) {
  for (; *s; s++)
    printf("%s%c", *s == '|' ? "\\" : "", *s);
}

static void print_environment(void) {
  printf("# Environment\n\n"
         "Every variable that op2jit reads, and nothing else does it read but `XDG_CACHE_HOME`, `HOME`,\n"
         "`OMP_NUM_THREADS` and what MPI's launchers set. `OP2_NAME=VALUE` among a program's arguments wins "
         "over the\n"
         "environment. A misspelt `OP2_*` gets a warning with the nearest name; `op2jit info` prints all of "
         "them with\n"
         "their values.\n");
  print_made("environment");
  printf("| variable | values | default | meaning |\n|---|---|---|---|\n");
  for (int i = 0; i < ENV_COUNT; i++) {
    const struct env_row *row = env_row((enum env_name)i);
    printf("| `%s` | ", row->name);
    print_values(row->words);
    printf(" | %s%s%s | ", *row->unset ? "`" : "", row->unset, *row->unset ? "`" : "");
    print_escaped(row->help);
    printf(" |\n");
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "errors") == 0)
    print_errors();
  else if (argc == 2 && strcmp(argv[1], "environment") == 0)
    print_environment();
  else {
    fprintf(stderr, "usage: pages errors|environment\n");
    return 2;
  }
  return fflush(stdout) || ferror(stdout);
}
