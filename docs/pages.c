/* Prints the pages of docs/ that are made from the library's own tables: `pages errors` is errors.md, `pages
 * environment` is environment.md. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "context/env.h"

static void print_made(const char *page) {
  printf("This page is made from the library's own table by `build/docs/pages %s > docs/%s.md`.\n\n", page,
         page);
}

static void print_errors(void) {
  printf("# Errors\n\n"
         "What `op_last_error()->code` can be. The names stay the same from version to version. A message\n"
         "says what happened, to which loop, argument and element, what was expected and what to do. The\n"
         "message of an op_par_loop begins with the file and line of the call.\n");
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

/* What env.c and the programs that it starts read besides. */
static void print_others(void) {
  static const struct {
    const char *names, *meaning;
  } rows[] = {
      {"`XDG_CACHE_HOME`, `HOME`",
       "where the kernel database is: `$XDG_CACHE_HOME/op2jit`, else `$HOME/.cache/op2jit`"},
      {"`OMP_NUM_THREADS`", "threads, if `OP2_THREADS` is unset"},
      {"`OMP_PROC_BIND`, `OMP_PLACES`", "set: OpenMP binds the threads, so its own are used"},
      {"`CUDA_HOME`, else `CUDA_PATH`; `VIRTUAL_ENV`, `HOME`",
       "where the NVRTC library may be, if `OP2_NVRTC` is unset"},
      {"`OMPI_COMM_WORLD_SIZE`, `PMIX_RANK`", "Open MPI's launcher started the program"},
      {"`PMI_SIZE`", "MPICH's launcher started the program"},
  };
  printf("\nVariables of others that are read:\n\n| variable | what for |\n|---|---|\n");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    printf("| %s | %s |\n", rows[i].names, rows[i].meaning);
  printf("\nWhat the system's loader, OpenMP, MPI, HDF5 and the CUDA driver read is theirs.\n");
}

static void print_environment(void) {
  printf(
      "# Environment\n\n"
      "Every `OP2_*` variable that op2jit reads, and at the end those of others. `OP2_NAME=VALUE` among a "
      "program's\n"
      "arguments wins over the environment. A misspelt `OP2_*` gets a warning with the nearest name, and so "
      "does one\nwithout `=`. `op2jit info` prints all of them with their values.\n");
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
  print_others();
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
