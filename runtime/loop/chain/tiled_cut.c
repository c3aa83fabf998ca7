/* A chain is cut into tiles, or into blocks of tasks. */
#include <stdlib.h>

#include "base/behind.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "loop/chain/tiled.h"
#include "loop/chain/tiled_describe.h"
#include "plan/tasks.h"
#include "plan/tiles.h"
#include "plan/tiles_prefix.h"

/* A chunk should be many tiles. */
static const double chunk_bytes = 8e6;
enum { LEAST_CHUNKS = 8, MOST_CHUNKS = 64, MOST_BLOCKS = 1024 };
/* Sets that run in the order of their targets: fewer elements than the largest set has, divided by this; and where that
 * is refused. */
enum { SMALL_SHARE = 64, LARGER_SHARE = 12 };

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

/* How a chain is cut, and the outcome. Another thread may do it: the context is not needed. */
struct cutting {
  struct tiled_description d;
  struct tiles tiles;
  double bytes, worth; /* of a tile; data of fewer bytes are not cut */
  int threads;
  bool tasks, forced, verifies;
  struct team *team;      /* NULL: one thread */
  struct op_context *ctx; /* whose plans have prefixes of periodic maps; NULL: they are built here */
  struct behind behind;   /* the thread, if there is one; and what came of it */
  double seconds;
  struct error err;
};

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

void tiled_refuse_gaps(struct tiles *t, bool forced) {
  if (forced || t->gap <= t->all / 2)
    return;
  tiles_free(t);
  text_add(&t->refused, "most of it would lie between chunks; a larger mesh could run in tiles");
}

/* A refused mesh may be periodic, or have few elements beside its border. If not, the first reason stays. */
static int try_periodic(struct cutting *c, struct tiles_wish *wish, struct error *err) {
  struct tiles tiles = {0};
  tiled_wish_periodic(wish);
  int code = c->ctx ? tiled_describe_periodic(c->ctx, &c->d, err) : OP_OK;
  if (!code)
    code = tiles_build(&tiles, &c->d.chain, wish, c->team, err);
  struct tiles *worse = !code && tiles.schedule.nitems ? &c->tiles : &tiles;
  tiles_free(worse);
  if (worse == &c->tiles)
    c->tiles = tiles;
  return code;
}

static int cut_tiles(struct cutting *c, struct error *err) {
  struct tiles *t = &c->tiles;
  int code = OP_OK;
  if (!c->forced && c->d.bytes < c->worth)
    text_add(&t->refused, "its data are small");
  else {
    struct tiles_wish wish = tiled_wish(c->d.bytes, c->bytes, c->forced);
    code = tiles_build(t, &c->d.chain, &wish, c->team, err);
    if (!code && text_str(&t->refused)[0])
      code = try_periodic(c, &wish, err);
  }
  if (!code)
    tiled_refuse_gaps(t, c->forced);
  if (!code && t->schedule.nitems && c->verifies)
    code = chain_verify(t, &c->d.chain, err);
  if (!code && t->schedule.nitems)
    tiles_deal(t, c->threads);
  return code;
}

/* Enough of them for many threads, though they become small. */
static int cut_tasks(struct cutting *c, struct error *err) {
  enum { LEAST = 64, LEAST_BLOCKS = 32, MOST_TASK_BLOCKS = 4096 };
  const int wanted = number_of_pieces(c->d.bytes, c->bytes);
  const struct tasks_wish wish = {.blocks = wanted < LEAST_BLOCKS       ? LEAST_BLOCKS
                                            : wanted < MOST_TASK_BLOCKS ? wanted
                                                                        : MOST_TASK_BLOCKS,
                                  .least = LEAST};
  int code = tasks_of_chain(&c->tiles, &c->d.chain, &wish, c->team, err);
  if (!code && c->verifies)
    code = chain_verify(&c->tiles, &c->d.chain, err);
  return code;
}

static int cut(struct cutting *c, struct error *err) {
  const int code = (c->tasks ? cut_tasks : cut_tiles)(c, err);
  if (code)
    tiles_free(&c->tiles);
  return code;
}

static int begin(struct op_context *ctx, const struct tiled *t, bool forced, struct cutting *c,
                 struct error *err) {
  *c = (struct cutting){.bytes = t->bytes,
                        .worth = tiled_worth_bytes(ctx),
                        .threads = loops_threads(t->loops, t->n),
                        .tasks = t->tasks,
                        .forced = forced,
                        .verifies = forced || ctx->diags >= 2};
  return tiled_describe(t->loops, t->n, &c->d, err);
}

static void take(const struct op_context *ctx, struct tiled *t, const struct cutting *c, int code) {
  t->tried = true;
  t->tiles = c->tiles;
  t->cutting = c->seconds;
  if (!code)
    say(ctx, t, t->cutting);
}

int tiled_cut(struct op_context *ctx, struct tiled *t, bool forced, struct error *err) {
  struct cutting c;
  const double start = clock_seconds();
  int code = begin(ctx, t, forced, &c, err);
  c.team = ctx->team;
  c.ctx = ctx;
  if (!code && !t->tasks)
    code = tiled_find_prefixes(ctx, &c.d, true, err);
  if (!code)
    code = cut(&c, err);
  c.seconds = clock_seconds() - start;
  take(ctx, t, &c, code);
  tiled_describe_free(ctx, &c.d);
  return code;
}

/* ---- behind the program ------------------------------------------------------------------------------*/

static void cut_behind(void *argument) {
  struct cutting *c = argument;
  const double start = clock_seconds();
  int code = OP_OK;
  for (int m = 0; !code && c->d.missing && m < c->d.chain.nmaps; m++) {
    struct tiled_prefix *missing = &c->d.missing[m];
    if (!missing->columns)
      continue;
    code = plan_entry_build(&missing->entry, &missing->wish, NULL, &c->err);
    c->d.maps[m].prefix = code ? NULL : &missing->entry.prefix;
  }
  if (!code)
    cut(c, &c->err);
  c->seconds = clock_seconds() - start;
}

bool tiled_cut_behind(struct op_context *ctx, struct tiled *t) {
  const int polite = 5; /* the processor is free, or should be */
  struct error ignored = {0};
  struct cutting *c = array_new(1, sizeof *c);
  if (!c)
    return false;
  int code = begin(ctx, t, false, c, &ignored);
  if (!code && !t->tasks)
    code = tiled_find_prefixes(ctx, &c->d, false, &ignored);
  behind_open(&c->behind, polite);
  error_free(&ignored);
  if (!code && behind_begin(&c->behind, cut_behind, c)) {
    t->cutting_behind = c;
    ctx->behind++;
    return true;
  }
  tiled_describe_free(ctx, &c->d);
  free(c);
  return false;
}

/* A chain that could not be cut runs loop by loop. */
void tiled_take_cut(struct op_context *ctx, struct tiled *t, bool waits) {
  struct cutting *c = t->cutting_behind;
  if (!c)
    return;
  const bool lost = behind_is_lost(&c->behind);
  if (!lost && !waits && !behind_is_done(&c->behind))
    return;
  t->cutting_behind = NULL;
  ctx->behind--;
  if (lost) /* nobody knows what its memory holds */
    return;
  behind_finish(&c->behind);
  tiled_keep_prefixes(ctx, &c->d);
  take(ctx, t, c, c->err.code);
  tiled_describe_free(ctx, &c->d);
  error_free(&c->err);
  free(c);
}
