/* A matrix A becomes Q R, by tiles: a task for each step of the algorithm on one or two tiles. Which task waits for which
 * follows from the tiles that they change. On several ranks each has some columns of tiles. With OP2_BACKEND=opencl, cuda or hip
 * the tasks run on a device, or only those that apply reflections (--mixed 1). Checked: A - Q R and Q' Q - I. */
#include <math.h>
#include <op2jit.h>
#include <op2jit_tasks.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../simulated.h"
#include "qr_device.h"

enum { MOST_TILE = 256, STRIP = 16 };

/* Rows of numbers, and behind them a factor of each reflection that made the tile. Below the diagonal, or in the whole
 * tile, are the vectors of the reflections. */
static struct matrix {
  int tiles, size; /* tiles in a row, numbers in a row of a tile */
  size_t step;     /* numbers of a tile */
  int ranks;       /* do all ranks have the graph together? */
  int group;       /* threads of a group on a device, 0: as it likes */
  int mixed;       /* steps that make reflections are the host's */
  double *values;
  double *vectors; /* what the tiles on the diagonal hold before tiles below them change their R */
} A;

static double *tile_at(int i, int j) {
  return A.values + (size_t)(i * A.tiles + j) * A.step;
}

/* ---- the four steps ---- */

/* Columns from .. from + n - 1: add `factor` times the reflection of row r of `top` with all rows of `low`, whose vector
 * is v (1 for the row of `top`). */
static void reflect(double *restrict top, double *restrict low, const double *restrict v, double factor,
                    int rows, int size, int n) {
  double w[STRIP];
  for (int c = 0; c < n; c++)
    w[c] = top[c];
  if (n == STRIP) {
    for (int i = 0; i < rows; i++)
      for (int c = 0; c < STRIP; c++)
        w[c] += v[i] * low[i * size + c];
    for (int c = 0; c < STRIP; c++)
      top[c] -= (w[c] *= factor);
    for (int i = 0; i < rows; i++)
      for (int c = 0; c < STRIP; c++)
        low[i * size + c] -= v[i] * w[c];
    return;
  }
  for (int i = 0; i < rows; i++)
    for (int c = 0; c < n; c++)
      w[c] += v[i] * low[i * size + c];
  for (int c = 0; c < n; c++)
    top[c] -= (w[c] *= factor);
  for (int i = 0; i < rows; i++)
    for (int c = 0; c < n; c++)
      low[i * size + c] -= v[i] * w[c];
}

static void reflect_columns(double *top, double *low, const double *v, double factor, int rows, int from) {
  for (int c = from; c < A.size; c += STRIP)
    reflect(top + c, low + c, v, factor, rows, A.size, A.size - c < STRIP ? A.size - c : STRIP);
}

/* The reflection that makes zeros of `rows` numbers below *first: its vector takes their place. Returns its factor. */
static double make_reflection(double *first, double *column, int rows, double *v) {
  double sum = 0;
  for (int i = 0; i < rows; i++)
    sum += column[(size_t)i * (size_t)A.size] * column[(size_t)i * (size_t)A.size];
  if (sum == 0) {
    memset(v, 0, (size_t)rows * sizeof *v);
    return 0;
  }
  const double alpha = *first, beta = alpha > 0 ? -sqrt(alpha * alpha + sum) : sqrt(alpha * alpha + sum);
  for (int i = 0; i < rows; i++)
    v[i] = column[(size_t)i * (size_t)A.size] /= alpha - beta;
  *first = beta;
  return (beta - alpha) / beta;
}

static double *factors(double *tile) {
  return tile + A.size * A.size;
}

/* A tile on the diagonal becomes R. */
static void geqrf(double *d) {
  double v[MOST_TILE];
  for (int r = 0; r < A.size; r++) {
    double *row = d + r * A.size, *below = row + A.size;
    factors(d)[r] = make_reflection(row + r, below + r, A.size - r - 1, v);
    reflect_columns(row, below, v, factors(d)[r], A.size - r - 1, r + 1);
  }
}

