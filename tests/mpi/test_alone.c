/* One rank fails alone, at one place after the other: no rank waits for ever, all get an error, and the program
 * goes on or ends well.
 *
 *   test-mpi-alone WHAT FIRST STEP MOST [NAME=VALUE...]
 *
 * WHAT is "memory": allocation number FIRST, FIRST + STEP ... of the last rank is refused, counted from op_init's
 * end; or a call of the driver of GPUs, which fails there with STANDIN_FAIL. MOST runs, or (0) until so many are
 * not asked for. What the ranks saw they compare over a comm of the test's own. With ALONE_SAY in the environment
 * the number of each run and its errors are shown. */
#include <unistd.h>

#include "../fault/memory.h"
#include "api/api.h"
#include "check.h"
#include "context/env.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/record.h"
#include "spread/parts/speeds.h"

enum { N = 6 };

static struct comm *own;

static bool is_victim(void) {
  return own->rank == own->size - 1;
}

/* ---- the program: a ring of cells, each face reads the next cell, which at the end is another rank's ---- */

OP_KERNEL_DEF(
    flow, void flow(const double *a, const double *b, double *c) { *c += *a - *b; })
OP_KERNEL_DEF(
    grow, void grow(double *x) { *x += 1; })
OP_KERNEL_DEF(
    sum, void sum(const double *x, double *s) { *s += *x; })
OP_KERNEL_DEF(
    gather, void gather(const double *c, double *a, double *b) {
      *a += *c;
      *b -= *c;
    })

/* A rank's words on its own kernels are no other's business. */
#define KERNEL(name) (OP_KERNEL_OF(name) ? OP_KERNEL_OF(name) : OP_KERNEL_OF(name))

static struct {
  op_set cells, faces;
  op_map ends;
  op_dat x, c, d;
  op_gbl total;
  int flows, grows;
  double expected; /* of total */
  char path[64];
} mesh;

static int declare_cells(void) {
  return (mesh.cells = op_decl_set(N, "cells")) ? OP_OK : op_last_error()->code;
}
static int declare_faces(void) {
  return (mesh.faces = op_decl_set(N, "faces")) ? OP_OK : op_last_error()->code;
}
static int declare_map(void) {
  int ends[2 * N];
  for (int i = 0; i < N; i++) {
    ends[2 * i] = own->rank * N + i;
    ends[2 * i + 1] = (own->rank * N + i + 1) % (N * own->size);
  }
  mesh.ends = op_decl_map(mesh.faces, mesh.cells, 2, ends, "ends");
  return mesh.ends ? OP_OK : op_last_error()->code;
}
static int declare_x(void) {
  double x[N];
  for (int i = 0; i < N; i++)
    x[i] = own->rank * N + i;
  return (mesh.x = op_decl_dat(mesh.cells, 1, "double", x, "x")) ? OP_OK : op_last_error()->code;
}
static int declare_c(void) {
  return (mesh.c = op_decl_dat(mesh.faces, 1, "double", NULL, "c")) ? OP_OK : op_last_error()->code;
}
static int declare_d(void) {
  return (mesh.d = op_decl_dat(mesh.cells, 1, "double", NULL, "d")) ? OP_OK : op_last_error()->code;
}
static int declare_constant(void) {
  static const double one = 1;
  return op_decl_const("one", 1, "double", &one);
}
static int share_out(void) {
  return op_partition("block", "", mesh.cells, NULL, NULL);
}

