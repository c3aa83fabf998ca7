#include "loop/chain/tiled_describe.h"

#include "base/list.h"
#include "context/context.h"
#include "include/op2jit.h"
#include "mesh/data.h"
#include "plan/plan_cache.h"
#include "record/columns.h"
#include "services/services.h"

enum { SET, MAP, DAT };

/* The number of this thing; a new one is behind all others. */
static int number_of(const void **known, int *count, const void *thing) {
  for (int i = 0; i < *count; i++)
    if (known[i] == thing)
      return i;
  known[*count] = thing;
  return (*count)++;
}

static int add_set(struct tiled_description *d, const struct set *set) {
  const int before = d->chain.nsets, number = number_of(d->known[SET], &d->chain.nsets, set);
  if (number == before)
    d->sets[number] = (struct chain_set){.name = set->name, .size = set->extents[EXTENT_OWNED]};
  return number;
}

/* A ragged one leads to its targets and, as another map, to its entries: of a subset's elements by their numbers. */
static int add_map(struct tiled_description *d, const struct map *map, bool entry) {
  const void *thing = !entry ? (const void *)map : map->numbers ? (const void *)map->numbers : map->entries;
  const int before = d->chain.nmaps, number = number_of(d->known[MAP], &d->chain.nmaps, thing);
  if (number == before) {
    d->of[number] = map;
    d->maps[number] = (struct chain_map){.from = add_set(d, map->from),
                                         .to = add_set(d, entry ? map->entries : map->to),
                                         .arity = map_width(map),
                                         .table = entry ? map->numbers : map->table,
                                         .first = map->first};
    if (d->maps[number].table)
      d->bytes += (double)map_begin(map, map->from->size) * (double)sizeof(int);
  }
  return number;
}

static int add_dat(struct tiled_description *d, const struct dat *dat) {
  const int before = d->chain.ndats, number = number_of(d->known[DAT], &d->chain.ndats, dat);
  if (number == before) {
    d->dats[number] = add_set(d, dat->set);
    d->row_bytes[number] = dat->row_bytes;
    d->bytes += (double)dat->set->size * (double)dat->row_bytes;
  }
  return number;
}

static enum chain_use use_of(const struct loop *loop, const struct loop_arg *arg) {
  if (arg->access == OP_READ)
    return CHAIN_READS;
  if (access_reduces(arg->access) || loop_arg_meets(loop, arg))
    return CHAIN_ADDS;
  return arg->access == OP_WRITE ? CHAIN_OVERWRITES : CHAIN_WRITES;
}

static void add_access(struct tiled_description *d, struct chain_access *to, const struct loop *loop,
                       const struct loop_arg *arg) {
  const bool all = arg->map && arg->idx < 0;
  *to = (struct chain_access){.dat = add_dat(d, arg->dat),
                              .use = use_of(loop, arg),
                              .map = arg->map ? add_map(d, arg->map, arg->entry) : -1,
                              .first = arg->map && !all ? arg->idx : 0,
                              .count = all ? map_width(arg->map) : 1,
                              .own = arg_is_own(arg)};
}

/* Numbers and payloads are no data of the mesh, globals are the launches' own. */
static void add_loops(struct tiled_description *d, struct loop *const *loops, int n) {
  struct chain_access *next = d->accesses;
  for (int l = 0; l < n; l++) {
    const struct loop *loop = loops[l];
    struct chain_loop *to = &d->loops[d->chain.nloops++];
    /* A compiled function may write on some paths only. */
    *to = (struct chain_loop){.set = add_set(d, loop->set),
                              .accesses = next,
                              .gives = loop_fills_matrix(loop),
                              .combines = loop->ready.nreductions > 0,
                              .whole = !loop->set->sub && !loop->compiled};
    for (int i = 0; i < loop->nargs; i++)
      if (loop->args[i].form == DESC_DAT && loop->args[i].present) {
        add_access(d, next++, loop, &loop->args[i]);
        to->naccesses++;
      }
  }
}

/* NULL: OP_ERR_MEMORY. The columns are the wish's, for the caller to free. */
static struct plan_column *wish_for(const struct op_context *ctx, const struct tiled_description *d, int m,
                                    const struct strategy *strategy, struct plan_wish *wish,
                                    struct error *err) {
  const struct map *map = d->of[m];
  const struct chain_map *described = &d->maps[m];
  const struct set *to = d->known[SET][described->to];
  const int arity = described->arity;
  struct plan_column *columns = array_new((size_t)arity, sizeof *columns);
  if (!columns) {
    error_memory(err, "the columns of a map", (size_t)arity * sizeof *columns);
    return NULL;
  }
  for (int c = 0; c < arity; c++)
    columns[c] = (struct plan_column){.table = described->table,
                                      .first = described->first,
                                      .arity = arity,
                                      .column = c,
                                      .target = to->id,
                                      .target_size = to->extents[EXTENT_OWNED]};
  *wish = (struct plan_wish){
      .request = {.size = map->from->extents[EXTENT_OWNED], .columns = columns, .ncolumns = arity},
      .strategy = strategy,
      .set_name = map->from->name,
      .epoch = ctx->mesh->epoch};
  return columns;
}

