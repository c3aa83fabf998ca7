/* The PETSc plugin: the bridge that programs have (op2jit_petsc.h), compiled apart, and a Krylov solver for each matrix and
 * prefix. The library's calls come with each call. */
#include "solve/solve.h"

#include <stdbool.h>

static const struct solver_calls *library;
#define op2jit_layout_of library->layout_of
#define op2jit_dat_shape library->dat_shape
#define op2jit_coo_of library->coo_of
#define op2jit_coo_device library->coo_device
#define op2jit_coo_took library->coo_took
#define op2jit_where_is library->where_is
#define op2jit_lend library->lend
#define op2jit_lend_device library->lend_device
#define op2jit_lend_end library->lend_end
#define op2jit_place library->place
#define op2jit_place_end library->place_end
#define op2jit_keep library->keep
#define op2jit_kept library->kept
#define op2jit_comm_fortran library->comm_fortran
#define op2jit_arguments library->arguments
#define op2jit_bridge_error library->bridge_error
#define op2jit_bridge_warn library->bridge_warn
#define op2jit_last_error library->last_error

#include <petscksp.h>

#include "include/op2jit_petsc.h"

/* The solver of one matrix and prefix. */
struct solver {
  struct solver *next;
  KSP ksp;
  Mat mat; /* that it was set up for */
  char prefix[];
};

/* All solvers of a matrix. */
struct solvers {
  struct solver *first;
};

/* The key of what is kept for a matrix: the plugin's own. */
static const char kept_solvers;

static void free_solvers(void *data) {
  struct solvers *all = data;
  PetscBool over = PETSC_TRUE;
  PetscFinalized(&over);
  for (struct solver *s = all->first, *next; s; s = next) {
    next = s->next;
    if (!over)
      KSPDestroy(&s->ksp);
    free(s);
  }
  free(all);
}

/* NULL: an error, which is told. */
static struct solver *find_solver(op_mat mat, const char *prefix) {
  struct solvers *all = op_kept(mat, &kept_solvers);
  if (!all) {
    all = calloc(1, sizeof *all);
    if (!all || op_keep(mat, &kept_solvers, all, free_solvers)) {
      if (!all)
        op2jit_petsc_no_memory_("op_solve");
      free(all);
      return NULL;
    }
  }
  struct solver *s = all->first;
  while (s && strcmp(s->prefix, prefix) != 0)
    s = s->next;
  if (s)
    return s;
  s = calloc(1, sizeof *s + strlen(prefix) + 1);
  if (!s) {
    op2jit_petsc_no_memory_("op_solve");
    return NULL;
  }
  memcpy(s->prefix, prefix, strlen(prefix) + 1);
  s->next = all->first;
  all->first = s;
  return s;
}

/* `dat` lies as the matrix's rows do, or its columns. */
static int check_dat(op_dat dat, const char *what, const op_coo_t *coo, bool rows) {
  op_dat_shape_t shape;
  char message[320];
  const op_set set = rows ? coo->row_set : coo->column_set;
  const int dim = rows ? coo->row_dim : coo->column_dim;
  int code = op_dat_shape(dat, &shape);
  if (code || (shape.set == set && shape.dim == dim))
    return code;
  code = shape.set == set ? OP_ERR_DIM : OP_ERR_MAP_SET;
  snprintf(message, sizeof message,
           "op_solve: dat \"%.80s\", %s, has dim %d on %s; the %s of mat \"%.80s\" have dim %d, and are "
           "of %s",
           shape.name, what, shape.dim, shape.set == set ? "their set" : "another set",
           rows ? "rows" : "columns", coo->name, dim, shape.set == set ? "that set" : "a set of their own");
  return op_bridge_error(code, message);
}

static PetscErrorCode set_up(struct solver *s, Mat mat) {
  PetscFunctionBegin;
  const bool is_new = !s->ksp;
  if (is_new) {
    PetscCall(KSPCreate(PetscObjectComm((PetscObject)mat), &s->ksp));
    PetscCall(KSPSetOptionsPrefix(s->ksp, s->prefix));
    PetscCall(KSPSetInitialGuessNonzero(s->ksp, PETSC_TRUE));
  } else if (s->mat != mat)
    PetscCall(KSPReset(s->ksp));
  s->mat = mat;
  PetscCall(KSPSetOperators(s->ksp, mat, mat));
  if (is_new) {
    PetscBool once;
    PetscCall(KSPSetFromOptions(s->ksp));
    PetscCall(PetscObjectTypeCompare((PetscObject)s->ksp, KSPPREONLY, &once));
    if (once) /* takes no first guess */
      PetscCall(KSPSetInitialGuessNonzero(s->ksp, PETSC_FALSE));
  }
  PetscFunctionReturn(0);
}

/* How a solution went. */
struct outcome {
  KSPConvergedReason reason;
  PetscInt iterations;
  PetscReal residual;
  char type[32], preconditioner[32];
};

static PetscErrorCode look(KSP ksp, struct outcome *o) {
  PetscFunctionBegin;
  KSPType type;
  PC pc;
  PCType preconditioner;
  PetscCall(KSPGetConvergedReason(ksp, &o->reason));
  PetscCall(KSPGetIterationNumber(ksp, &o->iterations));
  PetscCall(KSPGetResidualNorm(ksp, &o->residual));
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetType(pc, &preconditioner));
  snprintf(o->type, sizeof o->type, "%s", type ? type : "solver");
  snprintf(o->preconditioner, sizeof o->preconditioner, "%s", preconditioner ? preconditioner : "none");
  PetscFunctionReturn(0);
}

