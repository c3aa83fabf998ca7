/* Which dat of a mesh holds the coordinates. Cells have three nodes or more, so it lies on the set that such maps
 * lead to: a dat on the cells, their middles say, is none. Where more than one fits, the user says which. */
#include <string.h>

#include "mesh_file.h"

enum { CELL_NODES_LEAST = 3 };

static bool may_be_points(const struct mesh_table *t) {
  return t->to < 0 && t->columns >= 2 && t->columns <= 3 && type_info(t->type)->is_float;
}

/* A map of a set to itself tells neighbours, not nodes. */
static bool is_of_cells(const struct mesh_table *t) {
  return t->to >= 0 && t->to != t->set && t->columns >= CELL_NODES_LEAST;
}

static bool has_cells(const struct mesh_file *m) {
  for (int i = 0; i < m->ntables; i++)
    if (is_of_cells(&m->tables[i]))
      return true;
  return false;
}

/* Maps to cells count where there are cells; elsewhere all: files of Gmsh may hold lines or points only. */
static bool is_led_to(const struct mesh_file *m, int set, bool by_cells) {
  for (int i = 0; i < m->ntables; i++)
    if (m->tables[i].to == set && (!by_cells || is_of_cells(&m->tables[i])))
      return true;
  return false;
}

static bool fits(const struct mesh_file *m, const struct mesh_table *t, bool by_cells) {
  return may_be_points(t) && is_led_to(m, t->set, by_cells);
}

static int find_named(const struct mesh_file *m) {
  for (int i = 0; i < m->ntables; i++)
    if (strcmp(m->tables[i].name, m->coordinates) == 0 && fits(m, &m->tables[i], false))
      return i;
  return MESH_NO_POINTS;
}

int mesh_find_points(const struct mesh_file *m) {
  const bool by_cells = has_cells(m);
  int found = MESH_NO_POINTS;
  if (m->coordinates)
    return find_named(m);
  for (int i = 0; i < m->ntables; i++)
    if (fits(m, &m->tables[i], by_cells)) {
      if (found >= 0)
        return MESH_MANY_POINTS;
      found = i;
    }
  return found;
}

/* ", x (3 double on nodes)" for each that fits; the first has no comma. */
static void list(const struct mesh_file *m, bool by_cells, struct text *out) {
  for (int i = 0; i < m->ntables; i++) {
    const struct mesh_table *t = &m->tables[i];
    if (fits(m, t, by_cells))
      text_addf(out, "%s%s (%d %s on %s)", out->length ? ", " : "", t->name, t->columns,
                type_info(t->type)->name, m->sets[t->set].name);
  }
}

int mesh_points_error(const struct mesh_file *m, struct error *err) {
  struct text fitting = {0};
  list(m, has_cells(m) && !m->coordinates, &fitting);
  if (m->coordinates)
    error_set(err, OP_ERR_FILE,
              "--coordinates %s: that is no dat of 2 or 3 reals on a set that maps lead to; expected %s",
              m->coordinates, fitting.length ? text_str(&fitting) : "one, and the mesh has none");
  else if (fitting.length)
    error_set(err, OP_ERR_FILE,
              "the coordinates of the nodes may be %s; say with --coordinates DAT which of them",
              text_str(&fitting));
  else
    error_set(
        err, OP_ERR_FILE,
        "there are no coordinates: expected a dat of 2 or 3 reals on the set that the maps of the cells, "
        "of %d entries or more, lead to",
        CELL_NODES_LEAST);
  text_free(&fitting);
  return err->code;
}
