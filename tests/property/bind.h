/* A kernel with the sets, maps, data and globals that it runs on. */
#ifndef OP2JIT_TESTS_BIND_H
#define OP2JIT_TESTS_BIND_H

#include "coverage.h"
#include "world.h"

struct binding {
  const struct kernel *kernel;
  const char *text;
  int set, subset; /* -1: all elements */
  bool present[MAX_PARAMS];
  int ragged[MAX_RAGGED];                                 /* numbers in the world, -1 */
  int map[MAX_PARAMS], dat[MAX_PARAMS], kept[MAX_PARAMS]; /* numbers in the world, -1 */
  /* Globals and infos: the model's and the library's. */
  unsigned char model[MAX_PARAMS][MAX_DIM * 8], library[MAX_PARAMS][MAX_DIM * 8];
};

/* False if the world has no more room. */
bool binding_make(struct binding *b, struct world *w, const struct kernel *k, const char *text,
                  const struct coverage *c);
/* Other values for the globals that the kernel only reads. */
void binding_new_values(struct binding *b, struct world *w);
/* Run it in the model and in the library, and compare the globals. False: world.failure says what is wrong. */
bool binding_run(struct binding *b, struct world *w, struct coverage *c);

#endif
