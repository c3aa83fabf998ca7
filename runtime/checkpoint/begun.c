/* A checkpoint that has begun: what happened is copied at once; of dats, each is copied when a loop is about to read it,
 * and left out when one is about to write all of it. So nothing is guessed: what is left out nobody can miss. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "checkpoint/inner.h"
#include "context/context.h"
#include "files/io.h"
#include "files/layout.h"
#include "loop/chain/queue.h"
#include "mesh/globals.h"
#include "spread/spread.h"

/* So many events are waited for at least until what a dat is used for shows. */
enum { LEAST_WAIT = 12 };

static void say_failed(struct op_context *ctx, struct checkpoint *k, const struct error *why) {
  k->facts.failed++;
  if (together_is_root(ctx->comm))
    log_line(ctx->log, LOG_WARN, "io", "no checkpoint is written, and the older ones stay: %s",
             error_message(why));
}

/* This checkpoint is not written; the run goes on. The same on all ranks. */
static void give_up(struct op_context *ctx, struct checkpoint *k, struct error *why) {
  say_failed(ctx, k, why);
  error_free(why);
  for (size_t i = 0; i < k->nmarks; i++)
    k->marks[i].open = false;
  image_free(&k->image);
  k->begun = false;
  k->nopen = 0;
}

/* ---- the beginning ---- */

/* A copy of this rank's rows. */
static struct table *add_rows(struct image *image, const char *name, struct table made, const void *rows) {
  const size_t bytes = (size_t)made.mine * made.width;
  struct table *table = image_table(image, name, -1);
  made.data = table ? array_new((size_t)made.mine, made.width) : NULL;
  if (!made.data)
    return NULL;
  if (bytes)
    memcpy(made.data, rows, bytes);
  made.name = table->name;
  *table = made;
  return table;
}

/* Bytes that the root writes alone. */
static bool add_bytes(struct op_context *ctx, struct image *image, const char *name, int fact,
                      const void *bytes, size_t length) {
  const long long count = (long long)length;
  const struct table made = {.rows = count, .mine = together_is_root(ctx->comm) ? count : 0, .width = 1};
  image->facts[fact] = count;
  return !length || add_rows(image, name, made, bytes);
}

static bool add_kinds(struct op_context *ctx, struct checkpoint *k) {
  struct text lines = {0};
  for (size_t i = 0; i < k->happened.nkinds; i++)
    text_addf(&lines, "%016llx %s\n", (unsigned long long)k->happened.kinds[i].hash,
              k->happened.kinds[i].line);
  const bool good =
      text_ok(&lines) && add_bytes(ctx, &k->image, "kinds", FACT_KINDS, text_str(&lines), lines.length);
  text_free(&lines);
  return good;
}

/* Values of elements that ranks fetched, each its own, and how many bytes that is. */
static int add_own(struct op_context *ctx, struct checkpoint *k, struct error *err) {
  struct comm *comm = ctx->comm;
  const long long mine = (long long)k->own.length;
  long long first = 0, all = mine;
  int code = OP_OK;
  if (!together_alone(comm) && !(code = comm->table->scan_before(comm, mine, &first, err)))
    code = comm->table->reduce_all(comm, &all, 1, COMM_LLONG, COMM_SUM, err);
  k->image.facts[FACT_OWN] = all;
  if (code || !all)
    return code;
  const struct table own = {.rows = all, .first = first, .mine = mine, .width = 1},
                     lengths = {.rows = comm->size, .first = comm->rank, .mine = 1, .width = sizeof mine};
  return add_rows(&k->image, "own", own, text_str(&k->own)) && add_rows(&k->image, "lengths", lengths, &mine)
             ? OP_OK
             : error_memory(err, "values that left", k->own.length);
}

static bool add_left(struct checkpoint *k) {
  const struct table made = {.rows = k->left_bytes, .mine = (long long)k->left.length, .width = 1};
  k->image.facts[FACT_LEFT] = k->left_bytes;
  if (!k->left_bytes)
    return true;
  struct table *table = add_rows(&k->image, "left", made, text_str(&k->left));
  if (!table || !(table->pieces = array_new(k->npieces, sizeof *table->pieces)))
    return false;
  memcpy(table->pieces, k->pieces, k->npieces * sizeof *k->pieces);
  table->npieces = k->npieces;
  return true;
}

