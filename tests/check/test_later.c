/* The checking form at later calls of a loop, which watch a sample of the elements thoroughly: what a kernel does
 * wrong for one element, the first time at the fifth call, is found there and named, and what is right stays
 * silent. */
#include "../api/support.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "check/cell.h"

/* The bad element is not one of those that are watched thoroughly at the bad call. */
enum { ELEMENTS = 600, CALLS = 6, BAD_CALL = 4, BAD_ELEMENT = 301 };

static int permutation(int e) {
  return e * 7 % ELEMENTS;
}

/* Elements `from` lead to `to`, one to one; the bad element's flag is raised before the bad call. */
struct pairs {
  op_set from, to;
  op_map map;
  op_dat flag, a, b, mark;
  int flags[ELEMENTS];
  double values[2 * ELEMENTS];
};

static struct pairs mesh;

FIXTURE(begin) {
  char *argv[] = {"later", "OP2_CHECK=on"};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  if (op_init(2, argv, 0))
    return -1;
  int table[ELEMENTS];
  for (int e = 0; e < ELEMENTS; e++) {
    table[e] = permutation(e);
    mesh.flags[e] = 0;
    mesh.values[2 * e] = e % 10 + 1;
    mesh.values[2 * e + 1] = 0.5;
  }
  mesh.from = op_decl_set(ELEMENTS, "from");
  mesh.to = op_decl_set(ELEMENTS, "to");
  mesh.map = op_decl_map(mesh.from, mesh.to, 1, table, "map");
  mesh.flag = op_decl_dat(mesh.from, 1, "int", NULL, "flag");
  mesh.a = op_decl_dat(mesh.from, 2, "double", mesh.values, "a");
  mesh.b = op_decl_dat(mesh.to, 2, "double:soa", mesh.values, "b");
  mesh.mark = op_decl_dat(mesh.from, 1, "bool", NULL, "mark");
  return mesh.mark ? 0 : -1;
}

#define test_later(f) cmocka_unit_test_setup_teardown(f, begin, stop)

static bool is_native(void) {
  const char *backend = getenv("OP2_BACKEND");
  return !backend || strcmp(backend, "native") == 0;
}

static op_arg through(op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, 0, mesh.map, dim, "double", access);
}

static void raise_flag(int call) {
  mesh.flags[BAD_ELEMENT] = call == BAD_CALL;
  works(op_put_data(mesh.flag, mesh.flags));
}

/* Right up to the bad call, which says this and changes nothing. */
static void goes_wrong(const char *kernel, const char *name, int nargs, const op_arg *args, const char *title,
                       const char *what) {
  const char *where = "element 301 of set \"from\"";
  double before[2 * ELEMENTS], after[2 * ELEMENTS];
  const long long compiled = op_counters()->compiles;
  for (int call = 0; call <= BAD_CALL; call++) {
    raise_flag(call);
    works(op_fetch_data(mesh.b, before));
    const long long checks = op_counters()->checks;
    int code = op_par_loop_array(kernel, name, mesh.from, nargs, args, __FILE__, __LINE__);
    if (code != (call == BAD_CALL ? OP_ERR_VIOLATION : OP_OK))
      fail_msg("call %d: %s", call, op_last_error()->message);
    if (call >= 2 && call < BAD_CALL)
      assert_int_equal(op_counters()->checks - checks, op_get_size(mesh.from));
    assert_int_equal(op_counters()->compiles - compiled,
                     is_native() ? 0 : 1); /* what is checked is the function */
  }
  const char *message = op_last_error()->message;
  if (!strstr(message, title) || !strstr(message, where) || !strstr(message, what))
    fail_msg("\"%s\", %s and \"%s\" are not in: %s", title, where, what, message);
  works(op_fetch_data(mesh.b, after));
  assert_memory_equal(before, after, sizeof before);
}

#define GOES_WRONG(kernel, title, what, ...)                                                                 \
  goes_wrong(OP_KERNEL_OF(kernel), #kernel, (int)(sizeof((op_arg[]){__VA_ARGS__}) / sizeof(op_arg)),         \
             (const op_arg[]){__VA_ARGS__}, title, what)

/* ---- what must be found ---- */

