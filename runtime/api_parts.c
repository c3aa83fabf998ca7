/* Calls of parts that are still to come: they say so. */
#include "api.h"

static int not_built(const char *call, const char *part) {
  struct op_context *ctx = api_enter(call);
  if (!ctx)
    return api_refused();
  return api_leave(
      error_set(api_error(), OP_ERR_NOT_BUILT, "%s: this build of op2jit does not have %s", call, part));
}

static const char partitioning[] = "partitioning over MPI ranks",
                  files[] = "HDF5 files (the plugin needs libhdf5-dev)";

int op2jit_partition(const char *lib, const char *method, op_set prime, op_map prime_map, op_dat coords) {
  (void)lib, (void)method, (void)prime, (void)prime_map, (void)coords;
  return not_built("op_partition", partitioning);
}

op_set op2jit_decl_set_hdf5(const char *file, const char *name) {
  (void)file, (void)name;
  not_built("op_decl_set_hdf5", files);
  return NULL;
}

op_set op2jit_decl_set_hdf5_infer_size(const char *file, const char *name, const char *data_name) {
  (void)file, (void)name, (void)data_name;
  not_built("op_decl_set_hdf5_infer_size", files);
  return NULL;
}

op_map op2jit_decl_map_hdf5(op_set from, op_set to, int arity, const char *file, const char *name) {
  (void)from, (void)to, (void)arity, (void)file, (void)name;
  not_built("op_decl_map_hdf5", files);
  return NULL;
}

op_dat op2jit_decl_dat_hdf5(op_set set, int dim, const char *type, const char *file, const char *name) {
  (void)set, (void)dim, (void)type, (void)file, (void)name;
  not_built("op_decl_dat_hdf5", files);
  return NULL;
}

int op2jit_get_const_hdf5(const char *name, int dim, const char *type, void *value, const char *file) {
  (void)name, (void)dim, (void)type, (void)value, (void)file;
  return not_built("op_get_const_hdf5", files);
}

int op2jit_write_const_hdf5(const char *name, int dim, const char *type, const void *value,
                            const char *file) {
  (void)name, (void)dim, (void)type, (void)value, (void)file;
  return not_built("op_write_const_hdf5", files);
}

int op2jit_dump_to_hdf5(const char *file) {
  (void)file;
  return not_built("op_dump_to_hdf5", files);
}

int op2jit_fetch_data_hdf5_file(op_dat dat, const char *file) {
  (void)dat, (void)file;
  return not_built("op_fetch_data_hdf5_file", files);
}

int op2jit_fetch_data_hdf5_file_path(op_dat dat, const char *file, const char *path_in_file) {
  (void)dat, (void)file, (void)path_in_file;
  return not_built("op_fetch_data_hdf5_file_path", files);
}

int op2jit_write_vtk(const char *path, int step, int ndats, const op_dat dats[]) {
  (void)path, (void)step, (void)ndats, (void)dats;
  return not_built("op_write_vtk", files);
}
