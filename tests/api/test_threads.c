/* Several threads in the library: one call at a time, all others are refused with OP_ERR_BUSY and change nothing. */
#include "support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { THREADS = 4, CALLS = 2000, ELEMENTS = 50 };

OP_KERNEL_DEF(
    count, void count(double *a) { *a += 1; })
OP_KERNEL_DEF(
    twice, void twice(double *a, double *sum) {
      *a += 2;
      *sum += 1;
    })

struct worker {
  op_set set;
  op_dat dat;
  int number, done, refused, other;
};

static int call_loop(struct worker *w) {
  if (w->number % 2 == 0)
    return op_par_loop(OP_KERNEL_OF(count), "count", w->set, direct(w->dat, 1, "double", OP_RW));
  double sum = 0;
  int code = op_par_loop(OP_KERNEL_OF(twice), "twice", w->set, direct(w->dat, 1, "double", OP_RW),
                         op_arg_gbl(&sum, 1, "double", OP_INC));
  return code == OP_OK && sum != (double)ELEMENTS ? -1 : code;
}

static void *work(void *worker) {
  struct worker *w = worker;
  for (int i = 0; i < CALLS; i++) {
    const int code = call_loop(w);
    w->done += code == OP_OK;
    w->refused += code == OP_ERR_BUSY;
    w->other += code != OP_OK && code != OP_ERR_BUSY;
    if (i % 64 == 0)
      sched_yield();
  }
  return NULL;
}

LIBRARY_TEST(calls_each_its_own_loop) {
  struct worker workers[THREADS] = {0};
  pthread_t threads[THREADS];
  op_kernel_native(OP_KERNEL_OF(count), (op_kernel_function)count);
  op_kernel_native(OP_KERNEL_OF(twice), (op_kernel_function)twice);
  for (int t = 0; t < THREADS; t++) {
    op_set set = op_decl_set(ELEMENTS, "set");
    workers[t] = (struct worker){.set = set, .dat = op_decl_dat(set, 1, "double", NULL, "dat"), .number = t};
  }
  for (int t = 0; t < THREADS; t++)
    assert_int_equal(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
  for (int t = 0; t < THREADS; t++)
    pthread_join(threads[t], NULL);
  for (int t = 0; t < THREADS; t++) {
    const struct worker *w = &workers[t];
    double values[ELEMENTS];
    assert_int_equal(w->other, 0);
    assert_int_equal(w->done + w->refused, CALLS);
    works(op_fetch_data(w->dat, values));
    for (int e = 0; e < ELEMENTS; e++)
      assert_true(values[e] == (t % 2 ? 2.0 : 1.0) * w->done);
  }
}

/* ---- one thread is inside for certain ---- */

static struct { atomic_bool inside, go_on; } door;

static void waits(double *a) {
  atomic_store(&door.inside, true);
  while (!atomic_load(&door.go_on))
    sched_yield();
  *a += 1;
}

static void *enter(void *worker) {
  const struct worker *w = worker;
  return op_par_loop("void waits(double *a) { *a += 1; }", "waits", w->set,
                     direct(w->dat, 1, "double", OP_RW)) == OP_OK
             ? worker
             : NULL;
}

LIBRARY_TEST(refuses_what_comes_meanwhile) {
  op_set one = op_decl_set(1, "one"), set = op_decl_set(ELEMENTS, "set");
  struct worker first = {.set = one, .dat = op_decl_dat(one, 1, "double", NULL, "first")};
  struct worker second = {.set = set, .dat = op_decl_dat(set, 1, "double", NULL, "second")};
  pthread_t thread;
  void *result = NULL;
  double value = 0, values[ELEMENTS];
  op_kernel_native("void waits(double *a) { *a += 1; }", (op_kernel_function)waits);
  assert_int_equal(pthread_create(&thread, NULL, enter, &first), 0);
  while (!atomic_load(&door.inside))
    sched_yield();
  assert_int_equal(call_loop(&second), OP_ERR_BUSY);
  assert_string_equal(op_last_error()->name, "OP_ERR_BUSY");
  assert_non_null(strstr(op_last_error()->message, "one thread"));
  assert_int_equal(op_fetch_data(second.dat, values), OP_ERR_BUSY);
  assert_null(op_decl_set(3, "refused"));
  atomic_store(&door.go_on, true);
  pthread_join(thread, &result);
  assert_ptr_equal(result, &first);
  works(op_fetch_data(first.dat, &value));
  assert_true(value == 1);
  works(call_loop(&second));
  works(op_fetch_data(second.dat, values));
  assert_true(values[0] == 1 && values[ELEMENTS - 1] == 1);
}

int main(void) {
  setenv("OP2_BACKEND", "native", 1);
  return run_these(NULL, NULL);
}
