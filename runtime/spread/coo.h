/* A matrix as lists of rows, columns and values, in bridges' numbers. The values of all segments lie in one array, in which
 * loops work from the first time on, and behind them is the diagonal: a solver takes the array as it is. */
#ifndef OP2JIT_SPREAD_COO_H
#define OP2JIT_SPREAD_COO_H

#include "mesh/matrix.h"

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

struct sums;

/* NULL: no memory. One that is shared is left, others are freed; NULL is nothing. */
struct pattern *pattern_new(const struct op_context *ctx, size_t count);
void pattern_free(struct pattern *pattern);
/* Share filled lists: *out is this pattern or an equal one that all ranks have; this is taken over. Collective. */
int pattern_share(struct op_context *ctx, struct pattern *pattern, struct pattern **out, struct error *err);
void pattern_leave(struct op_context *ctx, struct pattern *pattern);

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
/* True if the lists are there, for the mesh as it is. Else the mesh must be distributed before they are made. */
bool coo_is_listed(const struct op_context *ctx, const struct matrix *m);
/* Brings what coo_listed gives up to date: lists and values. It is filled, and no loop waits. Collective; sends messages, and
 * ranks agree, only where lists are made: the mesh changed, or segments are new. OP_ERR_MEMORY, OP_ERR_MPI, OP_ERR_DEVICE. */
int coo_make(struct op_context *ctx, struct matrix *m, struct error *err);
/* The lists of element matrices alone, whatever form the values have; they are forgotten where the values have another. */
int coo_list(struct op_context *ctx, struct matrix *m, struct error *err);
void coo_forget_lists(struct op_context *ctx, struct matrix *m);
/* The same for values on a device, where each segment's dat has them (form coo); the diagonal is in the array. */
int coo_make_on_device(struct op_context *ctx, struct matrix *m, enum space space, struct error *err);
/* The lists and values that coo_make brought up to date. */
struct listed {
  const struct pattern *pattern;
  double *array;
  const struct sums *sums; /* the entries by rows, each once (sums.h); NULL: element matrices */
};
struct listed coo_listed(const struct matrix *m);
/* m->coo may be NULL. The segments' dats were freed before. */
void coo_free(struct op_context *ctx, struct matrix *m);
/* All that is left of matrices at op_exit, but for their dats. */
void matrices_free(struct op_context *ctx);

/* m->coo->csr is there: made anew where values or the mesh changed since. Sends messages: rows go from their owners to
 * those who declared them. */
int csr_make(struct op_context *ctx, struct matrix *m, struct error *err);
void csr_free(struct csr *csr);

/* ---- numbers of elements (csr_layout.c) ---- */
/* How bridges to solvers number the elements of a set: those of rank r one after the other, behind those of the ranks before
 * it. It is the library's local order, so that no vector is turned round. */

/* Made for the mesh as it is, which is distributed: set->layout is there, and stays until the epoch changes. Collective: the first time in an
 * epoch it sends messages. OP_ERR_MEMORY, OP_ERR_MPI. */
int layout_make(struct op_context *ctx, struct set *set, struct error *err);
/* Epochs as bridges see them: never 0. */
static inline long long layout_epoch(const struct mesh *mesh) {
  return 1 + (long long)mesh->epoch;
}
/* The number of a local element, one that the rank owns or a copy. */
static inline long long layout_number(const struct set *set, long element) {
  const long owned = set->extents[EXTENT_OWNED];
  return element < owned ? set->layout->first + element : set->layout->copies[element - owned];
}

#endif
