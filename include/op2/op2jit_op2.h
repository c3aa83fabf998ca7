/* Calls of the library that OP2's headers are made of. Programs use those. */
#ifndef OP2JIT_OP2_H
#define OP2JIT_OP2_H

#include <op2jit.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

int op2jit_op2_init(int argc, char **argv, int diags);
op_map op2jit_op2_decl_map(op_set from, op_set to, int arity, const int *table, const char *name);
op_map op2jit_op2_decl_map_long(op_set from, op_set to, int arity, const long long *table, const char *name);
/* `text` is what the program wrote in the place of the variable: "&gam". */
int op2jit_op2_decl_const(const char *text, int dim, const char *type, const void *value, const char *is);
int op2jit_op2_partition(const char *lib, const char *method, op_set prime, op_map map, op_dat coords);
long long op2jit_op2_size(op_set set);
long long op2jit_op2_offset(op_set set);
int op2jit_op2_fetch_idx(op_dat dat, void *out, int low, int high);
int op2jit_op2_halo_exchanges(op_set set, int nargs, const op_arg args[]);
int op2jit_op2_wrote(int nargs, const op_arg args[]);
int op2jit_op2_csv(const char *path);
int op2jit_op2_diagnostics(void);
int op2jit_op2_loops_wait(void);
void op2jit_op2_profile_start(const char *name);
void op2jit_op2_profile_enter(const char *name);
void op2jit_op2_profile_exit(void);
void op2jit_op2_profile_end(void);
int op2jit_op2_profile_output(const char *json_file);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
