/* Ranks that differ: parts by their speed, parts that change while the program runs, and ranks of several backends. Nothing here
 * looks at a clock: speeds are given, or times are planted, and elements are counted. The values of whole numbers are compared
 * with those of one process.
 *
 *   test-mpi-balance parts scotch|none [OP2_...=...]    op_partition
 *   test-mpi-balance runs [OP2_...=...]                 loops, and OP2_BALANCE
 *   test-mpi-balance mixed [OP2_...=...]                loops alone, on ranks of several backends */
#include "check.h"

#include <math.h>
#include <sched.h>
#include <unistd.h>

#include "api/api.h"
#include "backend/backend.h"
#include "base/list.h"
#include "context/context.h"
#include "loop/balance.h"
#include "mesh/halo.h"
#include "mesh/mesh.h"
#include "op2jit_bridge.h"
#include "op2jit_matrix.h"
#include "ranks/comm.h"
#include "record/record.h"

/* ---- a grid of cells, with the edges between them, of which each rank declares some rows ---- */

enum { WIDE = 40, HIGH = 40, CELLS = WIDE * HIGH, EDGES = 2 * CELLS, MODULUS = 10007, WORDS = 24 };

struct program {
  op_set cells, edges, some;
  op_map ends;
  op_dat q, sum, x;
  int first, count; /* cells of this rank */
};

/* To the right, and down; around the borders. */
static void edge_of(int e, int out[2]) {
  const int c = e / 2, row = c / WIDE, column = c % WIDE;
  out[0] = c;
  out[1] = e % 2 ? (row + 1) % HIGH * WIDE + column : row * WIDE + (column + 1) % WIDE;
}

static int start_of(int cell) {
  return cell * 7919 % MODULUS;
}

static void declare(struct program *p) {
  const int rank = op_rank(), ranks = op_rank_count();
  p->first = HIGH * rank / ranks * WIDE;
  p->count = HIGH * (rank + 1) / ranks * WIDE - p->first;
  int *ends = array_new(4 * (size_t)p->count, sizeof *ends), *q = array_new((size_t)p->count, sizeof *q);
  int *some = array_new((size_t)p->count, sizeof *some), nsome = 0;
  double *x = array_new(2 * (size_t)p->count, sizeof *x);
  for (int i = 0; i < p->count; i++) {
    const int c = p->first + i;
    edge_of(2 * c, ends + 4 * i);
    edge_of(2 * c + 1, ends + 4 * i + 2);
    q[i] = start_of(c);
    x[2 * i] = c % WIDE;
    x[2 * i + 1] = 1.5 * (c / WIDE);
    if (c % 3 == 0)
      some[nsome++] = i;
  }
  check(p->cells = op_decl_set(p->count, "cells"));
  check(p->edges = op_decl_set(2 * p->count, "edges"));
  check(p->ends = op_decl_map(p->edges, p->cells, 2, ends, "ends"));
  check(p->q = op_decl_dat(p->cells, 1, "int", q, "q"));
  check(p->sum = op_decl_dat(p->cells, 2, "int:soa", NULL, "sum"));
  check(p->x = op_decl_dat(p->cells, 2, "double", x, "x"));
  check(p->some = op_decl_subset(p->cells, nsome, some, "some"));
  free(ends);
  free(q);
  free(some);
  free(x);
}

OP_KERNEL_DEF(
    meet, void meet(const int *q1, const int *q2, int *sum1, int *sum2) {
      sum1[0] += *q2;
      sum1[1] += 1;
      sum2[0] += *q1;
      sum2[1] += 1;
    })

OP_KERNEL_DEF(
    step, void step(int *q, int *sum, long long *total) {
      *q = (*q + sum[0] + sum[1]) % 10007;
      sum[0] = 0;
      sum[1] = 0;
      *total += *q;
    })

OP_KERNEL_DEF(
    turn, void turn(int *q) { *q = 10006 - *q; })

