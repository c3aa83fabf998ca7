/* Graphs of tasks. What tasks themselves may call does not enter the library, which is busy with their run. */
#include "api/api.h"
#include "backend/backend.h"
#include "base/list.h"
#include "context/forced.h"
#include "exec/team.h"
#include "include/op2jit_tasks.h"
#include "loop/chain/in_graph.h"
#include "mesh/handles.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "services/services.h"
#include "spread/parts/graph.h"
#include "tasks/graph.h"

static struct task_graph *find(struct op_context *ctx, op_graph handle, const char *call) {
  return api_object(ctx, handle, HANDLE_GRAPH, call, "the graph");
}

/* Enter a local call about a graph. NULL: it has been left, and api_refused() is how. */
static struct task_graph *enter_graph(op_graph handle, const char *call) {
  struct op_context *ctx = api_enter(call, KEEP);
  struct task_graph *g = ctx ? find(ctx, handle, call) : NULL;
  if (ctx && !g)
    api_leave_local(api_error()->code);
  return g;
}

op_graph op2jit_decl_graph(const char *name) {
  struct op_context *ctx = api_enter("op_decl_graph", KEEP);
  if (!ctx)
    return NULL;
  struct task_graph *g = tasks_new(name, ++ctx->graph_serial);
  void *handle = g ? handle_new(ctx->handles, HANDLE_GRAPH, g) : NULL;
  if (!handle || !list_add(ctx->graphs, g)) {
    if (handle)
      handle_release(ctx->handles, handle, NULL);
    tasks_free(g);
    handle = NULL;
    error_memory_of(api_error(), "graph", name, sizeof(void *));
  }
  return api_leave_pointer(handle);
}

int op2jit_free_graph(op_graph graph) {
  struct op_context *ctx = api_enter("op_free_graph", KEEP);
  if (!ctx)
    return api_refused();
  struct task_graph *g = find(ctx, graph, "op_free_graph");
  if (g) {
    graph_loops_free(ctx, g);
    list_remove(ctx->graphs, g);
    handle_release(ctx->handles, graph, tasks_name(g));
    tasks_retire(ctx->past_graphs, g);
  }
  return api_leave_local(api_error()->code);
}

op_task_type op2jit_graph_type(op_graph graph, const char *name, op_task_function *function) {
  struct task_graph *g = enter_graph(graph, "op_graph_type");
  const op_task_type type = g ? tasks_add_type(g, name, function, api_error()) : 0;
  if (g)
    api_leave_local(api_error()->code);
  return type;
}

int op2jit_graph_kernel(op_graph graph, op_task_type type, const char *kernel_source, const char *kernel_name,
                        int threads) {
  struct task_graph *g = enter_graph(graph, "op_graph_kernel");
  return g ? api_leave_local(tasks_add_kernel(g, type, kernel_source, kernel_name, threads, api_error()))
           : api_refused();
}

op_resource op2jit_graph_resource(op_graph graph, op_resource parent, const char *name) {
  struct task_graph *g = enter_graph(graph, "op_graph_resource");
  const op_resource resource = g ? tasks_add_resource(g, parent, name, api_error()) : 0;
  if (g)
    api_leave_local(api_error()->code);
  return resource;
}

op_task op2jit_graph_task(op_graph graph, op_task_type type, const void *data, size_t bytes, double cost) {
  struct task_graph *g = enter_graph(graph, "op_graph_task");
  const op_task task = g ? tasks_add_task(g, type, data, bytes, cost, api_error()) : 0;
  if (g)
    api_leave_local(api_error()->code);
  return task;
}

/* Two numbers that become one relation. */
static int relate(op_graph graph, const char *call,
                  int (*add)(struct task_graph *, long long, long long, struct error *), long long one,
                  long long other) {
  struct task_graph *g = enter_graph(graph, call);
  return g ? api_leave_local(add(g, one, other, api_error())) : api_refused();
}

int op2jit_graph_depend(op_graph graph, op_task task, op_task before) {
  return relate(graph, "op_graph_depend", tasks_depend, task, before);
}

int op2jit_graph_lock(op_graph graph, op_task task, op_resource resource) {
  return relate(graph, "op_graph_lock", tasks_lock, task, resource);
}

int op2jit_graph_use(op_graph graph, op_task task, op_resource resource) {
  return relate(graph, "op_graph_use", tasks_use, task, resource);
}

int op2jit_graph_memory(op_graph graph, op_resource resource, const void *memory, size_t bytes) {
  struct task_graph *g = enter_graph(graph, "op_graph_memory");
  return g ? api_leave_local(tasks_memory(g, resource, memory, bytes, api_error())) : api_refused();
}

int op2jit_graph_own(op_graph graph, op_resource resource, int thread) {
  struct task_graph *g = enter_graph(graph, "op_graph_own");
  return g ? api_leave_local(tasks_own(g, resource, thread, api_error())) : api_refused();
}

/* A comm of its own: other messages of the context may be on their way. */
static int open_messages(struct op_context *ctx, struct error *err) {
  if (comm_alone(ctx->comm) || ctx->graph_comm)
    return OP_OK;
  const int code = ctx->comm->table->split(ctx->comm, 0, &ctx->graph_comm, err);
  if (!code)
    ctx->graph_comm->where = "op_graph_run";
  return code;
}

