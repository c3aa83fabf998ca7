/* Gmsh's .msh, versions 2, 4.0 and 4.1, in text and in binary: nodes, and the elements of first order, a set for
 * each of their types, with the physical group of each element. Tags of nodes become numbers in the order of the
 * file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gmsh.h"
#include "mesh_file.h"

static void gmsh_free(struct gmsh *g) {
  free(g->x);
  free(g->order);
  free(g->entities.tags);
  for (int i = 0; i < GMSH_KINDS; i++)
    free(g->elements[i].rows);
}

bool mesh_looks_like_gmsh(const char *text) {
  return strncmp(text, "$MeshFormat", 11) == 0;
}

/* Behind the first line of a file in binary. */
static int read_binary(struct gmsh *g, long long size, struct error *err) {
  g->s.section = "$MeshFormat";
  if (size != 8)
    return scan_failed(&g->s, err,
                       "the file is in binary with numbers of %lld bytes; expected 8: save it again with "
                       "Gmsh of 64 bits, or as text, with Mesh.Binary = 0",
                       size);
  int code = mixed_order(&g->s, err);
  if (!code && !scan_is(&g->s, "$EndMeshFormat"))
    code = scan_failed(&g->s, err, "expected $EndMeshFormat");
  g->s.section = code ? g->s.section : NULL;
  return code;
}

static const struct {
  const char *name;
  double from, before; /* the number in the file */
  enum mixed_bytes tag_bytes;
} versions[GMSH_VERSIONS] = {[GMSH_2] = {"Gmsh 2", 2, 3, MIXED_INT},
                             [GMSH_4_0] = {"Gmsh 4.0", 4, 4.05, MIXED_INT},
                             [GMSH_4_1] = {"Gmsh 4.1", 4.05, 5, MIXED_SIZE}};

static enum gmsh_version version_of(double number) {
  for (enum gmsh_version v = GMSH_2; v < GMSH_VERSIONS; v++)
    if (number >= versions[v].from && number < versions[v].before)
      return v;
  return GMSH_NONE;
}

static int read_version(struct gmsh *g, struct error *err) {
  double number;
  long long binary, size;
  if (!scan_is(&g->s, "$MeshFormat"))
    return scan_failed(&g->s, err, "this is no file of Gmsh; expected $MeshFormat");
  int code = scan_real(&g->s, "the version of the format", &number, err);
  if (!code)
    code = scan_whole(&g->s, 0, 1, "0 for text or 1 for binary", &binary, err);
  if (!code)
    code = scan_whole(&g->s, 1, 16, "the size of a number", &size, err);
  if (code)
    return code;
  g->version = version_of(number);
  if (g->version == GMSH_NONE)
    return scan_failed(&g->s, err,
                       "version %g of the format is not known; expected 2, 4.0 or 4.1: save it again with "
                       "Mesh.MshFileVersion = 4.1",
                       number);
  g->tag_bytes = versions[g->version].tag_bytes;
  return binary ? read_binary(g, size, err) : OP_OK;
}

typedef int (*read_section)(struct gmsh *g, struct error *err);

static int read_sections(struct gmsh *g, struct error *err) {
  static const struct {
    const char *begin, *end;
    read_section read[2]; /* version 2, version 4 */
  } sections[] = {{"$Entities", "$EndEntities", {NULL, gmsh_read_entities}},
                  {"$PartitionedEntities", "$EndPartitionedEntities", {NULL, gmsh_read_parts}},
                  {"$Nodes", "$EndNodes", {gmsh_read_nodes_2, gmsh_read_nodes_4}},
                  {"$Elements", "$EndElements", {gmsh_read_elements_2, gmsh_read_elements_4}}};
  static const char names[] = "$PhysicalNames";
  int code = OP_OK;
  while (!code && !scan_at_end(&g->s)) {
    bool known = false;
    for (size_t i = 0; i < sizeof sections / sizeof *sections && !known; i++) {
      const read_section read = sections[i].read[g->version != GMSH_2];
      if (!read || !scan_is(&g->s, sections[i].begin))
        continue;
      known = true;
      g->s.section = sections[i].begin;
      code = read(g, err);
      if (!code && strcmp(sections[i].begin, "$Nodes") == 0)
        code = gmsh_sort_tags(g, err);
      if (!code && !scan_is(&g->s, sections[i].end))
        code = scan_failed(&g->s, err, "expected %s", sections[i].end);
    }
    g->s.section = code ? g->s.section : NULL;
    g->names_groups |= !known && strncmp(g->s.at, names, strlen(names)) == 0;
    /* Other sections are passed over, those of text line by line. */
    if (!known && g->s.binary)
      code = mixed_skip_section(&g->s, err);
    else if (!known) {
      const char *line = memchr(g->s.at, '\n', (size_t)(g->s.end - g->s.at));
      g->s.at = line ? line : g->s.end;
    }
  }
  if (!code && !g->x)
    code = scan_failed(&g->s, err, "the file has no $Nodes");
  return code;
}

static int add_elements(struct mesh_file *m, int nodes, int kind, const struct gmsh_grown *e,
                        struct error *err) {
  char name[64];
  const int arity = gmsh_kinds[kind].nodes;
  int set = mesh_add_set(m, gmsh_kinds[kind].set, e->count, err);
  if (set < 0)
    return err->code;
  snprintf(name, sizeof name, "%s_nodes", gmsh_kinds[kind].set);
  struct mesh_table *map = mesh_add_table(m, name, set, nodes, arity, TYPE_INT, err);
  if (!map)
    return err->code;
  int *entries = map->values;
  snprintf(name, sizeof name, "%s_group", gmsh_kinds[kind].set);
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
  for (int k = 0; k < GMSH_KINDS && !code; k++)
    if (g->elements[k].count)
      code = add_elements(m, nodes, k, &g->elements[k], err);
  return code;
}

int mesh_parse_gmsh(struct mesh_file *m, const char *path, const char *text, size_t length,
                    struct error *err) {
  struct gmsh g = {.s = {.path = path, .at = text, .end = text + length, .line = 1, .begin = text}};
  int code = read_version(&g, err);
  m->format = versions[g.version].name;
  if (!code)
    code = read_sections(&g, err);
  if (!code)
    code = take_over(m, &g, err);
  m->names_groups = g.names_groups;
  gmsh_free(&g);
  return code;
}
