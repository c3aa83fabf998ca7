/* The rows and columns of ragged.h, made anew for each test. */
#include "ragged.h"

long long offsets[ROWS + 1];
int *targets;
double *values, vx[COLS], vw[ROWS];
op_set rows, cols;
op_map map;
op_dat x, a, y, w;

/* Rows of 0 to 12 targets, some of them none, and a long one, in which targets occur several times. */
static int any_length(int r) {
  return r == 17 ? LONG_ROW : r % 5 == 3 ? 0 : (r * 7) % 13;
}
/* As long as those beside them; all alike. */
static int even_length(int r) {
  return r / 61 % 11;
}
static int five(int r) {
  (void)r;
  return 5;
}
static int (*length_of)(int r) = any_length;

static void make_matrix(void) {
  for (int r = 0; r < ROWS; r++)
    offsets[r + 1] = offsets[r] + length_of(r);
  targets = malloc((size_t)offsets[ROWS] * sizeof *targets);
  values = malloc((size_t)offsets[ROWS] * sizeof *values);
  for (int r = 0; r < ROWS; r++)
    for (long long i = offsets[r]; i < offsets[r + 1]; i++) {
      targets[i] = (int)((r * 31 + (i - offsets[r]) * 17) % COLS);
      values[i] = 1 + (double)(i % 7);
    }
  for (int c = 0; c < COLS; c++)
    vx[c] = c % 11 - 5;
  for (int r = 0; r < ROWS; r++)
    vw[r] = r % 23 - 7;
}

int open_mesh(void **state) {
  if (start(state))
    return -1;
  make_matrix();
  rows = op_decl_set(ROWS, "rows");
  cols = op_decl_set(COLS, "cols");
  map = op_decl_map_ragged(rows, cols, offsets, targets, "map");
  x = op_decl_dat(cols, 1, "double", vx, "x");
  a = op_decl_dat(op_map_entries(map), 1, "double", values, "a");
  y = op_decl_dat(rows, 1, "double", NULL, "y");
  w = op_decl_dat(rows, 1, "double", vw, "w");
  return a && y && w ? 0 : -1;
}

int open_even(void **state) {
  length_of = even_length;
  return open_mesh(state);
}

int open_five(void **state) {
  length_of = five;
  return open_mesh(state);
}

int close_mesh(void **state) {
  length_of = any_length;
  free(targets);
  free(values);
  return stop(state);
}

op_arg all(op_dat dat, int dim, const char *type, op_access access) {
  return op_arg_dat(dat, OP_ALL, map, dim, type, access);
}
