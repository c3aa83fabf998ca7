/* Loops ask a GPU's second-level cache for this: sectors of 32 bytes for each instruction of a warp, counted by the
 * stand-in as generated code runs. And what a loop begins with, by what it adds. */
#include "backend.h"

#include <dlfcn.h>

#include "context/context.h"
#include "record/record.h"

enum { SIDE = 64, CELLS = SIDE * SIDE, EDGES = 2 * CELLS, LANES = 32 };

struct counts {
  long long stores, atomics, loads;
};
static void (*count)(int on);
static void (*counted)(struct counts *out);

/* The cells of a square that goes round both ways, and the edges between them, in the order of the cells. */
struct square {
  op_set edges, cells;
  op_map ends;
  op_dat q, res, old;
};

static struct square declare(const char *type) {
  static int table[2 * EDGES];
  struct square s = {0};
  for (int c = 0; c < CELLS; c++)
    for (int way = 0; way < 2; way++) {
      table[4 * c + 2 * way] = c;
      table[4 * c + 2 * way + 1] = way ? (c + SIDE) % CELLS : c / SIDE * SIDE + (c + 1) % SIDE;
    }
  s.edges = op_decl_set(EDGES, "edges");
  s.cells = op_decl_set(CELLS, "cells");
  s.ends = op_decl_map(s.edges, s.cells, 2, table, "ends");
  s.q = op_decl_dat(s.cells, 4, type, NULL, "q");
  s.res = op_decl_dat(s.cells, 4, type, NULL, "res");
  s.old = op_decl_dat(s.cells, 4, type, NULL, "old");
  return s;
}

/* One run of airfoil's res_calc, as far as it adds. */
static void add_to_both(const struct square *s, const char *type) {
  char kernel[300];
  snprintf(kernel, sizeof kernel,
           "void res_calc(const %s *a, const %s *b, %s *ra, %s *rb) {\n"
           "  for (int i = 0; i < 4; i++) { ra[i] += a[i] + i + 1; rb[i] -= b[i] + i + 1; }\n}\n",
           type, type, type, type);
  works(op_par_loop(kernel, "res_calc", s->edges, op_arg_dat(s->q, 0, s->ends, 4, type, OP_READ),
                    op_arg_dat(s->q, 1, s->ends, 4, type, OP_READ),
                    op_arg_dat(s->res, 0, s->ends, 4, type, OP_INC),
                    op_arg_dat(s->res, 1, s->ends, 4, type, OP_INC)));
}

static void save(const struct square *s) {
  works(op_par_loop("void save(const double *q, double *old) { for (int i = 0; i < 4; i++) old[i] = q[i]; }",
                    "save", s->cells, op_arg_dat(s->q, -1, OP_ID, 4, "double", OP_READ),
                    op_arg_dat(s->old, -1, OP_ID, 4, "double", OP_WRITE)));
}

static void update(const struct square *s) {
  works(op_par_loop("void update(const double *old, double *q, double *res) {\n"
                    "  for (int i = 0; i < 4; i++) { q[i] = old[i] - 0.5 * res[i]; res[i] = 0; }\n}\n",
                    "update", s->cells, op_arg_dat(s->old, -1, OP_ID, 4, "double", OP_READ),
                    op_arg_dat(s->q, -1, OP_ID, 4, "double", OP_WRITE),
                    op_arg_dat(s->res, -1, OP_ID, 4, "double", OP_RW)));
}

static void raise(const struct square *s) {
  works(op_par_loop("void raise(double *q) { for (int i = 0; i < 4; i++) q[i] += i; }", "raise", s->cells,
                    op_arg_dat(s->q, -1, OP_ID, 4, "double", OP_INC)));
}

enum which { RES_CALC, SAVE, UPDATE, RAISE };

static void run(const struct square *s, enum which loop, const char *type) {
  if (loop == RES_CALC)
    add_to_both(s, type);
  else
    (loop == SAVE ? save : loop == UPDATE ? update : raise)(s);
  static double got[4 * CELLS];
  const op_dat changed[] = {[RES_CALC] = s->res, [SAVE] = s->old, [UPDATE] = s->res, [RAISE] = s->q};
  works(op_fetch_data(changed[loop], (void *)got));
}

