#include "api/life.h"

#include "api/fortran/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/op2/text.h"
#include "backend/backend.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/types.h"
#include "capture/capture.h"
#include "check/check.h"
#include "check/shadow.h"
#include "checkpoint/tell.h"
#include "context/env.h"
#include "context/forced.h"
#include "context/trace.h"
#include "exec/hardware.h"
#include "exec/team.h"
#include "files/io.h"
#include "jit/jit.h"
#include "jit/kernel/unit.h"
#include "kernels-cache/store.h"
#include "loop/balance.h"
#include "loop/chain/in_graph.h"
#include "loop/chain/layers.h"
#include "loop/chain/layout.h"
#include "loop/chain/queue.h"
#include "loop/chain/worth.h"
#include "loop/loop.h"
#include "loop/tune_memory.h"
#include "mesh/data.h"
#include "mesh/handles.h"
#include "mesh/mesh.h"
#include "op2jit.h"
#include "plan/plan_cache.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "ranks/kind.h"
#include "record/findings.h"
#include "record/kept.h"
#include "record/launch.h"
#include "record/sites.h"
#include "report/forms.h"
#include "report/report.h"
#include "services/services.h"
#include "solve/solve.h"
#include "spread/coo.h"
#include "spread/exchange.h"
#include "spread/parts/speeds.h"
#include "spread/spread.h"
#include "tape/tape.h"
#include "tasks/graph.h"

/* The parts that every context has from the beginning, in one piece. */
struct whole {
  struct op_context context; /* first: the others are found from it */
  struct env env;
  struct log log;
  struct progress progress;
  struct hardware hardware;
  struct mesh mesh;
  struct loop_table loops;
  struct list sites;
  struct native_table natives;
  struct list kernel_files, texts, procedures, arrays;
  struct shared shared;
  struct trace trace;
  struct text dat_names, told;
  struct findings findings;
  struct queue queue;
  struct list periods, fused, graphs, past_graphs, graph_loops;
  struct list chains;
  struct layouts layouts;
  struct balance balance;
  op_counters_t counters;
};

static struct op_context *new_context(struct error *err) {
  struct whole *w = calloc(1, sizeof *w);
  if (!w) {
    error_memory(err, "the context", sizeof *w);
    return NULL;
  }
  w->log.progress = &w->progress;
  w->context = (struct op_context){.env = &w->env,
                                   .log = &w->log,
                                   .mesh = &w->mesh,
                                   .loops = &w->loops,
                                   .sites = &w->sites,
                                   .periods = &w->periods,
                                   .layouts = &w->layouts,
                                   .fused = &w->fused,
                                   .graphs = &w->graphs,
                                   .past_graphs = &w->past_graphs,
                                   .graph_loops = &w->graph_loops,
                                   .chains = &w->chains,
                                   .natives = &w->natives,
                                   .kernel_files = &w->kernel_files,
                                   .shared = &w->shared,
                                   .texts = &w->texts,
                                   .procedures = &w->procedures,
                                   .arrays = &w->arrays,
                                   .trace = &w->trace,
                                   .dat_names = &w->dat_names,
                                   .told = &w->told,
                                   .findings = &w->findings,
                                   .forms = check_forms,
                                   .counters = &w->counters};
  return &w->context;
}

static bool waits_by_itself(const struct op_context *ctx) {
  return strcmp(env_value(ctx->env, ENV_LAZY), "auto") == 0;
}

/* Loops wait for one another, if they are to. */
static void open_queue(struct op_context *ctx) {
  struct queue *queue = &((struct whole *)ctx)->queue;
  if (strcmp(env_value(ctx->env, ENV_LAZY), "off") != 0 && !waits_by_itself(ctx))
    ctx->queue = queue;
  if (strcmp(env_value(ctx->env, ENV_LAZY), "check") == 0)
    queue->check = lazy_check;
}

/* Watch loops only where some can wait by themselves. */
static void open_watch(struct op_context *ctx) {
  struct queue *queue = &((struct whole *)ctx)->queue;
  const struct backend *b = ctx->backend;
  const bool alone = comm_alone(ctx->comm);
  if (!waits_by_itself(ctx) || !(b->may_wait || worth_is_forced(ctx)) || !(b->work || (b->expect && alone)) ||
      (ctx->compiled && (!ctx->untouched || !alone)) || ctx->shadow || ctx->peers ||
      strcmp(env_value(ctx->env, ENV_CHECK), "off") != 0)
    return;
  watch_open(&queue->watch, ctx);
  watch_hold(&queue->watch, HOLD_TOOL, ctx->trace->ntools > 0);
  ctx->queue = queue;
}

