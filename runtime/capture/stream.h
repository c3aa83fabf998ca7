/* Values to a file or from one, by the same calls: what is written and what is read cannot differ. A file is hostile: no count is
 * believed before the bytes that it speaks of are there. */
#ifndef OP2JIT_CAPTURE_STREAM_H
#define OP2JIT_CAPTURE_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct stream {
  struct text *out; /* NULL: it is read */
  const unsigned char *at, *end;
  struct error *err;
};

/* All return OP_OK, OP_ERR_FILE or OP_ERR_MEMORY. A number from `least` to `most`. */
int stream_number(struct stream *s, long long *n, long long least, long long most, const char *what);
int stream_real(struct stream *s, double *x);
int stream_truth(struct stream *s, bool *b, const char *what);
/* Allocated where it is read; no NUL is in it, and what could command a terminal is a blank. */
int stream_words(struct stream *s, char **words, const char *what);
/* `count` things of `size` bytes, allocated where they are read. */
int stream_bytes(struct stream *s, void **bytes, size_t count, size_t size, const char *what);
/* How many items follow, of which each takes 8 bytes at least; and where they are read, zeros for them. */
int stream_items(struct stream *s, int *count, int most, void **items, size_t size, const char *what);

#endif
