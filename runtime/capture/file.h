/* Values to a file or from one, by the same calls: what is written and what is read cannot differ; nor what is freed. A file is
 * hostile: no count is believed before the bytes that it speaks of are there. */
#ifndef OP2JIT_CAPTURE_FILE_H
#define OP2JIT_CAPTURE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct stream {
  struct text *out; /* it is written; NULL: it is read, */
  bool frees;       /* or what was read is freed: numbers are not looked at */
  bool within;      /* of this process, which knows its structs */
  const unsigned char *at, *end;
  struct error *err;
  int code; /* of the first thing that is wrong, OP_ERR_FILE or OP_ERR_MEMORY: calls behind it do nothing */
};

void stream_fail(struct stream *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A number from `least` to `most`: `least` where what is read is none of them, so that what is computed from it is in bounds. */
void stream_number(struct stream *s, long long *n, long long least, long long most, const char *what);
void stream_real(struct stream *s, double *x);
void stream_truth(struct stream *s, bool *b, const char *what);
/* Allocated where it is read; no NUL is in it, and what could command a terminal is a blank. */
void stream_words(struct stream *s, char **words, const char *what);
/* `count` things of `size` bytes, allocated where they are read. */
void stream_bytes(struct stream *s, void **bytes, size_t count, size_t size, const char *what);
/* How many items follow, of which each takes 8 bytes at least; and where they are read, zeros for them. */
void stream_items(struct stream *s, int *count, int most, void **items, size_t size, const char *what);

#endif
