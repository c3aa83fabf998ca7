#include "report/details.h"

#include <stdlib.h>
#include <time.h>

#include "backend/alternatives.h"
#include "backend/backend.h"
#include "base/size.h"
#include "base/types.h"
#include "kernels-cache/store.h"
#include "mesh/data.h"
#include "mesh/globals.h"
#include "record/record.h"
#include "record/sites.h"
#include "tune/memory.h"

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
