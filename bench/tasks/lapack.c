/* usage: tasks_lapack lapack THREADS SIZE  LAPACK's dgeqrf on a matrix of the same size, where it is installed: it is opened
 * while the program runs. Says "ready", or "missing" if there is none. For each line that it reads it runs once, as forms do
 * (form.c); its answer is the sum of R's diagonal without signs. How many threads are used is the library's own affair: for
 * OpenBLAS and for those that use OpenMP the environment says it. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void geqrf(const int *m, const int *n, double *a, const int *lda, double *tau, double *work,
                   const int *lwork, int *info);

static geqrf *find(void) {
  static const char *const names[] = {"libopenblas.so.0", "liblapack.so.3", "liblapack.so"};
  geqrf *found = NULL;
  for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "dgeqrf_") : NULL;
    memcpy(&found, &symbol, sizeof found);
  }
  return found;
}

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s lapack THREADS SIZE\n", argv[0]);
    return 2;
  }
  geqrf *const factor = find();
  const int n = atoi(argv[3]) > 0 ? atoi(argv[3]) : 2048, most = 64 * n;
  const size_t entries = (size_t)n * (size_t)n;
  double *a = malloc(entries * sizeof *a), *tau = malloc((size_t)n * sizeof *tau),
         *work = malloc((size_t)most * sizeof *work);
  char line[32];
  printf(factor && a && tau && work ? "ready\n" : "missing\n");
  fflush(stdout);
  while (factor && a && tau && work && fgets(line, sizeof line, stdin)) {
    unsigned random = 1;
    double sum = 0;
    int info;
    for (size_t i = 0; i < entries; i++) {
      random = random * 1664525u + 1013904223u;
      a[i] = (double)random / 4294967296.0 - 0.5;
    }
    const double start = seconds_of(CLOCK_MONOTONIC), used = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    factor(&n, &n, a, &n, tau, work, &most, &info);
    const double end = seconds_of(CLOCK_MONOTONIC), over = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < n; i++)
      sum += fabs(a[(size_t)i * (size_t)n + (size_t)i]);
    printf("%.9g %.9g %.17g\n", 1e3 * (end - start), 1e3 * (over - used), sum);
    fflush(stdout);
  }
  free(a);
  free(tau);
  free(work);
  return 0;
}
