/* The report to read: what takes longest comes first. At most 100 columns, unless names are longer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/list.h"
#include "report/forms.h"

enum { least_width = 8, most_width = 28, most_rows = 10, columns = 100 };

static const char *const origins[] = {
    [REPORT_NATIVE] = "native", [REPORT_COMPILED] = "compiled", [REPORT_CACHE_HIT] = "cached"};

/* ---- cells ---- */

static void cell_time(struct text *out, double seconds, int width) {
  char cell[48] = "-";
  if (seconds > 0)
    report_time(cell, sizeof cell, seconds);
  text_addf(out, " %*s", width, cell);
}

static void cell_percent(struct text *out, double share, int width) {
  if (share >= 0)
    text_addf(out, " %*.*f%%", width - 1, share < 0.0995 ? 1 : 0, 100 * share);
  else
    text_addf(out, " %*s", width, "-");
}

static void cell_rate(struct text *out, double rate, int width) {
  char cell[32] = "-";
  if (rate > 0)
    report_three(cell, sizeof cell, rate);
  text_addf(out, " %*s", width, cell);
}

/* On a terminal. */
static void paint(const struct report *r, struct text *out, const char *colour) {
  if (r->colour)
    text_add(out, colour);
}
#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

/* ---- rows ---- */

static int width_of_names(const struct report *r) {
  size_t width = least_width;
  for (int i = 0; i < r->nrows; i++)
    if (strlen(r->rows[i].name) > width)
      width = strlen(r->rows[i].name);
  return width > most_width ? most_width : (int)width;
}

static void text_heading(const struct report *r, struct text *out, int width) {
  char loops[48], wall[48];
  if (r->program)
    text_addf(out, "%s on %s, %s; sets: %s\n", r->program, r->host, r->date, r->sets);
  text_addf(out, "backend %s, ", r->backend);
  if (r->device)
    text_add(out, r->device);
  else
    text_addf(out, "%d thread%s", r->threads, r->threads == 1 ? "" : "s");
  if (r->team && !r->device)
    text_addf(out, " (%s)", r->team);
  if (r->ranks > 1)
    text_addf(out, ", %d ranks%s%s", r->ranks, r->backends ? " of " : "", r->backends ? r->backends : "");
  if (r->triad > 0)
    text_addf(out, ", memory (triad) %.1f GB/s", r->triad);
  report_time(loops, sizeof loops, report_seconds(r));
  report_time(wall, sizeof wall, r->wall);
  text_addf(out, "\nloops took %s", loops);
  if (r->wall > 0)
    text_addf(out, " of the %s since op_init (%.0f%%)", wall, 100 * report_seconds(r) / r->wall);
  text_add_char(out, '\n');
  paint(r, out, BOLD);
  text_addf(out, "%-*s %8s %6s %9s %8s %6s %6s", width, "loop", "time", "share", "calls", "a call", "GB/s",
            "limit");
  text_addf(out, "%s %-8s %s", r->ranks > 1 ? "  waiting" : "", "code", "variant");
  paint(r, out, PLAIN);
  text_add_char(out, '\n');
}

static void text_limit(const struct report *r, const struct report_row *row, struct text *out) {
  const double rate = report_rate(row);
  if (rate > 0 && (report_in_cache(r, row) || report_in_tiles(row)))
    text_addf(out, " %6s", report_in_cache(r, row) ? "small" : "tiles");
  else
    cell_percent(out, rate > 0 && r->triad > 0 ? report_share(r, row) : -1, 6);
}

static void text_row(const struct report *r, const struct report_row *row, struct text *out, int width) {
  const double all = report_seconds(r);
  text_addf(out, "%-*s", width, row->name);
  cell_time(out, row->stats.seconds, 8);
  cell_percent(out, all > 0 && row->stats.seconds >= 0 ? row->stats.seconds / all : -1, 6);
  text_addf(out, " %9lld", row->stats.calls);
  cell_time(out, row->stats.calls > 0 ? row->stats.seconds / (double)row->stats.calls : 0, 8);
  cell_rate(out, report_rate(row), 6);
  text_limit(r, row, out);
  if (r->ranks > 1)
    cell_time(out, row->across.waiting_seconds, 8);
  text_addf(out, " %-8s %s\n", origins[report_origin(row)], row->stats.variant ? row->stats.variant : "-");
}

