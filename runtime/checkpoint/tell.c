/* The public calls' reports to checkpoints. */
#include "checkpoint/tell.h"

#include <string.h>

#include "checkpoint/inner.h"
#include "context/context.h"
#include "mesh/globals.h"
#include "spread/data.h"
#include "spread/spread.h"

static int event(struct op_context *ctx, struct checkpoint *k, const char *call, const char *name, int dim,
                 struct error *err) {
  return checkpoint_event(ctx, k, kind_of_call(&k->happened, call, name, dim), false, err);
}

/* The event of a call that reads the dat. *passed: its values come from the run before. */
static int read_event(struct op_context *ctx, struct checkpoint *k, const char *call, struct dat *dat,
                      bool *passed, bool *changed, struct error *err) {
  int code = event(ctx, k, call, dat->name, dat->dim, err);
  *changed = (size_t)dat->id < k->nmarks && k->marks[dat->id].changed;
  *passed = k->past && *changed;
  return code || *passed ? code : checkpoint_look(ctx, k, call, dat, err);
}

/* ---- what leaves ---- */

static int fetch_own(struct op_context *ctx, struct checkpoint *k, const char *call, struct dat *dat,
                     void *out, size_t bytes, struct error *err) {
  if (!k->past->has_own)
    return error_set(
        err, OP_ERR_FILE,
        "%s of dat \"%s\": the checkpoint %s was written on %lld ranks, each of which fetched elements of "
        "its own; run on as many, or remove the file to begin anew",
        call, dat->name, text_str(&k->past->path), k->past->facts[FACT_RANKS]);
  (void)ctx;
  return values_take(k, &k->past->own, &k->past->own_at, call, out, bytes, err);
}

int checkpoint_fetch(struct op_context *ctx, const char *call, struct dat *dat, bool whole, void *out,
                     long low, long high, struct error *err) {
  struct checkpoint *k = checkpoint_of(ctx);
  const size_t bytes = high < low ? 0 : (size_t)(high - low + 1) * dat->row_bytes;
  bool passed = false, changed = false;
  int code = k ? read_event(ctx, k, call, dat, &passed, &changed, err) : OP_OK;
  if (code)
    return code;
  if (passed)
    return whole ? values_take_rows(ctx, k, call, dat, out, err)
                 : fetch_own(ctx, k, call, dat, out, bytes, err);
  code = data_fetch(ctx, dat, out, low, high, err);
  if (code || !changed)
    return code;
  return whole ? values_add_rows(k, call, dat, out, err) : values_add(k, &k->own, call, out, bytes, err);
}

int checkpoint_value(struct op_context *ctx, struct gbl *gbl, void *out, struct error *err) {
  struct checkpoint *k = checkpoint_of(ctx);
  int code = k ? event(ctx, k, "op_get_gbl", gbl->name, gbl->dim, err) : OP_OK;
  if (!code && k && k->past)
    return values_take(k, &k->past->values, &k->past->values_at, "op_get_gbl", out, gbl->bytes, err);
  if (!code)
    code = gbl_need(ctx, gbl, SPACE_HOST, err);
  if (code)
    return code;
  memcpy(out, gbl->value, gbl->bytes);
  return k ? values_add(k, &k->values, "op_get_gbl", out, gbl->bytes, err) : OP_OK;
}

int checkpoint_lend(struct op_context *ctx, struct dat *dat, op_access access, void **array,
                    struct error *err) {
  struct checkpoint *k = checkpoint_of(ctx);
  bool passed = false, changed = false;
  int code = !k                   ? OP_OK
             : access == OP_WRITE ? event(ctx, k, "op_acquire to write", dat->name, dat->dim, err)
                                  : read_event(ctx, k, "op_acquire", dat, &passed, &changed, err);
  if (!code)
    code = lend(ctx, dat, access, array, err);
  if (code || access == OP_WRITE || !changed)
    return code;
  return passed ? values_take_rows(ctx, k, "op_acquire", dat, *array, err)
                : values_add_rows(k, "op_acquire", dat, *array, err);
}

