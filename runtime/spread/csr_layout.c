#include "spread/coo.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/halo.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/parts/mail.h"

static long long user_number(const struct set *set, long element) {
  return set->spread ? set->spread->numbers[element] : set->to_user ? set->to_user[element] : element;
}

/* Owners tell them to those that have copies. */
static int find_copies(struct op_context *ctx, const struct set *set, struct set_layout *layout,
                       struct error *err) {
  const struct distribution *d = set->spread;
  const long owned = set->extents[EXTENT_OWNED], all = set->extents[EXTENT_NONEXEC];
  long long *numbers = array_new((size_t)all, sizeof *numbers);
  int code = agree_on_success(ctx->agreement, numbers ? OP_OK : error_memory(err, "a set's layout", 0), err);
  ctx->comm->where = set->name;
  if (!code)
    code = ctx->comm->table->scan_before(ctx->comm, owned, &layout->first, err);
  for (long e = 0; !code && e < owned; e++)
    numbers[e] = layout->first + e;
  if (!code)
    code = carry_rows(ctx->comm, &d->exec.send, &d->exec.receive, sizeof *numbers, numbers, numbers, err);
  if (!code)
    code =
        carry_rows(ctx->comm, &d->nonexec.send, &d->nonexec.receive, sizeof *numbers, numbers, numbers, err);
  if (!code && all > owned)
    memcpy(layout->copies, numbers + owned, (size_t)(all - owned) * sizeof *numbers);
  free(numbers);
  return code;
}

int layout_make(struct op_context *ctx, struct set *set, struct error *err) {
  int code = OP_OK;
  if (set->layout && set->layout->epoch == ctx->mesh->epoch)
    return OP_OK;
  set_layout_free(set->layout);
  set->layout = NULL;
  const long owned = set->extents[EXTENT_OWNED], all = set->extents[EXTENT_NONEXEC];
  struct set_layout *layout = calloc(1, sizeof *layout);
  if (layout)
    *layout = (struct set_layout){.epoch = ctx->mesh->epoch,
                                  .copies = array_new((size_t)(all - owned), sizeof *layout->copies),
                                  .users = array_new((size_t)owned, sizeof *layout->users)};
  if (!layout || !layout->copies || !layout->users)
    code = error_memory_of(err, "the layout of set", set->name, (size_t)all * sizeof *layout->users);
  code = agree_on_success(ctx->agreement, code, err);
  for (long e = 0; !code && e < owned; e++)
    layout->users[e] = user_number(set, e);
  if (!code && set->spread)
    code = find_copies(ctx, set, layout, err);
  if (code)
    set_layout_free(layout);
  else
    set->layout = layout;
  return code;
}
