/* The mistakes that people make with access descriptors, planted one at a time in the loops of airfoil and jac.
 * Each is to be found, before or during the first iteration, with a message that names it, and its corrected twin
 * is to stay silent and give the right answer. */
#ifndef OP2JIT_TESTS_MISTAKES_H
#define OP2JIT_TESTS_MISTAKES_H

#include <stdbool.h>
#include <stddef.h>

#include "op2jit.h"

enum { MOST_ARGUMENTS = 10 };

/* One op_par_loop that a mistake may change. */
struct call {
  const char *kernel, *name;
  op_set set;
  op_arg args[MOST_ARGUMENTS];
  int nargs;
};

#define call_make(c)                                                                                         \
  op_par_loop_array((c)->kernel, (c)->name, (c)->set, (c)->nargs, (c)->args, __FILE__, __LINE__)

/* Kernels of a mistake and of its twin, in the place of a loop's own. */
static inline void call_replace(struct call *c, bool wrong, const char *wrong_kernel, const char *wrong_name,
                                const char *right_kernel, const char *right_name) {
  c->kernel = wrong ? wrong_kernel : right_kernel;
  c->name = wrong ? wrong_name : right_name;
}
#define REPLACE(call, wrong_one, right_one)                                                                  \
  call_replace(&(call), wrong, OP_KERNEL_OF(wrong_one), #wrong_one, OP_KERNEL_OF(right_one), #right_one)

enum {
  NEEDS_CHECK = 1,  /* nobody finds it without OP2_CHECK */
  NATIVE_ONLY = 2,  /* its message is of the C compiler's making elsewhere */
  OTHER_ANSWER = 4, /* the twin computes something else than the sample */
};

struct mistake {
  int number; /* of the list in the documentation */
  const char *what;
  unsigned flags;
  /* Run the program with the mistake, or with its twin. Returns a number that tells the answer. */
  double (*run)(const struct mistake *m, bool wrong);
  /* Change tables before they are declared, or loops before they run. */
  void (*tables)(void *program, bool wrong);
  void (*loops)(void *program, bool wrong);
};

/* The rows of a program's table, from functions of these names. `order_flags`: of the last, a kernel that depends
 * on the order. */
#define MISTAKE_LOOP(number, what, flags, name)                                                              \
  { number, what, flags, run, NULL, name }
#define MISTAKE_TABLE(number, what, name)                                                                    \
  { number, what, 0, run, name, NULL }
#define MISTAKE_ROWS(order_flags)                                                                            \
  MISTAKE_LOOP(1, "OP_READ is written", 0, read_written),                                                    \
      MISTAKE_LOOP(2, "OP_READ is written through a copied pointer", 0, read_written_through_pointer),       \
      MISTAKE_LOOP(3, "OP_READ is written by a helper", 0, read_written_by_helper),                          \
      MISTAKE_LOOP(4, "OP_WRITE with a component that is not set", 0, write_component_unset),                \
      MISTAKE_LOOP(5, "OP_WRITE not set on one branch", 0, write_unset_on_branch),                           \
      MISTAKE_LOOP(6, "OP_WRITE is read first", 0, write_read_first),                                        \
      MISTAKE_LOOP(7, "OP_INC is assigned", 0, inc_assigned),                                                \
      MISTAKE_LOOP(8, "OP_INC is read", 0, inc_read),                                                        \
      MISTAKE_LOOP(9, "OP_MAX is assigned without comparing", 0, max_not_compared),                          \
      MISTAKE_LOOP(10, "an index beyond the dim", 0, index_beyond_dim),                                      \
      MISTAKE_LOOP(11, "a vector used beyond the arity", 0, beyond_arity),                                   \
      MISTAKE_LOOP(12, "a wrong dim", 0, wrong_dim),                                                         \
      MISTAKE_LOOP(13, "float for double", 0, float_for_double),                                             \
      MISTAKE_LOOP(14, "parameters swapped", 0, parameters_swapped),                                         \
      MISTAKE_TABLE(15, "a map entry out of range", entry_out_of_range),                                     \
      MISTAKE_TABLE(16, "a map that counts from one", one_based),                                            \
      MISTAKE_LOOP(17, "a map of another set", 0, map_of_another_set),                                       \
      MISTAKE_LOOP(18, "two elements with one target of OP_RW, and the order decides", NEEDS_CHECK,          \
                   targets_shared),                                                                          \
      MISTAKE_LOOP(19, "one dat read and incremented where targets meet", 0, read_and_increment),            \
      MISTAKE_LOOP(20, "state kept between elements", 0, state_between_elements),                            \
      MISTAKE_LOOP(21, "a local variable without a value", 0, uninitialised),                                \
      MISTAKE_LOOP(22, "a kernel that depends on the order", order_flags, order_dependent)

extern const struct mistake airfoil_mistakes[], jac_mistakes[];

#endif
