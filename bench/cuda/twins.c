/* The hand-written CUDA of twins.cu: its arrays, and the order of its launches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "common/colouring.h"
#include "common/memory.h"
#include "compare/airfoil/flow.h"
#include "samples/airfoil/mesh.h"

/* All kernels of one form, and what they work on. */
struct twin {
  struct bare *gpu;
  struct twin_form form;
  cuda_module module;
  struct colouring colours; /* blocks of one element; one colour where additions are atomic */
  int nodes, cells, edges, boundary;
  cuda_function sum, save, adt_calc, res_calc, bres_calc, update;
  cuda_address arrays[16];
  int narrays;
  cuda_address corners, edge_nodes, edge_cells, boundary_nodes, boundary_cell, kind, stream;
  cuda_address x, q, old, res, adt, w, partial, result;
};

const char *twin_name(struct twin_form form) {
  static const char *const names[2][2] = {{"by hand, atomics", "by hand, colours"},
                                          {"by hand, atomics, SoA", "by hand, colours, SoA"}};
  return names[form.apart][form.coloured];
}

static struct twin *twin_new(struct bare *g, struct twin_form form) {
  struct twin *t = room(1, sizeof *t);
  *t = (struct twin){.gpu = g, .form = form};
  t->module = bare_compile(g, form.single_precision ? "float" : "double", form.apart, form.coloured);
  t->sum = bare_kernel(g, t->module, "sum");
  return t;
}

static void twin_end(void *run) {
  struct twin *t = run;
  bare_wait(t->gpu);
  for (int i = 0; i < t->narrays; i++)
    bare_release(t->gpu, t->arrays[i]);
  t->gpu->driver.module_unload(t->module);
  colouring_free(&t->colours);
  free(t);
}

static cuda_address keep(struct twin *t, cuda_address at) {
  t->arrays[t->narrays++] = at;
  return at;
}

/* ---- arrays, laid out as the form says ---- */

static size_t place(const struct twin *t, int rows, int dim, int row, int component) {
  return t->form.apart ? (size_t)component * (size_t)rows + (size_t)row
                       : (size_t)row * (size_t)dim + (size_t)component;
}

/* `order` NULL: as they are. */
static cuda_address table(struct twin *t, const int *from, int rows, int dim, const int *order) {
  int *to = room((long long)rows * dim, sizeof *to);
  for (int row = 0; row < rows; row++)
    for (int c = 0; c < dim; c++)
      to[place(t, rows, dim, row, c)] = from[(size_t)dim * (size_t)(order ? order[row] : row) + (size_t)c];
  cuda_address at = keep(t, bare_array(t->gpu, to, (size_t)rows * (size_t)dim * sizeof *to));
  free(to);
  return at;
}

static size_t real_bytes(const struct twin *t) {
  return t->form.single_precision ? sizeof(float) : sizeof(double);
}

static void put(const struct twin *t, void *to, size_t at, double value) {
  if (t->form.single_precision)
    ((float *)to)[at] = (float)value;
  else
    ((double *)to)[at] = value;
}

/* Rows of `from`, all the same row if `repeated`; NULL: zeros. */
static cuda_address reals(struct twin *t, const double *from, int rows, int dim, bool repeated,
                          const int *order) {
  const size_t bytes = (size_t)rows * (size_t)dim * real_bytes(t);
  if (!from)
    return keep(t, bare_array(t->gpu, NULL, bytes));
  void *to = room((long long)bytes, 1);
  for (int row = 0; row < rows; row++)
    for (int c = 0; c < dim; c++) {
      const size_t which = repeated ? 0 : (size_t)(order ? order[row] : row);
      put(t, to, place(t, rows, dim, row, c), from[which * (size_t)dim + (size_t)c]);
    }
  cuda_address at = keep(t, bare_array(t->gpu, to, bytes));
  free(to);
  return at;
}

static void colour(struct twin *t, int elements, int arity, const int *ends, int targets) {
  if (t->form.coloured)
    t->colours = colouring_make(elements, arity, ends, targets, 1);
}

static const int *order_of(const struct twin *t) {
  return t->form.coloured ? t->colours.order : NULL;
}

static void make_results(struct twin *t, int things) {
  t->partial = keep(t, bare_array(t->gpu, NULL, ((size_t)things / GPU_BLOCK + 1) * sizeof(double)));
  t->result = keep(t, bare_array(t->gpu, NULL, sizeof(double)));
}

static double fetch_sum(struct twin *t, int things) {
  double sum = 0;
  int blocks = (things + GPU_BLOCK - 1) / GPU_BLOCK;
  void *values[] = {&t->partial, &blocks, &t->result};
  bare_launch(t->gpu, t->sum, GPU_BLOCK, values);
  bare_fetch(t->gpu, &sum, t->result, sizeof sum);
  return sum;
}

/* Launch for the elements of each colour in turn: begin and end, then `count` values. */
static void by_colour(struct twin *t, cuda_function f, int count, void *const *others) {
  int begin = 0, end = t->edges;
  void *values[16] = {&begin, &end};
  memcpy(values + 2, others, (size_t)count * sizeof *others);
  const int colours = t->form.coloured ? t->colours.colours : 1;
  for (int c = 0; c < colours; c++) {
    if (t->form.coloured) {
      begin = t->colours.first[c];
      end = t->colours.first[c + 1];
    }
    bare_launch(t->gpu, f, end - begin, values);
  }
}

/* ---- airfoil ---- */

