/* The program of docs/tasks.md: blocks of a bar that exchange heat with their neighbours, and a tree of tasks that is
 * made while it runs. */
#include <math.h>
#include <stdio.h>

#include <op2jit.h>
#include <op2jit_tasks.h>

enum { BLOCKS = 16, SIZE = 1000, STEPS = 3 };

static double heat[BLOCKS][SIZE], total;

struct pair {
  int left, right;
};

/* Heat flows over the border of two blocks, from the warmer to the colder one. */
static void exchange(op_running *running, void *data) {
  const struct pair *p = data;
  double *a = &heat[p->left][SIZE - 1], *b = &heat[p->right][0];
  const double flow = 0.25 * (*a - *b);
  (void)running;
  *a -= flow;
  *b += flow;
}

static void sum(op_running *running, void *data) {
  (void)running, (void)data;
  total = 0;
  for (int b = 0; b < BLOCKS; b++)
    for (int i = 0; i < SIZE; i++)
      total += heat[b][i];
}

static op_task_type halve_type;
static op_resource counter_lock;
static int leaves;

struct range {
  int begin, end;
};

static void halve(op_running *running, void *data) {
  const struct range *r = data;
  const int middle = (r->begin + r->end) / 2;
  if (r->end - r->begin < 100) {
    leaves += r->end - r->begin;
    return;
  }
  const struct range low = {r->begin, middle}, high = {middle, r->end};
  op_running_add(running, halve_type, &low, sizeof low, 1, 1, &counter_lock);
  op_running_add(running, halve_type, &high, sizeof high, 1, 1, &counter_lock);
}

static int make_tree(void) {
  const struct range all = {0, 12345};
  op_graph tree = op_decl_graph("tree");
  halve_type = op_graph_type(tree, "halve", halve);
  counter_lock = op_graph_resource(tree, 0, "leaves");
  op_task root = op_graph_task(tree, halve_type, &all, sizeof all, 1);
  op_graph_lock(tree, root, counter_lock);
  op_graph_run(tree);
  return leaves == 12345 && op_free_graph(tree) == OP_OK;
}

int main(int argc, char **argv) {
  heat[0][SIZE - 1] = 1;
  op_init(argc, argv, 0);

  op_graph graph = op_decl_graph("bar");
  op_task_type exchanges = op_graph_type(graph, "exchange", exchange),
               sums = op_graph_type(graph, "sum", sum);
  op_resource block[BLOCKS];
  for (int b = 0; b < BLOCKS; b++) {
    block[b] = op_graph_resource(graph, 0, NULL);
    op_graph_memory(graph, block[b], heat[b], sizeof heat[b]);
  }
  op_task last = op_graph_task(graph, sums, NULL, 0, BLOCKS);
  for (int b = 0; b + 1 < BLOCKS; b++) {
    const struct pair pair = {b, b + 1};
    op_task task = op_graph_task(graph, exchanges, &pair, sizeof pair, 1);
    op_graph_lock(graph, task, block[b]);
    op_graph_lock(graph, task, block[b + 1]);
    op_graph_depend(graph, last, task);
  }
  for (int step = 0; step < STEPS; step++)
    op_graph_run(graph);

  op_graph_facts_t facts;
  op_graph_facts(graph, &facts);
  op_printf("%lld tasks, %lld runs, built %lld time, heat %g\n", facts.tasks, facts.runs, facts.builds,
            total);
  const int good = fabs(total - 1) < 1e-12 && facts.builds == 1 && facts.executed == BLOCKS && make_tree();
  return op_exit() || !good;
}
