/* A kernel text as read without a compiler: the kernel's function, its parameters as far as tokens tell, and
 * the names in it. Every backend can check with it. */
#ifndef OP2JIT_JIT_KERNEL_H
#define OP2JIT_JIT_KERNEL_H

#include "base/types.h"
#include "jit/front/describe.h"
#include "jit/front/lexer.h"
#include "jit/front/unit/unit.h"

struct kernel_parameter {
  char *name;          /* "" if it has none */
  char *spelling;      /* as written, blanks normalised: "const double *x[2]" */
  bool understood;     /* a plain declarator; else nothing below but line and column is known */
  enum type_code type; /* of the values behind all pointers; TYPE_NONE: a type that only the compiler knows */
  bool longer;         /* spelled `long`, where `long long` is as wide but another type to C */
  bool short_name;     /* spelled uint, ll or ull, which op_decl_dat knows and C does not */
  bool is_struct;      /* these values are structs or unions */
  bool is_const;       /* these values are const */
  int depth;           /* pointers and array brackets: `T *x` 1, `T *x[2]` 2 */
  int line, column;
};

struct kernel_function {
  char *name;
  size_t token; /* of its name */
  size_t open;  /* of the parenthesis behind it */
  int line, column;
  bool is_void;
};

struct kernel {
  char *name;
  char *text; /* without #line and byte order mark; needless parts are blanked, see blank.c */
  size_t length;
  char *origin_file;      /* from the leading #line, or NULL */
  int origin_line;        /* of the text's first line; 1 if there was no #line */
  bool one_line;          /* made by OP_KERNEL */
  struct origins origins; /* of a unit: none for a text alone */
  struct tokens tokens;
  struct kernel_function *functions; /* every function defined in the text, in order */
  int nfunctions;
  int function; /* which one is the kernel */
  bool certain; /* false: preprocessor conditions leave open which definition holds; checks say nothing */
  struct kernel_parameter *parameters;
  int nparameters;
  struct fortran_made
      fortran; /* of a kernel in Fortran: its arguments and the variables of modules that it reads */
};

/* Read `text` (any bytes) and find the function `name`. OP_ERR_KERNEL: there is none (the message names those
 * there are), it is not void, or an #include is not accepted. */
int kernel_parse(struct kernel *k, const char *text, size_t length, const char *name, struct error *err);
/* The same behind the text that kernels share, with the files that it includes. */
int kernel_parse_unit(struct kernel *k, struct shared *shared, const char *text, const char *name,
                      struct error *err);
/* OP_ERR_KERNEL: something is opened in the shared text that is not closed there. */
int shared_check(const struct shared *shared, struct error *err);
void kernel_free(struct kernel *k);

/* True: the identifier occurs outside of comments and strings. */
bool kernel_uses(const struct kernel *k, const char *identifier);

#endif
