/* The CUDA backend as a user meets it: what is missing is named, data moves once, failures leave a process that can
 * report and start again, C is taken as C or refused with a remedy. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "api.h"
#include "backend/cuda/cuda.h"
#include "jit/jit.h"
#include "op2jit.h"

enum { EDGES = 500, CELLS = 200 };

static int start(const char *first, const char *second) {
  char *argv[] = {"test",         "OP2_BACKEND=cuda",       "OP2_CACHE=off",
                  "OP2_TUNE=off", (char *)(uintptr_t)first, (char *)(uintptr_t)second};
  return op_init(4 + (first != NULL) + (second != NULL), argv, 0);
}

static void says(const char *words) {
  if (!strstr(op_last_error()->message, words))
    fail_msg("expected \"%s\" in: %s", words, op_last_error()->message);
}

#define works(call)                                                                                          \
  do {                                                                                                       \
    if ((call) != OP_OK)                                                                                     \
      fail_msg("%s: %s", #call, op_last_error()->message);                                                   \
  } while (0)

/* ---- what is missing ---- */
static void missing_parts(void **state) {
  (void)state;
  assert_int_equal(start("OP2_CUDA_DRIVER=/nowhere/libcuda.so.1", NULL), OP_ERR_BACKEND);
  says("CUDA driver");
  says("/nowhere/libcuda.so.1");
  says("NVRTC 13.0");
  assert_int_equal(start("OP2_NVRTC=/nowhere/libnvrtc.so", NULL), OP_ERR_BACKEND);
  says("NVRTC");
  says("/nowhere/libnvrtc.so");
  assert_int_equal(start("OP2_CUDA_DRIVER=libm.so.6", NULL), OP_ERR_BACKEND);
  says("no CUDA driver");
  assert_int_equal(start("OP2_DEVICE=5", NULL), OP_ERR_BACKEND);
  says("numbered from 0");
  setenv("STANDIN_DEVICES", "0", 1);
  assert_int_equal(start(NULL, NULL), OP_ERR_BACKEND);
  says("no GPU");
  unsetenv("STANDIN_DEVICES");
  works(start(NULL, NULL));
  works(op_exit());
}

static void nvrtc_search(void **state) {
  (void)state;
  struct nvrtc *n = NULL;
  struct error err = {0};
  struct text out = {0};
  const struct nvrtc_places places = {.named = "", .cuda_home = "/nowhere/cuda", .home = "/nowhere/home"};
  if (nvrtc_open(&n, &places, &err)) {
    assert_int_equal(err.code, OP_ERR_BACKEND);
    assert_non_null(strstr(error_message(&err), "/nowhere/cuda/lib64/libnvrtc.so"));
    assert_non_null(strstr(error_message(&err), "libnvrtc.so.13"));
    assert_non_null(strstr(error_message(&err), "OP2_NVRTC"));
  }
  nvrtc_close(n);
  nvrtc_describe(&(struct nvrtc_places){.named = "/nowhere/nvrtc"}, &out);
  assert_non_null(strstr(text_str(&out), "no NVRTC: "));
  text_free(&out);
  error_free(&err);
}

/* A copy of the stand-in at a place where NVRTC may be. */
static void put_nvrtc(const char *root, const char *folder, const char *file) {
  struct text path = {0};
  text_addf(&path, "mkdir -p '%s%s' && cp \"$OP2_NVRTC\" '%s%s/%s'", root, folder, root, folder, file);
  assert_int_equal(system(text_str(&path)), 0);
  text_free(&path);
}

static void finds(const struct nvrtc_places *places, const char *where) {
  struct nvrtc *n = NULL;
  struct error err = {0};
  if (nvrtc_open(&n, places, &err))
    fail_msg("%s", error_message(&err));
  if (!strstr(nvrtc_path(n), where))
    fail_msg("expected one in %s, got %s", where, nvrtc_path(n));
  nvrtc_close(n);
}