static void text_others(const struct report *r, const struct report_row *const *rows, int count,
                        struct text *out, int width) {
  char name[32];
  double seconds = 0, all = report_seconds(r);
  long long calls = 0;
  for (int i = 0; i < count; i++) {
    seconds += rows[i]->stats.seconds;
    calls += rows[i]->stats.calls;
  }
  snprintf(name, sizeof name, "%d others", count);
  paint(r, out, DIM);
  text_addf(out, "%-*s", width, name);
  cell_time(out, seconds, 8);
  cell_percent(out, all > 0 ? seconds / all : -1, 6);
  text_addf(out, " %9lld", calls);
  cell_time(out, calls > 0 ? seconds / (double)calls : 0, 8);
  text_addf(out, "   OP2_TIMING=text:all shows them");
  paint(r, out, PLAIN);
  text_add_char(out, '\n');
}

static int by_time(const void *a, const void *b) {
  const struct report_row *x = *(const struct report_row *const *)a,
                          *y = *(const struct report_row *const *)b;
  return (x->stats.seconds < y->stats.seconds) - (x->stats.seconds > y->stats.seconds);
}

/* The rows, what took longest first. The caller frees the array only. NULL: no memory. */
static const struct report_row **sorted(const struct report *r) {
  const struct report_row **rows = array_new((size_t)r->nrows, sizeof *rows);
  for (int i = 0; rows && i < r->nrows; i++)
    rows[i] = &r->rows[i];
  if (rows)
    qsort(rows, (size_t)r->nrows, sizeof *rows, by_time);
  return rows;
}

static void text_across(const struct report *r, const struct report_row *const *rows, int count,
                        struct text *out, int width) {
  paint(r, out, BOLD);
  text_addf(out, "%-*s %8s %8s %8s %8s %8s %9s %9s %9s", width, "over the ranks", "least", "mean", "most",
            "exchange", "waiting", "messages", "MB sent", "redundant");
  paint(r, out, PLAIN);
  text_add_char(out, '\n');
  for (int i = 0; i < count; i++) {
    const struct report_row *row = rows[i];
    const struct report_rank *a = &row->across;
    const double seconds[] = {row->least, a->seconds, row->most, a->exchange_seconds, a->waiting_seconds};
    text_addf(out, "%-*s", width, row->name);
    for (size_t k = 0; k < sizeof seconds / sizeof *seconds; k++)
      cell_time(out, seconds[k], 8);
    text_addf(out, " %9.0f %9.3f %8.2f%%\n", a->messages, a->bytes_sent * 1e-6, 100 * a->redundant);
  }
}

/* Its loops' rows above have shares of its time. What it must move is a share of what the memory can do. */
static void text_chains(const struct report *r, struct text *out) {
  if (r->nchains == 0)
    return;
  text_addf(out, "chains in tiles\n%6s %9s %8s %8s %8s %6s %6s %6s %8s %8s %6s\n", "loops", "runs", "time",
            "cutting", "tile MB", "tiles", "chunks", "gaps", "loops MB", "chain MB", "limit");
  for (int i = 0; i < r->nchains; i++) {
    const struct tiled_facts *c = &r->chains[i];
    text_addf(out, "%6d %9lld", c->loops, c->runs);
    cell_time(out, c->seconds, 8);
    cell_time(out, c->cutting, 8);
    text_addf(out, " %8.3f %6d %6d %5.1f%% %8.2f %8.2f", c->tile_bytes * 1e-6, c->tiles, c->chunks,
              100 * c->gap, c->called_bytes * 1e-6, c->bytes * 1e-6);
    cell_percent(out, c->seconds > 0 && r->triad > 0 ? report_chain_rate(c) / r->triad : -1, 6);
    text_addf(out, "  %s ... %s%s\n", c->first, c->last, c->chunks ? "" : " as tasks");
  }
}

/* One that an earlier run measured has a star; *oldest: when that was. */
static void cell_of_run(struct text *out, double seconds, long long from, int width, long long *oldest) {
  cell_time(out, seconds, width);
  text_add_char(out, seconds > 0 && from > 0 ? '*' : ' ');
  if (seconds > 0 && from > 0 && (*oldest == 0 || from < *oldest))
    *oldest = from;
}

