/* Declarations that are wrong. */
#include <limits.h>
#include <stddef.h>

#include "negative.h"

#define CASE(name) static void name(struct mesh *m, struct said *said)
#define UNUSED (void)m, (void)said

CASE(set_negative) {
  UNUSED;
  op_decl_set(-3, "cells");
}

CASE(map_from_null) {
  UNUSED;
  int table[] = {0};
  op_decl_map(NULL, m->cells, 1, table, "ecell");
}

CASE(map_to_foreign) {
  UNUSED;
  int table[EDGES] = {0}, stranger = 0;
  op_decl_map(m->edges, (op_set)(void *)&stranger, 1, table, "ecell");
}

CASE(map_to_map) {
  UNUSED;
  int table[EDGES] = {0};
  op_decl_map(m->edges, (op_set)(void *)m->edge_cells, 1, table, "ecell");
}

CASE(map_entry_high) {
  UNUSED;
  int table[EDGES * ARITY] = {0, 1, 1, 2, 2, 3, 3, 6, 4, 5};
  op_decl_map(m->edges, m->cells, ARITY, table, "ecell");
}

CASE(map_entry_negative) {
  UNUSED;
  int table[EDGES * ARITY] = {0, 1, -1, 2, 2, 3, -7, 4, 4, 5};
  op_decl_map(m->edges, m->cells, ARITY, table, "ecell");
}

CASE(map_one_based) {
  UNUSED;
  int table[EDGES * ARITY] = {1, 2, 2, 3, 3, 4, 4, 5, 5, 6};
  op_decl_map(m->edges, m->cells, ARITY, table, "ecell");
}

CASE(map_entry_beyond_int) {
  UNUSED;
  long long table[EDGES] = {0, 1, 1LL << 40, 2, 3};
  op_decl_map_long(m->edges, m->cells, 1, table, "wide");
}

CASE(map_into_empty) {
  UNUSED;
  int table[EDGES] = {0};
  op_decl_map(m->edges, m->nothing, 1, table, "ecell");
}

CASE(map_table_null) {
  UNUSED;
  op_decl_map(m->edges, m->cells, ARITY, NULL, "ecell");
}

CASE(map_arity_zero) {
  UNUSED;
  int table[] = {0};
  op_decl_map(m->edges, m->cells, 0, table, "ecell");
}

CASE(dat_on_null) {
  UNUSED;
  op_decl_dat(NULL, 1, "double", NULL, "q");
}

CASE(dat_on_dat) {
  UNUSED;
  op_decl_dat((op_set)(void *)m->height, 1, "double", NULL, "q");
}

CASE(dat_dim_zero) {
  UNUSED;
  op_decl_dat(m->cells, 0, "double", NULL, "q");
}

CASE(dat_type_misspelt) {
  UNUSED;
  op_decl_dat(m->cells, 4, "duoble", NULL, "q");
}

CASE(dat_type_null) {
  UNUSED;
  op_decl_dat_temp(m->cells, 4, NULL, NULL, "q");
}

CASE(dat_layout_unknown) {
  UNUSED;
  op_decl_dat(m->cells, 4, "double:aos", NULL, "q");
}

CASE(dat_without_a_name) {
  UNUSED;
  op_decl_dat(m->cells, -1, "double", NULL, NULL);
}

CASE(dat_overflow) {
  UNUSED;
  op_decl_dat(op_decl_set(INT_MAX, "many"), INT_MAX, "double", NULL, "q");
}

CASE(dat_memory) {
  UNUSED;
  op_decl_dat(op_decl_set(1 << 30, "many"), 1 << 28, "char", NULL, "q");
}

CASE(free_null) {
  UNUSED;
  op_free_dat_temp(NULL);
}

CASE(free_ordinary) {
  UNUSED;
  op_free_dat_temp(m->height);
}

CASE(free_twice) {
  UNUSED;
  op_dat t = op_decl_dat_temp(m->cells, 1, "int", NULL, "t");
  op_free_dat_temp(t);
  op_free_dat_temp(t);
}

CASE(const_name_null) {
  UNUSED;
  double v = 1;
  op_decl_const(NULL, 1, "double", &v);
}

CASE(const_name_bad) {
  UNUSED;
  double v = 1;
  op_decl_const("2gam", 1, "double", &v);
}

CASE(const_name_keyword) {
  UNUSED;
  double v = 1;
  op_decl_const("double", 1, "double", &v);
}

CASE(const_name_function) {
  UNUSED;
  double v = 1;
  op_decl_const("sin", 1, "double", &v);
}

CASE(const_name_ours) {
  UNUSED;
  double v = 1;
  op_decl_const("op2_e", 1, "double", &v);
}

CASE(const_dim_zero) {
  UNUSED;
  double v = 1;
  op_decl_const("gam", 0, "double", &v);
}

CASE(const_type_misspelt) {
  UNUSED;
  double v = 1;
  op_decl_const("gam", 1, "flaot", &v);
}

CASE(const_value_null) {
  UNUSED;
  op_decl_const("gam", 3, "double", NULL);
}

CASE(const_other_dim) {
  UNUSED;
  double v[2] = {1, 2};
  op_decl_const("gam", 1, "double", v);
  op_decl_const("gam", 2, "double", v);
}

CASE(const_other_type) {
  UNUSED;
  double v = 1;
  op_decl_const("gam", 1, "double", &v);
  op_decl_const("gam", 1, "long long", &v);
}

