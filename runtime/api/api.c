/* Life and errors, and the one default context. */
#include "api/api.h"
#include "api/fortran/fortran.h"
#include "api/life.h"
#include "backend/backend.h"
#include "base/clock.h"
#include "base/log.h"
#include "checkpoint/tell.h"
#include "context/env.h"
#include "context/trace.h"
#include "loop/chain/queue.h"
#include "mesh/data.h"
#include "mesh/handles.h"
#include "mesh/mesh.h"
#include "mesh/subset.h"
#include "op2jit_tools.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/launch.h"
#include "report/report.h"
#include "spread/data.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
  struct op_context *context;
  struct comm *comm; /* from op_init until the end of op_exit: errors of both are told to the other ranks */
  int rank, ranks;   /* kept over op_exit; ranks 0: there was no op_init */
  struct handles *handles; /* kept over op_exit: old handles stay recognisable */
  const char *call;        /* that is under way and is no loop, and since when: for the trace */
  double entered, flushed; /* and how long loops took that waited for it */
  atomic_bool
      busy; /* acquire when it is taken, release when it is given: each call has what the ones before it left */
  bool was_open;
  pid_t process;                    /* that called op_init: what is said at its end its children do not say */
  char lost[200];                   /* what is lost without op_exit; empty: nothing */
  op_error_handler *handler, *held; /* held: that is set again when errors come back no more */
  void *user;
  struct error error;
  op_error last;
} the;

/* The address of last_error in the thread that called last: its loops are what waits. relaxed, as a look at `busy`: a thread
 * asks whether it is itself, and has its own newest values; another thread that calls meanwhile is refused when it enters. */
static _Atomic(const void *) looper;

static const op_error no_error = {OP_OK, "OP_OK", ""};
static const op_error busy_error = {OP_ERR_BUSY, "OP_ERR_BUSY",
                                    "the library is running another call, in a second thread or around this "
                                    "kernel or task; call it from one thread at a time, "
                                    "and not from inside a kernel or a task"};
/* Each thread sees its own last call: one that was refused must not touch what the other one is writing. */
static _Thread_local const op_error *last_error = &no_error;

/* ---- errors ---- */

void op2jit_errors_return(const op_error *error, void *user) {
  (void)error, (void)user;
}

void op2jit_errors_later(const op_error *error, void *user) {
  (void)error, (void)user;
}

/* Errors of calls go to the program, which is to get each from its own call. */
static bool wants_each(op_error_handler *handler) {
  return handler && handler != op2jit_errors_later;
}

/* Whatever signals the launcher sends. */
static void pass_time(int seconds, long milliseconds) {
  struct timespec rest = {.tv_sec = seconds, .tv_nsec = milliseconds * 1000000};
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
    continue;
}

/* One rank tells the user, and ends the job meanwhile. An error that all have by themselves, as most are, is rank
 * 0's: the others give it time. A call that was refused may be of a second thread: then the.error is the first
 * one's. */
static void wait_for_teller(const struct comm *comm, enum error_teller teller) {
  if (teller == ERROR_ELSEWHERE) {
    pass_time(30, 0);
    _exit(EXIT_FAILURE);
  }
  if (teller == ERROR_MINE && comm->rank > 0)
    pass_time(2, 0);
}

static void errors_fatal(const op_error *error) {
  struct comm *comm = the.comm && !comm_alone(the.comm) ? the.comm : NULL;
  const enum error_teller teller = error == &busy_error ? ERROR_MINE : the.error.teller;
  char rank[32] = "";
  fflush(stdout);
  if (comm)
    wait_for_teller(comm, teller);
  if (the.context && error != &busy_error)
    context_print_findings(the.context);
  if (comm && teller == ERROR_MINE)
    snprintf(rank, sizeof rank, "rank %d: ", comm->rank);
  fprintf(stderr, "op2jit: error: %s%s: %s\n", rank, error->name, error->message);
  if (comm) {
    /* MPICH's launcher forgets what it has not read yet of our messages when the job ends. */
    pass_time(0, 500);
    comm->table->abort(comm, EXIT_FAILURE);
  }
  the.process = 0;
  exit(EXIT_FAILURE);
}