/* What is named first; then what the linker knows; then CUDA_HOME; then the wheels, those of the virtual environment first. */
static void search_order(void **state) {
  (void)state;
  char root[] = "/tmp/op2jit-nvrtc-XXXXXX", home[64], environment[64], toolkit[64], command[96];
  assert_non_null(mkdtemp(root));
  snprintf(home, sizeof home, "%s/home", root);
  snprintf(environment, sizeof environment, "%s/venv", root);
  snprintf(toolkit, sizeof toolkit, "%s/cuda", root);
  put_nvrtc(toolkit, "/lib64", "libnvrtc.so.13");
  put_nvrtc(environment, "/lib/python3.11/site-packages/nvidia/cu13/lib", "libnvrtc.so.13");
  put_nvrtc(home, "/.local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib", "libnvrtc.so.12");
  struct nvrtc_places places = {
      .named = getenv("OP2_NVRTC"), .cuda_home = toolkit, .home = home, .virtual_env = environment};
  finds(&places, "standin_nvrtc");
  places.named = "";
  void *known = dlopen("libnvrtc.so.13", RTLD_LAZY),
       *other = known ? NULL : dlopen("libnvrtc.so.12", RTLD_LAZY);
  const bool elsewhere = access("/usr/local/cuda/lib64", F_OK) == 0;
  if (known || other)
    finds(&places, known ? "libnvrtc.so.13" : "libnvrtc.so.12");
  else {
    finds(&places, toolkit);
    places.cuda_home = NULL;
    if (!elsewhere) {
      finds(&places, environment);
      places.virtual_env = NULL;
      finds(&places, home);
    }
  }
  if (known || other)
    dlclose(known ? known : other);
  snprintf(command, sizeof command, "rm -r '%s'", root);
  assert_int_equal(system(command), 0);
}

static void description(void **state) {
  (void)state;
  struct text out = {0};
  works(start(NULL, NULL));
  backend_cuda.describe(api_context(), &out);
  assert_non_null(strstr(text_str(&out), "driver 13.0"));
  assert_non_null(strstr(text_str(&out), "GPU 0: stand-in 0, sm_90"));
  assert_non_null(strstr(text_str(&out), "NVRTC 13.0"));
  text_free(&out);
  works(op_exit());
}

static void devices_in_turn(void **state) {
  (void)state;
  setenv("STANDIN_DEVICES", "3", 1);
  works(start("OP2_DEVICE=2", NULL));
  assert_int_equal(cuda_of(api_context())->device.ordinal, 2);
  for (int rank = 0; rank < 7; rank++) {
    struct cuda_device device;
    struct error err = {0};
    assert_int_equal(cuda_device_choose(&cuda_of(api_context())->driver, -1, rank, &device, &err), OP_OK);
    assert_int_equal(device.ordinal, rank % 3);
  }
  works(op_exit());
  unsetenv("STANDIN_DEVICES");
}

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

static void data_moves_once(void **state) {
  (void)state;
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
static void launches_do_not_wait(void **state) {
  (void)state;
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

/* Nothing stays on the device: not temporaries, not what a program or a failed loop leaves behind. */
static void memory_is_given_back(void **state) {
  (void)state;
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
      op_dat temporary = op_decl_dat_temp(m.cells, 1, "double", NULL, "t");
      works(op_par_loop("void set(double *t) { *t = 1; }", "set", m.cells,
                        op_arg_dat(temporary, -1, OP_ID, 1, "double", OP_WRITE)));
      assert_true(live() > before);
      works(op_free_dat_temp(temporary));
      assert_int_equal(live(), before);
    }
    op_exit();
    assert_int_equal(live(), 0);
  }
  dlclose(library);
}

/* ---- failures ---- */
static void too_large(void **state) {
  (void)state;
  struct small m;
  double sum = 0;
  setenv("STANDIN_MEMORY", "4500", 1);
  works(start(NULL, NULL));
  small_mesh(&m);
  assert_int_equal(small_loop(&m, add_source, &sum), OP_ERR_MEMORY);
  says("bytes free of 4500");
  says("loop add");
  assert_true(sum == 0);
  small_check(&m, 0);
  works(op_exit());
  unsetenv("STANDIN_MEMORY");
}

