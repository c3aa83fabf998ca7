/* Chains on the device: all launches are given, then their results come back, and the host waits once. What comes a second
 * time becomes a graph, and is one call from then on. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "base/size.h"
#include "context/context.h"
#include "context/env.h"
#include "gpu.h"
#include "record/launch.h"

/* So many are known; results lie apart in pinned memory. */
enum { MOST_CHAINS = 32, ALIGN = 64 };

struct part {
  struct loop *loop;
  struct gpu_variant *v;
  unsigned char *values; /* of globals that travel with its launches */
  size_t bytes;
  size_t landing; /* where its results are */
  int first;      /* of its launches in the graph */
  bool back;      /* which have their blocks in this order */
};

struct gpu_chain {
  int n;
  struct part *parts;
  gpu_graph graph; /* NULL: it came once */
  unsigned char *landing;
  size_t landing_bytes; /* 0: there are no results */
  unsigned moved;       /* of the mesh, when the graph was made or changed */
};

/* ---- which there are ---- */

static struct gpu_variant *variant_of(const struct launch *launch) {
  return &((const struct gpu_loop *)launch->loop->ready.backend_state)->variants[launch->variant];
}

static void release_graph(struct gpu *c, struct gpu_chain *chain) {
  if (chain->graph)
    c->driver->graph_free(c->self, chain->graph);
  if (chain->landing)
    c->driver->host_free(c->self, chain->landing);
  chain->graph = NULL;
  chain->landing = NULL;
}

static void chain_free(struct gpu *c, struct gpu_chain *chain) {
  release_graph(c, chain);
  for (int i = 0; chain->parts && i < chain->n; i++)
    free(chain->parts[i].values);
  free(chain->parts);
  free(chain);
}

static bool has_variant(const struct gpu_chain *chain, const struct gpu_variant *v) {
  bool found = !v;
  for (int i = 0; i < chain->n; i++)
    found |= chain->parts[i].v == v;
  return found;
}

void gpu_chains_forget(struct gpu *c, const struct gpu_variant *v) {
  bool waited = c->failed;
  for (int i = c->chains ? c->chains->count - 1 : -1; i >= 0; i--) {
    struct gpu_chain *chain = c->chains->items[i];
    if (!has_variant(chain, v))
      continue;
    if (chain->graph && !waited) /* it may be under way */
      waited = c->driver->wait(c->self) == 0;
    list_remove(c->chains, chain);
    chain_free(c, chain);
  }
  if (!v && c->chains) {
    list_free(c->chains);
    free(c->chains);
    c->chains = NULL;
  }
}

static bool is_of(const struct gpu_chain *chain, struct launch *const *launches, int n) {
  bool same = chain->n == n;
  for (int i = 0; same && i < n; i++)
    same = chain->parts[i].loop == launches[i]->loop && chain->parts[i].v == variant_of(launches[i]);
  return same;
}

/* Does the parameter travel with a launch, and may it be another one each time? */
static bool travels(const struct gpu_parameter *p) {
  return (p->kind == GPU_P_GLOBAL || p->kind == GPU_P_START) && !p->column;
}

static size_t value_bytes(const struct launch *launch, const struct gpu_variant *v) {
  size_t bytes = 0;
  for (int i = 0; i < v->parameters.count; i++)
    if (travels(&v->parameters.items[i]))
      bytes += launch->loop->args[v->parameters.items[i].index].bytes;
  return bytes;
}

static bool fill(struct gpu_chain *chain, struct launch *const *launches) {
  for (int i = 0; i < chain->n; i++) {
    struct part *p = &chain->parts[i];
    *p = (struct part){
        .loop = launches[i]->loop, .v = variant_of(launches[i]), .landing = chain->landing_bytes};
    p->bytes = value_bytes(launches[i], p->v);
    p->values = array_new(p->bytes, 1);
    if (!p->values)
      return false;
    chain->landing_bytes += (gpu_result_bytes(launches[i], p->v) + ALIGN - 1) / ALIGN * ALIGN;
  }
  return true;
}

