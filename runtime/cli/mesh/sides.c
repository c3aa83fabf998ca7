/* Edges of the cells of a mesh in the plane, faces of those in space, each with the cells on its two sides: what
 * Gmsh's files do not have, and loops over finite volumes are about. In linear time: sides are looked for among
 * those with the same least node, and numbered in the order of the first cell that has them. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "gmsh.h"
#include "mesh_file.h"

enum { SIDES_MOST = 6, SIDE_NODES = 4 };

/* Of a cell, by Gmsh's number of its type: its sides, as nodes of the cell. In the plane they go round with the
 * cell on their left; in space round the way out of the cell. A side of three nodes ends with -1. */
static const struct shape {
  int number, dimension, sides;
  signed char nodes[SIDES_MOST][SIDE_NODES];
} shapes[] = {{1, 1, 0, {{0}}},
              {2, 2, 3, {{0, 1, -1, -1}, {1, 2, -1, -1}, {2, 0, -1, -1}}},
              {3, 2, 4, {{0, 1, -1, -1}, {1, 2, -1, -1}, {2, 3, -1, -1}, {3, 0, -1, -1}}},
              {4, 3, 4, {{0, 2, 1, -1}, {0, 1, 3, -1}, {0, 3, 2, -1}, {1, 2, 3, -1}}},
              {5, 3, 6, {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}}},
              {6, 3, 5, {{0, 2, 1, -1}, {3, 4, 5, -1}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}}},
              {7, 3, 5, {{0, 3, 2, 1}, {0, 1, 4, -1}, {1, 2, 4, -1}, {2, 3, 4, -1}, {3, 0, 4, -1}}}};

/* What is made, by the number of nodes: sides between two cells, and those of one. */
static const struct {
  int nodes;
  const char *inner, *outer;
} names[] = {{2, "edges", "bedges"}, {3, "tri_faces", "tri_bfaces"}, {4, "quad_faces", "quad_bfaces"}};
enum { NAMES = sizeof names / sizeof *names };

struct side {
  int nodes[SIDE_NODES]; /* as its first cell has them; -1: no more */
  int cells[2];          /* among all cells; the second -1: none */
  int group;
  int next; /* with the same least node; -1: none */
};

struct sides {
  struct mesh_file *m;
  int points;    /* the table of coordinates */
  int dimension; /* of cells */
  int cells;     /* the set of all of them */
  int *heads;    /* the first side by least node; -1: none */
  struct side *all;
  int count;
  long long room;
};

/* ---- what is a cell ---- */

static const struct shape *shape_of(const struct sides *s, int table) {
  const struct mesh_table *t = &s->m->tables[table], *x = &s->m->tables[s->points];
  if (t->to != x->set)
    return NULL;
  const int kind = gmsh_kind_of(s->m, t, x->columns);
  for (size_t i = 0; kind >= 0 && i < sizeof shapes / sizeof *shapes; i++)
    if (shapes[i].number == gmsh_kinds[kind].number)
      return &shapes[i];
  return NULL;
}

static bool is_cell(const struct sides *s, int table) {
  const struct shape *shape = shape_of(s, table);
  return shape && shape->dimension == s->dimension;
}

static int has_set(const struct mesh_file *m, const char *name, struct error *err) {
  for (int i = 0; i < m->nsets; i++)
    if (strcmp(m->sets[i].name, name) == 0)
      return error_set(err, OP_ERR_FILE, "the mesh has a set \"%s\" already; none is made of its cells",
                       name);
  return OP_OK;
}

/* Cells of one type are numbered as they are; of several, one type behind the other in a set of their own. */
static int number_cells(struct sides *s, struct error *err) {
  struct mesh_file *m = s->m;
  const int tables = m->ntables;
  long long total = 0;
  int types = 0;
  for (int i = 0; i < tables; i++)
    if (is_cell(s, i)) {
      types++;
      total += m->sets[m->tables[i].set].size;
      s->cells = m->tables[i].set;
    }
  if (total > INT_MAX)
    return error_set(err, OP_ERR_SIZE, "the mesh has %lld cells; op2jit mesh takes at most %d", total,
                     INT_MAX);
  if (types == 1)
    return OP_OK;
  int code = has_set(m, "cells", err), number = 0;
  if (code || (s->cells = mesh_add_set(m, "cells", total, err)) < 0)
    return err->code;
  for (int i = 0; i < tables; i++) {
    char name[256];
    if (!is_cell(s, i))
      continue;
    const int set = m->tables[i].set;
    snprintf(name, sizeof name, "%s_cell", m->sets[set].name);
    struct mesh_table *t = mesh_add_table(m, name, set, s->cells, 1, TYPE_INT, err);
    if (!t)
      return err->code;
    for (long long r = 0; r < m->sets[set].size; r++)
      ((int *)t->values)[r] = number++;
  }
  return OP_OK;
}

