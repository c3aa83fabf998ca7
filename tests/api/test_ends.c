/* Arrays that end where memory ends: nothing behind them is touched, whatever their rows are of and however a loop
 * reaches them, in all shapes of loops (OP2_VARIANT). Values are small whole numbers.
 *   test-api-ends [all]: without the word ints have three dims, as chars have, and rows of entries five lengths */
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support.h"

/* As many as fill strips of any width, so that the last row is in one. */
enum { N = 64, MOST_DIM = 9, MOST_ARRAYS = 16, LONGEST = 8 };

static const struct kind {
  const char *type;
  size_t size;
  int dims; /* how many of them are tried: small values are loaded one by one */
} kinds[] = {
    {"double", sizeof(double), MOST_DIM}, {"float", sizeof(float), MOST_DIM}, {"int", sizeof(int), MOST_DIM},
    {"short", sizeof(short), 3},          {"char", sizeof(char), 3},          {"bool", sizeof(bool), 3}};

/* ---- arrays ----------------------------------------------------------------------------------------*/

static struct array {
  const struct kind *kind;
  int rows, dim;
  unsigned char *values, *memory;
  size_t bytes;
  op_dat dat;
} arrays[MOST_ARRAYS];
static int narrays;

static void *at_the_end(size_t bytes, struct array *a) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
  a->bytes = whole + page;
  a->memory = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(a->memory != MAP_FAILED);
  assert_int_equal(mprotect(a->memory + whole, page, PROT_NONE), 0);
  return a->memory + whole - bytes;
}

static bool is_bool(const struct kind *kind) {
  return kind->type[0] == 'b';
}

static double value(const struct array *a, int i) {
  switch (a->kind->type[0]) {
  case 'd': return ((const double *)(const void *)a->values)[i];
  case 'f': return ((const float *)(const void *)a->values)[i];
  case 'i': return ((const int *)(const void *)a->values)[i];
  case 's': return ((const short *)(const void *)a->values)[i];
  default: return a->values[i];
  }
}

static void set_value(struct array *a, int i, int to) {
  switch (a->kind->type[0]) {
  case 'd': ((double *)(void *)a->values)[i] = to; break;
  case 'f': ((float *)(void *)a->values)[i] = (float)to; break;
  case 'i': ((int *)(void *)a->values)[i] = to; break;
  case 's': ((short *)(void *)a->values)[i] = (short)to; break;
  default: a->values[i] = (unsigned char)to;
  }
}

/* Value i at the beginning. */
static int first(const struct kind *kind, int i) {
  return is_bool(kind) ? i % 3 == 0 : i % 7;
}

/* A global if there is no set. */
static struct array *make(const struct kind *kind, op_set set, int rows, int dim) {
  assert_true(narrays < MOST_ARRAYS);
  struct array *a = &arrays[narrays++];
  *a = (struct array){.kind = kind, .rows = rows, .dim = dim};
  a->values = at_the_end((size_t)rows * (size_t)dim * kind->size, a);
  for (int i = 0; i < rows * dim; i++)
    set_value(a, i, first(kind, i));
  if (set) {
    a->dat = op_decl_dat_view(set, dim, kind->type, (void *)a->values, "view");
    assert_non_null(a->dat);
  }
  return a;
}

static void begin(void) {
  works(op_init(0, NULL, 0));
}

static void end(void) {
  works(op_exit());
  for (; narrays > 0; narrays--)
    munmap(arrays[narrays - 1].memory, arrays[narrays - 1].bytes);
}

/* Any whole number, for a bool whether it is odd. */
static void expect(const struct array *a, int i, int wanted) {
  wanted = is_bool(a->kind) ? wanted & 1 : wanted;
  if (value(a, i) != wanted)
    fail_msg("%s of dim %d, value %d is %g, expected %d", a->kind->type, a->dim, i, value(a, i), wanted);
}

static op_arg pass(const struct array *a, int idx, op_map map, op_access access) {
  return op_arg_dat(a->dat, idx, map, a->dim, a->kind->type, access);
}

/* ---- loops: T is the type, D the dim, and of bools ADD is an exclusive or --------------------------------*/

/* Each loop has a text of its own, which stays until op_exit. */
static char texts[64][1200];

static const char *text_of(const char *pattern, const struct kind *kind, int dim) {
  static unsigned number;
  char *text = texts[number++ % 64];
  snprintf(text, sizeof texts[0], "typedef %s T;\nenum { D = %d };\n#define ADD %s\n%s",
           is_bool(kind) ? "_Bool" : kind->type, dim, is_bool(kind) ? "^" : "+", pattern);
  return text;
}

static const char plain[] = "void plain(const T *x, T *y, T *z, const int *e, const T *g) {\n"
                            "  for (int c = 0; c < D; c++) {\n"
                            "    y[c] = (T)(x[c] ADD g[c]);\n"
                            "    z[c] = (T)(z[c] ADD x[c] ADD (*e & 1));\n"
                            "  }\n"
                            "}\n";
