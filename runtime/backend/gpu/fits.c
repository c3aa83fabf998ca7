/* The loops that a device can run at all, and in which orders. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "gpu.h"
#include "jit/found.h"
#include "jit/jit.h"
#include "jit/kernel/says.h"
#include "plan/plan.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/record.h"
#include "services/services.h"

/* A device without a type of that name runs loops of the others. */
int gpu_check_types(const struct gpu *c, const struct loop *loop, struct error *err) {
  for (int i = 0; c->device.no_double && i < loop->nargs; i++)
    if (loop->desc.args[i].type == TYPE_DOUBLE)
      return error_set(
          err, OP_ERR_BACKEND,
          "loop %s: argument %d is double, which %s (%s) does not have (no cl_khr_fp64): use float, or "
          "another device",
          loop->name, i + 1, c->device.label, c->device.name);
  if (c->device.no_double && (loop->desc.says & SAYS_DOUBLES))
    return error_set(
        err, OP_ERR_BACKEND,
        "loop %s: its kernel has values of type double, which %s (%s) does not have (no cl_khr_fp64): "
        "use float, or another device",
        loop->name, c->device.label, c->device.name);
  return OP_OK;
}

/* In OpenCL a work-item has copies of rows of ragged maps, where it does more than read and write them in place: room for
 * the longest, in a power of two, so that a larger mesh may do with the same code. Drivers of CPUs have those of a whole
 * group on a stack. */
int gpu_make_room(struct loop *loop, struct error *err) {
  enum { ROOM = 4096 };
  size_t bytes = 0;
  for (int i = 0; i < loop->nargs; i++) {
    const struct desc_arg *a = &loop->desc.args[i];
    if (!a->present || !desc_is_ragged(&loop->desc, a) || a->stays)
      continue;
    const size_t longest = (size_t)loop->args[i].map->longest;
    size_t most = 1;
    while (most < longest && most <= ROOM)
      most *= 2;
    bytes += most * (size_t)a->dim * type_info(a->type)->size * (access_is_extremum(a->access) ? 2 : 1);
    if (bytes > ROOM)
      return error_set(
          err, OP_ERR_SIZE,
          "loop %s: an element has %zu targets by ragged map \"%s\"; the kernel does more with their "
          "rows than to read and write them (argument %d), so in OpenCL each work-item has copies, and has "
          "room for %d bytes; write *OP_ROW(x, k) or OP_ROW(x, k)[i] wherever a value is used, or use "
          "OP2_BACKEND=cuda, hip or openmp",
          loop->name, longest, loop->args[i].map->name, i + 1, ROOM);
    loop->desc.maps[a->map].most = (int)most;
  }
  return OP_OK;
}

/* ---- orders ---- */

bool gpu_are_sums(const struct gpu_targets *t) {
  bool sums = true;
  for (int k = 0; k < t->count; k++)
    sums &= t->items[k].access == OP_INC;
  return sums;
}

/* Where every bit counts, sums are made in the order of the elements. Sums of whole numbers are the same in any
 * order. */
bool gpu_is_in_order(const struct loop *loop, const struct gpu_targets *t) {
  bool floats = false;
  for (int k = 0; k < t->count; k++)
    floats |= type_info(loop->desc.dats[t->items[k].dat].type)->is_float;
  return floats && (loop->reproducible || strcmp(loop->desc.fp, "strict") == 0);
}

bool gpu_is_parted(const struct loop *loop) {
  return loop->reproducible && loop->ready.nparts > 1;
}

int gpu_ordering_part(const struct loop *loop, const struct gpu_shape *s) {
  const bool orders = s->strategy == GPU_COLOURS || s->strategy == GPU_APART;
  int last = -1;
  for (int p = 0; orders && gpu_is_parted(loop) && p < loop->ready.nparts; p++)
    if (loop->ready.parts[p].begin < loop->ready.parts[p].end)
      last = p;
  return last;
}

/* Elements that meet in what they write run in the order of the program's numbers then, too. */
const char *gpu_order_refusal(const struct loop *loop, const struct gpu_targets *t,
                              const struct gpu_shape *s) {
  if (!loop->reproducible)
    return NULL;
  if (s->rows)
    return "several threads for an element, whose sums come in another order than OP2_REPRODUCIBLE asks for";
  const bool orders = s->strategy == GPU_COLOURS || s->strategy == GPU_ORDERED || s->strategy == GPU_APART;
  return orders || !gpu_is_in_order(loop, t) ? NULL
                                             : "a form that adds in another order than OP2_REPRODUCIBLE asks "
                                               "for; ordered, apart and colours have that";
}

int *gpu_list_colours(const struct plan *plan, long begin, long owned) {
  int *list = array_new((size_t)plan->size, sizeof *list);
  for (int k = 0, at = 0; list && k < plan->ncolours; k++)
    for (int copies = 0; copies < 2; copies++)
      for (int i = plan->colour_first[k]; i < plan->colour_first[k + 1]; i++)
        if ((begin + plan->block_map[i] >= owned) == copies)
          list[at++] = (int)begin + plan->block_map[i];
  return list;
}

int *gpu_list_blocks(const struct plan *p, long first) {
  int *list = array_new((size_t)p->size, sizeof *list);
  int *next = array_new((size_t)p->max_element_colours + 1, sizeof *next);
  for (int b = 0; list && next && b < p->nblocks; b++) {
    long begin = (long)b * p->block_size,
         end = begin + p->block_size < p->size ? begin + p->block_size : p->size;
    memset(next, 0, ((size_t)p->max_element_colours + 1) * sizeof *next);
    for (long e = begin; e < end; e++)
      next[p->element_colour[e] + 1 <= p->max_element_colours ? p->element_colour[e] + 1 : 0]++;
    next[0] = 0;
    for (int k = 1; k < p->max_element_colours; k++)
      next[k] += next[k - 1];
    for (long e = begin; e < end; e++)
      list[begin + next[p->element_colour[e]]++] = (int)(first + e);
  }
  if (!next) {
    free(list);
    list = NULL;
  }
  free(next);
  return list;
}

/* ---- several threads for an element: whether its loop over targets can be shared by them, and how many are worth it ---- */

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
  struct facts facts = {.rows.why = WHY_CONDITIONS}; /* which may hold here and not on the device */
  const struct jit_wish wish = {0};
  struct error said = {0}; /* is told when the code is asked for */
  bool asked;
  if (!desc_any_ragged(d) || d->entry || d->nmembers)
    return code;
  if (ctx->comm->rank == 0 && loop->kernel.certain && context_jit(ctx, &c->prover, &said) == OP_OK)
    jit_facts(c->prover, d, &wish, &facts, &asked, &said);
  error_free(&said);
  struct comm *comm = ctx->agreement;
  const int came = comm->table->broadcast(comm, &facts.rows, sizeof facts.rows, 0, code ? &said : err);
  error_free(&said);
  free(d->rows);
  d->rows = array_new(1, sizeof *d->rows);
  if (code || came || !d->rows)
    return code ? code : came ? came : error_memory(err, "what is known of a kernel's rows", sizeof *d->rows);
  *d->rows = facts.rows;
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
