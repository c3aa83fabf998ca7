/* A box without walls, full of particles: cells as wide as particles act, bricks of cells that are worth a task, and the
 * graph of a step's tasks. A particle that leaves its brick is laid out, and the bricks beside it look there for theirs. On
 * several ranks each has the particles of its own bricks and, as far as its tasks need them, of bricks beside them.
 * The includer defines first:
 *   DIMENSIONS          2 or 3
 *   struct particle     with `double x[DIMENSIONS]`, its place
 *   struct sums         what a step finds of a brick, and all ranks know behind it */
#ifndef SAMPLES_BOX_H
#define SAMPLES_BOX_H

#include <math.h>
#include <op2jit.h>
#include <op2jit_tasks.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A brick's particles, those of one cell together; behind the room for them, where those of each cell begin. */
struct brick {
  int particles;
  double energy; /* of pairs, as its tasks found it */
  struct particle p[];
};
/* The particles that leave a brick in a step: their new bricks look for them here. */
struct leaving {
  int particles;
  struct particle p[];
};

/* A cell beside another one. `behind`: -1 or 1 where the border of the box lies between them. */
struct beside {
  int cell;
  signed char behind[3];
};

enum {
  AROUND = DIMENSIONS == 2 ? 9 : 27, /* cells beside one, and itself in the middle */
  NEAR = AROUND / 2                  /* half of those beside one, so that each pair of cells counts once */
};

/* Cells of brick b: lists[first[b]] to lists[first[b + 1] - 1]. */
static struct box {
  int particles, cells, side, bricks, edge; /* in all; side and edge: cells and bricks along an edge */
  double width, step;                       /* of the box; of time */
  int *brick, *first, *lists, *at;          /* brick: of a cell; at: its place in the lists */
  int ranks, begun;         /* do all ranks have the graph together? is the first step over? */
  int leave;                /* particles that may leave a brick in a step */
  struct beside *near;      /* NEAR of each cell */
  struct brick **here;      /* where tasks found them; NULL: on another rank */
  struct leaving **leaving; /* of one process */
  struct sums *sums;
} box;

/* One or two bricks: what a task is given. */
struct bricks {
  int one, other;
};

static int cells_of(int brick) {
  return box.first[brick + 1] - box.first[brick];
}
/* A quarter more than there would be if they lay evenly, and some. */
static int room_of(int brick) {
  return (int)(1.25 * box.particles / box.cells * cells_of(brick)) + 24;
}
static size_t bytes_of(int brick) {
  return sizeof(struct brick) + (size_t)room_of(brick) * sizeof(struct particle) +
         ((size_t)cells_of(brick) + 1) * sizeof(int);
}
static size_t bytes_leaving(void) {
  return sizeof(struct leaving) + (size_t)box.leave * sizeof(struct particle);
}
static int *starts(struct brick *b, int number) {
  return (int *)(void *)(b->p + room_of(number));
}
/* The brick that a task locks, in the order of its locks. */
static struct brick *locked(op_running *running, int index, int number) {
  if (box.ranks)
    box.here[number] = op_running_memory(running, index);
  return box.here[number];
}
static struct leaving *leaving(op_running *running, int index, int number) {
  return box.ranks ? op_running_memory(running, index) : box.leaving[number];
}

/* ---- cells ---- */

/* The one beside a cell, or a brick, in a box with so many along an edge: `n` up to AROUND - 1. */
static struct beside beside(int cell, int n, int side) {
  struct beside p = {0};
  for (int k = 0, by = n, rest = cell, stride = 1; k < DIMENSIONS; k++) {
    const int at = rest % side + by % 3 - 1;
    p.behind[k] = (signed char)(at < 0 ? -1 : at >= side);
    p.cell += (at + side) % side * stride;
    by /= 3;
    rest /= side;
    stride *= side;
  }
  return p;
}

static int brick_of(int cell) {
  int brick = 0;
  for (int k = 0, rest = cell, stride = 1; k < DIMENSIONS; k++) {
    brick += rest % box.side * box.edge / box.side * stride;
    rest /= box.side;
    stride *= box.edge;
  }
  return brick;
}

static void make_bricks(void) {
  int *count = box.first + 1;
  for (int c = 0; c < box.cells; c++) {
    box.brick[c] = brick_of(c);
    count[box.brick[c]]++;
    for (int n = 0; n < NEAR; n++)
      box.near[c * NEAR + n] = beside(c, NEAR + 1 + n, box.side);
  }
  for (int b = 0; b < box.bricks; b++)
    box.first[b + 1] += box.first[b];
  for (int c = box.cells; c-- > 0;)
    box.lists[box.at[c] = --box.first[box.brick[c] + 1]] = c;
  for (int b = 0; b < box.bricks; b++)
    box.first[b] = box.first[b + 1];
  box.first[box.bricks] = box.cells;
}