void ctx_let_wait(struct op_context *ctx) {
  ctx->untouched = true;
  if (!ctx->queue)
    open_watch(ctx);
}

static void warn_each_line(const struct log *log, const struct text *lines) {
  for (const char *p = text_str(lines); *p;) {
    size_t length = strcspn(p, "\n");
    log_line(log, LOG_WARN, "env", "%.*s", (int)length, p);
    p += length + (p[length] == '\n');
  }
}

static int open_env(struct op_context *ctx, const struct context_start *start, struct text *warnings,
                    struct error *err) {
  int code = env_read(ctx->env, start->argc, start->argv, warnings, err);
  ctx->log->rank = -1;
  if (!code && !log_configure(ctx->log, env_value(ctx->env, ENV_LOG)))
    code = error_set(
        err, OP_ERR_ENV,
        "OP2_LOG=%s: expected words separated by ',': error, warn, info, debug, or the "
        "categories jit, cache, tune, plan, loop, mpi, cuda, io, chain, check, perf, env, team, advice",
        env_value(ctx->env, ENV_LOG));
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
  return ctx->shadow && ctx->shadow != ctx->backend && ctx->shadow->on_device;
}

/* Close the backends that were opened. */
static void close_backends(struct op_context *ctx) {
  if (shadow_is_apart(ctx))
    ctx->shadow->close(ctx);
  if (ctx->backend && ctx->backend->close)
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
  const char *backends = env_value(ctx->env, ENV_BACKEND);
  double several[] = {strchr(backends, ',') != NULL, strchr(backends, ',') == NULL};
  code = agree_on_largest(ctx->agreement, OP_OK, several, 2, err);
  if (!code && several[0] > several[1]) /* ranks that differ in it, or failed, are told so later */
    code = peers_open(ctx, backends, err);
  return code ? code
              : kind_open_host(&ctx->kind, ctx->peers ? ctx->peers : comm, env_value(ctx->env, ENV_PLUGINS),
                               err);
}

/* One rank speaks for all, which do the same. */
static void open_progress(struct op_context *ctx) {
  const char *wanted = env_value(ctx->env, ENV_PROGRESS);
  const bool terminal = isatty(STDERR_FILENO) && !ctx->env->dumb_terminal;
  if (ctx->comm->rank == 0 && strcmp(wanted, "off") != 0)
    ctx->log->progress->form = terminal                    ? PROGRESS_TERMINAL
                               : strcmp(wanted, "on") == 0 ? PROGRESS_LINES
                                                           : PROGRESS_NONE;
}

/* Before there are threads, which are counted too. Where nothing is counted the program runs all the same. */
static int open_hardware(struct op_context *ctx, struct error *err) {
  struct hardware *hardware = &((struct whole *)ctx)->hardware;
  struct text refused = {0};
  const int code = hardware_open(hardware, env_value(ctx->env, ENV_COUNTERS), &refused, err);
  if (ctx->comm->rank == 0)
    warn_each_line(ctx->log, &refused);
  if (hardware->count)
    ctx->hardware = hardware;
  text_free(&refused);
  return code;
}

/* Refuse what takes all ranks for alike where they have different backends. */
static int check_mixed(const struct op_context *ctx, struct error *err) {
  static const enum env_name names[] = {ENV_LAYERS,  ENV_TILES,      ENV_TASKS,   ENV_CHECK,
                                        ENV_SHADOW,  ENV_CHECKPOINT, ENV_CAPTURE, ENV_REPRODUCIBLE,
                                        ENV_ADJOINT, ENV_VARIANT};
  const char *list = env_value(ctx->env, ENV_BACKEND);
  int code = backend_check_mixed(list, err);
  for (size_t i = 0; !code && ctx->peers && i < sizeof names / sizeof *names; i++)
    if (strcmp(env_value(ctx->env, names[i]), env_row(names[i])->unset) != 0)
      code =
          error_set(err, OP_ERR_BACKEND,
                    "%s=%s is not there for ranks of different backends (OP2_BACKEND=%s); unset it, or name "
                    "one backend",
                    env_row(names[i])->name, env_value(ctx->env, names[i]), list);
  const char *lazy = env_value(ctx->env, ENV_LAZY);
  if (!code && ctx->peers && strcmp(lazy, "off") != 0 && !waits_by_itself(ctx))
    code =
        error_set(err, OP_ERR_BACKEND,
                  "OP2_LAZY=%s is not there for ranks of different backends (OP2_BACKEND=%s); unset it, or "
                  "name one backend",
                  lazy, list);
  return code;
}

