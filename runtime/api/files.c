/* Files. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/api.h"
#include "base/list.h"
#include "base/log.h"
#include "checkpoint/tell.h"
#include "files/io.h"
#include "mesh/data.h"
#include "ranks/agree.h"
#include "spread/data.h"

/* Every call on files begins with these, after what it found wrong itself: names that are there and the same on
 * all ranks. */
static int begin(struct op_context *ctx, const char *call, const char *file, const char *name) {
  int code = api_error()->code;
  if (!code && (!file || !*file))
    code = error_set(api_error(), OP_ERR_ARGUMENT, "%s: the name of the file is %s; expected a path", call,
                     file ? "empty" : "NULL");
  if (!code && (!name || !*name))
    code = error_set(api_error(), OP_ERR_ARGUMENT,
                     "%s: the name in the file %s is %s; expected that of a dataset", call, file,
                     name ? "empty" : "NULL");
  return agree_on_call(ctx, code, api_error(), "%s of \"%s\"\nfile\t%s\n", call, name ? name : "",
                       file ? file : "");
}

int op2jit_open_hdf5(void) {
  const struct file_table *table;
  struct op_context *ctx = api_enter("op_open_hdf5", KEEP);
  if (!ctx)
    return api_refused();
  const int code = agree_on_call(ctx, OP_OK, api_error(), "op_open_hdf5\n");
  return api_leave(code ? code : io_table(ctx, &table, api_error()));
}

/* `infers`: the dataset `data_name` tells the size. */
static op_set declare_set(const char *call, const char *file, const char *name, bool infers,
                          const char *data_name) {
  struct set *set = NULL;
  struct op_context *ctx = api_enter(call, FLUSH);
  if (!ctx)
    return NULL;
  if (!begin(ctx, call, file, name))
    set = !infers                              ? load_set(ctx, file, name, api_error())
          : !begin(ctx, call, file, data_name) ? load_set_of(ctx, file, name, data_name, api_error())
                                               : NULL;
  return api_leave_pointer(set ? set->handle : NULL);
}

op_set op2jit_decl_set_hdf5(const char *file, const char *name) {
  return declare_set("op_decl_set_hdf5", file, name, false, NULL);
}

op_set op2jit_decl_set_hdf5_infer_size(const char *file, const char *name, const char *data_name) {
  return declare_set("op_decl_set_hdf5_infer_size", file, name, true, data_name);
}

/* A program of OP2 may ask for what a file lacks: then it gets NULL, and a warning. The same on all ranks. */
static bool may_lack(const struct op_context *ctx, const char *file) {
  if (!ctx->compiled || api_error()->code != OP_ERR_FILE || access(file, R_OK) != 0)
    return false;
  if (ctx->comm->rank == 0)
    log_line(ctx->log, LOG_WARN, "io", "%s", error_message(api_error()));
  error_clear(api_error());
  api_leave_local(OP_OK);
  return true;
}

static op_map declare_map(const char *call, op_set from, op_set to, int arity, bool ragged, const char *file,
                          const char *name) {
  struct op_context *ctx = api_enter(call, FLUSH);
  if (!ctx)
    return NULL;
  struct set *source = api_object(ctx, from, HANDLE_SET, call, "the source set");
  struct set *target = source ? api_object(ctx, to, HANDLE_SET, call, "the target set") : NULL;
  struct map *map = NULL;
  if (!target)
    error_prefix(api_error(), "%s \"%s\": ", ragged ? "ragged map" : "map", name ? name : "unnamed");
  if (!begin(ctx, call, file, name))
    map = ragged ? load_ragged(ctx, source, target, file, name, api_error())
                 : load_map(ctx, source, target, arity, file, name, api_error());
  if (!map && !ragged && may_lack(ctx, file))
    return NULL;
  return api_leave_pointer(map ? map->handle : NULL);
}

op_map op2jit_decl_map_hdf5(op_set from, op_set to, int arity, const char *file, const char *name) {
  return declare_map("op_decl_map_hdf5", from, to, arity, false, file, name);
}

op_map op2jit_decl_map_ragged_hdf5(op_set from, op_set to, const char *file, const char *name) {
  return declare_map("op_decl_map_ragged_hdf5", from, to, 0, true, file, name);
}

op_dat op2jit_decl_dat_hdf5(op_set set, int dim, const char *type, const char *file, const char *name) {
  static const char call[] = "op_decl_dat_hdf5";
  struct op_context *ctx = api_enter(call, FLUSH);
  if (!ctx)
    return NULL;
  struct set *on = api_object(ctx, set, HANDLE_SET, call, "the set");
  struct dat *dat = NULL;
  if (!on)
    error_prefix(api_error(), "dat \"%s\": ", name ? name : "unnamed");
  if (!begin(ctx, call, file, name))
    dat = load_dat(ctx, on, dim, type, file, name, api_error());
  if (dat && checkpoint_declared(ctx, dat, api_error())) {
    data_undo(ctx, dat);
    dat = NULL;
  }
  if (!dat && may_lack(ctx, file))
    return NULL;
  return api_leave_pointer(dat ? dat->handle : NULL);
}

