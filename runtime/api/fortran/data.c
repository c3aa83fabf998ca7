/* Declarations and data of programs in Fortran: types, sizes and numbers are checked in its words, then the call is
 * that of op2jit.h. */
#include <string.h>

#include "api/api.h"
#include "api/fortran/fortran.h"
#include "base/text.h"
#include "base/types.h"
#include "mesh/data.h"
#include "mesh/globals.h"
#include "mesh/mesh.h"
#include "op2/op2jit_op2.h"
#include "ranks/agree.h"

/* An array of the program with `dim` values for each of `elements`. */
struct given {
  const char *call, *name, *what; /* "values" */
  long long elements;
  int dim;
  bool exact;                  /* an array that is larger was meant for something else */
  long long count, extents[3]; /* of the array, 0 where it has no more dimensions */
};

static int check_count(const struct given *g) {
  const long long wanted = g->elements * g->dim;
  if (g->count == ARRAY_NONE && wanted > 0)
    return error_set(
        api_error(), OP_ERR_ARGUMENT,
        "%s: the array for \"%s\" is not allocated, or a pointer that is not associated; expected "
        "%lld values",
        g->call, g->name, wanted);
  return g->count < 0 || g->count >= wanted
             ? OP_OK
             : error_set(api_error(), OP_ERR_SIZE, "%s: \"%s\" has %lld values, and the array %lld", g->call,
                         g->name, wanted, g->count);
}

static struct given given_of(const char *call, const char *name, const char *what, long long elements,
                             int dim, long long count, const long long extents[3]) {
  return (struct given){call, name, what, elements, dim, false, count, {extents[0], extents[1], extents[2]}};
}

/* The values of an element lie side by side: the first extents, multiplied, are their number, and the others the
 * number of elements. Only the last extent may be larger. */
static bool is_in_order(const struct given *g, bool exact) {
  long long first = 1, others = 1;
  int rank = 0;
  for (; rank < 3 && g->extents[rank]; rank++)
    others *= g->extents[rank];
  for (int r = 0; r <= rank; r++) {
    const bool larger = !exact && r == rank - 1 && others > g->elements;
    if (first == g->dim && (others == g->elements || larger))
      return true;
    if (r < rank) {
      first *= g->extents[r];
      others /= g->extents[r];
    }
  }
  return false;
}

/* An array of rank 1 says nothing of the order, and where there are no elements nothing is read. */
static int check_array(const struct given *g) {
  if (check_count(g))
    return api_error()->code;
  if (g->extents[1] == 0 || g->elements == 0 || g->dim < 1 || is_in_order(g, g->exact))
    return OP_OK;
  struct text shape = {0};
  for (int r = 0; r < 3 && g->extents[r]; r++)
    text_addf(&shape, "%s%lld", r ? ", " : "", g->extents[r]);
  const char *name = g->name, *given = text_str(&shape);
  if (is_in_order(g, false))
    error_set(
        api_error(), OP_ERR_DIM,
        "%s: \"%s\" has %d %s for each of %lld elements, and the array is declared (%s), which is larger; "
        "declare it (%d, %lld), or pass the section that is meant",
        g->call, name, g->dim, g->what, g->elements, given, g->dim, g->elements);
  else
    error_set(
        api_error(), OP_ERR_DIM,
        "%s: \"%s\" has %d %s for each element, which lie side by side, so %d must be the first extent of "
        "the array, and it is declared (%s); declare it (%d, %lld)",
        g->call, name, g->dim, g->what, g->dim, given, g->dim, g->elements);
  text_free(&shape);
  return OP_ERR_DIM;
}

/* The other ranks agree on this call, and fail too. Loops that wait ran before, as there. */
static int leave_together(const char *call, int code) {
  if (!code)
    return api_leave_local(OP_OK);
  return api_leave(agree_on_call(api_context(), code, api_error(), "%s", call));
}

/* ---- maps ---- */

static long long entry(const void *table, int bytes, size_t i) {
  return bytes == 8 ? ((const long long *)table)[i] : ((const int *)table)[i];
}

static int check_table(op_set from, int arity, const void *table, int bytes, long long count,
                       const long long extents[3], const char *name) {
  const struct op_context *ctx = api_enter("op_decl_map", FLUSH);
  if (!ctx)
    return api_refused();
  const struct set *set = handle_object(ctx->handles, from, HANDLE_SET);
  const size_t entries = set && arity > 0 ? (size_t)set->size * (size_t)arity : 0;
  struct given g = given_of("op_decl_map", name, "targets", entries ? set->size : 0, arity, count, extents);
  g.exact = true;
  int code = api_error()->code ? api_error()->code : check_array(&g);
  for (size_t i = 0; !code && ctx->maps_base == 1 && table && i < entries; i++)
    if (entry(table, bytes, i) == 0)
      code = error_set(
          api_error(), OP_ERR_MAP_RANGE,
          "op_decl_map: map \"%s\" has a 0 for element %zu, and maps count from 1; where all of them "
          "count from 0, say so at the beginning: %s",
          name, i / (size_t)arity + 1, ctx->compiled ? "op_init_base(diags, 0)" : "op_init(base=0)");
  return leave_together("op_decl_map", code);
}

