/* Ragged maps that are wrong, and loops that do not fit them. */
#include <stddef.h>
#include <string.h>

#include "negative.h"

static const long long offsets[EDGES + 1] = {0, 2, 2, 3, 6, 6};
static const int targets[6] = {0, 1, 2, 3, 4, 5};

static op_map ragged(const struct mesh *m) {
  return op_decl_map_ragged(m->edges, m->cells, offsets, targets, "around");
}

CASE(ragged_offsets_null, OP_ERR_ARGUMENT, IN_MESH) {
  op_decl_map_ragged(m->edges, m->cells, NULL, targets, "around");
}

CASE(ragged_offsets_late, OP_ERR_ARGUMENT, IN_MESH) {
  const long long late[EDGES + 1] = {1, 2, 2, 3, 6, 6};
  op_decl_map_ragged(m->edges, m->cells, late, targets, "around");
}

CASE(ragged_offsets_of_int, OP_ERR_ARGUMENT, IN_MESH) {
  static const int small[2 * EDGES + 2] = {0, 2, 2, 3, 6, 6};
  long long read[EDGES + 1];
  memcpy(read, small, sizeof read);
  op_decl_map_ragged(m->edges, m->cells, read, targets, "around");
}

CASE(ragged_offsets_back, OP_ERR_ARGUMENT, IN_MESH) {
  const long long back[EDGES + 1] = {0, 2, 3, 2, 6, 6};
  op_decl_map_ragged(m->edges, m->cells, back, targets, "around");
}

CASE(ragged_targets_null, OP_ERR_ARGUMENT, IN_MESH) {
  op_decl_map_ragged(m->edges, m->cells, offsets, NULL, "around");
}

CASE(ragged_target_high, OP_ERR_MAP_RANGE, IN_MESH) {
  const int high[6] = {0, 1, 2, 3, CELLS, 5};
  op_decl_map_ragged(m->edges, m->cells, offsets, high, "around");
}

CASE(ragged_target_negative, OP_ERR_MAP_RANGE, IN_MESH) {
  const int negative[6] = {-1, 1, 2, 3, 4, 5};
  op_decl_map_ragged(m->edges, m->cells, offsets, negative, "around");
}

CASE(ragged_to_null, OP_ERR_HANDLE, IN_MESH) {
  op_decl_map_ragged(m->edges, NULL, offsets, targets, "around");
}

CASE(ragged_too_many, OP_ERR_SIZE, IN_MESH) {
  const long long many[EDGES + 1] = {0, 2, 2, 3, 6, 3000000000};
  op_decl_map_ragged(m->edges, m->cells, many, targets, "around");
}

CASE(entries_of_ordinary, OP_ERR_HANDLE, IN_MESH) {
  op_map_entries(m->edge_cells);
}

CASE(entries_of_direct, OP_ERR_HANDLE, IN_MESH) {
  op_map_entries(OP_ID);
}

CASE(entries_freed_alone, OP_ERR_HANDLE, IN_MESH) {
  op_free_set(op_map_entries(ragged(m)));
}

CASE(ragged_freed_in_use, OP_ERR_STATE, IN_MESH) {
  const op_map map = ragged(m);
  op_decl_dat(op_map_entries(map), 1, "double", NULL, "length");
  op_free_map(map);
}

static void loop_of(const struct mesh *m, const char *kernel, const char *name, op_arg a, op_arg b) {
  op_par_loop(kernel, name, m->edges, a, b);
}

static void loop(const struct mesh *m, const char *kernel, op_arg a, op_arg b) {
  loop_of(m, kernel, "loop", a, b);
}

#define LOOP_CASE(name, code, flags, ...)                                                                    \
  CASE(name, code, flags) {                                                                                  \
    loop(m, __VA_ARGS__);                                                                                    \
  }

static op_arg flow(const struct mesh *m) {
  return op_arg_dat(m->flow, -1, OP_ID, 2, "float", OP_READ);
}

#define HEIGHT(m, idx, access) op_arg_dat((m)->height, idx, ragged(m), 1, "double", access)

static const char sums[] = "void loop(int n, const double **h, const float *f) {}";

LOOP_CASE(ragged_one_column, OP_ERR_INDEX, IN_MESH, sums, HEIGHT(m, 0, OP_READ), flow(m))

LOOP_CASE(ragged_number, OP_ERR_INDEX, IN_MESH, "void loop(const int *n, const float *f) {}",
          op_arg_idx(1, ragged(m)), flow(m))

LOOP_CASE(ragged_dat_elsewhere, OP_ERR_MAP_SET, IN_MESH, sums,
          op_arg_dat(m->flow, OP_ALL, ragged(m), 2, "float", OP_READ), flow(m))

