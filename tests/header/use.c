/* Everything that a program's source does with the header, in the words that C99 and C++17 share. Compiled, not run. */
#include <op2jit.h>
#include <op2jit_checkpoint.h>
#include <op2jit_tasks.h>
#include <op2jit_tools.h>

static const char *const text = OP_KERNEL(static void add(const double *x, double *y) { *y += *x; });

OP_KERNEL_DEF(
    copy, void copy(const double *x, double *y) {
      op_assert(*x > 0);
      *y = *x;
    })

/* A macro of the program may stand for several arguments. */
#define BOTH(name) OP_KERNEL_OF(name), #name

struct state {
  double rho, u[3];
  int kind;
  struct {
    float x;
  } inner;
};

static void handler(const op_error *error, void *user) {
  (void)user;
  op_printf("%d %s %s\n", error->code, error->name, error->message);
}

static void work(op_running *running, void *data) {
  int *number = (int *)data;
  *number =
      op_running_thread(running) + op_running_threads(running) + (op_running_memory(running, 0) != NULL);
  op_running_add(running, 0, number, sizeof *number, 0, 0, NULL);
  op_running_fail(running, "never");
}

static int use_checkpoints(void) {
  op_checkpoint_facts_t facts;
  return op_checkpoint() + op_checkpoint_keep() + op_checkpoint_facts(&facts) + (facts.written > 0);
}

static int use_graphs(op_set set, op_dat x, op_dat y) {
  const int number = 1;
  op_graph_facts_t facts;
  op_graph graph = op_decl_graph("graph");
  const op_task_type type = op_graph_type(graph, "work", work), join = op_graph_type(graph, "join", NULL);
  const int made =
      op_graph_kernel(graph, type, "void work(op_task_memory const int *n) { (void)n; }", "work", 0);
  const op_resource all = op_graph_resource(graph, 0, "all"), part = op_graph_resource(graph, all, NULL);
  const op_task one = op_graph_task(graph, type, &number, sizeof number, 1),
                two = op_graph_task(graph, join, NULL, 0, 0);
  int code = made | op_graph_depend(graph, two, one) | op_graph_lock(graph, one, part) |
             op_graph_use(graph, two, all);
  code |= op_graph_memory(graph, part, &number, sizeof number) | op_graph_own(graph, part, 0);
  op_task pieces[2];
  code |=
      op_graph_loop(graph, 2, NULL, pieces, text, "add", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
                    op_arg_dat(y, -1, OP_ID, 1, "double", OP_INC));
  op_graph ranks = op_decl_graph("ranks");
  code |= op_graph_ranks(ranks, OP_GRAPH_PARTS);
  const op_resource own = op_graph_resource(ranks, 0, "own");
  const op_task last = op_graph_task(ranks, op_graph_type(ranks, "work", NULL), NULL, 0, 1);
  const op_graph_network_t network = {2, 2, 1e-6, 1e9, {0}};
  code |= op_graph_owner(ranks, own, 0) | op_graph_place(ranks, last, OP_EVERY_RANK) |
          op_graph_key(ranks, last, 1);
  const op_task more = op_graph_task(ranks, op_graph_type(ranks, "work", NULL), NULL, 0, 1);
  code |= op_graph_depend_key(ranks, more, 1) | op_graph_run(ranks);
  code |= (op_graph_simulate_ranks(ranks, &network) < 0) | op_free_graph(ranks);
  code |= op_graph_run(graph) | op_graph_facts(graph, &facts) | (op_graph_simulate(graph, 64) < 0);
  return code | op_free_graph(graph);
}

