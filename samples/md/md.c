/* Molecular dynamics: particles that attract one another and push off (Lennard-Jones), in a box without walls. The box is
 * cut into cells as wide as forces reach, and bricks of cells are large enough to be worth a task. A task finds the forces
 * inside of a brick or between two neighbours, and locks the bricks, since each force acts on both particles. Before, the
 * particles of a brick are moved; those that leave it are laid out, and bricks beside it take what is theirs. One graph
 * serves all steps. On several ranks each has the particles of its bricks and, as far as its tasks need them, of those beside
 * them. Checked: forces against all pairs, energy, momentum. */
#include <math.h>
#include <op2jit.h>
#include <op2jit_tasks.h>
#include <op2jit_tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../simulated.h"
#include "box.h"

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

/* A brick with its number, as forces need it. */
struct numbered {
  struct brick *b;
  int number;
};

/* Between the cells at these places of the lists. */
static double act_cells(struct numbered one, int i, struct numbered other, int j, const double *shift) {
  const double at_reach = energy_at_reach();
  const int *here = starts(one.b, one.number) + i - box.first[one.number],
            *there = starts(other.b, other.number) + j - box.first[other.number];
  double energy = 0;
  for (int a = here[0]; a < here[1]; a++)
    for (int b = i == j ? a + 1 : there[0]; b < there[1]; b++)
      energy += act(&one.b->p[a], &other.b->p[b], shift, at_reach);
  return energy;
}

/* What the cells of a brick have to do with those of another one that come behind. */
static double act_behind(struct numbered one, struct numbered other) {
  double energy = 0;
  for (int i = box.first[one.number]; i < box.first[one.number + 1]; i++)
    for (int n = 0; n < NEAR; n++) {
      const struct beside *near = &box.near[box.lists[i] * NEAR + n];
      const double shift[] = {near->behind[0] * box.width, near->behind[1] * box.width,
                              near->behind[2] * box.width};
      if (box.brick[near->cell] == other.number)
        energy += act_cells(one, i, other, box.at[near->cell], shift);
    }
  return energy;
}

struct bricks {
  int one, other;
};

static void force_self(op_running *running, void *data) {
  const struct bricks *b = data;
  const double none[3] = {0, 0, 0};
  const struct numbered one = {locked(running, 0, b->one), b->one};
  for (int i = box.first[b->one]; i < box.first[b->one + 1]; i++)
    one.b->pairs += act_cells(one, i, one, i, none);
  one.b->pairs += act_behind(one, one);
}

static void force_pair(op_running *running, void *data) {
  const struct bricks *b = data;
  const struct numbered one = {locked(running, 0, b->one), b->one},
                        other = {locked(running, 1, b->other), b->other};
  one.b->pairs += act_behind(one, other) + act_behind(other, one);
}

/* ---- moving ---- */

static int add_particle(struct brick *b, int number, const struct particle *p) {
  if (b->particles == room_of(number))
    return 0;
  b->p[b->particles++] = *p;
  return 1;
}

/* Of the first step: the places of the lattice in the brick and around it are looked at. */
static int fill(struct brick *b, int number) {
  const int at[] = {number % box.edge, number / box.edge % box.edge, number / box.edge / box.edge};
  int from[3], to[3], fits = 1;
  for (int k = 0; k < 3; k++) { /* cells of the brick begin where at * side / edge is rounded up */
    from[k] = (at[k] * box.side + box.edge - 1) / box.edge * box.row / box.side - 1;
    to[k] = ((at[k] + 1) * box.side + box.edge - 1) / box.edge * box.row / box.side + 1;
    from[k] = from[k] < 0 ? 0 : from[k];
    to[k] = to[k] >= box.row ? box.row - 1 : to[k];
  }
  for (int z = from[2]; z <= to[2]; z++)
    for (int y = from[1]; y <= to[1]; y++)
      for (int x = from[0]; x <= to[0]; x++) {
        const struct particle p = make_particle(x, y, z);
        if (box.brick[cell_of(&p)] == number)
          fits = add_particle(b, number, &p) && fits;
      }
  return fits;
}

/* Half a step's push, and the forces are used up. */
static void push(struct particle *p) {
  for (int k = 0; k < 3; k++)
    p->v[k] += 0.5 * box.step * p->f[k];
}

