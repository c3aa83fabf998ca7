/* Molecular dynamics: particles that attract one another and push off (Lennard-Jones), in a box without walls. The box is
 * cut into cells as wide as forces reach, and bricks of cells are large enough to be worth a task. A task finds the forces
 * inside of a brick or between two neighbours, and locks the bricks, since each force acts on both particles. Then the
 * particles of a brick are moved. One graph serves all steps. On several ranks each runs the
 * tasks of some bricks; particles that come into another brick come to its rank. Checked: forces against all pairs, energy, momentum. */
#include <math.h>
#include <op2jit.h>
#include <op2jit_tasks.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../simulated.h"

struct particle {
  double x[3], v[3], f[3];
};

/* A cell and one beside it, which lies so far behind the border of the box. */
struct pair {
  int one, other;
  double shift[3];
};

enum {
  NEAR = 13
}; /* of the 26 cells beside one: those that come behind it, or the box's border lies between */

/* Cells of brick b: lists[first[b]] to lists[first[b + 1] - 1]. Particles of the cell lists[i]: from start[i] to
 * start[i + 1]; so those of a brick lie together. */
static struct box {
  int particles, cells, side, bricks, edge; /* cells and bricks in all, and along an edge */
  double width, reach, step;                /* of the box; of forces; of time */
  struct particle *p, *spare;
  int *start, *brick, *first, *lists, *at; /* brick: of a cell; at: its place in the lists */
  int ranks;                               /* do all ranks have the graphs together? */
  struct pair *near;                       /* NEAR of each cell */
  double *energy;                          /* of the pairs that the tasks of a brick found */
} box;

/* ---- forces ---- */

/* Zero where forces end: energy would jump there. */
static double energy_at_reach(void) {
  const double r6 = 1 / (box.reach * box.reach * box.reach * box.reach * box.reach * box.reach);
  return 4 * (r6 * r6 - r6);
}

/* `shift`: how far the second particle's cell lies behind the border of the box. */
static double act(struct particle *a, struct particle *b, const double *shift, double at_reach) {
  double d[3], r2 = 0;
  for (int k = 0; k < 3; k++) {
    d[k] = a->x[k] - b->x[k] - shift[k];
    r2 += d[k] * d[k];
  }
  if (r2 >= box.reach * box.reach)
    return 0;
  const double s = 1 / r2, s6 = s * s * s, force = 24 * (2 * s6 * s6 - s6) * s;
  for (int k = 0; k < 3; k++) {
    a->f[k] += force * d[k];
    b->f[k] -= force * d[k];
  }
  return 4 * (s6 * s6 - s6) - at_reach;
}

static double act_cells(const struct pair *c, double at_reach) {
  double energy = 0;
  const int one = box.at[c->one], other = box.at[c->other];
  for (int a = box.start[one]; a < box.start[one + 1]; a++)
    for (int b = one == other ? a + 1 : box.start[other]; b < box.start[other + 1]; b++)
      energy += act(&box.p[a], &box.p[b], c->shift, at_reach);
  return energy;
}

/* What the cells of a brick have to do with those of another one that come behind. */
static double act_behind(int brick, int other, double at_reach) {
  double energy = 0;
  for (int i = box.first[brick]; i < box.first[brick + 1]; i++)
    for (int n = 0; n < NEAR; n++) {
      const struct pair *near = &box.near[box.lists[i] * NEAR + n];
      if (box.brick[near->other] == other)
        energy += act_cells(near, at_reach);
    }
  return energy;
}

struct bricks {
  int one, other;
};

static void force_self(op_running *running, void *data) {
  const struct bricks *b = data;
  const double at_reach = energy_at_reach();
  (void)running;
  for (int i = box.first[b->one]; i < box.first[b->one + 1]; i++) {
    const struct pair own = {.one = box.lists[i], .other = box.lists[i]};
    box.energy[b->one] += act_cells(&own, at_reach);
  }
  box.energy[b->one] += act_behind(b->one, b->one, at_reach);
}

static void force_pair(op_running *running, void *data) {
  const struct bricks *b = data;
  const double at_reach = energy_at_reach();
  (void)running;
  box.energy[b->one] += act_behind(b->one, b->other, at_reach) + act_behind(b->other, b->one, at_reach);
}

