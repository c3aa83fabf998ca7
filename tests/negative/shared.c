/* Mistakes in what kernels share with the program and with one another. */
#include <stddef.h>

#include "negative.h"

CASE(prelude_null, OP_ERR_ARGUMENT, IN_MESH) {
  op_decl_prelude(NULL);
}

CASE(prelude_file_null, OP_ERR_ARGUMENT, IN_MESH) {
  op_prelude_file(NULL);
}

CASE(prelude_file_missing, OP_ERR_FILE, IN_MESH) {
  op_prelude_file("/nowhere/shared.h");
}

CASE(prelude_not_closed, OP_ERR_KERNEL, IN_MESH) {
  op_decl_prelude("enum kind {\n  FLUID,\n  SOLID\n;\n");
}

CASE(prelude_directive_in_one_line, OP_ERR_KERNEL, IN_MESH) {
  op_decl_prelude("#line 7 \"program.c\"\n#define TWO 2 enum kind { FLUID, SOLID };");
}

CASE(prelude_include_missing, OP_ERR_KERNEL, IN_MESH) {
  op_decl_prelude("#define TWO 2\n#include \"kinds.h\"\n");
}

TEXT_CASE(kernel_include_missing, OP_ERR_KERNEL, IN_MESH,
          "#include \"kinds.h\"\nvoid scale(const double *h, double *sum) {\n  *sum += 2 * *h;\n}\n")

/* A mesh of its own, for a mistake here stays. */
static void with_prelude(struct said *said, const char *prelude) {
  double heights[] = {1, 1, 2}, sum = 0;
  if (begin(NULL) != OP_OK)
    return;
  op_set cells = op_decl_set(3, "cells");
  op_dat height = op_decl_dat(cells, 1, "double", heights, "height");
  op_decl_prelude(prelude);
  op_par_loop("void scale(const double *h, double *sum) {\n  *sum += half(*h);\n}\n", "scale", cells,
              op_arg_dat(height, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC));
  said_keep(said, op_last_error());
  op_exit();
}

CASE(prelude_wrong, OP_ERR_COMPILE, COMPILED_ONLY) {
  with_prelude(said, "enum kind { FLUID, SOLID };\nstatic double half(double x) {\n  return x / too;\n}\n");
}

CASE(prelude_of_op_kernel_wrong, OP_ERR_COMPILE, COMPILED_ONLY) {
  with_prelude(said, "#line 7 \"program.c\"\nstatic double half(double x) { return x / too; }");
}

CASE(prelude_defines_the_name, OP_ERR_COMPILE, IN_MESH | COMPILED_ONLY) {
  op_decl_prelude("enum kind { FLUID, SOLID };\n");
  WITH_TEXT(
      "enum kind { GAS };\nvoid scale(const double *h, double *sum) {\n  *sum += *h + (enum kind)0;\n}\n");
}

/* clang-format off */
OP_KERNEL_DEF(asserts, void asserts(const double *h) { op_assert(*h < 2); })
/* clang-format on */

CASE(assert_does_not_hold, OP_ERR_VIOLATION, 0) {
  const double heights[] = {1, 1, 2};
  if (begin("OP2_CHECK=on") != OP_OK)
    return;
  op_set cells = op_decl_set(3, "cells");
  op_dat height = op_decl_dat(cells, 1, "double", heights, "height");
  op_par_loop(OP_KERNEL_OF(asserts), "asserts", cells, op_arg_dat(height, -1, OP_ID, 1, "double", OP_READ));
  said_keep(said, op_last_error());
  op_exit();
}

/* ---- types of the program ---- */

struct state {
  double rho;
  float u[2];
};

static op_dat declare_states(op_set cells) {
  OP_TYPE(struct state, rho, u);
  return op_decl_dat(cells, 1, "struct state", NULL, "states");
}

CASE(type_with_another_layout, OP_ERR_TYPE, IN_MESH) {
  declare_states(m->cells);
  OP_TYPE(struct state, rho);
}

CASE(type_of_a_struct_unknown, OP_ERR_TYPE, IN_MESH) {
  op_decl_dat(m->cells, 1, "struct cell", NULL, "states");
}

struct row {
  double *values;
  int count;
};

CASE(type_with_a_pointer, OP_ERR_TYPE, IN_MESH) {
  OP_TYPE(struct row, values, count);
}

CASE(struct_incremented, OP_ERR_ACCESS, IN_MESH) {
  op_par_loop("void k(struct state *s) { s->rho += 1; }", "k", m->cells,
              op_arg_dat(declare_states(m->cells), -1, OP_ID, 1, "struct state", OP_INC));
}

CASE(struct_smallest, OP_ERR_ACCESS, IN_MESH) {
  struct state s = {0, {0, 0}};
  declare_states(m->cells);
  op_par_loop("void k(struct state *s) { s->rho += 1; }", "k", m->cells,
              op_arg_gbl(&s, 1, "struct state", OP_MIN));
}

CASE(struct_as_payload, OP_ERR_TYPE, IN_MESH) {
  struct state s = {0, {0, 0}};
  double least = 0;
  declare_states(m->cells);
  op_par_loop("void k(double *l, struct state *s) { *l = 0; }", "k", m->cells,
              op_arg_gbl(&least, 1, "double", OP_MIN), op_arg_info(&s, 1, "struct state", 1));
}

CASE(struct_read_not_const, OP_ERR_KERNEL, IN_MESH) {
  op_par_loop("void k(struct state *s) { s->rho += 1; }", "k", m->cells,
              op_arg_dat(declare_states(m->cells), -1, OP_ID, 1, "struct state", OP_READ));
}

/* A mesh of its own, for the prelude stays. */
static void with_struct(struct said *said, const char *prelude) {
  if (begin(NULL) != OP_OK)
    return;
  op_set cells = op_decl_set(3, "cells");
  op_dat states = declare_states(cells);
  op_decl_prelude(prelude);
  op_par_loop("void k(struct state *s) {\n  s->rho += 1;\n}\n", "k", cells,
              op_arg_dat(states, -1, OP_ID, 1, "struct state", OP_RW));
  said_keep(said, op_last_error());
  op_exit();
}

CASE(struct_differs, OP_ERR_TYPE, COMPILED_ONLY) {
  with_struct(said, "struct state { double rho; double u[2]; };\n");
}

CASE(struct_lacks_a_member, OP_ERR_TYPE, COMPILED_ONLY) {
  with_struct(said, "struct state { double rho; float v[2]; };\n");
}

CASE(struct_is_nowhere, OP_ERR_TYPE, COMPILED_ONLY) {
  with_struct(said, "enum { NOTHING };\n");
}

CASE(vtk_of_structs, OP_ERR_ARGUMENT, IN_MESH) {
  const op_dat dats[] = {op_decl_dat(m->cells, 2, "double", NULL, "xy"), declare_states(m->cells)};
  op_write_vtk("out", 0, 2, dats);
}