static int add_globals(struct op_context *ctx, struct checkpoint *k, struct error *err) {
  struct text values = {0};
  int code = OP_OK;
  for (int i = 0; !code && i < ctx->mesh->globals.count; i++) {
    struct gbl *gbl = ctx->mesh->globals.items[i];
    code = gbl_need(ctx, gbl, SPACE_HOST, err);
    if (!code)
      text_add_bytes(&values, gbl->value, gbl->bytes);
  }
  if (!code && (!text_ok(&values) ||
                !add_bytes(ctx, &k->image, "globals", FACT_GLOBALS, text_str(&values), values.length)))
    code = error_memory(err, "globals in a checkpoint", values.length);
  text_free(&values);
  return code;
}

static void open_dats(struct op_context *ctx, struct checkpoint *k) {
  for (int i = 0; i < ctx->mesh->dats.count; i++) {
    const struct dat *dat = ctx->mesh->dats.items[i];
    struct mark *mark = (size_t)dat->id < k->nmarks ? &k->marks[dat->id] : NULL;
    if (!mark || !dat_counts(dat) || !mark->changed || mark->lost)
      continue;
    mark->ordinal = dat_ordinal(ctx, k, dat);
    mark->open = true;
    k->nopen++;
  }
}

static int take_what_happened(struct op_context *ctx, struct checkpoint *k, struct error *err) {
  struct image *image = &k->image;
  int code = happened_end_pair(&k->happened, err);
  image->facts[FACT_FORMAT] = CHECKPOINT_FORMAT;
  image->facts[FACT_EVENT] = k->happened.history.count;
  image->facts[FACT_LOOPS] = k->loops;
  image->facts[FACT_RANKS] = ctx->comm->size;
  image->facts[FACT_TIME] = (long long)time(NULL);
  image->facts[FACT_SECONDS] = (long long)(clock_seconds() - k->opened) + k->seconds_before;
  snprintf(image->version, sizeof image->version, VERSION);
  snprintf(image->backend, sizeof image->backend, "%s", ctx->backend->name);
  if (!code &&
      (!add_bytes(ctx, image, "events", FACT_PAIRS, k->happened.pairs,
                  k->happened.npairs * sizeof(struct pair)) ||
       !add_kinds(ctx, k) ||
       !add_bytes(ctx, image, "values", FACT_VALUES, text_str(&k->values), k->values.length) || !add_left(k)))
    code = error_memory(err, "what happened before a checkpoint", k->bytes);
  return code;
}

int checkpoint_begin(struct op_context *ctx, struct checkpoint *k, struct error *err) {
  const double start = clock_seconds();
  const long long longest = 2 * HISTORY, wait = 2 * (long long)k->period;
  struct error why = {0};
  image_free(&k->image);
  int code = queue_flush(ctx, err);
  if (!code)
    code = add_globals(ctx, k, err);
  if (code)
    return code;
  k->deadline = k->happened.history.count + (wait < LEAST_WAIT ? LEAST_WAIT
                                             : wait < longest  ? wait
                                                               : longest);
  k->begun = true;
  k->began = start;
  k->began_loops = k->loops;
  k->begin_at = -1;
  k->choose_at = 0;
  k->due = 0;
  k->left_out = 0;
  code = together_agree(ctx->comm, take_what_happened(ctx, k, &why), &why);
  if (!code)
    code = together_agree(ctx->comm, add_own(ctx, k, &why), &why);
  k->nlog = k->image.ntables;
  if (code)
    give_up(ctx, k, &why);
  else
    open_dats(ctx, k);
  error_free(&why);
  k->facts.seconds += clock_seconds() - start;
  return OP_OK;
}

/* ---- what shows ---- */

static bool describe(const struct checkpoint *k, struct table *table, struct dat *dat) {
  table->dat = strdup(dat->name);
  table->set = strdup(dat->set->name);
  table->type = strdup(type_info(dat->type)->name);
  table->dim = dat->dim;
  table->ordinal = k->marks[dat->id].ordinal;
  table->rows = dat->set->global_size;
  table->first = dat->set->global_first;
  table->mine = dat->set->size;
  table->width = dat->row_bytes;
  table->source = dat;
  return table->dat && table->set && table->type;
}

