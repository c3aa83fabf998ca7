/* A sum, a minimum and a maximum of many numbers against hand-written loops, which add in another order. */
#include "common/memory.h"
#include "common/options.h"
#include "common/ranks.h"
#include "common/report.h"
#include "common/touch.h"
#include "twin.h"

#include <math.h>
#include <op2jit.h>
#include <stdlib.h>

OP_KERNEL_DEF(
    extremes, void extremes(const double *x, double *sum, double *smallest, double *largest) {
      *sum += *x;
      *smallest = *x < *smallest ? *x : *smallest;
      *largest = *x > *largest ? *x : *largest;
    })

static struct extremes reduce_library(op_set set, op_dat dat) {
  struct extremes all = {0, INFINITY, -INFINITY};
  op_par_loop(OP_KERNEL_OF(extremes), "extremes", set, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&all.sum, 1, "double", OP_INC), op_arg_gbl(&all.smallest, 1, "double", OP_MIN),
              op_arg_gbl(&all.largest, 1, "double", OP_MAX));
  return all;
}

static void many(struct check *check, int count, int compare) {
  enum { REPEATS = 15, WAYS = 3 };
  static const char *const names[WAYS] = {"hand-written, serial", "hand-written, OpenMP", "op2jit"};
  double *x = touched_zeros(count, sizeof *x, compare), times[WAYS][REPEATS] = {{0}}, base = 0;
  struct extremes found[WAYS] = {{0}};
  for (int e = 0; e < count; e++)
    x[e] = sin(0.7 * e) + 0.25;
  op_set set = op_decl_set(declared(count), "numbers");
  op_dat dat = op_decl_dat(set, 1, "double", x, "x");
  share_out(set);
  reduce_library(set, dat);
  /* One way after the other, not in turn: one that reads what another has just read finds some of it in the cache. */
  for (int way = 0; way < WAYS; way++) {
    if ((way == 1 && !compare) || (way < 2 && !op_is_root()))
      continue;
    for (int r = 0; r < REPEATS; r++) {
      double start = clock_seconds();
      found[way] = way == 0   ? reduce_serial(count, x)
                   : way == 1 ? reduce_openmp(count, x)
                              : reduce_library(set, dat);
      times[way][r] = clock_seconds() - start;
    }
  }
  check_at_most(check, "sum of many numbers against the hand-written loop",
                relative_difference(found[2].sum, found[0].sum), 1e-12);
  check_equal(check, "same extremes as the hand-written loop",
              found[2].smallest == found[0].smallest && found[2].largest == found[0].largest, 1);
  if (compare) {
    check_at_most(check, "sum, hand-written with OpenMP", relative_difference(found[1].sum, found[0].sum),
                  1e-12);
    check_equal(check, "extremes, hand-written with OpenMP",
                found[1].smallest == found[0].smallest && found[1].largest == found[0].largest, 1);
    compare_header("sum, minimum and maximum");
    for (int way = 0; way < WAYS; way++)
      compare_row(names[way], median(times[way], REPEATS), 8.0 * count, &base);
  }
  touched_free(x);
}

int main(int argc, char **argv) {
  int size = 4000000, compare = 0;
  const struct option_entry entries[] = {
      {"many", OPTION_INT, &size, 1, 1e9, "elements"},
      {"compare", OPTION_FLAG, &compare, 0, 0, "time it, and by hand"},
  };
  enum options_outcome outcome =
      options_read(argc, argv, "reductions of many numbers", sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  struct check check = {0};
  many(&check, size, compare);
  int status = check_end(&check, "reduction");
  op_exit();
  return status;
}
