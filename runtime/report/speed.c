/* Details of one loop beside its times: its arguments, its plan, the variants that were tried; and how fast it was in earlier runs
 * on this machine, which is kept in the store at op_exit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/alternatives.h"
#include "backend/backend.h"
#include "base/list.h"
#include "base/types.h"
#include "context/context.h"
#include "context/env.h"
#include "exec/team.h"
#include "kernels-cache/store.h"
#include "loop/place.h"
#include "loop/tune_memory.h"
#include "mesh/data.h"
#include "mesh/globals.h"
#include "op2jit.h"
#include "ranks/comm.h"
#include "record/record.h"
#include "record/sites.h"
#include "report/forms.h"
#include "report/report.h"

/* ---- where a time belongs ---- */

struct place {
  struct text signature, machine, mesh;
};

static bool place_make(const struct op_context *ctx, const struct loop *loop, struct place *p) {
  *p = (struct place){0};
  tuning_sign(&loop->desc, &p->signature);
  text_addf(&p->machine, "%s ", loop->backend->name);
  if (loop->backend->target)
    loop->backend->target(ctx, loop->space, &p->machine);
  else
    tuning_host(&p->machine);
  tuning_fingerprint(loop, &p->mesh);
  return text_ok(&p->signature) && text_ok(&p->machine) && text_ok(&p->mesh);
}

static void place_free(struct place *p) {
  text_free(&p->signature);
  text_free(&p->machine);
  text_free(&p->mesh);
}

static int threads_of(const struct op_context *ctx) {
  return ctx->team ? team_threads(ctx->team) : 1;
}

/* So few calls are luck; what is checked or shadowed takes longer. */
static bool is_measured(const struct loop_site *site) {
  enum { CALLS_LEAST = 10 };
  const struct loop *loop = site->record;
  return loop && !loop->compiled && !loop->form && loop->ready.prepared && loop->stats.variant &&
         loop->stats.fastest > 0 && loop->stats.calls >= CALLS_LEAST && loop->set->extents[EXTENT_OWNED] > 0;
}

/* ---- keeping ---- */

void speeds_keep(const struct op_context *ctx) {
  struct tune_mode mode = {0};
  struct error ignored = {0};
  const int most = ctx->sites->count;
  if (!ctx->store || ctx->comm->rank > 0 ||
      tune_mode_parse(env_value(ctx->env, ENV_TUNE), &mode, &ignored) != OP_OK || !mode.keep) {
    error_free(&ignored);
    return;
  }
  struct store_speed *rows = array_new((size_t)most, sizeof *rows);
  struct place *places = array_new((size_t)most, sizeof *places);
  int count = 0;
  for (int i = 0; rows && places && i < most; i++) {
    const struct loop_site *site = ctx->sites->items[i];
    struct place *p = &places[count];
    if (!is_measured(site))
      continue;
    if (place_make(ctx, site->record, p))
      rows[count++] = (struct store_speed){.loop = site->name,
                                           .signature = text_str(&p->signature),
                                           .machine = text_str(&p->machine),
                                           .mesh = text_str(&p->mesh),
                                           .version = VERSION,
                                           .variant = site->record->stats.variant,
                                           .threads = threads_of(ctx),
                                           .elements = site->record->set->extents[EXTENT_OWNED],
                                           .calls = site->record->stats.calls,
                                           .seconds = site->record->stats.fastest};
    else
      place_free(p);
  }
  if (count)
    store_put_speeds(ctx->store, rows, count);
  for (int i = 0; i < count; i++)
    place_free(&places[i]);
  free(rows);
  free(places);
}

/* ---- comparing ---- */

/* Earlier runs, newest first. */
struct seen {
  const struct place *here;
  int threads;
  struct report_detail *out;
  bool failed;
};

static void note(void *user, const struct store_speed *s) {
  struct seen *seen = user;
  struct report_detail *d = seen->out;
  if (s->threads != seen->threads || strcmp(s->signature, text_str(&seen->here->signature)) != 0 ||
      strcmp(s->machine, text_str(&seen->here->machine)) != 0)
    return;
  struct report_speed *more = array_more(d->speeds, (size_t)d->nspeeds, sizeof *more);
  if (!more)
    return;
  d->speeds = more;
  d->speeds[d->nspeeds] = (struct report_speed){.time = s->time,
                                                .elements = s->elements,
                                                .seconds = s->seconds,
                                                .version = strdup(s->version),
                                                .variant = strdup(s->variant),
                                                .mesh = strdup(s->mesh)};
  const struct report_speed *made = &d->speeds[d->nspeeds++];
  seen->failed |= !made->version || !made->variant || !made->mesh;
}

