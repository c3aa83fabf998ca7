/* Reports for programs: JSON, the page made of it, and events for a browser's trace viewer. */
#include <string.h>

#include "base/json.h"
#include "loop/chain/queue.h"
#include "op2jit_checkpoint.h"
#include "report/forms.h"

static const char *const origins[] = {
    [REPORT_NATIVE] = "native", [REPORT_COMPILED] = "compiled", [REPORT_CACHE_HIT] = "cache_hit"};

static void add_lines(const char *key, const char *lines, struct text *out) {
  json_open(out, key, '[');
  for (const char *p = lines; *p;) {
    const size_t length = strcspn(p, "\n");
    json_bytes(out, NULL, p, length);
    p += length + (p[length] == '\n');
  }
  json_close(out, ']');
}

typedef void add_item(const struct report *r, int i, struct text *out);

static void add_list(const struct report *r, const char *key, int count, add_item *one, struct text *out) {
  json_open(out, key, '[');
  for (int i = 0; i < count; i++)
    one(r, i, out);
  json_close(out, ']');
}

static void add_speeds(const struct report_detail *d, struct text *out) {
  if (d->slower.length)
    json_fields(out, "slower:t", text_str(&d->slower));
  json_open(out, "earlier_runs", '[');
  for (int i = 0; i < d->nspeeds; i++) {
    const struct report_speed *s = &d->speeds[i];
    json_object(out, NULL, "time:i seconds:d elements:i variant:t version:t mesh:t", s->time, s->seconds,
                s->elements, s->variant, s->version, s->mesh);
  }
  json_close(out, ']');
}

static void add_detail(const struct report_detail *d, struct text *out) {
  json_fields(out, "set:t plan:t no_text:t", text_str(&d->set), text_str(&d->plan), d->no_text);
  add_lines("arguments", text_str(&d->args), out);
  add_lines("history", text_str(&d->history), out);
  json_open(out, "variants", '[');
  for (int i = 0; i < d->nvariants; i++) {
    const struct report_variant *v = &d->variants[i];
    json_object(out, NULL, "name:t median_seconds:d spread:d runs:n rejected:b", v->name, v->median,
                v->spread, v->runs, v->rejected);
  }
  json_close(out, ']');
}

static void add_ranks(const struct report *r, const struct report_row *row, struct text *out) {
  const struct report_rank *a = &row->across;
  json_fields(out,
              "min_seconds:d mean_seconds:d max_seconds:d exchange_seconds:d waiting_seconds:d exchanges:i "
              "messages:i bytes_sent:d redundant:d",
              row->least, a->seconds, row->most, a->exchange_seconds, a->waiting_seconds,
              (long long)a->exchanges, (long long)a->messages, a->bytes_sent, a->redundant);
  if (!row->by_rank)
    return;
  json_open(out, "by_rank", '[');
  for (int i = 0; i < r->ranks; i++) {
    const struct report_rank *k = &row->by_rank[i];
    json_object(out, NULL, "seconds:d exchange_seconds:d waiting_seconds:d messages:d bytes_sent:d",
                k->seconds, k->exchange_seconds, k->waiting_seconds, k->messages, k->bytes_sent);
  }
  json_close(out, ']');
}

static void add_row(const struct report *r, int i, struct text *out) {
  const struct report_row *row = &r->rows[i];
  json_open(out, NULL, '{');
  json_fields(out,
              "name:t calls:i seconds:d plan_seconds:d compile_seconds:d bytes:d working_set:d "
              "gb_per_second:d triad_share:d trials:i compiled_for_trials:i trial_seconds:d",
              row->name, row->stats.calls, row->stats.seconds, row->stats.plan_seconds,
              row->stats.compile_seconds, row->stats.bytes, row->stats.working_set, report_rate(row),
              report_share(r, row), row->stats.trials, row->stats.tried, row->stats.trial_seconds);
  if (r->ncounters) {
    json_open(out, "counters", '{');
    for (int k = 0; k < r->ncounters; k++)
      json_number(out, r->counters[k], row->stats.hardware[k]);
    json_close(out, '}');
  }
  if (row->stats.moved > 0)
    json_fields(out, "bytes_moved:d", (double)row->stats.moved);
  if (r->ranks > 1)
    add_ranks(r, row, out);
  if (row->stats.spills >= 0 && report_origin(row) != REPORT_NATIVE)
    json_fields(out, "spills:n", row->stats.spills);
  if (row->stats.ordered)
    json_fields(out, "reproducible:b collect_seconds:d", true, row->stats.collect_seconds);
  if (row->detail)
    add_detail(row->detail, out);
  json_fields(out, "in_tiles:b in_cache:b code:t variant:t scalar:t", report_in_tiles(row),
              report_in_cache(r, row), origins[report_origin(row)], row->stats.variant,
              row->stats.scalar && *row->stats.scalar ? row->stats.scalar : NULL);
  if (row->detail && row->detail->nspeeds)
    add_speeds(row->detail, out);
  json_close(out, '}');
  text_add_char(out, '\n');
}

