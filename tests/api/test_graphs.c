/* Graphs of tasks whose types have kernels: on a device the kernels run, elsewhere functions do the same. */
#include "support.h"

#include <stdbool.h>

#include "op2jit_tasks.h"

/* Groups of several threads, which PoCL compiles for long: there for `all` alone. */
static bool by_several = true;

enum { LEAVES = 20, GROUP = 5, TASKS = 400, ROUNDS = 2000 };

/* A leaf: how often it was changed, who is at it, how often two were. */
struct leaf {
  int count, owner, met, rest;
};

static bool on_device(void) {
  const char *backend = getenv("OP2_BACKEND");
  return backend &&
         (strcmp(backend, "cuda") == 0 || strcmp(backend, "opencl") == 0 || strcmp(backend, "hip") == 0);
}

static void says(int code, const char *words, const char *more) {
  assert_int_equal(op_last_error()->code, code);
  if (!strstr(op_last_error()->message, words) || !strstr(op_last_error()->message, more))
    fail_msg("\"%s\" and \"%s\" are not in: %s", words, more, op_last_error()->message);
}

/* ---- locks in a forest ---- */

struct visit {
  int number, leaves;
};

static const char visit_text[] = OP_KERNEL(
    struct visit { int number, leaves; }; struct leaf { int count, owner, met, rest; };
    void visit(op_task_memory const struct visit *v, op_task_memory struct leaf *leaf) {
      for (int k = op_task_thread; k < v->leaves; k += op_task_threads) {
        op_task_memory volatile struct leaf *l = &leaf[k];
        l->owner = v->number;
        for (int i = 0; i < 2000; i++) {
          l->count += 1;
          l->met += l->owner != v->number;
        }
      }
    });

static struct leaf leaves[LEAVES];

static void visit(op_running *running, void *data) {
  const struct visit *v = data;
  struct leaf *leaf = &leaves[v->number % 3 == 0 ? v->number % LEAVES : v->number % (LEAVES / GROUP) * GROUP];
  (void)running;
  for (int k = 0; k < v->leaves; k++)
    leaf[k].count += ROUNDS;
}

struct forest {
  op_graph graph;
  op_resource groups[LEAVES / GROUP], leaves[LEAVES];
  int expected[LEAVES];
};

/* Every third task is at one leaf, the others at all of a group; some wait for those before them. */
static void add_visits(struct forest *f, op_task_type type, op_task_type join) {
  op_task last = 0;
  for (int t = 0; t < TASKS; t++) {
    const bool one = t % 3 == 0;
    const int first = one ? t % LEAVES : t % (LEAVES / GROUP) * GROUP;
    const struct visit v = {t, one ? 1 : GROUP};
    const op_task task = op_graph_task(f->graph, type, &v, sizeof v, 1 + t % 7);
    works(op_graph_lock(f->graph, task, one ? f->leaves[first] : f->groups[first / GROUP]));
    for (int k = 0; k < v.leaves; k++)
      f->expected[first + k] += ROUNDS;
    if (t % 10 == 0) {
      last = op_graph_task(f->graph, join, NULL, 0, 0);
      works(op_graph_depend(f->graph, last, task));
    } else if (t % 10 == 5)
      works(op_graph_depend(f->graph, task, last));
  }
}

static void make_forest(struct forest *f, int threads) {
  *f = (struct forest){.graph = op_decl_graph("forest")};
  memset(leaves, 0, sizeof leaves);
  const op_task_type type = op_graph_type(f->graph, "visit", visit),
                     join = op_graph_type(f->graph, "join", NULL);
  works(op_graph_kernel(f->graph, type, visit_text, "visit", threads));
  for (int l = 0; l < LEAVES; l++) {
    if (l % GROUP == 0) {
      f->groups[l / GROUP] = op_graph_resource(f->graph, 0, NULL);
      works(op_graph_memory(f->graph, f->groups[l / GROUP], &leaves[l], GROUP * sizeof *leaves));
    }
    f->leaves[l] = op_graph_resource(f->graph, f->groups[l / GROUP], NULL);
    works(op_graph_memory(f->graph, f->leaves[l], &leaves[l], sizeof *leaves));
  }
  add_visits(f, type, join);
}