/* The likely reason: the first thing that changed. */
static void tell_reason(const struct report_speed *then, const struct loop *loop, const char *mesh,
                        struct text *out) {
  if (strcmp(then->variant, loop->stats.variant) != 0)
    text_addf(out, "then in variant %s, now in %s", then->variant, loop->stats.variant);
  else if (strcmp(then->version, VERSION) != 0)
    text_addf(out, "then with version %s of the library, now with %s", then->version, VERSION);
  else if (strcmp(then->mesh, mesh) != 0)
    text_addf(out, "the mesh is of another class: then %s, now %s; times are by element", then->mesh, mesh);
  else
    text_add(out, "variant, version and class of mesh are the same: other work on the machine?");
}

/* The last runs on a mesh of this class; if there was none, on any. Their own differences are the noise. */
static void find_slower(struct report_detail *d, const struct loop *loop, const char *mesh) {
  enum { LAST = 5 };
  const double least = 1.1, of_one = 1.5;
  const struct report_speed *best = NULL;
  const double now = loop->stats.fastest / (double)loop->set->extents[EXTENT_OWNED];
  double low = 0, high = 0;
  int count = 0;
  bool same = false;
  for (int i = 0; i < d->nspeeds; i++)
    same |= strcmp(d->speeds[i].mesh, mesh) == 0;
  for (int i = 0; i < d->nspeeds && count < LAST; i++) {
    const struct report_speed *s = &d->speeds[i];
    const double each = s->elements > 0 ? s->seconds / (double)s->elements : 0;
    if (each <= 0 || (same && strcmp(s->mesh, mesh) != 0))
      continue;
    best = !best || each < low ? s : best;
    low = count == 0 || each < low ? each : low;
    high = each > high ? each : high;
    count++;
  }
  const double noise = count < 2 ? of_one : high / low > least ? high / low : least;
  if (!best || now <= high * noise)
    return;
  const time_t when = (time_t)best->time;
  struct tm tm;
  char day[32] = "", times[2][48];
  if (gmtime_r(&when, &tm))
    strftime(day, sizeof day, "%Y-%m-%d", &tm);
  report_time(times[0], sizeof times[0], loop->stats.fastest);
  report_time(times[1], sizeof times[1], best->seconds);
  text_addf(&d->slower, "was faster on this machine: its best call takes %s now and took %s on %s; ",
            times[0], times[1], day);
  tell_reason(best, loop, mesh, &d->slower);
}

void speeds_find(const struct op_context *ctx, const struct loop_site *site, struct report_detail *out) {
  struct place here;
  if (!ctx->store || !is_measured(site))
    return;
  struct seen seen = {.here = &here, .threads = threads_of(ctx), .out = out};
  if (place_make(ctx, site->record, &here))
    store_speeds(ctx->store, site->name, note, &seen);
  if (out->nspeeds && !seen.failed)
    find_slower(out, site->record, text_str(&here.mesh));
  place_free(&here);
}

static void tell_arg(const struct loop_arg *arg, struct text *out) {
  if (!arg->present)
    text_add(out, "absent");
  else if (arg->form == DESC_IDX)
    text_addf(out, "%s", arg->map ? "number of the target" : "number of the element");
  else if (arg->form == DESC_INFO)
    text_addf(out, "payload of argument %d, %d %s", arg->ref + 1, arg->dim, type_info(arg->type)->name);
  else if (arg->dat)
    text_addf(out, "%s, %d %s", arg->dat->name, arg->dim, type_info(arg->type)->name);
  else if (arg->gbl)
    text_addf(out, "global %s, %d %s", arg->gbl->name, arg->dim, type_info(arg->type)->name);
  else
    text_addf(out, "global, %d %s", arg->dim, type_info(arg->type)->name);
  if (arg->present && !arg_is_direct(arg) && arg->idx < 0)
    text_addf(out, ", by all %d of %s", -arg->idx, arg->map->name);
  else if (arg->present && !arg_is_direct(arg))
    text_addf(out, ", by %s[%d]", arg->map->name, arg->idx);
  if (arg->present && (arg->form == DESC_DAT || arg->form == DESC_GBL))
    text_addf(out, ", %s\n", access_name(arg->access));
  else
    text_add_char(out, '\n');
}

