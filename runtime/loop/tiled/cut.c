/* A chain is cut into tiles, or into blocks of tasks. */
#include "base/clock.h"
#include "base/log.h"
#include "context/context.h"
#include "loop/tiled/describe.h"
#include "loop/tiled/inner.h"
#include "plan/tasks/chain.h"
#include "plan/tiles/prefix.h"
#include "plan/tiles/tiles.h"

/* A chunk should be many tiles. */
static const double chunk_bytes = 8e6;
enum { LEAST_CHUNKS = 8, MOST_CHUNKS = 64, MOST_BLOCKS = 1024 };
/* Sets that run in the order of their targets: fewer elements than the largest set has, divided by this; and where that
 * is refused. */
enum { SMALL_SHARE = 64, LARGER_SHARE = 12 };

int tiled_threads(const struct tiled *t) {
  int most = 1;
  for (int i = 0; i < t->n; i++)
    most = t->loops[i]->ready.threads > most ? t->loops[i]->ready.threads : most;
  return most;
}

/* Powers of two, so that threads get alike shares; a matter of the mesh, as the bits of sums depend on it. */
static int chunks_for(double bytes) {
  int chunks = LEAST_CHUNKS;
  while (chunks < MOST_CHUNKS && 2 * chunks * chunk_bytes <= bytes)
    chunks *= 2;
  return chunks;
}

static void say(const struct op_context *ctx, const struct tiled *t, double seconds) {
  if (text_str(&t->tiles.refused)[0])
    log_line(ctx->log, LOG_INFO, "chain", "%s", text_str(&t->tiles.refused));
  else if (t->tasks)
    log_line(ctx->log, LOG_DEBUG, "chain", "%d loops from %s on: %d blocks that wait, made in %.2f ms", t->n,
             t->loops[0]->name, t->tiles.ntiles, 1e3 * seconds);
  else
    log_line(ctx->log, LOG_DEBUG, "chain",
             "%d loops from %s on: %d tiles in %d chunks, %.1f %% in gaps, cut in %.2f ms", t->n,
             t->loops[0]->name, t->tiles.ntiles, t->tiles.nchunks,
             100.0 * (double)t->tiles.gap / (double)t->tiles.all, 1e3 * seconds);
}

static int number_of_pieces(double bytes, double piece) {
  const double most = 1e6, pieces = bytes / piece;
  return (int)(pieces < most ? pieces : most) + 1;
}

struct tiles_wish tiled_wish(double bytes, double tile, bool forced) {
  return (struct tiles_wish){.tiles = number_of_pieces(bytes, tile),
                             .chunks = chunks_for(bytes),
                             .step = PREFIX_STEP,
                             .small = SMALL_SHARE,
                             .blocks = MOST_BLOCKS,
                             .always = forced};
}

void tiled_wish_periodic(struct tiles_wish *wish) {
  wish->wraps = true;
  wish->small = LARGER_SHARE;
}

/* What is refused may be periodic, or of few elements more than its border has. If not, the first reason stays. */
static int try_periodic(struct op_context *ctx, struct tiled *t, struct tiled_description *d,
                        struct tiles_wish *wish, struct error *err) {
  struct tiles tiles = {0};
  tiled_wish_periodic(wish);
  int code = tiled_describe_periodic(ctx, d, err);
  if (!code)
    code = tiles_build(&tiles, &d->chain, wish, ctx->team, err);
  struct tiles *worse = !code && tiles.schedule.nitems ? &t->tiles : &tiles;
  tiles_free(worse);
  if (worse == &t->tiles)
    t->tiles = tiles;
  return code;
}

static int cut_tiles(struct op_context *ctx, struct tiled *t, struct tiled_description *d, bool forced,
                     struct error *err) {
  int code = tiled_find_prefixes(ctx, d, err);
  if (!code && !forced && d->bytes < tiled_worth_bytes(ctx))
    text_add(&t->tiles.refused, "its data are small");
  else if (!code) {
    struct tiles_wish wish = tiled_wish(d->bytes, t->bytes, forced);
    code = tiles_build(&t->tiles, &d->chain, &wish, ctx->team, err);
    if (!code && text_str(&t->tiles.refused)[0])
      code = try_periodic(ctx, t, d, &wish, err);
  }
  if (!code && !forced && t->tiles.gap > t->tiles.all / 2) {
    tiles_free(&t->tiles);
    text_add(&t->tiles.refused, "most of it would lie between chunks; a larger mesh could run in tiles");
  }
  if (!code && t->tiles.schedule.nitems && (forced || ctx->diags >= 2))
    code = tiles_verify(&t->tiles, &d->chain, ctx->team, err);
  if (!code && t->tiles.schedule.nitems)
    tiles_deal(&t->tiles, tiled_threads(t));
  return code;
}

/* Enough of them for many threads, though they become small. */
static int cut_tasks(const struct op_context *ctx, struct tiled *t, const struct tiled_description *d,
                     bool forced, struct error *err) {
  enum { LEAST = 64, LEAST_BLOCKS = 32, MOST_TASK_BLOCKS = 4096 };
  const int wanted = number_of_pieces(d->bytes, t->bytes);
  const struct tasks_wish wish = {.blocks = wanted < LEAST_BLOCKS       ? LEAST_BLOCKS
                                            : wanted < MOST_TASK_BLOCKS ? wanted
                                                                        : MOST_TASK_BLOCKS,
                                  .least = LEAST};
  int code = tasks_of_chain(&t->tiles, &d->chain, &wish, ctx->team, err);
  if (!code && (forced || ctx->diags >= 2))
    code = tasks_verify_chain(&t->tiles, &d->chain, err);
  return code;
}

int tiled_cut(struct op_context *ctx, struct tiled *t, bool forced, struct error *err) {
  struct tiled_description d;
  const double start = clock_seconds();
  t->tried = true;
  int code = tiled_describe(t->loops, t->n, &d, err);
  if (!code)
    code = t->tasks ? cut_tasks(ctx, t, &d, forced, err) : cut_tiles(ctx, t, &d, forced, err);
  if (code)
    tiles_free(&t->tiles);
  t->cutting = clock_seconds() - start;
  if (!code)
    say(ctx, t, t->cutting);
  tiled_describe_free(ctx, &d);
  return code;
}
