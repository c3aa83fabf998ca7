/* op2jit beside PETSc: matrices and dats as PETSc's, and PETSc's vectors as dats. Compiled in the program, with the program's
 * own PETSc (3.17 or newer, of real numbers in double precision, with indices of either width); include it after all
 * other headers, since PETSc makes macros of MPI's names. A program that needs no more than op_solve does not need it.
 *
 *   Begin     The first call begins PETSc if the program has not, on the library's ranks and with the arguments of op_init;
 *             op_exit ends it then. A program that begins PETSc itself calls op_exit before PetscFinalize.
 *   Numbers   PETSc's are those of bridges (op2jit_bridge.h), times dim: op_layout has them.
 *   Lifetime  op_partition, op_renumber and new maps change numbers: what was made before is not valid then, and these
 *             calls make it anew. Destroy what you made of PETSc before op_exit, if the first call began it.
 *   Errors    NULL or a code, reported as all errors of the library: OP_ERR_SOLVER with PETSc's words, OP_ERR_TYPE for a dat
 *             that is not double, OP_ERR_SIZE for more numbers than PETSc has, and those of op2jit_bridge.h.
 *   Ranks     Every call is made by all ranks. None sends a message of its own but for what it makes the first time. */
#ifndef OP2JIT_PETSC_H
#define OP2JIT_PETSC_H

#include <op2jit_petsc_mat.h>

/* ---- matrices ---------------------------------------------------------------------------------*/

/* The matrix with all that loops gave it so far, as MATAIJ, or what -mat_type says. It is the library's until op_free_mat
 * and op_exit. The next of these calls brings new values, and gives the same Mat unless numbers changed. Before it, loops
 * behind op_zero_mat may change the values already, which lie in the library's memory then: do not use them meanwhile. */
static inline Mat op_mat_petsc(op_mat mat) {
  const char *call = "op_mat_petsc";
  struct op2jit_petsc_heard_ heard;
  struct op2jit_petsc_mat_ *own;
  op_coo_t coo;
  if (op2jit_petsc_begin_(call))
    return NULL;
  own = (struct op2jit_petsc_mat_ *)op2jit_petsc_own_(call, mat, sizeof *own, op2jit_petsc_free_mat_);
  if (!own || op2jit_petsc_lists_of_(mat, own, &coo) ||
      op2jit_petsc_counts_(call, coo.name, coo.all_rows > coo.all_columns ? coo.all_rows : coo.all_columns))
    return NULL;
  op2jit_petsc_listen_(&heard);
  return op2jit_petsc_heard_(call, op2jit_petsc_bring_(mat, own, &coo), &heard) ? NULL : own->mat;
}

/* ---- vectors ----------------------------------------------------------------------------------*/

/* A dat's part of PETSc: a vector without memory of its own, and which of the two has the other's memory now. */
struct op2jit_petsc_vec_ {
  Vec vec;
  long long epoch;
  int lent;        /* the vector is in the dat's memory */
  Vec given, form; /* the dat is in the memory of this vector, with its copies; NULL: it is not */
  PetscScalar *memory,
      *room;    /* where it is; room: not in the vector's memory, which has no room for copies */
  size_t bytes; /* of what is copied then */
  int warned;   /* of that */
  op_access access;
};

static inline void op2jit_petsc_free_vec_(void *data) {
  struct op2jit_petsc_vec_ *own = (struct op2jit_petsc_vec_ *)data;
  PetscBool over = PETSC_TRUE;
  PetscFinalized(&over);
  if (!over)
    VecDestroy(&own->vec);
  free(own->room);
  free(own);
}

/* The dat's part of PETSc, and its shape. NULL: an error, which is reported. */
static inline struct op2jit_petsc_vec_ *op2jit_petsc_of_(const char *call, op_dat dat, op_dat_shape_t *shape,
                                                         op_layout_t *layout) {
  if (op2jit_petsc_begin_(call) || op_dat_shape(dat, shape))
    return NULL;
  if (!shape->is_double) {
    op2jit_petsc_refuse_(OP_ERR_TYPE, "%s: dat \"%.80s\" is not of type \"double\", as PETSc's vectors are",
                         call, shape->name);
    return NULL;
  }
  if (op_layout(shape->set, layout) ||
      op2jit_petsc_counts_(call, shape->name, layout->global_size * shape->dim))
    return NULL;
  return (struct op2jit_petsc_vec_ *)op2jit_petsc_own_(call, dat, sizeof(struct op2jit_petsc_vec_),
                                                       op2jit_petsc_free_vec_);
}

