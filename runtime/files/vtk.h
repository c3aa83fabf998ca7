/* One step for ParaView: an index in XML (XDMF) beside a file of HDF5 with the numbers. Which dat, map and set
 * become what. */
#ifndef OP2JIT_IO_VTK_H
#define OP2JIT_IO_VTK_H

#include "base/text.h"
#include "files/layout.h"
#include "mesh/mesh.h"

struct dat;

enum { VTK_CELLS_MOST = 16 };

/* The form of cells, by arity and flatness. */
struct vtk_kind {
  const char *name; /* XDMF's */
  int number;       /* in mixed topologies */
  bool counted;     /* there the number of points follows */
};

/* The elements of one set, as cells. */
struct vtk_cells {
  struct map *map;
  const struct vtk_kind *kind;
  /* Polyhedra: `map` leads to their faces, and this one from these to the points; what stands in the file of those that
   * this rank declared, how many numbers that are, where they begin, and how many all ranks have. NULL: other cells. */
  struct map *faces;
  long long *numbers, count, before, all;
};

/* One attribute: a dat on the points, or one for each of the cell sets that have it. */
struct vtk_field {
  const char *name;
  struct text dataset; /* in the file */
  int dim, columns;    /* of the dat; in the file, where vectors of two get a third component */
  enum type_code type;
  struct dat *points;                /* or NULL */
  struct dat *cells[VTK_CELLS_MOST]; /* NULL: this set does not have it */
};

struct vtk_step {
  struct op_context *ctx;
  int step;           /* negative: no series */
  const double *time; /* NULL: the step's number, if there is a series */
  struct dat *coords;
  int geometry; /* columns of the points in the file: 2 or 3 */
  struct vtk_cells cells[VTK_CELLS_MOST];
  int ncells;
  long long npoints, total; /* points, cells */
  struct vtk_field *fields;
  int nfields;
  struct text index, data;  /* paths of the files of this step */
  struct text mesh, points; /* names of the files that hold cells and points, beside the index */
};

/* ---- vtk_cells.c: from dats to cells and fields; frees nothing, vtk_step_free does */
int vtk_choose(struct vtk_step *s, int count, struct dat *const dats[], struct error *err);
void vtk_step_free(struct vtk_step *s);
/* Cells of several kinds, or polygons of a ragged map, are numbers one after the other; others are rows of one kind. */
bool vtk_is_mixed(const struct vtk_step *s);
/* How many numbers mixed ones are. */
long long vtk_cell_numbers(const struct vtk_step *s);
enum type_code vtk_cell_type(const struct vtk_step *s);
int vtk_write_cells(struct vtk_step *s, struct layout *l, struct error *err);
int vtk_write_points(struct vtk_step *s, struct layout *l, struct error *err);
int vtk_write_field(struct vtk_step *s, struct layout *l, const struct vtk_field *field, struct error *err);

/* ---- vtk_solids.c: what the cells of a map are. Collective. */
int vtk_choose_kind(struct vtk_step *s, struct vtk_cells *cells, struct error *err);

/* ---- vtk.c: a path's last name */
const char *vtk_base_name(const char *path);

/* ---- vtk_index.c */
/* OP_ERR_FILE if something else stands where the index would. On the root alone. */
int vtk_check_index(const struct vtk_step *s, struct error *err);
/* The index with the steps before this one that are in it now, and this step. On the root alone. */
int vtk_write_index(const struct vtk_step *s, struct error *err);

#endif
