/* The elements of Gmsh's .msh, and in version 4 the physical groups of the entities that they are of. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "gmsh.h"

const struct gmsh_kind gmsh_kinds[GMSH_KINDS] = {{15, 1, "points"}, {1, 2, "lines"}, {2, 3, "triangles"},
                                                 {3, 4, "quads"},   {4, 4, "tets"},  {7, 5, "pyramids"},
                                                 {6, 6, "wedges"},  {5, 8, "hexes"}};

static int kind_of(long long number) {
  for (int i = 0; i < GMSH_KINDS; i++)
    if (gmsh_kinds[i].number == number)
      return i;
  return -1;
}

/* ---- elements ---- */

static int *new_row(struct gmsh_grown *e, int nodes) {
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
  const int nodes = gmsh_kinds[kind].nodes;
  int *row = new_row(&g->elements[kind], nodes), code = OP_OK;
  if (!row)
    return error_memory(err, "the elements", (size_t)nodes * sizeof *row);
  row[nodes] = group;
  for (int i = 0; i < nodes; i++)
    row[i] = -1;
  for (int i = 0; i < nodes && !code; i++) {
    long long tag;
    code = mixed_whole(&g->s, g->tag_bytes, LLONG_MIN, LLONG_MAX, "the tag of a node", &tag, err);
    if (!code && (row[i] = gmsh_node_of(g, tag)) < 0)
      code = scan_failed(&g->s, err, "there is no node with the tag %lld", tag);
  }
  return code;
}

static int read_kind(struct gmsh *g, int *kind, struct error *err) {
  long long number;
  int code = mixed_whole(&g->s, MIXED_INT, 1, INT_MAX, "the type of an element", &number, err);
  if (!code && (*kind = kind_of(number)) < 0)
    code =
        scan_failed(&g->s, err,
                    "elements of type %lld are not known; expected points, lines, triangles, quadrilaterals, "
                    "tetrahedra, pyramids, wedges and hexahedra of first order",
                    number);
  return code;
}

/* Of version 2: behind the number of the element, and in text its type. The first tag is the physical group. */
static int read_tagged(struct gmsh *g, int kind, long long tags, struct error *err) {
  long long value, group = 0;
  int code = OP_OK;
  for (long long t = 0; !code && t < tags; t++) {
    code = mixed_whole(&g->s, MIXED_INT, INT_MIN, INT_MAX, "a tag of an element", &value, err);
    group = t == 0 ? value : group;
  }
  return code ? code : read_element(g, kind, (int)group, err);
}

static int read_kind_and_tags(struct gmsh *g, long long most, int *kind, long long *count, long long *tags,
                              struct error *err) {
  int code = read_kind(g, kind, err);
  if (!code && g->s.binary)
    code = mixed_whole(&g->s, MIXED_INT, 1, most, "the number of elements of a block", count, err);
  if (!code)
    code = mixed_whole(&g->s, MIXED_INT, 0, 1000, "the number of tags of an element", tags, err);
  return code;
}

static int read_number(struct gmsh *g, struct error *err) {
  long long number;
  return mixed_whole(&g->s, MIXED_INT, LLONG_MIN, LLONG_MAX, "the number of an element", &number, err);
}

/* In binary the elements of a type stand together, behind what they have in common. */
static int read_block_2(struct gmsh *g, long long most, long long *count, struct error *err) {
  long long tags;
  int kind = 0, code = read_kind_and_tags(g, most, &kind, count, &tags, err);
  if (!code) {
    const int numbers = 1 + (int)tags + gmsh_kinds[kind].nodes;
    code = mixed_has(&g->s, *count, numbers, MIXED_INT * numbers, "elements of a block", err);
  }
  for (long long i = 0; !code && i < *count; i++) {
    code = read_number(g, err);
    if (!code)
      code = read_tagged(g, kind, tags, err);
  }
  return code;
}

static int read_line_2(struct gmsh *g, long long most, long long *count, struct error *err) {
  long long tags;
  int kind = 0, code = read_number(g, err);
  *count = 1;
  if (!code)
    code = read_kind_and_tags(g, most, &kind, count, &tags, err);
  return code ? code : read_tagged(g, kind, tags, err);
}

