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
  struct text signature = {0}, target = {0}, mesh = {0};
  struct memory m = {.winner = -1};
  make_signature(loop, &signature);
  make_target(&target);
  make_fingerprint(loop, &mesh);
  if (text_ok(&signature) && text_ok(&target) && text_ok(&mesh))
    m = look_up(ctx, cpu, text_str(&signature), text_str(&target), text_str(&mesh));
  text_free(&signature);
  text_free(&target);
  text_free(&mesh);
  return m;
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
  if (!cpu->tuner || !cpu->recalls)
    return OP_OK;
  if (!ctx->kind || ctx->kind->leads_all)
    m = remembered(ctx, loop, cpu);
  if (ctx->kind)
    code = ctx->agreement->table->broadcast(ctx->agreement, &m, sizeof m, ctx->kind->first_leader, err);
  if (code)
    return code;
  if (m.winner >= 0) {
    tuner_settle(cpu->tuner, m.winner, m.median);
    cpu->kept = true;
    log_line(&ctx->log, LOG_INFO, "tune", "loop %s starts with %s, tuned on %s", loop->name,
             cpu->variants[m.winner].name, grades[m.grade]);
  } else
    log_line(&ctx->log, LOG_INFO, "tune", "loop %s starts with the default %s: nothing is remembered",
             loop->name, cpu->variants[cpu->standard].name);
  return OP_OK;
}

/* ---- keeping ---- */

static void put_rows(struct op_context *ctx, const struct loop *loop, const struct cpu_loop *cpu,
                     struct store_tuning *rows) {
  struct text signature = {0}, target = {0}, mesh = {0};
  int count = 0;
  make_signature(loop, &signature);
  make_target(&target);
  make_fingerprint(loop, &mesh);
  for (int i = 0; i < cpu->nvariants; i++) {
    int runs = 0;
    double median = tuner_median(cpu->tuner, i, &runs);
    if (runs > 0)
      rows[count++] = (struct store_tuning){.signature = text_str(&signature),
                                            .loop = loop->name,
                                            .target = text_str(&target),
                                            .threads = cpu->threads,
                                            .mesh = text_str(&mesh),
                                            .variant = cpu->variants[i].name,
                                            .median = median,
                                            .count = runs,
                                            .chosen = i == tuner_winner(cpu->tuner)};
  }
  if (text_ok(&signature) && text_ok(&target) && text_ok(&mesh))
    store_put_tunings(ctx->store, rows, count);
  text_free(&signature);
  text_free(&target);
  text_free(&mesh);
}

/* Whether enough is known to spare the next run the same trials. */
static bool is_well_known(const struct cpu_loop *cpu) {
  enum { ENOUGH = 3 };
  int known = 0;
  for (int i = 0; i < cpu->nvariants; i++) {
    int runs = 0;
    tuner_median(cpu->tuner, i, &runs);
    known += runs >= ENOUGH;
  }
  return 2 * known >= cpu->nvariants;
}

static void keep(struct op_context *ctx, const struct loop *loop, struct cpu_loop *cpu) {
  struct store_tuning *rows = array_new((size_t)cpu->nvariants, sizeof *rows);
  cpu->kept = true;
  if (rows)
    put_rows(ctx, loop, cpu, rows);
  free(rows);
}

void cpu_tune_close(struct op_context *ctx, const struct loop *loop, struct cpu_loop *cpu) {
  if (cpu && cpu->tuner && cpu->keeps && !cpu->kept && tuner_trials(cpu->tuner) > 0 && is_well_known(cpu))
    keep(ctx, loop, cpu);
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
           "the trials cost %.2g of %.3g s",
           loop->name, cpu->variants[winner].name, cpu->nvariants, tuner_trials(cpu->tuner),
           tuner_median(cpu->tuner, winner, NULL), cpu->variants[cpu->standard].name,
           tuner_median(cpu->tuner, cpu->standard, NULL), tuner_overhead(cpu->tuner),
           tuner_total(cpu->tuner));
  keep(ctx, loop, cpu);
}
