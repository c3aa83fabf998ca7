#include "record/sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "context/context.h"

/* As arguments go in a record, but for the dat. */
static bool same_kind(const op_arg *a, const op_arg *b) {
  return a->map == b->map && a->form == b->form && a->idx == b->idx && a->dim == b->dim &&
         a->type == b->type && a->access == b->access && a->present == b->present;
}

static bool is_of(const struct loop_site *site, const struct loop_call *call) {
  if (site->set != call->set || site->nargs != call->nargs)
    return false;
  for (int i = 0; i < call->nargs; i++)
    if (!same_kind(&site->keys[i], &call->args[i]))
      return false;
  return site->compiled == call->compiled && strcmp(site->name, call->name) == 0 &&
         strcmp(site->text, call->text) == 0;
}

static void site_free(struct loop_site *site) {
  free(site->name);
  free(site->text);
  free(site->variant);
  free(site->keys);
  free(site);
}

static struct loop_site *site_new(const struct loop_call *call) {
  struct loop_site *site = calloc(1, sizeof *site);
  if (!site)
    return NULL;
  site->name = strdup(call->name);
  site->text = strdup(call->text);
  site->set = call->set;
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
  for (int i = 0; i < ctx->sites->count; i++) {
    struct loop_site *site = ctx->sites->items[i];
    if (!site->record && is_of(site, call))
      return site;
  }
  struct loop_site *site = site_new(call);
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

/* Words of the backend go with the record. */
void site_leave(struct loop_site *site) {
  const char *variant = site->record->stats.variant;
  char *kept = variant ? strdup(variant) : NULL;
  site->stats = site->record->stats;
  site->stats.scalar = NULL;
  site->stats.variant = kept;
  free(site->variant);
  site->variant = kept;
  site->record = NULL;
}

void sites_free(struct op_context *ctx) {
  for (int i = 0; i < ctx->sites->count; i++)
    site_free(ctx->sites->items[i]);
  list_free(ctx->sites);
}