/* ---- moving ---- */

/* Of a brick's particles. */
static int begin_of(int brick) {
  return box.start[box.first[brick]];
}

/* Half a step's push, and the forces are used up. */
static void push(struct particle *p) {
  for (int k = 0; k < 3; k++)
    p->v[k] += 0.5 * box.step * p->f[k];
}

static void finish(op_running *running, void *data) {
  const struct bricks *b = data;
  (void)running;
  for (int a = begin_of(b->one); a < begin_of(b->one + 1); a++)
    push(&box.p[a]);
}

static void move_one(struct particle *p) {
  push(p);
  for (int k = 0; k < 3; k++) {
    p->x[k] += box.step * p->v[k];
    p->x[k] -= box.width * floor(p->x[k] / box.width);
  }
}

/* Before the forces of a step; those of the first one have nothing before them. */
static void begin(int brick, int moves) {
  box.energy[brick] = 0;
  for (int a = begin_of(brick); a < begin_of(brick + 1); a++) {
    if (moves)
      move_one(&box.p[a]);
    memset(box.p[a].f, 0, sizeof box.p[a].f);
  }
}
static void move(op_running *running, void *data) {
  (void)running;
  begin(((const struct bricks *)data)->one, 1);
}
static void clear(op_running *running, void *data) {
  (void)running;
  begin(((const struct bricks *)data)->one, 0);
}

/* ---- cells ---- */

static int cell_of(const struct particle *p) {
  int at[3];
  for (int k = 0; k < 3; k++) {
    at[k] = (int)(p->x[k] / box.width * box.side);
    if (at[k] >= box.side)
      at[k] = box.side - 1;
  }
  return (at[2] * box.side + at[1]) * box.side + at[0];
}

static void sort_into_cells(void) {
  int *next = box.start;
  memset(next, 0, ((size_t)box.cells + 1) * sizeof *next);
  for (int i = 0; i < box.particles; i++)
    next[box.at[cell_of(&box.p[i])] + 1]++;
  for (int c = 0; c < box.cells; c++)
    next[c + 1] += next[c];
  for (int i = 0; i < box.particles; i++)
    box.spare[next[box.at[cell_of(&box.p[i])]]++] = box.p[i];
  for (int c = box.cells; c > 0; c--)
    next[c] = next[c - 1];
  next[0] = 0;
  struct particle *sorted = box.spare;
  box.spare = box.p;
  box.p = sorted;
}

static struct pair neighbour(int cell, const int *by) {
  struct pair p = {.one = cell};
  int at[3] = {cell % box.side, cell / box.side % box.side, cell / box.side / box.side};
  for (int k = 0; k < 3; k++) {
    at[k] += by[k];
    p.shift[k] = at[k] < 0 ? -box.width : at[k] >= box.side ? box.width : 0;
    at[k] = (at[k] + box.side) % box.side;
  }
  p.other = (at[2] * box.side + at[1]) * box.side + at[0];
  return p;
}

static void make_bricks(void) {
  int *count = box.first + 1;
  for (int c = 0; c < box.cells; c++) {
    const int at[] = {c % box.side, c / box.side % box.side, c / box.side / box.side};
    box.brick[c] = ((at[2] * box.edge / box.side) * box.edge + at[1] * box.edge / box.side) * box.edge +
                   at[0] * box.edge / box.side;
    count[box.brick[c]]++;
    for (int n = 0; n < NEAR; n++) {
      const int m = n + NEAR + 1, by[] = {m % 3 - 1, m / 3 % 3 - 1, m / 9 - 1};
      box.near[c * NEAR + n] = neighbour(c, by);
    }
  }
  for (int b = 0; b < box.bricks; b++)
    box.first[b + 1] += box.first[b];
  for (int c = box.cells; c-- > 0;)
    box.lists[box.at[c] = --box.first[box.brick[c] + 1]] = c;
  for (int b = 0; b < box.bricks; b++)
    box.first[b] = box.first[b + 1];
  box.first[box.bricks] = box.cells;
}

/* ---- the graphs ---- */