static void tell_handler(const op_error *error) {
  if (!the.handler)
    errors_fatal(error);
  else
    the.handler(error, the.user);
}

/* A program that handles errors gets each from its own call. Loops that wait were called before: they run now, and
 * their errors end the program. */
static void change_handler(op_error_handler *handler) {
  api_hold("op_set_error_handler", HOLD_HANDLER, wants_each(handler));
  the.handler = handler;
}

void op2jit_set_error_handler(op_error_handler *handler, void *user) {
  change_handler(handler);
  the.user = user;
}

void op2jit_f_errors(int back) {
  if (back)
    the.held = the.handler;
  change_handler(back ? op2jit_errors_return : the.held);
}

const op_error *op2jit_last_error(void) {
  return last_error;
}

struct error *api_error(void) {
  return &the.error;
}

/* ---- entering and leaving ---- */

static bool enter(void) {
  if (atomic_exchange_explicit(&the.busy, true, memory_order_acquire)) {
    last_error = &busy_error;
    tell_handler(&busy_error);
    return false;
  }
  last_error = &no_error;
  atomic_store_explicit(&looper, &last_error, memory_order_relaxed);
  if (the.error.code)
    error_clear(&the.error);
  return true;
}

/* A declaration that failed returned NULL: a later call with NULL tells why. */
static void note_declaration(void) {
  static const struct {
    const char *call; /* what its name begins with */
    enum handle_kind kind;
  } declarations[] = {{"op_decl_set", HANDLE_SET},       {"op_decl_subset", HANDLE_SET},
                      {"op_decl_map", HANDLE_MAP},       {"op_decl_dat", HANDLE_DAT},
                      {"op_decl_gbl", HANDLE_GBL},       {"op_decl_graph", HANDLE_GRAPH},
                      {"op_tape_begin", HANDLE_TAPE},    {"op_kernel_file", HANDLE_KERNEL},
                      {"op_kernel_text", HANDLE_KERNEL}, {"OP_KERNEL_FILE", HANDLE_KERNEL}};
  const char *call = the.context ? the.context->agreement->where : NULL;
  for (size_t i = 0; call && i < sizeof declarations / sizeof *declarations; i++)
    if (strncmp(call, declarations[i].call, strlen(declarations[i].call)) == 0)
      handle_failed(the.handles, declarations[i].kind, error_message(&the.error));
}

int api_leave_local(int code) {
  if (!code) {
    last_error = &no_error; /* what a kernel or a task called meanwhile, on this thread, was refused */
    atomic_store_explicit(&the.busy, false, memory_order_release);
    return OP_OK;
  }
  if (the.context)
    progress_end(the.context->log->progress);
  the.last = (op_error){code, error_kind(code)->name, error_message(&the.error)};
  last_error = &the.last;
  note_declaration();
  /* Before the handler runs, because it may leave by longjmp or an exception. */
  atomic_store_explicit(&the.busy, false, memory_order_release);
  tell_handler(&the.last);
  return code;
}

/* Errors that were not agreed on are unknown to the other ranks, which would wait for this one. If errors end the job
 * it ends for them too. */
static void tell_ranks(void) {
  if (the.comm && !comm_alone(the.comm) && the.handler && the.error.teller == ERROR_MINE)
    the.comm->table->tell(the.comm, &the.error);
}

/* Update what programs of OP2 see. */
static void show(bool declared) {
  struct op_context *ctx = the.context;
  if (ctx && ctx->compiled && (declared || ctx->visible_epoch != ctx->mesh->epoch))
    visible_update(ctx);
}

/* Short ones would only hide the others. */
static void trace_call(void) {
  const double shortest = 20e-6;
  const double seconds = the.context && the.call ? clock_seconds() - the.entered : 0;
  if (the.context && the.call)
    trace_called(the.context->trace, the.call, seconds - the.flushed);
  if (seconds >= shortest)
    trace_until_now(the.context->trace, TRACE_CALL, the.call, NULL, the.entered, 0);
  the.call = NULL;
}

int api_leave(int code) {
  show(false);
  trace_call();
  if (code)
    tell_ranks();
  return api_leave_local(code);
}

