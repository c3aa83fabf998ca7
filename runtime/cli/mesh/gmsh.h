/* What the files that read and write Gmsh's .msh share. */
#ifndef OP2JIT_IO_MESH_GMSH_H
#define OP2JIT_IO_MESH_GMSH_H

#include "mixed.h"

struct mesh_file;
struct mesh_table;

/* The types of elements that are known: those of first order. */
enum { GMSH_KINDS = 8 };

extern const struct gmsh_kind {
  int number, nodes; /* Gmsh's number of the type */
  const char *set;
} gmsh_kinds[GMSH_KINDS];

/* The number above of a map to the nodes, which have `dim` coordinates; -1: Gmsh has no such elements. */
int gmsh_kind_of(const struct mesh_file *m, const struct mesh_table *t, int dim);
/* The physical groups of a set: its only column of whole numbers; NULL: none. */
const int *gmsh_groups_of(const struct mesh_file *m, int set);

/* Elements while they are read: their number is known only at the end. */
struct gmsh_grown {
  int *rows; /* nodes of each, then its physical group */
  long long count, room;
};

struct gmsh_tagged {
  long long tag;
  int number;
};

enum gmsh_version { GMSH_NONE, GMSH_2, GMSH_4_0, GMSH_4_1, GMSH_VERSIONS };

struct gmsh {
  struct scan s;
  enum gmsh_version version;
  enum mixed_bytes tag_bytes; /* of nodes and elements */
  bool names_groups;          /* there is a section $PhysicalNames */
  long long nodes;
  double *x;                 /* 3 each */
  struct gmsh_tagged *order; /* by tag */
  struct gmsh_grown elements[GMSH_KINDS];
  struct {           /* version 4: the physical group of each entity, in the order of the file */
    long long *tags; /* dimension, entity, group */
    long long count;
  } entities;
};

/* Sections of version 2 and of both versions 4, each from behind its first word up to its last. What they make is
 * freed with the struct. */
int gmsh_read_nodes_2(struct gmsh *g, struct error *err);
int gmsh_read_nodes_4(struct gmsh *g, struct error *err);
int gmsh_read_entities(struct gmsh *g, struct error *err);
/* The same of a mesh in parts, whose elements are of the parts of entities. */
int gmsh_read_parts(struct gmsh *g, struct error *err);
int gmsh_read_elements_2(struct gmsh *g, struct error *err);
int gmsh_read_elements_4(struct gmsh *g, struct error *err);

/* Of versions 4: how many blocks and what is in them, at the beginning of a section; what a block is of. */
int gmsh_read_counts(struct gmsh *g, const char *blocks_of, const char *of, long long *blocks,
                     long long *count, struct error *err);
int gmsh_read_block(struct gmsh *g, long long *dimension, long long *entity, struct error *err);

/* Once, behind the nodes; an error if two have the same tag. */
int gmsh_sort_tags(struct gmsh *g, struct error *err);
/* The number of the node of this tag; -1: there is none. */
int gmsh_node_of(const struct gmsh *g, long long tag);

#endif
