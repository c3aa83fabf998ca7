#include "mesh.h"

#include <complex.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *array(long long count, size_t size) {
  void *made = calloc((size_t)count + 1, size);
  if (!made) {
    fprintf(stderr, "no memory for %lld values\n", count);
    exit(1);
  }
  return made;
}

void mesh_allocate(struct airfoil_mesh *mesh) {
  mesh->x = array(2LL * mesh->nodes, sizeof *mesh->x);
  mesh->cell_nodes = array(4LL * mesh->cells, sizeof(int));
  mesh->edge_nodes = array(2LL * mesh->edges, sizeof(int));
  mesh->edge_cells = array(2LL * mesh->edges, sizeof(int));
  mesh->boundary_nodes = array(2LL * mesh->boundary_edges, sizeof(int));
  mesh->boundary_cell = array(mesh->boundary_edges, sizeof(int));
  mesh->boundary_kind = array(mesh->boundary_edges, sizeof(int));
}

void mesh_free(struct airfoil_mesh *mesh) {
  free(mesh->x);
  free(mesh->cell_nodes);
  free(mesh->edge_nodes);
  free(mesh->edge_cells);
  free(mesh->boundary_nodes);
  free(mesh->boundary_cell);
  free(mesh->boundary_kind);
  *mesh = (struct airfoil_mesh){0};
}

/* ---- the wing section, unfolded by a square root: a smooth bump on the real axis --------------------- */

enum { SIDE = 100, POINTS = 2 * SIDE - 1 };

/* The points of the bump: the upper side of the section, moved so that the branch point of the root
 * lies inside its nose, and its mirror image. Abscissae ascend. */
static void bump(double x[POINTS], double y[POINTS]) {
  for (int k = 0; k < SIDE; k++) {
    double s = sin(k * M_PI / (2 * (SIDE - 1)));
    double along = s * s;
    double thickness =
        0.594689181 * (0.298222773 * sqrt(along) - 0.127125232 * along - 0.357907906 * pow(along, 2) +
                       0.291984971 * pow(along, 3) - 0.105174696 * pow(along, 4));
    if (k == SIDE - 1)
      thickness = 0;
    double complex z = csqrt(along + I * thickness - 0.0077);
    x[SIDE - 1 + k] = creal(z);
    y[SIDE - 1 + k] = cimag(z);
    x[SIDE - 1 - k] = -creal(z);
    y[SIDE - 1 - k] = cimag(z);
  }
}

/* The second derivatives at the points of a cubic spline whose third derivative is continuous at the
 * second point and at the last but one ("not a knot"). These conditions give the end values from their
 * neighbours and leave a tridiagonal system for the inner ones. */
static void spline_curvatures(int n, const double x[], const double y[], double curvature[]) {
  double diagonal[POINTS], upper[POINTS], right[POINTS];
  double h_first = x[1] - x[0], h_second = x[2] - x[1];
  double h_last = x[n - 1] - x[n - 2], h_before = x[n - 2] - x[n - 3];
  for (int k = 1; k < n - 1; k++) {
    double h = x[k] - x[k - 1], h_next = x[k + 1] - x[k];
    double lower = k > 1 ? h : 0;
    diagonal[k] = 2 * (h + h_next);
    upper[k] = k < n - 2 ? h_next : 0;
    right[k] = 6 * ((y[k + 1] - y[k]) / h_next - (y[k] - y[k - 1]) / h);
    if (k == 1) {
      diagonal[k] += h_first + h_first * h_first / h_second;
      upper[k] -= h_first * h_first / h_second;
    }
    if (k == n - 2) {
      diagonal[k] += h_last + h_last * h_last / h_before;
      lower -= h_last * h_last / h_before;
    }
    if (k > 1) {
      double factor = lower / diagonal[k - 1];
      diagonal[k] -= factor * upper[k - 1];
      right[k] -= factor * right[k - 1];
    }
  }
  double after = 0;
  for (int k = n - 2; k >= 1; k--)
    after = curvature[k] = (right[k] - upper[k] * after) / diagonal[k];
  curvature[0] = curvature[1] + (curvature[1] - curvature[2]) * h_first / h_second;
  curvature[n - 1] = curvature[n - 2] + (curvature[n - 2] - curvature[n - 3]) * h_last / h_before;
}

/* y[k] is the height of the bump at x[k]; x within or near -1 .. 1. */
static void profile_heights(int count, const double x[], double y[]) {
  double px[POINTS], py[POINTS], curvature[POINTS];
  bump(px, py);
  spline_curvatures(POINTS, px, py, curvature);
  for (int k = 0; k < count; k++) {
    int piece = 0;
    while (piece < POINTS - 2 && x[k] > px[piece + 1])
      piece++;
    double h = px[piece + 1] - px[piece];
    double left = (px[piece + 1] - x[k]) / h, right = (x[k] - px[piece]) / h;
    y[k] = left * py[piece] + right * py[piece + 1] +
           ((left * left * left - left) * curvature[piece] +
            (right * right * right - right) * curvature[piece + 1]) *
               h * h / 6;
  }
}

