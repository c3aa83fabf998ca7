/* Every allocation is made to fail in turn over a program that makes every call of one process. The call says
 * OP_ERR_MEMORY, made again it works, the answers are right, and nothing is left behind. Then all allocations from
 * the n-th on fail: nothing crashes, and op_exit ends it.
 *
 *   fault [STEP/FIRST] [NAME=VALUE...]: each STEP-th allocation only, from FIRST on */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "op2jit.h"
#include "op2jit_tasks.h"

enum { CELLS = 40, EDGES = 60 };

OP_KERNEL_DEF(
    spread, void spread(const double *x[2], double *a, double *b, const int *n, double *scratch) {
      scratch[0] = x[0][0] + x[1][0];
      *a += scratch[0];
      *b -= *n;
    })
/* A native kernel reads the program's own variable. */
static double fault_scale = 2;
OP_KERNEL_DEF(
    reduce, void reduce(const float *x, const int *n, double *sum, float *high, int *where, const int *there,
                        float *more) {
      *sum += x[0] * fault_scale;
      if (x[1] > *high) {
        *high = x[1];
        *where = *n;
      }
      if (*there)
        more[0] += 1;
    })

OP_KERNEL_DEF(
    deal, void deal(int n, const int **number, double **own, double **to) {
      for (int k = 0; k < n; k++) {
        OP_ROW(own, k)[0] += *OP_ROW(number, k);
        OP_ROW(own, k)[1] += k;
        *OP_ROW(to, k) += n;
      }
    })

/* ---- a call, and the same once more if there was no memory ------------------------------------*/

static struct {
  bool failed;     /* a wrong answer or a wrong error */
  bool persistent; /* memory does not come back: calls may fail */
  bool stopped;    /* nothing after this can work */
  int refused;     /* calls that said OP_ERR_MEMORY */
} run;

static void wrong(const char *what) {
  fprintf(stderr, "fault: %s (allocation refused: %ld of %ld)\n", what, memory_refused(), memory_asked());
  run.failed = true;
  run.stopped = true;
}

/* After a call: true if it is to be made again. */
static bool again(const char *call, int attempt) {
  const op_error *error = op_last_error();
  if (error->code == OP_OK)
    return false;
  if (error->code != OP_ERR_MEMORY || !error->message[0] || memory_refused() == 0) {
    fprintf(stderr, "%s: %s: %s\n", call, error->name, error->message);
    wrong("a call failed, but not for want of memory");
    return false;
  }
  run.refused++;
  if (run.persistent || attempt > 0) {
    if (!run.persistent)
      wrong("the call fails again although there is memory");
    run.stopped = true;
    return false;
  }
  return true;
}

