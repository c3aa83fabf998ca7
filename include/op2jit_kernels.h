/* Kernels as functions and in files, and text that all kernels share: a part of op2jit.h, which includes it. */
#ifndef OP2JIT_KERNELS_H
#define OP2JIT_KERNELS_H

/* ---- kernels as C functions of the program -----------------------------------------------------*/

/* Tell the library that `function` is the compiled form of `text`; returns `text`. Cheap when it is
 * known already. Errors (NULL): OP_ERR_ARGUMENT, OP_ERR_STATE. Local. */
const char *op_kernel_native(const char *text, op_kernel_function function);

/* In a kernel: `condition` holds for every element. Checked runs (OP2_CHECK) end with OP_ERR_VIOLATION, which names
 * the loop, the element and the condition; elsewhere nothing is tested, and it costs nothing (the native backend
 * tests it and goes on). Kernels have printf as well, which every backend and rank writes to its stdout as elements
 * run. */
#define op_assert(condition) op2jit_assert((condition) ? 1 : 0, #condition)
void op2jit_assert_failed(const char *condition);
static inline void op2jit_assert(int holds, const char *condition) {
  if (!holds)
    op2jit_assert_failed(condition);
}

/* ---- kernels in files -------------------------------------------------------------------------*/

/* The text of a file, read once and kept by the library until op_exit; messages name the file and its
 * lines. Errors (NULL): OP_ERR_FILE. Local. */
const char *op_kernel_file(const char *path);

/* Kernels in a file of their own, as C functions (`static void flux(...) {...}`, several in one file): the program
 * has #include "kernels.h", behind the C variables of its constants, and gives OP_KERNEL_FILE("kernels.h", flux) to
 * op_par_loop. The native backend then calls the included function, which a debugger steps through line by line; the
 * others compile the file's text. The file is looked for, in this order, in the folder OP2_KERNELS, in that of the
 * source which has the call, in that of the program, in the working folder; a source that the compiler was given by a
 * relative path is found from the program's folder and those above it, then from the working folder. Errors (NULL):
 * OP_ERR_FILE, which names all places. Local. */
#define OP_KERNEL_FILE(file, name) op2jit_kernel_included((file), #name, (op_kernel_function)(name), __FILE__)
const char *op2jit_kernel_included(const char *file, const char *name, op_kernel_function function,
                                   const char *source);

/* ---- text that all kernels share ----------------------------------------------------------------*/

/* Text that all kernels share: enums, structs, macros, static functions, tables. Every loop that is called from now on
 * sees it in front of its kernel's text, several in the order of these calls; the same text a second time adds nothing.
 * A kernel of OP_KERNEL_DEF is a C function too, and there needs the same text as part of the program: #include the
 * file that op_prelude_file names. May be called at any time outside a loop; loops that ran before are compiled anew
 * for the longer text, or found in the cache. Under MPI the text is the same on all ranks. Errors: OP_ERR_ARGUMENT,
 * OP_ERR_KERNEL (something is not closed, or includes what is not there), OP_ERR_MPI. */
int op_decl_prelude(const char *text);
/* The same for a file, op_prelude_file("shared.h"). It is looked for where OP_KERNEL_FILE looks, then in the folders of
 * OP2_INCLUDE. Errors: OP_ERR_FILE. */
#define op_prelude_file(path) op2jit_prelude_file((path), __FILE__)
int op2jit_prelude_file(const char *path, const char *source);
/* Files and strings, kernels' and preludes', may have lines like #include "shared.h". The file is looked for beside the
 * one that includes it, in the folders of OP2_INCLUDE, in the working folder. It is read once and kept until op_exit. */

#endif