/* ---- the generated mesh -----------------------------------------------------------------------
 * A grid of 3*wide x high cells over the upper half plane, the bump over its middle third, folded
 * round the section by squaring; the left and the right third of its lower side meet behind it. */
struct grid {
  int wide, high;
  int first, end;                   /* rows of cells that are made */
  int boundary_first, boundary_end; /* boundary edges that are made */
};

static int node_number(struct grid grid, int i, int j) {
  return i + j * (3 * grid.wide + 1);
}

static int cell_number(struct grid grid, int i, int j) {
  return i + j * 3 * grid.wide;
}

/* The last row of cells has one of nodes above it. */
static int node_rows_end(struct grid grid) {
  return grid.end == grid.high ? grid.high + 1 : grid.end;
}

static double six_decimals(double value) {
  return rint(value * 1e6) / 1e6;
}

static void place_nodes(struct airfoil_mesh *mesh, struct grid grid) {
  int columns = 3 * grid.wide + 1;
  double *along = array(columns, sizeof *along), *up = array(columns, sizeof *up);
  for (int i = 0; i < columns; i++) {
    along[i] = -3.0 + 6.0 * i / (3 * grid.wide);
    up[i] = 0;
  }
  profile_heights(grid.wide - 1, along + grid.wide + 1, up + grid.wide + 1);
  for (int j = grid.first; j < node_rows_end(grid); j++) {
    for (int i = 0; i < columns; i++) {
      double complex z = along[i] + I * (up[i] + (3 - up[i]) * j / grid.high);
      double *x = mesh->x + 2 * node_number(grid, i, j - grid.first);
      x[0] = six_decimals(creal(z * z));
      x[1] = six_decimals(cimag(z * z));
    }
  }
  free(along);
  free(up);
}

static void place_cells(struct airfoil_mesh *mesh, struct grid grid) {
  for (int j = grid.first; j < grid.end; j++) {
    for (int i = 0; i < 3 * grid.wide; i++) {
      int *nodes = mesh->cell_nodes + 4 * cell_number(grid, i, j - grid.first);
      nodes[0] = node_number(grid, i, j);
      nodes[1] = node_number(grid, i + 1, j);
      nodes[2] = node_number(grid, i + 1, j + 1);
      nodes[3] = node_number(grid, i, j + 1);
    }
  }
}

static void add_edge(struct airfoil_mesh *mesh, int node1, int node2, int cell1, int cell2) {
  int e = 2 * mesh->edges++;
  mesh->edge_nodes[e] = node1;
  mesh->edge_nodes[e + 1] = node2;
  mesh->edge_cells[e] = cell1;
  mesh->edge_cells[e + 1] = cell2;
}

static void place_edges(struct airfoil_mesh *mesh, struct grid grid) {
  int columns = 3 * grid.wide;
  mesh->edges = 0;
  for (int j = grid.first; j < grid.end; j++) {
    for (int i = 0; i < columns; i++) {
      if (j == 0 && i < grid.wide)
        add_edge(mesh, node_number(grid, i, 0), node_number(grid, i + 1, 0),
                 cell_number(grid, columns - 1 - i, 0), cell_number(grid, i, 0));
      if (j < grid.high - 1)
        add_edge(mesh, node_number(grid, i, j + 1), node_number(grid, i + 1, j + 1), cell_number(grid, i, j),
                 cell_number(grid, i, j + 1));
      if (i < columns - 1)
        add_edge(mesh, node_number(grid, i + 1, j), node_number(grid, i + 1, j + 1),
                 cell_number(grid, i + 1, j), cell_number(grid, i, j));
    }
  }
}

/* Number *number of all, if it is one of those to be made. */
static void add_boundary_edge(struct airfoil_mesh *mesh, struct grid grid, int *number, int node1, int node2,
                              int cell, int kind) {
  int all = (*number)++;
  if (all < grid.boundary_first || all >= grid.boundary_end)
    return;
  int b = mesh->boundary_edges++;
  mesh->boundary_nodes[2 * b] = node1;
  mesh->boundary_nodes[2 * b + 1] = node2;
  mesh->boundary_cell[b] = cell;
  mesh->boundary_kind[b] = kind;
}

