#include "loop/temporary.h"

#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "loop/chain/queue.h"
#include "loop/loop.h"
#include "mesh/handles.h"
#include "ranks/comm.h"
#include "spread/exchange.h"

/* So many are kept; and no more bytes than half of what the program's dats hold. */
enum { MOST_SPARE = 8, SHARE = 2 };

/* Bytes of the dats that live, or of those that are dying. */
static size_t bytes_in(const struct list *dats, bool dying) {
  size_t bytes = 0;
  for (int i = 0; i < dats->count; i++) {
    const struct dat *dat = dats->items[i];
    bytes += dat->dying == dying ? dat->replicas[SPACE_HOST].bytes : 0;
  }
  return bytes;
}

void dat_forget(struct op_context *ctx, struct dat *dat) {
  loop_forget(ctx, dat);
  exchanges_forget(ctx, dat);
  list_remove(&ctx->mesh->dats, dat);
  list_remove(&ctx->mesh->spare, dat);
  data_free(ctx, dat);
}

/* ---- the end ---- */

/* Until it comes again its records go by an address that is no handle. */
static op_dat kept_name(struct dat *dat) {
  return (op_dat)(void *)dat;
}

static void drop_oldest(struct op_context *ctx) {
  const struct list *spare = &ctx->mesh->spare;
  const size_t most = bytes_in(&ctx->mesh->dats, false) / SHARE;
  while (spare->count > MOST_SPARE || (spare->count && bytes_in(spare, false) > most))
    dat_forget(ctx, spare->items[0]);
}

/* Ranks would have to agree on what is kept; programs of OP2 look at dats themselves. */
static bool may_keep(const struct op_context *ctx) {
  return comm_alone(ctx->comm) && !ctx->compiled;
}

static void bury(struct op_context *ctx, struct dat *dat) {
  ctx->mesh->dying -= dat->dying;
  dat->dying = false;
  if (!may_keep(ctx) || !list_add(&ctx->mesh->spare, dat)) {
    dat_forget(ctx, dat);
    return;
  }
  list_remove(&ctx->mesh->dats, dat);
  dat->blank = true;
  drop_oldest(ctx);
}

static bool is_waited_for(const struct op_context *ctx, const struct dat *dat) {
  for (int i = 0; ctx->queue && i < ctx->queue->count; i++)
    if (loop_uses(ctx->queue->launches[i]->loop, dat))
      return true;
  return false;
}

void temporaries_bury(struct op_context *ctx) {
  for (int i = ctx->mesh->dats.count - 1; ctx->mesh->dying && i >= 0; i--) {
    struct dat *dat = ctx->mesh->dats.items[i];
    if (dat->dying && !is_waited_for(ctx, dat))
      bury(ctx, dat);
  }
}

int temporary_end(struct op_context *ctx, struct dat *dat, struct error *err) {
  const op_dat handle = dat->handle;
  if (!may_keep(ctx)) {
    const int code = is_waited_for(ctx, dat) ? queue_flush(ctx, err) : OP_OK;
    dat_forget(ctx, dat);
    return code;
  }
  handle_release(ctx->handles, handle, dat->name);
  dat->handle = NULL;
  loops_rename_dat(ctx, handle, kept_name(dat));
  if (!is_waited_for(ctx, dat)) {
    bury(ctx, dat);
    return OP_OK;
  }
  dat->dying = true;
  ctx->mesh->dying++;
  const struct list *dats = &ctx->mesh->dats;
  return bytes_in(dats, true) > bytes_in(dats, false) / SHARE ? queue_flush(ctx, err) : OP_OK;
}

void temporaries_forget(struct op_context *ctx, const struct set *set) {
  const struct list *spare = &ctx->mesh->spare;
  for (int i = spare->count - 1; i >= 0; i--)
    if (((const struct dat *)spare->items[i])->set == set)
      dat_forget(ctx, spare->items[i]);
}

/* ---- the same again ---- */

static bool is_like(const struct dat *dat, const struct temporary_wish *wish) {
  bool soa = false;
  return dat->set == wish->set && dat->dim == wish->dim && dat->type == type_parse(wish->type, &soa) &&
         dat->asked_soa == soa && strcmp(dat->name, wish->name ? wish->name : "unnamed") == 0;
}

static struct dat *find(const struct list *dats, const struct temporary_wish *wish, bool dying) {
  for (int i = 0; i < dats->count; i++) {
    struct dat *dat = dats->items[i];
    if (dat->dying == dying && is_like(dat, wish))
      return dat;
  }
  return NULL;
}

static int revive(struct op_context *ctx, struct dat *dat, struct error *err) {
  const op_dat handle = handle_new(ctx->handles, HANDLE_DAT, dat);
  if (!handle || !list_add(&ctx->mesh->dats, dat)) {
    if (handle)
      handle_release(ctx->handles, handle, NULL);
    return error_memory_of(err, "dat", dat->name, sizeof *dat);
  }
  list_remove(&ctx->mesh->spare, dat);
  dat->handle = handle;
  loops_rename_dat(ctx, kept_name(dat), handle);
  return OP_OK;
}

int temporary_again(struct op_context *ctx, const struct temporary_wish *wish, struct dat **out,
                    struct error *err) {
  int code = OP_OK;
  *out = NULL;
  if (!wish->type)
    return OP_OK;
  /* The program repeats itself from here on: running what waits loses nothing. */
  if (ctx->mesh->dying && find(&ctx->mesh->dats, wish, true))
    code = queue_flush(ctx, err);
  struct dat *dat = code ? NULL : find(&ctx->mesh->spare, wish, false);
  /* When it waits, too: what comes before it is no part of what comes after. */
  if (dat && ctx->queue)
    watch_mark(&ctx->queue->watch);
  if (dat)
    code = revive(ctx, dat, err);
  if (!code)
    *out = dat;
  return code;
}