/* In a text that has no native form, at the first call. */
static void index_is_outside(const char *text, const char *says) {
  static const double w[2] = {1, 2};
  op_decl_const("w", 2, "double", w);
  for (int call = BAD_CALL - 1; call <= BAD_CALL; call++) {
    raise_flag(call);
    int code = op_par_loop(text, "picks", mesh.from, direct(mesh.flag, 1, "int", OP_READ),
                           through(mesh.b, 2, OP_WRITE));
    if (code != (call == BAD_CALL ? OP_ERR_VIOLATION : OP_OK))
      fail_msg("call %d: %s", call, op_last_error()->message);
  }
  const char *message = op_last_error()->message;
  if (!strstr(message, "loop picks, element 301 of set \"from\" (kernel text:2:") || !strstr(message, says) ||
      !strstr(message, "^"))
    fail_msg("\"%s\" is not in: %s", says, message);
}

CASE(index_of_a_constant) {
  index_is_outside("void picks(const int *flag, double *b) {\n  b[0] = w[2 * *flag + 1];\n  b[1] = 0;\n}\n",
                   "constant w has dim 2, and the kernel uses component 3; check the index");
}

CASE(index_of_an_array) {
  index_is_outside("void picks(const int *flag, double *b) {\n  double z[3] = {1, 2, b[0] = 3}; b[0] = z[2 - "
                   "3 * *flag];\n  "
                   "b[1] = 0;\n}\n",
                   "the kernel uses element -1 of the array z, whose type is 'double[3]'; check the index");
}

/* C does not define that one row leads to the next, and programs use it; only what is behind the table is outside. */
CASE(rows_of_a_table) {
  double got[2];
  raise_flag(0);
  works(op_par_loop("void picks(const int *flag, double *b) {\n"
                    "  double t[2][4] = {{1, 2, 3, 4}, {5, 6, 7, b[0] = 8}}; b[0] = b[1] = 0;\n"
                    "  for (int i = 0; i < 8; i++) b[0] += t[0][i];\n}\n",
                    "picks", mesh.from, direct(mesh.flag, 1, "int", OP_READ), through(mesh.b, 2, OP_WRITE)));
  works(op_fetch_data_idx(mesh.b, got, 0, 0));
  assert_true(got[0] == 36);
  index_is_outside(
      "void picks(const int *flag, double *b) {\n  double t[2][4] = {{1, 2, 3, 4}, {5, 6, b[0] = 7, 8}}; "
      "b[0] = t[*flag][*flag * 5];\n  b[1] = 0;\n}\n",
      "the kernel uses element 5 of the array t, whose type is 'double[4]'; check the index");
}

/* A value that was rounded to float on its way is no worse than before. */
CASE(extrema_by_way_of_float) {
  static const char most_of[] = "void most_of(const int *f, double *m) { *m = fmaxf((float)*f, (float)*m); }",
                    least_of[] =
                        "void least_of(const int *f, double *m) { *m = fminf((float)*f, (float)*m); }";
  double most = 1.00000001, least = -0.10000001;
  raise_flag(0);
  works(op_par_loop(most_of, "most_of", mesh.from, direct(mesh.flag, 1, "int", OP_READ),
                    op_arg_gbl(&most, 1, "double", OP_MAX)));
  works(op_par_loop(least_of, "least_of", mesh.from, direct(mesh.flag, 1, "int", OP_READ),
                    op_arg_gbl(&least, 1, "double", OP_MIN)));
  assert_true(fabs(most - 1) < 1e-7 && fabs(least + 0.1) < 1e-7);
}

/* A macro is not taken for the array, nor is nothing. */
static void index_in_a_macro(void **state) {
  static const struct {
    const char *macro, *use;
  } uses[] = {{"AT(i) z[i]", "AT(2 - 3 * *flag)"},
              {"SAME(x) x", "SAME(z[2 - 3 * *flag])"},
              {"NONE", "(z)[2 - 3 * *flag]"}};
  (void)state;
  for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
    char text[300];
    snprintf(text, sizeof text,
             "#define %s\nvoid picks(const int *flag, double *b) { double z[3] = {1, 2, b[0] = 3}; "
             "b[0] = %s; b[1] = 0; }\n",
             uses[i].macro, uses[i].use);
    index_is_outside(text,
                     "the kernel uses element -1 of an array whose type is 'double[3]'; check the index");
  }
}