CASE(ragged_dat_apart, OP_ERR_TYPE, IN_MESH) {
  const op_dat apart = op_decl_dat(m->cells, 2, "double:soa", NULL, "apart");
  loop(m, sums, op_arg_dat(apart, OP_ALL, ragged(m), 2, "double", OP_READ), flow(m));
}

/* It was not declared so. */
CASE(ragged_dat_apart_by_variant, OP_ERR_TYPE, 0) {
  if (begin("OP2_VARIANT=aos/soa=height") != OP_OK)
    return;
  op_set edges = op_decl_set(EDGES, "edges"), cells = op_decl_set(CELLS, "cells");
  op_map around = op_decl_map_ragged(edges, cells, offsets, targets, "around");
  op_dat height = op_decl_dat(cells, 2, "double", NULL, "height"),
         flow = op_decl_dat(edges, 1, "float", NULL, "flow");
  op_par_loop(sums, "loop", edges, op_arg_dat(height, OP_ALL, around, 2, "double", OP_READ),
              op_arg_dat(flow, -1, OP_ID, 1, "float", OP_READ));
  said_keep(said, op_last_error());
  op_exit();
}

LOOP_CASE(ragged_without_number, OP_ERR_KERNEL, IN_MESH, "void loop(const double **h, const float *f) {}",
          HEIGHT(m, OP_ALL, OP_READ), flow(m))

LOOP_CASE(ragged_number_is_pointer, OP_ERR_KERNEL, IN_MESH,
          "void loop(const int *n, const double **h, const float *f) {}", HEIGHT(m, OP_ALL, OP_READ), flow(m))

LOOP_CASE(ragged_number_too_early, OP_ERR_KERNEL, IN_MESH,
          "void loop(int n, const float *f, const double **h) {}", flow(m), HEIGHT(m, OP_ALL, OP_READ))

CASE(ragged_dat_of_other_entries, OP_ERR_MAP_SET, IN_MESH) {
  const op_map other = op_decl_map_ragged(m->edges, m->cells, offsets, targets, "other");
  const op_dat length = op_decl_dat(op_map_entries(other), 1, "double", NULL, "length");
  loop(m, sums, op_arg_dat(length, OP_ALL, ragged(m), 1, "double", OP_READ), flow(m));
}

LOOP_CASE(fixed_with_number, OP_ERR_KERNEL, IN_MESH,
          "void loop(int n, const double *h[2], const float *f) {}",
          op_arg_dat(m->height, OP_ALL, m->edge_cells, 1, "double", OP_READ), flow(m))

LOOP_CASE(ragged_rows_are_one, OP_ERR_KERNEL, IN_MESH, "void loop(int n, const double *h, const float *f) {}",
          HEIGHT(m, OP_ALL, OP_READ), flow(m))

LOOP_CASE(two_ragged_one_number, OP_ERR_KERNEL, IN_MESH,
          "void loop(int n, const double **a, const double **b) {}", HEIGHT(m, OP_ALL, OP_READ),
          HEIGHT(m, OP_ALL, OP_READ))

CASE(ragged_read_twice_and_written, OP_ERR_ALIAS, IN_MESH) {
  const op_map map = ragged(m);
  loop(m, "void loop(int n, const double **a, double **b) {}",
       op_arg_dat(m->height, OP_ALL, map, 1, "double", OP_READ),
       op_arg_dat(m->height, OP_ALL, map, 1, "double", OP_RW));
}

static op_arg flow_written(const struct mesh *m) {
  return op_arg_dat(m->flow, -1, OP_ID, 2, "float", OP_RW);
}

/* The text shows what the kernel does against its access descriptors. */
static op_arg through(const struct mesh *m, op_access access) {
  return op_arg_dat(m->height, OP_ALL, ragged(m), 1, "double", access);
}

LOOP_CASE(ragged_row_is_read_only, OP_ERR_VIOLATION, IN_MESH | COMPILED_ONLY,
          "void loop(int n, const double **h, const float *f) {\n"
          "  for (int k = 0; k < n; k++)\n"
          "    *(double *)OP_ROW(h, k) = f[0];\n"
          "}",
          through(m, OP_READ), flow(m))

LOOP_CASE(ragged_row_not_written, OP_ERR_VIOLATION, IN_MESH | COMPILED_ONLY,
          "void loop(int n, double **h, const float *f) {\n"
          "  for (int k = 1; k < n; k++)\n"
          "    *OP_ROW(h, k) = f[0];\n"
          "}",
          through(m, OP_WRITE), flow(m))

LOOP_CASE(ragged_row_assigned, OP_ERR_VIOLATION, IN_MESH | COMPILED_ONLY,
          "static void put(double *to, double v) { *to = v; }\n"
          "void loop(int n, double **h, const float *f) {\n"
          "  for (int k = 0; k < n; k++)\n"
          "    put(OP_ROW(h, k), f[0]);\n"
          "}",
          through(m, OP_INC), flow(m))

