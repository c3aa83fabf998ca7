/* Text that kernels share, and files that they include. */
#include "support.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared_in_file.h"

static op_set set;
static op_dat in;

/* clang-format off */
OP_KERNEL_DEF(add, void add(const double *x, double *sum) {
  struct pair p = {{HALF(*x), *x}, SOLID};
  *sum += weigh(p.kind, p.inner[0]) + WALL;
})
/* clang-format on */

static void make_data(void) {
  const double values[3] = {10, 20, 30};
  set = op_decl_set(3, "set");
  in = op_decl_dat(set, 1, "double", values, "in");
}

static int add_up(const char *text, const char *name, double *sum) {
  *sum = 0;
  return op_par_loop(text, name, set, direct(in, 1, "double", OP_READ), op_arg_gbl(sum, 1, "double", OP_INC));
}

static double sum_of(const char *text, const char *name) {
  double sum;
  works(add_up(text, name, &sum));
  return sum;
}

static bool is_native(void) {
  const char *backend = getenv("OP2_BACKEND") ? getenv("OP2_BACKEND") : "";
  return strcmp(backend, "native") == 0;
}

LIBRARY_TEST(a_kernel_has_the_enums_structs_macros_tables_and_functions_of_a_prelude) {
  make_data();
  works(op_prelude_file("shared_in_file.h"));
  assert_true(sum_of(OP_KERNEL_OF(add), "add") == 306);
}

LIBRARY_TEST(a_prelude_of_a_string_or_of_op_kernel_is_the_same) {
  make_data();
  works(op_decl_prelude("enum { THREE = 3 };\n#define TWICE(x) (2 * (x))\n"));
  works(op_decl_prelude(OP_KERNEL(static double thrice(double x) { return THREE * x; })));
  if (!is_native())
    assert_true(sum_of("void k(const double *x, double *s) { *s += thrice(TWICE(*x)); }", "k") == 360);
}

LIBRARY_TEST(the_same_prelude_again_adds_nothing) {
  make_data();
  for (int i = 0; i < 3; i++) {
    works(op_decl_prelude("static double plus(double x) { return x + 1; }"));
    works(op_prelude_file("shared_in_file.h"));
    if (!is_native())
      assert_true(sum_of("void k(const double *x, double *s) { *s += plus(*x); }", "k") == 63);
  }
  assert_int_equal(op_counters()->records, is_native() ? 0 : 1);
}

LIBRARY_TEST(a_prelude_after_the_first_loop_is_seen_by_the_loops_behind_it) {
  static const char text[] = "#ifdef LATE\nvoid k(const double *x, double *s) { *s += 1; }\n#else\n"
                             "void k(const double *x, double *s) { *s += *x; }\n#endif\n";
  if (is_native())
    return;
  make_data();
  assert_true(sum_of(text, "k") == 60);
  works(op_decl_prelude("#define LATE\n"));
  assert_true(sum_of(text, "k") == 3);
}

LIBRARY_TEST(what_is_not_closed_is_found_at_once_and_leaves_nothing) {
  make_data();
  fails(OP_ERR_KERNEL, op_decl_prelude("enum kind { FLUID, SOLID;\n"));
  assert_non_null(strstr(op_last_error()->message, "prelude"));
  fails(OP_ERR_KERNEL, op_decl_prelude("enum { A }; /* and"));
  fails(OP_ERR_FILE, op_prelude_file("/nowhere/shared.h"));
  fails(OP_ERR_FILE, op_prelude_file("nowhere.h"));
  assert_non_null(strstr(op_last_error()->message, "OP2_KERNELS (")); /* all places */
  assert_non_null(strstr(op_last_error()->message, "that of the source ("));
  fails(OP_ERR_ARGUMENT, op_decl_prelude(NULL));
  if (!is_native())
    assert_true(sum_of("void k(const double *x, double *s) { *s += *x; }", "k") == 60);
}

/* ---- files that include files ---------------------------------------------------------------------*/

static char folder[64];

