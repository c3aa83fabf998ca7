/* Translates kernels in a subset of Fortran 2008 to C text. docs/fortran.md describes the subset. Text outside
 * of it is refused, with its line. */
#ifndef OP2JIT_JIT_KERNEL_FORTRAN_FORTRAN_H
#define OP2JIT_JIT_KERNEL_FORTRAN_FORTRAN_H

#include "base/error.h"
#include "base/text.h"
#include "jit/kernel/origins.h"

struct shared;

/* True: the text is Fortran, by the ending of its file, or without an ending by its first word. */
bool fortran_is(const char *file, const char *text, size_t length);

/* The length of a name of the C text in messages: names that mean something in C have a `_` behind them, which
 * is not shown. */
static inline int fortran_name_length(const char *name, int length) {
  return length > 1 && name[length - 1] == '_' ? length - 1 : length;
}

/* A source and the procedure in it that is the kernel. */
struct fortran_source {
  const char *text;
  size_t length;
  const char *file; /* NULL: a string of the program */
  int line;         /* of the text's first line in it */
  const char
      *kernel; /* the procedure, in any case of letters; "": the names of all subroutines become the text */
  const char *module; /* that it is in; NULL: any, or none */
  unsigned long long
      counted; /* a bit for each argument that is a number from 0, and for the procedure one from 1 */
  const char *
      defines; /* of -D, "NAME=VALUE" or "NAME" a line; NULL: not known, so an #if may make the text doubted */
  const char *(*find)(void *data, const char *name,
                      size_t *length); /* is asked first for a file's text; may be NULL */
  void *data;
};

/* The fact of the error (base/error.h) that the source has no such procedure. */
enum { FORTRAN_NO_KERNEL = 1 << 16 };

/* A variable of a module that the kernel reads: a constant of the library, by the name that the text has for it. */
struct fortran_variable {
  char *name, *module;
  const char *type; /* as C spells it */
  int dim;          /* its values */
  int declared; /* its program, which has it, declares it by op_decl_const: 1, 2 others of its type and size too */
  bool is_array;
};

/* An argument of the kernel, as the text declares it. */
struct fortran_argument {
  char *said;  /* "real(8), intent(out)" */
  bool is_out; /* intent(out): its old value is lost */
};

struct fortran_made {
  struct text text;
  struct origins origins; /* which lines are from where */
  struct fortran_variable *variables;
  int nvariables;
  struct fortran_argument *arguments;
  int narguments;
  struct text files; /* that were read beside the source, one a line */
  bool doubted;      /* it depends on an #if of a name that is not defined here */
};
void fortran_free(struct fortran_made *made);

/* The C text of the kernel and of what it calls. Each line ends with `//!` and the line of Fortran that it is from, which
 * messages show (jit/kernel/excerpt.h). OP_ERR_KERNEL: it is outside of the subset; the message says where, and the remedy. */
int fortran_translate(struct shared *shared, const struct fortran_source *source, struct fortran_made *made,
                      struct error *err);

#endif