static void load_vector(const double *tile, int r, int from, double *v) {
  for (int i = from; i < A.size; i++)
    v[i - from] = tile[i * A.size + r];
}

/* The same reflections for a tile right of it; backwards: Q in the place of Q'. */
static void larft(double *d, double *c, int backwards) {
  double v[MOST_TILE];
  for (int n = 0; n < A.size; n++) {
    const int r = backwards ? A.size - 1 - n : n;
    load_vector(d, r, r + 1, v);
    reflect_columns(c + r * A.size, c + (r + 1) * A.size, v, factors(d)[r], A.size - r - 1, 0);
  }
}

/* R on the diagonal and a tile below it become R and zeros. */
static void tsqrf(double *d, double *b) {
  double v[MOST_TILE];
  for (int r = 0; r < A.size; r++) {
    double *row = d + r * A.size;
    factors(b)[r] = make_reflection(row + r, b + r, A.size, v);
    reflect_columns(row, b, v, factors(b)[r], A.size, r + 1);
  }
}

/* The same reflections for the tiles right of the two. */
static void ssrft(double *b, double *top, double *c, int backwards) {
  double v[MOST_TILE];
  for (int n = 0; n < A.size; n++) {
    const int r = backwards ? A.size - 1 - n : n;
    load_vector(b, r, 0, v);
    reflect_columns(top + r * A.size, c, v, factors(b)[r], A.size, 0);
  }
}

/* ---- the tasks ---- */

struct step {
  int i, j, k; /* row, column, and how many rows and columns are done */
  int size;    /* of a tile */
};

static void run_geqrf(op_running *running, void *data) {
  const struct step *s = data;
  (void)running;
  geqrf(tile_at(s->k, s->k));
  memcpy(A.vectors + (size_t)s->k * A.step, tile_at(s->k, s->k), A.step * sizeof *A.vectors);
}
static void run_larft(op_running *running, void *data) {
  const struct step *s = data;
  (void)running;
  larft(A.vectors + (size_t)s->k * A.step, tile_at(s->k, s->j), 0);
}
static void run_tsqrf(op_running *running, void *data) {
  const struct step *s = data;
  (void)running;
  tsqrf(tile_at(s->k, s->k), tile_at(s->i, s->k));
}
static void run_ssrft(op_running *running, void *data) {
  const struct step *s = data;
  (void)running;
  ssrft(tile_at(s->i, s->k), tile_at(s->k, s->j), tile_at(s->i, s->j), 0);
}

struct plan {
  op_graph graph;
  op_resource *tiles, *vectors;
  op_task *last; /* that changes a tile, so far */
};

/* It changes `tile`, and another one unless that is -1; it runs behind what changed them before, and behind `before`, which
 * made what it uses. */
static op_task add(struct plan *p, op_task_type type, struct step s, double cost, int tile, int other,
                   op_task before, op_resource used) {
  const op_task task = op_graph_task(p->graph, type, &s, sizeof s, cost);
  op_graph_lock(p->graph, task, p->tiles[tile]);
  if (p->last[tile])
    op_graph_depend(p->graph, task, p->last[tile]);
  if (other >= 0)
    op_graph_lock(p->graph, task, p->tiles[other]);
  if (other >= 0 && p->last[other])
    op_graph_depend(p->graph, task, p->last[other]);
  if (before) {
    op_graph_depend(p->graph, task, before);
    op_graph_use(p->graph, task, used);
  }
  p->last[tile] = task;
  if (other >= 0)
    p->last[other] = task;
  return task;
}

