/* The command line of a program: `--name value`, `--name=value`, flags, and `--help`. Words of the
 * form OP2_NAME=VALUE belong to the library and are passed over. */
#ifndef BENCH_COMMON_OPTIONS_H
#define BENCH_COMMON_OPTIONS_H

/* A file is one that the program reads. */
enum option_kind { OPTION_FLAG, OPTION_INT, OPTION_REAL, OPTION_WORD, OPTION_FILE };

struct option_entry {
  const char *name; /* without the dashes */
  enum option_kind kind;
  void *value;      /* int for flags and integers, double, or const char *; holds the default */
  double low, high; /* numbers must lie in low .. high */
  const char *help; /* one line */
};

/* OPTIONS_STOP: help was asked for and printed; OPTIONS_WRONG: it was said on stderr what is. The program ends
 * with these numbers. */
enum options_outcome { OPTIONS_RUN = -1, OPTIONS_STOP = 0, OPTIONS_WRONG = 2 };

/* Read the command line into the values. `about` says what the program does. */
enum options_outcome options_read(int argc, char **argv, const char *about, int count,
                                  const struct option_entry entries[]);

/* Whether the command line gives the option of this name, without the dashes. */
int options_given(int argc, char **argv, const char *name);

/* Says on stderr, behind the program's name, why a value cannot be had; OPTIONS_WRONG. Under mpirun, where each
 * rank finds the same, the first one says it. */
enum options_outcome options_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
