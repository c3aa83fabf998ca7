#include <string.h>

#include "report/forms.h"

enum { least_width = 10, most_width = 40 };

static const char *const origins[] = {
    [REPORT_NATIVE] = "native", [REPORT_COMPILED] = "compiled", [REPORT_CACHE_HIT] = "cached"};

double report_rate(const struct report_row *row) {
  return row->seconds > 0 ? row->bytes * (double)row->calls / row->seconds * 1e-9 : 0;
}

double report_share(const struct report *r, const struct report_row *row) {
  return r->triad > 0 ? report_rate(row) / r->triad : 0;
}

bool report_in_cache(const struct report *r, const struct report_row *row) {
  return row->working_set < (double)r->cache_bytes;
}

static int width_of_names(const struct report *r) {
  size_t width = least_width;
  for (int i = 0; i < r->nrows; i++)
    if (strlen(r->rows[i].name) > width)
      width = strlen(r->rows[i].name);
  return width > most_width ? most_width : (int)width;
}

/* To the microsecond, so that short loops show something and the points of a column stand below each other. */
static void text_seconds(struct text *out, double seconds, int width) {
  if (seconds == 0)
    text_addf(out, " %*s", width, "-");
  else
    text_addf(out, " %*.6f", width, seconds);
}

static void text_heading(const struct report *r, struct text *out, int width) {
  text_addf(out, "backend %s, %d thread%s", r->backend, r->threads, r->threads == 1 ? "" : "s");
  if (r->team)
    text_addf(out, " (%s)", r->team);
  if (r->ranks > 1)
    text_addf(out, ", %d ranks", r->ranks);
  if (r->triad > 0)
    text_addf(out, ", memory (triad) %.1f GB/s", r->triad);
  text_addf(out, "\n%-*s %9s %12s %11s %11s %8s %6s", width, "loop", "calls", "seconds", "plan s",
            "compile s", "GB/s", "triad");
  text_addf(out, "  %-9s %s\n", "code", "variant");
}

static void text_times(const struct report_row *row, struct text *out, int width) {
  text_addf(out, "%-*s %9lld", width, row->name, row->calls);
  text_seconds(out, row->seconds, 12);
  text_seconds(out, row->plan_seconds, 11);
  text_seconds(out, row->compile_seconds, 11);
}

static void text_row(const struct report *r, const struct report_row *row, struct text *out, int width) {
  const double rate = report_rate(row);
  text_times(row, out, width);
  if (rate > 0)
    text_addf(out, " %8.2f ", rate);
  else
    text_addf(out, " %8s ", "-");
  if (rate > 0 && report_in_cache(r, row))
    text_addf(out, "%6s", "small");
  else if (rate > 0 && r->triad > 0)
    text_addf(out, "%5.0f%%", 100 * report_share(r, row));
  else
    text_addf(out, "%6s", "-");
  text_addf(out, "  %-9s %s\n", origins[row->origin], row->variant ? row->variant : "-");
}

static void text_across(const struct report *r, struct text *out, int width) {
  text_addf(out, "%-*s %12s %12s %12s %12s %12s %10s %10s %10s %9s\n", width, "over the ranks", "min s",
            "mean s", "max s", "exchange s", "waiting s", "exchanges", "messages", "MB sent", "redundant");
  for (int i = 0; i < r->nrows; i++) {
    const struct report_row *row = &r->rows[i];
    const struct report_across *a = &row->across;
    const double seconds[] = {row->least, row->mean, row->most, a->exchange_seconds, a->waiting_seconds};
    text_addf(out, "%-*s", width, row->name);
    for (size_t k = 0; k < sizeof seconds / sizeof *seconds; k++)
      text_seconds(out, seconds[k], 12);
    text_addf(out, " %10lld %10lld %10.3f %8.2f%%\n", a->exchanges, a->messages, a->bytes_sent * 1e-6,
              100 * a->redundant);
  }
}

static void text_moved(const struct report *r, struct text *out) {
  double moved = 0;
  for (int i = 0; i < r->nrows; i++)
    moved += r->rows[i].moved;
  if (moved <= 0)
    return;
  text_addf(out, "moved between host and device, bytes a call:");
  for (int i = 0; i < r->nrows; i++)
    if (r->rows[i].calls > 0)
      text_addf(out, " %s %.0f", r->rows[i].name, r->rows[i].moved / (double)r->rows[i].calls);
  text_add_char(out, '\n');
}