#define CALL(call)                                                                                           \
  do {                                                                                                       \
    for (int attempt_ = 0; !run.stopped; attempt_++) {                                                       \
      (void)(call);                                                                                          \
      if (!again(#call, attempt_))                                                                           \
        break;                                                                                               \
    }                                                                                                        \
  } while (0)

/* A call that is wrong: its own error, or that of memory if there was none; a message in any case. */
static void judge_wrong(int code, const char *call, long refused_before) {
  const op_error *error = op_last_error();
  bool no_memory = error->code == OP_ERR_MEMORY && memory_refused() > refused_before;
  if ((error->code == code || no_memory) && error->message[0])
    return;
  fprintf(stderr, "%s: %s\n", call, error->name);
  wrong("a wrong call has another error");
}

#define WRONG(code, call)                                                                                    \
  do {                                                                                                       \
    if (!run.stopped) {                                                                                      \
      long refused_ = memory_refused();                                                                      \
      (void)(call);                                                                                          \
      judge_wrong(code, #call, refused_);                                                                    \
    }                                                                                                        \
  } while (0)

/* ---- the program ------------------------------------------------------------------------------*/

static char folder[] = "/tmp/op2jit-fault-XXXXXX", kernel_path[64], print_path[64];

struct program {
  op_set cells, edges;
  op_map ends, wide;
  op_dat x, y, flow, count, temporary;
  op_map ragged;
  op_dat own, to;
};

static void declare(struct program *p) {
  int table[EDGES * 2];
  long long wide[EDGES];
  double x[CELLS];
  float flow[EDGES * 2];
  for (int e = 0; e < EDGES; e++) {
    table[2 * e] = e % CELLS;
    table[2 * e + 1] = (7 * e + 1) % CELLS;
    wide[e] = (3 * e) % CELLS;
    flow[2 * e] = 1;
    flow[2 * e + 1] = (float)(e % 50);
  }
  for (int c = 0; c < CELLS; c++)
    x[c] = c;
  CALL(p->cells = op_decl_set(CELLS, "cells"));
  CALL(p->edges = op_decl_set(EDGES, "edges"));
  CALL(p->ends = op_decl_map(p->edges, p->cells, 2, table, "ends"));
  CALL(p->wide = op_decl_map_long(p->edges, p->cells, 1, wide, "wide"));
  CALL(p->x = op_decl_dat(p->cells, 1, "double", x, "x"));
  CALL(p->y = op_decl_dat(p->cells, 1, "double:soa", NULL, "y"));
  CALL(p->flow = op_decl_dat(p->edges, 2, "float:soa", flow, "flow"));
  CALL(p->count = op_decl_dat(p->edges, 1, "float", NULL, "count"));
  CALL(p->temporary = op_decl_dat_temp(p->cells, 3, "long long", NULL, "temporary"));
  CALL(op_decl_const("fault_scale", 1, "double", &fault_scale));
  CALL(op_update_const("fault_scale", &fault_scale));
  WRONG(OP_ERR_SIZE, op_decl_set(-1, "wrong"));
  WRONG(OP_ERR_TYPE, op_decl_dat(p->cells, 1, "wrong", NULL, "wrong"));
  WRONG(OP_ERR_CONST, op_decl_const("fault_scale", 2, "double", x));
}

static void spread_loop(const struct program *p) {
  const char *text = NULL;
  CALL(text = OP_KERNEL_OF(spread));
  CALL(op_par_loop(text, "spread", p->edges, op_arg_dat(p->x, -2, p->ends, 1, "double", OP_READ),
                   op_arg_dat(p->y, 0, p->wide, 1, "double", OP_INC),
                   op_arg_dat(p->y, 1, p->ends, 1, "double", OP_INC), op_arg_idx(0, p->wide),
                   op_arg_gbl(NULL, 1, "double", OP_WORK)));
}

/* Results are as they were after each failure, so the loop can be made again. */
static void reduce_over(const struct program *p, op_set set, int count, int there) {
  double sum = 1;
  float high = -1;
  int where = -1;
  const char *text = NULL;
  CALL(text = OP_KERNEL_OF(reduce));
  CALL(op_par_loop(text, "reduce", set, op_arg_dat(p->flow, -1, OP_ID, 2, "float", OP_READ),
                   op_arg_idx(-1, OP_ID), op_arg_gbl(&sum, 1, "double", OP_INC),
                   op_arg_gbl(&high, 1, "float", OP_MAX), op_arg_info(&where, 1, "int", 4),
                   op_arg_gbl(&there, 1, "int", OP_READ),
                   op_opt_arg_dat(there, p->count, -1, OP_ID, 1, "float", OP_INC)));
  if (!run.stopped && (sum != 1 + 2 * count || high != 49 || where != 49))
    wrong("a reduction has another result");
}

static void reduce_loop(const struct program *p, int there) {
  reduce_over(p, p->edges, EDGES, there);
}

/* Twice the same subset, with element 49 in it. */
static void subset_loops(const struct program *p) {
  for (int i = 0; i < 2; i++) {
    op_set some = NULL;
    CALL(some = op_decl_subset_range(p->edges, 5, 50, "some"));
    reduce_over(p, some, 50, i);
    CALL(op_free_set(some));
  }
  WRONG(OP_ERR_RANGE, op_decl_subset_range(p->edges, EDGES, 1, "wrong"));
}

/* Edge e has e % 4 cells. */
enum { ENTRIES = EDGES / 4 * 6 };

static void declare_ragged(struct program *p) {
  long long offsets[EDGES + 1] = {0};
  int targets[ENTRIES];
  for (int e = 0; e < EDGES; e++) {
    offsets[e + 1] = offsets[e] + e % 4;
    for (long long i = offsets[e]; i < offsets[e + 1]; i++)
      targets[i] = (int)((3 * e + i) % CELLS);
  }
  CALL(p->ragged = op_decl_map_ragged(p->edges, p->cells, offsets, targets, "ragged"));
  CALL(p->own = op_decl_dat(op_map_entries(p->ragged), 2, "double", NULL, "own"));
  CALL(p->to = op_decl_dat(p->cells, 1, "double", NULL, "to"));
}

static void ragged_loop(const struct program *p, op_set set) {
  const char *text = NULL;
  CALL(text = OP_KERNEL_OF(deal));
  CALL(op_par_loop(text, "deal", set, op_arg_idx(OP_ALL, p->ragged),
                   op_arg_dat(p->own, OP_ALL, p->ragged, 2, "double", OP_INC),
                   op_arg_dat(p->to, OP_ALL, p->ragged, 1, "double", OP_INC)));
}

/* Of the six entries of four edges the first is of the second edge. */
static int edge_of(int entry) {
  return entry / 6 * 4 + (entry % 6 == 0 ? 1 : entry % 6 < 3 ? 2 : 3);
}

/* Over all edges, over the odd ones, and over these in another order. */
static void ragged_loops(struct program *p) {
  double own[2 * ENTRIES], to[CELLS], sum = 0;
  int odd[EDGES / 2];
  op_set some = NULL;
  for (int i = 0; i < EDGES / 2; i++)
    odd[i] = 2 * i + 1;
  declare_ragged(p);
  ragged_loop(p, p->edges);
  CALL(some = op_decl_subset(p->edges, EDGES / 2, odd, "odd"));
  ragged_loop(p, some);
  CALL(op_renumber(p->ragged));
  ragged_loop(p, some);
  CALL(op_fetch_data(p->own, own));
  CALL(op_fetch_data(p->to, to));
  for (int i = 0; !run.stopped && i < CELLS; i++)
    sum += to[i];
  /* An edge of three is odd, one of two is not. */
  for (int i = 0; !run.stopped && i < ENTRIES; i++)
    if (own[2 * i] != (i % 6 == 1 || i % 6 == 2 ? 1 : 3) * ((3 * edge_of(i) + i) % CELLS) ||
        own[2 * i + 1] != (const int[]){0, 0, 1, 0, 3, 6}[i % 6])
      wrong("a dat on entries has another value");
  if (!run.stopped && sum != EDGES / 4 * (3 * 1 + 4 + 3 * 9))
    wrong("a sum through a ragged map has another result");
  CALL(op_free_set(some));
  CALL(op_free_dat(p->own));
  CALL(op_free_map(p->ragged));
}

static void loops(struct program *p) {
  spread_loop(p);
  reduce_loop(p, 1);
  reduce_loop(p, 0);
  CALL(op_renumber(p->ends));
  subset_loops(p);
  ragged_loops(p);
  spread_loop(p);
  reduce_loop(p, 1);
  CALL(op_renumber_by("hilbert", p->ends, p->x));
  spread_loop(p);
  WRONG(OP_ERR_METHOD, op_renumber_by("wrong", p->ends, NULL));
  WRONG(OP_ERR_KERNEL, op_par_loop("void wrong(int *x) {}", "wrong", p->cells,
                                   op_arg_dat(p->x, -1, OP_ID, 1, "double", OP_READ)));
  CALL(op_plan_check(2));
}

static void nothing(op_running *running, void *data) {
  (void)running, (void)data;
}

static void adds(op_running *running, void *data) {
  op_running_add(running, *(const op_task_type *)data, data, sizeof(op_task_type), 1, 0, NULL);
}

/* A result of all ranks, though there is one: they bring parts together. */
static void graph_of_ranks(int form) {
  op_graph graph = NULL;
  op_task_type type = 0;
  op_resource around = 0, parts[3] = {0};
  op_task tasks[12] = {0};
  op_graph_facts_t facts;
  const op_graph_network_t network = {.ranks = 3, .threads = 2, .latency = 1e-6, .bytes_per_second = 1e9};
  CALL(graph = op_decl_graph("ranks"));
  CALL(op_graph_ranks(graph, form));
  CALL(type = op_graph_type(graph, "nothing", nothing));
  CALL(around = op_graph_resource(graph, 0, "around"));
  for (int r = 0; r < 3; r++) {
    CALL(parts[r] = op_graph_resource(graph, around, r ? r > 1 ? "other" : "part" : NULL));
    CALL(op_graph_memory(graph, parts[r], NULL, 64));
    CALL(op_graph_owner(graph, parts[r], r));
  }
  for (int t = 0; t < 12; t++) {
    CALL(tasks[t] = op_graph_task(graph, type, &type, sizeof type, 1));
    CALL(op_graph_lock(graph, tasks[t], parts[t % 3]));
    CALL(op_graph_use(graph, tasks[t], parts[(t + 1) % 3]));
    if (form == OP_GRAPH_PARTS)
      CALL(op_graph_key(graph, tasks[t], t));
    if (t > 0 && form == OP_GRAPH_PARTS)
      CALL(op_graph_depend_key(graph, tasks[t], t - 1));
    else if (t > 0)
      CALL(op_graph_depend(graph, tasks[t], tasks[t - 1]));
  }
  for (int i = 0; i < 2; i++)
    CALL(op_graph_run(graph));
  double seconds = -1;
  CALL(seconds = op_graph_simulate_ranks(graph, &network));
  CALL(op_graph_facts(graph, &facts));
  if (!run.stopped && (facts.executed != 12 || facts.runs != 2 || !(seconds > 0)))
    wrong("a graph of ranks lost tasks");
  CALL(op_free_graph(graph));
}

static void graphs(void) {
  op_graph graph = NULL;
  op_task_type type = 0, adding = 0;
  op_resource all = 0, part = 0;
  op_task tasks[40] = {0};
  op_graph_facts_t facts;
  CALL(graph = op_decl_graph("graph"));
  CALL(type = op_graph_type(graph, "nothing", nothing));
  CALL(adding = op_graph_type(graph, "adds", adds));
  CALL(all = op_graph_resource(graph, 0, "all"));
  CALL(part = op_graph_resource(graph, all, "part"));
  for (int t = 0; t < 40; t++) {
    CALL(tasks[t] = op_graph_task(graph, t % 2 ? adding : type, &type, sizeof type, 1));
    CALL(op_graph_lock(graph, tasks[t], t % 3 ? part : all));
    if (t > 0)
      CALL(op_graph_depend(graph, tasks[t], tasks[t - 1]));
  }
  for (int i = 0; i < 2; i++)
    CALL(op_graph_run(graph));
  WRONG(OP_ERR_HANDLE, op_graph_lock(graph, tasks[0], tasks[0]));
  CALL(op_graph_facts(graph, &facts));
  if (!run.stopped && facts.executed != 60)
    wrong("a graph lost tasks");
  CALL(op_free_graph(graph));
}

static void outputs(struct program *p) {
  long long rows[CELLS * 3] = {5};
  double out[CELLS];
  CALL(op_put_data(p->temporary, rows));
  CALL(op_fetch_data(p->temporary, rows));
  CALL(op_fetch_data_idx(p->x, out, 3, 5));
  if (!run.stopped && (out[0] != 3 || out[2] != 5 || rows[0] != 5))
    wrong("a fetch has another result");
  CALL(op_print_dat_to_txtfile(p->y, print_path));
  CALL(op_print_dat_to_binfile(p->flow, print_path));
  WRONG(OP_ERR_RANGE, op_fetch_data_idx(p->x, out, 3, 2));
  CALL(op_timing_output());
  CALL(op_diagnostic_output());
  CALL(op_kernel_file(kernel_path));
  CALL(op2jit_kernel_included(kernel_path, "k", (op_kernel_function)(void (*)(void))outputs, __FILE__));
  CALL(op_free_dat_temp(p->temporary));
}

static void check_increments(const struct program *p) {
  double y[CELLS], want[CELLS] = {0};
  for (int times = 0; times < 3; times++)
    for (int e = 0; e < EDGES; e++) {
      want[(3 * e) % CELLS] += e % CELLS + (7 * e + 1) % CELLS;
      want[(7 * e + 1) % CELLS] -= (3 * e) % CELLS;
    }
  CALL(op_fetch_data(p->y, y));
  if (!run.stopped && memcmp(y, want, sizeof y) != 0)
    wrong("an increment has another result");
}

static int files_in_folder(void) {
  int n = 0;
  DIR *dir = opendir(folder);
  for (struct dirent *e; dir && (e = readdir(dir));)
    n += e->d_name[0] != '.';
  if (dir)
    closedir(dir);
  return n;
}

enum { MOST_SETTINGS = 4 };
static char *settings[MOST_SETTINGS]; /* more NAME=VALUE */
static int nsettings;
static long step = 1, first;

static void program(void) {
  struct program p = {0};
  char *argv[4 + MOST_SETTINGS] = {"fault", "OP2_BACKEND=native", "OP2_TIMING=text", "OP2_LOG=error"};
  memcpy(argv + 4, settings, sizeof settings);
  CALL(op_init(4 + nsettings, argv, 0));
  bool open = !run.stopped;
  declare(&p);
  loops(&p);
  graphs();
  graph_of_ranks(OP_GRAPH_WHOLE);
  graph_of_ranks(OP_GRAPH_PARTS);
  outputs(&p);
  check_increments(&p);
  unlink(print_path);
  if (files_in_folder() != 1)
    wrong("a file was left behind");
  /* It ends whatever happens, and may lack memory for its report only. */
  if (open) {
    int code = op_exit();
    if (code != OP_OK && (code != OP_ERR_MEMORY || memory_refused() == 0))
      wrong("op_exit failed");
    run.refused += code == OP_ERR_MEMORY;
  }
}

static bool run_with(enum failing how, long at) {
  run.failed = run.stopped = false;
  run.persistent = how == FAIL_FROM;
  run.refused = 0;
  memory_fail(how, at);
  program();
  return !run.failed;
}

/* Fail allocations in turn, until the program does not ask for that many. */
static int sweep(enum failing how, bool leaks, long *count) {
  long live = 0, n = first;
  for (;; n += step) {
    if (!run_with(how, n)) {
      fprintf(stderr, "fault: with allocation %ld refused%s\n", n,
              how == FAIL_FROM ? ", and all after it" : "");
      return 1;
    }
    bool refused = memory_refused() > 0;
    if (refused && run.refused == 0)
      (*count)++;
    if (!run_with(FAIL_NEVER, 0)) {
      fprintf(stderr, "fault: the program does not work any more after allocation %ld was refused\n", n);
      return 1;
    }
    if (leaks && n > first && memory_live() != live) {
      fprintf(stderr, "fault: %ld blocks are left behind after allocation %ld was refused\n",
              memory_live() - live, n);
      return 1;
    }
    live = memory_live();
    if (!refused)
      break;
  }
  fprintf(stderr, "fault: %ld allocations refused %s, %ld of them without an error\n", (n - first) / step,
          how == FAIL_ONCE ? "one by one" : "from one on", *count);
  return 0;
}

static bool prepare(void) {
  if (!mkdtemp(folder))
    return false;
  snprintf(kernel_path, sizeof kernel_path, "%s/kernel.c", folder);
  snprintf(print_path, sizeof print_path, "%s/dat", folder);
  FILE *file = fopen(kernel_path, "w");
  if (!file)
    return false;
  fputs("void k(double *x) { *x = 0; }\n", file);
  return fclose(file) == 0;
}

int main(int argc, char **argv) {
  for (int a = 1; a < argc && nsettings < MOST_SETTINGS; a++)
    if (sscanf(argv[a], "%ld/%ld", &step, &first) != 2)
      settings[nsettings++] = argv[a];
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  if (!prepare() || !freopen("/dev/null", "w", stdout) || !(stdout)) {
    fprintf(stderr, "fault: no folder for files\n");
    return 2;
  }
  long degraded = 0;
  int status = sweep(FAIL_ONCE, false, &degraded);
  /* The table of handles outlives op_exit, and grows no more after some lives. */
  for (int life = 0; !status && life < 200; life++)
    status = !run_with(FAIL_NEVER, 0);
  degraded = 0;
  status = status || sweep(FAIL_ONCE, true, &degraded);
  degraded = 0;
  status = status || sweep(FAIL_FROM, true, &degraded);
  unlink(kernel_path);
  rmdir(folder);
  return status;
}
