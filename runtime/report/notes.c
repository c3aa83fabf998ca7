/* The sentences below the table of a report, and advice. */
#include <string.h>

#include "loop/chain/queue.h"
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

/* ---- advice to the user, a line each, with the figure behind it ---- */
static void advise_trials(const struct report_row *row, struct text *out) {
  const double many = 0.1;
  if (row->stats.seconds > REPORT_SHORT && row->stats.trial_seconds > many * row->stats.seconds)
    text_addf(out,
              "%s spent %.0f%% of its time in trials; keep the cache (OP2_CACHE) for the next run, or set "
              "OP2_TUNE=use\n",
              row->name, 100 * row->stats.trial_seconds / row->stats.seconds);
}

/* No seconds at all: other rows have the time of these calls, since they ran as one with other loops. */
static void advise_calls(const struct report_row *row, struct text *out) {
  const double cost_of_a_call = 1e-6;
  if (row->stats.calls >= 1000 && row->stats.seconds > 0 &&
      row->stats.seconds < cost_of_a_call * (double)row->stats.calls)
    text_addf(out,
              "%lld calls of %s took %.2f us each, no more than a call itself costs; give one loop more "
              "elements\n",
              row->stats.calls, row->name, 1e6 * row->stats.seconds / (double)row->stats.calls);
}

/* A little may be chance. */
static void advise_threads(const struct report *r, const struct report_row *row, struct text *out) {
  const double little = 0.05;
  const struct report_detail *d = row->detail;
  char one[48], many[48];
  if (!d || d->one <= 0 || d->one > (1 - little) * d->many)
    return;
  report_time(one, sizeof one, d->one);
  report_time(many, sizeof many, d->many);
  text_addf(out,
            "a call of %s takes %s on one thread and %s on %d%s; if the machine is busy with other work, set "
            "OP2_THREADS to the cores that are free\n",
            row->name, one, many, r->threads, d->runs_on_one ? ", so it runs on one" : "");
}

/* The last-level cache, else that of a core: rows of planes of a mesh in three dimensions may be fetched three times into
 * a small one, whatever the order. */
static void advise_order(const struct report *r, const struct report_order *order, struct text *out) {
  const double bad = 2, bad_for_small = 4, all = report_seconds(r);
  const bool large = order->fetches >= bad;
  const double share = all > 0 ? 100 * order->seconds / all : 0;
  if (large || order->own_fetches >= bad_for_small)
    text_addf(out,
              "in the order of map %s each line of memory is fetched %.1f times into the %.3g MB of cache%s; "
              "op_renumber brings that %s (loops through it have %.0f%% of the time, most of it %s)\n",
              order->map, large ? order->fetches : order->own_fetches,
              (double)(large ? r->cache_bytes : r->own_cache_bytes) / 0x1p20, large ? "" : " of a core",
              large ? "near 1" : "down", share, order->loop);
  if (order->listed)
    text_addf(out,
              "in the order of map %s the %d blocks of %s would run in %d turns, so it goes through a list; "
              "op_renumber makes that needless (loops through the map have %.0f%% of the time)\n",
              order->map, order->blocks, order->listed, order->colours, share);
}

static void advise_unused(const struct report_row *row, struct text *out) {
  if (row->detail && row->detail->unused.length)
    text_addf(out, "kernel %s does not use %s, which is moved for nothing; leave it out\n", row->name,
              text_str(&row->detail->unused));
}

/* Small dats do no harm. */
static void advise_unread(const struct report_unread *unread, struct text *out) {
  const double small = 1e6;
  if (unread->bytes >= small)
    text_addf(out, "no loop reads dat %s (%.1f MB), nor does the program fetch it; leave it out\n",
              unread->name, unread->bytes * 1e-6);
}

static void advise_moved(const struct report_moved *moved, struct text *out) {
  text_addf(out, "constant %s", moved->name);
  if (moved->dim > 1)
    text_addf(out, "[%d]", moved->element);
  text_addf(
      out,
      " is %s in loops, and the variable that it was copied from is %s now; op_update_const gives loops "
      "the new value\n",
      text_str(&moved->loops), text_str(&moved->now));
}

/* The seconds that a rank computed, without exchanging and waiting. */
static double computed_by(const struct report *r, int rank) {
  double seconds = 0;
  for (int i = 0; i < r->nrows; i++)
    if (r->rows[i].by_rank)
      seconds += r->rows[i].by_rank[rank].seconds - r->rows[i].by_rank[rank].exchange_seconds;
  return seconds;
}

/* On devices loops take what the host takes to give them, which says nothing of ranks. */
static void advise_balance(const struct report *r, struct text *out) {
  const double drifted = 1.1;
  double mean = 0, most = 0;
  int slowest = 0;
  for (int rank = 0; r->ranks > 1 && rank < r->ranks; rank++) {
    const double seconds = computed_by(r, rank);
    mean += seconds / r->ranks;
    if (seconds > most) {
      most = seconds;
      slowest = rank;
    }
  }
  if (!r->idle && !r->on_devices && mean > REPORT_SHORT && most >= drifted * mean)
    text_addf(out,
              "rank %d computed %.2f times as long as the mean of the ranks, and the others waited for it; "
              "OP2_BALANCE=on deals the mesh out anew while the program runs\n",
              slowest, most / mean);
}

void report_advice(const struct report *r, struct text *out) {
  if (r->idle)
    text_add(
        out,
        "a rank owns no element of any set; op_partition shares them out, once sets and maps are declared\n");
  advise_balance(r, out);
  for (int i = 0; i < r->norders; i++)
    advise_order(r, &r->orders[i], out);
  for (int i = 0; i < r->nrows; i++) {
    advise_threads(r, &r->rows[i], out);
    advise_trials(&r->rows[i], out);
    advise_calls(&r->rows[i], out);
    advise_unused(&r->rows[i], out);
  }
  for (int i = 0; r->nrows && i < r->nmoved; i++)
    advise_moved(&r->moved[i], out);
  for (int i = 0; r->nrows && i < r->nunread; i++)
    advise_unread(&r->unread[i], out);
}
