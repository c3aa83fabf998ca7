/* Loops whose arguments are wrong. */
#include <stddef.h>
#include <string.h>

#include "negative.h"

/* Loops over cells and over edges with one argument that is wrong. The sum must stay as it was. */
#define OVER_CELLS(wrong)                                                                                    \
  double sum = 5;                                                                                            \
  op_par_loop(kernel_scale(), "scale", m->cells, wrong, op_arg_gbl(&sum, 1, "double", OP_INC));              \
  sum_must_be(sum, said)
#define OVER_EDGES(wrong)                                                                                    \
  op_par_loop(kernel_spread(), "spread", m->edges, op_arg_dat(m->flow, -1, OP_ID, 2, "float", OP_READ), wrong)
#define WITH_GLOBAL(wrong)                                                                                   \
  op_par_loop(kernel_scale(), "scale", m->cells, op_arg_dat(m->height, -1, OP_ID, 1, "double", OP_READ),     \
              wrong)

static void sum_must_be(double sum, struct said *said) {
  if (sum == 5)
    return;
  said->known = true;
  strcpy(said->message, "the global was changed");
}

CASE(loop_set_null, OP_ERR_HANDLE, IN_MESH) {
  op_par_loop(kernel_scale(), "scale", NULL, op_arg_dat(m->height, -1, OP_ID, 1, "double", OP_READ));
}

CASE(loop_set_is_dat, OP_ERR_HANDLE, IN_MESH) {
  op_par_loop(kernel_scale(), "scale", (op_set)(void *)m->height,
              op_arg_dat(m->height, -1, OP_ID, 1, "double", OP_READ));
}

CASE(loop_without_arguments, OP_ERR_NARGS, IN_MESH) {
  op_par_loop_array(kernel_scale(), "scale", m->cells, 0, NULL, __FILE__, 1);
}

CASE(loop_65_arguments, OP_ERR_NARGS, IN_MESH) {
  op_arg args[OP_MAX_ARGS + 1];
  for (int i = 0; i <= OP_MAX_ARGS; i++)
    args[i] = op_arg_dat(m->height, -1, OP_ID, 1, "double", OP_READ);
  op_par_loop_array(kernel_scale(), "scale", m->cells, OP_MAX_ARGS + 1, args, __FILE__, 1);
}

CASE(loop_arguments_null, OP_ERR_ARGUMENT, IN_MESH) {
  op_par_loop_array(kernel_scale(), "scale", m->cells, 32, NULL, __FILE__, 1);
}

CASE(loop_zeroed_argument, OP_ERR_ARGUMENT, IN_MESH) {
  op_arg args[1];
  memset(args, 0, sizeof args);
  args[0].form_ = 77;
  op_par_loop_array(kernel_scale(), "scale", m->cells, 1, args, __FILE__, 1);
}

CASE(arg_dat_null, OP_ERR_HANDLE, IN_MESH) {
  OVER_CELLS(op_arg_dat(NULL, -1, OP_ID, 1, "double", OP_READ));
}

CASE(arg_dat_foreign, OP_ERR_HANDLE, IN_MESH) {
  int stranger[64] = {0};
  OVER_CELLS(op_arg_dat((op_dat)(void *)stranger, -1, OP_ID, 1, "double", OP_READ));
}

CASE(arg_dat_freed, OP_ERR_HANDLE, IN_MESH) {
  op_dat t = op_decl_dat_temp(m->cells, 1, "double", NULL, "t");
  op_free_dat_temp(t);
  OVER_CELLS(op_arg_dat(t, -1, OP_ID, 1, "double", OP_READ));
}

CASE(arg_dat_is_map, OP_ERR_HANDLE, IN_MESH) {
  OVER_CELLS(op_arg_dat((op_dat)(void *)m->edge_cells, -1, OP_ID, 1, "double", OP_READ));
}

CASE(arg_map_null, OP_ERR_HANDLE, IN_MESH) {
  OVER_EDGES(op_arg_dat(m->height, 0, NULL, 1, "double", OP_INC));
}

CASE(arg_dim, OP_ERR_DIM, IN_MESH) {
  OVER_CELLS(op_arg_dat(m->height, -1, OP_ID, 3, "double", OP_READ));
}

CASE(arg_dim_zero, OP_ERR_DIM, IN_MESH) {
  OVER_CELLS(op_arg_dat(m->height, -1, OP_ID, 0, "double", OP_READ));
}

CASE(arg_type, OP_ERR_TYPE, IN_MESH) {
  OVER_CELLS(op_arg_dat(m->height, -1, OP_ID, 1, "float", OP_READ));
}

