/* Mesh, data and loops of flow3d. A stage is: temperature, velocity and pressure of each cell; on the first level their
 * gradients and limits; the fluxes through faces and sides; five such stages with steps of a length of its own for each
 * cell are a smoother, and on coarse levels correct the finer ones (FAS). */
#include "solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double gam = 1.4, prandtl = 0.72, mu, limiter, couette;

#include "flow3d_kernels.h"

#define KERNEL(name) OP_KERNEL_FILE("flow3d_kernels.h", name), #name

static op_arg own(op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, dim, "double", access);
}

static op_arg of(op_dat dat, int index, op_map map, int dim, op_access access) {
  return op_arg_dat(dat, index, map, dim, "double", access);
}

/* What the flux through a side is made of. */
#define SIDE_OF(l)                                                                                           \
  op_arg_dat(l->kind, -1, OP_ID, 1, "int", OP_READ), own(l->given, 5, OP_READ),                              \
      own(l->side_area, 3, OP_READ), own(l->side_centre, 3, OP_READ), of(l->w, 0, l->side_cell, 5, OP_READ), \
      of(l->gradient, 0, l->side_cell, 15, OP_READ), of(l->limit, 0, l->side_cell, 5, OP_READ),              \
      of(l->middle, 0, l->side_cell, 3, OP_READ)

void solver_constants(double viscosity, double limit, double plane) {
  mu = viscosity;
  limiter = limit;
  couette = plane;
  op_decl_const("gam", 1, "double", &gam);
  op_decl_const("prandtl", 1, "double", &prandtl);
  op_decl_const("mu", 1, "double", &mu);
  op_decl_const("limiter", 1, "double", &limiter);
  op_decl_const("couette", 1, "double", &couette);
}

/* ---- the mesh ------------------------------------------------------------------------------------------ */

/* The name of a part of a level in the file: faces_cells on the first level, faces_2_cells on the third. */
static const char *name_of(const char *set, int level, const char *part) {
  static char name[64];
  snprintf(name, sizeof name, "%s%s%.0d%s", set, level ? "_" : "", level, part); /* %.0d: nothing for 0 */
  return name;
}

/* Where loops work; zero at first. */
static op_dat field(op_set set, int dim, const char *name) {
  return op_decl_dat(set, dim, "double", NULL, name);
}

static void read_level(struct solver *s, const char *file, int at) {
  struct level *l = &s->level[at], *finer = l - 1;
  l->cells = op_decl_set_hdf5(file, name_of("cells", at, ""));
  l->faces = op_decl_set_hdf5(file, name_of("faces", at, ""));
  l->sides = op_decl_set_hdf5(file, name_of("bfaces", at, ""));
  l->face_cells = op_decl_map_hdf5(l->faces, l->cells, 2, file, name_of("faces", at, "_cells"));
  l->side_cell = op_decl_map_hdf5(l->sides, l->cells, 1, file, name_of("bfaces", at, "_cell"));
  l->kind = op_decl_dat_hdf5(l->sides, 1, "int", file, name_of("bfaces", at, "_kind"));
  if (at) {
    finer->parent = op_decl_map_hdf5(finer->cells, l->cells, 1, file, name_of("cells", at - 1, "_parent"));
    l->area = op_decl_dat_hdf5(l->faces, 3, "double", file, name_of("faces", at, "_area"));
    l->side_area = op_decl_dat_hdf5(l->sides, 3, "double", file, name_of("bfaces", at, "_area"));
    l->side_centre = op_decl_dat_hdf5(l->sides, 3, "double", file, name_of("bfaces", at, "_centre"));
  } else {
    l->area = field(l->faces, 3, "face area");
    l->side_area = field(l->sides, 3, "side area");
    l->side_centre = field(l->sides, 3, "side centre");
  }
}

static void declare_work(struct level *l, int coarse) {
  l->centre = field(l->faces, 3, "face centre");
  l->given = field(l->sides, 5, "given");
  l->moments = field(l->cells, 4, "moments");
  l->volume = field(l->cells, 1, "volume");
  l->middle = field(l->cells, 3, "middle");
  l->matrix = field(l->cells, 6, "matrix");
  l->q = l->q ? l->q : field(l->cells, 5, "q");
  l->w = field(l->cells, 5, "w");
  l->old = field(l->cells, 5, "old");
  l->res = field(l->cells, 5, "res");
  l->forcing = field(l->cells, 5, "forcing");
  l->rate = field(l->cells, 1, "rate");
  l->gradient = field(l->cells, 15, "gradient");
  l->limit = field(l->cells, 5, "limit");
  *(coarse ? &l->first : &l->low) = field(l->cells, 5, "first or low");
  *(coarse ? &l->rest : &l->high) = field(l->cells, 5, "rest or high");
}

