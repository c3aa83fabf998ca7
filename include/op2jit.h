/* op2jit: loops over unstructured meshes, compiled while the program runs.
 *
 * A program declares sets, maps between sets and data on sets, and runs loops over a set whose body
 * is a kernel given as C source text. The names, the order of arguments and the meaning follow OP2's
 * C API wherever OP2 has the call.
 *
 * Conventions that hold for every call
 *   Errors       int calls return 0 (OP_OK) or an error code; calls that return a handle or a pointer
 *                return NULL. By default an error prints its message and ends the job with a non-zero
 *                status; see op_set_error_handler. After an error, results and data are as they were
 *                before the call.
 *   Ownership    Everything passed in but the array of a view is copied during the call, and may
 *                be freed or reused afterwards. Handles belong to the library and live until op_exit
 *                (what a call frees: until then).
 *   Numbers      Elements of a set are numbered from 0 in the order in which the user declared them,
 *                whatever order the library keeps them in.
 *   Ranks        Under MPI every call is collective, in the same order on each rank, unless it says
 *                "local".
 *   Threads      One thread at a time: a second thread inside the library gets OP_ERR_BUSY. */
#ifndef OP2JIT_H
#define OP2JIT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OP2JIT_VERSION_MAJOR 0
#define OP2JIT_VERSION_MINOR 1
#define OP2JIT_VERSION_PATCH 0

/* The library is compiled with everything hidden; what this header declares is what it exports. */
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The library exports op2jit_* only; a program writes OP2's short names. */
#include "op2jit_names.h"

/* ---- handles ----------------------------------------------------------------------------------*/
typedef struct op2jit_set *op_set; /* a number of mesh elements of one kind */
typedef struct op2jit_map *op_map; /* for each element of one set, `arity` elements of another */
typedef struct op2jit_dat *op_dat; /* `dim` components of one type on each element of a set */
typedef struct op2jit_gbl *op_gbl; /* values that belong to no element, and that the library keeps */

/* The map of a direct argument: the loop's own element. Never NULL, so that a declaration that failed
 * cannot turn an indirect argument into a direct one. */
extern struct op2jit_map op2jit_identity_map;
#define OP_ID (&op2jit_identity_map)

/* ---- errors -----------------------------------------------------------------------------------*/
enum {
  OP_OK = 0,
  OP_ERR_STATE = 1,      /* before op_init, after op_exit; a dat that is acquired, or is not; a set in use */
  OP_ERR_BUSY = 2,       /* another call is running, in a second thread or inside a kernel */
  OP_ERR_ARGUMENT = 3,   /* an argument of a call that has no better code: NULL, out of its range */
  OP_ERR_HANDLE = 4,     /* a set, map or dat that is NULL, freed, or not of this library */
  OP_ERR_SIZE = 5,       /* a negative size, or one with more bytes than there may be */
  OP_ERR_TYPE = 6,       /* an unknown type name, or one that does not match the declaration or the pointer */
  OP_ERR_DIM = 7,        /* a dim that does not match the declaration, or is not positive */
  OP_ERR_ACCESS = 8,     /* an access that is unknown or not allowed for this argument */
  OP_ERR_MAP_RANGE = 9,  /* a map entry outside its target set */
  OP_ERR_MAP_SET = 10,   /* a map whose sets are not those of the loop and the dat */
  OP_ERR_INDEX = 11,     /* a map index beyond the map's arity */
  OP_ERR_RANGE = 12,     /* an element range outside the set */
  OP_ERR_KERNEL = 13,    /* a kernel text that does not fit its arguments */
  OP_ERR_COMPILE = 14,   /* a kernel text that does not compile */
  OP_ERR_MEMORY = 15,    /* out of memory, on the host or on a device */
  OP_ERR_BACKEND = 16,   /* an OP2_BACKEND that is unknown, not built, or cannot run here */
  OP_ERR_ENV = 17,       /* an OP2_* variable with a wrong value */
  OP_ERR_NOT_BUILT = 18, /* a part of the library that this build does not have */
  OP_ERR_CONST = 19,     /* a constant that is unknown, or declared again with another dim or type */
  OP_ERR_FILE = 20,      /* a file that cannot be read or written, or is not what it should be */
  OP_ERR_CACHE_MISS = 21, /* OP2_JIT=load and a loop that would have to be compiled */
  OP_ERR_ALIAS = 22, /* one dat passed twice in a way whose result depends on the order; views that overlap */
  OP_ERR_VIOLATION = 23, /* a kernel that does not do what its access descriptors say */
  OP_ERR_PLAN = 24,      /* an execution plan that does not hold what it claims */
  OP_ERR_DEVICE = 25,    /* a GPU or its driver failed */
  OP_ERR_MPI = 26,       /* MPI failed, or the ranks do not agree */
  OP_ERR_METHOD = 27,    /* an unknown method name */
  OP_ERR_NARGS = 28,     /* no arguments, or more than OP_MAX_ARGS */
  OP_ERR_INTERNAL = 29,  /* a mistake of the library itself; please report it */
  OP_ERR_GRAPH = 30,     /* tasks that wait for one another in a circle */
  OP_ERR_SOLVER = 31,    /* a solver failed, did not converge, or is not one that the library can use */
  OP_ERR_COUNT_
};