static void place_boundary(struct airfoil_mesh *mesh, struct grid grid) {
  int columns = 3 * grid.wide, high = grid.high, number = 0;
  mesh->boundary_edges = 0;
  for (int i = grid.wide; i < 2 * grid.wide; i++)
    add_boundary_edge(mesh, grid, &number, node_number(grid, i + 1, 0), node_number(grid, i, 0),
                      cell_number(grid, i, 0), WALL);
  for (int j = 0; j < high; j++)
    add_boundary_edge(mesh, grid, &number, node_number(grid, columns, j + 1), node_number(grid, columns, j),
                      cell_number(grid, columns - 1, j), FAR_FIELD);
  for (int i = columns - 1; i >= 0; i--)
    add_boundary_edge(mesh, grid, &number, node_number(grid, i, high), node_number(grid, i + 1, high),
                      cell_number(grid, i, high - 1), FAR_FIELD);
  for (int j = high - 1; j >= 0; j--)
    add_boundary_edge(mesh, grid, &number, node_number(grid, 0, j), node_number(grid, 0, j + 1),
                      cell_number(grid, 0, j), FAR_FIELD);
}

static struct grid whole_grid(int cells) {
  double scale = sqrt((double)cells / (double)PUBLISHED_CELLS);
  struct grid grid = {(int)fmax(2, rint(400 * scale)), (int)fmax(2, rint(600 * scale)), 0, 0, 0, 0};
  grid.end = grid.high;
  grid.boundary_end = 4 * grid.wide + 2 * grid.high;
  return grid;
}

static struct airfoil_mesh sizes_of(struct grid grid) {
  int columns = 3 * grid.wide, rows = grid.end - grid.first;
  int inner_rows = rows - (rows > 0 && grid.end == grid.high); /* with an edge above each cell */
  return (struct airfoil_mesh){
      .nodes = (columns + 1) * (node_rows_end(grid) - grid.first),
      .cells = columns * rows,
      .columns = columns,
      .edges = (rows > 0 && grid.first == 0 ? grid.wide : 0) + columns * inner_rows + (columns - 1) * rows,
      .boundary_edges = grid.boundary_end - grid.boundary_first,
  };
}

struct airfoil_mesh mesh_sizes(int cells) {
  return sizes_of(whole_grid(cells));
}

void mesh_generate_share(struct airfoil_mesh *mesh, int cells, int rank, int ranks) {
  struct grid grid = whole_grid(cells);
  long long high = grid.high, boundary = grid.boundary_end;
  grid.first = (int)(high * rank / ranks);
  grid.end = (int)(high * (rank + 1) / ranks);
  grid.boundary_first = (int)(boundary * rank / ranks);
  grid.boundary_end = (int)(boundary * (rank + 1) / ranks);
  *mesh = sizes_of(grid);
  mesh_allocate(mesh);
  place_nodes(mesh, grid);
  place_cells(mesh, grid);
  place_edges(mesh, grid);
  place_boundary(mesh, grid);
}

void mesh_generate(struct airfoil_mesh *mesh, int cells) {
  mesh_generate_share(mesh, cells, 0, 1);
}

int mesh_lower_image(const struct airfoil_mesh *mesh, int cell) {
  if (mesh->columns == 0 || cell < 0)
    return cell;
  int row = cell / mesh->columns, column = cell % mesh->columns, image = mesh->columns - 1 - column;
  return row * mesh->columns + (column < image ? column : image);
}

/* ---- files ------------------------------------------------------------------------------------
 * A line "nodes cells edges boundary_edges", then a line per node (x y), per cell (4 nodes), per edge
 * (2 nodes, 2 cells) and per boundary edge (2 nodes, a cell, its kind). */
struct reader {
  FILE *file;
  const char *path;
  long line;
};

static int complain(const struct reader *reader, const char *what, const char *expected) {
  fprintf(stderr, "%s, line %ld: %s; expected %s\n", reader->path, reader->line, what, expected);
  return -1;
}

/* The next line that is not blank. */
static int next_line(struct reader *reader, char *text, int size, const char *expected) {
  do {
    reader->line++;
    if (!fgets(text, size, reader->file))
      return complain(reader, "the file ends", expected);
  } while (text[strspn(text, " \t\r\n")] == '\0');
  return 0;
}

static int only_blanks(const char *text) {
  return text[strspn(text, " \t\r\n")] == '\0';
}

/* `count` whole numbers, each in 0 .. limit[k]-1. */
static int read_numbers(struct reader *reader, int count, const int limit[], int value[],
                        const char *expected) {
  char text[256];
  if (next_line(reader, text, sizeof text, expected))
    return -1;
  char *at = text;
  for (int k = 0; k < count; k++) {
    char *end;
    errno = 0;
    long number = strtol(at, &end, 10);
    if (end == at)
      return complain(reader, "too few numbers", expected);
    if (errno || number < 0 || number >= limit[k]) {
      char what[96];
      snprintf(what, sizeof what, "number %d is %ld, not in 0 .. %d", k + 1, number, limit[k] - 1);
      return complain(reader, what, expected);
    }
    value[k] = (int)number;
    at = end;
  }
  return only_blanks(at) ? 0 : complain(reader, "something follows the numbers", expected);
}