TEST(sectors_of_a_warp) {
  static const struct {
    enum which loop;
    const char *variant, *type;
    double stores, least, atomics; /* at most, for the elements of a warp; `least` of both together */
  } cases[] = {
      {RES_CALC, "atomics/128", "double", 0, 64, 64},
      {RES_CALC, "atomics/128/scalars", "double", 0, 256, 256},
      {RES_CALC, "atomics/128/each2", "double", 0, 64, 64},
      {RES_CALC, "warps/128", "double", 0, 33, 33},
      {RES_CALC, "warps/256/joined", "double", 0, 24, 24},
      {RES_CALC, "warps/64/joined/soa", "double", 0, 30, 38},
      {RES_CALC, "blocks/256/scalars", "double", 256, 256, 0},
      {RES_CALC, "blocks/256", "double", 128, 128, 0},
      {RES_CALC, "colours/128", "double", 128, 128, 0},
      {RES_CALC, "staged/256", "double", 24, 24, 0},
      {RES_CALC, "ordered/256", "double", 25, 24, 0},
      {RES_CALC, "ordered/128", "double", 28, 27, 0},
      {RES_CALC, "ordered/256/soa", "double", 43, 40, 0},
      {RES_CALC, "ordered/256", "float", 18, 16, 0},
      {RES_CALC, "apart/128", "double", 320, 320, 0},
      {RES_CALC, "atomics/128", "float", 0, 33, 33},
      {RES_CALC, "warps/128", "float", 0, 17, 18},
      {SAVE, "direct/128/scalars", "double", 128, 128, 0},
      {SAVE, "direct/128", "double", 32, 32, 0},
      {SAVE, "direct/128/each4", "double", 32, 32, 0},
      {UPDATE, "direct/128/scalars", "double", 256, 256, 0},
      {UPDATE, "direct/128", "double", 64, 64, 0},
      {RAISE, "direct/128", "double", 32, 32, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char forced[80];
    struct counts sums;
    snprintf(forced, sizeof forced, "OP2_VARIANT=%s", cases[i].variant);
    works(start(forced, NULL));
    const struct square s = declare(cases[i].type);
    run(&s, cases[i].loop, cases[i].type);
    count(1);
    run(&s, cases[i].loop, cases[i].type);
    counted(&sums);
    count(0);
    const double warps = (double)(cases[i].loop == RES_CALC ? EDGES : CELLS) / LANES,
                 stores = (double)sums.stores / warps, atomics = (double)sums.atomics / warps;
    print_message("%s of %s: stores %.1f, atomics %.1f\n", cases[i].variant, cases[i].type, stores, atomics);
    if (stores > cases[i].stores || atomics > cases[i].atomics || stores + atomics < cases[i].least)
      fail_msg("case %zu, %s of %s: %.2f sectors stored, %.2f added to", i, cases[i].variant, cases[i].type,
               stores, atomics);
    works(op_exit());
  }
}

static void begins_with(const char *variant) {
  struct loop **loops = loop_records(api_context());
  assert_non_null(loops);
  const struct gpu_loop *l = loops[0]->ready.backend_state;
  if (strcmp(l->variants[0].name, variant) != 0)
    fail_msg("the loop begins with %s, expected %s", l->variants[0].name, variant);
  free(loops);
}

TEST(first_guesses) {
  static const struct {
    op_access access;
    int dim;
    const char *word, *variant, *type;
  } cases[] = {{OP_INC, 4, NULL, "warps/128/vectors", "double"},
               {OP_INC, 12, NULL, "warps/128/vectors", "double"},
               {OP_INC, 40, NULL, "warps/64/vectors/near", "double"}, /* no room for more threads */
               {OP_INC, 120, NULL, "atomics/128/vectors", "double"},  /* nor for these */
               {OP_INC, 40, "OP2_VARIANT=512", "atomics/512/vectors", "double"}, /* so many have none */
               {OP_MIN, 4, NULL, "atomics/128/vectors", "double"},
               {OP_INC, 4, "OP2_FP=strict", "ordered/256/vectors", "double"},
               {OP_INC, 40, "OP2_FP=strict", "ordered/64/vectors", "double"},
               {OP_INC, 20, "OP2_VARIANT=ordered/64/near", "ordered/64/vectors", "double"}, /* has none */
               {OP_INC, 120, "OP2_FP=strict", "apart/128/vectors", "double"},
               {OP_MIN, 4, "OP2_FP=strict", "apart/128/vectors", "double"},
               {OP_INC, 4, "OP2_FP=strict", "warps/128/vectors", "int"}}; /* the same in any order */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const int dim = cases[i].dim;
    const char *type = cases[i].type;
    char kernel[200];
    snprintf(kernel, sizeof kernel,
             cases[i].access == OP_INC
                 ? "void meet(%s *a, %s *b) { *a += 1; *b += 2; }"
                 : "void meet(%s *a, %s *b) { if (*a > 1) *a = 1; if (*b > 2) *b = 2; }",
             type, type);
    works(start(cases[i].word, NULL));
    const struct square s = declare("double");
    op_dat to = op_decl_dat(s.cells, dim, type, NULL, "to");
    works(op_par_loop(kernel, "meet", s.edges, op_arg_dat(to, 0, s.ends, dim, type, cases[i].access),
                      op_arg_dat(to, 1, s.ends, dim, type, cases[i].access)));
    begins_with(cases[i].variant);
    works(op_exit());
  }
}

