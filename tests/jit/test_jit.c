/* From a description to running code: memory, cache, compiler, and what is said when it does not work. */
#include "../unit.h"
#include <float.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build.h"
#include "jit/jit.h"
#include "jit/key/signature.h"
#include "kernels-cache/store.h"

static char folder[] = "/tmp/op2jit-test-XXXXXX";
static char database[64];

static struct store *open_store(void) {
  struct store *store;
  struct error err = {0};
  struct store_options options = {.path = database, .sentence = signature_difference};
  assert_int_equal(store_open(&store, &options, &err), OP_OK);
  return store;
}

static struct jit *open_jit(struct store *store, enum jit_mode mode) {
  struct jit *jit;
  struct error err = {0};
  struct jit_options options = {.mode = mode, .store = store};
  assert_int_equal(jit_open(&jit, &options, &err), OP_OK);
  return jit;
}

static const struct shape scalar = {0};

static struct jit_code code_of(struct jit *jit, const struct desc *d) {
  struct jit_code code;
  struct error err = {0};
  if (jit_code(jit, d, &scalar, &code, &err) != OP_OK)
    fail_msg("%s", error_message(&err));
  return code;
}

static struct desc scaled_sum(double factor) {
  struct desc d = build_loop("vadd", "void vadd(const double *a, const double *b, double *c) {\n"
                                     "  c[0] = factor * (a[0] + b[0]);\n}\n");
  for (int i = 0; i < 3; i++)
    build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, i == 2 ? OP_WRITE : OP_READ);
  build_const(&d, "factor", TYPE_DOUBLE, 1, &factor);
  return d;
}

static void run_sum(range_function run, const struct desc *d, double factor) {
  enum { N = 37 };
  double a[N], b[N], c[N];
  for (int i = 0; i < N; i++) {
    a[i] = i;
    b[i] = 2 * i + 1;
    c[i] = -1;
  }
  void **frame = calloc((size_t)desc_slots(d), sizeof *frame);
  frame[0] = a;
  frame[1] = b;
  frame[2] = c;
  run(frame, NULL, 1, N - 1);
  for (int i = 0; i < N; i++)
    assert_true(c[i] == (i == 0 || i == N - 1 ? -1 : factor * (3 * i + 1)));
  free(frame);
}

static void note_scalar(void *user, const char *name, size_t length) {
  *(bool *)user |= length == strlen("scalar") && memcmp(name, "scalar", length) == 0;
}

/* In the cache, as another shape of the loop is told. */
static bool is_there(struct jit *jit, const struct desc *d) {
  bool there = false;
  jit_shapes(jit, d, &(struct shape){.width = 4}, note_scalar, &there);
  return there;
}

TEST(memory_cache_compiler) {
  struct store *store = open_store();
  struct jit *jit = open_jit(store, JIT_ON);
  struct desc d = scaled_sum(0.5), other = scaled_sum(0.25);
  assert_false(is_there(jit, &d));
  struct jit_code code = code_of(jit, &d);
  assert_int_equal(code.from, JIT_FROM_COMPILER);
  run_sum(code.run, &d, 0.5);
  assert_true(is_there(jit, &d));
  assert_int_equal(code_of(jit, &d).from, JIT_FROM_MEMORY);
  struct jit_code again = code_of(jit, &other); /* another value of a constant is another specialisation */
  assert_int_equal(again.from, JIT_FROM_COMPILER);
  run_sum(again.run, &other, 0.25);
  run_sum(code.run, &d, 0.5);
  assert_int_equal(jit_counters(jit)->compiles, 2);
  jit_close(jit);
  store_close(store);

  store = open_store();
  jit = open_jit(store, JIT_LOAD);
  assert_true(is_there(jit, &d));
  code = code_of(jit, &d);
  assert_int_equal(code.from, JIT_FROM_CACHE);
  run_sum(code.run, &d, 0.5);
  assert_int_equal(jit_counters(jit)->compiles, 0);
  assert_int_equal(jit_counters(jit)->cache_hits, 1);

  struct desc missing = scaled_sum(0.125);
  struct error err = {0};
  assert_int_equal(jit_code(jit, &missing, &scalar, &code, &err), OP_ERR_CACHE_MISS);
  assert_non_null(strstr(error_message(&err), "kernel vadd (scalar) is not in the cache"));
  assert_non_null(strstr(error_message(&err), "constant factor 0.25 -> 0.125"));
  jit_close(jit);
  jit = open_jit(store, JIT_OFF);
  assert_int_equal(jit_code(jit, &d, &scalar, &code, &err), OP_ERR_BACKEND);
  jit_close(jit);
  jit = open_jit(NULL, JIT_LOAD);
  assert_int_equal(jit_code(jit, &d, &scalar, &code, &err), OP_ERR_CACHE_MISS);
  jit_close(jit);
  store_close(store);
  error_free(&err);
  desc_free(&d);
  desc_free(&other);
  desc_free(&missing);
}

