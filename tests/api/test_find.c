/* Accesses that are left out are found by what is proved of the kernel. */
#include "support.h"

enum { N = 6 };
static op_set cells, edges;
static op_map ends;
static op_dat x, y, z;

static int declare(void **state) {
  int table[2 * N];
  if (start(state))
    return -1;
  for (int i = 0; i < N; i++) {
    table[2 * i] = i;
    table[2 * i + 1] = (i + 1) % N;
  }
  cells = op_decl_set(N, "cells");
  edges = op_decl_set(N, "edges");
  ends = op_decl_map(edges, cells, 2, table, "ends");
  x = op_decl_dat(cells, 1, "double", NULL, "x");
  y = op_decl_dat(cells, 1, "double", NULL, "y");
  z = op_decl_dat(cells, 1, "double", NULL, "z");
  return 0;
}

static int find(const char *text, op_set set, int nargs, op_arg args[]) {
  return op_find_accesses(text, "k", set, nargs, args, __FILE__, __LINE__);
}

#define FOUND_TEST(name) TEST_BETWEEN(name, declare, stop)

FOUND_TEST(of_dats_by_const_and_by_what_is_done) {
  op_arg args[] = {direct(x, 1, "double", OP_UNSAID), direct(y, 1, "double", OP_UNSAID),
                   direct(z, 1, "double", OP_UNSAID)};
  works(find("void k(const double *x, double *y, double *z) { *y = *x; *z = *z * 2; }", cells, 3, args));
  assert_int_equal(args[0].access_, OP_READ);
  assert_int_equal(args[1].access_, OP_WRITE);
  assert_int_equal(args[2].access_, OP_RW);
  op_arg through[] = {op_arg_dat(x, 0, ends, 1, "double", OP_UNSAID),
                      op_arg_dat(y, -2, ends, 1, "double", OP_UNSAID)};
  works(find("void k(const double *x, double *y[2]) { *y[0] += *x; *y[1] -= *x; }", edges, 2, through));
  assert_int_equal(through[0].access_, OP_READ);
  assert_int_equal(through[1].access_, OP_INC);
  works(op_par_loop_array("void k(const double *x, double *y[2]) { *y[0] += *x; *y[1] -= *x; }", "k", edges,
                          2, through, __FILE__, __LINE__));
}

FOUND_TEST(of_globals) {
  double sum = 0, low = 0, high = 0, given = 0;
  op_arg args[] = {direct(x, 1, "double", OP_UNSAID), op_arg_gbl(&sum, 1, "double", OP_UNSAID),
                   op_arg_gbl(&low, 1, "double", OP_UNSAID), op_arg_gbl(&high, 1, "double", OP_UNSAID),
                   op_arg_gbl(&given, 1, "double", OP_UNSAID)};
  works(find("void k(const double *x, double *s, double *l, double *h, const double *g) {"
             " *s += *x * *g; if (*x < *l) *l = *x; if (fabs(*x) > *h) *h = fabs(*x); }",
             cells, 5, args));
  const int expected[] = {OP_READ, OP_INC, OP_MIN, OP_MAX, OP_READ};
  for (int i = 0; i < 5; i++)
    assert_int_equal(args[i].access_, expected[i]);
}

/* A sum has no place. */
FOUND_TEST(of_globals_with_a_payload) {
  double high = 0;
  int place = -1;
  op_arg args[] = {direct(x, 1, "double", OP_UNSAID), op_arg_idx(-1, OP_ID),
                   op_arg_gbl(&high, 1, "double", OP_UNSAID), op_arg_info(&place, 1, "int", 3)};
  works(
      find("void k(const double *x, const int *e, double *h, int *p) { if (*x > *h) { *h = *x; *p = *e; } }",
           cells, 4, args));
  assert_int_equal(args[2].access_, OP_MAX);
}

