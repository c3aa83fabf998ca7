/* What an assembly takes: tetrahedra of a cube, whose stiffness goes into a matrix of PETSc's (without PETSc: into sums of the
 * lists, as PETSc makes them). Three ways in turns, each in a process of its own: by hand in C with the same lists, by loops
 * as element matrices (coo), and by loops as rows (csr). Medians and quartiles of the turns' ratios to the first.
 *
 * usage: matrix [SIDE [TURNS]]          cubes along a side, 40; 7 turns
 *        matrix WAY SIDE shuffled       one way, hand, coo, csr or auto: seconds of an assembly, the median; shuffled: 0 or 1 */
#include <math.h>
#include <op2jit_bridge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef WITH_PETSC
#include "op2jit_petsc.h"
#define INTO "PETSc's matrix"
#else
#define INTO "sums"
#endif

/* By hand it is called as the function that it is here. */
OP_KERNEL_DEF(
    stiffness, void stiffness(const double **x, double *a) {
      double e[3][3], g[4][3];
      for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
          e[i][c] = x[i + 1][c] - x[0][c];
      for (int i = 0; i < 3; i++) {
        const double *b = e[(i + 1) % 3], *d = e[(i + 2) % 3];
        g[i + 1][0] = b[1] * d[2] - b[2] * d[1];
        g[i + 1][1] = b[2] * d[0] - b[0] * d[2];
        g[i + 1][2] = b[0] * d[1] - b[1] * d[0];
      }
      const double six = e[0][0] * g[1][0] + e[0][1] * g[1][1] + e[0][2] * g[1][2];
      const double scale = 1 / (6 * (six < 0 ? -six : six));
      for (int c = 0; c < 3; c++)
        g[0][c] = -g[1][c] - g[2][c] - g[3][c];
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
          a[4 * i + j] = (g[i][0] * g[j][0] + g[i][1] * g[j][1] + g[i][2] * g[j][2]) * scale;
    })

