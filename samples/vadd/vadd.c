/* Add two vectors, and count the right and the wrong sums. */
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

OP_KERNEL_DEF(
    add, void add(const double *a, const double *b, double *c) { *c = *a + *b; })

OP_KERNEL_DEF(
    count, void count(const double *c, const int *i, int *right, int *wrong) {
      double difference = *c - (*i + 2.0 * *i);
      if (difference * difference <= 1e-12)
        *right += 1;
      else
        *wrong += 1;
    })

static void run_add(op_set elements, op_dat a, op_dat b, op_dat c) {
  op_par_loop(OP_KERNEL_OF(add), "add", elements, op_arg_dat(a, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(b, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(c, -1, OP_ID, 1, "double", OP_WRITE));
}

int main(int argc, char **argv) {
  int size = 4000000;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--size"))
      size = atoi(value);
    else
      size = 0;
    a++;
  }
  if (size < 1) {
    fprintf(stderr, "usage: vadd [--size N]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  double *values = malloc(2 * (size_t)size * sizeof *values);
  if (!values)
    return 1;
  double *twice = values + size;
  for (int i = 0; i < size; i++) {
    values[i] = i;
    twice[i] = 2.0 * i;
  }
  /* Under mpirun the first process declares everything, and op_partition shares it out. */
  op_set elements = op_decl_set(op_is_root() ? size : 0, "elements");
  op_dat a = op_decl_dat(elements, 1, "double", values, "a");
  op_dat b = op_decl_dat(elements, 1, "double", twice, "b");
  op_dat c = op_decl_dat(elements, 1, "double", NULL, "c");
  op_partition("block", "", elements, NULL, NULL);
  free(values); /* the library has its own copy */

  int right = 0, wrong = 0;
  run_add(elements, a, b, c);
  op_par_loop(OP_KERNEL_OF(count), "count", elements, op_arg_dat(c, -1, OP_ID, 1, "double", OP_READ),
              op_arg_idx(-1, OP_ID), op_arg_gbl(&right, 1, "int", OP_INC),
              op_arg_gbl(&wrong, 1, "int", OP_INC));
  const int good = right == size && wrong == 0;
  op_printf("vadd: %d right and %d wrong sums: %s\n", right, wrong, good ? "PASSED" : "FAILED");
  return op_exit() || !good;
}
