/* Declarations that are wrong. */
#include <limits.h>
#include <stddef.h>

#include "negative.h"

CASE(set_negative, OP_ERR_SIZE, IN_MESH) {
  op_decl_set(-3, "cells");
}

CASE(map_from_null, OP_ERR_HANDLE, IN_MESH) {
  int table[] = {0};
  op_decl_map(NULL, m->cells, 1, table, "ecell");
}

CASE(map_to_foreign, OP_ERR_HANDLE, IN_MESH) {
  int table[EDGES] = {0}, stranger = 0;
  op_decl_map(m->edges, (op_set)(void *)&stranger, 1, table, "ecell");
}

CASE(map_to_map, OP_ERR_HANDLE, IN_MESH) {
  int table[EDGES] = {0};
  op_decl_map(m->edges, (op_set)(void *)m->edge_cells, 1, table, "ecell");
}

CASE(map_entry_high, OP_ERR_MAP_RANGE, IN_MESH) {
  int table[EDGES * ARITY] = {0, 1, 1, 2, 2, 3, 3, 6, 4, 5};
  op_decl_map(m->edges, m->cells, ARITY, table, "ecell");
}

CASE(map_entry_negative, OP_ERR_MAP_RANGE, IN_MESH) {
  int table[EDGES * ARITY] = {0, 1, -1, 2, 2, 3, -7, 4, 4, 5};
  op_decl_map(m->edges, m->cells, ARITY, table, "ecell");
}

CASE(map_one_based, OP_ERR_MAP_RANGE, IN_MESH) {
  int table[EDGES * ARITY] = {1, 2, 2, 3, 3, 4, 4, 5, 5, 6};
  op_decl_map(m->edges, m->cells, ARITY, table, "ecell");
}

CASE(map_entry_beyond_int, OP_ERR_MAP_RANGE, IN_MESH) {
  long long table[EDGES] = {0, 1, 1LL << 40, 2, 3};
  op_decl_map_long(m->edges, m->cells, 1, table, "wide");
}

CASE(map_into_empty, OP_ERR_MAP_RANGE, IN_MESH) {
  int table[EDGES] = {0};
  op_decl_map(m->edges, m->nothing, 1, table, "ecell");
}

CASE(map_table_null, OP_ERR_ARGUMENT, IN_MESH) {
  op_decl_map(m->edges, m->cells, ARITY, NULL, "ecell");
}

CASE(map_arity_zero, OP_ERR_DIM, IN_MESH) {
  int table[] = {0};
  op_decl_map(m->edges, m->cells, 0, table, "ecell");
}

CASE(dat_on_null, OP_ERR_HANDLE, IN_MESH) {
  op_decl_dat(NULL, 1, "double", NULL, "q");
}

CASE(dat_on_dat, OP_ERR_HANDLE, IN_MESH) {
  op_decl_dat((op_set)(void *)m->height, 1, "double", NULL, "q");
}

CASE(dat_dim_zero, OP_ERR_DIM, IN_MESH) {
  op_decl_dat(m->cells, 0, "double", NULL, "q");
}

CASE(dat_type_misspelt, OP_ERR_TYPE, IN_MESH) {
  op_decl_dat(m->cells, 4, "duoble", NULL, "q");
}

CASE(dat_type_null, OP_ERR_TYPE, IN_MESH) {
  op_decl_dat_temp(m->cells, 4, NULL, NULL, "q");
}

CASE(dat_layout_unknown, OP_ERR_TYPE, IN_MESH) {
  op_decl_dat(m->cells, 4, "double:aos", NULL, "q");
}

CASE(dat_without_a_name, OP_ERR_DIM, IN_MESH) {
  op_decl_dat(m->cells, -1, "double", NULL, NULL);
}

CASE(dat_overflow, OP_ERR_SIZE, IN_MESH) {
  op_decl_dat(op_decl_set(INT_MAX, "many"), INT_MAX, "double", NULL, "q");
}