static void read_shapes(struct solver *s, const char *file) {
  static const char *const names[] = {"density", "velocity", "pressure", "mach"};
  static const char *const kinds[] = {"tets", "pyramids", "wedges", "hexes"};
  static const int nodes[] = {4, 5, 6, 8};
  for (int k = 0; k < 4; k++) {
    struct shape *c = &s->shape[k];
    c->cells = op_decl_set_hdf5(file, kinds[k]);
    c->nodes = op_decl_map_hdf5(c->cells, s->nodes, nodes[k], file, name_of(kinds[k], 0, "_nodes"));
    c->cell = op_decl_map_hdf5(c->cells, s->level->cells, 1, file, name_of(kinds[k], 0, "_cell"));
    for (int i = 0; i < 4; i++)
      c->shown[i] = field(c->cells, i == 1 ? 3 : 1, names[i]);
  }
}

void solver_read(struct solver *s, const char *mesh, const char *state, double stream[5]) {
  s->nodes = op_decl_set_hdf5(mesh, "nodes");
  s->straight = op_decl_dat_hdf5(s->nodes, 3, "double", mesh, "x");
  s->x = field(s->nodes, 3, "place");
  for (int at = 0; at < s->levels; at++)
    read_level(s, mesh, at);
  struct level *fine = s->level;
  s->face_nodes = op_decl_map_hdf5(fine->faces, s->nodes, 4, mesh, "faces_nodes");
  s->side_nodes = op_decl_map_hdf5(fine->sides, s->nodes, 4, mesh, "bfaces_nodes");
  if (state)
    fine->q = op_decl_dat_hdf5(fine->cells, 5, "double", state, "q");
  for (int at = 0; at < s->levels; at++) {
    declare_work(&s->level[at], at > 0);
    s->level[at].work =
        (double)op_get_global_size(s->level[at].faces) / (double)op_get_global_size(fine->faces);
  }
  read_shapes(s, mesh);
  s->heights = op_decl_gbl(HEIGHTS, "double", NULL, "heights");
  s->squares = op_decl_gbl(5, "double", NULL, "squares");
  s->walls = op_decl_gbl(WALLS, "double", NULL, "walls");
  op_partition("rcb", "", fine->faces, s->face_nodes, s->straight);
  const op_arg given = op_arg_gbl(stream, 5, "double", OP_READ);
  for (struct level *l = s->level; l < s->level + s->levels; l++)
    op_par_loop(KERNEL(fill_side), l->sides, given, own(l->given, 5, OP_WRITE));
  if (!state)
    op_par_loop(KERNEL(fill), fine->cells, given, own(fine->q, 5, OP_WRITE));
}

static void cells_of(struct level *l) {
  op_par_loop(KERNEL(cell_geometry), l->cells, own(l->moments, 4, OP_READ), own(l->volume, 1, OP_WRITE),
              own(l->middle, 3, OP_WRITE));
}

void solver_geometry(struct solver *s) {
  struct level *l = s->level;
  op_par_loop(KERNEL(bend), s->nodes, own(s->straight, 3, OP_READ), op_arg_global(s->heights, OP_READ),
              own(s->x, 3, OP_WRITE));
  op_par_loop(KERNEL(reset), l->cells, own(l->moments, 4, OP_WRITE), own(l->matrix, 6, OP_WRITE));
  op_par_loop(KERNEL(face_geometry), l->faces, of(s->x, -4, s->face_nodes, 3, OP_READ),
              own(l->area, 3, OP_WRITE), own(l->centre, 3, OP_WRITE),
              of(l->moments, -2, l->face_cells, 4, OP_INC));
  op_par_loop(KERNEL(side_geometry), l->sides, of(s->x, -4, s->side_nodes, 3, OP_READ),
              own(l->side_area, 3, OP_WRITE), own(l->side_centre, 3, OP_WRITE),
              of(l->moments, 0, l->side_cell, 4, OP_INC));
  cells_of(l);
  op_par_loop(KERNEL(face_weights), l->faces, of(l->middle, -2, l->face_cells, 3, OP_READ),
              of(l->matrix, -2, l->face_cells, 6, OP_INC));
  op_par_loop(KERNEL(side_weights), l->sides, of(l->middle, 0, l->side_cell, 3, OP_READ),
              own(l->side_centre, 3, OP_READ), of(l->matrix, 0, l->side_cell, 6, OP_INC));
  op_par_loop(KERNEL(invert), l->cells, own(l->matrix, 6, OP_RW));
  for (; l + 1 < s->level + s->levels; l++) {
    op_par_loop(KERNEL(reset), l[1].cells, own(l[1].moments, 4, OP_WRITE), own(l[1].matrix, 6, OP_WRITE));
    op_par_loop(KERNEL(lump), l->cells, own(l->moments, 4, OP_READ),
                of(l[1].moments, 0, l->parent, 4, OP_INC));
    cells_of(l + 1);
  }
}