static const char added[] = "void added(const T *x, T *s) {\n"
                            "  for (int c = 0; c < D; c++)\n"
                            "    s[c] += x[c];\n"
                            "}\n";
static const char mapped[] = "void mapped(const T *x, const T **both, T *y, const int *e) {\n"
                             "  for (int c = 0; c < D; c++)\n"
                             "    y[c] = (T)(x[c] ADD both[0][c] ADD both[1][c] ADD (e[1] & 1));\n"
                             "}\n";
static const char spread[] = "void spread(const T *x, T *to) {\n"
                             "  for (int c = 0; c < D; c++)\n"
                             "    to[c] += x[c];\n"
                             "}\n";
static const char ragged[] = "void ragged(int n, const T **a, const T **t, T **b, T *y) {\n"
                             "  for (int c = 0; c < D; c++) {\n"
                             "    T sum = 0;\n"
                             "    OP_ANY_ORDER\n"
                             "    for (int k = 0; k < n; k++)\n"
                             "      sum = (T)(sum ADD OP_ROW(a, k)[c] ADD OP_ROW(t, k)[c]);\n"
                             "    for (int k = 0; k < n; k++)\n"
                             "      OP_ROW(b, k)[c] = (T)(OP_ROW(b, k)[c] ADD OP_ROW(a, k)[c]);\n"
                             "    y[c] = sum;\n"
                             "  }\n"
                             "}\n";

/* Elements of a loop: all, or every other one with the last. */
static bool runs(bool subset, int e) {
  return !subset || e % 2 == 1;
}

static op_set over(op_set set, bool subset) {
  int odd[N / 2];
  for (int i = 0; i < N / 2; i++)
    odd[i] = 2 * i + 1;
  return subset ? op_decl_subset(set, N / 2, odd, "odd") : set;
}

/* The last target is reached by the last element but one. */
static op_map next(op_set from, op_set to) {
  int table[2 * N];
  for (int e = 0; e < N; e++)
    table[2 * e] = e, table[2 * e + 1] = (e + 1) % N;
  return op_decl_map(from, to, 2, table, "next");
}

static void run_plain(const struct kind *kind, int dim, bool subset) {
  begin();
  op_set set = op_decl_set(N, "set");
  const struct array *x = make(kind, set, N, dim), *y = make(kind, set, N, dim), *z = make(kind, set, N, dim),
                     *g = make(kind, NULL, 1, dim), *s = make(kind, NULL, 1, dim);
  works(op_par_loop(text_of(plain, kind, dim), "plain", over(set, subset), pass(x, -1, OP_ID, OP_READ),
                    pass(y, -1, OP_ID, OP_WRITE), pass(z, -1, OP_ID, OP_RW), op_arg_idx(-1, OP_ID),
                    op_arg_gbl(g->values, dim, kind->type, OP_READ)));
  if (kind->size >= 4)
    works(op_par_loop(text_of(added, kind, dim), "added", over(set, subset), pass(x, -1, OP_ID, OP_READ),
                      op_arg_gbl(s->values, dim, kind->type, OP_INC)));
  assert_non_null(op_acquire(y->dat, OP_READ));
  assert_non_null(op_acquire(z->dat, OP_READ));
  for (int c = 0; c < dim; c++) {
    int sum = first(kind, c);
    for (int e = 0; e < N; e++) {
      const int at = first(kind, e * dim + c);
      sum += runs(subset, e) ? at : 0;
      expect(y, e * dim + c, runs(subset, e) ? at + first(kind, c) : at);
      expect(z, e * dim + c, runs(subset, e) ? 2 * at + (e & 1) : at);
    }
    if (kind->size >= 4)
      expect(s, c, sum);
  }
  end();
}

static void run_mapped(const struct kind *kind, int dim, bool subset) {
  begin();
  op_set set = op_decl_set(N, "set"), targets = op_decl_set(N, "targets");
  op_map map = next(set, targets);
  const struct array *x = make(kind, targets, N, dim), *y = make(kind, set, N, dim),
                     *to = make(kind, targets, N, dim);
  works(op_par_loop(text_of(mapped, kind, dim), "mapped", over(set, subset), pass(x, 1, map, OP_READ),
                    pass(x, OP_ALL, map, OP_READ), pass(y, -1, OP_ID, OP_WRITE), op_arg_idx(OP_ALL, map)));
  if (kind->size >= 4)
    works(op_par_loop(text_of(spread, kind, dim), "spread", over(set, subset), pass(x, 0, map, OP_READ),
                      pass(to, 1, map, OP_INC)));
  assert_non_null(op_acquire(y->dat, OP_READ));
  assert_non_null(op_acquire(to->dat, OP_READ));
  for (int e = 0; e < N; e++)
    for (int c = 0; c < dim; c++) {
      const int own = first(kind, e * dim + c), other = first(kind, (e + 1) % N * dim + c);
      expect(y, e * dim + c, runs(subset, e) ? own + 2 * other + ((e + 1) % N & 1) : own);
      if (kind->size >= 4)
        expect(to, (e + 1) % N * dim + c, runs(subset, e) ? own + other : other);
    }
  end();
}

