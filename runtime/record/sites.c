#include "record/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "context/context.h"
#include "mesh/handles.h"
#include "mesh/subset.h"
#include "ranks/comm.h"

/* As arguments go in a record, but for the dat, and for the map, which goes by its name. */
static bool same_kind(const op_arg *a, const op_arg *b) {
  return a->form_ == b->form_ && a->idx_ == b->idx_ && a->dim_ == b->dim_ && a->type_ == b->type_ &&
         a->access_ == b->access_ && a->present_ == b->present_;
}

static bool is_of(const struct loop_site *site, const struct loop_call *call, const char *mesh) {
  if (site->nargs != call->nargs || strcmp(site->mesh, mesh) != 0)
    return false;
  for (int i = 0; i < call->nargs; i++)
    if (!same_kind(&site->keys[i], &call->args[i]))
      return false;
  return site->compiled == call->compiled && strcmp(site->name, loop_call_told(call)) == 0 &&
         strcmp(site->text, call->text) == 0;
}

/* The names of the set and of the maps, a line each: of a map that comes again only that it is the same. */
static char *mesh_of(const struct op_context *ctx, const struct loop_call *call) {
  struct text names = {0};
  const struct set *set = handle_object(ctx->handles, call->set, HANDLE_SET);
  text_addf(&names, "%s%s", set && set->sub ? "subset " : "", set ? set->name : "");
  for (int i = 0; i < call->nargs; i++) {
    int first = 0;
    while (call->args[first].map_ != call->args[i].map_)
      first++;
    const struct map *map = first == i ? handle_object(ctx->handles, call->args[i].map_, HANDLE_MAP) : NULL;
    text_addf(&names, "\n%d %s", first, map ? map->name : "");
  }
  return text_take(&names);
}

static void site_free(struct loop_site *site) {
  free(site->name);
  free(site->text);
  free(site->mesh);
  free(site->variant);
  free(site->no_text);
  free(site->keys);
  free(site);
}

/* `mesh` is taken over. */
static struct loop_site *site_new(const struct loop_call *call, char *mesh) {
  struct loop_site *site = calloc(1, sizeof *site);
  if (!site) {
    free(mesh);
    return NULL;
  }
  site->mesh = mesh;
  site->name = strdup(loop_call_told(call));
  site->text = strdup(call->text);
  site->compiled = call->compiled;
  site->nargs = call->nargs;
  site->keys = array_new((size_t)call->nargs, sizeof *site->keys);
  if (!site->name || !site->text || !site->keys) {
    site_free(site);
    return NULL;
  }
  memcpy(site->keys, call->args, (size_t)call->nargs * sizeof *site->keys);
  return site;
}

struct loop_site *site_get(struct op_context *ctx, const struct loop_call *call, struct error *err) {
  char *mesh = mesh_of(ctx, call);
  for (int i = 0; mesh && i < ctx->sites->count; i++) {
    struct loop_site *site = ctx->sites->items[i];
    if (!site->record && is_of(site, call, mesh)) {
      free(mesh);
      return site;
    }
  }
  struct loop_site *site = mesh ? site_new(call, mesh) : NULL;
  if (site && list_add(ctx->sites, site))
    return site;
  if (site)
    site_free(site);
  error_memory(err, "the record of a loop", strlen(call->text));
  return NULL;
}

void site_enter(struct loop_site *site, struct loop *record) {
  record->site = site;
  record->stats = site->stats;
  site->record = record;
}

bool sites_are_one(const struct loop_site *a, const struct loop_site *b) {
  if (strncmp(a->mesh, "subset ", 7) != 0)
    return false;
  const struct loop_call call = {
      .text = b->text, .name = b->name, .nargs = b->nargs, .args = b->keys, .compiled = b->compiled};
  return is_of(a, &call, b->mesh);
}

void site_add(struct loop_stats *to, const struct loop_stats *more) {
  const struct loop_stats was = *to;
  if (more->calls > was.calls) /* what is said of one call */
    *to = *more;
  to->calls = was.calls + more->calls;
  to->seconds = was.seconds + more->seconds;
  to->slowest = was.slowest > more->slowest ? was.slowest : more->slowest;
  to->fastest =
      was.fastest <= 0 || (more->fastest > 0 && more->fastest < was.fastest) ? more->fastest : was.fastest;
  to->tiled_seconds = was.tiled_seconds + more->tiled_seconds;
  to->collect_seconds = was.collect_seconds + more->collect_seconds;
  to->plan_seconds = was.plan_seconds + more->plan_seconds;
  to->compile_seconds = was.compile_seconds + more->compile_seconds;
  to->trials = was.trials + more->trials;
  to->trial_seconds = was.trial_seconds + more->trial_seconds;
  to->compiled = was.compiled || more->compiled;
  to->from_cache = was.from_cache || more->from_cache;
  to->tried = was.tried + more->tried;
  to->moved = was.moved + more->moved;
  to->exchange_seconds = was.exchange_seconds + more->exchange_seconds;
  to->waiting_seconds = was.waiting_seconds + more->waiting_seconds;
  to->exchanges = was.exchanges + more->exchanges;
  to->messages = was.messages + more->messages;
  to->bytes_sent = was.bytes_sent + more->bytes_sent;
  for (int i = 0; i < HARDWARE_MOST; i++)
    to->hardware[i] = was.hardware[i] + more->hardware[i];
}

/* Words of the backend go with the record. */
void site_leave(struct loop_site *site) {
  const char *variant = site->record->stats.variant;
  char *kept = variant ? strdup(variant) : NULL;
  site->stats = site->record->stats;
  site->stats.scalar = NULL;
  site->stats.variant = kept;
  free(site->variant);
  site->variant = kept;
  free(site->no_text);
  site->no_text = site->record->no_source;
  site->record->no_source = NULL;
  site->record = NULL;
}

enum log_level site_weight(const struct op_context *ctx, const struct loop *loop, const char *what) {
  struct text key = {0};
  text_addf(&key, "%s %s:%d %s", what, loop->key.file, loop->key.line, loop->name);
  const bool known = names_have(ctx->told, text_str(&key), key.length);
  names_note(ctx->told, text_str(&key));
  text_free(&key);
  return known ? LOG_INFO : LOG_WARN;
}

void site_tell_capture(const struct op_context *ctx, const struct loop *loop, long long before, int many) {
  long long calls = -before;
  char more[24] = "";
  if (ctx->comm->rank > 0) /* each rank writes a file of its own */
    return;
  for (int i = 0; i < ctx->sites->count; i++) {
    const struct loop_site *site = ctx->sites->items[i];
    calls += strcmp(site->name, loop->name) == 0 ? site_stats(site)->calls : 0;
  }
  if (many > 1)
    snprintf(more, sizeof more, "+%d", many);
  log_line(ctx->log, site_weight(ctx, loop, "capture"), "check",
           "OP2_CAPTURE=%s:%lld%s:%s.capture keeps what failed, for `op2jit replay`", loop->name, calls, more,
           loop->name);
}

void sites_free(struct op_context *ctx) {
  for (int i = 0; i < ctx->sites->count; i++)
    site_free(ctx->sites->items[i]);
  list_free(ctx->sites);
}
