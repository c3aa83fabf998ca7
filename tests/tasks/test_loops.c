/* Pieces of loops in a graph give what the loops give; reports and traces have what ran. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../exec/ring.h"
#include "op2jit_tasks.h"

enum { PIECES = 13, CHUNKS = 40, STEPS = 3 };

static op_resource chunks[CHUNKS];

/* A piece of edges locks the chunks of cells that it adds to. */
static void lock_cells(op_graph graph, op_task task, int begin, int end) {
  bool taken[CHUNKS] = {false};
  for (int e = begin; e < end; e++) {
    const int place = (int)((long)e * CELLS / EDGES);
    const int ends[] = {(place + e * 7 % 13) % CELLS, (place + 20 + e * 5 % 17) % CELLS};
    for (int i = 0; i < 2; i++)
      taken[(long)ends[i] * CHUNKS / CELLS] = true;
  }
  for (int c = 0; c < CHUNKS; c++)
    if (taken[c])
      works(op_graph_lock(graph, task, chunks[c]));
}

static op_graph make_graph(const struct ring *m, double *sums, double *most) {
  op_graph graph = op_decl_graph("ring");
  op_task moves[PIECES], relaxes[PIECES];
  int bounds[PIECES + 1];
  for (int c = 0; c < CHUNKS; c++)
    chunks[c] = op_graph_resource(graph, 0, NULL);
  for (int i = 0; i <= PIECES; i++)
    bounds[i] = EDGES * i / PIECES;
  works(op_graph_loop(graph, PIECES, bounds, moves, move, "move", m->edges,
                      op_arg_dat(m->weight, -1, OP_ID, 1, "double", OP_READ),
                      op_arg_dat(m->value, 0, m->ends, 3, "double", OP_READ),
                      op_arg_dat(m->value, 1, m->ends, 3, "double", OP_READ),
                      op_arg_dat(m->change, 0, m->ends, 3, "double", OP_INC),
                      op_arg_dat(m->change, 1, m->ends, 3, "double", OP_INC),
                      op_arg_gbl(&sums[0], 1, "double", OP_INC), op_arg_gbl(most, 1, "double", OP_MAX)));
  works(op_graph_loop(graph, PIECES, NULL, relaxes, relax, "relax", m->cells,
                      op_arg_dat(m->change, -1, OP_ID, 3, "double", OP_READ),
                      op_arg_dat(m->value, -1, OP_ID, 3, "double", OP_RW),
                      op_arg_gbl(&sums[1], 1, "double", OP_INC)));
  const op_task join = op_graph_task(graph, op_graph_type(graph, "join", NULL), NULL, 0, 0);
  for (int i = 0; i < PIECES; i++) {
    lock_cells(graph, moves[i], bounds[i], bounds[i + 1]);
    works(op_graph_depend(graph, join, moves[i]));
    works(op_graph_depend(graph, relaxes[i], join));
  }
  return graph;
}

static double *run(int threads, bool by_graph, double *sums, double *most) {
  double *value = malloc(3 * CELLS * sizeof *value);
  assert_non_null(value);
  open_library("", threads, "off", "cache");
  struct ring m = declare();
  op_graph graph = by_graph ? make_graph(&m, sums, most) : NULL;
  sums[0] = sums[1] = *most = 0;
  for (int s = 0; s < STEPS; s++)
    if (by_graph)
      works(op_graph_run(graph));
    else {
      move_once(&m, &sums[0], most);
      relax_once(&m, &sums[1]);
    }
  works(op_fetch_data(m.value, value));
  if (by_graph) {
    static char report[100000];
    op_graph_facts_t facts;
    works(op_graph_facts(graph, &facts));
    assert_int_equal(facts.builds, 1);
    assert_int_equal(facts.executed, 2 * PIECES + 1);
    works(op_report_json(report, sizeof report));
    assert_non_null(strstr(report, "\"graphs\""));
    assert_non_null(strstr(report, "\"ring\""));
    assert_int_equal(op_counters()->loops, 2 * STEPS);
  }
  works(op_exit());
  return value;
}

static void expect_near(double one, double other) {
  if (fabs(one - other) > 1e-10 * (1 + fabs(other)))
    fail_msg("%.17g is not %.17g", one, other);
}