/* Ranks of one backend open it together; then all ranks go on, or none. */
static int open_backend(struct op_context *ctx, struct error *err) {
  struct text word = {0};
  node_word(env_value(ctx->env, ENV_BACKEND), ctx->comm->node_rank, &word);
  const struct peers_all all = peers_enter(ctx);
  int code = text_ok(&word) ? backend_choose(ctx, text_str(&word), err)
                            : error_memory(err, "the name of a backend", word.length);
  code = peers_leave(ctx, &all, code, err);
  text_free(&word);
  ctx->layouts->off |= ctx->peers != NULL;
  return ctx->peers ? agree_on_success(ctx->agreement, code, err) : code;
}

/* The part that every rank can do by itself once the comm is there. */
static int open_parts(struct op_context *ctx, const struct text *warnings, struct error *err) {
  if (!comm_alone(ctx->comm))
    ctx->log->rank = ctx->comm->rank;
  ctx->log->echoes = ctx->comm->rank > 0;
  if (ctx->comm->rank == 0)
    warn_each_line(ctx->log, warnings);
  open_progress(ctx);
  struct tune_mode ignored;
  ctx->shared->folders = env_value(ctx->env, ENV_INCLUDE);
  open_queue(ctx);
  int code = context_read_reproducible(ctx, err);
  if (!code)
    code = context_check_timing(ctx, err);
  if (!code)
    code = tune_mode_parse(env_value(ctx->env, ENV_TUNE), &ignored, err);
  if (!code)
    code = open_hardware(ctx, err);
  if (!code)
    code = forced_check(env_value(ctx->env, ENV_VARIANT), err);
  if (!code)
    code = shadow_parse(env_value(ctx->env, ENV_SHADOW), &ctx->shadow, &ctx->shadow_every, err);
  if (!code)
    code = pin_rank(ctx, err);
  if (!code)
    code = speeds_check(ctx, err);
  if (!code)
    code = check_mixed(ctx, err);
  /* Backends may be opened together. */
  if (!code)
    code = agree_on_call(ctx, code, err, "op_init\nOP2_BACKEND\t%s\nOP2_SHADOW\t%s\n",
                         env_value(ctx->env, ENV_BACKEND), env_value(ctx->env, ENV_SHADOW));
  if (!code)
    code = open_backend(ctx, err);
  if (!code)
    code = capture_open(ctx, err);
  if (!code && ctx->shadow == ctx->backend && ctx->comm->rank == 0)
    log_line(ctx->log, LOG_WARN, "check",
             "OP2_SHADOW=%s: loops run on %s anyway, so each is compared with itself; name another backend",
             ctx->shadow->name, ctx->backend->name);
  if (!code && shadow_is_apart(ctx) && (code = ctx->shadow->open(ctx, err)))
    error_prefix(err, "OP2_SHADOW=%s: ", ctx->shadow->name);
  return code;
}

/* Compare variables that must not differ between ranks. */
static int agree_on_environment(struct op_context *ctx, int code, struct error *err) {
  static const enum env_name names[] = {
      ENV_FP,     ENV_JIT,     ENV_TUNE,       ENV_VARIANT, ENV_CHECK,       ENV_SHADOW,
      ENV_TIMING, ENV_WEIGHTS, ENV_SPEEDS,     ENV_BALANCE, ENV_LAZY,        ENV_TILES,
      ENV_TASKS,  ENV_LAYERS,  ENV_CHECKPOINT, ENV_CAPTURE, ENV_REPRODUCIBLE};
  struct text facts = {0};
  if (comm_alone(ctx->comm))
    return code;
  text_addf(&facts, "call\top_init\ndiagnostic level\t%d\n", ctx->diags);
  if (ctx->backend)
    text_addf(&facts, "OP2_BACKEND\t%s\n",
              ctx->peers ? env_value(ctx->env, ENV_BACKEND) : ctx->backend->name);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    text_addf(&facts, "%s\t%s\n", env_row(names[i])->name, env_value(ctx->env, names[i]));
  code = agree_named(ctx, &(struct agreement){.code = code, .facts = &facts}, err);
  text_free(&facts);
  return code;
}