/* With room for copies behind, which its duplicates have too. `memory` NULL: its own. */
static inline PetscErrorCode op2jit_petsc_make_vec_(const op_layout_t *layout, int dim,
                                                    const PetscScalar *memory, Vec *vec) {
  const MPI_Comm comm = op2jit_petsc_comm_();
  const PetscInt owned = (PetscInt)(layout->owned * dim), all = (PetscInt)(layout->global_size * dim);
  const PetscInt copies = (PetscInt)(layout->room - layout->owned);
  PetscInt *numbers;
  PetscMPIInt size;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1) {
    if (memory)
      PetscCall(VecCreateSeqWithArray(comm, dim, owned, memory, vec));
    else
      PetscCall(VecCreateSeq(comm, owned, vec));
    PetscCall(VecSetBlockSize(*vec, dim));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscMalloc1((size_t)copies, &numbers));
  for (PetscInt k = 0; k < copies; k++)
    numbers[k] = (PetscInt)layout->copies[k];
  if (memory)
    PetscCall(VecCreateGhostBlockWithArray(comm, dim, owned, all, copies, numbers, memory, vec));
  else
    PetscCall(VecCreateGhostBlock(comm, dim, owned, all, copies, numbers, vec));
  PetscCall(PetscFree(numbers));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode op2jit_petsc_lend_(struct op2jit_petsc_vec_ *own, const op_dat_shape_t *shape,
                                                const op_layout_t *layout, const PetscScalar *memory,
                                                op_access access) {
  PetscFunctionBegin;
  if (own->vec && own->epoch != layout->epoch)
    PetscCall(VecDestroy(&own->vec));
  if (!own->vec && op2jit_petsc_on_cuda_())
    PetscCall(op2jit_petsc_cuda_vec_(layout, shape->dim, memory, &own->vec));
  else if (!own->vec)
    PetscCall(op2jit_petsc_make_vec_(layout, shape->dim, memory, &own->vec));
  own->epoch = layout->epoch;
  /* It tells PETSc that values changed, too. */
  if (op2jit_petsc_on_cuda_())
    PetscCall(op2jit_petsc_cuda_place_(own->vec, memory));
  else
    PetscCall(VecPlaceArray(own->vec, memory));
  if (access == OP_READ)
    PetscCall(VecLockReadPush(own->vec));
  PetscFunctionReturn(0);
}

/* The dat as a vector, in the dat's memory, for PETSc to read (OP_READ), to write whole (OP_WRITE), or both (OP_RW). Until
 * op_petsc_end loops and calls that use the dat get OP_ERR_STATE. The vector is the library's. */
static inline Vec op_dat_petsc(op_dat dat, op_access access) {
  const char *call = "op_dat_petsc";
  struct op2jit_petsc_heard_ heard;
  op_dat_shape_t shape;
  op_layout_t layout;
  op_lent_t lent;
  PetscErrorCode failed;
  struct op2jit_petsc_vec_ *own = op2jit_petsc_of_(call, dat, &shape, &layout);
  if (!own || (op2jit_petsc_on_cuda_() ? op_lend_device(dat, access, &lent) : op_lend(dat, access, &lent)))
    return NULL;
  op2jit_petsc_listen_(&heard);
  failed = op2jit_petsc_lend_(own, &shape, &layout, (const PetscScalar *)lent.memory, access);
  own->lent = !failed;
  own->access = access;
  if (failed)
    op_lend_end(dat);
  return op2jit_petsc_heard_(call, failed, &heard) ? NULL : own->vec;
}

