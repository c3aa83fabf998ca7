/* Kernel texts that do not fit. */
#include <stddef.h>

#define CASES_COMPILE COMPILES
#include "negative.h"

TEXT_CASE(kernel_text_null, OP_ERR_ARGUMENT, IN_MESH, NULL)

CASE(kernel_name_null, OP_ERR_ARGUMENT, IN_MESH) {
  double sum = 5;
  op_par_loop("void scale(double *sum) { *sum += 1; }", NULL, m->cells,
              op_arg_gbl(&sum, 1, "double", OP_INC));
}

TEXT_CASE(kernel_empty, OP_ERR_KERNEL, IN_MESH, "")

TEXT_CASE(kernel_other_function, OP_ERR_KERNEL, IN_MESH,
          "void scael(const double *h, double *sum) {\n  *sum += 2 * *h;\n}\n")

TEXT_CASE(kernel_only_declared, OP_ERR_KERNEL, IN_MESH, "void scale(const double *h, double *sum);\n")

TEXT_CASE(kernel_not_void, OP_ERR_KERNEL, IN_MESH,
          "double scale(const double *h, double *sum) {\n  return *sum += 2 * *h;\n}\n")

TEXT_CASE(kernel_few_parameters, OP_ERR_KERNEL, IN_MESH, "void scale(double *sum) {\n  *sum += 1;\n}\n")

TEXT_CASE(kernel_many_parameters, OP_ERR_KERNEL, IN_MESH,
          "void scale(const double *h, double *sum, double *more) {\n  *sum += *h;\n}\n")

TEXT_CASE(kernel_parameter_type, OP_ERR_KERNEL, IN_MESH,
          "void scale(const float *h, double *sum) {\n  *sum += 2 * *h;\n}\n")

TEXT_CASE(kernel_parameter_short_name, OP_ERR_KERNEL, IN_MESH,
          "void scale(const ull *h, double *sum) {\n  *sum += 2 * (double)*h;\n}\n")

TEXT_CASE(
    kernel_parameter_struct, OP_ERR_KERNEL, IN_MESH,
    "typedef struct { double x; } point;\nvoid scale(const point *h, double *sum) {\n  *sum += h->x;\n}\n")

TEXT_CASE(kernel_parameter_unknown, OP_ERR_COMPILE, IN_MESH | COMPILED_ONLY,
          "void scale(const real *h, double *sum) {\n  *sum += *h;\n}\n")

TEXT_CASE(kernel_parameter_value, OP_ERR_KERNEL, IN_MESH,
          "void scale(double h, double *sum) {\n  *sum += 2 * h;\n}\n")

TEXT_CASE(
    kernel_one_line, OP_ERR_KERNEL, IN_MESH,
    "#line 7 \"program.c\"\n#include <stdio.h> void scale(const double *h, double *sum) { *sum += *h; }")

TEXT_CASE(kernel_parameter_not_const, OP_ERR_KERNEL, IN_MESH,
          "void scale(double *h, double *sum) {\n  *sum += 2 * *h;\n}\n")

TEXT_CASE(kernel_parameter_vector, OP_ERR_KERNEL, IN_MESH,
          "void scale(const double **h, double *sum) {\n  *sum += 2 * **h;\n}\n")

CASE(kernel_vector_not_passed, OP_ERR_KERNEL, IN_MESH) {
  op_par_loop("void spread(const float *flow, double *h) {\n  *h += *flow;\n}\n", "spread", m->edges,
              op_arg_dat(m->flow, -1, OP_ID, 2, "float", OP_READ),
              op_arg_dat(m->height, -ARITY, m->edge_cells, 1, "double", OP_INC));
}

TEXT_CASE(kernel_include, OP_ERR_KERNEL, IN_MESH,
          "#include <vector>\nvoid scale(const double *h, double *sum) {\n  *sum += 2 * *h;\n}\n")

TEXT_CASE(
    kernel_recursive, OP_ERR_KERNEL, IN_MESH | COMPILED_ONLY,
    "void scale(const double *h, double *sum) {\n  *sum += 1;\n  if (*sum < *h)\n    scale(h, sum);\n}\n")

TEXT_CASE(kernel_recursive_helpers, OP_ERR_KERNEL, IN_MESH | COMPILED_ONLY,
          "static double odd(double x);\n"
          "static double even(double x) {\n  return x > 0 ? odd(x - 1) : 1;\n}\n"
          "static double odd(double x) {\n  return x > 0 ? even(x - 1) : 0;\n}\n"
          "void scale(const double *h, double *sum) {\n  *sum += odd(*h) + even(*h);\n}\n")

TEXT_CASE(kernel_brace, OP_ERR_KERNEL, IN_MESH,
          "void scale(const double *h, double *sum) {\n  if (*h > 0) {\n    *sum += 2 * *h;\n}\n")

