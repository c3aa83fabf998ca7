/* Declarations and data of programs in Fortran: types, sizes and numbers are checked in its words, then the call is
 * that of op2jit.h. */
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "api/fortran/fortran.h"
#include "base/types.h"
#include "mesh/data.h"
#include "mesh/globals.h"
#include "mesh/mesh.h"
#include "op2/op2jit_op2.h"

static int check_count(const char *call, const char *name, long long wanted, long long count) {
  return count < 0 || count >= wanted
             ? OP_OK
             : error_set(api_error(), OP_ERR_SIZE, "%s: \"%s\" has %lld values, and the array %lld", call,
                         name, wanted, count);
}

/* ---- maps ---- */

static long long entry(const void *table, int bytes, size_t i) {
  return bytes == 8 ? ((const long long *)table)[i] : ((const int *)table)[i];
}

static int check_table(op_set from, int arity, const void *table, int bytes, long long count,
                       const char *name) {
  const struct op_context *ctx = api_enter("op_decl_map", KEEP);
  if (!ctx)
    return api_refused();
  const struct set *set = handle_object(ctx->handles, from, HANDLE_SET);
  const size_t entries = set && arity > 0 ? (size_t)set->size * (size_t)arity : 0;
  int code = check_count("op_decl_map", name, (long long)entries, count);
  for (size_t i = 0; !code && ctx->maps_base == 1 && table && i < entries; i++)
    if (entry(table, bytes, i) == 0)
      code = error_set(
          api_error(), OP_ERR_MAP_RANGE,
          "op_decl_map: map \"%s\" has a 0 for element %zu, and maps count from 1; where all of them "
          "count from 0, say so at the beginning: %s",
          name, i / (size_t)arity + 1, ctx->compiled ? "op_init_base(diags, 0)" : "op_init(base=0)");
  return api_leave_local(code);
}

op_map op2jit_f_decl_map(op_set from, op_set to, int arity, const void *table, int bytes, long long count,
                         const char *name) {
  if (check_table(from, arity, table, bytes, count, name))
    return NULL;
  op_map map = bytes == 8 ? op2jit_op2_decl_map_long(from, to, arity, table, name)
                          : op2jit_op2_decl_map(from, to, arity, table, name);
  arrays_note("op_decl_map", table, map, true);
  return map;
}

/* ---- ragged maps: offsets and targets count from 1, as the rows of a sparse matrix do in Fortran ---- */

static int check_ragged(op_set from, const long long *offsets, long long noffsets, const int *targets,
                        long long ntargets, const char *name) {
  static const char call[] = "op_decl_map_ragged";
  const struct op_context *ctx = api_enter(call, KEEP);
  if (!ctx)
    return api_refused();
  const struct set *set = handle_object(ctx->handles, from, HANDLE_SET);
  const long long base = ctx->maps_base;
  int code = OP_OK;
  if (set && noffsets < set->size + 1LL)
    code =
        error_set(api_error(), OP_ERR_SIZE,
                  "%s: map \"%s\" needs %lld offsets, one more than set \"%s\" has elements, and the array "
                  "has %lld",
                  call, name, set->size + 1LL, set->name, noffsets);
  else if (set && offsets[0] != base)
    code = error_set(api_error(), OP_ERR_ARGUMENT,
                     "%s: the first offset of map \"%s\" is %lld; expected %lld, as tables count from %lld "
                     "(op_init(base=0) for those from 0)",
                     call, name, offsets[0], base, base);
  else if (set && offsets[set->size] - base > ntargets)
    code = error_set(api_error(), OP_ERR_SIZE,
                     "%s: the last offset of map \"%s\" says %lld targets, and the array has %lld", call,
                     name, offsets[set->size] - base, ntargets);
  for (long long i = 0; !code && set && base == 1 && i < offsets[set->size] - base; i++)
    if (targets[i] == 0)
      code = error_set(api_error(), OP_ERR_MAP_RANGE,
                       "%s: target %lld of map \"%s\" is 0, and maps count from 1 (op_init(base=0) for those "
                       "from 0)",
                       call, i + 1, name);
  return api_leave_local(code);
}

op_map op2jit_f_decl_map_ragged(op_set from, op_set to, long long *offsets, long long noffsets, int *targets,
                                long long ntargets, const char *name) {
  if (check_ragged(from, offsets, noffsets, targets, ntargets, name))
    return NULL;
  const int base = api_context() ? api_context()->maps_base : 0;
  for (long long i = 0; i < noffsets; i++)
    offsets[i] -= base;
  for (long long i = 0; i < ntargets; i++)
    targets[i] -= base;
  return op2jit_decl_map_ragged(from, to, offsets, targets, name);
}

/* ---- dats, constants, globals ---- */

