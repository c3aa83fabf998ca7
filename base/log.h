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

/* Progress of long work: one line on the terminal. The next line writes over it, and it is gone at the end. It
 * stands behind what the program wrote and keeps the cursor's place. One thread at a time. Every function takes
 * NULL and then does nothing. */

enum progress_form {
  PROGRESS_NONE,
  PROGRESS_TERMINAL,
  PROGRESS_LINES /* stderr goes elsewhere: each step is a line that stays, and how far it is is not said */
};

struct progress {
  enum progress_form form;
  bool shown;   /* there is something to wipe away */
  double drawn; /* when */
};

/* A step begins. The line says what is done, and to what. */
void progress_step(struct progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same step goes on. Called as often as one likes: few of them are drawn. */
void progress_more(struct progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The work is over: wipe the line. */
void progress_wipe(struct progress *p);
static inline void progress_end(struct progress *p) {
  if (p && p->shown)
    progress_wipe(p);
}

#endif
