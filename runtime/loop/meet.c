/* Elements that meet in what a loop writes through maps: found, and told. */
#include "loop/meet.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/code.h"
#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "loop/loop.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/sites.h"
#include "services/services.h"

bool meet_writes(const struct loop_arg *arg) {
  return arg->form == DESC_DAT && arg->present && access_assigns(arg->access);
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

/* ---- what the kernel does there ---- */

/* With the rows of a dat in which elements meet. */
enum doing {
  DOES_READ,  /* what one element leaves may count for what another one leaves, there or elsewhere */
  DOES_WRITE, /* who comes last counts */
  DOES_SAME   /* they leave the same */
};

/* Facts about the first argument of each dat that writes through a map. */
struct met {
  bool met[OP_MAX_ARGS]; /* on some rank */
  enum doing doing[OP_MAX_ARGS];
};

static enum doing doing_with(const struct loop *loop, const struct dat *dat,
                             const struct prove_fact known[]) {
  bool reads = false, same = true;
  int value = 0;
  for (int i = 0; i < loop->nargs; i++) {
    if (loop->args[i].dat != dat || !meet_writes(&loop->args[i]))
      continue;
    reads |= known[i].reads;
    same &= known[i].same && (!value || value == known[i].same);
    value = known[i].same;
  }
  return reads ? DOES_READ : same ? DOES_SAME : DOES_WRITE;
}

/* Nobody knows what a function without a text does, and in OP2 it ran: assume that it writes only. */
static enum doing doing_there(const struct loop *loop, const struct dat *dat) {
  return loop->facts.known ? doing_with(loop, dat, loop->facts.args) : loop->ranged ? DOES_WRITE : DOES_READ;
}

static int find_facts(struct op_context *ctx, struct loop *loop, struct met *facts, struct error *err) {
  double values[2 * OP_MAX_ARGS] = {0}, *met = values + OP_MAX_ARGS;
  struct error said = {0};
  loop_facts(ctx, loop, false, &said); /* the loop has its code: what is wrong was said */
  error_free(&said);
  int code = OP_OK;
  for (int i = 0; !code && i < loop->nargs; i++) {
    struct meeting found;
    if (!is_first(loop, i) || (code = meet_find(ctx, loop, &loop->args[i], &found, err)))
      continue;
    met[i] = found.first >= 0;
    values[i] = doing_there(loop, loop->args[i].dat);
  }
  code = agree_on_largest(ctx->agreement, code, values, 2 * OP_MAX_ARGS, err);
  for (int i = 0; i < loop->nargs; i++) {
    facts->met[i] = met[i] > 0;
    facts->doing[i] = (enum doing)values[i];
  }
  return code;
}

/* ---- ranks ---- */

/* More than one row, or a result beside it: there elements of other ranks may count. */
static bool writes_several(const struct loop *loop) {
  long rows = loop->ready.nreductions;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->form == DESC_DAT && arg->present && arg->access != OP_READ)
      rows += arg_is_own(arg) ? 1 : arg_most(arg);
  }
  return rows > 1;
}

/* Do other ranks run the element as well, for what it writes there? */
static bool is_split(const struct loop *loop, long e) {
  if (e >= loop->set->extents[EXTENT_OWNED])
    return true;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->form != DESC_DAT || !arg->present || arg->access == OP_READ || arg_is_own(arg))
      continue;
    for (long p = arg_begin(arg, e); p < arg_end(arg, e); p++)
      if (arg_target(arg, p) >= arg->dat->set->extents[EXTENT_OWNED])
        return true;
  }
  return false;
}

/* Call `visit` for each target of the element in the dat that it writes, until it returns true. */
static bool each_written(const struct loop *loop, const struct dat *dat, long e,
                         bool (*visit)(int *firsts, long e, long target), int *firsts, long *target) {
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->dat != dat || !meet_writes(arg))
      continue;
    for (long p = arg_begin(arg, e); p < arg_end(arg, e); p++)
      if (visit(firsts, e, *target = arg_target(arg, p)))
        return true;
  }
  return false;
}

/* `firsts` has for each target the first element that comes to it and one more, below 0 once another one came. */
static bool note(int *firsts, long e, long target) {
  if (!firsts[target])
    firsts[target] = (int)e + 1;
  else if (firsts[target] > 0 && firsts[target] != (int)e + 1)
    firsts[target] = -firsts[target];
  return false;
}

static bool was_met(int *firsts, long e, long target) {
  (void)e;
  return firsts[target] < 0;
}

static bool is_other(int *firsts, long e, long target) {
  return e != firsts[0] && target == firsts[1];
}