static long long run_step(const struct program *p) {
  long long total = 0;
  check(!op_par_loop(OP_KERNEL_OF(meet), "meet", p->edges, op_arg_dat(p->q, 0, p->ends, 1, "int", OP_READ),
                     op_arg_dat(p->q, 1, p->ends, 1, "int", OP_READ),
                     op_arg_dat(p->sum, 0, p->ends, 2, "int", OP_INC),
                     op_arg_dat(p->sum, 1, p->ends, 2, "int", OP_INC)));
  check(!op_par_loop(OP_KERNEL_OF(step), "step", p->cells, op_arg_dat(p->q, -1, OP_ID, 1, "int", OP_RW),
                     op_arg_dat(p->sum, -1, OP_ID, 2, "int", OP_RW), op_arg_gbl(&total, 1, "ll", OP_INC)));
  check(!op_par_loop(OP_KERNEL_OF(turn), "turn", p->some, op_arg_dat(p->q, -1, OP_ID, 1, "int", OP_RW)));
  return total;
}

/* The same in plain C, of all cells. */
static long long step_plainly(int *q, int *sum) {
  long long total = 0;
  memset(sum, 0, CELLS * sizeof *sum);
  for (int e = 0; e < EDGES; e++) {
    int ends[2];
    edge_of(e, ends);
    sum[ends[0]] += q[ends[1]] + 1;
    sum[ends[1]] += q[ends[0]] + 1;
  }
  for (int c = 0; c < CELLS; c++) {
    q[c] = (q[c] + sum[c]) % MODULUS;
    total += q[c];
    if (c % 3 == 0)
      q[c] = MODULUS - 1 - q[c];
  }
  return total;
}

/* As if each loop had taken a rank so long for each cell that it owns. */
static void plant(double seconds, long owned) {
  struct op_context *ctx = api_context();
  struct loop **loops = loop_records(ctx);
  for (size_t i = 0; i < ctx->loops->count; i++)
    loops[i]->stats.seconds += seconds * (double)owned;
  free(loops);
}

static long owned_cells(void) {
  return ((struct set *)api_context()->mesh->sets.items[0])->extents[EXTENT_OWNED];
}

static void run_steps(const struct program *p, int steps, double planted) {
  static int q[CELLS], sum[CELLS], mine[CELLS];
  for (int c = 0; c < CELLS; c++)
    q[c] = start_of(c);
  for (int s = 0; s < steps; s++) {
    check(run_step(p) == step_plainly(q, sum));
    if (planted > 0)
      plant(planted, owned_cells());
  }
  check(!op_fetch_data(p->q, mine));
  check(!memcmp(mine, q + p->first, (size_t)p->count * sizeof *q));
}

/* ---- how they are dealt out ---- */

static double speed_of(int rank) {
  return rank == 0 ? 5 : 1;
}

/* The most by which a rank has more or less than its share, as a part of that. */
static double uneven(bool by_speed) {
  const struct op_context *ctx = api_context();
  struct error err = {0};
  double all = 0;
  for (int r = 0; r < ctx->comm->size; r++)
    all += by_speed ? speed_of(r) : 1;
  const double share = (double)CELLS * (by_speed ? speed_of(ctx->comm->rank) : 1) / all;
  double most = fabs((double)owned_cells() / share - 1);
  check(!ctx->comm->table->reduce_all(ctx->comm, &most, 1, COMM_DOUBLE, COMM_MAX, &err));
  return most;
}

static int nwords;
static char **words;

static void begin(const char *first, const char *second) {
  char *all[WORDS];
  int n = 0;
  for (; n < nwords; n++)
    all[n] = words[n];
  if (first)
    all[n++] = (char *)first;
  if (second)
    all[n++] = (char *)second;
  all[n] = NULL;
  check(!op_init(n, all, 0));
}

static void part_by(const struct program *p, const char *lib) {
  const bool map = strcmp(lib, "ptscotch") == 0 || strcmp(lib, "diffusive") == 0;
  check(!op_partition(lib, "", p->cells, map ? p->ends : NULL, map ? NULL : p->x));
}

