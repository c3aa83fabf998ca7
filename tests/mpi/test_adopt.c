/* A rank that gets its code from another one has no memory for it: all ranks get an error, none waits, and the
 * next call works. */
#include "api/api.h"
#include "check.h"
#include "jit/load/load.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/record.h"

static int rank, refusals;

/* The linker leads the library's calls here (--wrap). */
int __real_code_load(struct code **out, const void *object, size_t size, const char *label, bool perf_map,
                     struct error *err);
int __wrap_code_load(struct code **out, const void *object, size_t size, const char *label, bool perf_map,
                     struct error *err);

int __wrap_code_load(struct code **out, const void *object, size_t size, const char *label, bool perf_map,
                     struct error *err) {
  if (refusals > 0) {
    refusals--;
    return error_memory(err, "compiled code", size);
  }
  return __real_code_load(out, object, size, label, perf_map, err);
}

OP_KERNEL_DEF(
    grow, void grow(double *x, double *sum) {
      *x += 2;
      *sum += *x;
    })

int main(int argc, char **argv) {
  double sum = 0, values[10] = {0};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  check(!op_init(argc, argv, 0));
  rank = op_rank();
  const int size = api_context()->comm->size;
  op_set cells = op_decl_set(10, "cells");
  op_dat x = op_decl_dat(cells, 1, "double", values, "x");
  check(x);
  refusals = rank == size - 1;
  for (int call = 0; call < 3; call++) {
    const int code =
        op_par_loop(OP_KERNEL_OF(grow), "grow", cells, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW),
                    op_arg_gbl(&sum, 1, "double", OP_INC));
    check((code == 0) == (call > 0));
    check(call > 0 || strstr(op_last_error()->message, "memory"));
    op_barrier();
  }
  check(refusals == 0);
  check(sum == (2 + 4) * 10.0 * size);
  check(!op_fetch_data(x, values) && values[9] == 4);
  check(!op_exit());
  if (rank == 0)
    puts("adopt: good");
  return 0;
}
