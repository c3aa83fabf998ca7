/* A chain of records as plain arrays, for the builder of tiles. */
#ifndef OP2JIT_LOOP_CHAIN_TILED_DESCRIBE_H
#define OP2JIT_LOOP_CHAIN_TILED_DESCRIBE_H

#include "base/list.h"
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
  double bytes;         /* of the dats and maps that it uses */
  struct arrays memory; /* of what follows, which `chain` points to: */
  struct chain_set *sets;
  struct chain_map *maps;
  struct chain_access *accesses;
  struct chain_loop *loops;
  int *dats;
  size_t *row_bytes;     /* of each dat */
  const void **known[3]; /* which set, map and dat each number is; of a map to entries, their set */
  const struct map **of; /* which map each number is */
  const struct plan_entry **prefixes; /* of maps, and behind them periodic ones */
  struct tiled_prefix *missing;       /* of maps; see tiled_find_prefixes */
};

/* A failure leaves what is to be freed. OP_ERR_MEMORY. */
int tiled_describe(struct loop *const *loops, int n, struct tiled_description *d, struct error *err);
/* Prefixes of maps, from the plans, which get those that they lack. Unless it `builds`, what they lack is `missing`, for others
 * to build; then plans have it. OP_ERR_MEMORY. */
int tiled_find_prefixes(struct op_context *ctx, struct tiled_description *d, bool builds, struct error *err);
void tiled_keep_prefixes(struct op_context *ctx, struct tiled_description *d);
/* Prefixes for a mesh that may be periodic, too. OP_ERR_MEMORY. */
int tiled_describe_periodic(struct op_context *ctx, struct tiled_description *d, struct error *err);
void tiled_describe_free(struct op_context *ctx, struct tiled_description *d);
/* Do the loops before `end` change the dat? */
bool chain_changes(const struct chain *c, int dat, int end);
/* Does a loop reach through the map what some loop changes? */
bool chain_needs_map(const struct chain *c, int map);

#endif
