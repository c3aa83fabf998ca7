/* Layouts of dats on the GPU: declared or forced. The program sees the same rows whatever they are. */
#include "../unit.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op2jit.h"

#define works(call)                                                                                          \
  do {                                                                                                       \
    if ((call) != OP_OK)                                                                                     \
      fail_msg("%s: %s", #call, op_last_error()->message);                                                   \
  } while (0)

/* Rows are converted where they lie otherwise: when they are declared and fetched, where the declaration says so, and on their way
 * to the device and back, where OP2_VARIANT does. The host's rows are whole then: a view works in the program's array. */
TEST(forced_layouts) {
  enum { N = 37 };
  static const struct {
    const char *variant, *type;
    bool declared, copied;
  } cases[] = {{"OP2_VARIANT=soa", "double", false, true},
               {"OP2_VARIANT=aos", "double:soa", false, false},
               {"OP2_VARIANT=soa", "double:soa", true, false},
               {"OP2_VARIANT=aos", "double", false, false},
               {"OP2_VARIANT=soa=d", "double", false, true},
               {"OP2_VARIANT=soa/aos=d/64", "double", false, false},
               {"OP2_VARIANT=soa=other/aos=e", "double", false, false},
               {"OP2_VARIANT=", "double:soa", true, false}};
  for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
    const bool view = i % 2;
    static double rows[N * 3];
    for (int k = 0; k < 3 * N; k++)
      rows[k] = k;
    char *argv[] = {"test", "OP2_BACKEND=cuda", "OP2_CACHE=off", "OP2_TUNE=off",
                    (char *)(uintptr_t)cases[i / 2].variant};
    works(op_init(5, argv, 0));
    op_set set = op_decl_set(N, "set");
    const long long *const converted = &op_counters()->bytes_converted, bytes = sizeof rows;
    op_dat d = view ? op_decl_dat_view(set, 3, cases[i / 2].type, rows, "d")
                    : op_decl_dat(set, 3, cases[i / 2].type, rows, "d");
    assert_int_equal(*converted, cases[i / 2].declared * bytes);
    works(op_par_loop("void k(double *d) { d[0] += 1; d[1] *= 2; d[2] = d[0] + d[1]; }", "k", set,
                      op_arg_dat(d, -1, OP_ID, 3, "double", OP_RW)));
    assert_int_equal(*converted, (cases[i / 2].declared || cases[i / 2].copied) * bytes);
    works(view ? op_acquire(d, OP_READ) ? op_release(d) : OP_ERR_STATE : op_fetch_data(d, rows));
    assert_int_equal(*converted, (cases[i / 2].declared + cases[i / 2].copied) * 2 * bytes);
    for (int e = 0; e < N; e++) {
      assert_true(rows[3 * e] == 3 * e + 1);
      assert_true(rows[3 * e + 1] == 2 * (3 * e + 1));
      assert_true(rows[3 * e + 2] == rows[3 * e] + rows[3 * e + 1]);
    }
    works(op_exit());
  }
}

int main(void) {
  if (!getenv("OP2_CUDA_DRIVER")) {
    puts("skipped: OP2_CUDA_DRIVER names no stand-in");
    return 77;
  }
  setenv("STANDIN_QUIET", "1", 1);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  return run_these(NULL, NULL);
}
