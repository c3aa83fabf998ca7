#include <limits.h>
#include <string.h>

#include "backend/backend.h"
#include "base/list.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "jit/kernel/says.h"
#include "loop/chain/fused.h"
#include "loop/loop.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/columns.h"

/* Numbers by first occurrence, so that loops that share dats and maps in the same way look the same. */
static int number(const void **seen, int *count, const void *item) {
  for (int i = 0; i < *count; i++)
    if (seen[i] == item)
      return i;
  seen[*count] = item;
  return (*count)++;
}

struct numbering {
  const void *sets[OP_MAX_ARGS + 1], *maps[OP_MAX_ARGS], *dats[OP_MAX_ARGS];
  int nsets, nmaps, ndats;
};

static struct desc_dat describe_dat(const struct dat *dat, enum space space, int set) {
  return (struct desc_dat){.type = dat->type,
                           .dim = dat->dim,
                           .set = set,
                           .soa = dat_is_apart_in(dat, space),
                           .wide = dat->replicas[SPACE_HOST].bytes / dat->value_size > INT_MAX};
}

/* Programs of OP2 are told the library's own numbers. */
/* A subset may lack the shortest and the longest rows: which elements it has is not looked at. */
static void describe_lengths(const struct map *map, const struct set *of, struct desc_map *out) {
  if (!map->first || of->sub)
    return;
  out->none = map->shortest == 0 && map->longest > 0;
  out->longest = map->longest <= DESC_LONGEST_MOST ? (int)map->longest : 0;
}

static void describe_arg(struct desc *d, struct numbering *n, const struct loop *loop,
                         const struct loop_arg *arg, struct desc_arg *out) {
  *out = (struct desc_arg){.form = arg->form,
                           .type = arg->type,
                           .dim = arg->dim,
                           .access = arg->access,
                           .map = -1,
                           .idx = arg->idx,
                           .dat = -1,
                           .ref = arg->ref,
                           .info = arg->info,
                           .present = arg->present};
  if (arg->map) {
    out->map = number(n->maps, &n->nmaps, arg->map);
    d->maps[out->map] =
        (struct desc_map){.arity = arg->map->arity,
                          .to = number(n->sets, &n->nsets, arg->map->to),
                          .ragged = arg->map->first != NULL,
                          .equal = arg->map->equal <= DESC_EQUAL_MOST ? (int)arg->map->equal : 0};
    describe_lengths(arg->map, n->sets[0], &d->maps[out->map]);
    out->entry = arg->entry;
    out->scattered = arg_is_scattered(arg);
  }
  if (arg->dat) {
    out->dat = number(n->dats, &n->ndats, arg->dat);
    out->matrix = arg->dat->segment != NULL;
    d->dats[out->dat] = describe_dat(arg->dat, loop->space, number(n->sets, &n->nsets, arg->dat->set));
  }
  /* A payload's slot holds the number of the loop's own element. */
  if (arg->form == DESC_IDX || arg->form == DESC_INFO) {
    const struct set *target = arg->map ? arg->map->to : n->sets[0];
    const int set = number(n->sets, &n->nsets, target);
    d->renumbered[set] |= target->to_user && !(loop->compiled && arg->form == DESC_IDX);
  }
}

bool loop_describe_constant(struct desc *d, const struct constant *constant) {
  struct desc_const *out = &d->consts[d->nconsts++];
  *out = (struct desc_const){.name = strdup(constant->name),
                             .type = constant->type,
                             .dim = constant->dim,
                             .folded = constant_is_folded(constant),
                             .value = array_new(constant->bytes, 1)};
  if (!out->name || !out->value)
    return false;
  memcpy(out->value, constant->value, constant->bytes);
  return true;
}

static int describe_constants(struct op_context *ctx, struct loop *loop, struct error *err) {
  struct desc *d = &loop->desc;
  const struct list *constants = &ctx->mesh->constants;
  d->consts = array_new((size_t)constants->count, sizeof *d->consts);
  if (!d->consts)
    return error_memory(err, "a loop's constants", (size_t)constants->count * sizeof *d->consts);
  for (int i = 0; i < constants->count; i++) {
    const struct constant *constant = constants->items[i];
    if (!kernel_uses(&loop->kernel, constant->name))
      continue;
    if (!loop_describe_constant(d, constant))
      return error_memory(err, "a loop's constant", constant->bytes);
  }
  return OP_OK;
}

