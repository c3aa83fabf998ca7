/* One event: compared with that of an earlier run, or a place where a checkpoint may begin. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "checkpoint/inner.h"
#include "context/context.h"
#include "files/layout.h"
#include "mesh/globals.h"
#include "spread/spread.h"

/* ---- on the way to where an earlier run was ---- */

static int compare(struct checkpoint *k, int kind, struct error *err) {
  struct past *past = k->past;
  const int then = replay_next(&past->replay);
  if (then < 0 || (size_t)then >= past->nkinds)
    return error_set(err, OP_ERR_FILE, "%s: its list of events ends too early; remove the file to begin anew",
                     text_str(&past->path));
  if (past->kinds[then].hash == k->happened.kinds[kind].hash)
    return OP_OK;
  return error_set(
      err, OP_ERR_FILE,
      "the checkpoint %s is of another program or mesh: event %lld was\n  %s\nand is now\n  %s\nRun the "
      "program that made it, or remove the file to begin anew",
      text_str(&past->path), k->happened.history.count + 1, past->kinds[then].line,
      k->happened.kinds[kind].line);
}

/* ---- when the next one is due ---- */

static int due_by_clock(const struct checkpoint *k) {
  const double passed = clock_seconds() - k->began;
  return passed < k->every_seconds ? 0 : passed < 2 * k->every_seconds ? 1 : 2;
}

/* Rank 0's clock counts. Ranks ask it some fifty times in an interval, at loops that they count alike. */
static int ask(struct op_context *ctx, struct checkpoint *k, struct error *err) {
  if (k->due == 2 || k->loops < k->ask_at)
    return OP_OK;
  const double passed = clock_seconds() - k->opened;
  double answer[2] = {due_by_clock(k), 1};
  if (passed > 0)
    answer[1] = (double)(k->loops + 1) / passed * k->every_seconds / 50;
  const int code = together_broadcast(ctx->comm, answer, sizeof answer, err);
  const double most = 2 * (double)k->ask_gap, gap = answer[1] < most ? answer[1] : most;
  k->ask_gap = gap < 1 ? 1 : (long long)gap;
  k->ask_at = k->loops + k->ask_gap;
  k->due = (int)answer[0];
  return code;
}

static int look_at_clock(struct op_context *ctx, struct checkpoint *k, struct error *err) {
  const long long passed = k->loops - k->began_loops;
  if (k->every_loops)
    k->due = passed < k->every_loops ? 0 : passed < 2 * k->every_loops ? 1 : 2;
  else if (!together_alone(ctx->comm))
    return ask(ctx, k, err);
  else
    k->due = due_by_clock(k);
  return OP_OK;
}

/* Chosen once, by rank 0: what ranks know of kinds depends on what they had to look up again. A program that just did something
 * else repeats itself again soon: it is looked at now and then, for as long as the one that is due is not late. */
static int choose_place(struct op_context *ctx, struct checkpoint *k, struct error *err) {
  enum { AGAIN = 8, MOST_WAIT = 512 };
  const long long now = k->happened.history.count;
  if (k->begin_at >= 0 || now < k->choose_at)
    return OP_OK;
  if (!k->choose_at)
    k->choose_by = now + MOST_WAIT;
  struct place place = place_best(&k->happened, ctx);
  const int code = together_broadcast(ctx->comm, &place, sizeof place, err);
  k->choose_at = now + AGAIN;
  k->period = place.period;
  if (place.period || k->due == 2 || now >= k->choose_by)
    k->begin_at = now + place.wait;
  return code;
}

static int advance(struct op_context *ctx, struct checkpoint *k, bool here, struct error *err) {
  const long long now = k->happened.history.count;
  int code = OP_OK;
  if (k->process != getpid() || (code = checkpoint_look_behind(ctx, k, err)))
    return code;
  if (k->begun)
    return k->nopen == 0 || now >= k->deadline ? checkpoint_finish(ctx, k, err) : OP_OK;
  code = k->stopped ? OP_OK : look_at_clock(ctx, k, err);
  if (code || k->stopped || !k->due || k->writing || (k->places && !here && k->due < 2))
    return code;
  if (!here && (code = choose_place(ctx, k, err)))
    return code;
  return here || (k->begin_at >= 0 && now >= k->begin_at) ? checkpoint_begin(ctx, k, err) : OP_OK;
}

/* A run that has come to where an earlier one wrote its checkpoint: dats and globals get what they held then. */

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

/* This run is where the earlier one was. */
static int checkpoint_arrive(struct op_context *ctx, struct checkpoint *k, struct error *err) {
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

int checkpoint_event(struct op_context *ctx, struct checkpoint *k, int kind, bool here, struct error *err) {
  int code = kind < 0 ? error_memory(err, "what happened before a checkpoint", sizeof(struct kind)) : OP_OK;
  if (k->happened.history.count == 0)
    k->first = clock_seconds();
  if (!code && k->past && k->happened.history.count == k->past->facts[FACT_EVENT])
    code = checkpoint_arrive(ctx, k, err);
  if (!code)
    code = k->past ? compare(k, kind, err) : advance(ctx, k, here, err);
  return code ? code : happened_add(&k->happened, kind, err);
}
