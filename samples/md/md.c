/* Molecular dynamics: particles that attract one another and push off (Lennard-Jones), in a box without walls. The box is
 * cut into cells as wide as forces reach, and bricks of cells are large enough to be worth a task. A task finds the forces
 * inside of a brick or between two neighbours, and locks the bricks, since each force acts on both particles. Before, the
 * particles of a brick are moved; those that leave it are laid out, and bricks beside it take what is theirs. One graph
 * serves all steps. On several ranks each has the particles of its bricks and, as far as its tasks need them, of those beside
 * them. Checked: forces against all pairs, energy, momentum. */
#include <op2jit_tools.h>

#include "../simulated.h"

struct particle {
  double x[3], v[3], f[3];
};
/* Of a brick: energy, momentum; of the first step, how far forces are from those by hand. */
struct sums {
  double energy, momentum[3], wrong, most, particles;
};

#define DIMENSIONS 3
#include "../box.h"

enum {
  SAMPLES = 100, /* particles whose forces are found by hand too */
  LEAVING = 128  /* particles that may leave a brick in a step */
};

static struct molecules {
  int row;                                /* of the lattice at the start, along an edge */
  double reach, energy_at_reach, mean[3]; /* of forces; mean: of speeds as they are made */
  struct particle samples[SAMPLES];
  int nsamples;
} md;

/* ---- particles ---- */

/* From 0 to 1, the same for the same number. */
static double random_number(long long number) {
  unsigned long long z = ((unsigned long long)number + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) / (double)(1ull << 53);
}

/* On a lattice, each a little off its place, with velocities whose sum is 0: any rank makes any particle. */
static struct particle make_particle(const int *at) {
  const long long number = 6 * (((long long)at[2] * md.row + at[1]) * md.row + at[0]);
  struct particle p = {.f = {0, 0, 0}};
  for (int k = 0; k < 3; k++) {
    p.x[k] = (at[k] + 0.5 + 0.1 * (random_number(number + k) - 0.5)) * box.width / md.row;
    p.v[k] = sqrt(12) * (random_number(number + 3 + k) - 0.5) - md.mean[k];
  }
  return p;
}
static struct particle make_number(int i) {
  return make_particle((const int[]){i % md.row, i / md.row % md.row, i / md.row / md.row});
}

/* ---- forces ---- */

static double act(struct particle *a, struct particle *b, const double *shift) {
  double d[3], r2 = 0;
  for (int k = 0; k < 3; k++) {
    d[k] = a->x[k] - b->x[k] - shift[k];
    r2 += d[k] * d[k];
  }
  if (r2 >= md.reach * md.reach)
    return 0;
  const double s = 1 / r2, s6 = s * s * s, force = 24 * (2 * s6 * s6 - s6) * s;
  for (int k = 0; k < 3; k++) {
    a->f[k] += force * d[k];
    b->f[k] -= force * d[k];
  }
  return 4 * (s6 * s6 - s6) - md.energy_at_reach;
}

static void find_forces(op_running *running, void *data) {
  act_bricks(running, data, act);
}

/* ---- moving ---- */

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

static void move(op_running *running, void *data) {
  const int number = ((const struct bricks *)data)->one;
  struct brick *b = locked(running, 0, number);
  struct leaving *out = leaving(running, 1, number);
  b->energy = 0;
  out->particles = 0;
  if (!(box.begun ? move_all(b, number, out, move_one) : fill(b, number, md.row, make_particle)))
    op_running_fail(running, box.begun ? "more particles leave a brick than there is room for"
                                       : "a brick has no room for its particles");
}

/* Forces as they were first, beside those by hand. */
static void compare(const struct particle *p, struct sums *s) {
  for (int i = 0; i < md.nsamples; i++) {
    const struct particle *by_hand = &md.samples[i];
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
  s->energy = b->energy;
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

static const struct step md_step = {.name = "md",
                                    .own = (const struct kind[]){{"move", move}, {"finish", finish}},
                                    .rounds = (const struct kind[]){{"force", find_forces}},
                                    .nrounds = 1};

/* ---- the start, and the check ---- */

/* Forces on some particles, from all others by hand. */
static void find_samples(void) {
  const double none[3] = {0, 0, 0};
  const int apart = 1 + box.particles / SAMPLES;
  for (int i = 0; i < box.particles; i += apart)
    md.samples[md.nsamples++] = make_number(i);
  for (int i = 0; i < box.particles; i++) {
    const struct particle made = make_number(i);
    for (int s = 0; s < md.nsamples; s++) {
      struct particle *one = &md.samples[s], other = made;
      for (int k = 0; k < 3; k++)
        other.x[k] += box.width * floor((one->x[k] - other.x[k]) / box.width + 0.5);
      if (i != s * apart)
        act(one, &other, none);
    }
  }
}

static int make_box(int row, double reach, int bricks) {
  const int particles = row * row * row;
  const double width = cbrt(particles / 0.6), r2 = reach * reach, r6 = r2 * r2 * r2;
  const int side = (int)(width / reach);
  double sum[3] = {0, 0, 0};
  /* Energy is 0 where forces end: it would jump there. */
  md = (struct molecules){.row = row, .reach = reach, .energy_at_reach = 4 * (1 / r6 / r6 - 1 / r6)};
  if (!make_cells(particles, width, side, bricks ? bricks : side < 18 ? 3 : side / 6))
    return 0;
  box.step = 0.002;
  box.leave = LEAVING;
  for (int i = 0; i < box.particles; i++) {
    const struct particle p = make_number(i);
    for (int k = 0; k < 3; k++)
      sum[k] += p.v[k];
  }
  for (int k = 0; k < 3; k++)
    md.mean[k] = sum[k] / box.particles;
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

static void write_speed(FILE *file, const struct particle *p) {
  fprintf(file, "%g\n", sqrt(p->v[0] * p->v[0] + p->v[1] * p->v[1] + p->v[2] * p->v[2]));
}

static int write_picture(const char *path) {
  FILE *file = begin_picture(path, "particles");
  if (!file)
    return 0;
  fprintf(file, "SCALARS speed float 1\nLOOKUP_TABLE default\n");
  each_own(file, write_speed);
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
  op_graph graph = make_graph(&md_step);
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
    say_ranks(graph);
  double bytes;
  const int good = error < 1e-10 && drift < 2e-3 && sum < 1e-12 && last.particles == box.particles &&
                   count_here(&bytes) >= 0 && (box.ranks || facts.builds == 1);
  op_printf("forces differ by %.1e from those of all pairs, energy by %.1e from the first, momentum a "
            "particle %.1e, sum %.17g\n%s\n",
            error, drift, sum, last.energy, good ? "PASSED" : "FAILED");
  return op_exit() || !good;
}
