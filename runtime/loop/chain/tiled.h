/* Chains in tiles, or as tasks (`way->tasks`): what is known of those that were run before, and running them so. */
#ifndef OP2JIT_LOOP_CHAIN_TILED_H
#define OP2JIT_LOOP_CHAIN_TILED_H

#include "base/list.h"
#include "loop/chains.h"
#include "plan/tiles.h"
#include "record/launch.h"

/* Run the launches, which are ready, in tiles; or, to compare with that, the pieces of tiles loop by loop, whose sums
 * have the same bits. *ran is false where they cannot: then nothing has happened yet. OP_ERR_PLAN at diagnostic levels
 * from 2 on, and where they are forced, if the tiles are wrong. */
int tiled_run(struct op_context *ctx, struct launch *const *launches, int n, const struct chain_way *way,
              bool *ran, struct error *err);
/* A chain that ran in tiles. */
struct tiled_facts {
  const char *first, *last; /* its loops */
  int loops, tiles, chunks; /* chunks 0: blocks that wait for one another, in place of tiles */
  long long runs;
  double tile_bytes, gap; /* gap: the share of elements in gaps */
  double called_bytes,
      bytes; /* that its loops must move one by one; that it must move if each dat and map is moved once */
  double cutting, seconds; /* of all runs */
};
/* Facts of chain number i, from 0; false: it did not run, or there is none (*more is false). */
bool tiled_tell(const struct op_context *ctx, int i, struct tiled_facts *out, bool *more);
/* It was cut before, or it is known that it cannot be. */
bool tiled_is_known(struct op_context *ctx, struct launch *const *launches, int n,
                    const struct chain_way *way);
/* Cut it behind the program. True: it was cut, or cannot be, or only when it runs. */
bool tiled_prepare(struct op_context *ctx, struct loop *const *loops, int n, const struct chain_way *way);
/* Finish all cutting behind the program: maps are about to change. */
void tiled_stay(struct op_context *ctx);
/* The loops' data are so large that it could pay: what fits into the caches anyway gains nothing. */
bool tiled_pays(const struct op_context *ctx, struct loop *const *loops, int n);
/* Bytes that loops must move one by one, or if each dat and map is moved once; and that their dats and maps have. */
struct tiled_bytes {
  double called, moved, data;
};
struct tiled_bytes tiled_bytes(struct loop *const *loops, int n);
/* They run on threads, and some loops for long enough. */
bool tiled_pays_as_tasks(struct loop *const *loops, int n);
/* That cutting took so far. */
double tiled_seconds(const struct op_context *ctx);
/* Forget the chains that begin with the loop and run in another way. */
void tiled_forget_others(struct op_context *ctx, const struct loop *first, const struct chain_way *way);
/* Forget the chains that have the loop. */
void tiled_forget_with(struct op_context *ctx, const struct loop *loop);
void tiled_forget(struct op_context *ctx);

/* ---- inside tiled.c and tiled_cut.c ---- */
struct tiled {
  struct arrays memory; /* of its loops and works */
  struct loop **loops;
  int n;
  double bytes; /* of a tile, or of a block of tasks */
  bool tasks;
  bool tried;                     /* to cut it */
  struct cutting *cutting_behind; /* it is being cut behind the program; NULL */
  double cutting;                 /* seconds that it took */
  double seconds;                 /* of all its runs */
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
/* No tiles where most elements would lie between chunks, unless they are forced. */
void tiled_refuse_gaps(struct tiles *t, bool forced);
/* Once for a chain: into tiles, or none with the reason in tiles.refused. */
int tiled_cut(struct op_context *ctx, struct tiled *t, bool forced, struct error *err);
/* The same behind the program, which may change no map meanwhile. False: that cannot begin. */
bool tiled_cut_behind(struct op_context *ctx, struct tiled *t);
/* Take the outcome if the cut is over; `waits`: wait for it. */
void tiled_take_cut(struct op_context *ctx, struct tiled *t, bool waits);

#endif