/* All cells of the first rank stay, and those that come are no more than it lacks. */
static void check_moved(const struct program *p) {
  const struct set *cells = api_context()->mesh->sets.items[0];
  const long owned = cells->extents[EXTENT_OWNED];
  long stay = 0;
  for (long e = 0; cells->spread && e < owned; e++)
    stay += cells->spread->numbers[e] >= p->first && cells->spread->numbers[e] < p->first + p->count;
  check(!cells->spread || op_rank() > 0 || stay == p->count);
}

/* A rank that has nothing meets nobody, and gets its share all the same. */
static void test_from_one(void) {
  struct program p;
  begin("OP2_SPEEDS=5,1", NULL);
  declare(&p);
  const op_dat first = op_decl_dat(p.cells, 1, "int", NULL, "first");
  check(!op_partition("external", "", p.cells, NULL, first));
  check(!op_partition("diffusive", "", p.cells, p.ends, NULL));
  check(uneven(true) < 0.1);
  run_steps(&p, 3, 0);
  check(!op_exit());
}

static void test_parts(bool scotch) {
  static const char *const ways[] = {"rcb", "inertial", "diffusive", "ptscotch"};
  for (int w = 0; w < 3 + scotch; w++) {
    struct program p;
    begin("OP2_SPEEDS=5,1", NULL);
    declare(&p);
    part_by(&p, ways[w]);
    check(uneven(true) < 0.1);
    if (strcmp(ways[w], "diffusive") == 0)
      check_moved(&p);
    run_steps(&p, 3, 0);
    check(!op_exit());
    begin("OP2_SPEEDS=equal", NULL);
    declare(&p);
    part_by(&p, ways[w]);
    check(uneven(false) < 0.1);
    check(!op_exit());
  }
  struct program p;
  begin("OP2_SPEEDS=5,1", NULL);
  declare(&p);
  check(!op_partition("diffusive", "", p.edges, p.ends, NULL)); /* which share cells */
  check(uneven(true) < 0.1);
  run_steps(&p, 3, 0);
  check(!op_exit());
  begin("OP2_SPEEDS=measured", NULL);
  declare(&p);
  part_by(&p, "rcb");
  check(uneven(false) < 0.01); /* nothing ran, and all have one backend */
  run_step(&p);
  plant(1e-3 / speed_of(op_rank()), owned_cells());
  part_by(&p, "rcb");
  check(uneven(true) < 0.1);
  check(!op_exit());
}

/* ---- while the program runs ---- */

static int moves(void) {
  return api_context()->balance ? api_context()->balance->moves : 0;
}

/* Without op_partition elements go to neighbours; with it bisection moves its cuts. */
static void test_given(bool parts) {
  struct program p;
  begin("OP2_SPEEDS=5,1", "OP2_BALANCE=on");
  declare(&p);
  if (parts)
    check(!op_partition("block", "", p.cells, p.ends, p.x));
  const int alone = op_rank_count() == 1;
  run_steps(&p, 100, 0);
  check(alone || (moves() >= 1 && uneven(true) < 0.1));
  check(!op_exit());
}

static void test_measured(const char *lib) {
  struct program p;
  begin("OP2_BALANCE=on", NULL);
  declare(&p);
  if (*lib)
    part_by(&p, lib);
  run_steps(&p, 300, 1e-3 / speed_of(op_rank()));
  check(op_rank_count() == 1 || (moves() >= 1 && uneven(true) < 0.1));
  check(!op_exit());
}

/* Times that are alike, and data that somebody holds. */
static void test_quiet(void) {
  struct program p;
  begin("OP2_BALANCE=on", "OP2_LOG=error");
  declare(&p);
  run_steps(&p, 100, 1e-3);
  check(moves() == 0);
  check(!op_exit());
  begin("OP2_BALANCE=off", NULL);
  declare(&p);
  run_steps(&p, 100, 1e-3 / speed_of(op_rank()));
  check(moves() == 0);
  check(!op_exit());
  begin("OP2_BALANCE=on", "OP2_LOG=error");
  declare(&p);
  int *array = array_new((size_t)p.count, sizeof *array);
  op_dat view = op_decl_dat_view(p.cells, 1, "int", array, "view");
  check(view && op_acquire(view, OP_RW) == array);
  run_steps(&p, 100, 1e-3 / speed_of(op_rank()));
  check(moves() == 0 && (op_rank_count() == 1 || api_context()->balance->told));
  check(!op_release(view));
  check(!op_exit());
  free(array);
}

