/* The texts of kernels that are functions of a program of OP2: found in the program's sources, they run as texts of
 * other programs do; without one a loop runs by the function itself. */
#ifndef OP2JIT_API_OP2_TEXT_H
#define OP2JIT_API_OP2_TEXT_H

#include "record/record.h"

/* Loops of programs of OP2, and of procedures in Fortran. */
extern const struct loop_functions op2_functions;

/* Read the texts of the call's unit before the first record of its loops is made. All ranks together. */
int text_meet(struct op_context *ctx, const struct loop_call *call, struct error *err);
/* Sets loop->source and loop->ranged, or says in loop->no_source why it has no text. OP_ERR_MEMORY. */
int text_choose(struct op_context *ctx, struct loop *loop, const struct loop_call *call, struct error *err);
/* True if the text suits the loop; else `why` says why not. */
bool text_suits(const struct op_context *ctx, const struct loop *loop, const struct read_kernel *k,
                struct text *why);
/* The loop has this text; NULL: it has none, because of `why`, of which `code` is the code. OP_ERR_MEMORY. */
int text_settle(struct op_context *ctx, struct loop *loop, const struct read_kernel *k, int code,
                const struct text *why, struct error *err);
/* The call of a loop whose kernel is a function of the program, which reads the program's variables. */
int text_run(struct op_context *ctx, const struct loop_call *call, struct error *err);
/* True if texts are asked for. */
bool text_may_read(const struct op_context *ctx);
/* The file of the program that this address came from; "" if the system does not say. */
void text_program(const void *address, struct text *out);
/* The description's text, entry and constants. */
int text_describe(struct op_context *ctx, struct loop *loop, struct error *err);
/* The backend with which a doubtful text is compared: it calls the function itself. */
const struct backend *text_second(void);
/* From now on the loop runs by the function, because of `why`; `code` is its code, or OP_OK. OP_ERR_MEMORY. */
int text_give_up(struct op_context *ctx, struct loop *loop, int code, const char *why, struct error *err);
/* The name that loops have for a constant of the program: its own, or one made of it where generated code cannot take
 * that. False: it has none, or there is no memory. */
bool text_constant_name(const char *name, struct text *out);
void text_forget(struct op_context *ctx);

/* ---- safe.c: kernels that do other than their arguments say: each loop gets one warning, and runs by a reading of its arguments in
 * which what the kernel does is right ---- */

/* True if a device can run the text of a loop whose elements meet, in conflict-free colours; else `why` may say why not. */
bool safe_on_device(const struct loop *loop, struct text *why);
/* See struct loop_functions: with the text and other accesses, else without it. */
bool safe_reread(struct op_context *ctx, struct loop *loop, int code, struct error *err);

/* ---- compiled.c: loops whose kernels the program's own compiler compiled: there is no text to read or to prove ---- */

/* True if the program was compiled with this library's headers. */
bool compiled_is_of_this(const struct op2jit_compiled *compiled);
/* The kernel's parameters, as the program's compiler saw them, fit the arguments; else OP_ERR_KERNEL, OP_ERR_BACKEND. */
int compiled_check(const struct loop *loop, struct error *err);
/* Set the places of arguments in the frame, whose first slot is loop->places, and the form of the kernel that suits
 * them. Again when the mesh changed. */
int compiled_place(struct loop *loop, struct error *err);

#endif
