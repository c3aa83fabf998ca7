/* Chains on the device: all launches are given, then their results come back, and the host waits once. The driver holds
 * the launches of a chain back: the same kernels in the same order become a graph when they come again. */
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "gpu.h"
#include "record/launch.h"

enum { ALIGN = 64 }; /* bytes: results of loops lie apart in pinned memory */

static struct gpu_variant *variant_of(const struct launch *launch) {
  return &((const struct gpu_loop *)launch->loop->ready.backend_state)->variants[launch->variant];
}

/* Each loop has one part, none is timed, and no two need the memory of one variant for their globals. */
static bool fits(const struct op_context *ctx, struct launch *const *launches, int n) {
  for (int i = 0; i < n; i++) {
    const struct gpu_variant *v = variant_of(launches[i]);
    if (launches[i]->timed || launches[i]->loop->ready.nparts != 1 || launches[i]->loop->ready.nneeds)
      return false;
    for (int k = 0; k < v->parameters.count; k++)
      if (v->globals[k].bytes)
        return false;
  }
  return !*env_value(ctx->env, ENV_TIMING);
}

/* Bytes of a loop's results in the landing, with the gap behind them. */
static size_t landing_bytes(const struct launch *launch) {
  return (gpu_result_bytes(launch, variant_of(launch)) + ALIGN - 1) / ALIGN * ALIGN;
}

/* `ends`: how many kernels the device was asked to launch up to each loop's end; NULL: nobody asks. */
static int give(struct op_context *ctx, struct launch *const *launches, int n, unsigned char *landing,
                long long *ends, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < n; landing += landing_bytes(launches[i]), i++) {
    struct gpu_variant *v = variant_of(launches[i]);
    if (launches[i]->loop->ready.parts[0].begin < launches[i]->loop->ready.parts[0].end)
      code = gpu_launch_part(ctx, launches[i], v, 0, landing, err);
    if (!code)
      code = gpu_send_results(ctx, launches[i], v, landing, err);
    code = launch_ended(launches[i], code, err);
    if (ends)
      ends[i] = ctx->counters->launches;
  }
  return code;
}

static int take(struct op_context *ctx, struct launch *const *launches, int n, const unsigned char *landing,
                struct error *err) {
  struct gpu *c = gpu_of(ctx, launches[0]->loop->space);
  const int code = gpu_wait(c, err, "chain of %d loops from %s to %s, %s: running the kernels", n,
                            launches[0]->loop->name, launches[n - 1]->loop->name, c->device.label);
  for (int i = 0; !code && i < n; landing += landing_bytes(launches[i]), i++)
    if (gpu_result_bytes(launches[i], variant_of(launches[i])))
      gpu_take_results(ctx, launches[i], landing);
  return code;
}

/* From now on the driver holds launches back; with `on` false it gets those that it held. */
static int hold(struct gpu *c, bool on) {
  const int code = c->driver->hold(c->self, on ? &c->given : NULL);
  c->failed |= code != 0;
  c->holds = on && !code;
  c->turns = 0; /* blocks of a chain that comes again run in the same order */
  c->counters->graphs += c->given.graphs;
  c->given.graphs = 0;
  return code;
}

/* Names the loop of the first launch that failed, where the driver got launches one by one. */
static int held_failed(struct gpu *c, struct launch *const *launches, int n, int result, long long failed,
                       bool graph, const long long *ends, struct error *err) {
  int i = 0;
  while (i < n && ends[i] <= failed)
    i++;
  if (!result || i == n || graph)
    return gpu_failed(c, result, err, "launching a graph of %d loops", n);
  const int code = gpu_kernel_failed(c, result, launches[i]->loop->name, variant_of(launches[i])->name,
                                     "launching the kernel", err);
  return launch_ended(launches[i], code, err);
}

/* The chain as a graph, if the driver can make one. */
static int give_held(struct op_context *ctx, struct gpu *c, struct launch *const *launches, int n,
                     struct error *err) {
  const long long first = c->counters->launches;
  const struct gpu_given before = c->given;
  long long ends[n];
  int result = hold(c, true);
  if (result)
    return gpu_failed(c, result, err, "launching a graph of %d loops", n);
  const int code = give(ctx, launches, n, c->landing, ends, err);
  result = hold(c, false);
  const long long launches_given = c->given.launches - before.launches,
                  spared = launches_given - (c->given.calls - before.calls);
  c->counters->launches -= spared;
  if (c->given.refused && !c->no_graphs) {
    struct error why = {0};
    c->driver->check(c->self, c->given.refused, &why, "making a graph");
    log_line(ctx->log, LOG_INFO, "chain", "%s does without graphs: %s", c->device.label, error_message(&why));
    error_free(&why);
    c->no_graphs = true;
  }
  return code ? code : held_failed(c, launches, n, result, first + launches_given, spared > 0, ends, err);
}

int gpu_run_chain(struct op_context *ctx, struct launch *const *launches, int n, bool *ran,
                  struct error *err) {
  struct gpu *c = gpu_of(ctx, launches[0]->loop->space);
  size_t bytes = 0;
  *ran = false;
  if (c->failed || !fits(ctx, launches, n))
    return OP_OK;
  for (int i = 0; i < n; i++)
    bytes += landing_bytes(launches[i]);
  if (bytes && gpu_landing(c, bytes, err))
    return err->code;
  *ran = true;
  const bool holds = c->driver->hold && !c->holds && !c->no_graphs && gpu_graph_pays(c, n);
  const int code =
      holds ? give_held(ctx, c, launches, n, err) : give(ctx, launches, n, c->landing, NULL, err);
  return code || !bytes ? code : take(ctx, launches, n, c->landing, err);
}

/* ---- between the messages of ranks ---- */

int gpu_give(struct op_context *ctx, enum space space, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  const int code = c->holds ? c->driver->give(c->self) : 0;
  c->failed |= code != 0;
  return gpu_failed(c, code, err, "launching kernels between messages on %s", c->device.label);
}

int gpu_hold(struct op_context *ctx, enum space space, bool on, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  if (!c->driver->hold || (on && c->failed))
    return OP_OK;
  return gpu_failed(c, hold(c, on), err, "launching kernels between messages on %s", c->device.label);
}