op_map op2jit_f_decl_map(op_set from, op_set to, int arity, const void *table, const char *is,
                         long long count, const long long extents[3], const char *name) {
  const int bytes = strcmp(is, "integer(8)") == 0 ? 8 : 4;
  if (check_table(from, arity, table, bytes, count, extents, name))
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
  const struct op_context *ctx = api_enter(call, FLUSH);
  if (!ctx)
    return api_refused();
  const struct set *set = handle_object(ctx->handles, from, HANDLE_SET);
  const long long base = ctx->maps_base;
  int code = api_error()->code;
  if (!code && set && noffsets < set->size + 1LL)
    code =
        error_set(api_error(), OP_ERR_SIZE,
                  "%s: map \"%s\" needs %lld offsets, one more than set \"%s\" has elements, and the array "
                  "has %lld",
                  call, name, set->size + 1LL, set->name, noffsets);
  else if (!code && set && offsets[0] != base)
    code = error_set(api_error(), OP_ERR_ARGUMENT,
                     "%s: the first offset of map \"%s\" is %lld; expected %lld, as tables count from %lld "
                     "(op_init(base=0) for those from 0)",
                     call, name, offsets[0], base, base);
  else if (!code && set && offsets[set->size] - base > ntargets)
    code = error_set(api_error(), OP_ERR_SIZE,
                     "%s: the last offset of map \"%s\" says %lld targets, and the array has %lld", call,
                     name, offsets[set->size] - base, ntargets);
  for (long long e = 0; !code && set && e < set->size; e++)
    if (offsets[e + 1] < offsets[e])
      code =
          error_set(api_error(), OP_ERR_ARGUMENT,
                    "%s: offset %lld of map \"%s\" is %lld, and the one before it %lld; offsets must not go "
                    "back, an element without targets has the same one twice",
                    call, e + 2, name, offsets[e + 1], offsets[e]);
  for (long long i = 0; !code && set && base == 1 && i < offsets[set->size] - base; i++)
    if (targets[i] == 0)
      code = error_set(api_error(), OP_ERR_MAP_RANGE,
                       "%s: target %lld of map \"%s\" is 0, and maps count from 1 (op_init(base=0) for those "
                       "from 0)",
                       call, i + 1, name);
  return leave_together(call, code);
}

