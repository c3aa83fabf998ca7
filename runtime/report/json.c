/* Reports for programs: JSON, and events for a browser's trace viewer. */
#include "base/json.h"

#include "report/forms.h"

static const char *const origins[] = {
    [REPORT_NATIVE] = "native", [REPORT_COMPILED] = "compiled", [REPORT_CACHE_HIT] = "cache_hit"};

static void add_row(const struct report *r, const struct report_row *row, struct text *out) {
  const struct report_across *a = &row->across;
  json_open(out, NULL, '{');
  json_fields(out,
              "name:t calls:i seconds:d plan_seconds:d compile_seconds:d bytes:d working_set:d "
              "gb_per_second:d triad_share:d trials:i compiled_for_trials:i trial_seconds:d",
              row->name, row->calls, row->seconds, row->plan_seconds, row->compile_seconds, row->bytes,
              row->working_set, report_rate(row), report_share(r, row), row->trials, row->tried,
              row->trial_seconds);
  if (row->moved > 0)
    json_fields(out, "bytes_moved:d", row->moved);
  if (r->ranks > 1)
    json_fields(out,
                "min_seconds:d mean_seconds:d max_seconds:d exchange_seconds:d waiting_seconds:d exchanges:i "
                "messages:i bytes_sent:d redundant:d",
                row->least, row->mean, row->most, a->exchange_seconds, a->waiting_seconds, a->exchanges,
                a->messages, a->bytes_sent, a->redundant);
  json_fields(out, "in_cache:b code:t variant:t scalar:t", report_in_cache(r, row), origins[row->origin],
              row->variant, row->scalar && *row->scalar ? row->scalar : NULL);
  json_close(out, '}');
  text_add_char(out, '\n');
}

static void add_chains(const struct report *r, struct text *out) {
  json_open(out, "chains", '[');
  for (int i = 0; i < r->nchains; i++) {
    const struct tiled_facts *c = &r->chains[i];
    json_object(
        out, NULL,
        "first:t last:t loops:n runs:i seconds:d cutting_seconds:d tile_bytes:d tiles:n chunks:n gap:d "
        "bytes_of_loops:d bytes:d",
        c->first, c->last, c->loops, c->runs, c->seconds, c->cutting, c->tile_bytes, c->tiles, c->chunks,
        c->gap, c->called_bytes, c->bytes);
  }
  json_close(out, ']');
}

void report_json(const struct report *r, struct text *out) {
  json_open(out, NULL, '{');
  json_fields(out, "backend:t team:t threads:n ranks:n triad_gb_per_second:d cache_bytes:i", r->backend,
              r->team, r->threads, r->ranks, r->triad, (long long)r->cache_bytes);
  json_open(out, "loops", '[');
  text_add_char(out, '\n');
  for (int i = 0; i < r->nrows; i++)
    add_row(r, &r->rows[i], out);
  json_close(out, ']');
  if (r->nchains)
    add_chains(r, out);
  text_add(out, "}\n");
}

/* The format wants microseconds. */
void report_trace(const struct report *r, struct text *out) {
  double first = 0;
  for (int i = 0; i < r->nevents; i++)
    if (i == 0 || r->events[i].start < first)
      first = r->events[i].start;
  text_add(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
  for (int i = 0; i < r->nevents; i++) {
    const struct trace_event *e = &r->events[i];
    json_object(out, NULL, "name:t cat:t ph:t ts:f dur:f pid:n tid:n", e->name, e->category, "X",
                (e->start - first) * 1e6, e->seconds * 1e6, e->rank, 0);
    text_add_char(out, '\n');
  }
  text_add(out, "]}\n");
}