/* NULL: no memory. */
static struct gpu_chain *chain_new(struct gpu *c, struct launch *const *launches, int n) {
  if (!c->chains)
    c->chains = calloc(1, sizeof *c->chains);
  struct gpu_chain *chain = c->chains ? calloc(1, sizeof *chain) : NULL;
  if (!chain)
    return NULL;
  *chain = (struct gpu_chain){.n = n, .parts = array_new((size_t)n, sizeof *chain->parts)};
  if (chain->parts && fill(chain, launches) && list_add(c->chains, chain))
    return chain;
  chain_free(c, chain);
  return NULL;
}

static struct gpu_chain *find(const struct gpu *c, struct launch *const *launches, int n) {
  for (int i = 0; c->chains && i < c->chains->count; i++)
    if (is_of(c->chains->items[i], launches, n))
      return c->chains->items[i];
  return NULL;
}

/* The oldest ones go. */
static void make_room(struct gpu *c) {
  while (c->chains && c->chains->count >= MOST_CHAINS) {
    struct gpu_chain *chain = c->chains->items[0];
    c->driver->wait(c->self);
    list_remove(c->chains, chain);
    chain_free(c, chain);
  }
}

/* ---- running one ---- */

/* Each has one part, none is timed, and no two need the memory of one variant for their globals. */
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

/* Also while a graph is recorded. */
static int give(struct op_context *ctx, struct gpu_chain *chain, struct launch *const *launches,
                unsigned char *landing, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < chain->n; i++) {
    struct part *p = &chain->parts[i];
    const struct gpu_recording *r = &gpu_of(ctx, p->loop->space)->recording;
    p->first = r->next;
    if (launches[i]->loop->ready.parts[0].begin < launches[i]->loop->ready.parts[0].end)
      code = gpu_launch_part(ctx, launches[i], p->v, 0, landing + p->landing, err);
    p->back = r->back;
    if (!code)
      code = gpu_send_results(ctx, launches[i], p->v, landing + p->landing, err);
    code = launch_ended(launches[i], code, err);
  }
  return code;
}

static int take(struct op_context *ctx, const struct gpu_chain *chain, struct launch *const *launches,
                const unsigned char *landing, struct error *err) {
  if (!chain->landing_bytes)
    return OP_OK;
  struct gpu *c = gpu_of(ctx, launches[0]->loop->space);
  const int code = gpu_wait(c, err, "chain of %d loops from %s to %s, %s: running the kernels", chain->n,
                            launches[0]->loop->name, launches[chain->n - 1]->loop->name, c->device.label);
  for (int i = 0; !code && i < chain->n; i++)
    if (gpu_result_bytes(launches[i], chain->parts[i].v))
      gpu_take_results(ctx, launches[i], landing + chain->parts[i].landing);
  return code;
}

/* The values of globals that travel, one behind the other; whether they are others than before. */
static bool take_values(struct part *p, const struct launch *launch) {
  bool changed = false;
  size_t at = 0;
  for (int i = 0; i < p->v->parameters.count; i++) {
    const struct gpu_parameter *parameter = &p->v->parameters.items[i];
    if (!travels(parameter))
      continue;
    const size_t bytes = launch->loop->args[parameter->index].bytes;
    const void *now = gpu_global_values(launch, parameter->index);
    changed |= memcmp(p->values + at, now, bytes) != 0;
    memcpy(p->values + at, now, bytes);
    at += bytes;
  }
  return changed;
}

/* ---- graphs ---- */

static int record(struct op_context *ctx, struct gpu_chain *chain, struct launch *const *launches,
                  struct error *err) {
  struct gpu *c = gpu_of(ctx, launches[0]->loop->space);
  void *landing = NULL;
  gpu_graph graph = NULL;
  int code = chain->landing_bytes ? c->driver->host_alloc(c->self, &landing, chain->landing_bytes) : 0;
  chain->landing = landing;
  if (!code)
    code = c->driver->graph_new(c->self, &graph);
  chain->graph = graph;
  if (code)
    return gpu_failed(c, code, err, "making a graph of %d loops", chain->n);
  chain->moved = ctx->mesh->moved;
  c->recording = (struct gpu_recording){.graph = graph};
  code = give(ctx, chain, launches, chain->landing, err);
  c->recording = (struct gpu_recording){0};
  for (int i = 0; i < chain->n; i++)
    take_values(&chain->parts[i], launches[i]);
  return code ? code
              : gpu_failed(c, c->driver->graph_finish(c->self, graph), err, "making a graph of %d loops",
                           chain->n);
}