static void check_forest(struct forest *f, int runs) {
  op_graph_facts_t facts;
  works(op_graph_run(f->graph));
  works(op_graph_facts(f->graph, &facts));
  assert_int_equal(facts.executed, facts.tasks);
  assert_int_equal(facts.runs, runs);
  assert_int_equal(facts.groups > 0, on_device());
  assert_int_equal(facts.device_bytes > 0, on_device());
  for (int l = 0; l < LEAVES; l++) {
    assert_int_equal(leaves[l].count, runs * f->expected[l]);
    assert_int_equal(leaves[l].met, 0);
  }
}

LIBRARY_TEST(locks_keep_tasks_apart) {
  struct forest f;
  for (int threads = 0; threads <= (by_several ? 8 : 0); threads += 8) {
    make_forest(&f, threads);
    check_forest(&f, 1);
    check_forest(&f, 2);
    works(op_free_graph(f.graph));
  }
}

/* ---- an order, and what goes there and back ---- */

/* Each notes its number behind those before it. */
static const char note_text[] = OP_KERNEL(
    void note(op_task_memory const int *number, op_task_memory int *list, op_task_memory const int *add) {
      op_task_barrier();
      if (op_task_thread == 0) {
        const int at = list[0];
        list[at + 1] = (number ? number[0] : -1) + add[0];
        list[0] = at + 1;
      }
      op_task_barrier();
    });

static int list[64], more[2] = {100, 5};

static void note(op_running *running, void *data) {
  const int *number = data;
  (void)running;
  list[list[0] + 1] = (number ? *number : -1) + more[0];
  list[0]++;
}

LIBRARY_TEST(order_is_kept) {
  enum { N = 40 };
  op_task tasks[N];
  op_graph graph = op_decl_graph("order");
  const op_task_type type = op_graph_type(graph, "note", note);
  memset(list, 0, sizeof list);
  works(op_graph_kernel(graph, type, note_text, "note", by_several ? 4 : 0));
  const op_resource all = op_graph_resource(graph, 0, "list"), add = op_graph_resource(graph, 0, "more");
  works(op_graph_memory(graph, all, list, sizeof list));
  works(op_graph_memory(graph, add, more, sizeof more));
  for (int i = 0; i < N; i++) {
    tasks[i] = op_graph_task(graph, type, i ? &i : NULL, i ? sizeof i : 0, 1);
    works(op_graph_lock(graph, tasks[i], all));
    works(op_graph_use(graph, tasks[i], add));
    if (i > 0) /* backwards, in chains of two */
      works(op_graph_depend(graph, tasks[i - 1], tasks[i]));
  }
  works(op_graph_run(graph));
  assert_int_equal(list[0], N);
  for (int i = 0; i < N; i++)
    assert_int_equal(list[i + 1], (i == N - 1 ? -1 : N - 1 - i) + 100);
  works(op_free_graph(graph));
}

/* The heaviest of those that could run comes first: one group does it all on the stand-in. No function is needed for that. */
LIBRARY_TEST(weight_decides) {
  enum { N = 40 };
  op_graph graph = op_decl_graph("weights");
  const op_task_type type = op_graph_type(graph, "note", on_device() ? NULL : note);
  memset(list, 0, sizeof list);
  works(op_graph_kernel(graph, type, note_text, "note", by_several ? 2 : 0));
  const op_resource all = op_graph_resource(graph, 0, "list"), add = op_graph_resource(graph, 0, "more");
  works(op_graph_memory(graph, all, list, sizeof list));
  works(op_graph_memory(graph, add, more, sizeof more));
  for (int i = 0; i < N; i++) {
    const op_task task = op_graph_task(graph, type, &i, sizeof i, 1 + i * 17 % N);
    works(op_graph_lock(graph, task, all));
    works(op_graph_use(graph, task, add));
  }
  works(op_graph_run(graph));
  assert_int_equal(list[0], N);
  for (int i = 0; getenv("OP2_CUDA_DRIVER") && i < N; i++)
    assert_int_equal((list[i + 1] - 100) * 17 % N, N - 1 - i);
  if (on_device()) {
    assert_true(op_graph_simulate(graph, 2) < 0);
    says(OP_ERR_STATE, "ran on a device", "OP2_BACKEND=openmp");
  }
  works(op_free_graph(graph));
}

/* ---- tasks of the host and of the device ---- */

enum { BLOCKS = 12, BLOCK = 16, MIXED = 90 };

static const char mix_text[] = OP_KERNEL(
    void mix(op_task_memory const int *number, op_task_memory int *own, op_task_memory const int *other) {
      for (int i = op_task_thread; i < 16; i += op_task_threads)
        own[i] = (own[i] * 3 + other[i] + number[0]) & 0xffffff;
    });

