#include "backend/cpu/cpu_tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/size.h"
#include "context.h"
#include "jit/target.h"
#include "kernels-cache/store.h"
#include "kind.h"
#include "tune_mode.h"

int cpu_tune_mode(struct op_context *ctx, bool *candidates, struct error *err) {
  struct tune_mode mode = {0};
  int code = tune_mode_parse(env_value(&ctx->env, ENV_TUNE), &mode, err);
  *candidates = mode.candidates;
  return code;
}

/* ---- the keys of what is remembered ---- */

enum { HEX = 65 };

static void hash_text(const struct text *t, char out[HEX]) {
  struct sha256 sum;
  unsigned char digest[32];
  sha256_begin(&sum);
  sha256_add(&sum, text_str(t), t->length);
  sha256_end(&sum, digest);
  sha256_hex(digest, out);
}

static void make_signature(const struct loop *loop, struct text *out) {
  struct text canonical = {0};
  char hash[HEX];
  desc_print(&loop->desc, &canonical);
  hash_text(&canonical, hash);
  text_add(out, hash);
  text_free(&canonical);
}

static void make_target(struct text *out) {
  struct text features = {0};
  char hash[HEX];
  target_host(out, &features);
  hash_text(&features, hash);
  text_addf(out, " %.12s", hash);
  text_free(&features);
}

/* How far apart in memory consecutive elements reach, as a power of two. */
static int reach_class(const struct map *map) {
  enum { SAMPLES = 4096 };
  const long size = map->from->size, step = size / SAMPLES + 1;
  double sum = 0;
  long count = 0;
  for (long e = 0; e + 1 < size; e += step, count++)
    sum += fabs((double)map->table[(size_t)(e + 1) * (size_t)map->arity] -
                (double)map->table[(size_t)e * (size_t)map->arity]);
  return count ? (int)lround(log2(1 + sum / (double)count)) : 0;
}

static int log2_class(double n) {
  return n > 0 ? (int)lround(log2(n)) : 0;
}

/* Meshes of one class behave alike. */
static void make_fingerprint(const struct loop *loop, struct text *out) {
  text_addf(out, "elements=2^%d", log2_class((double)loop->set->size));
  const struct map *seen[OP_MAX_ARGS];
  int nseen = 0;
  for (int i = 0; i < loop->nargs; i++) {
    const struct map *map = loop->args[i].map;
    bool known = !map;
    for (int j = 0; j < nseen; j++)
      known |= seen[j] == map;
    if (known)
      continue;
    seen[nseen++] = map;
    double degree = map->to->size ? (double)map->from->size * map->arity / (double)map->to->size : 0;
    text_addf(out, " map=%d degree=%.0f reach=2^%d", map->arity, degree, reach_class(map));
  }
}

/* Where measurements of this loop belong. */
struct place {
  struct text signature, target, mesh;
};

static bool make_place(const struct loop *loop, struct place *place) {
  make_signature(loop, &place->signature);
  make_target(&place->target);
  make_fingerprint(loop, &place->mesh);
  return text_ok(&place->signature) && text_ok(&place->target) && text_ok(&place->mesh);
}

static void free_place(struct place *place) {
  text_free(&place->signature);
  text_free(&place->target);
  text_free(&place->mesh);
}

/* ---- recalling ---- */

/* How many threads pay depends on the size of the mesh; all else is taken over from any. */
static int find_variant(const struct cpu_loop *cpu, const char *name, bool same_mesh) {
  struct variant wanted = {0};
  struct text spelled = {0};
  struct error ignored = {0};
  int found = -1;
  if (variant_apply(&wanted, name, &ignored) == OP_OK) {
    wanted.threads = same_mesh ? wanted.threads : 0;
    variant_print(&wanted, &spelled);
    for (int i = 0; i < cpu->nvariants && found < 0; i++)
      if (text_ok(&spelled) && strcmp(cpu->variants[i].name, text_str(&spelled)) == 0)
        found = i;
  }
  text_free(&spelled);
  error_free(&ignored);
  return found;
}

/* The same mesh class counts most, then the same processor; a tuning of another loop or number of threads never counts. */
static int grade(const struct store_tuning *row, const char *target, const char *mesh) {
  return 2 * (strcmp(row->target, target) == 0) + (strcmp(row->mesh, mesh) == 0);
}

static const char *const grades[] = {"another processor and mesh", "this class of mesh on another processor",
                                     "this processor and another class of mesh",
                                     "this processor and class of mesh"};

/* What an earlier run found. */
struct memory {
  int winner; /* -1: nothing */
  int grade;
  double median; /* 0: of another mesh or machine, which is no measure for drift */
};

