/* Loops that wait on ranks: the bits of loops one by one, fewer messages, and ranks that call other loops are told. */
#include <stdbool.h>
#include <unistd.h>

#include "base/error.h"
#include "check.h"

struct comm;
struct op_context;
struct error;

enum { CELLS = 400, EDGES = CELLS, STEPS = 6, LOOPS = 5 };

static int rank, size;

static const char *const fill =
    "void fill(const double *r, double *x, double *y) { *x = 0.5 * *r + 1; *y = *r / 3; }";
static const char *const change = "void change(double *y) { *y = *y * 1.25 + 0.1; }";
static const char *const flux = "void flux(const double *x0, const double *x1, double *r0, double *r1) {\n"
                                "  const double f = 0.01 * (*x0 - *x1) / 3;\n  *r0 -= f;\n  *r1 += f;\n}";
static const char *const other = "void other(const double *x0, const double *x1, double *r0, double *r1) {\n"
                                 "  const double f = 0.02 * (*x0 - *x1) / 7;\n  *r0 -= f;\n  *r1 += f;\n}";
static const char *const move =
    "void move(double *r, double *s, double *sum) { *r += *s; *s = 0; *sum += *r; }";
static const char *const add = "void add(const double *r, double *g) { *g += *r; }";
static const char *const tell =
    "void tell(const double *r, double *g, double *v) { *g += 3 * *r; *v += *r; }";
static const char *const assign =
    "void assign(const double *t, double *g, double *v) { *g = *t + 0.7; *v += 1; }";

struct mesh {
  op_set cells, edges, one;
  op_map ends;
  op_dat r, s, x, y, t;
  op_gbl sum;
  int ncells, first;
};

static struct mesh open_mesh(int argc, char **argv, const char *lazy) {
  static char *more[16];
  static int ends[2 * EDGES];
  static double values[CELLS];
  struct mesh m = {0};
  memcpy(more, argv, (size_t)argc * sizeof *argv);
  more[argc] = strdup(lazy);
  check(op_init(argc + 1, more, 0) == OP_OK);
  rank = op_rank();
  m.first = CELLS * rank / size;
  m.ncells = CELLS * (rank + 1) / size - m.first;
  for (int e = 0; e < m.ncells; e++) {
    ends[2 * e] = m.first + e;
    ends[2 * e + 1] = (m.first + e + 1 + (e % 5 == 0) * 17) % CELLS;
    values[e] = 1.0 / (m.first + e + 3);
  }
  m.cells = op_decl_set(m.ncells, "cells");
  m.edges = op_decl_set(m.ncells, "edges");
  m.ends = op_decl_map(m.edges, m.cells, 2, ends, "ends");
  m.r = op_decl_dat(m.cells, 1, "double", values, "r");
  m.s = op_decl_dat(m.cells, 1, "double:soa", NULL, "s");
  m.x = op_decl_dat(m.cells, 1, "double", NULL, "x");
  m.y = op_decl_dat(m.cells, 1, "double", NULL, "y");
  m.one = op_decl_set(rank == size - 1, "one");
  m.t = op_decl_dat(m.one, 1, "double", NULL, "t");
  m.sum = op_decl_gbl(1, "double", NULL, "sum");
  check(m.ends && m.r && m.s && m.x && m.y && m.t && m.sum);
  return m;
}

static op_arg own(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}
static op_arg end(const struct mesh *m, op_dat dat, int i, op_access access) {
  return op_arg_dat(dat, i, m->ends, 1, "double", access);
}

/* x and y travel, before the first loop over edges. */
static int step(const struct mesh *m, const char *second, const char *name) {
  int code =
      op_par_loop(fill, "fill", m->cells, own(m->r, OP_READ), own(m->x, OP_WRITE), own(m->y, OP_WRITE));
  code |= op_par_loop(change, "change", m->cells, own(m->y, OP_RW));
  code |= op_par_loop(flux, "flux", m->edges, end(m, m->x, 0, OP_READ), end(m, m->x, 1, OP_READ),
                      end(m, m->s, 0, OP_INC), end(m, m->s, 1, OP_INC));
  code |= op_par_loop(second, name, m->edges, end(m, m->y, 0, OP_READ), end(m, m->y, 1, OP_READ),
                      end(m, m->s, 0, OP_INC), end(m, m->s, 1, OP_INC));
  code |=
      op_par_loop(move, "move", m->cells, own(m->r, OP_RW), own(m->s, OP_RW), op_arg_global(m->sum, OP_INC));
  return code;
}

/* Sums that may be on their way while a loop ends that also leaves something in a variable: one that adds to them, and
 * one that takes the place of them. */
