/* Sparse matrices times vectors: loops through a ragged map beside a hand-written loop over rows with OpenMP, whose threads
 * have as many entries each; and beside the library's loop through a map of one arity where all rows are as long. In turns,
 * in one process. spmv [ROWS [ROUNDS [MATRIX]]] */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../samples/spmv/matrix.h"
#include "op2jit.h"

enum { MOST_THREADS = 256, MOST_ROUNDS = 999, CALLS = 5, FIXED = 5 };

/* clang-format off */
static const char multiply[] = OP_KERNEL(void multiply(int n, const double **a, const double **x, double *y) {
  double sum = 0;
  for (int k = 0; k < n; k++)
    sum += *OP_ROW(a, k) * *OP_ROW(x, k);
  *y = sum;
});
static const char multiply_any[] = OP_KERNEL(void multiply_any(int n, const double **a, const double **x, double *y) {
  double sum = 0;
  OP_ANY_ORDER
  for (int k = 0; k < n; k++)
    sum += *OP_ROW(a, k) * *OP_ROW(x, k);
  *y = sum;
});
static const char fixed[] = OP_KERNEL(void fixed(const double *a, const double *x[5], double *y) {
  double sum = 0;
  for (int k = 0; k < 5; k++)
    sum += a[k] * *x[k];
  *y = sum;
});
/* clang-format on */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Where each thread begins: the same number of entries for all. */
static void share_out(const struct matrix *m, int threads, int *first) {
  for (int t = 0, r = 0; t <= threads; t++) {
    while (r < m->rows && m->offsets[r] + r < (m->offsets[m->rows] + m->rows) * t / threads)
      r++;
    first[t] = t == threads ? m->rows : r;
  }
}

static void by_hand(const struct matrix *m, const int *first, const double *restrict x, double *restrict y) {
  const long long *restrict offsets = m->offsets;
  const int *restrict targets = m->targets;
  const double *restrict values = m->values;
#pragma omp parallel
  {
    const int t = omp_get_thread_num();
    for (int r = first[t]; r < first[t + 1]; r++) {
      double sum = 0;
      for (long long i = offsets[r]; i < offsets[r + 1]; i++)
        sum += values[i] * x[targets[i]];
      y[r] = sum;
    }
  }
}

/* GB/s of a = b + s c, each array far larger than the caches. */
static double triad(void) {
  const long n = 16000000;
  double *a = malloc((size_t)n * 8), *b = malloc((size_t)n * 8), *c = malloc((size_t)n * 8), best = 0;
  if (!a || !b || !c)
    exit(1);
  for (int run = 0; run < 6; run++) {
    const double start = now();
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++) {
      if (run == 0)
        b[i] = c[i] = 1;
      a[i] = b[i] + 3 * c[i];
    }
    const double rate = 24e-9 * (double)n / (now() - start);
    best = run > 0 && rate > best ? rate : best;
  }
  free(a);
  free(b);
  free(c);
  return best;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

struct times {
  double of[MOST_ROUNDS];
};
static double quartile(struct times *t, int rounds, int which) {
  qsort(t->of, (size_t)rounds, sizeof *t->of, ascending);
  return t->of[(rounds - 1) * which / 4];
}

struct problem {
  struct matrix m;
  int first[MOST_THREADS + 1];
  double *x, *y;
  op_set rows;
  op_map map, five; /* the second where all rows have FIXED entries */
  op_dat a, a_five, dx, dy;
};

static void call_ragged(const struct problem *p) {
  op_par_loop(multiply, "multiply", p->rows, op_arg_dat(p->a, OP_ALL, p->map, 1, "double", OP_READ),
              op_arg_dat(p->dx, OP_ALL, p->map, 1, "double", OP_READ),
              op_arg_dat(p->dy, -1, OP_ID, 1, "double", OP_WRITE));
}

static void call_any(const struct problem *p) {
  op_par_loop(multiply_any, "multiply_any", p->rows, op_arg_dat(p->a, OP_ALL, p->map, 1, "double", OP_READ),
              op_arg_dat(p->dx, OP_ALL, p->map, 1, "double", OP_READ),
              op_arg_dat(p->dy, -1, OP_ID, 1, "double", OP_WRITE));
}

static void call_fixed(const struct problem *p) {
  op_par_loop(fixed, "fixed", p->rows, op_arg_dat(p->a_five, -1, OP_ID, FIXED, "double", OP_READ),
              op_arg_dat(p->dx, OP_ALL, p->five, 1, "double", OP_READ),
              op_arg_dat(p->dy, -1, OP_ID, 1, "double", OP_WRITE));
}

static void call_hand(const struct problem *p) {
  by_hand(&p->m, p->first, p->x, p->y);
}

static double timed(void (*call)(const struct problem *p), const struct problem *p) {
  const double start = now();
  for (int i = 0; i < CALLS; i++)
    call(p);
  return (now() - start) / CALLS;
}