static void add_steps(struct plan *p) {
  const op_task_type geqrf_type = op_graph_type(p->graph, "geqrf", run_geqrf),
                     larft_type = op_graph_type(p->graph, "larft", run_larft),
                     tsqrf_type = op_graph_type(p->graph, "tsqrf", run_tsqrf),
                     ssrft_type = op_graph_type(p->graph, "ssrft", run_ssrft);
  const int n = A.tiles, size = A.size;
  if (!A.ranks && !A.mixed) {
    op_graph_kernel(p->graph, geqrf_type, device_steps, "geqrf", A.group);
    op_graph_kernel(p->graph, tsqrf_type, device_steps, "tsqrf", A.group);
  }
  if (!A.ranks) {
    op_graph_kernel(p->graph, larft_type, device_steps, "larft", A.group);
    op_graph_kernel(p->graph, ssrft_type, device_steps, "ssrft", A.group);
  }
  for (int k = 0; k < n; k++) {
    const int kk = k * n + k;
    const op_task d = add(p, geqrf_type, (struct step){k, k, k, size}, 200, kk, -1, 0, 0);
    op_graph_lock(p->graph, d, p->vectors[k]);
    for (int j = k + 1; j < n; j++)
      add(p, larft_type, (struct step){k, j, k, size}, 300, k * n + j, -1, d, p->vectors[k]);
    for (int i = k + 1; i < n; i++) {
      const op_task t = add(p, tsqrf_type, (struct step){i, k, k, size}, 300, i * n + k, kk, 0, 0);
      for (int j = k + 1; j < n; j++)
        add(p, ssrft_type, (struct step){i, j, k, size}, 500, i * n + j, k * n + j, t, p->tiles[i * n + k]);
    }
  }
}

/* On rank 0, which checks the whole matrix. */
static void add_collect(struct plan *p) {
  const op_task last = op_graph_task(p->graph, op_graph_type(p->graph, "collect", NULL), NULL, 0, 0);
  op_graph_place(p->graph, last, 0);
  for (int t = 0; t < A.tiles * A.tiles; t++) {
    op_graph_use(p->graph, last, p->tiles[t]);
    op_graph_depend(p->graph, last, p->last[t]);
  }
}

static op_graph make_graph(void) {
  const int n = A.tiles;
  struct plan p = {.graph = op_decl_graph("qr"),
                   .tiles = calloc((size_t)n * (size_t)n, sizeof *p.tiles),
                   .vectors = calloc((size_t)n, sizeof *p.vectors),
                   .last = calloc((size_t)n * (size_t)n, sizeof *p.last)};
  if (!p.tiles || !p.vectors || !p.last)
    exit(1);
  if (A.ranks)
    op_graph_ranks(p.graph, OP_GRAPH_WHOLE);
  for (int t = 0; t < n * n; t++) {
    char name[40];
    snprintf(name, sizeof name, "tile %d %d", t / n, t % n);
    p.tiles[t] = op_graph_resource(p.graph, 0, name);
    op_graph_memory(p.graph, p.tiles[t], tile_at(t / n, t % n), A.step * sizeof(double));
    if (A.ranks)
      op_graph_owner(p.graph, p.tiles[t], t % n);
  }
  for (int k = 0; k < n; k++) {
    p.vectors[k] = op_graph_resource(p.graph, 0, NULL);
    op_graph_memory(p.graph, p.vectors[k], A.vectors + (size_t)k * A.step, A.step * sizeof(double));
    if (A.ranks)
      op_graph_owner(p.graph, p.vectors[k], k);
  }
  add_steps(&p);
  if (A.ranks)
    add_collect(&p);
  free(p.tiles);
  free(p.vectors);
  free(p.last);
  return p.graph;
}

/* ---- the matrix, and the check ---- */

/* In -1 .. 1, always the same. */
static double value_at(long row, long column) {
  unsigned long long h = (unsigned long long)row * 0x9e3779b97f4a7c15u + (unsigned long long)column;
  h = (h ^ (h >> 31)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 29)) * 0x94d049bb133111ebu;
  return (double)(h >> 11) / (double)(1ull << 52) - 1;
}

static int make_matrix(int n, int tile, int ranks) {
  A = (struct matrix){.ranks = ranks,
                      .group = A.group,
                      .mixed = A.mixed,
                      .tiles = n / tile,
                      .size = tile,
                      .step = (size_t)tile * (size_t)tile + (size_t)tile};
  A.values = malloc((size_t)(A.tiles * A.tiles) * A.step * sizeof *A.values);
  A.vectors = malloc((size_t)A.tiles * A.step * sizeof *A.vectors);
  return A.values && A.vectors;
}

