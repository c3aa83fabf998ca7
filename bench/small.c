/* ./dev bench small: from how many elements on all threads are as fast as one. The same loops on seq and on
 * openmp, in lives of the library that take turns; the smallest time of a call counts, which a busy machine
 * disturbs least. From 2,048 elements on openmp is not to be slower: such rows are marked. */
#include <op2jit.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 5, CALLS = 200, FIRST_THAT_COUNTS = 2048 };
/* Both backends look for their variants first, and what they found is kept for the next round. */
static const double warm_seconds = 0.1;
static char tune[] = "OP2_TUNE=1";
/* What two measurements of one thing may differ by. */
static const double noise = 1.05;

static const int sizes[] = {1000, 2592, 4000, 10000, 20000, 50000, 100000, 300000};
enum { SIZES = sizeof sizes / sizeof *sizes };

struct world {
  op_set nodes, edges;
  op_map ends;
  op_dat x, y, w, r;
};

OP_KERNEL_DEF(
    stream, void stream(const double *x, double *y) {
      for (int n = 0; n < 4; n++)
        y[n] = 0.5 * y[n] + x[n];
    })
OP_KERNEL_DEF(
    take, void take(const double *w, const double *x1, const double *x2, double *r) {
      *r = *w * (x1[0] * x2[1] - x1[2] * x2[3]);
    })
OP_KERNEL_DEF(
    add, void add(const double *w, const double *x1, const double *x2, double *y1, double *y2) {
      for (int n = 0; n < 4; n++) {
        double flux = *w * (x1[n] - x2[n]) / (1 + x1[n] * x2[n]);
        y1[n] += flux;
        y2[n] -= flux;
      }
    })
OP_KERNEL_DEF(
    total, void total(const double *x, double *sum) {
      for (int n = 0; n < 4; n++)
        *sum += x[n];
    })

static void run_stream(const struct world *o) {
  op_par_loop(OP_KERNEL_OF(stream), "stream", o->nodes, op_arg_dat(o->x, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(o->y, -1, OP_ID, 4, "double", OP_RW));
}
static void run_take(const struct world *o) {
  op_par_loop(OP_KERNEL_OF(take), "take", o->edges, op_arg_dat(o->w, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(o->x, 0, o->ends, 4, "double", OP_READ),
              op_arg_dat(o->x, 1, o->ends, 4, "double", OP_READ),
              op_arg_dat(o->r, -1, OP_ID, 1, "double", OP_WRITE));
}
static void run_add(const struct world *o) {
  op_par_loop(
      OP_KERNEL_OF(add), "add", o->edges, op_arg_dat(o->w, -1, OP_ID, 1, "double", OP_READ),
      op_arg_dat(o->x, 0, o->ends, 4, "double", OP_READ), op_arg_dat(o->x, 1, o->ends, 4, "double", OP_READ),
      op_arg_dat(o->y, 0, o->ends, 4, "double", OP_INC), op_arg_dat(o->y, 1, o->ends, 4, "double", OP_INC));
}
static void run_total(const struct world *o) {
  double sum = 0;
  op_par_loop(OP_KERNEL_OF(total), "total", o->nodes, op_arg_dat(o->x, -1, OP_ID, 4, "double", OP_READ),
              op_arg_gbl(&sum, 1, "double", OP_INC));
}

static const struct {
  const char *name;
  void (*run)(const struct world *);
} loops[] = {{"direct, dim 4", run_stream},
             {"reading 2 nodes", run_take},
             {"adding to 2 nodes", run_add},
             {"sum", run_total}};
enum { LOOPS = sizeof loops / sizeof *loops };

static char folder[] = "/tmp/op2jit-small-XXXXXX";

static void begin(const char *backend, int argc, char **argv) {
  char database[64], *words[16], chosen[32];
  snprintf(database, sizeof database, "OP2_CACHE=%s/kernels.db", folder);
  snprintf(chosen, sizeof chosen, "OP2_BACKEND=%s", backend);
  int count = argc < 12 ? argc : 12;
  memcpy(words, argv, (size_t)count * sizeof *words);
  words[count++] = tune;
  words[count++] = database;
  words[count++] = chosen;
  op_init(count, words, 0);
}

/* Sets of `size` elements: a ring. */
static struct world declare(int size) {
  struct world o;
  int *table = malloc(2 * (size_t)size * sizeof *table);
  double *x = malloc(4 * (size_t)size * sizeof *x);
  if (!table || !x)
    exit(EXIT_FAILURE);
  for (int i = 0; i < size; i++) {
    table[2 * i] = i;
    table[2 * i + 1] = (i + 1) % size;
  }
  for (int i = 0; i < 4 * size; i++)
    x[i] = 1 + i % 13 / 13.0;
  o.nodes = op_decl_set(size, "nodes");
  o.edges = op_decl_set(size, "edges");
  o.ends = op_decl_map(o.edges, o.nodes, 2, table, "ends");
  o.x = op_decl_dat(o.nodes, 4, "double", x, "x");
  o.y = op_decl_dat(o.nodes, 4, "double", NULL, "y");
  o.w = op_decl_dat(o.edges, 1, "double", x, "w");
  o.r = op_decl_dat(o.edges, 1, "double", NULL, "r");
  free(table);
  free(x);
  return o;
}

static double smallest(const struct world *o, void (*run)(const struct world *)) {
  double best = 1e9;
  for (const double begun = op_wtime(); op_wtime() - begun < warm_seconds;)
    run(o);
  for (int i = 0; i < CALLS; i++) {
    double start = op_wtime();
    run(o);
    double seconds = op_wtime() - start;
    best = seconds < best ? seconds : best;
  }
  return best;
}

static void measure(const char *backend, int argc, char **argv, double best[SIZES][LOOPS]) {
  begin(backend, argc, argv);
  for (int s = 0; s < SIZES; s++) {
    const struct world o = declare(sizes[s]);
    for (int l = 0; l < LOOPS; l++) {
      double seconds = smallest(&o, loops[l].run);
      best[s][l] = best[s][l] == 0 || seconds < best[s][l] ? seconds : best[s][l];
    }
  }
  op_exit();
}

int main(int argc, char **argv) {
  static double seq[SIZES][LOOPS], openmp[SIZES][LOOPS];
  char command[64];
  int slower = 0;
  if (!mkdtemp(folder))
    return EXIT_FAILURE;
  for (int r = 0; r < ROUNDS; r++) {
    measure("seq", argc, argv, seq);
    measure("openmp", argc, argv, openmp);
  }
  printf("microseconds of a call, the smallest of %d rounds\n", ROUNDS);
  printf("(each loop has %g s a round before, in which variants are looked for)\n", warm_seconds);
  printf("%-20s %9s %9s %9s %9s\n", "loop", "elements", "seq", "openmp", "faster");
  for (int l = 0; l < LOOPS; l++)
    for (int s = 0; s < SIZES; s++) {
      const bool bad = sizes[s] >= FIRST_THAT_COUNTS && openmp[s][l] > noise * seq[s][l];
      printf("%-20s %9d %9.2f %9.2f %8.2fx%s\n", loops[l].name, sizes[s], 1e6 * seq[s][l], 1e6 * openmp[s][l],
             seq[s][l] / openmp[s][l], bad ? "  SLOWER" : "");
      slower += bad;
    }
  printf("%d of the rows from %d elements on are slower on all threads than on one\n", slower,
         FIRST_THAT_COUNTS);
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) ? EXIT_FAILURE : EXIT_SUCCESS;
}