LOOP_CASE(ragged_row_beyond, OP_ERR_VIOLATION, IN_MESH | COMPILED_ONLY,
          "static double sum(int n, const double **h) {\n"
          "  double s = 0;\n"
          "  for (int k = 0; k <= n; k++)\n"
          "    s += *OP_ROW(h, k);\n"
          "  return s;\n"
          "}\n"
          "void loop(int n, const double **h, float *f) { f[0] = f[1] = (float)sum(n, h); }",
          through(m, OP_READ), op_arg_dat(m->flow, -1, OP_ID, 2, "float", OP_WRITE))

LOOP_CASE(ragged_row_before, OP_ERR_VIOLATION, IN_MESH | COMPILED_ONLY,
          "void loop(int n, double **h, const float *f) { *OP_ROW(h, -1) += f[0] * n; }", through(m, OP_INC),
          flow(m))

/* Two of the mesh's elements have no target, and none has more than three. */
static op_arg flow_set(const struct mesh *m) {
  return op_arg_dat(m->flow, -1, OP_ID, 2, "float", OP_WRITE);
}

LOOP_CASE(ragged_none_not_written, OP_ERR_VIOLATION, IN_MESH | COMPILED_ONLY,
          "void loop(int n, const double **h, float *f) {\n"
          "  double s = 0;\n"
          "  for (int k = 0; k < n; k++)\n"
          "    s += *OP_ROW(h, k);\n"
          "  if (n)\n"
          "    f[0] = f[1] = (float)(s / n);\n"
          "}",
          through(m, OP_READ), flow_set(m))

LOOP_CASE(ragged_none_unset, OP_ERR_VIOLATION, IN_MESH | COMPILED_ONLY,
          "void loop(int n, const double **h, float *f) {\n"
          "  double s;\n"
          "  for (int k = 0; k < n; k++)\n"
          "    s = *OP_ROW(h, k);\n"
          "  f[0] = f[1] = (float)s;\n"
          "}",
          through(m, OP_READ), flow_set(m))

LOOP_CASE(ragged_beyond_longest, OP_ERR_VIOLATION, IN_MESH | COMPILED_ONLY,
          "void loop(int n, const double **h, float *f) {\n"
          "  f[0] = f[1] = 0;\n"
          "  if (n)\n"
          "    f[1] = (float)*OP_ROW(h, 3);\n"
          "}",
          through(m, OP_READ), flow_set(m))

/* C takes `x[k]` for a pointer of its own. OP_KERNEL_DEF: OP_ROW has become what it stands for. */
/* clang-format off */
OP_KERNEL_DEF(row_indexed, void row_indexed(int n, const double **h, float *f) {
  for (int k = 0; k < n; k++)
    f[0] += (float)(*OP_ROW(h, (int)(0 * *OP_ROW(h, k))) + h[k][0]);
})
OP_KERNEL_DEF(row_followed, void row_followed(int n, const double **h, float *f) { f[0] = (float)(n + **h); })
OP_KERNEL_DEF(row_kept, void row_kept(int n, const double **h, float *f) {
  const double **own = h;
  f[0] = (float)(n + own[0][0]);
})
OP_KERNEL_DEF(row_indexed_in_helper,
  void put(double **to, int k, float v) { (to)[k + 1][0] += v; }
  static void row_indexed_in_helper(int n, double **h, const float *f) { for (int k = 0; k < n; k++) put(h, k, *f); })
OP_KERNEL_DEF(row_of_fixed, void row_of_fixed(double **h, const float *f) {
  for (int k = 0; k < 2; k++)
    *OP_ROW(h, k) += *f;
})
/* clang-format on */

CASE(ragged_row_indexed, OP_ERR_KERNEL, IN_MESH) {
  loop_of(m, OP_KERNEL_OF(row_indexed), "row_indexed", through(m, OP_READ), flow_written(m));
}

CASE(ragged_row_indexed_in_helper, OP_ERR_KERNEL, IN_MESH) {
  loop_of(m, OP_KERNEL_OF(row_indexed_in_helper), "row_indexed_in_helper", through(m, OP_INC), flow(m));
}

CASE(ragged_row_followed, OP_ERR_KERNEL, IN_MESH) {
  loop_of(m, OP_KERNEL_OF(row_followed), "row_followed", through(m, OP_READ), flow_written(m));
}

CASE(ragged_row_kept, OP_ERR_KERNEL, IN_MESH) {
  loop_of(m, OP_KERNEL_OF(row_kept), "row_kept", through(m, OP_READ), flow_written(m));
}

CASE(ragged_row_of_one, OP_ERR_KERNEL, IN_MESH | COMPILED_ONLY) {
  loop_of(m,
          "void row_of_one(int n, const double **h, const float *f) { float s = n * *OP_ROW(f, 0) + "
          "*OP_ROW(h, 0); }",
          "row_of_one", through(m, OP_READ), flow(m));
}

