/* Loops that derivatives are made of. They are the library's own: nobody records them. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "context/context.h"
#include "loop/loop.h"
#include "tape/tape.h"

int tape_run(struct op_context *ctx, const struct loop_call *call, struct error *err) {
  const bool busy = ctx->tapes->busy;
  ctx->tapes->busy = true;
  const int code = loop_run_call(ctx, call, err);
  ctx->tapes->busy = busy;
  return code;
}

int tape_run_primal(struct op_context *ctx, const struct site *site, unsigned char *values,
                    struct error *err) {
  op_arg args[OP_MAX_ARGS];
  const struct loop_call call = site_call(site, values, args);
  return tape_run(ctx, &call, err);
}

/* ---- derivatives ---- */

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

static int companion_of(struct op_context *ctx, const struct site *site, const struct derive_parameter *p,
                        op_arg *out, struct error *err) {
  struct thing *thing = site->things[p->argument], *companion = NULL;
  struct gbl *gbl = NULL;
  if (thing)
    companion = p->role == DERIVE_DOT ? thing_dot(ctx, thing, err) : thing_bar(ctx, thing, err);
  else if (out->present_)
    gbl = nowhere(ctx, &site->are[p->argument], err);
  if (err->code)
    return err->code;
  gbl = companion && companion->gbl ? companion->gbl : gbl;
  if (gbl && !thing && gbl_put(ctx, gbl, NULL, err)) /* of a variable of the program: it counts for nothing */
    return err->code;
  if (gbl)
    *out = (op_arg){.form_ = DESC_GBL, .idx_ = ARG_BY_HANDLE, .present_ = 1};
  out->dat_ = gbl ? (op_dat)(void *)gbl->handle : companion ? companion->dat->handle : NULL;
  return OP_OK;
}

/* The loop of a derived text over the set of the primal. */
static int run_derived(struct op_context *ctx, const struct site *site, const struct derived *derived,
                       unsigned char *values, struct error *err) {
  op_arg primal[OP_MAX_ARGS], args[OP_MAX_ARGS];
  struct loop_call call = site_call(site, values, primal);
  if (derived->nparameters > OP_MAX_ARGS)
    return error_set(err, OP_ERR_NARGS,
                     "the derivative of loop %s has %d arguments, and a loop has %d at most; split the loop",
                     site->name, derived->nparameters, OP_MAX_ARGS);
  for (int i = 0; i < derived->nparameters; i++) {
    const struct derive_parameter *p = &derived->parameters[i];
    if (p->role == DERIVE_ELEMENT) {
      args[i] =
          (op_arg){.form_ = DESC_IDX, .map_ = OP_ID, .idx_ = -1, .dim_ = 1, .type_ = TYPE_INT, .present_ = 1};
      continue;
    }
    args[i] = primal[p->argument];
    const int code = p->role == DERIVE_VALUE ? OP_OK : companion_of(ctx, site, p, &args[i], err);
    if (code)
      return code;
    args[i].access_ = (int)p->access;
  }
  call.text = derived->text;
  call.name = derived->name;
  call.nargs = derived->nparameters;
  call.args = args;
  return derived->nparameters ? tape_run(ctx, &call, err) : OP_OK;
}

int tape_run_adjoint(struct op_context *ctx, const struct site *site, unsigned char *values,
                     struct error *err) {
  const int code = run_derived(ctx, site, site->adjoint, values, err);
  return code ? error_prefix(err, "the adjoint of loop %s: ", site->name) : OP_OK;
}

int tape_run_tangent(struct op_context *ctx, const struct site *site, unsigned char *values,
                     struct error *err) {
  const int code = run_derived(ctx, site, site->tangent, values, err);
  return code ? error_prefix(err, "the tangent of loop %s: ", site->name) : OP_OK;
}

/* ---- small ones ---- */

static int run_text(struct op_context *ctx, struct text *text, const char *name, const struct set *set,
                    int nargs, const op_arg *args, struct error *err) {
  const struct loop_call call = {.text = text_str(text),
                                 .name = name,
                                 .set = set->handle,
                                 .nargs = nargs,
                                 .args = args,
                                 .file = "",
                                 .line = 0};
  const int code = text_ok(text) ? tape_run(ctx, &call, err) : error_memory(err, "a kernel", text->length);
  text_free(text);
  return code;
}

int tape_run_zero(struct op_context *ctx, const struct site *site, int arg, struct thing *companion,
                  struct error *err) {
  const struct loop_arg *are = &site->are[arg];
  const char *type = type_info(are->type)->name;
  const bool ragged = are->map && are->map->first, vector = are->map && are->idx < 0;
  struct text text = {0};
  text_addf(&text, "static void op2_nothing(%s%s *%sx) {\n  const %s op2_zero = {0};\n",
            ragged ? "int n, " : "", type, vector ? "*" : "", type);
  if (ragged)
    text_addf(&text, "  for (int k = 0; k < n; k++) {\n    %s *row = OP_ROW(x, k);\n", type);
  else if (vector)
    text_addf(&text, "  for (int k = 0; k < %d; k++) {\n    %s *row = x[k];\n", are->map->arity, type);
  else
    text_addf(&text, "  {\n    %s *row = x;\n", type);
  text_addf(&text, "    for (int c = 0; c < %d; c++)\n      row[c] = op2_zero;\n  }\n}\n", are->dim);
  op_arg zeroed = site->args[arg];
  zeroed.dat_ = companion->dat->handle;
  zeroed.access_ = OP_WRITE;
  return run_text(ctx, &text, "op2_nothing", site->set, 1, &zeroed, err);
}

static op_arg own(const struct dat *dat, op_access access) {
  return (op_arg){.form_ = DESC_DAT,
                  .dat_ = dat->handle,
                  .map_ = OP_ID,
                  .idx_ = -1,
                  .dim_ = dat->dim,
                  .type_ = (int)dat->type,
                  .access_ = (int)access,
                  .present_ = 1};
}

int tape_run_copy(struct op_context *ctx, struct dat *from, struct dat *to, struct error *err) {
  const char *type = type_info(from->type)->name;
  const op_arg args[] = {own(from, OP_READ), own(to, OP_WRITE)};
  struct text text = {0};
  text_addf(&text,
            "static void op2_keep(const %s *from, %s *to) {\n  for (int c = 0; c < %d; c++)\n    to[c] = "
            "from[c];\n}\n",
            type, type, from->dim);
  return run_text(ctx, &text, "op2_keep", from->set, 2, args, err);
}

int tape_run_product(struct op_context *ctx, struct dat *a, struct dat *b, double *sum, struct error *err) {
  const op_arg args[] = {own(a, OP_READ),
                         own(b, OP_READ),
                         {.form_ = DESC_GBL,
                          .data_ = sum,
                          .idx_ = -1,
                          .dim_ = 1,
                          .type_ = TYPE_DOUBLE,
                          .access_ = OP_INC,
                          .present_ = 1}};
  const char *type = type_info(a->type)->name;
  struct text text = {0};
  text_addf(
      &text,
      "static void op2_product(const %s *a, const %s *b, double *sum) {\n  for (int c = 0; c < %d; c++)\n"
      "    *sum += (double)a[c] * (double)b[c];\n}\n",
      type, type, a->dim);
  return run_text(ctx, &text, "op2_product", a->set, 3, args, err);
}