/* ---- one stage ----------------------------------------------------------------------------------------- */

static void find_gradients(struct level *l, int limited) {
  op_par_loop(KERNEL(clear), l->cells, own(l->gradient, 15, OP_WRITE), own(l->low, 5, OP_WRITE),
              own(l->high, 5, OP_WRITE), own(l->limit, 5, OP_WRITE), own(l->w, 5, OP_READ));
  op_par_loop(KERNEL(gather), l->faces, of(l->w, -2, l->face_cells, 5, OP_READ),
              of(l->middle, -2, l->face_cells, 3, OP_READ), of(l->gradient, -2, l->face_cells, 15, OP_INC));
  op_par_loop(KERNEL(gather_side), l->sides, op_arg_dat(l->kind, -1, OP_ID, 1, "int", OP_READ),
              own(l->given, 5, OP_READ), own(l->side_area, 3, OP_READ), own(l->side_centre, 3, OP_READ),
              of(l->w, 0, l->side_cell, 5, OP_READ), of(l->middle, 0, l->side_cell, 3, OP_READ),
              of(l->gradient, 0, l->side_cell, 15, OP_INC));
  op_par_loop(KERNEL(solve), l->cells, own(l->matrix, 6, OP_READ), own(l->gradient, 15, OP_RW));
  if (!limited)
    return;
  op_par_loop(KERNEL(extremes), l->faces, of(l->w, -2, l->face_cells, 5, OP_READ),
              of(l->low, -2, l->face_cells, 5, OP_MIN), of(l->high, -2, l->face_cells, 5, OP_MAX));
  op_par_loop(KERNEL(restrain), l->faces, own(l->centre, 3, OP_READ), of(l->w, -2, l->face_cells, 5, OP_READ),
              of(l->gradient, -2, l->face_cells, 15, OP_READ), of(l->low, -2, l->face_cells, 5, OP_READ),
              of(l->high, -2, l->face_cells, 5, OP_READ), of(l->middle, -2, l->face_cells, 3, OP_READ),
              of(l->volume, -2, l->face_cells, 1, OP_READ), of(l->limit, -2, l->face_cells, 5, OP_MIN));
}

static void look_at(struct solver *s, struct level *l) {
  op_par_loop(KERNEL(primitive), l->cells, own(l->q, 5, OP_READ), own(l->forcing, 5, OP_READ),
              own(l->w, 5, OP_WRITE), own(l->res, 5, OP_WRITE));
  if (l == s->level)
    find_gradients(l, s->limited);
}

/* What flows out of each cell, and the sources, into res. */
static void evaluate(struct solver *s, struct level *l) {
  int coarse = l > s->level;
  s->work += l->work;
  look_at(s, l);
  op_par_loop(KERNEL(flux), l->faces, own(l->area, 3, OP_READ), own(l->centre, 3, OP_READ),
              of(l->w, -2, l->face_cells, 5, OP_READ), of(l->gradient, -2, l->face_cells, 15, OP_READ),
              of(l->limit, -2, l->face_cells, 5, OP_READ), of(l->middle, -2, l->face_cells, 3, OP_READ),
              of(l->res, -2, l->face_cells, 5, OP_INC));
  op_par_loop(KERNEL(boundary), l->sides, op_arg_gbl(&coarse, 1, "int", OP_READ), SIDE_OF(l),
              of(l->res, 0, l->side_cell, 5, OP_INC));
}

/* Five stages, with weights for fluxes of second order from upwind. On the first level the residual of before is added up. */
static void smooth(struct solver *s, struct level *l) {
  static const double weights[] = {0.0695, 0.1602, 0.2898, 0.5060, 1};
  op_par_loop(KERNEL(begin), l->cells, own(l->q, 5, OP_READ), own(l->old, 5, OP_WRITE),
              own(l->rate, 1, OP_WRITE));
  for (int stage = 0; stage < 5; stage++) {
    double share = s->cfl * weights[stage];
    evaluate(s, l);
    if (stage == 0) {
      op_par_loop(KERNEL(face_speeds), l->faces, own(l->area, 3, OP_READ),
                  of(l->w, -2, l->face_cells, 5, OP_READ), of(l->middle, -2, l->face_cells, 3, OP_READ),
                  of(l->rate, -2, l->face_cells, 1, OP_INC));
      op_par_loop(KERNEL(side_speeds), l->sides, own(l->side_area, 3, OP_READ),
                  own(l->side_centre, 3, OP_READ), of(l->w, 0, l->side_cell, 5, OP_READ),
                  of(l->middle, 0, l->side_cell, 3, OP_READ), of(l->rate, 0, l->side_cell, 1, OP_INC));
    }
    if (stage == 0 && l == s->level)
      op_par_loop(KERNEL(measure), l->cells, own(l->res, 5, OP_READ), own(l->volume, 1, OP_READ),
                  op_arg_global(s->squares, OP_INC));
    op_par_loop(KERNEL(advance), l->cells, own(l->old, 5, OP_READ), own(l->rate, 1, OP_READ),
                own(l->res, 5, OP_READ), op_arg_gbl(&share, 1, "double", OP_READ), own(l->q, 5, OP_WRITE));
  }
}

