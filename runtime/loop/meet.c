/* Elements that meet in what a loop writes through maps: found, and told. */
#include "loop/meet.h"

#include <string.h>

#include "base/log.h"
#include "context/context.h"
#include "loop/loop.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/sites.h"

static const char *const access_names[] = {[OP_WRITE] = "OP_WRITE", [OP_RW] = "OP_RW"};

bool meet_writes(const struct loop_arg *arg) {
  return arg->form == DESC_DAT && arg->present && (arg->access == OP_WRITE || arg->access == OP_RW);
}

/* The first of a dat's arguments that write through a map. */
static bool is_first(const struct loop *loop, int i) {
  const struct loop_arg *arg = &loop->args[i];
  for (int j = 0; j < i; j++)
    if (loop->args[j].dat == arg->dat && meet_writes(&loop->args[j]) && !arg_is_own(&loop->args[j]))
      return false;
  return meet_writes(arg) && !arg_is_own(arg);
}

int meet_find(const struct op_context *ctx, const struct loop *loop, const struct loop_arg *of,
              struct meeting *out, struct error *err) {
  struct meeting_column columns[OP_MAX_ARGS];
  struct map *keeper = NULL;
  int count = 0;
  *out = (struct meeting){.first = -1, .second = -1, .target = -1};
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->dat != of->dat || !meet_writes(arg))
      continue;
    columns[count++] = (struct meeting_column){.map = arg->map, .idx = arg->idx, .entry = arg->entry};
    if (!keeper && !arg_is_own(arg))
      keeper = arg->map;
  }
  return keeper ? meeting_find(keeper, ctx->mesh->epoch, of->dat->set, columns, count, out, err) : OP_OK;
}

static bool writes_through_map(const struct loop *loop) {
  bool any = false;
  for (int i = 0; i < loop->nargs; i++)
    any |= is_first(loop, i);
  return any;
}

int loop_look_for_meetings(struct op_context *ctx, struct loop *loop, struct error *err) {
  double met = 0;
  int code = OP_OK;
  loop->meets = loop->forgiven;
  if (!writes_through_map(loop))
    return OP_OK;
  for (int i = 0; !code && i < loop->nargs; i++) {
    struct meeting found;
    if (!is_first(loop, i) || (code = meet_find(ctx, loop, &loop->args[i], &found, err)))
      continue;
    met += found.first >= 0;
  }
  code = agree_on_largest(ctx->agreement, code, &met, 1, err);
  loop->meets |= met > 0;
  return code;
}

/* ---- what is said of it ---- */

static long user_number(const struct set *set, long element) {
  return set->to_user ? set->to_user[element] : element;
}

static bool is_known(const struct loop *loop, const struct dat *dat) {
  bool known = true;
  for (int i = 0; i < loop->nargs; i++)
    if (loop->args[i].dat == dat && meet_writes(&loop->args[i]) && !arg_is_own(&loop->args[i]))
      known &= loop->keys[i].may_meet != 0;
  return known;
}

static void warn(const struct op_context *ctx, const struct loop *loop, int i, const struct meeting *found) {
  const struct loop_arg *arg = &loop->args[i];
  log_line(
      ctx->log, LOG_WARN, "loop",
      "loop %s, argument %d (dat \"%s\", %s): elements %ld and %ld of set \"%s\" both reach element %ld of "
      "set \"%s\" (map \"%s\"), so what is left there depends on their order; such elements run one after "
      "the other, more slowly; declare it OP_INC where the kernel only adds, or wrap the argument in "
      "op_arg_may_meet(...) where any order will do",
      loop->name, i + 1, arg->dat->name, access_names[arg->access], user_number(loop->set, found->first),
      user_number(loop->set, found->second), loop->set->name, user_number(arg->dat->set, found->target),
      arg->dat->set->name, arg->map->name);
}

/* Of ranks the first that sees some two elements. */
static int tell(struct op_context *ctx, struct loop *loop, int i, struct error *err) {
  struct meeting found;
  int code = meet_find(ctx, loop, &loop->args[i], &found, err);
  const double own = found.first >= 0 ? ctx->comm->size - ctx->comm->rank : 0;
  double first = own;
  code = agree_on_largest(ctx->agreement, code, &first, 1, err);
  if (!code && own > 0 && own >= first)
    warn(ctx, loop, i, &found);
  return code;
}

int loop_tell_meetings(struct op_context *ctx, struct loop *loop, struct error *err) {
  int code = OP_OK;
  if (!loop->meets || !loop->site || loop->site->meeting_told)
    return OP_OK;
  for (int i = 0; !code && i < loop->nargs; i++)
    if (is_first(loop, i) && !is_known(loop, loop->args[i].dat))
      code = tell(ctx, loop, i, err);
  loop->site->meeting_told = true;
  return code;
}
