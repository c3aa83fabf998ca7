#include "loop/matrix.h"

#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "loop/choose.h"
#include "loop/loop.h"
#include "loop/place.h"
#include "loop/tune_memory.h"
#include "mesh/subset.h"
#include "plan/plan_cache.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/record.h"
#include "spread/sums.h"

/* Assemblies before rows are tried, as making rows costs as much as several of them; fewer with OP2_TUNE=force. Then
 * the assemblies by rows that are timed. */
enum { RUNS_BEFORE = 16, RUNS_BEFORE_FORCED = 2, RUNS = 4 };
/* Assemblies whose loops try variants tell nothing, but so many of them in a row do not end. */
enum { PATIENCE = 20 };
/* Rows are worth their memory if they take so much of the time; hopeless ones are left early. */
#define BETTER 0.95
#define HOPELESS 1.5

static const char *const names[MATRIX_FORMS] = {"coo", "csr"};

/* ---- may it be? ---- */

/* Sums in the order of elements, whatever the threads, need a matrix for each of them, and so do captures; copies of elements
 * run only where rows are reached through a map. */
static bool is_possible(const struct op_context *ctx, const struct matrix *m) {
  bool possible = !m->forms.unfit && !ctx->mover && !ctx->peers && !ctx->shadow && !ctx->reproducible &&
                  !ctx->catcher && strcmp(env_value(ctx->env, ENV_CHECK), "off") == 0 &&
                  strcmp(env_value(ctx->env, ENV_FP), "strict") != 0;
  for (int i = 0; !comm_alone(ctx->comm) && i < m->npairs; i++)
    possible &= m->pairs[i].rows != NULL;
  return possible;
}

/* One fixing for all, of which fixed rows have their diagonal. */
static bool fits(const struct matrix *m, const struct form_gift *gift) {
  const struct fixing *fixing = gift->segments[0]->fixing;
  bool fits = true;
  for (int i = 0; i < gift->n; i++)
    fits &= gift->segments[i]->fixing == fixing && gift->segments[i]->dat->dim <= SUMS_MOST_VALUES;
  for (int i = 0; i < m->segments.count; i++) {
    const struct segment *other = m->segments.items[i];
    fits &= !other->dat->soa && (!other->filled || other->fixing == fixing);
  }
  return fits;
}

/* ---- times ---- */

static bool is_of(const struct matrix *m, const struct dat *dat) {
  bool is = m->sums && dat == m->sums->dat;
  for (int i = 0; i < m->segments.count; i++)
    is |= ((const struct segment *)m->segments.items[i])->dat == dat;
  return is;
}

static bool fills(const struct loop *loop, const struct matrix *m) {
  bool any = false;
  for (int i = 0; i < loop->nargs; i++)
    any |= loop->args[i].dat && loop->args[i].dat->segment && is_of(m, loop->args[i].dat);
  return any;
}

/* Seconds of the matrix's loops so far, in both forms. `settling`: some try variants. */
static double seconds_of(const struct op_context *ctx, const struct matrix *m, bool *settling) {
  double seconds = 0;
  *settling = false;
  for (const struct loop *loop = NULL; (loop = loop_next(ctx->loops, loop));)
    if (fills(loop, m)) {
      seconds += loop->stats.seconds;
      *settling |= loop->ready.prepared && tune_wants(loop);
    }
  return seconds;
}

/* ---- the choice ---- */

/* The place by which forms are remembered. */
static void make_place(const struct loop *loop, struct tuning_place *place) {
  text_add(&place->signature, "matrix\n");
  tuning_sign(&loop->desc, &place->signature);
  tuning_fingerprint(loop, &place->mesh);
  tuning_host(&place->target);
  place->threads = loop->ready.threads;
}

