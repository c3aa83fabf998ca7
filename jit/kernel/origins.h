/* The origins of the lines of a text, which may come from several places: shared text, files that are included. */
#ifndef OP2JIT_JIT_KERNEL_ORIGINS_H
#define OP2JIT_JIT_KERNEL_ORIGINS_H

#include <stdbool.h>
#include <stddef.h>

/* Lines of the text up to the next origin's. */
struct origin {
  size_t begin;  /* the first byte */
  int line;      /* the first line, counted from 1 in the whole text */
  char *file;    /* NULL: a string of the program */
  int file_line; /* number of `line` in the file */
  bool one_line; /* made by OP_KERNEL: shown one statement a line */
};

/* Empty: a text of no file. */
struct origins {
  struct origin *items;
  int count;
  size_t own;   /* the first byte of the kernel's own text, behind all that it shares */
  bool fortran; /* it was made of a text in Fortran, whose lines stand behind `//!` */
};

/* False without memory. `file` is copied. */
bool origins_add(struct origins *o, struct origin next);
bool origins_copy(struct origins *to, const struct origins *from);
void origins_free(struct origins *o);
/* The one that a line of the whole text belongs to; NULL if there are none. */
const struct origin *origins_at(const struct origins *o, int line);
/* The same for a byte. */
const struct origin *origins_of(const struct origins *o, size_t byte);

#endif
