/* SCENARIO: what goes wrong, on the last of the ranks or on all; errors are fatal, as by default. errors.sh counts
 * what is said. */
#include <signal.h>
#include <unistd.h>

#include "api/api.h"
#include "check.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/record.h"

static int rank, last;

static op_map declare(int entry) {
  op_set from = op_decl_set(1, "from"), to = op_decl_set(1, "to");
  return op_decl_map(from, to, 1, &entry, "wrong");
}

static void one_rank(void) {
  declare(rank == last ? 99999 : 0);
}

static void all_ranks(void) {
  declare(-7);
}

/* A call of one rank only: no other takes part in it. */
static void local(void) {
  if (rank == last)
    op_get_size(NULL);
  op_barrier();
}

static void no_code_over(int elements) {
  op_set cells = op_decl_set(elements, "cells");
  op_dat x = op_decl_dat(cells, 1, "double", NULL, "x");
  op_par_loop("void wrong(double *x) { *x = nothing; }", "wrong", cells,
              op_arg_dat(x, -1, OP_ID, 1, "double", OP_WRITE));
}

static void no_code(void) {
  no_code_over(3);
}

/* One rank reads the text for all. */
static void no_code_no_elements(void) {
  no_code_over(0);
}

/* The same error on all ranks, each by itself. */
static void local_all(void) {
  op_get_size(NULL);
}

static int calls_within(struct comm *c, struct error *err) {
  (void)c, (void)err;
  op_barrier();
  return OP_OK;
}

/* A call within another one, as of a second thread: what is of MPI may not be touched. */
static void refused(void) {
  static struct comm_table table;
  struct comm *comm = api_context()->comm;
  table = *comm->table;
  table.told = calls_within;
  if (rank == last)
    comm->table = &table;
}

static void killed(void) {
  if (rank == last)
    raise(SIGKILL);
  op_barrier();
}

static void leaves(void) {
  if (rank == last)
    exit(3);
  op_barrier();
}

static void late(void) {
  if (rank == last)
    sleep(4);
  op_barrier();
}

OP_KERNEL_DEF(
    set, void set(double *x) { *x = 1; })

/* The first loop after declarations is where the mesh is distributed. */
static void late_loop(void) {
  op_set cells = op_decl_set(3, "cells");
  op_dat x = op_decl_dat(cells, 1, "double", NULL, "x");
  if (rank == last)
    sleep(3);
  op_par_loop(OP_KERNEL_OF(set), "set", cells, op_arg_dat(x, -1, OP_ID, 1, "double", OP_WRITE));
}

/* ---- ranks that leave the common way after loops that are known, and so no longer agreed on ---- */

OP_KERNEL_DEF(
    flow, void flow(const double *a, const double *b, double *c) { *c += *a - *b; })
OP_KERNEL_DEF(
    back, void back(const double *a, const double *b, double *c) { *c -= *a + *b; })
OP_KERNEL_DEF(
    grow, void grow(double *x) { *x += 1; })
OP_KERNEL_DEF(
    sum, void sum(const double *x, double *s) { *s += *x; })
OP_KERNEL_DEF(
    add, void add(const double *x, double *s) { *s += 2 * *x; })

static struct {
  op_set cells, faces;
  op_map ends;
  op_dat x, y, c;
  double s;
} ring;

