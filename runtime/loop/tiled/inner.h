/* Shared by tiled.c and cut.c. */
#ifndef OP2JIT_LOOP_TILED_INNER_H
#define OP2JIT_LOOP_TILED_INNER_H

#include "loop/tiled/tiled.h"
#include "plan/tiles/tiles.h"

struct tiled {
  struct loop **loops;
  int n;
  double bytes; /* of a tile, or of a block of tasks */
  bool tasks;
  bool tried;                     /* to cut it */
  struct cutting *cutting_behind; /* it is being cut behind the program; NULL */
  double cutting;                 /* seconds that it took */
  double seconds;                 /* of all its runs */
  double floor;                   /* seconds of a run on one thread in the caches */
  long long runs;
  struct tiles tiles; /* without items: it runs loop by loop */
  struct work *works;
};

/* Data of fewer bytes fit into the caches anyway, and gain nothing. */
double tiled_worth_bytes(const struct op_context *ctx);
/* The wish for tiles of `tile` bytes of data of so many bytes; and the wish after a refusal: the mesh may be
 * periodic, or have few elements beside its border. */
struct tiles_wish tiled_wish(double bytes, double tile, bool forced);
void tiled_wish_periodic(struct tiles_wish *wish);
/* Once for a chain: into tiles, or none with the reason in tiles.refused. */
int tiled_cut(struct op_context *ctx, struct tiled *t, bool forced, struct error *err);
/* The same behind the program, which may change no map meanwhile. False: that cannot begin. */
bool tiled_cut_behind(struct op_context *ctx, struct tiled *t);
/* Take the outcome if the cut is over; `waits`: wait for it. */
void tiled_take_cut(struct op_context *ctx, struct tiled *t, bool waits);

#endif
