/* For writers of bridges to solvers (op2jit_petsc.h is one): how sets lie on ranks, what a matrix holds, and the memory of
 * dats without a copy. Nothing here knows a solver.
 *
 * Bridges number elements by the rank that owns them: the first of rank r comes behind the last of rank r - 1. On a
 * rank the elements that it owns come first in every dat's memory, in this order, and copies of others' elements
 * behind them. op_partition, op_renumber and new maps change the order, and raise the epoch. What was made for an
 * older epoch is no longer valid.
 *
 * Every call is made by all ranks, at the same place: loops that wait run in it. A call sends a message of its own
 * only where it says so. Ranks do not agree on errors here: the checks are of things that are the same on all
 * ranks. */
#ifndef OP2JIT_BRIDGE_H
#define OP2JIT_BRIDGE_H

#include <op2jit.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define op_layout op2jit_layout_of
#define op_dat_shape op2jit_dat_shape
#define op_coo op2jit_coo_of
#define op_coo_device op2jit_coo_device
#define op_coo_took op2jit_coo_took
#define op_where op2jit_where_is
#define op_lend op2jit_lend
#define op_lend_device op2jit_lend_device
#define op_lend_end op2jit_lend_end
#define op_place op2jit_place
#define op_place_end op2jit_place_end
#define op_keep op2jit_keep
#define op_kept op2jit_kept
#define op_comm_fortran op2jit_comm_fortran
#define op_arguments op2jit_arguments
#define op_bridge_error op2jit_bridge_error
#define op_bridge_warn op2jit_bridge_warn
#define op_solver_ready op2jit_solver_ready
#define op_solver_open op2jit_solver_open
#define op_solver_mat op2jit_solver_mat
#define op_solver_vec op2jit_solver_vec
#define op_solver_place op2jit_solver_place
#define op_solver_end op2jit_solver_end

/* A set on this rank. The arrays are the library's, and stay until the epoch changes. */
typedef struct op2jit_layout {
  long long epoch;       /* never 0 */
  long long first;       /* bridges' number of the first element that this rank owns: local e has first + e */
  long long global_size; /* elements of all ranks */
  long long owned;       /* elements that this rank owns */
  long long room;        /* rows in a dat's memory: owned, then copies */
  const long long *copies; /* room - owned: bridges' numbers of the copies */
  const long long *users;  /* owned: the user's global numbers */
  long long reserved[4];
} op_layout_t;
/* The first call for a set in an epoch sends messages: a sum over ranks, and an exchange of the copies' numbers. Errors:
 * OP_ERR_HANDLE, OP_ERR_ARGUMENT, OP_ERR_MEMORY, OP_ERR_MPI. */
int op_layout(op_set set, op_layout_t *layout);

/* The set, dim and type of a dat. Local. Errors: OP_ERR_HANDLE, OP_ERR_ARGUMENT. */
typedef struct op2jit_shape {
  op_set set;
  int dim;
  int is_double; /* its type is double */
  const char *name;
  long long reserved[4];
} op_dat_shape_t;
int op_dat_shape(op_dat dat, op_dat_shape_t *shape);

/* A matrix as lists (COO): values[k] is added to the entry (rows[k], columns[k]). Numbers are bridges' numbers times dim
 * plus the component; rows are all owned by this rank, or -1, which drops the value. No two ranks have values for one row.
 * The arrays are the library's. Lists stay until the pattern changes, values until the next loop, op_zero_mat or
 * op_fix_mat of this matrix. */
typedef struct op2jit_coo {
  long long epoch;   /* of the mesh: op_layout's */
  long long pattern; /* changes when the lists do; never 0 */
  long long version; /* changes when values do; never 0 */
  long long count;   /* of rows, columns and values */
  const long long *rows, *columns;
  double *values; /* in the host's memory */
  op_set row_set, column_set;
  int row_dim, column_dim;
  long long first_row, owned_rows, all_rows; /* numbers, times dim */
  long long first_column, owned_columns, all_columns;
  const char *name;
  /* The form csr, else NULL: each entry is there once, by rows with ascending columns: those of the columns that the rank owns
   * in own[row] .. own[row + 1] - 1, and behind all of these the others in others[row] .. others[row + 1] - 1, where row
   * counts from first_row. So both parts are rows of a solver's, whose memory `values` may be: the same memory stays as
   * long as the pattern does, and loops work in it from the next op_zero_mat on. */
  const long long *own, *others;
  long long reserved[2];
} op_coo_t;
/* Loops that wait run first. Sends no message but op_layout's. Errors: OP_ERR_HANDLE, OP_ERR_ARGUMENT, OP_ERR_STATE before
 * a loop filled it, OP_ERR_MEMORY, OP_ERR_DEVICE. */
int op_coo(op_mat mat, op_coo_t *coo);
/* Where the values of loops are: of a device in memory that other libraries of the process can use, when they use the same
 * device. Local. */
enum op2jit_where { OP_ON_HOST, OP_ON_CUDA, OP_ON_HIP };
int op_where(void);
/* Where that is a device: the lists of op_coo, and their values in pieces, so that none is copied to the host;
 * `values` is NULL. Values in no piece belong to rows -1. No work on the device changes them meanwhile. */
typedef struct op2jit_piece {
  const double *memory;   /* NULL: zeros */
  long long first, count; /* places in the lists */
  int on_host;            /* of the diagonal alone */
} op_piece_t;
/* At most `room` pieces; `*count`: how many there are. Errors: those of op_coo, OP_ERR_STATE where op_where is the host,
 * OP_ERR_SIZE if there are more. */
