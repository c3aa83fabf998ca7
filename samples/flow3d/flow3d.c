/* Steady compressible flow in three dimensions, with friction or without, on meshes of tetrahedra, pyramids, wedges and
 * hexahedra in one: finite volumes around the middles of cells, of second order by least-squares gradients with
 * Venkatakrishnan's limiter, Roe's fluxes, and multigrid over cells that are put together. Meshes are files of HDF5,
 * which mesh.py and `python3 -m op2jit.mesh` make. The program writes forces and residuals of each cycle, stops and goes
 * on later, shows the flow in ParaView, and finds by how much the drag changes with a shape (--gradient).
 *
 * This file has the program, solver.c the loops, flow3d_kernels.h the kernels. */
#include "solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NONE, MADE_UP, COUETTE, STREAM, PLATE, GRADIENT, CHECKS };
static const char *const checks[CHECKS] = {"", "made-up", "couette", "stream", "plate", "gradient"};

struct wishes {
  const char *mesh, *history, *vtk, *write, *restart, *check_name;
  double levels, cycles, mach, angle, reynolds, cfl, limiter, stop, height;
  int check;
};

/* Where a run is: cycles so far, stages so far, and the residual that it began with. All that a restart needs beside q. */
struct progress {
  double cycle, work, first;
};

static struct solver s;
static int failures;

/* ---- history ------------------------------------------------------------------------------------------- */

struct sight {
  double residual, walls[WALLS];
  double drag, lift, friction; /* over the free stream's pressure on an area of 1 */
};

static struct sight look(const struct wishes *w, int walls_too) {
  double squares[5] = {0}, sum = 0;
  struct sight sight = {0};
  op_get_gbl(s.squares, squares);
  for (int v = 0; v < 5; v++)
    sum += squares[v];
  sight.residual = sqrt(sum / (double)op_get_global_size(s.level->cells));
  if (!walls_too)
    return sight;
  solver_walls(&s);
  op_get_gbl(s.walls, sight.walls);
  const double *force = sight.walls, unit = 2 / (w->mach * w->mach), c = cos(w->angle), d = sin(w->angle);
  sight.drag = unit * (c * (force[0] + force[3]) + d * (force[2] + force[5]));
  sight.lift = unit * (c * (force[2] + force[5]) - d * (force[0] + force[3]));
  sight.friction = unit * (c * force[3] + d * force[5]);
  return sight;
}

