/* A part of op2jit_petsc.h, which includes it: which PETSc it may be, its beginning and end, its errors, and what is kept
 * beside handles. Nothing here is for programs. */
#ifndef OP2JIT_PETSC_BEGIN_H
#define OP2JIT_PETSC_BEGIN_H

#include <op2jit_bridge.h>
#include <petscmat.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(PETSC_USE_COMPLEX)
#error                                                                                                       \
    "op2jit_petsc.h: this PETSc has complex numbers; compile and link with one of real numbers (Debian: petsc-dev)"
#elif !defined(PETSC_USE_REAL_DOUBLE)
#error "op2jit_petsc.h: this PETSc is not of double precision; compile and link with one that is"
#elif PETSC_VERSION_LT(3, 17, 0)
#error "op2jit_petsc.h: this PETSc is too old; 3.17 or newer is needed"
#endif

/* ---- what the calls share ---------------------------------------------------------------------*/

/* The keys of what is kept: addresses that all files of a program have in common, since there is one PETSc. */
#define OP2JIT_PETSC_KEPT_ ((const void *)&PETSC_COMM_WORLD)

static inline int op2jit_petsc_refuse_(int code, const char *format, ...) PETSC_ATTRIBUTE_FORMAT(2, 3);
static inline int op2jit_petsc_refuse_(int code, const char *format, ...) {
  char message[512];
  va_list words;
  va_start(words, format);
  vsnprintf(message, sizeof message, format, words);
  va_end(words);
  return op_bridge_error(code, message);
}

/* The first words of PETSc about an error. */
struct op2jit_petsc_heard_ {
  char words[400];
};

static inline PetscErrorCode op2jit_petsc_hear_(MPI_Comm comm, int line, const char *function,
                                                const char *file, PetscErrorCode code, PetscErrorType type,
                                                const char *message, void *context) {
  struct op2jit_petsc_heard_ *heard = (struct op2jit_petsc_heard_ *)context;
  (void)comm, (void)line, (void)file;
  if (type == PETSC_ERROR_INITIAL)
    snprintf(heard->words, sizeof heard->words, "%s: %s", function ? function : "PETSc",
             message ? message : "no reason given");
  return code;
}

static inline void op2jit_petsc_listen_(struct op2jit_petsc_heard_ *heard) {
  heard->words[0] = '\0';
  PetscPushErrorHandler(op2jit_petsc_hear_, heard);
}

/* PETSc's error is the library's. */
static inline int op2jit_petsc_tell_(const char *call, PetscErrorCode failed,
                                     const struct op2jit_petsc_heard_ *heard) {
  if (!failed)
    return OP_OK;
  return op2jit_petsc_refuse_(OP_ERR_SOLVER, "%s: PETSc failed in %s (error %d)", call,
                              heard->words[0] ? heard->words : "a call", (int)failed);
}

/* The same, and the end of op2jit_petsc_listen_. */
static inline int op2jit_petsc_heard_(const char *call, PetscErrorCode failed,
                                      const struct op2jit_petsc_heard_ *heard) {
  PetscPopErrorHandler();
  return op2jit_petsc_tell_(call, failed, heard);
}

static inline MPI_Comm op2jit_petsc_comm_(void) {
  const int fortran = op_comm_fortran();
  return fortran == -1 ? PETSC_COMM_SELF : MPI_Comm_f2c((MPI_Fint)fortran);
}

static inline int op2jit_petsc_no_memory_(const char *call) {
  return op2jit_petsc_refuse_(OP_ERR_MEMORY, "%s: there is no memory for what PETSc is given", call);
}

/* The memory kept for a handle, zeros at first. NULL: an error, which is reported. */
static inline void *op2jit_petsc_own_(const char *call, const void *handle, size_t bytes,
                                      void (*release)(void *data)) {
  void *own = op_kept(handle, OP2JIT_PETSC_KEPT_);
  if (own)
    return own;
  own = calloc(1, bytes);
  if (!own)
    op2jit_petsc_no_memory_(call);
  else if (op_keep(handle, OP2JIT_PETSC_KEPT_, own, release)) {
    free(own);
    own = NULL;
  }
  return own;
}