static void keep(struct op_context *ctx, const struct matrix *m, const struct loop *loop) {
  struct tuning_place place = {0};
  struct store_tuning rows[MATRIX_FORMS];
  make_place(loop, &place);
  for (int f = 0; f < MATRIX_FORMS; f++) {
    rows[f] = tuning_row(&place, m->name, names[f]);
    rows[f].median = m->forms.best[f];
    rows[f].baseline = m->forms.best[MATRIX_COO];
    rows[f].count = m->forms.runs[f];
    rows[f].chosen = (int)m->forms.form == f;
  }
  if (tuning_place_ok(&place))
    store_put_tunings(ctx->store, rows, MATRIX_FORMS);
  tuning_place_free(&place);
}

/* By its loops in form coo, by which it is looked for. */
static void keep_all(struct op_context *ctx, const struct matrix *m) {
  for (const struct loop *loop = NULL; (loop = loop_next(ctx->loops, loop));)
    if (fills(loop, m) && !(m->sums && loop_uses(loop, m->sums->dat)))
      keep(ctx, m, loop);
}

static void settle(struct op_context *ctx, struct matrix *m, const struct tune_mode *mode) {
  struct matrix_forms *f = &m->forms;
  f->settled = true;
  f->form = f->best[MATRIX_CSR] < BETTER * f->best[MATRIX_COO] ? MATRIX_CSR : MATRIX_COO;
  log_line(ctx->log, LOG_INFO, "tune",
           "matrix %s is assembled as %s: %.3g ms by element matrices (coo), %.3g ms by rows (csr)", m->name,
           names[f->form], f->best[MATRIX_COO] * 1e3, f->best[MATRIX_CSR] * 1e3);
  if (mode->keep && ctx->store)
    keep_all(ctx, m);
}

/* An assembly is over: what is next. */
static void turn(struct op_context *ctx, struct matrix *m, double seconds, const struct tune_mode *mode) {
  struct matrix_forms *f = &m->forms;
  const int before = mode->options.exhaustive ? RUNS_BEFORE_FORCED : RUNS_BEFORE, form = (int)f->form;
  f->best[form] = f->runs[form]++ ? fmin(f->best[form], seconds) : seconds;
  if (form == MATRIX_COO && f->runs[form] >= before)
    f->form = MATRIX_CSR;
  else if (form == MATRIX_CSR &&
           (f->runs[form] >= RUNS || (f->runs[form] > 1 && f->best[form] > HOPELESS * f->best[MATRIX_COO])))
    settle(ctx, m, mode);
}

/* The slowest rank counts. */
static int note(struct op_context *ctx, struct matrix *m, const struct tune_mode *mode, struct error *err) {
  struct matrix_forms *f = &m->forms;
  bool settling = false;
  const double now = seconds_of(ctx, m, &settling);
  double values[] = {now - f->before + f->brought, settling};
  const bool begun = f->begun;
  f->begun = true;
  f->before = now;
  f->brought = 0;
  if (!begun)
    return OP_OK;
  const int code = agree_on_largest(ctx->agreement, OP_OK, values, 2, err);
  if (code || values[0] <= 0 || (values[1] > 0 && ++f->passed < PATIENCE))
    return code;
  f->passed = 0;
  turn(ctx, m, values[0], mode);
  return OP_OK;
}

static int choose(struct op_context *ctx, struct matrix *m, struct error *err) {
  struct tune_mode mode = {0};
  bool rows = false;
  if (!is_possible(ctx, m)) {
    m->forms.form = MATRIX_COO;
    return OP_OK;
  }
  if (forced_matrices(env_value(ctx->env, ENV_VARIANT), &rows)) {
    m->forms.form = rows ? MATRIX_CSR : MATRIX_COO;
    return OP_OK;
  }
  int code = m->forms.settled ? OP_OK : tune_mode_parse(env_value(ctx->env, ENV_TUNE), &mode, err);
  if (!code && mode.candidates &&
      (mode.options.exhaustive || mode.options.share > 0 || mode.options.seconds > 0))
    code = note(ctx, m, &mode, err);
  return code;
}

/* ---- rows ---- */

static void forget_plans(struct op_context *ctx, const struct list *subsets, const struct map *map) {
  for (int i = 0; ctx->plans && i < subsets->count; i++) {
    const struct set *set = subsets->items[i];
    for (int k = 0; k < set->sub->maps.count; k++) {
      const struct map *own = set->sub->maps.items[k];
      if (own->of == map)
        plan_cache_forget(ctx->plans, own->table, (size_t)set->extents[EXTENT_EXEC] * (size_t)own->arity + 1);
    }
  }
}

