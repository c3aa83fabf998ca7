/* The texts of the kernels of one unit of a C++ program, or why there are none. The store and programs keep
 * them as one text. */
#ifndef OP2JIT_JIT_TEXTS_TEXTS_H
#define OP2JIT_JIT_TEXTS_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "jit/texts/reader.h"

struct texts_file {
  const char *path, *hash; /* of its bytes, hexadecimal; TEXTS_ABSENT: it is not there */
};
#define TEXTS_ABSENT "absent"

struct texts_unit {
  const char *unit; /* the file; "": it was not found */
  const char *why;  /* "", or why there are no kernels */
  int code; /* the error that kept jit_read from looking: OP_ERR_CACHE_MISS with OP2_JIT=load; not in its text */
  const char *from; /* where the flags came from */
  struct read_kernel *kernels;
  int nkernels;
  struct texts_file *files; /* that this depends on */
  int nfiles;
};

void texts_free(struct texts_unit *u);
/* Writes the texts as one; out->failed without memory. */
void texts_print(const struct texts_unit *u, struct text *out);
/* Reads what texts_print wrote; false for any other text, or without memory: then `out` is empty. */
bool texts_parse(const char *text, size_t length, struct texts_unit *out);
/* The next of several units one after the other, "length:texts"; the linker may put zeros between. *at: behind it.
 * False: there is none. A unit that cannot be read is passed over. */
bool texts_next(const char **at, const char *end, struct texts_unit *out);
/* True: the files are still what they were. */
bool texts_hold(const struct texts_unit *u);
/* SHA-256 of a plain file's bytes, hexadecimal; false if it cannot be read. */
bool texts_hash(const char *path, char out[65]);

#endif