static void declare(struct problem *p, int equal) {
  p->rows = op_decl_set(p->m.rows, "rows");
  p->map = op_decl_map_ragged(p->rows, p->rows, p->m.offsets, p->m.targets, "matrix");
  p->a = op_decl_dat(op_map_entries(p->map), 1, "double", p->m.values, "a");
  p->dx = op_decl_dat(p->rows, 1, "double", p->x, "x");
  p->dy = op_decl_dat(p->rows, 1, "double", NULL, "y");
  if (!equal)
    return;
  p->five = op_decl_map(p->rows, p->rows, FIXED, p->m.targets, "five");
  p->a_five = op_decl_dat(p->rows, FIXED, "double", p->m.values, "a five");
}

static void forget(struct problem *p) {
  op_free_dat(p->a);
  op_free_dat(p->dx);
  op_free_dat(p->dy);
  if (p->five) {
    op_free_dat(p->a_five);
    op_free_map(p->five);
  }
  op_free_map(p->map);
  op_free_set(p->rows);
  free(p->x);
  free(p->y);
  matrix_free(&p->m);
}

/* The answer of the two must be the same, up to the order of additions. */
static int differ(const struct problem *p) {
  double *got = malloc((size_t)p->m.rows * sizeof *got);
  int wrong = !got || op_fetch_data(p->dy, got);
  for (int r = 0; !wrong && r < p->m.rows; r++) {
    const double error = got[r] - p->y[r], most = 1e-9 * (1 + (p->y[r] < 0 ? -p->y[r] : p->y[r]));
    wrong = !(error <= most && -error <= most);
  }
  free(got);
  return wrong;
}

static int run(const char *kind, int wanted, int rounds, double memory) {
  static struct times ragged, hand, ratio, even, any;
  struct problem p = {0};
  const int equal = strcmp(kind, "ring") == 0;
  if (!matrix_make(&p.m, kind, wanted))
    return 1;
  p.x = malloc((size_t)p.m.rows * sizeof *p.x);
  p.y = malloc((size_t)p.m.rows * sizeof *p.y);
  if (!p.x || !p.y) {
    free(p.x);
    free(p.y);
    matrix_free(&p.m);
    return 1;
  }
  for (int r = 0; r < p.m.rows; r++)
    p.x[r] = 1 + r % 7;
  share_out(&p.m, omp_get_max_threads(), p.first);
  declare(&p, equal);
  for (int warm = 0; warm < 150; warm++) { /* the tuner ends, with OP2_TUNE=force */
    call_ragged(&p);
    call_any(&p);
    if (equal)
      call_fixed(&p);
  }
  call_hand(&p);
  for (int which = 0; which < 2; which++) {
    (which ? call_any : call_ragged)(&p);
    if (differ(&p)) {
      printf("%s: the answers differ\n", kind);
      return 1;
    }
  }
  for (int i = 0; i < rounds; i++) {
    hand.of[i] = timed(call_hand, &p);
    ragged.of[i] = timed(call_ragged, &p);
    ratio.of[i] = ragged.of[i] / hand.of[i];
    any.of[i] = timed(call_any, &p) / hand.of[i];
    even.of[i] = equal ? ragged.of[i] / timed(call_fixed, &p) : 1;
  }
  const double bytes = 12e-9 * (double)p.m.offsets[p.m.rows] + 24e-9 * p.m.rows;
  printf("%7d  %-7s %9d %10lld  %8.3f %8.3f  %5.2f (%4.2f-%4.2f)  %5.1f %% of %4.1f", omp_get_max_threads(),
         kind, p.m.rows, p.m.offsets[p.m.rows], 1e3 * quartile(&hand, rounds, 2),
         1e3 * quartile(&ragged, rounds, 2), quartile(&ratio, rounds, 2), quartile(&ratio, rounds, 1),
         quartile(&ratio, rounds, 3), 100 * bytes / quartile(&ragged, rounds, 2) / memory, memory);
  printf("  %5.2f (%4.2f-%4.2f)", quartile(&any, rounds, 2), quartile(&any, rounds, 1),
         quartile(&any, rounds, 3));
  if (equal)
    printf("  %5.2f (%4.2f-%4.2f)", quartile(&even, rounds, 2), quartile(&even, rounds, 1),
           quartile(&even, rounds, 3));
  printf("\n");
  forget(&p);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 4 || atoi(argv[2]) < 1 || omp_get_max_threads() > MOST_THREADS) {
    fprintf(stderr, "usage: spmv five|power|banded|ring ROWS ROUNDS, with at most %d threads\n",
            MOST_THREADS);
    return 2;
  }
  const int wanted = atoi(argv[3]), rounds = wanted < 1 ? 1 : wanted < MOST_ROUNDS ? wanted : MOST_ROUNDS;
  if (op_init(argc, argv, 1))
    return 1;
  const int status = run(argv[1], atoi(argv[2]), rounds, triad());
  return op_exit() || status;
}
