/* The demands of a loop on a GPU's memory, by the maps of meshes that are made here, and what the tuner tries then:
 * numbers that can be worked out by hand, and the order of airfoil's forms as an H100 had it. Linked so that it sees each
 * sample, and what the device is taken for. */
#include "../api/support.h"
#include <math.h>
#include <unistd.h>

#include "api/api.h"
#include "backend/gpu/gpu.h"

enum { LEAST = 160, WIDE = 1200, HIGH = 600 };

static struct gpu_sample seen;
static const struct loop *loop_seen;

int __real_gpu_sample_take(const struct loop *loop, const struct gpu_targets *targets, double cache,
                           bool adds_rows, struct gpu_sample *out, struct error *err);
int __wrap_gpu_sample_take(const struct loop *loop, const struct gpu_targets *targets, double cache,
                           bool adds_rows, struct gpu_sample *out, struct error *err);
int __wrap_gpu_sample_take(const struct loop *loop, const struct gpu_targets *targets, double cache,
                           bool adds_rows, struct gpu_sample *out, struct error *err) {
  const int code = __real_gpu_sample_take(loop, targets, cache, adds_rows, out, err);
  seen = *out;
  loop_seen = loop;
  return code;
}

static struct gpu_rates rates_seen;
double __real_gpu_predict(const struct gpu_sample *s, const struct gpu_shape *shape,
                          const struct gpu_rates *rates);
double __wrap_gpu_predict(const struct gpu_sample *s, const struct gpu_shape *shape,
                          const struct gpu_rates *rates);
double __wrap_gpu_predict(const struct gpu_sample *s, const struct gpu_shape *shape,
                          const struct gpu_rates *rates) {
  rates_seen = *rates;
  return __real_gpu_predict(s, shape, rates);
}

static const char flux[] =
    OP_KERNEL(void flux(const double *xa, const double *xb, const double *qa, const double *qb,
                        const double *aa, const double *ab, double *ra, double *rb) {
      for (int i = 0; i < 4; i++) {
        const double f = (qa[i] - qb[i]) * (xa[0] - xb[1]) * (*aa + *ab);
        ra[i] += f;
        rb[i] -= f;
      }
    });
static const char mix[] = OP_KERNEL(void mix(const double *q, double *old) {
  for (int i = 0; i < 4; i++)
    old[i] = 2 * old[i] + q[i];
});
static const char mix_float[] = OP_KERNEL(void mix_float(const float *q, float *old) {
  for (int i = 0; i < 4; i++)
    old[i] = 2 * old[i] + q[i];
});

/* A grid of cells with an edge to the right and one upwards for each, both to the neighbour or, at an end, around. */
static struct {
  op_set cells, edges;
  op_map en, ec;
  op_dat x, q, a, r;
} mesh;

static unsigned chance = 1;
static int drawn(int below) {
  chance = chance * 1664525u + 1013904223u;
  return (int)((chance >> 4) % (unsigned)below);
}

static int *numbers(int n, bool shuffled) {
  int *order = malloc((size_t)n * sizeof *order);
  for (int i = 0; i < n; i++)
    order[i] = i;
  for (int i = n - 1; shuffled && i > 0; i--) {
    const int k = drawn(i + 1), t = order[i];
    order[i] = order[k];
    order[k] = t;
  }
  return order;
}

static char cache[200] = "OP2_CACHE=off";