/* Cycles until the residual has fallen by `stop`, or there were enough. */
static void converge(const struct wishes *w, struct progress *now) {
  FILE *file = w->history && op_is_root() ? fopen(w->history, w->restart ? "a" : "w") : NULL;
  if (w->history && op_is_root() && !file) {
    fprintf(stderr, "flow3d: cannot write %s\n", w->history);
    failures++;
  }
  if (file && !w->restart)
    fprintf(file, "# cycle work residual drag lift friction\n");
  const double before = now->work;
  s.work = 0;
  for (int cycle = 0; cycle < w->cycles; cycle++) {
    solver_cycle(&s);
    now->cycle++;
    now->work = before + s.work;
    const struct sight sight = look(w, w->history != NULL);
    if (now->first <= 0)
      now->first = sight.residual;
    if (file)
      fprintf(file, "%.0f %.2f %.9e %.9e %.9e %.9e\n", now->cycle, now->work, sight.residual, sight.drag,
              sight.lift, sight.friction);
    if (!(sight.residual > w->stop * now->first))
      break;
  }
  if (file)
    fclose(file);
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static void expect(const char *what, double value, double low, double high) {
  const int holds = value >= low && value <= high;
  op_printf("  %-44s %14.7e in %9.2e .. %9.2e: %s\n", what, value, low, high, holds ? "yes" : "NO");
  failures += !holds;
}

/* The drag of a shape, and what it has to do with the bumps' heights. A cycle is a round of a fixed point. */
static double drag_of(const struct wishes *w, const double *heights, double *gradient) {
  op_put_gbl(s.heights, heights);
  op_tape tape = gradient ? op_tape_begin(0, NULL, 0) : NULL;
  if (tape) {
    op_tape_input_gbl(s.heights);
    op_tape_passive(); /* what is looked at only says when to stop */
  }
  solver_geometry(&s);
  if (tape)
    op_tape_fixed_begin(1e-9, 20 * (int)w->cycles);
  double residual = 1;
  for (int cycle = 0; cycle < w->cycles && residual > 1e-13; cycle++) {
    if (tape)
      op_tape_round();
    solver_cycle(&s);
    residual = look(w, 0).residual;
  }
  if (tape)
    op_tape_fixed_end();
  const struct sight sight = look(w, 1);
  if (tape) {
    const double weights[WALLS] = {1, 0, 0, 1}, zeros[HEIGHTS] = {0};
    op_tape_end(tape);
    op_put_gbl(op_bar_gbl(s.heights), zeros);
    op_put_gbl(op_bar_gbl(s.walls), weights);
    op_tape_reverse(tape, 1);
    op_get_gbl(op_bar_gbl(s.heights), gradient);
    op_tape_free(tape);
  }
  return sight.walls[0] + sight.walls[3];
}

/* The gradient, by a tape, against a central difference along a line. */
static void check_gradient(const struct wishes *w) {
  static const double line[HEIGHTS] = {1, -0.6, 0.8};
  double heights[HEIGHTS], gradient[HEIGHTS], drag[2], along = 0;
  const double by = 2e-5;
  for (int k = 0; k < HEIGHTS; k++)
    heights[k] = w->height;
  const double at = drag_of(w, heights, gradient);
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < HEIGHTS; k++)
      heights[k] = w->height + (side ? by : -by) * line[k];
    drag[side] = drag_of(w, heights, NULL);
  }
  for (int k = 0; k < HEIGHTS; k++)
    along += gradient[k] * line[k];
  op_printf("drag %.12e, gradient by heights", at);
  for (int k = 0; k < HEIGHTS; k++)
    op_printf(" %.9e", gradient[k]);
  op_printf(", difference %.9e\n", (drag[1] - drag[0]) / (2 * by));
  expect("gradient over difference, less 1", fabs(along * 2 * by / (drag[1] - drag[0]) - 1), 0, 1e-6);
}

static void check(const struct wishes *w, const struct sight *last, double first) {
  const double *walls = last->walls, recovery = walls[8] / walls[9];
  double error[5] = {0};
  if (w->check == STREAM) {
    expect("residual of the free stream", last->residual, 0, 1e-12);
    return;
  }
  if (w->check == MADE_UP || w->check == COUETTE) {
    solver_error(&s, error);
    op_printf("errors: T %.6e u %.6e v %.6e w %.6e p %.6e\n", error[0], error[1], error[2], error[3],
              error[4]);
    expect("mean error of temperature", error[0], 0, 0.01);
  }
  if (w->check == COUETTE)
    expect("recovery factor, over the Prandtl number", recovery / 0.72, 0.95, 1.05);
  if (w->check == PLATE) {
    expect("friction over that of Blasius", walls[6] / walls[7], 0.85, 1.15);
    expect("recovery factor, over the root of Prandtl's", recovery / sqrt(0.72), 0.85, 1.15);
  }
  expect("residual, at most that at first", last->residual, 0, first);
}

/* ---- the run ------------------------------------------------------------------------------------------- */

static void draw(const char *name) {
  op_dat dats[17] = {s.x};
  for (int k = 0; k < 4; k++)
    memcpy(dats + 1 + 4 * k, s.shape[k].shown, sizeof s.shape[k].shown);
  solver_show(&s);
  op_write_vtk(name, -1, 17, dats);
}

