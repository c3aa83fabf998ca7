#include "report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/aside.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "context/trace.h"
#include "exec/caches.h"
#include "exec/hardware.h"
#include "exec/team.h"
#include "exec/triad.h"
#include "jit/target.h"
#include "kernels-cache/store.h"
#include "loop/chain/queue.h"
#include "mesh/data.h"
#include "mesh/matrix.h"
#include "mesh/mesh.h"
#include "mesh/subset.h"
#include "plan/plan_cache.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/sites.h"
#include "report/forms.h"
#include "spread/spread.h"
#include "spread/sums.h"
#include "tasks/graph.h"

/* ---- timing ---- */

/* GB/s of the fastest loop whose data do, or do not, fit in the cache; 0: there is none. In tiles they come from both: there the
 * chain's own bytes come from the memory. */
static double fastest(const struct report *r, bool in_cache) {
  double most = 0;
  for (int i = 0; i < r->nchains && !in_cache; i++)
    if (report_chain_rate(&r->chains[i]) > most)
      most = report_chain_rate(&r->chains[i]);
  for (int i = 0; i < r->nrows; i++)
    if (report_in_cache(r, &r->rows[i]) == in_cache && !report_in_tiles(&r->rows[i]) &&
        report_rate(&r->rows[i]) > most)
      most = report_rate(&r->rows[i]);
  return most;
}

typedef int rate_measure(struct team *team, int threads, size_t cache_bytes, double *gb_per_second,
                         struct error *err);

/* Measured once per machine and number of threads, and again where a loop was so fast that the machine must have been busy then;
 * where it may have been, not more than once an hour: some loops are always faster, since they only read. The best counts. A
 * report without it is still a report, so failures are silent. */
static double limit_of(struct op_context *ctx, const char *what, rate_measure *measure,
                       const struct report *r, double loop_rate) {
  const long long hour = 3600, month = 30 * 24 * hour;
  const double faster = 1.05, beyond_belief = 1.5;
  struct text cpu = {0}, features = {0}, name = {0};
  struct error ignored = {0};
  double rate = 0, again = 0, recent = 0;
  target_host(&cpu, &features);
  text_addf(&cpu, ", %ld CPUs", sysconf(_SC_NPROCESSORS_CONF));
  text_addf(&name, "best %s GB/s, %d threads", what, r->threads);
  store_get_fact(ctx->store, text_str(&cpu), text_str(&name), month, &rate, NULL);
  if ((loop_rate > beyond_belief * rate ||
       (loop_rate > faster * rate &&
        !store_get_fact(ctx->store, text_str(&cpu), text_str(&name), hour, &recent, NULL))) &&
      measure(ctx->team, r->threads, r->cache_bytes, &again, &ignored) == OP_OK) {
    rate = again > rate ? again : rate;
    store_put_fact(ctx->store, text_str(&cpu), text_str(&name), rate, "");
  }
  text_free(&cpu);
  text_free(&features);
  text_free(&name);
  error_free(&ignored);
  return rate;
}

typedef void report_writer(const struct report *r, struct text *out);

/* A new row behind the others, unless it is of a subset that has one. `sites`: the first of each row. */
static void add_row(struct report *r, const struct loop_site **sites, const struct loop_site *site) {
  for (int i = 0; i < r->nrows; i++)
    if (sites_are_one(sites[i], site)) {
      site_add(&r->rows[i].stats, site_stats(site));
      return;
    }
  sites[r->nrows] = site;
  r->rows[r->nrows++] = (struct report_row){.name = site->name, .stats = *site_stats(site)};
}

/* A row for each loop that was called, in the order of first calls. */
static int make_rows(struct op_context *ctx, struct report *r, bool history, struct error *err) {
  const size_t most = (size_t)ctx->sites->count;
  const struct loop_site **sites = array_new(most, sizeof *sites);
  r->rows = array_new(most, sizeof *r->rows);
  r->details = array_new(most, sizeof *r->details);
  int code = r->rows && r->details && sites ? OP_OK : error_memory(err, "a report", most * sizeof *r->rows);
  for (size_t i = 0; !code && i < most; i++)
    if (site_stats(ctx->sites->items[i])->calls > 0)
      add_row(r, sites, ctx->sites->items[i]);
  for (int i = 0; !code && i < r->nrows; i++) {
    struct report_row *row = &r->rows[i];
    row->stats.bytes -= row->stats.spared;
    if (ctx->backend->on_device)
      row->stats.spills = -1;
    code = detail_fill(&r->details[i], sites[i], history ? ctx->store : NULL, err);
    speeds_find(ctx, sites[i], &r->details[i]);
    row->detail = &r->details[i];
  }
  free(sites);
  return code;
}

