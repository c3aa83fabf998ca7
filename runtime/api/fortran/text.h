/* The texts of kernels that are procedures of OP2's programs in Fortran: made of the sources that op2jit-fc put into the
 * program, or of those that its debug information names. Without one a loop calls the procedure for each element. */
#ifndef OP2JIT_API_FORTRAN_TEXT_H
#define OP2JIT_API_FORTRAN_TEXT_H

#include "base/text.h"
#include "base/types.h"
#include "jit/kernel/fortran/fortran.h"
#include "jit/texts.h"
#include "op2/op2jit_compiled.h"

/* A procedure's text. */
struct procedure_text {
  struct fortran_made made;
  struct read_kernel kernel; /* as loops have it; its text is that of `made`, NULL: none */
  struct read_variable *variables;
  struct read_origin *origins;
  struct text why;            /* there is none */
  int code;                   /* of that */
  unsigned long long counted; /* its arguments that are numbers of elements, which it counts from 1 */
};
void procedure_text_free(struct procedure_text *t);

/* Loops whose kernels are such procedures. */
extern const struct loop_functions fortran_functions;

/* The procedure or variable at an address, as the table of symbols of its file says: its name in the source, and that of its module ("": none).
 * `internal`: it is in another procedure or a program, and others may have both names. */
struct fortran_names {
  struct text name, module;
  unsigned long long value;
  bool internal;
};
bool fortran_names(const void *address, struct fortran_names *out);
void fortran_names_free(struct fortran_names *names);
/* The address of a variable of a module, or of the main program (""), in the file that has `near`; NULL: nobody knows. `sure`: only
 * by a symbol that can be no other variable's. */
const void *fortran_variable_at(const void *near, const char *module, const char *name, bool sure);

/* ---- procedures.c: procedures of a program in Fortran that are kernels of its loops; and declarations of OP2's programs: arrays of
 * dats and maps, by the address of their first element, and variables of constants ---- */

struct op_context;

/* A procedure as a kernel. Its address says which loop it is. */
struct procedure {
  op2jit_compiled compiled;
  op2jit_parameter parameters[OP_MAX_ARGS]; /* nothing is known of them without a text */
  struct text name;
  const void *
      code; /* where it begins; NULL: not known. Its address may be that of a few instructions on the stack */
  int code_at;                 /* which have this behind so many bytes */
  struct procedure_text *text; /* NULL: nobody looked for it yet */
  bool warned;
};

/* That of a procedure which gets so many arguments, made at its first call and the library's; NULL: no memory. */
const struct procedure *procedure_of(struct op_context *ctx, op_kernel_function kernel, int nargs);
/* Says once that it runs on one thread, if there are more and its address is on the stack. */
void procedure_warn(const struct op_context *ctx, struct procedure *p);
/* All of them: at op_exit. */
void procedures_free(struct op_context *ctx);

struct known {
  const void *array;
  const void *handle; /* of a dat, or of a map if `is_map`; NULL: of a constant */
  bool is_map;
  void *copy; /* the array, where it is the library's: a table for Fortran; a constant's name, "": not said */
  enum type_code type; /* of a constant, and its values */
  int dim;
};

/* False: no memory. `copy` belongs to the list then. */
bool known_add(struct op_context *ctx, struct known known);
/* The declared object was not freed. */
bool known_lives(const struct op_context *ctx, const struct known *k);
void known_free(struct op_context *ctx);

#endif