static void add_chain(const struct report *r, int i, struct text *out) {
  const struct tiled_facts *c = &r->chains[i];
  json_object(out, NULL,
              "first:t last:t loops:n runs:i seconds:d cutting_seconds:d tile_bytes:d "
              "tiles:n chunks:n gap:d "
              "bytes_of_loops:d bytes:d",
              c->first, c->last, c->loops, c->runs, c->seconds, c->cutting, c->tile_bytes, c->tiles,
              c->chunks, c->gap, c->called_bytes, c->bytes);
}

static void add_way(const struct report *r, int i, struct text *out) {
  const struct chain_facts *c = &r->ways[i];
  const double *seconds = c->tried.seconds;
  const long long *from = c->tried.from;
  json_object(out, NULL,
              "first:t last:t loops:n way:t settled:b loops_seconds:d runs_seconds:d fused_seconds:d "
              "tiled_seconds:d tasks_seconds:d both_seconds:d loops_from:i runs_from:i fused_from:i "
              "tiled_from:i tasks_from:i both_from:i",
              c->first, c->last, c->loops, c->tried.way, c->tried.settled, seconds[CHAIN_LOOPS],
              c->tried.runs, seconds[CHAIN_FUSED], seconds[CHAIN_TILED], seconds[CHAIN_TASKS],
              seconds[CHAIN_BOTH], from[CHAIN_LOOPS], c->tried.runs_from, from[CHAIN_FUSED],
              from[CHAIN_TILED], from[CHAIN_TASKS], from[CHAIN_BOTH]);
}

static void add_layer(const struct report *r, int i, struct text *out) {
  const struct layers_facts *l = &r->layers[i];
  json_object(out, NULL,
              "first:t last:t loops:n layers:n runs:i exchanges:n bytes:d twice:d exchanges_of_one:n "
              "bytes_of_one:d twice_of_one:d seconds:d gain_seconds:d",
              l->first, l->last, l->loops, l->layers, l->runs, l->here.exchanges, l->here.bytes,
              l->here.twice, l->one.exchanges, l->one.bytes, l->one.twice, l->seconds, l->gain);
}

static void add_single(const struct report *r, int i, struct text *out) {
  json_object(out, NULL, "loop:t times:i why:t", r->singles[i].name, r->singles[i].times, r->singles[i].why);
}

static void add_graph(const struct report *r, int i, struct text *out) {
  const struct report_graph *g = &r->graphs[i];
  const struct tasks_sums *s = &g->sums;
  json_open(out, NULL, '{');
  json_fields(out,
              "name:t tasks:i last_executed:i dependencies:i locks:i threads:i builds:i runs:i executed:i "
              "seconds:d busy_seconds:d "
              "idle_seconds:d between_seconds:d longest_way:d stolen:i passed_over:i ranks:i messages:i "
              "message_bytes:i waited_seconds:d groups:i device_bytes:i copying_seconds:d",
              g->name, g->last.tasks, g->last.executed, g->last.dependencies, g->last.locks, g->last.threads,
              g->last.builds, s->runs, s->executed, s->seconds, s->busy, s->idle, tasks_between(s),
              g->last.critical, g->last.stolen, g->last.refused, g->last.ranks, g->last.messages,
              g->last.message_bytes, g->last.waited, g->last.groups, g->last.device_bytes, g->last.copying);
  json_open(out, "types", '[');
  struct tasks_type_facts t;
  for (int k = 0; tasks_tell_type(g->graph, k, &t); k++)
    json_object(out, NULL, "name:t count:i seconds:d", t.name, t.count, t.seconds);
  json_close(out, ']');
  json_close(out, '}');
}

/* The first events of this rank, one line each: the page's picture of the start. */
static void add_event(const struct report *r, int i, struct text *out) {
  const struct trace_event *e = &r->events[i];
  text_add_char(out, '\n');
  json_open(out, NULL, '{');
  json_fields(out, "kind:t name:t detail:t start:d seconds:d", trace_kind_name(e->kind), e->name, e->detail,
              e->start - r->began, e->seconds);
  if (e->kind == TRACE_TASK)
    json_fields(out, "thread:n run:n", e->thread, e->run);
  json_close(out, '}');
}

static void add_view(const struct report *r, int i, struct text *out) {
  json_object(out, NULL, "name:t why:t", r->views[i].name, r->views[i].why);
}

static void add_call(const struct report *r, int i, struct text *out) {
  json_object(out, NULL, "name:t times:i seconds:d", r->outside[i].name, r->outside[i].times,
              r->outside[i].seconds);
}

static void add_checkpoints(const op_checkpoint_facts_t *f, struct text *out) {
  json_object(out, "checkpoints",
              "written:i failed:i dats:i bytes:i loops_passed:i seconds:d beside_seconds:d", f->written,
              f->failed, f->dats, f->bytes, f->skipped, f->seconds, f->behind);
}