TEST(pieces_give_what_the_loops_give) {
  static const int threads[] = {1, 2, 7};
  double sums[2], most, want[2], highest;
  double *whole = run(1, false, want, &highest);
  for (int t = 0; t < 3; t++) {
    double *pieces = run(threads[t], true, sums, &most);
    for (int i = 0; i < 3 * CELLS; i++)
      expect_near(pieces[i], whole[i]);
    expect_near(sums[0], want[0]);
    expect_near(sums[1], want[1]);
    expect_near(most, highest);
    free(pieces);
  }
  free(whole);
}

static const char visit[] = OP_KERNEL(void visit(double *visits, double *count) {
  *visits += 1;
  *count += 1;
});

TEST(a_graph_may_have_a_part_of_a_loop) {
  static const int middle[] = {100, 150, 400}, rest[] = {400, CELLS};
  static double visits[CELLS];
  double counts[2] = {0};
  open_library("", 2, "off", "cache");
  struct ring m = declare();
  op_dat visited = op_decl_dat(m.cells, 1, "double", visits, "visited");
  op_graph graph = op_decl_graph("parts");
  op_task tasks[2];
  for (int part = 0; part < 2; part++) {
    works(op_graph_loop(graph, 2 - part, part ? rest : middle, tasks, visit, "visit", m.cells,
                        op_arg_dat(visited, -1, OP_ID, 1, "double", OP_RW),
                        op_arg_gbl(&counts[part], 1, "double", OP_INC)));
    works(op_graph_run(graph));
  }
  works(op_fetch_data(visited, visits));
  for (int i = 0; i < CELLS; i++)
    assert_true(visits[i] == (i < 100 ? 0 : i < 400 ? 2 : 1));
  assert_true(counts[0] == 600 && counts[1] == CELLS - 400);
  works(op_exit());
}

static void calls_library(op_running *running, void *data) {
  (void)running, (void)data;
  if (op_decl_graph("inside") || op_last_error()->code != OP_ERR_BUSY)
    abort();
}

TEST(what_a_task_was_refused_is_no_error_of_the_run) {
  open_library("", 1, "off", "cache");
  op_graph graph = op_decl_graph("calls");
  assert_true(op_graph_task(graph, op_graph_type(graph, "calls", calls_library), NULL, 0, 1));
  works(op_graph_run(graph));
  assert_int_equal(op_last_error()->code, OP_OK);
  works(op_exit());
}

TEST(pieces_that_are_wrong_are_refused) {
  open_library("", 2, "off", "cache");
  struct ring m = declare();
  double sum = 0;
  op_graph graph = op_decl_graph("wrong");
  op_task tasks[2];
  const int backwards[] = {0, 50, 20}, beyond[] = {0, 5, CELLS + 1};
  const op_arg args[] = {op_arg_dat(m.change, -1, OP_ID, 3, "double", OP_READ),
                         op_arg_dat(m.value, -1, OP_ID, 3, "double", OP_RW),
                         op_arg_gbl(&sum, 1, "double", OP_INC)};
  assert_int_equal(op_graph_loop_array(graph, 2, backwards, tasks, relax, "relax", m.cells, 3, args, "", 0),
                   OP_ERR_RANGE);
  assert_int_equal(op_graph_loop_array(graph, 2, beyond, tasks, relax, "relax", m.cells, 3, args, "", 0),
                   OP_ERR_RANGE);
  assert_int_equal(op_graph_loop_array(graph, 0, NULL, tasks, relax, "relax", m.cells, 3, args, "", 0),
                   OP_ERR_ARGUMENT);
  assert_int_equal(op_graph_loop_array(graph, 2, NULL, tasks, relax, "relax", NULL, 3, args, "", 0),
                   OP_ERR_HANDLE);
  works(op_graph_loop_array(graph, 2, NULL, tasks, relax, "relax", m.edges, 3, args, "here.c", 7));
  assert_int_equal(op_graph_run(graph), OP_ERR_MAP_SET);
  assert_non_null(strstr(op_last_error()->message, "here.c:7: loop relax"));
  works(op_free_graph(graph));
  works(op_exit());
}

AROUND_ALL(make_folder, remove_folder)
