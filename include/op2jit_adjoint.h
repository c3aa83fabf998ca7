/* Derivatives of a program's loops: docs/adjoint.md says what they are for, and shows them.
 *
 * A tape records the calls that change data. From it the library works out how much each input counts for the
 * outputs: the program weighs its outputs (their bars), and gets the weights of its inputs. In the other direction,
 * tangents say by how much everything moves as the inputs move along one line. Only what loops do is differentiated,
 * in numbers of type double and float and in structs of them. What the program computes between loops is not; where
 * such a number could count, there is an error.
 *
 * The conventions of op2jit.h hold. All calls are collective. */
#ifndef OP2JIT_ADJOINT_H
#define OP2JIT_ADJOINT_H

#include <op2jit.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define op_tape_begin op2jit_tape_begin
#define op_tape_input_gbl op2jit_tape_input_gbl
#define op_tape_input_const op2jit_tape_input_const
#define op_tape_step op2jit_tape_step
#define op_tape_fixed_begin op2jit_tape_fixed_begin
#define op_tape_round op2jit_tape_round
#define op_tape_fixed_end op2jit_tape_fixed_end
#define op_tape_passive op2jit_tape_passive
#define op_tape_end op2jit_tape_end
#define op_tape_reverse op2jit_tape_reverse
#define op_tape_check op2jit_tape_check
#define op_tape_facts op2jit_tape_facts
#define op_tape_free op2jit_tape_free
#define op_tangent op2jit_tangent
#define op_dot op2jit_dot
#define op_bar op2jit_bar
#define op_dot_gbl op2jit_dot_gbl
#define op_bar_gbl op2jit_bar_gbl
#define op_dot_const op2jit_dot_const
#define op_bar_const op2jit_bar_const
#define op_freeze_kernel op2jit_freeze_kernel
#define op_kernel_adjoint op2jit_kernel_adjoint
#define op_tangent_loop_array op2jit_tangent_loop_array
#define op_adjoint_loop_array op2jit_adjoint_loop_array

/* ---- tapes ------------------------------------------------------------------------------------*/
typedef struct op2jit_tape *op_tape; /* what a program did, to be gone through backwards */

/* Record what changes data from here to op_tape_end: loops, op_put_data, op_put_gbl, op_release behind writing,
 * temporaries, op_update_const. Derivatives are wanted by `inputs`, dats with real numbers; op_tape_input_gbl adds
 * globals. `bytes`: the most for old values that are kept, 0 for no limit; where they do not suffice, steps are run
 * again. With ranks it is the limit of each rank, and the rank with the largest value counts for all. There is one
 * tape at a time: the one before must be freed, or reversed for the last time. What a tape needs stays as it is until
 * then: dats, sets and maps of its loops cannot be freed (OP_ERR_STATE), but temporaries and subsets can, and nothing
 * is renumbered or distributed anew. Errors: OP_ERR_STATE, also for an input that is lent or placed
 * (op2jit_bridge.h); OP_ERR_HANDLE; OP_ERR_TYPE for a dat without real numbers; OP_ERR_ARGUMENT; OP_ERR_BACKEND on
 * native, which compiles nothing. */
op_tape op_tape_begin(int ninputs, const op_dat inputs[], size_t bytes);
/* The global is an input too, from here on. Errors: OP_ERR_STATE while nothing is recorded; OP_ERR_HANDLE,
 * OP_ERR_TYPE. */
int op_tape_input_gbl(op_gbl gbl);
/* The constant (op_decl_const) is an input too, from here to its next op_update_const. Other constants have no derivative.
 * Errors: OP_ERR_STATE while nothing is recorded; OP_ERR_CONST for a name that is none; OP_ERR_TYPE for one that
 * is not of type double or float. */
int op_tape_input_const(const char *name);
/* A step of the program begins, such as a time step: between two of them a state can be kept from which steps are run
 * again. Errors: OP_ERR_STATE while nothing is recorded, and within a fixed point. */
int op_tape_step(void);
/* Rounds that converge, u = G(u, p), as of a solver: between these two calls each round begins with op_tape_round.
 * Only the last round keeps old values. op_tape_reverse goes back through it again and again, until the bars of all
 * that it changes differ from those of the time before by less than `tolerance` of the largest so far, and `most`
 * times at most (OP_ERR_STATE: they do not converge). The derivative is that of the converged u: it does not depend
 * on the first u, and is as exact as the rounds have converged. Each loop of a round that changes real numbers, and
 * each op_put_data, has to be in the last one too. Errors: OP_ERR_STATE while nothing is recorded, for fixed points
 * within one another, rounds outside, none inside, and a last round that has less; OP_ERR_ARGUMENT. */
int op_tape_fixed_begin(double tolerance, int most);
int op_tape_round(void);
int op_tape_fixed_end(void);
/* Values that the program itself computes and puts in from now on count as constant. Without this call a value must
 * not come in after one that depends on the inputs has left by op_get_gbl, op_fetch_data or op_acquire
 * (OP_ERR_STATE): it could depend on the one that left, and its derivative would be silently wrong. A reduction of
 * such values into a C variable is an error too; after this call it is allowed, and has no derivative. Errors:
 * OP_ERR_STATE. */
