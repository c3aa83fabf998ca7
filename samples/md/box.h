/* The box of md.c: its particles as they are made, its cells and bricks, and where these are in memory. */
#ifndef SAMPLES_MD_BOX_H
#define SAMPLES_MD_BOX_H

#include <math.h>
#include <op2jit_tasks.h>
#include <stdlib.h>

struct particle {
  double x[3], v[3], f[3];
};

/* A brick's particles, those of one cell together; behind the room for them, where those of each cell begin. */
struct brick {
  int particles;
  double pairs; /* energy of those that its tasks found */
  struct particle p[];
};
/* Those that leave a brick in a step: their new bricks look for them here. */
enum { LEAVING = 128 };
struct leaving {
  int particles;
  struct particle p[LEAVING];
};
/* Of a brick: energy, momentum; of the first step, how far forces are from those by hand. */
struct sums {
  double energy, momentum[3], wrong, most, particles;
};

/* A cell beside another one, behind the border of the box: -1, 0 or 1 of its widths. */
struct beside {
  int cell;
  signed char behind[3];
};

enum {
  NEAR = 13,     /* of the 26 cells beside one: those that come behind it, or the box's border lies between */
  AROUND = 27,   /* all, and itself in the middle */
  SAMPLES = 100, /* particles whose forces are found by hand too */
};

/* Cells of brick b: lists[first[b]] to lists[first[b + 1] - 1]. Bricks are where tasks find them, of which some lie on other
 * ranks. */
static struct box {
  int row, particles, cells, side, bricks, edge; /* particles, cells and bricks: in all, and along an edge */
  double width, reach, step;                     /* of the box; of forces; of time */
  int *brick, *first, *lists, *at;               /* brick: of a cell; at: its place in the lists */
  int ranks, begun;                              /* do all ranks have the graph together? */
  struct beside *near;                           /* NEAR of each cell */
  struct brick **here;                           /* NULL: on another rank */
  struct leaving **leaving;                      /* of one process */
  struct sums *sums;
  double mean[3]; /* of speeds as they are made */
  struct particle samples[SAMPLES];
  int nsamples;
} box;

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
  const int by[] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
  struct beside p = {0};
  int at[3] = {cell % side, cell / side % side, cell / side / side};
  for (int k = 0; k < 3; k++) {
    at[k] += by[k];
    p.behind[k] = (signed char)(at[k] < 0 ? -1 : at[k] >= side);
    at[k] = (at[k] + side) % side;
  }
  p.cell = (at[2] * side + at[1]) * side + at[0];
  return p;
}

static void make_bricks(void) {
  int *count = box.first + 1;
  for (int c = 0; c < box.cells; c++) {
    const int at[] = {c % box.side, c / box.side % box.side, c / box.side / box.side};
    box.brick[c] = ((at[2] * box.edge / box.side) * box.edge + at[1] * box.edge / box.side) * box.edge +
                   at[0] * box.edge / box.side;
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

/* ---- particles ---- */

static int cell_of(const struct particle *p) {
  int at[3];
  for (int k = 0; k < 3; k++) {
    at[k] = (int)(p->x[k] / box.width * box.side);
    if (at[k] >= box.side)
      at[k] = box.side - 1;
  }
  return (at[2] * box.side + at[1]) * box.side + at[0];
}

/* From 0 to 1, the same for the same number. */
static double random_number(long long number) {
  unsigned long long z = ((unsigned long long)number + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) / (double)(1ull << 53);
}

/* On a lattice, each a little off its place, with velocities whose sum is 0: any rank makes any particle. */
static struct particle make_particle(int x, int y, int z) {
  const int at[] = {x, y, z};
  const long long number = 6 * (((long long)z * box.row + y) * box.row + x);
  struct particle p = {.f = {0, 0, 0}};
  for (int k = 0; k < 3; k++) {
    p.x[k] = (at[k] + 0.5 + 0.1 * (random_number(number + k) - 0.5)) * box.width / box.row;
    p.v[k] = sqrt(12) * (random_number(number + 3 + k) - 0.5) - box.mean[k];
  }
  return p;
}

#endif
