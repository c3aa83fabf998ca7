#include "capture/stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"

void stream_fail(struct stream *s, const char *format, ...) {
  char words[256];
  va_list list;
  va_start(list, format);
  vsnprintf(words, sizeof words, format, list);
  va_end(list);
  if (!s->code)
    s->code = error_set(s->err, OP_ERR_FILE, "%s", words);
}

/* So many bytes are there to be read. */
static bool has(struct stream *s, size_t size, const char *what) {
  if (!s->code && (size_t)(s->end - s->at) < size)
    stream_fail(s, "it ends within %s", what);
  return !s->code;
}

/* The bytes of a value, either way. */
static void take(struct stream *s, void *value, size_t size, const char *what) {
  if (s->code || s->frees)
    return;
  if (s->out) {
    text_add_bytes(s->out, value, size);
    if (!text_ok(s->out))
      s->code = error_memory(s->err, "a capture", s->out->length);
  } else if (has(s, size, what)) {
    if (size)
      memcpy(value, s->at, size);
    s->at += size;
  }
}

void stream_number(struct stream *s, long long *n, long long least, long long most, const char *what) {
  take(s, n, sizeof *n, what);
  if (s->frees || (*n >= least && *n <= most))
    return;
  stream_fail(s, "%s is %lld; expected %lld to %lld", what, *n, least, most);
  if (!s->out)
    *n = least;
}

void stream_real(struct stream *s, double *x) {
  take(s, x, sizeof *x, "a number");
}

void stream_truth(struct stream *s, bool *b, const char *what) {
  long long n = *b;
  stream_number(s, &n, 0, 1, what);
  *b = n == 1;
}

/* Memory for what is read. */
static void *room(struct stream *s, size_t count, size_t size, const char *what) {
  void *memory = s->code ? NULL : array_new(count, size);
  if (!memory && !s->code)
    s->code = error_memory(s->err, what, count * size);
  return memory;
}

static void let_go(void **memory) {
  free(*memory);
  *memory = NULL;
}

void stream_words(struct stream *s, char **words, const char *what) {
  long long length = s->out && *words ? (long long)strlen(*words) : 0;
  stream_number(s, &length, 0, PTRDIFF_MAX - 1, what);
  if (s->frees)
    let_go((void **)words);
  else if (!s->out && has(s, (size_t)length, what)) {
    if (memchr(s->at, '\0', (size_t)length))
      stream_fail(s, "%s has a NUL in it", what);
    *words = room(s, (size_t)length + 1, 1, what);
  }
  if (length && *words)
    take(s, *words, (size_t)length, what);
  for (char *c = *words; !s->out && c && *c; c++)
    if (((unsigned char)*c < ' ' && *c != '\n') || *c == '\x7f')
      *c = ' ';
}

void stream_bytes(struct stream *s, void **bytes, size_t count, size_t size, const char *what) {
  size_t length;
  if (s->frees)
    let_go(bytes);
  else if (!size_mul(count, size, &length))
    stream_fail(s, "%s would have more bytes than there may be", what);
  else {
    if (!s->out)
      *bytes = has(s, length, what) ? room(s, count, size, what) : NULL;
    take(s, *bytes, length, what);
  }
}

void stream_items(struct stream *s, int *count, int most, void **items, size_t size, const char *what) {
  long long n = *count;
  stream_number(s, &n, 0, most, what);
  if (s->out || s->frees)
    return;
  *count = 0;
  if (!s->code && (s->end - s->at) / 8 < n)
    stream_fail(s, "it ends within %s", what);
  *items = room(s, (size_t)n, size, what);
  if (*items)
    *count = (int)n;
}