int op2jit_get_const_hdf5_typed(const char *name, int dim, const char *type, void *value, const char *file,
                                const char *is) {
  static const char call[] = "op_get_const_hdf5";
  struct op_context *ctx = api_enter(call, FLUSH);
  if (!ctx)
    return api_refused();
  mesh_check_pointed(ctx, name, type_parse(type, NULL), is, api_error());
  int code = begin(ctx, call, file, name);
  return api_leave(code ? code : load_const(ctx, name, dim, type, value, file, api_error()));
}

int op2jit_write_const_hdf5_typed(const char *name, int dim, const char *type, const void *value,
                                  const char *file, const char *is) {
  static const char call[] = "op_write_const_hdf5";
  struct op_context *ctx = api_enter(call, FLUSH);
  if (!ctx)
    return api_refused();
  mesh_check_pointed(ctx, name, type_parse(type, NULL), is, api_error());
  bool written = false;
  int code = begin(ctx, call, file, name);
  if (!code)
    code = checkpoint_writes(ctx, call, 0, (struct dat *[]){NULL}, &written, api_error());
  return api_leave(code || written ? code : save_const(ctx, name, dim, type, value, file, api_error()));
}

int op2jit_dump_to_hdf5(const char *file) {
  struct op_context *ctx = api_enter("op_dump_to_hdf5", FLUSH);
  if (!ctx)
    return api_refused();
  if (!api_error()->code)
    lend_check_all(ctx, "op_dump_to_hdf5", api_error());
  bool written = false;
  int code = begin(ctx, "op_dump_to_hdf5", file, "the mesh");
  if (!code)
    code = checkpoint_writes(ctx, "op_dump_to_hdf5", 0, NULL, &written, api_error());
  return api_leave(code || written ? code : save_mesh(ctx, file, api_error()));
}

static int fetch_to_file(const char *call, op_dat handle, const char *file, const char *path, bool own_name) {
  struct op_context *ctx = api_enter(call, FLUSH);
  if (!ctx)
    return api_refused();
  struct dat *dat = api_object(ctx, handle, HANDLE_DAT, call, "the dat");
  const char *name = own_name && dat ? dat->name : own_name ? call : path;
  bool written = false;
  int code = begin(ctx, call, file, name);
  if (!code)
    code = checkpoint_writes(ctx, call, 1, &dat, &written, api_error());
  return api_leave(code || written ? code : save_dat(ctx, dat, file, name, api_error()));
}

int op2jit_fetch_data_hdf5_file(op_dat dat, const char *file) {
  return fetch_to_file("op_fetch_data_hdf5_file", dat, file, NULL, true);
}

int op2jit_fetch_data_hdf5_file_path(op_dat dat, const char *file, const char *path_in_file) {
  return fetch_to_file("op_fetch_data_hdf5_file_path", dat, file, path_in_file, false);
}

/* `time`: NULL, or where it is. */
static int write_vtk(const char *call, const char *path, int step, const double *time, int ndats,
                     const op_dat handles[]) {
  struct op_context *ctx = api_enter(call, FLUSH);
  if (!ctx)
    return api_refused();
  struct dat **dats = array_new(ndats > 0 ? (size_t)ndats : 0, sizeof(struct dat *));
  if (ndats < 1 || !handles)
    error_set(api_error(), OP_ERR_ARGUMENT,
              "%s: there are no dats; expected the coordinates first, then what is to be shown", call);
  else if (time && !isfinite(*time))
    error_set(api_error(), OP_ERR_ARGUMENT, "%s: the time is %g; expected a finite number", call, *time);
  else if (!dats)
    error_memory(api_error(), "a list of dats", (size_t)ndats * sizeof(struct dat *));
  else
    for (int i = 0; i < ndats; i++)
      dats[i] = api_object(ctx, handles[i], HANDLE_DAT, call, "a dat");
  bool written = false;
  int code = begin(ctx, call, path, "the dats");
  if (!code)
    code = checkpoint_writes(ctx, call, ndats, dats, &written, api_error());
  if (!code && !written)
    code = vtk_write(ctx, path, step, time, ndats, dats, api_error());
  free(dats);
  return api_leave(code);
}

int op2jit_write_vtk(const char *path, int step, int ndats, const op_dat dats[]) {
  return write_vtk("op_write_vtk", path, step, NULL, ndats, dats);
}

int op2jit_write_vtk_at(const char *path, int step, double time, int ndats, const op_dat dats[]) {
  return write_vtk("op_write_vtk_at", path, step, &time, ndats, dats);
}