/* ---- what lies far outside ---- The linker leads what the library allocates here (--wrap): small pieces lie one behind
 * the other, and what is allocated next lies behind them. */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void __wrap_free(void *memory);

enum { SMALL = 1024, HEAD = 16, POOL = 16 << 20 };
static _Alignas(HEAD) unsigned char pool[POOL];
static atomic_size_t pool_used;
static atomic_bool pool_on;

static size_t *size_in_pool(void *memory) {
  unsigned char *const at = memory;
  return at >= pool && at < pool + POOL ? (size_t *)(void *)(at - HEAD) : NULL;
}

void *__wrap_malloc(size_t bytes) {
  const size_t all = HEAD + (bytes + HEAD - 1) / HEAD * HEAD;
  if (!pool_on || bytes > SMALL)
    return __real_malloc(bytes);
  const size_t at = atomic_fetch_add(&pool_used, all);
  assert_true(at + all <= POOL);
  memcpy(pool + at, &bytes, sizeof bytes);
  return pool + at + HEAD;
}

void *__wrap_calloc(size_t count, size_t bytes) {
  if (!pool_on || count > SMALL || count * bytes > SMALL)
    return __real_calloc(count, bytes);
  return memset(__wrap_malloc(count * bytes), 0, count * bytes);
}

void *__wrap_realloc(void *old, size_t bytes) {
  if (old && !size_in_pool(old))
    return __real_realloc(old, bytes);
  void *memory = __wrap_malloc(bytes);
  if (old && memory)
    memcpy(memory, old, *size_in_pool(old) < bytes ? *size_in_pool(old) : bytes);
  return memory;
}

void __wrap_free(void *memory) {
  if (!size_in_pool(memory))
    __real_free(memory);
}

/* Memory far outside lies apart for each run, as a variable that is kept does, and is not told as one. Where nothing but
 * zeros lies, nothing is found. */
static void read_far_away(int from, int to_end) {
  int told = 0;
  for (int to = from; to < to_end; to += 4) {
    const op_dat at = op_decl_dat(mesh.from, 1, "int", NULL, "at"),
                 y = op_decl_dat(mesh.from, 1, "double", NULL, "y");
    mesh.flags[BAD_ELEMENT] = to;
    works(op_put_data(at, mesh.flags));
    if (op_par_loop("void reads(const double *a, const int *at, double *y) { *y = a[*at]; }", "reads",
                    mesh.from, direct(mesh.a, 2, "double", OP_READ), direct(at, 1, "int", OP_READ),
                    direct(y, 1, "double", OP_WRITE))) {
      const char *said = op_last_error()->message;
      told += strstr(said, "depends on memory far outside all arguments; check the indices") != NULL;
      if (strstr(said, "static"))
        fail_msg("%d: %s", to, said);
    }
    works(op_free_dat(at));
    works(op_free_dat(y));
  }
  assert_true(told > 0);
}

CASE(reads_far_away) {
  read_far_away(12, 300);
}

/* At the first run something else was there. */
CASE(reads_what_is_allocated_next) {
  for (int at = 0; at < POOL; at += (int)sizeof(double))
    memcpy(pool + at, &(double){at}, sizeof(double));
  pool_on = true;
  read_far_away(12, 600);
  pool_on = false;
}

OP_KERNEL_DEF(
    reaches_out, void reaches_out(const int *flag, double *b) {
      int at = 2 * *flag;
      b[at] = b[at] / 2 + 1;
    })

CASE(writes_outside) {
  GOES_WRONG(reaches_out, "loop reaches_out, argument 2 (dat \"b\", OP_RW)",
             "the kernel wrote outside the 2 components", direct(mesh.flag, 1, "int", OP_READ),
             through(mesh.b, 2, OP_RW));
}

OP_KERNEL_DEF(
    in_turn, void in_turn(const int *flag, double *b) {
      b[0] = 3;
      if (*flag < 1)
        b[1] = 1;
      if (*flag > 1)
        b[1] = 2;
    })

