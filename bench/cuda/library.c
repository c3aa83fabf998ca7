/* The same work by the library. */
#include <op2jit.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "common/memory.h"
#include "compare/airfoil/solver.h"

/* ---- airfoil ---- */

struct airfoil_run {
  const struct flow_code *code;
  void *state;
};

static double airfoil_repeat(void *run) {
  const struct airfoil_run *a = run;
  return a->code->iterate(a->state).rms;
}

static void airfoil_end(void *run) {
  struct airfoil_run *a = run;
  a->code->finish(a->state, NULL);
  free(a);
}

struct contender library_airfoil(const struct airfoil_mesh *mesh, bool single_precision) {
  struct airfoil_run *a = room(1, sizeof *a);
  a->code = single_precision ? &solver_single : &solver_double;
  a->state = a->code->start(mesh, 0);
  return (struct contender){"op2jit", a, airfoil_repeat, airfoil_end};
}

/* ---- jac and stream, in both precisions ---- */

#define LOOPS(real, name)                                                                                    \
  OP_KERNEL_DEF(                                                                                             \
      gather_##name, void gather_##name(const real *a, const real *u, real *du) { *du += *a * *u; })         \
  OP_KERNEL_DEF(                                                                                             \
      change_##name, void change_##name(const real *r, real *du, real *u, double *change) {                  \
        real next = *du + *r;                                                                                \
        real step = next - *u;                                                                               \
        *change += step * step;                                                                              \
        *u = next;                                                                                           \
        *du = 0;                                                                                             \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      stream_##name, void stream_##name(const real *x, const real *w, real *y) {                             \
        for (int c = 0; c < 4; c++)                                                                          \
          y[c] += *w * x[c];                                                                                 \
      })
LOOPS(double, double)
LOOPS(float, float)

static const char *const types[] = {"double", "float"};

struct jac_run {
  bool single_precision;
  op_set nodes, edges;
  op_map ends;
  op_dat a, r, u, du;
};

static double jac_repeat(void *run) {
  const struct jac_run *j = run;
  const char *type = types[j->single_precision];
  double change = 0;
  op_par_loop(j->single_precision ? OP_KERNEL_OF(gather_float) : OP_KERNEL_OF(gather_double),
              j->single_precision ? "gather_float" : "gather_double", j->edges,
              op_arg_dat(j->a, -1, OP_ID, 1, type, OP_READ), op_arg_dat(j->u, 1, j->ends, 1, type, OP_READ),
              op_arg_dat(j->du, 0, j->ends, 1, type, OP_INC));
  op_par_loop(j->single_precision ? OP_KERNEL_OF(change_float) : OP_KERNEL_OF(change_double),
              j->single_precision ? "change_float" : "change_double", j->nodes,
              op_arg_dat(j->r, -1, OP_ID, 1, type, OP_READ), op_arg_dat(j->du, -1, OP_ID, 1, type, OP_RW),
              op_arg_dat(j->u, -1, OP_ID, 1, type, OP_RW), op_arg_gbl(&change, 1, "double", OP_INC));
  return change;
}

/* The library copies what it is given. */
static op_dat declare(op_set set, int dim, bool single_precision, const double *from, const char *name) {
  const size_t count = (size_t)op_get_size(set) * (size_t)dim;
  float *narrow = from && single_precision ? room((long long)count, sizeof *narrow) : NULL;
  for (size_t i = 0; narrow && i < count; i++)
    narrow[i] = (float)from[i];
  op_dat made = op_decl_dat(set, dim, types[single_precision], narrow ? (const void *)narrow : from, name);
  free(narrow);
  return made;
}

struct contender library_jac(const struct jac_mesh *mesh, bool single_precision) {
  struct jac_run *j = room(1, sizeof *j);
  j->single_precision = single_precision;
  j->nodes = op_decl_set(mesh->nodes, "nodes");
  j->edges = op_decl_set(mesh->edges, "edges");
  j->ends = op_decl_map(j->edges, j->nodes, 2, mesh->ends, "ends");
  j->a = declare(j->edges, 1, single_precision, mesh->a, "a");
  j->r = declare(j->nodes, 1, single_precision, mesh->r, "r");
  j->u = declare(j->nodes, 1, single_precision, NULL, "u");
  j->du = declare(j->nodes, 1, single_precision, NULL, "du");
  return (struct contender){"op2jit", j, jac_repeat, free};
}

struct stream_run {
  bool single_precision;
  op_set set;
  op_dat x, w, y;
};

static double stream_repeat(void *run) {
  const struct stream_run *s = run;
  const char *type = types[s->single_precision];
  op_par_loop(s->single_precision ? OP_KERNEL_OF(stream_float) : OP_KERNEL_OF(stream_double),
              s->single_precision ? "stream_float" : "stream_double", s->set,
              op_arg_dat(s->x, -1, OP_ID, 4, type, OP_READ), op_arg_dat(s->w, -1, OP_ID, 1, type, OP_READ),
              op_arg_dat(s->y, -1, OP_ID, 4, type, OP_RW));
  library_wait();
  return 0;
}

struct contender library_stream(int size, bool single_precision) {
  struct stream_run *s = room(1, sizeof *s);
  double *x = room(4LL * size, sizeof *x);
  for (int i = 0; i < 4 * size; i++)
    x[i] = 1 + i % 4;
  s->single_precision = single_precision;
  s->set = op_decl_set(size, "rows");
  s->x = declare(s->set, 4, single_precision, x, "x");
  s->w = declare(s->set, 1, single_precision, x, "w");
  s->y = declare(s->set, 4, single_precision, NULL, "y");
  free(x);
  return (struct contender){"op2jit", s, stream_repeat, free};
}
