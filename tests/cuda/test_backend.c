/* The CUDA backend as a user meets it: data moves once, launches do not wait, failures leave a process that can
 * report and start again, sums have a fixed order. test_places.c has what must be there, test_language.c what
 * kernels may say. */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend.h"
#include "jit/jit.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/record.h"
#include "services/services.h"

enum { EDGES = 500, CELLS = 200 };

/* ---- a small mesh ---- */
struct small {
  op_set edges, cells;
  op_map map;
  op_dat x, a;
  double xs[EDGES], as[CELLS];
  int table[EDGES * 2];
};

static const char add_source[] = "void add(const double *x, double *a0, double *a1, double *sum) {\n"
                                 "  *a0 += *x; *a1 -= *x; *sum += *x;\n"
                                 "}\n";

static void small_mesh(struct small *m) {
  for (int e = 0; e < EDGES; e++) {
    m->xs[e] = e % 10;
    m->table[2 * e] = e % CELLS;
    m->table[2 * e + 1] = (7 * e + 1) % CELLS;
  }
  memset(m->as, 0, sizeof m->as);
  m->edges = op_decl_set(EDGES, "edges");
  m->cells = op_decl_set(CELLS, "cells");
  m->map = op_decl_map(m->edges, m->cells, 2, m->table, "map");
  m->x = op_decl_dat(m->edges, 1, "double", m->xs, "x");
  m->a = op_decl_dat(m->cells, 1, "double", m->as, "a");
}

static int small_loop(struct small *m, const char *source, double *sum) {
  return op_par_loop(source, "add", m->edges, op_arg_dat(m->x, -1, OP_ID, 1, "double", OP_READ),
                     op_arg_dat(m->a, 0, m->map, 1, "double", OP_INC),
                     op_arg_dat(m->a, 1, m->map, 1, "double", OP_INC), op_arg_gbl(sum, 1, "double", OP_INC));
}

static void small_check(struct small *m, int times) {
  double expected[CELLS] = {0};
  for (int t = 0; t < times; t++)
    for (int e = 0; e < EDGES; e++) {
      expected[m->table[2 * e]] += m->xs[e];
      expected[m->table[2 * e + 1]] -= m->xs[e];
    }
  works(op_fetch_data(m->a, m->as));
  assert_memory_equal(m->as, expected, sizeof expected);
}

CASE(data_moves_once) {
  struct small m;
  double sum = 0;
  works(start(NULL, NULL));
  small_mesh(&m);
  works(small_loop(&m, add_source, &sum));
  const op_counters_t first = *op_counters();
  assert_int_equal(first.bytes_to_device, sizeof m.xs + sizeof m.as);
  for (int i = 0; i < 5; i++)
    works(small_loop(&m, add_source, &sum));
  assert_int_equal(op_counters()->bytes_to_device, first.bytes_to_device);
  /* Results only: one slot a loop. */
  assert_int_equal(op_counters()->bytes_from_device - first.bytes_from_device, 5 * first.bytes_from_device);
  assert_true(first.bytes_from_device <= 64);
  assert_int_equal(op_counters()->compiles, first.compiles);
  assert_true(sum == 6 * 4.5 * (double)EDGES);
  small_check(&m, 6);
  works(op_exit());
}

/* The host waits where it looks at a result and nowhere else: a loop without one has not run when its call returns. */
CASE(launches_do_not_wait) {
  needs_standin();
  struct small m;
  setenv("STANDIN_FAIL", "cuStreamSynchronize:1:700", 1);
  works(start(NULL, NULL));
  small_mesh(&m);
  for (int i = 0; i < 20; i++)
    works(op_par_loop("void grow(double *x, double *a) { *x += 1; *a += 1; }", "grow", m.edges,
                      op_arg_dat(m.x, -1, OP_ID, 1, "double", OP_RW),
                      op_arg_dat(m.a, 0, m.map, 1, "double", OP_INC)));
  assert_int_equal(op_fetch_data(m.x, m.xs), OP_ERR_DEVICE);
  op_exit();
  unsetenv("STANDIN_FAIL");
}