typedef struct op_error {
  int code;            /* OP_OK or OP_ERR_... */
  const char *name;    /* the stable name, "OP_ERR_MAP_RANGE" */
  const char *message; /* what happened, to what, what was expected, what to do */
} op_error;

typedef void op_error_handler(const op_error *error, void *user);
/* The default: the message goes to stderr and the job ends with status 1 (all ranks). */
#define OP_ERRORS_FATAL ((op_error_handler *)0)
/* Every call returns its status; the message is in op_last_error. */
#define OP_ERRORS_RETURN (&op2jit_errors_return)
void op2jit_errors_return(const op_error *error, void *user);

/* Choose what happens at an error. `handler` may be OP_ERRORS_FATAL, OP_ERRORS_RETURN or a function of the program,
 * called once per error with `user`; if it returns, the call returns its status. It must not call the library, except
 * for op_last_error. May be called before op_init, and stays in force over op_exit. Local. */
void op_set_error_handler(op_error_handler *handler, void *user);

/* The outcome of the last call: never NULL; code 0 if it did not fail. Valid until the next call. Local. */
const op_error *op_last_error(void);

/* ---- life -------------------------------------------------------------------------------------*/

/* Start the library. argv is searched for OP2_NAME=VALUE, which win over the environment, and is left
 * as it is; argc 0 and argv NULL are allowed. `diags` is OP2's level: 0 none, 1 errors, 2 plans are
 * described and checked, 3 loops are named as they run, 4 plan reuse, 7 all checks. May be called again
 * after op_exit or after it failed. Errors: OP_ERR_STATE, OP_ERR_BACKEND, OP_ERR_ENV, OP_ERR_MEMORY. */
int op_init(int argc, char **argv, int diags);
/* For op_init_comm of op2jit_mpi.h, which knows MPI's types. */
int op2jit_init_comm(int argc, char **argv, int diags, int fortran_comm, const char *library);

/* Wait for what is running, write reports, release everything. OP_ERR_VIOLATION: OP2_CHECK=list has found mistakes. */
int op_exit(void);

/* ---- declarations: allowed at any time outside a loop ------------------------------------------*/

/* A set of `size` >= 0 elements. Under MPI: of this rank, beside those of the others (docs/ranks.md). `name` is for
 * messages, need not be unique, may be NULL. Errors: OP_ERR_SIZE. */
op_set op_decl_set(int size, const char *name);

/* A map: element e of `from` has the targets table[e*arity] .. table[e*arity+arity-1], numbers of elements of `to`
 * from 0. `arity` >= 1. `table` holds size(from)*arity entries; it may be NULL only if `from` is empty. All entries
 * are checked here. Errors: OP_ERR_HANDLE, OP_ERR_DIM, OP_ERR_ARGUMENT, OP_ERR_MAP_RANGE, OP_ERR_SIZE. */
