/* One variant made ready: its program, its plan on the device, the list of its launches. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "gpu.h"
#include "mesh/mesh.h"
#include "plan/listed.h"
#include "plan/plan_cache.h"
#include "ranks/agree.h"
#include "record/columns.h"
#include "record/record.h"
#include "services/services.h"

/* Everything that the steps below share. */
struct making {
  struct op_context *ctx;
  struct gpu *c;
  struct loop *loop;
  struct gpu_variant *v;
  struct loop_part all; /* of all parts */
  const struct loop_part *part;
  struct gpu_part *p;
  const struct gpu_targets *targets;
  const struct plan *plan; /* NULL: none */
  struct error *err;
};

static long elements(const struct making *w) {
  return w->part->end - w->part->begin;
}

/* ---- plans ---- */
/* An argument with the map of this number in the description. */
static const struct loop_arg *arg_of_map(const struct loop *loop, int map) {
  for (int i = 0; i < loop->nargs; i++)
    if (loop->desc.args[i].map == map)
      return &loop->args[i];
  return NULL;
}

static struct plan_column column_of(const struct making *w, const struct gpu_column *c) {
  if (c->map < 0)
    return (struct plan_column){.arity = 1,
                                .column = (int)w->part->begin,
                                .target = w->loop->set->id,
                                .target_size = w->loop->set->extents[EXTENT_NONEXEC]};
  const struct map *map = arg_of_map(w->loop, c->map)->map;
  if (map->first) {
    const bool entry = w->loop->args[c->arg].entry;
    const struct set *target = entry ? map->entries : map->to;
    return (struct plan_column){.table = entry ? map->numbers : map->table,
                                .first = map->first + w->part->begin,
                                .arity = 1,
                                .target = target->id,
                                .target_size = target->extents[EXTENT_NONEXEC]};
  }
  return (struct plan_column){.table = map->table + (size_t)w->part->begin * (size_t)map->arity,
                              .arity = map->arity,
                              .column = c->column,
                              .target = map->to->id,
                              .target_size = map->to->extents[EXTENT_NONEXEC]};
}

/* The program's numbers of the part's elements, where the order of sums is theirs; NULL: it is that of the elements. */
static const int *numbers(const struct making *w) {
  const int *to_user = w->loop->set->to_user;
  return w->loop->reproducible && to_user ? to_user + w->part->begin : NULL;
}

static int get_plan(struct making *w, const struct plan_wish *wish, const struct plan_entry **out) {
  bool built = false;
  const struct plan_entry **plans = array_more(w->p->plans, (size_t)w->p->nplans, sizeof *plans);
  if (!plans)
    return error_memory(w->err, "a loop's plans", sizeof *plans);
  w->p->plans = plans;
  int code = context_plan(w->ctx, w->loop->name, wish, out, &built, w->err);
  if (code)
    return error_prefix(w->err, "loop %s: ", w->loop->name);
  plans[w->p->nplans++] = *out;
  if (built)
    w->loop->stats.plan_seconds += (*out)->seconds;
  return OP_OK;
}

/* The columns of all targets; `staged` gets their places. Elements that meet in what they write do so in more than targets
 * of increments. */
static int list_columns(struct making *w, struct plan_column **out, struct plan_staged staged[OP_MAX_ARGS],
                        int *count) {
  int n = 0;
  if (w->loop->meets)
    return loop_columns(w->loop, w->part, COLUMNS_WRITTEN, out, count, w->err);
  for (int k = 0; k < w->targets->count; k++)
    n += w->targets->items[k].ncolumns;
  *count = n;
  *out = array_new((size_t)n, sizeof **out);
  if (!*out)
    return error_memory(w->err, "a plan", (size_t)n * sizeof **out);
  for (int k = 0, at = 0; k < w->targets->count; k++) {
    staged[k] = (struct plan_staged){.first = at, .count = w->targets->items[k].ncolumns};
    for (int c = 0; c < w->targets->items[k].ncolumns; c++)
      (*out)[at++] = column_of(w, &w->targets->items[k].columns[c]);
  }
  return OP_OK;
}