static void write_file(const char *name, const char *text) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static const char *in_folder(const char *name) {
  static char path[200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void make_folders(void) {
  strcpy(folder, "/tmp/op2jit-prelude-XXXXXX");
  assert_non_null(mkdtemp(folder));
  assert_int_equal(mkdir(in_folder("sub"), 0700), 0);
}

static void remove_folders(void) {
  char command[100];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a folder that the test made */
}

static void start_with_folders(void) {
  char word[200], program[] = "test";
  char *words[] = {program, word};
  snprintf(word, sizeof word, "OP2_INCLUDE=/nowhere:%s/sub", folder);
  works(op_exit());
  works(op_init(2, words, 0));
  make_data();
}

static const char kernel[] = "#include \"a.h\"\n"
                             "void k(const double *x, double *s) {\n  *s += a(*x) + BEE;\n}\n";

LIBRARY_TEST(files_are_found_beside_the_file_and_in_the_folders) {
  if (is_native())
    return;
  make_folders();
  write_file("k.c", kernel);
  write_file(
      "a.h",
      "#include <math.h>\n#include \"sub/b.h\"\nstatic double a(double x) { return fabs(x) + c(); }\n");
  write_file("sub/b.h",
             "#ifndef B_H\n#define B_H\n#include \"c.h\"\n#include \"../a.h\"\n#define BEE 7\n#endif\n");
  write_file("sub/c.h", "#pragma once\n#include \"b.h\"\nstatic double c(void) { return 100; }\n");
  start_with_folders();
  fails(OP_ERR_KERNEL, add_up(op_kernel_file(in_folder("k.c")), "k", &(double){0})); /* a.h includes itself */
  write_file("sub/b.h", "#ifndef B_H\n#define B_H\n#include \"c.h\"\n#define BEE 7\n#endif\n");
  start_with_folders();
  assert_true(sum_of(op_kernel_file(in_folder("k.c")), "k") == 60 + 300 + 21);
  assert_true(
      sum_of("#include <b.h>\n#include \"c.h\"\nvoid k(const double *x, double *s) { *s += c() + BEE; }",
             "k") == 321);
  remove_folders();
}

LIBRARY_TEST(messages_name_the_file_and_the_line) {
  char place[300];
  if (is_native())
    return;
  make_folders();
  write_file("k.c", kernel);
  write_file("a.h", "#define BEE 7\n\nstatic double a(double x) {\n  return x + nobody;\n}\n");
  start_with_folders();
  fails(OP_ERR_COMPILE, add_up(op_kernel_file(in_folder("k.c")), "k", &(double){0}));
  snprintf(place, sizeof place, "%s:4", in_folder("a.h"));
  assert_non_null(strstr(op_last_error()->message, place));
  assert_non_null(strstr(op_last_error()->message, "     4 |   return x + nobody;"));
  if (!getenv("OP2_BACKEND") ||
      strcmp(getenv("OP2_BACKEND"), "cuda") != 0) /* whose compiler, in tests, has other words */
    assert_non_null(strstr(op_last_error()->message, "op_prelude_file"));
  write_file("sub/d.h", "#define BEE 7\nstatic double a(double x) { return x; }\n");
  fails(OP_ERR_COMPILE,
        add_up("#include \"d.h\"\nvoid k(const double *x, double *s) {\n  *s += a(*x) + nobody;\n}\n", "k",
               &(double){0}));
  assert_non_null(strstr(op_last_error()->message, "kernel text:3"));
  write_file("sub/empty.h", "\n\n\n");
  write_file("sub/inner.h", "*s += *x +\n  nobody;\n"); /* in the middle of the function */
  fails(OP_ERR_COMPILE, add_up("/* k */\nvoid k(const double *x, double *s) {\n#include \"inner.h\"\n}\n",
                               "k", &(double){0}));
  assert_non_null(strstr(op_last_error()->message, "inner.h:2"));
  fails(OP_ERR_COMPILE,
        add_up("/* k */\nvoid k(const double *x, double *s) {\n#include \"empty.h\"\n  *s += nobody;\n}\n",
               "k", &(double){0}));
  assert_non_null(strstr(op_last_error()->message, "kernel text:4"));
  remove_folders();
}

LIBRARY_TEST(a_file_that_is_nowhere_is_an_error_that_says_where_it_was_looked_for) {
  char place[300];
  if (is_native())
    return;
  make_folders();
  write_file("k.c", kernel);
  start_with_folders();
  fails(OP_ERR_KERNEL, add_up(op_kernel_file(in_folder("k.c")), "k", &(double){0}));
  assert_non_null(strstr(op_last_error()->message, "looked for it beside "));
  snprintf(place, sizeof place, ", in OP2_INCLUDE (/nowhere:%s/sub)", folder);
  assert_non_null(strstr(op_last_error()->message, place));
  snprintf(place, sizeof place, "%s:1:1", in_folder("k.c"));
  assert_non_null(strstr(op_last_error()->message, place));
  remove_folders();
}

/* The compiler's word counts where conditions decide. */
LIBRARY_TEST(what_only_the_program_includes_may_be_missing) {
  static const char text[] = "#ifndef OP2JIT_KERNEL\n#include <vector>\n#include \"none.h\"\n#endif\n"
                             "void k(const double *x, double *s) { *s += *x; }";
  if (is_native())
    return;
  make_data();
  assert_true(sum_of(text, "k") == 60);
  fails(OP_ERR_COMPILE, add_up("#ifdef OP2JIT_KERNEL\n#include \"none.h\"\n#endif\n"
                               "void k(const double *x, double *s) { *s += *x; }",
                               "k", &(double){0}));
  assert_non_null(strstr(op_last_error()->message, "none.h"));
}

/* ---- the key --------------------------------------------------------------------------------------*/

static void start_anew(const char *cache) {
  char word[200], program[] = "test";
  char *words[] = {program, word};
  snprintf(word, sizeof word, "OP2_CACHE=%s/%s", folder, cache);
  works(op_exit());
  works(op_init(2, words, 0));
  make_data();
}

static double run_with_header(const char *text) {
  write_file("a.h", text);
  start_anew("kernels.db");
  works(op_prelude_file(in_folder("a.h")));
  return sum_of("void k(const double *x, double *s) { *s += a(*x); }", "k");
}

LIBRARY_TEST(changed_text_is_compiled_anew_and_unchanged_text_is_not) {
  if (is_native() || getenv("OP2_CHECK")) /* which compiles a form of its own as well */
    return;
  make_folders();
  assert_true(run_with_header("static double a(double x) { return x; }\n") == 60);
  assert_int_equal(op_counters()->compiles, 1);
  assert_true(run_with_header("static double a(double x) { return x + 1; }\n") == 63);
  assert_int_equal(op_counters()->compiles, 1);
  assert_true(run_with_header("static double a(double x) { return x; }\n") == 60);
  assert_int_equal(op_counters()->compiles, 0);
  assert_int_equal(op_counters()->cache_hits, 1);
  remove_folders();
}

/* Other kernels of the file, what they alone use, and comments. */
LIBRARY_TEST(what_a_kernel_does_not_use_compiles_nothing) {
  static const char *const files[] = {
      "#define TWO 2\nstatic const double gam = 1.4;\nstatic double a(double x) { return x * TWO; }\n"
      "static void other(double *x) { *x = gam; }\n",
      "/* New: */\n#define TWO 2\n#define THREE 3\nstatic const double gam = 1.5; // another\n"
      "static double a(double x) { return x * TWO; }\nstatic void other(double *x) { *x = gam + THREE; }\n"};
  if (is_native() || getenv("OP2_CHECK"))
    return;
  make_folders();
  for (int i = 0; i < 2; i++) {
    assert_true(run_with_header(files[i]) == 120);
    assert_int_equal(op_counters()->compiles, i == 0);
    assert_int_equal(op_counters()->cache_hits, i == 1);
  }
  remove_folders();
}