op_map op2jit_f_decl_map_ragged(op_set from, op_set to, long long offsets[], long long noffsets,
                                int targets[], long long ntargets, const char *name) {
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

static int check_values(const struct given *g, enum queued queued, const char *type, const char *is) {
  if (!api_enter(g->call, queued))
    return api_refused();
  int code = api_error()->code;
  if (!code)
    code = fortran_check(g->call, g->name, type, is);
  return leave_together(g->call, code ? code : check_array(g));
}

static const long long no_extents[3];

/* A constant or a global. */
static int check_value(const char *call, enum queued queued, const char *name, const char *type,
                       const char *is, int dim, long long count) {
  const struct given g = given_of(call, name, "values", 1, dim, count, no_extents);
  return check_values(&g, queued, type, is);
}

/* It takes its values from the array, which has no others. */
static int check_new_value(const char *call, enum queued queued, const char *name, const char *type,
                           const char *is, int dim, long long count) {
  const int code = check_value(call, queued, name, type, is, dim, count);
  if (code || dim < 1 || count <= dim || !api_enter(call, queued))
    return code;
  return leave_together(call, error_set(api_error(), OP_ERR_SIZE,
                                        "%s: \"%s\" has %d value%s, and the array %lld; give it that dim, or "
                                        "pass the section that is meant",
                                        call, name, dim, dim == 1 ? "" : "s", count));
}

/* 0 where it is no set, which the call itself tells. */
static long long size_of(op_set handle, int dim) {
  const struct op_context *ctx = api_context();
  const struct set *set = ctx ? handle_object(ctx->handles, handle, HANDLE_SET) : NULL;
  return set && dim > 0 ? set->size : 0;
}

op_dat op2jit_f_decl_dat(op_set set, int dim, const char *type, const void *data, const char *is,
                         long long count, const long long extents[3], const char *name, int temporary) {
  char room[64];
  struct given g = given_of("op_decl_dat", name, "values", size_of(set, dim), dim, count, extents);
  g.exact = api_context() && !api_context()->compiled; /* programs of OP2 may have larger arrays */
  type = fortran_type(type, room);
  if (check_values(&g, KEEP, type, is))
    return NULL;
  op_dat dat = temporary ? (op2jit_decl_dat_temp)(set, dim, type, data, name)
                         : (op2jit_decl_dat)(set, dim, type, data, name);
  if (count != ARRAY_SECTION)
    arrays_note("op_decl_dat", data, dat, false);
  return dat;
}

op_dat op2jit_f_decl_view(op_set set, int dim, const char *type, void *array, const char *is, long long count,
                          const long long extents[3], const char *name) {
  char room[64];
  struct given g = given_of("op_decl_dat_view", name, "values", size_of(set, dim), dim, count, extents);
  g.exact = true;
  type = fortran_type(type, room);
  if (check_values(&g, KEEP, type, is))
    return NULL;
  return (op2jit_decl_dat_view)(set, dim, type, array, name);
}

int op2jit_f_decl_const(const char *name, int dim, const char *type, const void *value, const char *is,
                        long long count) {
  char room[64];
  type = fortran_type(type, room);
  const int code = check_new_value("op_decl_const", FLUSH, name, type, is, dim, count);
  return code ? code : (op2jit_decl_const)(name, dim, type, value);
}

int op2jit_f_update_const(const char *name, const void *value, const char *is, long long count) {
  char room[64];
  const struct constant *c = api_context() ? mesh_find_constant(api_context()->mesh, name) : NULL;
  if (c && check_new_value("op_update_const", FLUSH, name, type_info(c->type)->name, is, c->dim, count))
    return op2jit_last_error()->code;
  return op2jit_update_const_typed(name, value, fortran_type(is, room));
}

op_gbl op2jit_f_decl_gbl(int dim, const char *type, const void *value, const char *is, long long count,
                         const char *name) {
  char room[64];
  type = fortran_type(type, room);
  if (check_new_value("op_decl_gbl", KEEP, name, type, is, dim, count))
    return NULL;
  return (op2jit_decl_gbl)(dim, type, value, name);
}

/* A wrong handle is told by the call itself. */
static int check_global(const char *call, op_gbl handle, const char *is, long long count, bool in) {
  const struct op_context *ctx = api_context();
  const struct gbl *gbl = ctx ? handle_object(ctx->handles, handle, HANDLE_GBL) : NULL;
  return gbl ? (in ? check_new_value : check_value)(call, FLUSH, gbl->name, type_info(gbl->type)->name, is,
                                                    gbl->dim, count)
             : OP_OK;
}

int op2jit_f_get_gbl(op_gbl gbl, void *out, const char *is, long long count) {
  char room[64];
  if (check_global("op_get_gbl", gbl, is, count, false))
    return op2jit_last_error()->code;
  return op2jit_get_gbl_typed(gbl, out, fortran_type(is, room));
}

int op2jit_f_put_gbl(op_gbl gbl, const void *in, const char *is, long long count) {
  char room[64];
  if (check_global("op_put_gbl", gbl, is, count, true))
    return op2jit_last_error()->code;
  return op2jit_put_gbl_typed(gbl, in, fortran_type(is, room));
}

/* ---- out and in ---- */

/* The dat's type and, of as many elements, the size; what is no dat is told by the call itself. */
static int check_dat(const char *call, op_dat handle, const char *is, long long count,
                     const long long extents[3], long long elements) {
  const struct op_context *ctx = api_context();
  const struct dat *dat = ctx ? handle_object(ctx->handles, handle, HANDLE_DAT) : NULL;
  if (!dat)
    return OP_OK;
  const struct given g =
      given_of(call, dat->name, "values", elements < 0 ? dat->set->size : elements, dat->dim, count, extents);
  return check_values(&g, FLUSH, type_info(dat->type)->name, is);
}

int op2jit_f_fetch(op_dat dat, void *out, const char *is, long long count, const long long extents[3],
                   int low, int high, int all) {
  const bool whole = low == 0 && high == -1;
  const long long elements = high < low || low < 1 ? 0 : (long long)high - low + 1;
  const int code = check_dat(whole ? "op_fetch_data" : "op_fetch_data_idx", dat, is, count, extents,
                             whole ? -1 : elements);
  if (code)
    return code;
  if (whole)
    return (op2jit_fetch_data)(dat, out);
  return all ? op2jit_op2_fetch_idx(dat, out, low - 1, high - 1)
             : (op2jit_fetch_data_idx)(dat, out, low - 1, high - 1);
}

int op2jit_f_put(op_dat dat, const void *in, const char *is, long long count, const long long extents[3]) {
  const int code = check_dat("op_put_data", dat, is, count, extents, -1);
  return code ? code : (op2jit_put_data)(dat, in);
}

op_dat op2jit_f_decl_dat_hdf5(op_set set, int dim, const char *type, const char *file, const char *name) {
  char room[64];
  return op2jit_decl_dat_hdf5(set, dim, fortran_type(type, room), file, name);
}

int op2jit_f_get_const_hdf5(const char *name, int dim, const char *type, void *value, const char *is,
                            const char *file) {
  char room[64], other[64];
  return op2jit_get_const_hdf5_typed(name, dim, fortran_type(type, room), value, file,
                                     fortran_type(is, other));
}

int op2jit_f_write_const_hdf5(const char *name, int dim, const char *type, const void *value, const char *is,
                              const char *file) {
  char room[64], other[64];
  return op2jit_write_const_hdf5_typed(name, dim, fortran_type(type, room), value, file,
                                       fortran_type(is, other));
}