static struct memory look_up(struct op_context *ctx, const struct cpu_loop *cpu, const char *signature,
                             const char *target, const char *mesh) {
  const struct store_tuning_filter filter = {
      .signature = signature, .threads = cpu->threads, .chosen_only = true};
  struct store_tuning *rows = NULL;
  struct memory m = {.winner = -1};
  const int count = store_get_tunings(ctx->store, &filter, &rows);
  for (int r = 0; r < count; r++) {
    const int g = grade(&rows[r], target, mesh), which = find_variant(cpu, rows[r].variant, g & 1);
    if (which >= 0 && (m.winner < 0 || g > m.grade))
      m = (struct memory){.winner = which, .grade = g, .median = g == 3 ? rows[r].median : 0};
  }
  store_tunings_free(rows, count);
  return m;
}

static struct memory remembered(struct op_context *ctx, const struct loop *loop, const struct cpu_loop *cpu) {
  struct place place = {0};
  struct memory m = {.winner = -1};
  if (make_place(loop, &place))
    m = look_up(ctx, cpu, text_str(&place.signature), text_str(&place.target), text_str(&place.mesh));
  free_place(&place);
  return m;
}

/* All rows of just this place. */
static int get_rows(struct op_context *ctx, const struct loop *loop, const struct cpu_loop *cpu,
                    struct store_tuning **rows) {
  struct place place = {0};
  int count = 0;
  *rows = NULL;
  if (make_place(loop, &place)) {
    const struct store_tuning_filter filter = {.signature = text_str(&place.signature),
                                               .target = text_str(&place.target),
                                               .mesh = text_str(&place.mesh),
                                               .threads = cpu->threads};
    count = store_get_tunings(ctx->store, &filter, rows);
  }
  free_place(&place);
  return count;
}

static bool is_chosen(const struct store_tuning *rows, int count) {
  bool chosen = false;
  for (int r = 0; r < count; r++)
    chosen |= rows[r].chosen;
  return chosen;
}

/* Each rank has measured something else, so that ranks only keep what is enough to choose by. */
static bool goes_on(const struct op_context *ctx) {
  return ctx->comm->size == 1;
}

/* An earlier run ended before its tuner had settled: go on there. */
static bool resume(struct op_context *ctx, const struct loop *loop, struct cpu_loop *cpu) {
  struct store_tuning *rows;
  const int count = get_rows(ctx, loop, cpu, &rows);
  int known = 0;
  for (int r = 0; r < count && !is_chosen(rows, count); r++) {
    const int which = find_variant(cpu, rows[r].variant, true);
    if (which < 0)
      continue;
    tuner_resume(cpu->tuner, which, rows[r].median, rows[r].count);
    known++;
  }
  store_tunings_free(rows, count);
  if (known == 0)
    return false;
  tuner_resumed(cpu->tuner);
  log_line(&ctx->log, LOG_INFO, "tune",
           "loop %s starts with %s and goes on with the trials: an earlier run measured %d of %d variants",
           loop->name, cpu->variants[tuner_winner(cpu->tuner)].name, known, cpu->nvariants);
  return true;
}

int cpu_tune_open(struct op_context *ctx, struct cpu_loop *cpu, struct error *err) {
  struct tune_mode mode = {0};
  int code = tune_mode_parse(env_value(&ctx->env, ENV_TUNE), &mode, err);
  if (code || !mode.candidates || cpu->nvariants < 2)
    return code;
  cpu->keeps = mode.keep;
  cpu->recalls = mode.recall;
  /* Ranks are ready together; who tries everything waits anyway. */
  cpu->behind = !mode.options.exhaustive && ctx->comm->size == 1;
  return tuner_new(&cpu->tuner, cpu->nvariants, cpu->standard, &mode.options, err);
}

int cpu_tune_recall(struct op_context *ctx, const struct loop *loop, struct cpu_loop *cpu,
                    struct error *err) {
  struct memory m = {.winner = -1};
  int code = OP_OK;
  if (!cpu->tuner)
    return OP_OK;
  if (cpu->recalls && (!ctx->kind || ctx->kind->leads_all))
    m = remembered(ctx, loop, cpu);
  if (cpu->recalls && ctx->kind)
    code = ctx->agreement->table->broadcast(ctx->agreement, &m, sizeof m, ctx->kind->first_leader, err);
  if (code)
    return code;
  if (m.winner >= 0) {
    tuner_settle(cpu->tuner, m.winner, m.median);
    cpu->kept = true;
    log_line(&ctx->log, LOG_INFO, "tune", "loop %s starts with %s, tuned on %s", loop->name,
             cpu->variants[m.winner].name, grades[m.grade]);
  } else if (!(cpu->keeps && goes_on(ctx)) || !resume(ctx, loop, cpu))
    log_line(&ctx->log, LOG_INFO, "tune", "loop %s starts with the default %s%s", loop->name,
             cpu->variants[cpu->standard].name, cpu->recalls ? ": nothing is remembered" : "");
  return OP_OK;
}

