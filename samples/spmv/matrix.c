#include "matrix.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BAND = 8, EVERY = 1000, LONG = 10000 };

/* The same numbers on any machine. */
static uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

/* Columns of a row: into `out` if it is not NULL. How many. */
typedef int row_of(int rows, int row, int *out);

static int put(int *out, int n, int column) {
  if (out)
    out[n] = column;
  return n + 1;
}

static int five(int rows, int row, int *out) {
  const int side = (int)lround(sqrt(rows)), i = row % side, j = row / side;
  int n = 0;
  if (j > 0)
    n = put(out, n, row - side);
  if (i > 0)
    n = put(out, n, row - 1);
  n = put(out, n, row);
  if (i + 1 < side)
    n = put(out, n, row + 1);
  if (j + 1 < side)
    n = put(out, n, row + side);
  return n;
}

static int power(int rows, int row, int *out) {
  const double chance = (mix((uint32_t)row) + 1.0) / 4294967297.0, length = 3 / pow(chance, 0.6);
  const int most = rows < LONG ? rows : LONG, n = length < most ? (int)length : most;
  for (int k = 0; out && k < n; k++)
    out[k] = (int)(mix((uint32_t)row * 31u + (uint32_t)k) % (uint32_t)rows);
  return n;
}

static int banded(int rows, int row, int *out) {
  const int half = row % EVERY == EVERY / 2 ? LONG / 2 : BAND;
  const int first = row > half ? row - half : 0, last = row < rows - half ? row + half : rows - 1;
  for (int k = first; out && k <= last; k++)
    out[k - first] = k;
  return last - first + 1;
}

static int ring(int rows, int row, int *out) {
  static const int steps[] = {-1000, -1, 0, 1, 1000};
  for (int k = 0; out && k < 5; k++)
    out[k] = ((row + steps[k]) % rows + rows) % rows;
  return 5;
}

static const struct {
  const char *name;
  row_of *of;
} kinds[] = {{"five", five}, {"power", power}, {"banded", banded}, {"ring", ring}};

static int fill(struct matrix *m, row_of *of) {
  m->offsets = calloc((size_t)m->rows + 1, sizeof *m->offsets);
  for (int r = 0; m->offsets && r < m->rows; r++)
    m->offsets[r + 1] = m->offsets[r] + of(m->rows, r, NULL);
  const size_t entries = m->offsets ? (size_t)m->offsets[m->rows] : 0;
  m->targets = malloc((entries + 1) * sizeof *m->targets);
  m->values = malloc((entries + 1) * sizeof *m->values);
  if (!m->offsets || !m->targets || !m->values)
    return 0;
  for (int r = 0; r < m->rows; r++)
    of(m->rows, r, m->targets + m->offsets[r]);
  for (size_t i = 0; i < entries; i++)
    m->values[i] = (int)(mix((uint32_t)i) % 9u) - 4;
  return 1;
}

int matrix_make(struct matrix *m, const char *kind, int rows) {
  *m = (struct matrix){.rows = rows};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    if (strcmp(kind, kinds[k].name) != 0)
      continue;
    if (kinds[k].of == five) {
      const int side = (int)sqrt(rows);
      m->rows = side * side;
    }
    if (fill(m, kinds[k].of))
      return 1;
  }
  matrix_free(m);
  return 0;
}

void matrix_free(struct matrix *m) {
  free(m->offsets);
  free(m->targets);
  free(m->values);
  *m = (struct matrix){0};
}