/* The folder's links are the threads and two more. */
static long threads_of_process(void) {
  struct stat folder;
  assert_int_equal(stat("/proc/self/task", &folder), 0);
  return (long)folder.st_nlink - 2;
}

/* Compiled behind the program: jit_code takes what is ready; what is wrong with a kernel it says as ever. */
TEST(compiled_ahead) {
  struct jit *jit;
  int compiling = 0;
  const struct jit_options options = {.mode = JIT_ON, .behind = &compiling};
  struct desc d = scaled_sum(0.75), wrong = scaled_sum(0.875);
  struct jit_code code;
  struct error err = {0};
  const long before = threads_of_process();
  assert_int_equal(jit_open(&jit, &options, &err), OP_OK);
  while (!jit_prepare(jit, &d, &scalar)) {
    jit_collect(jit);
    assert_true(!compiling || threads_of_process() <= before + compiling);
    sched_yield();
  }
  assert_int_equal(compiling, 0);
  assert_false(jit_is_busy(jit));
  assert_int_equal(jit_counters(jit)->compiles, 0);
  code = code_of(jit, &d);
  assert_int_equal(code.from, JIT_FROM_COMPILER);
  run_sum(code.run, &d, 0.75);
  assert_int_equal(jit_counters(jit)->compiles, 1);
  assert_true(jit_prepare(jit, &d, &scalar));
  assert_int_equal(code_of(jit, &d).from, JIT_FROM_MEMORY);

  free(wrong.text);
  wrong.text =
      strdup("void vadd(const double *a, const double *b, double *c) {\n  c[0] = a[0] + nothing;\n}\n");
  while (!jit_prepare(jit, &wrong, &scalar))
    sched_yield();
  assert_int_equal(jit_code(jit, &wrong, &scalar, &code, &err), OP_ERR_COMPILE);
  assert_non_null(strstr(error_message(&err), "nothing"));
  jit_close(jit);
  jit = open_jit(NULL, JIT_LOAD);
  assert_true(jit_prepare(jit, &d, &scalar));
  assert_false(jit_is_busy(jit));
  jit_close(jit);
  error_free(&err);
  desc_free(&d);
  desc_free(&wrong);
}

/* Its name and version on one line; the files that it consists of are known by their identities, not by name. */
TEST(compiler_has_a_name) {
  struct plugin plugin = {0};
  struct error err = {0};
  struct text label = {0};
  int major = 0, end = 0;
  assert_int_equal(plugin_find(&plugin, NULL, &err), OP_OK);
  plugin_label(&plugin, &label);
  assert_int_equal(sscanf(text_str(&label), "clang %d.%*d.%*d%n", &major, &end), 1);
  assert_true(major >= 16 && end == (int)label.length);
  text_free(&label);
  plugin_free(&plugin);
}

