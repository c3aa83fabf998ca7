/* Gravity by an octree (Barnes and Hut). Cells that touch one another act particle by particle, in tasks that lock both
 * cells; what is farther away acts as a whole, in tasks that lock their own cell. Cells lie in one another, and so do
 * their locks: a task on a large cell keeps out those on its parts. Masses are found by tasks too, from the leaves up.
 * With OP2_BACKEND=opencl, cuda or hip the tasks run on a device.
 * On several ranks each has all particles and finds all masses; forces lie apart, by cells of tasks, and travel.
 * Checked: the error against the direct sum, and the energy over some steps. */
#include <math.h>
#include <op2jit.h>
#include <op2jit_tasks.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../simulated.h"
#include "barnes_hut_device.h"

struct particle {
  double x[3], v[3], mass;
};
struct force {
  double a[3], potential;
};

struct mass {
  double mass, centre[3];
};

struct cell {
  double low[3], size;     /* a cube */
  int first, count, child; /* its particles; the first of eight parts, 0: none */
  int end;                 /* behind all cells in it, if it has parts: they lie from the first part on */
  op_resource resource;
  op_task mass_task, pull; /* pull: of a cell that is a task's; 0: of none */
};

static struct sky {
  struct particle *p, *spare;
  struct force *f; /* of each particle */
  struct cell *cells;
  struct mass *masses;                           /* of each cell's particles */
  int particles, ncells, most_cells, leaf, task; /* particles in a leaf, and for a task, at most */
  int ranks;                                     /* do all ranks have the graph together? */
  int group;                                     /* threads of a group on a device, 0: as it likes */
  double angle, soft, step;
} sky;

/* ---- the tree ---- */

static int octant(const struct cell *c, const struct particle *p) {
  int o = 0;
  for (int k = 0; k < 3; k++)
    o |= (p->x[k] >= c->low[k] + c->size / 2) << k;
  return o;
}

static void split(int at) {
  struct cell *c = &sky.cells[at];
  int start[9] = {0}, next[8];
  if (c->count <= sky.leaf || sky.ncells + 8 > sky.most_cells || c->size < 1e-6)
    return;
  for (int i = 0; i < c->count; i++)
    start[octant(c, &sky.p[c->first + i]) + 1]++;
  for (int o = 0; o < 8; o++)
    start[o + 1] += start[o];
  memcpy(next, start, sizeof next);
  for (int i = 0; i < c->count; i++)
    sky.spare[next[octant(c, &sky.p[c->first + i])]++] = sky.p[c->first + i];
  memcpy(sky.p + c->first, sky.spare, (size_t)c->count * sizeof *sky.p);
  c->child = sky.ncells;
  sky.ncells += 8;
  for (int o = 0; o < 8; o++) {
    struct cell *part = &sky.cells[c->child + o];
    *part =
        (struct cell){.size = c->size / 2, .first = c->first + start[o], .count = start[o + 1] - start[o]};
    for (int k = 0; k < 3; k++)
      part->low[k] = c->low[k] + (o >> k & 1 ? c->size / 2 : 0);
    split(c->child + o);
  }
  c->end = sky.ncells;
}

static void make_tree(void) {
  struct cell all = {.count = sky.particles};
  double high = -INFINITY;
  for (int k = 0; k < 3; k++)
    all.low[k] = INFINITY;
  for (int i = 0; i < sky.particles; i++)
    for (int k = 0; k < 3; k++)
      all.low[k] = fmin(all.low[k], sky.p[i].x[k]);
  for (int i = 0; i < sky.particles; i++)
    for (int k = 0; k < 3; k++)
      high = fmax(high, sky.p[i].x[k] - all.low[k]);
  all.size = high * 1.000001 + 1e-9;
  sky.cells[0] = all;
  sky.ncells = 1;
  split(0);
}

/* Do the cubes touch? */
static int near(const struct cell *a, const struct cell *b) {
  const double little = 1e-9 * (a->size + b->size);
  for (int k = 0; k < 3; k++)
    if (a->low[k] > b->low[k] + b->size + little || b->low[k] > a->low[k] + a->size + little)
      return 0;
  return 1;
}

/* ---- what acts ---- */

static void act(int one, int other) {
  const struct particle *a = &sky.p[one], *b = &sky.p[other];
  struct force *fa = &sky.f[one], *fb = &sky.f[other];
  double d[3], r2 = sky.soft * sky.soft;
  for (int k = 0; k < 3; k++) {
    d[k] = b->x[k] - a->x[k];
    r2 += d[k] * d[k];
  }
  const double s = 1 / sqrt(r2), s3 = s * s * s;
  for (int k = 0; k < 3; k++) {
    fa->a[k] += b->mass * s3 * d[k];
    fb->a[k] -= a->mass * s3 * d[k];
  }
  fa->potential -= b->mass * s;
  fb->potential -= a->mass * s;
}