/* A description stays, even where it is wrong: the loop says so. */
FOUND_TEST(only_what_is_left_out) {
  op_arg args[] = {direct(x, 1, "double", OP_RW), direct(y, 1, "double", OP_UNSAID)};
  works(find("void k(double *x, double *y) { *x += 1; *y = 1; }", cells, 2, args));
  assert_int_equal(args[0].access_, OP_RW);
  assert_int_equal(args[1].access_, OP_WRITE);
}

FOUND_TEST(what_cannot_be_found_is_said) {
  double value = 1;
  op_arg through[] = {op_arg_dat(x, 0, ends, 1, "double", OP_UNSAID)};
  fails(OP_ERR_ACCESS, find("void k(double *x) { *x = 1; }", edges, 1, through));
  assert_non_null(strstr(op_last_error()->message, "argument 1: the access was left out"));
  assert_int_equal(through[0].access_, (int)OP_UNSAID);
  op_arg global[] = {op_arg_gbl(&value, 1, "double", OP_UNSAID)};
  fails(OP_ERR_ACCESS, find("void k(double *g) { *g = *g * 2; }", cells, 1, global));
  fails(OP_ERR_KERNEL, find("void other(double *g) { *g += 2; }", cells, 1, global));
  fails(OP_ERR_ARGUMENT, find(NULL, cells, 1, global));
  fails(OP_ERR_NARGS, find("void k(double *g) {}", cells, 0, global));
  fails(OP_ERR_HANDLE, find("void k(double *g) {}", NULL, 1, global));
  assert_int_equal(global[0].access_, (int)OP_UNSAID);
  /* A loop that gets what was not found says so. */
  fails(OP_ERR_ACCESS, op_par_loop_array("void k(double *g) {}", "k", cells, 1, global, NULL, 0));
}

struct pair {
  double a, b;
};

/* No struct is added to, and RW is right whatever a kernel writes of it. */
FOUND_TEST(of_structs) {
  struct pair value = {1, 2};
  works(op_decl_prelude("struct pair { double a, b; };"));
  works(OP_TYPE(struct pair, a, b));
  op_dat v = op_decl_dat(cells, 1, "struct pair", NULL, "v"),
         w = op_decl_dat(cells, 1, "struct pair", NULL, "w");
  op_gbl kept = op_decl_gbl(1, "struct pair", &value, "kept");
  op_arg args[] = {direct(v, 1, "struct pair", OP_UNSAID), direct(w, 1, "struct pair", OP_UNSAID),
                   op_arg_gbl(&value, 1, "struct pair", OP_UNSAID), op_arg_global(kept, OP_UNSAID)};
  works(find("void k(const struct pair *v, struct pair *w, const struct pair *g, const struct pair *h) {"
             " w->a += v->b + g->a + h->a; }",
             cells, 4, args));
  const int expected[] = {OP_READ, OP_RW, OP_READ, OP_READ};
  for (int i = 0; i < 4; i++)
    assert_int_equal(args[i].access_, expected[i]);
  op_arg through[] = {op_arg_dat(w, 0, ends, 1, "struct pair", OP_UNSAID)};
  fails(OP_ERR_ACCESS, find("void k(struct pair *w) { w->a += 1; }", edges, 1, through));
  assert_non_null(strstr(op_last_error()->message, "argument 1: the access was left out"));
  for (int i = 2; i < 4; i++) {
    args[i].access_ = (int)OP_UNSAID;
    fails(OP_ERR_ACCESS, find("void k(struct pair *g) { g->a += 1; }", cells, 1, &args[i]));
    assert_non_null(strstr(op_last_error()->message, "the access of the global was left out"));
  }
}

FOUND_TEST(the_report_as_a_text) {
  char few[8], text[8192];
  op_arg args[] = {direct(x, 1, "double", OP_INC)};
  works(op_par_loop_array("void counted(double *x) { *x += 1; }", "counted", cells, 1, args, NULL, 0));
  fails(OP_ERR_SIZE, op_report_json(few, sizeof few));
  fails(OP_ERR_ARGUMENT, op_report_json(NULL, 100));
  works(op_report_json(text, sizeof text));
  assert_non_null(strstr(text, "\"name\":\"counted\",\"calls\":1"));
}
