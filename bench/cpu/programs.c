/* The cases of ./dev bench cpu that are samples: airfoil, jac and vadd. */
#include "cpu.h"

#include "common/memory.h"
#include "common/report.h"
#include "common/touch.h"
#include "compare/airfoil/flow.h"
#include "compare/airfoil/solver.h"
#include "compare/airfoil/twin.h"
#include "compare/jac/twin.h"
#include "compare/vadd/twin.h"

#include <math.h>
#include <op2jit.h>
#include <stdlib.h>

/* ---- airfoil ----------------------------------------------------------------------------------*/

struct airfoil_run {
  const struct flow_code *code;
  struct airfoil_mesh *mesh;
  void *state;
  struct flow_step last;
};

static void airfoil_repeat(void *run) {
  struct airfoil_run *airfoil = run;
  airfoil->last = airfoil->code->iterate(airfoil->state);
}

static double airfoil_difference(struct cpu_case *of) {
  const struct airfoil_run *library = of->run[CPU_LIBRARY], *serial = of->run[CPU_SERIAL];
  return relative_difference(library->last.rms, serial->last.rms);
}

static void airfoil_end(struct cpu_case *of) {
  struct airfoil_mesh *mesh = ((struct airfoil_run *)of->run[0])->mesh;
  for (int c = 0; c < CPU_CONTENDERS; c++) {
    struct airfoil_run *run = of->run[c];
    run->code->finish(run->state, NULL);
    free(run);
  }
  mesh_free(mesh);
  free(mesh);
}

void cpu_airfoil(struct cpu_case *made, const struct cpu_sizes *sizes) {
  static const struct flow_code *const codes[CPU_CONTENDERS] = {&twin_serial_double, &twin_openmp_double,
                                                                &solver_double};
  struct airfoil_mesh *mesh = room(1, sizeof *mesh);
  mesh_generate(mesh, sizes->cells);
  double cells = mesh->cells, nodes = mesh->nodes, edges = mesh->edges;
  *made = (struct cpu_case){.name = "airfoil", .difference = airfoil_difference, .end = airfoil_end};
  made->bytes =
      cells * 64 + 2 * (nodes * 16 + cells * 56 + nodes * 16 + cells * 104 + edges * 16 + cells * 136);
  for (int c = 0; c < CPU_CONTENDERS; c++) {
    struct airfoil_run *run = room(1, sizeof *run);
    *run = (struct airfoil_run){codes[c], mesh, codes[c]->start(mesh, sizes->block), {0, 0, 0}};
    made->run[c] = run;
    made->repeat[c] = airfoil_repeat;
  }
}

/* ---- jac --------------------------------------------------------------------------------------*/

OP_KERNEL_DEF(
    gather, void gather(const double *a, const double *u, double *du) { *du += *a * *u; })

OP_KERNEL_DEF(
    update, void update(const double *r, double *du, double *u, double *change) {
      double next = *du + *r;
      double step = next - *u;
      *change += step * step;
      *u = next;
      *du = 0;
    })

struct jac_run {
  struct jac_problem problem;
  struct colouring colouring;
  op_set nodes, edges;
  op_map ends;
  op_dat a, r, u, du;
  double change;
};

static void jac_repeat_serial(void *run) {
  struct jac_run *jac = run;
  jac->change = jac_serial(&jac->problem);
}

static void jac_repeat_openmp(void *run) {
  struct jac_run *jac = run;
  jac->change = jac_openmp(&jac->problem, &jac->colouring);
}