CASE(arg_type_misspelt, OP_ERR_TYPE, IN_MESH) {
  OVER_CELLS(op_arg_dat(m->height, -1, OP_ID, 1, "doble", OP_READ));
}

CASE(arg_type_elsewhere, OP_ERR_TYPE, IN_MESH) {
  OVER_CELLS(op_arg_dat(m->height, -1, OP_ID, 1, "float64", OP_READ));
}

CASE(arg_type_null, OP_ERR_TYPE, IN_MESH) {
  OVER_CELLS(op_arg_dat(m->height, -1, OP_ID, 1, NULL, OP_READ));
}

CASE(arg_type_with_layout, OP_ERR_TYPE, IN_MESH) {
  OVER_CELLS(op_arg_dat(m->height, -1, OP_ID, 1, "double:soa", OP_READ));
}

CASE(global_type_with_layout, OP_ERR_TYPE, IN_MESH) {
  double value = 1;
  OVER_CELLS(op_arg_gbl(&value, 1, "double:soa", OP_READ));
}

CASE(arg_type_long, OP_ERR_TYPE, IN_MESH) {
  OVER_CELLS(op_arg_dat(m->height, -1, OP_ID, 1, "a type whose name is much longer than any that there is",
                        OP_READ));
}

CASE(arg_access_unknown, OP_ERR_ACCESS, IN_MESH) {
  OVER_CELLS(op_arg_dat(m->height, -1, OP_ID, 1, "double", (op_access)42));
}

CASE(arg_access_work, OP_ERR_ACCESS, IN_MESH) {
  OVER_CELLS(op_arg_dat(m->height, -1, OP_ID, 1, "double", OP_WORK));
}

CASE(arg_direct_other_set, OP_ERR_MAP_SET, IN_MESH) {
  OVER_CELLS(op_arg_dat(m->flow, -1, OP_ID, 2, "float", OP_READ));
}

CASE(arg_direct_index, OP_ERR_INDEX, IN_MESH) {
  OVER_CELLS(op_arg_dat(m->height, 0, OP_ID, 1, "double", OP_READ));
}

CASE(arg_map_of_other_set, OP_ERR_MAP_SET, IN_MESH) {
  OVER_CELLS(op_arg_dat(m->height, 0, m->edge_cells, 1, "double", OP_READ));
}

CASE(arg_map_to_other_set, OP_ERR_MAP_SET, IN_MESH) {
  int table[EDGES] = {0, 1, 2, 3, 4};
  op_map own = op_decl_map(m->edges, m->edges, 1, table, "own");
  OVER_EDGES(op_arg_dat(m->height, 0, own, 1, "double", OP_INC));
}

CASE(arg_index_high, OP_ERR_INDEX, IN_MESH) {
  OVER_EDGES(op_arg_dat(m->height, ARITY, m->edge_cells, 1, "double", OP_INC));
}

CASE(arg_index_minus_one, OP_ERR_INDEX, IN_MESH) {
  OVER_EDGES(op_arg_dat(m->height, -1, m->edge_cells, 1, "double", OP_INC));
}

CASE(arg_index_low, OP_ERR_INDEX, IN_MESH) {
  OVER_EDGES(op_arg_dat(m->height, -3, m->edge_cells, 1, "double", OP_INC));
}

CASE(absent_dim_zero, OP_ERR_DIM, IN_MESH) {
  OVER_CELLS(op_opt_arg_dat(0, NULL, -1, OP_ID, 0, "double", OP_READ));
}

CASE(absent_type_misspelt, OP_ERR_TYPE, IN_MESH) {
  OVER_CELLS(op_opt_arg_dat(0, NULL, -1, OP_ID, 1, "dbl", OP_READ));
}

CASE(absent_access_work, OP_ERR_ACCESS, IN_MESH) {
  OVER_CELLS(op_opt_arg_dat(0, NULL, -1, OP_ID, 1, "double", OP_WORK));
}

CASE(absent_global_access, OP_ERR_ACCESS, IN_MESH) {
  WITH_GLOBAL(op_opt_arg_gbl(0, NULL, 1, "double", (op_access)-1));
}

CASE(global_null, OP_ERR_ARGUMENT, IN_MESH) {
  WITH_GLOBAL(op_arg_gbl(NULL, 1, "double", OP_INC));
}

/* A variable of another type than the one that is said: of the loop's right argument there is an earlier call. */
CASE(global_of_another_type, OP_ERR_TYPE, IN_MESH) {
  double sum = 5;
  float wrong = 5;
  WITH_GLOBAL(op_arg_gbl(&sum, 1, "double", OP_INC));
  WITH_GLOBAL(op_arg_gbl(&wrong, 1, "double", OP_INC));
  said_keep(said, op_last_error());
}

