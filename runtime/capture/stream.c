#include "capture/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"

static int cut_off(const struct stream *s, const char *what) {
  return error_set(s->err, OP_ERR_FILE, "it ends within %s", what);
}

/* The bytes of a value, either way. */
static int take(struct stream *s, void *value, size_t size, const char *what) {
  if (s->out) {
    text_add_bytes(s->out, value, size);
    return text_ok(s->out) ? OP_OK : error_memory(s->err, "a capture", s->out->length);
  }
  if ((size_t)(s->end - s->at) < size)
    return cut_off(s, what);
  if (size)
    memcpy(value, s->at, size);
  s->at += size;
  return OP_OK;
}

int stream_number(struct stream *s, long long *n, long long least, long long most, const char *what) {
  const int code = take(s, n, sizeof *n, what);
  if (code || (*n >= least && *n <= most))
    return code;
  return error_set(s->err, OP_ERR_FILE, "%s is %lld; expected %lld to %lld", what, *n, least, most);
}

int stream_real(struct stream *s, double *x) {
  return take(s, x, sizeof *x, "a number");
}

int stream_truth(struct stream *s, bool *b, const char *what) {
  long long n = *b;
  const int code = stream_number(s, &n, 0, 1, what);
  *b = n == 1;
  return code;
}

int stream_words(struct stream *s, char **words, const char *what) {
  long long length = s->out && *words ? (long long)strlen(*words) : 0;
  int code = stream_number(s, &length, 0, PTRDIFF_MAX - 1, what);
  if (code || s->out)
    return code ? code : length ? take(s, *words, (size_t)length, what) : OP_OK;
  if (s->end - s->at < length)
    return cut_off(s, what);
  if (memchr(s->at, '\0', (size_t)length))
    return error_set(s->err, OP_ERR_FILE, "%s has a NUL in it", what);
  *words = malloc((size_t)length + 1);
  if (!*words)
    return error_memory(s->err, what, (size_t)length);
  (*words)[length] = '\0';
  code = take(s, *words, (size_t)length, what);
  for (char *c = *words; !code && *c; c++)
    if (((unsigned char)*c < ' ' && *c != '\n') || *c == '\x7f')
      *c = ' ';
  return code;
}

int stream_bytes(struct stream *s, void **bytes, size_t count, size_t size, const char *what) {
  size_t length;
  if (!size_mul(count, size, &length))
    return error_set(s->err, OP_ERR_FILE, "%s would have more bytes than there may be", what);
  if (s->out)
    return take(s, *bytes, length, what);
  if ((size_t)(s->end - s->at) < length)
    return cut_off(s, what);
  *bytes = array_new(count, size);
  return *bytes ? take(s, *bytes, length, what) : error_memory(s->err, what, length);
}

int stream_items(struct stream *s, int *count, int most, void **items, size_t size, const char *what) {
  long long n = *count;
  int code = stream_number(s, &n, 0, most, what);
  if (code || s->out)
    return code;
  if ((s->end - s->at) / 8 < n)
    return cut_off(s, what);
  *items = array_new((size_t)n, size);
  *count = *items ? (int)n : 0;
  return *items ? OP_OK : error_memory(s->err, what, (size_t)n * size);
}