/* An element that several ranks run, and another one with which it meets. */
static bool find_split(const struct loop *loop, const struct dat *dat, int *firsts, struct meeting *out) {
  const long end = loop_end(loop);
  long ignored;
  for (long e = 0; e < end; e++)
    each_written(loop, dat, e, note, firsts, &ignored);
  for (long e = loop->set->extents[EXTENT_CORE]; e < end; e++)
    if (is_split(loop, e) && each_written(loop, dat, e, was_met, firsts, &out->target)) {
      int asked[2] = {(int)e, (int)out->target};
      for (out->first = 0;
           out->first < end && !each_written(loop, dat, out->first, is_other, asked, &ignored);)
        out->first++;
      out->second = e;
      return true;
    }
  return false;
}

static int refuse_split(const struct loop *loop, int i, struct error *err) {
  const struct loop_arg *arg = &loop->args[i];
  const long targets = arg->dat->set->extents[EXTENT_NONEXEC];
  struct meeting found;
  int *firsts = array_new((size_t)targets + 1, sizeof *firsts);
  if (!firsts)
    return error_memory(err, "the look for elements that several ranks run",
                        (size_t)targets * sizeof *firsts);
  const bool split = find_split(loop, arg->dat, firsts, &found);
  free(firsts);
  if (!split)
    return OP_OK;
  return error_set(err, OP_ERR_ALIAS,
                   "loop %s, argument %d (dat \"%s\", %s): elements %ld and %ld of set \"%s\" both reach "
                   "element %ld of set "
                   "\"%s\" (map \"%s\"), and several ranks run one of them, as it leaves more than that row; "
                   "the ranks' orders "
                   "differ, so no order of one process gives what they leave; let the kernel write one row "
                   "only, add to it with "
                   "OP_INC, or run the loop on one rank",
                   loop->name, i + 1, arg->dat->name, access_name(arg->access),
                   set_said(loop->set, found.first), set_said(loop->set, found.second), loop->set->name,
                   set_said(arg->dat->set, found.target), arg->dat->set->name, arg->map->name);
}

/* ---- what is said of it ---- */

/* So the program says; or it has declared something else, and was told by which reading it runs (api/op2/safe.c). */
static bool is_known(const struct loop *loop, const struct dat *dat) {
  bool known = true;
  for (int i = 0; i < loop->nargs; i++)
    if (loop->args[i].dat == dat && meet_writes(&loop->args[i]) && !arg_is_own(&loop->args[i]))
      known &= loop->key.args[i].may_meet_ || !access_assigns(loop->key.args[i].access_);
  return known;
}

/* The first argument that writes the dat without op_arg_may_meet. */
static int unsaid(const struct loop *loop, int i) {
  for (int j = i; j < loop->nargs; j++)
    if (loop->args[j].dat == loop->args[i].dat && meet_writes(&loop->args[j]) &&
        !arg_is_own(&loop->args[j]) && !loop->key.args[j].may_meet_)
      return j;
  return i;
}

static void warn(const struct op_context *ctx, const struct loop *loop, int i, const struct meeting *found,
                 enum log_level level) {
  const struct loop_arg *arg = &loop->args[i];
  /* Elements at borders run on each rank that owns one of their rows, which has an order of its own. */
  const bool split = !comm_alone(ctx->comm) && writes_several(loop);
  log_line(
      ctx->log, level, "loop",
      "loop %s, argument %d (dat \"%s\", %s): elements %ld and %ld of set \"%s\" both reach element %ld of "
      "set \"%s\" (map \"%s\"), so what is left there may depend on their order; such elements run one after "
      "the other, which takes longer%s; declare it OP_INC where the kernel only adds, or write "
      "op_arg_may_meet(...) around the argument where any order will do",
      loop->name, i + 1, arg->dat->name, access_name(loop->key.args[i].access_),
      set_said(loop->set, found->first), set_said(loop->set, found->second), loop->set->name,
      set_said(arg->dat->set, found->target), arg->dat->set->name, arg->map->name,
      split ? ", and each rank has an order of its own for the rows that it owns" : "");
}

/* The first rank that sees two such elements says it. One call may be of many loops, with other dats: it is warned of once. */
static int tell(struct op_context *ctx, const struct loop *loop, int i, struct error *err) {
  struct meeting found;
  int code = meet_find(ctx, loop, &loop->args[i], &found, err);
  const double own = found.first >= 0 ? ctx->comm->size - ctx->comm->rank : 0;
  double first = own;
  code = agree_on_largest(ctx->agreement, code, &first, 1, err);
  const enum log_level level = site_weight(ctx, loop, "meet");
  if (!code && own > 0 && own >= first)
    warn(ctx, loop, unsaid(loop, i), &found, level);
  return code;
}

