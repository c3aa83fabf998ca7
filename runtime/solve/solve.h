/* Solvers: the plugin of a process, and what bridges are told. */
#ifndef OP2JIT_SOLVE_SOLVE_H
#define OP2JIT_SOLVE_SOLVE_H

#include "include/op2jit_bridge.h"

struct error;
struct op_context;
struct solver_table;

/* The state of solvers in a context. */
struct solving {
  const struct solver_table *table; /* of the plugin, which stays open; NULL until one is wanted */
  int argc;                         /* op_init's arguments */
  char **argv;
};

/* The arguments are copied. */
int solving_open(struct op_context *ctx, int argc, char **argv, struct error *err);
/* Ends nothing of a solver: that is what op_keep is for. NULL is allowed. */
void solving_free(struct solving *solving);
/* Opens the plugin at the first call. Collective: OP_ERR_NOT_BUILT, with the package, on all ranks; OP_ERR_MPI if it is
 * of another MPI. `call` is what the program called. */
int solving_table(struct op_context *ctx, const char *call, const struct solver_table **out,
                  struct error *err);

/* Solvers, as a plugin has them: the contract between solve.c and petsc.c. A plugin is a bridge as programs have them
 * (op2jit_bridge.h), compiled apart. It cannot find the library by itself, which may be a part of the program, and so gets the
 * library's calls. */

struct solver_calls {
  int (*layout_of)(op_set set, op_layout_t *layout);
  int (*dat_shape)(op_dat dat, op_dat_shape_t *shape);
  int (*coo_of)(op_mat mat, op_coo_t *coo);
  int (*coo_device)(op_mat mat, op_coo_t *coo, int room, op_piece_t pieces[], int *count);
  void (*coo_took)(op_mat mat, double seconds);
  int (*where_is)(void);
  int (*lend)(op_dat dat, op_access access, op_lent_t *lent);
  int (*lend_device)(op_dat dat, op_access access, op_lent_t *lent);
  int (*lend_end)(op_dat dat);
  int (*place)(op_dat dat, void *memory, long long rows, op_access access);
  int (*place_end)(op_dat dat);
  int (*keep)(const void *handle, const void *key, void *data, op_keep_release *release);
  void *(*kept)(const void *handle, const void *key);
  int (*comm_fortran)(void);
  int (*arguments)(char ***argv);
  int (*bridge_error)(int code, const char *message);
  void (*bridge_warn)(const char *line);
  const op_error *(*last_error)(void);
};

/* Exported as `op2jit_solver_table`. */
struct solver_table {
  int version;      /* of this table: SOLVER_TABLE_VERSION */
  const char *name; /* "petsc-real" */
  const char *mpi;  /* the kind of MPI that it is compiled with, as a comm_table has its name */
  /* op_solve, outside of the library: by its calls. `iterations`: what it took, also where it failed. Collective. */
  int (*solve)(const struct solver_calls *calls, op_mat mat, op_dat b, op_dat x, const char *prefix,
               long long *iterations);
  /* op_solver_open and its like, which languages without PETSc's headers call. Collective. */
  int (*open)(const struct solver_calls *calls, const void *petsc);
  void *(*mat)(const struct solver_calls *calls, op_mat mat);
  void *(*vec)(const struct solver_calls *calls, op_dat dat, op_access access);
  int (*place)(const struct solver_calls *calls, op_dat dat, void *vec, op_access access);
  int (*end)(const struct solver_calls *calls, op_dat dat);
};
enum { SOLVER_TABLE_VERSION = 2 };

#endif