/* The prover cannot tell whether one of the two conditions always holds. */
CASE(leaves_a_gap) {
  GOES_WRONG(in_turn, "loop in_turn, argument 2 (dat \"b\", OP_WRITE)",
             "the kernel did not write component 1 (element 307 of set \"to\", entry 0 of map \"map\")",
             direct(mesh.flag, 1, "int", OP_READ), through(mesh.b, 2, OP_WRITE));
}

/* Invented values hardly meet: no witness is found before the loop runs. */
OP_KERNEL_DEF(
    forgets, void forgets(const int *flag, const double *a, double *most) {
      double best = *most;
      if (a[0] > best)
        best = a[0];
      if (*flag && a[0] * a[0] * a[0] - a[1] * a[1] == 7.75)
        best = -1;
      *most = best;
    })

CASE(lowers_a_maximum) {
  double most = 0;
  GOES_WRONG(forgets, "loop forgets, argument 3 (a global, OP_MAX)", "lowered component 0 from 10 to -1",
             direct(mesh.flag, 1, "int", OP_READ), direct(mesh.a, 2, "double", OP_READ),
             op_arg_gbl(&most, 1, "double", OP_MAX));
  assert_true(most == 10);
}

OP_KERNEL_DEF(
    writes_input, void writes_input(const int *flag, const double *a, double *b) {
      double *hidden[2] = {b, (double *)(unsigned long)a};
      hidden[*flag][1] = 4;
      b[0] += a[0];
    })

CASE(writes_what_it_reads) {
  GOES_WRONG(writes_input, "loop writes_input, argument 2 (dat \"a\", OP_READ)",
             "changed component 1, which it is only to read, from 0.5 to 4",
             direct(mesh.flag, 1, "int", OP_READ), direct(mesh.a, 2, "double", OP_READ),
             through(mesh.b, 2, OP_RW));
}

OP_KERNEL_DEF(
    writes_global, void writes_global(const int *flag, const double *g, double *b) {
      double *hidden[2] = {b, (double *)(unsigned long)g};
      hidden[*flag][0] = 4;
      b[1] += g[0];
    })

/* A global may be OP_RW only over a set of one element. */
CASE(writes_a_global_that_it_reads) {
  double g = 2;
  GOES_WRONG(writes_global, "loop writes_global, argument 2 (a global, OP_READ)",
             "do not write to it, or declare it OP_INC and only add to it, or OP_MIN or OP_MAX",
             direct(mesh.flag, 1, "int", OP_READ), op_arg_gbl(&g, 1, "double", OP_READ),
             through(mesh.b, 2, OP_RW));
}

OP_KERNEL_DEF(
    reads_old, void reads_old(const int *flag, bool *mark, double *a) {
      bool *same[2] = {mark, mark};
      a[0] = *same[*flag] ? 1 : 2;
      *mark = true;
    })

/* Two values that both count as true would not show it. */
CASE(reads_an_old_bool) {
  assert_int_equal(op_par_loop(OP_KERNEL_OF(reads_old), "reads_old", mesh.from,
                               direct(mesh.flag, 1, "int", OP_READ), direct(mesh.mark, 1, "bool", OP_WRITE),
                               direct(mesh.a, 2, "double", OP_RW)),
                   OP_ERR_VIOLATION);
  if (!strstr(op_last_error()->message, "argument 2 (dat \"mark\") held before"))
    fail_msg("another message: %s", op_last_error()->message);
}

/* ---- what appears first ---- */

static int quiet_from(FILE *file) {
  fflush(stderr);
  const int kept = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  return kept;
}

static void loud_again(int kept) {
  fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
}

OP_KERNEL_DEF(
    divides, void divides(const int *flag, const double *a, double *b, double *lowest, double *sum) {
      double part = 1 / (1 - (double)*flag);
      b[0] += a[0];
      b[1] += part;
      *sum += part;
      *lowest = fmin(*lowest, a[0]);
    })

