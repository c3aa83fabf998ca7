/* The gather form of a loop: every argument that is incremented through a map gets a row of its own per element, so
 * that generated code writes nothing that elements share; then each target collects its rows. The code is that of a
 * loop with direct increments, made from a description derived from the loop's own. */
#ifndef OP2JIT_BACKEND_CPU_GATHER_H
#define OP2JIT_BACKEND_CPU_GATHER_H

#include "exec/executor.h"
#include "plan/strategy.h"
#include "record/record.h"

struct op_context;
struct launch;
struct gather;

/* Which arguments are turned round: those with maps, exact results. `entry` is the part's plan of a strategy that keeps
 * increments apart, and outlives the gather; NULL: no columns. OP_ERR_MEMORY. */
struct gather_wish {
  struct loop_part part;
  const struct plan_entry *entry;
  bool columns, results;
  bool listed; /* of the elements only those of the plan's list get rows */
};
int gather_new(struct gather **out, struct op_context *ctx, const struct loop *loop,
               const struct gather_wish *wish, struct error *err);
void gather_free(struct gather *g);

/* The description that the elements' work is compiled from. */
const struct desc *gather_desc(const struct gather *g);
/* The works of an execution that is complete else: the elements', made of the loop's own, and one for each set
 * that collects. */
void gather_works(struct gather *g, const struct launch *launch, const struct work *own, struct execution *e);

#endif
