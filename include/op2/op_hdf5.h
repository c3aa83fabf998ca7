/* OP2's calls on HDF5 files. Sets, maps, dats and dumps have the same calls in op2jit.h. */
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

#endif