/* Memory beside a vector that has no room for copies. */
static inline PetscErrorCode op2jit_petsc_copy_(struct op2jit_petsc_vec_ *own, long long numbers,
                                                long long owned) {
  const PetscScalar *from;
  PetscFunctionBegin;
  own->room = (PetscScalar *)malloc((size_t)(numbers > 0 ? numbers : 1) * sizeof(PetscScalar));
  PetscCheck(own->room, PETSC_COMM_SELF, PETSC_ERR_MEM, "there is no memory for the copy of a vector");
  own->bytes = (size_t)owned * sizeof(PetscScalar);
  PetscCall(VecGetArrayRead(own->given, &from));
  if (own->access != OP_WRITE)
    memcpy(own->room, from, own->bytes);
  PetscCall(VecRestoreArrayRead(own->given, &from));
  PetscFunctionReturn(0);
}

/* The vector's memory, with its room for copies. */
static inline PetscErrorCode op2jit_petsc_open_(struct op2jit_petsc_vec_ *own, const op_dat_shape_t *shape,
                                                const op_layout_t *layout) {
  const PetscInt owned = (PetscInt)(layout->owned * shape->dim);
  PetscInt local = 0;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(own->given, &local));
  PetscCheck(local == owned, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "the vector has %ld numbers on this rank, and dat \"%.80s\" has %ld of its own", (long)local,
             shape->name, (long)owned);
  PetscCall(VecGhostGetLocalForm(own->given, &own->form));
  if (own->form)
    PetscCall(VecGetLocalSize(own->form, &local));
  if (local < (PetscInt)(layout->room * shape->dim)) {
    PetscCall(VecGhostRestoreLocalForm(own->given, &own->form));
    own->form = NULL;
    PetscCall(op2jit_petsc_copy_(own, layout->room * shape->dim, owned));
    own->memory = own->room;
    PetscFunctionReturn(0);
  }
  if (!own->form) {
    own->form = own->given;
    PetscCall(PetscObjectReference((PetscObject)own->given));
  }
  if (own->access == OP_READ)
    PetscCall(VecGetArrayRead(own->form, (const PetscScalar **)&own->memory));
  else
    PetscCall(VecGetArray(own->form, &own->memory));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode op2jit_petsc_close_(struct op2jit_petsc_vec_ *own) {
  PetscScalar *to;
  PetscFunctionBegin;
  if (own->form) {
    if (own->access == OP_READ)
      PetscCall(VecRestoreArrayRead(own->form, (const PetscScalar **)&own->memory));
    else
      PetscCall(VecRestoreArray(own->form, &own->memory));
    PetscCall(VecGhostRestoreLocalForm(own->given, &own->form));
  } else if (own->room && own->access != OP_READ) {
    PetscCall(VecGetArrayWrite(own->given, &to));
    memcpy(to, own->room, own->bytes);
    PetscCall(VecRestoreArrayWrite(own->given, &to));
  }
  free(own->room);
  own->room = NULL;
  own->form = own->given = NULL;
  PetscFunctionReturn(0);
}

/* Once for each dat. */
static inline void op2jit_petsc_warn_copies_(struct op2jit_petsc_vec_ *own, const op_dat_shape_t *shape) {
  char line[320];
  if (!own->room || own->warned)
    return;
  own->warned = 1;
  snprintf(
      line, sizeof line,
      "op_place_petsc: the vectors for dat \"%.80s\" have no room for copies of other ranks' elements, so "
      "that "
      "values are copied; vectors of op_shell_petsc (MatCreateVecs) and duplicates of op_dat_petsc's have it",
      shape->name);
  op_bridge_warn(line);
}

/* The dat in the vector's memory until op_petsc_end, for the loops of PETSc's callbacks: OP_READ and OP_RW: the dat has the
 * vector's values; OP_WRITE: loops write it whole; the vector has what OP_RW and OP_WRITE left. Then the dat has its own
 * values again. Nothing is copied, if the vector has room for copies of other ranks' elements: those of op_dat_petsc,
 * of op_shell_petsc, and duplicates of both. */
