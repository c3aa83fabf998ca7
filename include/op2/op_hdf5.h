/* OP2's calls on HDF5 files. Sets, maps, dumps and the rest have the same calls in op2jit.h. */
#ifndef OP_HDF5_H
#define OP_HDF5_H

#include "op_lib_c.h"

static inline void op_get_const_hdf5(const char *name, int dim, const char *type, char *value,
                                     const char *file) {
  (op2jit_get_const_hdf5)(name, dim, type, value, file);
}
static inline void op_write_const_hdf5(const char *name, int dim, const char *type, const char *value,
                                       const char *file) {
  (op2jit_write_const_hdf5)(name, dim, type, value, file);
}

/* Under the name that the dat has now: programs set dat->name for it. */
static inline void op2jit_fetch_under_name(op_dat dat, const char *file) {
  if (dat && dat->name)
    op2jit_fetch_data_hdf5_file_path(dat, file, dat->name);
  else
    op2jit_fetch_data_hdf5_file(dat, file);
}
#undef op_fetch_data_hdf5_file
#define op_fetch_data_hdf5_file op2jit_fetch_under_name

#endif
