/* Graphs of which a device has a part: a device that is only memory of its own, and runs the tables' tasks in any order that
 * they allow. Random programs leave what they leave one task after the other. */
#include <unistd.h>

#include "op2jit_tools.h"
#include "small.h"
#include "tasks/device.h"

enum { GROUPS = 6, EACH = 4, CELLS = GROUPS * EACH, TOUCHED = 3, TASKS = 90 };

/* `sum` does not depend on the order of those that add to it, `value` does on that of those that set it. */
struct cell {
  unsigned long value, sum;
};

/* The first cells that it touches are locked. Nobody waits for a task that only adds but those that look. */
struct step {
  int number, nlocks, first[TOUCHED], count[TOUCHED];
  bool adds, host;
};

static struct cell cells[CELLS];

/* Amounts that tasks of the host add, by their numbers: such a task adds to the first cell that its own task locks. */
static op_task_type extra_type;
static op_resource extra_lock[CELLS];
struct extra {
  int number, cell;
};
static int extras_of(const struct step *s) {
  return s->host ? s->number % 3 : 0;
}
static struct extra extra_of(const struct step *s, int i) {
  return (struct extra){s->number + i, s->first[0]};
}
static void do_extra(const struct extra *e, struct cell *memory) {
  memory[e->cell].sum += (unsigned long)e->number * 2654435761u;
}
static void adds_extra(op_running *running, void *data) {
  (void)running;
  do_extra(data, cells);
}

static void do_step(const struct step *s, struct cell *const *at) {
  unsigned long seen = (unsigned long)s->number;
  for (int i = s->nlocks; i < TOUCHED; i++)
    for (int k = 0; k < s->count[i]; k++)
      seen = seen * 31 + at[i][k].value + 7 * at[i][k].sum;
  for (int i = 0; i < s->nlocks; i++)
    for (int k = 0; k < s->count[i]; k++) {
      if (s->adds)
        at[i][k].sum += seen;
      else
        at[i][k].value = at[i][k].value * 3 + seen + (unsigned long)k;
    }
}

static void do_there(const struct step *s, struct cell *memory) {
  struct cell *at[TOUCHED];
  for (int i = 0; i < TOUCHED; i++)
    at[i] = memory + s->first[i];
  do_step(s, at);
}

static void works(op_running *running, void *data) {
  const struct step *s = data;
  do_there(s, cells);
  for (int i = 0; i < extras_of(s); i++) {
    const struct extra e = extra_of(s, i);
    assert_int_equal(op2jit_running_add(running, extra_type, &e, sizeof e, 1, 1, &extra_lock[e.cell]), OP_OK);
  }
}

static void fails_once(op_running *running, void *data) {
  int *left = *(int **)data;
  if ((*left)-- > 0)
    op2jit_running_fail(running, "not this time");
}

/* ---- two that read ---- */

/* Memory of which the first and the last are copied back one after the other, for much lies between them. Nothing here orders
 * what one thread does before what another one does. */
static struct {
  struct cell at[TOUCHED][512];
  _Atomic bool copying, seen;
} apart;

static void await(const _Atomic bool *what) {
  for (int i = 0; i < 20000 && !atomic_load_explicit(what, memory_order_relaxed); i++)
    usleep(100);
}

static void waits_for_copies(op_running *running, void *data) {
  (void)running, (void)data;
  await(&apart.copying);
}

static void looks(op_running *running, void *data) {
  (void)running, (void)data;
  assert_int_equal(apart.at[0][0].value, 31); /* one use, of zeros */
  atomic_store_explicit(&apart.seen, true, memory_order_relaxed);
}

/* ---- the device ---- */

struct fake {
  unsigned char *memory;
  unsigned seed;
  int copies_in, copies_out, phases, fails;
  bool slow; /* the second copy back takes until somebody has looked */
};

static int fake_open(void *self, size_t bytes, const struct tasks_tables *most, struct error *err) {
  struct fake *f = self;
  (void)most, (void)err;
  f->memory = malloc(bytes + 1);
  memset(f->memory, 0x5a, bytes + 1);
  return OP_OK;
}

static void fake_enter(void *self) {
  (void)self;
}

static int fake_in(void *self, size_t at, const void *from, size_t bytes, struct error *err) {
  struct fake *f = self;
  (void)err;
  f->copies_in++;
  memcpy(f->memory + at, from, bytes);
  return OP_OK;
}