static bool is_zero(const unsigned char *bytes, size_t count) {
  return count == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0);
}

/* Where there is no memory for a copy on some rank, the dat is read when the file is written: at once. */
static int copy(struct op_context *ctx, struct table *table, struct error *err) {
  struct error ignored = {0};
  int code = OP_OK;
  if (!table->source)
    return OP_OK;
  table->data = array_new((size_t)table->mine, table->width);
  if (!table->data)
    code = error_memory(&ignored, "a copy of a dat", 0);
  code = together_agree(ctx->comm, code, &ignored);
  error_free(&ignored);
  if (code) {
    free(table->data);
    table->data = NULL;
    return OP_OK;
  }
  code = data_fetch(ctx, table->source, table->data, 0, (long)table->mine - 1, err);
  table->zeros = !code && is_zero(table->data, (size_t)table->mine * table->width);
  table->source = NULL;
  return code;
}

/* One that the program has acquired to write it is not what it was, and comes from the program. */
static bool is_lent(const struct dat *dat) {
  return dat->view && dat->view->acquired && dat->view->access != OP_READ;
}

static int keep(struct op_context *ctx, struct checkpoint *k, struct dat *dat, bool copied,
                struct error *err) {
  struct error why = {0};
  k->marks[dat->id].open = false;
  k->nopen--;
  struct table *table = image_table(&k->image, "dat", (int)(k->image.ntables - k->nlog));
  int code =
      table && describe(k, table, dat) ? OP_OK : error_memory_of(&why, "a checkpoint of dat", dat->name, 0);
  code = together_agree(ctx->comm, code, &why);
  if (code) {
    give_up(ctx, k, &why);
    return OP_OK;
  }
  error_free(&why);
  return copied ? copy(ctx, table, err) : OP_OK;
}

/* After it nothing is open. */
static int keep_rest(struct op_context *ctx, struct checkpoint *k, bool copied, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && k->nopen && i < ctx->mesh->dats.count; i++) {
    struct dat *dat = ctx->mesh->dats.items[i];
    if (!dat_counts(dat) || (size_t)dat->id >= k->nmarks || !k->marks[dat->id].open)
      continue;
    if (is_lent(dat))
      checkpoint_drops(k, dat);
    else
      code = keep(ctx, k, dat, copied, err);
  }
  return code;
}

int checkpoint_keeps(struct op_context *ctx, struct checkpoint *k, struct dat *dat, struct error *err) {
  const double start = clock_seconds();
  int code = queue_flush(ctx, err);
  if (!code)
    code = keep(ctx, k, dat, true, err);
  k->facts.seconds += clock_seconds() - start;
  if (!code && k->begun && k->image.tables[k->image.ntables - 1].source)
    code = checkpoint_finish(ctx, k, err);
  return code;
}

/* ---- the end ---- */

/* Those that are zero on all ranks. */
static int agree_on_zeros(struct op_context *ctx, struct image *image, size_t first, struct error *err) {
  const int count = (int)(image->ntables - first);
  long long *other = array_new((size_t)count, sizeof *other);
  int code =
      other ? OP_OK : error_memory(err, "what a checkpoint has of dats", (size_t)count * sizeof *other);
  code = together_agree(ctx->comm, code, err);
  for (int i = 0; !code && i < count; i++)
    other[i] = !image->tables[first + (size_t)i].zeros;
  if (!code && count && !together_alone(ctx->comm))
    code = ctx->comm->table->reduce_all(ctx->comm, other, count, COMM_LLONG, COMM_MAX, err);
  for (int i = 0; !code && i < count; i++)
    image->tables[first + (size_t)i].zeros = !other[i];
  free(other);
  return code;
}

static void count_dats(struct checkpoint *k) {
  op_checkpoint_facts_t *f = &k->facts;
  f->dats = f->zeros = f->bytes = 0;
  f->left_out = k->left_out;
  for (size_t i = k->nlog; i < k->image.ntables; i++) {
    const struct table *table = &k->image.tables[i];
    f->dats += !table->zeros;
    f->zeros += table->zeros;
    f->bytes += table->zeros ? 0 : table->rows * (long long)table->width;
  }
}