bool chain_changes(const struct chain *c, int dat, int end) {
  bool any = false;
  for (int l = 0; l < end; l++)
    for (int i = 0; i < c->loops[l].naccesses; i++)
      any |= c->loops[l].accesses[i].dat == dat && c->loops[l].accesses[i].use != CHAIN_READS;
  return any;
}

bool chain_needs_map(const struct chain *c, int map) {
  for (int l = 0; l < c->nloops; l++)
    for (int i = 0; i < c->loops[l].naccesses; i++) {
      const struct chain_access *a = &c->loops[l].accesses[i];
      if (a->map == map && chain_changes(c, a->dat, c->nloops))
        return true;
    }
  return false;
}

int tiled_find_prefixes(struct op_context *ctx, struct tiled_description *d, bool builds, struct error *err) {
  struct plan_cache *plans = NULL;
  bool built = false;
  int code = builds ? OP_OK : context_plans(ctx, &plans, err);
  d->missing = arrays_add(&d->memory, (size_t)d->chain.nmaps, sizeof *d->missing);
  if (!code && !d->missing)
    code = error_memory(err, "the prefixes of a chain", (size_t)d->chain.nmaps * sizeof *d->missing);
  for (int m = 0; !code && m < d->chain.nmaps; m++) {
    struct tiled_prefix *missing = &d->missing[m];
    if (!chain_needs_map(&d->chain, m))
      continue;
    struct plan_column *columns = wish_for(ctx, d, m, &strategy_prefix, &missing->wish, err);
    code = !columns ? err->code
           : builds ? context_plan(ctx, d->of[m]->name, &missing->wish, &d->prefixes[m], &built, err)
                    : plan_cache_find(plans, &missing->wish, &d->prefixes[m], err);
    if (!code && !d->prefixes[m])
      missing->columns = columns;
    else
      free(columns);
    d->maps[m].prefix = !code && d->prefixes[m] ? &d->prefixes[m]->prefix : NULL;
  }
  return code;
}

void tiled_keep_prefixes(struct op_context *ctx, struct tiled_description *d) {
  struct error ignored = {0};
  for (int m = 0; d->missing && m < d->chain.nmaps; m++) {
    struct tiled_prefix *missing = &d->missing[m];
    if (!missing->columns || !d->maps[m].prefix)
      continue;
    if (!plan_cache_put(ctx->plans, &missing->wish, &missing->entry, &d->prefixes[m], &ignored))
      ctx->counters->plans++;
    error_clear(&ignored);
  }
}

int tiled_describe_periodic(struct op_context *ctx, struct tiled_description *d, struct error *err) {
  const struct plan_entry **periodic = d->prefixes + d->chain.nmaps;
  bool built = false;
  int code = OP_OK;
  for (int m = 0; !code && m < d->chain.nmaps; m++) {
    struct plan_wish wish;
    if (!d->maps[m].prefix)
      continue;
    struct plan_column *columns = wish_for(ctx, d, m, &strategy_periodic, &wish, err);
    code = columns ? context_plan(ctx, d->of[m]->name, &wish, &periodic[m], &built, err) : err->code;
    free(columns);
    d->maps[m].periodic = code ? NULL : &periodic[m]->prefix;
  }
  return code;
}

int tiled_describe(struct loop *const *loops, int n, struct tiled_description *d, struct error *err) {
  size_t most = (size_t)n;
  *d = (struct tiled_description){0};
  for (int l = 0; l < n; l++)
    most += (size_t)loops[l]->nargs;
  struct arrays *memory = &d->memory;
  /* A set of each loop, and two of each map. */
  d->sets = arrays_add(memory, 2 * most, sizeof *d->sets);
  d->maps = arrays_add(memory, most, sizeof *d->maps);
  d->dats = arrays_add(memory, most, sizeof *d->dats);
  d->row_bytes = arrays_add(memory, most, sizeof *d->row_bytes);
  d->loops = arrays_add(memory, (size_t)n, sizeof *d->loops);
  d->accesses = arrays_add(memory, most, sizeof *d->accesses);
  d->prefixes = arrays_add(memory, 2 * most, sizeof *d->prefixes);
  d->of = arrays_add(memory, most, sizeof *d->of);
  for (int k = SET; k <= DAT; k++)
    d->known[k] = arrays_add(memory, 2 * most, sizeof *d->known[k]);
  if (memory->failed)
    return error_memory(err, "the description of a chain", most * sizeof *d->accesses);
  add_loops(d, loops, n);
  d->chain.sets = d->sets;
  d->chain.maps = d->maps;
  d->chain.dats = d->dats;
  d->chain.loops = d->loops;
  return OP_OK;
}

void tiled_describe_free(struct op_context *ctx, struct tiled_description *d) {
  for (int m = 0; d->prefixes && m < 2 * d->chain.nmaps; m++)
    if (d->prefixes[m])
      plan_cache_release(ctx->plans, d->prefixes[m]);
  for (int m = 0; d->missing && m < d->chain.nmaps; m++) {
    plan_entry_clear(&d->missing[m].entry);
    free(d->missing[m].columns);
  }
  arrays_free(&d->memory);
}