/* ---- keeping ---- */

static void put_rows(struct op_context *ctx, const struct loop *loop, const struct cpu_loop *cpu, bool choose,
                     struct store_tuning *rows) {
  struct place place = {0};
  int count = 0;
  const bool good = make_place(loop, &place);
  for (int i = 0; i < cpu->nvariants; i++) {
    int runs = 0;
    double median = tuner_median(cpu->tuner, i, &runs);
    if (runs > 0)
      rows[count++] = (struct store_tuning){.signature = text_str(&place.signature),
                                            .loop = loop->name,
                                            .target = text_str(&place.target),
                                            .threads = cpu->threads,
                                            .mesh = text_str(&place.mesh),
                                            .variant = cpu->variants[i].name,
                                            .median = median,
                                            .count = runs,
                                            .chosen = choose && i == tuner_winner(cpu->tuner)};
  }
  if (good)
    store_put_tunings(ctx->store, rows, count);
  free_place(&place);
}

/* How many variants have been measured often enough to be compared. */
static int well_known(const struct cpu_loop *cpu) {
  enum { ENOUGH = 3 };
  int known = 0;
  for (int i = 0; i < cpu->nvariants; i++) {
    int runs = 0;
    tuner_median(cpu->tuner, i, &runs);
    known += runs >= ENOUGH;
  }
  return known;
}

static void keep(struct op_context *ctx, const struct loop *loop, struct cpu_loop *cpu, bool choose) {
  struct store_tuning *rows = array_new((size_t)cpu->nvariants, sizeof *rows);
  cpu->kept = true;
  if (rows)
    put_rows(ctx, loop, cpu, choose, rows);
  free(rows);
}

/* A choice is replaced by a choice only. */
static bool has_choice(struct op_context *ctx, const struct loop *loop, const struct cpu_loop *cpu) {
  struct store_tuning *rows;
  const int count = get_rows(ctx, loop, cpu, &rows);
  const bool chosen = is_chosen(rows, count);
  store_tunings_free(rows, count);
  return chosen;
}

void cpu_tune_close(struct op_context *ctx, const struct loop *loop, struct cpu_loop *cpu) {
  if (!cpu || !cpu->tuner || !cpu->keeps || cpu->kept)
    return;
  const int left = tuner_left(cpu->tuner), known = well_known(cpu);
  const bool serial = goes_on(ctx);
  if (left > 0)
    log_line(
        &ctx->log, LOG_WARN, "tune",
        "loop %s was called too few times to be tuned: %d of its %d variants are measured, %d more calls are "
        "needed%s",
        loop->name, known, cpu->nvariants, left,
        serial ? "; run the program for longer, or again with OP2_TUNE=force" : "");
  const bool enough = tuner_trials(cpu->tuner) > 0 && 2 * known >= cpu->nvariants && (left == 0 || !serial);
  if (tuner_is_settled(cpu->tuner) || enough)
    keep(ctx, loop, cpu, true);
  else if (serial && !has_choice(ctx, loop, cpu))
    keep(ctx, loop, cpu, false);
}

void cpu_tune_keep(struct op_context *ctx, const struct loop *loop, struct cpu_loop *cpu) {
  const int restarts = tuner_restarts(cpu->tuner);
  if (restarts != cpu->restarts) {
    log_line(&ctx->log, LOG_INFO, "tune", "loop %s: %s has become slower by more than %g; trying again",
             loop->name, cpu->variants[cpu->current].name, tune_drift);
    cpu->restarts = restarts;
    cpu->kept = false;
  }
  if (cpu->kept || !cpu->keeps || !tuner_is_settled(cpu->tuner))
    return;
  const int winner = tuner_winner(cpu->tuner);
  log_line(&ctx->log, LOG_INFO, "tune",
           "loop %s: %s is the best of %d after %lld trials, %.3g s a run (default %s %.3g s); "
           "%.3g s were lost in trials and compiling until then, in which the loop ran for %.3g s",
           loop->name, cpu->variants[winner].name, cpu->nvariants, tuner_trials(cpu->tuner),
           tuner_median(cpu->tuner, winner, NULL), cpu->variants[cpu->standard].name,
           tuner_median(cpu->tuner, cpu->standard, NULL), tuner_overhead(cpu->tuner),
           tuner_total(cpu->tuner));
  keep(ctx, loop, cpu, true);
}