/* `code`: an error of this rank before it had a comm. It is told over the comm, because the others wait there. */
static int open_together(struct op_context *ctx, struct context_start *start, const struct text *warnings,
                         int code, struct error *err) {
  struct error late = {0};
  int opened = open_comm(ctx->env, start, code ? &late : err);
  if (!opened)
    opened = open_agreement(ctx, start->comm, code ? &late : err);
  error_free(&late);
  if (opened)
    return code ? code : opened;
  return agree_on_environment(ctx, code ? code : open_parts(ctx, warnings, err), err);
}

/* Release the parts that backends share, whether or not they were opened. */
static void release(struct op_context *ctx) {
  if (ctx->agreement != ctx->comm) {
    ctx->comm->agreement = NULL;
    comm_close(ctx->agreement);
  }
  plan_cache_free(ctx->plans);
  jit_close(ctx->jit);
  kind_close(ctx->kind);
  kind_close(ctx->gpus);
  peers_close(ctx);
  store_close(ctx->store);
  team_close(ctx->team);
  trace_free(ctx->trace);
  capture_release(ctx);
  if (ctx->hardware)
    hardware_close(ctx->hardware);
  text_free(ctx->dat_names);
  text_free(ctx->told);
  findings_free(ctx->findings);
  sites_free(ctx);
  io_free(ctx->io);
  solving_free(ctx->solving);
  env_free(ctx->env);
  free(ctx);
}

int context_open(struct op_context **out, struct handles *handles, struct context_start *start,
                 struct error *err) {
  struct op_context *ctx = new_context(err);
  if (!ctx)
    return err->code;
  ctx->handles = handles;
  ctx->trace->began = clock_seconds();
  ctx->diags = start->diags;
  ctx->compiled = start->compiled;
  struct text warnings = {0};
  int code = open_env(ctx, start, &warnings, err);
  if (!code)
    code = solving_open(ctx, start->argc, start->argv, err);
  code = open_together(ctx, start, &warnings, code, err);
  if (!code)
    code = tools_open(ctx, err);
  text_free(&warnings);
  if (!code)
    open_watch(ctx);
  if (!code)
    balance_open(ctx, &((struct whole *)ctx)->balance);
  if (!code)
    layers_warn(ctx);
  if (!code)
    code = checkpoint_open(ctx, err);
  if (code) {
    close_backends(ctx);
    release(ctx);
    return code;
  }
  *out = ctx;
  return OP_OK;
}

void context_close(struct op_context *ctx) {
  if (ctx->comm->rank == 0)
    loop_names_warn(ctx);
  checkpoint_close(ctx);
  capture_close(ctx);
  handles_let_go_all(ctx->handles);
  late_drop(ctx);
  tapes_free(ctx);
  loop_forget(ctx, NULL);
  layers_free(ctx);
  exchanges_forget(ctx, NULL);
  graph_loops_free(ctx, NULL);
  struct list *graphs[] = {ctx->graphs, ctx->past_graphs};
  for (int l = 0; l < 2; l++) {
    for (int i = 0; i < graphs[l]->count; i++)
      tasks_free(graphs[l]->items[i]);
    list_free(graphs[l]);
  }
  comm_close(ctx->graph_comm);
  subsets_free(ctx);
  matrices_free(ctx);
  mesh_free(ctx);
  close_backends(ctx);
  native_free(ctx->natives);
  for (int i = 0; i < ctx->kernel_files->count; i++)
    free(ctx->kernel_files->items[i]);
  list_free(ctx->kernel_files);
  shared_free(ctx->shared);
  text_forget(ctx);
  procedures_free(ctx);
  known_free(ctx);
  kept_free(ctx);
  types_forget();
  profile_free(ctx->profile);
  handles_release_all(ctx->handles);
  release(ctx);
}

int ctx_flush(struct op_context *ctx, struct error *err) {
  ctx->counters->flushes++;
  if (ctx->queue)
    watch_mark(&ctx->queue->watch);
  const int code = queue_flush(ctx, err);
  return code ? code : spread_check(ctx, err);
}