/* The call that finds it is another one: the message has both. */
CASE(an_error_of_what_waited_names_the_line_of_its_loop) {
  needs_standin();
  struct small m;
  setenv("STANDIN_FAIL", "cuLaunchKernel:2:701", 1);
  works(start("OP2_LAZY=on", "OP2_FUSE=off"));
  small_mesh(&m);
  works(op_par_loop("void one(double *x) { *x += 1; }", "one", m.edges,
                    op_arg_dat(m.x, -1, OP_ID, 1, "double", OP_RW)));
  const op_arg x = op_arg_dat(m.x, -1, OP_ID, 1, "double", OP_RW);
  works(op_par_loop_array("void two(double *x) { *x += 2; }", "two", m.edges, 1, &x, "there.c", 17));
  assert_int_equal(op_counters()->waiting, 2);
  assert_int_equal(op_fetch_data(m.x, m.xs), OP_ERR_DEVICE);
  says("op_fetch_data runs what waits: there.c:17: loop two, ");
  op_exit();
  unsetenv("STANDIN_FAIL");
}

static void *goes_on(void *mesh) {
  struct small *m = mesh;
  double sum = 0;
  if (small_loop(m, add_source, &sum) || op_fetch_data(m->a, m->as))
    return (void *)(uintptr_t) "it failed";
  return NULL;
}

static void *ends(void *unused) {
  (void)unused;
  return op_exit() ? (void *)(uintptr_t) "it failed" : NULL;
}

static void in_a_thread(void *(*doing)(void *), void *with) {
  pthread_t thread;
  void *said = NULL;
  assert_int_equal(pthread_create(&thread, NULL, doing, with), 0);
  pthread_join(thread, &said);
  if (said)
    fail_msg("in a thread %s: %s", (const char *)said, op_last_error()->message);
}

/* The driver has a current context for each thread. */
CASE(threads_take_turns) {
  struct small m;
  double sum = 0;
  works(start(NULL, NULL));
  small_mesh(&m);
  in_a_thread(goes_on, &m);
  works(small_loop(&m, add_source, &sum));
  in_a_thread(goes_on, &m);
  small_check(&m, 3);
  in_a_thread(ends, NULL);
  works(start(NULL, NULL));
  small_mesh(&m);
  in_a_thread(goes_on, &m);
  small_check(&m, 1);
  works(op_exit());
}

/* Nothing stays on the device: not temporaries, not what a program or a failed loop leaves behind. */
CASE(memory_is_given_back) {
  needs_standin();
  static const char *const fails[] = {"",
                                      "cuMemAlloc_v2:1:2",
                                      "cuMemAlloc_v2:2:2",
                                      "cuMemAlloc_v2:4:2",
                                      "cuMemAlloc_v2:6:2",
                                      "cuModuleLoadDataEx:1:209",
                                      "cuMemcpyHtoDAsync_v2:2:999",
                                      "cuMemHostAlloc:1:2"};
  void *library = dlopen(getenv("OP2_CUDA_DRIVER"), RTLD_NOW),
       *entry = library ? dlsym(library, "standin_live") : NULL;
  size_t (*live)(void);
  assert_non_null(entry);
  memcpy(&live, &entry, sizeof live);
  for (size_t i = 0; i < sizeof fails / sizeof *fails; i++) {
    struct small m;
    double sum = 0;
    if (*fails[i])
      setenv("STANDIN_FAIL", fails[i], 1);
    works(start("OP2_VARIANT=apart/64", NULL));
    small_mesh(&m);
    assert_int_equal(small_loop(&m, add_source, &sum) == OP_OK, !*fails[i]);
    unsetenv("STANDIN_FAIL");
    const size_t before = live();
    for (int k = 0; k < 3 && !*fails[i]; k++) {
      op_dat temporary = op_decl_dat(m.cells, 1, "double", NULL, "t");
      works(op_par_loop("void set(double *t) { *t = 1; }", "set", m.cells,
                        op_arg_dat(temporary, -1, OP_ID, 1, "double", OP_WRITE)));
      assert_true(live() > before);
      works(op_free_dat(temporary));
      assert_int_equal(live(), before);
    }
    op_exit();
    assert_int_equal(live(), 0);
  }
  dlclose(library);
}