static int blocks[BLOCKS][BLOCK];

struct mixing {
  int number, own, other;
};

static void mix_in(int (*in)[BLOCK], const struct mixing *m) {
  for (int i = 0; i < BLOCK; i++)
    in[m->own][i] = (in[m->own][i] * 3 + in[m->other][i] + m->number) & 0xffffff;
}

static void mix(op_running *running, void *data) {
  (void)running;
  mix_in(blocks, data);
}

/* Which of them are the host's is random, and none waits for more than it must. */
static void add_mixing(op_graph graph, op_task_type there, op_task_type here, struct mixing *steps,
                       unsigned seed) {
  op_resource resources[BLOCKS];
  op_task tasks[MIXED];
  for (int b = 0; b < BLOCKS; b++) {
    resources[b] = op_graph_resource(graph, 0, NULL);
    works(op_graph_memory(graph, resources[b], blocks[b], sizeof blocks[b]));
  }
  for (int t = 0; t < MIXED; t++) {
    struct mixing *m = &steps[t];
    seed = seed * 1103515245u + 12345u;
    *m = (struct mixing){t, (int)(seed / 65536 % BLOCKS), (int)(seed / 4096 % BLOCKS)};
    m->other = m->other == m->own ? (m->own + 1) % BLOCKS : m->other;
    tasks[t] = op_graph_task(graph, seed / 64 % 3 ? there : here, m, sizeof *m, 1);
    works(op_graph_lock(graph, tasks[t], resources[m->own]));
    works(op_graph_use(graph, tasks[t], resources[m->other]));
    for (int b = 0; b < t; b++)
      if (steps[b].own == m->own || steps[b].own == m->other || steps[b].other == m->own)
        works(op_graph_depend(graph, tasks[t], tasks[b]));
  }
}

LIBRARY_TEST(mixed_graphs_run_on_both) {
  static int expected[BLOCKS][BLOCK];
  memset(blocks, 0, sizeof blocks);
  memset(expected, 0, sizeof expected);
  for (unsigned seed = 1; seed <= (by_several ? 4 : 1); seed++) {
    struct mixing steps[MIXED];
    op_graph_facts_t facts;
    op_graph graph = op_decl_graph("mixed");
    const op_task_type there = op_graph_type(graph, "there", on_device() ? NULL : mix),
                       here = op_graph_type(graph, "here", mix);
    works(op_graph_kernel(graph, there, mix_text, "mix", 0));
    add_mixing(graph, there, here, steps, seed);
    for (int run = 1; run <= 2; run++) {
      works(op_graph_run(graph));
      for (int t = 0; t < MIXED; t++)
        mix_in(expected, &steps[t]);
      assert_memory_equal(blocks, expected, sizeof blocks);
      works(op_graph_facts(graph, &facts));
      assert_int_equal(facts.executed, facts.tasks);
      assert_int_equal(facts.runs, run);
      assert_int_equal(facts.groups > 0, on_device());
      assert_true(!on_device() || (facts.copying > 0 && facts.threads > facts.groups));
    }
    works(op_free_graph(graph));
  }
}

/* A task of the host adds one that only a device could run. */
static op_task_type there_only;
static void add_there(op_running *running, void *data) {
  op_running_add(running, there_only, data, 0, 1, 0, NULL);
}

LIBRARY_TEST(added_tasks_are_the_hosts) {
  if (!on_device() || !by_several)
    return;
  op_graph graph = op_decl_graph("added");
  const op_task_type here = op_graph_type(graph, "here", add_there);
  there_only = op_graph_type(graph, "there", NULL);
  works(op_graph_kernel(graph, there_only, mix_text, "mix", 0));
  assert_true(op_graph_task(graph, here, NULL, 0, 1) != 0);
  fails(OP_ERR_BACKEND, op_graph_run(graph));
  says(OP_ERR_BACKEND, "a task (there) that is added", "no function");
  works(op_free_graph(graph));
}

/* ---- mistakes ---- */

static op_graph one_task(const char *text, const char *name, op_task_function *function, int resources) {
  op_graph graph = op_decl_graph("wrong");
  const op_task_type type = op_graph_type(graph, "first", function);
  works(op_graph_kernel(graph, type, note_text, "note", 0));
  works(op_graph_kernel(graph, op_graph_type(graph, "second", function), text, name, 0));
  const int number = 7;
  const op_task task = op_graph_task(graph, type, &number, sizeof number, 1);
  for (int r = 0; r < resources; r++) {
    const op_resource resource = op_graph_resource(graph, 0, NULL);
    works(op_graph_memory(graph, resource, r ? more : list, r ? sizeof more : sizeof list));
    works(r ? op_graph_use(graph, task, resource) : op_graph_lock(graph, task, resource));
  }
  return graph;
}