/* Once, although it goes on; a minimum that starts from infinity is no reason to keep quiet. */
CASE(first_infinity) {
  char said[2000] = "";
  FILE *file = tmpfile();
  assert_non_null(file);
  const int kept = quiet_from(file);
  int code = OP_OK;
  for (int call = 0; !code && call < CALLS; call++) {
    double lowest = INFINITY, sum = 0;
    mesh.flags[BAD_ELEMENT] = call >= BAD_CALL;
    code = op_put_data(mesh.flag, mesh.flags);
    if (!code)
      code = op_par_loop(OP_KERNEL_OF(divides), "divides", mesh.from, direct(mesh.flag, 1, "int", OP_READ),
                         direct(mesh.a, 2, "double", OP_READ), through(mesh.b, 2, OP_INC),
                         op_arg_gbl(&lowest, 1, "double", OP_MIN), op_arg_gbl(&sum, 1, "double", OP_INC));
  }
  loud_again(kept);
  rewind(file);
  said[fread(said, 1, sizeof said - 1, file)] = '\0';
  fclose(file);
  works(code);
  const char *line =
      strstr(said, "loop divides, argument 3 (dat \"b\", OP_INC): the first inf is in component 1 at "
                   "element 301 of set \"from\", which adds it to element 307 of set \"to\"; ");
  if (!line || strstr(line + 1, "loop divides"))
    fail_msg("once the first infinity was expected in: %s", said);
}

static int left;
OP_KERNEL_DEF(
    once, void once(const int *flag, const double *a, double *b) {
      double *hidden[2] = {b, (double *)(unsigned long)a};
      b[0] = b[1] = 1;
      if (*flag && left > 0) {
        left--;
        hidden[1][0] = 4;
      }
    })

/* A mistake that is seen once is no less wrong, also where another run does not show it. A text has no such variable. */
CASE(found_once) {
  for (int call = 0; is_native() && call <= BAD_CALL; call++) {
    raise_flag(call);
    left = 1;
    fails(call < BAD_CALL ? OP_OK : OP_ERR_VIOLATION,
          op_par_loop(OP_KERNEL_OF(once), "once", mesh.from, direct(mesh.flag, 1, "int", OP_READ),
                      direct(mesh.a, 2, "double", OP_READ), through(mesh.b, 2, OP_WRITE)));
  }
  assert_true(!is_native() ||
              strstr(op_last_error()->message, "changed component 0, which it is only to read"));
}

/* ---- errors that the program lives on with ---- */

OP_KERNEL_DEF(
    overwrites, void overwrites(const int *n, double *b) {
      b[0] = *n;
      b[1] = 1;
    })

/* A violation is one at the next call as well. */
CASE(found_again) {
  int table[ELEMENTS] = {0};
  op_map all_to_one = op_decl_map(mesh.from, mesh.to, 1, table, "all_to_one");
  for (int call = 0; call < CALLS; call++) {
    assert_int_equal(op_par_loop(OP_KERNEL_OF(overwrites), "overwrites", mesh.from, op_arg_idx(-1, OP_ID),
                                 op_arg_dat(mesh.b, 0, all_to_one, 2, "double", OP_WRITE)),
                     OP_ERR_VIOLATION);
    assert_non_null(
        strstr(op_last_error()->message,
               "elements 0 and 1 of set \"from\" both write element 0 of set \"to\" (map \"all_to_one\")"));
  }
}

#if defined(__x86_64__) /* other processors have no signal for it */
/* As text and function apart: a sanitizer would stop the function before the processor does. */
static const char shares_text[] =
    "void shares(const int *flag, double *b) { b[0] = 12 / (1 - *flag); b[1] = 7 % (1 - *flag); }";

__attribute__((no_sanitize("undefined"))) static void shares(const int *flag, double *b) {
  b[0] = 12 / (1 - *flag);
  b[1] = 7 % (1 - *flag);
}

static volatile sig_atomic_t other_calls;
static void other_handler(int number) {
  (void)number;
  other_calls++;
}

CASE(divides_by_zero) {
  const op_arg args[] = {direct(mesh.flag, 1, "int", OP_READ), through(mesh.b, 2, OP_WRITE)};
  const struct sigaction own = {.sa_handler = other_handler};
  struct sigaction before, after;
  assert_int_equal(sigaction(SIGFPE, &own, &before), 0);
  goes_wrong(op_kernel_native(shares_text, (op_kernel_function)shares), "shares", 2, args, "loop shares, ",
             ": the kernel divides a whole number by zero, or the smallest one by -1");
  /* The program's own handler is there again. */
  assert_int_equal(sigaction(SIGFPE, &before, &after), 0);
  assert_ptr_equal(after.sa_handler, other_handler);
}