CASE(global_absent_of_another_type, OP_ERR_TYPE, IN_MESH) {
  short wrong = 5;
  WITH_GLOBAL(op_opt_arg_gbl(0, &wrong, 1, "double", OP_INC));
}

CASE(payload_of_another_type, OP_ERR_TYPE, IN_MESH) {
  double sum = 0;
  long long where = 0;
  op_par_loop(kernel_scale(), "scale", m->cells, op_arg_dat(m->height, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&sum, 1, "double", OP_MAX), op_arg_info(&where, 1, "int", 2));
}

CASE(global_write, OP_ERR_ACCESS, IN_MESH) {
  double sum = 5;
  WITH_GLOBAL(op_arg_gbl(&sum, 1, "double", OP_WRITE));
  sum_must_be(sum, said);
}

CASE(global_rw_of_none, OP_ERR_ACCESS, IN_MESH) {
  double sum = 5;
  op_par_loop(kernel_scale(), "scale", m->nothing, op_arg_gbl(&sum, 1, "double", OP_READ),
              op_arg_gbl(&sum, 1, "double", OP_RW));
}

CASE(global_dim_zero, OP_ERR_DIM, IN_MESH) {
  double sum = 5;
  WITH_GLOBAL(op_arg_gbl(&sum, 0, "double", OP_INC));
}

CASE(global_type_misspelt, OP_ERR_TYPE, IN_MESH) {
  double sum = 5;
  WITH_GLOBAL(op_arg_gbl(&sum, 1, "unsigned", OP_INC));
}

CASE(global_access_unknown, OP_ERR_ACCESS, IN_MESH) {
  double sum = 5;
  WITH_GLOBAL(op_arg_gbl(&sum, 1, "double", (op_access)7));
}

CASE(idx_map_null, OP_ERR_HANDLE, IN_MESH) {
  WITH_GLOBAL(op_arg_idx(0, NULL));
}

CASE(idx_index, OP_ERR_INDEX, IN_MESH) {
  OVER_EDGES(op_arg_idx(5, m->edge_cells));
}

CASE(idx_other_set, OP_ERR_MAP_SET, IN_MESH) {
  WITH_GLOBAL(op_arg_idx(0, m->edge_cells));
}

#define WITH_INFO(extremum, info)                                                                            \
  double best[2] = {5, 5}, place = 7;                                                                        \
  op_par_loop(kernel_scale(), "scale", m->cells, op_arg_dat(m->height, -1, OP_ID, 1, "double", OP_READ),     \
              extremum, info)

CASE(info_ref_zero, OP_ERR_ARGUMENT, IN_MESH) {
  WITH_INFO(op_arg_gbl(best, 1, "double", OP_MAX), op_arg_info(&place, 1, "double", 0));
}

CASE(info_ref_high, OP_ERR_ARGUMENT, IN_MESH) {
  WITH_INFO(op_arg_gbl(best, 1, "double", OP_MAX), op_arg_info(&place, 1, "double", 4));
}

CASE(info_ref_is_dat, OP_ERR_ARGUMENT, IN_MESH) {
  WITH_INFO(op_arg_gbl(best, 1, "double", OP_MAX), op_arg_info(&place, 1, "double", 1));
}

CASE(info_ref_is_sum, OP_ERR_ARGUMENT, IN_MESH) {
  WITH_INFO(op_arg_gbl(best, 1, "double", OP_INC), op_arg_info(&place, 1, "double", 2));
}

CASE(info_ref_dim_two, OP_ERR_ARGUMENT, IN_MESH) {
  WITH_INFO(op_arg_gbl(best, 2, "double", OP_MIN), op_arg_info(&place, 1, "double", 2));
}

CASE(info_ref_absent, OP_ERR_ARGUMENT, IN_MESH) {
  WITH_INFO(op_opt_arg_gbl(0, best, 1, "double", OP_MIN), op_arg_info(&place, 1, "double", 2));
}

CASE(info_null, OP_ERR_ARGUMENT, IN_MESH) {
  WITH_INFO(op_arg_gbl(best, 1, "double", OP_MAX),
            op_arg_info((double *)(&place == best ? best : NULL), 1, "double", 2));
}

CASE(info_dim_zero, OP_ERR_DIM, IN_MESH) {
  WITH_INFO(op_arg_gbl(best, 1, "double", OP_MAX), op_arg_info(&place, 0, "double", 2));
}

CASE(info_type_misspelt, OP_ERR_TYPE, IN_MESH) {
  WITH_INFO(op_arg_gbl(best, 1, "double", OP_MAX), op_arg_info(&place, 1, "Double", 2));
}