op_map op_decl_map(op_set from, op_set to, int arity, const int *table, const char *name);
op_map op_decl_map_long(op_set from, op_set to, int arity, const long long *table, const char *name);
/* Data: `dim` >= 1 components of `type` on each element, in rows in the user's order. `data` holds
 * size(set)*dim values and is copied; NULL means zeros. Types: double float int "unsigned int" (uint)
 * "long long" (ll) "unsigned long long" (ull) bool char short; ":soa" behind the type asks the library
 * to keep components apart, which changes nothing else. In C11 and C++ what `data` points to is compared with
 * the type, here as in all calls that take both: OP_ERR_TYPE for floats declared "double". Pointers to void, char and
 * unsigned char are raw memory, and pass for any type. A struct of the program is a type after OP_TYPE
 * (op2jit_struct.h). Errors: OP_ERR_HANDLE, OP_ERR_DIM, OP_ERR_TYPE, OP_ERR_SIZE, OP_ERR_MEMORY. */
op_dat op_decl_dat(op_set set, int dim, const char *type, const void *data, const char *name);
/* The same, and it can be freed before op_exit. */
op_dat op_decl_dat_temp(op_set set, int dim, const char *type, const void *data, const char *name);
/* Free a temporary, or a view. Errors: OP_ERR_HANDLE, also for other dats. Loops that wait (OP2_LAZY) and use a
 * temporary run later, and need not store it. The library may keep the memory of freed temporaries, of eight at most
 * with at most half of the bytes of all dats. A later temporary of the same set, dim, type and name takes it over,
 * with loops, plans and times. */
int op_free_dat_temp(op_dat dat);

/* Some elements of a set, for loops to run over: the n `elements`, each named once and in any order, or the n from
 * `first` on. Such a loop uses what is on `set` as always: OP_ID leads to dats on `set`, maps are those from `set`,
 * and op_arg_idx gives the numbers of `set`. Other elements keep their values. Nothing is declared on a subset. It
 * follows its elements when they are renumbered or change their ranks; under MPI each rank says which of the elements
 * that it declared belong to it. Errors: OP_ERR_HANDLE, also for a subset; OP_ERR_SIZE, OP_ERR_ARGUMENT,
 * OP_ERR_RANGE, OP_ERR_MEMORY. */
op_set op_decl_subset(op_set set, int n, const int *elements, const char *name);
op_set op_decl_subset_range(op_set set, int first, int n, const char *name);

/* Free what is not needed until op_exit. The handle becomes invalid. A set must have no maps, dats and subsets
 * (OP_ERR_STATE, which names them), and a view must not be acquired. Freeing a subset and declaring one again with
 * the same elements and name costs little: its loops stay known. Errors: OP_ERR_HANDLE, OP_ERR_STATE. */
int op_free_set(op_set set);
int op_free_map(op_map map);
int op_free_dat(op_dat dat);
/* A constant that kernels see under `name`, a C identifier: a scalar if dim is 1, else an array. The
 * value is copied. Names of what every kernel has, such as sin or M_PI, and names that begin with op2 are
 * refused. A second declaration must have the same dim and type, and updates the value.
 * Declare it before the first loop that uses it. A kernel of OP_KERNEL_DEF needs a C variable of that name as
 * well, which no call sets: keep it equal. Errors: OP_ERR_CONST, OP_ERR_TYPE, OP_ERR_DIM. */
int op_decl_const(const char *name, int dim, const char *type, const void *value);
/* A new value for a declared constant. Loops that use it are compiled again for each of its first three new values; from
 * the fourth on the value is passed to them, and nothing is compiled. Errors: OP_ERR_CONST, OP_ERR_TYPE. */
int op_update_const(const char *name, const void *value);
/* A global that the library keeps until op_exit: `dim` values of `type`, `value` (NULL: zeros) at first. Under MPI
 * all ranks have the same. Errors: OP_ERR_DIM, OP_ERR_TYPE, OP_ERR_SIZE, OP_ERR_MEMORY. */
