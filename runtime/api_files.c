/* Files. */
#include <stdlib.h>

#include "api.h"
#include "base/size.h"
#include "data.h"
#include "io/io.h"

/* Every call on files begins with these: names that are there, and all loops done. */
static int check_names(struct op_context *ctx, const char *call, const char *file, const char *name) {
  if (!file || !*file)
    return error_set(api_error(), OP_ERR_ARGUMENT, "%s: the name of the file is %s; expected a path", call,
                     file ? "empty" : "NULL");
  if (!name || !*name)
    return error_set(api_error(), OP_ERR_ARGUMENT,
                     "%s: the name in the file %s is %s; expected that of a dataset", call, file,
                     name ? "empty" : "NULL");
  return ctx_flush(ctx, api_error());
}

op_set op2jit_decl_set_hdf5(const char *file, const char *name) {
  struct op_context *ctx = api_enter("op_decl_set_hdf5");
  if (!ctx)
    return NULL;
  struct set *set = NULL;
  if (!check_names(ctx, "op_decl_set_hdf5", file, name))
    set = load_set(ctx, file, name, api_error());
  return api_leave_pointer(set ? set->handle : NULL);
}

op_set op2jit_decl_set_hdf5_infer_size(const char *file, const char *name, const char *data_name) {
  struct op_context *ctx = api_enter("op_decl_set_hdf5_infer_size");
  if (!ctx)
    return NULL;
  struct set *set = NULL;
  if (!check_names(ctx, "op_decl_set_hdf5_infer_size", file, name) &&
      !check_names(ctx, "op_decl_set_hdf5_infer_size", file, data_name))
    set = load_set_of(ctx, file, name, data_name, api_error());
  return api_leave_pointer(set ? set->handle : NULL);
}

op_map op2jit_decl_map_hdf5(op_set from, op_set to, int arity, const char *file, const char *name) {
  struct op_context *ctx = api_enter("op_decl_map_hdf5");
  if (!ctx)
    return NULL;
  struct map *map = NULL;
  if (!check_names(ctx, "op_decl_map_hdf5", file, name)) {
    struct set *source = api_object(ctx, from, HANDLE_SET, "op_decl_map_hdf5", "the source set");
    struct set *target =
        source ? api_object(ctx, to, HANDLE_SET, "op_decl_map_hdf5", "the target set") : NULL;
    if (target)
      map = load_map(ctx, source, target, arity, file, name, api_error());
    else
      error_prefix(api_error(), "map \"%s\": ", name);
  }
  return api_leave_pointer(map ? map->handle : NULL);
}

op_dat op2jit_decl_dat_hdf5(op_set set, int dim, const char *type, const char *file, const char *name) {
  struct op_context *ctx = api_enter("op_decl_dat_hdf5");
  if (!ctx)
    return NULL;
  struct dat *dat = NULL;
  if (!check_names(ctx, "op_decl_dat_hdf5", file, name)) {
    struct set *on = api_object(ctx, set, HANDLE_SET, "op_decl_dat_hdf5", "the set");
    if (on)
      dat = load_dat(ctx, on, dim, type, file, name, api_error());
    else
      error_prefix(api_error(), "dat \"%s\": ", name);
  }
  return api_leave_pointer(dat ? dat->handle : NULL);
}

int op2jit_get_const_hdf5(const char *name, int dim, const char *type, void *value, const char *file) {
  struct op_context *ctx = api_enter("op_get_const_hdf5");
  if (!ctx)
    return api_refused();
  int code = check_names(ctx, "op_get_const_hdf5", file, name);
  return api_leave(code ? code : load_const(ctx, name, dim, type, value, file, api_error()));
}

int op2jit_write_const_hdf5(const char *name, int dim, const char *type, const void *value,
                            const char *file) {
  struct op_context *ctx = api_enter("op_write_const_hdf5");
  if (!ctx)
    return api_refused();
  int code = check_names(ctx, "op_write_const_hdf5", file, name);
  return api_leave(code ? code : save_const(ctx, name, dim, type, value, file, api_error()));
}

int op2jit_dump_to_hdf5(const char *file) {
  struct op_context *ctx = api_enter("op_dump_to_hdf5");
  if (!ctx)
    return api_refused();
  int code = check_names(ctx, "op_dump_to_hdf5", file, "all");
  return api_leave(code ? code : save_mesh(ctx, file, api_error()));
}

static int fetch_to_file(const char *call, op_dat handle, const char *file, const char *path, bool own_name) {
  struct op_context *ctx = api_enter(call);
  if (!ctx)
    return api_refused();
  struct dat *dat = api_object(ctx, handle, HANDLE_DAT, call, "the dat");
  if (!dat)
    return api_leave(OP_ERR_HANDLE);
  const char *name = own_name ? dat->name : path;
  int code = check_names(ctx, call, file, name);
  return api_leave(code ? code : save_dat(ctx, dat, file, name, api_error()));
}

int op2jit_fetch_data_hdf5_file(op_dat dat, const char *file) {
  return fetch_to_file("op_fetch_data_hdf5_file", dat, file, NULL, true);
}

int op2jit_fetch_data_hdf5_file_path(op_dat dat, const char *file, const char *path_in_file) {
  return fetch_to_file("op_fetch_data_hdf5_file_path", dat, file, path_in_file, false);
}

static int write_vtk(struct op_context *ctx, const char *path, int step, int ndats, const op_dat handles[]) {
  int code = check_names(ctx, "op_write_vtk", path, "all");
  if (code)
    return code;
  if (ndats < 1 || !handles)
    return error_set(
        api_error(), OP_ERR_ARGUMENT,
        "op_write_vtk: there are no dats; expected the coordinates first, then what is to be shown");
  struct dat **dats = array_new((size_t)ndats, sizeof(struct dat *));
  if (!dats)
    return error_memory(api_error(), "a list of dats", (size_t)ndats * sizeof(struct dat *));
  for (int i = 0; i < ndats && !code; i++) {
    dats[i] = api_object(ctx, handles[i], HANDLE_DAT, "op_write_vtk", "a dat");
    code = dats[i] ? OP_OK : OP_ERR_HANDLE;
  }
  if (!code)
    code = vtk_write(ctx, path, step, ndats, dats, api_error());
  free(dats);
  return code;
}

int op2jit_write_vtk(const char *path, int step, int ndats, const op_dat dats[]) {
  struct op_context *ctx = api_enter("op_write_vtk");
  return ctx ? api_leave(write_vtk(ctx, path, step, ndats, dats)) : api_refused();
}