static int fake_out(void *self, void *to, size_t at, size_t bytes, struct error *err) {
  struct fake *f = self;
  (void)err;
  f->copies_out++;
  memcpy(to, f->memory + at, bytes);
  if (f->slow && f->copies_out == 2) {
    atomic_store_explicit(&apart.copying, true, memory_order_relaxed);
    await(&apart.seen);
  }
  return OP_OK;
}

static void fake_task(const struct fake *f, const struct tasks_tables *t, int i) {
  const long long *places = t->places + t->items[t->items[TABLE_PLACES] + i];
  struct cell *at[TOUCHED];
  struct step s;
  if (t->items[t->items[TABLE_TYPE] + i] != 0)
    return;
  memcpy(&s, f->memory + places[0], sizeof s);
  for (int k = 0; k < TOUCHED; k++)
    at[k] = (struct cell *)(void *)(f->memory + places[k + 1]);
  do_step(&s, at);
}

/* From a task at random on the first one that waits for nothing. */
static int fake_work(void *self, const struct tasks_tables *t, int *groups, struct error *err) {
  struct fake *f = self;
  int *head = t->items;
  const int n = head[TABLE_LEFT];
  int *wait = head + head[TABLE_WAIT];
  *groups = 1;
  f->phases++;
  if (f->fails-- > 0)
    return error_set(err, OP_ERR_DEVICE, "the device is not well");
  while (head[TABLE_LEFT] > 0) {
    f->seed = f->seed * 1103515245u + 12345u;
    int i = (int)(f->seed / 7 % (unsigned)n), tries = 0;
    while (wait[i] != 0 && tries++ < n)
      i = (i + 1) % n;
    if (tries > n)
      fail_msg("tasks of a phase wait for others");
    fake_task(f, t, i);
    wait[i] = -1;
    for (int k = head[head[TABLE_AFTER] + i]; k < head[head[TABLE_AFTER] + i + 1]; k++)
      wait[head[head[TABLE_AFTER_ITEMS] + k]]--;
    head[TABLE_LEFT]--;
    head[TABLE_EXECUTED]++;
  }
  return OP_OK;
}

static int run_with(struct task_graph *g, struct fake *f, struct team *team, int threads, struct error *err) {
  static const int parameters[16] = {TOUCHED + 1};
  const struct tasks_device device = {f, parameters, fake_open, fake_enter, fake_in, fake_out, fake_work};
  const struct tasks_options options = {.team = team, .threads = threads};
  const int code = tasks_run_on_device(g, &device, &options, err);
  free(f->memory);
  f->memory = NULL;
  return code;
}

/* ---- random programs ---- */

struct program {
  struct task_graph *g;
  op_task_type device, host, join;
  op_resource groups[GROUPS], single[CELLS];
  struct step steps[TASKS];
  op_task tasks[TASKS];
  unsigned seed;
  struct error err;
};

static int pick(struct program *p, int below) {
  p->seed = p->seed * 1103515245u + 12345u;
  return (int)(p->seed / 65536 % (unsigned)below);
}

static void open_program(struct program *p, unsigned seed) {
  *p = (struct program){.g = tasks_new("mixed", 3), .seed = seed};
  p->device = tasks_add_type(p->g, "there", NULL, &p->err);
  expect_ok(tasks_add_kernel(p->g, p->device, "a text", "there", 0, &p->err), &p->err);
  p->host = tasks_add_type(p->g, "here", works, &p->err);
  p->join = tasks_add_type(p->g, "join", NULL, &p->err);
  extra_type = tasks_add_type(p->g, "extra", adds_extra, &p->err);
  for (int c = 0; c < CELLS; c++) {
    cells[c] = (struct cell){(unsigned long)c, 1};
    if (c % EACH == 0) /* half of them have memory, the others only what lies in them */
      p->groups[c / EACH] = tasks_add_resource(p->g, 0, NULL, &p->err);
    if (c % EACH == 0 && c / EACH % 2 == 0)
      tasks_memory(p->g, p->groups[c / EACH], &cells[c], EACH * sizeof *cells, &p->err);
    p->single[c] = extra_lock[c] = tasks_add_resource(p->g, p->groups[c / EACH], NULL, &p->err);
    tasks_memory(p->g, p->single[c], &cells[c], sizeof *cells, &p->err);
  }
}

