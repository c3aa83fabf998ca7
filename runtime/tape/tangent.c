/* Loops that carry tangents along, and the derivatives of one loop without a tape. */
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "loop/chain/queue.h"
#include "loop/loop.h"
#include "tape/tape.h"

/* A dot that nobody wrote is zero. Of globals their values say so. */
static int is_varied(struct op_context *ctx, const struct site *site, int i, bool *varied,
                     struct error *err) {
  struct thing *thing = site->things[i];
  bool zero = true;
  int code = OP_OK;
  if (thing && thing->dot && (arg_gets(&site->are[i]) || access_is_extremum(site->are[i].access)))
    code = thing_is_zero(ctx, thing->dot, &zero, err);
  *varied = !zero;
  return code;
}

static int find_active(struct op_context *ctx, struct site *site, bool *active, struct error *err) {
  bool varied[OP_MAX_ARGS] = {0};
  int code = OP_OK;
  *active = false;
  for (int i = 0; !code && i < site->nargs; i++) {
    code = is_varied(ctx, site, i, &varied[i], err);
    *active |= varied[i];
  }
  for (int i = site->nargs; !code && i < site->nargs + site->nconstants; i++) {
    bool zero = true;
    if (site->things[i] && (code = thing_is_zero(ctx, site->things[i]->dot, &zero, err)) == OP_OK && !zero) {
      site_is_active(site, i);
      *active = true;
    }
  }
  *active &= !(site->said && site->said->frozen);
  for (int i = 0; !code && *active && i < site->nargs; i++) {
    const struct thing *thing = site->things[i];
    if (thing && thing->real && (varied[i] || arg_leaves(&site->are[i])))
      site_is_active(site, i);
  }
  return code;
}

/* True if the argument leaves a constant where the loop counts as constant. */
static bool replaces(const struct loop_arg *arg) {
  return access_assigns(arg->access) || access_is_extremum(arg->access);
}

int tape_cut(struct op_context *ctx, const struct site *site, enum beside which, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < site->nargs; i++) {
    const struct thing *thing = site->things[i];
    struct thing *companion = !thing ? NULL : which == BESIDE_BAR ? thing->bar : thing->dot;
    bool zero = true;
    if (!companion || !replaces(&site->are[i]))
      continue;
    if (thing->gbl || site_overwrites(site, i))
      code = tape_put_zeros(ctx, companion, err);
    else if (!(code = thing_is_zero(ctx, companion, &zero, err)) && !zero)
      code = tape_run_zero(ctx, site, i, companion, err);
  }
  return code;
}

/* The site's loop with tangents. *ran: it ran; else nothing was active, and the loop itself has still to run. */
static int tangent_run(struct op_context *ctx, struct site *site, struct loop *loop, unsigned char *values,
                       bool *ran, struct error *err) {
  bool active = false;
  int code = queue_flush(ctx, err);
  if (!code)
    code = find_active(ctx, site, &active, err);
  site_look_at_integers(site);
  if (!code && active)
    code = derive_site(ctx, site, loop, DERIVE_TANGENT, err);
  *ran = !code && active;
  if (code)
    return code;
  return active ? tape_run_tangent(ctx, site, values, err) : tape_cut(ctx, site, BESIDE_DOT, err);
}

int tangent_loop(struct op_context *ctx, struct loop *loop, const struct loop_call *call, bool *done,
                 struct error *err) {
  struct site *site = site_of(ctx, &ctx->tapes->sites, loop, call, err);
  if (!site)
    return err->code;
  memcpy(site->are, loop->args, (size_t)loop->nargs * sizeof *site->are);
  /* Results and values are in the program's variables: the call's arguments are used as they are. */
  memcpy(site->args, call->args, (size_t)call->nargs * sizeof *site->args);
  ctx->tapes->carrying = true;
  const int code = tangent_run(ctx, site, loop, NULL, done, err);
  ctx->tapes->carrying = false;
  return code;
}

int tangent_of_event(struct op_context *ctx, struct event *event, bool *ran, struct error *err) {
  struct loop *loop = NULL;
  int code = site_loop(ctx, event->site, event_values(event), &loop, err);
  return code ? code : tangent_run(ctx, event->site, loop, event_values(event), ran, err);
}

/* ---- alone ---- */

/* All arguments are active, and the constants whose companion the program has asked for. */
static void all_active(struct site *site, enum derive_mode mode) {
  for (int i = 0; i < site->nargs + site->nconstants; i++) {
    const struct thing *thing = site->things[i];
    if (thing && thing->real && (i < site->nargs || (mode == DERIVE_TANGENT ? thing->dot : thing->bar)))
      site_is_active(site, i);
  }
}

/* It is not recorded: a tangent loop changes data, and both change companions. */
static int check_alone(const struct tape *tape, const struct loop_call *call, enum derive_mode mode,
                       struct error *err) {
  const bool tangent = mode == DERIVE_TANGENT;
  if (!tape || (!tangent && !tape->recording))
    return OP_OK;
  return error_set(err, OP_ERR_STATE, "loop %s: %s is not recorded; call it %s", call->name ? call->name : "",
                   tangent ? "op_tangent_loop, which changes data," : "op_adjoint_loop",
                   tangent ? "before op_tape_begin, or after op_tape_free" : "behind op_tape_end");
}

int tape_alone(struct op_context *ctx, const struct loop_call *call, enum derive_mode mode,
               struct error *err) {
  struct launch *launch = NULL;
  struct tapes *tapes = tapes_get(ctx, err);
  int code = tapes ? check_alone(tapes->tape, call, mode, err) : err->code;
  if (!code)
    code = loop_get_launch(ctx, call, &launch, err);
  if (code)
    return code;
  struct loop *loop = launch->loop;
  launch_put(launch);
  struct site *site = site_of(ctx, &tapes->alone, loop, call, err);
  if (!site)
    return err->code;
  memcpy(site->are, loop->args, (size_t)loop->nargs * sizeof *site->are);
  memcpy(site->args, call->args, (size_t)call->nargs * sizeof *site->args);
  all_active(site, mode);
  site_look_at_integers(site);
  if ((code = derive_site(ctx, site, loop, mode, err)))
    return code;
  return mode == DERIVE_TANGENT ? tape_run_tangent(ctx, site, NULL, err)
                                : tape_run_adjoint(ctx, site, NULL, err);
}