/* A binary that is intact, and none. */
TEST(useless_binary) {
  struct store *store = open_store();
  struct jit *jit = open_jit(store, JIT_ON);
  struct desc d = scaled_sum(3);
  char hash[65];
  memcpy(hash, code_of(jit, &d).hash, sizeof hash);
  jit_close(jit);
  struct store_key key;
  assert_true(store_find_key(store, hash, &key) > 0);
  struct store_new_binary rubbish = {.data = "this is no object file", .size = 22};
  assert_true(store_put_binary(store, &key, &rubbish));
  store_key_free(&key);
  jit = open_jit(store, JIT_ON);
  struct jit_code code = code_of(jit, &d);
  assert_int_equal(code.from, JIT_FROM_COMPILER);
  run_sum(code.run, &d, 3);
  jit_close(jit);
  jit = open_jit(store, JIT_ON);
  assert_int_equal(code_of(jit, &d).from, JIT_FROM_CACHE);
  jit_close(jit);
  store_close(store);
  desc_free(&d);
}

/* A binary from where libmvec has more than here: a miss, and what is made here is kept. */
TEST(unknown_function) {
  struct store *store = open_store();
  struct jit *jit = open_jit(store, JIT_ON);
  struct desc d = build_loop("chain", "void chain(const double *a, double *b) { b[0] = cosh(a[0]); }");
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_WRITE);
  char hash[65];
  memcpy(hash, code_of(jit, &d).hash, sizeof hash);
  jit_close(jit);
  struct store_key key;
  struct store_blob blob;
  assert_true(store_find_key(store, hash, &key) > 0);
  assert_true(store_get_binary(store, &key, &blob));
  int renamed = 0;
  for (char *at = blob.data, *end = at + blob.size - 4; at < end; at++)
    if (memcmp(at, "cosh", 4) == 0) {
      at[3] = 'x';
      renamed++;
    }
  assert_true(renamed > 0);
  const struct store_new_binary foreign = {.data = blob.data, .size = blob.size};
  assert_true(store_put_binary(store, &key, &foreign));
  store_blob_free(&blob);
  store_key_free(&key);
  jit = open_jit(store, JIT_ON);
  struct jit_code code = code_of(jit, &d);
  assert_int_equal(code.from, JIT_FROM_COMPILER);
  assert_int_equal(jit_counters(jit)->cache_hits, 0);
  double a[5] = {0, 1, -1, 0.5, 2}, b[5] = {0};
  void *frame[16] = {a, b};
  assert_true(desc_slots(&d) <= 16);
  code.run(frame, NULL, 0, 5);
  for (int i = 0; i < 5; i++)
    assert_true(fabs(b[i] - cosh(a[i])) <= 4 * DBL_EPSILON * cosh(a[i]));
  jit_close(jit);
  jit = open_jit(store, JIT_LOAD);
  assert_int_equal(code_of(jit, &d).from, JIT_FROM_CACHE);
  jit_close(jit);
  store_close(store);
  desc_free(&d);
}

/* ---- what does not compile -------------------------------------------------------------------------*/

static struct desc broken(const char *text, const char *file, int line, bool one_line) {
  struct desc d = build_loop("k", text);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_RW);
  assert_true(origins_add(
      &d.origins,
      (struct origin){.line = 1, .file = (char *)(size_t)file, .file_line = line, .one_line = one_line}));
  return d;
}

static void expect_failure(struct jit *jit, const struct desc *d, const char *message) {
  struct jit_code code;
  struct error err = {0};
  assert_int_equal(jit_code(jit, d, &scalar, &code, &err), OP_ERR_COMPILE);
  char *compiler = strstr(error_message(&err), "\n(clang ");
  assert_non_null(compiler);
  char *shown = strndup(error_message(&err), (size_t)(compiler - error_message(&err)));
  assert_string_equal(shown, message);
  assert_non_null(strstr(compiler, "OP2_DUMP=FOLDER keeps the generated source)"));
  free(shown);
  error_free(&err);
}

