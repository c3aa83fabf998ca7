/* Arguments of loops as Fortran has them, and its names of types. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/api.h"
#include "api/fortran/fortran.h"
#include "api/fortran/text.h"
#include "base/list.h"
#include "base/types.h"
#include "mesh/data.h"
#include "mesh/matrix.h"
#include "mesh/mesh.h"
#include "op2/op2jit_visible.h"
#include "record/kept.h"
#include "record/record.h"
#include "spread/coo.h"

static const struct {
  const char *fortran, *c;
} types[] = {{"real(8)", "double"},
             {"real(4)", "float"},
             {"integer(4)", "int"},
             {"integer(8)", "long long"},
             {"logical", "int"},
             {"logical(4)", "int"},
             {"logical(1)", "bool"},
             {"real*8", "double"},
             {"real*4", "float"},
             {"integer*4", "int"},
             {"integer*8", "long long"},
             {"r8", "double"},
             {"r4", "float"},
             {"i4", "int"},
             {"i8", "long long"},
             {"real(kind=8)", "double"},
             {"real(kind=4)", "float"},
             {"integer(kind=4)", "int"},
             {"integer(kind=8)", "long long"},
             {"doubleprecision", "double"},
             {"real", "float"},
             {"integer", "int"},
             {"real(c_double)", "double"},
             {"real(c_float)", "float"},
             {"integer(c_int)", "int"},
             {"logical(c_bool)", "bool"},
             {"real(real64)", "double"},
             {"real(real32)", "float"},
             {"integer(int32)", "int"},
             {"integer(int64)", "long long"}};

const char *fortran_type(const char *said, char room[64]) {
  enum { ROOM = 64 };
  size_t n = 0;
  for (const char *c = said; *c && *c != ':' && n < ROOM - 1; c++)
    if (*c != ' ')
      room[n++] = *c;
  room[n] = '\0';
  const char *rest = strchr(said, ':');
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    if (strcasecmp(room, types[t].fortran) == 0) {
      if (!rest)
        return types[t].c;
      snprintf(room, ROOM, "%s%.8s", types[t].c, rest);
      return room;
    }
  return said;
}

int fortran_check(const char *call, const char *name, const char *type, const char *is) {
  char room[64];
  const enum type_code code = type_parse(type, &(bool){false});
  if (code == TYPE_NONE)
    return error_set(api_error(), OP_ERR_TYPE, "%s: \"%s\": the type \"%s\" is unknown; expected one of %s",
                     call, name, type, type_names_in_fortran());
  if (!*is || type_fits(code, fortran_type(is, room)))
    return OP_OK;
  return error_set(api_error(), OP_ERR_TYPE,
                   "%s: \"%s\" is declared \"%s\", and the variable is of type %s; make the two the same",
                   call, name, type_said(code, true), is);
}

void *op2jit_f_address(void *variable) {
  return variable;
}

void *op2jit_f_identity(void) {
  return OP_ID;
}

/* Columns count from 1; all targets of a map are -arity, and a direct argument has -1. What is 0 is no column: the
 * loop is to find that, so it becomes one that no map has. */
static int column(int idx, op_map map) {
  if (map == OP_ID || idx < 0)
    return idx;
  return idx > 0 ? idx - 1 : NO_COLUMN;
}

void op2jit_f_arg_dat(op_arg *out, int present, op_dat dat, int idx, op_map map, int dim, const char *type,
                      int access) {
  char room[64];
  *out = op2jit_opt_arg_dat(present, dat, column(idx, map), map, dim, fortran_type(type, room),
                            (op_access)access);
}

/* An array that is shorter than the argument, or that a loop cannot leave its result in, is for the loop to tell: it is
 * of no type then. */
static void check_array(op_arg *arg, long long count) {
  if (count != ARRAY_SECTION && (count < 0 || arg->dim_ <= count))
    return;
  arg->type_ = TYPE_NONE;
  arg->pointed_ = count == ARRAY_SECTION ? POINTED_SECTION : POINTED_SHORT;
  arg->said_length_ = (int)(count < 0 ? 0 : count);
}