static void sends_signal(void *user) {
  (void)user;
  raise(SIGFPE);
}

__attribute__((no_sanitize("undefined"))) static void divides_by(void *user) {
  *(volatile int *)user = 12 / *(volatile int *)user;
}

/* A signal that somebody sent is the program's, also twice, and no division. */
CASE(sent_signals) {
  const struct sigaction own = {.sa_handler = other_handler};
  struct sigaction before;
  int zero = 0;
  assert_int_equal(sigaction(SIGFPE, &own, &before), 0);
  other_calls = 0;
  trap_begin();
  assert_int_equal(trap_call(sends_signal, NULL), TRAP_NONE);
  assert_int_equal(trap_call(sends_signal, NULL), TRAP_NONE);
  assert_int_equal(trap_call(divides_by, &zero), TRAP_DIVIDED);
  trap_end();
  assert_int_equal(sigaction(SIGFPE, &before, NULL), 0);
  assert_int_equal(other_calls, 2);
}
#endif

/* ---- what is right ---- */

OP_KERNEL_DEF(
    everything, void everything(const double *a, double *b, const int *own, const int *there,
                                const double *scale, double *sum, double *best, int *where, double *work) {
      work[0] = a[0] * *scale;
      b[0] += work[0];
      b[1] -= a[1];
      *sum += a[1];
      if (a[0] + *there * 1e-3 > *best) {
        *best = a[0] + *there * 1e-3;
        *where = *own;
      }
    })

CASE(answers_stay) {
  double b[2 * ELEMENTS], want[2 * ELEMENTS], most = -1;
  int place = -1;
  memcpy(want, mesh.values, sizeof want);
  for (int e = 0; e < ELEMENTS; e++) {
    const double v = mesh.values[2 * e] + permutation(e) * 1e-3;
    place = v > most ? e : place;
    most = v > most ? v : most;
  }
  for (int call = 0; call < CALLS; call++) {
    double scale = call + 0.5, sum = 1, best = -1;
    int where = -1;
    works(op_par_loop(OP_KERNEL_OF(everything), "everything", mesh.from, direct(mesh.a, 2, "double", OP_READ),
                      through(mesh.b, 2, OP_INC), op_arg_idx(-1, OP_ID), op_arg_idx(0, mesh.map),
                      op_arg_gbl(&scale, 1, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC),
                      op_arg_gbl(&best, 1, "double", OP_MAX), op_arg_info(&where, 1, "int", 7),
                      op_arg_gbl(NULL, 1, "double", OP_WORK)));
    assert_true(sum == 1 + 0.5 * ELEMENTS && best == most && where == place);
    for (int e = 0; e < ELEMENTS; e++) {
      want[2 * permutation(e)] += mesh.values[2 * e] * scale;
      want[2 * permutation(e) + 1] -= 0.5;
    }
  }
  works(op_fetch_data(mesh.b, b));
  assert_memory_equal(b, want, sizeof want);
}

int main(void) {
  const struct CMUnitTest texts[] = {test_later(index_of_a_constant),
                                     test_later(index_of_an_array),
                                     test_later(index_in_a_macro),
                                     test_later(rows_of_a_table),
                                     test_later(extrema_by_way_of_float),
                                     test_later(reads_far_away),
                                     test_later(reads_what_is_allocated_next)};
  const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
    test_later(divides_by_zero),
    test_later(sent_signals),
#endif
    test_later(writes_outside),
    test_later(leaves_a_gap),
    test_later(lowers_a_maximum),
    test_later(writes_what_it_reads),
    test_later(writes_a_global_that_it_reads),
    test_later(reads_an_old_bool),
    test_later(first_infinity),
    test_later(found_once),
    test_later(found_again),
    test_later(answers_stay)
  };
  int failed = is_native() ? 0 : cmocka_run_group_tests(texts, NULL, NULL);
  return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