/* A mass that does not feel it. */
static void pull(const struct particle *a, struct force *f, const double *x, double mass) {
  double d[3], r2 = sky.soft * sky.soft;
  for (int k = 0; k < 3; k++) {
    d[k] = x[k] - a->x[k];
    r2 += d[k] * d[k];
  }
  const double s = 1 / sqrt(r2), s3 = mass * s * s * s;
  for (int k = 0; k < 3; k++)
    f->a[k] += s3 * d[k];
  f->potential -= mass * s;
}

static void act_pair(const struct cell *a, const struct cell *b) {
  if (!near(a, b) || !a->count || !b->count)
    return;
  if (a->child && (a->size >= b->size || !b->child)) {
    for (int o = 0; o < 8; o++)
      act_pair(&sky.cells[a->child + o], b);
  } else if (b->child) {
    for (int o = 0; o < 8; o++)
      act_pair(a, &sky.cells[b->child + o]);
  } else
    for (int i = 0; i < a->count; i++)
      for (int j = 0; j < b->count; j++)
        act(a->first + i, b->first + j);
}

static void act_self(const struct cell *c) {
  if (!c->child) {
    for (int i = 0; i < c->count; i++)
      for (int j = i + 1; j < c->count; j++)
        act(c->first + i, c->first + j);
    return;
  }
  for (int o = 0; o < 8; o++) {
    act_self(&sky.cells[c->child + o]);
    for (int q = o + 1; q < 8; q++)
      act_pair(&sky.cells[c->child + o], &sky.cells[c->child + q]);
  }
}

/* All that does not touch the leaf. */
static void pull_leaf(const struct cell *leaf, const struct cell *from) {
  const struct mass *mass = &sky.masses[from - sky.cells];
  double d2 = 0;
  if (!from->count)
    return;
  const int touches = near(leaf, from);
  for (int k = 0; k < 3; k++) {
    const double d = mass->centre[k] - (leaf->low[k] + leaf->size / 2);
    d2 += d * d;
  }
  const double distance = sqrt(d2) - 0.87 * leaf->size;
  if (!touches && distance > 0 && from->size < sky.angle * distance) {
    for (int i = 0; i < leaf->count; i++)
      pull(&sky.p[leaf->first + i], &sky.f[leaf->first + i], mass->centre, mass->mass);
  } else if (from->child) {
    for (int o = 0; o < 8; o++)
      pull_leaf(leaf, &sky.cells[from->child + o]);
  } else if (!touches)
    for (int i = 0; i < leaf->count; i++)
      for (int j = 0; j < from->count; j++)
        pull(&sky.p[leaf->first + i], &sky.f[leaf->first + i], sky.p[from->first + j].x,
             sky.p[from->first + j].mass);
}

static void pull_all(const struct cell *c) {
  for (int o = 0; c->child && o < 8; o++)
    pull_all(&sky.cells[c->child + o]);
  if (!c->child && c->count)
    pull_leaf(c, &sky.cells[0]);
}

static void find_mass(const struct cell *c, int all) {
  double sum[3] = {0, 0, 0};
  struct mass *m = &sky.masses[c - sky.cells];
  m->mass = 0;
  for (int o = 0; c->child && o < 8; o++) {
    const struct mass *part = &sky.masses[c->child + o];
    if (all)
      find_mass(&sky.cells[c->child + o], 1);
    m->mass += part->mass;
    for (int k = 0; k < 3; k++)
      sum[k] += part->mass * part->centre[k];
  }
  for (int i = 0; !c->child && i < c->count; i++) {
    m->mass += sky.p[c->first + i].mass;
    for (int k = 0; k < 3; k++)
      sum[k] += sky.p[c->first + i].mass * sky.p[c->first + i].x[k];
  }
  for (int k = 0; k < 3; k++)
    m->centre[k] = m->mass > 0 ? sum[k] / m->mass : 0;
}

/* ---- the tasks ---- */

struct cells {
  int one, other;      /* other, of masses: with all parts */
  double soft2, angle; /* for devices */
};

static void run_self(op_running *running, void *data) {
  (void)running;
  act_self(&sky.cells[((const struct cells *)data)->one]);
}
static void run_pair(op_running *running, void *data) {
  const struct cells *c = data;
  (void)running;
  act_pair(&sky.cells[c->one], &sky.cells[c->other]);
}
static void run_pull(op_running *running, void *data) {
  (void)running;
  pull_all(&sky.cells[((const struct cells *)data)->one]);
}
/* Of a cell of tasks with all its parts, of a larger one from its parts. */
static void run_mass(op_running *running, void *data) {
  const struct cells *c = data;
  (void)running;
  find_mass(&sky.cells[c->one], c->other);
}