static void text_oldest(long long oldest, struct text *out) {
  const time_t when = (time_t)oldest;
  struct tm day;
  char words[32];
  if (oldest > 0 && gmtime_r(&when, &day) && strftime(words, sizeof words, "%Y-%m-%d", &day))
    text_addf(out, "* not measured in this run, but kept from earlier ones, the first on %s\n", words);
}

/* The time of a period in each kind of way, and the best way. */
static void text_ways(const struct report *r, struct text *out) {
  long long oldest = 0;
  if (r->nways == 0)
    return;
  text_addf(out, "chains by ways\n%6s %9s  %10s  %8s  %8s  %8s  %8s  %s\n", "loops", "as called",
            "as it runs", "fused", "in tiles", "as tasks", "both", "best");
  for (int i = 0; i < r->nways; i++) {
    const struct chain_facts *c = &r->ways[i];
    const struct chain_tried *t = &c->tried;
    text_addf(out, "%6d", c->loops);
    for (int k = 0; k < CHAIN_KINDS; k++) {
      cell_of_run(out, t->seconds[k], t->from[k], k == CHAIN_LOOPS ? 9 : 8, &oldest);
      if (k == CHAIN_LOOPS)
        cell_of_run(out, t->runs, t->runs_from, 10, &oldest);
    }
    text_addf(out, " %s%s  %s ... %s\n", t->way, t->settled ? "" : " so far", c->first, c->last);
  }
  text_oldest(oldest, out);
}

/* Figures of a run, and after a slash those in one layer. */
static void text_layers(const struct report *r, struct text *out) {
  if (r->nlayers == 0)
    return;
  text_addf(out, "chains in layers of others' elements\n%6s %9s %6s %11s %17s %15s %10s\n", "loops", "runs",
            "layers", "exchanges", "kB received", "run twice", "saves us");
  for (int i = 0; i < r->nlayers; i++) {
    const struct layers_facts *l = &r->layers[i];
    text_addf(out, "%6d %9lld %6d %5d/%5d %8.1f/%8.1f %6.2f%%/%6.2f%% %+10.1f  %s ... %s\n", l->loops,
              l->runs, l->layers, l->here.exchanges, l->one.exchanges, l->here.bytes * 1e-3,
              l->one.bytes * 1e-3, 100 * l->here.twice, 100 * l->one.twice, 1e6 * l->gain, l->first, l->last);
  }
}

/* A column for each: "12.3 M"; what is counted in nanoseconds is a time. */
static void cell_count(struct text *out, const char *name, double count, int width) {
  static const struct {
    double unit;
    const char *name;
  } units[] = {{1e9, " G"}, {1e6, " M"}, {1e3, " k"}, {1, ""}};
  char digits[32], cell[48];
  size_t u = 0;
  if (strcmp(name, "task-clock") == 0) {
    cell_time(out, count * 1e-9, width);
    return;
  }
  while (u + 1 < sizeof units / sizeof *units && count < 0.9995 * units[u].unit)
    u++;
  report_three(digits, sizeof digits, count / units[u].unit);
  snprintf(cell, sizeof cell, "%s%s", digits, units[u].name);
  text_addf(out, " %*s", width, cell);
}

static void text_counters(const struct report *r, const struct report_row *const *rows, int count,
                          struct text *out, int width) {
  enum { cell = 13 };
  if (r->ncounters == 0)
    return;
  paint(r, out, BOLD);
  text_addf(out, "%-*s", width, "a call");
  for (int i = 0; i < r->ncounters; i++)
    text_addf(out, " %*s", cell, r->counters[i]);
  paint(r, out, PLAIN);
  text_add_char(out, '\n');
  for (int k = 0; k < count; k++) {
    text_addf(out, "%-*s", width, rows[k]->name);
    for (int i = 0; rows[k]->stats.calls > 0 && i < r->ncounters; i++)
      cell_count(out, r->counters[i], rows[k]->stats.hardware[i] / (double)rows[k]->stats.calls, cell);
    text_add_char(out, '\n');
  }
}