static void failing_calls(void **state) {
  (void)state;
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
    works(start(NULL, NULL));
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

static void faulting_kernel(void **state) {
  (void)state;
  struct small m;
  double sum = 3;
  works(start("OP2_VARIANT=atomics/64", NULL));
  small_mesh(&m);
  const char source[] = "void add(const double *x, double *a0, double *a1, double *sum) {\n"
                        "  long far = (long)(*x * 0) + 100000000;\n  *a0 += x[far]; *a1 += 0; *sum += 1;\n"
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
  works(start(NULL, NULL));
  small_mesh(&m);
  works(small_loop(&m, add_source, &sum));
  small_check(&m, 1);
  works(op_exit());
}

/* What the prover finds in a kernel counts on a GPU too, before any element runs; it needs clang's plugin. */
static void broken_promises(void **state) {
  (void)state;
  struct jit *jit = NULL;
  struct error err = {0};
  struct text compiler = {0};
  double x[3] = {1, 2, 3};
  works(start(NULL, NULL));
  op_set set = op_decl_set(3, "points");
  op_dat dat = op_decl_dat(set, 1, "double", x, "x");
  const int code = op_par_loop("void grow(double *x) {\n  *x += 1;\n}\n", "grow", set,
                               op_arg_dat(dat, -1, OP_ID, 1, "double", OP_WRITE));
  assert_int_equal(context_jit(api_context(), &jit, &err), OP_OK);
  const bool proves = jit_compiler(jit, &compiler, &err) == OP_OK;
  assert_int_equal(code, proves ? OP_ERR_VIOLATION : OP_OK);
  if (proves) {
    says("loop grow");
    says("OP_RW");
    works(op_fetch_data(dat, x));
    assert_true(x[0] == 1 && x[2] == 3);
  }
  text_free(&compiler);
  error_free(&err);
  works(op_exit());
}

/* By default the error ends the program, which can still say why. */
static void faulting_program(void **state) {
  (void)state;
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
               "void add(const double *x, double *a0, double *a1, double *sum) { *a0 += x[(long)(*x * 0) + "
               "100000000]; *a1 += 0; "
               "*sum += 1; }",
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
  assert_non_null(strstr(said, "op2jit: error: OP_ERR_DEVICE: loop add, variant atomics/64"));
  assert_non_null(strstr(said, "illegal memory access"));
}

/* ---- the language ---- */
static int one_kernel(const char *body, double *value) {
  struct text source = {0};
  double zero = 0;
  op_set one = op_decl_set(1, "one");
  op_dat d = op_decl_dat(one, 1, "double", &zero, "d");
  text_addf(&source, "%s", body);
  int code = op_par_loop(text_str(&source), "k", one, op_arg_dat(d, -1, OP_ID, 1, "double", OP_WRITE));
  text_free(&source);
  return code ? code : op_fetch_data(d, value);
}

static void language(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double value;
  } good[] = {
      {"#include <math.h>\n#include <stdint.h>\nvoid k(double *restrict v) { uint8_t a = UINT8_MAX; *v = a + "
       "(M_PI > 3) + (INFINITY > 1e300); }\n",
       257},
      {"#include <limits.h>\n#include <stdbool.h>\nvoid k(double *v) { _Bool b = 5; bool c = true; *v = b + "
       "c + (INT_MAX == 2147483647); }\n",
       3},
      {"static double twice(double new) { double class = 2 * new; return class; }\nvoid k(double *v) { "
       "register double this = twice(4); *v = this; }\n",
       8},
      {"struct pair { int a, b; };\nvoid k(double *v) { struct pair p = {.a = 1, .b = 2}; enum { N = 3 }; "
       "double t[N] = {0}; t[2] = p.a + p.b; *v = t[2]; }\n",
       3},
      {"static const double table[3] = {1, 2, 4};\nvoid k(double *v) { float x = 2.0f; *v = table[2] * "
       "(sqrt(x) != sqrtf(x)) + abs(-3) + fmin(1, 2.5f); }\n",
       8},
      {"void k(double *v) { switch (3) { case 3: *v = 1; return; default: break; } *v = 2; }\n", 1},
      {"struct ab { int a, b[2]; }; struct ba { int b, a; };\nvoid k(double *v) { struct ba q = {.b = 2, .a "
       "= 3}; *v = q.a "
       "- q.b; }\n",
       1},
      {"static double first(const double t[static 1]) { return t[0]; }\nvoid k(double v[const restrict 1]) { "
       "double t[1] = "
       "{6}; v[0] = first(t); }\n",
       6},
      {"#include <math.h>\nvoid k(double *v) { double i = INFINITY, n = NAN; float s = 1e-40f; *v = isnan(n) "
       "+ 2 * (isinf(-i) < 0) "
       "+ 4 * isfinite(i) + 8 * isnormal(2.0) + 16 * isnormal(s) + 32 * (signbit(-0.0) != 0) + 64 * "
       "(fpclassify(s) == "
       "FP_SUBNORMAL) + 128 * isgreater(i, 1.0) + 256 * isunordered(n, 1.0) + 512 * (HUGE_VAL == i); }\n",
       1 + 2 + 8 + 32 + 64 + 128 + 256 + 512},
      {"struct q { char c; double d; };\nvoid k(double *v) { *v = __builtin_offsetof(struct q, d) + "
       "(__builtin_isinf_sign("
       "__builtin_inff()) == 1) + (__builtin_nanf(\"\") != __builtin_nan(\"\")); }\n",
       10},
      {"typedef double real;\n#define SQUARE(x) ((x) * (x))\nvoid k(real v[1]) { v[0] = SQUARE(3.0); }\n", 9},
  };
  static const struct {
    const char *text, *line, *remedy;
  } bad[] = {
      {"void k(double *v) {\n  int n = 3;\n  double t[n];\n  t[0] = 1; *v = t[0];\n}\n",
       ":3:", "constant length"},
      {"static double f(int n, double x) {\n  double t[2 * n];\n  t[0] = x; return t[0];\n}\nvoid k(double "
       "*v) { *v = f(2, 1); }\n",
       ":2:", "constant length"},
      {"struct p { double a; };\nvoid k(double *v) {\n  struct p q;\n  q = (struct p){3};\n  *v = q.a;\n}\n",
       ":4:", "declare a variable"},
      {"void k(double *v) {\n  double t[3] = {[1] = 2};\n  *v = t[1];\n}\n", ":2:", "in their order"},
      {"struct p { double a, b; };\nvoid k(double *v) {\n  struct p q = {.a = 1,\n    .b = 2}, r = {.b = 2, "
       ".a = 1};\n  *v = "
       "q.a + r.b;\n}\n",
       ":4:28:", "in the order of the structure"},
      {"void k(double *v) {\n  *v = undeclared;\n}\n", ":2", "undeclared"},
  };
  double value = 0;
  works(start(NULL, NULL));
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    works(one_kernel(good[i].text, &value));
    if (value != good[i].value)
      fail_msg("%s: %g, expected %g", good[i].text, value, good[i].value);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    int code = one_kernel(bad[i].text, &value);
    if (code != OP_ERR_KERNEL && code != OP_ERR_COMPILE)
      fail_msg("%s: code %d", bad[i].text, code);
    says(bad[i].line);
    says(bad[i].remedy);
  }
  works(op_exit());
}

