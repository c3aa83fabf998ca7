/* Lines for the user's eyes, on stderr, chosen by OP2_LOG. A level shows everything of that weight and
 * above; categories ("jit", "cache", "tune", "plan", "perf", ...) show info and debug lines of their own
 * only. */
#ifndef OP2JIT_BASE_LOG_H
#define OP2JIT_BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct progress;

struct log {
  enum log_level level;
  char categories[128];      /* ",jit,cache," */
  int rank;                  /* -1: no rank in the lines */
  bool echoes;               /* another rank says the same: no info lines, unless debug is wanted */
  struct progress *progress; /* is wiped away before a line; NULL: none */
};

/* `spec` is OP2_LOG's value, words separated by commas; false if a word is neither a level nor a known category. */
bool log_configure(struct log *log, const char *spec);
bool log_wants(const struct log *log, enum log_level level, const char *category);
/* The log for lines that the program asked for by op_init's level; OP2_LOG does not hide them. */
struct log log_asked(const struct log *log);
void log_line(const struct log *log, enum log_level level, const char *category, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