static void say_written(struct op_context *ctx, struct checkpoint *k, const struct image *image,
                        struct error *err) {
  k->facts.written += !err->code;
  if (err->code)
    say_failed(ctx, k, err);
  else
    log_line(ctx->log, LOG_INFO, "io",
             "checkpoint %s at loop %lld: %lld dats of %lld bytes, %lld zero, %lld left out", k->path,
             image->facts[FACT_LOOPS], k->facts.dats, k->facts.bytes, k->facts.zeros, k->facts.left_out);
  error_clear(err);
}

/* ---- beside the program ---- */

static void write_behind(void *user) {
  struct checkpoint *k = user;
  const double start = clock_seconds();
  k->behind_code = image_rows(NULL, &k->behind_image, &k->behind_error);
  k->behind_seconds = clock_seconds() - start;
}

/* A forked child has nothing to do with it. */
static bool is_writing(struct checkpoint *k) {
  k->writing &= !behind_is_lost(&k->behind);
  return k->writing;
}

void checkpoint_join(struct op_context *ctx, struct checkpoint *k) {
  if (!is_writing(k))
    return;
  const double start = clock_seconds();
  behind_finish(&k->behind);
  k->writing = false;
  k->facts.behind += k->behind_seconds;
  image_end(&k->behind_image, k->behind_code, &k->behind_error);
  say_written(ctx, k, &k->behind_image, &k->behind_error);
  image_free(&k->behind_image);
  k->facts.seconds += clock_seconds() - start;
}

void checkpoint_abandon(struct checkpoint *k) {
  if (!is_writing(k))
    return;
  behind_finish(&k->behind);
  k->writing = false;
  k->behind_image.file.comm = NULL;
  image_end(&k->behind_image, OP_ERR_STATE, &k->behind_error);
}

/* Seldom, and never later than twice the time that it took. */
int checkpoint_look_behind(struct op_context *ctx, struct checkpoint *k, struct error *err) {
  long long busy = behind_is_busy(&k->behind);
  if (!is_writing(k) || (together_alone(ctx->comm) ? busy : k->happened.history.count < k->look_at))
    return OP_OK;
  k->look_at = k->happened.history.count + k->look_gap;
  k->look_gap *= 2;
  const int code = together_most(ctx->comm, &busy, err);
  if (!code && !busy)
    checkpoint_join(ctx, k);
  return code;
}

static bool may_wait(const struct checkpoint *k) {
  bool whole = k->beside;
  for (size_t i = 0; i < k->image.ntables; i++)
    whole &= k->image.tables[i].source == NULL;
  return whole;
}

/* Where no thread can be started this rank's rows are written at once. */
static void write_beside(struct checkpoint *k) {
  k->writing = true;
  k->look_gap = 1;
  k->look_at = 0;
  if (!behind_begin(&k->behind, write_behind, k))
    write_behind(k);
}

static void write_now(struct op_context *ctx, struct checkpoint *k, struct error *why) {
  const int code = image_rows(ctx, &k->behind_image, why);
  image_end(&k->behind_image, code, why);
  say_written(ctx, k, &k->behind_image, why);
  image_free(&k->behind_image);
}

int checkpoint_finish(struct op_context *ctx, struct checkpoint *k, struct error *err) {
  const double start = clock_seconds();
  const double before = k->facts.seconds; /* joining counts itself */
  struct error why = {0};
  const bool copied = k->image.ntables == k->nlog || !k->image.tables[k->image.ntables - 1].source;
  int code = k->nopen ? queue_flush(ctx, err) : OP_OK;
  if (!code)
    code = keep_rest(ctx, k, copied, err);
  if (code || !k->begun)
    return code;
  k->begun = false;
  k->image.facts[FACT_DATS] = (long long)(k->image.ntables - k->nlog);
  if (agree_on_zeros(ctx, &k->image, k->nlog, &why)) {
    give_up(ctx, k, &why);
    return OP_OK;
  }
  count_dats(k);
  checkpoint_join(ctx, k);
  const bool beside = may_wait(k);
  if (image_begin(k->files, ctx->comm, k->path, &k->image, &why))
    give_up(ctx, k, &why);
  else {
    k->behind_image = k->image;
    k->image = (struct image){0};
    if (beside)
      write_beside(k);
    else
      write_now(ctx, k, &why);
  }
  error_free(&why);
  k->facts.seconds = before + clock_seconds() - start;
  return OP_OK;
}
