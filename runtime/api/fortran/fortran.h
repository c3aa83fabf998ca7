/* The calls that the modules in fortran/ are made of, beside the calls of op2jit.h: arguments come back through a pointer, since
 * compilers of Fortran differ in how functions return structs; texts end with a NUL; types have Fortran's names or C's;
 * numbers of map columns and elements count from 1. `is` names the type of the Fortran variable, "" where nothing is
 * known of it, and `count` how many values it has, -1 where that is not known, -2 for a section whose values do not lie
 * one behind the other, or a copy of one, -3 for one that is not allocated. `extents` are those of an array of rank 2
 * or 3, with 0 behind them; [1] is 0 where they are not known. Otherwise as the calls of op2jit.h. */
#ifndef OP2JIT_FORTRAN_H
#define OP2JIT_FORTRAN_H

#include <op2jit.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* ---- life and errors ---- */

/* op_init with the arguments of the process; `base`: the first number in tables of maps. `old`: as programs of OP2 mean
 * it. `comm`: over the ranks of that communicator of Fortran, if `given`. */
int op2jit_f_init(int diags, int base, int old, int given, int comm);
/* op_exit as programs of OP2 mean it: MPI ends too. */
int op2jit_f_exit(void);
/* From here on errors come back (1), until they are what they were before (0). Local. */
void op2jit_f_errors(int back);
/* The last call's error: its code, and the message in `size` characters, blanks behind it. Local. */
int op2jit_f_error(char *out, int size);
/* The address of a variable, which has no other way to it. Local. */
void *op2jit_f_address(void *variable);
/* The address of OP_ID. */
void *op2jit_f_identity(void);
/* op_report_json into memory of its own, which the caller frees. Errors (NULL): as that. */
char *op2jit_f_report_json(size_t *length);
/* A line on rank 0's stdout. Local. */
void op2jit_f_print(const char *line);
/* A section of an array was copied: the first time, a line in the log says so. Local. */
void op2jit_f_copied(const char *call);
/* Such a section was to take a result: the call's error. */
int op2jit_f_refuse_section(const char *call);

/* The bounds of a loop in tasks are not one more than these: the call's error. */
int op2jit_f_refuse_bounds(long long pieces, long long bounds);

/* ---- declarations ---- */

/* A table of whole numbers of 4 or 8 bytes. */
op_map op2jit_f_decl_map(op_set from, op_set to, int arity, const void *table, const char *is,
                         long long count, const long long extents[3], const char *name);
/* `offsets` and `targets` are changed. */
op_map op2jit_f_decl_map_ragged(op_set from, op_set to, long long offsets[], long long noffsets,
                                int targets[], long long ntargets, const char *name);
op_dat op2jit_f_decl_view(op_set set, int dim, const char *type, void *array, const char *is, long long count,
                          const long long extents[3], const char *name);
op_dat op2jit_f_decl_dat(op_set set, int dim, const char *type, const void *data, const char *is,
                         long long count, const long long extents[3], const char *name, int temporary);
int op2jit_f_decl_const(const char *name, int dim, const char *type, const void *value, const char *is,
                        long long count);
/* Kernels of a program of OP2 may use this variable. `name`: the word behind the numbers in the call, its type or its
 * name; "": nothing. Local. */
void op2jit_f_note_const(const void *variable, int dim, const char *is, const char *name);
int op2jit_f_update_const(const char *name, const void *value, const char *is, long long count);
op_gbl op2jit_f_decl_gbl(int dim, const char *type, const void *value, const char *is, long long count,
                         const char *name);

/* ---- data ---- */

/* The elements low .. high, from 1; the whole dat: 0 and -1. `all`: of all ranks, as OP2 has it. */
int op2jit_f_fetch(op_dat dat, void *out, const char *is, long long count, const long long extents[3],
                   int low, int high, int all);
int op2jit_f_put(op_dat dat, const void *in, const char *is, long long count, const long long extents[3]);
int op2jit_f_get_gbl(op_gbl gbl, void *out, const char *is, long long count);
int op2jit_f_put_gbl(op_gbl gbl, const void *in, const char *is, long long count);
op_dat op2jit_f_decl_dat_hdf5(op_set set, int dim, const char *type, const char *file, const char *name);
int op2jit_f_get_const_hdf5(const char *name, int dim, const char *type, void *value, const char *is,
                            const char *file);
