/* The state of each dat. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "checkpoint/inner.h"
#include "context/context.h"

struct checkpoint *checkpoint_of(const struct op_context *ctx) {
  return ctx->recorder && !ctx->recorder->derives ? ctx->recorder->state : NULL;
}

struct mark *checkpoint_mark(struct checkpoint *k, const struct dat *dat) {
  const size_t id = (size_t)dat->id;
  if (id >= k->nmarks) {
    const size_t count = 2 * id + 16;
    struct mark *marks = array_resize(k->marks, count, sizeof *marks);
    if (!marks)
      return NULL;
    memset(marks + k->nmarks, 0, (count - k->nmarks) * sizeof *marks);
    k->marks = marks;
    k->nmarks = count;
  }
  return &k->marks[id];
}

bool dat_counts(const struct dat *dat) {
  return dat->handle && !dat->dying;
}

static bool is_like(const struct dat *a, const struct dat *b) {
  return a->dim == b->dim && a->type == b->type && strcmp(a->name, b->name) == 0 &&
         strcmp(a->set->name, b->set->name) == 0;
}

static long long born(const struct checkpoint *k, const struct dat *dat) {
  return (size_t)dat->id < k->nmarks ? k->marks[dat->id].born : 0;
}

int dat_ordinal(const struct op_context *ctx, const struct checkpoint *k, const struct dat *dat) {
  int ordinal = 0;
  for (int i = 0; i < ctx->mesh->dats.count; i++) {
    const struct dat *other = ctx->mesh->dats.items[i];
    ordinal += dat_counts(other) && is_like(other, dat) && born(k, other) < born(k, dat);
  }
  return ordinal;
}

int checkpoint_look(struct op_context *ctx, struct checkpoint *k, const char *what, struct dat *dat,
                    struct error *err) {
  const struct mark *mark = checkpoint_mark(k, dat);
  if (!mark)
    return error_memory(err, "what is known of dats", k->nmarks * sizeof *mark);
  if (mark->lost)
    return error_set(
        err, OP_ERR_FILE,
        "%s reads dat \"%s\", which the checkpoint that this run went on from does not hold: the run "
        "that wrote it went another way; remove the file %s to begin anew",
        what, dat->name, k->path);
  return mark->open ? checkpoint_keeps(ctx, k, dat, err) : OP_OK;
}

void checkpoint_drops(struct checkpoint *k, const struct dat *dat) {
  struct mark *mark = (size_t)dat->id < k->nmarks ? &k->marks[dat->id] : NULL;
  if (!mark)
    return;
  k->left_out += mark->open;
  k->nopen -= mark->open;
  k->nlost -= mark->lost;
  mark->open = mark->lost = false;
}
