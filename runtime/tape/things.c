/* Dats and globals that derivatives know, and their companions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "loop/chain/queue.h"
#include "loop/temporary.h"
#include "ranks/agree.h"
#include "tape/tape.h"

struct tapes *tapes_get(struct op_context *ctx, struct error *err) {
  if (ctx->recorder && !ctx->recorder->derives) {
    error_set(err, OP_ERR_STATE,
              "OP2_CHECKPOINT is set, and checkpoints hold no derivatives; run without it");
    return NULL;
  }
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
  for (int i = 0; object && tapes && i < tapes->things.count; i++) {
    struct thing *thing = tapes->things.items[i];
    if (thing->dat == object || thing->gbl == object || thing->constant == object)
      return thing;
  }
  return NULL;
}

static struct thing *make(struct op_context *ctx, const struct thing *like, struct error *err) {
  struct tapes *tapes = tapes_get(ctx, err);
  struct thing *thing = tapes ? malloc(sizeof *thing) : NULL;
  double bytes = (double)(like->dat   ? like->dat->replicas[SPACE_HOST].bytes
                          : like->gbl ? like->gbl->bytes
                                      : like->constant->bytes);
  if (thing)
    *thing = *like;
  const bool added = thing && list_add(&tapes->things, thing);
  int code = added ? OP_OK : error_memory(err, "what derivatives know of data", sizeof *thing);
  if (like->dat)
    code = agree_on_largest(ctx->comm, code, &bytes, 1, err);
  if (!code) {
    thing->bytes = (size_t)bytes;
    thing->changed = thing->read = thing->wanted = thing->wanted_before = -1;
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

struct thing *thing_of_constant(struct op_context *ctx, const struct constant *constant, struct error *err) {
  struct thing *thing = thing_find(ctx->tapes, constant);
  const bool real = type_is_real(constant->type) && !type_is_struct(constant->type);
  return thing ? thing : make(ctx, &(struct thing){.constant = constant, .real = real}, err);
}

const char *thing_name(const struct thing *thing) {
  return thing->dat ? thing->dat->name : thing->gbl ? thing->gbl->name : thing->constant->name;
}

static enum type_code thing_type(const struct thing *thing) {
  return thing->dat ? thing->dat->type : thing->gbl ? thing->gbl->type : thing->constant->type;
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
  dat->apart = like->apart;
  dat->blank = true;
  dat->read = true; /* by the library: no report advises to leave it out */
  return dat;
}

static const char *const words[BESIDES] = {"bar", "dot", "room", "winner"};

static struct thing **place_beside(struct thing *thing, enum beside which) {
  struct thing **const places[BESIDES] = {&thing->bar, &thing->dot, &thing->room, &thing->winner};
  return places[which];
}

struct thing *thing_beside(struct op_context *ctx, struct thing *thing, enum beside which,
                           struct error *err) {
  char name[160];
  struct thing **at = place_beside(thing, which);
  const enum type_code is = thing_type(thing), type = which == BESIDE_WINNER ? TYPE_LONGLONG : is;
  if (*at)
    return *at;
  if (which < BESIDE_ROOM && !thing->real) {
    error_set(err, OP_ERR_TYPE, "%s \"%s\" has no %s: its type is \"%s\", which has no real numbers",
              thing->dat   ? "dat"
              : thing->gbl ? "global"
                           : "constant",
              thing_name(thing), words[which], type_info(is)->name);
    return NULL;
  }
  snprintf(name, sizeof name, "%s of %.140s", words[which], thing_name(thing));
  struct thing like = {.real = type_is_real(type), .companion = true, .is_dot = which == BESIDE_DOT};
  if (thing->dat) {
    struct dat of = *thing->dat;
    of.type = type;
    like.dat = dat_like(ctx, &of, name, err);
  } else
    like.gbl = gbl_new(ctx, thing->gbl ? thing->gbl->dim : thing->constant->dim, type_info(type)->name, NULL,
                       name, err);
  *at = like.dat || like.gbl ? make(ctx, &like, err) : NULL;
  return *at;
}

int tape_need_gbl(struct op_context *ctx, struct gbl *gbl, struct error *err) {
  const int code = queue_flush(ctx, err);
  return code ? code : gbl_need(ctx, gbl, SPACE_HOST, err);
}

int thing_is_zero(struct op_context *ctx, struct thing *thing, bool *zero, struct error *err) {
  *zero = !thing || (thing->dat && thing->dat->blank);
  if (!thing || thing->dat)
    return OP_OK;
  const int code = tape_need_gbl(ctx, thing->gbl, err);
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
    for (int a = 0; a < site->nargs + site->nconstants; a++)
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
  for (int i = 0; i < BESIDES; i++) {
    struct thing *beside = *place_beside(thing, (enum beside)i);
    struct dat *dat = beside ? beside->dat : NULL;
    if (beside)
      drop(ctx, beside);
    if (dat)
      dat_forget(ctx, dat);
  }
  if (thing->twin)
    dat_forget(ctx, thing->twin);
  for (int i = 0; i < tapes->things.count; i++) {
    for (int k = 0; k < BESIDES; k++) {
      struct thing **at = place_beside(tapes->things.items[i], (enum beside)k);
      *at = *at == thing ? NULL : *at;
    }
  }
  list_remove(&tapes->things, thing);
  free(thing);
}

void things_forget(struct op_context *ctx, const void *object) {
  struct thing *thing = thing_find(ctx->tapes, object);
  if (thing)
    drop(ctx, thing);
}
