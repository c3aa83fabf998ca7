/* How long plans take: edges of a grid with 720,000 cells, two cells each, in order and shuffled. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "plan/strategy.h"

enum { nx = 1200, ny = 600, repeats = 7 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long make_edges(int *table) {
  long n = 0;
  for (long y = 0; y < ny; y++)
    for (long x = 0; x < nx; x++) {
      int cell = (int)(y * nx + x);
      if (x + 1 < nx) {
        table[2 * n] = cell;
        table[2 * n++ + 1] = cell + 1;
      }
      if (y + 1 < ny) {
        table[2 * n] = cell;
        table[2 * n++ + 1] = cell + nx;
      }
    }
  return n;
}

static void shuffle(int *table, long n) {
  srand(1);
  for (long i = n - 1; i > 0; i--) {
    long j = (long)(((unsigned long)rand() << 16 ^ (unsigned long)rand()) % (unsigned long)(i + 1));
    for (int c = 0; c < 2; c++) {
      int t = table[2 * i + c];
      table[2 * i + c] = table[2 * j + c];
      table[2 * j + c] = t;
    }
  }
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The median of the builds; the last plan is verified and described. Negative at an error. */
static double measure(const struct plan_request *request, struct team *team, struct plan *plan,
                      struct error *err) {
  double seconds[repeats];
  for (int i = 0; i < repeats; i++) {
    double start = now();
    if (plan_build(plan, request, team, err))
      return -1;
    seconds[i] = now() - start;
    if (i + 1 < repeats)
      plan_free(plan);
  }
  qsort(seconds, repeats, sizeof *seconds, compare);
  return plan_verify(plan, request, 2, err) ? -1 : seconds[repeats / 2];
}

/* Owner ranges: the median of the builds, and how much is between the ranges. */
static int report_owners(const char *order, const struct plan_request *request, struct error *err) {
  static const int counts[] = {1, 2, 8, 64};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    double seconds[repeats];
    struct owner_shares shares;
    for (int k = 0; k < repeats; k++) {
      struct plan_entry e;
      double start = now();
      const struct plan_wish wish = {.request = *request, .strategy = &strategy_owners, .threads = counts[i]};
      if (plan_entry_build(&e, &wish, NULL, err))
        return 1;
      seconds[k] = now() - start;
      shares = e.shares;
      plan_entry_clear(&e);
    }
    qsort(seconds, repeats, sizeof *seconds, compare);
    printf("%-9s owners, %2d threads %8.2f ms, %.3f%% between, %.3f%% alone, %d colours\n", order, counts[i],
           seconds[repeats / 2] * 1e3, 100.0 * (double)shares.between / (double)shares.elements,
           100.0 * (double)shares.alone / (double)shares.elements, shares.colours);
  }
  return 0;
}

/* What a loop gets: blocks of the usual size, through a list where nearly all of them meet. */
static int report_colours(const char *order, const struct plan_request *request, struct team *team,
                          struct error *err) {
  struct plan_request wanted = *request;
  wanted.block_size = (int)strategy_colours.piece(request->size, false);
  wanted.nstaged = 0;
  wanted.element_colours = false;
  const struct plan_wish wish = {.request = wanted, .strategy = &strategy_colours};
  struct plan_entry e;
  if (plan_entry_build(&e, &wish, team, err) || strategy_colours.verify(&e, &wish, 2, err))
    return 1;
  printf("%-9s colours %25.2f ms, %d blocks in %d colours", order, e.seconds * 1e3, e.plan.nblocks,
         e.plan.ncolours);
  printf(e.crowded ? " through a list, %d in their own order\n" : "\n", e.crowded);
  plan_entry_clear(&e);
  return 0;
}

static int report(const char *order, struct plan_request *request, struct team *team, struct error *err) {
  static const int sizes[] = {256, 1024, 4096, 16384};
  static const struct {
    const char *name;
    bool colours;
    int staged;
  } wants[] = {{"blocks", false, 0}, {"+ element colours", true, 0}, {"+ staging", true, 1}};
  for (size_t w = 0; w < sizeof wants / sizeof *wants; w++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      struct plan plan;
      request->block_size = sizes[i];
      request->element_colours = wants[w].colours;
      request->nstaged = wants[w].staged;
      double one = measure(request, NULL, &plan, err), all = -1;
      if (one >= 0) {
        plan_free(&plan);
        all = measure(request, team, &plan, err);
      }
      if (one < 0 || all < 0)
        return 1;
      printf("%-9s %-18s %6d %8.2f %8.2f %8d %8d %9.2f\n", order, wants[w].name, sizes[i], one * 1e3,
             all * 1e3, plan.ncolours, plan.max_element_colours,
             (double)(plan.arrays.bytes + plan.locals.bytes) * 1e-6);
      plan_free(&plan);
    }
  return report_colours(order, request, team, err) || report_owners(order, request, err);
}

int main(void) {
  struct error err = {0};
  struct team *team = NULL;
  int *table = malloc((size_t)nx * ny * 4 * sizeof *table);
  int status = !table || team_open(&team, TEAM_DEFAULT, 0, &err);
  if (!status) {
    long n = make_edges(table);
    const struct plan_column columns[] = {
        {.table = table, .arity = 2, .column = 0, .target = 1, .target_size = (long)nx * ny},
        {.table = table, .arity = 2, .column = 1, .target = 1, .target_size = (long)nx * ny}};
    const struct plan_staged staged = {0, 2};
    struct plan_request request = {
        .size = n, .columns = columns, .ncolumns = 2, .staged_columns = columns, .staged = &staged};
    printf("plans of %ld edges that increment 2 of %d cells; medians of %d\n", n, nx * ny, repeats);
    printf("%-9s %-18s %6s %8s %5s %2d %8s %8s %9s\n", "order", "parts", "block", "1 thr ms", "ms on",
           team_threads(team), "colours", "in block", "MB");
    status = report("grid", &request, team, &err);
    shuffle(table, n);
    status = status || report("shuffled", &request, team, &err);
  }
  if (status)
    fprintf(stderr, "plan: %s\n", error_message(&err));
  team_close(team);
  free(table);
  error_free(&err);
  return status;
}
