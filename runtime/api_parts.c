/* Calls of parts that are still to come: they say so. */
#include "api.h"

static int not_built(const char *call, const char *part) {
  struct op_context *ctx = api_enter(call);
  if (!ctx)
    return api_refused();
  return api_leave(
      error_set(api_error(), OP_ERR_NOT_BUILT, "%s: this build of op2jit does not have %s", call, part));
}

static const char files[] = "HDF5 files (the plugin needs libhdf5-dev)";

int op2jit_write_vtk(const char *path, int step, int ndats, const op_dat dats[]) {
  (void)path, (void)step, (void)ndats, (void)dats;
  return not_built("op_write_vtk", files);
}