CASE(info_twice, OP_ERR_ARGUMENT, IN_MESH) {
  double best = 5, place[2] = {7, 7};
  op_par_loop(kernel_scale(), "scale", m->cells, op_arg_gbl(&best, 1, "double", OP_MAX),
              op_arg_info(&place[0], 1, "double", 1), op_arg_info(&place[1], 1, "double", 1));
}

CASE(alias_direct_rw, OP_ERR_ALIAS, IN_MESH) {
  op_par_loop(kernel_scale(), "scale", m->cells, op_arg_dat(m->height, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(m->height, -1, OP_ID, 1, "double", OP_RW));
}

CASE(alias_direct_write_twice, OP_ERR_ALIAS, IN_MESH) {
  op_par_loop(kernel_scale(), "scale", m->cells, op_arg_dat(m->height, -1, OP_ID, 1, "double", OP_WRITE),
              op_arg_dat(m->height, -1, OP_ID, 1, "double", OP_WRITE));
}

CASE(alias_read_and_increment, OP_ERR_ALIAS, IN_MESH) {
  op_par_loop(kernel_scale(), "scale", m->edges,
              op_arg_dat(m->height, 0, m->edge_cells, 1, "double", OP_READ),
              op_arg_dat(m->height, 1, m->edge_cells, 1, "double", OP_INC));
}

CASE(alias_sum_and_least, OP_ERR_ALIAS, IN_MESH) {
  op_par_loop(kernel_scale(), "scale", m->edges, op_arg_dat(m->height, 0, m->edge_cells, 1, "double", OP_INC),
              op_arg_dat(m->height, 1, m->edge_cells, 1, "double", OP_MIN));
}

/* Strips and devices would have two copies of the row, and the last one would win. */
CASE(alias_target_listed_twice, OP_ERR_ALIAS, IN_MESH) {
  const int twice[EDGES * 3] = {0, 1, 2, 1, 2, 3, 2, 3, 2, 3, 4, 5, 4, 5, 3};
  const op_map around = op_decl_map(m->edges, m->cells, 3, twice, "around");
  op_par_loop("void next(double **h) { for (int k = 0; k < 3; k++) h[k][0] = 2 * h[k][0] + k; }", "next",
              m->edges, op_arg_dat(m->height, OP_ALL, around, 1, "double", OP_RW));
}

/* Different edges may meet in what they write; one edge has two rows. */
CASE(alias_two_rw_columns, OP_ERR_ALIAS, IN_MESH) {
  const int once_twice[EDGES * 2] = {0, 1, 1, 2, 2, 3, 3, 3, 4, 5};
  const op_map ends = op_decl_map(m->edges, m->cells, 2, once_twice, "ends");
  op_par_loop(kernel_scale(), "scale", m->edges, op_arg_dat(m->height, 0, ends, 1, "double", OP_RW),
              op_arg_dat(m->height, 1, ends, 1, "double", OP_RW));
}

OP_KERNEL_DEF(
    raise, void raise(double *h) { *h += 1; })
OP_KERNEL_DEF(
    level, void level(const double *low, double *h) { *h = *low + 1; })

static op_map meeting_map(const struct mesh *m) {
  const int first[EDGES] = {0, 1, 3, 1, 0};
  return op_decl_map(m->edges, m->cells, 1, first, "left");
}

/* One warning for each call site, whatever the order of its elements. */
CASE(elements_meet, OP_OK, IN_MESH | WARNING) {
  const op_map left = meeting_map(m);
  for (int i = 0; i < 3; i++)
    op_par_loop(OP_KERNEL_OF(raise), "raise", m->edges, op_arg_dat(m->height, 0, left, 1, "double", OP_RW));
  op_renumber(left);
  op_par_loop(OP_KERNEL_OF(raise), "raise", m->edges, op_arg_dat(m->height, 0, left, 1, "double", OP_RW));
  op_exit();
}

/* None where the program knows it, and where all leave the same. */
CASE(elements_meet_silently, OP_OK, IN_MESH | WARNING | COMPILED_ONLY) {
  const double low = 2;
  const op_map left = meeting_map(m);
  op_par_loop(OP_KERNEL_OF(raise), "raise", m->edges,
              op_arg_may_meet(op_arg_dat(m->height, 0, left, 1, "double", OP_RW)));
  op_par_loop(OP_KERNEL_OF(level), "level", m->edges, op_arg_gbl((void *)&low, 1, "double", OP_READ),
              op_arg_dat(m->height, 0, left, 1, "double", OP_WRITE));
  op_exit();
}