static void constants(void **state) {
  (void)state;
  double factor = 1, table[2] = {0, 0}, value = 0;
  works(start(NULL, NULL));
  works(op_decl_const("factor", 1, "double", &factor));
  works(op_decl_const("table", 2, "double", table));
  op_set one = op_decl_set(1, "one");
  op_dat d = op_decl_dat(one, 1, "double", &value, "d");
  for (int i = 0; i < 12; i++) {
    factor = i;
    table[1] = 100 * i;
    works(op_update_const("factor", &factor));
    works(op_update_const("table", table));
    works(op_par_loop("void k(double *v) { *v = factor + table[1]; }", "k", one,
                      op_arg_dat(d, -1, OP_ID, 1, "double", OP_WRITE)));
    works(op_fetch_data(d, &value));
    assert_true(value == 101 * i);
  }
  assert_true(op_counters()->compiles < 12);
  works(op_exit());
}

/* ---- order ---- */
/* Sums that depend on their order, but not on the order of the threads: the same bits however the stand-in takes them. */
static void fixed_order(void **state) {
  (void)state;
  static const char *const variants[] = {"OP2_VARIANT=apart/64",  "OP2_VARIANT=staged/64",
                                         "OP2_VARIANT=blocks/64", "OP2_VARIANT=colours/64",
                                         "OP2_VARIANT=whole/64",  "OP2_VARIANT=staged/32/sorted"};
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
/* What the library says on standard error while the backend starts; its code. */
static int start_said(const char *first, char *said, size_t size) {
  FILE *file = tmpfile();
  const int before = dup(STDERR_FILENO);
  assert_non_null(file);
  fflush(stderr);
  dup2(fileno(file), STDERR_FILENO);
  const int code = start("OP2_LOG=info,cuda", first);
  fflush(stderr);
  dup2(before, STDERR_FILENO);
  close(before);
  rewind(file);
  said[fread(said, 1, size - 1, file)] = '\0';
  fclose(file);
  return code;
}

/* The log tells of PTX, and only then. */
static void ptx_is_told(void **state) {
  (void)state;
  char said[4000];
  setenv("STANDIN_NVRTC", "11.8", 1);
  setenv("STANDIN_CAPABILITY", "120", 1);
  works(start_said(NULL, said, sizeof said));
  works(op_exit());
  assert_non_null(
      strstr(said, "NVRTC 11.8 is older than GPU 0 (sm_120): kernels are made as PTX of compute_90"));
  setenv("STANDIN_CAPABILITY", "90", 1);
  works(start_said(NULL, said, sizeof said));
  works(op_exit());
  assert_null(strstr(said, "PTX"));
  unsetenv("STANDIN_NVRTC");
  unsetenv("STANDIN_CAPABILITY");
}

static void versions(void **state) {
  (void)state;
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

static void tuning(void **state) {
  (void)state;
  struct small m;
  double sum = 0;
  char *argv[] = {"test", "OP2_BACKEND=cuda", "OP2_CACHE=off", "OP2_TUNE=force"};
  works(op_init(4, argv, 0));
  small_mesh(&m);
  for (int i = 0; i < 60; i++)
    works(small_loop(&m, add_source, &sum));
  small_check(&m, 60);
  assert_true(op_counters()->trials >= 9);
  assert_true(op_counters()->compiles >= 9);
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

static void shared_memory(void **state) {
  (void)state;
  enum { FITS = 40, MOST = 80 };
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

static void forced_variants(void **state) {
  (void)state;
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

int main(void) {
  if (!getenv("OP2_CUDA_DRIVER")) {
    puts("skipped: OP2_CUDA_DRIVER names no stand-in");
    return 77;
  }
  setenv("STANDIN_QUIET", "1", 1);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(faulting_program),
      cmocka_unit_test(launches_do_not_wait),
      cmocka_unit_test(memory_is_given_back),
      cmocka_unit_test(broken_promises),
      cmocka_unit_test(missing_parts),
      cmocka_unit_test(nvrtc_search),
      cmocka_unit_test(search_order),
      cmocka_unit_test(description),
      cmocka_unit_test(devices_in_turn),
      cmocka_unit_test(data_moves_once),
      cmocka_unit_test(too_large),
      cmocka_unit_test(failing_calls),
      cmocka_unit_test(faulting_kernel),
      cmocka_unit_test(language),
      cmocka_unit_test(constants),
      cmocka_unit_test(fixed_order),
      cmocka_unit_test(versions),
      cmocka_unit_test(ptx_is_told),
      cmocka_unit_test(tuning),
      cmocka_unit_test(shared_memory),
      cmocka_unit_test(forced_variants),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
