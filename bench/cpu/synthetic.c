/* The synthetic cases of ./dev bench cpu, kernels and hand-written loops side by side: streaming through
 * dats, reading much through a map, and adding to targets of one, three and six components. Compiled
 * with the flags of the hand-written loops. */
#include "cpu.h"

#include "common/colouring.h"
#include "common/memory.h"
#include "common/report.h"
#include "common/touch.h"

#include <math.h>
#include <op2jit.h>
#include <stdlib.h>
#include <string.h>

/* One form for all: an n x n grid of nodes; `edges` between neighbours, `quads` of four nodes; dats of
 * `dim` components on nodes (x), of one component on edges or quads (w), and the result (y). */
struct synthetic {
  int nodes, elements, arity, dim, result_size;
  int *table;
  double *x, *w, *y[CPU_OPENMP + 1];
  struct colouring colouring;
  op_set node_set, element_set;
  op_map map;
  op_dat dat_x, dat_w, dat_y;
};

static double synthetic_difference(struct cpu_case *of) {
  struct synthetic *s = of->run[0];
  double *y = room(s->result_size, sizeof *y), scale = 0;
  op_fetch_data(s->dat_y, y);
  for (int i = 0; i < s->result_size; i++)
    scale = fmax(scale, fabs(y[i]));
  double difference = fmax(largest_difference(y, s->y[CPU_SERIAL], s->result_size),
                           largest_difference(y, s->y[CPU_OPENMP], s->result_size));
  free(y);
  return scale > 0 ? difference / scale : INFINITY;
}

static void synthetic_end(struct cpu_case *of) {
  struct synthetic *s = of->run[0];
  touched_free(s->table);
  touched_free(s->x);
  touched_free(s->w);
  touched_free(s->y[CPU_SERIAL]);
  touched_free(s->y[CPU_OPENMP]);
  colouring_free(&s->colouring);
  free(s);
}

static double *filled(int count, int by) {
  double *made = touched_zeros(count, sizeof *made, 1);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < count; i++)
    made[i] = by ? 1.0 + (i % by) / (double)by : 0.0;
  return made;
}

static void wait_for(const struct synthetic *s) {
  double row[6];
  op_fetch_data_idx(s->dat_y, row, 0, 0);
}

static struct synthetic *synthetic_begin(struct cpu_case *made, const char *name, void (*serial)(void *),
                                         void (*openmp)(void *), void (*library)(void *)) {
  struct synthetic *s = room(1, sizeof *s);
  memset(s, 0, sizeof *s);
  *made = (struct cpu_case){
      .name = name,
      .run = {s, s, s},
      .repeat = {serial, openmp, library},
      .difference = synthetic_difference,
      .end = synthetic_end,
  };
  return s;
}

/* ---- streaming: y = w x + y over four components --------------------------------------------------*/

OP_KERNEL_DEF(
    stream, void stream(const double *x, const double *w, double *y) {
      for (int n = 0; n < 4; n++)
        y[n] = 0.5 * y[n] + *w * x[n];
    })

static void stream_serial(void *run) {
  const struct synthetic *s = run;
  const double *restrict x = s->x, *restrict w = s->w;
  double *restrict y = s->y[CPU_SERIAL];
  for (int e = 0; e < s->elements; e++)
    for (int n = 0; n < 4; n++)
      y[4 * e + n] = 0.5 * y[4 * e + n] + w[e] * x[4 * e + n];
}

static void stream_openmp(void *run) {
  const struct synthetic *s = run;
  const double *restrict x = s->x, *restrict w = s->w;
  double *restrict y = s->y[CPU_OPENMP];
  int elements = s->elements;
#pragma omp parallel for schedule(static)
  for (int e = 0; e < elements; e++)
    for (int n = 0; n < 4; n++)
      y[4 * e + n] = 0.5 * y[4 * e + n] + w[e] * x[4 * e + n];
}

