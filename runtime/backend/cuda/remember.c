/* Tuning of a loop on a GPU: what may be spent, what an earlier run found, what this one found. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "base/sha256.h"
#include "base/size.h"
#include "context.h"
#include "jit/jit.h"
#include "kernels-cache/store.h"
#include "tune_mode.h"

int cuda_tune_mode(struct op_context *ctx, bool *candidates, struct error *err) {
  struct tune_mode mode = {0};
  int code = tune_mode_parse(env_value(&ctx->env, ENV_TUNE), &mode, err);
  *candidates = mode.candidates;
  return code;
}

/* ---- what a tuning is kept under ---- */
struct labels {
  struct text target, mesh;
  char signature[65];
};

static bool make_labels(const struct cuda *c, const struct loop *loop, struct labels *l) {
  const struct cuda_loop *own = loop->backend_state;
  struct text canonical = {0};
  struct sha256 sum;
  unsigned char digest[32];
  *l = (struct labels){0};
  desc_print(&own->desc, &canonical);
  sha256_begin(&sum);
  sha256_add(&sum, text_str(&canonical), canonical.length);
  sha256_end(&sum, digest);
  sha256_hex(digest, l->signature);
  text_addf(&l->target, "%s %s", c->arch, c->device.name);
  text_addf(&l->mesh, "elements=2^%d", (int)lround(log2((double)loop->set->size + 1)));
  bool good = text_ok(&canonical) && text_ok(&l->target) && text_ok(&l->mesh);
  text_free(&canonical);
  return good;
}

static void labels_free(struct labels *l) {
  text_free(&l->target);
  text_free(&l->mesh);
}

/* The same class of mesh counts more; another GPU never counts. */
static void recall(struct op_context *ctx, const struct loop *loop, struct cuda_loop *l,
                   const struct labels *labels) {
  const struct store_tuning_filter filter = {
      .signature = labels->signature, .target = text_str(&labels->target), .chosen_only = true};
  struct store_tuning *rows = NULL;
  const int count = store_get_tunings(ctx->store, &filter, &rows);
  int winner = -1;
  bool same = false;
  double median = 0;
  for (int r = 0; r < count; r++)
    for (int v = 0; v < l->nvariants; v++) {
      bool here = strcmp(rows[r].mesh, text_str(&labels->mesh)) == 0;
      if (strcmp(rows[r].variant, l->variants[v].name) == 0 && (winner < 0 || (here && !same))) {
        winner = v;
        same = here;
        median = here ? rows[r].median : 0; /* times of another mesh are no measure for drift */
      }
    }
  if (winner >= 0) {
    tuner_settle(l->tuner, winner, median);
    l->kept = true;
    log_line(&ctx->log, LOG_INFO, "tune", "loop %s starts with %s, tuned in an earlier run", loop->name,
             l->variants[winner].name);
  }
  store_tunings_free(rows, count);
}

int cuda_tune_open(struct op_context *ctx, const struct loop *loop, struct cuda_loop *l, struct error *err) {
  struct tune_mode mode = {0};
  struct jit *jit = NULL; /* opens the store */
  struct labels labels;
  int code = tune_mode_parse(env_value(&ctx->env, ENV_TUNE), &mode, err);
  if (!code)
    code = context_jit(ctx, &jit, err);
  if (!code)
    code = tuner_new(&l->tuner, l->nvariants, l->standard, &mode.options, err);
  if (code)
    return code;
  l->keeps = mode.keep;
  if (mode.recall && make_labels(cuda_of(ctx), loop, &labels)) {
    recall(ctx, loop, l, &labels);
    labels_free(&labels);
  }
  return OP_OK;
}

static void put_rows(struct op_context *ctx, const struct loop *loop, struct cuda_loop *l,
                     struct store_tuning *rows) {
  struct labels labels;
  int n = 0, winner = tuner_winner(l->tuner);
  if (!make_labels(cuda_of(ctx), loop, &labels))
    return;
  for (int v = 0; v < l->nvariants; v++) {
    int count = 0;
    double median = tuner_median(l->tuner, v, &count);
    if (count)
      rows[n++] = (struct store_tuning){.signature = labels.signature,
                                        .loop = loop->name,
                                        .target = text_str(&labels.target),
                                        .threads = 1,
                                        .mesh = text_str(&labels.mesh),
                                        .variant = l->variants[v].name,
                                        .median = median,
                                        .count = count,
                                        .chosen = v == winner};
  }
  store_put_tunings(ctx->store, rows, n);
  labels_free(&labels);
}

