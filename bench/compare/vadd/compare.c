/* vadd against hand-written loops. */
#include "common/memory.h"
#include "common/options.h"
#include "common/ranks.h"
#include "common/report.h"
#include "twin.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/vadd/vadd.c"
#undef main

/* Seconds for one addition: the middle of `repeats` measurements. */
static double time_library(int repeats, op_set elements, op_dat a, op_dat b, op_dat c) {
  double *times = room(repeats, sizeof *times);
  for (int i = 0; i < repeats; i++) {
    double last;
    double start = clock_seconds();
    run_add(elements, a, b, c);
    wait_for(c, &last);
    times[i] = clock_seconds() - start;
  }
  double middle = median(times, repeats);
  free(times);
  return middle;
}

static double time_twin(int repeats, void (*twin)(const struct vadd_arrays *),
                        const struct vadd_arrays *arrays, struct check *check) {
  double *times = room(repeats, sizeof *times);
  long long wrong = 0;
  for (int i = 0; i < arrays->size; i++)
    arrays->c[i] = -1;
  for (int i = 0; i < repeats; i++) {
    double start = clock_seconds();
    twin(arrays);
    times[i] = clock_seconds() - start;
  }
  for (int i = 0; i < arrays->size; i++)
    wrong += arrays->c[i] != 3.0 * i;
  check_equal(check, "wrong sums by hand", wrong, 0);
  double middle = median(times, repeats);
  free(times);
  return middle;
}

int main(int argc, char **argv) {
  int size = 4000000, repeats = 10, compare = 0;
  const struct option_entry entries[] = {
      {"size", OPTION_INT, &size, 1, 2e9, "length of the vectors"},
      {"repeats", OPTION_INT, &repeats, 1, 1e6, "how often to measure"},
      {"compare", OPTION_FLAG, &compare, 0, 0, "time the hand-written loops too"},
  };
  enum options_outcome outcome = options_read(argc, argv, "add two vectors and count the wrong sums",
                                              sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;

  op_init(argc, argv, 1);
  struct vadd_arrays arrays = vadd_arrays_make(size);
  op_set elements = op_decl_set(declared(size), "elements");
  op_dat a = op_decl_dat(elements, 1, "double", arrays.a, "a");
  op_dat b = op_decl_dat(elements, 1, "double", arrays.b, "b");
  op_dat c = op_decl_dat(elements, 1, "double", NULL, "c");
  share_out(elements);

  int right = 0, wrong = 0;
  run_add(elements, a, b, c);
  op_par_loop(OP_KERNEL_OF(count), "count", elements, op_arg_dat(c, -1, OP_ID, 1, "double", OP_READ),
              op_arg_idx(-1, OP_ID), op_arg_gbl(&right, 1, "int", OP_INC),
              op_arg_gbl(&wrong, 1, "int", OP_INC));
  op_printf("vectors of %d added with %d errors\n", size, wrong);
  struct check check = {0};
  check_equal(&check, "wrong sums", wrong, 0);
  check_equal(&check, "right sums", right, size);

  double bytes = 3.0 * sizeof(double) * size, base = 0;
  compare_header("one addition");
  if (compare && op_is_root()) {
    compare_row("hand-written, serial", time_twin(repeats, vadd_serial, &arrays, &check), bytes, &base);
    compare_row("hand-written, OpenMP", time_twin(repeats, vadd_openmp, &arrays, &check), bytes, &base);
  }
  compare_row("op2jit", time_library(repeats, elements, a, b, c), bytes, &base);

  vadd_arrays_free(&arrays);
  int status = check_end(&check, "vadd");
  op_exit();
  return status;
}