/* ---- failures ---- */
CASE(too_large) {
  needs_standin();
  struct small m;
  double sum = 0;
  setenv("STANDIN_MEMORY", "4500", 1);
  works(start("OP2_VARIANT=atomics/64", NULL));
  small_mesh(&m);
  assert_int_equal(small_loop(&m, add_source, &sum), OP_ERR_MEMORY);
  says("bytes free of 4500");
  says("loop add");
  assert_true(sum == 0);
  small_check(&m, 0);
  works(op_exit());
  unsetenv("STANDIN_MEMORY");
}

CASE(failing_calls) {
  needs_standin();
  static const struct {
    const char *fail;
    int code;
    const char *word;
  } cases[] = {{"cuLaunchKernel:1:702", OP_ERR_DEVICE, "timed out"},
               {"cuLaunchKernel:2:701", OP_ERR_DEVICE, "too many resources"},
               {"cuStreamSynchronize:1:700", OP_ERR_DEVICE, "illegal memory access"},
               {"cuMemAlloc_v2:1:2", OP_ERR_MEMORY, "bytes free of"},
               {"cuMemAlloc_v2:5:2", OP_ERR_MEMORY, "bytes free of"},
               {"cuMemcpyHtoDAsync_v2:1:999", OP_ERR_DEVICE, "999"},
               {"cuModuleLoadDataEx:1:209", OP_ERR_DEVICE, "no kernel image"},
               {"cuMemHostAlloc:1:2", OP_ERR_MEMORY, "out of memory"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct small m;
    double sum = 7;
    setenv("STANDIN_FAIL", cases[i].fail, 1);
    works(start("OP2_VARIANT=apart/64", NULL)); /* of two launches */
    small_mesh(&m);
    int code = small_loop(&m, add_source, &sum);
    if (code != cases[i].code)
      fail_msg("%s: code %d: %s", cases[i].fail, code, op_last_error()->message);
    says(cases[i].word);
    assert_true(sum == 7);
    op_exit();
    unsetenv("STANDIN_FAIL");
    works(start(NULL, NULL));
    small_mesh(&m);
    works(small_loop(&m, add_source, &sum));
    small_check(&m, 1);
    works(op_exit());
  }
}

static int faulting_flux(struct small *m) {
  return op_par_loop("void flux(const double *x, double *a) {\n"
                     "  const double *wild = (const double *)((long)(*x * 0) + 8);\n  *a += *wild;\n}\n",
                     "flux", m->edges, op_arg_dat(m->x, -1, OP_ID, 1, "double", OP_READ),
                     op_arg_dat(m->a, 0, m->map, 1, "double", OP_INC));
}

CASE(faulting_kernel) {
  struct small m;
  double sum = 3;
  works(start("OP2_VARIANT=atomics/64", NULL));
  small_mesh(&m);
  const char source[] =
      "void add(const double *x, double *a0, double *a1, double *sum) {\n"
      "  const double *wild = (const double *)((long)(*x * 0) + 8);\n  *a0 += *wild; *a1 += 0; *sum += 1;\n"
      "}\n";
  assert_int_equal(small_loop(&m, source, &sum), OP_ERR_DEVICE);
  says("loop add");
  says("atomics/64");
  says("illegal memory access");
  assert_true(sum == 3);
  assert_int_equal(small_loop(&m, source, &sum), OP_ERR_DEVICE);
  says("takes no more work");
  assert_int_equal(op_fetch_data(m.x, m.xs), OP_OK); /* the host's copy is as new */
  op_exit();
}

/* A driver gives such a process no GPU again: CUDA 13.0's does not. */
CASE(start_after_a_fault) {
  struct small m;
  setenv("STANDIN_FAULTS", "stay", 1);
  works(start("OP2_VARIANT=atomics/64", NULL));
  small_mesh(&m);
  works(faulting_flux(&m));
  assert_int_equal(op_fetch_data(m.a, m.as), OP_ERR_DEVICE);
  op_exit();
  assert_int_equal(start(NULL, NULL), OP_ERR_BACKEND);
  says("start the program anew");
}

static int sum_of(struct small *m, double *sum) {
  return op_par_loop("void update(const double *a, double *sum) { *sum += *a; }", "update", m->cells,
                     op_arg_dat(m->a, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(sum, 1, "double", OP_INC));
}

/* A fault is met by who waits next: all loops that it can be of are named; with OP2_TIMING the one. */
CASE(late_faults) {
  struct small m;
  double sum = 3;
  works(start("OP2_VARIANT=atomics/64", NULL));
  small_mesh(&m);
  works(sum_of(&m, &sum)); /* waited for */
  sum = 3;
  works(faulting_flux(&m));
  assert_int_equal(sum_of(&m, &sum), OP_ERR_DEVICE);
  says("loop update, variant direct/64/vectors");
  says("one of the loops flux (atomics/64/vectors), update (direct/64/vectors): with OP2_TIMING=text");
  assert_true(sum == 3);
  op_exit();
}

CASE(fault_met_by_fetching) {
  struct small m;
  works(start("OP2_VARIANT=atomics/64", NULL));
  small_mesh(&m);
  works(faulting_flux(&m));
  assert_int_equal(op_fetch_data(m.a, m.as), OP_ERR_DEVICE);
  says("copying dat \"a\"");
  says("; the kernel that failed is that of loop flux (atomics/64/vectors)");
  op_exit();
}

CASE(fault_of_a_timed_loop) {
  struct small m;
  works(start("OP2_VARIANT=atomics/64", "OP2_TIMING=text"));
  small_mesh(&m);
  assert_int_equal(faulting_flux(&m), OP_ERR_DEVICE);
  says("loop flux, variant atomics/64/vectors, GPU 0: running the kernel");
  assert_null(strstr(op_last_error()->message, "that failed is"));
  op_exit();
}

/* A cached binary is not put aside because loading it meets the fault of an earlier kernel. */
CASE(fault_met_by_loading) {
  needs_standin();
  static const char *const fails[] = {"", "cuModuleLoadDataEx:2:700", ""};
  char folder[] = "/tmp/op2jit-fault-XXXXXX", cache[64], command[64];
  assert_non_null(mkdtemp(folder));
  snprintf(cache, sizeof cache, "OP2_CACHE=%s/kernels.db", folder);
  for (int i = 0; i < 3; i++) {
    struct small m;
    double sum = 0;
    setenv("STANDIN_FAIL", fails[i], 1);
    works(start(cache, NULL));
    small_mesh(&m);
    works(op_par_loop("void grow(double *x) { *x += 1; }", "grow", m.edges,
                      op_arg_dat(m.x, -1, OP_ID, 1, "double", OP_RW)));
    assert_int_equal(sum_of(&m, &sum), i == 1 ? OP_ERR_DEVICE : OP_OK);
    if (i == 1) {
      says("loop update: loading the compiled kernel");
      says("; the kernel that failed is that of loop grow (");
    }
    assert_int_equal(op_counters()->compiles, i == 0 ? 2 : 0);
    op_exit();
  }
  unsetenv("STANDIN_FAIL");
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
}

/* The prover's find in a kernel counts on a GPU too, before any element runs; it needs clang's plugin. */
CASE(broken_promises) {
  struct error err = {0};
  double x[3] = {1, 2, 3};
  works(start(NULL, NULL));
  op_set set = op_decl_set(3, "points");
  op_dat dat = op_decl_dat(set, 1, "double", x, "x");
  const int code = op_par_loop("void grow(double *x) {\n  *x += 1;\n}\n", "grow", set,
                               op_arg_dat(dat, -1, OP_ID, 1, "double", OP_WRITE));
  const bool proves = context_compiler(api_context(), &err) == OP_OK;
  assert_int_equal(code, proves ? OP_ERR_VIOLATION : OP_OK);
  if (proves) {
    says("loop grow");
    says("OP_RW");
    works(op_fetch_data(dat, x));
    assert_true(x[0] == 1 && x[2] == 3);
  }
  error_free(&err);
  works(op_exit());
}

/* By default the error ends the program, which can still say why. */
CASE(faulting_program) {
  char said[1024] = "";
  int ends[2], status = 0;
  assert_int_equal(pipe(ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    struct small m;
    double sum = 0;
    dup2(ends[1], STDERR_FILENO);
    op_set_error_handler(OP_ERRORS_FATAL, NULL);
    start("OP2_VARIANT=atomics/64", NULL);
    small_mesh(&m);
    small_loop(&m,
               "void add(const double *x, double *a0, double *a1, double *sum) {\n"
               "  *a0 += *(const double *)((long)(*x * 0) + 8); *a1 += 0; *sum += 1;\n}\n",
               &sum);
    _exit(0);
  }
  close(ends[1]);
  ssize_t got = 0;
  for (ssize_t n; (n = read(ends[0], said + got, sizeof said - 1 - (size_t)got)) > 0;)
    got += n;
  close(ends[0]);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  assert_non_null(strstr(said, "op2jit: error: OP_ERR_DEVICE: "));
  assert_non_null(strstr(said, ": loop add, variant atomics/64"));
  assert_non_null(strstr(said, "illegal memory access"));
}

/* ---- order ---- */
/* Sums that depend on their order, but not on the order of the threads: the same bits however the stand-in takes
 * them. */
CASE(fixed_order) {
  static const char *const variants[] = {"OP2_VARIANT=apart/64", "OP2_VARIANT=staged/64",
                                         "OP2_VARIANT=blocks/64", "OP2_VARIANT=colours/64",
                                         "OP2_VARIANT=staged/32/sorted"};
  for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
    double sums[3], as[3][CELLS];
    for (int seed = 0; seed < 3; seed++) {
      struct small m;
      char text[2] = {(char)('0' + seed), 0};
      setenv("STANDIN_SEED", text, 1);
      works(start(variants[i], NULL));
      small_mesh(&m);
      for (int e = 0; e < EDGES; e++)
        m.xs[e] = 1.0 / (1 + 17 * e % 101);
      works(op_put_data(m.x, m.xs));
      sums[seed] = 0;
      works(small_loop(&m, add_source, &sums[seed]));
      works(op_fetch_data(m.a, as[seed]));
      works(op_exit());
    }
    for (int seed = 1; seed < 3; seed++) {
      assert_memory_equal(&sums[seed], &sums[0], sizeof *sums);
      assert_memory_equal(as[seed], as[0], sizeof *as);
    }
  }
  unsetenv("STANDIN_SEED");
}

/* ---- versions of NVRTC, and devices newer or older than it ---- */

CASE(versions) {
  needs_standin();
  static const struct {
    const char *nvrtc, *capability;
    bool runs;
  } cases[] = {{"13.0", "75", true},
               {"12.4", "90", true},
               {"11.8", "89", true},
               {"11.8", "120", true},
               {"13.0", "60", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct small m;
    double sum = 0;
    setenv("STANDIN_NVRTC", cases[i].nvrtc, 1);
    setenv("STANDIN_CAPABILITY", cases[i].capability, 1);
    int code = start(NULL, NULL);
    if (!cases[i].runs) {
      assert_int_equal(code, OP_ERR_BACKEND);
      says("too old");
      continue;
    }
    works(code);
    small_mesh(&m);
    works(small_loop(&m, add_source, &sum));
    small_check(&m, 1);
    works(op_exit());
  }
  unsetenv("STANDIN_NVRTC");
  unsetenv("STANDIN_CAPABILITY");
}

CASE(tuning) {
  struct small m;
  double sum = 0;
  char *argv[] = {"test", "OP2_BACKEND=cuda", "OP2_CACHE=off", "OP2_TUNE=force"};
  works(op_init(4, argv, 0));
  small_mesh(&m);
  for (int i = 0; i < 60; i++)
    works(small_loop(&m, add_source, &sum));
  small_check(&m, 60);
  assert_true(op_counters()->trials >= 9);
  assert_int_equal(op_counters()->compiles, 4); /* the first guess, and three that are promising */
  works(op_exit());
}

/* More shared memory than a block has without asking, and more than there is. */
static int staged_rows(struct small *m, int dim, double *rows) {
  struct text source = {0};
  text_addf(&source, "void wide(const double *x, double *r) { for (int c = 0; c < %d; c++) r[c] += c * *x; }",
            dim);
  op_dat r = op_decl_dat(m->cells, dim, "double", NULL, "r");
  int code =
      op_par_loop(text_str(&source), "wide", m->edges, op_arg_dat(m->x, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_dat(r, 1, m->map, dim, "double", OP_INC));
  text_free(&source);
  return code ? code : op_fetch_data(r, rows);
}

CASE(shared_memory) {
  enum { FITS = 40, MOST = 160 };
  static double rows[CELLS * MOST], expected[CELLS];
  struct small m;
  works(start("OP2_VARIANT=staged/256", NULL));
  small_mesh(&m);
  works(staged_rows(&m, FITS, rows));
  for (int e = 0; e < EDGES; e++)
    expected[m.table[2 * e + 1]] += m.xs[e];
  for (int i = 0; i < CELLS; i++)
    for (int c = 0; c < FITS; c++)
      assert_true(rows[i * FITS + c] == c * expected[i]);
  assert_int_equal(staged_rows(&m, MOST, rows), OP_ERR_SIZE);
  says("bytes of shared memory");
  says("smaller blocks");
  works(op_exit());
}

CASE(forced_variants) {
  struct small m;
  double sum = 0;
  works(start("OP2_VARIANT=add:staged/64,atomics/32", NULL));
  small_mesh(&m);
  works(small_loop(&m, add_source, &sum));
  works(op_exit());
  works(start("OP2_VARIANT=warped", NULL));
  small_mesh(&m);
  assert_int_equal(small_loop(&m, add_source, &sum), OP_ERR_ENV);
  says("staged");
  works(op_exit());
}

/* Each in a process of its own: a real driver may give no more work to one in which a kernel faulted. */
int main(void) {
  int failed = 0;
  begin_tests();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(faulting_program),
      cmocka_unit_test(launches_do_not_wait),
      cmocka_unit_test(memory_is_given_back),
      cmocka_unit_test(broken_promises),
      cmocka_unit_test(data_moves_once),
      cmocka_unit_test(threads_take_turns),
      cmocka_unit_test(too_large),
      cmocka_unit_test(failing_calls),
      cmocka_unit_test(an_error_of_what_waited_names_the_line_of_its_loop),
      cmocka_unit_test(faulting_kernel),
      cmocka_unit_test(start_after_a_fault),
      cmocka_unit_test(fault_met_by_fetching),
      cmocka_unit_test(fault_of_a_timed_loop),
      cmocka_unit_test(late_faults),
      cmocka_unit_test(fault_met_by_loading),
      cmocka_unit_test(fixed_order),
      cmocka_unit_test(versions),
      cmocka_unit_test(tuning),
      cmocka_unit_test(shared_memory),
      cmocka_unit_test(forced_variants),
  };
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
    int status = 0;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
      cmocka_set_test_filter(tests[i].name);
      exit(cmocka_run_group_tests(tests, NULL, NULL));
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status)) {
      failed++;
      printf("failed in its process: %s\n", tests[i].name);
    }
  }
  return failed;
}
