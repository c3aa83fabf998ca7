/* Tools that look on while a program runs: profilers, tracers, tests. A program adds one with op_add_tool; a shared
 * library that OP2_TOOLS names has one function,
 *
 *   const op_tool *op2jit_tool(void);
 *
 * which returns its table. Functions are called on the thread that calls the library, on each rank for itself. They
 * must not call the library. */
#ifndef OP2JIT_TOOLS_H
#define OP2JIT_TOOLS_H

#include <op2jit.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

enum { OP_TOOL_VERSION = 1 };

/* Kinds of events. */
enum op_event {
  OP_EVENT_LOOP,     /* a call of a loop; detail: its variant */
  OP_EVENT_TRIAL,    /* the same with a variant that is only tried */
  OP_EVENT_PLAN,     /* a plan is made or found */
  OP_EVENT_COMPILE,  /* code is compiled */
  OP_EVENT_LOAD,     /* code is taken from the cache */
  OP_EVENT_EXCHANGE, /* halos; detail: begin or end */
  OP_EVENT_WAIT,     /* for other ranks */
  OP_EVENT_COPY,     /* a dat between host and device; detail: to device or to host */
  OP_EVENT_CALL,     /* another call of the library that took 20 us or more */
  OP_EVENT_PROVE,    /* a kernel is proved, as a part of compiling */
  OP_EVENT_FILE      /* rows of a table in a file; detail: read or write */
};

typedef struct op_tool {
  int version; /* OP_TOOL_VERSION */
  void *user;  /* passed to each function */
  /* A loop begins. Between this and its event there may be events of exchanging and waiting. */
  void (*loop_begins)(void *user, const char *loop);
  /* Something is over: which loop or call, and what of it ("" if there is nothing to say), seconds, and the bytes that
   * had to be moved (0: not known). */
  void (*event)(void *user, enum op_event event, const char *name, const char *detail, double seconds,
                double bytes);
  /* op_exit. */
  void (*finish)(void *user);
} op_tool;

/* Add a tool, after op_init, until op_exit. Functions may be NULL. The table is copied. Errors: OP_ERR_ARGUMENT for
 * another version; OP_ERR_STATE before op_init. Local. */
#define op_add_tool op2jit_add_tool
int op_add_tool(const op_tool *tool);

/* For op_set_error_handler: as OP_ERRORS_RETURN, but loops wait all the same where that is faster (OP2_LAZY=auto). An
 * error of a loop that waited, such as no memory, comes from the call that runs it. It names the loop and its line;
 * loops that waited behind it do not run. For languages in which errors are exceptions. */
#define op_errors_later op2jit_errors_later
void op_errors_later(const op_error *error, void *user);

/* From inside a task of a graph (op2jit_tasks.h): the task failed for a reason that has no code of the library, such
 * as an exception. No more tasks begin, and op_graph_run returns OP_ERR_GRAPH with the task and this text, on all
 * ranks if they run the graph together. Errors: OP_ERR_GRAPH; OP_ERR_STATE behind the task. */
#define op_running_fail op2jit_running_fail
struct op2jit_running;
int op_running_fail(struct op2jit_running *running, const char *why);

/* The declarations of op2jit.h and op2jit_ragged.h, for the library's callers in other languages, in JSON: the kinds of the result
 * and the arguments of each call, the members of structs, the values of names. So they need not be written down a second
 * time. Local. */
#define op_declarations op2jit_declarations
const char *op_declarations(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