static void move_one(struct particle *p) {
  push(p);
  for (int k = 0; k < 3; k++) {
    p->x[k] += box.step * p->v[k];
    p->x[k] -= box.width * floor(p->x[k] / box.width);
    p->f[k] = 0;
  }
}

static int move_all(struct brick *b, int number, struct leaving *out) {
  int stay = 0;
  for (int a = 0; a < b->particles; a++) {
    move_one(&b->p[a]);
    if (box.brick[cell_of(&b->p[a])] == number)
      b->p[stay++] = b->p[a];
    else if (out->particles < LEAVING)
      out->p[out->particles++] = b->p[a];
    else
      return 0;
  }
  b->particles = stay;
  return 1;
}

static void move(op_running *running, void *data) {
  const int number = ((const struct bricks *)data)->one;
  struct brick *b = locked(running, 0, number);
  struct leaving *out = leaving(running, 1, number);
  b->pairs = 0;
  out->particles = 0;
  if (!(box.begun ? move_all(b, number, out) : fill(b, number)))
    op_running_fail(running, box.begun ? "more particles leave a brick than there is room for"
                                       : "a brick has no room for its particles");
}

static void sort_into_cells(struct brick *b, int number) {
  int *next = starts(b, number);
  struct particle *old = malloc((size_t)b->particles * sizeof *old + 1);
  if (!old)
    exit(1);
  memcpy(old, b->p, (size_t)b->particles * sizeof *old);
  memset(next, 0, ((size_t)cells_of(number) + 1) * sizeof *next);
  for (int i = 0; i < b->particles; i++)
    next[box.at[cell_of(&old[i])] - box.first[number] + 1]++;
  for (int c = 0; c < cells_of(number); c++)
    next[c + 1] += next[c];
  for (int i = 0; i < b->particles; i++)
    b->p[next[box.at[cell_of(&old[i])] - box.first[number]]++] = old[i];
  for (int c = cells_of(number); c > 0; c--)
    next[c] = next[c - 1];
  next[0] = 0;
  free(old);
}

/* Particles come from bricks beside it, which the task uses in this order. */
static void arrive(op_running *running, void *data) {
  const int number = ((const struct bricks *)data)->one;
  struct brick *b = locked(running, 0, number);
  for (int n = 0; n < AROUND; n++) {
    const struct leaving *from = leaving(running, 1 + n, beside(number, n, box.edge).cell);
    for (int i = 0; i < from->particles; i++)
      if (box.brick[cell_of(&from->p[i])] == number && !add_particle(b, number, &from->p[i])) {
        op_running_fail(running, "a brick has no room for the particles that come");
        return;
      }
  }
  sort_into_cells(b, number);
}

/* Forces as they were first, beside those by hand. */
static void compare(const struct particle *p, struct sums *s) {
  for (int i = 0; i < box.nsamples; i++) {
    const struct particle *by_hand = &box.samples[i];
    if (p->x[0] != by_hand->x[0] || p->x[1] != by_hand->x[1] || p->x[2] != by_hand->x[2])
      continue;
    for (int k = 0; k < 3; k++) {
      s->wrong = fmax(s->wrong, fabs(p->f[k] - by_hand->f[k]));
      s->most = fmax(s->most, fabs(by_hand->f[k]));
    }
  }
}

static void finish(op_running *running, void *data) {
  const int number = ((const struct bricks *)data)->one;
  struct brick *b = locked(running, 0, number);
  struct sums *s = &box.sums[number];
  s->energy = b->pairs;
  s->momentum[0] = s->momentum[1] = s->momentum[2] = 0;
  s->particles = b->particles;
  for (int a = 0; a < b->particles; a++) {
    if (box.begun)
      push(&b->p[a]);
    else
      compare(&b->p[a], s);
    for (int k = 0; k < 3; k++) {
      s->energy += 0.5 * b->p[a].v[k] * b->p[a].v[k];
      s->momentum[k] += b->p[a].v[k];
    }
  }
}

/* ---- the graph ---- */

struct plan {
  op_graph graph;
  op_resource *bricks, *sums, *leaving;
  op_task *before, *arrived,
      *after; /* of each brick: that moves, that takes what comes, that waits for forces */
};

