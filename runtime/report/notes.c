/* The sentences below the table of a report. */
#include <string.h>

#include "loop/queue.h"
#include "op2jit_checkpoint.h"
#include "report/forms.h"

static void note_moved(const struct report *r, struct text *out) {
  double moved = 0;
  for (int i = 0; i < r->nrows; i++)
    moved += (double)r->rows[i].stats.moved;
  if (moved <= 0)
    return;
  text_addf(out, "moved between host and device, bytes a call:");
  for (int i = 0; i < r->nrows; i++)
    if (r->rows[i].stats.calls > 0)
      text_addf(out, " %s %.0f", r->rows[i].name,
                (double)r->rows[i].stats.moved / (double)r->rows[i].stats.calls);
  text_add_char(out, '\n');
}

static void note_tuning(const struct report *r, struct text *out) {
  long long trials = 0;
  double cost = 0;
  const double seconds = report_seconds(r);
  char time[48];
  for (int i = 0; i < r->nrows; i++) {
    trials += r->rows[i].stats.trials;
    cost += r->rows[i].stats.trial_seconds;
  }
  report_time(time, sizeof time, cost);
  if (trials)
    text_addf(out, "tuning: %lld trial%s of other variants cost %s, %.1f%% of the loops' time\n", trials,
              trials == 1 ? "" : "s", time, seconds > 0 ? 100 * cost / seconds : 0);
}

static void note_scalar(const struct report *r, struct text *out) {
  for (int i = 0; i < r->nrows; i++)
    if (r->rows[i].stats.scalar && *r->rows[i].stats.scalar)
      text_addf(out, "%s runs without vector instructions: %s\n", r->rows[i].name, r->rows[i].stats.scalar);
}

/* All other variants have the same bits on any number of threads. */
static bool depends_on_threads(const struct report_row *row) {
  static const char owners[] = "owners/";
  return row->stats.variant && strncmp(row->stats.variant, owners, sizeof owners - 1) == 0;
}

/* Calls that take a hundredth of the time or more. */
static void note_outside(const struct report *r, struct text *out) {
  const char *gap = "outside loops: ";
  char time[48];
  for (int i = 0; i < r->noutside && r->wall > REPORT_SHORT; i++) {
    if (r->outside[i].seconds < 0.01 * r->wall)
      continue;
    report_time(time, sizeof time, r->outside[i].seconds);
    text_addf(out, "%s%s %s", gap, r->outside[i].name, time);
    gap = ", ";
  }
  text_add(out, *gap == ',' ? "\n" : "");
}

static void note_checkpoints(const struct report *r, struct text *out) {
  const op_checkpoint_facts_t *f = r->checkpoints;
  char waited[48], beside[48];
  if (!f || f->written + f->failed == 0)
    return;
  report_time(waited, sizeof waited, f->seconds);
  report_time(beside, sizeof beside, f->behind);
  text_addf(out, "checkpoints: %lld written, the last with %.3g MB of dats", f->written,
            (double)f->bytes * 1e-6);
  if (f->failed)
    text_addf(out, "; %lld could not be", f->failed);
  text_addf(out, "; the program waited %s for them, and %s of writing was beside it\n", waited, beside);
}

static void note_slower(const struct report *r, struct text *out) {
  for (int i = 0; i < r->nrows; i++)
    if (r->rows[i].detail && r->rows[i].detail->slower.length)
      text_addf(out, "%s %s\n", r->rows[i].name, text_str(&r->rows[i].detail->slower));
}

static void note_owners(const struct report *r, struct text *out) {
  for (int i = 0; i < r->nrows; i++)
    if (depends_on_threads(&r->rows[i]))
      text_addf(out, "%s runs by owner ranges: how its sums are rounded depends on the number of threads\n",
                r->rows[i].name);
}

/* All that it costs, by an earlier run without it. */
static void add_otherwise(const struct report_detail *d, struct text *out) {
  char with[48], without[48];
  if (!d || d->otherwise <= 0)
    return;
  report_time(with, sizeof with, d->fastest);
  report_time(without, sizeof without, d->otherwise);
  text_addf(out, "; its fastest call took %s, and %s in an earlier run that did not keep them: %.2f times",
            with, without, d->fastest / d->otherwise);
}

