#include "services/context.h"

#include <stdlib.h>
#include <string.h>

#include "backend/variant.h"
#include "base/text.h"
#include "check/shadow.h"
#include "files/io.h"
#include "jit/jit.h"
#include "jit/key/signature.h"
#include "jit/plugin.h"
#include "kernels-cache/store.h"
#include "loop/loop_names.h"
#include "plan/plan_cache.h"
#include "ranks/agree.h"
#include "report/reports.h"
#include "report/tuning_report.h"
#include "services/kind.h"
#include "spread/exchange.h"
#include "spread/spread.h"
#include "tune/tune_mode.h"

static void warn_each_line(const struct log *log, const struct text *lines) {
  for (const char *p = text_str(lines); *p;) {
    size_t length = strcspn(p, "\n");
    log_line(log, LOG_WARN, "env", "%.*s", (int)length, p);
    p += length + (p[length] == '\n');
  }
}

static int open_env(struct op_context *ctx, const struct context_start *start, struct text *warnings,
                    struct error *err) {
  int code = env_read(&ctx->env, start->argc, start->argv, warnings, err);
  ctx->log.rank = -1;
  if (!code && !log_configure(&ctx->log, env_value(&ctx->env, ENV_LOG)))
    code = error_set(err, OP_ERR_ENV,
                     "OP2_LOG=%s: expected words separated by ',': error, warn, info, debug, or the "
                     "categories jit, cache, tune, plan, loop, mpi, cuda, io, check, perf, env, team",
                     env_value(&ctx->env, ENV_LOG));
  return code;
}

static int open_comm(const struct env *env, struct context_start *start, struct error *err) {
  const struct comm_options options = {.wanted = env_value(env, ENV_MPI),
                                       .launcher = env->launcher,
                                       .launched = env->launched,
                                       .plugins = env_value(env, ENV_PLUGINS),
                                       .hang = (double)env_number(env, ENV_HANG, 0),
                                       .given = start->given};
  return start->comm ? OP_OK : comm_open(&start->comm, &options, err);
}

/* A device has a state of its own, which its backend opens; backends for the host share what the context has. */
static bool shadow_is_apart(const struct op_context *ctx) {
  return ctx->shadow && ctx->shadow != ctx->backend && ctx->shadow->space == SPACE_DEVICE;
}

/* Those that were opened. */
static void close_backends(struct op_context *ctx) {
  if (shadow_is_apart(ctx))
    ctx->shadow->close(ctx);
  if (ctx->backend)
    ctx->backend->close(ctx);
}

static int open_agreement(struct op_context *ctx, struct comm *comm, struct error *err) {
  ctx->comm = comm;
  comm->where = "op_init";
  ctx->agreement = comm;
  if (comm_alone(comm))
    return OP_OK;
  int code = comm->table->split(comm, 0, &ctx->agreement, err);
  if (code)
    return code;
  comm->agreement = ctx->agreement;
  return kind_open_host(&ctx->kind, comm, env_value(&ctx->env, ENV_PLUGINS), err);
}

/* What every rank can do by itself once the comm is there. */
static int open_parts(struct op_context *ctx, const struct text *warnings, struct error *err) {
  if (!comm_alone(ctx->comm))
    ctx->log.rank = ctx->comm->rank;
  ctx->log.echoes = ctx->comm->rank > 0;
  if (ctx->comm->rank == 0)
    warn_each_line(&ctx->log, warnings);
  struct tune_mode ignored;
  int code = context_check_timing(ctx, err);
  if (!code)
    code = tune_mode_parse(env_value(&ctx->env, ENV_TUNE), &ignored, err);
  if (!code)
    code = variant_list_check(env_value(&ctx->env, ENV_VARIANT), err);
  if (!code)
    code = shadow_parse(env_value(&ctx->env, ENV_SHADOW), &ctx->shadow, &ctx->shadow_every, err);
  /* Backends may be opened together. */
  if (!code)
    code = agree_on_call(ctx, code, err, "op_init\nOP2_BACKEND\t%s\nOP2_SHADOW\t%s\n",
                         env_value(&ctx->env, ENV_BACKEND), env_value(&ctx->env, ENV_SHADOW));
  if (!code)
    code = backend_choose(ctx, err);
  if (!code && ctx->shadow == ctx->backend && ctx->comm->rank == 0)
    log_line(&ctx->log, LOG_WARN, "check",
             "OP2_SHADOW=%s: loops run on %s anyway, so each is compared with itself; name another backend",
             ctx->shadow->name, ctx->backend->name);
  if (!code && shadow_is_apart(ctx) && (code = ctx->shadow->open(ctx, err)))
    error_prefix(err, "OP2_SHADOW=%s: ", ctx->shadow->name);
  return code;
}

/* What a rank found wrong before it had a comm is told over it, because the others wait there: `code`. */
static int open_together(struct op_context *ctx, struct context_start *start, const struct text *warnings,
                         int code, struct error *err) {
  struct error late = {0};
  int opened = open_comm(&ctx->env, start, code ? &late : err);
  if (!opened)
    opened = open_agreement(ctx, start->comm, code ? &late : err);
  error_free(&late);
  if (opened)
    return code ? code : opened;
  return agree_on_environment(ctx, code ? code : open_parts(ctx, warnings, err), err);
}