static void free_report(struct report *r) {
  for (int i = 0; r->details && i < r->nrows; i++)
    detail_free(&r->details[i]);
  for (int i = 0; r->moved && i < r->nmoved; i++) {
    text_free(&r->moved[i].loops);
    text_free(&r->moved[i].now);
  }
  void *const arrays[] = {r->rows,   r->details, r->by_rank, r->chains, r->ways, r->layers,
                          r->graphs, r->views,   r->orders,  r->unread, r->moved};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    free(arrays[i]);
}

/* NULL: none ran, or no memory, and then the report goes without. */
static struct tiled_facts *find_chains(const struct op_context *ctx, int *count) {
  struct tiled_facts *chains = array_new((size_t)ctx->chains->count, sizeof *chains);
  bool more = chains;
  *count = 0;
  for (int i = 0; more; i++)
    *count += tiled_tell(ctx, i, &chains[*count], &more);
  return chains;
}

/* The same for the ways that were tried. */
static struct chain_facts *find_ways(const struct op_context *ctx, int *count) {
  struct chain_facts *ways = array_new((size_t)ctx->periods->count, sizeof *ways);
  bool more = ways;
  *count = 0;
  for (int i = 0; more; i++)
    *count += period_tell(ctx, i, &ways[*count], &more);
  return ways;
}

/* The same for those of ranks in several layers of copies. */
static struct layers_facts *find_layers(const struct op_context *ctx, int *count) {
  struct layers_facts *layers = array_new(ctx->queue ? (size_t)ctx->queue->known.count : 0, sizeof *layers);
  bool more = layers;
  *count = 0;
  for (int i = 0; more; i++)
    *count += segments_tell(ctx, i, &layers[*count], &more);
  return layers;
}

static bool has_pictures(report_writer *writer) {
  return writer == report_json || writer == report_html;
}

/* NULL: none, or no memory. */
static struct report_graph *find_graphs(const struct op_context *ctx, int *count) {
  const int past = ctx->past_graphs->count, all = past + ctx->graphs->count;
  struct report_graph *graphs = array_new((size_t)all, sizeof *graphs);
  *count = 0;
  for (int i = 0; graphs && i < all; i++) {
    struct task_graph *g = i < past ? ctx->past_graphs->items[i] : ctx->graphs->items[i - past];
    struct report_graph *to = &graphs[*count];
    *to = (struct report_graph){.name = tasks_name(g), .graph = g, .sums = tasks_sums(g)};
    tasks_tell(g, &to->last);
    *count += to->sums.runs > 0;
  }
  return graphs;
}

/* Names of the run. */
struct who {
  struct text program, sets;
  char host[128], date[32];
};

static struct who who_find(const struct op_context *ctx) {
  struct who w = {0};
  const time_t now = time(NULL);
  struct tm tm;
  FILE *file = fopen("/proc/self/cmdline", "rb");
  for (int c; file && (c = fgetc(file)) != EOF;)
    text_add_char(&w.program, c ? (char)c : ' ');
  while (w.program.length && w.program.data[w.program.length - 1] == ' ')
    w.program.data[--w.program.length] = '\0';
  if (file)
    fclose(file);
  if (gethostname(w.host, sizeof w.host - 1) != 0)
    *w.host = '\0';
  if (!localtime_r(&now, &tm) || !strftime(w.date, sizeof w.date, "%Y-%m-%d %H:%M", &tm))
    *w.date = '\0';
  for (int i = 0; i < ctx->mesh->sets.count; i++) {
    const struct set *set = ctx->mesh->sets.items[i];
    if (!set->entries_of)
      text_addf(&w.sets, "%s%s %lld", w.sets.length ? ", " : "", set->name, set->global_size);
  }
  return w;
}

static bool was_called(const struct op_context *ctx, const char *name) {
  for (int i = 0; i < ctx->trace->ncalls; i++)
    if (strcmp(ctx->trace->calls[i].name, name) == 0)
      return true;
  return false;
}