/* 0: there are too few cells for bricks whose neighbours differ. */
static int make_cells(int particles, double width, int side, int edge) {
  box = (struct box){.particles = particles, .width = width, .side = side, .edge = edge};
  box.cells = box.bricks = 1;
  for (int k = 0; k < DIMENSIONS; k++) {
    box.cells *= side;
    box.bricks *= edge;
  }
  if (edge < 3 || side < edge)
    return 0;
  const size_t cells = (size_t)box.cells, bricks = (size_t)box.bricks;
  box.brick = calloc(cells, sizeof *box.brick);
  box.lists = calloc(cells, sizeof *box.lists);
  box.at = calloc(cells, sizeof *box.at);
  box.near = calloc(cells * NEAR, sizeof *box.near);
  box.first = calloc(bricks + 1, sizeof *box.first);
  box.here = calloc(bricks, sizeof *box.here);
  box.leaving = calloc(bricks, sizeof *box.leaving);
  box.sums = calloc(bricks, sizeof *box.sums);
  if (!box.brick || !box.lists || !box.at || !box.near || !box.first || !box.here || !box.leaving ||
      !box.sums)
    exit(1);
  make_bricks();
  return 1;
}

/* The memory of one process is the program's; that of ranks is the library's. */
static void make_memory(void) {
  for (int b = 0; b < box.bricks && !box.ranks; b++)
    if (!(box.here[b] = calloc(1, bytes_of(b))) || !(box.leaving[b] = calloc(1, bytes_leaving())))
      exit(1);
}

/* ---- particles ---- */

static int cell_of(const struct particle *p) {
  int cell = 0;
  for (int k = DIMENSIONS; k-- > 0;) {
    const int at = (int)(p->x[k] / box.width * box.side);
    cell = cell * box.side + (at >= box.side ? box.side - 1 : at);
  }
  return cell;
}

static int add_particle(struct brick *b, int number, const struct particle *p) {
  if (b->particles == room_of(number))
    return 0;
  b->p[b->particles++] = *p;
  return 1;
}

/* The first step: each brick makes its own particles, from a lattice with `row` along an edge. It looks at the places of
 * the lattice in the brick and one cell around it. 0: there is no room. */
static int fill(struct brick *b, int number, int row, struct particle make(const int *place)) {
  int from[3] = {0, 0, 0}, to[3] = {0, 0, 0}, fits = 1;
  for (int k = 0, rest = number; k < DIMENSIONS; k++, rest /= box.edge) {
    const int at = rest % box.edge; /* its cells begin where at * side / edge is rounded up */
    from[k] = (at * box.side + box.edge - 1) / box.edge * row / box.side - 1;
    to[k] = ((at + 1) * box.side + box.edge - 1) / box.edge * row / box.side + 1;
    from[k] = from[k] < 0 ? 0 : from[k];
    to[k] = to[k] >= row ? row - 1 : to[k];
  }
  for (int z = from[2]; z <= to[2]; z++)
    for (int y = from[1]; y <= to[1]; y++)
      for (int x = from[0]; x <= to[0]; x++) {
        const struct particle p = make((const int[]){x, y, z});
        if (box.brick[cell_of(&p)] == number)
          fits = add_particle(b, number, &p) && fits;
      }
  return fits;
}