/* PETSc can count so far. */
static inline int op2jit_petsc_counts_(const char *call, const char *name, long long numbers) {
  if (numbers <= (long long)PETSC_MAX_INT)
    return OP_OK;
  return op2jit_petsc_refuse_(
      OP_ERR_SIZE,
      "%s: \"%.80s\" has %lld numbers, and this PETSc counts in %d bits; use one with 64-bit indices "
      "(Debian: petsc64-dev)",
      call, name, numbers, (int)(8 * sizeof(PetscInt)));
}

/* ---- the life of PETSc ------------------------------------------------------------------------*/

/* The library that is in the process, which need not be the one whose headers the program saw. */
static inline int op2jit_petsc_fits_(const char *call) {
  PetscDataType scalar = PETSC_DATATYPE_UNKNOWN, whole = PETSC_DATATYPE_UNKNOWN;
  PetscBool found = PETSC_FALSE, also = PETSC_FALSE;
  size_t bytes = 0;
  if (PetscDataTypeFromString("int", &whole, &also) != 0 || !also || PetscDataTypeGetSize(whole, &bytes) != 0)
    bytes = 0;
  if (PetscDataTypeFromString("scalar", &scalar, &found) == 0 && found && scalar == PETSC_DOUBLE &&
      bytes == sizeof(PetscInt))
    return OP_OK;
  return op2jit_petsc_refuse_(OP_ERR_SOLVER,
                              "%s: the PETSc in this process has %s numbers and %d-bit indices, and not real "
                              "ones of double precision and "
                              "%d bits; link the program with the PETSc whose headers it has",
                              call, scalar == PETSC_DOUBLE ? "real" : "complex or other", (int)(8 * bytes),
                              (int)(8 * sizeof(PetscInt)));
}

/* MPI that began here ends with the process: it can begin only once. */
static inline void op2jit_petsc_end_mpi_(void) {
  int ended = 0;
  if (MPI_Finalized(&ended) == MPI_SUCCESS && !ended)
    MPI_Finalize();
}

static inline void op2jit_petsc_end_all_(void *begun_here) {
  PetscBool over = PETSC_TRUE;
  PetscFinalized(&over);
  if (*(int *)begun_here && PetscInitializeCalled && !over)
    PetscFinalize();
  free(begun_here);
}

static inline int op2jit_petsc_start_(const char *call) {
  char **argv = NULL;
  int argc = op_arguments(&argv), begun = 0, level = 0;
  if (MPI_Initialized(&begun) == MPI_SUCCESS && !begun) {
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) == MPI_SUCCESS)
      atexit(op2jit_petsc_end_mpi_);
  }
  PETSC_COMM_WORLD = op_comm_fortran() == -1 ? MPI_COMM_SELF : MPI_Comm_f2c((MPI_Fint)op_comm_fortran());
  /* Crashes are the program's and the debugger's. */
  PetscOptionsSetValue(NULL, "-no_signal_handler", NULL);
  if (PetscInitialize(&argc, &argv, NULL, NULL) == 0)
    return OP_OK;
  return op2jit_petsc_refuse_(OP_ERR_SOLVER, "%s: PetscInitialize failed; PETSc said why", call);
}

/* Before everything else. */
static inline int op2jit_petsc_begin_(const char *call) {
  PetscBool begun = PETSC_FALSE;
  int code, *begun_here = (int *)op_kept(NULL, OP2JIT_PETSC_KEPT_);
  PetscInitialized(&begun);
  if (begun_here && begun)
    return OP_OK;
  if (begun_here)
    return op2jit_petsc_refuse_(OP_ERR_STATE, "%s: PETSc has ended; call PetscFinalize after op_exit", call);
  if ((code = op2jit_petsc_fits_(call)) != OP_OK)
    return code;
  begun_here = (int *)op2jit_petsc_own_(call, NULL, sizeof *begun_here, op2jit_petsc_end_all_);
  if (!begun_here)
    return op_last_error()->code;
  *begun_here = !begun;
  if (!begun && (code = op2jit_petsc_start_(call)) != OP_OK)
    op_keep(NULL, OP2JIT_PETSC_KEPT_, NULL, NULL);
  return code;
}

#endif
