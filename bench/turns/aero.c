/* Conjugate gradients of aero with and without chains, in turns (chains.py): one iteration is a step. */
#include "turns.h"

#include "common/memory.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/aero/aero.c"
#undef main

/* After so many they begin anew: on a small mesh nothing would be left to divide by. */
enum { MOST_ITERATIONS = 20 };
const double turns_limit = 1e-10;
const char *const turns_word = NULL;
static struct aero flow;

long long turns_prepare(int size, int library) {
  (void)library;
  struct aero_mesh mesh = aero_mesh_make(size);
  double *phi = aero_start(&mesh);
  const int nodes = mesh.nodes;
  op_decl_const("mach2", 1, "double", &mach2);
  op_decl_const("gm1", 1, "double", &gm1);
  op_decl_const("amplitude", 1, "double", &amplitude);
  flow = declare(&mesh, phi);
  free(phi);
  aero_mesh_free(&mesh);
  return nodes;
}

double turns_library(int steps, double *answer) {
  double seconds = 0;
  for (int done = 0; done < steps;) {
    linearise(&flow);
    const int end = done + MOST_ITERATIONS < steps ? done + MOST_ITERATIONS : steps;
    const double begin = turns_seconds();
    for (; done < end; done++)
      iterate_gradient(&flow);
    op_barrier(); /* runs what waits */
    seconds += turns_seconds() - begin;
  }
  op_fetch_data(flow.u, answer);
  return seconds / steps;
}