static void text_tuning(const struct report *r, struct text *out) {
  long long trials = 0;
  double cost = 0, seconds = 0;
  for (int i = 0; i < r->nrows; i++) {
    trials += r->rows[i].trials;
    cost += r->rows[i].trial_seconds;
    seconds += r->rows[i].seconds;
  }
  if (trials)
    text_addf(out, "tuning: %lld trial%s of other variants cost %.4f s, %.1f%% of the loops' time\n", trials,
              trials == 1 ? "" : "s", cost, seconds > 0 ? 100 * cost / seconds : 0);
}

static void text_scalar(const struct report *r, struct text *out) {
  for (int i = 0; i < r->nrows; i++)
    if (r->rows[i].scalar && *r->rows[i].scalar)
      text_addf(out, "%s runs without vector instructions: %s\n", r->rows[i].name, r->rows[i].scalar);
}

/* Everything else has the same bits on any number of threads. */
static bool depends_on_threads(const struct report_row *row) {
  static const char owners[] = "owners/";
  return row->variant && strncmp(row->variant, owners, sizeof owners - 1) == 0;
}

static void text_owners(const struct report *r, struct text *out) {
  for (int i = 0; i < r->nrows; i++)
    if (depends_on_threads(&r->rows[i]))
      text_addf(out, "%s runs by owner ranges: how its sums are rounded depends on the number of threads\n",
                r->rows[i].name);
}

/* Its loops' rows above have shares of its time. */
static void text_chains(const struct report *r, struct text *out) {
  if (r->nchains == 0)
    return;
  text_addf(out, "chains in tiles\n%6s %9s %12s %11s %9s %7s %7s %6s %9s %9s\n", "loops", "runs", "seconds",
            "cutting s", "tile MB", "tiles", "chunks", "gaps", "loops MB", "chain MB");
  for (int i = 0; i < r->nchains; i++) {
    const struct tiled_facts *c = &r->chains[i];
    text_addf(out, "%6d %9lld", c->loops, c->runs);
    text_seconds(out, c->seconds, 12);
    text_seconds(out, c->cutting, 11);
    text_addf(out, " %9.3f %7d %7d %5.1f%% %9.2f %9.2f  %s ... %s\n", c->tile_bytes * 1e-6, c->tiles,
              c->chunks, 100 * c->gap, c->called_bytes * 1e-6, c->bytes * 1e-6, c->first, c->last);
  }
}

/* Of this rank, as the rows above. */
static void text_sum(const struct report *r, struct text *out, int width) {
  struct report_row all = {.name = "all loops"};
  for (int i = 0; i < r->nrows; i++) {
    all.calls += r->rows[i].calls;
    all.seconds += r->rows[i].seconds;
    all.plan_seconds += r->rows[i].plan_seconds;
    all.compile_seconds += r->rows[i].compile_seconds;
  }
  text_times(&all, out, width);
  text_add_char(out, '\n');
}

static void text_summary(const struct report *r, struct text *out) {
  int count[sizeof origins / sizeof *origins] = {0};
  long long tried = 0;
  bool cached = false;
  for (int i = 0; i < r->nrows; i++) {
    count[r->rows[i].origin]++;
    tried += r->rows[i].tried;
    cached = cached || (report_rate(&r->rows[i]) > 0 && report_in_cache(r, &r->rows[i]));
  }
  text_addf(out, "%d loop%s: %d compiled, %d from the kernel cache, %d native", r->nrows,
            r->nrows == 1 ? "" : "s", count[REPORT_COMPILED], count[REPORT_CACHE_HIT], count[REPORT_NATIVE]);
  if (tried)
    text_addf(out, "; %lld variant%s compiled for trials", tried, tried == 1 ? "" : "s");
  text_add_char(out, '\n');
  if (cached)
    text_addf(
        out,
        "small: the loop's data fit in the processor's cache (%.0f MB), so its GB/s are not the memory's\n",
        (double)r->cache_bytes * 1e-6);
  text_moved(r, out);
  text_tuning(r, out);
  text_scalar(r, out);
  text_owners(r, out);
}

void report_text(const struct report *r, struct text *out) {
  int width = width_of_names(r);
  text_heading(r, out, width);
  for (int i = 0; i < r->nrows; i++)
    text_row(r, &r->rows[i], out, width);
  text_sum(r, out, width);
  text_chains(r, out);
  if (r->ranks > 1)
    text_across(r, out, width);
  text_summary(r, out);
}