int main(int argc, char **argv) {
  int table[1] = {0};
  double value[2] = {1, 2}, sum = 0, cpu, wall;
  long long wide[1] = {0};
  op_set_error_handler(handler, NULL);
  op_set_error_handler(op_errors_later, 0);
  op_set_error_handler(OP_ERRORS_RETURN, 0);
  op_set_error_handler(OP_ERRORS_FATAL, 0);
  if (op_init(argc, argv, 0) != OP_OK)
    return op_last_error()->code;
  op_set set = op_decl_set(1, "set");
  op_map map = op_decl_map(set, set, 1, table, "map"), other = op_decl_map_long(set, set, 1, wide, "other");
  op_dat x = op_decl_dat(set, 2, "double:soa", value, "x"), y = op_decl_dat_temp(set, 1, "double", NULL, "y");
  op_dat own = op_decl_dat_view(set, 2, "double", value, "own");
  double *const lent = (double *)op_acquire(own, OP_RW);
  lent[0] = op_release(own);
  int code = op_decl_const("one", 1, "double", value) | op_update_const("one", value);
  const float real = 1;
  const void *memory = &real;
  int (*declare)(const char *, int, const char *, const void *) = op_decl_const;
  code |= op_decl_const("two", 1, "float", &real) | op_decl_const("three", 1, "float", memory);
  code |= op_decl_const("none", 1, "float", NULL) | op_update_const("none", NULL) |
          declare("four", 2, "double", value);
  op_arg (*global)(void *, int, const char *, op_access) = op_arg_gbl;
  void *anything = value;
  const op_arg some[] = {op_arg_gbl(anything, 1, "float", OP_INC), op_arg_gbl(NULL, 1, "int", OP_WORK),
                         global(value, 1, "double", OP_MIN), (op_arg_info)(value, 1, "double", 1),
                         op_arg_may_meet(op_arg_dat(x, 0, map, 2, "double", OP_RW))};
  code |= op_fetch_data(x, anything) | (op_put_data)(x, value);
  code |= op_par_loop_array(text, "add", set, 4, some, __FILE__, __LINE__);
  code |= op_update_const("two", &real) | op_update_const("four", value);
  code |= op_par_loop(text, "add", set, op_arg_dat(x, 0, map, 2, "double", OP_READ),
                      op_arg_dat(y, -1, OP_ID, 1, "double", OP_INC), op_arg_gbl(&sum, 1, "double", OP_MIN),
                      op_opt_arg_dat(0, y, -1, OP_ID, 1, "double", OP_RW),
                      op_opt_arg_gbl(1, &sum, 1, "double", OP_MAX), op_arg_idx(0, other),
                      op_arg_info(&sum, 1, "double", 3));
  code |= op_par_loop(OP_KERNEL_OF(copy), "copy", set, op_arg_gbl(&sum, 1, "double", OP_WORK));
  code |= op_par_loop(BOTH(copy), set, op_arg_gbl(&sum, 1, "double", OP_WORK));
  code |= op_par_loop(OP_KERNEL_FILE("use.c", copy), "copy", set, op_arg_gbl(&sum, 1, "double", OP_WORK));
  /* Texts in every form that C has for them. */
  char array[] = "void k(double *v) { *v = 1; }";
  code |=
      op_par_loop(array, "k", set, op_arg_idx(-1, OP_ID)) | op_par_loop("", "k", set, op_arg_idx(-1, OP_ID));
  code |=
      op_par_loop(NULL, "k", set, op_arg_idx(-1, OP_ID)) | op_par_loop(0, "k", set, op_arg_idx(-1, OP_ID));
  code |= op_par_loop(OP_KERNEL(void k(double *v) { *v = 1; }), "k", set, op_arg_idx(-1, OP_ID));
  const op_arg args[1] = {op_arg_dat(x, -1, OP_ID, 2, "double", OP_WRITE)};
  code |= op_par_loop_array(op_kernel_file("kernel.c"), "k", set, 1, args, __FILE__, __LINE__);
  op_arg unsaid[1] = {op_arg_dat(x, -1, OP_ID, 2, "double", OP_UNSAID)};
  code |=
      op_find_accesses(text, "k", set, 1, unsaid, __FILE__, __LINE__) | op_report_json(array, sizeof array);
  code |= op_fetch_data(x, value) | op_put_data(x, value) | op_fetch_data_idx(x, value, 0, 0);
  code |= op_renumber(map) | op_renumber_by("rcm", map, NULL) | op_partition("", "", set, map, x);
  code |= op_open_hdf5() | use_graphs(set, x, y) | use_checkpoints() | (op_declarations()[0] != '{');
  code |= OP_TYPE(struct state, rho, u, kind, inner.x);
  code |= op_decl_prelude("enum { A };") | op_prelude_file("shared.h");
  const long long offsets[] = {0, 0, 0};
  op_map ragged = op_decl_map_ragged(set, set, offsets, table, "ragged");
  code |= op_map_entries(ragged) == NULL;
  const double *const row[] = {value, NULL, (const double *)(ptrdiff_t)-1, NULL};
  OP_ANY_ORDER
  for (int k = 0; k < 2; k++)
    code |= OP_ROW(row, k) != value + k;
  op_set one = op_decl_subset(set, 1, table, "one"), none = op_decl_subset_range(set, 0, 0, "none");
  code |= op_free_set(one) | op_free_set(none) | op_free_map(other) | op_free_dat(own);
  op_timers(&cpu, &wall);
  if (op_counters()->loops && op_is_root() && !op_rank() && op_rank_count() == 1 &&
      op_get_size(set) == op_get_global_size(set))
    code |= op_plan_check(2) | op_free_dat_temp(y) | (op_wtime() < 0 ? OP_ERR_INTERNAL : OP_OK);
  return code | op_exit();
}