/* Elements that the plan has together. */
static int block_size(const struct making *w) {
  const struct gpu_shape *s = &w->v->shape;
  if (s->strategy == GPU_WARPS && !s->joined)
    return w->c->device.lanes;
  return s->strategy == GPU_COLOURS ? 1 : s->block;
}

/* Blocks of elements and their colours, or what warps sum; COLOURS has blocks of one element. Elements that meet in what they write do so in
 * more than targets of increments. */
static int make_plan(struct making *w) {
  const enum gpu_strategy s = w->v->shape.strategy;
  int n = 0;
  struct plan_column *columns = NULL;
  struct plan_staged staged[OP_MAX_ARGS] = {{0}};
  int code = list_columns(w, &columns, staged, &n);
  const bool stages = gpu_has_shared(s);
  struct plan_wish wish = {.request = {.begin = w->part->begin,
                                       .size = elements(w),
                                       .block_size = block_size(w),
                                       .columns = columns,
                                       .ncolumns = gpu_sums_by_targets(s) ? 0 : n,
                                       .staged_columns = stages ? columns : NULL,
                                       .staged = stages ? staged : NULL,
                                       .nstaged = stages ? w->targets->count : 0,
                                       .numbers = numbers(w),
                                       .element_colours = gpu_has_blocks(s)},
                           .strategy = s == GPU_WARPS     ? &strategy_warps
                                       : s == GPU_ORDERED ? &strategy_ordered
                                                          : &strategy_plan,
                           .set_name = w->loop->set->name,
                           .epoch = w->ctx->mesh->epoch};
  const struct plan_entry *entry = NULL;
  if (!code)
    code = get_plan(w, &wish, &entry);
  if (!code)
    w->plan = &entry->plan;
  free(columns);
  return code;
}

/* In place of colours: each launch has the elements that wait for none of the later ones. */
static int make_levels(struct making *w) {
  int n = 0;
  struct plan_column *columns = NULL;
  struct plan_staged staged[OP_MAX_ARGS] = {{0}};
  int code = list_columns(w, &columns, staged, &n);
  const struct plan_request r = {
      .begin = w->part->begin, .size = elements(w), .columns = columns, .ncolumns = n, .numbers = numbers(w)};
  w->p->levels = array_new(1, sizeof *w->p->levels);
  if (!code && !w->p->levels)
    code = error_memory(w->err, "a plan", sizeof *w->p->levels);
  if (!code)
    code = plan_levels(w->p->levels, &r, w->err);
  w->plan = w->p->levels;
  free(columns);
  if (!code)
    log_line(w->ctx->log, LOG_INFO, "plan",
             "loop %s: elements meet, and run in the order of the program's numbers, in %d launches",
             w->loop->name, w->plan->ncolours);
  return code;
}

/* Behind the elements whose results count. */
static long end_of_results(const struct making *w) {
  return gpu_slot_bytes(&w->loop->desc) ? w->loop->set->extents[EXTENT_OWNED] : w->all.end;
}

static int make_list(struct making *w) {
  const long begin = w->part->begin;
  w->p->list = w->v->shape.sorted ? gpu_list_blocks(w->plan, begin)
                                  : gpu_list_colours(w->plan, begin, end_of_results(w));
  return w->p->list ? OP_OK : error_memory(w->err, "a list of elements", (size_t)w->plan->size * sizeof(int));
}

/* ---- launches ---- */
static int blocks_for(const struct gpu_variant *v, long count) {
  long each = (long)gpu_elements(&v->shape) * v->each;
  return (int)((count + each - 1) / each);
}

static bool runs_all_at_last(const struct gpu_variant *v) {
  return v->ordering >= 0 && v->shape.strategy == GPU_COLOURS;
}

