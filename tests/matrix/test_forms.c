/* The two forms of matrices beside each other (docs/matrices.md): random calls, of which either form makes the same matrix; which
 * form ran; and what decides between them.
 *
 * usage: test_forms [SEEDS] */
#include <unistd.h>

#include "api/api.h"
#include "assembly.h"
#include "context/context.h"
#include "record/sites.h"
#include "report/forms.h"

OP_KERNEL_DEF(
    square, void square(const double *w, const double **x, double *a) {
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
          a[i * 3 + j] += w[0] * (1 + i) + x[i][0] * x[j][0] + 0.25 * j;
    })
OP_KERNEL_DEF(
    blocks, void blocks(const double *w, const double **x, double *a) {
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
          a[i * 6 + j] = w[0] * (1 + i) + x[i / 2][0] * x[j / 2][0] + 0.25 * j;
    })
OP_KERNEL_DEF(
    across, void across(const double *w, const double **x, const double **v, double *a) {
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
          a[i * 4 + j] = w[0] * (1 + i) + x[i][0] * v[j / 2][0] + 0.25 * j;
    })
OP_KERNEL_DEF(
    ends, void ends(const double *v, const double **x, double *a) {
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
          a[i * 2 + j] = v[0] * (1 + i) + x[i][0] * x[j][0] + 0.25 * j;
    })
OP_KERNEL_DEF(
    ragged, void ragged(const double *w, int n, const double **x, double *a) {
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          a[i * n + j] = w[0] * (1 + i) + OP_ROW(x, i)[0] * OP_ROW(x, j)[0] + 0.25 * j;
    })
OP_KERNEL_DEF(
    both, void both(const double *w, const double **x, double *a, double *b, double **y) {
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
          a[i * 3 + j] = w[0] + x[i][0];
          b[i * 3 + j] = a[i * 3 + j] * x[j][0];
          y[i][0] += b[i * 3 + j];
        }
    })

#define ARG(dat, map) op_arg_dat(dat, map == OP_ID ? -1 : OP_ALL, map, 1, "double", OP_READ)

/* The results of one run, to be compared with the other's. */
struct seen {
  double *values;
  size_t count, room;
  int rows; /* assemblies by rows */
};

static void see(struct seen *s, double value) {
  if (s->count == s->room) {
    s->room = 2 * s->room + 1000;
    s->values = realloc(s->values, s->room * sizeof *s->values);
    EXPECT(s->values);
  }
  s->values[s->count++] = value;
}

static void look(struct seen *s, op_mat mat, int rows) {
  long long entries = 0;
  op_coo_t coo;
  WORKS(op_coo(mat, &coo));
  s->rows += coo.own != NULL;
  for (long long r = 0; coo.own && r < coo.owned_rows; r++) {
    EXPECT(coo.own[r] <= coo.own[r + 1] && coo.others[r] <= coo.others[r + 1]);
    for (long long k = coo.own[r]; k < coo.own[r + 1]; k++)
      EXPECT(coo.rows[k] == coo.first_row + r && coo.columns[k] >= coo.first_column &&
             coo.columns[k] < coo.first_column + coo.owned_columns &&
             (k == coo.own[r] || coo.columns[k] > coo.columns[k - 1]));
  }
  EXPECT(!coo.own || (coo.own[0] == 0 && coo.others[0] == coo.own[coo.owned_rows] &&
                      coo.others[coo.owned_rows] == coo.count));
  WORKS(op_fetch_mat(mat, &entries, NULL, NULL, NULL));
  long long *offsets = calloc((size_t)rows + 1, sizeof *offsets),
            *columns = calloc((size_t)entries + 1, sizeof *columns);
  double *values = calloc((size_t)entries + 1, sizeof *values);
  EXPECT(offsets && columns && values);
  WORKS(op_fetch_mat(mat, &entries, offsets, columns, values));
  /* Which zeros are there depends on when pairs that no loop goes by were met, and what was fixed then. */
  for (long long k = 0; k < entries; k++)
    if (values[k] > 0) {
      see(s, (double)columns[k]);
      see(s, values[k]);
    }
  free(offsets);
  free(columns);
  free(values);
}

static int size_of(const struct world *w, int set) {
  return w->end[set] - w->begin[set];
}

