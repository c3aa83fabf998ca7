#include "mesh/guest.h"

#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "mesh/view.h"

static struct guest *guest_of(struct dat *dat, struct error *err) {
  if (!dat->guest && !(dat->guest = calloc(1, sizeof *dat->guest)))
    error_memory_of(err, "dat", dat->name, sizeof *dat->guest);
  return dat->guest;
}

/* The space's rows, for whom they are lent. */
static int open_rows(struct op_context *ctx, struct dat *dat, enum space space, op_access access,
                     void **memory, struct error *err) {
  int code = OP_OK;
  if (access != OP_WRITE)
    code = dat_need(ctx, dat, space, REGION_OWNED, err);
  else if (!dat->replicas[space].bytes)
    code = ctx->mover->make(ctx, space, dat, err);
  *memory = dat->replicas[space].memory;
  return code || !space_is_device(space) ? code : ctx->mover->lend(ctx, space, dat, memory, err);
}

int guest_lend(struct op_context *ctx, struct dat *dat, enum space space, op_access access, void **memory,
               struct error *err) {
  struct guest *g = guest_of(dat, err);
  const int code = g ? open_rows(ctx, dat, space, access, memory, err) : err->code;
  if (code)
    return code;
  g->lent = true;
  g->space = space;
  g->access = access;
  ctx->mesh->lent++;
  return OP_OK;
}

void guest_lend_end(struct op_context *ctx, struct dat *dat) {
  if (dat->guest->access != OP_READ)
    dat_wrote(dat, dat->guest->space);
  dat->guest->lent = false;
  ctx->mesh->lent--;
}

static size_t owned_bytes(const struct dat *dat) {
  return (size_t)dat->set->extents[EXTENT_OWNED] * dat->row_bytes;
}

static void copy(struct op_context *ctx, const struct dat *dat, void *to, const void *from) {
  if (owned_bytes(dat))
    memcpy(to, from, owned_bytes(dat));
  ctx->counters->bytes_of_views += (long long)owned_bytes(dat);
}

/* The host's rows lie there from now on, with whatever is there: a new version. */
static void work_in(struct op_context *ctx, struct dat *dat, void *memory, size_t bytes) {
  dat->replicas[SPACE_HOST].memory = memory;
  dat->replicas[SPACE_HOST].bytes = bytes;
  dat_wrote(dat, SPACE_HOST);
  ctx->mesh->moved++;
}

int guest_place(struct op_context *ctx, struct dat *dat, void *memory, op_access access, struct error *err) {
  struct guest *g = guest_of(dat, err);
  const long rows = dat->set->extents[EXTENT_NONEXEC];
  const bool copied = view_is_read_past(dat, memory, (size_t)rows);
  size_t bytes = (size_t)rows * dat->row_bytes;
  int code = g ? OP_OK : err->code;
  if (!code && !dat->blank)
    code = dat_need(ctx, dat, SPACE_HOST, REGION_OWNED, err);
  void *room = memory;
  if (!code && copied)
    room = data_bytes(dat, rows, &bytes) ? data_rows_memory(ctx->team, dat, bytes) : NULL;
  if (!code && !room)
    code = error_memory_of(err, "dat", dat->name, bytes);
  if (code)
    return code;
  *g = (struct guest){.placed = true,
                      .access = access,
                      .memory = memory,
                      .room = room,
                      .own = dat->replicas[SPACE_HOST],
                      .own_blank = dat->blank,
                      .own_borrowed = dat->borrowed};
  if (copied && access != OP_WRITE)
    copy(ctx, dat, room, memory);
  dat->borrowed = !copied;
  work_in(ctx, dat, room, bytes);
  ctx->mesh->lent++;
  return OP_OK;
}

static void free_own(struct dat *dat) {
  if (!dat->guest->own_borrowed && !(dat->view && dat->view->in_place))
    data_memory_free(dat->guest->own.memory);
}

int guest_place_end(struct op_context *ctx, struct dat *dat, struct error *err) {
  struct guest *g = dat->guest;
  const bool there = dat->replicas[SPACE_HOST].memory == g->room;
  const int code = there && g->access != OP_READ ? dat_need(ctx, dat, SPACE_HOST, REGION_OWNED, err) : OP_OK;
  if (code)
    return code;
  g->placed = false;
  ctx->mesh->lent--;
  if (!there) {
    free_own(dat);
    return error_set(
        err, OP_ERR_STATE,
        "op_place_end: the mesh changed while dat \"%s\" was placed, and its values went elsewhere; "
        "declare maps, and call op_partition and op_renumber, before op_place",
        dat->name);
  }
  if (g->room != g->memory && g->access != OP_READ)
    copy(ctx, dat, g->memory, g->room);
  dat_leave_rows(dat);
  dat->borrowed = g->own_borrowed;
  work_in(ctx, dat, g->own.memory, g->own.bytes);
  dat->blank = g->own_blank;
  return OP_OK;
}

void guest_free(struct dat *dat) {
  if (dat->guest && dat->guest->placed)
    free_own(dat);
  free(dat->guest);
}
