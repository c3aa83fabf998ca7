/* Sparse matrices as a sum of element matrices. A loop gives a matrix to each of its elements: they lie in a dat on the
 * loop's set, a segment. So whatever runs, checks, moves or waits for data does so for them; the loop is given that dat in
 * the place of the matrix (loop/matrix.c). Which entry each number belongs to is said by lists, made of the maps when
 * somebody wants the matrix (spread/coo.h). */
#ifndef OP2JIT_MESH_MATRIX_H
#define OP2JIT_MESH_MATRIX_H

#include "base/list.h"
#include "jit/kernel/kernel.h"
#include "mesh/data.h"

/* Numbers of an element's matrix: longer ones make no good loops. */
enum { MATRIX_MOST_VALUES = 64 * 64 };

struct matrix_pair {
  struct map *rows, *columns; /* NULL: the set itself */
};

/* Rows and columns that loops give nothing to. */
struct fixing {
  struct dat *rows, *columns; /* of the library's own: int, not 0 where they are fixed; NULL: none are */
  double diagonal;
};

/* Element matrices by one pair, of the elements of one set: rows one after the other, as long as the element's targets
 * say, from the first of the dat's components on. */
struct segment {
  struct set *set; /* of the loops: a subset too; the dat is on its parent. NULL: of rows (spread/sums.h) */
  struct matrix_pair pair;
  struct fixing *fixing; /* that its loops ran under; NULL: none */
  struct dat *dat;
  bool filled;  /* a loop did, since op_zero_mat */
  bool cleared; /* what is not filled holds zeros: see coo.h */
};

struct coo;
struct sums;

/* The form that loops fill, and what is known of both: loop/matrix.h. */
enum matrix_form { MATRIX_COO, MATRIX_CSR, MATRIX_FORMS };
struct matrix_forms {
  enum matrix_form form;      /* of the assembly that runs, or the next one */
  bool begun, asked, settled; /* asked: whether an earlier run chose */
  bool unfit;                 /* csr is not for it */
  int runs[MATRIX_FORMS];     /* assemblies that were timed */
  int passed;                 /* in a row, that were not */
  double best[MATRIX_FORMS];  /* seconds */
  double before;              /* of its loops, when the assembly began */
  double brought;             /* that bridges took for it since */
};

struct matrix {
  char *name;
  op_mat handle;
  struct set *row_set, *column_set;
  int row_dim, column_dim;
  struct matrix_pair *pairs;
  int npairs;
  struct list segments, fixings;
  struct fixing *fixing;            /* of loops from now on; NULL: none */
  unsigned long long shape, values; /* change when segments or fixings do, and when values do */
  struct coo *coo;                  /* spread/coo.h; NULL: nobody wanted it */
  struct sums *sums;                /* spread/sums.h; NULL: no loop fills them */
  bool summed;                      /* what loops gave since op_zero_mat lies there */
  struct matrix_forms forms;
};

static inline bool matrix_has_diagonal(const struct matrix *m) {
  return m->row_set == m->column_set && m->row_dim == m->column_dim;
}
/* True if a loop filled it since op_zero_mat. */
bool matrix_is_filled(const struct matrix *m);
/* True if a loop filled another segment than this. */
bool matrix_has_others(const struct matrix *m, const struct segment *segment);

/* NULL with the error set: OP_ERR_ARGUMENT, OP_ERR_MAP_SET, OP_ERR_DIM, OP_ERR_SIZE, OP_ERR_TYPE, OP_ERR_MEMORY. */
struct matrix *matrix_new(struct op_context *ctx, int npairs, const struct matrix_pair pairs[], int row_dim,
                          int column_dim, const char *type, const char *name, struct error *err);
/* Its dats were forgotten and freed before, by who knows how; see matrix_take_dat. */
void matrix_free(struct op_context *ctx, struct matrix *m);
/* One after the other, each of its dats for the caller to free; NULL: it has none any more. */
struct dat *matrix_take_dat(struct matrix *m);
/* The dats of fixings that no loop ran under any more, likewise. */
struct dat *matrix_take_unused(struct matrix *m);

/* Rows and columns of an element's matrix by the maps' targets; of a ragged map for the element that has most, but at least
 * as many as a proof looks at: else it finds that a right kernel goes beyond. */
static inline int matrix_targets(const struct map *map) {
  if (!map)
    return 1;
  return !map->first ? map->arity : map->longest > DESC_FEW ? (int)map->longest : DESC_FEW;
}
/* The segment of loops over the set by the pair, made if there is none; not one of `taken`, of which there are `n`. NULL:
 * OP_ERR_MEMORY, OP_ERR_SIZE. */
struct segment *matrix_segment(struct op_context *ctx, struct matrix *m, struct set *set,
                               struct matrix_pair pair, struct segment *const taken[], int n,
                               struct error *err);
/* Each pair has a segment of its whole set: what is wanted of the matrix has all its entries. OP_ERR_MEMORY,
 * OP_ERR_SIZE. */
int matrix_complete(struct op_context *ctx, struct matrix *m, struct error *err);
/* True if a map or a set is one of its own. For those that are about to be freed. */
bool matrix_uses(const struct matrix *m, const void *object);

/* The matrix of a dat; NULL: it is none of a matrix. */
const struct matrix *matrix_of_dat(const struct mesh *mesh, const struct dat *dat);

/* Whatever loops left counts no more. */
void matrix_zero(struct matrix *m);
/* For loops from now on; the dats are the matrix's then. All of it NULL: nothing is fixed. OP_ERR_MEMORY. */
int matrix_fix(struct matrix *m, struct dat *rows, struct dat *columns, double diagonal, struct error *err);

#endif
