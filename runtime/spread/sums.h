/* A matrix by rows, into which loops add at once (form csr): its entries are a set of the library's own, its numbers a dat on
 * it, and a map leads from each element to the entries of its matrix. So the argument is an increment through a map, with
 * all that is known of those. What a loop is not to give (rows of other ranks, fixed rows and columns) goes to a place behind
 * the entries, another one for each element, so that no two meet there. The set, the dat and the maps are in no list of the
 * mesh's. */
#ifndef OP2JIT_SPREAD_SUMS_H
#define OP2JIT_SPREAD_SUMS_H

#include "mesh/matrix.h"

struct pattern;

/* The columns that the rank owns come first, then all others: a solver takes both as they are. */
enum { SUMS_OWN, SUMS_OTHERS, SUMS_PARTS };

struct sums {
  unsigned epoch;           /* of the mesh */
  unsigned long long shape; /* of the matrix */
  long long count;          /* of entries; behind them is what counts for nothing */
  long long rows;
  long long *offsets[SUMS_PARTS]; /* rows + 1 */
  struct pattern *pattern;        /* the entries as lists, in their order */
  struct set *set;
  struct dat *dat;
  struct segment part; /* what the dat is of: no set's, with a pair */
  int *places;         /* the tables of the maps, one behind the other */
  size_t nplaces;
  struct map **maps; /* of the matrix's segments, in their order */
  int nmaps;
};

/* The numbers of lists by rows, in each row by columns and then as they stand in the lists, so that sums are always the same. Rows
 * are counted from the first one that the rank owns. */
struct sorted {
  size_t *begin; /* of row r: begin[r] .. begin[r + 1] - 1 */
  struct summand {
    long long column; /* what the order made of it */
    size_t place;
  } * items;
  long long rows, first_row;
};
typedef long long column_order(const struct matrix *m, const void *argument, long long column);
/* False: no memory. To be freed in both cases. */
bool pattern_sort(const struct matrix *m, const struct pattern *p, column_order *order, const void *argument,
                  struct sorted *o);
void sorted_free(struct sorted *o);

/* More numbers of an element's matrix make too much code. */
enum { SUMS_MOST_VALUES = 256 };

/* True if the sums are for the mesh and the segments as they are. */
bool sums_fit(const struct op_context *ctx, const struct matrix *m);
/* Makes m->sums; there are none. NULL afterwards without an error: they would be too large for a map. Collective as coo_make is.
 * OP_ERR_MEMORY, OP_ERR_MPI. */
int sums_make(struct op_context *ctx, struct matrix *m, struct error *err);
/* No loop knows them any more. NULL is nothing. */
void sums_free(struct op_context *ctx, struct matrix *m);
/* The newest values, with what fixed rows have on their diagonal. */
int sums_bring(struct op_context *ctx, const struct matrix *m, struct error *err);
/* The matrix is a sum of element matrices again: each entry becomes a part of one that leads to it. Collective: sends messages
 * where elements are copies of others'. */
int sums_leave(struct op_context *ctx, struct matrix *m, struct error *err);
/* The same for all matrices, before elements get other places. */
int sums_leave_all(struct op_context *ctx, struct error *err);
/* Bytes of the maps, the entries and their lists. */
size_t sums_bytes(const struct matrix *m);

#endif
