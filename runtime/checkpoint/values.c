/* Values that leave the library, for a run that comes this way again. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "checkpoint/inner.h"
#include "context/context.h"
#include "files/layout.h"

/* `bytes` of all ranks. */
static int count(struct checkpoint *k, const char *what, size_t bytes, struct error *err) {
  if (bytes > k->most || k->bytes > k->most - bytes)
    return error_set(
        err, OP_ERR_SIZE,
        "%s: with it %zu bytes of values have left the library, and checkpoints hold at most %zu of them; "
        "give more by OP2_CHECKPOINT=FILE,values=SIZE, or fetch less",
        what, k->bytes + bytes, k->most);
  k->bytes += bytes;
  return OP_OK;
}

int values_add(struct checkpoint *k, struct text *to, const char *what, const void *bytes, size_t length,
               struct error *err) {
  const int code = count(k, what, length, err);
  if (!code)
    text_add_bytes(to, bytes, length);
  return code || text_ok(to) ? code : error_memory(err, "values that left", to->length + length);
}

int values_take(const struct checkpoint *k, const struct text *from, size_t *at, const char *what, void *out,
                size_t length, struct error *err) {
  if (length > from->length - *at)
    return error_set(err, OP_ERR_FILE,
                     "%s: the checkpoint %s does not hold what came of it; remove the file to begin anew",
                     what, k->path);
  memcpy(out, text_str(from) + *at, length);
  *at += length;
  return OP_OK;
}

int values_add_rows(struct checkpoint *k, const char *what, const struct dat *dat, const void *rows,
                    struct error *err) {
  const struct set *set = dat->set;
  const long long width = (long long)dat->row_bytes;
  const int code = count(k, what, (size_t)(set->global_size * width), err);
  if (code)
    return code;
  struct piece *pieces = array_more(k->pieces, k->npieces, sizeof *pieces);
  if (pieces) {
    k->pieces = pieces;
    pieces[k->npieces++] = (struct piece){k->left_bytes + set->global_first * width, set->size * width};
    k->left_bytes += set->global_size * width;
  }
  if (set->size)
    text_add_bytes(&k->left, rows, (size_t)(set->size * width));
  return pieces && text_ok(&k->left)
             ? OP_OK
             : error_memory_of(err, "values that left of dat", dat->name, k->left.length);
}

int values_take_rows(struct op_context *ctx, struct checkpoint *k, const char *what, const struct dat *dat,
                     void *rows, struct error *err) {
  const struct past *past = k->past;
  const long long width = (long long)dat->row_bytes;
  if (dat->set->global_size * width > past->facts[FACT_LEFT] - k->left_bytes)
    return error_set(
        err, OP_ERR_FILE,
        "%s of dat \"%s\": the checkpoint %s does not hold what came of it; remove the file to begin anew",
        what, dat->name, k->path);
  const int code =
      past_left(ctx, past, k->left_bytes + dat->set->global_first * width, dat->set->size * width, rows, err);
  return code ? code : values_add_rows(k, what, dat, rows, err);
}

/* ---- the state of each dat ---- */
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

/* Where least has to be kept: the last period is taken for the next one, and the live dats are counted at each of its
 * boundaries. What is really kept does not depend on it. */

static const struct kind *kind_at(const struct happened *h, long long event) {
  return &h->kinds[h->history.ring[event % HISTORY]];
}

/* Stages of a step repeat one another inside a longer period: so many events have to agree, where there are as many. */
enum { CONVINCING = 32 };

static bool repeats(const struct happened *h, int period, long long known) {
  const long long n = h->history.count, wanted = period < CONVINCING ? CONVINCING : period;
  const long long first = n - (wanted < known - period ? wanted : known - period);
  for (long long e = n - 1; e >= first; e--)
    if (kind_at(h, e) != kind_at(h, e - period))
      return false;
  return true;
}

static int find_period(const struct happened *h) {
  const long long known = h->history.count < HISTORY ? h->history.count : HISTORY;
  for (int period = 1; 2 * period <= known; period++)
    if (repeats(h, period, known))
      return period;
  return 0;
}

/* Backwards over an event: what it writes whole is dead before it, what it reads is live. */
static long long pass(const struct checkpoint *k, const struct kind *kind, bool *live, long long bytes) {
  for (int turn = 0; turn < 2; turn++)
    for (int i = 0; i < kind->naccesses; i++) {
      const struct kind_access *a = &kind->accesses[i];
      if ((size_t)a->dat >= k->nmarks || !k->marks[a->dat].changed || a->kills == (turn == 1) ||
          live[a->dat] == (turn == 1))
        continue;
      live[a->dat] = turn == 1;
      bytes += turn == 1 ? a->bytes : -a->bytes;
    }
  return bytes;
}

struct place place_best(const struct happened *h, const struct op_context *ctx) {
  const struct checkpoint *k = checkpoint_of(ctx);
  struct place best = {0, find_period(h)};
  bool *live = best.period ? calloc(k->nmarks + 1, sizeof *live) : NULL;
  long long bytes = 0, least = -1;
  for (int round = 0; live && round < 2; round++)
    for (int wait = best.period - 1; wait >= 0; wait--) {
      bytes = pass(k, kind_at(h, h->history.count - best.period + wait), live, bytes);
      if (round && (least < 0 || bytes <= least)) {
        least = bytes;
        best.wait = wait;
      }
    }
  free(live);
  return best;
}
