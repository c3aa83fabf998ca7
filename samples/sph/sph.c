/* Smoothed particles: Gresho's vortex, a gas that turns in a box without walls and should go on turning. Each step has
 * two rounds over neighbours: densities, then forces. Between them one task of each brick of cells finds the pressures:
 * what it waits for and what waits for it meet there, so that there are few dependencies. Tasks on two bricks lock both.
 * Checked: mass, momentum, energy, and the profile of the vortex. */
#include <math.h>
#include <op2jit.h>
#include <op2jit_tasks.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../simulated.h"

static const double pi = 3.14159265358979323846, heat_ratio = 5.0 / 3;

struct particle {
  double x[2], v[2], a[2], u, du, density, pressure;
};

struct pair {
  int one, other;
  double shift[2];
};

enum { NEAR = 4 }; /* of the 8 cells beside one: half */

static struct gas {
  int particles, cells, side, bricks, edge;
  double mass, h, step; /* of a particle; how far it is smoothed, by half; of time */
  struct particle *p, *spare;
  int *start, *brick, *first, *lists, *at; /* at: a cell's place in the lists */
  int ranks;                               /* do all ranks have the graph together? */
  struct pair *near;
} gas;

/* ---- smoothing ---- */

/* The cubic spline in two dimensions, and its slope over r. */
static double spline(double r, double *slope) {
  const double q = r / gas.h, norm = 10 / (7 * pi * gas.h * gas.h);
  if (q < 1) {
    *slope = norm * (-3 + 2.25 * q) / (gas.h * gas.h);
    return norm * (1 - 1.5 * q * q + 0.75 * q * q * q);
  }
  *slope = q < 2 ? -norm * 0.75 * (2 - q) * (2 - q) / (gas.h * r) : 0;
  return q < 2 ? norm * 0.25 * (2 - q) * (2 - q) * (2 - q) : 0;
}

/* Zero: they are too far apart. */
static double distance2(const struct particle *a, const struct particle *b, const double *shift, double *d) {
  for (int k = 0; k < 2; k++)
    d[k] = a->x[k] - b->x[k] - shift[k];
  const double r2 = d[0] * d[0] + d[1] * d[1];
  return r2 < 4 * gas.h * gas.h ? r2 : 0;
}

static void add_density(struct particle *a, struct particle *b, const double *shift) {
  double d[2], slope;
  const double r2 = distance2(a, b, shift, d);
  if (r2 <= 0)
    return;
  const double w = gas.mass * spline(sqrt(r2), &slope);
  a->density += w;
  b->density += w;
}

/* With what damps shocks where two come nearer. */
static void add_force(struct particle *a, struct particle *b, const double *shift) {
  double d[2], slope, vr = 0;
  const double r2 = distance2(a, b, shift, d);
  if (r2 <= 0)
    return;
  spline(sqrt(r2), &slope);
  for (int k = 0; k < 2; k++)
    vr += (a->v[k] - b->v[k]) * d[k];
  const double sound =
      sqrt(heat_ratio * a->pressure / a->density) + sqrt(heat_ratio * b->pressure / b->density);
  const double mu = vr < 0 ? gas.h * vr / (r2 + 0.01 * gas.h * gas.h) : 0;
  const double damp = -0.1 * mu * (sound / 2 - 2 * mu) / (0.5 * (a->density + b->density));
  const double pa = a->pressure / (a->density * a->density), pb = b->pressure / (b->density * b->density);
  for (int k = 0; k < 2; k++) {
    const double force = gas.mass * (pa + pb + damp) * slope * d[k];
    a->a[k] -= force;
    b->a[k] += force;
  }
  a->du += gas.mass * (pa + damp / 2) * slope * vr;
  b->du += gas.mass * (pb + damp / 2) * slope * vr;
}

/* ---- the tasks ---- */

typedef void both(struct particle *a, struct particle *b, const double *shift);

static void act_cells(const struct pair *c, both *act) {
  const int one = gas.at[c->one], other = gas.at[c->other];
  for (int a = gas.start[one]; a < gas.start[one + 1]; a++)
    for (int b = one == other ? a + 1 : gas.start[other]; b < gas.start[other + 1]; b++)
      act(&gas.p[a], &gas.p[b], c->shift);
}