/* As op2jit cache why prints it: at the place that the error named. */
static void check_event(void *user, const struct store_event *event) {
  static const char place[] = "mesh.c:42:9: use of undeclared identifier 'y'; ";
  assert_string_equal(event->event, "failed");
  assert_int_equal(strncmp(event->reason, place, sizeof place - 1), 0);
  ++*(int *)user;
}

#define UNDECLARED(name)                                                                                     \
  "put it in the text: of the program a kernel sees only its text, so write functions, enums and #defines "  \
  "in "                                                                                                      \
  "front of the kernel, or share it with all kernels by op_prelude_file or op_decl_prelude; if " name        \
  " is a constant, declare it with op_decl_const before the loop (op2jit check: --const)"

TEST(compile_errors) {
  static const char text[] = "void k(double *x)\n{\n\tx[0] = y + sqrt(2.0);\n}\n";
  static const char in_file[] = "kernel k does not compile\n"
                                "mesh.c:42:9: error: use of undeclared identifier 'y'\n"
                                "    42 | \tx[0] = y + sqrt(2.0);\n"
                                "       | \t       ^\n" UNDECLARED("y");
  static const char in_string[] = "kernel k does not compile\n"
                                  "kernel text:3:9: error: use of undeclared identifier 'y'\n"
                                  "     3 | \tx[0] = y + sqrt(2.0);\n"
                                  "       | \t       ^\n" UNDECLARED("y");
  struct store *store = open_store();
  struct jit *jit = open_jit(store, JIT_ON);
  struct desc file = broken(text, "mesh.c", 40, false), string = broken(text, NULL, 0, false);
  expect_failure(jit, &file, in_file);
  expect_failure(jit, &file, in_file); /* at every call */
  expect_failure(jit, &string, in_string);
  assert_int_equal(jit_counters(jit)->failures,
                   1); /* but compiled once: where a text stands is not in the key */
  int events = 0;
  store_history(store, "k", 0, check_event, &events);
  assert_int_equal(events, 1);
  jit_close(jit);
  store_close(store);
  desc_free(&file);
  desc_free(&string);
}

TEST(error_in_one_line) {
  struct jit *jit = open_jit(NULL, JIT_ON);
  struct desc d =
      broken("void k(double *x) { double a = 1; for (int i = 0; i < 3; i++) { a *= z; } x[0] = a; }", "run.c",
             9, true);
  expect_failure(jit, &d,
                 "kernel k does not compile\n"
                 "run.c:9: error: use of undeclared identifier 'z'\n"
                 "       |   double a = 1;\n"
                 "       |   for (int i = 0; i < 3; i++) {\n"
                 "       |     a *= z;\n"
                 "       |          ^\n"
                 "       |   }\n"
                 "       |   x[0] = a;\n" UNDECLARED("z"));
  jit_close(jit);
  desc_free(&d);
}

TEST(wrong_type_behind_a_name) {
  struct jit *jit = open_jit(NULL, JIT_ON);
  struct desc d =
      broken("struct pair { float a, b; };\nvoid k(struct pair *x) {\n  x->a = 1;\n}\n", NULL, 0, false);
  struct jit_code code;
  struct error err = {0};
  assert_int_equal(jit_code(jit, &d, &scalar, &code, &err), OP_ERR_COMPILE);
  assert_non_null(strstr(error_message(&err),
                         "incompatible pointer types passing 'double *' to parameter of type "
                         "'struct pair *'"));
  assert_non_null(strstr(error_message(&err),
                         "kernel text:2:21: note: passing argument to parameter 'x' here\n"
                         "     2 | void k(struct pair *x) {\n"
                         "       |                     ^\n"));
  error_free(&err);
  jit_close(jit);
  desc_free(&d);
}