op_gbl op_decl_gbl(int dim, const char *type, const void *value, const char *name);
/* Copy its value out or in. Collective under MPI: all ranks make the call at the same place. Loops that wait may run
 * in it (OP2_LAZY), and ranks' results are combined there. Errors: OP_ERR_HANDLE, OP_ERR_ARGUMENT, OP_ERR_TYPE. */
int op_get_gbl(op_gbl gbl, void *out);
int op_put_gbl(op_gbl gbl, const void *in);
/* ---- arguments of a loop ----------------------------------------------------------------------*/
typedef enum {
  OP_READ = 0,  /* read only */
  OP_WRITE = 1, /* every component written, none read before */
  OP_RW = 2,    /* read and written */
  OP_INC = 3,   /* only added to; safe for any number of elements with one target */
  OP_MIN = 4,   /* the smallest value: only changed to smaller ones; safe for any number of elements */
  OP_MAX = 5,   /* the largest value, likewise */
  OP_WORK = 6   /* globals: memory to work in, undefined when an element begins, and dropped after it */
} op_access;

/* An access that op_find_accesses is to find. */
#define OP_UNSAID ((op_access)-1)

#define OP_MAX_ARGS 64

/* Made by the functions below only; members are private. A wrong one is reported by the loop that uses it. */
typedef struct op_arg {
  void *data_;
  op_dat dat_;
  op_map map_;
  int form_, idx_, dim_, type_, access_, present_, ref_;
  int said_length_;      /* the length of a type name that was not understood or does not fit, 0 if it does */
  char said_[24];        /* its beginning, for the message */
  int pointed_;          /* the type of the C variable that it does not fit, else 0 */
  short soa_, may_meet_; /* the type was said with ":soa"; op_arg_may_meet */
  long long reserved_[1];
} op_arg;

/* A dat. Direct: map OP_ID and idx -1. Through a map: idx 0 .. arity-1 names one column; idx -arity, or OP_ALL,
 * passes all targets as a vector `T *x[arity]`. Ragged maps: op2jit_ragged.h. `dim` and `type` repeat the
 * declaration; its ":soa" may be left out. Access is one of READ, WRITE, RW, INC, MIN, MAX. Elements that meet on one
 * target of WRITE or RW run one after the other; a warning names two of them. MIN and MAX start from the dat's value.
 * Other elements may have left a better one already; the kernel writes if (v < *m) *m = v. A loop passes a dat with
 * one of INC, MIN and MAX. Local, as all op_arg_* calls. */
op_arg op_arg_dat(op_dat dat, int idx, op_map map, int dim, const char *type, op_access access);
/* The same if `present` is not 0; else the kernel gets a pointer that it must not use. */
op_arg op_opt_arg_dat(int present, op_dat dat, int idx, op_map map, int dim, const char *type,
                      op_access access);
/* A global: `dim` values at `data`, the same for all elements. READ; INC, MIN, MAX start from the
 * user's value and leave the result there when the loop returns; WORK (data may be NULL; 1 MiB in a loop at
 * most); WRITE and RW only in loops over exactly one element. */
op_arg op_arg_gbl(void *data, int dim, const char *type, op_access access);
op_arg op_opt_arg_gbl(int present, void *data, int dim, const char *type, op_access access);
/* A global that the library keeps, with its own dim and type: any access but OP_WORK. A result in it is for later
 * loops and op_get_gbl: loops that leave results only in such globals can wait for one another (OP2_LAZY). */
op_arg op_arg_global(op_gbl gbl, op_access access);
/* The element's number, `const int *`: with OP_ID (idx -1) of the loop's own element, else of the
 * map's target `idx`. The user's own numbers, global under MPI. */
op_arg op_arg_idx(int idx, op_map map);
/* A payload of `dim` values that goes with the MIN or MAX global (dim 1) which is argument number `ref`, counted from 1:
 * the payload of the element whose value won; ties go to the lowest element number. */
