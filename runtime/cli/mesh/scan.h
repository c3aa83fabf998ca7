/* Words and numbers out of a text in memory, with the line for messages. */
#ifndef OP2JIT_IO_MESH_SCAN_H
#define OP2JIT_IO_MESH_SCAN_H

#include "base/error.h"

struct scan {
  const char *path, *at, *end; /* *end is a NUL */
  long line;

  /* Files of text and binary (mixed.h), which have bytes rather than lines. */
  bool binary, swapped;        /* numbers are in binary; in the other order of bytes */
  const char *begin, *section; /* of the file; the name for messages, NULL outside of sections */
};

/* "PATH, line N: ..." of the place where the scan is, or "PATH, SECTION, byte N: ..." in binary. Returns
 * OP_ERR_FILE. */
int scan_failed(const struct scan *s, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whole numbers from `low` to `high`; `what` is for the message. */
int scan_whole(struct scan *s, long long low, long long high, const char *what, long long *out,
               struct error *err);
int scan_real(struct scan *s, const char *what, double *out, struct error *err);
/* Whether the next word is this one, which is then passed over. */
bool scan_is(struct scan *s, const char *word);
/* Blanks are passed over; true at the end. */
bool scan_at_end(struct scan *s);
/* To behind the next line that begins so; false: there is none. */
bool scan_to(struct scan *s, const char *word);
/* `count` times `numbers` numbers can be left: no size is believed that the file cannot hold. */
int scan_has(const struct scan *s, long long count, int numbers, const char *what, struct error *err);

#endif
