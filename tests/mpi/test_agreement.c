/* One rank does something else than the others: all ranks get the same error, with the rank and both values, and go on
 * from there. */
#include "check.h"

static int rank, size, odd;

static op_set cells;
static op_dat values;

static const char plain[] = "void twice(const double *x, double *y) {\n"
                            "  *y = 2 * *x;\n"
                            "}\n";
static const char edited[] = "void twice(const double *x, double *y) {\n"
                             "  *y = 3 * *x;\n"
                             "}\n";

static int call(const char *text, const char *name, op_access access, int present) {
  static double sum[3];
  op_arg args[] = {op_arg_dat(values, -1, OP_ID, 1, "double", OP_READ),
                   op_opt_arg_gbl(present, sum, 1, "double", access)};
  return op2jit_par_loop_array(text, name, cells, 2, args, __FILE__, __LINE__);
}

static int known(const char *text, int present) {
  return call(text, "twice", OP_INC, present);
}

static void expect(int code, const char *words) {
  check(op_last_error()->code == code);
  if (!strstr(op_last_error()->message, words))
    fprintf(stderr, "expected: %s\n", words);
  check(strstr(op_last_error()->message, words));
}

/* "A on rank 1, B on rank 0": the odd one comes first. With two ranks none is usual, and the lower one counts as it. */
static void expect_values(int code, const char *before, const char *odd_value, const char *usual_value) {
  char words[300];
  snprintf(words, sizeof words, "%s%s on rank %d, %s on rank 0", before, odd_value, odd, usual_value);
  expect(code, words);
}

static void test_kernels(void) {
  known(rank == odd ? edited : plain, 1);
  expect_values(OP_ERR_MPI, "loop twice, kernel text, line 2: ", "  *y = 3 * *x;", "  *y = 2 * *x;");
  call(plain, "twice", rank == odd ? OP_MIN : OP_INC, 1);
  expect_values(OP_ERR_MPI, "loop twice, argument 2: ", "OP_MIN", "OP_INC");
  known(plain, rank != odd);
  expect_values(OP_ERR_MPI, "loop twice, argument 2: ", "absent", "present");
  char words[100];
  snprintf(words, sizeof words, "rank %d calls loop twice, rank 0 calls op_barrier", odd);
  if (rank == odd)
    known(plain, 1);
  else
    op_barrier();
  expect(OP_ERR_MPI, words);
}

static void add(const double *x, double *y) {
  *y += *x;
}

/* Kernels that were compiled in another folder are the same; where texts differ, #line is not what differs. */
static void test_folders(void) {
  static const char here[] = "#line 10 \"/here/share.c\"\n", there[] = "#line 12 \"/there/share.c\"\n";
  static char text[200];
  snprintf(text, sizeof text, "%s%s", rank == odd ? there : here, rank == odd ? edited : plain);
  known(text, 1);
  expect_values(OP_ERR_MPI, "loop twice, kernel text, line 2: ", "  *y = 3 * *x;", "  *y = 2 * *x;");
  snprintf(text, sizeof text, "%s%s", rank == odd ? there : here,
           "void add(const double *x, double *y) {\n  *y += *x;\n}\n");
  check(op_kernel_native(text, (op_kernel_function)add) == text);
  check(call(text, "add", OP_INC, 1) == OP_OK);
}

/* One rank makes another call than its first loop, which has the mesh distributed. */
static void test_first_loop(void) {
  char words[100];
  double out[4];
  if (rank == odd)
    op_fetch_data(values, out);
  else
    known(plain, 1);
  snprintf(words, sizeof words, "rank %d calls op_fetch_data of dat \"values\", rank 0 calls loop twice",
           odd);
  expect(OP_ERR_MPI, words);
  if (rank == odd)
    known(plain, 1);
  else
    check(op_decl_set(4, "late") == NULL);
  snprintf(words, sizeof words, "rank %d calls loop twice, rank 0 calls op_decl_set of set \"late\"", odd);
  expect(OP_ERR_MPI, words);
}

static void test_constants(void) {
  const double one = 1.5, other = 2.5;
  op_decl_const("factor", 1, "double", rank == odd ? &other : &one);
  expect_values(OP_ERR_MPI, "op_decl_const of constant \"factor\", value: ", "double 2.5", "double 1.5");
  check(op_decl_const("factor", 1, "double", &one) == OP_OK);
}

static void test_declarations(void) {
  char words[200];
  const int table[] = {0, 1, 2, rank == odd ? 99 : 3};
  check(op_decl_set(rank == odd ? -1 : 4, "edges") == NULL);
  snprintf(words, sizeof words, "rank %d: set \"edges\": the size is -1", odd);
  expect(OP_ERR_SIZE, words);
  op_set edges = op_decl_set(4, "edges");
  check(edges);
  check(op_decl_map(edges, cells, 1, table, rank == odd ? "to" : "from") == NULL);
  const int code = op_last_error()->code;
  check(code == OP_ERR_MAP_RANGE || code == OP_ERR_MPI);
  check(op_decl_dat(edges, rank == odd ? 2 : 1, "double", NULL, "x") == NULL);
  expect_values(OP_ERR_MPI, "op_decl_dat of dat \"x\", dim: ", "2", "1");
  check(op_decl_dat(edges, 1, "double", NULL, "x"));
}

/* A mistake that all ranks make alike is one error of all. */
static void test_alike(void) {
  char words[100];
  call("void twice(const double *x, double *y) { *y = *x * ; }", "twice", OP_INC, 1);
  snprintf(words, sizeof words, "all %d ranks: ", size);
  check(op_last_error()->code == OP_ERR_COMPILE || op_last_error()->code == OP_ERR_BACKEND);
  expect(op_last_error()->code, words);
  known(NULL, 1);
  expect(OP_ERR_ARGUMENT, words);
}

OP_KERNEL_DEF(
    count, void count(const double *x, double *n) { *n += *x; })

static void test_afterwards(void) {
  double n = 0;
  const long long before = op_counters()->loops;
  check(op_par_loop(OP_KERNEL_OF(count), "count", cells, op_arg_dat(values, -1, OP_ID, 1, "double", OP_READ),
                    op_arg_gbl(&n, 1, "double", OP_INC)) == OP_OK);
  check(op_counters()->loops == before + 1 && n > 0);
}

int main(int argc, char **argv) {
  const double ones[] = {1, 1, 1, 1};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  check(op_init(argc, argv, 0) == OP_OK);
  rank = op_rank();
  size = argc > 1 ? atoi(argv[1]) : 0;
  odd = size - 1;
  check(size > 1 && rank < size);
  cells = op_decl_set(4, "cells");
  values = op_decl_dat(cells, 1, "double", ones, "values");
  check(cells && values);
  test_first_loop();
  test_kernels();
  test_folders();
  test_constants();
  test_declarations();
  test_alike();
  test_afterwards();
  check(op_exit() == OP_OK);
  op_printf("%d ranks agree\n", size);
  return 0;
}