static void act_behind(int brick, int other, both *act) {
  for (int i = gas.first[brick]; i < gas.first[brick + 1]; i++)
    for (int n = 0; n < NEAR; n++) {
      const struct pair *near = &gas.near[gas.lists[i] * NEAR + n];
      if (gas.brick[near->other] == other)
        act_cells(near, act);
    }
}

struct bricks {
  int one, other;
};

static void act_bricks(const struct bricks *b, both *act) {
  for (int i = gas.first[b->one]; b->one == b->other && i < gas.first[b->one + 1]; i++) {
    const struct pair own = {.one = gas.lists[i], .other = gas.lists[i]};
    act_cells(&own, act);
  }
  act_behind(b->one, b->other, act);
  if (b->one != b->other)
    act_behind(b->other, b->one, act);
}

static void run_density(op_running *running, void *data) {
  (void)running;
  act_bricks(data, add_density);
}
static void run_force(op_running *running, void *data) {
  (void)running;
  act_bricks(data, add_force);
}

static void push(struct particle *p) {
  for (int k = 0; k < 2; k++)
    p->v[k] += gas.step / 2 * p->a[k];
  p->u += gas.step / 2 * p->du;
}

/* Of a brick's particles. */
static int begin_of(int brick) {
  return gas.start[gas.first[brick]];
}

/* Each particle of a brick. */
static void each(int brick, void (*what)(struct particle *)) {
  for (int a = begin_of(brick); a < begin_of(brick + 1); a++)
    what(&gas.p[a]);
}

static void begin_one(struct particle *p) {
  double slope;
  push(p);
  for (int k = 0; k < 2; k++) {
    p->x[k] += gas.step * p->v[k];
    p->x[k] -= floor(p->x[k]);
    p->a[k] = 0;
  }
  p->du = 0;
  p->density = gas.mass * spline(0, &slope);
}
static void find_pressure(struct particle *p) {
  p->pressure = (heat_ratio - 1) * p->density * p->u;
}
static void run_begin(op_running *running, void *data) {
  (void)running;
  each(((const struct bricks *)data)->one, begin_one);
}
static void run_ghost(op_running *running, void *data) {
  (void)running;
  each(((const struct bricks *)data)->one, find_pressure);
}
static void run_end(op_running *running, void *data) {
  (void)running;
  each(((const struct bricks *)data)->one, push);
}

/* ---- cells and bricks ---- */

static int cell_of(const struct particle *p) {
  int at[2];
  for (int k = 0; k < 2; k++)
    at[k] = p->x[k] >= 1 ? gas.side - 1 : (int)(p->x[k] * gas.side);
  return at[1] * gas.side + at[0];
}

static void sort_into_cells(void) {
  int *next = gas.start;
  memset(next, 0, ((size_t)gas.cells + 1) * sizeof *next);
  for (int i = 0; i < gas.particles; i++)
    next[gas.at[cell_of(&gas.p[i])] + 1]++;
  for (int c = 0; c < gas.cells; c++)
    next[c + 1] += next[c];
  for (int i = 0; i < gas.particles; i++)
    gas.spare[next[gas.at[cell_of(&gas.p[i])]]++] = gas.p[i];
  for (int c = gas.cells; c > 0; c--)
    next[c] = next[c - 1];
  next[0] = 0;
  struct particle *sorted = gas.spare;
  gas.spare = gas.p;
  gas.p = sorted;
}