static void begin(int wide, int high, bool shuffled, const char *type) {
  char program[] = "counts", tune[] = "OP2_TUNE=auto";
  char *argv[] = {program, tune, cache, NULL};
  const int n = wide * high;
  int *cell = numbers(n, shuffled), *edge = numbers(2 * n, shuffled);
  int *ec = malloc(4 * (size_t)n * sizeof *ec), *en = malloc(4 * (size_t)n * sizeof *en);
  for (int c = 0; c < n; c++)
    for (int up = 0; up < 2; up++) {
      const int e = edge[2 * c + up], right = c % wide + 1 < wide ? c + 1 : c + 1 - wide,
                above = c + wide < n ? c + wide : c + wide - n;
      ec[2 * e] = en[2 * e] = cell[c];
      ec[2 * e + 1] = en[2 * e + 1] = cell[up ? above : right];
    }
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(3, argv, 0));
  mesh.cells = op_decl_set(n, "cells");
  mesh.edges = op_decl_set(2 * n, "edges");
  mesh.ec = op_decl_map(mesh.edges, mesh.cells, 2, ec, "ec");
  mesh.en = op_decl_map(mesh.edges, mesh.cells, 2, en, "en");
  mesh.x = op_decl_dat(mesh.cells, 2, "double", NULL, "x");
  mesh.q = op_decl_dat(mesh.cells, 4, type, NULL, "q");
  mesh.a = op_decl_dat(mesh.cells, 1, "double", NULL, "a");
  mesh.r = op_decl_dat(mesh.cells, 4, type, NULL, "r");
  free(ec);
  free(en);
  free(cell);
  free(edge);
}

static void run_flux(void) {
  works(op_par_loop(flux, "flux", mesh.edges, op_arg_dat(mesh.x, 0, mesh.en, 2, "double", OP_READ),
                    op_arg_dat(mesh.x, 1, mesh.en, 2, "double", OP_READ),
                    op_arg_dat(mesh.q, 0, mesh.ec, 4, "double", OP_READ),
                    op_arg_dat(mesh.q, 1, mesh.ec, 4, "double", OP_READ),
                    op_arg_dat(mesh.a, 0, mesh.ec, 1, "double", OP_READ),
                    op_arg_dat(mesh.a, 1, mesh.ec, 1, "double", OP_READ),
                    op_arg_dat(mesh.r, 0, mesh.ec, 4, "double", OP_INC),
                    op_arg_dat(mesh.r, 1, mesh.ec, 4, "double", OP_INC)));
}

static bool near(double a, double b, double part) {
  return fabs(a - b) <= part * b;
}

/* Sixteen cells of a row have 32 edges: 17 cells of the row and 16 of the next one. */
TEST(rows_in_their_natural_order) {
  begin(LEAST, LEAST, false, "double");
  run_flux();
  assert_true(seen.warps == 2.0 * LEAST * LEAST / 32);
  assert_true(seen.values == 256 && seen.pieces == 128 && seen.entries == 64);
  assert_true(seen.reds == 256 && seen.fours == 64);
  assert_true(seen.sums[0].elements == 32 && near(seen.sums[0].sectors, 33, 0.001));
  assert_true(near(seen.sums[0].targets, 33, 0.001));
  /* Behind the L1: rows of 128 cells and the next row's, 32, 16 and 8 bytes each; two tables of two. */
  assert_true(near(seen.reads, (257 * 1.0 + 257 * 0.5 + 257 * 0.25) / 8 + 16, 0.02));
  assert_true(seen.stores == 0 && seen.scalars == 0);
  works(op_exit());
}

static const char add_floats[] = OP_KERNEL(void add_floats(const double *x, float *ra, float *rb) {
  for (int i = 0; i < 4; i++) {
    ra[i] += (float)*x;
    rb[i] -= (float)*x;
  }
});

/* A row is one addition, of half a sector: two edges name a cell first, so that eight sectors count twice. */
TEST(rows_of_floats) {
  begin(LEAST, LEAST, false, "float");
  works(op_par_loop(add_floats, "add_floats", mesh.edges,
                    op_arg_dat(mesh.a, 0, mesh.ec, 1, "double", OP_READ),
                    op_arg_dat(mesh.r, 0, mesh.ec, 4, "float", OP_INC),
                    op_arg_dat(mesh.r, 1, mesh.ec, 4, "float", OP_INC)));
  assert_true(near(seen.reds, 33, 0.02));
  assert_true(near(seen.sums[0].sectors, 17, 0.03));
  works(op_exit());
}

/* Neighbours share sectors, and two edges name one cell first. */
TEST(components_apart) {
  begin(LEAST, LEAST, false, "double:soa");
  run_flux();
  assert_true(seen.values == 256);
  assert_true(seen.reds >= 64 && seen.reds <= 80);
  works(op_exit());
}

