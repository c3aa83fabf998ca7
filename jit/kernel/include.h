/* Files that texts of kernels include. */
#ifndef OP2JIT_JIT_KERNEL_INCLUDE_H
#define OP2JIT_JIT_KERNEL_INCLUDE_H

#include "jit/kernel/lexer.h"
#include "jit/kernel/unit.h"

struct shared_file {
  char *path; /* as it was found */
  char *real; /* without links and dots: two names of one file are the same file */
  struct text text;
  bool
      once; /* it says that its text counts once only: #pragma once, or #ifndef and #define around all of it */
};

void shared_file_free(struct shared_file *f);

/* The name behind `#include`. */
struct include {
  char name[256];
  bool system; /* in <> */
};
/* True: there is an #include at this token. */
bool include_read(const struct tokens *t, size_t hash, struct include *out);
/* True: every kernel has the names of this header. */
bool include_is_known(const char *name);
/* Those headers, for messages. */
extern const char include_known[];

/* The file: beside `from` (a path, or NULL), then in the folders, then in the working folder. *out NULL: it is nowhere,
 * and `where` says which places these were. OP_ERR_FILE: it cannot be read, or is no text. */
int include_find(struct shared *s, const char *name, const char *from, struct shared_file **out,
                 struct text *where, struct error *err);

#endif