void cuda_tune_keep(struct op_context *ctx, const struct loop *loop, struct cuda_loop *l) {
  if (l->kept || !l->keeps || !tuner_is_settled(l->tuner))
    return;
  l->kept = true;
  log_line(&ctx->log, LOG_INFO, "tune", "loop %s: %s is the best of %d after %lld trials, %.3g s a run",
           loop->name, l->variants[tuner_winner(l->tuner)].name, l->nvariants, tuner_trials(l->tuner),
           tuner_median(l->tuner, tuner_winner(l->tuner), NULL));
  struct store_tuning *rows = array_new((size_t)l->nvariants, sizeof *rows);
  if (rows)
    put_rows(ctx, loop, l, rows);
  free(rows);
}

/* ---- layouts ---- */
void cuda_layout_keep_variant(struct op_context *ctx, const struct loop *loop, double seconds) {
  const struct cuda_loop *l = loop->backend_state;
  struct labels labels;
  if (!make_labels(cuda_of(ctx), loop, &labels))
    return;
  const struct store_tuning row = {.signature = labels.signature,
                                   .loop = loop->name,
                                   .target = text_str(&labels.target),
                                   .threads = 1,
                                   .mesh = text_str(&labels.mesh),
                                   .variant = l->variants[l->current].name,
                                   .median = seconds,
                                   .count = 1,
                                   .chosen = true};
  store_put_tunings(ctx->store, &row, 1);
  labels_free(&labels);
}

static void layout_labels(const struct cuda *c, const struct dat *dat, struct labels *l,
                          struct text *signature) {
  *l = (struct labels){0};
  text_addf(signature, "layout of dat %s, %d %s, on set %s", dat->name, dat->dim, type_info(dat->type)->name,
            dat->set->name);
  text_addf(&l->target, "%s %s", c->arch, c->device.name);
  text_addf(&l->mesh, "elements=2^%d", (int)lround(log2((double)dat->set->size + 1)));
}

bool cuda_layout_recall(struct op_context *ctx, const struct dat *dat, bool *soa) {
  struct jit *jit = NULL; /* opens the store */
  struct error ignored = {0};
  struct labels labels;
  struct text signature = {0};
  struct store_tuning *rows = NULL;
  if (context_jit(ctx, &jit, &ignored)) {
    error_free(&ignored);
    return false;
  }
  layout_labels(cuda_of(ctx), dat, &labels, &signature);
  const struct store_tuning_filter filter = {.signature = text_str(&signature),
                                             .target = text_str(&labels.target),
                                             .mesh = text_str(&labels.mesh),
                                             .chosen_only = true};
  const int count = store_get_tunings(ctx->store, &filter, &rows);
  if (count)
    *soa = strcmp(rows[0].variant, "soa") == 0;
  store_tunings_free(rows, count);
  labels_free(&labels);
  text_free(&signature);
  return count > 0;
}

void cuda_layout_keep(struct op_context *ctx, const struct dat *dat, const struct cuda_layout_found *found) {
  struct labels labels;
  struct text signature = {0}, name = {0};
  layout_labels(cuda_of(ctx), dat, &labels, &signature);
  text_addf(&name, "dat %s", dat->name);
  const double medians[] = {found->rows, found->apart};
  struct store_tuning rows[2];
  for (int k = 0; k < 2; k++)
    rows[k] = (struct store_tuning){.signature = text_str(&signature),
                                    .loop = text_str(&name),
                                    .target = text_str(&labels.target),
                                    .threads = 1,
                                    .mesh = text_str(&labels.mesh),
                                    .variant = k ? "soa" : "aos",
                                    .median = medians[k],
                                    .count = 1,
                                    .chosen = found->soa == (k == 1)};
  store_put_tunings(ctx->store, rows, 2);
  labels_free(&labels);
  text_free(&signature);
  text_free(&name);
}