static int describe_texts(struct op_context *ctx, struct loop *loop, struct error *err) {
  struct desc *d = &loop->desc;
  const struct kernel *k = &loop->kernel;
  d->kernel_name = strdup(loop->key.name);
  d->text = strndup(k->text ? k->text : "", k->length);
  d->fp = strdup(context_fp(ctx, loop->reproducible));
  d->says = tokens_say(&k->tokens);
  const bool good = origins_copy(&d->origins, &k->origins);
  if (!good || !d->kernel_name || !d->text || !d->fp)
    return error_memory(err, "a loop's kernel text", k->length);
  return OP_OK;
}

/* Names for messages about the key. What has no name is called by the kernel's parameter. */
static int describe_names(struct loop *loop, const struct numbering *n, struct error *err) {
  struct text names = {0};
  for (int i = 0; i < n->nsets; i++)
    desc_name(&names, "set", i, ((const struct set *)n->sets[i])->name);
  for (int i = 0; i < n->nmaps; i++)
    desc_name(&names, "map", i, ((const struct map *)n->maps[i])->name);
  for (int i = 0; i < n->ndats; i++)
    desc_name(&names, "dat", i, ((const struct dat *)n->dats[i])->name);
  for (int i = 0; i < loop->nargs && i < loop->kernel.nparameters; i++)
    if (!loop->args[i].dat && desc_parameter(&loop->desc, i) < loop->kernel.nparameters &&
        loop->kernel.parameters[desc_parameter(&loop->desc, i)].name[0])
      desc_name(&names, "arg", i, loop->kernel.parameters[desc_parameter(&loop->desc, i)].name);
  loop->desc.names = text_take(&names);
  return loop->desc.names ? OP_OK : error_memory(err, "the names in a loop", names.length);
}

/* A global with a handle stays on the device where nobody compares what the host has: checks do, and ranks and exact sums are
 * combined there. */
static bool is_kept(const struct op_context *ctx, const struct loop *loop, const struct loop_arg *arg) {
  return arg->gbl && arg->present && arg->info < 0 && !arg->exact && space_is_device(loop->space) &&
         !type_is_struct(arg->type) && arg->type != TYPE_BOOL && comm_alone(ctx->comm) &&
         strcmp(env_value(ctx->env, ENV_CHECK), "off") == 0 && !*env_value(ctx->env, ENV_SHADOW) &&
         strcmp(env_value(ctx->env, ENV_LAZY), "check") != 0;
}

/* Whole numbers are the same in any order. */
static bool adds_or_meets(const struct loop_arg *arg) {
  const bool writes =
      arg->form == DESC_DAT && arg->present && !arg_is_own(arg) && access_assigns(arg->access);
  return writes || (type_info(arg->type)->is_float && (arg_is_reduction(arg) || arg_is_turned(arg)));
}

/* Code that the program's compiler made runs unchanged. */
static bool runs_as_it_is(const struct loop *loop) {
  return !loop->backend->code || loop->ranged;
}

bool loop_is_disordered(const struct loop *loop) {
  bool counts = false;
  for (int i = 0; i < loop->nargs; i++)
    counts |= adds_or_meets(&loop->args[i]);
  return loop->reproducible && runs_as_it_is(loop) && counts;
}

static void find_order(const struct op_context *ctx, struct loop *loop) {
  loop->reproducible = context_reproduces(ctx, loop->name);
  const bool may = loop->reproducible && !runs_as_it_is(loop);
  loop->ordered = false;
  for (int i = 0; i < loop->nargs; i++) {
    struct loop_arg *arg = &loop->args[i];
    arg->exact = may && type_info(arg->type)->is_float && arg_is_reduction(arg) && arg->info < 0;
    loop->ordered |= may && adds_or_meets(arg);
  }
}