enum { SUMS = 9 };

static void run_sums(const struct mesh *m, double got[2 * SUMS]) {
  const double start = 1.0 / 3;
  check(op_put_gbl(m->sum, &start) == OP_OK);
  for (int i = 0; i < SUMS; i++) {
    double v = 0.1 * i;
    int code = OP_OK;
    for (int k = 0; k <= i % 3; k++)
      code |= op_par_loop(add, "add", m->cells, own(m->r, OP_READ), op_arg_global(m->sum, OP_INC));
    code |= i % 2 ? op_par_loop(assign, "assign", m->one, own(m->t, OP_READ), op_arg_global(m->sum, OP_WRITE),
                                op_arg_gbl(&v, 1, "double", OP_INC))
                  : op_par_loop(tell, "tell", m->cells, own(m->r, OP_READ), op_arg_global(m->sum, OP_INC),
                                op_arg_gbl(&v, 1, "double", OP_INC));
    check(code == OP_OK);
    got[2 * i] = v;
    if (i % 3 != 2)
      check(op_get_gbl(m->sum, &got[2 * i + 1]) == OP_OK);
    check(i % 2 == 0 || i % 3 == 2 || got[2 * i + 1] == 0.7);
  }
}

struct outcome {
  double r[CELLS], sum, sums[2 * SUMS];
  long long exchanges, messages;
};

static struct outcome run(const struct mesh *m) {
  struct outcome o = {0};
  const double zero = 0;
  for (int i = 0; i < 3; i++) { /* the same loops come again */
    check(op_put_gbl(m->sum, &zero) == OP_OK);
    const op_counters_t before = *op_counters();
    for (int s = 0; s < STEPS; s++)
      check(step(m, flux, "flux") == OP_OK);
    check(op_fetch_data(m->r, o.r) == OP_OK);
    check(op_get_gbl(m->sum, &o.sum) == OP_OK);
    o.exchanges = op_counters()->exchanges - before.exchanges;
    o.messages = op_counters()->messages - before.messages;
  }
  run_sums(m, o.sums);
  return o;
}

static void compare(int argc, char **argv) {
  static const char *const modes[] = {"OP2_LAZY=off", "OP2_LAZY=on", "OP2_LAZY=check"};
  static struct outcome of[3];
  for (int i = 0; i < 3; i++) {
    const struct mesh m = open_mesh(argc, argv, modes[i]);
    of[i] = run(&m);
    check(memcmp(of[i].r, of[0].r, sizeof of[0].r) == 0 &&
          memcmp(&of[i].sum, &of[0].sum, sizeof of[0].sum) == 0 &&
          memcmp(of[i].sums, of[0].sums, sizeof of[0].sums) == 0);
    check(op_exit() == OP_OK);
  }
  check(of[0].exchanges == 2 * STEPS && of[1].exchanges == STEPS);
  check(2 * of[1].messages == of[0].messages && (size == 1 || of[1].messages > 0));
}

static void expect(const char *words) {
  check(op_last_error()->code == OP_ERR_MPI);
  if (!strstr(op_last_error()->message, words))
    fprintf(stderr, "expected: %s\n", words);
  check(strstr(op_last_error()->message, words));
}

/* Waiting loops may run in the last loop, which has a sum. */
static void step_and_fail(const struct mesh *m) {
  double r[CELLS];
  int code = step(m, rank == 1 ? other : flux, rank == 1 ? "other" : "flux");
  if (!code)
    code = op_fetch_data(m->r, r);
  check(code);
}

/* A chain that is new on all ranks, where one has another loop in it. */
static void differ_at_first(int argc, char **argv) {
  const struct mesh m = open_mesh(argc, argv, "OP2_LAZY=on");
  double r[CELLS];
  check(step(&m, flux, "flux") == OP_OK && step(&m, other, "other") == OP_OK);
  check(op_fetch_data(m.r, r) == OP_OK);
  step_and_fail(&m);
  expect("loop 4 of those that wait: ");
  check(step(&m, flux, "flux") == OP_OK && op_fetch_data(m.r, r) == OP_OK);
  check(op_exit() == OP_OK);
}

/* Both chains are known, and need the same: what the messages say of their loops differs. */
static void differ_later(int argc, char **argv, bool on_device) {
  const struct mesh m = open_mesh(argc, argv, "OP2_LAZY=on");
  double r[CELLS];
  for (int i = 0; i < 2; i++) {
    check(step(&m, flux, "flux") == OP_OK && op_fetch_data(m.r, r) == OP_OK);
    check(step(&m, other, "other") == OP_OK && op_fetch_data(m.r, r) == OP_OK);
  }
  step_and_fail(&m);
  expect(on_device ? "loop 4 of those that wait: " : "runs other loops that waited: 5, and this rank 5");
  check(op_exit() == OP_OK);
}

