/* Names that a program's constants may have. */
#ifndef OP2JIT_JIT_CONSTANT_NAME_H
#define OP2JIT_JIT_CONSTANT_NAME_H

/* The reason why kernels cannot use a constant of this name, with a remedy; NULL: they can. */
const char *constant_name_wrong(const char *name);

#endif