static int run_square(struct world *w, op_mat k, op_set over, op_access access) {
  return op_par_loop(OP_KERNEL_OF(square), "square", over, ARG(w->on_cells, OP_ID),
                     ARG(w->on_nodes, w->by_tri),
                     op_arg_mat(k, w->by_tri, w->by_tri, 1, 1, "double", access));
}

/* ---- random calls ---- */

static void give(struct world *w, op_mat k, unsigned what) {
  if (what < 3)
    WORKS(run_square(w, k, w->cells, OP_INC));
  else if (what == 3)
    WORKS(run_square(w, k, w->some, OP_INC));
  else if (what == 4)
    WORKS(op_par_loop(OP_KERNEL_OF(ends), "ends", w->faces, ARG(w->on_faces, OP_ID),
                      ARG(w->on_nodes, w->by_ends),
                      op_arg_mat(k, w->by_ends, w->by_ends, 1, 1, "double", OP_INC)));
  else if (what == 5)
    WORKS(op_par_loop(OP_KERNEL_OF(ragged), "ragged", w->cells, ARG(w->on_cells, OP_ID),
                      ARG(w->on_nodes, w->by_poly),
                      op_arg_mat(k, w->by_poly, w->by_poly, 1, 1, "double", OP_INC)));
  else if (what == 6) {
    WORKS(op_zero_mat(k));
    WORKS(op_fix_mat(k, draw(w, 2) ? w->on_flags : NULL, draw(w, 2) ? w->on_flags : NULL, 0));
    WORKS(run_square(w, k, w->cells, OP_INC));
  } else {
    WORKS(
        op_fix_mat(k, w->on_flags, draw(w, 2) ? w->on_flags : NULL, 2.5)); /* what earlier loops gave stays */
    WORKS(run_square(w, k, w->some, OP_INC));
  }
}

static void run_random(struct world *w, struct seen *s) {
  const op_map maps[] = {w->by_tri, w->by_ends, w->by_poly};
  op_mat k = op_decl_mat(3, maps, maps, 1, 1, "double", "random");
  for (int step = 0; step < 40; step++) {
    give(w, k, draw(w, 8));
    if (draw(w, 2))
      look(s, k, size_of(w, OF_NODES));
    if (step == 25)
      WORKS(op_partition("random", NULL, w->nodes, NULL, NULL));
    if (step == 30)
      WORKS(op_renumber(w->by_tri));
    if (draw(w, 3) == 0)
      WORKS(op_zero_mat(k));
  }
  give(w, k, 0);
  look(s, k, size_of(w, OF_NODES));
  WORKS(op_free_mat(k));
}

static void run_others(struct world *w, struct seen *s) {
  op_mat b = op_decl_mat(1, &w->by_tri, &w->by_tri, 2, 2, "double", "blocks");
  op_mat r = op_decl_mat(1, &w->by_tri, &w->by_pair, 1, 2, "double", "across");
  op_mat p = op_decl_mat(1, &w->by_tri, &w->by_tri, 1, 1, "double", "first"),
         q = op_decl_mat(1, &w->by_tri, &w->by_tri, 1, 1, "double", "second");
  op_dat y = op_decl_dat(w->nodes, 1, "double", NULL, "y");
  WORKS(op_fix_mat(b, w->on_flags2, w->on_flags2, 3.5));
  for (int times = 0; times < 3; times++) {
    WORKS(op_par_loop(OP_KERNEL_OF(blocks), "blocks", w->cells, ARG(w->on_cells, OP_ID),
                      ARG(w->on_nodes, w->by_tri),
                      op_arg_mat(b, w->by_tri, w->by_tri, 2, 2, "double", times ? OP_INC : OP_WRITE)));
    WORKS(op_par_loop(OP_KERNEL_OF(across), "across", w->cells, ARG(w->on_cells, OP_ID),
                      ARG(w->on_nodes, w->by_tri), ARG(w->on_faces, w->by_pair),
                      op_arg_mat(r, w->by_tri, w->by_pair, 1, 2, "double", OP_INC)));
    /* Two matrices in one loop, and one twice. */
    WORKS(op_par_loop(OP_KERNEL_OF(both), "both", w->cells, ARG(w->on_cells, OP_ID),
                      ARG(w->on_nodes, w->by_tri),
                      op_arg_mat(p, w->by_tri, w->by_tri, 1, 1, "double", OP_INC),
                      op_arg_mat(times < 2 ? q : p, w->by_tri, w->by_tri, 1, 1, "double", OP_INC),
                      op_arg_dat(y, OP_ALL, w->by_tri, 1, "double", OP_INC)));
    look(s, b, 2 * size_of(w, OF_NODES));
    look(s, r, size_of(w, OF_NODES));
    look(s, p, size_of(w, OF_NODES));
    look(s, q, size_of(w, OF_NODES));
    if (times == 1)
      WORKS(op_zero_mat(p));
  }
  WORKS(op_free_mat(q));
}