CASE(ragged_row_of_fixed, OP_ERR_KERNEL, IN_MESH) {
  loop_of(m, OP_KERNEL_OF(row_of_fixed), "row_of_fixed",
          op_arg_dat(m->height, OP_ALL, m->edge_cells, 1, "double", OP_INC), flow(m));
}

/* A macro is what stands for it, with the parameter or without. */
CASE(ragged_row_in_macro, OP_ERR_KERNEL, IN_MESH | COMPILED_ONLY) {
  loop_of(m,
          "#define AT(k) h[k][0]\nvoid in_macro(int n, const double **h, float *f) { f[0] = (float)(n + "
          "AT(1)); }",
          "in_macro", through(m, OP_READ), flow_written(m));
}

CASE(ragged_row_in_macros, OP_ERR_KERNEL, IN_MESH | COMPILED_ONLY) {
  loop_of(
      m,
      "#define ROW(x, k) OP_ROW(x, k)\n#define R(x, k) (x)[k]\n#define OF(v, k) (ROW(v, k)[0] + R(v, k)[0])\n"
      "void in_macros(int n, const double **h, float *f) { f[0] = (float)(n + OF(h, 0)); }",
      "in_macros", through(m, OP_READ), flow_written(m));
}

/* Which definition holds, the compiler knows. */
CASE(ragged_row_in_unsure_macro, OP_ERR_KERNEL, IN_MESH | COMPILED_ONLY) {
  loop_of(m,
          "#ifdef OP2JIT_KERNEL\n#define R(x, k) x[k]\n#else\n#define R(x, k) OP_ROW(x, k)\n#endif\n"
          "void unsure(int n, const double **h, float *f) { f[0] = (float)(n + R(h, 0)[0]); }",
          "unsure", through(m, OP_READ), flow_written(m));
}

/* The compiler would speak of pointers. */
LOOP_CASE(ragged_row_added, OP_ERR_KERNEL, IN_MESH | COMPILED_ONLY,
          "void loop(int n, const double **h, float *f) {\n"
          "  for (int k = 0; k < n; k++)\n"
          "    f[0] += h[k + 1];\n"
          "}",
          through(m, OP_READ), flow_written(m))

/* The `*` is missing. */
LOOP_CASE(ragged_rows_subtracted, OP_ERR_KERNEL, IN_MESH | COMPILED_ONLY,
          "void loop(int n, const double **h, float *f) {\n"
          "  for (int k = 0; k + 1 < n; k++)\n"
          "    f[0] += OP_ROW(h, k) - OP_ROW(h, k + 1);\n"
          "}",
          through(m, OP_READ), flow_written(m))

LOOP_CASE(ragged_rows_compared, OP_ERR_KERNEL, IN_MESH | COMPILED_ONLY,
          "void loop(int n, const double **h, float *f) {\n"
          "  for (int k = 1; k < n; k++)\n"
          "    f[0] += *OP_ROW(h, k) < *OP_ROW(h, 0) || 0 != (OP_ROW(h, k));\n"
          "}",
          through(m, OP_READ), flow_written(m))

LOOP_CASE(ragged_number_behind, OP_ERR_KERNEL, IN_MESH,
          "void loop(const double **h, int n, const float *f) {}", HEIGHT(m, OP_ALL, OP_READ), flow(m))

LOOP_CASE(ragged_all_of_direct, OP_ERR_INDEX, IN_MESH, sums, HEIGHT(m, OP_ALL, OP_READ),
          op_arg_dat(m->flow, OP_ALL, OP_ID, 2, "float", OP_READ))

CASE(ragged_target_listed_twice, OP_ERR_ALIAS, IN_MESH) {
  const int twice[6] = {0, 1, 2, 4, 5, 4};
  const op_map map = op_decl_map_ragged(m->edges, m->cells, offsets, twice, "around");
  loop(m,
       "void loop(int n, double **h, const float *f) { for (int k = 0; k < n; k++) *OP_ROW(h, k) = f[0]; }",
       op_arg_dat(m->height, OP_ALL, map, 1, "double", OP_RW), flow(m));
}

CASE(ragged_into_nothing, OP_ERR_MAP_RANGE, IN_MESH) {
  op_decl_map_ragged(m->edges, m->nothing, offsets, targets, "around");
}

CASE(ragged_access_unsaid, OP_ERR_ACCESS, IN_MESH | COMPILED_ONLY) {
  op_arg args[] = {op_arg_dat(m->height, OP_ALL, ragged(m), 1, "double", OP_UNSAID), flow(m)};
  op_find_accesses(sums, "loop", m->edges, 2, args, __FILE__, __LINE__);
}
