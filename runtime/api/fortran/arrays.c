/* Arrays of OP2's programs that stand for the dats and maps which were declared with them: programs pass the array again
 * where others pass the handle. What was declared is found by the address of the array's first element. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/fortran/fortran.h"
#include "api/fortran/known.h"
#include "base/list.h"
#include "base/size.h"
#include "base/types.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "op2/op2jit_visible.h"

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