int op2jit_f_write_const_hdf5(const char *name, int dim, const char *type, const void *value, const char *is,
                              const char *file);

/* ---- arguments and loops ---- */

void op2jit_f_arg_dat(op_arg *out, int present, op_dat dat, int idx, op_map map, int dim, const char *type,
                      int access);
void op2jit_f_arg_gbl(op_arg *out, int present, void *data, int dim, const char *type, int access,
                      const char *is, long long count);
void op2jit_f_arg_global(op_arg *out, op_gbl gbl, int access);
void op2jit_f_arg_idx(op_arg *out, int idx, op_map map);
void op2jit_f_arg_may_meet(op_arg *arg);
void op2jit_f_arg_info(op_arg *out, void *payload, int dim, const char *type, int ref, const char *is,
                       long long count);

/* ---- matrices ---- */

op_mat op2jit_f_decl_mat(int npairs, const op_map rows[], const op_map columns[], int row_dim, int column_dim,
                         const char *type, const char *name);
void op2jit_f_arg_mat(op_arg *out, op_mat mat, op_map rows, op_map columns, int row_dim, int column_dim,
                      const char *type, int access);
/* The number of rows and entries that op2jit_f_fetch_mat gives. Errors: those of op_fetch_mat. */
int op2jit_f_mat_size(op_mat mat, long long *rows, long long *entries);
/* Entries and columns count from 1. `offsets` has one more than the rows. */
int op2jit_f_fetch_mat(op_mat mat, long long offsets[], long long columns[], double values[]);

/* ---- arrays that stand for what was declared with them, in programs of OP2 ---- */

/* op_opt_arg_dat and op_arg_idx with arrays; the identity is the address of the module's OP_ID. */
void op2jit_f_arg_array(op_arg *out, int present, const void *array, int idx, const void *table,
                        const void *identity, int dim, const char *type, int access, const char *is);
void op2jit_f_arg_idx_array(op_arg *out, int idx, const void *table, const void *identity);
/* Their handles; `call` is for the message. Errors (NULL): OP_ERR_HANDLE. Local. */
op_map op2jit_f_map_of(const char *call, const void *table);
op_dat op2jit_f_dat_of(const char *call, const void *array);
/* Another address, which is returned, stands for it from here on: OP2's op_reset_data_ptr and op_reset_map_ptr. */
long long op2jit_f_reset_dat(const void *array, int mode);
long long op2jit_f_reset_map(const void *table);
/* The address of a copy of the table, from 1, which the library keeps until op_exit. */
long long op2jit_f_copy_map(const void *table);

/* ---- kernels and loops ---- */

/* The text of a file, which is looked for as OP_KERNEL_FILE does. */
const char *op2jit_f_kernel_file(const char *path);
/* A text, kept by the library. */
const char *op2jit_f_kernel_text(const char *text);
/* `function` is the kernel `name` of that text. */
int op2jit_f_native(const char *kernel_source, const char *name, op_kernel_function function);
/* A loop whose kernel is a procedure of the program and nothing else. */
int op2jit_f_par_loop(op_kernel_function kernel, op_set set, int nargs, const op_arg args[]);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

/* ---- between the files here ---- */

enum { ARRAY_SECTION = -2, ARRAY_NONE = -3 };
struct text;
/* Note the array of a declaration in a program of OP2; see procedures.c. */
void arrays_note(const char *call, const void *array, const void *handle, _Bool is_map);
/* C's name of a type that Fortran calls `said`; `said` itself if it is none of those. ":soa" stays. */
const char *fortran_type(const char *said, char room[64]);
/* OP_ERR_TYPE, in Fortran's words, if a variable of type `is` cannot hold values of C's type `type`. */
int fortran_check(const char *call, const char *name, const char *type, const char *is);
/* The name of the procedure at this address, as its source has it; false: nobody knows, or it is no procedure of a
 * file, as an internal procedure is that uses variables of the procedure around it. */
_Bool fortran_symbol(const void *address, struct text *name);

#endif