TEST(shuffled_edges) {
  begin(LEAST, LEAST, true, "double");
  run_flux();
  assert_true(seen.reds == 256);
  assert_true(seen.sums[0].sectors > 63 && seen.sums[0].sectors <= 64);
  works(op_exit());
  begin(LEAST, LEAST, true, "double:soa");
  run_flux();
  assert_true(seen.reds > 240 && seen.reds <= 256);
  works(op_exit());
}

TEST(direct_rows) {
  begin(LEAST, LEAST, false, "double");
  works(op_par_loop(mix, "mix", mesh.cells, direct(mesh.q, 4, "double", OP_READ),
                    direct(mesh.r, 4, "double", OP_RW)));
  assert_true(seen.reads == 64 && seen.stores == 32 && seen.scalars == 128);
  assert_true(seen.once == 96.0 * LEAST * LEAST);
  op_dat f = op_decl_dat(mesh.cells, 4, "float", NULL, "f"),
         g = op_decl_dat(mesh.cells, 4, "float", NULL, "g");
  works(op_par_loop(mix_float, "mix_float", mesh.cells, direct(f, 4, "float", OP_READ),
                    direct(g, 4, "float", OP_RW)));
  assert_true(seen.reads == 32 && seen.stores == 16 && seen.scalars == 64);
  works(op_exit());
}

static void run_face(int dim) {
  char face[300];
  snprintf(face, sizeof face,
           "void face(const double *a, const double *b, double *ra, double *rb) {\n"
           "  for (int i = 0; i < %d; i++) { ra[i] += a[i] - b[i]; rb[i] -= a[i] - b[i]; }\n}\n",
           dim);
  op_dat u = op_decl_dat(mesh.cells, dim, "double", NULL, "u"),
         r = op_decl_dat(mesh.cells, dim, "double", NULL, "sums");
  works(op_par_loop(face, "face", mesh.edges, op_arg_dat(u, 0, mesh.ec, dim, "double", OP_READ),
                    op_arg_dat(u, 1, mesh.ec, dim, "double", OP_READ),
                    op_arg_dat(r, 0, mesh.ec, dim, "double", OP_INC),
                    op_arg_dat(r, 1, mesh.ec, dim, "double", OP_INC)));
}

/* Of 32 edges 64 rows of ten sectors, 33 of them different: value by value where each thread reads and adds its own, for no
 * cache keeps them, but two edges name a cell at once; in whole sectors where warps bring them. Rows of 15 are as any others. */
TEST(rows_of_many_values) {
  begin(LEAST, LEAST, false, "double");
  run_face(40);
  assert_true(seen.far == (16 + 32) * 40);
  assert_true(near(seen.near, 330, 0.001));
  assert_true(seen.reds == 64 * 40 && seen.fours == seen.reds && seen.near_reds == 64 * 10);
  assert_true(near(seen.sums[0].sectors, 330, 0.001));
  works(op_exit());
  begin(LEAST, LEAST, false, "double");
  run_face(15);
  assert_true(seen.far == 0 && seen.near == 0 && seen.reads > 0 && seen.fours == seen.near_reds);
  assert_true(seen.fours < seen.reds / 2);
  works(op_exit());
}

/* ---- the order ---- */
static double microseconds_of(struct gpu_shape shape) {
  return 1e6 * gpu_predict(&seen, &shape, &GPU_RATES_USUAL);
}

static double microseconds(enum gpu_strategy strategy, int block) {
  return microseconds_of((struct gpu_shape){.strategy = strategy, .block = block, .vectors = true});
}

/* Tried are the first guess, and these. */
static void tried(const char *first, const char *second, const char *third) {
  const struct gpu_loop *l = loop_seen->ready.backend_state;
  const char *const names[] = {first, second, third};
  assert_int_equal(l->nvariants, 4);
  for (int i = 0; i < 3; i++)
    assert_string_equal(l->variants[1 + i].name, names[i]);
}

