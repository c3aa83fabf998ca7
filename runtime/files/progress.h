/* How far a long transfer is: one line on a terminal, rewritten in place, once a second has passed. */
#ifndef OP2JIT_IO_PROGRESS_H
#define OP2JIT_IO_PROGRESS_H

#include <stdbool.h>

struct progress {
  const char *what; /* "reading mesh.h5" is built of these two */
  const char *path;
  double total, done; /* bytes, or whatever is counted */
  double begun, shown;
  bool wanted, visible;
};

/* Shown only if `wanted` and stderr is a terminal. */
struct progress progress_begin(const char *what, const char *path, double total, bool wanted);
void progress_add(struct progress *p, double done);
/* Takes the line away. */
void progress_end(struct progress *p);

#endif