TEXT_CASE(kernel_string, OP_ERR_KERNEL, IN_MESH,
          "void scale(const double *h, double *sum) {\n  const char *s = \"open;\n  *sum += *h;\n}\n")

TEXT_CASE(kernel_comment, OP_ERR_KERNEL, IN_MESH,
          "void scale(const double *h, double *sum) {\n  /* never closed\n  *sum += *h;\n}\n")

TEXT_CASE(kernel_extra_brace, OP_ERR_KERNEL, IN_MESH,
          "void scale(const double *h, double *sum) {\n  *sum += 2 * *h;\n}\n}\n")

TEXT_CASE(kernel_parenthesis, OP_ERR_KERNEL, IN_MESH,
          "void scale(const double *h, double *sum) {\n  *sum += 2 * (*h + 1;\n}\n")

TEXT_CASE(kernel_without_native_form, OP_ERR_BACKEND, IN_MESH | NATIVE_ONLY,
          "void scale(const double *h, double *sum) {\n  *sum += 3 * *h;\n}\n")

TEXT_CASE(kernel_undeclared, OP_ERR_COMPILE, IN_MESH | COMPILED_ONLY,
          "void scale(const double *h, double *sum) {\n  *sum += 2 * heigth[0];\n}\n")

CASE(kernel_index_of_constant, OP_ERR_VIOLATION, IN_MESH | COMPILED_ONLY) {
  const double slope[2] = {1, 2};
  op_decl_const("slope", 2, "double", slope);
  WITH_TEXT("void scale(const double *h, double *sum) {\n  for (int i = 0; i < 3; i++)\n    *sum += *h * "
            "slope[i];\n}\n");
}

/* A compiler knows that nothing is there, and may take any value for it. */
CASE(kernel_place_of_constant, OP_ERR_VIOLATION, IN_MESH | COMPILED_ONLY) {
  const double slope[2] = {1, 2};
  op_decl_const("slope", 2, "double", slope);
  WITH_TEXT("void scale(const double *h, double *sum) {\n  *sum += slope[2] * *h;\n}\n");
}

TEXT_CASE(kernel_index_of_local, OP_ERR_VIOLATION, IN_MESH | COMPILED_ONLY,
          "void scale(const double *h, double *sum) {\n  double z[3];\n  for (int i = 0; i < 4; i++)\n    "
          "z[i] = *h;\n  "
          "*sum += z[0];\n}\n")

/* The least value around a target must be compared with. */
CASE(kernel_smallest_around_is_set, OP_ERR_VIOLATION, IN_MESH | COMPILED_ONLY) {
  op_dat low = op_decl_dat(m->cells, 1, "double", NULL, "low");
  op_par_loop("void k(const double *h, double *low) {\n  *low = *h;\n}\n", "k", m->edges,
              op_arg_dat(m->height, 0, m->edge_cells, 1, "double", OP_READ),
              op_arg_dat(low, 1, m->edge_cells, 1, "double", OP_MIN));
}

TEXT_CASE(kernel_smallest_is_no_sum, OP_ERR_VIOLATION, IN_MESH | COMPILED_ONLY,
          "void scale(const double *h, double *sum) {\n  if (*h < *sum)\n    *sum = *h;\n}\n")

TEXT_CASE(kernel_syntax, OP_ERR_COMPILE, IN_MESH | COMPILED_ONLY,
          "void scale(const double *h, double *sum) {\n  *sum += 2 * ;\n}\n")

TEXT_CASE(kernel_unknown_call, OP_ERR_COMPILE, IN_MESH | COMPILED_ONLY,
          "void scale(const double *h, double *sum) {\n  *sum += malloc(8) != 0;\n}\n")

TEXT_CASE(kernel_helper_elsewhere, OP_ERR_COMPILE, IN_MESH | COMPILED_ONLY,
          "void scale(const double *h, double *sum) {\n  *sum += twice(*h);\n}\n")

CASE(native_text_null, OP_ERR_ARGUMENT, IN_MESH) {
  op_kernel_native(NULL, (op_kernel_function)(void (*)(void))native_text_null);
}

CASE(native_function_null, OP_ERR_ARGUMENT, IN_MESH) {
  op_kernel_native("void scale(double *sum) { *sum += 1; }", NULL);
}

CASE(kernel_file_missing, OP_ERR_FILE, IN_MESH) {
  op_kernel_file("no/such/kernel.c");
}

CASE(kernel_file_null, OP_ERR_ARGUMENT, IN_MESH) {
  op_kernel_file(NULL);
}

CASE(kernel_file_is_folder, OP_ERR_FILE, IN_MESH) {
  op_kernel_file("/");
}
