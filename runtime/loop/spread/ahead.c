#include "loop/spread/ahead.h"

#include <stdlib.h>

#include "base/size.h"
#include "loop/loop.h"
#include "plan/depth/early.h"

/* Elements of a loop before this one run together, and so do those from it on. */
static long cut_of(const struct loop *loop) {
  return loop->ready.nresults > 1 ? loop->ready.parts[1].begin : loop->set->extents[EXTENT_OWNED];
}

/* Parts of the loop, which run from the first on, whose elements are all early. */
static int early_parts(const struct loop *loop, const unsigned char *when) {
  int p = 0;
  for (; p < loop->ready.nresults; p++)
    for (long e = loop->ready.parts[p].begin; e < loop->ready.parts[p].end; e++)
      if (when[e] != WHEN_EARLY)
        return p;
  return p;
}

int ahead_find(struct loop *const *loops, const struct tiled_description *d, const struct copies_set *sets,
               const struct depths *depths, const struct deep *deep, int segment, int *ahead,
               struct error *err) {
  const int first = depths->first[segment], n = depths->first[segment + 1] - first;
  long *cuts = array_new((size_t)n, sizeof *cuts);
  unsigned char **when = NULL;
  if (!cuts)
    return error_memory(err, "what of a chain needs no messages", (size_t)n * sizeof *cuts);
  for (int l = 0; l < n; l++)
    cuts[l] = cut_of(loops[first + l]);
  const struct early_segment one = {.end = first + n, .copies = deep_copies(deep), .cuts = cuts};
  const int code = early_find(&when, &d->chain, sets, first, &one, 1, true, err);
  for (int l = 0; !code && l < n; l++)
    ahead[first + l] = early_parts(loops[first + l], when[l]);
  early_free(when, n);
  free(cuts);
  return code;
}

bool ahead_pays(const struct turn *turn, int segment, const int *ahead) {
  const int end = turn->depths->first[segment + 1];
  int l = turn->depths->first[segment], parts = 0;
  if (!turn->waits[segment] || deep_awaits_constants(turn->deep[segment]))
    return false;
  while (l < end && turn->launches[l] != turn->waits[segment])
    l++;
  parts -= l < end && ahead[l] > 0;
  for (; l < end; l++)
    parts += ahead[l];
  return parts > 0;
}

int ahead_run(struct op_context *ctx, struct turn *turn, int segment, const int *ahead, struct error *err) {
  const int first = turn->depths->first[segment], end = turn->depths->first[segment + 1];
  struct loop_stats *s = &turn->waits[segment]->loop->stats;
  int code = OP_OK;
  for (int l = first; !code && l < end; l++)
    code = loop_run_ready_ahead(ctx, turn->launches[l], ahead[l], err);
  const double before = s->waiting_seconds;
  if (!code)
    code = turn_finish(ctx, turn, segment, err);
  s->seconds += s->waiting_seconds - before;
  for (int l = first; !code && l < end; l++)
    code = loop_run_ready(ctx, turn->launches[l], ahead[l], false, err);
  return code;
}