/* Warnings of the user's kernel are told once, where info lines are wanted, in terms of the user's file. */
TEST(warnings) {
  struct log log = {.level = LOG_INFO, .rank = -1};
  struct jit_options options = {.log = &log};
  struct jit *jit;
  struct error err = {0};
  struct desc d = broken("void k(double *x) {\n  int unused;\n  x[0] = 1;\n}\n", "mesh.c", 7, false);
  char path[80], said[4096];
  snprintf(path, sizeof path, "%s/stderr", folder);
  int kept = dup(2);
  FILE *file = fopen(path, "w+");
  assert_non_null(file);
  assert_int_equal(jit_open(&jit, &options, &err), OP_OK);
  dup2(fileno(file), 2);
  code_of(jit, &d);
  code_of(jit, &d);
  dup2(kept, 2);
  close(kept);
  rewind(file);
  said[fread(said, 1, sizeof said - 1, file)] = '\0';
  fclose(file);
  static const char warning[] = "op2jit: jit: kernel k has warnings\n"
                                "mesh.c:8:7: warning: unused variable 'unused'\n"
                                "     8 |   int unused;\n"
                                "       |       ^\n";
  assert_non_null(strstr(said, warning));
  assert_null(strstr(strstr(said, warning) + strlen(warning), "has warnings"));
  jit_close(jit);
  desc_free(&d);
}

/* Hostile texts end in an error. */
TEST(hostile_texts) {
  struct jit *jit = open_jit(NULL, JIT_ON);
  static const char *const texts[] = {"void k(double *x) { } }",
                                      "void k(double *x) { /* }",
                                      "void k(double *x) { \"open }",
                                      "#error stop\nvoid k(double *x) {}",
                                      "#include \"k.c\"\nvoid k(double *x) {}",
                                      "void k(double *x) { __asm__(\"nonsense here\"); }",
                                      "void k(double *x) { x[0] = unknown_function(x); }"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct desc d = broken(texts[i], NULL, 0, false);
    struct jit_code code;
    struct error err = {0};
    int status = jit_code(jit, &d, &scalar, &code, &err);
    if (status == OP_OK)
      fail_msg("accepted: %s", texts[i]);
    error_free(&err);
    desc_free(&d);
  }
  jit_close(jit);
}

/* ---- OP2_DUMP ------------------------------------------------------------------------------------*/

TEST(dump) {
  struct store *store = open_store();
  char kept[80], path[400];
  snprintf(kept, sizeof kept, "%s/dump/deeper", folder);
  struct jit_options options = {.store = store, .dump = kept};
  struct jit *jit, *plain = open_jit(NULL, JIT_ON);
  struct error err = {0};
  struct desc d = scaled_sum(7);
  assert_int_equal(jit_open(&jit, &options, &err), OP_OK);
  struct jit_code code = code_of(jit, &d), without = code_of(plain, &d);
  run_sum(code.run, &d, 7);
  assert_string_equal(code.hash, without.hash); /* the same key */
  assert_true(code.size > without.size);        /* debug information */
  static const char *const names[] = {"vadd.loop.c", "vadd.c", "op2jit_prelude.h",
                                      "key.txt",     "vadd.o", "messages.txt"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/vadd-scalar-%.8s/%s", kept, code.hash, names[i]);
    if (access(path, R_OK) != 0)
      fail_msg("no %s", path);
  }
  jit_close(jit);
  jit = open_jit(store, JIT_ON); /* such code is not kept for others */
  assert_int_equal(code_of(jit, &d).from, JIT_FROM_COMPILER);
  jit_close(jit);
  jit_close(plain);
  store_close(store);
  desc_free(&d);
}

FIXTURE(make_folder) {
  if (!mkdtemp(folder))
    return -1;
  snprintf(database, sizeof database, "%s/kernels.db", folder);
  return 0;
}

FIXTURE(remove_folder) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

AROUND_ALL(make_folder, remove_folder)