/* Finds ranks that own nothing. */
static int look_at_ranks(const struct op_context *ctx, int code, struct report *r, struct error *err) {
  double nothing = 1;
  r->on_devices = ctx->backend->on_device || ctx->peers;
  for (int i = 0; i < ctx->mesh->sets.count; i++)
    if (((const struct set *)ctx->mesh->sets.items[i])->extents[EXTENT_OWNED] > 0)
      nothing = 0;
  if (comm_alone(ctx->comm))
    return code;
  code = agree_on_largest(ctx->agreement, code, &nothing, 1, err);
  r->idle = nothing > 0 && ctx->mesh->sets.count > 0 && !was_called(ctx, "op_partition");
  return code;
}

/* Rates of the machine: the triad is of rank 0's threads, while the others wait. */
static void find_limits(struct op_context *ctx, report_writer *writer, struct report *r) {
  r->cache_bytes = caches_bytes(ctx->env, r->threads);
  r->own_cache_bytes = caches_own_bytes(ctx->env);
  const bool measures = ctx->comm->rank == 0 && writer != report_advice;
  const double rate = measures ? fastest(r, false) : 0;
  const double within = measures && has_pictures(writer) ? fastest(r, true) : 0;
  r->triad = rate > 0 ? limit_of(ctx, "triad", triad_measure, r, rate) : 0;
  r->cache_rate = within > 0 ? limit_of(ctx, "triad in the cache", triad_in_cache, r, within) : 0;
}

static int write_report(struct op_context *ctx, report_writer *writer, struct text *out, struct error *err) {
  struct who who = who_find(ctx);
  struct report r = {.program = text_str(&who.program),
                     .host = who.host,
                     .date = who.date,
                     .sets = text_str(&who.sets),
                     .outside = ctx->trace->calls,
                     .noutside = ctx->trace->ncalls,
                     .checkpoints = ctx->trace->checkpoints,
                     .backend = ctx->backend->name,
                     .backends = ctx->peers ? env_value(ctx->env, ENV_BACKEND) : NULL,
                     .team = ctx->team ? team_name(ctx->team) : NULL,
                     .device = ctx->backend->device ? ctx->backend->device(ctx) : NULL,
                     .threads = ctx->team ? team_threads(ctx->team) : 1,
                     .ranks = ctx->comm->size,
                     .rank = ctx->comm->rank,
                     .wall = clock_seconds() - ctx->trace->began,
                     .began = ctx->trace->began,
                     /* mpirun gives ranks a terminal, wherever it writes itself */
                     .colour = !ctx->env->no_colour && !ctx->env->launcher && isatty(STDOUT_FILENO),
                     .calls = ctx->counters->loops,
                     .waited = ctx->queue ? ctx->queue->waited : -1,
                     .singles = ctx->queue ? ctx->queue->singles : NULL,
                     .nsingles = ctx->queue ? ctx->queue->nsingles : 0,
                     .counters = ctx->hardware ? ctx->hardware->names : NULL,
                     .ncounters = ctx->hardware ? ctx->hardware->count : 0,
                     .events = ctx->trace->events,
                     .nevents = ctx->trace->count,
                     .lost = ctx->trace->lost};
  int code = make_rows(ctx, &r, has_pictures(writer), err);
  code = report_over_ranks(ctx, &r, code, err);
  code = look_at_ranks(ctx, code, &r, err);
  r.chains = find_chains(ctx, &r.nchains);
  if (!code && !ctx->backend->on_device)
    find_limits(ctx, writer, &r);
  r.ways = find_ways(ctx, &r.nways);
  r.layers = find_layers(ctx, &r.nlayers);
  r.graphs = find_graphs(ctx, &r.ngraphs);
  if (!code) {
    facts_find(ctx, &r);
    writer(&r, out);
  }
  free_report(&r);
  text_free(&who.program);
  text_free(&who.sets);
  return code || text_ok(out) ? code : error_memory(err, "a report", out->length);
}

int context_timing(struct op_context *ctx, struct text *out, struct error *err) {
  return write_report(ctx, report_text, out, err);
}

int context_json(struct op_context *ctx, struct text *out, struct error *err) {
  return write_report(ctx, report_json, out, err);
}

int context_csv(struct op_context *ctx, struct text *out, struct error *err) {
  return write_report(ctx, report_csv, out, err);
}

/* ---- diagnostics ---- */