static void stream_library(void *run) {
  const struct synthetic *s = run;
  op_par_loop(OP_KERNEL_OF(stream), "stream", s->element_set,
              op_arg_dat(s->dat_x, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(s->dat_w, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(s->dat_y, -1, OP_ID, 4, "double", OP_RW));
  wait_for(s);
}

void cpu_stream(struct cpu_case *made, const struct cpu_sizes *sizes) {
  struct synthetic *s =
      synthetic_begin(made, "streaming, dim 4", stream_serial, stream_openmp, stream_library);
  s->elements = sizes->vector / 4;
  s->result_size = 4 * s->elements;
  s->x = filled(4 * s->elements, 13);
  s->w = filled(s->elements, 7);
  s->y[CPU_SERIAL] = filled(s->result_size, 0);
  s->y[CPU_OPENMP] = filled(s->result_size, 0);
  s->element_set = op_decl_set(s->elements, "elements");
  s->dat_x = op_decl_dat(s->element_set, 4, "double", s->x, "x");
  s->dat_w = op_decl_dat(s->element_set, 1, "double", s->w, "w");
  s->dat_y = op_decl_dat(s->element_set, 4, "double", NULL, "y");
  made->bytes = s->elements * (32.0 + 8.0 + 64.0);
}

/* ---- reading through a map: each quad reads three components of its four nodes ---------------------*/

OP_KERNEL_DEF(
    gather_quad, void gather_quad(const double *x[4], const double *w, double *y) {
      double sum = 0;
      for (int k = 0; k < 4; k++)
        sum += x[k][0] * x[k][1] + x[k][2];
      *y = *w * sum;
    })

static inline void gather_range(const struct synthetic *s, double *restrict y, int begin, int end) {
  const double *restrict x = s->x, *restrict w = s->w;
  const int *restrict table = s->table;
  for (int e = begin; e < end; e++) {
    double sum = 0;
    for (int k = 0; k < 4; k++) {
      const double *node = x + 3 * table[4 * e + k];
      sum += node[0] * node[1] + node[2];
    }
    y[e] = w[e] * sum;
  }
}

static void gather_serial(void *run) {
  const struct synthetic *s = run;
  gather_range(s, s->y[CPU_SERIAL], 0, s->elements);
}

static void gather_openmp(void *run) {
  const struct synthetic *s = run;
  enum { CHUNK = 4096 };
  int chunks = (s->elements + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(static)
  for (int chunk = 0; chunk < chunks; chunk++) {
    int end = (chunk + 1) * CHUNK < s->elements ? (chunk + 1) * CHUNK : s->elements;
    gather_range(s, s->y[CPU_OPENMP], chunk * CHUNK, end);
  }
}

static void gather_library(void *run) {
  const struct synthetic *s = run;
  op_par_loop(OP_KERNEL_OF(gather_quad), "gather_quad", s->element_set,
              op_arg_dat(s->dat_x, -4, s->map, 3, "double", OP_READ),
              op_arg_dat(s->dat_w, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(s->dat_y, -1, OP_ID, 1, "double", OP_WRITE));
  wait_for(s);
}

void cpu_gather(struct cpu_case *made, const struct cpu_sizes *sizes) {
  struct synthetic *s =
      synthetic_begin(made, "reading 4 nodes, dim 3", gather_serial, gather_openmp, gather_library);
  int n = sizes->grid;
  s->nodes = n * n;
  s->elements = s->result_size = (n - 1) * (n - 1);
  s->table = touched_zeros(s->elements, 4 * sizeof(int), 1);
  for (int e = 0; e < s->elements; e++) {
    int corner = e % (n - 1) + e / (n - 1) * n;
    int quad[4] = {corner, corner + 1, corner + n + 1, corner + n};
    memcpy(s->table + 4 * e, quad, sizeof quad);
  }
  s->x = filled(3 * s->nodes, 13);
  s->w = filled(s->elements, 7);
  s->y[CPU_SERIAL] = filled(s->elements, 0);
  s->y[CPU_OPENMP] = filled(s->elements, 0);
  s->node_set = op_decl_set(s->nodes, "nodes");
  s->element_set = op_decl_set(s->elements, "quads");
  s->map = op_decl_map(s->element_set, s->node_set, 4, s->table, "quad_nodes");
  s->dat_x = op_decl_dat(s->node_set, 3, "double", s->x, "x");
  s->dat_w = op_decl_dat(s->element_set, 1, "double", s->w, "w");
  s->dat_y = op_decl_dat(s->element_set, 1, "double", NULL, "y");
  made->bytes = s->nodes * 24.0 + s->elements * (16.0 + 8.0 + 8.0);
}

/* ---- adding through a map: each edge moves something between its two nodes -------------------------*/

/* The kernel, the hand-written loops and the library's loop for DIM components. */
#define ADDING(DIM)                                                                                          \
  OP_KERNEL_DEF(                                                                                             \
      add##DIM, void add##DIM(const double *w, const double *x1, const double *x2, double *y1, double *y2) { \
        for (int n = 0; n < DIM; n++) {                                                                      \
          double flux = *w * (x1[n] - 0.5 * x2[n]);                                                          \
          y1[n] += flux;                                                                                     \
          y2[n] -= flux;                                                                                     \
        }                                                                                                    \
      })                                                                                                     \
  static inline void add##DIM##_range(const struct synthetic *s, double *restrict y, int begin, int end) {   \
    const double *restrict x = s->x, *restrict w = s->w;                                                     \
    const int *restrict table = s->table;                                                                    \
    for (int e = begin; e < end; e++) {                                                                      \
      int one = DIM * table[2 * e], two = DIM * table[2 * e + 1];                                            \
      for (int n = 0; n < DIM; n++) {                                                                        \
        double flux = w[e] * (x[one + n] - 0.5 * x[two + n]);                                                \
        y[one + n] += flux;                                                                                  \
        y[two + n] -= flux;                                                                                  \
      }                                                                                                      \
    }                                                                                                        \
  }                                                                                                          \
  static void add##DIM##_serial(void *run) {                                                                 \
    const struct synthetic *s = run;                                                                         \
    add##DIM##_range(s, s->y[CPU_SERIAL], 0, s->elements);                                                   \
  }                                                                                                          \
  static void add##DIM##_openmp(void *run) {                                                                 \
    const struct synthetic *s = run;                                                                         \
    adding_openmp(s, add##DIM##_range);                                                                      \
  }                                                                                                          \
  static void add##DIM##_library(void *run) {                                                                \
    adding_library(run, OP_KERNEL_OF(add##DIM), "add" #DIM);                                                 \
  }                                                                                                          \
  void cpu_add##DIM(struct cpu_case *made, const struct cpu_sizes *sizes) {                                  \
    adding_begin(made, sizes, "adding to 2 nodes, dim " #DIM, DIM, add##DIM##_serial, add##DIM##_openmp,     \
                 add##DIM##_library);                                                                        \
  }

typedef void adding_range(const struct synthetic *s, double *restrict y, int begin, int end);

static inline __attribute__((always_inline)) void adding_openmp(const struct synthetic *s,
                                                                adding_range *range) {
#pragma omp parallel
  for (int colour = 0; colour < s->colouring.colours; colour++) {
#pragma omp for schedule(static)
    for (int i = s->colouring.first[colour]; i < s->colouring.first[colour + 1]; i++)
      range(s, s->y[CPU_OPENMP], colouring_begin(&s->colouring, s->colouring.order[i]),
            colouring_end(&s->colouring, s->colouring.order[i]));
  }
}

static void adding_library(const struct synthetic *s, const char *kernel, const char *name) {
  op_par_loop(kernel, name, s->element_set, op_arg_dat(s->dat_w, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(s->dat_x, 0, s->map, s->dim, "double", OP_READ),
              op_arg_dat(s->dat_x, 1, s->map, s->dim, "double", OP_READ),
              op_arg_dat(s->dat_y, 0, s->map, s->dim, "double", OP_INC),
              op_arg_dat(s->dat_y, 1, s->map, s->dim, "double", OP_INC));
  wait_for(s);
}

static void adding_begin(struct cpu_case *made, const struct cpu_sizes *sizes, const char *name, int dim,
                         void (*serial)(void *), void (*openmp)(void *), void (*library)(void *)) {
  struct synthetic *s = synthetic_begin(made, name, serial, openmp, library);
  int n = sizes->grid, edge = 0;
  s->dim = dim;
  s->nodes = n * n;
  s->elements = 2 * n * (n - 1);
  s->result_size = dim * s->nodes;
  s->table = touched_zeros(s->elements, 2 * sizeof(int), 1);
  for (int node = 0; node < s->nodes; node++) {
    int neighbour[2] = {node % n < n - 1 ? node + 1 : -1, node + n < s->nodes ? node + n : -1};
    for (int k = 0; k < 2; k++) {
      if (neighbour[k] >= 0) {
        s->table[2 * edge] = node;
        s->table[2 * edge++ + 1] = neighbour[k];
      }
    }
  }
  s->x = filled(dim * s->nodes, 13);
  s->w = filled(s->elements, 7);
  s->y[CPU_SERIAL] = filled(s->result_size, 0);
  s->y[CPU_OPENMP] = filled(s->result_size, 0);
  s->colouring = colouring_make(s->elements, 2, s->table, s->nodes, sizes->block);
  s->node_set = op_decl_set(s->nodes, "nodes");
  s->element_set = op_decl_set(s->elements, "edges");
  s->map = op_decl_map(s->element_set, s->node_set, 2, s->table, "edge_nodes");
  s->dat_x = op_decl_dat(s->node_set, dim, "double", s->x, "x");
  s->dat_w = op_decl_dat(s->element_set, 1, "double", s->w, "w");
  s->dat_y = op_decl_dat(s->node_set, dim, "double", NULL, "y");
  made->bytes = s->nodes * 24.0 * dim + s->elements * (8.0 + 8.0);
}

ADDING(1)
ADDING(3)
ADDING(6)
