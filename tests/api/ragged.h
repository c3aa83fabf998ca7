/* Shared by the tests of ragged maps: a map from rows to columns, with values on its entries. */
#ifndef OP2JIT_TESTS_RAGGED_H
#define OP2JIT_TESTS_RAGGED_H

#include "support.h"

#include <stdbool.h>

enum { ROWS = 3001, COLS = 2000, LONG_ROW = 20000 };

/* The targets of row r are those from offsets[r] on; each has its number in `values`. */
extern long long offsets[ROWS + 1];
extern int *targets;
extern double *values, vx[COLS], vw[ROWS];
extern op_set rows, cols;
extern op_map map;
extern op_dat x, a, y, w; /* on columns, entries, rows and rows */

/* Rows of any length; as long as those beside them; of five targets. */
int open_mesh(void **state);
int open_even(void **state);
int open_five(void **state);
int close_mesh(void **state);

#define MESH_TEST(name) TEST_BETWEEN(name, open_mesh, close_mesh)

/* An argument for all targets of a row. */
op_arg all(op_dat dat, int dim, const char *type, op_access access);

#endif
