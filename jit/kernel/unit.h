/* A kernel's unit: its own text, behind the text that kernels share, with the files that they include put in. One
 * text goes to checks, keys and compilers; its origins say where each line is from. */
#ifndef OP2JIT_JIT_KERNEL_UNIT_H
#define OP2JIT_JIT_KERNEL_UNIT_H

#include "base/error.h"
#include "base/list.h"
#include "base/text.h"
#include "jit/kernel/fortran/fortran.h"
#include "jit/kernel/origins.h"

struct unit {
  struct text text;
  struct origins origins;
  int line;                    /* the next one, from 1 */
  struct list once;            /* struct shared_file whose second #include adds nothing; borrowed */
  struct fortran_made fortran; /* of a kernel in Fortran, without its text */
};
void unit_free(struct unit *u);

/* Text that the kernels of a context share. A zeroed struct is empty. */
struct shared {
  const char *folders; /* OP2_INCLUDE: names with ':' between them; may be NULL */
  struct list files;   /* struct shared_file: read once and kept, so that all kernels see the same */
  struct list said;    /* the texts and paths that were declared: once each */
  struct unit before;  /* in front of each kernel */
  struct {
    size_t length;
    int line, origins, once;
  } earlier; /* size of `before` without the last addition */
};
void shared_free(struct shared *s);

/* A new text in front of all kernels. A leading #line says where it is from. *again: this very text was there, and
 * nothing was added. After an error all is as it was. OP_ERR_KERNEL, OP_ERR_FILE, OP_ERR_MEMORY. */
int shared_add_text(struct shared *s, const char *text, bool *again, struct error *err);
/* The same for a file: `path` as it is, or in one of the folders. */
int shared_add_file(struct shared *s, const char *path, bool *again, struct error *err);
/* Take the last one back. */
void shared_undo(struct shared *s);

/* Puts a kernel's text behind the shared text. `name` is the kernel's, for messages. */
int unit_make(struct unit *u, struct shared *s, const char *text, size_t length, const char *name,
              struct error *err);

/* Splits `#line N "file"` off the beginning. Returns the text behind it, makes `length` less, and fills `out`
 * with the place (the file in allocated memory); one line if there is no other line end. Without it: line 1 of
 * no file. */
const char *origin_split(const char *text, size_t *length, struct origin *out);
/* The text without the byte order mark that some editors begin a file with; `length` is made less. */
const char *text_behind_mark(const char *text, size_t *length);

#endif