static int read_nodes(struct reader *reader, struct airfoil_mesh *mesh) {
  static const char *const expected = "the two coordinates of a node";
  char text[256];
  for (int n = 0; n < mesh->nodes; n++) {
    if (next_line(reader, text, sizeof text, expected))
      return -1;
    char *middle, *end;
    mesh->x[2 * n] = strtod(text, &middle);
    mesh->x[2 * n + 1] = strtod(middle, &end);
    if (middle == text || end == middle || !only_blanks(end) || !isfinite(mesh->x[2 * n]) ||
        !isfinite(mesh->x[2 * n + 1]))
      return complain(reader, "this is not a point", expected);
  }
  return 0;
}

static int read_tables(struct reader *reader, struct airfoil_mesh *mesh) {
  int nodes = mesh->nodes, cells = mesh->cells, row[4];
  for (int c = 0; c < cells; c++)
    if (read_numbers(reader, 4, (int[]){nodes, nodes, nodes, nodes}, mesh->cell_nodes + 4 * c,
                     "the four nodes of a cell"))
      return -1;
  for (int e = 0; e < mesh->edges; e++) {
    if (read_numbers(reader, 4, (int[]){nodes, nodes, cells, cells}, row,
                     "the two nodes and the two cells of an edge"))
      return -1;
    memcpy(mesh->edge_nodes + 2 * e, row, 2 * sizeof(int));
    memcpy(mesh->edge_cells + 2 * e, row + 2, 2 * sizeof(int));
  }
  for (int b = 0; b < mesh->boundary_edges; b++) {
    static const char *const expected =
        "two nodes, the cell and the kind (1 wall, 2 far field) of a boundary edge";
    if (read_numbers(reader, 4, (int[]){nodes, nodes, cells, FAR_FIELD + 1}, row, expected))
      return -1;
    if (row[3] != WALL && row[3] != FAR_FIELD)
      return complain(reader, "the kind is 0", expected);
    memcpy(mesh->boundary_nodes + 2 * b, row, 2 * sizeof(int));
    mesh->boundary_cell[b] = row[2];
    mesh->boundary_kind[b] = row[3];
  }
  return 0;
}

int mesh_read(struct airfoil_mesh *mesh, const char *path) {
  enum { LARGEST = 500000000 };
  *mesh = (struct airfoil_mesh){0};
  struct reader reader = {fopen(path, "r"), path, 0};
  if (!reader.file) {
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return -1;
  }
  int sizes[4];
  int status = read_numbers(&reader, 4, (int[]){LARGEST, LARGEST, LARGEST, LARGEST}, sizes,
                            "the numbers of nodes, cells, edges and boundary edges");
  if (!status && (sizes[0] == 0 || sizes[1] == 0))
    status = complain(&reader, "there are no nodes or no cells", "a mesh");
  if (!status) {
    *mesh = (struct airfoil_mesh){
        .nodes = sizes[0], .cells = sizes[1], .edges = sizes[2], .boundary_edges = sizes[3]};
    mesh_allocate(mesh);
    status = read_nodes(&reader, mesh);
  }
  if (!status)
    status = read_tables(&reader, mesh);
  fclose(reader.file);
  if (status)
    mesh_free(mesh);
  return status;
}

int mesh_write(const struct airfoil_mesh *mesh, const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) {
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return -1;
  }
  fprintf(file, "%d %d %d %d\n", mesh->nodes, mesh->cells, mesh->edges, mesh->boundary_edges);
  for (int n = 0; n < mesh->nodes; n++)
    fprintf(file, "%.17g %.17g\n", mesh->x[2 * n], mesh->x[2 * n + 1]);
  for (const int *c = mesh->cell_nodes; c < mesh->cell_nodes + 4 * mesh->cells; c += 4)
    fprintf(file, "%d %d %d %d\n", c[0], c[1], c[2], c[3]);
  for (int e = 0; e < 2 * mesh->edges; e += 2)
    fprintf(file, "%d %d %d %d\n", mesh->edge_nodes[e], mesh->edge_nodes[e + 1], mesh->edge_cells[e],
            mesh->edge_cells[e + 1]);
  for (int b = 0; b < mesh->boundary_edges; b++)
    fprintf(file, "%d %d %d %d\n", mesh->boundary_nodes[2 * b], mesh->boundary_nodes[2 * b + 1],
            mesh->boundary_cell[b], mesh->boundary_kind[b]);
  if (ferror(file) | fclose(file)) {
    fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
    return -1;
  }
  printf("wrote %s\n", path);
  return 0;
}

int mesh_is_hdf5(const char *path) {
  size_t length = strlen(path);
  return (length > 3 && !strcmp(path + length - 3, ".h5")) ||
         (length > 5 && !strcmp(path + length - 5, ".hdf5"));
}