static void fill_matrix(void) {
  for (int i = 0; i < A.tiles; i++)
    for (int j = 0; j < A.tiles; j++)
      for (int r = 0; r < A.size; r++)
        for (int c = 0; c < A.size; c++)
          tile_at(i, j)[r * A.size + c] = value_at((long)i * A.size + r, (long)j * A.size + c);
}

/* x becomes Q x, for as many columns as a row of tiles has: x is a column of tiles. */
static void apply_q(double *x) {
  const size_t step = (size_t)A.size * (size_t)A.size;
  for (int k = A.tiles; k-- > 0;) {
    for (int i = A.tiles; i-- > k + 1;)
      ssrft(tile_at(i, k), x + (size_t)k * step, x + (size_t)i * step, 1);
    larft(tile_at(k, k), x + (size_t)k * step, 1);
  }
}

struct errors {
  double product, orthogonal; /* |A - Q R| / |A|, |Q' Q - I| / sqrt(n) */
};

static void add_product_error(int j, const double *x, double *error, double *norm) {
  for (int i = 0; i < A.tiles; i++)
    for (int r = 0; r < A.size; r++)
      for (int c = 0; c < A.size; c++) {
        const double a = value_at((long)i * A.size + r, (long)j * A.size + c);
        const double d = x[(size_t)(i * A.size + r) * (size_t)A.size + (size_t)c] - a;
        *error += d * d;
        *norm += a * a;
      }
}

/* Of two columns of tiles of Q. */
static void add_orthogonal_error(const double *x, const double *y, int same, double *error) {
  double sum[MOST_TILE];
  for (int c = 0; c < A.size; c++) {
    memset(sum, 0, (size_t)A.size * sizeof *sum);
    for (int r = 0; r < A.tiles * A.size; r++)
      for (int d = 0; d < A.size; d++)
        sum[d] += x[(size_t)r * (size_t)A.size + (size_t)c] * y[(size_t)r * (size_t)A.size + (size_t)d];
    for (int d = 0; d < A.size; d++)
      *error += (sum[d] - (same && c == d)) * (sum[d] - (same && c == d));
  }
}

static struct errors find_errors(void) {
  const size_t step = (size_t)A.size * (size_t)A.size, column = step * (size_t)A.tiles;
  double *x = calloc(column, sizeof *x), *q = calloc(column * (size_t)A.tiles, sizeof *q);
  struct errors e = {0, 0};
  double norm = 0;
  if (!x || !q)
    exit(1);
  for (int j = 0; j < A.tiles; j++) {
    memset(x, 0, column * sizeof *x);
    for (int i = 0; i <= j; i++)
      for (int r = 0; r < A.size; r++)
        for (int c = i < j ? 0 : r; c < A.size; c++)
          x[(size_t)i * step + (size_t)(r * A.size + c)] = tile_at(i, j)[r * A.size + c];
    apply_q(x);
    add_product_error(j, x, &e.product, &norm);
    double *own = q + (size_t)j * column;
    for (int r = 0; r < A.size; r++)
      own[(size_t)j * step + (size_t)(r * A.size + r)] = 1;
    apply_q(own);
    for (int k = 0; k <= j; k++)
      add_orthogonal_error(q + (size_t)k * column, own, k == j, &e.orthogonal);
  }
  free(x);
  free(q);
  e.product = sqrt(e.product / norm);
  e.orthogonal = sqrt(e.orthogonal / (A.tiles * A.size));
  return e;
}

/* Of all bits of the tiles. */
static unsigned long long sum_bits(void) {
  unsigned long long sum = 0, bits;
  for (size_t i = 0; i < (size_t)(A.tiles * A.tiles) * A.step; i++) {
    memcpy(&bits, &A.values[i], sizeof bits);
    sum = (sum ^ bits) * 1099511628211u;
  }
  return sum;
}