static void add_force(const struct plan *plan, op_task_type type, int one, int other) {
  const struct bricks b = {one, other};
  const int count = 1 + (one != other), both[] = {one, other};
  /* By how many cells there are to look at. */
  const double cost = cells_of(one) + cells_of(other);
  const op_task task = op_graph_task(plan->graph, type, &b, sizeof b, one == other ? 3 * cost : cost);
  for (int i = 0; i < count; i++) {
    op_graph_lock(plan->graph, task, plan->bricks[both[i]]);
    op_graph_depend(plan->graph, task, plan->arrived[both[i]]);
    op_graph_depend(plan->graph, plan->after[both[i]], task);
  }
}

/* Who has a brick: those of one rank are blocks along the box. */
static int owner_of(int brick) {
  return (int)((long long)brick * op_rank_count() / box.bricks);
}

/* Of ranks the library keeps it, where tasks need it. */
static op_resource add_part(const struct plan *p, int brick, void *memory, size_t bytes) {
  const op_resource part = op_graph_resource(p->graph, 0, NULL);
  op_graph_memory(p->graph, part, memory, bytes);
  if (box.ranks)
    op_graph_owner(p->graph, part, owner_of(brick));
  return part;
}

static void add_brick(const struct plan *p, const op_task_type types[3], int b) {
  const struct bricks own = {b, b};
  op_task *const tasks[] = {&p->before[b], &p->arrived[b], &p->after[b]};
  p->bricks[b] = add_part(p, b, box.here[b], bytes_of(b));
  p->leaving[b] = add_part(p, b, box.leaving[b], sizeof *box.leaving[b]);
  p->sums[b] = add_part(p, b, &box.sums[b], sizeof box.sums[b]);
  for (int i = 0; i < 3; i++) {
    *tasks[i] = op_graph_task(p->graph, types[i], &own, sizeof own, 1);
    op_graph_lock(p->graph, *tasks[i], p->bricks[b]);
  }
  op_graph_lock(p->graph, p->before[b], p->leaving[b]);
  op_graph_lock(p->graph, p->after[b], p->sums[b]);
}

/* All ranks know the sums. */
static void add_collect(const struct plan *p) {
  const op_task last = op_graph_task(p->graph, op_graph_type(p->graph, "collect", NULL), NULL, 0, 0);
  if (box.ranks)
    op_graph_place(p->graph, last, OP_EVERY_RANK);
  for (int b = 0; b < box.bricks; b++) {
    op_graph_use(p->graph, last, p->sums[b]);
    op_graph_depend(p->graph, last, p->after[b]);
  }
}

static op_graph make_graph(const char *name) {
  const size_t n = (size_t)box.bricks;
  op_resource *parts = calloc(3 * n, sizeof *parts);
  op_task *tasks = calloc(3 * n, sizeof *tasks);
  if (!parts || !tasks)
    exit(1);
  const struct plan p = {.graph = op_decl_graph(name),
                         .bricks = parts,
                         .sums = parts + n,
                         .leaving = parts + 2 * n,
                         .before = tasks,
                         .arrived = tasks + n,
                         .after = tasks + 2 * n};
  if (box.ranks)
    op_graph_ranks(p.graph, OP_GRAPH_WHOLE);
  const op_task_type self = op_graph_type(p.graph, "self", force_self),
                     pair = op_graph_type(p.graph, "pair", force_pair),
                     own[] = {op_graph_type(p.graph, "move", move), op_graph_type(p.graph, "arrive", arrive),
                              op_graph_type(p.graph, "finish", finish)};
  for (int b = 0; b < box.bricks; b++)
    add_brick(&p, own, b);
  for (int b = 0; b < box.bricks; b++)
    for (int i = 0; i < AROUND; i++) {
      const int other = beside(b, i, box.edge).cell;
      op_graph_use(p.graph, p.arrived[b], p.leaving[other]);
      op_graph_depend(p.graph, p.arrived[b], p.before[other]);
      if (i >= NEAR)
        add_force(&p, other == b ? self : pair, b, other);
    }
  add_collect(&p);
  free(parts);
  free(tasks);
  return p.graph;
}

/* ---- the start, and the check ---- */