void *api_leave_pointer(void *result) {
  show(true);
  api_leave(result ? OP_OK : the.error.code ? the.error.code : OP_ERR_INTERNAL);
  return result;
}

/* Some devices are a thread's. */
static void enter_backends(struct op_context *ctx) {
  const struct backend *const both[] = {ctx->backend, ctx->shadow};
  for (int i = 0; i < 2; i++)
    if (both[i] && both[i]->enter)
      both[i]->enter(ctx);
}

struct op_context *api_enter(const char *call, enum queued queued) {
  if (!enter())
    return NULL;
  if (the.context) {
    the.context->agreement->where = call;
    enter_backends(the.context);
    if (queued == FLUSH) {
      the.call = call;
      the.entered = clock_seconds();
      ctx_flush(the.context, &the.error);
      the.flushed = clock_seconds() - the.entered;
    }
    return the.context;
  }
  api_leave(error_set(&the.error, OP_ERR_STATE,
                      the.was_open ? "%s was called after op_exit; call op_init again first"
                                   : "%s was called before op_init; call op_init first",
                      call));
  return NULL;
}

/* Not from inside of a kernel or a task. */
static bool is_looper(void) {
  return atomic_load_explicit(&looper, memory_order_relaxed) == &last_error &&
         !atomic_load_explicit(&the.busy, memory_order_relaxed);
}

static struct watch *get_watch(void) {
  struct queue *queue = the.context ? the.context->queue : NULL;
  return queue && queue->watch.on ? &queue->watch : NULL;
}

static void run_what_waits(const char *call) {
  if (the.context->queue->count && api_enter(call, FLUSH))
    api_leave(the.error.code);
}

/* With ranks, calls of one rank alone end no wait. */
void api_clock(const char *call) {
  if (!is_looper() || !get_watch() || get_watch()->together)
    return;
  run_what_waits(call);
  if (get_watch())
    watch_mark(get_watch());
}

void api_hold(const char *call, int why, bool held) {
  if (!get_watch() || atomic_load_explicit(&the.busy, memory_order_relaxed))
    return;
  if (!get_watch()->together)
    run_what_waits(call);
  if (get_watch())
    watch_hold(get_watch(), (enum watch_hold)why, held);
}

int api_refused(void) {
  return last_error->code;
}

bool api_was_busy(void) {
  return last_error == &busy_error;
}

struct op_context *api_context(void) {
  return the.context;
}

/* The object of a handle, which may be a subset. */
static void *find_object(struct op_context *ctx, const void *handle, enum handle_kind kind, const char *call,
                         const char *what) {
  static const char *const makers[] = {
      [HANDLE_SET] = "op_decl_set",   [HANDLE_MAP] = "op_decl_map",     [HANDLE_DAT] = "op_decl_dat",
      [HANDLE_GBL] = "op_decl_gbl",   [HANDLE_GRAPH] = "op_decl_graph", [HANDLE_TAPE] = "op_tape_begin",
      [HANDLE_MATRIX] = "op_decl_mat"};
  if (the.error.code)
    return NULL;
  void *object = handle_object(ctx->handles, handle, kind);
  if (!object)
    error_set(&the.error, OP_ERR_HANDLE, "%s: %s is %s; expected what %s returned since op_init", call, what,
              handle_diagnosis(ctx->handles, handle, kind), makers[kind]);
  return object && kind == HANDLE_DAT && lend_check(object, call, &the.error) ? NULL : object;
}

void *api_object(struct op_context *ctx, const void *handle, enum handle_kind kind, const char *call,
                 const char *what) {
  void *object = find_object(ctx, handle, kind, call, what);
  const struct set *set = kind == HANDLE_SET ? object : NULL;
  if (!set || !set->sub)
    return object;
  error_set(&the.error, OP_ERR_HANDLE,
            "%s: %s is the subset \"%s\", which only loops run over; pass set \"%s\", of which it is", call,
            what, set->name, set->sub->parent->name);
  return NULL;
}

struct set *api_set(struct op_context *ctx, const void *handle, const char *call) {
  return find_object(ctx, handle, HANDLE_SET, call, "the set");
}

/* ---- life ---- */

