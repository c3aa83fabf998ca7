/* A file that is being written: under another name beside it, which becomes its own at the end. Until then what
 * was there before stays whole, and a process that dies leaves only the other file (base/aside.h). */
#ifndef OP2JIT_IO_WRITING_H
#define OP2JIT_IO_WRITING_H

#include <stdbool.h>

#include "files/layout.h"

struct writing {
  struct comm *comm;
  const struct file_table *table;
  struct text path;  /* the file, symbolic links followed */
  struct text aside; /* what is written */
  struct file *file; /* on the root; NULL: not open */
  int rows;          /* a descriptor to write rows by, -1: not open */
};

/* `base`: what this file holds is copied first; `path` itself need not be there. NULL: nothing is. All ranks. After an
 * error there is nothing to end. */
int writing_begin(struct writing *w, const struct file_table *table, struct comm *comm, const char *path,
                  const char *base, struct error *err);
/* To write into it. `path` is for messages, the caller's. */
struct layout writing_layout(const struct writing *w, const char *path);
/* `code` is how the writing went (on this rank): not 0 throws the work away. Returns it, or why the end failed. */
int writing_end(struct writing *w, int code, struct error *err);

#endif
