#include "services/services.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "context/env.h"
#include "exec/team.h"
#include "jit/jit.h"
#include "jit/key/signature.h"
#include "jit/plugin.h"
#include "kernels-cache/store.h"
#include "op2jit.h"
#include "plan/plan_cache.h"
#include "ranks/comm.h"
#include "ranks/kind.h"

/* OMP_NUM_THREADS may be a list, one number per nesting level: the first counts. 0: not a number. */
static long threads_of(const char *omp_threads) {
  long n = omp_threads ? strtol(omp_threads, NULL, 10) : 0;
  return n > 0 && n <= 1024 ? n : 0;
}

const struct kind *context_leaders(const struct op_context *ctx) {
  return ctx->gpus ? ctx->gpus : ctx->kind;
}

static int open_store(struct op_context *ctx, struct error *err) {
  struct text path = {0};
  const struct kind *kind = context_leaders(ctx);
  if (kind && !kind->jit.leads)
    return OP_OK;
  const char *wanted = env_value(ctx->env, ENV_CACHE);
  if (*wanted)
    text_add(&path, wanted);
  else if (ctx->env->cache_home)
    text_addf(&path, "%s/op2jit/kernels.db", ctx->env->cache_home);
  const struct store_options options = {.path = text_str(&path),
                                        .layers = env_value(ctx->env, ENV_CACHE_RO),
                                        .log = ctx->log,
                                        .own = !*wanted,
                                        .home = !*wanted && ctx->env->cache_in_home ? ctx->env->home : NULL,
                                        .sentence = signature_difference,
                                        .kind = signature_kind};
  int code = text_ok(&path) ? store_open(&ctx->store, &options, err)
                            : error_memory(err, "the path of the kernel cache", path.length);
  text_free(&path);
  return code;
}

static enum jit_mode jit_mode(const struct env *env) {
  const char *value = env_value(env, ENV_JIT);
  return strcmp(value, "off") == 0 ? JIT_OFF : strcmp(value, "load") == 0 ? JIT_LOAD : JIT_ON;
}

int context_compiler(struct op_context *ctx, struct error *err) {
  struct plugin plugin = {0};
  if (ctx->kind && ctx->kind->jit.compiler)
    return OP_OK;
  const int code = plugin_find(&plugin, env_value(ctx->env, ENV_PLUGINS), err);
  plugin_free(&plugin);
  return code;
}

/* By name only: the map is a file that stays in /tmp, which who reads OP2_LOG=debug did not ask for. */
static bool wants_perf_map(const struct op_context *ctx) {
  struct log named = *ctx->log;
  named.level = LOG_WARN;
  return log_wants(&named, LOG_DEBUG, "perf");
}

int context_jit_of(struct op_context *ctx, const struct target *target, void *device, const struct kind *kind,
                   struct jit **out, struct error *err) {
  const struct jit_options options = {.mode = jit_mode(ctx->env),
                                      .store = ctx->store,
                                      .plugins = env_value(ctx->env, ENV_PLUGINS),
                                      .dump = env_value(ctx->env, ENV_DUMP),
                                      .share = kind ? &kind->jit : NULL,
                                      .log = ctx->log,
                                      .perf_map = wants_perf_map(ctx),
                                      .target = target,
                                      .behind = target ? NULL : &ctx->behind,
                                      .device = device};
  return jit_open(out, &options, err);
}

int context_jit(struct op_context *ctx, struct jit **out, struct error *err) {
  int code = OP_OK;
  if (!ctx->jit && !ctx->store)
    code = open_store(ctx, err);
  if (!code && !ctx->jit)
    code = context_jit_of(ctx, NULL, NULL, ctx->kind, &ctx->jit, err);
  *out = ctx->jit;
  return code;
}

/* The number that the user says; else the CPUs, shared among the ranks that are allowed on the same ones, or in the
 * same control group. 0: the team knows. */
static int threads_to_open(const struct op_context *ctx) {
  const long said = env_number(ctx->env, ENV_THREADS, threads_of(ctx->env->omp_threads));
  return said ? (int)said : ctx->comm->share;
}

/* Places are OpenMP's business: who asks for them gets its runtime, where there is one. */
static int open_team(struct op_context *ctx, struct error *err) {
  const int threads = threads_to_open(ctx);
  int code = team_open(&ctx->team, ctx->env->omp_bound ? TEAM_OPENMP : TEAM_DEFAULT, threads, err);
  if (code != OP_ERR_NOT_BUILT)
    return code;
  log_line(ctx->log, LOG_WARN, "team", "OMP_PLACES and OMP_PROC_BIND have no effect: %s", error_message(err));
  error_clear(err);
  return team_open(&ctx->team, TEAM_DEFAULT, threads, err);
}

int context_team(struct op_context *ctx, struct team **out, struct error *err) {
  int code = ctx->team ? OP_OK : open_team(ctx, err);
  if (!code)
    team_discount(ctx->team, &ctx->behind);
  *out = ctx->team;
  return code;
}

int context_plans(struct op_context *ctx, struct plan_cache **out, struct error *err) {
  int code = ctx->plans ? OP_OK : plan_cache_new(&ctx->plans, err);
  *out = ctx->plans;
  return code;
}

/* OP2's levels: who asks for them wants to read it, so that it does not depend on OP2_LOG's own. */
enum { DESCRIBE_PLANS = 2, NAME_OLD_PLANS = 4 };

static int watch_plan(struct op_context *ctx, const char *loop, const struct plan_entry *entry, bool built,
                      struct error *err) {
  struct text words = {0};
  const struct log asked = log_asked(ctx->log);
  if (ctx->diags < (built ? DESCRIBE_PLANS : NAME_OLD_PLANS))
    return OP_OK;
  plan_entry_describe(entry, &words);
  log_line(&asked, LOG_INFO, "plan", "loop %s: %s%s", loop, text_str(&words),
           built ? "" : "; it was there already");
  text_free(&words);
  return built ? plan_entry_verify(entry, 2, err) : OP_OK;
}

int context_plan(struct op_context *ctx, const char *loop, const struct plan_wish *wish,
                 const struct plan_entry **out, bool *built, struct error *err) {
  struct plan_cache *plans = NULL;
  int code = context_plans(ctx, &plans, err);
  if (!code)
    code = plan_cache_get(plans, wish, ctx->team, out, built, err);
  if (code)
    return code;
  ctx->counters->plans += *built;
  ctx->counters->plan_hits += !*built;
  code = watch_plan(ctx, loop, *out, *built, err);
  if (code) {
    plan_cache_release(plans, *out);
    *out = NULL;
  }
  return code;
}
