/* Dats change what they hold: the memory goes from one to the other, and values stay where they are. */
#include <string.h>

#include "context/context.h"
#include "mesh/data.h"
#include "mesh/halo.h"

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
