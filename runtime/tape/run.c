/* Small loops of the library's own, and how any of its loops runs: recorded only where a tape records tangents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "loop/loop.h"
#include "tape/tape.h"

int tape_run(struct op_context *ctx, const struct loop_call *call, struct error *err) {
  struct tapes *tapes = ctx->tapes;
  const bool busy = tapes->busy;
  tapes->busy = busy || !tapes->carrying || !tapes->tape;
  const int code = loop_run_call(ctx, call, err);
  tapes->busy = busy;
  return code;
}

int tape_run_primal(struct op_context *ctx, const struct site *site, unsigned char *values,
                    struct error *err) {
  op_arg args[OP_MAX_ARGS];
  const struct loop_call call = site_call(site, values, args);
  return tape_run(ctx, &call, err);
}

/* ---- arguments ---- */

op_arg tape_direct(const struct dat *dat, op_access access) {
  return (op_arg){.form_ = DESC_DAT,
                  .dat_ = dat->handle,
                  .map_ = OP_ID,
                  .idx_ = -1,
                  .dim_ = dat->dim,
                  .type_ = (int)dat->type,
                  .access_ = (int)access,
                  .present_ = 1};
}

op_arg tape_by_handle(const struct gbl *gbl, op_access access) {
  return (op_arg){.form_ = DESC_GBL,
                  .dat_ = (op_dat)(void *)gbl->handle,
                  .idx_ = ARG_BY_HANDLE,
                  .access_ = (int)access,
                  .present_ = 1};
}

op_arg tape_beside(const op_arg *arg, const struct thing *beside, op_access access) {
  if (beside->gbl)
    return tape_by_handle(beside->gbl, access);
  op_arg out = *arg;
  out.dat_ = beside->dat->handle;
  out.type_ = (int)beside->dat->type;
  out.access_ = (int)access;
  return out;
}

/* ---- small loops ---- */

int tape_run_text(struct op_context *ctx, struct text *text, const char *name, const char *told,
                  const struct set *set, int nargs, const op_arg *args, struct error *err) {
  const struct loop_call call = {.text = text_str(text),
                                 .name = name,
                                 .told = told,
                                 .set = set->handle,
                                 .nargs = nargs,
                                 .args = args,
                                 .file = "",
                                 .line = 0};
  const int code = text_ok(text) ? tape_run(ctx, &call, err) : error_memory(err, "a kernel", text->length);
  text_free(text);
  return code;
}

int tape_run_zero(struct op_context *ctx, const struct site *site, int arg, const struct thing *companion,
                  struct error *err) {
  const struct loop_arg *are = &site->are[arg];
  const char *type = type_info(are->type)->name;
  const bool ragged = are->map && are->map->first, vector = are->map && are->idx < 0;
  struct text text = {0};
  text_addf(&text, "%s\nstatic void op2_nothing(%s%s *%sx) {\n  const %s op2_zero = {0};\n",
            site_text_with(ctx->tapes, are->type), ragged ? "int n, " : "", type, vector ? "*" : "", type);
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
  zeroed.may_meet_ = access_is_extremum(are->access); /* in zeros */
  return tape_run_text(ctx, &text, "op2_nothing", "bars to zero", site->set, 1, &zeroed, err);
}

int tape_run_copy(struct op_context *ctx, struct dat *from, struct dat *to, struct error *err) {
  const char *type = type_info(from->type)->name;
  const op_arg args[] = {tape_direct(from, OP_READ), tape_direct(to, OP_WRITE)};
  struct text text = {0};
  text_addf(&text,
            "%s\nstatic void op2_keep(const %s *from, %s *to) {\n  for (int c = 0; c < %d; c++)\n    to[c] = "
            "from[c];\n}\n",
            site_text_with(ctx->tapes, from->type), type, type, from->dim);
  return tape_run_text(ctx, &text, "op2_keep", "old values to keep", from->set, 2, args, err);
}

/* A line for each real number of a value: %s and the path to it. */
static void put_reals(struct text *text, enum type_code type, const char *path) {
  const struct type_info *info = type_info(type);
  char member[256];
  for (int m = 0; m < info->nmembers; m++) {
    const struct type_member *is = &info->members[m];
    const size_t count = type_is_real(is->type) ? is->size / type_info(is->type)->size : 0;
    for (size_t i = 0; i < count; i++) {
      snprintf(member, sizeof member, count > 1 ? "%s.%s[%zu]" : "%s.%s", path, is->name, i);
      put_reals(text, is->type, member);
    }
  }
  if (!info->nmembers)
    text_addf(text,
              "    sums[0] += ((double)a[c]%s - b[c]%s) * ((double)a[c]%s - b[c]%s); sums[1] += "
              "(double)a[c]%s * a[c]%s;\n",
              path, path, path, path, path, path);
}

int tape_run_differences(struct op_context *ctx, struct dat *a, struct dat *b, double sums[2],
                         struct error *err) {
  const op_arg args[] = {tape_direct(a, OP_READ),
                         tape_direct(b, OP_READ),
                         {.form_ = DESC_GBL,
                          .data_ = sums,
                          .idx_ = -1,
                          .dim_ = 2,
                          .type_ = TYPE_DOUBLE,
                          .access_ = OP_INC,
                          .present_ = 1}};
  const char *type = type_info(a->type)->name;
  struct text text = {0};
  text_addf(&text,
            "%s\nstatic void op2_differs(const %s *a, const %s *b, double *sums) {\n  for (int c = 0; c < "
            "%d; c++) {\n",
            site_text_with(ctx->tapes, a->type), type, type, a->dim);
  put_reals(&text, a->type, "");
  text_add(&text, "  }\n}\n");
  return tape_run_text(ctx, &text, "op2_differs", "change of a bar in a round", a->set, 3, args, err);
}