int op_tape_passive(void);
/* The record is whole. Errors: OP_ERR_STATE if it is not the tape that records, OP_ERR_HANDLE. */
int op_tape_end(op_tape tape);
/* From the bars of outputs to those of inputs: before the call the program puts into op_bar(y) by how much each value
 * of y counts at the end, after it op_bar(x) has by how much each value of the input x counts at the beginning. Bars
 * of what is only read are added to; all other bars are zero afterwards. Data have the values of before. `last`: what
 * is kept is freed on the way, and afterwards the tape can only be freed (op_tape_free). Loops whose kernel has no
 * derivative are all named before anything runs (OP_ERR_KERNEL). Errors: OP_ERR_STATE before op_tape_end, behind the
 * last time, and while the program has acquired a dat (op_acquire); OP_ERR_HANDLE; those of loops. */
int op_tape_reverse(op_tape tape, int last);
/* Checks that the derivatives are right. The program is run again, with tangents along a random line x of the inputs, and
 * reversed from random weights y of everything that depends on them. *difference is that of <y, J x> and <J^T y, x>,
 * over the norms: of the size of rounding errors, about 1e-15 for double. `seed` makes other random numbers. Data and
 * bars have the values of before. Errors: those of op_tape_reverse; OP_ERR_ARGUMENT. */
int op_tape_check(op_tape tape, int seed, double *difference);
/* Facts about a tape: its size, and its runs. Errors: OP_ERR_HANDLE, OP_ERR_ARGUMENT. Local. */
typedef struct op_tape_facts_t {
  long long steps, events; /* recorded */
  long long bytes, most;   /* of old values, now and at most */
  long long versions;      /* kept: old values of a dat or a global */
  long long copied;        /* of these, those that were copied; the others only changed their place */
  long long checkpoints;   /* states from which steps can be run again */
  long long again;         /* steps that ran again */
  long long reversed;      /* loops whose adjoint ran */
  long long rounds;        /* how often it went back through the last round of a fixed point */
  long long reserved[6];
} op_tape_facts_t;
int op_tape_facts(op_tape tape, op_tape_facts_t *facts);
/* Everything that it keeps is freed, or, without a budget, kept for the next tape; a tape that still records ends.
 * The handle becomes invalid. Errors: OP_ERR_HANDLE. */
int op_tape_free(op_tape tape);

/* ---- bars and dots ----------------------------------------------------------------------------*/

/* Loops carry tangents along (`on` not 0), or stop doing so. The program puts dots into op_dot(x), which are zero at
 * first; a loop that writes y then also leaves in op_dot(y) by how much y moves. Values that are put in from outside
 * have the dot zero. A tape that begins while they do records tangents as well. Then dots are outputs and may be
 * inputs, and it gives second derivatives: behind the bar 1 of the dot of a number, op_bar(x) is the Hessian times
 * op_dot(x). Errors: OP_ERR_STATE while there is a tape; OP_ERR_BACKEND on native; loops: OP_ERR_KERNEL for a kernel
 * without a derivative. */
int op_tangent(int on);
/* The companions: of the same set, dim and type, zeros at first, and the program's to fetch, put, and use in loops as
 * any other. They are freed with their dat. Errors (NULL): OP_ERR_HANDLE; OP_ERR_TYPE for what has no real numbers. */
op_dat op_dot(op_dat dat);
op_dat op_bar(op_dat dat);
op_gbl op_dot_gbl(op_gbl gbl);
op_gbl op_bar_gbl(op_gbl gbl);
/* The same of a constant: globals of its type and dim. OP_ERR_CONST for a name that is none, OP_ERR_TYPE. */
op_gbl op_dot_const(const char *name);
op_gbl op_bar_const(const char *name);

/* ---- kernels ----------------------------------------------------------------------------------*/

/* The results of this kernel count as constant, as for a limiter or a switch that is to stay as it is. It holds for
 * loops that are recorded, or run with tangents, from now on. Errors: OP_ERR_ARGUMENT. */
int op_freeze_kernel(const char *kernel_source, const char *kernel_name);
/* The adjoint of a kernel, by hand: in place of the one that the library would make, for what can be said better, such as
 * an iteration inside of a kernel. For each argument of the kernel, in their order, it has these parameters:
 *
 *   READ            the value, const; of real numbers then the bar, to be added to (INC)
 *   INC             the bar, const (READ)
 *   WRITE           the bar (RW): of what was written; it leaves zero
 *   RW              the value of before, const; the bar (RW): of the new value in, of the old one out
 *   WORK            memory to work in (WORK)
 *   whole numbers, op_arg_idx: READ and RW the value of before, const; others nothing
 *
 * Vectors, maps, columns, optional arguments and globals are as they are for the kernel. MIN, MAX and payloads are refused.
 * Errors: OP_ERR_ARGUMENT. */
int op_kernel_adjoint(const char *kernel_source, const char *kernel_name, const char *adjoint_source,
                      const char *adjoint_name);

/* The derivatives of one loop, without a tape; as op_par_loop_array. The tangent loop does what the loop does, and
 * what its dots do. The adjoint loop takes data as they are before the loop, and does what its bars do; nothing else
 * changes. No tape records them. Errors: those of loops; OP_ERR_KERNEL; OP_ERR_STATE for a tangent loop while there
 * is a tape, and for an adjoint loop while one records. */
int op_tangent_loop_array(const char *kernel_source, const char *kernel_name, op_set set, int nargs,
                          const op_arg args[], const char *file, int line);
int op_adjoint_loop_array(const char *kernel_source, const char *kernel_name, op_set set, int nargs,
                          const op_arg args[], const char *file, int line);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