/* Two for each level: of the elements whose results count, whose slots come first, and of copies of others' elements. */
static int make_levelled_launches(struct making *w) {
  struct gpu_variant *v = w->v;
  const int count = 2 * w->plan->ncolours, *first = w->plan->colour_first;
  const long owned = end_of_results(w);
  struct gpu_launch *l = w->p->launches = arrays_add(&w->p->memory, (size_t)count, sizeof *l);
  if (!l)
    return error_memory(w->err, "a loop's launches", (size_t)count * sizeof *l);
  w->p->nlaunches = count;
  for (int k = 0; k < count; k += 2) {
    int cut = first[k / 2];
    while (cut < first[k / 2 + 1] && w->p->list[cut] < owned)
      cut++;
    l[k] = (struct gpu_launch){.begin = first[k / 2], .end = cut};
    l[k + 1] = (struct gpu_launch){.begin = cut, .end = first[k / 2 + 1]};
  }
  for (int copies = 0; copies < 2; copies++)
    for (int k = copies; k < count; k += 2) {
      l[k].slot = v->nslots;
      l[k].blocks = blocks_for(v, l[k].end - l[k].begin);
      v->nslots += l[k].blocks;
      v->nresults += copies ? 0 : l[k].blocks;
    }
  return OP_OK;
}

static int make_launches(struct making *w) {
  struct gpu_variant *v = w->v;
  const struct plan *p = gpu_sums_by_targets(v->shape.strategy) ? NULL : w->plan; /* it has no colours */
  bool blocks = gpu_has_blocks(v->shape.strategy);
  const int count = p ? p->ncolours : 1;
  w->p->launches = arrays_add(&w->p->memory, (size_t)count, sizeof *w->p->launches);
  if (!w->p->launches)
    return error_memory(w->err, "a loop's launches", (size_t)count * sizeof *w->p->launches);
  w->p->nlaunches = count;
  for (int k = 0; k < count; k++) {
    struct gpu_launch *l = &w->p->launches[k];
    *l = (struct gpu_launch){.begin = (int)w->part->begin, .end = (int)w->part->end, .slot = v->nslots};
    if (p && blocks) {
      l->first = p->colour_first[k];
      l->blocks = p->colour_first[k + 1] - l->first;
    } else {
      l->begin = p ? p->colour_first[k] : l->begin;
      l->end = p ? p->colour_first[k + 1] : l->end;
      l->blocks = blocks_for(v, l->end - l->begin);
    }
    v->nslots += l->blocks;
  }
  return OP_OK;
}

/* ---- arrays ---- */
static int put_array(struct making *w, int at, const void *host, size_t count, size_t size) {
  return gpu_array_get(w->c, host, count * size, w->ctx->mesh->epoch, &w->p->arrays[at], w->err);
}

