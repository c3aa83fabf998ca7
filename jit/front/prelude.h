/* The names that kernels have without an #include: mathematics, limits, fixed-width integers, bool. */
#ifndef OP2JIT_JIT_PRELUDE_H
#define OP2JIT_JIT_PRELUDE_H

/* C text that generated code for CPUs starts with. It ends with a newline, declares no file-scope name
 * that a C program with all the headers would not have but op2jit_exp, and needs the compiler that knows gcc's
 * predefined macros. Part of the generated text, hence of every loop's key. */
const char *jit_prelude(void);

/* The same for kernels in C++; nothing where C reads it. */
const char *jit_prelude_cxx(void);
/* The part for texts in C++ in CUDA, to stand in their namespace. */
const char *jit_cuda_cxx(void);

#endif