static double airfoil_repeat(void *run) {
  struct twin *t = run;
  void *save[] = {&t->cells, &t->q, &t->old};
  void *steps[] = {&t->cells, &t->nodes, &t->corners, &t->x, &t->q, &t->adt};
  void *edges[] = {&t->edges, &t->cells, &t->nodes, &t->edge_nodes, &t->edge_cells,
                   &t->x,     &t->q,     &t->adt,   &t->res};
  void *boundary[] = {&t->boundary,      &t->cells,  &t->nodes, &t->boundary_nodes,
                      &t->boundary_cell, &t->kind,   &t->x,     &t->q,
                      &t->adt,           &t->stream, &t->res};
  void *update[] = {&t->cells, &t->old, &t->q, &t->res, &t->adt, &t->partial};
  bare_launch(t->gpu, t->save, t->cells, save);
  for (int stage = 0; stage < 2; stage++) {
    bare_launch(t->gpu, t->adt_calc, t->cells, steps);
    by_colour(t, t->res_calc, 9, edges);
    bare_launch(t->gpu, t->bres_calc, t->boundary, boundary);
    bare_launch(t->gpu, t->update, t->cells, update);
  }
  return sqrt(fetch_sum(t, t->cells) / t->cells);
}

static void airfoil_arrays(struct twin *t, const struct airfoil_mesh *mesh) {
  double stream[4];
  flow_free_stream(stream);
  colour(t, mesh->edges, 2, mesh->edge_cells, mesh->cells);
  t->corners = table(t, mesh->cell_nodes, t->cells, 4, NULL);
  t->edge_nodes = table(t, mesh->edge_nodes, t->edges, 2, order_of(t));
  t->edge_cells = table(t, mesh->edge_cells, t->edges, 2, order_of(t));
  const size_t ints = (size_t)t->boundary * sizeof(int);
  t->boundary_nodes = keep(t, bare_array(t->gpu, mesh->boundary_nodes, 2 * ints));
  t->boundary_cell = keep(t, bare_array(t->gpu, mesh->boundary_cell, ints));
  t->kind = keep(t, bare_array(t->gpu, mesh->boundary_kind, ints));
  t->stream = reals(t, stream, 1, 4, false, NULL);
  t->x = reals(t, mesh->x, t->nodes, 2, false, NULL);
  t->q = reals(t, stream, t->cells, 4, true, NULL);
  t->old = reals(t, NULL, t->cells, 4, false, NULL);
  t->res = reals(t, NULL, t->cells, 4, false, NULL);
  t->adt = reals(t, NULL, t->cells, 1, false, NULL);
  make_results(t, t->cells);
}

struct contender twin_airfoil(struct bare *g, const struct airfoil_mesh *mesh, struct twin_form form) {
  struct twin *t = twin_new(g, form);
  t->nodes = mesh->nodes;
  t->cells = mesh->cells;
  t->edges = mesh->edges;
  t->boundary = mesh->boundary_edges;
  t->save = bare_kernel(g, t->module, "save_soln");
  t->adt_calc = bare_kernel(g, t->module, "adt_calc");
  t->res_calc = bare_kernel(g, t->module, "res_calc");
  t->bres_calc = bare_kernel(g, t->module, "bres_calc");
  t->update = bare_kernel(g, t->module, "update");
  airfoil_arrays(t, mesh);
  return (struct contender){twin_name(form), t, airfoil_repeat, twin_end};
}

/* ---- jac: x is a, q is u, res is du, w is r ---- */

static double jac_repeat(void *run) {
  struct twin *t = run;
  void *gather[] = {&t->edges, &t->edge_nodes, &t->x, &t->q, &t->res};
  void *update[] = {&t->nodes, &t->w, &t->res, &t->q, &t->partial};
  by_colour(t, t->res_calc, 5, gather);
  bare_launch(t->gpu, t->update, t->nodes, update);
  return fetch_sum(t, t->nodes);
}

/* Edges add to their first end. */
static void colour_first_ends(struct twin *t, const struct jac_mesh *mesh) {
  int *first = room(mesh->edges, sizeof *first);
  for (int e = 0; e < mesh->edges; e++)
    first[e] = mesh->ends[2 * e];
  colour(t, mesh->edges, 1, first, mesh->nodes);
  free(first);
}

struct contender twin_jac(struct bare *g, const struct jac_mesh *mesh, struct twin_form form) {
  struct twin *t = twin_new(g, form);
  t->nodes = mesh->nodes;
  t->edges = mesh->edges;
  t->res_calc = bare_kernel(g, t->module, "jac_gather");
  t->update = bare_kernel(g, t->module, "jac_update");
  colour_first_ends(t, mesh);
  t->edge_nodes = table(t, mesh->ends, t->edges, 2, order_of(t));
  t->x = reals(t, mesh->a, t->edges, 1, false, order_of(t));
  t->w = reals(t, mesh->r, t->nodes, 1, false, NULL);
  t->q = reals(t, NULL, t->nodes, 1, false, NULL);
  t->res = reals(t, NULL, t->nodes, 1, false, NULL);
  make_results(t, t->nodes);
  return (struct contender){twin_name(form), t, jac_repeat, twin_end};
}

/* ---- stream: x, w, and y in q ---- */

static double stream_repeat(void *run) {
  struct twin *t = run;
  void *values[] = {&t->cells, &t->x, &t->w, &t->q};
  bare_launch(t->gpu, t->save, t->cells, values);
  bare_wait(t->gpu);
  return 0;
}

struct contender twin_stream(struct bare *g, int size, struct twin_form form) {
  static const double row[] = {1, 2, 3, 4};
  struct twin *t = twin_new(g, form);
  t->cells = size;
  t->save = bare_kernel(g, t->module, "stream");
  t->x = reals(t, row, size, 4, true, NULL);
  t->w = reals(t, row, size, 1, true, NULL);
  t->q = reals(t, NULL, size, 4, false, NULL);
  return (struct contender){form.apart ? "by hand, SoA" : "by hand", t, stream_repeat, twin_end};
}