static int parameter_array(struct making *w, int at) {
  const struct gpu_parameter *p = &w->v->parameters.items[at];
  const struct plan *plan = w->plan;
  const size_t n = (size_t)elements(w);
  switch (p->kind) {
  case GPU_P_MAP: {
    const struct map *map = arg_of_map(w->loop, p->index)->map;
    /* There is slack behind a table without entries. */
    const size_t entries = (size_t)map_begin(map, map->from->extents[EXTENT_EXEC]);
    return put_array(w, at, map->table, entries ? entries : 1, sizeof(int));
  }
  case GPU_P_OFFSETS: {
    const struct map *map = arg_of_map(w->loop, p->index)->map;
    return put_array(w, at, map->first, (size_t)map->from->extents[EXTENT_EXEC] + 1, sizeof *map->first);
  }
  case GPU_P_ENTRIES: {
    const struct map *map = arg_of_map(w->loop, p->index)->map;
    const size_t entries = (size_t)map_begin(map, map->from->extents[EXTENT_EXEC]);
    return put_array(w, at, map->numbers, entries ? entries : 1, sizeof(int));
  }
  case GPU_P_NUMBERS: {
    const struct set *set = w->loop->set;
    for (int m = 0; m < w->loop->desc.nmaps; m++)
      if (p->index && w->loop->desc.maps[m].to == p->index)
        set = arg_of_map(w->loop, m)->map->to;
    return put_array(w, at, set->to_user, (size_t)set->extents[EXTENT_NONEXEC], sizeof(int));
  }
  case GPU_P_LIST: return put_array(w, at, w->p->list ? w->p->list : plan->list, n, sizeof(int));
  case GPU_P_BLOCKS: return put_array(w, at, plan->block_map, (size_t)plan->nblocks, sizeof(int));
  case GPU_P_COLOURS: return put_array(w, at, plan->element_colour, n, sizeof *plan->element_colour);
  case GPU_P_COUNTS: return put_array(w, at, plan->block_ncolours, (size_t)plan->nblocks, sizeof(int));
  case GPU_P_STAGED_FIRST:
    return put_array(w, at, plan->staging[p->index].first, (size_t)plan->nblocks + 1, sizeof(long));
  case GPU_P_STAGED_TARGETS:
    return put_array(w, at, plan->staging[p->index].targets,
                     (size_t)plan->staging[p->index].first[plan->nblocks], sizeof(int));
  case GPU_P_STAGED_LOCAL:
    return put_array(w, at, plan->staging[p->index].local[p->column], n, sizeof(unsigned short));
  case GPU_P_SUMS_LAST:
    return put_array(w, at, plan->staging[p->index].last,
                     (size_t)plan->staging[p->index].first[plan->nblocks],
                     (size_t)plan->staging[p->index].entry_bytes);
  case GPU_P_SUMS_SLOTS:
    return put_array(w, at, plan->staging[p->index].slots, n * (size_t)plan->staging[p->index].ncolumns,
                     (size_t)plan->staging[p->index].entry_bytes);
  default: return OP_OK;
  }
}

/* The same for ORDERED: where what is added later begins, and to which targets. */
static int late_arrays(struct making *w, int k) {
  const struct plan_staging *s = &w->plan->staging[k];
  const int at = w->v->parameters.count + 2 * k;
  const int code = put_array(w, at, s->late_first, (size_t)s->nlate + 1, sizeof(int));
  return code ? code : put_array(w, at + 1, s->late, (size_t)s->nlate, sizeof(int));
}

/* For each target of APART: where its entries begin, and the entries. */
static int reverse_arrays(struct making *w, int k) {
  const struct gpu_target *t = &w->targets->items[k];
  struct plan_column *columns = array_new((size_t)t->ncolumns, sizeof *columns);
  if (!columns)
    return error_memory(w->err, "a reverse map", (size_t)t->ncolumns * sizeof *columns);
  for (int c = 0; c < t->ncolumns; c++)
    columns[c] = column_of(w, &t->columns[c]);
  const struct plan_wish wish = {.request = {.begin = w->part->begin,
                                             .size = elements(w),
                                             .columns = columns,
                                             .ncolumns = t->ncolumns,
                                             .numbers = numbers(w)},
                                 .strategy = w->loop->reproducible ? &strategy_collect : &strategy_gather,
                                 .set_name = w->loop->set->name,
                                 .epoch = w->ctx->mesh->epoch};
  const struct plan_entry *entry = NULL;
  int code = get_plan(w, &wish, &entry), at = w->v->parameters.count + 2 * k;
  free(columns);
  if (code)
    return code;
  const struct reverse_map *r = &entry->reverse[0];
  code = put_array(w, at, r->first, (size_t)r->size + 1, sizeof(int));
  return code ? code : put_array(w, at + 1, r->entries, (size_t)r->first[r->size], sizeof(int));
}

