#include "report/tuning_report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/size.h"
#include "context/context.h"
#include "kernels-cache/store.h"
#include "ranks/comm.h"

const char tuning_report_machine[] = "", tuning_report_name[] = "what OP2_TUNE=force has tuned";

struct entry {
  struct tuning_note note;
  char *loop, *place;
};

struct tuning_report {
  struct entry *entries;
  int count;
};

static struct entry *find(const struct tuning_report *r, const char *place, size_t order) {
  for (int i = 0; i < r->count; i++)
    if (r->entries[i].note.order == order || strcmp(r->entries[i].place, place) == 0)
      return &r->entries[i];
  return NULL;
}

static bool is_farther(const struct tuning_note *a, const struct tuning_note *b) {
  const bool a_done = a->state == TUNING_DONE, b_done = b->state == TUNING_DONE;
  if (a_done != b_done)
    return a_done;
  return a->calls > b->calls;
}

static struct entry *add(struct tuning_report *r) {
  struct entry *more = array_more(r->entries, (size_t)r->count, sizeof *more);
  if (!more)
    return NULL;
  r->entries = more;
  return &more[r->count];
}

/* What there is no memory for is not reported. */
static void note_place(struct op_context *ctx, const char *place, const struct tuning_note *note) {
  struct tuning_report *r = ctx->tuned ? ctx->tuned : (ctx->tuned = calloc(1, sizeof *r));
  struct entry *e = r ? find(r, place, note->order) : NULL;
  if (e) {
    const size_t order = e->note.order < note->order ? e->note.order : note->order;
    if (is_farther(note, &e->note))
      e->note = *note;
    e->note.order = order;
    e->note.loop = e->loop;
    return;
  }
  if (!r || !(e = add(r)))
    return;
  *e = (struct entry){.note = *note, .loop = strdup(note->loop), .place = strdup(place)};
  e->note.loop = e->loop;
  if (e->loop && e->place)
    r->count++;
  else {
    free(e->loop);
    free(e->place);
  }
}

void tuning_report_note(struct op_context *ctx, const struct tuning_place *place,
                        const struct tuning_note *note) {
  struct text key = {0};
  /* The mesh first: a message has its first word. */
  text_addf(&key, "%s %s %s %d", text_str(&place->mesh), text_str(&place->signature),
            text_str(&place->target), place->threads);
  if (text_ok(&key))
    note_place(ctx, text_str(&key), note);
  text_free(&key);
}

/* ---- the end ---- */

static int by_order(const void *a, const void *b) {
  const struct entry *x = a, *y = b;
  return x->note.order < y->note.order ? -1 : x->note.order > y->note.order;
}

/* Whether the next run finds what this one measured. */
static bool adds_up(const struct op_context *ctx) {
  struct store_stats stats = {0};
  store_stats(ctx->store, &stats);
  return ctx->comm->size == 1 && stats.journal && strcmp(stats.journal, "memory") != 0;
}

/* How large the set is tells one loop from another of that name. */
static void add_name(struct text *out, const struct entry *e) {
  text_addf(out, "%s (%.*s)", e->loop, (int)strcspn(e->place, " "), e->place);
}

static void warn_unfinished(const struct op_context *ctx, const struct entry *e, bool again) {
  const struct tuner_progress *p = &e->note.progress;
  struct text line = {0};
  add_name(&line, e);
  text_addf(&line, " is not tuned yet: %d of its %d variants are measured, with %d of %d measurements; ",
            p->begun, p->candidates, p->measured, p->wanted);
  if (again && p->runs > 0)
    text_addf(&line, "run the program again with OP2_TUNE=force, about %d time%s, or for longer", p->runs,
              p->runs == 1 ? "" : "s");
  else
    text_addf(&line, "%d more calls in one run are needed", e->note.left);
  log_line(ctx->log, LOG_WARN, "tune", "loop %s", text_str(&line));
  text_free(&line);
}

static void say_all(const struct tuning_report *r, const int *counts, struct text *out) {
  const int choices = counts[TUNING_DONE] + counts[TUNING_UNFINISHED];
  bool first = true;
  if (counts[TUNING_UNFINISHED])
    text_addf(out, "%d of %d loops are tuned", counts[TUNING_DONE], choices);
  else if (choices)
    text_addf(out, choices == 1 ? "the loop is tuned" : "all %d loops are tuned", choices);
  else
    text_add(out, "there is nothing to tune");
  if (counts[TUNING_ONLY])
    text_addf(out, "; %d %s only one way to run", counts[TUNING_ONLY],
              counts[TUNING_ONLY] == 1 ? "has" : "have");
  if (!counts[TUNING_ONCE])
    return;
  text_addf(out, "; called only once in a run, which is not worth tuning: ");
  for (int i = 0; i < r->count; i++)
    if (r->entries[i].note.state == TUNING_ONCE) {
      text_add(out, first ? "" : ", ");
      add_name(out, &r->entries[i]);
      first = false;
    }
}

static void leave_line(struct op_context *ctx, const char *line) {
  struct timespec now = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  store_put_fact(ctx->store, tuning_report_machine, tuning_report_name,
                 (double)now.tv_sec + 1e-9 * (double)now.tv_nsec, line);
}

static void say(struct op_context *ctx, struct tuning_report *r) {
  struct text line = {0};
  int counts[TUNING_STATES] = {0};
  const bool again = adds_up(ctx);
  qsort(r->entries, (size_t)r->count, sizeof *r->entries, by_order);
  for (int i = 0; i < r->count; i++) {
    counts[r->entries[i].note.state]++;
    if (r->entries[i].note.state == TUNING_UNFINISHED)
      warn_unfinished(ctx, &r->entries[i], again);
  }
  say_all(r, counts, &line);
  log_line(ctx->log, LOG_INFO, "tune", "%s", text_str(&line));
  if (text_ok(&line))
    leave_line(ctx, text_str(&line));
  text_free(&line);
}

void tuning_report_end(struct op_context *ctx) {
  struct tuning_report *r = ctx->tuned;
  if (!r)
    return;
  if (ctx->comm->rank == 0)
    say(ctx, r);
  for (int i = 0; i < r->count; i++) {
    free(r->entries[i].loop);
    free(r->entries[i].place);
  }
  free(r->entries);
  free(r);
  ctx->tuned = NULL;
}