static void text_types(const struct report_graph *g, struct text *out) {
  struct tasks_type_facts t;
  for (int k = 0; tasks_tell_type(g->graph, k, &t); k++)
    if (t.count > 0) {
      /* The first two are messages, whose time is no thread's: see tasks/ranks.h. */
      const bool message = g->last.ranks > 1 && k < 2;
      text_addf(out, "  %-20s %9lld", t.name, t.count);
      cell_time(out, t.seconds, 8);
      cell_percent(out, g->sums.busy > 0 && !message ? t.seconds / g->sums.busy : -1, 6);
      cell_time(out, t.seconds / (double)t.count, 8);
      text_add(out, message ? " a message\n" : " a task\n");
    }
}

/* Messages of this rank in the last run. */
static void text_messages(const struct report_graph *g, struct text *out) {
  if (g->last.ranks < 2)
    return;
  text_addf(out, "  on %lld ranks: %lld messages of %.3g MB sent in a run, ", g->last.ranks, g->last.messages,
            1e-6 * (double)g->last.message_bytes);
  text_addf(out, "%.3g ms waited for others'\n", 1e3 * g->last.waited);
}

/* The device's share of the last run. */
static void text_device(const struct report_graph *g, struct text *out) {
  if (g->last.groups)
    text_addf(out, "  on a device: %lld groups of threads, %.3g MB, %.3g ms of a run for copies\n",
              g->last.groups, 1e-6 * (double)g->last.device_bytes, 1e3 * g->last.copying);
}

/* Shares are of the time of all threads: in tasks, without any that could run, and between two of them. */
static void text_graphs(const struct report *r, struct text *out) {
  if (r->ngraphs == 0)
    return;
  text_addf(out, "%-22s %9s %8s %6s %8s %8s %6s %8s %8s %11s\n", "graph of tasks", "tasks", "time", "runs",
            "a run", "in tasks", "idle", "between", "a task", "longest way");
  for (int i = 0; i < r->ngraphs; i++) {
    const struct report_graph *g = &r->graphs[i];
    const struct tasks_sums *s = &g->sums;
    const double all = s->thread_seconds > 0 ? s->thread_seconds : 1;
    text_addf(out, "%-22s %9lld", g->name, g->last.executed);
    cell_time(out, s->seconds, 8);
    text_addf(out, " %6lld", s->runs);
    cell_time(out, s->seconds / (double)s->runs, 8);
    cell_percent(out, s->busy / all, 8);
    cell_percent(out, s->idle / all, 6);
    cell_percent(out, tasks_between(s) / all, 8);
    cell_time(out, s->executed ? tasks_between(s) / (double)s->executed : 0, 8);
    cell_time(out, g->last.critical, 11);
    text_add_char(out, '\n');
    text_types(g, out);
    text_messages(g, out);
    text_device(g, out);
  }
}

void report_text(const struct report *r, struct text *out) {
  const int width = width_of_names(r);
  const struct report_row **rows = sorted(r);
  /* Print the last row instead of "1 others". */
  const int shown = r->all || r->nrows <= most_rows + 1 ? r->nrows : most_rows;
  text_heading(r, out, width);
  for (int i = 0; rows && i < shown; i++)
    text_row(r, rows[i], out, width);
  if (rows && shown < r->nrows)
    text_others(r, rows + shown, r->nrows - shown, out, width);
  text_chains(r, out);
  text_layers(r, out);
  text_ways(r, out);
  text_graphs(r, out);
  if (rows)
    text_counters(r, rows, shown, out, width);
  if (rows && r->ranks > 1)
    text_across(r, rows, shown, out, width);
  free(rows);
  report_notes(r, out);
}

void report_csv(const struct report *r, struct text *out) {
  const double giga = 1e9;
  text_add(out, "ranks,threads,count,total time,plan time,mpi time,GB total,GB/s,kernel name\n");
  for (int i = 0; i < r->nrows; i++) {
    const struct report_row *row = &r->rows[i];
    text_addf(out, "%d,%d,%lld,%f,%f,%f,%f,%f,%s\n", r->ranks, r->threads, row->stats.calls,
              row->stats.seconds, row->stats.plan_seconds, row->across.exchange_seconds,
              (double)row->stats.calls * row->stats.bytes / giga, report_rate(row), row->name);
  }
}