int loop_describe(struct op_context *ctx, struct loop *loop, struct error *err) {
  struct desc *d = &loop->desc;
  find_order(ctx, loop);
  desc_free(d);
  loop->facts = (struct facts){0};
  *d = (struct desc){.nargs = loop->nargs, .compiled = loop->ranged, .unproved = loop->unproved};
  int code = loop->fusion   ? fused_describe(loop, err)
             : loop->source ? loop->functions->describe(ctx, loop, err)
                            : describe_texts(ctx, loop, err);
  if (!code && !loop->source && !loop->fusion)
    code = describe_constants(ctx, loop, err);
  if (code)
    return code;
  struct numbering n = {0};
  number(n.sets, &n.nsets, loop->set);
  for (int i = 0; i < loop->nargs; i++) {
    const int known = n.nmaps;
    describe_arg(d, &n, loop, &loop->args[i], &d->args[i]);
    d->args[i].counted = n.nmaps > known && d->maps[known].ragged;
  }
  if (loop->fusion)
    fused_describe_args(loop);
  for (int i = 0; i < loop->nargs; i++)
    d->args[i].kept = is_kept(ctx, loop, &loop->args[i]);
  d->nsets = n.nsets;
  d->nmaps = n.nmaps;
  d->ndats = n.ndats;
  loop->ready.epoch = ctx->mesh->epoch;
  loop->ready.constant_epoch = ctx->mesh->constant_epoch;
  code = describe_names(loop, &n, err);
  return code || !loop->ranged ? code : loop->functions->place(loop, err);
}

static void fill_slot(struct loop *loop, int index, const void *pointer) {
  /* The frame is one array of pointers for generated code, which knows what each is for. */
  loop->ready.frame[index] = (void *)(uintptr_t)pointer;
}

void loop_fill_frame(struct op_context *ctx, struct loop *loop) {
  const struct desc *d = &loop->desc;
  if (loop->ranged)
    fill_slot(loop, 0, loop->places);
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    const struct desc_arg *described = &d->args[i];
    if (described->dat >= 0) {
      fill_slot(loop, desc_slot_dat(d, described->dat), arg->dat->replicas[SPACE_HOST].memory);
      fill_slot(loop, desc_slot_stride(d, described->dat), (void *)(uintptr_t)arg->dat->stride);
    }
    if (described->map >= 0) {
      fill_slot(loop, desc_slot_map(d, described->map), arg->map->table);
      if (arg->map->first)
        fill_slot(loop, desc_slot_first(d, described->map), arg->map->first);
      if (described->scattered)
        fill_slot(loop, desc_slot_entries(d, described->map), arg->map->numbers);
    }
    if (arg->form == DESC_IDX || arg->form == DESC_INFO) {
      const struct set *target = arg->map ? arg->map->to : loop->set;
      fill_slot(loop, desc_slot_numbers(d, described->map >= 0 ? d->maps[described->map].to : 0),
                target->to_user);
    }
  }
  for (int i = 0; i < d->nconsts; i++)
    if (!d->consts[i].folded)
      fill_slot(loop, desc_slot_const(d, i), mesh_find_constant(ctx->mesh, d->consts[i].name)->value);
  loop->ready.moved = ctx->mesh->moved;
  loop->ready.made++;
}

/* The number of targets of all owned elements. */
static double targets_of(const struct map *map) {
  const long owned = map->from->extents[EXTENT_OWNED];
  return map->first ? (double)map->first[owned] : (double)owned * map->arity;
}

static double map_bytes(const struct map *map) {
  const double offsets =
      map->first ? (double)map->from->extents[EXTENT_OWNED] * (double)sizeof *map->first : 0;
  return targets_of(map) * (double)sizeof *map->table + offsets;
}

void loop_count_bytes(struct loop *loop) {
  loop->stats.bytes = loop->stats.working_set = 0;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    bool first_dat = true, first_map = true, reads = false, writes = false;
    for (int j = 0; j < loop->nargs; j++) {
      const struct loop_arg *other = &loop->args[j];
      if (arg->dat && other->dat == arg->dat && other->present) {
        first_dat &= j >= i;
        reads |= other->access != OP_WRITE;
        writes |= other->access != OP_READ;
      }
      first_map &= !(other->map == arg->map && j < i);
    }
    if (arg->map && first_map) {
      loop->stats.bytes += map_bytes(arg->map);
      loop->stats.working_set += map_bytes(arg->map);
    }
    if (arg->dat && arg->present && first_dat && !loop->desc.args[i].dropped) {
      double reached = (double)arg->dat->set->extents[EXTENT_OWNED];
      if (arg->map && targets_of(arg->map) < reached)
        reached = targets_of(arg->map);
      loop->stats.bytes += reached * (double)arg->dat->row_bytes * (reads + writes);
      loop->stats.working_set += reached * (double)arg->dat->row_bytes;
    }
  }
}
