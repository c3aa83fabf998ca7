#include "options.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_default(const struct option_entry *entry) {
  const char *text;
  switch (entry->kind) {
  case OPTION_INT: printf(" [%d]", *(const int *)entry->value); break;
  case OPTION_REAL: printf(" [%g]", *(const double *)entry->value); break;
  case OPTION_TEXT:
    text = *(const char *const *)entry->value;
    if (text)
      printf(" [%s]", text);
    break;
  case OPTION_FLAG: break;
  }
}

static void print_help(const char *program, const char *about, int count,
                       const struct option_entry entries[]) {
  static const char *const operand[] = {"", " N", " X", " TEXT"};
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

static int store(const struct option_entry *entry, const char *text) {
  char *end;
  if (entry->kind == OPTION_TEXT) {
    *(const char **)entry->value = text;
    return 0;
  }
  double value = strtod(text, &end);
  int whole = entry->kind == OPTION_REAL || value == floor(value);
  if (end == text || *end || !whole || !(value >= entry->low && value <= entry->high)) {
    fprintf(stderr, "--%s %s: expected a%s number from %g to %g\n", entry->name, text,
            entry->kind == OPTION_INT ? " whole" : "", entry->low, entry->high);
    return 1;
  }
  if (entry->kind == OPTION_INT)
    *(int *)entry->value = (int)value;
  else
    *(double *)entry->value = value;
  return 0;
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
  const char *program = argc > 0 && strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
  for (int i = 1; i < argc; i++) {
    if (belongs_to_library(argv[i]))
      continue;
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      print_help(program, about, count, entries);
      return OPTIONS_STOP;
    }
    const struct option_entry *entry =
        strncmp(argv[i], "--", 2) != 0 ? NULL : find(argv[i] + 2, count, entries);
    if (!entry) {
      fprintf(stderr, "%s: %s is not an option; --help lists them\n", program, argv[i]);
      return OPTIONS_WRONG;
    }
    const char *equals = strchr(argv[i], '=');
    if (entry->kind == OPTION_FLAG && !equals) {
      *(int *)entry->value = 1;
      continue;
    }
    const char *operand = equals ? equals + 1 : i + 1 < argc ? argv[++i] : NULL;
    if (entry->kind == OPTION_FLAG || !operand) {
      fprintf(stderr, "%s: --%s takes %s value\n", program, entry->name,
              entry->kind == OPTION_FLAG ? "no" : "a");
      return OPTIONS_WRONG;
    }
    if (store(entry, operand))
      return OPTIONS_WRONG;
  }
  return OPTIONS_RUN;
}
