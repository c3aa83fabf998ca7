/* Elements that meet in what they write, under OP2_CHECK=on: right, unless what they leave depends on their order; then
 * both elements and the target are named. */
#include "../api/support.h"

enum { NODES = 50, PAIRS = 3 * NODES };

static struct mesh {
  op_set nodes, pairs;
  op_map map;
  op_dat value, axis, three;
  int numbers[PAIRS];
} mesh;

/* Pairs 3n, 3n + 1 and 3n + 2 lead to node n. */
FIXTURE(begin) {
  char *argv[] = {"meet", "OP2_CHECK=on"};
  int table[PAIRS];
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  if (op_init(2, argv, 0))
    return -1;
  for (int i = 0; i < PAIRS; i++) {
    table[i] = i / 3;
    mesh.numbers[i] = i % 3;
  }
  mesh.nodes = op_decl_set(NODES, "nodes");
  mesh.pairs = op_decl_set(PAIRS, "pairs");
  mesh.map = op_decl_map(mesh.pairs, mesh.nodes, 1, table, "map");
  mesh.value = op_decl_dat(mesh.nodes, 1, "double", NULL, "value");
  mesh.three = op_decl_dat(mesh.nodes, 3, "double", NULL, "three");
  mesh.axis = op_decl_dat(mesh.pairs, 1, "int", mesh.numbers, "axis");
  return mesh.axis ? 0 : -1;
}

static op_arg written(op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, 0, mesh.map, dim, "double", access);
}

static void says(const char *words) {
  if (!strstr(op_last_error()->message, words))
    fail_msg("\"%s\" is not in: %s", words, op_last_error()->message);
}

static int run(const char *kernel, const char *name, op_arg to) {
  return op_par_loop(kernel, name, mesh.pairs, direct(mesh.axis, 1, "int", OP_READ), to);
}

/* ---- the order does not matter ---- */

OP_KERNEL_DEF(
    hold, void hold(const int *axis, double *f) { f[*axis] = 0; })
OP_KERNEL_DEF(
    clear, void clear(const int *axis, double *f) { *f = *axis < 0; })
OP_KERNEL_DEF(
    sum_up, void sum_up(const int *axis, double *f) { *f += 0.1 * (*axis + 1); })
OP_KERNEL_DEF(
    about, void about(const int *axis, double *f) { *f = 0.1 * *axis + 0.2 * *axis - 0.3 * *axis + 7; })

#define MEET_TEST(name) TEST_BETWEEN(name, begin, stop)

MEET_TEST(each_writes_a_part) {
  for (int call = 0; call < 3; call++)
    works(run(OP_KERNEL_OF(hold), "hold", written(mesh.three, 3, OP_RW)));
}

MEET_TEST(all_write_the_same) {
  for (int call = 0; call < 3; call++)
    works(run(OP_KERNEL_OF(clear), "clear", written(mesh.value, 1, OP_WRITE)));
}

/* Sums and values may round. */
MEET_TEST(writes_commute) {
  for (int call = 0; call < 3; call++) {
    works(run(OP_KERNEL_OF(sum_up), "sum_up", written(mesh.value, 1, OP_RW)));
    works(run(OP_KERNEL_OF(about), "about", written(mesh.value, 1, OP_WRITE)));
  }
}

/* ---- it does ---- */

OP_KERNEL_DEF(
    last, void last(const int *axis, double *f) { *f = *axis > 1 ? *axis : 1; })
OP_KERNEL_DEF(
    halve, void halve(const int *axis, double *f) { *f = *f / 2 + *axis; })

MEET_TEST(another_value_is_written) {
  fails(OP_ERR_VIOLATION, run(OP_KERNEL_OF(last), "last", written(mesh.value, 1, OP_WRITE)));
  says(
      "loop last, argument 2 (dat \"value\", OP_WRITE): elements 0 and 2 of set \"pairs\" both write element "
      "0 of "
      "set \"nodes\" (map \"map\"), so the result depends on their order: component 0 becomes 1, then 2; use "
      "OP_INC");
}

MEET_TEST(the_order_decides) {
  fails(OP_ERR_VIOLATION, run(OP_KERNEL_OF(halve), "halve", written(mesh.value, 1, OP_RW)));
  says("loop halve, argument 2 (dat \"value\", OP_RW): elements 0 and 1 of set \"pairs\" both write element "
       "0 of set "
       "\"nodes\" (map \"map\"), so the result depends on their order: component 0 is 2.5 forwards and 1 "
       "backwards; use OP_INC");
}

/* Maps stay as they are, but values decide: they are looked at in calls 2, 4, 8 and so on as well. */
MEET_TEST(values_decide_later) {
  int equal[PAIRS] = {0};
  for (int call = 1; call <= 4; call++) {
    works(op_put_data(mesh.axis, call < 4 ? equal : mesh.numbers));
    fails(call < 4 ? OP_OK : OP_ERR_VIOLATION,
          run(OP_KERNEL_OF(halve), "halve", written(mesh.value, 1, OP_RW)));
  }
  says("elements 0 and 1 of set \"pairs\" both write element 0 of set \"nodes\"");
}

OP_KERNEL_DEF(
    numbers, void numbers(const int *axis, double *f, double *at) {
      *f += *axis < 0 ? 2 : 1;
      *at = *f;
    })

/* The result where they meet is the same in any order, and values on the way are not. */
MEET_TEST(what_they_leave_is_used) {
  op_dat at = op_decl_dat(mesh.pairs, 1, "double", NULL, "at");
  fails(OP_ERR_VIOLATION,
        op_par_loop(OP_KERNEL_OF(numbers), "numbers", mesh.pairs, direct(mesh.axis, 1, "int", OP_READ),
                    written(mesh.value, 1, OP_RW), direct(at, 1, "double", OP_WRITE)));
  says("loop numbers, argument 3: the result depends on the order of the elements: dat \"at\", element ");
  says("elements 0 and 1 of set \"pairs\" both write element 0 of set \"nodes\" (map \"map\")");
}