/* A value that is only read may be an expression, or a section's copy: it is taken now. */
void op2jit_f_arg_gbl(op_arg *out, int present, void *data, int dim, const char *type, int access,
                      const char *is, long long count) {
  char room[64], other[64];
  *out = op2jit_opt_arg_gbl_typed(present, data, dim, fortran_type(type, room), (op_access)access,
                                  fortran_type(is, other));
  check_array(out, count);
  if (access == OP_READ && out->present_ && out->type_ != TYPE_NONE)
    kept_take(api_context(), out);
}

void op2jit_f_arg_global(op_arg *out, op_gbl gbl, int access) {
  *out = op2jit_arg_global(gbl, (op_access)access);
}

void op2jit_f_arg_may_meet(op_arg *arg) {
  *arg = op2jit_arg_may_meet(*arg);
}

void op2jit_f_arg_idx(op_arg *out, int idx, op_map map) {
  *out = op2jit_arg_idx(column(idx, map), map);
}

void op2jit_f_arg_info(op_arg *out, void *payload, int dim, const char *type, int ref, const char *is,
                       long long count) {
  char room[64], other[64];
  *out = op2jit_arg_info_typed(payload, dim, fortran_type(type, room), ref, fortran_type(is, other));
  check_array(out, count);
}

/* Arrays of OP2's programs that stand for the dats and maps which were declared with them: programs pass the array again
 * where others pass the handle. What was declared is found by the address of the array's first element. */

void arrays_note(const char *call, const void *array, const void *handle, bool is_map) {
  struct op_context *ctx = api_context();
  if (!ctx || !ctx->compiled || !array || !handle || !api_enter(call, KEEP))
    return;
  if (!known_add(ctx, (struct known){.array = array, .handle = handle, .is_map = is_map}))
    error_memory(api_error(), "an array that stands for a handle", sizeof(struct known));
  api_leave_local(api_error()->code);
}

/* ---- constants ---- */

static bool is_noted(const struct op_context *ctx, const struct known *wanted) {
  for (int i = 0; i < ctx->arrays->count; i++) {
    const struct known *k = ctx->arrays->items[i];
    if (k->array == wanted->array && k->type == wanted->type && k->dim == wanted->dim &&
        strcmp(k->copy, wanted->copy) == 0)
      return true;
  }
  return false;
}

void op2jit_f_note_const(const void *variable, int dim, const char *is, const char *name) {
  char room[64];
  struct op_context *ctx = api_context();
  if (!ctx || !ctx->compiled || !variable || !api_enter("op_decl_const", KEEP))
    return;
  const bool is_name =
      type_parse(fortran_type(name, room), NULL) == TYPE_NONE; /* OP2's programs have the type there */
  const struct known k = {.array = variable,
                          .copy = strdup(is_name ? name : ""),
                          .type = type_parse(fortran_type(is, room), NULL),
                          .dim = dim};
  const bool before = k.copy && is_noted(ctx, &k), added = k.copy && !before && known_add(ctx, k);
  if (!added)
    free(k.copy);
  if (!added && !before)
    error_memory(api_error(), "a constant of the program", sizeof k);
  api_leave_local(api_error()->code);
}

/* ---- which one ---- */

/* An argument's demands on the dat; 0, "" and NULL: none. */
struct wanted {
  int dim;
  const char *type;
  const struct map *map;
};

static bool suits(const struct op_context *ctx, const struct known *k, const struct wanted *w) {
  if (k->is_map || !w)
    return true;
  const struct dat *dat = handle_object(ctx->handles, k->handle, HANDLE_DAT);
  return (!w->dim || dat->dim == w->dim) && (!*w->type || dat->type == type_parse(w->type, NULL)) &&
         (!w->map || w->map->to == dat->set);
}

static const char *name_of(const struct op_context *ctx, const struct known *k) {
  return k->is_map ? ((struct map *)handle_object(ctx->handles, k->handle, HANDLE_MAP))->name
                   : ((struct dat *)handle_object(ctx->handles, k->handle, HANDLE_DAT))->name;
}

