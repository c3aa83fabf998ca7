#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The program's name, known once options are read. */
static const char *program = "sample";

enum { SECONDS_TO_SAY_IT = 1 };

static void print_default(const struct option_entry *entry) {
  const char *text;
  switch (entry->kind) {
  case OPTION_INT: printf(" [%d]", *(const int *)entry->value); break;
  case OPTION_REAL: printf(" [%g]", *(const double *)entry->value); break;
  case OPTION_WORD:
  case OPTION_FILE:
    text = *(const char *const *)entry->value;
    if (text)
      printf(" [%s]", text);
    break;
  case OPTION_FLAG: break;
  }
}

static void print_help(const char *about, int count, const struct option_entry entries[]) {
  static const char *const operand[] = {"", " N", " X", " WORD", " FILE"};
  printf("%s: %s\n\noptions, with [defaults]:\n", program, about);
  for (int i = 0; i < count; i++) {
    char left[64];
    snprintf(left, sizeof left, "--%s%s", entries[i].name, operand[entries[i].kind]);
    printf("  %-18s %s", left, entries[i].help);
    print_default(&entries[i]);
    printf("\n");
  }
  printf("  %-18s %s\n  %-18s %s\n", "--help", "say this", "OP2_NAME=VALUE",
         "a setting of the library, as in the environment (OP2_BACKEND=native)");
}

/* Before op_init only the launcher's variables tell. */
static int is_first_rank(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    const char *rank = getenv(names[k]);
    if (rank)
      return !strcmp(rank, "0");
  }
  return 1;
}

enum options_outcome options_refuse(const char *format, ...) {
  va_list values;
  if (!is_first_rank()) {
    /* mpirun ends the job with the first process that ends, and the first rank is to say why before that. */
    sleep(SECONDS_TO_SAY_IT);
    return OPTIONS_WRONG;
  }
  fprintf(stderr, "%s: ", program);
  va_start(values, format);
  vfprintf(stderr, format, values);
  va_end(values);
  fputc('\n', stderr);
  return OPTIONS_WRONG;
}

/* 0, or why not. */
static int unreadable(const char *path) {
  struct stat there;
  if (stat(path, &there) != 0 || access(path, R_OK) != 0)
    return errno;
  return S_ISDIR(there.st_mode) ? EISDIR : 0;
}

static enum options_outcome look_at_file(const struct option_entry *entry, const char *path) {
  if (!*path)
    return options_refuse("--%s: the name is empty; expected that of a file", entry->name);
  const int trouble = entry->kind == OPTION_FILE ? unreadable(path) : 0;
  return trouble
             ? options_refuse("--%s %s: the file cannot be read: %s", entry->name, path, strerror(trouble))
             : OPTIONS_RUN;
}

static enum options_outcome store(const struct option_entry *entry, const char *text) {
  char *end;
  if (entry->kind >= OPTION_WORD) {
    *(const char **)entry->value = text;
    return entry->kind >= OPTION_FILE ? look_at_file(entry, text) : OPTIONS_RUN;
  }
  double value = strtod(text, &end);
  int whole = entry->kind == OPTION_REAL || value == floor(value);
  if (end == text || *end || !whole || !(value >= entry->low && value <= entry->high))
    return entry->kind == OPTION_INT ? options_refuse("--%s %s: expected a whole number from %.0f to %.0f",
                                                      entry->name, text, entry->low, entry->high)
                                     : options_refuse("--%s %s: expected a number from %g to %g", entry->name,
                                                      text, entry->low, entry->high);
  if (entry->kind == OPTION_INT)
    *(int *)entry->value = (int)value;
  else
    *(double *)entry->value = value;
  return OPTIONS_RUN;
}

static const struct option_entry *find(const char *word, int count, const struct option_entry entries[]) {
  size_t length = strcspn(word, "=");
  for (int i = 0; i < count; i++)
    if (strlen(entries[i].name) == length && strncmp(entries[i].name, word, length) == 0)
      return &entries[i];
  return NULL;
}

static int belongs_to_library(const char *word) {
  const char *equals = strchr(word, '=');
  if (strncmp(word, "OP2_", 4) != 0 || !equals)
    return 0;
  for (const char *c = word; c < equals; c++)
    if (!isupper((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '_')
      return 0;
  return 1;
}

enum options_outcome options_read(int argc, char **argv, const char *about, int count,
                                  const struct option_entry entries[]) {
  const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
  if (argc > 0)
    program = slash ? slash + 1 : argv[0];
  for (int i = 1; i < argc; i++) {
    if (belongs_to_library(argv[i]))
      continue;
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      print_help(about, count, entries);
      return OPTIONS_STOP;
    }
    const struct option_entry *entry =
        strncmp(argv[i], "--", 2) != 0 ? NULL : find(argv[i] + 2, count, entries);
    if (!entry)
      return options_refuse("%s is not an option; --help lists them", argv[i]);
    const char *equals = strchr(argv[i], '=');
    if (entry->kind == OPTION_FLAG && !equals) {
      *(int *)entry->value = 1;
      continue;
    }
    const char *operand = equals ? equals + 1 : i + 1 < argc ? argv[++i] : NULL;
    if (entry->kind == OPTION_FLAG || !operand)
      return options_refuse("--%s takes %s value", entry->name, entry->kind == OPTION_FLAG ? "no" : "a");
    enum options_outcome outcome = store(entry, operand);
    if (outcome != OPTIONS_RUN)
      return outcome;
  }
  return OPTIONS_RUN;
}

int options_given(int argc, char **argv, const char *name) {
  const size_t length = strlen(name);
  for (int i = 1; i < argc; i++)
    if (!strncmp(argv[i], "--", 2) && !strncmp(argv[i] + 2, name, length) &&
        (argv[i][length + 2] == '\0' || argv[i][length + 2] == '='))
      return 1;
  return 0;
}