/* One rank looks where the others go on: nobody waits for ever. */
static void differ_in_length(int argc, char **argv) {
  const struct mesh m = open_mesh(argc, argv, "OP2_LAZY=on");
  double r[CELLS];
  for (int i = 0; i < 2; i++)
    check(step(&m, flux, "flux") == OP_OK && op_fetch_data(m.r, r) == OP_OK);
  int code = step(&m, flux, "flux");
  if (!code && rank == 1)
    code = step(&m, flux, "flux");
  if (!code)
    code = op_fetch_data(m.r, r);
  check(code == OP_ERR_MPI);
  check(op_exit() == OP_OK);
}

/* Words of kernels say what they do, and the rank that compiled them knows better: ranks decide alike all the same. */
static void words_that_are_not_compiled(int argc, char **argv) {
  static const char *const silent = "void silent(const double *r, double *x, double *y) {\n"
                                    "#ifdef TELLS\n  printf(\"%g\\n\", *r);\n#endif\n"
                                    "  *x = 0.5 * *r + 1;\n  *y = *r / 3;\n}";
  double r[CELLS];
  op_set_error_handler(OP_ERRORS_FATAL, NULL); /* else nothing waits by itself */
  const struct mesh m = open_mesh(argc, argv, "OP2_LAZY=auto");
  for (int s = 0; s < 40; s++) {
    op_par_loop(silent, "silent", m.cells, own(m.r, OP_READ), own(m.x, OP_WRITE), own(m.y, OP_WRITE));
    op_par_loop(flux, "flux", m.edges, end(&m, m.x, 0, OP_READ), end(&m, m.x, 1, OP_READ),
                end(&m, m.s, 0, OP_INC), end(&m, m.s, 1, OP_INC));
    op_par_loop(other, "other", m.edges, end(&m, m.y, 0, OP_READ), end(&m, m.y, 1, OP_READ),
                end(&m, m.s, 0, OP_INC), end(&m, m.s, 1, OP_INC));
    op_par_loop(move, "move", m.cells, own(m.r, OP_RW), own(m.s, OP_RW), op_arg_global(m.sum, OP_INC));
  }
  check(op_fetch_data(m.r, r) == OP_OK && op_exit() == OP_OK);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
}

/* ---- memory: the linker leads the library's call here (--wrap) ---- */

struct loop;
static bool refuses;

int __real_loop_depths_spare(struct op_context *ctx, struct loop *const *loops, int n, bool *spare,
                             struct error *err);
int __wrap_loop_depths_spare(struct op_context *ctx, struct loop *const *loops, int n, bool *spare,
                             struct error *err);

int __wrap_loop_depths_spare(struct op_context *ctx, struct loop *const *loops, int n, bool *spare,
                             struct error *err) {
  return refuses ? error_memory(err, "the depths of loops", 1)
                 : __real_loop_depths_spare(ctx, loops, n, spare, err);
}

/* Two loops between which nothing travels, and two more before which something does. */
static int short_step(const struct mesh *m, bool travels) {
  int code =
      op_par_loop(fill, "fill", m->cells, own(m->r, OP_READ), own(m->x, OP_WRITE), own(m->y, OP_WRITE));
  if (!code)
    code = op_par_loop(change, "change", m->cells, own(m->y, OP_RW));
  if (!code && travels)
    code = op_par_loop(flux, "flux", m->edges, end(m, m->x, 0, OP_READ), end(m, m->x, 1, OP_READ),
                       end(m, m->s, 0, OP_INC), end(m, m->s, 1, OP_INC));
  if (!code && travels)
    code = op_par_loop(other, "other", m->edges, end(m, m->y, 0, OP_READ), end(m, m->y, 1, OP_READ),
                       end(m, m->s, 0, OP_INC), end(m, m->s, 1, OP_INC));
  return code;
}

/* One rank has no memory to find out whether waiting pays. Where less would travel, all meet for that; where nothing would, it
 * meets the others where they agree next. Either way all ranks have its error, and nobody waits for ever. */
static void one_rank_without_memory(int argc, char **argv, bool travels) {
  const struct mesh m = open_mesh(argc, argv, "OP2_LAZY=auto");
  double r[CELLS];
  int code = OP_OK;
  refuses = rank == 1;
  for (int s = 0; s < 8 && !code; s++)
    code = short_step(&m, travels);
  if (!code)
    code = op_fetch_data(m.r, r);
  check(code == OP_ERR_MEMORY && strstr(op_last_error()->message, "rank 1: "));
  refuses = false;
  check(op_exit() == OP_OK);
}

