/* A matrix as lists of rows, columns and values, in bridges' numbers. The values of all segments lie in one array, in which
 * loops work from the first time on, and behind them is the diagonal: a solver takes the array as it is. */
#ifndef OP2JIT_BRIDGE_COO_H
#define OP2JIT_BRIDGE_COO_H

#include "mesh/matrix/matrix.h"

/* Lists of some matrices of the same pairs and dims. */
struct pattern {
  struct pattern *next;
  int users;
  long long number; /* of no other one, never 0 */
  unsigned epoch;
  uint64_t hash; /* of the lists: equal ones are one */
  size_t count;
  long long *rows, *columns;
};

/* The rows that this rank declared, in the user's numbers times dim plus the component, columns ascending. */
struct csr {
  long long rows, entries;
  long long *offsets, *columns;
  double *values;
};

struct coo {
  unsigned epoch;            /* of the mesh */
  unsigned long long shape;  /* of the matrix, that the lists are for */
  unsigned long long values; /* of the matrix, that the array has; 0: none */
  struct pattern *pattern;
  double *array;
  size_t *first;  /* where the segments' values begin, and the diagonal, and the end */
  struct csr csr; /* of csr_values; offsets NULL: none */
  unsigned long long csr_values;
};

/* `call` is what the program called. OP_ERR_STATE if no loop filled it since op_zero_mat. Local. */
int coo_check(const struct matrix *m, const char *call, struct error *err);
/* Brings m->coo up to date: its lists, and its values. It is filled, and no loop waits. Collective; sends messages, and
 * ranks agree, only where lists are made: the mesh changed, or segments are new. OP_ERR_MEMORY, OP_ERR_MPI, OP_ERR_DEVICE. */
int coo_make(struct op_context *ctx, struct matrix *m, struct error *err);
/* m->coo may be NULL. The segments' dats were freed before. */
void coo_free(struct op_context *ctx, struct matrix *m);
/* All that is left of matrices at op_exit, but for their dats. */
void matrices_free(struct op_context *ctx);

/* m->coo->csr is there: made anew where values or the mesh changed since. Sends messages: rows go from their owners to
 * those who declared them. */
int csr_make(struct op_context *ctx, struct matrix *m, struct error *err);
void csr_free(struct csr *csr);

#endif
