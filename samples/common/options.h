/* The command line of a sample: `--name value`, `--name=value`, flags, and `--help`. Words of the
 * form OP2_NAME=VALUE belong to the library and are passed over. */
#ifndef SAMPLES_OPTIONS_H
#define SAMPLES_OPTIONS_H

enum option_kind { OPTION_FLAG, OPTION_INT, OPTION_REAL, OPTION_TEXT };

struct option_entry {
  const char *name; /* without the dashes */
  enum option_kind kind;
  void *value;      /* int for flags and integers, double, or const char *; holds the default */
  double low, high; /* numbers must lie in low .. high */
  const char *help; /* one line */
};

/* OPTIONS_STOP: help was asked for and printed; OPTIONS_WRONG: it was said on stderr what is. The program ends with these numbers. */
enum options_outcome { OPTIONS_RUN = -1, OPTIONS_STOP = 0, OPTIONS_WRONG = 2 };

/* Read the command line into the values. `about` says what the program does. */
enum options_outcome options_read(int argc, char **argv, const char *about, int count,
                                  const struct option_entry entries[]);

#endif