/* Groups of which only the single ones have memory are for the host. */
static void choose_step(struct program *p, struct step *s, int number, bool host) {
  *s = (struct step){.number = number, .nlocks = 1 + pick(p, 2), .adds = pick(p, 3) == 0, .host = host};
  for (int i = 0; i < TOUCHED; i++) {
    const int group = pick(p, GROUPS);
    const bool all = pick(p, 4) == 0 && (host || group % 2 == 0);
    s->count[i] = all ? EACH : 1;
    s->first[i] = group * EACH + (all ? 0 : pick(p, EACH));
    for (int k = 0; k < i; k++)
      if (s->first[i] < s->first[k] + s->count[k] && s->first[k] < s->first[i] + s->count[i])
        i = -1, k = TOUCHED; /* no two are the same */
  }
}

static bool has_order(const struct step *a, const struct step *b) {
  for (int i = 0; i < TOUCHED; i++)
    for (int k = 0; k < TOUCHED; k++)
      if (a->first[i] < b->first[k] + b->count[k] && b->first[k] < a->first[i] + a->count[i] &&
          (i < a->nlocks || k < b->nlocks) && !(i < a->nlocks && k < b->nlocks && a->adds && b->adds))
        return true;
  return false;
}

static void add_steps(struct program *p, int hosts) {
  for (int t = 0; t < TASKS; t++) {
    const bool host = pick(p, 4) < hosts;
    struct step *s = &p->steps[t];
    choose_step(p, s, t + 1, host);
    p->tasks[t] = tasks_add_task(p->g, host ? p->host : p->device, s, sizeof *s, 1 + pick(p, 9), &p->err);
    for (int i = 0; i < TOUCHED; i++) {
      const op_resource r = s->count[i] > 1 ? p->groups[s->first[i] / EACH] : p->single[s->first[i]];
      (i < s->nlocks ? tasks_lock : tasks_use)(p->g, p->tasks[t], r, &p->err);
    }
    /* Some wait behind a task that joins others. */
    const op_task join = pick(p, 5) ? 0 : tasks_add_task(p->g, p->join, NULL, 0, 0, &p->err);
    if (join)
      tasks_depend(p->g, p->tasks[t], join, &p->err);
    for (int before = 0; before < t; before++)
      if (has_order(&p->steps[before], s))
        tasks_depend(p->g, join ? join : p->tasks[t], p->tasks[before], &p->err);
  }
  expect_ok(p->err.code, &p->err);
}

static int count_extras(const struct program *p) {
  int count = 0;
  for (int t = 0; t < TASKS; t++)
    count += extras_of(&p->steps[t]);
  return count;
}

static void run_program(unsigned seed, int hosts, struct team *team, int threads) {
  struct program p;
  struct cell expected[CELLS];
  open_program(&p, seed);
  add_steps(&p, hosts);
  memcpy(expected, cells, sizeof cells);
  for (int round = 0; round < 2; round++) {
    struct fake f = {.seed = seed};
    for (int t = 0; t < TASKS; t++) {
      do_there(&p.steps[t], expected);
      for (int i = 0; i < extras_of(&p.steps[t]); i++)
        do_extra((struct extra[]){extra_of(&p.steps[t], i)}, expected);
    }
    expect_ok(run_with(p.g, &f, team, threads, &p.err), &p.err);
    if (memcmp(expected, cells, sizeof cells))
      fail_msg("%d threads, seed %u, %d of 4 on the host, round %d: not what tasks leave one by one", threads,
               seed, hosts, round);
    const op_graph_facts_t facts = facts_of(p.g);
    assert_int_equal(facts.executed, facts.tasks + count_extras(&p));
    assert_int_equal(facts.runs, round + 1);
    if (hosts == 0) { /* all of it at once */
      assert_int_equal(f.phases, 1);
      assert_int_equal(f.copies_out, 1);
    }
  }
  tasks_free(p.g);
  error_free(&p.err);
}

unsigned mixed_seeds = 12;

TEST(mixed_graphs_leave_what_one_task_after_the_other_leaves) {
  for (int c = 0; c < 3; c++) {
    struct team *team = open_team(counts[c]);
    for (unsigned seed = 1; seed <= mixed_seeds; seed++)
      run_program(seed, (int)seed % 4, team, counts[c]);
    team_close(team);
  }
}

