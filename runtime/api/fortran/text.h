/* The texts of kernels that are procedures of OP2's programs in Fortran: made of the sources that op2jit-fc put into the
 * program, or of those that its debug information names. Without one a loop calls the procedure for each element. */
#ifndef OP2JIT_API_FORTRAN_TEXT_H
#define OP2JIT_API_FORTRAN_TEXT_H

#include "api/fortran/procedures.h"
#include "jit/kernel/fortran/fortran.h"
#include "jit/texts.h"

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

/* What is at an address, as the table of symbols of its file says: its name in the source, and that of its module ("": none).
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

#endif
