/* Advice to the user, a line each, with the figure behind it. */
#include "report/forms.h"

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