static void make_bricks(void) {
  static const int by[NEAR][2] = {{1, 0}, {-1, 1}, {0, 1}, {1, 1}};
  for (int c = 0; c < gas.cells; c++) {
    gas.brick[c] = c / gas.side * gas.edge / gas.side * gas.edge + c % gas.side * gas.edge / gas.side;
    gas.first[gas.brick[c] + 1]++;
    for (int n = 0; n < NEAR; n++) {
      struct pair *p = &gas.near[c * NEAR + n];
      int at[2] = {c % gas.side, c / gas.side};
      p->one = c;
      for (int k = 0; k < 2; k++) {
        at[k] += by[n][k];
        p->shift[k] = at[k] < 0 ? -1 : at[k] >= gas.side ? 1 : 0;
        at[k] = (at[k] + gas.side) % gas.side;
      }
      p->other = at[1] * gas.side + at[0];
    }
  }
  for (int b = 0; b < gas.bricks; b++)
    gas.first[b + 1] += gas.first[b];
  for (int c = gas.cells; c-- > 0;)
    gas.lists[gas.at[c] = --gas.first[gas.brick[c] + 1]] = c;
  for (int b = 0; b < gas.bricks; b++)
    gas.first[b] = gas.first[b + 1];
  gas.first[gas.bricks] = gas.cells;
}

static int touch(int one, int other) {
  for (int i = gas.first[one]; i < gas.first[one + 1]; i++)
    for (int n = 0; n < NEAR; n++)
      if (gas.brick[gas.near[gas.lists[i] * NEAR + n].other] == other)
        return 1;
  return 0;
}

/* ---- the graph ---- */

/* Of the graph: what stands for each brick. */
static op_resource *brick_parts;

/* Where the particles of each brick lie now, which travel with it. */
static void tell_memory(op_graph graph) {
  for (int b = 0; b < gas.bricks; b++)
    op_graph_memory(graph, brick_parts[b], gas.p + begin_of(b),
                    (size_t)(begin_of(b + 1) - begin_of(b)) * sizeof *gas.p);
}

struct plan {
  op_graph graph;
  op_resource *bricks;
  op_task *tasks[3]; /* of each brick: that begins, finds pressures, ends */
};

/* Between two of the three. */
static void add_pair(struct plan *plan, op_task_type type, int between, int one, int other) {
  const struct bricks b = {one, other};
  const int bricks[] = {one, other};
  const op_task task = op_graph_task(plan->graph, type, &b, sizeof b, (one == other ? 4 : 1) * (1 + between));
  for (int i = 0; i < 1 + (one != other); i++) {
    op_graph_lock(plan->graph, task, plan->bricks[bricks[i]]);
    op_graph_depend(plan->graph, task, plan->tasks[between][bricks[i]]);
    op_graph_depend(plan->graph, plan->tasks[between + 1][bricks[i]], task);
  }
}

/* All ranks sort all particles into cells. */
static void add_collect(const struct plan *p) {
  const op_task last = op_graph_task(p->graph, op_graph_type(p->graph, "collect", NULL), NULL, 0, 0);
  op_graph_place(p->graph, last, OP_EVERY_RANK);
  for (int b = 0; b < gas.bricks; b++) {
    op_graph_use(p->graph, last, p->bricks[b]);
    op_graph_depend(p->graph, last, p->tasks[2][b]);
  }
}

static op_graph make_graph(void) {
  struct plan p = {.graph = op_decl_graph("sph"), .bricks = calloc((size_t)gas.bricks, sizeof *p.bricks)};
  if (gas.ranks)
    op_graph_ranks(p.graph, OP_GRAPH_WHOLE);
  const op_task_type own[] = {op_graph_type(p.graph, "begin", run_begin),
                              op_graph_type(p.graph, "ghost", run_ghost),
                              op_graph_type(p.graph, "end", run_end)};
  const op_task_type pairs[] = {op_graph_type(p.graph, "density", run_density),
                                op_graph_type(p.graph, "force", run_force)};
  for (int t = 0; t < 3; t++)
    p.tasks[t] = calloc((size_t)gas.bricks, sizeof *p.tasks[t]);
  if (!p.bricks || !p.tasks[0] || !p.tasks[1] || !p.tasks[2])
    exit(1);
  for (int b = 0; b < gas.bricks; b++) {
    const struct bricks brick = {b, b};
    p.bricks[b] = brick_parts[b] = op_graph_resource(p.graph, 0, NULL);
    if (gas.ranks)
      op_graph_owner(p.graph, p.bricks[b], b * op_rank_count() / gas.bricks);
    for (int t = 0; t < 3; t++) {
      p.tasks[t][b] = op_graph_task(p.graph, own[t], &brick, sizeof brick, 1);
      op_graph_lock(p.graph, p.tasks[t][b], p.bricks[b]);
    }
  }
  for (int b = 0; b < gas.bricks; b++)
    for (int other = b; other < gas.bricks; other++)
      for (int t = 0; t < 2; t++)
        if (other == b || touch(b, other) || touch(other, b))
          add_pair(&p, pairs[t], t, b, other);
  if (gas.ranks) {
    add_collect(&p);
    tell_memory(p.graph);
  }
  free(p.bricks);
  for (int t = 0; t < 3; t++)
    free(p.tasks[t]);
  return p.graph;
}

