#include "derive.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/api.h"
#include "context/context.h"
#include "jit/derivatives.h"
#include "record/record.h"

enum { TIMES = 20 };

/* The first time the compiler starts, which does not count. */
static double time_one(struct plugin *plugin, const struct loop *loop, enum derive_mode mode) {
  const struct derive_source source = {.plugin = plugin};
  bool active[OP_MAX_ARGS];
  const struct derive_wish wish = {.mode = mode, .active = active};
  clock_t start = 0;
  for (int i = 0; i < OP_MAX_ARGS; i++)
    active[i] = true;
  for (int t = -1; t < TIMES; t++) {
    struct derived derived;
    struct error err = {0};
    start = t ? start : clock();
    if (derive_kernel(&source, &loop->desc, &wish, &derived, &err))
      fprintf(stderr, "%s\n", error_message(&err));
    derived_free(&derived);
    error_free(&err);
  }
  return (double)(clock() - start) / CLOCKS_PER_SEC / TIMES;
}

/* A derivative, or the library's own? */
static bool is_made(const struct loop *loop) {
  return strchr(loop->name, ' ') || strncmp(loop->key.name, "op2", 3) == 0;
}

double slowest_to_derive(const char **loop) {
  const struct loop_table *all = api_context()->loops;
  struct plugin plugin = {0};
  double most = 0;
  *loop = "";
  for (size_t b = 0; b < all->nbuckets; b++)
    for (const struct loop *one = all->buckets[b]; one; one = one->next)
      for (enum derive_mode mode = DERIVE_TANGENT; !is_made(one) && mode <= DERIVE_ADJOINT; mode++) {
        const double seconds = time_one(&plugin, one, mode);
        *loop = seconds > most ? one->name : *loop;
        most = seconds > most ? seconds : most;
      }
  plugin_free(&plugin);
  return most;
}
