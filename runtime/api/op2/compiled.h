/* Loops whose kernels the program's own compiler compiled: there is no text to read or to prove. */
#ifndef OP2JIT_API_OP2_COMPILED_H
#define OP2JIT_API_OP2_COMPILED_H

#include "record/record.h"

/* Was the program compiled with this library's headers? */
bool compiled_is_of_this(const struct op2jit_compiled *compiled);
/* Do the kernel's parameters, as the program's compiler saw them, fit the arguments? OP_ERR_KERNEL, OP_ERR_BACKEND. */
int compiled_check(const struct loop *loop, struct error *err);
/* Set the places of arguments in the frame, whose first slot is loop->places, and the form of the kernel that suits
 * them. Again when the mesh changed. */
int compiled_place(struct loop *loop, struct error *err);

#endif
