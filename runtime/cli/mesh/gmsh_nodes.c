/* The nodes of Gmsh's .msh, and their tags. */
#include <limits.h>
#include <stdlib.h>

#include "base/size.h"
#include "gmsh.h"

enum { POINT_BYTES = 3 * MIXED_REAL };

static int room_for_nodes(struct gmsh *g, long long count, struct error *err) {
  int code = g->x ? scan_failed(&g->s, err, "there is a second $Nodes")
                  : mixed_has(&g->s, count, 3, g->tag_bytes + POINT_BYTES, "nodes", err);
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
    code = mixed_real(&g->s, "a coordinate of a node", &g->x[3 * at + c], err);
  return code;
}

static int read_tag(struct gmsh *g, long long at, struct error *err) {
  long long tag;
  int code = mixed_whole(&g->s, g->tag_bytes, 0, LLONG_MAX, "the tag of a node", &tag, err);
  if (!code)
    g->order[at] = (struct gmsh_tagged){tag, (int)at};
  return code;
}

int gmsh_read_nodes_2(struct gmsh *g, struct error *err) {
  long long count;
  int code = scan_whole(&g->s, 0, INT_MAX, "the number of nodes", &count, err);
  if (!code)
    code = mixed_line(&g->s, err);
  if (!code)
    code = room_for_nodes(g, count, err);
  for (long long i = 0; i < count && !code; i++) {
    code = read_tag(g, i, err);
    if (!code)
      code = read_point(g, i, err);
  }
  return code;
}

int gmsh_read_block(struct gmsh *g, long long *dimension, long long *entity, struct error *err) {
  int code = OP_OK;
  for (int i = 0; i < 2 && !code; i++)
    code = (i == 0) == (g->version == GMSH_4_1)
               ? mixed_whole(&g->s, MIXED_INT, 0, 3, "the dimension of an entity", dimension, err)
               : mixed_whole(&g->s, MIXED_INT, LLONG_MIN, LLONG_MAX, "the tag of an entity", entity, err);
  return code;
}

int gmsh_read_counts(struct gmsh *g, const char *blocks_of, const char *of, long long *blocks,
                     long long *count, struct error *err) {
  long long tag;
  int code = mixed_line(&g->s, err);
  if (!code)
    code = mixed_whole(&g->s, MIXED_SIZE, 0, INT_MAX, blocks_of, blocks, err);
  if (!code)
    code = mixed_whole(&g->s, MIXED_SIZE, 0, INT_MAX, of, count, err);
  for (int i = 0; i < 2 && !code && g->version == GMSH_4_1; i++)
    code = mixed_whole(&g->s, MIXED_SIZE, 0, LLONG_MAX, "the least and the largest tag", &tag, err);
  return code;
}

/* In version 4.1 the tags of a block stand in front of its points, in 4.0 each in front of its own. */
static int read_block_nodes(struct gmsh *g, long long first, long long count, int parameters,
                            struct error *err) {
  const bool apart = g->version == GMSH_4_1;
  double parameter;
  int code = OP_OK;
  for (long long i = 0; apart && !code && i < count; i++)
    code = read_tag(g, first + i, err);
  for (long long i = 0; !code && i < count; i++) {
    if (!apart)
      code = read_tag(g, first + i, err);
    if (!code)
      code = read_point(g, first + i, err);
    for (int p = 0; p < parameters && !code; p++)
      code = mixed_real(&g->s, "a parameter of a node", &parameter, err);
  }
  return code;
}

static int read_node_block(struct gmsh *g, long long *done, struct error *err) {
  long long dimension = 0, tag, parametric = 0, count = 0;
  int code = gmsh_read_block(g, &dimension, &tag, err);
  if (!code)
    code = mixed_whole(&g->s, MIXED_INT, 0, 1, "whether parameters follow", &parametric, err);
  if (!code)
    code = mixed_whole(&g->s, MIXED_SIZE, 0, g->nodes - *done, "the number of nodes of a block", &count, err);
  const int parameters = parametric ? (int)dimension : 0;
  if (!code)
    code = mixed_has(&g->s, count, 4 + parameters, (int)g->tag_bytes + POINT_BYTES + MIXED_REAL * parameters,
                     "nodes of a block", err);
  if (!code)
    code = read_block_nodes(g, *done, count, parameters, err);
  *done += code ? 0 : count;
  return code;
}

int gmsh_read_nodes_4(struct gmsh *g, struct error *err) {
  long long blocks = 0, count = 0, done = 0;
  int code =
      gmsh_read_counts(g, "the number of blocks of nodes", "the number of nodes", &blocks, &count, err);
  if (!code)
    code = room_for_nodes(g, count, err);
  for (long long b = 0; !code && b < blocks; b++)
    code = read_node_block(g, &done, err);
  if (!code && done < count)
    code = scan_failed(&g->s, err, "the blocks hold %lld nodes, not the %lld that $Nodes says", done, count);
  return code;
}

static int by_tag(const void *a, const void *b) {
  const struct gmsh_tagged *x = a, *y = b;
  return x->tag < y->tag ? -1 : x->tag > y->tag;
}

int gmsh_sort_tags(struct gmsh *g, struct error *err) {
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
int gmsh_node_of(const struct gmsh *g, long long tag) {
  if (g->nodes == 0)
    return -1;
  /* Most files count without gaps. */
  const long long guess = tag - g->order[0].tag;
  if (guess >= 0 && guess < g->nodes && g->order[guess].tag == tag)
    return g->order[guess].number;
  const struct gmsh_tagged key = {tag, 0};
  const struct gmsh_tagged *found = bsearch(&key, g->order, (size_t)g->nodes, sizeof *g->order, by_tag);
  return found ? found->number : -1;
}
