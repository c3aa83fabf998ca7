/* ./dev bench cuda: what is measured. A case is one piece of work, done by the library and by hand in several
 * forms, on the same data; a contender is one of those. */
#ifndef BENCH_CUDA_CASES_H
#define BENCH_CUDA_CASES_H

#include <stdbool.h>

#include "gpu.h"

struct airfoil_mesh;

struct contender {
  const char *name;
  void *run;
  /* One repetition, complete when it returns: a number that all contenders must agree on. */
  double (*repeat)(void *run);
  void (*end)(void *run);
};

enum { MOST_CONTENDERS = 5 };
struct bare_case {
  char name[64];
  int count;
  struct contender contenders[MOST_CONTENDERS]; /* the library first; the plain form by hand second */
};

/* An n x n grid of nodes; an edge from each node to each of its neighbours. */
struct jac_mesh {
  int nodes, edges;
  int *ends;     /* edges x 2 */
  double *a, *r; /* of edges, of nodes */
};
struct jac_mesh jac_mesh_make(int n);
void jac_mesh_free(struct jac_mesh *mesh);

/* library.c, between op_init and op_exit. */
struct contender library_airfoil(const struct airfoil_mesh *mesh, bool single_precision);
struct contender library_jac(const struct jac_mesh *mesh, bool single_precision);
struct contender library_stream(int size, bool single_precision);

/* loops.c: the library's own view. Wait for the GPU. */
void library_wait(void);
/* The kernels of one loop as it runs now, without the host's part, by events around many launches. What they
 * compute meanwhile is of no use: the library's run is over. */
struct loop_figure {
  char name[64], variant[64];
  double seconds, bytes; /* of one run; that it must move at least */
  int registers, spilled;
};
enum { MOST_LOOPS = 16 };
int library_loops(struct loop_figure out[MOST_LOOPS]);

/* twins.c: atomic or coloured additions, rows or components apart. */
struct twin_form {
  bool single_precision, apart, coloured;
};
const char *twin_name(struct twin_form form);
struct contender twin_airfoil(struct bare *g, const struct airfoil_mesh *mesh, struct twin_form form);
struct contender twin_jac(struct bare *g, const struct jac_mesh *mesh, struct twin_form form);
struct contender twin_stream(struct bare *g, int size, struct twin_form form);

#endif