/* ---- finding sides ---- */

static int least_node(const int *nodes) {
  int least = nodes[0];
  for (int i = 1; i < SIDE_NODES && nodes[i] >= 0; i++)
    least = nodes[i] < least ? nodes[i] : least;
  return least;
}

static bool same_nodes(const int *a, const int *b) {
  for (int i = 0; i < SIDE_NODES; i++) {
    bool found = false;
    for (int k = 0; k < SIDE_NODES; k++)
      found |= a[i] == b[k];
    if (!found)
      return false;
  }
  return true;
}

/* -1: there is none yet. */
static int find_side(const struct sides *s, const int *nodes) {
  int i = s->heads[least_node(nodes)];
  while (i >= 0 && !same_nodes(s->all[i].nodes, nodes))
    i = s->all[i].next;
  return i;
}

static int new_side(struct sides *s, const int *nodes, int cell, struct error *err) {
  if (s->count == s->room) {
    const long long room = s->room ? 2 * s->room : 1024;
    struct side *all = s->count < INT_MAX / 2 ? array_resize(s->all, (size_t)room, sizeof *all) : NULL;
    if (!all)
      return error_memory(err, "the sides of the cells", (size_t)room * sizeof *all);
    s->all = all;
    s->room = room;
  }
  int *head = &s->heads[least_node(nodes)];
  s->all[s->count] = (struct side){.cells = {cell, -1}, .next = *head};
  memcpy(s->all[s->count].nodes, nodes, sizeof s->all->nodes);
  *head = s->count++;
  return OP_OK;
}

static int meet_side(struct sides *s, const int *nodes, int cell, struct error *err) {
  const int at = find_side(s, nodes);
  if (at < 0)
    return new_side(s, nodes, cell, err);
  struct side *side = &s->all[at];
  if (side->cells[0] == cell)
    return error_set(err, OP_ERR_FILE, "cell %d has nodes %d and %d on two of its sides; expected one side",
                     cell, nodes[0], nodes[1]);
  if (side->cells[1] >= 0)
    return error_set(err, OP_ERR_FILE,
                     "nodes %d and %d are on a side of the cells %d, %d and %d; expected one or two cells",
                     nodes[0], nodes[1], side->cells[0], side->cells[1], cell);
  side->cells[1] = cell;
  return OP_OK;
}

static bool names_twice(const int *row, int nodes) {
  for (int i = 1; i < nodes; i++)
    for (int k = 0; k < i; k++)
      if (row[k] == row[i])
        return true;
  return false;
}

/* Twice the area of a cell in the plane: negative if its nodes go round clockwise. */
static double turning(const struct sides *s, const int *row, int nodes) {
  const struct mesh_table *x = &s->m->tables[s->points];
  const size_t size = type_info(x->type)->size;
  const char *values = x->values;
  double area = 0;
  for (int i = 0; i < nodes && x->columns == 2; i++) {
    const char *a = values + 2 * size * (size_t)row[i], *b = values + 2 * size * (size_t)row[(i + 1) % nodes];
    area += type_number(x->type, a) * type_number(x->type, b + size) -
            type_number(x->type, b) * type_number(x->type, a + size);
  }
  return area;
}

static int meet_cell(struct sides *s, const struct shape *shape, const int *row, int nodes, int cell,
                     struct error *err) {
  /* In the plane the first cell is on the right of its edges, as OP2's airfoil has it. */
  if (s->dimension == 3 && names_twice(row, nodes))
    return error_set(err, OP_ERR_FILE, "cell %d names a node twice; op2jit mesh check finds all such", cell);
  const bool turn = s->dimension == 2 && turning(s, row, nodes) >= 0;
  int code = OP_OK;
  for (int i = 0; i < shape->sides && !code; i++) {
    int side[SIDE_NODES];
    for (int k = 0; k < SIDE_NODES; k++)
      side[k] = shape->nodes[i][k] < 0 ? -1 : row[shape->nodes[i][k]];
    /* A quadrilateral that has shrunk to a triangle has one edge less. */
    if (s->dimension == 2 && side[0] == side[1])
      continue;
    if (turn) {
      const int first = side[0];
      side[0] = side[1];
      side[1] = first;
    }
    code = meet_side(s, side, cell, err);
  }
  return code;
}