/* ---- cycles -------------------------------------------------------------------------------------------- */

/* A V from this level down: the coarse level starts from the mean of the fine one, with a forcing that gives it the
 * fine one's residual; how far it comes from there is added to the fine one. */
static void cycle(struct solver *s, struct level *l) {
  struct level *coarse = l + 1;
  smooth(s, l);
  if (coarse == s->level + s->levels)
    return;
  evaluate(s, l);
  op_par_loop(KERNEL(empty), coarse->cells, own(coarse->q, 5, OP_WRITE), own(coarse->rest, 5, OP_WRITE),
              own(coarse->forcing, 5, OP_WRITE));
  op_par_loop(KERNEL(descend), l->cells, own(l->volume, 1, OP_READ), own(l->q, 5, OP_READ),
              own(l->res, 5, OP_READ), of(coarse->q, 0, l->parent, 5, OP_INC),
              of(coarse->rest, 0, l->parent, 5, OP_INC));
  op_par_loop(KERNEL(arrive), coarse->cells, own(coarse->volume, 1, OP_READ), own(coarse->q, 5, OP_RW),
              own(coarse->first, 5, OP_WRITE));
  evaluate(s, coarse);
  op_par_loop(KERNEL(force), coarse->cells, own(coarse->rest, 5, OP_READ), own(coarse->res, 5, OP_READ),
              own(coarse->forcing, 5, OP_WRITE));
  cycle(s, coarse);
  op_par_loop(KERNEL(ascend), l->cells, of(coarse->q, 0, l->parent, 5, OP_READ),
              of(coarse->first, 0, l->parent, 5, OP_READ), own(l->q, 5, OP_RW));
  if (l > s->level)
    smooth(s, l);
}

void solver_cycle(struct solver *s) {
  static const double zeros[5];
  op_put_gbl(s->squares, zeros);
  cycle(s, s->level);
}

/* ---- answers ------------------------------------------------------------------------------------------- */

/* With the gradients of now: those of the last stage are of the state before it. */
void solver_walls(struct solver *s) {
  static const double zeros[WALLS];
  const struct level *l = s->level;
  look_at(s, s->level);
  op_put_gbl(s->walls, zeros);
  op_par_loop(KERNEL(on_walls), l->sides, SIDE_OF(l), op_arg_global(s->walls, OP_INC));
}

void solver_make_up(struct solver *s) {
  struct level *l = s->level;
  op_par_loop(KERNEL(source), l->faces, of(s->x, -4, s->face_nodes, 3, OP_READ),
              of(l->forcing, -2, l->face_cells, 5, OP_INC));
  op_par_loop(KERNEL(source_side), l->sides, of(s->x, -4, s->side_nodes, 3, OP_READ),
              own(l->side_centre, 3, OP_READ), own(l->given, 5, OP_WRITE),
              of(l->forcing, 0, l->side_cell, 5, OP_INC));
  op_par_loop(KERNEL(fill_exact), l->cells, own(l->middle, 3, OP_READ), own(l->q, 5, OP_WRITE));
}

void solver_error(struct solver *s, double error[5]) {
  const struct level *l = s->level;
  memset(error, 0, 5 * sizeof *error);
  op_par_loop(KERNEL(deviate), l->cells, own(l->middle, 3, OP_READ), own(l->volume, 1, OP_READ),
              own(l->q, 5, OP_READ), op_arg_gbl(error, 5, "double", OP_INC));
  for (int v = 0; v < 5; v++)
    error[v] = sqrt(error[v]);
}

void solver_show(struct solver *s) {
  for (struct shape *c = s->shape; c < s->shape + 4; c++)
    op_par_loop(KERNEL(show), c->cells, of(s->level->q, 0, c->cell, 5, OP_READ),
                own(c->shown[0], 1, OP_WRITE), own(c->shown[1], 3, OP_WRITE), own(c->shown[2], 1, OP_WRITE),
                own(c->shown[3], 1, OP_WRITE));
}