void report_json(const struct report *r, struct text *out) {
  const struct {
    const char *key;
    int count;
    add_item *one;
  } lists[] = {{"chains", r->nchains, add_chain},    {"chain_ways", r->nways, add_way},
               {"layers", r->nlayers, add_layer},    {"chain_ends", r->nsingles, add_single},
               {"graphs", r->ngraphs, add_graph},    {"events", r->nevents, add_event},
               {"copied_views", r->nviews, add_view}};
  struct text advice = {0};
  json_open(out, NULL, '{');
  if (r->program) {
    json_fields(out, "program:t host:t date:t sets:t", r->program, r->host, r->date, r->sets);
    add_list(r, "outside", r->noutside, add_call, out);
  }
  if (r->checkpoints)
    add_checkpoints(r->checkpoints, out);
  json_fields(
      out, "backend:t device:t team:t threads:n ranks:n triad_gb_per_second:d cache_bytes:i wall_seconds:d",
      r->backend, r->device, r->team, r->threads, r->ranks, r->triad, (long long)r->cache_bytes, r->wall);
  json_fields(out, "cache_gb_per_second:d calls:i", r->cache_rate, r->calls);
  if (r->waited >= 0)
    json_fields(out, "calls_waited:i", r->waited);
  add_list(r, "loops", r->nrows, add_row, out);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    if (lists[i].count)
      add_list(r, lists[i].key, lists[i].count, lists[i].one, out);
  if (r->nevents)
    json_fields(out, "events_left_out:i", r->lost);
  report_advice(r, &advice);
  add_lines("advice", text_str(&advice), out);
  text_free(&advice);
  text_add(out, "}\n");
}

/* ---- trace ---- */

/* A row of the picture is a thread of the viewer; its number is that of the first kind which belongs to it. Threads
 * come behind all kinds. */
static int row_number(enum trace_kind kind) {
  int k = 0;
  while (strcmp(trace_kind_row((enum trace_kind)k), trace_kind_row(kind)) != 0)
    k++;
  return k;
}

static void name_rows(const struct report *r, struct text *out) {
  text_addf(out, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"rank %d, %s\"}}",
            r->rank, r->rank, r->backend);
  for (int k = 0; k < TRACE_THREAD; k++)
    if (row_number((enum trace_kind)k) == k)
      text_addf(out,
                ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}}",
                r->rank, k, trace_kind_row((enum trace_kind)k));
  bool messages = false; /* of tasks: behind the last thread */
  for (int i = 0; i < r->ngraphs; i++)
    messages = messages || r->graphs[i].last.ranks > 1;
  for (int i = 0; i < r->threads + messages; i++)
    text_addf(
        out, ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s %d\"}}",
        r->rank, TRACE_THREAD + i, i < r->threads ? "thread" : "messages of rank",
        i < r->threads ? i : r->rank);
}

static bool names_variant(enum trace_kind kind) {
  return kind <= TRACE_LOAD || kind == TRACE_THREAD;
}

/* The format wants microseconds. */
void report_trace(const struct report *r, struct text *out) {
  text_add(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
  name_rows(r, out);
  for (int i = 0; i < r->nevents; i++) {
    const struct trace_event *e = &r->events[i];
    const double rate = e->bytes > 0 && e->seconds > 0 ? e->bytes / e->seconds * 1e-9 : 0;
    text_add(out, ",\n");
    json_open(out, NULL, '{');
    json_fields(out, "name:t cat:t ph:t ts:f dur:f pid:n tid:n", e->name, trace_kind_name(e->kind), "X",
                (e->start - r->began) * 1e6, e->seconds * 1e6, r->rank, row_number(e->kind) + e->thread);
    json_open(out, "args", '{');
    if (*e->detail)
      json_fields(out, names_variant(e->kind) ? "variant:t" : "what:t", e->detail);
    if (e->kind == TRACE_THREAD)
      json_fields(out, "waited_us:d", e->waited * 1e6);
    if (e->kind == TRACE_TASK)
      json_fields(out, "run:n", e->run);
    if (e->kind == TRACE_TASK && e->bytes > 0)
      json_fields(out, "bytes:d", e->bytes);
    if (rate > 0)
      json_fields(out, "gb_per_second:d", rate);
    json_close(out, '}');
    json_close(out, '}');
  }
  text_add(out, "\n]}\n");
}

/* The page: page.html with the JSON report in it. */

/* page.html as text, made when the library is built (base/embed.py). */
extern const char page_html[];

/* Where the reports go in page.html, in this order. */
static const char *const marks[] = {"@REPORT@", "@BEFORE@"};

/* In a script element nothing may look like its end. */
static void add_guarded(const char *json, struct text *out) {
  for (const char *p = json; *p; p++)
    if (*p == '<')
      text_add(out, "\\u003c");
    else
      text_add_char(out, *p);
}

void page_of_json(const char *json, const char *before, struct text *out) {
  const char *const reports[] = {json, before ? before : "null"};
  const char *rest = page_html;
  for (int i = 0; i < 2; i++) {
    const char *at = strstr(rest, marks[i]);
    text_add_bytes(out, rest, (size_t)(at - rest));
    add_guarded(reports[i], out);
    rest = at + strlen(marks[i]);
  }
  text_add(out, rest);
}

void report_html(const struct report *r, struct text *out) {
  struct text json = {0};
  report_json(r, &json);
  page_of_json(text_str(&json), NULL, out);
  text_free(&json);
}