/* Forces on some particles, from all others by hand. */
static void find_samples(void) {
  const double none[3] = {0, 0, 0}, at_reach = energy_at_reach();
  const int apart = 1 + box.particles / SAMPLES;
  for (int i = 0; i < box.particles; i += apart)
    box.samples[box.nsamples++] = make_particle(i % box.row, i / box.row % box.row, i / box.row / box.row);
  for (int i = 0; i < box.particles; i++) {
    const struct particle made = make_particle(i % box.row, i / box.row % box.row, i / box.row / box.row);
    for (int s = 0; s < box.nsamples; s++) {
      struct particle *one = &box.samples[s], other = made;
      for (int k = 0; k < 3; k++)
        other.x[k] += box.width * floor((one->x[k] - other.x[k]) / box.width + 0.5);
      if (i != s * apart)
        act(one, &other, none, at_reach);
    }
  }
}

/* Of one process memory is the program's; on ranks the library's. */
static void make_memory(void) {
  for (int b = 0; b < box.bricks && !box.ranks; b++)
    if (!(box.here[b] = calloc(1, bytes_of(b))) || !(box.leaving[b] = calloc(1, sizeof *box.leaving[b])))
      exit(1);
}

static int make_box(int row, double reach, int bricks) {
  double sum[3] = {0, 0, 0};
  box = (struct box){.row = row, .particles = row * row * row, .reach = reach, .step = 0.002};
  box.width = cbrt(box.particles / 0.6);
  box.side = (int)(box.width / reach);
  box.cells = box.side * box.side * box.side;
  box.edge = bricks ? bricks : box.side < 18 ? 3 : box.side / 6;
  box.bricks = box.edge * box.edge * box.edge;
  if (box.edge < 3 || box.side < box.edge)
    return 0;
  box.brick = calloc((size_t)box.cells, sizeof *box.brick);
  box.lists = calloc((size_t)box.cells, sizeof *box.lists);
  box.at = calloc((size_t)box.cells, sizeof *box.at);
  box.near = calloc((size_t)box.cells * NEAR, sizeof *box.near);
  box.first = calloc((size_t)box.bricks + 1, sizeof *box.first);
  box.here = calloc((size_t)box.bricks, sizeof *box.here);
  box.leaving = calloc((size_t)box.bricks, sizeof *box.leaving);
  box.sums = calloc((size_t)box.bricks, sizeof *box.sums);
  if (!box.brick || !box.lists || !box.at || !box.near || !box.first || !box.here || !box.leaving ||
      !box.sums)
    exit(1);
  for (int i = 0; i < box.particles; i++) {
    const struct particle p = make_particle(i % row, i / row % row, i / row / row);
    for (int k = 0; k < 3; k++)
      sum[k] += p.v[k];
  }
  for (int k = 0; k < 3; k++)
    box.mean[k] = sum[k] / box.particles;
  make_bricks();
  return 1;
}

/* Of all bricks. */
static struct sums sum_up(void) {
  struct sums all = {0};
  for (int b = 0; b < box.bricks; b++) {
    all.energy += box.sums[b].energy;
    all.wrong = fmax(all.wrong, box.sums[b].wrong);
    all.most = fmax(all.most, box.sums[b].most);
    all.particles += box.sums[b].particles;
    for (int k = 0; k < 3; k++)
      all.momentum[k] += box.sums[b].momentum[k];
  }
  return all;
}

/* Bricks that this rank has: its own and those beside them; -1: it has others. */
static int count_here(void) {
  int count = 0;
  for (int b = 0; b < box.bricks; b++) {
    int near = 0;
    for (int n = 0; n < AROUND; n++)
      near = near || owner_of(beside(b, n, box.edge).cell) == op_rank();
    if (box.here[b] && !near)
      return -1;
    count += box.here[b] != NULL;
  }
  return count;
}