/* Memory that was freed may have become another array. With several under one address the argument has to tell them
 * apart. `w` NULL: any. NULL: the error is set. */
static struct known *find(struct op_context *ctx, const char *call, const void *array, bool is_map,
                          const struct wanted *w) {
  struct known *found = NULL, *other = NULL, *unfit = NULL;
  for (int i = 0; i < ctx->arrays->count; i++) {
    struct known *k = ctx->arrays->items[i];
    if (k->array != array || k->is_map != is_map || !known_lives(ctx, k))
      continue;
    if (!suits(ctx, k, w)) {
      unfit = k;
      continue;
    }
    other = found;
    found = k;
  }
  if (!found)
    found = unfit; /* the loop says what is wrong */
  if (!found)
    error_set(api_error(), OP_ERR_HANDLE,
              "%s: no %s was declared with the array that is passed; pass the array that op_decl_%s had, no "
              "copy or section of it, or the handle",
              call, is_map ? "map" : "dat", is_map ? "map" : "dat");
  else if (other)
    error_set(
        api_error(), OP_ERR_HANDLE,
        "%s: %ss \"%s\" and \"%s\" were both declared with the array that is passed; pass the handle of "
        "the one that is meant",
        call, is_map ? "map" : "dat", name_of(ctx, other), name_of(ctx, found));
  return api_error()->code ? NULL : found;
}

static struct known *find_locally(const char *call, const void *array, bool is_map, const struct wanted *w) {
  struct op_context *ctx = api_enter(call, KEEP);
  struct known *k = ctx ? find(ctx, call, array, is_map, w) : NULL;
  return ctx && !api_leave_local(api_error()->code) ? k : NULL;
}

static void *as_handle(const struct known *k) {
  void *handle = NULL;
  if (k)
    memcpy(&handle, &k->handle, sizeof handle);
  return handle;
}

op_map op2jit_f_map_of(const char *call, const void *table) {
  return as_handle(find_locally(call, table, true, NULL));
}

op_dat op2jit_f_dat_of(const char *call, const void *array) {
  return as_handle(find_locally(call, array, false, NULL));
}

/* ---- arguments ---- */

/* The table of a direct argument is OP_ID. An index of -1 is direct whatever the table is, if it is no map's. */
static op_map table_of(const char *call, int idx, const void *table, const void *identity) {
  const struct op_context *ctx = api_context();
  bool known = table == identity;
  for (int i = 0; ctx && !known && i < ctx->arrays->count; i++)
    known = ((struct known *)ctx->arrays->items[i])->array == table &&
            ((struct known *)ctx->arrays->items[i])->handle;
  return table == identity || (!known && idx == -1) ? OP_ID : op2jit_f_map_of(call, table);
}

void op2jit_f_arg_array(op_arg *out, int present, const void *array, int idx, const void *table,
                        const void *identity, int dim, const char *type, int access, const char *is) {
  static const char call[] = "op_arg_dat";
  const struct op_context *ctx = api_context();
  op_map map = OP_ID;
  struct known *k = NULL;
  char room[64];
  if (present && (map = table_of(call, idx, table, identity)) != NULL) {
    const struct wanted w = {dim, fortran_type(type, room),
                             map == OP_ID || !ctx ? NULL : handle_object(ctx->handles, map, HANDLE_MAP)};
    k = find_locally(call, array, false, &w);
    if (k && api_enter(call, KEEP) && api_leave_local(fortran_check(call, name_of(ctx, k), w.type, is)))
      k = NULL;
  }
  op2jit_f_arg_dat(out, present, as_handle(k), present ? idx : -1, map, dim, type, access);
}

void op2jit_f_arg_idx_array(op_arg *out, int idx, const void *table, const void *identity) {
  op2jit_f_arg_idx(out, idx, table_of("op_arg_idx", idx, table, identity));
}

/* ---- other addresses ---- */