void form_forget(struct op_context *ctx, struct matrix *m) {
  if (!m->sums)
    return;
  if (m->sums->dat)
    loop_forget(ctx, m->sums->dat);
  for (int i = 0; i < m->sums->nmaps; i++) {
    forget_plans(ctx, &ctx->mesh->subsets, m->sums->maps[i]);
    forget_plans(ctx, &ctx->mesh->retired, m->sums->maps[i]);
    subsets_forget_map(ctx, m->sums->maps[i]);
  }
  sums_free(ctx, m);
}

/* The assembly begins in the form that was chosen. */
static int begin(struct op_context *ctx, struct matrix *m, const struct form_gift *gift, struct error *err) {
  int code = OP_OK;
  m->summed = false;
  if (m->forms.form != MATRIX_CSR || !fits(m, gift)) {
    if (m->forms.settled && m->forms.form == MATRIX_COO)
      form_forget(ctx, m);
    return OP_OK;
  }
  if (!sums_fit(ctx, m)) {
    const double start = clock_seconds();
    form_forget(ctx, m);
    code = sums_make(ctx, m, err);
    if (m->forms.runs[MATRIX_CSR]) /* again: that is a part of assemblies */
      m->forms.brought += clock_seconds() - start;
  }
  /* Without memory for rows there are element matrices still; all ranks know. */
  m->forms.unfit = (!code && !m->sums) || code == OP_ERR_MEMORY;
  if (m->forms.unfit)
    error_clear(err);
  if (code || m->forms.unfit)
    return m->forms.unfit ? OP_OK : code;
  dat_clear(m->sums->dat);
  m->summed = true;
  return OP_OK;
}

int form_begin(struct op_context *ctx, struct matrix *m, const struct form_gift *gift, struct error *err) {
  if (matrix_is_filled(m))
    return m->summed && (gift->whole || !fits(m, gift) || !sums_fit(ctx, m)) ? sums_leave(ctx, m, err)
                                                                             : OP_OK;
  const int code = choose(ctx, m, err);
  return code ? code : begin(ctx, m, gift, err);
}

/* ---- earlier runs ---- */

static int find_form(const void *of, const char *name) {
  (void)of;
  int form = MATRIX_FORMS - 1;
  while (form >= 0 && strcmp(names[form], name) != 0)
    form--;
  return form;
}

static int found(struct op_context *ctx, const struct loop *loop) {
  struct tuning_place place = {0};
  struct store_tuning *rows = NULL;
  make_place(loop, &place);
  const int count = tuning_place_ok(&place) ? tuning_rows(ctx->store, &place, &rows) : 0;
  const int form = tuning_choose(rows, count, &place, find_form, NULL).variant;
  store_tunings_free(rows, count);
  tuning_place_free(&place);
  return form;
}

int form_recall(struct op_context *ctx, struct matrix *m, const struct loop *loop, struct error *err) {
  struct matrix_forms *f = &m->forms;
  struct tune_mode mode = {0};
  bool rows = false;
  if (f->asked || f->settled || !is_possible(ctx, m) ||
      forced_matrices(env_value(ctx->env, ENV_VARIANT), &rows))
    return OP_OK;
  f->asked = true;
  int code = tune_mode_parse(env_value(ctx->env, ENV_TUNE), &mode, err);
  if (code || !mode.recall)
    return code;
  double known[] = {loop && ctx->store ? found(ctx, loop) : -1};
  code = agree_on_largest(ctx->agreement, OP_OK, known, 1, err);
  if (code || known[0] < 0)
    return code;
  f->form = known[0] > 0.5 ? MATRIX_CSR : MATRIX_COO;
  f->settled = true;
  log_line(ctx->log, LOG_INFO, "tune", "matrix %s is assembled as %s from now on, as an earlier run chose",
           m->name, names[f->form]);
  return OP_OK;
}
