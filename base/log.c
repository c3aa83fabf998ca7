#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "text.h"

static const char *const level_names[] = {"error", "warn", "info", "debug"};
static const char *const categories[] = {"jit", "cache", "tune",  "plan", "loop", "mpi",  "cuda",
                                         "io",  "chain", "check", "perf", "env",  "team", "advice"};

static bool is_word(const char *word, size_t length, const char *name) {
  return strlen(name) == length && memcmp(word, name, length) == 0;
}

static bool configure_word(struct log *log, const char *word, size_t length) {
  for (int i = 0; i < 4; i++)
    if (is_word(word, length, level_names[i])) {
      log->level = (enum log_level)i;
      return true;
    }
  for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
    if (is_word(word, length, categories[i])) {
      size_t used = strlen(log->categories);
      if (!strstr(log->categories, categories[i]))
        snprintf(log->categories + used, sizeof log->categories - used, "%s%s,", used ? "" : ",",
                 categories[i]);
      return true;
    }
  return false;
}

bool log_configure(struct log *log, const char *spec) {
  bool good = true;
  log->level = LOG_WARN;
  log->categories[0] = '\0';
  for (const char *p = spec; *p;) {
    size_t length = strcspn(p, ", ");
    if (length)
      good &= configure_word(log, p, length);
    p += length;
    p += strspn(p, ", ");
  }
  return good;
}

bool log_wants(const struct log *log, enum log_level level, const char *category) {
  if (level == LOG_INFO && log->echoes && log->level < LOG_DEBUG)
    return false;
  if (level <= log->level)
    return true;
  if (!log->categories[0])
    return false;
  char key[32];
  snprintf(key, sizeof key, ",%s,", category);
  return strstr(log->categories, key) != NULL;
}

struct log log_asked(const struct log *log) {
  struct log all = *log;
  all.level = log->level > LOG_INFO ? log->level : LOG_INFO;
  all.echoes = false;
  return all;
}

void log_line(const struct log *log, enum log_level level, const char *category, const char *format, ...) {
  if (!log_wants(log, level, category))
    return;
  struct text line = {0};
  text_add(&line, "op2jit: ");
  if (log->rank >= 0)
    text_addf(&line, "rank %d: ", log->rank);
  if (level <= LOG_WARN)
    text_addf(&line, "%s: ", level == LOG_WARN ? "warning" : "error");
  else
    text_addf(&line, "%s: ", category);
  va_list args;
  va_start(args, format);
  text_vaddf(&line, format, args);
  va_end(args);
  text_add_char(&line, '\n');
  progress_end(log->progress);
  /* One write per line, so that lines of several ranks do not mix. */
  fputs(text_str(&line), stderr);
  text_free(&line);
}

/* Codes of any terminal since the VT100: `before` keeps the cursor's place and writes without going on to a
 * second line; `behind` wipes what is left of the line and goes back. */
static const char before[] = "\0337\033[?7l", behind[] = "\033[K\033[?7h\0338", wipe[] = "\033[K";

static const double pause = 0.1; /* seconds between two drawings of a step */

/* One write, so that nothing gets in between. */
__attribute__((format(printf, 2, 0))) static void draw(struct progress *p, const char *format, va_list args) {
  struct text line = {0};
  const bool terminal = p->form == PROGRESS_TERMINAL;
  text_add(&line, terminal ? before : "");
  text_add(&line, "op2jit: ");
  text_vaddf(&line, format, args);
  text_add(&line, terminal ? behind : "\n");
  if (text_ok(&line)) {
    fflush(stdout); /* what the program wrote on this line comes first */
    fputs(text_str(&line), stderr);
  }
  text_free(&line);
  p->shown = terminal;
  p->drawn = clock_seconds();
}

void progress_step(struct progress *p, const char *format, ...) {
  va_list args;
  if (!p || p->form == PROGRESS_NONE)
    return;
  va_start(args, format);
  draw(p, format, args);
  va_end(args);
}

void progress_more(struct progress *p, const char *format, ...) {
  va_list args;
  if (!p || p->form != PROGRESS_TERMINAL || (p->shown && clock_seconds() - p->drawn < pause))
    return;
  va_start(args, format);
  draw(p, format, args);
  va_end(args);
}

void progress_wipe(struct progress *p) {
  fputs(wipe, stderr);
  p->shown = false;
}