/* Taking turns and exact sums are part of the loops' seconds: no clock tells them from the rest. */
static void note_ordered(const struct report *r, struct text *out) {
  char time[48];
  for (int i = 0; i < r->nrows; i++) {
    const struct report_row *row = &r->rows[i];
    if (!row->stats.ordered)
      continue;
    text_addf(out, "%s has the same bits in any order, on any threads and ranks", row->name);
    report_time(time, sizeof time, row->stats.collect_seconds);
    if (row->stats.collect_seconds > 0 && row->stats.seconds > 0)
      text_addf(out, "; to collect what elements add took %s, %.0f%% of its time", time,
                100 * row->stats.collect_seconds / row->stats.seconds);
    add_otherwise(row->detail, out);
    text_add_char(out, '\n');
  }
}

static void note_code(const struct report *r, struct text *out) {
  int count[] = {[REPORT_NATIVE] = 0, [REPORT_COMPILED] = 0, [REPORT_CACHE_HIT] = 0};
  double plans = 0, compiling = 0;
  long long tried = 0;
  char time[2][48];
  for (int i = 0; i < r->nrows; i++) {
    count[report_origin(&r->rows[i])]++;
    tried += r->rows[i].stats.tried;
    plans += r->rows[i].stats.plan_seconds;
    compiling += r->rows[i].stats.compile_seconds > 0 ? r->rows[i].stats.compile_seconds : 0;
  }
  report_time(time[0], sizeof time[0], compiling);
  report_time(time[1], sizeof time[1], plans);
  text_addf(out, "%d loop%s: %d compiled, %d from the kernel cache, %d native", r->nrows,
            r->nrows == 1 ? "" : "s", count[REPORT_COMPILED], count[REPORT_CACHE_HIT], count[REPORT_NATIVE]);
  if (tried)
    text_addf(out, "; %lld variant%s compiled for trials", tried, tried == 1 ? "" : "s");
  text_addf(out, "; compiling took %s, plans %s\n", compiling > 0 ? time[0] : "no time",
            plans > 0 ? time[1] : "no time");
}

static void note_small(const struct report *r, struct text *out) {
  bool small = false;
  for (int i = 0; i < r->nrows; i++)
    small = small || (report_rate(&r->rows[i]) > 0 && report_in_cache(r, &r->rows[i]));
  if (small)
    text_addf(
        out,
        "small: the loop's data fit in the processor's cache (%.0f MB), so its GB/s are not the memory's\n",
        (double)r->cache_bytes / 0x1p20);
}

static void note_tiles(const struct report *r, struct text *out) {
  bool any = false;
  for (int i = 0; i < r->nrows; i++)
    any |= report_rate(&r->rows[i]) > 0 && !report_in_cache(r, &r->rows[i]) && report_in_tiles(&r->rows[i]);
  if (any)
    text_add(
        out,
        "tiles: the loop ran in tiles, where much of what it counts comes from the caches, so its GB/s are "
        "not the memory's; chains in tiles have what they move\n");
}

/* Only where loops could wait. */
static void note_waiting(const struct report *r, struct text *out) {
  if (r->waited >= 0 && r->calls > 0)
    text_addf(out, "%lld of %lld calls waited to run with others\n", r->waited, r->calls);
}

static void note_singles(const struct report *r, struct text *out) {
  for (int i = 0; i < r->nsingles; i++)
    text_addf(out, "%s ended chains of ranks, %lld times: %s\n", r->singles[i].name, r->singles[i].times,
              r->singles[i].why);
}

static void note_views(const struct report *r, struct text *out) {
  for (int i = 0; i < r->nviews; i++)
    text_addf(out, "view %s has a copy in the library: %s\n", r->views[i].name, r->views[i].why);
}

static void note_advice(const struct report *r, struct text *out) {
  struct text lines = {0};
  report_advice(r, &lines);
  const char *line = text_str(&lines);
  for (size_t length; *line; line += length) {
    length = strcspn(line, "\n") + 1;
    text_addf(out, "advice: %.*s", (int)length, line);
  }
  text_free(&lines);
}

void report_notes(const struct report *r, struct text *out) {
  note_code(r, out);
  note_outside(r, out);
  note_checkpoints(r, out);
  note_waiting(r, out);
  note_small(r, out);
  note_tiles(r, out);
  note_moved(r, out);
  note_tuning(r, out);
  note_scalar(r, out);
  note_slower(r, out);
  note_owners(r, out);
  note_ordered(r, out);
  note_singles(r, out);
  note_views(r, out);
  note_advice(r, out);
}