static int make_arrays(struct making *w) {
  const int nparameters = w->v->parameters.count;
  struct gpu_part *p = w->p;
  const bool later = gpu_adds_later(w->v->shape.strategy);
  p->narrays = nparameters + (later ? 2 * w->targets->count : 0);
  p->arrays = arrays_add(&p->memory, (size_t)p->narrays, sizeof *p->arrays);
  if (!p->arrays)
    return error_memory(w->err, "a loop's arrays", (size_t)p->narrays * sizeof *p->arrays);
  int code = OP_OK;
  for (int i = 0; !code && i < nparameters; i++)
    code = parameter_array(w, i);
  return code;
}

/* ---- memory ---- */
static size_t row_bytes(const struct making *w, int k) {
  const struct desc_dat *d = &w->loop->desc.dats[w->targets->items[k].dat];
  return (size_t)d->dim * type_info(d->type)->size;
}

static int make_apart(struct making *w) {
  struct gpu_part *p = w->p;
  p->apart = arrays_add(&p->memory, (size_t)w->targets->count, sizeof *p->apart);
  if (!p->apart)
    return error_memory(w->err, "increments", 0);
  for (int k = 0; k < w->targets->count; k++) {
    const struct plan_staging *s = w->plan ? &w->plan->staging[k] : NULL; /* ORDERED */
    const size_t bytes = row_bytes(w, k) * (s ? (size_t)s->late_first[s->nlate]
                                              : (size_t)elements(w) * (size_t)w->targets->items[k].ncolumns);
    int code = gpu_allocate(w->c, &p->apart[k].at, bytes, w->err,
                            "loop %s, variant %s: increments kept apart", w->loop->name, w->v->name);
    if (code)
      return code;
    p->apart[k].bytes = bytes;
  }
  return OP_OK;
}

/* Memory of increments that are kept apart, and how they are added: for this part, or for all behind the last one. */
static int make_later(struct making *w) {
  const bool apart = w->v->shape.strategy == GPU_APART;
  int code = OP_OK;
  if (w->v->ordering >= 0 && w->p != &w->v->parts[w->v->ordering])
    return OP_OK;
  if (w->v->ordering >= 0)
    w->part = &w->all;
  for (int k = 0; !code && k < w->targets->count; k++)
    code = (apart ? reverse_arrays : late_arrays)(w, k);
  return code ? code : make_apart(w);
}

static int make_shared(struct making *w) {
  const struct gpu_shape *s = &w->v->shape;
  struct gpu_part *p = w->p;
  size_t bytes = 0, meeting = gpu_meeting_bytes(&w->loop->desc, &w->v->shape);
  p->staged_at = arrays_add(&p->memory, (size_t)w->targets->count, sizeof *p->staged_at);
  if (!p->staged_at)
    return error_memory(w->err, "shared memory", 0);
  if (gpu_sums_by_targets(s->strategy))
    bytes = (size_t)(s->block / block_size(w)) * gpu_sums_bytes(&w->loop->desc, s, w->targets, block_size(w));
  bytes += (size_t)s->block * gpu_near_bytes(&w->loop->desc, s, w->targets);
  for (int k = 0; k < w->targets->count && s->strategy == GPU_STAGED; k++) {
    p->staged_at[k] = (int)bytes;
    bytes += ((size_t)w->plan->staging[k].max_targets * row_bytes(w, k) + 15) / 16 * 16;
  }
  if (bytes + meeting > (size_t)w->c->device.shared_most)
    return error_set(
        w->err, OP_ERR_SIZE,
        "loop %s, variant %s: a block needs %zu bytes of shared memory, %s has %d; use smaller blocks",
        w->loop->name, w->v->name, bytes + meeting, w->c->device.label, w->c->device.shared_most);
  p->shared = (unsigned)bytes;
  return OP_OK;
}

/* In OpenCL an address is a buffer: nothing is added to it. */
static int make_ticket(struct making *w) {
  static const unsigned none;
  struct gpu_variant *v = w->v;
  v->owns_ticket = v->shape.dialect == GPU_DIALECT_OPENCL;
  v->ticket = v->owns_ticket ? 0 : v->slots + v->slots_bytes - sizeof none;
  if (v->owns_ticket &&
      gpu_allocate(w->c, &v->ticket, sizeof none, w->err, "loop %s: results of blocks", w->loop->name))
    return w->err->code;
  return gpu_failed(w->c, w->c->driver->copy_in(w->c->self, v->ticket, &none, sizeof none), w->err,
                    "loop %s: preparing its results", w->loop->name);
}