static void refused(op_graph graph, int code, const char *words, const char *also) {
  fails(code, op_graph_run(graph));
  says(code, words, also);
  works(op_free_graph(graph));
}

LIBRARY_TEST(wrong_texts_are_named) {
  if (!on_device())
    return;
  refused(one_task("void bad(op_task_memory int *x) {\n  *x = 1;\n  y = 2;\n}\n", "bad", note, 2),
          OP_ERR_COMPILE, "type \"second\"", "3");
  refused(one_task("void bad(op_task_memory int *x) {}", "worse", note, 2), OP_ERR_KERNEL, "type \"second\"",
          "worse");
  refused(one_task("void bad(int number, op_task_memory int *x) {}", "bad", note, 2), OP_ERR_KERNEL,
          "type \"second\"", "parameter 1, \"int number\", is no pointer");
  /* The stand-in's compiler has words of its own. */
  if (strcmp(getenv("OP2_BACKEND"), "opencl") == 0) {
    refused(one_task("void bad(op_task_memory int *x) {\n  y = 2;\n}\n", "bad", note, 2), OP_ERR_COMPILE,
            "if y is a value of the program, it comes with the task's data", "in front of the kernel;");
    refused(one_task("void bad(op_task_memory int *x, const int *y) {}", "bad", note, 2), OP_ERR_COMPILE,
            "type \"second\"", "does not stand before parameter 2, \"const int *y\"");
  }
  refused(one_task(visit_text, "visit", note, 1), OP_ERR_GRAPH, "task 0 (first)", "has 3 parameters");
}

static void nothing(op_running *running, void *data) {
  (void)running, (void)data;
}

LIBRARY_TEST(wrong_graphs_are_refused) {
  op_graph graph = op_decl_graph("mixed");
  const op_task_type with = op_graph_type(graph, "with", on_device() ? note : NULL),
                     without = op_graph_type(graph, "without", nothing);
  fails(OP_ERR_ARGUMENT, op_graph_kernel(graph, with, NULL, "note", 0));
  fails(OP_ERR_ARGUMENT, op_graph_kernel(graph, with, note_text, "note", 5000));
  fails(OP_ERR_HANDLE, op_graph_kernel(graph, 12, note_text, "note", 0));
  works(op_graph_kernel(graph, with, note_text, "note", 0));
  assert_true(op_graph_task(graph, without, NULL, 0, 1) != 0);
  fails(OP_ERR_STATE, op_graph_kernel(graph, without, note_text, "note", 0));
  if (on_device()) {
    works(op_graph_run(graph));
    works(op_free_graph(graph));
  } else
    refused(graph, OP_ERR_BACKEND, "type \"with\"", "op_graph_");
  graph = op_decl_graph("ranks");
  works(op_graph_ranks(graph, OP_GRAPH_WHOLE));
  fails(OP_ERR_STATE, op_graph_kernel(graph, op_graph_type(graph, "with", note), note_text, "note", 0));
  works(op_free_graph(graph));
}

/* The stand-in has 1 GiB. */
LIBRARY_TEST(large_graphs_are_refused) {
  const size_t bytes = (size_t)3 << 29;
  void *memory = getenv("OP2_CUDA_DRIVER") ? malloc(bytes) : NULL;
  if (!memory)
    return;
  op_graph graph = op_decl_graph("wrong");
  const op_task_type type = op_graph_type(graph, "visit", visit);
  works(op_graph_kernel(graph, type, visit_text, "visit", 0));
  const op_resource large = op_graph_resource(graph, 0, "large");
  works(op_graph_memory(graph, large, memory, bytes));
  works(op_graph_lock(graph, op_graph_task(graph, type, NULL, 0, 1), large));
  refused(graph, OP_ERR_MEMORY, "graph \"wrong\" needs 16106", "bytes free of");
  free(memory);
}

int main(int argc, char **argv) {
  const char *backend = getenv("OP2_BACKEND");
  by_several = (argc > 1 && strcmp(argv[1], "all") == 0) || !backend || strcmp(backend, "opencl") != 0;
  return run_these(NULL, NULL);
}