CASE(const_update_unknown) {
  UNUSED;
  double v = 1;
  op_update_const("gma", &v);
}

CASE(const_update_null) {
  UNUSED;
  double v = 1;
  op_decl_const("gam", 1, "double", &v);
  op_update_const("gam", NULL);
}

CASE(dat_of_another_type) {
  UNUSED;
  const float values[CELLS] = {0};
  op_decl_dat(m->cells, 1, "double:soa", values, "q");
}

CASE(temporary_of_another_type) {
  UNUSED;
  int values[CELLS] = {0};
  op_decl_dat_temp(m->cells, 1, "float", values, "q");
}

CASE(const_of_another_type) {
  UNUSED;
  double kappa = 0.5;
  op_decl_const("kappa", 1, "float", &kappa);
}

CASE(const_of_a_file_of_another_type) {
  UNUSED;
  float kappa = 0.5f;
  op_get_const_hdf5("kappa", 1, "double", &kappa, "none.h5");
}

CASE(const_into_a_file_of_another_type) {
  UNUSED;
  float kappa = 0.5f;
  op_write_const_hdf5("kappa", 1, "double", &kappa, "none.h5");
}

CASE(const_update_of_another_type) {
  UNUSED;
  double kappa = 0.5;
  int wrong[] = {1};
  op_decl_const("kappa", 1, "double", &kappa);
  op_update_const("kappa", wrong);
}

const struct negative_case declare_cases[] = {
    {"set_negative", OP_ERR_SIZE, IN_MESH, set_negative},
    {"map_from_null", OP_ERR_HANDLE, IN_MESH, map_from_null},
    {"map_to_foreign", OP_ERR_HANDLE, IN_MESH, map_to_foreign},
    {"map_to_map", OP_ERR_HANDLE, IN_MESH, map_to_map},
    {"map_entry_high", OP_ERR_MAP_RANGE, IN_MESH, map_entry_high},
    {"map_entry_negative", OP_ERR_MAP_RANGE, IN_MESH, map_entry_negative},
    {"map_one_based", OP_ERR_MAP_RANGE, IN_MESH, map_one_based},
    {"map_entry_beyond_int", OP_ERR_MAP_RANGE, IN_MESH, map_entry_beyond_int},
    {"map_into_empty", OP_ERR_MAP_RANGE, IN_MESH, map_into_empty},
    {"map_table_null", OP_ERR_ARGUMENT, IN_MESH, map_table_null},
    {"map_arity_zero", OP_ERR_DIM, IN_MESH, map_arity_zero},
    {"dat_on_null", OP_ERR_HANDLE, IN_MESH, dat_on_null},
    {"dat_on_dat", OP_ERR_HANDLE, IN_MESH, dat_on_dat},
    {"dat_dim_zero", OP_ERR_DIM, IN_MESH, dat_dim_zero},
    {"dat_type_misspelt", OP_ERR_TYPE, IN_MESH, dat_type_misspelt},
    {"dat_type_null", OP_ERR_TYPE, IN_MESH, dat_type_null},
    {"dat_layout_unknown", OP_ERR_TYPE, IN_MESH, dat_layout_unknown},
    {"dat_without_a_name", OP_ERR_DIM, IN_MESH, dat_without_a_name},
    {"dat_of_another_type", OP_ERR_TYPE, IN_MESH, dat_of_another_type},
    {"temporary_of_another_type", OP_ERR_TYPE, IN_MESH, temporary_of_another_type},
    {"dat_overflow", OP_ERR_SIZE, IN_MESH, dat_overflow},
    {"dat_memory", OP_ERR_MEMORY, IN_MESH, dat_memory},
    {"free_null", OP_ERR_HANDLE, IN_MESH, free_null},
    {"free_ordinary", OP_ERR_HANDLE, IN_MESH, free_ordinary},
    {"free_twice", OP_ERR_HANDLE, IN_MESH, free_twice},
    {"const_name_null", OP_ERR_CONST, IN_MESH, const_name_null},
    {"const_name_bad", OP_ERR_CONST, IN_MESH, const_name_bad},
    {"const_name_keyword", OP_ERR_CONST, IN_MESH, const_name_keyword},
    {"const_name_function", OP_ERR_CONST, IN_MESH, const_name_function},
    {"const_name_ours", OP_ERR_CONST, IN_MESH, const_name_ours},
    {"const_dim_zero", OP_ERR_DIM, IN_MESH, const_dim_zero},
    {"const_type_misspelt", OP_ERR_TYPE, IN_MESH, const_type_misspelt},
    {"const_value_null", OP_ERR_ARGUMENT, IN_MESH, const_value_null},
    {"const_other_dim", OP_ERR_CONST, IN_MESH, const_other_dim},
    {"const_other_type", OP_ERR_CONST, IN_MESH, const_other_type},
    {"const_of_another_type", OP_ERR_TYPE, IN_MESH, const_of_another_type},
    {"const_of_a_file_of_another_type", OP_ERR_TYPE, IN_MESH, const_of_a_file_of_another_type},
    {"const_into_a_file_of_another_type", OP_ERR_TYPE, IN_MESH, const_into_a_file_of_another_type},
    {"const_update_of_another_type", OP_ERR_TYPE, IN_MESH, const_update_of_another_type},
    {"const_update_unknown", OP_ERR_CONST, IN_MESH, const_update_unknown},
    {"const_update_null", OP_ERR_ARGUMENT, IN_MESH, const_update_null},
    {NULL, 0, 0, NULL},
};