static void run(const struct wishes *w) {
  double stream[5] = {1 / 1.4, w->mach * cos(w->angle), 0, w->mach * sin(w->angle), 1 / 1.4};
  const double viscosity = w->reynolds > 0 ? w->mach / w->reynolds : 0;
  struct progress now = {0};
  s.levels = (int)w->levels;
  s.cfl = w->cfl;
  s.limited = w->limiter > 0;
  solver_constants(viscosity, w->limiter, w->check == COUETTE ? w->mach : 0);
  if (w->restart)
    op_get_const_hdf5("progress", 3, "double", &now.cycle, w->restart);
  solver_read(&s, w->mesh, w->restart, stream);
  op_printf("flow3d: %lld cells, %lld faces, %d levels, Mach %g, Reynolds number %g\n",
            op_get_global_size(s.level->cells), op_get_global_size(s.level->faces), s.levels, w->mach,
            w->reynolds);
  if (w->check == GRADIENT) {
    check_gradient(w);
    return;
  }
  op_put_gbl(s.heights, (const double[]){w->height, w->height, w->height});
  solver_geometry(&s);
  if (w->check == MADE_UP || w->check == COUETTE)
    solver_make_up(&s);
  converge(w, &now);
  const struct sight last = look(w, 1);
  op_printf("cycle %.0f, work %.1f: residual %.6e of %.6e\n", now.cycle, now.work, last.residual, now.first);
  op_printf("drag %.12e lift %.12e friction %.12e\n", last.drag, last.lift, last.friction);
  if (w->write) {
    op_fetch_data_hdf5_file_path(s.level->q, w->write, "q");
    op_write_const_hdf5("progress", 3, "double", &now.cycle, w->write);
    op_printf("wrote %s: go on with --restart %s\n", w->write, w->write);
  }
  if (w->vtk)
    draw(w->vtk);
  check(w, &last, now.first);
}

enum { OPTIONS = 15 };
struct option {
  const char *name, **text;
  double *number;
};

/* What the program was asked for; 0 if it does not know an option, or one has no value. */
static int read_options(const struct option *options, int argc, char **argv) {
  for (int a = 1; a < argc; a++) {
    const struct option *o = options;
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    while (o < options + OPTIONS && strcmp(argv[a], o->name) != 0)
      o++;
    if (o == options + OPTIONS || a + 1 == argc)
      return 0;
    if (o->text)
      *o->text = argv[++a];
    else
      *o->number = atof(argv[++a]);
  }
  return 1;
}

int main(int argc, char **argv) {
  struct wishes w = {.check_name = "", .levels = 1, .cycles = 1000, .mach = 0.5, .cfl = 1.2, .stop = 1e-10};
  const struct option options[OPTIONS] = {
      {"--mesh", &w.mesh, 0},     {"--history", &w.history, 0}, {"--vtk", &w.vtk, 0},
      {"--write", &w.write, 0},   {"--restart", &w.restart, 0}, {"--check", &w.check_name, 0},
      {"--mach", 0, &w.mach},     {"--angle", 0, &w.angle},     {"--reynolds", 0, &w.reynolds},
      {"--cfl", 0, &w.cfl},       {"--limiter", 0, &w.limiter}, {"--stop", 0, &w.stop},
      {"--height", 0, &w.height}, {"--levels", 0, &w.levels},   {"--cycles", 0, &w.cycles}};
  int known = read_options(options, argc, argv);
  while (w.check < CHECKS && strcmp(w.check_name, checks[w.check]) != 0)
    w.check++;
  w.angle *= M_PI / 180;
  if (!known || w.check == CHECKS || !w.mesh || !(w.levels >= 1 && w.levels < MOST_LEVELS + 1) ||
      !(w.cycles >= 1) || !(w.mach > 0)) {
    fprintf(stderr,
            "usage: flow3d --mesh FILE.h5 [--levels N] [--cycles N] [--stop FALL] [--cfl X] [--mach M]\n"
            "  [--angle DEGREES] [--reynolds R] [--limiter K] [--height H] [--history FILE] [--vtk NAME]\n"
            "  [--write FILE.h5] [--restart FILE.h5] [--check made-up|couette|stream|plate|gradient]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  run(&w);
  op_printf("flow3d: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