enum { ASSEMBLIES = 11, WARM = 40, MOST_TURNS = 99 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Quarter 2 is the median. */
static double quarter(double *values, int n, int which) {
  qsort(values, (size_t)n, sizeof *values, ascending);
  return values[(n - 1) * which / 4];
}

static void *array(long long count, size_t size) {
  void *made = calloc((size_t)count + 1, size);
  if (!made) {
    fprintf(stderr, "matrix: no memory for %lld values\n", count);
    exit(1);
  }
  return made;
}

static void must(int code) {
  if (code) {
    fprintf(stderr, "matrix: %s\n", op_last_error()->message);
    exit(1);
  }
}

/* ---- the mesh ---- */

struct mesh {
  int nodes, cells, *cell;
  double *x;
};

static void swap(int *a, int *b) {
  const int c = *a;
  *a = *b;
  *b = c;
}

static void shuffle(struct mesh *m) {
  int *to = array(m->nodes, sizeof *to);
  double *x = array(3LL * m->nodes, sizeof *x);
  srand(7);
  for (int i = 0; i < m->nodes; i++)
    to[i] = i;
  for (int i = m->nodes - 1; i > 0; i--)
    swap(&to[i], &to[rand() % (i + 1)]);
  for (int i = 0; i < m->nodes; i++)
    memcpy(x + 3 * (size_t)to[i], m->x + 3 * (size_t)i, 3 * sizeof *x);
  for (int i = 0; i < 4 * m->cells; i++)
    m->cell[i] = to[m->cell[i]];
  for (int e = m->cells - 1; e > 0; e--)
    for (int i = 0, f = rand() % (e + 1); i < 4; i++)
      swap(&m->cell[4 * e + i], &m->cell[4 * f + i]);
  free(m->x);
  free(to);
  m->x = x;
}

static struct mesh make_mesh(int n, int shuffled) {
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const int step[3] = {1, n + 1, (n + 1) * (n + 1)};
  struct mesh m = {.nodes = (n + 1) * (n + 1) * (n + 1), .cells = 0};
  m.x = array(3LL * m.nodes, sizeof *m.x);
  m.cell = array(24LL * n * n * n, sizeof *m.cell);
  for (int node = 0; node < m.nodes; node++) {
    const int at[3] = {node % (n + 1), node / (n + 1) % (n + 1), node / step[2]};
    for (int c = 0; c < 3; c++)
      m.x[3 * node + c] = (at[c] + 0.2 * sin(node + c)) / n;
    for (int o = 0; o < 6 && at[0] < n && at[1] < n && at[2] < n; o++) {
      int *cell = m.cell + 4 * m.cells++;
      cell[0] = node;
      for (int i = 0; i < 3; i++)
        cell[i + 1] = cell[i] + step[orders[o][i]];
    }
  }
  if (shuffled)
    shuffle(&m);
  return m;
}

/* ---- lists into a matrix ---- */

#ifdef WITH_PETSC
static Mat matrix;

static void begin_lists(const struct mesh *m, long long count, const long long *rows,
                        const long long *columns) {
  PetscInt *lists = array(2 * count, sizeof *lists);
  for (long long k = 0; k < count; k++) {
    lists[k] = (PetscInt)rows[k];
    lists[count + k] = (PetscInt)columns[k];
  }
  if (PetscInitialize(NULL, NULL, NULL, NULL) ||
      MatCreateSeqAIJ(PETSC_COMM_SELF, m->nodes, m->nodes, 0, NULL, &matrix) ||
      MatSetPreallocationCOO(matrix, count, lists, lists + count))
    exit(1);
  free(lists);
}

static void give_lists(const double *values) {
  if (MatSetValuesCOO(matrix, values, INSERT_VALUES))
    exit(1);
}

static void give(op_mat k) {
  if (!op_mat_petsc(k))
    exit(1);
}
#else
/* As PETSc has them: where the values of each entry are. */
static long long nentries, *first, *where;
static double *entries;
static const long long *list_rows, *list_columns;

static int by_entry(const void *a, const void *b) {
  const long long x = *(const long long *)a, y = *(const long long *)b;
  if (list_rows[x] != list_rows[y])
    return list_rows[x] < list_rows[y] ? -1 : 1;
  if (list_columns[x] != list_columns[y])
    return list_columns[x] < list_columns[y] ? -1 : 1;
  return x < y ? -1 : x > y;
}

static void begin_lists(const struct mesh *m, long long count, const long long *rows,
                        const long long *columns) {
  (void)m;
  list_rows = rows;
  list_columns = columns;
  where = array(count, sizeof *where);
  first = array(count, sizeof *first);
  entries = array(count, sizeof *entries);
  for (long long k = 0; k < count; k++)
    where[k] = k;
  qsort(where, (size_t)count, sizeof *where, by_entry);
  for (long long k = 0; k < count; k++)
    if (k == 0 || rows[where[k]] != rows[where[k - 1]] || columns[where[k]] != columns[where[k - 1]])
      first[nentries++] = k;
  first[nentries] = count;
}

static void give_lists(const double *values) {
  for (long long i = 0; i < nentries; i++) {
    double sum = 0;
    for (long long k = first[i]; k < first[i + 1]; k++)
      sum += values[where[k]];
    entries[i] = sum;
  }
}

static void give(op_mat k) {
  static int begun;
  op_coo_t coo;
  must(op_coo(k, &coo));
  const double start = now();
  if (!coo.own) { /* else they are entries already */
    if (!begun++)
      begin_lists(NULL, coo.count, coo.rows, coo.columns);
    give_lists(coo.values);
  }
  op_coo_took(k, now() - start);
}
#endif

/* ---- the ways ---- */

static double by_hand(const struct mesh *m) {
  double *values = array(16LL * m->cells, sizeof *values), times[ASSEMBLIES];
  long long *rows = array(16LL * m->cells, sizeof *rows), *columns = array(16LL * m->cells, sizeof *columns);
  for (long long k = 0; k < 16LL * m->cells; k++) {
    rows[k] = m->cell[k / 16 * 4 + k % 16 / 4];
    columns[k] = m->cell[k / 16 * 4 + k % 4];
  }
  begin_lists(m, 16LL * m->cells, rows, columns);
  for (int t = -WARM / 10; t < ASSEMBLIES; t++) {
    const double start = now();
    for (int e = 0; e < m->cells; e++) {
      const int *cell = m->cell + 4 * (size_t)e;
      const double *x[4];
      for (int i = 0; i < 4; i++)
        x[i] = m->x + 3 * (size_t)cell[i];
      stiffness(x, values + 16 * (size_t)e);
    }
    give_lists(values);
    times[t < 0 ? 0 : t] = now() - start;
  }
  return quarter(times, ASSEMBLIES, 2);
}

static double by_loops(const struct mesh *m, const char *form) {
  double times[ASSEMBLIES];
  if (strcmp(form, "auto") != 0)
    setenv("OP2_VARIANT", form, 1);
  must(op_init(0, NULL, 0));
  op_set nodes = op_decl_set(m->nodes, "nodes"), cells = op_decl_set(m->cells, "cells");
  op_map cell = op_decl_map(cells, nodes, 4, m->cell, "cell");
  op_dat x = op_decl_dat(nodes, 3, "double", m->x, "x");
  op_mat k = op_decl_mat(1, &cell, &cell, 1, 1, "double", "k");
  for (int t = -WARM; t < ASSEMBLIES; t++) {
    const double start = now();
    must(op_zero_mat(k));
    must(op_par_loop(OP_KERNEL_OF(stiffness), "stiffness", cells,
                     op_arg_dat(x, OP_ALL, cell, 3, "double", OP_READ),
                     op_arg_mat(k, cell, cell, 1, 1, "double", OP_INC)));
    give(k);
    times[t < 0 ? 0 : t] = now() - start;
  }
  must(op_exit());
  return quarter(times, ASSEMBLIES, 2);
}

static int run_one(const char *way, int side, int shuffled) {
  struct mesh m = make_mesh(side, shuffled);
  printf("%.9g\n", strcmp(way, "hand") == 0 ? by_hand(&m) : by_loops(&m, way));
  free(m.x);
  free(m.cell);
  return 0;
}

static double ask(const char *program, const char *way, int side, int shuffled) {
  char line[4096];
  double seconds = 0;
  snprintf(line, sizeof line, "'%s' %s %d %d", program, way, side, shuffled);
  FILE *out = popen(line, "r");
  if (!out || fscanf(out, "%lf", &seconds) != 1 || pclose(out) != 0) {
    fprintf(stderr, "matrix: %s failed\n", line);
    exit(1);
  }
  return seconds;
}

int main(int argc, char **argv) {
  static const char *const ways[] = {"hand", "coo", "csr"};
  enum { WAYS = sizeof ways / sizeof *ways };
  if (argc == 4)
    return run_one(argv[1], atoi(argv[2]), atoi(argv[3]));
  const int side = argc > 1 ? atoi(argv[1]) : 40, turns = argc > 2 ? atoi(argv[2]) : 7;
  if (side < 2 || side > 200 || turns < 1 || turns > MOST_TURNS) {
    fprintf(stderr, "usage: matrix [SIDE [TURNS]]\n");
    return 2;
  }
  printf("an assembly of %d tetrahedra into %s, of C and lists by hand: median (quartiles)\n",
         6 * side * side * side, INTO);
  for (int shuffled = 0; shuffled < 2; shuffled++) {
    double ratios[WAYS][MOST_TURNS], hand[MOST_TURNS], rows[MOST_TURNS];
    for (int t = 0; t < turns; t++) {
      for (int w = 0; w < WAYS; w++)
        ratios[w][t] = ask(argv[0], ways[w], side, shuffled);
      hand[t] = ratios[0][t];
      rows[t] = ratios[2][t] / ratios[1][t];
      for (int w = 1; w < WAYS; w++)
        ratios[w][t] /= hand[t];
    }
    printf("%-9s by hand %.3g ms", shuffled ? "shuffled" : "in order", 1e3 * quarter(hand, turns, 2));
    for (int w = 1; w < WAYS; w++)
      printf(", %s %.2f (%.2f, %.2f)", ways[w], quarter(ratios[w], turns, 2), quarter(ratios[w], turns, 1),
             quarter(ratios[w], turns, 3));
    printf(", csr of coo %.2f (%.2f, %.2f)\n", quarter(rows, turns, 2), quarter(rows, turns, 1),
           quarter(rows, turns, 3));
    fflush(stdout);
  }
  return 0;
}
