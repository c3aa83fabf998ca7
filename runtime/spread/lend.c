#include "spread/lend.h"

#include "context/context.h"
#include "mesh/data.h"
#include "mesh/guest.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/spread.h"

static void count(struct op_context *ctx, const struct dat *dat) {
  ctx->counters->bytes_of_views += (long long)((size_t)dat->set->size * dat->row_bytes);
}

/* The array gets the newest values, if it has older ones. The versions are the same on all ranks. */
static int update(struct op_context *ctx, struct dat *dat, struct error *err) {
  struct view *view = dat->view;
  if (view->in_place)
    return dat_need(ctx, dat, SPACE_HOST, REGION_OWNED, err);
  if (view->version == dat->version)
    return OP_OK;
  const int code = data_fetch(ctx, dat, view->array, 0, dat->set->size - 1, err);
  if (code)
    return code;
  view->version = dat->version;
  count(ctx, dat);
  return OP_OK;
}

int lend(struct op_context *ctx, struct dat *dat, op_access access, void **array, struct error *err) {
  static char empty; /* the address of no elements */
  struct view *view = dat->view;
  if (dat->guest && dat->guest->placed)
    return error_set(err, OP_ERR_STATE, "op_acquire: dat \"%s\" is placed; call op_place_end first",
                     dat->name);
  const int code = access == OP_WRITE ? OP_OK : update(ctx, dat, err);
  if (code)
    return code;
  view->acquired = true;
  view->access = access;
  ctx->mesh->lent++;
  *array = view->array ? view->array : &empty;
  return OP_OK;
}

int lend_end(struct op_context *ctx, struct dat *dat, struct error *err) {
  struct view *view = dat->view;
  int code = OP_OK;
  if (view->access != OP_READ && view->in_place)
    dat_wrote(dat, SPACE_HOST);
  else if (view->access != OP_READ && !(code = data_put(ctx, dat, view->array, err))) {
    view->version = dat->version;
    count(ctx, dat);
  }
  if (code)
    return code;
  view->acquired = false;
  ctx->mesh->lent--;
  return OP_OK;
}

int lend_last(struct op_context *ctx, struct dat *dat, struct error *err) {
  return dat->view && !dat->view->acquired ? update(ctx, dat, err) : OP_OK;
}

int lend_all(struct op_context *ctx, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < ctx->mesh->dats.count; i++)
    code = lend_last(ctx, ctx->mesh->dats.items[i], err);
  return code;
}

int lend_check(const struct dat *dat, const char *who, struct error *err) {
  if (dat->guest && dat->guest->lent)
    return error_set(err, OP_ERR_STATE, "%s: dat \"%s\" is lent; call op_lend_end first", who, dat->name);
  if (!dat->view || !dat->view->acquired)
    return OP_OK;
  return error_set(err, OP_ERR_STATE, "%s: dat \"%s\" is acquired; call op_release first", who, dat->name);
}

int lend_check_all(const struct op_context *ctx, const char *who, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && ctx->mesh->lent && i < ctx->mesh->dats.count; i++) {
    const struct dat *dat = ctx->mesh->dats.items[i];
    code = lend_check(dat, who, err);
    if (!code && dat->guest && dat->guest->placed)
      code =
          error_set(err, OP_ERR_STATE, "%s: dat \"%s\" is placed; call op_place_end first", who, dat->name);
  }
  return code;
}
