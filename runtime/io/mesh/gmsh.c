/* Gmsh's .msh in text, versions 2 and 4.1: nodes, and the elements of first order, a set for each of their types, with the
 * physical group of each element. Tags of nodes become numbers in the order of the file. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "io/mesh/mesh_file.h"
#include "io/mesh/scan.h"
#include "io/mesh/whole.h"

static const struct kind {
  int number, nodes; /* Gmsh's number of the type */
  const char *set;
} kinds[] = {{15, 1, "points"}, {1, 2, "lines"},    {2, 3, "triangles"}, {3, 4, "quads"},
             {4, 4, "tets"},    {7, 5, "pyramids"}, {6, 6, "wedges"},    {5, 8, "hexes"}};
enum { KINDS = sizeof kinds / sizeof *kinds, MOST_NODES = 8 };

static int kind_of(long long number) {
  for (int i = 0; i < KINDS; i++)
    if (kinds[i].number == number)
      return i;
  return -1;
}

/* Elements while they are read: their number is known only at the end. */
struct grown {
  int *rows; /* nodes of each, then its physical group */
  long long count, room;
};

struct tagged {
  long long tag;
  int number;
};

struct gmsh {
  struct scan s;
  long long nodes;
  double *x;            /* 3 each */
  struct tagged *order; /* by tag */
  struct grown elements[KINDS];
  struct {           /* version 4: the physical group of each entity, in the order of the file */
    long long *tags; /* dimension, entity, group */
    long long count;
  } entities;
};

static void gmsh_free(struct gmsh *g) {
  free(g->x);
  free(g->order);
  free(g->entities.tags);
  for (int i = 0; i < KINDS; i++)
    free(g->elements[i].rows);
}

/* ---- nodes ---- */

static int room_for_nodes(struct gmsh *g, long long count, struct error *err) {
  int code =
      g->x ? scan_failed(&g->s, err, "there is a second $Nodes") : scan_has(&g->s, count, 3, "nodes", err);
  if (code)
    return code;
  g->nodes = count;
  g->x = array_new(3 * (size_t)count, sizeof *g->x);
  g->order = array_new((size_t)count, sizeof *g->order);
  return g->x && g->order ? OP_OK : error_memory(err, "the nodes", 3 * (size_t)count * sizeof *g->x);
}

static int read_point(struct gmsh *g, long long at, struct error *err) {
  int code = OP_OK;
  for (int c = 0; c < 3 && !code; c++)
    code = scan_real(&g->s, "a coordinate of a node", &g->x[3 * at + c], err);
  return code;
}

static int read_tag(struct gmsh *g, long long at, struct error *err) {
  long long tag;
  int code = scan_whole(&g->s, 0, LLONG_MAX, "the tag of a node", &tag, err);
  if (!code)
    g->order[at] = (struct tagged){tag, (int)at};
  return code;
}

static int read_nodes_2(struct gmsh *g, struct error *err) {
  long long count;
  int code = scan_whole(&g->s, 0, INT_MAX, "the number of nodes", &count, err);
  if (!code)
    code = room_for_nodes(g, count, err);
  for (long long i = 0; i < count && !code; i++) {
    code = read_tag(g, i, err);
    if (!code)
      code = read_point(g, i, err);
  }
  return code;
}

static int read_node_block(struct gmsh *g, long long *done, struct error *err) {
  long long dimension, tag, parametric, count;
  double parameter;
  int code = scan_whole(&g->s, 0, 3, "the dimension of an entity", &dimension, err);
  if (!code)
    code = scan_whole(&g->s, LLONG_MIN, LLONG_MAX, "the tag of an entity", &tag, err);
  if (!code)
    code = scan_whole(&g->s, 0, 1, "whether parameters follow", &parametric, err);
  if (!code)
    code = scan_whole(&g->s, 0, g->nodes - *done, "the number of nodes of a block", &count, err);
  for (long long i = 0; !code && i < count; i++)
    code = read_tag(g, *done + i, err);
  for (long long i = 0; !code && i < count; i++) {
    code = read_point(g, *done + i, err);
    for (long long p = 0; p < dimension && parametric && !code; p++)
      code = scan_real(&g->s, "a parameter of a node", &parameter, err);
  }
  *done += code ? 0 : count;
  return code;
}

