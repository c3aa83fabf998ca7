/* The place of a mistake in a kernel, for the user: file and line, the source line, a caret. */
#ifndef OP2JIT_JIT_KERNEL_EXCERPT_H
#define OP2JIT_JIT_KERNEL_EXCERPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "jit/kernel/origins.h"

struct source {
  const char *text;
  size_t length;
  const char *file;              /* NULL: a string of the program */
  int line;                      /* of the text's first line in `file` */
  bool one_line;                 /* made by OP_KERNEL: shown one statement a line */
  bool made;                     /* of a text in Fortran, which stands behind `//!` */
  const struct origins *origins; /* of a text from several places, in place of file, line and one_line */
};

/* The text of a loop. Points into it. */
struct desc;
struct source desc_source(const struct desc *d);

/* "file.c:12:8", or "kernel text:12:8" without a file; for a text of OP_KERNEL the macro's "file.c:12". */
void source_place(const struct source *s, int line, int column, struct text *out);
/* The line (counted from 1 in the text) with its number and, below it, a caret at the column; a text of
 * OP_KERNEL is laid out one statement a line first, and the lines around are shown too. Nothing if there
 * is no such line. */
void source_excerpt(const struct source *s, int line, int column, struct text *out);
/* The error "WHO: what is wrong", with the place and the excerpt behind it; returns the code. */
int source_error(const struct source *s, int line, int column, struct error *err, int code, const char *who,
                 const char *format, va_list args) __attribute__((format(printf, 7, 0)));

#endif