op_arg op_arg_info(void *payload, int dim, const char *type, int ref);
/* The same, WRITE or RW through a map, without a warning: the program knows that elements meet there, in any
 * order. */
op_arg op_arg_may_meet(op_arg arg);

/* ---- kernels ----------------------------------------------------------------------------------
 * A kernel is the text of a C function, with its helpers, of type void with one pointer parameter per
 * argument, in order: const T * for READ, T * otherwise. The language is C17 without headers, recursion,
 * input and allocation; <math.h> is there, and printf. */
#define OP2JIT_STRING_(...) #__VA_ARGS__
#define OP2JIT_STRING(x) OP2JIT_STRING_(x)
/* C text as a kernel. */
#define OP_KERNEL(...) "#line " OP2JIT_STRING(__LINE__) " \"" __FILE__ "\"\n" #__VA_ARGS__

typedef void (*op_kernel_function)(void);

/* OP_KERNEL_DEF(name, void name(...) {...}) at file scope makes the kernel a C function and a text;
 * OP_KERNEL_OF(name) is then what op_par_loop takes, with the function known to the native backend. Helpers
 * go first: the first function of the text is written without `static`, which the macro adds, the others with
 * it. Constants are C variables at file scope, declared before the macro; the native backend reads them as they
 * are, the others use what op_decl_const or op_update_const was given. */
#define OP_KERNEL_DEF(name, ...)                                                                             \
  static __VA_ARGS__ static const char op2jit_text_##name[] = OP_KERNEL(__VA_ARGS__);                        \
  static inline const char *op2jit_native_##name(void) {                                                     \
    return op2jit_kernel_native(op2jit_text_##name, (op_kernel_function)name);                               \
  }
#define OP_KERNEL_OF(name) op2jit_native_##name()

/* ---- the loop ---------------------------------------------------------------------------------*/

/* Run kernel `kernel_name` of text `kernel_source` for every element of `set`. At the first call the loop is checked,
 * planned and compiled, or found in the cache; later calls with the same text, set and arguments cost a fraction of a
 * microsecond. Errors: whatever is wrong with the set, the kernel or an argument; messages begin with the file and
 * line of the call, name the loop and count arguments from 1. Loops may wait until the program looks at data
 * (OP2_LAZY), by themselves never where errors come back. An error that is found only when they run comes from the
 * call that made them run. It names the loop and the place of its call, and data are as before that call.
 *
 *   int op_par_loop(const char *kernel_source, const char *kernel_name, op_set set, op_arg ...); */
int op_par_loop_array(const char *kernel_source, const char *kernel_name, op_set set, int nargs,
                      const op_arg args[], const char *file, int line);

/* ---- data: wait for what they need -------------------------------------------------------------*/

/* Copy a whole dat out (size*dim values, rows in the user's order) or in. */
int op_fetch_data(op_dat dat, void *out);
int op_put_data(op_dat dat, const void *in);
/* The elements low .. high, both included. Errors: OP_ERR_RANGE unless 0 <= low <= high < size. */
int op_fetch_data_idx(op_dat dat, void *out, int low, int high);

/* Elements that this rank declared, and those of all ranks; -1 at an error. Local. */
int op_get_size(op_set set);
long long op_get_global_size(op_set set);

/* ---- ranks ------------------------------------------------------------------------------------*/

int op_rank(void);       /* this process's rank, 0 without MPI. Local. */
int op_rank_count(void); /* how many there are, 1 without MPI. Local. */
int op_is_root(void);    /* 1 on rank 0. Local. */
void op_barrier(void);

/* ---- parts of this header ----------------------------------------------------------------------
 * Data in files and in arrays of the program; kernels in files, and what kernels share; matrices; ragged maps; order,
 * reports, counters. Then the types of pointers, op_par_loop, and structs as types. */
#include "op2jit_io.h"
#include "op2jit_kernels.h"
#include "op2jit_matrix.h"
#include "op2jit_ragged.h"
#include "op2jit_tune.h"

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#include "op2jit_typed.h"

#include "op2jit_struct.h"

#endif