static int check_values(const char *call, const char *name, const char *type, const char *is,
                        long long wanted, long long count) {
  if (!api_enter(call, KEEP))
    return api_refused();
  const int code = fortran_check(call, name, type, is);
  return api_leave_local(code ? code : check_count(call, name, wanted, count));
}

static long long values_of(op_set handle, int dim) {
  const struct op_context *ctx = api_context();
  const struct set *set = ctx ? handle_object(ctx->handles, handle, HANDLE_SET) : NULL;
  return set && dim > 0 ? (long long)set->size * dim : 0;
}

op_dat op2jit_f_decl_dat(op_set set, int dim, const char *type, const void *data, const char *is,
                         long long count, const char *name, int temporary) {
  char room[64];
  type = fortran_type(type, room);
  if (check_values("op_decl_dat", name, type, is, values_of(set, dim), count))
    return NULL;
  op_dat dat = temporary ? (op2jit_decl_dat_temp)(set, dim, type, data, name)
                         : (op2jit_decl_dat)(set, dim, type, data, name);
  if (count != ARRAY_SECTION)
    arrays_note("op_decl_dat", data, dat, false);
  return dat;
}

op_dat op2jit_f_decl_view(op_set set, int dim, const char *type, void *array, const char *is, long long count,
                          const char *name) {
  char room[64];
  type = fortran_type(type, room);
  if (check_values("op_decl_dat_view", name, type, is, values_of(set, dim), count))
    return NULL;
  return (op2jit_decl_dat_view)(set, dim, type, array, name);
}

int op2jit_f_decl_const(const char *name, int dim, const char *type, const void *value, const char *is,
                        long long count) {
  char room[64];
  type = fortran_type(type, room);
  const int code = check_values("op_decl_const", name, type, is, dim, count);
  return code ? code : (op2jit_decl_const)(name, dim, type, value);
}

int op2jit_f_update_const(const char *name, const void *value, const char *is) {
  char room[64];
  return op2jit_update_const_typed(name, value, fortran_type(is, room));
}

op_gbl op2jit_f_decl_gbl(int dim, const char *type, const void *value, const char *is, long long count,
                         const char *name) {
  char room[64];
  type = fortran_type(type, room);
  if (check_values("op_decl_gbl", name, type, is, dim, count))
    return NULL;
  return (op2jit_decl_gbl)(dim, type, value, name);
}

int op2jit_f_get_gbl(op_gbl gbl, void *out, const char *is) {
  char room[64];
  return op2jit_get_gbl_typed(gbl, out, fortran_type(is, room));
}

int op2jit_f_put_gbl(op_gbl gbl, const void *in, const char *is) {
  char room[64];
  return op2jit_put_gbl_typed(gbl, in, fortran_type(is, room));
}

/* ---- out and in ---- */

/* The dat's type and, of as many elements, the size; what is no dat is told by the call itself. */
static int check_dat(const char *call, op_dat handle, const char *is, long long count, long long elements) {
  const struct op_context *ctx = api_context();
  const struct dat *dat = ctx ? handle_object(ctx->handles, handle, HANDLE_DAT) : NULL;
  if (!dat)
    return OP_OK;
  return check_values(call, dat->name, type_info(dat->type)->name, is,
                      (elements < 0 ? dat->set->size : elements) * dat->dim, count);
}

int op2jit_f_fetch(op_dat dat, void *out, const char *is, long long count, int low, int high, int all) {
  const int code = check_dat("op_fetch_data", dat, is, count, low > 0 ? (long long)high - low + 1 : -1);
  if (code)
    return code;
  if (low == 0 && high == 0)
    return (op2jit_fetch_data)(dat, out);
  return all ? op2jit_op2_fetch_idx(dat, out, low - 1, high - 1)
             : (op2jit_fetch_data_idx)(dat, out, low - 1, high - 1);
}

int op2jit_f_put(op_dat dat, const void *in, const char *is, long long count) {
  const int code = check_dat("op_put_data", dat, is, count, -1);
  return code ? code : (op2jit_put_data)(dat, in);
}

op_dat op2jit_f_decl_dat_hdf5(op_set set, int dim, const char *type, const char *file, const char *name) {
  char room[64];
  return op2jit_decl_dat_hdf5(set, dim, fortran_type(type, room), file, name);
}

int op2jit_f_const_hdf5(int write, const char *name, int dim, const char *type, void *value, const char *is,
                        const char *file) {
  char room[64], other[64];
  type = fortran_type(type, room);
  is = fortran_type(is, other);
  return write ? op2jit_write_const_hdf5_typed(name, dim, type, value, file, is)
               : op2jit_get_const_hdf5_typed(name, dim, type, value, file, is);
}
