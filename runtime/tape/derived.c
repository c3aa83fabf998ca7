/* A loop's tangent and its adjoint as loops: their arguments, and what extrema need before and behind them. */
#include "context/context.h"
#include "tape/tape.h"

/* A global that is read by value is not the program's to see again. */
static struct gbl *nowhere(struct op_context *ctx, const struct loop_arg *like, struct error *err) {
  const struct list *all = &ctx->tapes->nowhere;
  for (int i = 0; i < all->count; i++) {
    struct gbl *gbl = all->items[i];
    if (gbl->dim == like->dim && gbl->type == like->type)
      return gbl;
  }
  struct gbl *gbl = gbl_new(ctx, like->dim, type_info(like->type)->name, NULL, "no bar", err);
  if (gbl && !list_add(&ctx->tapes->nowhere, gbl))
    error_memory(err, "a bar", gbl->bytes);
  return err->code ? NULL : gbl;
}

static enum beside beside_of(enum derive_role role) {
  return role == DERIVE_DOT ? BESIDE_DOT : role == DERIVE_BAR ? BESIDE_BAR : BESIDE_WINNER;
}

static int argument_of(struct op_context *ctx, const struct site *site, const op_arg *primal,
                       const struct derive_parameter *p, op_arg *out, struct error *err) {
  const bool of_argument = p->argument >= 0;
  struct thing *thing = of_argument        ? site->things[p->argument]
                        : p->constant >= 0 ? site->things[site->nargs + p->constant]
                                           : NULL;
  if (p->role == DERIVE_ELEMENT) {
    *out =
        (op_arg){.form_ = DESC_IDX, .map_ = OP_ID, .idx_ = -1, .dim_ = 1, .type_ = TYPE_INT, .present_ = 1};
    return OP_OK;
  }
  if (p->role == DERIVE_CANDIDATE) {
    const struct dat *dat = extremes_candidates(ctx, site, p->argument, err);
    if (dat)
      *out = tape_direct(dat, OP_WRITE);
    return err->code;
  }
  *out = of_argument ? primal[p->argument] : (op_arg){.present_ = 1};
  out->access_ = (int)p->access;
  if (p->role == DERIVE_VALUE)
    return OP_OK;
  if (thing) {
    const struct thing *beside = thing_beside(ctx, thing, beside_of(p->role), err);
    if (beside)
      *out = tape_beside(out, beside, (op_access)p->access);
    /* Structs cannot be added up where elements meet. A row of one element's own is as well read and written. */
    if (p->access == OP_INC && thing->dat && type_is_struct(thing->dat->type) &&
        arg_is_direct(&site->are[p->argument]))
      out->access_ = OP_RW;
    return err->code;
  }
  if (!out->present_) {
    out->dat_ = NULL;
    return OP_OK;
  }
  struct gbl *gbl = nowhere(ctx, &site->are[p->argument], err);
  if (!gbl || gbl_put(ctx, gbl, NULL, err)) /* of a variable of the program: it counts for nothing */
    return err->code;
  *out = tape_by_handle(gbl, (op_access)p->access);
  return OP_OK;
}

int tape_run_derived(struct op_context *ctx, const struct site *site, enum derive_mode mode,
                     unsigned char *values, struct error *err) {
  const struct derived *derived = &site->made[mode];
  op_arg primal[OP_MAX_ARGS], args[OP_MAX_ARGS];
  struct loop_call call = site_call(site, values, primal);
  if (derived->nparameters > OP_MAX_ARGS)
    return error_set(err, OP_ERR_NARGS,
                     "the derivative of loop %s has %d arguments, and a loop has %d at most; split the loop",
                     site->name, derived->nparameters, OP_MAX_ARGS);
  for (int i = 0; i < derived->nparameters; i++)
    if (argument_of(ctx, site, primal, &derived->parameters[i], &args[i], err))
      return err->code;
  call.text = derived->text;
  call.name = derived->name;
  call.told = site->told[mode];
  call.nargs = derived->nparameters;
  call.args = args;
  return derived->nparameters ? tape_run(ctx, &call, err) : OP_OK;
}

int tape_run_adjoint(struct op_context *ctx, const struct site *site, unsigned char *values,
                     struct error *err) {
  int code = extremes_find(ctx, site, values, err);
  if (!code)
    code = tape_run_derived(ctx, site, DERIVE_ADJOINT, values, err);
  if (!code)
    code = extremes_clear(ctx, site, BESIDE_BAR, err);
  return code ? error_prefix(err, "the adjoint of loop %s: ", site->name) : OP_OK;
}

int tape_run_tangent(struct op_context *ctx, const struct site *site, unsigned char *values,
                     struct error *err) {
  int code = extremes_find(ctx, site, values, err);
  if (!code)
    code = extremes_clear(ctx, site, BESIDE_DOT, err);
  if (!code)
    code = tape_run_derived(ctx, site, DERIVE_TANGENT, values, err);
  return code ? error_prefix(err, "the tangent of loop %s: ", site->name) : OP_OK;
}
