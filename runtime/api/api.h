/* The first and last part of every public call. Only these files know the default context. */
#ifndef OP2JIT_API_H
#define OP2JIT_API_H

#include "context/context.h"
#include "mesh/handles.h"
#include "op2jit.h"

/* The effect of a call on queued loops. FLUSH: they run first, since the call lets the user see their results (data,
 * files, reports) or changes what they need (constants, sets, maps, numbers, owners, memory). KEEP: a new dat, which no
 * queued loop knows; sizes, kernels, counters and clocks, which loops do not change; a loop itself. */
enum queued { KEEP, FLUSH };

struct comm_given;
/* op_init of any kind. `compiled`: see context.h. */
int api_init(int argc, char **argv, int diags, const struct comm_given *given, bool compiled);

/* Enter the library: one thread at a time, between op_init and op_exit. NULL: refused, reported, and api_refused()
 * is the status to return. A flush that failed is the call's error, as what fails next would be: see api_error. */
struct op_context *api_enter(const char *call, enum queued queued);
int api_refused(void);
/* This thread's last call was refused because another was under way. */
bool api_was_busy(void);
/* The call's error; its code is how the call went so far. */
struct error *api_error(void);
/* Every collective call begins with an agreement of the ranks: on the call, how it went so far, and the facts that
 * the format and its arguments say. `ctx` is the caller's. */
#define api_agree(...) agree_on_call(ctx, api_error()->code, api_error(), __VA_ARGS__)
/* The program looks at a clock: what waits by itself (OP2_LAZY=auto) runs first, if it is this thread's. */
void api_clock(const char *call);
/* From now on nothing waits by itself, for that reason (enum watch_hold), or may again; what waits runs first. */
void api_hold(const char *call, int why, bool held);
/* There is a context in which loops may wait: none does by itself if the program has a handler of its own. */
void api_heed_handler(void);
/* Leave: tells the error handler if `code` is not 0; returns `code`. If errors are returned, an error that ranks
 * did not agree on is told to the others, and the ranks work together no more. */
int api_leave(int code);
/* The same for calls that no other rank takes part in, or in which none waits. */
int api_leave_local(int code);
/* The same for calls that return a handle or pointer: `result` NULL means that the error is set. */
void *api_leave_pointer(void *result);
/* The context without entering, NULL if there is none: for local calls that cannot fail. */
struct op_context *api_context(void);

struct partition_call;
/* declare.c: the objects of an op_partition, whose library and method are in `call`; agreed. */
int api_partition_call(struct op_context *ctx, op_set prime, op_map map, op_dat coords,
                       struct partition_call *call);

/* Numbers of this process; 0 before op_init, and after op_exit as before it. */
int api_rank(void);
int api_ranks(void);

/* The object of a handle, NULL with the error set to OP_ERR_HANDLE, also for a subset, to OP_ERR_STATE for a dat that
 * the program has acquired, or if the call has failed already. `call` and `what` are for the message. */
void *api_object(struct op_context *ctx, const void *handle, enum handle_kind kind, const char *call,
                 const char *what);
/* The same for calls that take subsets too. */
struct set *api_set(struct op_context *ctx, const void *handle, const char *call);
/* The program has freed the subset (free.c). */
void api_free_subset(struct op_context *ctx, struct set *set);
/* The whole of `call`, which asks for the elements of a set that all ranks have together; -1: it failed. */
long long api_global_size(const void *handle, const char *call);

#endif