int op2jit_graph_ranks(op_graph graph, int form) {
  struct op_context *ctx = api_enter("op_graph_ranks", KEEP);
  if (!ctx)
    return api_refused();
  struct task_graph *g = find(ctx, graph, "op_graph_ranks");
  int code = g ? tasks_ranks(g, form, api_error()) : api_error()->code;
  code = agree_on_call(ctx, code, api_error(), "op_graph_ranks of graph \"%s\"\nform\t%d\n",
                       g ? tasks_name(g) : "", form);
  return api_leave(code ? code : open_messages(ctx, api_error()));
}

int op2jit_graph_owner(op_graph graph, op_resource resource, int rank) {
  struct task_graph *g = enter_graph(graph, "op_graph_owner");
  return g ? api_leave_local(tasks_owner(g, resource, rank, api_error())) : api_refused();
}

int op2jit_graph_place(op_graph graph, op_task task, int rank) {
  struct task_graph *g = enter_graph(graph, "op_graph_place");
  return g ? api_leave_local(tasks_place(g, task, rank, api_error())) : api_refused();
}

int op2jit_graph_key(op_graph graph, op_task task, long long key) {
  return relate(graph, "op_graph_key", tasks_key, task, key);
}

int op2jit_graph_depend_key(op_graph graph, op_task task, long long key) {
  return relate(graph, "op_graph_depend_key", tasks_depend_key, task, key);
}

double op2jit_graph_simulate_ranks(op_graph graph, const op_graph_network_t *network) {
  struct op_context *ctx = api_enter("op_graph_simulate_ranks", KEEP);
  struct task_graph *g = ctx ? find(ctx, graph, "op_graph_simulate_ranks") : NULL;
  const struct tasks_options options = {
      .comm = ctx ? ctx->comm : NULL, .argument = ctx, .partition = unit_parts};
  const double seconds = g ? tasks_simulate_ranks(g, network, &options, api_error()) : -1;
  if (ctx && g && tasks_on_ranks(g))
    api_leave(api_error()->code);
  else if (ctx)
    api_leave_local(api_error()->code);
  return seconds;
}

static int run(struct op_context *ctx, struct task_graph *g, struct error *err) {
  struct tasks_options options = {.checked = context_checked(ctx, tasks_name(g)) != CHECKED_OFF,
                                  .trace = ctx->trace};
  int code = context_team(ctx, &options.team, err);
  if (code)
    return code;
  options.threads = team_threads(options.team);
  if (tasks_has_kernels(g) && ctx->backend && ctx->backend->run_tasks)
    return ctx->backend->run_tasks(ctx, g, &options, err);
  options.comm = ctx->comm;
  options.messages = ctx->graph_comm;
  options.ordered = context_reproduces(ctx, tasks_name(g));
  options.argument = ctx;
  options.partition = comm_alone(ctx->comm) ? NULL : unit_parts;
  code = graph_loops_begin(ctx, g, err);
  return code ? code : graph_loops_end(ctx, g, tasks_run(g, &options, err), err);
}

int op2jit_graph_run(op_graph graph) {
  struct op_context *ctx = api_enter("op_graph_run", FLUSH);
  if (!ctx)
    return api_refused();
  struct task_graph *g = find(ctx, graph, "op_graph_run");
  return api_leave(g ? run(ctx, g, api_error()) : api_error()->code);
}

int op2jit_running_add(op_running *running, op_task_type type, const void *data, size_t bytes, double cost,
                       int nlocks, const op_resource locks[]) {
  if (running && tasks_in_run(running))
    return tasks_add_running(running, type, data, bytes, cost, nlocks, locks);
  if (!api_enter("op_running_add", KEEP))
    return api_refused();
  return api_leave_local(running ? error_set(api_error(), OP_ERR_STATE, "%s", tasks_over_words)
                                 : error_set(api_error(), OP_ERR_ARGUMENT,
                                             "op_running_add: the op_running is NULL; give the one that the "
                                             "task was given"));
}

double op2jit_graph_simulate(op_graph graph, int threads) {
  struct task_graph *g = enter_graph(graph, "op_graph_simulate");
  const double seconds = g ? tasks_simulate(g, threads, api_error()) : -1;
  if (g)
    api_leave_local(api_error()->code);
  return seconds;
}

int op2jit_graph_facts(op_graph graph, op_graph_facts_t *facts) {
  struct task_graph *g = enter_graph(graph, "op_graph_facts");
  if (!g)
    return api_refused();
  if (!facts)
    error_set(api_error(), OP_ERR_ARGUMENT,
              "op_graph_facts: the place for the facts is NULL; give its address");
  else
    tasks_tell(g, facts);
  return api_leave_local(api_error()->code);
}

int op2jit_graph_loop_array(op_graph graph, int npieces, const int bounds[], op_task tasks[],
                            const char *kernel_source, const char *kernel_name, op_set set, int nargs,
                            const op_arg args[], const char *file, int line) {
  struct task_graph *g = enter_graph(graph, "op_graph_loop");
  const struct loop_call call = loop_call_of(kernel_source, kernel_name, set, nargs, args, file, line);
  return g ? api_leave_local(graph_loop_add(api_context(), g, &call, npieces, bounds, tasks, api_error()))
           : api_refused();
}