/* Each element has `length` targets, or (0) sixteen of them as many as one another. */
static int length_of(int length, int e) {
  return length ? length : 1 + (e / 16 + 2) % 4;
}

static void run_ragged(const struct kind *kind, int dim, int length, bool subset) {
  static int table[N * LONGEST];
  long long offsets[N + 1] = {0};
  begin();
  op_set set = op_decl_set(N, "set"), targets = op_decl_set(N, "targets");
  for (int e = 0; e < N; e++) {
    offsets[e + 1] = offsets[e] + length_of(length, e);
    for (int k = 0; k < length_of(length, e); k++)
      table[offsets[e] + k] = (e + k) % N;
  }
  const int n = (int)offsets[N];
  op_map map = op_decl_map_ragged(set, targets, offsets, table, "ragged");
  const struct array *a = make(kind, op_map_entries(map), n, dim), *t = make(kind, targets, N, dim),
                     *b = make(kind, op_map_entries(map), n, dim), *y = make(kind, set, N, dim);
  works(op_par_loop(text_of(ragged, kind, dim), "ragged", over(set, subset), pass(a, OP_ALL, map, OP_READ),
                    pass(t, OP_ALL, map, OP_READ), pass(b, OP_ALL, map, OP_RW),
                    pass(y, -1, OP_ID, OP_WRITE)));
  assert_non_null(op_acquire(b->dat, OP_READ));
  assert_non_null(op_acquire(y->dat, OP_READ));
  for (int e = 0; e < N; e++)
    for (int c = 0; c < dim; c++) {
      int sum = 0;
      for (int at = (int)offsets[e]; at < offsets[e + 1]; at++) {
        const int own = first(kind, at * dim + c);
        sum += own + first(kind, table[at] * dim + c);
        expect(b, at * dim + c, runs(subset, e) ? 2 * own : own);
      }
      expect(y, e * dim + c, runs(subset, e) ? sum : first(kind, e * dim + c));
    }
  end();
}

/* ---- tests -----------------------------------------------------------------------------------------*/

static bool all;

/* Subsets differ in how elements are found, not in how values are moved; ints are moved as floats are. */
static void run_all(void (*run)(const struct kind *kind, int dim, bool subset)) {
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (int dim = 1; dim <= (all || k < 2 ? kinds[k].dims : 3); dim++)
      for (int subset = 0; subset < (k || (!all && dim > 3) ? 1 : 2); subset++)
        run(&kinds[k], dim, subset);
}

TEST(rows_of_elements) {
  run_all(run_plain);
}

TEST(rows_behind_a_map) {
  run_all(run_mapped);
}

/* Longer rows than strips hold (24 values) are of no interest. */
TEST(rows_of_as_many_entries) {
  for (int dim = 1; dim <= MOST_DIM; dim++)
    for (int length = 1; length <= LONGEST && length * dim <= 24; length++)
      if (all || (length != 4 && length < 6) || length == LONGEST)
        run_ragged(&kinds[0], dim, length, length == 3);
  for (size_t k = 1; k < sizeof kinds / sizeof *kinds; k++)
    for (int dim = 1; dim <= 3; dim += 2)
      run_ragged(&kinds[k], dim, 3, false);
}

/* Their code is that of all numbers of targets. */
TEST(rows_of_entries) {
  for (int dim = 1; dim <= 3; dim++)
    run_ragged(&kinds[0], dim, 0, dim == 1);
  run_ragged(&kinds[1], 1, 0, false);
}

/* Only where vectors reach into another page, there is a copy. */
TEST(what_vectors_fill_stays_in_the_array) {
  static const struct {
    int dim, targets;
    bool copied;
  } cases[] = {{1, 4, true}, {2, 4, true}, {3, 1, true}, {4, 3, false}, {8, 2, false}, {5, 1, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    static int table[N * LONGEST];
    long long offsets[N + 1] = {0};
    begin();
    op_set set = op_decl_set(N, "set");
    for (int e = 0; e < N; e++)
      offsets[e + 1] = offsets[e] + cases[i].targets;
    op_map map = op_decl_map_ragged(set, set, offsets, table, "ragged");
    const struct array *a = make(&kinds[0], op_map_entries(map), N * cases[i].targets, cases[i].dim),
                       *x = make(&kinds[0], set, N, 4);
    const long long before = op_counters()->bytes_of_views;
    assert_non_null(op_acquire(x->dat, OP_RW));
    works(op_release(x->dat));
    assert_int_equal(op_counters()->bytes_of_views, before);
    assert_non_null(op_acquire(a->dat, OP_RW));
    works(op_release(a->dat));
    assert_int_equal(op_counters()->bytes_of_views > before, cases[i].copied);
    end();
  }
}

FIXTURE(errors_return) {
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  return 0;
}

int main(int argc, char **argv) {
  all = argc > 1 && strcmp(argv[1], "all") == 0;
  return run_these(errors_return, NULL);
}