/* Of the graph of a step: what stands for each brick, and for its particles. */
static op_resource *brick_parts;

struct plan {
  op_graph graph;
  op_resource *bricks;
  op_task *before, *after; /* of each brick, what forces wait for and what waits for them; 0: none */
};

static void add_force(struct plan *plan, op_task_type type, int one, int other) {
  const struct bricks b = {one, other};
  const int count = 1 + (one != other), both[] = {one, other};
  /* By how many cells there are to look at. */
  const double cost = box.first[one + 1] - box.first[one] + box.first[other + 1] - box.first[other];
  const op_task task = op_graph_task(plan->graph, type, &b, sizeof b, one == other ? 3 * cost : cost);
  for (int i = 0; i < count; i++) {
    op_graph_lock(plan->graph, task, plan->bricks[both[i]]);
    op_graph_depend(plan->graph, task, plan->before[both[i]]);
    if (plan->after[both[i]])
      op_graph_depend(plan->graph, plan->after[both[i]], task);
  }
}

/* Have they cells beside one another? */
static int touch(int one, int other) {
  for (int i = box.first[one]; i < box.first[one + 1]; i++)
    for (int n = 0; n < NEAR; n++)
      if (box.brick[box.near[box.lists[i] * NEAR + n].other] == other)
        return 1;
  return 0;
}

/* Where the particles of each brick lie now, which travel with it. */
static void tell_memory(op_graph graph) {
  for (int b = 0; b < box.bricks; b++)
    op_graph_memory(graph, brick_parts[b], box.p + begin_of(b),
                    (size_t)(begin_of(b + 1) - begin_of(b)) * sizeof *box.p);
}

/* A brick's particles and its energy; those of one rank are blocks along the box. */
static void add_parts(const struct plan *p, int brick) {
  const op_resource energy = op_graph_resource(p->graph, p->bricks[brick], NULL);
  op_graph_memory(p->graph, energy, &box.energy[brick], sizeof box.energy[brick]);
  brick_parts[brick] = op_graph_resource(p->graph, p->bricks[brick], NULL);
  op_graph_owner(p->graph, p->bricks[brick], brick * op_rank_count() / box.bricks);
}

/* All ranks sort all particles into cells. */
static void add_collect(const struct plan *p) {
  const op_task last = op_graph_task(p->graph, op_graph_type(p->graph, "collect", NULL), NULL, 0, 0);
  op_graph_place(p->graph, last, OP_EVERY_RANK);
  for (int b = 0; b < box.bricks; b++) {
    op_graph_use(p->graph, last, p->bricks[b]);
    op_graph_depend(p->graph, last, p->after[b]);
  }
}

/* `moves`: a whole step; else the forces alone, which each rank finds for itself. */
static op_graph make_graph(const char *name, int moves) {
  struct plan p = {.graph = op_decl_graph(name),
                   .bricks = calloc((size_t)box.bricks, sizeof *p.bricks),
                   .before = calloc((size_t)box.bricks, sizeof *p.before),
                   .after = calloc((size_t)box.bricks, sizeof *p.after)};
  if (!p.bricks || !p.before || !p.after)
    exit(1);
  if (moves && box.ranks)
    op_graph_ranks(p.graph, OP_GRAPH_WHOLE);
  const op_task_type self = op_graph_type(p.graph, "self", force_self),
                     pair = op_graph_type(p.graph, "pair", force_pair),
                     first = op_graph_type(p.graph, moves ? "move" : "clear", moves ? move : clear),
                     last = op_graph_type(p.graph, "finish", finish);
  for (int b = 0; b < box.bricks; b++) {
    const struct bricks own = {b, b};
    p.bricks[b] = op_graph_resource(p.graph, 0, NULL);
    if (moves && box.ranks)
      add_parts(&p, b);
    p.before[b] = op_graph_task(p.graph, first, &own, sizeof own, 1);
    op_graph_lock(p.graph, p.before[b], p.bricks[b]);
    if (!moves)
      continue;
    p.after[b] = op_graph_task(p.graph, last, &own, sizeof own, 1);
    op_graph_lock(p.graph, p.after[b], p.bricks[b]);
  }
  for (int b = 0; b < box.bricks; b++) {
    add_force(&p, self, b, b);
    for (int other = b + 1; other < box.bricks; other++)
      if (touch(b, other) || touch(other, b))
        add_force(&p, pair, b, other);
  }
  if (moves && box.ranks) {
    add_collect(&p);
    tell_memory(p.graph);
  }
  free(p.bricks);
  free(p.before);
  free(p.after);
  return p.graph;
}