static void run_flow(op_dat x) {
  op_par_loop(OP_KERNEL_OF(flow), "flow", ring.faces, op_arg_dat(x, 0, ring.ends, 1, "double", OP_READ),
              op_arg_dat(x, 1, ring.ends, 1, "double", OP_READ),
              op_arg_dat(ring.c, -1, OP_ID, 1, "double", OP_INC));
}
static void run_back(void) {
  op_par_loop(OP_KERNEL_OF(back), "back", ring.faces, op_arg_dat(ring.y, 0, ring.ends, 1, "double", OP_READ),
              op_arg_dat(ring.y, 1, ring.ends, 1, "double", OP_READ),
              op_arg_dat(ring.c, -1, OP_ID, 1, "double", OP_INC));
}
static void run_grow(op_dat x) {
  op_par_loop(OP_KERNEL_OF(grow), "grow", ring.cells, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
}
static void run_sum(void) {
  op_par_loop(OP_KERNEL_OF(sum), "sum", ring.cells, op_arg_dat(ring.x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&ring.s, 1, "double", OP_INC));
}
static void run_add(void) {
  op_par_loop(OP_KERNEL_OF(add), "add", ring.cells, op_arg_dat(ring.x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&ring.s, 1, "double", OP_INC));
}

/* Every rank reads the first cell of the next one; all loops have run once, and both dats are new again. */
static void make_ring(void) {
  enum { N = 8 };
  int ends[2 * N];
  for (int i = 0; i < N; i++) {
    ends[2 * i] = rank * N + i;
    ends[2 * i + 1] = (rank * N + i + 1) % (N * (last + 1));
  }
  ring.cells = op_decl_set(N, "cells");
  ring.faces = op_decl_set(N, "faces");
  ring.ends = op_decl_map(ring.faces, ring.cells, 2, ends, "ends");
  ring.x = op_decl_dat(ring.cells, 1, "double", NULL, "x");
  ring.y = op_decl_dat(ring.cells, 1, "double", NULL, "y");
  ring.c = op_decl_dat(ring.faces, 1, "double", NULL, "c");
  run_flow(ring.x);
  run_back();
  run_grow(ring.x);
  run_grow(ring.y);
  run_sum();
  run_add();
}

static void other_fetch(void) {
  double x[8];
  make_ring();
  if (rank == last)
    op_fetch_data(ring.x, x);
  else
    run_flow(ring.x);
}

static void other_exit(void) {
  make_ring();
  if (rank != last)
    run_flow(ring.x);
}

static void other_partition(void) {
  make_ring();
  if (rank == last)
    op_partition("block", "", ring.cells, NULL, NULL);
  else
    run_sum();
}

/* Messages of the same size, of other dats. */
static void other_loop(void) {
  make_ring();
  if (rank == last)
    run_back();
  else
    run_flow(ring.x);
}

/* Results of the same size. */
static void other_result(void) {
  make_ring();
  if (rank == last)
    run_add();
  else
    run_sum();
}

/* The last rank starts from another value than the others; then they start from the same, and have the same result. */
static int run_ends(int which) {
  const int differs = rank == last, count = 8 * (last + 1);
  double s[2] = {1, which == 0 ? 2 + 5 * differs : 2}, low = which == 1 ? 10 + differs : 10,
         high = which == 2 ? -10 + differs : -10;
  int where = which == 3 ? -1 + differs : -1;
  const int code = op_par_loop("void start(const double *x, double *s, double *low, double *high, int "
                               "*where) { s[0] += *x; s[1] += 1; "
                               "if (*x < *low) *low = *x; if (*x > *high) { *high = *x; *where = 3; } }",
                               "start", ring.cells, op_arg_dat(ring.x, -1, OP_ID, 1, "double", OP_READ),
                               op_arg_gbl(s, 2, "double", OP_INC), op_arg_gbl(&low, 1, "double", OP_MIN),
                               op_arg_gbl(&high, 1, "double", OP_MAX), op_arg_info(&where, 1, "int", 4));
  check(code || (s[0] == 1 + count && s[1] == 2 + count && low == 1 && high == 1 && where == 3));
  return code;
}

static void other_start(void) {
  make_ring();
  run_ends(0);
}

/* Every rank is told, and all can go on. */
static void other_starts_and_goes_on(void) {
  static const char *const said[] = {
      "argument 2, which the loop changes, before it: double 1, 7 on rank %d, double 1, 2 on rank 0",
      "argument 3, which the loop changes, before it: double 11 on rank %d, double 10 on rank 0",
      "argument 4, which the loop changes, before it: double -9 on rank %d, double -10 on rank 0",
      "argument 5, which the loop changes, before it: int 0 on rank %d, int -1 on rank 0"};
  make_ring();
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  for (int which = 0; which < 4; which++) {
    char words[200];
    snprintf(words, sizeof words, said[which], last);
    check(run_ends(which) == OP_ERR_MPI);
    check(strstr(op_last_error()->message, "loop start, "));
    check(strstr(op_last_error()->message, words));
  }
  check(run_ends(4) == OP_OK);
}

/* ---- results that come late ---- */

static op_gbl make_late_ring(void) {
  static const double zero = 0;
  double got;
  make_ring();
  op_gbl s = op_decl_gbl(1, "double", NULL, "s");
  op_put_gbl(s, &zero);
  op_par_loop(OP_KERNEL_OF(sum), "sum", ring.cells, op_arg_dat(ring.x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_global(s, OP_INC));
  op_par_loop(OP_KERNEL_OF(add), "add", ring.cells, op_arg_dat(ring.x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_global(s, OP_INC));
  op_get_gbl(s, &got);
  return s;
}

static void run_late(op_gbl s, bool other) {
  if (other)
    op_par_loop(OP_KERNEL_OF(add), "add", ring.cells, op_arg_dat(ring.x, -1, OP_ID, 1, "double", OP_READ),
                op_arg_global(s, OP_INC));
  else
    op_par_loop(OP_KERNEL_OF(sum), "sum", ring.cells, op_arg_dat(ring.x, -1, OP_ID, 1, "double", OP_READ),
                op_arg_global(s, OP_INC));
}

/* Results of the same size, which the next one who looks finds to be of different loops. */
static void late_other_result(void) {
  double got;
  op_gbl s = make_late_ring();
  run_late(s, rank == last);
  run_late(s, false);
  op_get_gbl(s, &got);
}

/* All ranks return the same error from the same call, and go on. */
static void late_goes_on(void) {
  double got = -1, zero = 0;
  op_gbl s = make_late_ring();
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  run_late(s, rank == last);
  check(op_get_gbl(s, &got) == OP_ERR_MPI && got == -1);
  check(strstr(op_last_error()->message, "calls loop add, rank 0 calls loop sum"));
  check(!op_put_gbl(s, &zero));
  run_late(s, false);
  check(!op_get_gbl(s, &got) && got == 8 * (last + 1));
  run_late(s, rank == last);
  check(op_exit() == OP_ERR_MPI);
  op_printf("went well\n");
  exit(0);
}

/* The last rank has one loop less: the others wait for it, and it for them. */
static void late_missing(void) {
  double got;
  op_gbl s = make_late_ring();
  run_late(s, false);
  if (rank != last)
    run_late(s, false);
  op_get_gbl(s, &got);
}

/* One that looks alone gets the sum: all ranks have brought theirs. */
static void late_alone(void) {
  double got = 0;
  op_gbl s = make_late_ring();
  run_late(s, false);
  if (rank == last)
    check(!op_get_gbl(s, &got) && got == 4 * 8 * (last + 1));
  op_barrier();
}

/* The same calls, at very different times: no error. */
static void slow(void) {
  make_ring();
  if (rank == last)
    sleep(2);
  run_flow(ring.x);
  run_sum();
  if (rank == 0)
    sleep(2);
  run_grow(ring.x);
  run_flow(ring.x);
  op_barrier();
}

/* ---- the checking form ---- */

OP_KERNEL_DEF(
    leaves_gap, void leaves_gap(const int *skip, double *x) {
      if (*skip < 1)
        *x = 2;
      if (*skip > 1)
        *x = 3;
    })

/* OP2_CHECK=on: the last rank's second element breaks a promise at the loop's third call. */
static int gap(op_dat *x) {
  static const int none[] = {0, 0, 0}, second[] = {0, 1, 0};
  static const double ones[] = {1, 1, 1};
  int code = OP_OK;
  op_set cells = op_decl_set(3, "cells");
  op_dat skip = op_decl_dat(cells, 1, "int", none, "skip");
  *x = op_decl_dat(cells, 1, "double", ones, "x");
  for (int call = 0; !code && call < 3; call++) {
    op_put_data(skip, call == 2 && rank == last ? second : none);
    op_put_data(*x, ones);
    code = op_par_loop(OP_KERNEL_OF(leaves_gap), "leaves_gap", cells,
                       op_arg_dat(skip, -1, OP_ID, 1, "int", OP_READ),
                       op_arg_dat(*x, -1, OP_ID, 1, "double", OP_WRITE));
  }
  return code;
}

static void violates(void) {
  op_dat x;
  gap(&x);
}

/* All ranks go on, with the data as before the loop. */
static void violates_and_goes_on(void) {
  op_dat x;
  double got[3];
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  check(gap(&x) == OP_ERR_VIOLATION);
  check(strstr(op_last_error()->message, "the kernel did not write component 0"));
  check(op_fetch_data(x, got) == OP_OK);
  check(got[0] == 1 && got[1] == 1 && got[2] == 1);
}

/* ---- op_init ---- */

/* From the launcher, since there is no library yet that could be asked. */
static int launched_as(void) {
  const char *said = getenv("OMPI_COMM_WORLD_RANK");
  said = said ? said : getenv("PMI_RANK");
  check(said);
  return atoi(said);
}

/* A variable that is wrong on the last rank only. */
static void spoil_environment(void) {
  if (launched_as() == last)
    setenv("OP2_THREADS", "many", 1);
}

/* Every rank gets the error, and all can begin anew. */
static void spoil_and_go_on(int argc, char **argv) {
  spoil_environment();
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  check(op_init(argc, argv, 0) == OP_ERR_ENV);
  check(strstr(op_last_error()->message, "OP2_THREADS=many"));
  unsetenv("OP2_THREADS");
  op_set_error_handler(OP_ERRORS_FATAL, NULL);
}

static const struct {
  const char *name;
  void (*run)(void);
} scenarios[] = {{"one", one_rank},
                 {"all", all_ranks},
                 {"local", local},
                 {"no-code", no_code},
                 {"no-code-no-elements", no_code_no_elements},
                 {"local-all", local_all},
                 {"refused", refused},
                 {"killed", killed},
                 {"leaves", leaves},
                 {"late", late},
                 {"late-loop", late_loop},
                 {"other-fetch", other_fetch},
                 {"other-exit", other_exit},
                 {"other-partition", other_partition},
                 {"other-loop", other_loop},
                 {"other-result", other_result},
                 {"other-start", other_start},
                 {"other-starts-and-goes-on", other_starts_and_goes_on},
                 {"late-other-result", late_other_result},
                 {"late-goes-on", late_goes_on},
                 {"late-missing", late_missing},
                 {"late-alone", late_alone},
                 {"slow", slow},
                 {"violates", violates},
                 {"violates-and-goes-on", violates_and_goes_on}};

int main(int argc, char **argv) {
  check(argc > 2);
  last = atoi(argv[1]) - 1;
  if (strcmp(argv[2], "environment") == 0)
    spoil_environment();
  if (strcmp(argv[2], "environment-and-goes-on") == 0)
    spoil_and_go_on(argc, argv);
  op_init(argc, argv, 0);
  rank = op_rank();
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
    if (strcmp(scenarios[i].name, argv[2]) == 0)
      scenarios[i].run();
  op_exit();
  op_printf("went well\n");
  return 0;
}
