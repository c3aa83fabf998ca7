/* Kernels in a file that the program includes as well. */
#include "support.h"

#include <sys/stat.h>
#include <unistd.h>

static double step = 2;
#include "kernels_in_file.h"

static op_set set;
static op_dat in, out;

static void make_data(void) {
  const double values[3] = {10, 20, 30};
  set = op_decl_set(3, "set");
  in = op_decl_dat(set, 1, "double", values, "in");
  out = op_decl_dat(set, 1, "double", NULL, "out");
  works(op_decl_const("step", 1, "double", &step));
}

static double result_of(const char *text, const char *name) {
  double found[3];
  works(op_par_loop(text, name, set, direct(in, 1, "double", OP_READ), direct(out, 1, "double", OP_WRITE)));
  works(op_fetch_data(out, found));
  return found[2];
}

LIBRARY_TEST(a_file_has_several_kernels) {
  make_data();
  for (int i = 0; i < 3; i++) {
    assert_true(result_of(OP_KERNEL_FILE("kernels_in_file.h", plus), "plus") == 32);
    assert_true(result_of(OP_KERNEL_FILE("kernels_in_file.h", minus), "minus") == 28);
  }
  assert_int_equal(op_counters()->records, 2);
}

/* ---- where it is looked for: each place has a file whose kernel tells it from the others -------------------- */

static char folder[64];

static void plus_one(const double *x, double *y) {
  *y = *x + 1;
}

static void write_file(const char *below, const char *name) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s", folder, below);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/%s/%s", folder, below, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "static void plus_one(const double *x, double *y) { *y = *x + 1; } /* %s */\n", below);
  assert_int_equal(fclose(file), 0);
}

static void make_folder(void) {
  strcpy(folder, "/tmp/op2jit-kernels-XXXXXX");
  assert_non_null(mkdtemp(folder));
}

static void remove_folder(void) {
  char command[100];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a folder that the test made */
}

/* The text, looked for as by a source of that name below the folder. */
static const char *looked_for(const char *source, const char *name) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s", folder, source);
  return op2jit_kernel_included(name, "plus_one", (op_kernel_function)plus_one, path);
}

static int with_kernels(const char *below) {
  char word[200], program[] = "test";
  char *words[] = {program, word};
  snprintf(word, sizeof word, "OP2_KERNELS=%s/%s", folder, below);
  op_exit();
  return op_init(2, words, 0);
}

LIBRARY_TEST(the_folder_that_the_environment_names_comes_first_then_that_of_the_source) {
  make_folder();
  write_file("named", "a.h");
  write_file("source", "a.h");
  write_file("source", "b.h");
  works(with_kernels("named"));
  make_data();
  const char *text = looked_for("source/program.c", "a.h");
  assert_non_null(strstr(text, "/* named */"));
  assert_non_null(strstr(looked_for("source/program.c", "b.h"), "/* source */"));
  assert_true(result_of(text, "plus_one") == 31);
  remove_folder();
}

LIBRARY_TEST(one_name_in_two_folders_is_two_files) {
  make_folder();
  write_file("first", "a.h");
  write_file("second", "a.h");
  assert_non_null(strstr(looked_for("first/program.c", "a.h"), "/* first */"));
  assert_non_null(strstr(looked_for("second/program.c", "a.h"), "/* second */"));
  remove_folder();
}

LIBRARY_TEST(a_relative_source_is_looked_for_from_the_working_folder_and_a_file_in_it_comes_last) {
  char before[512];
  make_folder();
  write_file("source", "a.h");
  write_file(".", "b.h");
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(folder), 0);
  const op_kernel_function function = (op_kernel_function)plus_one;
  const char *a = op2jit_kernel_included("a.h", "plus_one", function, "source/program.c");
  const char *b = op2jit_kernel_included("b.h", "plus_one", function, "/nowhere/program.c");
  assert_int_equal(chdir(before), 0);
  assert_non_null(strstr(a, "/* source */"));
  assert_non_null(strstr(b, "/* . */"));
  remove_folder();
}

/* As after make in a folder of its own, and a start from anywhere. */
LIBRARY_TEST(a_relative_source_is_looked_for_above_the_program) {
  char before[512];
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir("/"), 0);
  const char *text = OP_KERNEL_FILE("kernels_in_file.h", plus);
  assert_int_equal(chdir(before), 0);
  assert_non_null(text);
}

LIBRARY_TEST(a_file_that_is_nowhere_is_an_error_that_names_all_places) {
  make_folder();
  assert_null(looked_for("source/program.c", "none.h"));
  const char *said = op_last_error()->message;
  assert_int_equal(op_last_error()->code, OP_ERR_FILE);
  char place[100];
  snprintf(place, sizeof place, "that of the source (%s/source)", folder);
  assert_non_null(strstr(said, "none.h"));
  assert_non_null(strstr(said, place));
  assert_non_null(strstr(said, "that of the program ("));
  assert_non_null(strstr(said, "OP2_KERNELS"));
  assert_null(looked_for("program.c", "/none/at/all.h"));
  assert_non_null(strstr(op_last_error()->message, "/none/at/all.h cannot be opened"));
  assert_null(op2jit_kernel_included(NULL, "plus", (op_kernel_function)plus, __FILE__));
  assert_int_equal(op_last_error()->code, OP_ERR_ARGUMENT);
  remove_folder();
}

LIBRARY_TEST(messages_name_the_file_and_its_line) {
  make_data();
  fails(OP_ERR_KERNEL, op_par_loop(OP_KERNEL_FILE("kernels_in_file.h", plus), "plus", set,
                                   direct(in, 1, "double", OP_READ)));
  assert_non_null(strstr(op_last_error()->message, "kernels_in_file.h:6:"));
}