static struct types {
  op_graph graph;
  op_task_type self, pair, pull, mass;
  op_resource tree, particles, masses; /* of all; not on ranks */
  op_task *all;                        /* on ranks: that change forces */
  int count, most;
} types;

static int is_large(const struct cell *c) {
  return c->child && c->count > sky.task;
}

/* What tasks read, where one process has the graph: ranks have it all. */
static void use_sky(op_task task) {
  if (sky.ranks)
    return;
  op_graph_use(types.graph, task, types.tree);
  op_graph_use(types.graph, task, types.particles);
}

static op_task add(op_task_type type, int one, int other, double cost) {
  const struct cells c = {one, other, sky.soft * sky.soft, sky.angle};
  const op_task task = op_graph_task(types.graph, type, &c, sizeof c, cost);
  op_graph_lock(types.graph, task, sky.cells[one].resource);
  if (other != one)
    op_graph_lock(types.graph, task, sky.cells[other].resource);
  use_sky(task);
  if (sky.ranks && types.count == types.most)
    types.all = realloc(types.all, (size_t)(types.most = 2 * types.most + 64) * sizeof *types.all);
  if (sky.ranks && types.all)
    types.all[types.count++] = task;
  return task;
}

static op_resource masses_of(int first, int end) {
  const op_resource some = op_graph_resource(types.graph, types.masses, NULL);
  op_graph_memory(types.graph, some, sky.masses + first, (size_t)(end - first) * sizeof *sky.masses);
  return some;
}

/* The masses of a cell, and of all in it unless it is large. Each rank finds them itself. */
static op_task add_mass(int at) {
  struct cell *cell = &sky.cells[at];
  const struct cells c = {at, !is_large(cell), 0, 0};
  const op_task task =
      op_graph_task(types.graph, types.mass, &c, sizeof c, is_large(cell) ? 8 : (double)cell->count);
  if (sky.ranks) {
    op_graph_place(types.graph, task, OP_EVERY_RANK);
    return task;
  }
  op_graph_lock(types.graph, task, masses_of(at, at + 1));
  use_sky(task);
  if (cell->child && !is_large(cell))
    op_graph_lock(types.graph, task, masses_of(cell->child, cell->end));
  return task;
}

static void add_pairs(int one, int other) {
  const struct cell *a = &sky.cells[one], *b = &sky.cells[other];
  if (!a->count || !b->count || !near(a, b))
    return;
  if (is_large(a) && (a->size >= b->size || !is_large(b)))
    for (int o = 0; o < 8; o++)
      add_pairs(a->child + o, other);
  else if (is_large(b))
    for (int o = 0; o < 8; o++)
      add_pairs(one, b->child + o);
  else
    add(types.pair, one, other, 0.5 * sky.leaf * (a->count + b->count));
}

static void add_cell(int at, op_resource above) {
  struct cell *c = &sky.cells[at];
  c->resource = op_graph_resource(types.graph, above, NULL);
  c->mass_task = c->count ? add_mass(at) : 0;
  if (is_large(c)) {
    for (int o = 0; o < 8; o++) {
      add_cell(c->child + o, c->resource);
      if (sky.cells[c->child + o].mass_task)
        op_graph_depend(types.graph, c->mass_task, sky.cells[c->child + o].mass_task);
    }
    for (int o = 0; o < 8; o++)
      for (int q = o + 1; q < 8; q++)
        add_pairs(c->child + o, c->child + q);
  } else if (c->count) {
    op_graph_memory(types.graph, c->resource, sky.f + c->first, (size_t)c->count * sizeof *sky.f);
    add(types.self, at, at, 4.0 * sky.leaf * c->count);
    c->pull = add(types.pull, at, at, 8.0 * sky.leaf * c->count);
    if (!sky.ranks)
      op_graph_use(types.graph, c->pull, types.masses);
  }
}

/* On all ranks: each moves all particles. It comes behind all that changes forces. */
static void add_collect(void) {
  const op_task last = op_graph_task(types.graph, op_graph_type(types.graph, "collect", NULL), NULL, 0, 0);
  op_graph_place(types.graph, last, OP_EVERY_RANK);
  for (int i = 0; i < types.count; i++)
    op_graph_depend(types.graph, last, types.all[i]);
  for (int c = 0; c < sky.ncells; c++)
    if (sky.cells[c].pull)
      op_graph_use(types.graph, last, sky.cells[c].resource);
}

