/* A chain of records as plain arrays, for the builder of tiles. */
#ifndef OP2JIT_LOOP_CHAIN_TILED_DESCRIBE_H
#define OP2JIT_LOOP_CHAIN_TILED_DESCRIBE_H

#include "plan/strategy.h"
#include "plan/tiles.h"
#include "record/record.h"

/* A map without a plan yet: `wish` is to be built into `entry`. */
struct tiled_prefix {
  struct plan_wish wish;
  struct plan_column *columns; /* NULL: a plan has it, or nobody needs it */
  struct plan_entry entry;
};

struct tiled_description {
  struct chain chain;
  double bytes; /* of the dats and maps that it uses */
  /* Memory behind `chain`: */
  struct chain_set *sets;
  struct chain_map *maps;
  struct chain_access *accesses;
  struct chain_loop *loops;
  int *dats;
  const void **known[3]; /* which set, map and dat each number is; of a map to entries, their set */
  const struct map **of; /* which map each number is */
  const struct plan_entry **prefixes; /* of maps, and behind them periodic ones */
  struct tiled_prefix *missing;       /* of maps; see tiled_look_for_prefixes */
};

/* A failure leaves what is to be freed. OP_ERR_MEMORY. */
int tiled_describe(struct loop *const *loops, int n, struct tiled_description *d, struct error *err);
/* Prefixes of maps, from the plans. OP_ERR_MEMORY. */
int tiled_find_prefixes(struct op_context *ctx, struct tiled_description *d, struct error *err);
/* The same of those that plans have, and what is missing, which somebody may build elsewhere; then plans have it. OP_ERR_MEMORY. */
int tiled_look_for_prefixes(struct op_context *ctx, struct tiled_description *d, struct error *err);
void tiled_keep_prefixes(struct op_context *ctx, struct tiled_description *d);
/* Prefixes for a mesh that may be periodic, too. OP_ERR_MEMORY. */
int tiled_describe_periodic(struct op_context *ctx, struct tiled_description *d, struct error *err);
void tiled_describe_free(struct op_context *ctx, struct tiled_description *d);

#endif