int op_coo_device(op_mat mat, op_coo_t *coo, int room, op_piece_t pieces[], int *count);
/* How long the bridge took to bring these values to its solver: it counts in the library's choice between the forms.
 * Local. */
void op_coo_took(op_mat mat, double seconds);

/* The memory of a dat: rows of dim values, those of owned elements first. Until op_lend_end it is the caller's to
 * read (OP_READ), to write whole (OP_WRITE: what the owned rows hold before is undefined) or both (OP_RW); the rows
 * behind the owned ones are room, and must not be read. Loops and calls that use the dat get OP_ERR_STATE until then;
 * with ranks so does any loop after a new set or map, which moves all rows. A dat with components apart has its rows
 * whole from now on. Nothing is copied but from a device. Errors: OP_ERR_HANDLE, OP_ERR_ACCESS, OP_ERR_STATE for one
 * that is lent, placed or acquired, and to write what derivatives follow (a tape, or op_tangent), OP_ERR_MEMORY,
 * OP_ERR_DEVICE. */
typedef struct op2jit_lent {
  void *memory;
  long long owned, room; /* rows */
  size_t row_bytes;
  long long epoch;
  long long reserved[4];
} op_lent_t;
int op_lend(op_dat dat, op_access access, op_lent_t *lent);
/* The same on the device where loops run (op_where): nothing is copied but where the newest values are on the host.
 * Work of the device on the memory must be over before op_lend_end. Errors: also OP_ERR_STATE where op_where is the
 * host. */
int op_lend_device(op_dat dat, op_access access, op_lent_t *lent);
/* The values written are the dat's: copies on other ranks are old then. Errors: OP_ERR_HANDLE, OP_ERR_STATE. */
int op_lend_end(op_dat dat);

/* The dat works in `memory` of `rows` rows until op_place_end, also in loops that ran before: OP_READ and OP_RW: the owned
 * rows there are its values from now on; OP_WRITE: it has no values until a loop writes them, and they are in the
 * memory after op_place_end. With OP_READ nothing changes the owned rows, and loops that write the dat get
 * OP_ERR_STATE. The rows behind the owned ones are the library's to change until then. May be called again while it is
 * placed, with other memory: as op_place_end and op_place. After op_place_end the dat has the values that it had before
 * op_place; until then it cannot be freed, and with ranks no loop runs behind a new set or map (OP_ERR_STATE). Errors:
 * OP_ERR_HANDLE; OP_ERR_ARGUMENT for NULL and for memory that is not aligned to the type; OP_ERR_ACCESS; OP_ERR_SIZE where
 * `rows` are fewer than room; OP_ERR_STATE for one that is lent or acquired, and where derivatives follow it;
 * OP_ERR_MEMORY. */
int op_place(op_dat dat, void *memory, long long rows, op_access access);
int op_place_end(op_dat dat);

/* Data that a bridge keeps beside a dat, a matrix or a set (its handle), or beside the library (NULL), one for each `key`, an address
 * of the bridge's own. `release` (may be NULL) is called with it when the handle is freed, at op_exit before MPI ends, or
 * when another one takes its place; it must not call the library. Local. Errors: OP_ERR_HANDLE, OP_ERR_MEMORY. */
typedef void op_keep_release(void *data);
int op_keep(const void *handle, const void *key, void *data, op_keep_release *release);
/* NULL: nothing. Local. */
void *op_kept(const void *handle, const void *key);
/* The library's communicator as MPI_Comm_c2f gives it; -1: one process without MPI. Local. */
int op_comm_fortran(void);
/* The arguments that op_init was given: how many, and copies of them, which stay until op_exit. Local. */
int op_arguments(char ***argv);
/* An error of the bridge that all ranks found: reported as one of the library's, by its error handler. Returns
 * `code`, one of OP_ERR_... The ranks agree here. */
int op_bridge_error(int code, const char *message);
/* A line for the user on rank 0, among the library's warnings. Local. */
void op_bridge_warn(const char *line);

/* ---- PETSc's objects for other languages ----
 * What op2jit_petsc.h has for C, by the plugin of op_solve: for bridges of languages that have PETSc without its headers
 * (Python's petsc4py). Pointers are PETSc's Mat and Vec, and the library's. Errors: those of op2jit_petsc.h, and
 * OP_ERR_NOT_BUILT without the plugin. */

/* Check, before a language begins PETSc itself, that all ranks make the call that `call` names: PETSc waits for all
 * ranks. Collective. Errors: OP_ERR_MPI where another rank is elsewhere. */
int op_solver_ready(const char *call);
/* Opens the plugin, and begins PETSc if it has not begun. `petsc` is the address of PETSC_COMM_WORLD in the PETSc
 * that the language has: OP_ERR_SOLVER if the plugin has another. NULL: it has none. */
int op_solver_open(const void *petsc);
/* op_mat_petsc: assembled. */
void *op_solver_mat(op_mat mat);
/* op_dat_petsc: a vector in the dat's memory, until op_solver_end. */
void *op_solver_vec(op_dat dat, op_access access);
/* op_place_petsc: the dat in the memory of a vector, until op_solver_end. */
int op_solver_place(op_dat dat, void *vec, op_access access);
/* op_petsc_end: of either. */
int op_solver_end(op_dat dat);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