/* Rows of every number of pieces, of a set that ends within a warp: the last lanes have no neighbours to store with. */
TEST(rows_of_many_lengths) {
  static const int dims[] = {2, 4, 6, 8, 10, 14, 18, 24, 32, 33};
  enum { ROWS = 77, LONGEST = 33 };
  static double x[ROWS * LONGEST], y[ROWS * LONGEST], z[ROWS * LONGEST];
  for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
    const int dim = dims[i];
    char kernel[300], forced[60];
    snprintf(kernel, sizeof kernel,
             "void change(const double *x, double *y, double *z) {\n"
             "  for (int i = 0; i < %d; i++) { y[i] = 2 * x[i] + i; z[i] += x[i] + y[i]; }\n}\n",
             dim);
    snprintf(forced, sizeof forced, "OP2_VARIANT=direct/32%s", i % 2 ? "/each2" : "");
    for (int k = 0; k < ROWS * dim; k++)
      x[k] = k, y[k] = -1, z[k] = 3 * k;
    works(start(forced, NULL));
    op_set rows = op_decl_set(ROWS, "rows");
    op_dat dx = op_decl_dat(rows, dim, "double", x, "x"), dy = op_decl_dat(rows, dim, "double", y, "y"),
           dz = op_decl_dat(rows, dim, "double", z, "z");
    works(op_par_loop(kernel, "change", rows, op_arg_dat(dx, -1, OP_ID, dim, "double", OP_READ),
                      op_arg_dat(dy, -1, OP_ID, dim, "double", OP_WRITE),
                      op_arg_dat(dz, -1, OP_ID, dim, "double", i % 3 ? OP_INC : OP_RW)));
    works(op_fetch_data(dy, y));
    works(op_fetch_data(dz, z));
    for (int k = 0; k < ROWS * dim; k++)
      if (y[k] != 2 * k + k % dim || z[k] != 6 * k + k % dim)
        fail_msg("%d values a row: value %d is %g and %g", dim, k, y[k], z[k]);
    works(op_exit());
  }
}

int main(void) {
  begin_tests();
  setenv("STANDIN_MODE", "checked", 1);
  void *driver = dlopen(getenv("OP2_CUDA_DRIVER"), RTLD_NOW); /* stays open: what it counted does, too */
  *(void **)&count = driver ? dlsym(driver, "standin_count") : NULL;
  *(void **)&counted = driver ? dlsym(driver, "standin_counted") : NULL;
  if (!count || !counted) {
    puts("skipped: OP2_CUDA_DRIVER is not the stand-in");
    return 77;
  }
  return run_these(NULL, NULL);
}