static int meet_cells(struct sides *s, struct error *err) {
  const struct mesh_file *m = s->m;
  int cell = 0, code = OP_OK;
  for (int i = 0; i < m->ntables; i++) {
    const struct mesh_table *t = &m->tables[i];
    if (!is_cell(s, i))
      continue;
    const int *row = t->values;
    for (long long r = 0; r < m->sets[t->set].size && !code; r++, row += t->columns)
      code = meet_cell(s, shape_of(s, i), row, t->columns, cell++, err);
  }
  return code;
}

/* Elements of one dimension less tell the groups of the sides that they lie on. */
static void find_groups(struct sides *s) {
  const struct mesh_file *m = s->m;
  for (int i = 0; i < m->ntables; i++) {
    const struct mesh_table *t = &m->tables[i];
    const struct shape *shape = shape_of(s, i);
    const int *groups = shape && shape->dimension == s->dimension - 1 ? gmsh_groups_of(m, t->set) : NULL;
    for (long long r = 0; groups && r < m->sets[t->set].size; r++) {
      int nodes[SIDE_NODES] = {-1, -1, -1, -1};
      memcpy(nodes, (const int *)t->values + r * t->columns, (size_t)t->columns * sizeof *nodes);
      const int at = find_side(s, nodes);
      if (at >= 0)
        s->all[at].group = groups[r];
    }
  }
}

/* ---- as sets and maps ---- */

static bool is_of(const struct side *side, int nodes, bool outer) {
  return (side->cells[1] < 0) == outer && (nodes == SIDE_NODES || side->nodes[nodes] < 0) &&
         side->nodes[nodes - 1] >= 0;
}

static int *add_table(struct sides *s, const char *set_name, const char *what, int set, int to, int columns,
                      struct error *err) {
  char name[64];
  snprintf(name, sizeof name, "%s_%s", set_name, what);
  struct mesh_table *t = mesh_add_table(s->m, name, set, to, columns, TYPE_INT, err);
  return t ? t->values : NULL;
}

static int add_sides(struct sides *s, int nodes, bool outer, const char *name, struct error *err) {
  long long size = 0;
  for (int i = 0; i < s->count; i++)
    size += is_of(&s->all[i], nodes, outer);
  if (size == 0 && s->dimension == 3)
    return OP_OK;
  const int per_side = outer ? 1 : 2, points = s->m->tables[s->points].set;
  int set = has_set(s->m, name, err) ? -1 : mesh_add_set(s->m, name, size, err);
  int *ends = set < 0 ? NULL : add_table(s, name, "nodes", set, points, nodes, err);
  int *cells = ends ? add_table(s, name, outer ? "cell" : "cells", set, s->cells, per_side, err) : NULL;
  int *group = cells && outer ? add_table(s, name, "group", set, -1, 1, err) : NULL;
  if (!cells || (outer && !group))
    return err->code;
  for (int i = 0; i < s->count; i++) {
    const struct side *side = &s->all[i];
    if (!is_of(side, nodes, outer))
      continue;
    memcpy(ends, side->nodes, (size_t)nodes * sizeof *ends);
    memcpy(cells, side->cells, (size_t)per_side * sizeof *cells);
    ends += nodes;
    cells += per_side;
    if (outer)
      *group++ = side->group;
  }
  return OP_OK;
}

int mesh_add_sides(struct mesh_file *m, struct error *err) {
  struct sides s = {.m = m, .points = mesh_find_points(m)};
  if (s.points < 0)
    return mesh_points_error(m, err);
  for (int i = 0; i < m->ntables; i++) {
    const struct shape *shape = shape_of(&s, i);
    s.dimension = shape && shape->dimension > s.dimension ? shape->dimension : s.dimension;
  }
  if (s.dimension < 2)
    return error_set(err, OP_ERR_FILE,
                     "the mesh has no cells: maps of 3 to 8 entries to a set with coordinates");
  const size_t nodes = (size_t)m->sets[m->tables[s.points].set].size;
  int code = number_cells(&s, err);
  if (!code && !(s.heads = array_new(nodes, sizeof *s.heads)))
    code = error_memory(err, "the sides of the cells", nodes * sizeof *s.heads);
  if (!code) {
    memset(s.heads, -1, nodes * sizeof *s.heads);
    code = meet_cells(&s, err);
  }
  if (!code)
    find_groups(&s);
  for (int i = 0; i < NAMES && !code; i++)
    if ((names[i].nodes == 2) == (s.dimension == 2)) {
      code = add_sides(&s, names[i].nodes, false, names[i].inner, err);
      if (!code)
        code = add_sides(&s, names[i].nodes, true, names[i].outer, err);
    }
  free(s.heads);
  free(s.all);
  return code;
}
