/* Several threads for an element: whether its loop over targets can be shared by them, and how many are worth it. */
#include <limits.h>
#include <stdlib.h>

#include "base/size.h"
#include "context/context.h"
#include "gpu.h"
#include "jit/jit.h"
#include "jit/proof/found.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/record.h"
#include "services/services.h"

const char *gpu_together_refusal(const struct loop *loop, const struct gpu_shape *s) {
  if (loop->meets)
    return "elements meet in what they write";
  for (int i = 0; i < loop->nargs; i++) {
    const struct map *map = loop->args[i].map;
    if (map && map->first && map->longest > INT_MAX - GPU_ROWS_MOST)
      return "an element has too many targets to count by more than one";
  }
  enum split_why why;
  return gpu_rows_can(&loop->desc, s, &why) ? NULL : found_why(why);
}

int gpu_look_at_rows(struct op_context *ctx, struct loop *loop, int code, struct error *err) {
  struct desc *d = &loop->desc;
  struct gpu *c = gpu_of(ctx, loop->space);
  struct row_facts rows = {.why = WHY_CONDITIONS}; /* which may hold here and not on the device */
  struct error said = {0};
  if (!desc_any_ragged(d) || d->entry || d->nmembers)
    return code;
  if (ctx->comm->rank == 0 && loop->kernel.certain && context_jit(ctx, &c->prover, &said) == OP_OK)
    jit_rows(c->prover, d, &rows);
  error_free(&said);
  struct comm *comm = ctx->agreement;
  const int came = comm->table->broadcast(comm, &rows, sizeof rows, 0, code ? &said : err);
  error_free(&said);
  free(d->rows);
  d->rows = array_new(1, sizeof *d->rows);
  if (code || came || !d->rows)
    return code ? code : came ? came : error_memory(err, "what is known of a kernel's rows", sizeof *d->rows);
  *d->rows = rows;
  for (int i = 0; i < d->nargs; i++)
    d->args[i].stays = c->driver->dialect == GPU_DIALECT_OPENCL && row_facts_stay(d->rows, i);
  return OP_OK;
}

int gpu_together_look(struct op_context *ctx, const struct loop *loop, int code, struct gpu_together *out,
                      struct error *err) {
  enum { MEAN, LONGEST, FACTS };
  double most[FACTS] = {0};
  if (!desc_any_ragged(&loop->desc))
    return code;
  for (int i = 0; i < loop->nargs; i++) {
    const struct map *map = loop->args[i].map;
    const long size = map && map->first ? map->from->extents[EXTENT_OWNED] : 0;
    const double mean = size > 0 ? (double)map_end(map, size - 1) / (double)size : 0;
    most[MEAN] = mean > most[MEAN] ? mean : most[MEAN];
    if (size > 0 && (double)map->longest > most[LONGEST])
      most[LONGEST] = (double)map->longest;
  }
  code = agree_on_largest(ctx->agreement, code, most, FACTS, err);
  *out = (struct gpu_together){.mean = most[MEAN], .longest = most[LONGEST]};
  return code;
}

/* Most steps have a target, and no thread has many of them. */
static int near_mean(const struct gpu_together *w, int most) {
  int width = GPU_ROWS_LEAST;
  while (2 * width <= most && 2 * width <= w->mean)
    width *= 2;
  return width;
}

/* From here on a thread by itself holds up all others. */
enum { LONG = 1024, LONGISH = 64 };
/* Shorter ones of neighbours are in one line of a cache: a thread each is as good. */
enum { USUAL_MEAN = 8, LEAST_MEAN = 4 };

int gpu_together_first(const struct gpu_together *w, int warp) {
  return w->longest >= LONG ? warp : w->mean >= USUAL_MEAN ? near_mean(w, warp) : 0;
}

int gpu_together_others(const struct gpu_together *w, int warp, int out[GPU_TOGETHER_OTHERS]) {
  const int near = near_mean(w, warp);
  int count = 0;
  if (w->mean < LEAST_MEAN && w->longest < LONGISH)
    return 0;
  out[count++] = near;
  if (2 * near < warp)
    out[count++] = 2 * near;
  if (near != warp)
    out[count++] = warp;
  return count;
}