int gmsh_read_elements_2(struct gmsh *g, struct error *err) {
  long long total, count = 0;
  int code = scan_whole(&g->s, 0, INT_MAX, "the number of elements", &total, err);
  if (!code)
    code = mixed_line(&g->s, err);
  for (long long done = 0; !code && done < total; done += count)
    code = (g->s.binary ? read_block_2 : read_line_2)(g, total - done, &count, err);
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

int gmsh_read_elements_4(struct gmsh *g, struct error *err) {
  long long blocks = 0, total = 0, value, done = 0;
  int code =
      gmsh_read_counts(g, "the number of blocks of elements", "the number of elements", &blocks, &total, err);
  for (long long b = 0; !code && b < blocks; b++) {
    long long dimension = 0, entity = 0, count = 0;
    int kind = 0;
    code = gmsh_read_block(g, &dimension, &entity, err);
    if (!code)
      code = read_kind(g, &kind, err);
    if (!code)
      code =
          mixed_whole(&g->s, MIXED_SIZE, 0, total - done, "the number of elements of a block", &count, err);
    if (!code) {
      const int numbers = 1 + gmsh_kinds[kind].nodes;
      code = mixed_has(&g->s, count, numbers, (int)g->tag_bytes * numbers, "elements of a block", err);
    }
    const int group = code ? 0 : group_of(g, dimension, entity);
    for (long long i = 0; !code && i < count; i++) {
      code = mixed_whole(&g->s, g->tag_bytes, LLONG_MIN, LLONG_MAX, "the tag of an element", &value, err);
      if (!code)
        code = read_element(g, kind, group, err);
    }
    done += code ? 0 : count;
  }
  if (!code && done < total)
    code = scan_failed(&g->s, err, "the blocks hold %lld elements, not the %lld that $Elements says", done,
                       total);
  return code;
}

/* ---- entities: which physical group each is of ---- */

static int skip_whole(struct gmsh *g, long long count, struct error *err) {
  long long value;
  int code = mixed_has(&g->s, count, 1, MIXED_INT, "tags", err);
  for (long long i = 0; i < count && !code; i++)
    code = mixed_whole(&g->s, MIXED_INT, LLONG_MIN, LLONG_MAX, "a tag of an entity", &value, err);
  return code;
}

/* Of a mesh that Gmsh has parted: which entity this is a part of, and in which partitions. */
static int skip_parents(struct gmsh *g, struct error *err) {
  long long partitions = 0;
  int code = skip_whole(g, 2, err);
  if (!code)
    code =
        mixed_whole(&g->s, MIXED_SIZE, 0, INT_MAX, "the number of partitions of an entity", &partitions, err);
  return code ? code : skip_whole(g, partitions, err);
}

/* Points have a place, from version 4.1 on; all others the box round them. */
static int reals_of_entity(const struct gmsh *g, long long dimension) {
  return dimension == 0 && g->version == GMSH_4_1 ? 3 : 6;
}

static int read_entity(struct gmsh *g, long long dimension, bool parted, struct error *err) {
  long long tag = 0, groups = 0, group = 0, bounds = 0;
  double box;
  int code = mixed_whole(&g->s, MIXED_INT, LLONG_MIN, LLONG_MAX, "the tag of an entity", &tag, err);
  if (!code && parted)
    code = skip_parents(g, err);
  for (int i = 0; i < reals_of_entity(g, dimension) && !code; i++)
    code = mixed_real(&g->s, "the box round an entity", &box, err);
  if (!code)
    code = mixed_whole(&g->s, MIXED_SIZE, 0, INT_MAX, "the number of groups of an entity", &groups, err);
  if (!code && groups)
    code = mixed_whole(&g->s, MIXED_INT, INT_MIN, INT_MAX, "a group", &group, err);
  if (!code && groups)
    code = skip_whole(g, groups - 1, err);
  if (!code && dimension)
    code = mixed_whole(&g->s, MIXED_SIZE, 0, INT_MAX, "the number of entities around one", &bounds, err);
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

static int read_all_entities(struct gmsh *g, bool parted, struct error *err) {
  long long counts[4];
  int code = OP_OK;
  for (int d = 0; d < 4 && !code; d++)
    code = mixed_whole(&g->s, MIXED_SIZE, 0, INT_MAX, "the number of entities", &counts[d], err);
  for (int d = 0; d < 4 && !code; d++) {
    const int reals = reals_of_entity(g, d);
    code = mixed_has(&g->s, counts[d], 1 + reals + 1, MIXED_INT + MIXED_REAL * reals + MIXED_SIZE, "entities",
                     err);
    for (long long i = 0; i < counts[d] && !code; i++)
      code = read_entity(g, d, parted, err);
  }
  return code;
}

int gmsh_read_entities(struct gmsh *g, struct error *err) {
  int code = mixed_line(&g->s, err);
  return code ? code : read_all_entities(g, false, err);
}

int gmsh_read_parts(struct gmsh *g, struct error *err) {
  long long partitions, ghosts = 0;
  int code = mixed_line(&g->s, err);
  if (!code)
    code = mixed_whole(&g->s, MIXED_SIZE, 0, INT_MAX, "the number of partitions", &partitions, err);
  if (!code)
    code = mixed_whole(&g->s, MIXED_SIZE, 0, INT_MAX, "the number of ghost entities", &ghosts, err);
  if (!code)
    code = skip_whole(g, 2 * ghosts, err);
  return code ? code : read_all_entities(g, true, err);
}
