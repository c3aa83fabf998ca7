#include <string.h>

#include "context/context.h"
#include "jit/jit.h"
#include "ranks/comm.h"
#include "ranks/kind.h"
#include "services/services.h"
#include "tune/layouts.h"

static bool make_place(const struct op_context *ctx, const struct layout_table *table, const struct dat *dat,
                       struct tuning_place *place) {
  text_addf(&place->signature, "layout of dat %s, %d %s, on set %s", dat->name, dat->dim,
            type_info(dat->type)->name, dat->set->name);
  table->target(ctx, &place->target);
  tuning_size_class(dat->set->size, &place->mesh);
  place->threads = table->threads(ctx);
  return tuning_place_ok(place);
}

static bool look_up(struct op_context *ctx, const struct layout_table *table, const struct dat *dat,
                    bool *soa) {
  struct jit *jit = NULL; /* opens the store */
  struct error ignored = {0};
  struct tuning_place place = {0};
  struct store_tuning *rows = NULL;
  int count = 0;
  if (context_jit(ctx, &jit, &ignored) == OP_OK && make_place(ctx, table, dat, &place)) {
    const struct store_tuning_filter filter = {.signature = text_str(&place.signature),
                                               .target = text_str(&place.target),
                                               .mesh = text_str(&place.mesh),
                                               .threads = place.threads,
                                               .chosen_only = true};
    count = store_get_tunings(ctx->store, &filter, &rows);
  }
  if (count)
    *soa = strcmp(rows[0].variant, "soa") == 0;
  store_tunings_free(rows, count);
  tuning_place_free(&place);
  error_free(&ignored);
  return count > 0;
}

bool layout_recall(struct op_context *ctx, const struct layout_table *table, const struct dat *dat,
                   bool *soa) {
  const struct kind *ranks = context_leaders(ctx);
  struct {
    bool found, soa;
  } known = {0};
  struct error ignored = {0};
  if (!ranks || ranks->leads_all)
    known.found = look_up(ctx, table, dat, &known.soa);
  if (ranks &&
      ctx->agreement->table->broadcast(ctx->agreement, &known, sizeof known, ranks->first_leader, &ignored))
    known.found = false;
  error_free(&ignored);
  if (known.found)
    *soa = known.soa;
  return known.found;
}

void layout_keep(struct op_context *ctx, const struct layout_table *table, const struct dat *dat,
                 const struct layout_found *found) {
  struct tuning_place place = {0};
  struct text name = {0};
  const double medians[] = {found->rows, found->apart};
  struct store_tuning rows[2];
  text_addf(&name, "dat %s", dat->name);
  const bool good = make_place(ctx, table, dat, &place) && text_ok(&name);
  for (int k = 0; k < 2; k++)
    rows[k] = (struct store_tuning){.signature = text_str(&place.signature),
                                    .loop = text_str(&name),
                                    .target = text_str(&place.target),
                                    .threads = place.threads,
                                    .mesh = text_str(&place.mesh),
                                    .variant = k ? "soa" : "aos",
                                    .median = medians[k],
                                    .baseline = medians[dat->asked_soa],
                                    .count = 1,
                                    .chosen = found->soa == (k == 1)};
  if (good)
    store_put_tunings(ctx->store, rows, 2);
  tuning_place_free(&place);
  text_free(&name);
}