TEST(what_is_tried_on_a_large_mesh) {
  begin(WIDE, HIGH, false, "double");
  run_flux();
  /* As by a simulation of airfoil's own mesh: 45, 148, 88, and 140 measured. */
  assert_true(near(microseconds(GPU_WARPS, 128), 45, 0.05));
  assert_true(near(microseconds(GPU_ATOMICS, 128), 57, 0.05));
  assert_true(near(microseconds_of((struct gpu_shape){.strategy = GPU_ATOMICS, .block = 128}), 148, 0.05));
  assert_true(near(microseconds(GPU_BLOCKS, 256), 88, 0.05));
  assert_true(near(microseconds(GPU_STAGED, 256), 140, 0.15));
  assert_true(isinf(microseconds(GPU_APART, 128)));
  tried("warps/256/vectors", "warps/256/vectors/joined", "atomics/128/vectors");
  works(op_exit());
}

TEST(what_is_tried_where_edges_are_shuffled) {
  begin(WIDE, HIGH, true, "double");
  run_flux();
  assert_true(seen.fours == 64);
  assert_true(microseconds(GPU_ATOMICS, 128) < microseconds(GPU_WARPS, 128)); /* which has a plan to read */
  assert_true(microseconds(GPU_WARPS, 128) < microseconds(GPU_BLOCKS, 256));
  assert_true(microseconds(GPU_BLOCKS, 256) < microseconds(GPU_STAGED, 256));
  works(op_exit());
}

/* Launches cost more than what they save. */
TEST(what_is_tried_on_a_small_mesh) {
  begin(LEAST / 4, LEAST / 4, false, "double");
  run_flux();
  tried("warps/256/vectors", "atomics/128/vectors", "warps/256/vectors/joined");
  works(op_exit());
}

/* Where sums are made in the order of the elements nothing else is tried, and nothing is counted: rows of many values, too,
 * which leave room for smaller blocks, are not near. */
TEST(what_is_tried_in_strict) {
  static const struct {
    int values, count;
    const char *names[2];
  } cases[] = {{4, 2, {"ordered/256/vectors", "ordered/128/vectors"}}, {20, 1, {"ordered/128/vectors"}}};
  setenv("OP2_FP", "strict", 1);
  seen = (struct gpu_sample){0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    begin(LEAST / 4, LEAST / 4, false, "double");
    run_face(cases[i].values);
    struct loop **loops = loop_records(api_context());
    const struct gpu_loop *l = loops[0]->ready.backend_state;
    assert_int_equal(l->nvariants, cases[i].count);
    for (int v = 0; v < cases[i].count; v++)
      assert_string_equal(l->variants[v].name, cases[i].names[v]);
    free(loops);
    works(op_exit());
  }
  assert_true(seen.warps == 0);
  unsetenv("OP2_FP");
}

TEST(what_is_tried_for_rows_of_many_values) {
  begin(LEAST, LEAST, false, "double");
  run_face(40);
  const struct gpu_loop *l = loop_seen->ready.backend_state;
  assert_string_equal(l->variants[0].name, "warps/64/vectors/near");
  assert_string_equal(l->variants[1].name, "atomics/64/vectors/near");
  works(op_exit());
}

/* Its rates are kept; without a file that keeps them they are an H100's. */
TEST(a_device_is_measured_once) {
  const struct gpu_rates usual = GPU_RATES_USUAL;
  begin(LEAST / 4, LEAST / 4, false, "double");
  run_flux();
  assert_memory_equal(&rates_seen, &usual, sizeof usual);
  assert_int_equal(op_counters()->compiles, 1);
  works(op_exit());
  char folder[] = "/tmp/counts.XXXXXX", file[sizeof folder + 20];
  assert_non_null(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/kernels.db", folder);
  snprintf(cache, sizeof cache, "OP2_CACHE=%s", file);
  struct gpu_rates first = {0};
  for (int run = 0; run < 2; run++) {
    begin(LEAST / 4, LEAST / 4, false, "double");
    run_flux();
    assert_true(rates_seen.copy > 0 && rates_seen.sectors > 0 && rates_seen.red > 0);
    assert_true(memcmp(&rates_seen, &usual, sizeof usual) != 0);
    assert_true(run == 0 || memcmp(&rates_seen, &first, sizeof first) == 0);
    assert_int_equal(op_counters()->compiles, !run); /* loops only */
    first = rates_seen;
    works(op_exit());
  }
  unlink(file);
  rmdir(folder);
}