static int make_results(struct making *w) {
  struct gpu_variant *v = w->v;
  size_t slot = gpu_slot_bytes(&w->loop->desc), warps = (size_t)(v->shape.block / w->c->device.width);
  if (!slot)
    return OP_OK;
  const bool has_ticket = gpu_has_ticket(&v->shape);
  warps = warps * (size_t)v->nslots + (size_t)(GPU_COMBINE_THREADS / w->c->device.width);
  v->slots_bytes = slot * (size_t)v->nslots + (has_ticket ? sizeof(unsigned) : 0);
  v->warps_bytes = gpu_meeting_bytes(&w->loop->desc, &v->shape) ? 0 : slot * warps;
  int code =
      gpu_allocate(w->c, &v->slots, v->slots_bytes, w->err, "loop %s: results of blocks", w->loop->name);
  if (!code && v->warps_bytes)
    code = gpu_allocate(w->c, &v->warps, v->warps_bytes, w->err, "loop %s: results of warps", w->loop->name);
  if (!code && has_ticket)
    code = make_ticket(w);
  return code ? code : gpu_landing(w->c, slot, w->err);
}

static int make_values(struct making *w) {
  const size_t n = (size_t)w->v->parameters.count;
  w->p->words = arrays_add(&w->p->memory, n, sizeof *w->p->words);
  w->p->values = arrays_add(&w->p->memory, n, sizeof *w->p->values);
  w->p->sizes = arrays_add(&w->p->memory, n, sizeof *w->p->sizes);
  for (size_t i = 0; w->p->sizes && i < n; i++)
    w->p->sizes[i] = (int)w->v->parameters.items[i].bytes;
  return w->p->memory.failed ? error_memory(w->err, "a kernel's parameters", n * sizeof(void *)) : OP_OK;
}

static bool is_in_memory(const struct gpu_parameter *p) {
  return (p->kind == GPU_P_GLOBAL || p->kind == GPU_P_START) && p->column;
}

/* Globals that are too long to travel with a launch. */
static int make_globals(struct making *w) {
  struct gpu_variant *v = w->v;
  v->globals = array_new((size_t)v->parameters.count, sizeof *v->globals);
  int code = v->globals ? OP_OK : error_memory(w->err, "a loop's globals", 0);
  for (int i = 0; !code && i < v->parameters.count; i++)
    if (is_in_memory(&v->parameters.items[i]) && !w->loop->desc.args[v->parameters.items[i].index].kept) {
      v->globals[i].bytes = w->loop->args[v->parameters.items[i].index].bytes;
      code = gpu_allocate(w->c, &v->globals[i].at, v->globals[i].bytes, w->err, "loop %s: globals",
                          w->loop->name);
    }
  return code;
}

static void release_globals(struct gpu *c, struct gpu_variant *v) {
  for (int i = 0; v->globals && i < v->parameters.count; i++)
    gpu_release(c, v->globals[i].at, v->globals[i].bytes);
  free(v->globals);
}

static void release_part(struct gpu *c, struct gpu_part *p, const struct gpu_targets *targets) {
  for (int i = 0; i < p->narrays && p->arrays; i++)
    gpu_array_put(c, p->arrays[i]);
  for (int k = 0; p->apart && k < targets->count; k++)
    gpu_release(c, p->apart[k].at, p->apart[k].bytes);
  for (int i = 0; i < p->nplans; i++)
    plan_cache_release(c->plans, p->plans[i]);
  if (p->levels)
    plan_free(p->levels);
  free(p->levels);
  free(p->plans);
  free(p->list);
  arrays_free(&p->memory);
}

