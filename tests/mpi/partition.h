/* Parts of test_partition.c that need no random mesh. All ranks call them, between op_init and op_exit unless they
 * say otherwise. */
#ifndef OP2JIT_TESTS_MPI_PARTITION_H
#define OP2JIT_TESTS_MPI_PARTITION_H

#include <stdbool.h>

/* partition_weights.c: parts have as much work each, not as many elements. */
void test_weights(bool scotch);
/* And as many elements each where OP2_WEIGHTS asks for that. After op_exit: it begins and ends the library itself. */
void test_equal_weights(int argc, char **argv);
/* partition_errors.c: what goes wrong, goes wrong on all ranks, and nothing changes. */
void test_errors(void);

#endif