/* What backends share, whether or not it was opened. */
static void release(struct op_context *ctx) {
  if (ctx->agreement != ctx->comm) {
    ctx->comm->agreement = NULL;
    comm_close(ctx->agreement);
  }
  plan_cache_free(ctx->plans);
  jit_close(ctx->jit);
  kind_close(ctx->kind);
  kind_close(ctx->gpus);
  store_close(ctx->store);
  team_close(ctx->team);
  free(ctx->trace.events);
  for (int i = 0; i < ctx->trace.nnames; i++)
    free(ctx->trace.names[i]);
  free(ctx->trace.names);
  text_free(&ctx->loop_names);
  text_free(&ctx->dat_names);
  loop_pasts_free(&ctx->pasts);
  text_free(&ctx->missing.list);
  io_free(ctx->io);
  env_free(&ctx->env);
  free(ctx);
}

int context_open(struct op_context **out, struct handles *handles, struct context_start *start,
                 struct error *err) {
  struct op_context *ctx = calloc(1, sizeof *ctx);
  if (!ctx)
    return error_memory(err, "the context", sizeof *ctx);
  ctx->handles = handles;
  ctx->diags = start->diags;
  struct text warnings = {0};
  int code = open_env(ctx, start, &warnings, err);
  code = open_together(ctx, start, &warnings, code, err);
  text_free(&warnings);
  if (code) {
    close_backends(ctx);
    release(ctx);
    return code;
  }
  *out = ctx;
  return OP_OK;
}

/* ---- parts that are opened when they are first wanted ---- */

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
  const char *wanted = env_value(&ctx->env, ENV_CACHE);
  if (*wanted)
    text_add(&path, wanted);
  else if (ctx->env.cache_home)
    text_addf(&path, "%s/op2jit/kernels.db", ctx->env.cache_home);
  const struct store_options options = {.path = text_str(&path),
                                        .layers = env_value(&ctx->env, ENV_CACHE_RO),
                                        .log = &ctx->log,
                                        .own = !*wanted,
                                        .home = !*wanted && ctx->env.cache_in_home ? ctx->env.home : NULL,
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
  const int code = plugin_find(&plugin, env_value(&ctx->env, ENV_PLUGINS), err);
  plugin_free(&plugin);
  return code;
}

/* By name only: the map is a file that stays in /tmp, which who reads OP2_LOG=debug did not ask for. */
static bool wants_perf_map(const struct op_context *ctx) {
  struct log named = ctx->log;
  named.level = LOG_WARN;
  return log_wants(&named, LOG_DEBUG, "perf");
}

int context_jit(struct op_context *ctx, struct jit **out, struct error *err) {
  int code = OP_OK;
  if (!ctx->jit) {
    if (!ctx->store)
      code = open_store(ctx, err);
    const struct jit_options options = {.mode = jit_mode(&ctx->env),
                                        .store = ctx->store,
                                        .plugins = env_value(&ctx->env, ENV_PLUGINS),
                                        .dump = env_value(&ctx->env, ENV_DUMP),
                                        .share = ctx->kind ? &ctx->kind->jit : NULL,
                                        .log = &ctx->log,
                                        .perf_map = wants_perf_map(ctx)};
    if (!code)
      code = jit_open(&ctx->jit, &options, err);
  }
  *out = ctx->jit;
  return code;
}

/* What the user says; else the CPUs, shared among the ranks that are allowed on the same ones, or in the same control group. 0: the team knows. */
static int threads_to_open(const struct op_context *ctx) {
  const long said = env_number(&ctx->env, ENV_THREADS, threads_of(ctx->env.omp_threads));
  return said ? (int)said : ctx->comm->share;
}

/* Places are OpenMP's business: who asks for them gets its runtime, where there is one. */
static int open_team(struct op_context *ctx, struct error *err) {
  const int threads = threads_to_open(ctx);
  int code = team_open(&ctx->team, ctx->env.omp_bound ? TEAM_OPENMP : TEAM_DEFAULT, threads, err);
  if (code != OP_ERR_NOT_BUILT)
    return code;
  log_line(&ctx->log, LOG_WARN, "team", "OMP_PLACES and OMP_PROC_BIND have no effect: %s",
           error_message(err));
  error_clear(err);
  return team_open(&ctx->team, TEAM_DEFAULT, threads, err);
}

int context_team(struct op_context *ctx, struct team **out, struct error *err) {
  int code = ctx->team ? OP_OK : open_team(ctx, err);
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
  if (ctx->diags < (built ? DESCRIBE_PLANS : NAME_OLD_PLANS))
    return OP_OK;
  plan_entry_describe(entry, &words);
  log_line(&ctx->log, LOG_WARN, "plan", "loop %s: %s%s", loop, text_str(&words),
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
  ctx->counters.plans += *built;
  ctx->counters.plan_hits += !*built;
  code = watch_plan(ctx, loop, *out, *built, err);
  if (code) {
    plan_cache_release(plans, *out);
    *out = NULL;
  }
  return code;
}

void context_close(struct op_context *ctx) {
  if (ctx->comm->rank == 0)
    loop_names_warn(ctx);
  loop_forget(ctx, NULL);
  tuning_report_end(ctx);
  exchanges_forget(ctx, NULL);
  mesh_free(ctx);
  close_backends(ctx);
  native_free(&ctx->natives);
  for (int i = 0; i < ctx->kernel_files.count; i++)
    free(ctx->kernel_files.items[i]);
  list_free(&ctx->kernel_files);
  handles_release_all(ctx->handles);
  release(ctx);
}

int ctx_flush(struct op_context *ctx, struct error *err) {
  ctx->counters.flushes++;
  const int code = spread_check(ctx, err);
  return code ? code : missing_tell(&ctx->missing, err);
}