/* Each chain goes there and back; what only one side needs is copied once. */
TEST(copies_are_made_where_they_are_needed) {
  struct program p;
  struct fake f = {.seed = 1};
  struct team *team = open_team(2);
  op_task before = 0;
  open_program(&p, 1);
  for (int t = 0; t < 8; t++) {
    const struct step s = {.number = t, .nlocks = 3, .first = {0, 8, 16}, .count = {1, 1, 1}};
    const op_task task = tasks_add_task(p.g, t / 2 % 2 ? p.host : p.device, &s, sizeof s, 1, &p.err);
    for (int i = 0; i < TOUCHED; i++)
      tasks_lock(p.g, task, p.single[s.first[i]], &p.err);
    if (before)
      tasks_depend(p.g, task, before, &p.err);
    before = task;
  }
  expect_ok(run_with(p.g, &f, team, 2, &p.err), &p.err);
  assert_int_equal(f.phases, 2); /* two tasks each */
  assert_int_equal(f.copies_in,
                   3); /* the tasks' data; cells go together, since nothing else there is between */
  assert_int_equal(f.copies_out, 2); /* little lies between them */
  struct tasks_type_facts type;
  for (int i = 0; tasks_tell_type(p.g, i, &type); i++)
    if (strcmp(type.name, "copy in") == 0)
      assert_int_equal(type.count, 3);
  team_close(team);
  tasks_free(p.g);
}

/* One that waits for all copies, and one for the first that is ready before the second is made. */
TEST(who_only_uses_what_was_copied_back_sees_it) {
  struct program p;
  struct fake f = {.slow = true};
  const struct step s = {.number = 1, .nlocks = TOUCHED - 1, .count = {1, 1, 1}};
  struct team *team = open_team(2);
  open_program(&p, 1);
  const op_task_type waits = tasks_add_type(p.g, "waits", waits_for_copies, &p.err),
                     look = tasks_add_type(p.g, "looks", looks, &p.err);
  const op_task there = tasks_add_task(p.g, p.device, &s, sizeof s, 1, &p.err),
                all = tasks_add_task(p.g, look, NULL, 0, 1, &p.err),
                wait = tasks_add_task(p.g, waits, NULL, 0, 1, &p.err),
                one = tasks_add_task(p.g, look, NULL, 0, 1, &p.err);
  for (int i = 0; i < TOUCHED; i++) {
    const int at = (TOUCHED - i) % TOUCHED; /* the one between is used alone */
    const op_resource r = tasks_add_resource(p.g, 0, NULL, &p.err);
    tasks_memory(p.g, r, apart.at[at], at == 1 ? sizeof *apart.at : sizeof **apart.at, &p.err);
    (at == 1 ? tasks_use : tasks_lock)(p.g, there, r, &p.err);
    tasks_use(p.g, all, r, &p.err);
    if (at == 0)
      tasks_use(p.g, one, r, &p.err);
  }
  tasks_depend(p.g, all, there, &p.err);
  tasks_depend(p.g, one, there, &p.err);
  tasks_depend(p.g, one, wait, &p.err);
  expect_ok(run_with(p.g, &f, team, 2, &p.err), &p.err);
  assert_int_equal(f.copies_out, 2);
  assert_true(apart.seen);
  team_close(team);
  tasks_free(p.g);
}

/* A device that fails, a task that fails: the next run is as if nothing had been. */
TEST(errors_end_the_run_and_not_the_next_one) {
  struct program p;
  struct team *team = open_team(2);
  static int left = 1;
  int *const at = &left;
  open_program(&p, 5);
  const op_task_type once = tasks_add_type(p.g, "once", fails_once, &p.err);
  add_steps(&p, 2);
  const op_task task = tasks_add_task(p.g, once, &at, sizeof at, 1, &p.err);
  tasks_depend(p.g, task, p.tasks[TASKS - 1], &p.err);
  struct fake f = {.seed = 1, .fails = 1};
  assert_int_equal(run_with(p.g, &f, team, 2, &p.err), OP_ERR_DEVICE);
  error_free(&p.err);
  assert_int_equal(run_with(p.g, &f, team, 2, &p.err), OP_ERR_GRAPH);
  error_free(&p.err);
  expect_ok(run_with(p.g, &f, team, 2, &p.err), &p.err);
  assert_int_equal(facts_of(p.g).executed, facts_of(p.g).tasks + count_extras(&p));
  team_close(team);
  tasks_free(p.g);
}