/* ---- the start, and the check ---- */

static double random_number(void) {
  static unsigned long long state = 12345;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) / (double)(1ull << 53);
}

/* On a lattice, each a little off its place, with velocities whose sum is 0. */
static int make_box(int edge, double reach) {
  const double density = 0.6, warmth = 1.0;
  double mean[3] = {0, 0, 0};
  box = (struct box){.particles = edge * edge * edge, .reach = reach, .step = 0.002};
  box.width = cbrt(box.particles / density);
  box.side = (int)(box.width / reach);
  box.cells = box.side * box.side * box.side;
  box.edge = box.side < 18 ? 3 : box.side / 6;
  box.bricks = box.edge * box.edge * box.edge;
  if (box.side < 3)
    return 0;
  box.p = calloc((size_t)box.particles, sizeof *box.p);
  box.spare = calloc((size_t)box.particles, sizeof *box.spare);
  box.start = calloc((size_t)box.cells + 1, sizeof *box.start);
  box.brick = calloc((size_t)box.cells, sizeof *box.brick);
  box.lists = calloc((size_t)box.cells, sizeof *box.lists);
  box.at = calloc((size_t)box.cells, sizeof *box.at);
  box.near = calloc((size_t)box.cells * NEAR, sizeof *box.near);
  box.first = calloc((size_t)box.bricks + 1, sizeof *box.first);
  box.energy = calloc((size_t)box.bricks, sizeof *box.energy);
  brick_parts = calloc((size_t)box.bricks, sizeof *brick_parts);
  if (!box.p || !box.spare || !box.start || !box.energy || !brick_parts || !box.brick || !box.lists ||
      !box.at || !box.near || !box.first)
    exit(1);
  for (int i = 0; i < box.particles; i++) {
    const int at[] = {i % edge, i / edge % edge, i / edge / edge};
    for (int k = 0; k < 3; k++) {
      box.p[i].x[k] = (at[k] + 0.5 + 0.1 * (random_number() - 0.5)) * box.width / edge;
      box.p[i].v[k] = sqrt(12 * warmth) * (random_number() - 0.5);
      mean[k] += box.p[i].v[k] / box.particles;
    }
  }
  for (int i = 0; i < box.particles; i++)
    for (int k = 0; k < 3; k++)
      box.p[i].v[k] -= mean[k];
  make_bricks();
  sort_into_cells();
  return 1;
}

static double energy(void) {
  double sum = 0;
  for (int b = 0; b < box.bricks; b++)
    sum += box.energy[b];
  for (int i = 0; i < box.particles; i++)
    for (int k = 0; k < 3; k++)
      sum += 0.5 * box.p[i].v[k] * box.p[i].v[k];
  return sum;
}

static double momentum(void) {
  double sum[3] = {0, 0, 0};
  for (int i = 0; i < box.particles; i++)
    for (int k = 0; k < 3; k++)
      sum[k] += box.p[i].v[k];
  return fabs(sum[0]) + fabs(sum[1]) + fabs(sum[2]);
}

/* Of some particles, against all others by hand: the largest difference, as part of the largest force. */
static double force_error(void) {
  const double none[3] = {0, 0, 0}, at_reach = energy_at_reach();
  double worst = 0, most = 0;
  for (int a = 0; a < box.particles; a += 1 + box.particles / 100) {
    struct particle one = box.p[a];
    memset(one.f, 0, sizeof one.f);
    for (int b = 0; b < box.particles; b++) {
      struct particle other = box.p[b];
      for (int k = 0; k < 3; k++)
        other.x[k] += box.width * floor((one.x[k] - other.x[k]) / box.width + 0.5);
      if (b != a)
        act(&one, &other, none, at_reach);
    }
    for (int k = 0; k < 3; k++) {
      worst = fmax(worst, fabs(one.f[k] - box.p[a].f[k]));
      most = fmax(most, fabs(one.f[k]));
    }
  }
  return worst / most;
}