static inline int op_place_petsc(op_dat dat, Vec vector, op_access access) {
  const char *call = "op_place_petsc";
  struct op2jit_petsc_heard_ heard;
  op_dat_shape_t shape;
  op_layout_t layout;
  PetscErrorCode failed;
  int code;
  struct op2jit_petsc_vec_ *own = op2jit_petsc_of_(call, dat, &shape, &layout);
  if (!own)
    return op_last_error()->code;
  if (own->given || own->lent)
    return op_bridge_error(OP_ERR_STATE,
                           "op_place_petsc: the dat is lent or placed; call op_petsc_end first");
  own->given = vector;
  own->access = access;
  op2jit_petsc_listen_(&heard);
  failed = op2jit_petsc_open_(own, &shape, &layout);
  code = op2jit_petsc_heard_(call, failed, &heard);
  if (!code)
    code = op_place(dat, own->memory, layout.room, access);
  if (!code)
    op2jit_petsc_warn_copies_(own, &shape);
  else if (!failed)
    op2jit_petsc_close_(own);
  if (code)
    own->given = NULL;
  return code;
}

static inline PetscErrorCode op2jit_petsc_take_back_(struct op2jit_petsc_vec_ *own) {
  PetscFunctionBegin;
  if (own->access == OP_READ)
    PetscCall(VecLockReadPop(own->vec));
  if (op2jit_petsc_on_cuda_())
    PetscCall(op2jit_petsc_cuda_reset_(own->vec));
  else
    PetscCall(VecResetArray(own->vec));
  PetscFunctionReturn(0);
}

/* The end of op_dat_petsc, or of op_place_petsc. */
static inline int op_petsc_end(op_dat dat) {
  const char *call = "op_petsc_end";
  struct op2jit_petsc_heard_ heard;
  struct op2jit_petsc_vec_ *own;
  PetscErrorCode failed;
  int code = op2jit_petsc_begin_(call);
  if (code)
    return code;
  /* NULL keeps another thing: op2jit_petsc_begin_. */
  own = dat ? (struct op2jit_petsc_vec_ *)op_kept(dat, OP2JIT_PETSC_KEPT_) : NULL;
  if (!own || (!own->lent && !own->given))
    return op_bridge_error(
        OP_ERR_STATE,
        "op_petsc_end: the dat is neither lent nor placed; call op_dat_petsc or op_place_petsc first");
  code = own->lent ? op_lend_end(dat) : op_place_end(dat);
  op2jit_petsc_listen_(&heard);
  failed = own->lent ? op2jit_petsc_take_back_(own) : op2jit_petsc_close_(own);
  own->lent = 0;
  if (code) {
    PetscPopErrorHandler();
    return code;
  }
  return op2jit_petsc_heard_(call, failed, &heard);
}

/* ---- shells -----------------------------------------------------------------------------------*/

struct op2jit_petsc_shell_ {
  op_dat x, y;
  int (*apply)(void *user);
  void *user;
  long long epoch;
};

/* The library's error becomes PETSc's: the caller of the product gets it. */
#define OP2JIT_PETSC_CALL_(call)                                                                             \
  PetscCheck((call) == OP_OK, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s: %s", op_last_error()->name,               \
             op_last_error()->message)

static inline PetscErrorCode op2jit_petsc_layout_(const struct op2jit_petsc_shell_ *shell, op_dat dat,
                                                  op_dat_shape_t *shape, op_layout_t *layout) {
  PetscFunctionBegin;
  OP2JIT_PETSC_CALL_(op_dat_shape(dat, shape));
  OP2JIT_PETSC_CALL_(op_layout(shape->set, layout));
  PetscCheck(
      layout->epoch == shell->epoch, PETSC_COMM_SELF, PETSC_ERR_ORDER,
      "this matrix of op_shell_petsc is older than the last op_partition, op_renumber or new map; destroy "
      "it and make it again");
  PetscFunctionReturn(0);
}

static inline PetscErrorCode op2jit_petsc_multiply_(Mat mat, Vec in, Vec out) {
  struct op2jit_petsc_shell_ *shell;
  op_dat_shape_t shape;
  op_layout_t layout;
  int failed;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(mat, &shell));
  PetscCall(op2jit_petsc_layout_(shell, shell->x, &shape, &layout));
  OP2JIT_PETSC_CALL_(op_place_petsc(shell->x, in, OP_READ));
  failed = op_place_petsc(shell->y, out, OP_WRITE);
  if (!failed) {
    failed = shell->apply(shell->user);
    if (op_petsc_end(shell->y))
      failed = 1;
  }
  PetscCheck(!failed, PETSC_COMM_SELF, PETSC_ERR_LIB, "the loops of the product failed: %s",
             op_last_error()->message);
  OP2JIT_PETSC_CALL_(op_petsc_end(shell->x));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode op2jit_petsc_make_vecs_(Mat mat, Vec *right, Vec *left) {
  struct op2jit_petsc_shell_ *shell;
  op_dat_shape_t shape;
  op_layout_t layout;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(mat, &shell));
  for (int side = 0; side < 2; side++)
    if (side ? left : right) {
      PetscCall(op2jit_petsc_layout_(shell, side ? shell->y : shell->x, &shape, &layout));
      PetscCall(op2jit_petsc_make_vec_(&layout, shape.dim, NULL, side ? left : right));
    }
  PetscFunctionReturn(0);
}