/* ---- the vortex, and the check ---- */

static double turn_at(double r) {
  return r < 0.2 ? 5 * r : r < 0.4 ? 2 - 5 * r : 0;
}

static double pressure_at(double r) {
  return r < 0.2 ? 5 + 12.5 * r * r : r < 0.4 ? 9 + 12.5 * r * r - 20 * r + 4 * log(5 * r) : 3 + 4 * log(2);
}

static int make_gas(int n) {
  gas = (struct gas){.particles = n * n, .mass = 1.0 / n / n, .h = 1.5 / n};
  gas.side = (int)(1 / (2 * gas.h) / 1.02);
  gas.cells = gas.side * gas.side;
  gas.edge = gas.side < 36 ? 3 : gas.side / 12 > 16 ? 16 : gas.side / 12;
  gas.bricks = gas.edge * gas.edge;
  gas.p = calloc((size_t)gas.particles, sizeof *gas.p);
  gas.spare = calloc((size_t)gas.particles, sizeof *gas.spare);
  gas.start = calloc((size_t)gas.cells + 1, sizeof *gas.start);
  gas.brick = calloc((size_t)gas.cells, sizeof *gas.brick);
  gas.lists = calloc((size_t)gas.cells, sizeof *gas.lists);
  gas.at = calloc((size_t)gas.cells, sizeof *gas.at);
  gas.near = calloc((size_t)gas.cells * NEAR, sizeof *gas.near);
  gas.first = calloc((size_t)gas.bricks + 1, sizeof *gas.first);
  brick_parts = calloc((size_t)gas.bricks, sizeof *brick_parts);
  if (!gas.p || !gas.spare || !gas.start || !gas.brick || !gas.lists || !gas.at || !gas.near || !gas.first ||
      !brick_parts)
    return 0;
  for (int i = 0; i < gas.particles; i++) {
    struct particle *p = &gas.p[i];
    const int column = i % n, row = i / n;
    p->x[0] = (column + 0.5) / n;
    p->x[1] = (row + 0.5) / n;
    const double dx = p->x[0] - 0.5, dy = p->x[1] - 0.5, r = sqrt(dx * dx + dy * dy) + 1e-12;
    p->v[0] = -turn_at(r) * dy / r;
    p->v[1] = turn_at(r) * dx / r;
    p->u = pressure_at(r) / (heat_ratio - 1);
  }
  make_bricks();
  sort_into_cells();
  return 1;
}

struct sums {
  double energy, momentum, mass, profile; /* profile: mean error of the turning speed, by its mean */
};

static struct sums sum_up(void) {
  struct sums s = {0, 0, 0, 0};
  double m[2] = {0, 0}, wrong = 0, all = 0;
  for (int i = 0; i < gas.particles; i++) {
    const struct particle *p = &gas.p[i];
    const double dx = p->x[0] - 0.5, dy = p->x[1] - 0.5, r = sqrt(dx * dx + dy * dy) + 1e-12;
    s.energy += gas.mass * (p->u + 0.5 * (p->v[0] * p->v[0] + p->v[1] * p->v[1]));
    s.mass += gas.mass * gas.mass / p->density * gas.particles;
    wrong += fabs((p->v[1] * dx - p->v[0] * dy) / r - turn_at(r));
    all += turn_at(r);
    for (int k = 0; k < 2; k++)
      m[k] += gas.mass * p->v[k];
  }
  s.momentum = fabs(m[0]) + fabs(m[1]);
  s.profile = wrong / all;
  return s;
}