static op_resource add_memory(const char *name, const void *memory, size_t bytes) {
  const op_resource resource = op_graph_resource(types.graph, 0, name);
  op_graph_memory(types.graph, resource, memory, bytes);
  return resource;
}

static void add_memories(void) {
  types.tree = add_memory("tree", sky.cells, (size_t)sky.ncells * sizeof *sky.cells);
  types.particles = add_memory("particles", sky.p, (size_t)sky.particles * sizeof *sky.p);
  types.masses = add_memory("masses", sky.masses, (size_t)sky.ncells * sizeof *sky.masses);
  op_graph_kernel(types.graph, types.self, device_forces, "self", sky.group);
  op_graph_kernel(types.graph, types.pair, device_forces, "pair", sky.group);
  op_graph_kernel(types.graph, types.pull, device_forces, "pull", sky.group);
  op_graph_kernel(types.graph, types.mass, device_forces, "mass", sky.group);
}

/* Who pulls from afar needs all masses. */
static op_graph make_graph(void) {
  types.graph = op_decl_graph("barnes_hut");
  types.count = 0;
  if (sky.ranks)
    op_graph_ranks(types.graph, OP_GRAPH_WHOLE);
  types.self = op_graph_type(types.graph, "self", run_self);
  types.pair = op_graph_type(types.graph, "pair", run_pair);
  types.pull = op_graph_type(types.graph, "pull", run_pull);
  types.mass = op_graph_type(types.graph, "mass", run_mass);
  if (!sky.ranks)
    add_memories();
  add_cell(0, 0);
  for (int c = 0; c < sky.ncells; c++)
    if (sky.cells[c].pull)
      op_graph_depend(types.graph, sky.cells[c].pull, sky.cells[0].mass_task);
  if (sky.ranks)
    add_collect();
  return types.graph;
}

static void clear_forces(void) {
  memset(sky.f, 0, (size_t)sky.particles * sizeof *sky.f);
}

/* ---- the start, and the check ---- */

static double random_number(void) {
  static unsigned long long state = 99;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) / (double)(1ull << 53);
}

/* A ball that is denser inside, and turns. */
static int make_sky(int n) {
  sky.particles = n;
  sky.most_cells = 1 + 8 * n;
  sky.p = calloc((size_t)n, sizeof *sky.p);
  sky.spare = calloc((size_t)n, sizeof *sky.spare);
  sky.f = calloc((size_t)n, sizeof *sky.f);
  sky.cells = calloc((size_t)sky.most_cells, sizeof *sky.cells);
  sky.masses = calloc((size_t)sky.most_cells, sizeof *sky.masses);
  if (!sky.p || !sky.spare || !sky.f || !sky.cells || !sky.masses)
    return 0;
  for (int i = 0; i < n; i++) {
    const double r = pow(random_number(), 0.6), z = 2 * random_number() - 1,
                 turn = 6.283185307 * random_number();
    const double flat = sqrt(1 - z * z);
    struct particle *p = &sky.p[i];
    p->x[0] = r * flat * cos(turn);
    p->x[1] = r * flat * sin(turn);
    p->x[2] = r * z;
    p->v[0] = -0.5 * p->x[1];
    p->v[1] = 0.5 * p->x[0];
    p->mass = 1.0 / n;
  }
  return 1;
}

/* Root of the mean square of the errors of some particles, by that of their accelerations. */
static double force_error(void) {
  double error = 0, norm = 0;
  for (int i = 0; i < sky.particles; i += 1 + sky.particles / 500) {
    struct force one = {.potential = 0};
    for (int j = 0; j < sky.particles; j++)
      if (j != i)
        pull(&sky.p[i], &one, sky.p[j].x, sky.p[j].mass);
    for (int k = 0; k < 3; k++) {
      error += (one.a[k] - sky.f[i].a[k]) * (one.a[k] - sky.f[i].a[k]);
      norm += one.a[k] * one.a[k];
    }
  }
  return sqrt(error / norm);
}

static double energy(void) {
  double sum = 0;
  for (int i = 0; i < sky.particles; i++) {
    const struct particle *p = &sky.p[i];
    sum +=
        p->mass * (sky.f[i].potential / 2 + (p->v[0] * p->v[0] + p->v[1] * p->v[1] + p->v[2] * p->v[2]) / 2);
  }
  return sum;
}

static void push(double move) {
  for (int i = 0; i < sky.particles; i++)
    for (int k = 0; k < 3; k++) {
      sky.p[i].v[k] += sky.step / 2 * sky.f[i].a[k];
      sky.p[i].x[k] += move * sky.p[i].v[k];
    }
}