static void describe_matrices(const struct mesh *mesh, struct text *out) {
  if (mesh->matrices.count)
    text_addf(out, "%-20s %-20s %-20s %8s %12s\n", "matrix", "rows", "columns", "dims", "bytes");
  for (int i = 0; i < mesh->matrices.count; i++) {
    const struct matrix *m = mesh->matrices.items[i];
    size_t bytes = sums_bytes(m);
    for (int j = 0; j < m->segments.count; j++) {
      const struct dat *dat = ((const struct segment *)m->segments.items[j])->dat;
      bytes += (size_t)dat->set->global_size * dat->row_bytes;
    }
    text_addf(out, "%-20s %-20s %-20s %4d x %d %12zu\n", m->name, m->row_set->name, m->column_set->name,
              m->row_dim, m->column_dim, bytes);
  }
}

static void describe_mesh(const struct op_context *ctx, struct text *out) {
  const struct mesh *mesh = ctx->mesh;
  text_addf(out, "%-20s %12s\n", "set", "elements");
  for (int i = 0; i < mesh->sets.count; i++) {
    const struct set *set = mesh->sets.items[i];
    text_addf(out, "%-20s %12lld\n", set->name, set->global_size);
  }
  for (int i = 0; i < mesh->subsets.count; i++) {
    const struct set *set = mesh->subsets.items[i];
    text_addf(out, "%-20s %12lld of %s\n", set->name, set->global_size, set->sub->parent->name);
  }
  text_addf(out, "%-20s %-20s %-20s %6s\n", "map", "from", "to", "arity");
  for (int i = 0; i < mesh->maps.count; i++) {
    const struct map *map = mesh->maps.items[i];
    text_addf(out, "%-20s %-20s %-20s ", map->name, map->from->name, map->to->name);
    text_addf(out, map->first ? "ragged\n" : "%6d\n", map->arity);
  }
  text_addf(out, "%-20s %-20s %6s %-18s %-6s %12s\n", "dat", "set", "dim", "type", "layout", "bytes");
  for (int i = 0; i < mesh->dats.count; i++) {
    const struct dat *dat = mesh->dats.items[i];
    if (matrix_of_dat(mesh, dat))
      continue;
    text_addf(out, "%-20s %-20s %6d %-18s %-6s %12zu\n", dat->name, dat->set->name, dat->dim,
              type_info(dat->type)->name, (ctx->mover ? dat->apart : dat->soa) ? "soa" : "aos",
              (size_t)dat->set->global_size * dat->row_bytes);
  }
  describe_matrices(mesh, out);
  for (int i = 0; i < mesh->dats.count; i++) {
    const struct dat *dat = mesh->dats.items[i];
    if (dat->view && dat->view->in_place)
      text_addf(out, "view %s: the library works in the program's array\n", dat->name);
    else if (dat->view)
      text_addf(out, "view %s has a copy in the library: %s\n", dat->name, dat->view->why);
  }
}

int context_diagnostics(struct op_context *ctx, struct text *out, struct error *err) {
  text_addf(out, "backend %s\n", ctx->backend->name);
  describe_mesh(ctx, out);
  /* Ranks tell one another what they have of the mesh; in programs of OP2 it may be the root alone that asks. */
  int code = spread_wanted(ctx) && !ctx->compiled ? spread_describe(ctx, out, err) : OP_OK;
  if (ctx->plans) {
    plan_cache_begin(ctx->plans, ctx->mesh->epoch);
    plan_cache_describe(ctx->plans, out);
  }
  return code;
}

int context_check_plans(struct op_context *ctx, int level, struct error *err) {
  if (!ctx->plans)
    return OP_OK;
  plan_cache_begin(ctx->plans, ctx->mesh->epoch); /* renumbering has freed the tables of older ones */
  return plan_cache_verify(ctx->plans, level, err);
}

/* ---- OP2_TIMING ---- */

static void report_whole_text(const struct report *r, struct text *out) {
  struct report whole = *r;
  whole.all = true;
  report_text(&whole, out);
}

/* `events`: it shows so many, the first ones; 0: none. */
enum { ALL_EVENTS = 1 << 20, PAGE_EVENTS = 4000 };
static const struct form {
  const char *prefix;
  report_writer *writer;
  bool to_file;
  int events;
  bool threads; /* it shows each of them */
} forms[] = {{"text", report_text, false, 0, false},
             {"text:all", report_whole_text, false, 0, false},
             {"json:", report_json, true, PAGE_EVENTS, false},
             {"html:", report_html, true, PAGE_EVENTS, false},
             {"trace:", report_trace, true, ALL_EVENTS, true}};