/* 0: more leave than there is room for. */
static int move_all(struct brick *b, int number, struct leaving *out, void move_one(struct particle *)) {
  int stay = 0;
  for (int a = 0; a < b->particles; a++) {
    move_one(&b->p[a]);
    if (box.brick[cell_of(&b->p[a])] == number)
      b->p[stay++] = b->p[a];
    else if (out->particles < box.leave)
      out->p[out->particles++] = b->p[a];
    else
      return 0;
  }
  b->particles = stay;
  return 1;
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

/* A task: particles come from bricks beside it, which it uses in this order. */
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

/* ---- pairs of particles ---- */

/* What two particles do to one another, and their energy. `shift`: how far the second one's cell lies behind the border. */
typedef double act_function(struct particle *a, struct particle *b, const double *shift);

/* A brick with its number. */
struct numbered {
  struct brick *b;
  int number;
};

/* Between the cells at these places of the lists. */
static inline double act_cells(struct numbered one, int i, struct numbered other, int j, const double *shift,
                               act_function *act) {
  const int *here = starts(one.b, one.number) + i - box.first[one.number],
            *there = starts(other.b, other.number) + j - box.first[other.number];
  double energy = 0;
  for (int a = here[0]; a < here[1]; a++)
    for (int b = i == j ? a + 1 : there[0]; b < there[1]; b++)
      energy += act(&one.b->p[a], &other.b->p[b], shift);
  return energy;
}

/* Between the cells of a brick and those of another one that come behind them. */
static inline double act_behind(struct numbered one, struct numbered other, act_function *act) {
  double energy = 0;
  for (int i = box.first[one.number]; i < box.first[one.number + 1]; i++)
    for (int n = 0; n < NEAR; n++) {
      const struct beside *near = &box.near[box.lists[i] * NEAR + n];
      const double shift[] = {near->behind[0] * box.width, near->behind[1] * box.width,
                              near->behind[2] * box.width};
      if (box.brick[near->cell] == other.number)
        energy += act_cells(one, i, other, box.at[near->cell], shift, act);
    }
  return energy;
}

/* A task's work: all pairs inside of a brick, or between two. */
static inline void act_bricks(op_running *running, const struct bricks *b, act_function *act) {
  const double none[3] = {0, 0, 0};
  const struct numbered one = {locked(running, 0, b->one), b->one};
  if (b->one != b->other) {
    const struct numbered other = {locked(running, 1, b->other), b->other};
    one.b->energy += act_behind(one, other, act) + act_behind(other, one, act);
    return;
  }
  for (int i = box.first[b->one]; i < box.first[b->one + 1]; i++)
    one.b->energy += act_cells(one, i, one, i, none, act);
  one.b->energy += act_behind(one, one, act);
}

/* ---- the graph ---- */

struct kind {
  const char *name;
  op_task_function *function;
};
/* Tasks of a step: own[0] of each brick moves its particles, then arrive() takes what comes, then own[1] on follow. Between
 * arrive() and own[1], and any two that follow, there is a round of tasks on single bricks and pairs of them. */
struct step {
  const char *name;
  const struct kind *own, *rounds;
  int nrounds;
};
enum { MOST_ROUNDS = 2 };

struct plan {
  op_graph graph;
  op_resource *bricks, *sums, *leaving;
  op_task *moved,
      *behind[1 + MOST_ROUNDS]; /* of each brick: the first task; arrive, and those behind each round */
};

/* The rank that has a brick: bricks of one rank lie side by side. */
static int owner_of(int brick) {
  return (int)((long long)brick * op_rank_count() / box.bricks);
}

static op_resource add_part(const struct plan *p, int brick, void *memory, size_t bytes) {
  const op_resource part = op_graph_resource(p->graph, 0, NULL);
  op_graph_memory(p->graph, part, memory, bytes);
  if (box.ranks)
    op_graph_owner(p->graph, part, owner_of(brick));
  return part;
}

static op_task add_own(const struct plan *p, op_task_type type, int b) {
  const struct bricks own = {b, b};
  const op_task task = op_graph_task(p->graph, type, &own, sizeof own, 1);
  op_graph_lock(p->graph, task, p->bricks[b]);
  return task;
}

/* Its cost is by how many cells there are to look at. */
static void add_round(const struct plan *p, int round, op_task_type type, int one, int other) {
  const struct bricks b = {one, other};
  const int count = 1 + (one != other), both[] = {one, other};
  const double cost = (cells_of(one) + cells_of(other)) * (one == other ? 3 : 1);
  const op_task task = op_graph_task(p->graph, type, &b, sizeof b, cost);
  for (int i = 0; i < count; i++) {
    op_graph_lock(p->graph, task, p->bricks[both[i]]);
    op_graph_depend(p->graph, task, p->behind[round][both[i]]);
    op_graph_depend(p->graph, p->behind[round + 1][both[i]], task);
  }
}

static void add_bricks(const struct plan *p, const struct step *s) {
  const op_task_type move = op_graph_type(p->graph, s->own[0].name, s->own[0].function),
                     arrives = op_graph_type(p->graph, "arrive", arrive);
  op_task_type behind[MOST_ROUNDS];
  for (int r = 0; r < s->nrounds; r++)
    behind[r] = op_graph_type(p->graph, s->own[1 + r].name, s->own[1 + r].function);
  for (int b = 0; b < box.bricks; b++) {
    p->bricks[b] = add_part(p, b, box.here[b], bytes_of(b));
    p->leaving[b] = add_part(p, b, box.leaving[b], bytes_leaving());
    p->sums[b] = add_part(p, b, &box.sums[b], sizeof box.sums[b]);
    p->moved[b] = add_own(p, move, b);
    op_graph_lock(p->graph, p->moved[b], p->leaving[b]);
    p->behind[0][b] = add_own(p, arrives, b);
    for (int r = 0; r < s->nrounds; r++)
      p->behind[1 + r][b] = add_own(p, behind[r], b);
    op_graph_lock(p->graph, p->behind[s->nrounds][b], p->sums[b]);
  }
}

static void add_neighbours(const struct plan *p, const struct step *s) {
  op_task_type rounds[MOST_ROUNDS];
  for (int r = 0; r < s->nrounds; r++)
    rounds[r] = op_graph_type(p->graph, s->rounds[r].name, s->rounds[r].function);
  for (int b = 0; b < box.bricks; b++)
    for (int n = 0; n < AROUND; n++) {
      const int other = beside(b, n, box.edge).cell;
      op_graph_use(p->graph, p->behind[0][b], p->leaving[other]);
      op_graph_depend(p->graph, p->behind[0][b], p->moved[other]);
      for (int r = 0; n >= NEAR && r < s->nrounds; r++)
        add_round(p, r, rounds[r], b, other);
    }
}

/* All ranks know the sums. */
static void add_collect(const struct plan *p, const op_task *ends) {
  const op_task last = op_graph_task(p->graph, op_graph_type(p->graph, "collect", NULL), NULL, 0, 0);
  if (box.ranks)
    op_graph_place(p->graph, last, OP_EVERY_RANK);
  for (int b = 0; b < box.bricks; b++) {
    op_graph_use(p->graph, last, p->sums[b]);
    op_graph_depend(p->graph, last, ends[b]);
  }
}

static op_graph make_graph(const struct step *s) {
  const size_t n = (size_t)box.bricks;
  op_resource *parts = calloc(3 * n, sizeof *parts);
  op_task *tasks = calloc((2 + MOST_ROUNDS) * n, sizeof *tasks);
  if (!parts || !tasks)
    exit(1);
  const struct plan p = {.graph = op_decl_graph(s->name),
                         .bricks = parts,
                         .sums = parts + n,
                         .leaving = parts + 2 * n,
                         .moved = tasks,
                         .behind = {tasks + n, tasks + 2 * n, tasks + 3 * n}};
  if (box.ranks)
    op_graph_ranks(p.graph, OP_GRAPH_WHOLE);
  add_bricks(&p, s);
  add_neighbours(&p, s);
  add_collect(&p, p.behind[s->nrounds]);
  free(parts);
  free(tasks);
  return p.graph;
}

/* ---- afterwards ---- */

/* Bricks that this rank has, its own and those beside them, and their memory; -1: it lacks one of its own, or has others too.
 * A rank beyond the bricks has none. */
static int count_here(double *bytes) {
  int count = 0;
  *bytes = 0;
  for (int b = 0; b < box.bricks; b++) {
    int near = 0;
    for (int n = 0; n < AROUND; n++)
      near = near || owner_of(beside(b, n, box.edge).cell) == op_rank();
    if (box.here[b] ? !near : owner_of(b) == op_rank())
      return -1;
    count += box.here[b] != NULL;
    *bytes += box.here[b] ? (double)bytes_of(b) : 0;
  }
  return count;
}

static void say_ranks(op_graph graph) {
  op_graph_facts_t facts;
  double bytes;
  const int count = count_here(&bytes);
  op_graph_facts(graph, &facts);
  op_printf("%d ranks: this one has %d of %d bricks, %.2f MB, sent %lld messages of %.1f MB in a step, and "
            "waited %.3f s\n",
            op_rank_count(), count, box.bricks, 1e-6 * bytes, facts.messages,
            1e-6 * (double)facts.message_bytes, facts.waited);
}

/* For each particle of this rank's own bricks. */
static void each_own(FILE *file, void write(FILE *file, const struct particle *)) {
  for (int b = 0; b < box.bricks; b++)
    for (int i = 0; owner_of(b) == op_rank() && i < box.here[b]->particles; i++)
      write(file, &box.here[b]->p[i]);
}

static void write_place(FILE *file, const struct particle *p) {
  fprintf(file, "%g %g %g\n", p->x[0], p->x[1], DIMENSIONS == 3 ? p->x[DIMENSIONS - 1] : 0);
}

/* Particles as points for ParaView, of each rank its own; what they have may follow. NULL: no file can be written. */
static FILE *begin_picture(const char *path, const char *title) {
  char name[4096];
  int count = 0;
  snprintf(name, sizeof name, op_rank_count() > 1 ? "%s.%d" : "%s", path, op_rank());
  FILE *file = fopen(name, "w");
  if (!file)
    return NULL;
  for (int b = 0; b < box.bricks; b++)
    count += owner_of(b) == op_rank() ? box.here[b]->particles : 0;
  fprintf(file, "# vtk DataFile Version 3.0\n%s\nASCII\nDATASET POLYDATA\nPOINTS %d float\n", title, count);
  each_own(file, write_place);
  fprintf(file, "VERTICES %d %d\n", count, 2 * count);
  for (int i = 0; i < count; i++)
    fprintf(file, "1 %d\n", i);
  fprintf(file, "POINT_DATA %d\n", count);
  return file;
}

#endif
