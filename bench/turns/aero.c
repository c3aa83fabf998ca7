/* Conjugate gradients of aero in turns: one iteration is a step. With PARTS what the
 * sample does in one kernel, advance, are the three loops that a library of vectors would have. */
#include "turns.h"

#define AERO_SAMPLE
#include "common/memory.h"
#include "common/report.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/aero/aero.c"
#undef main

#include "compare/aero/twin.h"

#ifdef PARTS
static const char axpy_text[] =
    OP_KERNEL(void axpy(const double *x, double *y, const double *alpha) { *y += *alpha * *x; });
static const char subtract_text[] = OP_KERNEL(void subtract(double *x, double *y, const double *alpha) {
  *y -= *alpha * *x;
  *x = 0;
});
static const char norm_text[] = OP_KERNEL(void norm(const double *x, double *sum) { *sum += *x * *x; });

#define KERNELS "../../samples/aero/aero_kernels.h"

static double iterate_parts(const struct aero *a) {
  double rr;
  op_par_loop(OP_KERNEL_FILE(KERNELS, multiply), "multiply", a->cells,
              op_arg_dat(a->k, -1, OP_ID, 16, "double", OP_READ), corners(a, a->p, 1, OP_READ),
              corners(a, a->v, 1, OP_INC));
  fix_boundary(a, a->v);
  op_par_loop(OP_KERNEL_FILE(KERNELS, product), "product", a->nodes, own(a->p, OP_READ), own(a->v, OP_READ),
              op_arg_global(a->pv, OP_INC));
  op_par_loop(OP_KERNEL_FILE(KERNELS, find_alpha), "find_alpha", a->one, op_arg_global(a->rr, OP_READ),
              op_arg_global(a->pv, OP_RW), op_arg_global(a->alpha, OP_WRITE));
  op_par_loop(axpy_text, "axpy", a->nodes, own(a->p, OP_READ), own(a->u, OP_RW),
              op_arg_global(a->alpha, OP_READ));
  op_par_loop(subtract_text, "subtract", a->nodes, own(a->v, OP_RW), own(a->r, OP_RW),
              op_arg_global(a->alpha, OP_READ));
  op_par_loop(norm_text, "norm", a->nodes, own(a->r, OP_READ), op_arg_global(a->next, OP_INC));
  op_par_loop(OP_KERNEL_FILE(KERNELS, find_beta), "find_beta", a->one, op_arg_global(a->rr, OP_RW),
              op_arg_global(a->next, OP_RW), op_arg_global(a->beta, OP_WRITE));
  op_get_gbl(a->rr, &rr); /* the next loop can wait for the next iteration */
  op_par_loop(OP_KERNEL_FILE(KERNELS, turn), "turn", a->nodes, own(a->r, OP_READ), own(a->p, OP_RW),
              op_arg_global(a->beta, OP_READ));
  return rr;
}
#define iterate_gradient iterate_parts
#endif

/* After so many they begin anew: on a small mesh nothing would be left to divide by. */
enum { MOST_ITERATIONS = 20 };
const double turns_limit = 1e-10;
const char *const turns_word = NULL;
static struct aero flow;
static struct aero_mesh mesh;
static double *phi;

long long turns_prepare(int size, int library) {
  mesh = aero_mesh_make(size);
  phi = aero_start(&mesh);
  turns_bytes = mesh.cells * (16 * 8.0 + 16) + mesh.nodes * (8 + 16 + 16 + 56 + 24.0);
  if (library) {
    op_decl_const("mach2", 1, "double", &mach2);
    op_decl_const("gm1", 1, "double", &gm1);
    op_decl_const("amplitude", 1, "double", &amplitude);
    flow = declare(&mesh, phi, 0);
  }
  return mesh.nodes;
}

static double by_colours(int steps, double *answer) {
  return aero_twin_iterations(&mesh, phi, steps, MOST_ITERATIONS, AERO_COLOURS, answer);
}
static double by_owners(int steps, double *answer) {
  return aero_twin_iterations(&mesh, phi, steps, MOST_ITERATIONS, AERO_OWNERS, answer);
}
static double by_atomics(int steps, double *answer) {
  return aero_twin_iterations(&mesh, phi, steps, MOST_ITERATIONS, AERO_ATOMICS, answer);
}

const struct turns_form turns_forms[] = {
    {"colours", by_colours}, {"owners", by_owners}, {"atomics", by_atomics}, {NULL, NULL}};

double turns_library(int steps, double *answer) {
  double seconds = 0;
  for (int done = 0; done < steps;) {
    linearise(&flow);
    const int end = done + MOST_ITERATIONS < steps ? done + MOST_ITERATIONS : steps;
    const double begin = clock_seconds();
    for (; done < end; done++)
      iterate_gradient(&flow);
    op_barrier(); /* runs what waits */
    seconds += clock_seconds() - begin;
  }
  op_fetch_data(flow.u, answer);
  return seconds / steps;
}
