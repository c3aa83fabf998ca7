#include "box.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void *array(long long count, size_t size) {
  void *made = calloc((size_t)count + 1, size);
  if (!made) {
    fprintf(stderr, "no memory for %lld values\n", count);
    exit(1);
  }
  return made;
}

static void place_of(const struct box *box, int node, int place[3]) {
  place[0] = node % box->n;
  place[1] = node / box->n % box->n;
  place[2] = node / (box->n * box->n);
}

static int on_side(const struct box *box, int at) {
  return at == 0 || at == box->n - 1;
}

int box_inside(const struct box *box, int node) {
  int place[3];
  place_of(box, node, place);
  return !on_side(box, place[0]) && !on_side(box, place[1]) && !on_side(box, place[2]);
}

/* The extent of a node's volume in one direction; half on the sides. */
static double extent(const struct box *box, int at) {
  return (on_side(box, at) ? 0.5 : 1.0) / (box->n - 1);
}

/* The box is sheared, x by these shares of y and z and y by one of z, so that normals and edges differ in direction;
 * volumes stay as they are. */
static const double x_of_y = 0.3, x_of_z = 0.1, y_of_z = 0.2;

static void shear_place(double x[3]) {
  x[0] += x_of_y * x[1] + x_of_z * x[2];
  x[1] += y_of_z * x[2];
}

/* Normals change as the inverse of the transpose says. */
static void shear_normal(double normal[3]) {
  double first = normal[0], second = normal[1] - x_of_y * first;
  normal[1] = second;
  normal[2] -= x_of_z * first + y_of_z * second;
}

static double face_area(const struct box *box, const int place[3], int direction) {
  return extent(box, place[(direction + 1) % 3]) * extent(box, place[(direction + 2) % 3]);
}

static void add_edges(struct box *box, int node, const int place[3]) {
  int step = 1;
  for (int d = 0; d < 3; d++, step *= box->n) {
    if (place[d] == box->n - 1)
      continue;
    box->edge_nodes[2 * box->edges] = node;
    box->edge_nodes[2 * box->edges + 1] = node + step;
    for (int k = 0; k < 3; k++)
      box->normal[3 * box->edges + k] = k == d ? face_area(box, place, d) : 0;
    shear_normal(box->normal + 3 * box->edges);
    box->edges++;
  }
}

static void add_boundary(struct box *box, int node, const int place[3]) {
  if (box_inside(box, node))
    return;
  for (int d = 0; d < 3; d++)
    box->boundary_normal[3 * box->boundary + d] =
        on_side(box, place[d]) ? (place[d] ? 1 : -1) * face_area(box, place, d) : 0;
  shear_normal(box->boundary_normal + 3 * box->boundary);
  box->boundary_node[box->boundary++] = node;
}

struct box box_make(int n) {
  struct box made = {.n = n, .nodes = n * n * n};
  long long edges = 3LL * n * n * (n - 1);
  made.edge_nodes = array(2 * edges, sizeof *made.edge_nodes);
  made.normal = array(3 * edges, sizeof *made.normal);
  made.boundary_node = array(made.nodes, sizeof *made.boundary_node);
  made.boundary_normal = array(3LL * made.nodes, sizeof *made.boundary_normal);
  made.x = array(3LL * made.nodes, sizeof *made.x);
  made.volume = array(made.nodes, sizeof *made.volume);
  for (int node = 0; node < made.nodes; node++) {
    int place[3];
    place_of(&made, node, place);
    made.volume[node] = 1;
    for (int d = 0; d < 3; d++) {
      made.x[3 * node + d] = place[d] / (n - 1.0);
      made.volume[node] *= extent(&made, place[d]);
    }
    shear_place(made.x + 3 * node);
    add_edges(&made, node, place);
    add_boundary(&made, node, place);
  }
  return made;
}

void box_free(struct box *box) {
  free(box->edge_nodes);
  free(box->normal);
  free(box->boundary_node);
  free(box->boundary_normal);
  free(box->x);
  free(box->volume);
  *box = (struct box){0};
}

void box_state(const struct box *box, double height, double *q) {
  for (int node = 0; node < box->nodes; node++) {
    const double *x = box->x + 3 * node;
    double wave = height * sin(2 * M_PI * x[0]) * cos(2 * M_PI * x[1]) * sin(M_PI * x[2] + 0.3);
    double density = 1 + wave, u[3] = {0.5 + wave, 0.1 - 0.5 * wave, -0.2 + wave * x[0]},
           pressure = 1 + 0.4 * wave;
    double *state = q + VARIABLES * node;
    state[0] = density;
    for (int d = 0; d < 3; d++)
      state[1 + d] = density * u[d];
    state[4] = pressure / (BOX_GAMMA - 1) + 0.5 * density * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    state[5] = density * (0.02 + 0.5 * wave * wave);
    state[6] = density * (0.3 + wave);
  }
}