static PetscErrorCode run(struct solver *s, Mat mat, Vec b, Vec x, struct outcome *o) {
  PetscFunctionBegin;
  PetscCall(set_up(s, mat));
  PetscCall(KSPSolve(s->ksp, b, x));
  PetscCall(look(s->ksp, o));
  PetscFunctionReturn(0);
}

/* Options of this prefix that nobody asked for, which are misspelt or of another type of solver. */
static void warn_of_unused(const char *prefix) {
  PetscInt count = 0;
  char **names = NULL, **values = NULL;
  const char *begins = *prefix ? prefix : "ksp_";
  if (PetscOptionsLeftGet(NULL, &count, &names, &values) != 0)
    return;
  for (PetscInt i = 0; i < count; i++)
    if (strncmp(names[i], begins, strlen(begins)) == 0 || (!*prefix && strncmp(names[i], "pc_", 3) == 0)) {
      char line[256];
      snprintf(line, sizeof line,
               "op_solve: PETSc did not use the option -%.100s; look at its name (-%sksp_view shows the "
               "solver, -help all options)",
               names[i], prefix);
      op_bridge_warn(line);
    }
  PetscOptionsLeftRestore(NULL, &count, &names, &values);
}

static int tell_divergence(const op_coo_t *coo, const char *prefix, const struct outcome *o) {
  char message[512];
  snprintf(
      message, sizeof message,
      "op_solve: mat \"%.80s\": PETSc's %s with the preconditioner %s did not converge: %s after %ld "
      "iterations, "
      "with a residual of %g; -%sksp_monitor shows all, and -%sksp_type, -%spc_type and -%sksp_max_it choose "
      "others",
      coo->name, o->type, o->preconditioner, KSPConvergedReasons[o->reason], (long)o->iterations,
      (double)o->residual, prefix, prefix, prefix, prefix);
  return op_bridge_error(OP_ERR_SOLVER, message);
}

/* Both dats are PETSc's meanwhile. Errors are told when they are the library's again: each call forgets the one before. */
static int solve_lent(struct solver *s, const op_coo_t *coo, Mat matrix, op_dat b, op_dat x,
                      struct outcome *o) {
  struct op2jit_petsc_heard_ heard;
  const Vec left = op_dat_petsc(x, OP_RW);
  if (!left)
    return op_last_error()->code;
  const Vec right = op_dat_petsc(b, OP_READ);
  if (!right) {
    char message[400];
    const int code = op_last_error()->code;
    snprintf(message, sizeof message, "op_solve: %s", op_last_error()->message);
    op_petsc_end(x);
    return op_bridge_error(code, message);
  }
  const bool is_new = !s->ksp;
  op2jit_petsc_listen_(&heard);
  const PetscErrorCode failed = run(s, matrix, right, left, o);
  PetscPopErrorHandler();
  if (failed)
    KSPDestroy(&s->ksp); /* half set up: the next call begins anew, and fails again */
  else if (is_new)
    warn_of_unused(s->prefix);
  const int ended = op_petsc_end(b), code = op_petsc_end(x);
  if (ended || code)
    return ended ? ended : code;
  return !failed && o->reason < 0 ? tell_divergence(coo, s->prefix, o)
                                  : op2jit_petsc_tell_("op_solve", failed, &heard);
}

static int solve(const struct solver_calls *calls, op_mat mat, op_dat b, op_dat x, const char *prefix,
                 long long *iterations) {
  struct outcome o = {.reason = KSP_CONVERGED_ITERATING};
  struct solver *s = NULL;
  op_coo_t coo;
  library = calls;
  const Mat matrix = op_mat_petsc(mat);
  if (!matrix || op_coo(mat, &coo) || check_dat(b, "the right-hand side", &coo, true) ||
      check_dat(x, "the solution", &coo, false) || !(s = find_solver(mat, prefix)))
    return op_last_error()->code;
  if (b == x)
    return op_bridge_error(OP_ERR_ALIAS,
                           "op_solve: the right-hand side and the solution are one dat; give it two");
  const int code = solve_lent(s, &coo, matrix, b, x, &o);
  *iterations = o.iterations;
  return code;
}

/* ---- what the bridge has, for programs without PETSc's headers ----------------------------------*/

/* Two PETSc in a process do not know each other's objects. */
static int open_here(const struct solver_calls *calls, const void *petsc) {
  library = calls;
  if (petsc && petsc != (const void *)&PETSC_COMM_WORLD)
    return op_bridge_error(
        OP_ERR_SOLVER, "op_solver_open: the program uses another PETSc than the plugin of op2jit; install "
                       "one for both (Debian: python3-petsc4py beside petsc-dev)");
  return op2jit_petsc_begin_("op_solver_open");
}

static void *find_mat(const struct solver_calls *calls, op_mat mat) {
  library = calls;
  return op_mat_petsc(mat);
}

static void *lend_vec(const struct solver_calls *calls, op_dat dat, op_access access) {
  library = calls;
  return op_dat_petsc(dat, access);
}

static int place_in(const struct solver_calls *calls, op_dat dat, void *vec, op_access access) {
  library = calls;
  return op_place_petsc(dat, vec, access);
}

static int end_either(const struct solver_calls *calls, op_dat dat) {
  library = calls;
  return op_petsc_end(dat);
}

extern __attribute__((visibility("default"))) const struct solver_table op2jit_solver_table;
const struct solver_table op2jit_solver_table = {.version = SOLVER_TABLE_VERSION,
                                                 .name = "petsc-real",
                                                 .mpi = OP2JIT_SOLVER_MPI,
                                                 .solve = solve,
                                                 .open = open_here,
                                                 .mat = find_mat,
                                                 .vec = lend_vec,
                                                 .place = place_in,
                                                 .end = end_either};