static int read_nodes_4(struct gmsh *g, struct error *err) {
  long long blocks, count, tag, done = 0;
  int code = scan_whole(&g->s, 0, INT_MAX, "the number of blocks of nodes", &blocks, err);
  if (!code)
    code = scan_whole(&g->s, 0, INT_MAX, "the number of nodes", &count, err);
  for (int i = 0; i < 2 && !code; i++)
    code = scan_whole(&g->s, 0, LLONG_MAX, "the least and the largest tag", &tag, err);
  if (!code)
    code = room_for_nodes(g, count, err);
  for (long long b = 0; !code && b < blocks; b++)
    code = read_node_block(g, &done, err);
  if (!code && done < count)
    code = scan_failed(&g->s, err, "the blocks hold %lld nodes, not the %lld that $Nodes says", done, count);
  return code;
}

static int by_tag(const void *a, const void *b) {
  const struct tagged *x = a, *y = b;
  return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static int sort_tags(struct gmsh *g, struct error *err) {
  bool sorted = true;
  for (long long i = 1; i < g->nodes; i++)
    sorted &= g->order[i - 1].tag < g->order[i].tag;
  if (sorted)
    return OP_OK;
  qsort(g->order, (size_t)g->nodes, sizeof *g->order, by_tag);
  for (long long i = 1; i < g->nodes; i++)
    if (g->order[i - 1].tag == g->order[i].tag)
      return scan_failed(&g->s, err, "two nodes have the tag %lld", g->order[i].tag);
  return OP_OK;
}

/* -1: there is no such node. */
static int node_of(const struct gmsh *g, long long tag) {
  if (g->nodes == 0)
    return -1;
  /* Most files count without gaps. */
  const long long guess = tag - g->order[0].tag;
  if (guess >= 0 && guess < g->nodes && g->order[guess].tag == tag)
    return g->order[guess].number;
  const struct tagged key = {tag, 0};
  const struct tagged *found = bsearch(&key, g->order, (size_t)g->nodes, sizeof *g->order, by_tag);
  return found ? found->number : -1;
}

/* ---- elements ---- */

static int *new_row(struct grown *e, int nodes) {
  if (e->count == e->room) {
    const long long room = e->room ? 2 * e->room : 256;
    int *rows = array_resize(e->rows, (size_t)room * (size_t)(nodes + 1), sizeof *rows);
    if (!rows)
      return NULL;
    e->rows = rows;
    e->room = room;
  }
  return e->rows + (size_t)(nodes + 1) * (size_t)e->count++;
}

static int read_element(struct gmsh *g, int kind, int group, struct error *err) {
  const int nodes = kinds[kind].nodes;
  int *row = new_row(&g->elements[kind], nodes), code = OP_OK;
  if (!row)
    return error_memory(err, "the elements", (size_t)nodes * sizeof *row);
  row[nodes] = group;
  for (int i = 0; i < nodes; i++)
    row[i] = -1;
  for (int i = 0; i < nodes && !code; i++) {
    long long tag;
    code = scan_whole(&g->s, LLONG_MIN, LLONG_MAX, "the tag of a node", &tag, err);
    if (!code && (row[i] = node_of(g, tag)) < 0)
      code = scan_failed(&g->s, err, "there is no node with the tag %lld", tag);
  }
  return code;
}

static int read_kind(struct gmsh *g, int *kind, struct error *err) {
  long long number;
  int code = scan_whole(&g->s, 1, INT_MAX, "the type of an element", &number, err);
  if (!code && (*kind = kind_of(number)) < 0)
    code =
        scan_failed(&g->s, err,
                    "elements of type %lld are not known; expected points, lines, triangles, quadrilaterals, "
                    "tetrahedra, pyramids, wedges and hexahedra of first order",
                    number);
  return code;
}

static int read_elements_2(struct gmsh *g, struct error *err) {
  long long count, value, tags;
  int kind = 0, code = scan_whole(&g->s, 0, INT_MAX, "the number of elements", &count, err);
  for (long long i = 0; !code && i < count; i++) {
    long long group = 0;
    code = scan_whole(&g->s, LLONG_MIN, LLONG_MAX, "the number of an element", &value, err);
    if (!code)
      code = read_kind(g, &kind, err);
    if (!code)
      code = scan_whole(&g->s, 0, 1000, "the number of tags of an element", &tags, err);
    for (long long t = 0; !code && t < tags; t++) {
      code = scan_whole(&g->s, INT_MIN, INT_MAX, "a tag of an element", &value, err);
      group = t == 0 ? value : group;
    }
    if (!code)
      code = read_element(g, kind, (int)group, err);
  }
  return code;
}

static int group_of(const struct gmsh *g, long long dimension, long long entity) {
  for (long long i = 0; i < g->entities.count; i++) {
    const long long *e = g->entities.tags + 3 * i;
    if (e[0] == dimension && e[1] == entity)
      return (int)e[2];
  }
  return 0;
}

static int read_elements_4(struct gmsh *g, struct error *err) {
  long long blocks, total, value, done = 0;
  int code = scan_whole(&g->s, 0, INT_MAX, "the number of blocks of elements", &blocks, err);
  if (!code)
    code = scan_whole(&g->s, 0, INT_MAX, "the number of elements", &total, err);
  for (int i = 0; i < 2 && !code; i++)
    code = scan_whole(&g->s, 0, LLONG_MAX, "the least and the largest tag", &value, err);
  for (long long b = 0; !code && b < blocks; b++) {
    long long dimension, entity, count;
    int kind = 0;
    code = scan_whole(&g->s, 0, 3, "the dimension of an entity", &dimension, err);
    if (!code)
      code = scan_whole(&g->s, LLONG_MIN, LLONG_MAX, "the tag of an entity", &entity, err);
    if (!code)
      code = read_kind(g, &kind, err);
    if (!code)
      code = scan_whole(&g->s, 0, total - done, "the number of elements of a block", &count, err);
    const int group = code ? 0 : group_of(g, dimension, entity);
    for (long long i = 0; !code && i < count; i++) {
      code = scan_whole(&g->s, LLONG_MIN, LLONG_MAX, "the tag of an element", &value, err);
      if (!code)
        code = read_element(g, kind, group, err);
    }
    done += code ? 0 : count;
  }
  return code;
}

/* ---- entities: which physical group each is of ---- */

static int skip_whole(struct gmsh *g, long long count, struct error *err) {
  long long value;
  int code = OP_OK;
  for (long long i = 0; i < count && !code; i++)
    code = scan_whole(&g->s, LLONG_MIN, LLONG_MAX, "a tag of an entity", &value, err);
  return code;
}

static int read_entity(struct gmsh *g, long long dimension, struct error *err) {
  long long tag, groups, group = 0, bounds = 0;
  double box;
  int code = scan_whole(&g->s, LLONG_MIN, LLONG_MAX, "the tag of an entity", &tag, err);
  for (int i = 0; i < (dimension ? 6 : 3) && !code; i++)
    code = scan_real(&g->s, "the box round an entity", &box, err);
  if (!code)
    code = scan_whole(&g->s, 0, INT_MAX, "the number of groups of an entity", &groups, err);
  if (!code && groups)
    code = scan_whole(&g->s, INT_MIN, INT_MAX, "a group", &group, err);
  if (!code && groups)
    code = skip_whole(g, groups - 1, err);
  if (!code && dimension)
    code = scan_whole(&g->s, 0, INT_MAX, "the number of entities around one", &bounds, err);
  if (!code)
    code = skip_whole(g, bounds, err);
  if (code)
    return code;
  long long *tags = array_resize(g->entities.tags, 3 * (size_t)(g->entities.count + 1), sizeof *tags);
  if (!tags)
    return error_memory(err, "the entities", 3 * (size_t)g->entities.count * sizeof *tags);
  g->entities.tags = tags;
  const long long row[3] = {dimension, tag, group};
  memcpy(tags + 3 * g->entities.count++, row, sizeof row);
  return OP_OK;
}

static int read_entities(struct gmsh *g, struct error *err) {
  long long counts[4];
  int code = OP_OK;
  for (int d = 0; d < 4 && !code; d++)
    code = scan_whole(&g->s, 0, INT_MAX, "the number of entities", &counts[d], err);
  for (int d = 0; d < 4 && !code; d++)
    for (long long i = 0; i < counts[d] && !code; i++)
      code = read_entity(g, d, err);
  return code;
}

/* ---- the file ---- */

bool mesh_looks_like_gmsh(const char *text) {
  return strncmp(text, "$MeshFormat", 11) == 0;
}

static int read_version(struct gmsh *g, int *version, struct error *err) {
  double number;
  long long binary, size;
  if (!scan_is(&g->s, "$MeshFormat"))
    return scan_failed(&g->s, err, "this is no file of Gmsh; expected $MeshFormat");
  int code = scan_real(&g->s, "the version of the format", &number, err);
  if (!code)
    code = scan_whole(&g->s, 0, 1, "0 for text", &binary, err);
  if (!code)
    code = scan_whole(&g->s, 1, 16, "the size of a number", &size, err);
  if (code)
    return code;
  *version = number >= 2 && number < 3 ? 2 : number > 4.05 && number < 5 ? 4 : 0;
  if (!*version)
    return scan_failed(&g->s, err,
                       "version %g of the format is not known; expected 2 or 4.1: save it again with "
                       "Mesh.MshFileVersion = 4.1",
                       number);
  if (binary)
    return scan_failed(&g->s, err, "the file is in binary; save it again as text, with Mesh.Binary = 0");
  return OP_OK;
}

typedef int read_section(struct gmsh *g, struct error *err);

static int read_sections(struct gmsh *g, int version, struct error *err) {
  static const struct {
    const char *begin, *end;
    read_section *read[2]; /* version 2, version 4 */
  } sections[] = {{"$Entities", "$EndEntities", {NULL, read_entities}},
                  {"$Nodes", "$EndNodes", {read_nodes_2, read_nodes_4}},
                  {"$Elements", "$EndElements", {read_elements_2, read_elements_4}}};
  int code = OP_OK;
  while (!code && !scan_at_end(&g->s)) {
    bool known = false;
    for (size_t i = 0; i < sizeof sections / sizeof *sections && !known; i++) {
      read_section *read = sections[i].read[version == 4];
      if (!read || !scan_is(&g->s, sections[i].begin))
        continue;
      known = true;
      code = read(g, err);
      if (!code && i == 1)
        code = sort_tags(g, err);
      if (!code && !scan_is(&g->s, sections[i].end))
        code = scan_failed(&g->s, err, "expected %s", sections[i].end);
    }
    /* Other sections are passed over, line by line. */
    if (!known && !code) {
      const char *line = memchr(g->s.at, '\n', (size_t)(g->s.end - g->s.at));
      g->s.at = line ? line : g->s.end;
    }
  }
  if (!code && !g->x)
    code = scan_failed(&g->s, err, "the file has no $Nodes");
  return code;
}

static int add_elements(struct mesh_file *m, int nodes, int kind, const struct grown *e, struct error *err) {
  char name[64];
  const int arity = kinds[kind].nodes;
  int set = mesh_add_set(m, kinds[kind].set, e->count, err);
  if (set < 0)
    return err->code;
  snprintf(name, sizeof name, "%s_nodes", kinds[kind].set);
  struct mesh_table *map = mesh_add_table(m, name, set, nodes, arity, TYPE_INT, err);
  if (!map)
    return err->code;
  int *entries = map->values;
  snprintf(name, sizeof name, "%s_group", kinds[kind].set);
  struct mesh_table *group = mesh_add_table(m, name, set, -1, 1, TYPE_INT, err);
  if (!group)
    return err->code;
  for (long long i = 0; i < e->count; i++) {
    const int *row = e->rows + (size_t)(arity + 1) * (size_t)i;
    memcpy(entries + (size_t)arity * (size_t)i, row, (size_t)arity * sizeof *row);
    ((int *)group->values)[i] = row[arity];
  }
  return OP_OK;
}

/* A mesh in the plane has two coordinates. */
static int take_over(struct mesh_file *m, const struct gmsh *g, struct error *err) {
  bool flat = true;
  for (long long i = 0; i < g->nodes; i++)
    flat &= g->x[3 * i + 2] == 0;
  const int dim = flat ? 2 : 3, nodes = mesh_add_set(m, "nodes", g->nodes, err);
  struct mesh_table *x = nodes < 0 ? NULL : mesh_add_table(m, "x", nodes, -1, dim, TYPE_DOUBLE, err);
  if (!x)
    return err->code;
  for (long long i = 0; i < g->nodes; i++)
    for (int c = 0; c < dim; c++)
      ((double *)x->values)[dim * i + c] = g->x[3 * i + c];
  int code = OP_OK;
  for (int k = 0; k < KINDS && !code; k++)
    if (g->elements[k].count)
      code = add_elements(m, nodes, k, &g->elements[k], err);
  return code;
}

int mesh_parse_gmsh(struct mesh_file *m, const char *path, const char *text, size_t length,
                    struct progress *progress, struct error *err) {
  struct gmsh g = {.s = {path, text, text + length, 1, progress, text}};
  int version = 0, code = read_version(&g, &version, err);
  m->format = version == 2 ? "Gmsh 2" : "Gmsh 4.1";
  if (!code)
    code = read_sections(&g, version, err);
  if (!code)
    code = take_over(m, &g, err);
  gmsh_free(&g);
  return code;
}

/* ---- writing: version 2.2 ---- */

/* The kind of a map to the nodes; -1: Gmsh has none. */
static int kind_to_write(const struct mesh_file *m, const struct mesh_table *t, int dim) {
  for (int i = 0; i < KINDS; i++)
    if (strcmp(m->sets[t->set].name, kinds[i].set) == 0 && kinds[i].nodes == t->columns)
      return i;
  for (int i = 0; i < KINDS; i++)
    if (kinds[i].nodes == t->columns && (t->columns != 4 || (kinds[i].number == 3) == (dim == 2)))
      return i;
  return -1;
}

/* The physical groups of a set: its only column of whole numbers. */
static const int *groups_of(const struct mesh_file *m, int set) {
  for (int i = 0; i < m->ntables; i++)
    if (m->tables[i].set == set && m->tables[i].to < 0 && m->tables[i].columns == 1 &&
        m->tables[i].type == TYPE_INT)
      return m->tables[i].values;
  return NULL;
}

/* Lines inside the mesh, such as the edges of finite volumes, are no elements; those with a group are. */
static bool is_element(const struct mesh_file *m, const struct mesh_table *t, int nodes, int dim) {
  return t->to == nodes && kind_to_write(m, t, dim) >= 0 && (t->columns > 2 || groups_of(m, t->set));
}

static bool write_elements(FILE *file, const struct mesh_file *m, const struct mesh_table *t, int dim,
                           long long *number) {
  const int kind = kind_to_write(m, t, dim);
  const int *groups = groups_of(m, t->set), *entries = t->values;
  for (long long i = 0; i < m->sets[t->set].size; i++) {
    const int group = groups ? groups[i] : 0;
    if (fprintf(file, "%lld %d 2 %d %d", ++*number, kinds[kind].number, group, group) < 0)
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

int mesh_write_gmsh(const struct mesh_file *m, const char *path, struct error *err) {
  if (mesh_find_points(m) < 0)
    return error_set(err, OP_ERR_FILE,
                     "%s: a file of Gmsh needs coordinates of 2 or 3 reals on a set that maps lead to", path);
  struct mesh_file copy = *m;
  return whole_write(path, write_all, &copy, err);
}
