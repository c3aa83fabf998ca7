/* Graphs of tasks that are wrong. */
#include <stddef.h>

#include "negative.h"
#include "op2jit_tasks.h"

static void rests(op_running *running, void *data) {
  (void)running, (void)data;
}

static void adds_without_type(op_running *running, void *data) {
  (void)data;
  op_running_add(running, 0, NULL, 0, 0, 0, NULL);
}

CASE(graph_null, OP_ERR_HANDLE, IN_MESH) {
  op_graph_run(NULL);
}

CASE(graph_is_a_set, OP_ERR_HANDLE, IN_MESH) {
  op_graph_type((op_graph)(void *)m->cells, "work", rests);
}

CASE(graph_freed, OP_ERR_HANDLE, IN_MESH) {
  op_graph graph = op_decl_graph("factors");
  op_free_graph(graph);
  op_graph_resource(graph, 0, "tile");
}

CASE(graph_circle, OP_ERR_GRAPH, IN_MESH) {
  op_graph graph = op_decl_graph("factors");
  const op_task_type type = op_graph_type(graph, "work", rests);
  const op_task one = op_graph_task(graph, type, NULL, 0, 1), two = op_graph_task(graph, type, NULL, 0, 1);
  op_graph_depend(graph, one, two);
  op_graph_depend(graph, two, one);
  op_graph_run(graph);
}

CASE(graph_waits_for_itself, OP_ERR_GRAPH, IN_MESH) {
  op_graph graph = op_decl_graph("factors");
  const op_task one = op_graph_task(graph, op_graph_type(graph, "work", rests), NULL, 0, 1);
  op_graph_depend(graph, one, one);
}

CASE(graph_task_of_another, OP_ERR_HANDLE, IN_MESH) {
  op_graph graph = op_decl_graph("factors"), other = op_decl_graph("tree");
  const op_task one = op_graph_task(graph, op_graph_type(graph, "work", rests), NULL, 0, 1);
  const op_task two = op_graph_task(other, op_graph_type(other, "work", rests), NULL, 0, 1);
  op_graph_depend(graph, one, two);
}

CASE(graph_lock_is_a_task, OP_ERR_HANDLE, IN_MESH) {
  op_graph graph = op_decl_graph("factors");
  const op_task one = op_graph_task(graph, op_graph_type(graph, "work", rests), NULL, 0, 1);
  op_graph_lock(graph, one, one);
}

CASE(graph_cost_negative, OP_ERR_ARGUMENT, IN_MESH) {
  op_graph graph = op_decl_graph("factors");
  op_graph_task(graph, op_graph_type(graph, "work", rests), NULL, 0, -1);
}

CASE(graph_data_null, OP_ERR_ARGUMENT, IN_MESH) {
  op_graph graph = op_decl_graph("factors");
  op_graph_task(graph, op_graph_type(graph, "work", rests), NULL, 8, 1);
}

CASE(graph_simulated_unknown, OP_ERR_STATE, IN_MESH) {
  op_graph_simulate(op_decl_graph("factors"), 64);
}

CASE(graph_facts_null, OP_ERR_ARGUMENT, IN_MESH) {
  op_graph_facts(op_decl_graph("factors"), NULL);
}

CASE(graph_added_without_type, OP_ERR_HANDLE, IN_MESH) {
  op_graph graph = op_decl_graph("factors");
  op_graph_task(graph, op_graph_type(graph, "adds", adds_without_type), NULL, 0, 1);
  op_graph_run(graph);
}

static op_running *kept;

static void keeps(op_running *running, void *data) {
  (void)data;
  kept = running;
}

CASE(graph_added_after_the_run, OP_ERR_STATE, IN_MESH) {
  op_graph graph = op_decl_graph("factors");
  const op_task_type type = op_graph_type(graph, "keeps", keeps);
  op_graph_task(graph, type, NULL, 0, 1);
  op_graph_run(graph);
  op_running_add(kept, type, NULL, 0, 1, 0, NULL);
}

CASE(graph_added_nowhere, OP_ERR_ARGUMENT, IN_MESH) {
  op_running_add(NULL, op_graph_type(op_decl_graph("factors"), "work", rests), NULL, 0, 1, 0, NULL);
}
