#include "context/context.h"
#include "mesh/data.h"
#include "mesh/matrix/matrix.h"
#include "record/record.h"

bool loop_fills_matrix(const struct loop *loop) {
  bool fills = false;
  for (int i = 0; i < loop->nargs; i++)
    fills |= loop->args[i].dat && loop->args[i].dat->segment && loop->args[i].dat->segment->pair.rows;
  return fills;
}

bool loop_adds_to_rows(const struct loop *loop) {
  bool adds = false;
  for (int i = 0; i < loop->nargs; i++)
    adds |= loop->args[i].dat && loop->args[i].dat->segment && !loop->args[i].dat->segment->set;
  return adds;
}

bool loop_writes_through_map(const struct loop *loop) {
  if (loop_fills_matrix(loop))
    return true;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->form == DESC_DAT && arg->present && !arg_is_own(arg) && arg->access != OP_READ)
      return true;
  }
  return false;
}

static bool has_map(const struct loop *loop) {
  for (int i = 0; i < loop->nargs; i++)
    if (!arg_is_own(&loop->args[i]) && loop->args[i].present)
      return true;
  return false;
}

static void add_part(struct loop *loop, long begin, long end) {
  loop->ready.parts[loop->ready.nparts++] = (struct loop_part){.begin = begin, .end = end};
}

/* The parts are the same whether or not a call needs messages: so are the bits of its results, and one set of
 * plans serves both. */
void loop_make_parts(struct loop *loop) {
  const long *extents = loop->set->extents;
  loop->ready.nparts = 0;
  if (!loop->set->spread || !has_map(loop))
    add_part(loop, 0, extents[EXTENT_OWNED]);
  else {
    add_part(loop, 0, extents[EXTENT_CORE]);
    add_part(loop, extents[EXTENT_CORE], extents[EXTENT_OWNED]);
  }
  loop->ready.nresults = loop->ready.nparts;
  if (loop->set->spread && loop_writes_through_map(loop))
    add_part(loop, extents[EXTENT_OWNED], extents[EXTENT_EXEC]);
  loop->stats.redundant =
      extents[EXTENT_OWNED] ? (double)(loop_end(loop) - extents[EXTENT_OWNED]) / (double)extents[EXTENT_OWNED]
                            : 0;
}
