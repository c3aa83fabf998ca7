/* Rows that lie elsewhere for a while; and dats that change what they hold: the memory goes from one to the other, and values stay
 * where they are. */
#include "mesh/guest.h"

#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "mesh/halo.h"
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

/* ---- other memory ---- */

int dat_leave_array(struct op_context *ctx, struct dat *dat, struct error *err) {
  struct replica *host = &dat->replicas[SPACE_HOST];
  size_t bytes = 0;
  if (!dat->view || !dat->view->in_place)
    return OP_OK;
  const int code = dat_need(ctx, dat, SPACE_HOST, REGION_OWNED, err);
  if (code)
    return code;
  void *memory = data_bytes(dat, set_rows(dat->set), &bytes) ? data_rows_memory(ctx->team, dat, bytes) : NULL;
  if (!memory)
    return error_memory_of(err, "dat", dat->name, bytes);
  memcpy(memory, host->memory, (size_t)dat->set->size * dat->row_bytes);
  view_leave(dat, "derivatives are computed, which keep its old values");
  host->memory = memory;
  host->bytes = bytes;
  dat_wrote(dat, SPACE_HOST);
  return OP_OK;
}

void dat_leave_memory(struct op_context *ctx, struct dat *dat) {
  dat_leave_devices(ctx, dat);
  dat_leave_rows(dat);
  dat->replicas[SPACE_HOST] = (struct replica){0};
  dat->blank = true;
}

/* Replicas that were current stay so in the new version; nothing is known of others' elements. */
static void renew(struct dat *dat, uint64_t was, uint64_t version) {
  dat->version = version;
  for (int s = 0; s < SPACES; s++) {
    uint64_t *of = dat->replicas[s].version;
    of[REGION_OWNED] = of[REGION_OWNED] == was ? version : 0;
    of[REGION_COPIES] = 0;
  }
}

int dat_swap(struct op_context *ctx, struct dat *a, struct dat *b, struct error *err) {
  struct replica held[SPACES];
  int code = dat_leave_array(ctx, a, err);
  if (!code)
    code = dat_leave_array(ctx, b, err);
  if (!code &&
      (a->soa != b->soa || a->apart != b->apart)) { /* one got rows since the other was made like it */
    code = dat_lay_in_rows(ctx, a, err);
    code = code ? code : dat_lay_in_rows(ctx, b, err);
  }
  if (code)
    return code;
  const uint64_t of_a = a->version, of_b = b->version, version = (of_a > of_b ? of_a : of_b) + 1;
  const bool blank = a->blank;
  memcpy(held, a->replicas, sizeof held);
  memcpy(a->replicas, b->replicas, sizeof held);
  memcpy(b->replicas, held, sizeof held);
  a->blank = b->blank;
  b->blank = blank;
  const bool borrowed = a->borrowed;
  a->borrowed = b->borrowed;
  b->borrowed = borrowed;
  renew(a, of_b, version);
  renew(b, of_a, version);
  ctx->mesh->moved++;
  return OP_OK;
}