/* Without one it runs as before. */
static bool has_graph(struct op_context *ctx, struct gpu_chain *chain, struct launch *const *launches) {
  struct gpu *c = gpu_of(ctx, launches[0]->loop->space);
  struct error err = {0};
  if (chain->graph || c->no_graphs || !c->driver->graph_new || !gpu_graph_pays(c, chain->n))
    return chain->graph;
  if (record(ctx, chain, launches, &err)) {
    log_line(ctx->log, LOG_INFO, "chain", "%s does without graphs: %s", c->device.label, error_message(&err));
    c->no_graphs = true;
    c->failed = false; /* nothing ran */
    release_graph(c, chain);
  }
  error_free(&err);
  return chain->graph;
}

static int set_values(struct op_context *ctx, struct gpu_chain *chain, struct launch *const *launches,
                      struct error *err) {
  struct gpu *c = gpu_of(ctx, launches[0]->loop->space);
  const bool moved = chain->moved != ctx->mesh->moved; /* dats have other addresses */
  int code = OP_OK;
  chain->moved = ctx->mesh->moved;
  for (int i = 0; !code && i < chain->n; i++) {
    struct part *p = &chain->parts[i];
    if (c->driver->module_global)
      code = gpu_program_constants(ctx, launches[i]->loop, p->v->program, err);
    if (code || (!take_values(p, launches[i]) && !moved))
      continue;
    c->recording =
        (struct gpu_recording){.graph = chain->graph, .again = true, .next = p->first, .back = p->back};
    code = gpu_launch_part(ctx, launches[i], p->v, 0, chain->landing + p->landing, err);
    c->recording = (struct gpu_recording){0};
  }
  return code;
}

static int launch_graph(struct op_context *ctx, struct gpu_chain *chain, struct launch *const *launches,
                        struct error *err) {
  struct gpu *c = gpu_of(ctx, launches[0]->loop->space);
  int code = set_values(ctx, chain, launches, err);
  for (int i = 0; !code && i < chain->n; i++)
    gpu_mark_kept(chain->parts[i].loop);
  for (int i = 0; !code && i < chain->n; i++)
    gpu_given(c, chain->parts[i].loop->name, chain->parts[i].v->name);
  if (!code)
    code = gpu_failed(c, c->driver->graph_launch(c->self, chain->graph), err, "launching a graph of %d loops",
                      chain->n);
  c->failed |= code != OP_OK;
  ctx->counters->graphs += !code;
  ctx->counters->launches++;
  return code ? code : take(ctx, chain, launches, chain->landing, err);
}

int gpu_run_chain(struct op_context *ctx, struct launch *const *launches, int n, bool *ran,
                  struct error *err) {
  struct gpu *c = gpu_of(ctx, launches[0]->loop->space);
  *ran = false;
  if (c->failed || !fits(ctx, launches, n))
    return OP_OK;
  struct gpu_chain *chain = find(c, launches, n);
  const bool known = chain;
  if (!known) {
    make_room(c);
    chain = chain_new(c, launches, n);
  }
  if (!chain || (chain->landing_bytes && gpu_landing(c, chain->landing_bytes, err)))
    return err->code;
  *ran = true;
  if (known && has_graph(ctx, chain, launches))
    return launch_graph(ctx, chain, launches, err);
  const int code = give(ctx, chain, launches, c->landing, err);
  return code ? code : take(ctx, chain, launches, c->landing, err);
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
  const int code = c->driver->hold(c->self, on ? &c->given : NULL);
  c->failed |= code != 0;
  c->holds = on && !code;
  c->turns = 0; /* blocks of a chain that comes again run in the same order */
  ctx->counters->graphs += c->given.graphs;
  c->given.graphs = 0;
  return gpu_failed(c, code, err, "launching kernels between messages on %s", c->device.label);
}