static int write_picture(const char *path) {
  FILE *file = fopen(path, "w");
  if (!file)
    return 0;
  fprintf(file, "# vtk DataFile Version 3.0\ngas\nASCII\nDATASET POLYDATA\nPOINTS %d float\n", gas.particles);
  for (int i = 0; i < gas.particles; i++)
    fprintf(file, "%g %g 0\n", gas.p[i].x[0], gas.p[i].x[1]);
  fprintf(file, "VERTICES %d %d\n", gas.particles, 2 * gas.particles);
  for (int i = 0; i < gas.particles; i++)
    fprintf(file, "1 %d\n", i);
  fprintf(file, "POINT_DATA %d\nSCALARS pressure float 1\nLOOKUP_TABLE default\n", gas.particles);
  for (int i = 0; i < gas.particles; i++)
    fprintf(file, "%g\n", gas.p[i].pressure);
  fprintf(file, "VECTORS velocity float\n");
  for (int i = 0; i < gas.particles; i++)
    fprintf(file, "%g %g 0\n", gas.p[i].v[0], gas.p[i].v[1]);
  return fclose(file) == 0;
}

int main(int argc, char **argv) {
  int n = 100, threads = 0, ranks = 0;
  double end = 0.05;
  const char *picture = NULL;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--n"))
      n = atoi(value);
    else if (!strcmp(argv[a], "--end"))
      end = atof(value);
    else if (!strcmp(argv[a], "--simulate"))
      threads = atoi(value);
    else if (!strcmp(argv[a], "--ranks"))
      ranks = atoi(value);
    else if (!strcmp(argv[a], "--vtk"))
      picture = value;
    else
      n = 0;
    a++;
  }
  if (n < 12 || n > 10000 || !(end > 0) || !make_gas(n)) {
    fprintf(stderr, "usage: sph [--n N] [--end TIME] [--simulate THREADS] [--ranks RANKS] [--vtk FILE]\nN x "
                    "N particles, N "
                    "at least 12\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  gas.ranks = op_rank_count() > 1 || ranks > 0;
  op_graph graph = make_graph();
  op_graph_run(graph); /* a step of no time: it finds the forces of the first one */
  const struct sums before = sum_up();
  const int steps = 1 + (int)(end / (0.15 * gas.h / 3.2));
  gas.step = end / steps;
  const double start = op_wtime();
  for (int s = 0; s < steps; s++) {
    op_graph_run(graph);
    sort_into_cells();
    if (gas.ranks)
      tell_memory(graph);
  }
  const double seconds = op_wtime() - start;
  op_graph_facts_t facts;
  op_graph_facts(graph, &facts);
  op_printf("%d particles, %d bricks: %lld tasks a step, %d steps, %.2f ms a step on %lld threads\n",
            gas.particles, gas.bricks, facts.tasks, steps, 1e3 * seconds / steps, facts.threads);
  if (gas.ranks)
    op_printf("%d ranks: this one sent %lld messages of %.1f MB in a step, and waited %.3f s\n",
              op_rank_count(), facts.messages, 1e-6 * (double)facts.message_bytes, facts.waited);
  if (threads > 0)
    say_simulated(graph, !gas.ranks ? 0 : ranks > 0 ? ranks : op_rank_count(), threads);
  if (picture && !write_picture(picture)) {
    fprintf(stderr, "sph: cannot write %s\n", picture);
    return 1;
  }
  const struct sums after = sum_up();
  const double drift = fabs(after.energy / before.energy - 1), volume = fabs(after.mass - 1);
  const int good = drift < 1e-3 && after.momentum < 1e-12 && volume < 0.02 && after.profile < 0.15 &&
                   (gas.ranks || facts.builds == 1);
  op_printf("energy %.1e from the first, momentum %.1e, volume %.1e from the box's, profile %.3f from the "
            "exact one, sum %.17g\n%s\n",
            drift, after.momentum, volume, after.profile, after.energy, good ? "PASSED" : "FAILED");
  return op_exit() || !good;
}
