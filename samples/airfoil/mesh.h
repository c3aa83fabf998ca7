/* The meshes of airfoil: generated, or read from and written to OP2's text format. */
#ifndef AIRFOIL_MESH_H
#define AIRFOIL_MESH_H

/* Quadrilateral cells around a wing section. All tables are in rows. */
struct airfoil_mesh {
  int nodes, cells, edges, boundary_edges;
  const char *file;    /* the HDF5 file that has the tables, which are not here then; else NULL */
  int columns;         /* of a generated mesh: cells in a row; 0 if the mesh was read */
  double *x;           /* nodes x 2: coordinates */
  int *cell_nodes;     /* cells x 4, anticlockwise or clockwise, the same for all */
  int *edge_nodes;     /* edges x 2 */
  int *edge_cells;     /* edges x 2 */
  int *boundary_nodes; /* boundary_edges x 2 */
  int *boundary_cell;  /* boundary_edges */
  int *boundary_kind;  /* boundary_edges: WALL or FAR_FIELD */
};

enum { WALL = 1, FAR_FIELD = 2 };

/* The number of cells of the mesh for which residuals have been published. */
enum { PUBLISHED_CELLS = 720000 };

/* A mesh with about `cells` cells; PUBLISHED_CELLS gives the published one exactly. */
void mesh_generate(struct airfoil_mesh *mesh, int cells);
/* Only what one of several ranks declares: an equal number of its rows. Tables hold the numbers of the whole mesh. */
void mesh_generate_share(struct airfoil_mesh *mesh, int cells, int rank, int ranks);
/* The whole mesh's sizes, without tables. */
struct airfoil_mesh mesh_sizes(int cells);
/* A generated mesh is its own mirror image, up to rounding: of a cell and its image the lower number.
 * The cell itself if the mesh was read, or cell is negative. */
int mesh_lower_image(const struct airfoil_mesh *mesh, int cell);
/* 0, or -1 after a message on stderr that names the file, the line and what was expected. */
int mesh_read(struct airfoil_mesh *mesh, const char *path);
int mesh_write(const struct airfoil_mesh *mesh, const char *path);
/* Whether the name ends as those of HDF5 files do. */
int mesh_is_hdf5(const char *path);
/* Room for the tables, by the sizes. */
void mesh_allocate(struct airfoil_mesh *mesh);
void mesh_free(struct airfoil_mesh *mesh);

#endif
