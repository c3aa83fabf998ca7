/* Gmsh's .msh, as text of version 2.2. */
#include <stdio.h>
#include <string.h>

#include "gmsh.h"
#include "mesh_file.h"
#include "whole.h"

int gmsh_kind_of(const struct mesh_file *m, const struct mesh_table *t, int dim) {
  for (int i = 0; i < GMSH_KINDS; i++)
    if (strcmp(m->sets[t->set].name, gmsh_kinds[i].set) == 0 && gmsh_kinds[i].nodes == t->columns)
      return i;
  for (int i = 0; i < GMSH_KINDS; i++)
    if (gmsh_kinds[i].nodes == t->columns && (t->columns != 4 || (gmsh_kinds[i].number == 3) == (dim == 2)))
      return i;
  return -1;
}

const int *gmsh_groups_of(const struct mesh_file *m, int set) {
  for (int i = 0; i < m->ntables; i++)
    if (m->tables[i].set == set && m->tables[i].to < 0 && m->tables[i].columns == 1 &&
        m->tables[i].type == TYPE_INT)
      return m->tables[i].values;
  return NULL;
}

/* Lines inside the mesh, such as the edges of finite volumes, are no elements; those with a group are. */
static bool is_element(const struct mesh_file *m, const struct mesh_table *t, int nodes, int dim) {
  return t->to == nodes && gmsh_kind_of(m, t, dim) >= 0 && (t->columns > 2 || gmsh_groups_of(m, t->set));
}

static bool write_elements(FILE *file, const struct mesh_file *m, const struct mesh_table *t, int dim,
                           long long *number) {
  const int kind = gmsh_kind_of(m, t, dim);
  const int *groups = gmsh_groups_of(m, t->set), *entries = t->values;
  for (long long i = 0; i < m->sets[t->set].size; i++) {
    const int group = groups ? groups[i] : 0;
    if (fprintf(file, "%lld %d 2 %d %d", ++*number, gmsh_kinds[kind].number, group, group) < 0)
      return false;
    for (int k = 0; k < t->columns; k++)
      fprintf(file, " %d", *entries++ + 1);
    fputc('\n', file);
  }
  return !ferror(file);
}

static bool write_all(FILE *file, void *user) {
  const struct mesh_file *m = user;
  const struct mesh_table *x = &m->tables[mesh_find_points(m)];
  const size_t size = type_info(x->type)->size;
  const char *value = x->values;
  const long long nodes = m->sets[x->set].size;
  long long elements = 0, number = 0;
  for (int i = 0; i < m->ntables; i++)
    elements += is_element(m, &m->tables[i], x->set, x->columns) ? m->sets[m->tables[i].set].size : 0;
  fprintf(file, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%lld\n", nodes);
  for (long long i = 0; i < nodes; i++) {
    fprintf(file, "%lld", i + 1);
    for (int c = 0; c < 3; c++, value += c <= x->columns ? size : 0)
      fprintf(file, " %.17g", c < x->columns ? type_number(x->type, value) : 0.0);
    fputc('\n', file);
  }
  bool good = fprintf(file, "$EndNodes\n$Elements\n%lld\n", elements) > 0;
  for (int i = 0; i < m->ntables && good; i++)
    if (is_element(m, &m->tables[i], x->set, x->columns))
      good = write_elements(file, m, &m->tables[i], x->columns, &number);
  return fputs("$EndElements\n", file) >= 0 && good;
}

bool mesh_gmsh_holds(const struct mesh_file *m, int table) {
  const int points = mesh_find_points(m);
  if (points < 0 || table == points)
    return points >= 0;
  const struct mesh_table *x = &m->tables[points], *t = &m->tables[table];
  bool holds = false;
  for (int i = 0; i < m->ntables && !holds; i++) {
    const struct mesh_table *e = &m->tables[i];
    holds = is_element(m, e, x->set, x->columns) &&
            (i == table || (e->set == t->set && t->to < 0 && gmsh_groups_of(m, t->set) == t->values));
  }
  return holds;
}

int mesh_write_gmsh(const struct mesh_file *m, const char *path, struct error *err) {
  if (mesh_find_points(m) < 0) {
    mesh_points_error(m, err);
    return error_prefix(err, "%s: ", path);
  }
  struct mesh_file copy = *m;
  return whole_write(path, write_all, &copy, err);
}
