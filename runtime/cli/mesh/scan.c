#include "scan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int scan_failed(const struct scan *s, struct error *err, const char *format, ...) {
  struct text words = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&words, format, args);
  va_end(args);
  if (s->binary)
    error_set(err, OP_ERR_FILE, "%s, %s%sbyte %td: %s", s->path, s->section ? s->section : "",
              s->section ? ", " : "", s->at - s->begin, text_str(&words));
  else
    error_set(err, OP_ERR_FILE, "%s, line %ld: %s", s->path, s->line, text_str(&words));
  text_free(&words);
  return OP_ERR_FILE;
}

static bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

bool scan_at_end(struct scan *s) {
  for (; s->at < s->end && is_blank(*s->at); s->at++)
    s->line += *s->at == '\n';
  return s->at >= s->end;
}

static size_t word_length(const struct scan *s) {
  const char *p = s->at;
  while (p < s->end && !is_blank(*p))
    p++;
  return (size_t)(p - s->at);
}

static int not_a(const struct scan *s, const char *kind, const char *what, struct error *err) {
  const size_t length = word_length(s);
  return scan_failed(s, err, "\"%.*s\" is not a %s; expected %s", (int)(length < 40 ? length : 40), s->at,
                     kind, what);
}

int scan_whole(struct scan *s, long long low, long long high, const char *what, long long *out,
               struct error *err) {
  if (scan_at_end(s))
    return scan_failed(s, err, "the file ends; expected %s", what);
  char *stop;
  errno = 0;
  const long long value = strtoll(s->at, &stop, 10);
  if (stop == s->at || stop > s->end || (stop < s->end && !is_blank(*stop)))
    return not_a(s, "whole number", what, err);
  if (errno || value < low || value > high)
    return scan_failed(s, err, "%lld is not in %lld .. %lld; expected %s", value, low, high, what);
  s->at = stop;
  *out = value;
  return OP_OK;
}

int scan_real(struct scan *s, const char *what, double *out, struct error *err) {
  if (scan_at_end(s))
    return scan_failed(s, err, "the file ends; expected %s", what);
  char *stop;
  *out = strtod(s->at, &stop);
  if (stop == s->at || stop > s->end || (stop < s->end && !is_blank(*stop)))
    return not_a(s, "number", what, err);
  s->at = stop;
  return OP_OK;
}

bool scan_is(struct scan *s, const char *word) {
  const size_t length = strlen(word);
  if (scan_at_end(s) || word_length(s) != length || memcmp(s->at, word, length) != 0)
    return false;
  s->at += length;
  return true;
}

bool scan_to(struct scan *s, const char *word) {
  while (!scan_at_end(s)) {
    if (scan_is(s, word))
      return true;
    const char *line = memchr(s->at, '\n', (size_t)(s->end - s->at));
    s->at = line ? line : s->end;
  }
  return false;
}

int scan_has(const struct scan *s, long long count, int numbers, const char *what, struct error *err) {
  /* Each number has a digit, and a blank in front of it. */
  if (count > (s->end - s->at) / (2 * (long long)numbers) + 1)
    return scan_failed(s, err, "the file is too short for %lld %s", count, what);
  return OP_OK;
}