void gpu_unmake(struct gpu *c, struct gpu_variant *v, const struct gpu_targets *targets) {
  for (int p = 0; p < LOOP_PARTS; p++)
    release_part(c, &v->parts[p], targets);
  if (v->owns_ticket)
    gpu_release(c, v->ticket, sizeof(unsigned));
  gpu_release(c, v->slots, v->slots_bytes);
  gpu_release(c, v->warps, v->warps_bytes);
  release_globals(c, v);
  gpu_parameters_free(&v->parameters);
  free(v->sums);
  *v = (struct gpu_variant){.shape = v->shape, .each = v->each, .name = v->name};
}

/* Plan, launches and memory of one part. */
static int make_part(struct making *w) {
  const enum gpu_strategy s = w->v->shape.strategy;
  const bool stages = gpu_has_shared(s);
  int code = OP_OK;
  w->plan = NULL;
  if (s == GPU_COLOURS && w->loop->reproducible)
    code = make_levels(w);
  else if (stages || gpu_has_blocks(s) || s == GPU_COLOURS)
    code = make_plan(w);
  if (!code && (stages || w->v->shape.near))
    code = make_shared(w);
  if (!code && (w->v->shape.sorted || s == GPU_COLOURS))
    code = make_list(w);
  if (!code)
    code = runs_all_at_last(w->v) ? make_levelled_launches(w) : make_launches(w);
  if (!code)
    code = make_arrays(w);
  if (!code && gpu_adds_later(s))
    code = make_later(w);
  return code ? code : make_values(w);
}

static int make_parts(struct making *w) {
  struct gpu_variant *v = w->v;
  int code = OP_OK;
  v->ordering = gpu_ordering_part(w->loop, &v->shape);
  w->all = (struct loop_part){.end = loop_end(w->loop)};
  if (runs_all_at_last(v)) {
    w->part = &w->all;
    w->p = &v->parts[v->ordering];
    return make_part(w);
  }
  for (int p = 0; !code && p < w->loop->ready.nparts; p++) {
    w->part = &w->loop->ready.parts[p];
    w->p = &v->parts[p];
    if (w->part->begin < w->part->end)
      code = make_part(w);
    if (p == w->loop->ready.nresults - 1)
      v->nresults = v->nslots;
  }
  return code;
}

static struct making making_of(struct op_context *ctx, struct loop *loop, int which, struct error *err) {
  const struct gpu_loop *l = loop->ready.backend_state;
  return (struct making){.ctx = ctx,
                         .c = gpu_of(ctx, loop->space),
                         .loop = loop,
                         .v = &l->variants[which],
                         .targets = &l->targets,
                         .err = err};
}

int gpu_plan(struct op_context *ctx, struct loop *loop, int which, struct error *err) {
  struct making w = making_of(ctx, loop, which, err);
  if (w.v->planned) /* its code is on its way */
    return OP_OK;
  int code = loop->ready.nneeds ? gpu_rows_prepare(ctx, loop, err) : OP_OK;
  if (!code)
    code = gpu_parameters_find(&loop->desc, &w.v->shape, w.targets, &w.v->parameters, err);
  if (!code)
    code = make_parts(&w);
  /* Ranks ask for code together. */
  code = agree_on_success(ctx->agreement, code, err);
  w.v->planned = !code;
  return code;
}

int gpu_code(struct op_context *ctx, struct loop *loop, int which, bool wait, struct error *err) {
  struct making w = making_of(ctx, loop, which, err);
  if (!wait && !gpu_program_prepare(ctx, w.c, &loop->desc, &w.v->shape))
    return OP_OK;
  int code = gpu_program_get(ctx, w.c, loop, &loop->desc, &w.v->shape, &w.v->program, err);
  if (!code)
    code = gpu_program_functions(w.c, loop, w.v, w.targets, err);
  if (!code)
    code = make_results(&w);
  if (!code)
    code = make_globals(&w);
  w.v->ready = !code;
  return code;
}
