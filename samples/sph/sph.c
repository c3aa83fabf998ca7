/* Smoothed particles: Gresho's vortex, a gas that turns in a box without walls and should go on turning. Each step has
 * two rounds over neighbours: densities, then forces. Between them one task of each brick of cells finds the pressures:
 * what it waits for and what waits for it meet there, so that there are few dependencies. Tasks on two bricks lock both.
 * On several ranks each has the particles of its bricks, and those of bricks beside them as far as its tasks need them.
 * Checked: mass, momentum, energy, and the profile of the vortex. */
#include <op2jit_tools.h>

#include "../simulated.h"

struct particle {
  double x[2], v[2], a[2], u, du, density, pressure;
};
/* Of a brick. wrong, all: by how much the turning speed differs from the exact one, and that speed, summed up. */
struct sums {
  double energy, momentum[2], volume, wrong, all, particles;
};

#define DIMENSIONS 2
#include "../box.h"

static const double pi = 3.14159265358979323846, heat_ratio = 5.0 / 3;

static struct gas {
  int row;        /* of the lattice at the start, along an edge */
  double mass, h; /* of a particle; how far it is smoothed, by half */
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

static double add_density(struct particle *a, struct particle *b, const double *shift) {
  double d[2], slope;
  const double r2 = distance2(a, b, shift, d);
  if (r2 <= 0)
    return 0;
  const double w = gas.mass * spline(sqrt(r2), &slope);
  a->density += w;
  b->density += w;
  return 0;
}

/* With what damps shocks where two come nearer. */
static double add_force(struct particle *a, struct particle *b, const double *shift) {
  double d[2], slope, vr = 0;
  const double r2 = distance2(a, b, shift, d);
  if (r2 <= 0)
    return 0;
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
  return 0;
}

/* ---- the vortex ---- */

static double turn_at(double r) {
  return r < 0.2 ? 5 * r : r < 0.4 ? 2 - 5 * r : 0;
}

static double pressure_at(double r) {
  return r < 0.2 ? 5 + 12.5 * r * r : r < 0.4 ? 9 + 12.5 * r * r - 20 * r + 4 * log(5 * r) : 3 + 4 * log(2);
}

/* How far from the middle of the vortex, where nobody divides by 0. */
static double radius(const struct particle *p, double *dx, double *dy) {
  *dx = p->x[0] - 0.5;
  *dy = p->x[1] - 0.5;
  return sqrt(*dx * *dx + *dy * *dy) + 1e-12;
}

/* At this place of a lattice. */
static struct particle make_particle(const int *at) {
  struct particle p = {.x = {(at[0] + 0.5) / gas.row, (at[1] + 0.5) / gas.row}};
  double dx, dy;
  const double r = radius(&p, &dx, &dy);
  p.v[0] = -turn_at(r) * dy / r;
  p.v[1] = turn_at(r) * dx / r;
  p.u = pressure_at(r) / (heat_ratio - 1);
  return p;
}

static int make_gas(int n, int bricks) {
  const double h = 1.5 / n;
  const int side = (int)(1 / (2 * h) / 1.02);
  const int edge = bricks ? bricks : side < 36 ? 3 : side / 12 > 16 ? 16 : side / 12;
  gas = (struct gas){.row = n, .mass = 1.0 / n / n, .h = h};
  if (!make_cells(n * n, 1, side, edge))
    return 0;
  box.leave = 4 * n / edge + 64; /* a step is much shorter than a cell: those along its border */
  return 1;
}

/* ---- the tasks ---- */

static void run_density(op_running *running, void *data) {
  act_bricks(running, data, add_density);
}
static void run_force(op_running *running, void *data) {
  act_bricks(running, data, add_force);
}

static void push(struct particle *p) {
  for (int k = 0; k < 2; k++)
    p->v[k] += box.step / 2 * p->a[k];
  p->u += box.step / 2 * p->du;
}

static void move_one(struct particle *p) {
  push(p);
  for (int k = 0; k < 2; k++) {
    p->x[k] += box.step * p->v[k];
    p->x[k] -= floor(p->x[k]);
  }
}

/* What the rounds add to. */
static void begin_one(struct particle *p) {
  double slope;
  p->a[0] = p->a[1] = p->du = 0;
  p->density = gas.mass * spline(0, &slope);
}

static void run_begin(op_running *running, void *data) {
  const int number = ((const struct bricks *)data)->one;
  struct brick *b = locked(running, 0, number);
  struct leaving *out = leaving(running, 1, number);
  out->particles = 0;
  const int fits = box.begun ? move_all(b, number, out, move_one) : fill(b, number, gas.row, make_particle);
  if (!fits)
    op_running_fail(running, box.begun ? "more particles leave a brick than there is room for"
                                       : "a brick has no room for its particles");
  for (int i = 0; i < b->particles; i++)
    begin_one(&b->p[i]);
  for (int i = 0; i < out->particles; i++)
    begin_one(&out->p[i]);
}

static void run_ghost(op_running *running, void *data) {
  struct brick *b = locked(running, 0, ((const struct bricks *)data)->one);
  for (int i = 0; i < b->particles; i++)
    b->p[i].pressure = (heat_ratio - 1) * b->p[i].density * b->p[i].u;
}

static void add_sums(const struct particle *p, struct sums *s) {
  double dx, dy;
  const double r = radius(p, &dx, &dy);
  s->energy += gas.mass * (p->u + 0.5 * (p->v[0] * p->v[0] + p->v[1] * p->v[1]));
  s->volume += gas.mass / p->density;
  s->wrong += fabs((p->v[1] * dx - p->v[0] * dy) / r - turn_at(r));
  s->all += turn_at(r);
  for (int k = 0; k < 2; k++)
    s->momentum[k] += gas.mass * p->v[k];
}

static void run_end(op_running *running, void *data) {
  const int number = ((const struct bricks *)data)->one;
  struct brick *b = locked(running, 0, number);
  struct sums sums = {.particles = b->particles};
  for (int i = 0; i < b->particles; i++) {
    if (box.begun)
      push(&b->p[i]);
    add_sums(&b->p[i], &sums);
  }
  box.sums[number] = sums;
}

static const struct step sph_step = {
    .name = "sph",
    .own = (const struct kind[]){{"begin", run_begin}, {"ghost", run_ghost}, {"end", run_end}},
    .rounds = (const struct kind[]){{"density", run_density}, {"force", run_force}},
    .nrounds = 2};

/* ---- the check ---- */

static struct sums sum_up(void) {
  struct sums all = {0};
  for (int b = 0; b < box.bricks; b++) {
    const struct sums *s = &box.sums[b];
    all.energy += s->energy;
    all.volume += s->volume;
    all.wrong += s->wrong;
    all.all += s->all;
    all.particles += s->particles;
    for (int k = 0; k < 2; k++)
      all.momentum[k] += s->momentum[k];
  }
  return all;
}

static void write_pressure(FILE *file, const struct particle *p) {
  fprintf(file, "%g\n", p->pressure);
}
static void write_velocity(FILE *file, const struct particle *p) {
  fprintf(file, "%g %g 0\n", p->v[0], p->v[1]);
}

static int write_picture(const char *path) {
  FILE *file = begin_picture(path, "gas");
  if (!file)
    return 0;
  fprintf(file, "SCALARS pressure float 1\nLOOKUP_TABLE default\n");
  each_own(file, write_pressure);
  fprintf(file, "VECTORS velocity float\n");
  each_own(file, write_velocity);
  return fclose(file) == 0;
}

int main(int argc, char **argv) {
  int n = 100, threads = 0, ranks = 0, bricks = 0;
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
    else if (!strcmp(argv[a], "--bricks"))
      bricks = atoi(value);
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
  if (n < 12 || n > 10000 || !(end > 0) || !make_gas(n, bricks)) {
    fprintf(
        stderr,
        "usage: sph [--n N] [--end TIME] [--bricks B] [--simulate THREADS] [--ranks RANKS] [--vtk FILE]\n"
        "N x N particles, N at least 12, in B x B bricks, at least 3 along an edge and each at least as wide "
        "as particles reach.\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  box.ranks = op_rank_count() > 1 || ranks > 0;
  make_memory();
  op_graph graph = make_graph(&sph_step);
  op_graph_run(graph); /* a step of no time: each brick makes its particles, and their forces are found */
  const struct sums before = sum_up();
  box.begun = 1;
  const int steps = 1 + (int)(end / (0.15 * gas.h / 3.2));
  box.step = end / steps;
  const double start = op_wtime();
  for (int s = 0; s < steps; s++)
    op_graph_run(graph);
  const double seconds = op_wtime() - start;
  op_graph_facts_t facts;
  op_graph_facts(graph, &facts);
  op_printf("%d particles, %d bricks: %lld tasks a step, %d steps, %.2f ms a step on %lld threads\n",
            box.particles, box.bricks, facts.tasks, steps, 1e3 * seconds / steps, facts.threads);
  if (box.ranks)
    say_ranks(graph);
  if (threads > 0)
    say_simulated(graph, !box.ranks ? 0 : ranks > 0 ? ranks : op_rank_count(), threads);
  if (picture && !write_picture(picture)) {
    fprintf(stderr, "sph: cannot write %s\n", picture);
    return 1;
  }
  const struct sums after = sum_up();
  double bytes;
  const double drift = fabs(after.energy / before.energy - 1), volume = fabs(after.volume - 1),
               momentum = fabs(after.momentum[0]) + fabs(after.momentum[1]),
               profile = after.wrong / after.all;
  const int good = drift < 1e-3 && momentum < 1e-12 && volume < 0.02 && profile < 0.15 &&
                   after.particles == box.particles && count_here(&bytes) >= 0 &&
                   (box.ranks || facts.builds == 1);
  op_printf("energy %.1e from the first, momentum %.1e, volume %.1e from the box's, profile %.3f from the "
            "exact one, sum %.17g\n%s\n",
            drift, momentum, volume, profile, after.energy, good ? "PASSED" : "FAILED");
  return op_exit() || !good;
}