static void run(unsigned seed, const char *form, int argc, char **argv, struct seen *s) {
  struct world w;
  *s = (struct seen){0};
  setenv("OP2_VARIANT", form, 1);
  WORKS(op_init(argc, argv, 0));
  world_make(&w, seed);
  run_random(&w, s);
  run_others(&w, s);
  WORKS(op_exit());
}

static void compare(unsigned seed, int argc, char **argv) {
  struct seen coo, csr;
  run(seed, "coo", argc, argv, &coo);
  run(seed, "csr", argc, argv, &csr);
  if (coo.rows || csr.rows < 12)
    printf("rank %d: rows %d of %d\n", op_rank(), csr.rows, coo.rows);
  EXPECT(coo.rows == 0 && csr.rows >= 12);
  EXPECT(coo.count == csr.count);
  for (size_t i = 0; i < coo.count; i++)
    if (!(fabs(coo.values[i] - csr.values[i]) <= 1e-12 * (1 + fabs(coo.values[i])))) {
      printf("rank %d, seed %u: number %zu is %.17g by rows, and %.17g by element matrices\n", op_rank(),
             seed, i, csr.values[i], coo.values[i]);
      exit(1);
    }
  free(coo.values);
  free(csr.values);
}

/* ---- fixed twice ---- */

/* The later number counts, though the element matrices that ran under it lie before the others. */
static void test_diagonal(int argc, char **argv, const char *form) {
  struct world w;
  long long entries, offsets[NODES + 1], columns[NODES * NODES];
  double values[NODES * NODES];
  setenv("OP2_VARIANT", form, 1);
  WORKS(op_init(argc, argv, 0));
  world_make(&w, 3);
  op_mat k = op_decl_mat(1, &w.by_tri, &w.by_tri, 1, 1, "double", "k");
  WORKS(run_square(&w, k, w.some, OP_INC));
  WORKS(run_square(&w, k, w.cells, OP_INC));
  WORKS(op_zero_mat(k));
  WORKS(op_fix_mat(k, w.on_flags, NULL, 1.5));
  WORKS(run_square(&w, k, w.cells, OP_INC));
  WORKS(op_fix_mat(k, w.on_flags, w.on_flags, 2.5));
  WORKS(run_square(&w, k, w.some, OP_INC));
  WORKS(op_fetch_mat(k, &entries, NULL, NULL, NULL));
  WORKS(op_fetch_mat(k, &entries, offsets, columns, values));
  for (int r = 0; r < size_of(&w, OF_NODES); r++)
    for (long long i = offsets[r]; w.fixed[w.begin[OF_NODES] + r] && i < offsets[r + 1]; i++)
      EXPECT(fabs(values[i] - (columns[i] == w.begin[OF_NODES] + r ? 2.5 : 0)) < 1e-15);
  WORKS(op_exit());
}

/* ---- reports ---- */