/* Each row of tests has its own. */
static char cache_file[1024];

/* Seconds that a chain took, by which ranks decide whether neighbours are to be one: the first of four numbers. Whether calls wait
 * they decide by four as well, which are nobody's seconds: they keep what they are. */
enum { NUMBERS_OF_A_WHOLE = 3 };
static double planted;
static bool decides_waiting;

struct watched;
struct waiting_worth;
int __real_worth_waiting(struct op_context *ctx, struct watched *period, int n, struct waiting_worth *worth,
                         struct error *err);
int __wrap_worth_waiting(struct op_context *ctx, struct watched *period, int n, struct waiting_worth *worth,
                         struct error *err);
int __wrap_worth_waiting(struct op_context *ctx, struct watched *period, int n, struct waiting_worth *worth,
                         struct error *err) {
  decides_waiting = true;
  const int code = __real_worth_waiting(ctx, period, n, worth, err);
  decides_waiting = false;
  return code;
}

int __real_agree_on_largest(struct comm *comm, int code, double *numbers, int n, struct error *err);
int __wrap_agree_on_largest(struct comm *comm, int code, double *numbers, int n, struct error *err);
int __wrap_agree_on_largest(struct comm *comm, int code, double *numbers, int n, struct error *err) {
  numbers[0] += n == NUMBERS_OF_A_WHOLE && !decides_waiting ? planted : 0;
  return __real_agree_on_largest(comm, code, numbers, n, err);
}

/* How often fill and change ran as one, with these words behind the arguments. r: the values then. */
static long long count_fused(int argc, char **argv, char *tune, char *cache, double r[CELLS]) {
  char *more[16];
  memcpy(more, argv, (size_t)argc * sizeof *argv);
  more[argc] = tune;
  more[argc + 1] = cache;
  more[argc + 2] = "OP2_FUSE=auto";
  const struct mesh m = open_mesh(argc + 3, more, "OP2_LAZY=on");
  for (int turn = 0; turn < 20; turn++)
    check(step(&m, flux, "flux") == OP_OK && op_fetch_data(m.r, r) == OP_OK);
  const long long fused = op_counters()->fused;
  if (strcmp(cache, "OP2_CACHE=off") == 0 && rank == 0)
    unlink(strchr(cache_file, '=') + 1);
  check(op_exit() == OP_OK);
  return fused;
}

/* They are one where compiling that is little beside what the chain took, and not before, unless the code is there; with
 * OP2_TUNE=off at once, as in one process. */
static void fuse_where_it_pays(int argc, char **argv) {
  static double first[CELLS], r[CELLS];
  static const struct {
    char *tune, *cache;
    double seconds;
    bool fused;
  } rows[] = {{"OP2_TUNE=use", "OP2_CACHE=off", 0, false},
              {"OP2_TUNE=use", "OP2_CACHE=off", 1000, true},
              {"OP2_TUNE=use", cache_file, 0, false},
              {"OP2_TUNE=off", cache_file, 0, true},
              {"OP2_TUNE=use", cache_file, 0, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    planted = rows[i].seconds;
    check((count_fused(argc, argv, rows[i].tune, rows[i].cache, i ? r : first) > 0) == rows[i].fused);
    check(!i || memcmp(r, first, sizeof r) == 0);
  }
  planted = 0;
}

int main(int argc, char **argv) {
  check(argc > 1 && argc < 15);
  size = atoi(argv[1]);
  setenv("OP2_FUSE", "off", 1); /* messages name loops one by one */
  snprintf(cache_file, sizeof cache_file, "OP2_CACHE=%s-waiting-%s-%s.db", argv[0], argv[1],
           strchr(argv[2], '=') + 1);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  compare(argc, argv);
  words_that_are_not_compiled(argc, argv);
  if (size > 1 && strcmp(argv[2], "OP2_BACKEND=cuda") != 0)
    fuse_where_it_pays(argc, argv);
  if (size == 2) {
    differ_at_first(argc, argv);
    differ_later(argc, argv, strcmp(argv[2], "OP2_BACKEND=cuda") == 0);
    differ_in_length(argc, argv);
  }
  for (int travels = 0; travels < 2 && size > 1 && strcmp(argv[2], "OP2_BACKEND=cuda") != 0; travels++)
    one_rank_without_memory(argc, argv, travels);
  return 0;
}