/* Does the program itself declare that elements write the dat? Else it runs by another reading, of which it was warned, and
 * runs on ranks as it did in OP2. */
static bool is_declared(const struct loop *loop, const struct dat *dat) {
  bool any = false;
  for (int i = 0; i < loop->nargs; i++)
    any |= loop->args[i].dat == dat && access_assigns(loop->key.args[i].access_);
  return any;
}

int loop_tell_meetings(struct op_context *ctx, struct loop *loop, struct error *err) {
  const bool tells = loop->site && !(loop->form && loop->form->orders),
             split = !comm_alone(ctx->comm) && writes_several(loop);
  struct met facts;
  if (!loop->meets || (!tells && !split))
    return OP_OK;
  int code = find_facts(ctx, loop, &facts, err);
  for (int i = 0; !code && i < loop->nargs; i++)
    if (facts.met[i] && split && facts.doing[i] == DOES_READ && is_declared(loop, loop->args[i].dat))
      code = agree_on_success(ctx->agreement, refuse_split(loop, i, err), err);
  for (int i = 0; !code && tells && i < loop->nargs; i++)
    if (facts.met[i] && facts.doing[i] != DOES_SAME && !is_known(loop, loop->args[i].dat))
      code = tell(ctx, loop, i, err);
  return code;
}

int loop_ask(struct op_context *ctx, const struct loop *loop, const struct jit_wish *wish, struct facts *out,
             struct error *err) {
  struct jit *jit = NULL;
  bool asked = false;
  int code = context_jit(ctx, &jit, err);
  if (!code && (code = jit_facts(jit, &loop->desc, wish, out, &asked, err)))
    error_prefix(err, "loop %s: ", loop->name);
  return code;
}

int loop_facts(struct op_context *ctx, struct loop *loop, bool recalled, struct error *err) {
  const struct jit_wish wish = {.recalled = recalled};
  const bool asks = !loop->facts.known && !loop->ranged && !loop->fusion && ctx->comm->rank == 0;
  const int code = asks ? loop_ask(ctx, loop, &wish, &loop->facts, err) : OP_OK;
  loop_tell_facts(ctx, loop);
  return code;
}

static bool is_written(const struct loop_arg *arg) {
  return arg->form == DESC_DAT && arg->present && arg->access == OP_WRITE;
}

/* The program's own functions have the rows themselves; and a loop that is made of others has their arguments. */
static bool is_asked(const struct loop *loop) {
  bool any = false;
  for (int i = 0; i < loop->nargs; i++)
    any |= is_written(&loop->args[i]);
  return any && !loop->ranged && !loop->fusion && loop->backend->plan;
}

/* By the facts of the kernel; without facts nothing is proved. A run that compiles nothing takes the code that was
 * made with what was known then. Errors in the text are told by whoever makes the code. */
static int find_partial(struct op_context *ctx, struct loop *loop, bool recalled, double partial[],
                        struct error *err) {
  const bool loads = strcmp(env_value(ctx->env, ENV_JIT), "load") == 0;
  const bool early = recalled || space_is_device(loop->space) || !comm_alone(ctx->comm);
  struct error said = {0};
  int code = loop->desc.unproved ? OP_OK : loop_facts(ctx, loop, recalled, early ? &said : err);
  const bool broken = code && (!early || code == OP_ERR_VIOLATION); /* else nobody knows */
  for (int i = 0; i < loop->nargs && ctx->comm->rank == 0 && !broken; i++)
    partial[i] =
        is_written(&loop->args[i]) && (loop->facts.known ? loop->facts.args[i].partial : !loads && !recalled);
  error_free(&said);
  return agree_on_largest(ctx->agreement, early ? OP_OK : code, partial, OP_MAX_ARGS, err);
}

int loop_keep_rest(struct op_context *ctx, struct loop *loop, bool recalled, bool *changed,
                   struct error *err) {
  double partial[OP_MAX_ARGS] = {0};
  *changed = false;
  if (!is_asked(loop))
    return OP_OK;
  const int code = find_partial(ctx, loop, recalled, partial, err);
  for (int i = 0; !code && i < loop->nargs; i++) {
    if (!(partial[i] > 0))
      continue;
    log_line(
        ctx->log, LOG_INFO, "check",
        "loop %s, argument %d: it is not proved that all components of OP_WRITE are written; what was there "
        "is loaded first, as for OP_RW",
        loop->name, i + 1);
    loop->args[i].access = OP_RW;
    loop->args[i].dat->read = true;
    *changed = true;
  }
  return code;
}
