/* Globals that the library keeps. */
#include "mesh/globals.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/handles.h"

static void gbl_free(struct op_context *ctx, struct gbl *gbl) {
  if (gbl->handle)
    handle_release(ctx->handles, gbl->handle, gbl->name);
  free(gbl->name);
  free(gbl->value);
  free(gbl);
}

struct gbl *gbl_new(struct op_context *ctx, int dim, const char *type, const void *value, const char *name,
                    struct error *err) {
  const enum type_code code = type_parse(type, NULL);
  size_t bytes = 0;
  if (mesh_check_values("global", name ? name : "unnamed", dim, type, &bytes, err))
    return NULL;
  struct gbl *gbl = calloc(1, sizeof *gbl);
  if (gbl && (gbl->name = name_copy(name)) && (gbl->value = array_new(bytes, 1)) &&
      (gbl->handle = handle_new(ctx->handles, HANDLE_GBL, gbl)) && list_add(&ctx->mesh->globals, gbl)) {
    gbl->dim = dim;
    gbl->type = code;
    gbl->bytes = bytes;
    gbl_wrote(gbl, SPACE_HOST);
    if (value)
      memcpy(gbl->value, value, bytes);
    return gbl;
  }
  if (gbl)
    gbl_free(ctx, gbl);
  error_memory_of(err, "global", name, bytes);
  return NULL;
}

void gbl_undo(struct op_context *ctx, struct gbl *gbl) {
  list_remove(&ctx->mesh->globals, gbl);
  gbl_free(ctx, gbl);
}

void globals_free(struct op_context *ctx) {
  for (int i = 0; i < ctx->mesh->globals.count; i++)
    gbl_free(ctx, ctx->mesh->globals.items[i]);
  list_free(&ctx->mesh->globals);
}

int gbl_await(struct op_context *ctx, struct gbl *gbl, struct error *err) {
  return gbl->late ? ctx->bring(ctx, gbl, err) : OP_OK;
}

int gbl_put(struct op_context *ctx, struct gbl *gbl, const void *values, struct error *err) {
  const int code = gbl_await(ctx, gbl, err);
  if (code)
    return code;
  if (values)
    memcpy(gbl->value, values, gbl->bytes);
  else
    memset(gbl->value, 0, gbl->bytes);
  gbl->common = true;
  gbl_wrote(gbl, SPACE_HOST);
  return OP_OK;
}

int gbl_need(struct op_context *ctx, struct gbl *gbl, enum space space, struct error *err) {
  int code = gbl_await(ctx, gbl, err);
  if (code || !gbl->stale[space])
    return code;
  if (space_is_device(space)) {
    code = gbl_need(ctx, gbl, SPACE_HOST, err);
    if (!code)
      code = ctx->mover->value_to_device(ctx, space, gbl, err);
  } else {
    int device = 0;
    while (device < DEVICES_MOST - 1 && gbl->stale[space_of_device(device)])
      device++;
    code = ctx->mover->value_to_host(ctx, space_of_device(device), gbl, err);
  }
  gbl->stale[space] = code != OP_OK;
  return code;
}

void gbl_wrote(struct gbl *gbl, enum space space) {
  for (int s = 0; s < SPACES; s++)
    gbl->stale[s] = s != (int)space;
}