static int fill_variants(struct report_detail *out, const struct loop *loop, struct error *err) {
  const struct tuner *tuner = loop->ready.tuning ? loop->ready.tuning->tuner : NULL;
  if (!tuner)
    return OP_OK;
  out->variants = array_new((size_t)loop->ready.nvariants, sizeof *out->variants);
  if (!out->variants)
    return error_memory(err, "a report", (size_t)loop->ready.nvariants * sizeof *out->variants);
  const struct crew *crew = &loop->ready.tuning->crew;
  if (!elements_are_few(loop->ready.most_elements, loop->ready.most_threads)) {
    out->one = crew->seconds[CREW_ONE];
    out->many = crew->seconds[CREW_MANY];
    out->runs_on_one = crew->one;
  }
  for (int i = 0; i < loop->ready.nvariants; i++) {
    struct report_variant v = {.name = loop->backend->name_of(loop, i),
                               .spread = tuner_spread(tuner, i),
                               .rejected = tuner_rejected(tuner, i)};
    v.median = tuner_median(tuner, i, &v.runs);
    if (v.runs || v.rejected)
      out->variants[out->nvariants++] = v;
  }
  return OP_OK;
}

static void tell_event(void *user, const struct store_event *e) {
  struct text *out = user;
  const time_t when = (time_t)e->time;
  struct tm tm;
  char day[32] = "";
  if (gmtime_r(&when, &tm))
    strftime(day, sizeof day, "%Y-%m-%d %H:%M", &tm);
  text_addf(out, "%s %s", day, e->event);
  if (e->seconds > 0)
    text_addf(out, " in %.0f ms", e->seconds * 1e3);
  text_add(out, ": ");
  for (const char *p = e->reason; *p; p++)
    text_add_char(out, *p == '\n' ? ' ' : *p);
  text_add_char(out, '\n');
}

/* Its parameter occurs nowhere but in the list of them. */
static bool is_unused(const struct kernel *k, int i) {
  const char *name = k->parameters[i].name;
  int times = 0;
  for (size_t t = 0; *name && t < k->tokens.count; t++)
    times += token_is_identifier(&k->tokens, t) && token_is(&k->tokens, t, name);
  return times == 1;
}

/* Ragged maps give a kernel more parameters than arguments. */
static void find_unused(const struct loop *loop, struct text *out) {
  const struct kernel *k = &loop->kernel;
  for (int i = 0; k->certain && k->nparameters == loop->nargs && i < loop->nargs; i++)
    if (loop->args[i].dat && loop->args[i].present && is_unused(k, i))
      text_addf(out, "%sargument %d (dat \"%s\")", out->length ? ", " : "", i + 1, loop->args[i].dat->name);
}

int detail_fill(struct report_detail *out, const struct loop_site *site, struct store *store,
                struct error *err) {
  enum { EVENTS = 5 };
  const struct loop *loop = site->record;
  out->no_text = site_no_text(site);
  if (!loop || !loop->set)
    return OP_OK;
  text_addf(&out->set, "%s, %lld elements", loop->set->name, loop->set->global_size);
  if (loop->set->sub)
    text_addf(&out->set, " of %s", loop->set->sub->parent->name);
  for (int i = 0; i < loop->nargs; i++)
    tell_arg(&loop->args[i], &out->args);
  find_unused(loop, &out->unused);
  if (loop->backend->tell_plan && loop->ready.prepared && loop->ready.nvariants > 0 &&
      loop->backend->is_ready(loop, loop->ready.variant))
    loop->backend->tell_plan(loop, loop->ready.variant, &out->plan);
  if (store && loop->desc.kernel_name && *loop->desc.kernel_name)
    store_history(store, loop->desc.kernel_name, EVENTS, tell_event, &out->history);
  const int code = fill_variants(out, loop, err);
  if (!code && !(text_ok(&out->history) && text_ok(&out->set) && text_ok(&out->args) && text_ok(&out->plan)))
    return error_memory(err, "a report", out->args.length);
  return code;
}

void detail_free(struct report_detail *detail) {
  text_free(&detail->set);
  text_free(&detail->args);
  text_free(&detail->plan);
  text_free(&detail->history);
  free(detail->variants);
  text_free(&detail->slower);
  text_free(&detail->unused);
  for (int i = 0; i < detail->nspeeds; i++) {
    free(detail->speeds[i].version);
    free(detail->speeds[i].variant);
    free(detail->speeds[i].mesh);
  }
  free(detail->speeds);
}
