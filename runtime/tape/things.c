/* Dats and globals that derivatives know, and their companions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "context/context.h"
#include "loop/queue.h"
#include "loop/temporary/temporary.h"
#include "ranks/agree.h"
#include "tape/tape.h"

struct tapes *tapes_get(struct op_context *ctx, struct error *err) {
  if (!ctx->tapes && !(ctx->tapes = calloc(1, sizeof *ctx->tapes)))
    error_memory(err, "what derivatives need", sizeof *ctx->tapes);
  return ctx->tapes;
}

bool type_is_real(enum type_code type) {
  const struct type_info *info = type_info(type);
  for (int m = 0; m < info->nmembers; m++)
    if (type_is_real(info->members[m].type))
      return true;
  return type == TYPE_DOUBLE || type == TYPE_FLOAT;
}

struct thing *thing_find(const struct tapes *tapes, const void *object) {
  for (int i = 0; tapes && i < tapes->things.count; i++) {
    struct thing *thing = tapes->things.items[i];
    if (thing->dat == object || thing->gbl == object)
      return thing;
  }
  return NULL;
}

static struct thing *make(struct op_context *ctx, const struct thing *like, struct error *err) {
  struct tapes *tapes = tapes_get(ctx, err);
  struct thing *thing = tapes ? malloc(sizeof *thing) : NULL;
  double bytes = like->dat ? (double)like->dat->replicas[SPACE_HOST].bytes : (double)like->gbl->bytes;
  if (thing)
    *thing = *like;
  const bool added = thing && list_add(&tapes->things, thing);
  int code = added ? OP_OK : error_memory(err, "what derivatives know of data", sizeof *thing);
  if (like->dat)
    code = agree_on_largest(ctx->comm, code, &bytes, 1, err);
  if (!code) {
    thing->bytes = (size_t)bytes;
    thing->changed = thing->read = thing->wanted = -1;
    return thing;
  }
  if (added)
    list_remove(&tapes->things, thing);
  free(thing);
  return NULL;
}

struct thing *thing_of_dat(struct op_context *ctx, struct dat *dat, struct error *err) {
  struct thing *thing = thing_find(ctx->tapes, dat);
  return thing ? thing : make(ctx, &(struct thing){.dat = dat, .real = type_is_real(dat->type)}, err);
}

struct thing *thing_of_gbl(struct op_context *ctx, struct gbl *gbl, struct error *err) {
  struct thing *thing = thing_find(ctx->tapes, gbl);
  return thing ? thing : make(ctx, &(struct thing){.gbl = gbl, .real = type_is_real(gbl->type)}, err);
}

const char *thing_name(const struct thing *thing) {
  return thing->dat ? thing->dat->name : thing->gbl->name;
}

/* ---- companions ---- */

struct dat *dat_like(struct op_context *ctx, const struct dat *like, const char *name, struct error *err) {
  char type[128];
  snprintf(type, sizeof type, "%s%s", type_info(like->type)->name, like->asked_soa ? ":soa" : "");
  struct dat *dat = data_new(ctx, like->set, like->dim, type, NULL, name, true, err);
  const int code = agree_on_success(ctx->comm, dat ? OP_OK : err->code, err);
  if (code && dat)
    data_undo(ctx, dat);
  if (code)
    return NULL;
  dat->soa = like->soa; /* whatever OP2_VARIANT says: it is to be used as that one is */
  dat->blank = true;
  return dat;
}

static int no_reals(const struct thing *thing, const char *what, struct error *err) {
  return error_set(err, OP_ERR_TYPE, "%s \"%s\" has no %s: its type is \"%s\", which has no real numbers",
                   thing->dat ? "dat" : "global", thing_name(thing), what,
                   type_info(thing->dat ? thing->dat->type : thing->gbl->type)->name);
}

static struct thing *companion(struct op_context *ctx, struct thing *thing, struct thing **at,
                               const char *what, struct error *err) {
  char name[160];
  if (*at)
    return *at;
  if (!thing->real) {
    no_reals(thing, what, err);
    return NULL;
  }
  snprintf(name, sizeof name, "%s of %.140s", what, thing_name(thing));
  struct thing like = {.real = true, .companion = true};
  if (thing->dat)
    like.dat = dat_like(ctx, thing->dat, name, err);
  else
    like.gbl = gbl_new(ctx, thing->gbl->dim, type_info(thing->gbl->type)->name, NULL, name, err);
  *at = like.dat || like.gbl ? make(ctx, &like, err) : NULL;
  return *at;
}

struct thing *thing_bar(struct op_context *ctx, struct thing *thing, struct error *err) {
  return companion(ctx, thing, &thing->bar, "bar", err);
}

struct thing *thing_dot(struct op_context *ctx, struct thing *thing, struct error *err) {
  return companion(ctx, thing, &thing->dot, "dot", err);
}

int thing_is_zero(struct op_context *ctx, struct thing *thing, bool *zero, struct error *err) {
  *zero = !thing || (thing->dat && thing->dat->blank);
  if (!thing || thing->dat)
    return OP_OK;
  int code = queue_flush(ctx, err);
  if (!code)
    code = gbl_need(ctx, thing->gbl, SPACE_HOST, err);
  *zero = true;
  for (size_t i = 0; !code && i < thing->gbl->bytes; i++)
    *zero &= thing->gbl->value[i] == 0;
  return code;
}

int thing_clear(struct op_context *ctx, struct thing *thing, struct error *err) {
  int code = thing ? queue_flush(ctx, err) : OP_OK; /* what waits may read it */
  if (!thing || code)
    return code;
  if (thing->dat) {
    dat_clear(thing->dat);
    return OP_OK;
  }
  return gbl_put(ctx, thing->gbl, NULL, err);
}

/* ---- the end ---- */

static void drop_sites(struct list *sites, const struct thing *thing) {
  for (int i = sites->count - 1; i >= 0; i--) {
    struct site *site = sites->items[i];
    bool uses = false;
    for (int a = 0; a < site->nargs; a++)
      uses |= site->things[a] == thing;
    if (!uses)
      continue;
    list_remove(sites, site);
    tape_site_free(site);
  }
}

static void drop(struct op_context *ctx, struct thing *thing) {
  struct tapes *tapes = ctx->tapes;
  drop_sites(&tapes->sites, thing);
  drop_sites(&tapes->alone, thing);
  struct thing *const companions[] = {thing->bar, thing->dot};
  for (int i = 0; i < 2; i++) {
    struct dat *dat = companions[i] ? companions[i]->dat : NULL;
    if (!companions[i])
      continue;
    drop(ctx, companions[i]);
    if (dat)
      dat_forget(ctx, dat);
  }
  if (thing->twin)
    dat_forget(ctx, thing->twin);
  for (int i = 0; i < tapes->things.count; i++) {
    struct thing *other = tapes->things.items[i];
    other->bar = other->bar == thing ? NULL : other->bar;
    other->dot = other->dot == thing ? NULL : other->dot;
  }
  list_remove(&tapes->things, thing);
  free(thing);
}

void things_forget(struct op_context *ctx, const void *object) {
  struct thing *thing = thing_find(ctx->tapes, object);
  if (thing)
    drop(ctx, thing);
}