static int run_flow(void) {
  const int code =
      op_par_loop(KERNEL(flow), "flow", mesh.faces, op_arg_dat(mesh.x, 0, mesh.ends, 1, "double", OP_READ),
                  op_arg_dat(mesh.x, 1, mesh.ends, 1, "double", OP_READ),
                  op_arg_dat(mesh.c, -1, OP_ID, 1, "double", OP_INC));
  mesh.flows += code == OP_OK;
  return code;
}
static int run_grow(void) {
  const int code =
      op_par_loop(KERNEL(grow), "grow", mesh.cells, op_arg_dat(mesh.x, -1, OP_ID, 1, "double", OP_RW));
  mesh.grows += code == OP_OK;
  return code;
}
static int run_sum(void) {
  const int cells = N * own->size;
  double s = 0;
  const int code =
      op_par_loop(KERNEL(sum), "sum", mesh.cells, op_arg_dat(mesh.x, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_gbl(&s, 1, "double", OP_INC));
  check(s == (code ? 0 : cells * (cells - 1) / 2 + mesh.grows * cells));
  return code;
}
/* Its result comes late. */
static int declare_total(void) {
  const double zero = 0;
  mesh.total = op_decl_gbl(1, "double", NULL, "total");
  return mesh.total ? op_put_gbl(mesh.total, &zero) : op_last_error()->code;
}
static int run_late(void) {
  const int cells = N * own->size;
  const int code =
      op_par_loop(KERNEL(sum), "sum", mesh.cells, op_arg_dat(mesh.x, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_global(mesh.total, OP_INC));
  mesh.expected += code ? 0 : cells * (cells - 1) / 2 + mesh.grows * cells;
  return code;
}
static int look(void) {
  double total = -1;
  const int code = op_get_gbl(mesh.total, &total);
  check(total == (code ? -1 : mesh.expected));
  return code;
}
static int run_gather(void) {
  return op_par_loop(KERNEL(gather), "gather", mesh.faces,
                     op_arg_dat(mesh.c, -1, OP_ID, 1, "double", OP_READ),
                     op_arg_dat(mesh.d, 0, mesh.ends, 1, "double", OP_INC),
                     op_arg_dat(mesh.d, 1, mesh.ends, 1, "double", OP_INC));
}

static int fetch(void) {
  double c[N];
  const int code = op_fetch_data(mesh.c, c), last = N * own->size - 1;
  for (int i = 0; !code && i < N; i++)
    check(c[i] == mesh.flows * (own->rank * N + i == last ? last : -1));
  return code;
}
static int fetch_some(void) {
  double x = -1;
  const int code = op_fetch_data_idx(mesh.x, &x, 1, 1);
  check(x == (code ? -1 : own->rank * N + 1 + mesh.grows));
  return code;
}
static int put(void) {
  double x[N];
  for (int i = 0; i < N; i++)
    x[i] = own->rank * N + i + mesh.grows;
  return op_put_data(mesh.x, x);
}
static int print(void) {
  return op_print_dat_to_txtfile(mesh.x, mesh.path);
}
static int renumber(void) {
  return op_renumber(mesh.ends);
}
static int timing(void) {
  op_timing_output();
  return op_last_error()->code;
}
static int diagnostics(void) {
  op_diagnostic_output();
  return op_last_error()->code;
}
static int barrier(void) {
  op_barrier();
  return op_last_error()->code;
}

static int (*const steps[])(void) = {
    declare_cells, declare_faces, declare_map, declare_x,  declare_c, declare_d, declare_constant,
    declare_total, run_flow,      run_grow,    run_late,   run_flow,  run_sum,   run_gather,
    run_late,      run_late,      run_grow,    run_flow,   run_sum,   look,      run_gather,
    fetch,         fetch_some,    put,         share_out,  run_flow,  run_late,  run_sum,
    renumber,      run_flow,      run_late,    run_gather, print,     timing,    diagnostics,
    look,          barrier,       fetch,       run_late};
enum { STEPS = sizeof steps / sizeof *steps, NOWHERE = -1 };

/* ---- one run ---- */

struct seen {
  int step, code; /* where the first error was, and which */
  bool ended;     /* and then the ranks worked together no more */
};

static bool works_together(void) {
  struct error ignored = {0};
  const struct comm *comm = api_context()->comm;
  const int code = comm->table->told(api_context()->comm, &ignored);
  error_free(&ignored);
  return code == OP_OK;
}

/* The message of an error that all ranks get. */
static void check_error(int wanted) {
  char rank[32];
  snprintf(rank, sizeof rank, "rank %d: ", own->size - 1);
  check(op_last_error()->code == wanted);
  /* Compiled code is kept by all or none. */
  check(is_victim() || strstr(op_last_error()->message, rank) ||
        strstr(op_last_error()->message, "another rank has no memory"));
}

static void note(struct seen *seen, int step, bool ended) {
  if (seen->step == NOWHERE) {
    seen->step = step;
    seen->code = op_last_error()->code;
  }
  seen->ended |= ended;
}

static struct seen end_lost(struct seen *seen) {
  seen->ended = true;
  check(op_exit() == OP_ERR_STATE);
  return *seen;
}

static struct seen run(int wanted) {
  struct seen seen = {.step = NOWHERE};
  for (int s = 0; !seen.ended && s < STEPS; s++) {
    if (steps[s]() == OP_OK)
      continue;
    if (getenv("ALONE_SAY"))
      fprintf(stderr, "rank %d, step %d: %s\n", own->rank, s, op_last_error()->message);
    check_error(wanted);
    note(&seen, s, !works_together());
    /* An error that was agreed on leaves everything as it was; a mesh that could not be distributed is lost. */
    if (!seen.ended && api_context()->mesh->lost)
      return end_lost(&seen);
    if (!seen.ended && steps[s]() != OP_OK) {
      /* A GPU takes no more work. */
      check_error(OP_ERR_DEVICE);
      break;
    }
  }
  if (seen.ended) {
    /* Each further call says why. */
    op_barrier();
    check_error(wanted);
    check(op_exit() == OP_OK);
  } else if (op_exit() != OP_OK) {
    check_error(wanted);
    note(&seen, STEPS, true);
  }
  return seen;
}

/* ---- all runs ---- */

static long long largest(long long value) {
  struct error err = {0};
  own->where = "the test";
  check(own->table->reduce_all(own, &value, 1, COMM_LLONG, COMM_MAX, &err) == OP_OK);
  return value;
}

/* Either no rank had an error, or all had one: where it was agreed on, at the same call. */
static void compare(const struct seen *seen) {
  const bool ended = largest(seen->ended), failed = largest(seen->step != NOWHERE);
  check((seen->step != NOWHERE) == failed);
  check(seen->ended == ended);
  check(ended || largest(seen->step) == -largest(-seen->step));
}

static struct seen run_failing(const char *what, long at, int argc, char **argv) {
  const bool memory = strcmp(what, "memory") == 0;
  char fault[64];
  snprintf(fault, sizeof fault, "%s:%ld:700", what, at + 1);
  if (!memory && is_victim())
    setenv("STANDIN_FAIL", fault, 1);
  struct seen seen = {.step = NOWHERE};
  if (op_init(argc, argv, 0) == OP_OK) {
    memory_fail(memory && is_victim() ? FAIL_ONCE : FAIL_NEVER, at);
    mesh.flows = mesh.grows = 0;
    mesh.expected = 0;
    seen = run(memory ? OP_ERR_MEMORY : OP_ERR_DEVICE);
  } else {
    check(!memory);
    note(&seen, 0, false);
  }
  if (!memory)
    unsetenv("STANDIN_FAIL");
  return seen;
}

static void open_own(int argc, char **argv) {
  struct env env;
  struct text warnings = {0};
  struct error err = {0};
  check(env_read(&env, argc, argv, &warnings, &err) == OP_OK);
  const struct comm_options options = {
      .wanted = env_value(&env, ENV_MPI), .launcher = env.launcher, .plugins = env_value(&env, ENV_PLUGINS)};
  check(comm_open(&own, &options, &err) == OP_OK);
  text_free(&warnings);
  env_free(&env);
}

/* Ranks act by it: a rank that could not read it would go another way. */
static void check_speeds(int argc, char **argv) {
  check(op_init(argc, argv, 0) == OP_OK);
  const double expected = api_context()->comm->node_rank ? 1 : 5;
  memory_fail(FAIL_FROM, 0);
  const double given = speeds_given(api_context());
  memory_fail(FAIL_NEVER, 0);
  check(given == (getenv("OP2_SPEEDS") ? expected : 0));
  check(op_exit() == OP_OK);
}

int main(int argc, char **argv) {
  check(argc > 4);
  const char *what = argv[1];
  const long first = atol(argv[2]), step = atol(argv[3]), most = atol(argv[4]);
  int agreed = 0, ended = 0, unharmed = 0;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  open_own(argc, argv);
  snprintf(mesh.path, sizeof mesh.path, "/tmp/op2jit-alone-%d", (int)getpid());
  FILE *out = own->rank == 0 ? fdopen(dup(1), "w") : NULL;
  check(freopen("/dev/null", "w", stdout)); /* reports */
  check_speeds(argc, argv);
  for (long k = 0; !most || k < most; k++) {
    if (own->rank == 0 && getenv("ALONE_SAY"))
      fprintf(stderr, "number %ld\n", first + k * step);
    const struct seen seen = run_failing(what, first + k * step, argc, argv);
    const long refused = memory_refused();
    memory_fail(FAIL_NEVER, 0);
    compare(&seen);
    if (!most && !largest(seen.step != NOWHERE) && !largest(refused))
      break;
    agreed += seen.step != NOWHERE && !seen.ended;
    ended += seen.ended;
    unharmed += seen.step == NOWHERE;
  }
  unlink(mesh.path);
  if (out) {
    fprintf(out, "%s: failures that all agreed on %d, that ended the job for all %d, that did no harm %d\n",
            what, agreed, ended, unharmed);
    fclose(out);
  }
  check(agreed + ended > 0);
  comm_close(own);
  return 0;
}