/* Points with their speed, for ParaView. */
static int write_picture(const char *path) {
  FILE *file = fopen(path, "w");
  if (!file)
    return 0;
  fprintf(file, "# vtk DataFile Version 3.0\nparticles\nASCII\nDATASET POLYDATA\nPOINTS %d float\n",
          box.particles);
  for (int i = 0; i < box.particles; i++)
    fprintf(file, "%g %g %g\n", box.p[i].x[0], box.p[i].x[1], box.p[i].x[2]);
  fprintf(file, "VERTICES %d %d\n", box.particles, 2 * box.particles);
  for (int i = 0; i < box.particles; i++)
    fprintf(file, "1 %d\n", i);
  fprintf(file, "POINT_DATA %d\nSCALARS speed float 1\nLOOKUP_TABLE default\n", box.particles);
  for (int i = 0; i < box.particles; i++)
    fprintf(
        file, "%g\n",
        sqrt(box.p[i].v[0] * box.p[i].v[0] + box.p[i].v[1] * box.p[i].v[1] + box.p[i].v[2] * box.p[i].v[2]));
  return fclose(file) == 0;
}

int main(int argc, char **argv) {
  int edge = 48, steps = 20, threads = 0, ranks = 0;
  double reach = 2.5;
  const char *picture = NULL;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--edge"))
      edge = atoi(value);
    else if (!strcmp(argv[a], "--steps"))
      steps = atoi(value);
    else if (!strcmp(argv[a], "--reach"))
      reach = atof(value);
    else if (!strcmp(argv[a], "--simulate"))
      threads = atoi(value);
    else if (!strcmp(argv[a], "--ranks"))
      ranks = atoi(value);
    else if (!strcmp(argv[a], "--vtk"))
      picture = value;
    else
      edge = 0;
    a++;
  }
  if (edge < 1 || edge > 400 || steps < 1 || !(reach > 0) || !make_box(edge, reach)) {
    fprintf(
        stderr,
        "usage: md [--edge N] [--steps N] [--reach R] [--simulate THREADS] [--ranks RANKS] [--vtk FILE]\n"
        "The box holds N x N x N particles and must have three cells as wide as the reach along an edge.\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  box.ranks = op_rank_count() > 1 || ranks > 0;
  op_graph forces = make_graph("md forces", 0), step = make_graph("md", 1);
  op_graph_run(forces);
  const double error = force_error(), before = energy();
  const double start = op_wtime();
  for (int s = 0; s < steps; s++) {
    op_graph_run(step);
    if (s % 5 == 4) { /* nobody moves far in five steps */
      sort_into_cells();
      if (box.ranks)
        tell_memory(step);
    }
  }
  const double seconds = op_wtime() - start;
  op_graph_facts_t facts;
  op_graph_facts(step, &facts);
  const double drift = fabs(energy() / before - 1), sum = momentum() / box.particles;
  op_printf("%d particles in %d cells, %d bricks: %lld tasks a step, %.2f ms a step on %lld threads\n",
            box.particles, box.cells, box.bricks, facts.tasks, 1e3 * seconds / steps, facts.threads);
  if (threads > 0)
    say_simulated(step, !box.ranks ? 0 : ranks > 0 ? ranks : op_rank_count(), threads);
  if (picture && !write_picture(picture)) {
    fprintf(stderr, "md: cannot write %s\n", picture);
    return 1;
  }
  if (box.ranks)
    op_printf("%d ranks: this one sent %lld messages of %.1f MB in a step, and waited %.3f s\n",
              op_rank_count(), facts.messages, 1e-6 * (double)facts.message_bytes, facts.waited);
  const int good = error < 1e-10 && drift < 2e-3 && sum < 1e-12 && (box.ranks || facts.builds == 1);
  op_printf("forces differ by %.1e from those of all pairs, energy by %.1e from the first, momentum a "
            "particle %.1e, sum %.17g\n%s\n",
            error, drift, sum, energy(), good ? "PASSED" : "FAILED");
  return op_exit() || !good;
}