OP_KERNEL_DEF(
    none, void none(const int *q, int *n) { *n += *q; })

/* Without a map nobody can go along, and that is said, also where no clock is asked. */
static void test_no_map(void) {
  begin("OP2_SPEEDS=5,1", "OP2_BALANCE=on");
  const int ones[] = {1, 1, 1, 1};
  op_set points = op_decl_set(4, "points");
  op_dat q = op_decl_dat(points, 1, "int", ones, "q");
  check(q && !op_partition("block", "", points, NULL, NULL));
  for (int i = 0; i < 130; i++) {
    int n = 0;
    check(!op_par_loop(OP_KERNEL_OF(none), "none", points, op_arg_dat(q, -1, OP_ID, 1, "int", OP_READ),
                       op_arg_gbl(&n, 1, "int", OP_INC)));
    check(n == 4 * op_rank_count());
  }
  check(moves() == 0 && (op_rank_count() == 1 || api_context()->balance->told));
  check(!op_exit());
}

/* ---- CPUs ---- */

static int allowed_cpus(void) {
  cpu_set_t cpus;
  check(sched_getaffinity(0, sizeof cpus, &cpus) == 0);
  return CPU_COUNT(&cpus);
}

/* Together they have all CPUs, and each as many as the others, or one more. Last, for they stay bound. */
static void test_pin(void) {
  const int all = allowed_cpus();
  begin("OP2_PIN=on", NULL);
  struct comm *c = api_context()->comm;
  struct error err = {0};
  const int mine = allowed_cpus();
  double sum = mine;
  check(!c->table->reduce_all(c, &sum, 1, COMM_DOUBLE, COMM_SUM, &err));
  if (c->alike == c->size && c->size > 1 && all >= c->size)
    check((int)sum == all && mine >= all / c->size && mine <= all / c->size + 1);
  else
    check(mine == all || c->alike < c->size);
  check(!op_exit());
}

/* ---- several backends ---- */

OP_KERNEL_DEF(
    widen, void widen(const int *q, double *wide) {
      for (int i = 0; i < 64; i++)
        wide[i] = *q + 0.5 * i;
    })

OP_KERNEL_DEF(
    look, void look(const int *q1, const int *q2, const double *wide1, const double *wide2, int *wrong) {
      for (int i = 0; i < 64; i++)
        *wrong += (wide1[i] != *q1 + 0.5 * i) + (wide2[i] != *q2 + 0.5 * i);
    })

OP_KERNEL_DEF(
    fill, void fill(double *a) {
      for (int i = 0; i < 4; i++)
        a[i] = i + 1;
    })

/* Its values have one form on all ranks, whatever a GPU would like. */
static void test_matrix(const struct program *p) {
  struct op_context *ctx = api_context();
  struct error err = {0};
  op_coo_t coo;
  double sum = 0;
  op_mat k = op_decl_mat(1, &p->ends, &p->ends, 1, 1, "double", "k");
  check(k && !op_par_loop(OP_KERNEL_OF(fill), "fill", p->edges,
                          op_arg_mat(k, p->ends, p->ends, 1, 1, "double", OP_INC)));
  check(!op_coo(k, &coo));
  for (long long i = 0; i < coo.count; i++)
    sum += coo.rows[i] >= 0 ? coo.values[i] : 0;
  check(!ctx->comm->table->reduce_all(ctx->comm, &sum, 1, COMM_DOUBLE, COMM_SUM, &err));
  check(sum == 10.0 * EDGES);
}