CASE(dat_memory, OP_ERR_MEMORY, IN_MESH) {
  op_decl_dat(op_decl_set(1 << 30, "many"), 1 << 28, "char", NULL, "q");
}

CASE(free_null, OP_ERR_HANDLE, IN_MESH) {
  op_free_dat_temp(NULL);
}

CASE(free_ordinary, OP_ERR_HANDLE, IN_MESH) {
  op_free_dat_temp(m->height);
}

CASE(free_twice, OP_ERR_HANDLE, IN_MESH) {
  op_dat t = op_decl_dat_temp(m->cells, 1, "int", NULL, "t");
  op_free_dat_temp(t);
  op_free_dat_temp(t);
}

CASE(const_name_null, OP_ERR_CONST, IN_MESH) {
  double v = 1;
  op_decl_const(NULL, 1, "double", &v);
}

CASE(const_name_bad, OP_ERR_CONST, IN_MESH) {
  double v = 1;
  op_decl_const("2gam", 1, "double", &v);
}

CASE(const_name_keyword, OP_ERR_CONST, IN_MESH) {
  double v = 1;
  op_decl_const("double", 1, "double", &v);
}

CASE(const_name_function, OP_ERR_CONST, IN_MESH) {
  double v = 1;
  op_decl_const("sin", 1, "double", &v);
}

CASE(const_name_ours, OP_ERR_CONST, IN_MESH) {
  double v = 1;
  op_decl_const("op2_e", 1, "double", &v);
}

CASE(const_dim_zero, OP_ERR_DIM, IN_MESH) {
  double v = 1;
  op_decl_const("gam", 0, "double", &v);
}

CASE(const_type_misspelt, OP_ERR_TYPE, IN_MESH) {
  double v = 1;
  op_decl_const("gam", 1, "flaot", &v);
}

CASE(const_value_null, OP_ERR_ARGUMENT, IN_MESH) {
  op_decl_const("gam", 3, "double", NULL);
}

CASE(const_other_dim, OP_ERR_CONST, IN_MESH) {
  double v[2] = {1, 2};
  op_decl_const("gam", 1, "double", v);
  op_decl_const("gam", 2, "double", v);
}

CASE(const_other_type, OP_ERR_CONST, IN_MESH) {
  double v = 1;
  op_decl_const("gam", 1, "double", &v);
  op_decl_const("gam", 1, "long long", &v);
}

CASE(const_update_unknown, OP_ERR_CONST, IN_MESH) {
  double v = 1;
  op_update_const("gma", &v);
}

CASE(const_update_null, OP_ERR_ARGUMENT, IN_MESH) {
  double v = 1;
  op_decl_const("gam", 1, "double", &v);
  op_update_const("gam", NULL);
}

CASE(dat_of_another_type, OP_ERR_TYPE, IN_MESH) {
  const float values[CELLS] = {0};
  op_decl_dat(m->cells, 1, "double:soa", values, "q");
}

CASE(temporary_of_another_type, OP_ERR_TYPE, IN_MESH) {
  int values[CELLS] = {0};
  op_decl_dat_temp(m->cells, 1, "float", values, "q");
}

CASE(const_of_another_type, OP_ERR_TYPE, IN_MESH) {
  double kappa = 0.5;
  op_decl_const("kappa", 1, "float", &kappa);
}

CASE(const_of_a_file_of_another_type, OP_ERR_TYPE, IN_MESH) {
  float kappa = 0.5f;
  op_get_const_hdf5("kappa", 1, "double", &kappa, "none.h5");
}

CASE(const_into_a_file_of_another_type, OP_ERR_TYPE, IN_MESH) {
  float kappa = 0.5f;
  op_write_const_hdf5("kappa", 1, "double", &kappa, "none.h5");
}

CASE(const_update_of_another_type, OP_ERR_TYPE, IN_MESH) {
  double kappa = 0.5;
  int wrong[] = {1};
  op_decl_const("kappa", 1, "double", &kappa);
  op_update_const("kappa", wrong);
}
