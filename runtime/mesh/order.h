/* Orders of mesh elements that put neighbours near each other in memory. Pure functions of arrays. An order is
 * a list: order[new number] = old number. It is the same for any number of threads; `team` may be NULL. */
#ifndef OP2JIT_MESH_ORDER_H
#define OP2JIT_MESH_ORDER_H

#include "base/error.h"
#include "exec/team.h"

/* The targets of some rows: `arity` of each, or, where `first` is not NULL, table[first[r]] .. table[first[r + 1] - 1]. */
struct order_table {
  const int *table;
  const long long *first;
  long rows;
  int arity;
};

/* The beginning of a row, which is the end of the one before it. */
static inline long order_row(const struct order_table *t, long row) {
  return t->first ? (long)t->first[row] : row * t->arity;
}

/* Reverse Cuthill-McKee of the graph whose vertices are the `size` targets of a table, two of them joined if a row holds
 * both. Linear in the entries, however long rows are. */
int order_rcm(int *order, long size, const struct order_table *t, struct team *team, struct error *err);

/* How many steps of the same graph each vertex is from those at or above `inner`, which are none from themselves; INT_MAX: it is not
 * reached. Linear. */
int order_steps(int *steps, long size, long inner, const struct order_table *t, struct error *err);

/* Along a Hilbert curve, or by recursive coordinate bisection down to small boxes. `coords` holds `dim` (1 to 3)
 * doubles per element; NaNs go last. */
int order_hilbert(int *order, long size, const double *coords, int dim, struct error *err);
int order_rcb(int *order, long size, const double *coords, int dim, struct error *err);

/* Sources of a table by the smallest, then the largest, new number of their targets; the same keep their order.
 * Linear. */
int order_by_targets(int *order, const struct order_table *t, const int *new_of_target, long targets,
                     struct team *team, struct error *err);
/* Targets of a table in the order in which the sources, taken in `source_order`, first name them. */
int order_by_sources(int *order, long targets, const struct order_table *t, const int *source_order,
                     struct error *err);

#endif