/* Points with their speed, for ParaView: of each rank its own. */
static int write_picture(const char *path) {
  char name[4096];
  int count = 0;
  snprintf(name, sizeof name, op_rank_count() > 1 ? "%s.%d" : "%s", path, op_rank());
  FILE *file = fopen(name, "w");
  if (!file)
    return 0;
  for (int b = 0; b < box.bricks; b++)
    count += owner_of(b) == op_rank() ? box.here[b]->particles : 0;
  fprintf(file, "# vtk DataFile Version 3.0\nparticles\nASCII\nDATASET POLYDATA\nPOINTS %d float\n", count);
  for (int b = 0; b < box.bricks; b++)
    for (int i = 0; owner_of(b) == op_rank() && i < box.here[b]->particles; i++) {
      const double *x = box.here[b]->p[i].x;
      fprintf(file, "%g %g %g\n", x[0], x[1], x[2]);
    }
  fprintf(file, "VERTICES %d %d\n", count, 2 * count);
  for (int i = 0; i < count; i++)
    fprintf(file, "1 %d\n", i);
  fprintf(file, "POINT_DATA %d\nSCALARS speed float 1\nLOOKUP_TABLE default\n", count);
  for (int b = 0; b < box.bricks; b++)
    for (int i = 0; owner_of(b) == op_rank() && i < box.here[b]->particles; i++) {
      const double *v = box.here[b]->p[i].v;
      fprintf(file, "%g\n", sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    }
  return fclose(file) == 0;
}

int main(int argc, char **argv) {
  int row = 48, steps = 20, threads = 0, ranks = 0, bricks = 0;
  double reach = 2.5;
  const char *picture = NULL;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--edge"))
      row = atoi(value);
    else if (!strcmp(argv[a], "--steps"))
      steps = atoi(value);
    else if (!strcmp(argv[a], "--reach"))
      reach = atof(value);
    else if (!strcmp(argv[a], "--bricks"))
      bricks = atoi(value);
    else if (!strcmp(argv[a], "--simulate"))
      threads = atoi(value);
    else if (!strcmp(argv[a], "--ranks"))
      ranks = atoi(value);
    else if (!strcmp(argv[a], "--vtk"))
      picture = value;
    else
      row = 0;
    a++;
  }
  if (row < 1 || row > 400 || steps < 1 || !(reach > 0) || !make_box(row, reach, bricks)) {
    fprintf(
        stderr,
        "usage: md [--edge N] [--steps N] [--reach R] [--bricks B] [--simulate THREADS] [--ranks RANKS] "
        "[--vtk FILE]\n"
        "The box holds N x N x N particles, in B x B x B bricks, at least 3 along an edge, each at least as "
        "wide as the reach.\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  box.ranks = op_rank_count() > 1 || ranks > 0;
  make_memory();
  find_samples();
  op_graph graph = make_graph("md");
  op_graph_run(graph);
  const struct sums first = sum_up();
  box.begun = 1;
  const double start = op_wtime();
  for (int s = 0; s < steps; s++)
    op_graph_run(graph);
  const double seconds = op_wtime() - start;
  op_graph_facts_t facts;
  op_graph_facts(graph, &facts);
  const struct sums last = sum_up();
  const double error = first.wrong / first.most, drift = fabs(last.energy / first.energy - 1),
               sum =
                   (fabs(last.momentum[0]) + fabs(last.momentum[1]) + fabs(last.momentum[2])) / box.particles;
  op_printf("%d particles in %d cells, %d bricks: %lld tasks a step, %.2f ms a step on %lld threads\n",
            box.particles, box.cells, box.bricks, facts.tasks, 1e3 * seconds / steps, facts.threads);
  if (threads > 0)
    say_simulated(graph, !box.ranks ? 0 : ranks > 0 ? ranks : op_rank_count(), threads);
  if (picture && !write_picture(picture)) {
    fprintf(stderr, "md: cannot write %s\n", picture);
    return 1;
  }
  if (box.ranks)
    op_printf(
        "%d ranks: this one has %d bricks, sent %lld messages of %.1f MB in a step, and waited %.3f s\n",
        op_rank_count(), count_here(), facts.messages, 1e-6 * (double)facts.message_bytes, facts.waited);
  const int good = error < 1e-10 && drift < 2e-3 && sum < 1e-12 && last.particles == box.particles &&
                   count_here() > 0 && (box.ranks || facts.builds == 1);
  op_printf("forces differ by %.1e from those of all pairs, energy by %.1e from the first, momentum a "
            "particle %.1e, sum %.17g\n%s\n",
            error, drift, sum, last.energy, good ? "PASSED" : "FAILED");
  return op_exit() || !good;
}
