/* Several calls of one loop that wait at the same time: each has its own globals and results, in whatever order
 * they run. */
#include "support.h"

#include "api/api.h"
#include "context/context.h"
#include "loop/loop.h"
#include "record/launch.h"

enum { CELLS = 1000 };

OP_KERNEL_DEF(
    add, void add(const double *by, double *x, double *sum, double *most) {
      *x += *by;
      *sum += *x;
      if (*x > *most)
        *most = *x;
    })

struct values {
  double by, sum, most;
};

static op_set cells;
static op_dat x;

static void declare(void) {
  cells = op_decl_set(CELLS, "cells");
  x = op_decl_dat(cells, 1, "double", NULL, "x");
}

/* Makes the record. x becomes what it was. */
static struct loop *record_of_add(void) {
  struct values v = {.by = 0};
  works(op_par_loop(OP_KERNEL_OF(add), "add", cells, op_arg_gbl(&v.by, 1, "double", OP_READ),
                    direct(x, 1, "double", OP_RW), op_arg_gbl(&v.sum, 1, "double", OP_INC),
                    op_arg_gbl(&v.most, 1, "double", OP_MAX)));
  struct loop **records = loop_records(api_context()), *record = records[0];
  free(records);
  return record;
}

static struct launch *ready(struct loop *record, struct values *v) {
  struct error err = {0};
  struct launch *launch = launch_get(record, &err);
  assert_non_null(launch);
  launch->user[0] = &v->by;
  launch->user[2] = &v->sum;
  launch->user[3] = &v->most;
  assert_int_equal(loop_make_ready(api_context(), launch, true, &err), OP_OK);
  return launch;
}

static void run(struct launch *launch) {
  struct error err = {0};
  assert_int_equal(loop_go(api_context(), launch, &err), OP_OK);
}

/* Both wait before either runs. */
static void run_two(bool in_order) {
  struct values one = {.by = 1, .sum = 5}, ten = {.by = 10, .sum = 7};
  struct loop *record = record_of_add();
  struct launch *first = ready(record, &one), *second = ready(record, &ten);
  assert_ptr_not_equal(first, second);
  /* READ globals are the call's. */
  one.by = ten.by = 1e6;
  run(in_order ? first : second);
  run(in_order ? second : first);
  assert_true(one.sum == 5 + CELLS * (in_order ? 1.0 : 11.0));
  assert_true(ten.sum == 7 + CELLS * (in_order ? 11.0 : 10.0));
  assert_true(one.most == (in_order ? 1 : 11));
  assert_true(ten.most == (in_order ? 11 : 10));
  launch_put(first);
  launch_put(second);
}

LIBRARY_TEST(run_in_order) {
  declare();
  run_two(true);
}

LIBRARY_TEST(run_the_other_way_round) {
  declare();
  run_two(false);
}

LIBRARY_TEST(are_used_again) {
  declare();
  struct error err = {0};
  struct loop *record = record_of_add();
  struct launch *spare = record->ready.spare;
  assert_non_null(spare);
  record_of_add();
  assert_ptr_equal(record->ready.spare, spare);
  assert_ptr_equal(launch_get(record, &err), spare);
  launch_put(spare);
}