/* R, one number of a tile: how large its numbers are, for ParaView. */
static int write_picture(const char *path) {
  FILE *file = fopen(path, "w");
  const int n = A.tiles * A.size;
  if (!file)
    return 0;
  fprintf(file, "# vtk DataFile Version 3.0\nR\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS %d %d 1\n", n,
          n);
  fprintf(file, "ORIGIN 0 0 0\nSPACING 1 1 1\nPOINT_DATA %d\nSCALARS log10_R float 1\nLOOKUP_TABLE default\n",
          n * n);
  for (int row = n; row-- > 0;)
    for (int column = 0; column < n; column++) {
      const double *t = tile_at(row / A.size, column / A.size);
      const double value = column < row ? 0 : fabs(t[row % A.size * A.size + column % A.size]);
      fprintf(file, "%.3g\n", value > 1e-20 ? log10(value) : -20);
    }
  return fclose(file) == 0;
}

int main(int argc, char **argv) {
  int n = 512, tile = 64, threads = 0, ranks = 0;
  const char *picture = NULL;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--n"))
      n = atoi(value);
    else if (!strcmp(argv[a], "--tile"))
      tile = atoi(value);
    else if (!strcmp(argv[a], "--simulate"))
      threads = atoi(value);
    else if (!strcmp(argv[a], "--ranks"))
      ranks = atoi(value);
    else if (!strcmp(argv[a], "--group"))
      A.group = atoi(value);
    else if (!strcmp(argv[a], "--mixed"))
      A.mixed = atoi(value);
    else if (!strcmp(argv[a], "--vtk"))
      picture = value;
    else
      n = 0;
    a++;
  }
  if (tile < 1 || tile > MOST_TILE || n < 1 || n % tile) {
    fprintf(stderr,
            "usage: qr [--n N] [--tile N] [--simulate THREADS] [--ranks RANKS] [--group THREADS] [--mixed 1] "
            "[--vtk FILE]\n"
            "N is a multiple of the tile, which is at most %d\n",
            MOST_TILE);
    return 2;
  }
  if (op_init(argc, argv, 1) || !make_matrix(n, tile, op_rank_count() > 1 || ranks > 0))
    return 1;
  fill_matrix();
  op_graph graph = make_graph();
  const double start = op_wtime();
  op_graph_run(graph);
  double seconds = op_wtime() - start;
  op_graph_facts_t facts;
  op_graph_facts(graph, &facts);
  if (facts.groups) /* without the compiler */
    seconds = facts.seconds;
  op_printf("%d x %d in tiles of %d: %lld tasks, %.3f s on %lld %s, %.2f Gflop/s\n", n, n, tile, facts.tasks,
            seconds, facts.threads,
            facts.groups == facts.threads ? "groups of a device"
            : facts.groups                ? "groups of a device and threads"
                                          : "threads",
            4.0 / 3 * n * n * n / seconds * 1e-9);
  if (A.ranks)
    op_printf("%d ranks: this one sent %lld messages of %.1f MB, and waited %.3f s\n", op_rank_count(),
              facts.messages, 1e-6 * (double)facts.message_bytes, facts.waited);
  if (threads > 0)
    say_simulated(graph, !A.ranks ? 0 : ranks > 0 ? ranks : op_rank_count(), threads);
  if (!op_is_root())
    return op_exit();
  if (picture && !write_picture(picture)) {
    fprintf(stderr, "qr: cannot write %s\n", picture);
    return 1;
  }
  const struct errors e = find_errors();
  const int good = e.product < 1e-13 && e.orthogonal < 1e-13;
  op_printf("|A - Q R| / |A| = %.2e, |Q' Q - I| = %.2e, bits %016llx\n%s\n", e.product, e.orthogonal,
            sum_bits(), good ? "PASSED" : "FAILED");
  free(A.values);
  free(A.vectors);
  return op_exit() || !good;
}