/* The program is about to free the array, and names the dat by a number that the library gives (mode 1), or by where the
 * rows are (2). */
long long op2jit_f_reset_dat(const void *array, int mode) {
  struct known *k = find_locally("op_reset_data_ptr", array, false, NULL);
  const struct op2jit_dat *seen = as_handle(k);
  if (!k)
    return 0;
  if (mode != 1 && mode != 2) {
    if (api_enter("op_reset_data_ptr", KEEP))
      api_leave_local(error_set(api_error(), OP_ERR_ARGUMENT,
                                "op_reset_data_ptr: the mode is %d; expected 1, for a number, or 2, for the "
                                "address of the library's rows",
                                mode));
    return 0;
  }
  const long long address = mode == 1 ? seen->index : (long long)(intptr_t)seen->data;
  const intptr_t as_pointer = (intptr_t)address;
  memcpy(&k->array, &as_pointer, sizeof k->array);
  return address;
}

long long op2jit_f_reset_map(const void *table) {
  struct known *k = find_locally("op_reset_map_ptr", table, true, NULL);
  const struct op2jit_map *seen = as_handle(k);
  if (!k)
    return 0;
  k->array = seen->map;
  return (long long)(intptr_t)seen->map;
}

/* The table as it is now, from 1, with the rows of copies: it stands for the map too. */
long long op2jit_f_copy_map(const void *table) {
  static const char call[] = "op_copy_map_to_fort";
  struct known *k = find_locally(call, table, true, NULL);
  const struct op2jit_map *seen = as_handle(k);
  struct op_context *ctx = k ? api_enter(call, KEEP) : NULL;
  if (!ctx)
    return 0;
  const size_t rows = (size_t)seen->from->size + (size_t)seen->from->exec_size;
  int *copy = seen->map ? array_new(rows * (size_t)seen->dim, sizeof *copy) : NULL;
  for (size_t i = 0; copy && i < rows * (size_t)seen->dim; i++)
    copy[i] = seen->map[i] + 1;
  if (!copy || !known_add(ctx, (struct known){copy, seen, .is_map = true, .copy = copy})) {
    free(copy);
    copy = NULL;
    error_memory(api_error(), "a copy of a map", rows * (size_t)seen->dim * sizeof *copy);
  }
  return api_leave_local(api_error()->code) ? 0 : (long long)(intptr_t)copy;
}

/* Matrices as Fortran has them: its names of types, and entries that count from 1. */

op_mat op2jit_f_decl_mat(int npairs, const op_map rows[], const op_map columns[], int row_dim, int column_dim,
                         const char *type, const char *name) {
  char room[64];
  return op2jit_decl_mat(npairs, rows, columns, row_dim, column_dim, fortran_type(type, room), name);
}

void op2jit_f_arg_mat(op_arg *out, op_mat mat, op_map rows, op_map columns, int row_dim, int column_dim,
                      const char *type, int access) {
  char room[64];
  *out = op2jit_arg_mat(mat, rows, columns, row_dim, column_dim, fortran_type(type, room), (op_access)access);
}

int op2jit_f_mat_size(op_mat mat, long long *rows, long long *entries) {
  const int code = op2jit_fetch_mat(mat, entries, NULL, NULL, NULL);
  if (!code) {
    const struct matrix *m = handle_object(api_context()->handles, mat, HANDLE_MATRIX);
    *rows = (long long)m->coo->csr.rows;
  }
  return code;
}

int op2jit_f_fetch_mat(op_mat mat, long long offsets[], long long columns[], double values[]) {
  long long entries = 0, nothing = 0;
  double nought = 0;
  const int code =
      op2jit_fetch_mat(mat, &entries, offsets, columns ? columns : &nothing, values ? values : &nought);
  if (code)
    return code;
  const struct matrix *m = handle_object(api_context()->handles, mat, HANDLE_MATRIX);
  for (long long r = 0; r <= (long long)m->coo->csr.rows; r++)
    offsets[r]++;
  for (long long k = 0; k < entries; k++)
    columns[k]++;
  return code;
}
