/* The first difference between two columns of rows, "arg 2 form dat type double ...", in the program's own
 * words. */
#ifndef OP2JIT_JIT_KEY_DIFFERENCE_ROWS_H
#define OP2JIT_JIT_KEY_DIFFERENCE_ROWS_H

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

/* Pieces of texts that are taken apart: not NUL-terminated, and no copies. */

struct piece {
  const char *at;
  size_t length;
};

static inline struct piece piece_of(const char *text) {
  return (struct piece){text ? text : "", text ? strlen(text) : 0};
}

static inline bool piece_same(struct piece a, struct piece b) {
  return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

static inline bool piece_is(struct piece a, const char *word) {
  return piece_same(a, piece_of(word));
}

static inline void piece_add(struct text *out, struct piece p) {
  text_add_bytes(out, p.at, p.length);
}

/* Split off what comes before the next `stop`; empty at the end. */
static inline struct piece piece_next(struct piece *rest, char stop) {
  const char *end = rest->length ? memchr(rest->at, stop, rest->length) : NULL;
  struct piece first = {rest->at, end ? (size_t)(end - rest->at) : rest->length};
  size_t used = first.length + (end != NULL);
  rest->at += used;
  rest->length -= used;
  return first;
}

struct difference_side {
  struct piece column;
  struct piece arguments; /* that column of the same key, which tells who passes a dat */
  struct piece names;     /* lines of desc_name; may be empty */
};

/* Appends. Numbers count by first use, so one change may move many of them: things that have a name are compared
 * under it, and only if nothing is found so (`strict`) by number. Says nothing if there is no difference then. */
void difference_rows(const struct difference_side *from, const struct difference_side *to, bool strict,
                     struct text *out);

#endif
