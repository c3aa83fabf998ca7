/* Procedures of a program in Fortran that are kernels of its loops. */
#ifndef OP2JIT_API_FORTRAN_PROCEDURES_H
#define OP2JIT_API_FORTRAN_PROCEDURES_H

#include "base/text.h"
#include "op2/op2jit_compiled.h"

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

#endif