/* Values for rows go through a map of the library's own, of whose order a program can change nothing. */
static void test_report(int argc, char **argv) {
  struct world w;
  setenv("OP2_VARIANT", "csr", 1);
  WORKS(op_init(argc, argv, 0));
  world_make(&w, 3);
  op_mat k = op_decl_mat(1, &w.by_tri, &w.by_tri, 1, 1, "double", "k");
  WORKS(run_square(&w, k, w.cells, OP_INC));
  struct op_context *ctx = api_context();
  for (int i = 0; i < ctx->sites->count; i++) {
    struct loop_site *site = ctx->sites->items[i];
    if (site->record)
      site->record->stats.seconds = 1; /* long enough for a walk through the map */
  }
  struct report_row row = {.stats = {.seconds = 1}};
  struct report r = {.rows = &row, .nrows = 1, .cache_bytes = 1};
  facts_find(ctx, &r);
  EXPECT(r.norders == (op_rank_count() == 1));
  EXPECT(r.norders == 0 || strcmp(r.orders[0].map, "tri") == 0);
  free(r.views);
  free(r.unread);
  free(r.moved);
  free(r.orders);
  WORKS(op_exit());
}

/* ---- what decides ---- */

/* Assemblies until the form stays, where bridges take so long with either; whether it is rows then. `first`: the first
 * that was by rows. */
static int decide(int argc, char **argv, double elements, double rows, int times, int *first) {
  struct world w;
  int by_rows = 0;
  *first = -1;
  WORKS(op_init(argc, argv, 0));
  world_make(&w, 3);
  op_mat k = op_decl_mat(1, &w.by_tri, &w.by_tri, 1, 1, "double", "k");
  for (int t = 0; t < times; t++) {
    op_coo_t coo;
    WORKS(op_zero_mat(k));
    WORKS(run_square(&w, k, w.cells, OP_INC));
    WORKS(op_coo(k, &coo));
    by_rows = coo.own != NULL;
    if (by_rows && *first < 0)
      *first = t;
    op_coo_took(k, by_rows ? rows : elements);
  }
  WORKS(op_exit());
  return by_rows;
}

/* Without a compiler nothing is remembered. */
static int remembers(int argc, char **argv) {
  const char *backend = getenv("OP2_BACKEND");
  int native = backend && strcmp(backend, "native") == 0;
  for (int i = 1; i < argc; i++)
    native |= strcmp(argv[i], "OP2_BACKEND=native") == 0;
  return !native;
}

static void test_choice(int argc, char **argv) {
  enum { MANY = 500, FEW = 4 };
  char folder[] = "/tmp/op2jit-forms-XXXXXX", cache[64];
  int first;
  EXPECT(mkdtemp(folder));
  snprintf(cache, sizeof cache, "%s/kernels.db", folder);
  unsetenv("OP2_VARIANT");
  setenv("OP2_CACHE", "off", 1);
  setenv("OP2_TUNE", "off", 1);
  EXPECT(!decide(argc, argv, 10, 0, FEW, &first) && first < 0);
  setenv("OP2_TUNE", "auto", 1);
  setenv("OP2_FP", "strict", 1);
  EXPECT(!decide(argc, argv, 10, 0, MANY, &first) && first < 0); /* sums in the order of elements */
  unsetenv("OP2_FP");
  EXPECT(!decide(argc, argv, 0, 10, MANY, &first) && first > 0); /* rows were tried, and lost */
  EXPECT(decide(argc, argv, 10, 0, MANY, &first) && first > 10);
  setenv("OP2_CACHE", cache, 1);
  EXPECT(decide(argc, argv, 10, 0, MANY, &first));
  if (remembers(argc, argv))
    EXPECT(decide(argc, argv, 0, 10, FEW, &first) && first == 1); /* as the run before chose */
  setenv("OP2_TUNE", "use", 1); /* nothing is tried, but what is known is used */
  if (remembers(argc, argv))
    EXPECT(decide(argc, argv, 0, 10, FEW, &first) && first == 1);
  setenv("OP2_CACHE", "off", 1);
  EXPECT(!decide(argc, argv, 10, 0, 100, &first) && first < 0);
  setenv("OP2_CACHE", cache, 1);
  setenv("OP2_TUNE", "off", 1);
  EXPECT(!decide(argc, argv, 0, 10, FEW, &first));
  remove(cache);
  rmdir(folder);
}

int main(int argc, char **argv) {
  const int seeds = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 3;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  for (int seed = 1; seed <= seeds; seed++)
    compare((unsigned)seed, argc, argv);
  test_diagonal(argc, argv, "coo");
  test_diagonal(argc, argv, "csr");
  test_report(argc, argv);
  test_choice(argc, argv);
  return 0;
}
