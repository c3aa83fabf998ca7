/* A run that has come to where an earlier one wrote its checkpoint: dats and globals get what they held then. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/size.h"
#include "checkpoint/inner.h"
#include "context/context.h"
#include "files/together.h"
#include "mesh/globals.h"
#include "spread/spread.h"

static struct dat *find_dat(const struct op_context *ctx, const struct checkpoint *k,
                            const struct table *table) {
  for (int i = 0; i < ctx->mesh->dats.count; i++) {
    struct dat *dat = ctx->mesh->dats.items[i];
    if (dat_counts(dat) && dat->dim == table->dim && strcmp(dat->name, table->dat) == 0 &&
        strcmp(dat->set->name, table->set) == 0 && strcmp(type_info(dat->type)->name, table->type) == 0 &&
        dat_ordinal(ctx, k, dat) == table->ordinal)
      return dat->set->global_size == table->rows && dat->row_bytes == table->width ? dat : NULL;
  }
  return NULL;
}

static int load(struct op_context *ctx, struct checkpoint *k, long long number, struct error *err) {
  const struct table *table = &k->past->dats[number];
  struct dat *dat = find_dat(ctx, k, table);
  if (!dat)
    return error_set(
        err, OP_ERR_FILE,
        "%s holds dat \"%s\" of %lld x %d %s on set \"%s\", which the program does not have at that place; "
        "remove the file to begin anew",
        text_str(&k->past->path), table->dat, table->rows, table->dim, table->type, table->set);
  unsigned char *rows = array_new((size_t)dat->set->size, dat->row_bytes);
  int code =
      rows ? OP_OK
           : error_memory_of(err, "the rows of dat", dat->name, (size_t)dat->set->size * dat->row_bytes);
  code = together_agree(ctx->comm, code, err);
  if (!code && !table->zeros)
    code = past_rows(ctx, k->past, number, dat->set, dat->row_bytes, rows, err);
  if (!code)
    code = data_put(ctx, dat, rows, err);
  free(rows);
  struct mark *mark = code ? NULL : checkpoint_mark(k, dat);
  if (!code && !mark)
    return error_memory(err, "what is known of dats", k->nmarks * sizeof *mark);
  if (mark)
    mark->open = true; /* it is there: see below */
  return code;
}

static int load_globals(struct op_context *ctx, const struct past *past, struct error *err) {
  size_t at = 0;
  int code = OP_OK;
  for (int i = 0; !code && i < ctx->mesh->globals.count; i++) {
    struct gbl *gbl = ctx->mesh->globals.items[i];
    if (gbl->bytes <= past->globals.length - at)
      code = gbl_put(ctx, gbl, text_str(&past->globals) + at, err);
    else
      at = past->globals.length + 1 - gbl->bytes;
    at += gbl->bytes;
  }
  if (!code && at != past->globals.length)
    code = error_set(err, OP_ERR_FILE,
                     "%s holds other globals than the program has; remove the file to begin anew",
                     text_str(&past->path));
  return code;
}

/* Dats that loops changed and that are not in the file: nothing may read them before they are written. */
static void mark_lost(const struct op_context *ctx, struct checkpoint *k) {
  for (int i = 0; i < ctx->mesh->dats.count; i++) {
    const struct dat *dat = ctx->mesh->dats.items[i];
    struct mark *mark = (size_t)dat->id < k->nmarks ? &k->marks[dat->id] : NULL;
    if (!mark)
      continue;
    mark->lost = dat_counts(dat) && mark->changed && !mark->open;
    mark->open = false;
    k->nlost += mark->lost;
  }
}

/* All that left in the run before has left in this one. */
static int check_values(const struct checkpoint *k, const struct past *past, struct error *err) {
  if (past->values_at == past->values.length && (!past->has_own || past->own_at == past->own.length) &&
      k->left_bytes == past->facts[FACT_LEFT])
    return OP_OK;
  return error_set(err, OP_ERR_FILE,
                   "%s holds more values than the program took; remove the file to begin anew",
                   text_str(&past->path));
}

int checkpoint_arrive(struct op_context *ctx, struct checkpoint *k, struct error *err) {
  struct past *past = k->past;
  int code = check_values(k, past, err);
  for (long long i = 0; !code && i < past->facts[FACT_DATS]; i++)
    code = load(ctx, k, i, err);
  if (!code)
    code = load_globals(ctx, past, err);
  if (code)
    return code;
  mark_lost(ctx, k);
  text_free(&k->values);
  text_free(&k->own);
  k->values = past->values;
  k->own = past->own;
  past->values = past->own = (struct text){0};
  k->bytes += k->values.length + k->own.length;
  k->facts.position = past->facts[FACT_LOOPS];
  k->seconds_before = past->facts[FACT_SECONDS];
  k->facts.forward = clock_seconds() - k->first;
  log_line(ctx->log, LOG_INFO, "io", "%s: this run goes on behind loop %lld, to which it came in %.3f s",
           text_str(&past->path), past->facts[FACT_LOOPS], k->facts.forward);
  past_free(past);
  k->past = NULL;
  k->began = clock_seconds();
  k->began_loops = k->ask_at = k->loops;
  return OP_OK;
}