/* Messages so long that all threads pack them. */
static void test_wide(const struct program *p) {
  op_dat wide = op_decl_dat(p->cells, 64, "double", NULL, "wide");
  check(!op_partition("random", "", p->cells, NULL, NULL));
  for (int i = 0; i < 4; i++) {
    int wrong = 0;
    run_step(p);
    const op_counters_t before = *op_counters();
    check(!op_par_loop(OP_KERNEL_OF(widen), "widen", p->cells, op_arg_dat(p->q, -1, OP_ID, 1, "int", OP_READ),
                       op_arg_dat(wide, -1, OP_ID, 64, "double", OP_WRITE)));
    check(!op_par_loop(
        OP_KERNEL_OF(look), "look", p->edges, op_arg_dat(p->q, 0, p->ends, 1, "int", OP_READ),
        op_arg_dat(p->q, 1, p->ends, 1, "int", OP_READ), op_arg_dat(wide, 0, p->ends, 64, "double", OP_READ),
        op_arg_dat(wide, 1, p->ends, 64, "double", OP_READ), op_arg_gbl(&wrong, 1, "int", OP_INC)));
    check(wrong == 0);
    check(op_counters()->bytes_sent - before.bytes_sent > (1 << 17) * (op_rank_count() - 1));
  }
}

/* The report's first lines name the backends of all ranks. */
static void test_heading(void) {
  char heading[4096] = "";
  FILE *file = tmpfile();
  fflush(stdout);
  const int kept = dup(STDOUT_FILENO);
  if (!file || kept < 0 || dup2(fileno(file), STDOUT_FILENO) < 0)
    exit(2);
  op_timing_output();
  fflush(stdout);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  rewind(file);
  heading[fread(heading, 1, sizeof heading - 1, file)] = '\0';
  fclose(file);
  const char *list = strchr(words[1], '=') + 1, *found = strstr(heading, " ranks of ");
  check(!op_is_root() || (found && strncmp(found + strlen(" ranks of "), list, strlen(list)) == 0));
}

static void test_mixed(void) {
  struct program p;
  begin(NULL, NULL);
  declare(&p);
  const struct op_context *ctx = api_context();
  check(ctx->peers && ctx->peers->size < ctx->comm->size && !ctx->queue);
  part_by(&p, "rcb");
  run_steps(&p, 120, 0);
  test_heading();
  check(!op_exit());
  begin("OP2_SPEEDS=5,1", NULL);
  declare(&p);
  part_by(&p, "rcb");
  check(uneven(true) < 0.1);
  run_steps(&p, 3, 0);
  if (strstr(words[1], "seq,openmp"))
    test_wide(&p);
  test_matrix(&p);
  check(!op_exit());
  /* Things that ranks of different backends cannot have. */
  char *list[WORDS] = {words[0], words[1], "OP2_LAZY=on"};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  check(op_init(3, list, 0) == OP_ERR_BACKEND && strstr(op_last_error()->message, "OP2_LAZY=on"));
  list[1] = "OP2_BACKEND=seq,native";
  check(op_init(2, list, 0) == OP_ERR_BACKEND && strstr(op_last_error()->message, "native ranks"));
  list[1] = p.first > 0 ? "OP2_BACKEND=seq" : "OP2_BACKEND=seq,openmp";
  check(op_init(2, list, 0) == OP_ERR_MPI && strstr(op_last_error()->message, "op_init, OP2_BACKEND: seq"));
  list[1] = "OP2_SPEEDS=5,fast";
  check(op_init(2, list, 0) == OP_ERR_ENV && strstr(op_last_error()->message, "OP2_SPEEDS=5,fast"));
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  const bool parts = strcmp(what, "parts") == 0;
  const int options = parts ? 3 : 2;
  char *list[WORDS] = {argv[0]};
  if (argc < options || argc - options > WORDS - 4)
    return 2;
  for (nwords = 1; nwords <= argc - options; nwords++)
    list[nwords] = argv[options + nwords - 1];
  words = list;
  if (parts) {
    test_parts(strcmp(argv[2], "scotch") == 0);
    test_from_one();
  } else if (strcmp(what, "mixed") == 0)
    test_mixed();
  else {
    test_given(false);
    test_given(true);
    test_measured("");
    test_measured("rcb");
    test_quiet();
    test_no_map();
    test_pin();
  }
  return 0;
}