/* -1: none of them; *file: the name behind the prefix, NULL: it is missing. */
static int find_form(const char *wanted, const char **file) {
  *file = NULL;
  for (int i = 0; i < (int)(sizeof forms / sizeof *forms); i++) {
    if (!forms[i].to_file && strcmp(wanted, forms[i].prefix) == 0)
      return i;
    const size_t word = strcspn(forms[i].prefix, ":");
    const char *rest = wanted + word;
    if (!forms[i].to_file || strncmp(wanted, forms[i].prefix, word) != 0 || (*rest && *rest != ':'))
      continue;
    *file = *rest && rest[1] ? rest + 1 : NULL;
    return i;
  }
  return -1;
}

/* One report is of all ranks; a trace is of one, and those of the others go beside it: FILE.1, FILE.2. Without a
 * report this only finds out whether the file can be written. */
static int write_file(struct op_context *ctx, const char *file, const struct text *report,
                      struct error *err) {
  const int rank = ctx->comm->rank;
  struct text path = {0};
  if (rank > 0 && ctx->trace->most != ALL_EVENTS)
    return OP_OK;
  text_add(&path, file);
  if (rank > 0)
    text_addf(&path, ".%d", rank);
  int code = !text_ok(&path) ? error_memory(err, "the name of a file", path.length)
             : report        ? aside_whole(text_str(&path), text_str(report), report->length, err)
                             : aside_check(text_str(&path), err);
  text_free(&path);
  return code;
}

int context_check_timing(struct op_context *ctx, struct error *err) {
  const char *wanted = env_value(ctx->env, ENV_TIMING), *file;
  const int form = find_form(wanted, &file);
  const bool to_file = form >= 0 && forms[form].to_file;
  if (to_file && !file)
    return error_set(err, OP_ERR_ENV, "OP2_TIMING=%s: the file is missing; write %sFILE", wanted,
                     forms[form].prefix);
  if (*wanted && form < 0)
    return error_set(err, OP_ERR_ENV,
                     "OP2_TIMING=%s: expected text, text:all, html:FILE, json:FILE or trace:FILE", wanted);
  ctx->trace->most = form >= 0 ? forms[form].events : 0;
  ctx->trace->wanted |= ctx->trace->most > 0;
  ctx->trace->apart = form >= 0 && forms[form].threads;
  return to_file && write_file(ctx, file, NULL, err) ? error_prefix(err, "OP2_TIMING: ") : OP_OK;
}

void context_print(const struct op_context *ctx, const struct text *report) {
  if (fputs(text_str(report), stdout) < 0 || fflush(stdout) != 0)
    log_line(ctx->log, LOG_WARN, "perf", "the report cannot be written to the standard output: %s",
             strerror(errno));
}

/* The ranks write it together, and the first one knows whether it is wanted. */
static int say_advice(struct op_context *ctx, struct error *err) {
  const bool asked = ctx->comm->rank == 0 && log_wants(ctx->log, LOG_INFO, "advice");
  double wanted = asked;
  struct text out = {0};
  int code = agree_on_largest(ctx->agreement, OP_OK, &wanted, 1, err);
  if (!code && wanted > 0)
    code = write_report(ctx, report_advice, &out, err);
  const char *line = text_str(&out);
  for (int length; !code && asked && *line; line += length + 1) {
    length = (int)strcspn(line, "\n");
    log_line(ctx->log, LOG_INFO, "advice", "%.*s", length, line);
  }
  text_free(&out);
  return code;
}

int context_report(struct op_context *ctx, struct error *err) {
  const char *file;
  const int form = find_form(env_value(ctx->env, ENV_TIMING), &file);
  struct text out = {0};
  int code = say_advice(ctx, err);
  if (code || form < 0)
    return code;
  code = write_report(ctx, forms[form].writer, &out, err);
  if (!code && forms[form].to_file)
    code = write_file(ctx, file, &out, err);
  else if (!code && ctx->comm->rank == 0)
    context_print(ctx, &out);
  text_free(&out);
  return agree_on_success(ctx->agreement, code, err);
}