int checkpoint_free(struct op_context *ctx, const char *call, struct dat *dat, struct error *err) {
  struct checkpoint *k = checkpoint_of(ctx);
  bool passed = false, changed = false;
  if (!k)
    return OP_OK;
  int code = OP_OK;
  if (dat->view && !dat->view->acquired) {
    code = read_event(ctx, k, call, dat, &passed, &changed, err);
    if (!code)
      code = lend_last(ctx, dat, err);
    if (!code && changed)
      code = passed ? values_take_rows(ctx, k, call, dat, dat->view->array, err)
                    : values_add_rows(k, call, dat, dat->view->array, err);
  }
  checkpoint_drops(k, dat);
  return code;
}

/* ---- what comes in ---- */

int checkpoint_declared(struct op_context *ctx, const struct dat *dat, struct error *err) {
  struct checkpoint *k = checkpoint_of(ctx);
  struct mark *mark = k ? checkpoint_mark(k, dat) : NULL;
  if (k && !mark)
    return error_memory(err, "what is known of dats", k->nmarks * sizeof *mark);
  if (mark)
    *mark = (struct mark){.born = k->declared++};
  return OP_OK;
}

int checkpoint_put(struct op_context *ctx, const char *call, struct dat *dat, struct error *err) {
  struct checkpoint *k = checkpoint_of(ctx);
  const int code = k ? event(ctx, k, call, dat->name, dat->dim, err) : OP_OK;
  if (code || !k)
    return code;
  checkpoint_drops(k, dat);
  if ((size_t)dat->id < k->nmarks)
    k->marks[dat->id].changed = false;
  return OP_OK;
}

int checkpoint_put_gbl(struct op_context *ctx, struct gbl *gbl, struct error *err) {
  struct checkpoint *k = checkpoint_of(ctx);
  return k ? event(ctx, k, "op_put_gbl", gbl->name, gbl->dim, err) : OP_OK;
}

/* ---- what the library does with dats ---- */

int checkpoint_reads(struct op_context *ctx, const char *call, struct dat *dat, struct error *err) {
  struct checkpoint *k = checkpoint_of(ctx);
  if (!k)
    return OP_OK;
  if (k->past && (size_t)dat->id < k->nmarks && k->marks[dat->id].changed)
    return error_set(
        err, OP_ERR_FILE,
        "%s reads dat \"%s\", which loops changed before: they do not run while the run is brought to where "
        "its checkpoint %s was written; remove the file to begin anew",
        call, dat->name, text_str(&k->past->path));
  return checkpoint_look(ctx, k, call, dat, err);
}

int checkpoint_writes(struct op_context *ctx, const char *call, int ndats, struct dat *const dats[],
                      bool *skip, struct error *err) {
  struct checkpoint *k = checkpoint_of(ctx);
  const int count = !k ? 0 : dats ? ndats : ctx->mesh->dats.count;
  int code = k ? event(ctx, k, call, "", ndats, err) : OP_OK;
  *skip = k && k->past;
  for (int i = 0; !code && !*skip && i < count; i++) {
    struct dat *dat = dats ? dats[i] : ctx->mesh->dats.items[i];
    if (dat_counts(dat))
      code = checkpoint_look(ctx, k, call, dat, err);
  }
  return code;
}

int checkpoint_refuses(const struct op_context *ctx, const char *call, const char *what, struct error *err) {
  return !checkpoint_of(ctx)
             ? OP_OK
             : error_set(err, OP_ERR_STATE,
                         "%s: OP2_CHECKPOINT is set, and checkpoints cannot follow %s; run without it", call,
                         what);
}

/* ---- public calls ---- */

int checkpoint_here(struct op_context *ctx, struct error *err) {
  struct checkpoint *k = checkpoint_of(ctx);
  if (!k)
    return OP_OK;
  k->places = true;
  return checkpoint_event(ctx, k, kind_of_call(&k->happened, "op_checkpoint", "", 0), true, err);
}

void checkpoint_keep(struct op_context *ctx) {
  if (checkpoint_of(ctx))
    checkpoint_of(ctx)->keep = true;
}

void checkpoint_facts(const struct op_context *ctx, op_checkpoint_facts_t *out) {
  const struct checkpoint *k = checkpoint_of(ctx);
  *out = (op_checkpoint_facts_t){0};
  if (!k)
    return;
  *out = k->facts;
  out->values = (long long)k->bytes;
}