static void jac_repeat_library(void *run) {
  struct jac_run *jac = run;
  jac->change = 0;
  op_par_loop(OP_KERNEL_OF(gather), "gather", jac->edges, op_arg_dat(jac->a, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(jac->u, 1, jac->ends, 1, "double", OP_READ),
              op_arg_dat(jac->du, 0, jac->ends, 1, "double", OP_INC));
  op_par_loop(OP_KERNEL_OF(update), "update", jac->nodes, op_arg_dat(jac->r, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(jac->du, -1, OP_ID, 1, "double", OP_RW),
              op_arg_dat(jac->u, -1, OP_ID, 1, "double", OP_RW),
              op_arg_gbl(&jac->change, 1, "double", OP_INC));
}

static double jac_difference(struct cpu_case *of) {
  const struct jac_run *library = of->run[CPU_LIBRARY], *serial = of->run[CPU_SERIAL];
  return relative_difference(library->change, serial->change);
}

static void jac_end(struct cpu_case *of) {
  for (int c = 0; c < CPU_CONTENDERS; c++) {
    struct jac_run *run = of->run[c];
    colouring_free(&run->colouring);
    touched_free(run->problem.u);
    touched_free(run->problem.du);
    if (c == 0) {
      touched_free((void *)run->problem.ends);
      touched_free((void *)run->problem.a);
      touched_free((void *)run->problem.r);
    }
    free(run);
  }
}

/* Edges from each node of an n x n grid to its neighbours, and a right-hand side. */
static struct jac_problem jac_grid(int n) {
  static const int step[4][2] = {{0, -1}, {-1, 0}, {1, 0}, {0, 1}};
  struct jac_problem made = {.nodes = n * n, .edges = 4 * n * (n - 1)};
  int *ends = touched_zeros(made.edges, 2 * sizeof *ends, 1), edge = 0;
  double *a = touched_zeros(made.edges, sizeof *a, 1), *r = touched_zeros(made.nodes, sizeof *r, 1);
  for (int node = 0; node < made.nodes; node++) {
    r[node] = 1.0 / (1 + node % 97);
    for (int k = 0; k < 4; k++) {
      int i = node % n + step[k][0], j = node / n + step[k][1];
      if (i >= 0 && j >= 0 && i < n && j < n) {
        ends[2 * edge] = node;
        ends[2 * edge + 1] = i + j * n;
        a[edge++] = 0.25;
      }
    }
  }
  made.ends = ends;
  made.a = a;
  made.r = r;
  return made;
}

void cpu_jac(struct cpu_case *made, const struct cpu_sizes *sizes) {
  struct jac_problem problem = jac_grid(sizes->grid);
  *made = (struct cpu_case){.name = "jac", .difference = jac_difference, .end = jac_end};
  made->bytes = problem.edges * 16.0 + problem.nodes * 64.0;
  for (int c = 0; c < CPU_CONTENDERS; c++) {
    struct jac_run *run = room(1, sizeof *run);
    *run = (struct jac_run){.problem = problem};
    run->problem.u = touched_zeros(problem.nodes, sizeof(double), c == CPU_OPENMP);
    run->problem.du = touched_zeros(problem.nodes, sizeof(double), c == CPU_OPENMP);
    made->run[c] = run;
  }
  struct jac_run *openmp = made->run[CPU_OPENMP], *library = made->run[CPU_LIBRARY];
  openmp->colouring = colouring_make(problem.edges, 2, problem.ends, problem.nodes, sizes->block);
  library->nodes = op_decl_set(problem.nodes, "nodes");
  library->edges = op_decl_set(problem.edges, "edges");
  library->ends = op_decl_map(library->edges, library->nodes, 2, problem.ends, "ends");
  library->a = op_decl_dat(library->edges, 1, "double", problem.a, "a");
  library->r = op_decl_dat(library->nodes, 1, "double", problem.r, "r");
  library->u = op_decl_dat(library->nodes, 1, "double", NULL, "u");
  library->du = op_decl_dat(library->nodes, 1, "double", NULL, "du");
  made->repeat[CPU_SERIAL] = jac_repeat_serial;
  made->repeat[CPU_OPENMP] = jac_repeat_openmp;
  made->repeat[CPU_LIBRARY] = jac_repeat_library;
}

/* ---- vadd -------------------------------------------------------------------------------------*/

OP_KERNEL_DEF(
    add, void add(const double *a, const double *b, double *c) { *c = *a + *b; })

struct vadd_run {
  struct vadd_arrays arrays;
  op_set elements;
  op_dat a, b, c;
};

static void vadd_repeat_serial(void *run) {
  vadd_serial(&((struct vadd_run *)run)->arrays);
}

static void vadd_repeat_openmp(void *run) {
  vadd_openmp(&((struct vadd_run *)run)->arrays);
}

static void vadd_repeat_library(void *run) {
  struct vadd_run *vadd = run;
  double last;
  op_par_loop(OP_KERNEL_OF(add), "add", vadd->elements, op_arg_dat(vadd->a, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(vadd->b, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(vadd->c, -1, OP_ID, 1, "double", OP_WRITE));
  op_fetch_data_idx(vadd->c, &last, vadd->arrays.size - 1, vadd->arrays.size - 1);
}

static double vadd_difference(struct cpu_case *of) {
  struct vadd_run *vadd = of->run[0];
  double *c = room(vadd->arrays.size, sizeof *c);
  op_fetch_data(vadd->c, c);
  double difference = largest_difference(c, vadd->arrays.c, vadd->arrays.size);
  free(c);
  return difference;
}

static void vadd_end(struct cpu_case *of) {
  struct vadd_run *vadd = of->run[0];
  vadd_arrays_free(&vadd->arrays);
  free(vadd);
}

void cpu_vadd(struct cpu_case *made, const struct cpu_sizes *sizes) {
  struct vadd_run *vadd = room(1, sizeof *vadd);
  vadd->arrays = vadd_arrays_make(sizes->vector);
  vadd->elements = op_decl_set(sizes->vector, "elements");
  vadd->a = op_decl_dat(vadd->elements, 1, "double", vadd->arrays.a, "a");
  vadd->b = op_decl_dat(vadd->elements, 1, "double", vadd->arrays.b, "b");
  vadd->c = op_decl_dat(vadd->elements, 1, "double", NULL, "c");
  *made = (struct cpu_case){
      .name = "vadd",
      .bytes = 24.0 * sizes->vector,
      .run = {vadd, vadd, vadd},
      .repeat = {vadd_repeat_serial, vadd_repeat_openmp, vadd_repeat_library},
      .difference = vadd_difference,
      .end = vadd_end,
  };
}
