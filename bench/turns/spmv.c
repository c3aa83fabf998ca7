/* A sparse matrix times a vector through a ragged map, in turns: the matrix of the five-point formula. */
#include "turns.h"

#include "common/memory.h"
#include "common/report.h"
#include "common/threads.h"
#include "common/touch.h"
#include "samples/spmv/matrix.h"

#include <stdlib.h>

const double turns_limit = 1e-12;
const char *const turns_word = NULL;
static struct matrix matrix;
static double *x;

/* ---- by hand ---- */

static struct {
  long long *offsets;
  int *targets;
  double *values, *x;
} by_hand;

static inline void multiply_rows(int begin, int end, double *restrict y) {
  const long long *restrict offsets = by_hand.offsets;
  const int *restrict targets = by_hand.targets;
  const double *restrict values = by_hand.values, *restrict from = by_hand.x;
  for (int r = begin; r < end; r++) {
    double sum = 0;
    for (long long i = offsets[r]; i < offsets[r + 1]; i++)
      sum += values[i] * from[targets[i]];
    y[r] = sum;
  }
}

/* The first row of which thread t has the entries, of all as many. */
static int first_of(int t, int threads) {
  const long long wanted = (matrix.offsets[matrix.rows] + matrix.rows) * t / threads;
  int low = 0, high = matrix.rows;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (matrix.offsets[middle] + middle < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static double by_entries(int steps, double *answer) {
  const double begin = clock_seconds();
#pragma omp parallel
  for (int s = 0; s < steps; s++) {
    multiply_rows(first_of(thread_number(), thread_count()), first_of(thread_number() + 1, thread_count()),
                  answer);
#pragma omp barrier
  }
  return (clock_seconds() - begin) / steps;
}

static double in_chunks(int steps, double *answer) {
  enum { CHUNK = 1024 };
  const double begin = clock_seconds();
#pragma omp parallel
  for (int s = 0; s < steps; s++) {
#pragma omp for schedule(dynamic)
    for (int r = 0; r < matrix.rows; r += CHUNK)
      multiply_rows(r, r + CHUNK < matrix.rows ? r + CHUNK : matrix.rows, answer);
  }
  return (clock_seconds() - begin) / steps;
}

const struct turns_form turns_forms[] = {{"entries", by_entries}, {"chunks", in_chunks}, {NULL, NULL}};

/* ---- by the library ---- */

/* clang-format off */
OP_KERNEL_DEF(multiply, void multiply(int n, const double **a, const double **x, double *y) {
  double sum = 0;
  for (int k = 0; k < n; k++)
    sum += *OP_ROW(a, k) * *OP_ROW(x, k);
  *y = sum;
})
/* clang-format on */

static op_set rows;
static op_map map;
static op_dat a, dx, dy;

long long turns_prepare(int size, int library) {
  if (!matrix_make(&matrix, "five", size))
    exit(EXIT_FAILURE);
  const long long entries = matrix.offsets[matrix.rows];
  turns_bytes = 12.0 * (double)entries + 24.0 * matrix.rows;
  x = room(matrix.rows, sizeof *x);
  for (int r = 0; r < matrix.rows; r++)
    x[r] = 1 + r % 7;
  if (library) {
    rows = op_decl_set(matrix.rows, "rows");
    map = op_decl_map_ragged(rows, rows, matrix.offsets, matrix.targets, "matrix");
    a = op_decl_dat(op_map_entries(map), 1, "double", matrix.values, "a");
    dx = op_decl_dat(rows, 1, "double", x, "x");
    dy = op_decl_dat(rows, 1, "double", NULL, "y");
  } else {
    by_hand.offsets = touched_copy(matrix.offsets, matrix.rows + 1, sizeof *by_hand.offsets, 1);
    by_hand.targets = touched_copy(matrix.targets, entries, sizeof *by_hand.targets, 1);
    by_hand.values = touched_copy(matrix.values, entries, sizeof *by_hand.values, 1);
    by_hand.x = touched_copy(x, matrix.rows, sizeof *x, 1);
  }
  return matrix.rows;
}

double turns_library(int steps, double *answer) {
  turns_bring(dx, rows);
  const double begin = clock_seconds();
  for (int s = 0; s < steps; s++)
    op_par_loop(OP_KERNEL_OF(multiply), "multiply", rows, op_arg_dat(a, OP_ALL, map, 1, "double", OP_READ),
                op_arg_dat(dx, OP_ALL, map, 1, "double", OP_READ),
                op_arg_dat(dy, -1, OP_ID, 1, "double", OP_WRITE));
  op_barrier(); /* runs what waits */
  const double seconds = (clock_seconds() - begin) / steps;
  op_fetch_data(dy, answer);
  return seconds;
}
