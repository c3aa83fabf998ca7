/* OP2's calls for C and C++, on op2jit: types, calls and macros under OP2's names and with OP2's meanings. What
 * op2jit.h has under the same name and with the same meaning is taken from there. See docs/op2.md. */
#ifndef OP_LIB_CORE_H
#define OP_LIB_CORE_H

#ifdef OP2JIT_H
#error "include either op2jit.h or OP2's headers: some names mean different things in them"
#endif

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

#ifdef __cplusplus
#include <cstddef>
#include <limits>
#if defined(OP2JIT_READING_FEW)
/* A text may mean names of these without a word: see jit/clang/read/. */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <time.h>
#include <wchar.h>
#else
#include <iostream>
#include <stdexcept>
#endif
#endif

#include "op2jit_compiled.h"
#include "op2jit_op2.h"
#include "op2jit_visible.h"

#undef op_init
#undef op_exit
#undef op_decl_map
#undef op_decl_map_long
#undef op_decl_dat
#undef op_decl_dat_temp
#undef op_decl_const
#undef op_update_const
#undef op_arg_dat
#undef op_opt_arg_dat
#undef op_arg_gbl
#undef op_opt_arg_gbl
#undef op_arg_idx
#undef op_arg_info
#undef op_fetch_data
#undef op_fetch_data_idx
#undef op_get_size
#undef op_get_const_hdf5
#undef op_write_const_hdf5
#undef op_rank
#undef op_partition
#undef op_par_loop
#undef op_par_loop_array
#undef op_diagnostic_output
#undef OP_ID

typedef long long ll;
typedef unsigned long long ull;
typedef long long idx_g_t;
typedef int idx_l_t;
/* Accesses are whole numbers in OP2. */
typedef op_access op2jit_access;
#define op_access int

#define OP_GBL ((op_map)0)
#define OP_ARG_GBL 0
#define OP_ARG_DAT 1
#define OP_ARG_IDX 2
#define OP_ARG_INFO 3

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#define ROUND_UP(bytes) (((bytes) + 15) & ~15)
#define ROUND_UP_64(bytes) (((bytes) + 63) & ~63)
#define ZERO_double 0.0
#define ZERO_float 0.0f
#define ZERO_int 0
#define ZERO_uint 0
#define ZERO_ll 0
#define ZERO_ull 0
#define ZERO_bool 0

#if defined(__GNUC__)
#define OP2JIT_UNUSED_ __attribute__((unused))
#else
#define OP2JIT_UNUSED_
#endif

/* ---- life ---- */

static inline void op_init(int argc, char **argv, int diags) {
  op2jit_op2_init(argc, argv, diags);
}
static inline void op_init_soa(int argc, char **argv, int diags, int soa) {
  (void)soa;
  op2jit_op2_init(argc, argv, diags);
}
/* It returns nothing, so what OP2_CHECK=list has found is told by the status of the process. */
static inline void op_exit(void) {
  if (op2jit_exit() == OP_ERR_VIOLATION)
    exit(EXIT_FAILURE);
}
static inline void op_rank(int *rank) {
  *rank = op2jit_rank();
}
#define op_mpi_barrier op2jit_barrier
#define op_print(line) op2jit_printf("%s\n", (line))

/* ---- sets, maps ---- */

static inline op_map op_decl_map(op_set from, op_set to, int dim, const int *table, const char *name) {
  return op2jit_op2_decl_map(from, to, dim, table, name);
}
static inline op_map op_decl_map_long(op_set from, op_set to, int dim, const idx_g_t *table,
                                      const char *name) {
  return op2jit_op2_decl_map_long(from, to, dim, table, name);
}
/* The elements of all ranks. */
static inline idx_g_t op_get_size(op_set set) {
  return op2jit_op2_size(set);
}
static inline idx_g_t op_get_global_set_offset(op_set set) {
  return op2jit_op2_offset(set);
}
static inline void op_partition(const char *lib, const char *method, op_set prime, op_map map,
                                op_dat coords) {
  op2jit_op2_partition(lib, method, prime, map, coords);
}
static inline void op_halo_create(void) {
  op2jit_op2_partition("", "", (op_set)0, (op_map)0, (op_dat)0);
}
static inline void op_partition_destroy(void) {
}
static inline int compare_sets(op_set one, op_set other) {
  return one == other;
}

/* ---- raw loops over dat->data ---- */

static inline int op_mpi_halo_exchanges(op_set set, int nargs, op_arg *args) {
  return op2jit_op2_halo_exchanges(set, nargs, args);
}
static inline int op_mpi_halo_exchanges_grouped(op_set set, int nargs, op_arg *args, int device) {
  (void)device;
  return op2jit_op2_halo_exchanges(set, nargs, args);
}
static inline void op_mpi_wait_all(int nargs, op_arg *args) {
  (void)nargs, (void)args;
}
static inline void op_mpi_wait_all_grouped(int nargs, op_arg *args, int device) {
  (void)nargs, (void)args, (void)device;
}
static inline void op_mpi_test_all(int nargs, op_arg *args) {
  (void)nargs, (void)args;
}
static inline void op_mpi_set_dirtybit(int nargs, op_arg *args) {
  op2jit_op2_wrote(nargs, args);
}
/* The host's memory is what loops run on. */
static inline void op_upload_dat(op_dat dat) {
  (void)dat;
}
static inline void op_download_dat(op_dat dat) {
  (void)dat;
}
static inline void op_upload_all(void) {
}

/* ---- memory, reports ---- */

static inline void *op_malloc(size_t size) {
  return malloc(size);
}
static inline void *op_calloc(size_t count, size_t size) {
  return calloc(count, size);
}
static inline void *op_realloc(void *memory, size_t size) {
  return realloc(memory, size);
}
static inline void op_free(void *memory) {
  free(memory);
}
/* Not in OP2. A promise: from here on the program looks at no dat->data, but for between op_mpi_halo_exchanges and
 * op_mpi_set_dirtybit. Loops that have a text may then wait for one another, where that is faster (OP2_LAZY). */
static inline void op_loops_wait(void) {
  op2jit_op2_loops_wait();
}
/* May be called by the root alone. */
static inline void op_diagnostic_output(void) {
  op2jit_op2_diagnostics();
}
static inline void op_timings_to_csv(const char *path) {
  op2jit_op2_csv(path);
}
static inline void op_timing_output_2_file(const char *path) {
  op2jit_op2_csv(path);
}

#endif