static inline PetscErrorCode op2jit_petsc_free_shell_(Mat mat) {
  struct op2jit_petsc_shell_ *shell;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(mat, &shell));
  free(shell);
  PetscFunctionReturn(0);
}

static inline PetscErrorCode op2jit_petsc_make_shell_(const struct op2jit_petsc_shell_ *shell,
                                                      const long long owned[2], const long long all[2],
                                                      const int dims[2], Mat *mat) {
  struct op2jit_petsc_shell_ *own = (struct op2jit_petsc_shell_ *)malloc(sizeof *own);
  PetscFunctionBegin;
  PetscCheck(own, PETSC_COMM_SELF, PETSC_ERR_MEM, "there is no memory for a shell");
  *own = *shell;
  PetscCall(MatCreateShell(op2jit_petsc_comm_(), (PetscInt)owned[0], (PetscInt)owned[1], (PetscInt)all[0],
                           (PetscInt)all[1], own, mat));
  PetscCall(MatSetBlockSizes(*mat, dims[0], dims[1]));
  PetscCall(MatShellSetOperation(*mat, MATOP_MULT, (void (*)(void))op2jit_petsc_multiply_));
  PetscCall(MatShellSetOperation(*mat, MATOP_CREATE_VECS, (void (*)(void))op2jit_petsc_make_vecs_));
  PetscCall(MatShellSetOperation(*mat, MATOP_DESTROY, (void (*)(void))op2jit_petsc_free_shell_));
  PetscCall(MatSetUp(*mat));
  PetscFunctionReturn(0);
}

/* A matrix without entries: its product y = A x is `apply`, loops of the program that read the dat x and write the dat y
 * whole (OP_WRITE before OP_INC), while both are in PETSc's memory. It gives 0, or what made it fail. The matrix is the
 * caller's, to be destroyed before op_exit. */
static inline Mat op_shell_petsc(op_dat x, op_dat y, int (*apply)(void *user), void *user) {
  const char *call = "op_shell_petsc";
  struct op2jit_petsc_heard_ heard;
  struct op2jit_petsc_shell_ shell;
  const op_dat dats[2] = {y, x};
  long long owned[2], all[2];
  int dims[2];
  Mat mat = NULL;
  PetscErrorCode failed;
  if (!apply || x == y) {
    op_bridge_error(OP_ERR_ARGUMENT, "op_shell_petsc: expected a function, and two dats that differ");
    return NULL;
  }
  shell.x = x;
  shell.y = y;
  shell.apply = apply;
  shell.user = user;
  shell.epoch = 0;
  for (int side = 0; side < 2; side++) {
    op_dat_shape_t shape;
    op_layout_t layout;
    if (!op2jit_petsc_of_(call, dats[side], &shape, &layout))
      return NULL;
    owned[side] = layout.owned * shape.dim;
    all[side] = layout.global_size * shape.dim;
    dims[side] = shape.dim;
    shell.epoch = layout.epoch;
  }
  op2jit_petsc_listen_(&heard);
  failed = op2jit_petsc_make_shell_(&shell, owned, all, dims, &mat);
  return op2jit_petsc_heard_(call, failed, &heard) ? NULL : mat;
}

#endif