/* Of all bits of the forces. */
static unsigned long long sum_bits(void) {
  unsigned long long sum = 0, bits[4];
  for (int i = 0; i < sky.particles; i++) {
    memcpy(bits, &sky.f[i], sizeof bits);
    for (int k = 0; k < 4; k++)
      sum = (sum ^ bits[k]) * 1099511628211u;
  }
  return sum;
}

static int write_picture(const char *path) {
  FILE *file = fopen(path, "w");
  if (!file)
    return 0;
  fprintf(file, "# vtk DataFile Version 3.0\nparticles\nASCII\nDATASET POLYDATA\nPOINTS %d float\n",
          sky.particles);
  for (int i = 0; i < sky.particles; i++)
    fprintf(file, "%g %g %g\n", sky.p[i].x[0], sky.p[i].x[1], sky.p[i].x[2]);
  fprintf(file, "VERTICES %d %d\n", sky.particles, 2 * sky.particles);
  for (int i = 0; i < sky.particles; i++)
    fprintf(file, "1 %d\n", i);
  fprintf(file, "POINT_DATA %d\nSCALARS potential float 1\nLOOKUP_TABLE default\n", sky.particles);
  for (int i = 0; i < sky.particles; i++)
    fprintf(file, "%g\n", sky.f[i].potential);
  return fclose(file) == 0;
}

int main(int argc, char **argv) {
  int n = 20000, steps = 3, threads = 0, ranks = 0;
  const char *picture = NULL;
  sky.leaf = 32;
  sky.task = 512;
  sky.angle = 0.6;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--particles"))
      n = atoi(value);
    else if (!strcmp(argv[a], "--steps"))
      steps = atoi(value);
    else if (!strcmp(argv[a], "--leaf"))
      sky.leaf = atoi(value);
    else if (!strcmp(argv[a], "--task"))
      sky.task = atoi(value);
    else if (!strcmp(argv[a], "--simulate"))
      threads = atoi(value);
    else if (!strcmp(argv[a], "--ranks"))
      ranks = atoi(value);
    else if (!strcmp(argv[a], "--group"))
      sky.group = atoi(value);
    else if (!strcmp(argv[a], "--vtk"))
      picture = value;
    else
      n = 0;
    a++;
  }
  if (n < 2 || n > 20000000 || steps < 0 || sky.leaf < 1 || sky.task < 1 || !make_sky(n)) {
    fprintf(stderr, "usage: barnes_hut [--particles N] [--steps N] [--leaf N] [--task N] [--simulate "
                    "THREADS] [--ranks RANKS] [--group THREADS] [--vtk FILE]\n");
    return 2;
  }
  sky.soft = 0.02;
  sky.step = 0.01;
  if (op_init(argc, argv, 1))
    return 1;
  sky.ranks = op_rank_count() > 1 || ranks > 0;
  double seconds = 0, error = 0, first = 0;
  op_graph_facts_t facts;
  for (int s = 0; s <= steps; s++) {
    make_tree();
    clear_forces();
    op_graph graph = make_graph();
    const double start = op_wtime();
    op_graph_run(graph);
    op_graph_facts(graph, &facts);
    seconds += facts.groups ? facts.seconds : op_wtime() - start; /* without the compiler */
    if (s > 0)
      push(0);
    else {
      error = force_error();
      first = energy();
    }
    if (s < steps)
      push(sky.step);
    if (threads > 0 && s == steps)
      say_simulated(graph, !sky.ranks ? 0 : ranks > 0 ? ranks : op_rank_count(), threads);
    op_free_graph(graph);
  }
  op_printf("%d particles in %d cells, %lld tasks, %.2f ms for all forces on %lld %s\n", n, sky.ncells,
            facts.tasks, 1e3 * seconds / (steps + 1), facts.threads,
            facts.groups ? "groups of a device" : "threads");
  if (picture && !write_picture(picture)) {
    fprintf(stderr, "barnes_hut: cannot write %s\n", picture);
    return 1;
  }
  const double drift = fabs(energy() / first - 1);
  const int good = error < 0.01 && drift < 5e-3;
  if (sky.ranks)
    op_printf("%d ranks: this one sent %lld messages of %.1f MB in a step, and waited %.3f s\n",
              op_rank_count(), facts.messages, 1e-6 * (double)facts.message_bytes, facts.waited);
  op_printf("forces differ by %.2e from the direct sum, energy by %.1e from the first, bits %016llx\n%s\n",
            error, drift, sum_bits(), good ? "PASSED" : "FAILED");
  return op_exit() || !good;
}