/* Made at op_init, so that at the end nothing has to be asked that another thread may be using. */
static void note_lost(void) {
  const char *report = env_value(the.context->env, ENV_TIMING),
             *check = env_value(the.context->env, ENV_CHECK);
  const bool lists = strncmp(check, "list", 4) == 0;
  the.lost[0] = '\0';
  if ((*report || lists) && the.rank == 0 && log_wants(the.context->log, LOG_WARN, "exit"))
    snprintf(the.lost, sizeof the.lost,
             "op2jit: warning: the program ended without op_exit, which writes the %s of %s=%.80s\n",
             *report ? "report" : "list", env_row(*report ? ENV_TIMING : ENV_CHECK)->name,
             *report ? report : check);
}

/* At the end of the process, or where the library is unloaded. Who ends after an error knows why. */
__attribute__((destructor)) static void tell_forgotten_exit(void) {
  if (the.context && !the.error.code && the.process == getpid() && *the.lost &&
      write(STDERR_FILENO, the.lost, strlen(the.lost)) < 0)
    return; /* there is nobody left to tell */
}

void api_heed_handler(void) {
  if (the.context->queue)
    watch_hold(&the.context->queue->watch, HOLD_HANDLER, wants_each(the.handler));
}

static int open_context(int argc, char **argv, int diags, const struct comm_given *given, bool compiled) {
  if (the.context)
    return error_set(&the.error, OP_ERR_STATE,
                     "op_init was called twice; call op_exit before the next op_init");
  if (!the.handles && !(the.handles = handles_new()))
    return error_memory(&the.error, "the table of handles", sizeof(void *));
  comm_close(the.comm); /* of an op_exit whose error handler did not come back */
  struct context_start start = {
      .argc = argc, .argv = argv, .diags = diags, .compiled = compiled, .given = given};
  int code = context_open(&the.context, the.handles, &start, &the.error);
  the.comm = start.comm;
  the.rank = start.comm ? start.comm->rank : 0;
  the.ranks = start.comm ? start.comm->size : 1;
  the.was_open |= !code;
  if (!code) {
    api_heed_handler();
    the.process = getpid();
    note_lost();
  }
  return code;
}

static void forget_comm(void) {
  comm_close(the.comm);
  the.comm = NULL;
}

int api_init(int argc, char **argv, int diags, const struct comm_given *given, bool compiled) {
  if (!enter())
    return api_refused();
  const int code = api_leave(open_context(argc, argv, diags, given, compiled));
  if (!the.context)
    forget_comm();
  return code;
}

int op2jit_init(int argc, char **argv, int diags) {
  return api_init(argc, argv, diags, NULL, false);
}

int op2jit_init_comm(int argc, char **argv, int diags, int fortran_comm, const char *library) {
  const struct comm_given given = {.fortran = fortran_comm, .library = library};
  return api_init(argc, argv, diags, &given, false);
}

int api_rank(void) {
  return the.rank;
}

int api_ranks(void) {
  return the.ranks > 0 ? the.ranks : 1;
}

/* The part of op_exit that ranks do together. */
static int end_together(struct op_context *ctx, struct error *err) {
  late_end(ctx, err);
  int code = agree_on_call(ctx, err->code, err, "op_exit");
  if (!code)
    code = lend_all(ctx, err);
  if (!code)
    code = checkpoint_end(ctx, err);
  if (!code)
    code = context_report(ctx, err);
  speeds_keep(ctx);
  return code;
}

int op2jit_exit(void) {
  struct op_context *ctx = api_enter("op_exit", FLUSH);
  if (!ctx)
    return api_refused();
  int code = OP_OK;
  bool listed = false;
  /* If a rank failed alone there is nothing left to agree on or to report, and the user knows. */
  if (the.comm->table->told(the.comm, &the.error))
    error_clear(&the.error);
  else if (!(code = end_together(ctx, &the.error))) {
    code = context_findings(ctx, &the.error);
    listed = code == OP_ERR_VIOLATION;
  }
  the.context = NULL;
  context_close(ctx);
  /* The program has done its work, and the list is out: it ends by itself. */
  op_error_handler *const handler = the.handler;
  if (listed && !handler)
    the.handler = op2jit_errors_return;
  code = api_leave(code);
  if (listed && !handler)
    the.handler = NULL;
  forget_comm();
  return code;
}
