/* Finds the element whose value a MIN or MAX left, so that its derivative is known. It cannot be found by comparing what a
 * kernel computes anew with what the loop left: rounding differs. So each element's candidates are stored, the best of those
 * is found, and stored values are compared with stored ones. Among equals the lowest number wins, and before all of them
 * the value from before the loop. Nothing of this is kept: it is done again where a derivative runs. */
#include <stdint.h>
#include <string.h>

#include "context/context.h"
#include "loop/temporary.h"
#include "mesh/subset.h"
#include "ranks/agree.h"
#include "tape/tape.h"

#define NOBODY "0x7fffffffffffffffL" /* so far */

static bool is_vector(const struct loop_arg *arg) {
  return arg->map && arg->idx < 0;
}

static int entries_of(const struct loop_arg *arg) {
  return is_vector(arg) ? arg->map->arity : 1;
}

/* The first of several arguments of one dat stands for it. */
static bool is_first(const struct site *site, int arg) {
  for (int i = 0; i < arg; i++)
    if (site->things[i] == site->things[arg] && site_seeks(site, i))
      return false;
  return site_seeks(site, arg);
}

struct dat *extremes_candidates(struct op_context *ctx, const struct site *site, int arg, struct error *err) {
  const struct loop_arg *are = &site->are[arg];
  const struct dat like = {.set = site->set->sub ? site->set->sub->parent : site->set,
                           .dim = entries_of(are) * are->dim,
                           .type = are->type};
  struct list *all = &ctx->tapes->candidates;
  int before = 0;
  for (int i = 0; i < arg; i++)
    before += site_seeks(site, i);
  for (int i = 0; i < all->count; i++) {
    struct dat *dat = all->items[i];
    if (dat->set == like.set && dat->dim == like.dim && dat->type == like.type && before-- == 0)
      return dat;
  }
  struct dat *dat = NULL;
  while (before-- >= 0 && (dat = dat_like(ctx, &like, "candidates", err)))
    if (!list_add(all, dat)) {
      dat_forget(ctx, dat);
      error_memory(err, "candidates", sizeof(void *));
      return NULL;
    }
  return dat;
}

/* ---- loops over the elements ---- */

struct seeker {
  struct op_context *ctx;
  const struct site *site;
  const op_arg *args; /* of the call */
  int arg;
  const struct thing *best, *winner;
  const struct dat *candidates;
};

static int find_best(const struct seeker *s, struct error *err) {
  const struct loop_arg *are = &s->site->are[s->arg];
  const char *type = type_info(are->type)->name, *entry = is_vector(are) ? "[k]" : "";
  const op_arg args[] = {tape_direct(s->candidates, OP_READ),
                         tape_beside(&s->args[s->arg], s->best, (op_access)are->access)};
  struct text text = {0};
  text_addf(
      &text,
      "static void op2_best(const %s *is, %s *%sbest) {\n  for (int k = 0; k < %d; k++)\n    for (int c = "
      "0; c < %d; c++)\n      if (is[k * %d + c] %s best%s[c])\n        best%s[c] = is[k * %d + c];\n}\n",
      type, type, is_vector(are) ? "*" : "", entries_of(are), are->dim, are->dim,
      are->access == OP_MIN ? "<" : ">", entry, entry, are->dim);
  return tape_run_text(s->ctx, &text, "op2_best", "the best of candidates", s->site->set, 2, args, err);
}

static int find_winner(const struct seeker *s, struct error *err) {
  const struct loop_arg *are = &s->site->are[s->arg];
  const char *type = type_info(are->type)->name, *entry = is_vector(are) ? "[k]" : "",
             *vector = is_vector(are) ? "*" : "";
  int all = 0, which = 0;
  for (int i = 0; i < s->site->nargs; i++) {
    which = i == s->arg ? all : which;
    all += site_seeks(s->site, i) ? entries_of(&s->site->are[i]) : 0;
  }
  const op_arg args[] = {
      tape_direct(s->candidates, OP_READ), tape_beside(&s->args[s->arg], s->best, OP_READ),
      tape_beside(&s->args[s->arg], s->winner, OP_MIN),
      (op_arg){.form_ = DESC_IDX, .map_ = OP_ID, .idx_ = -1, .dim_ = 1, .type_ = TYPE_INT, .present_ = 1}};
  struct text text = {0};
  text_addf(&text,
            "static void op2_wins(const %s *is, const %s *%sbest, long *%swinner, const int *e) {\n"
            "  for (int k = 0; k < %d; k++)\n    for (int c = 0; c < %d; c++) {\n"
            "      const long number = is[k * %d + c] == best%s[c] ? (long)*e * %d + %d + k : " NOBODY ";\n"
            "      if (number < winner%s[c])\n        winner%s[c] = number;\n    }\n}\n",
            type, type, vector, vector, entries_of(are), are->dim, are->dim, entry, all, which, entry, entry);
  return tape_run_text(s->ctx, &text, "op2_wins", "whose value is left", s->site->set, 4, args, err);
}

/* ---- over what they compete for ---- */

/* `head` has the parameters, with %s for the type; `does` is done with each component. */
static int on_targets(struct op_context *ctx, const struct thing *thing, const char *name, const char *head,
                      const char *does, const op_arg *args, int nargs, struct error *err) {
  const char *type = type_info(thing->dat->type)->name;
  struct text text = {0};
  text_addf(&text, "static void %s(", name);
  text_addf(&text, head, type, type);
  text_addf(&text, ") {\n  for (int c = 0; c < %d; c++) {\n    %s\n  }\n}\n", thing->dat->dim, does);
  return tape_run_text(ctx, &text, name, "whose value is left", thing->dat->set, nargs, args, err);
}

static int start_dat(struct op_context *ctx, const struct thing *thing, struct error *err) {
  const op_arg args[] = {tape_direct(thing->dat, OP_READ), tape_direct(thing->room->dat, OP_WRITE),
                         tape_direct(thing->winner->dat, OP_WRITE)};
  return on_targets(ctx, thing, "op2_starts", "const %s *start, %s *best, long *winner",
                    "best[c] = start[c];\n    winner[c] = " NOBODY ";", args, 3, err);
}

static int end_dat(struct op_context *ctx, const struct thing *thing, struct error *err) {
  const op_arg args[] = {tape_direct(thing->dat, OP_READ), tape_direct(thing->room->dat, OP_READ),
                         tape_direct(thing->winner->dat, OP_RW)};
  return on_targets(ctx, thing, "op2_leaves", "const %s *start, const %s *best, long *winner",
                    "if (best[c] == start[c] || winner[c] == " NOBODY ")\n      winner[c] = -1;", args, 3,
                    err);
}

static int start_gbl(struct op_context *ctx, struct thing *thing, struct error *err) {
  struct gbl *winner = thing->winner->gbl;
  int code = tape_need_gbl(ctx, winner, err);
  for (int c = 0; !code && c < winner->dim; c++)
    ((long long *)(void *)winner->value)[c] = INT64_MAX;
  if (!code)
    gbl_wrote(winner, SPACE_HOST);
  return code ? code : keep_copy_gbl(ctx, thing, thing->room, err);
}

static int end_gbl(struct op_context *ctx, const struct thing *thing, struct error *err) {
  struct gbl *gbl = thing->gbl, *best = thing->room->gbl, *winner = thing->winner->gbl;
  int code = tape_need_gbl(ctx, gbl, err);
  if (!code)
    code = tape_need_gbl(ctx, best, err);
  if (!code)
    code = tape_need_gbl(ctx, winner, err);
  const size_t size = type_info(gbl->type)->size;
  for (int c = 0; !code && c < gbl->dim; c++) {
    long long *who = (long long *)(void *)winner->value + c;
    const size_t at = (size_t)c * size;
    if (*who == INT64_MAX ||
        type_number(gbl->type, gbl->value + at) == type_number(gbl->type, best->value + at))
      *who = -1;
  }
  if (!code)
    gbl_wrote(winner, SPACE_HOST);
  return code;
}

/* ---- all of it ---- */

static int find_winners(struct op_context *ctx, const struct site *site, unsigned char *values,
                        struct error *err) {
  op_arg args[OP_MAX_ARGS];
  site_call(site, values, args);
  int code = tape_run_derived(ctx, site, DERIVE_CANDIDATES, values, err);
  for (int i = 0; !code && i < site->nargs; i++) {
    struct thing *thing = site->things[i];
    if (!is_first(site, i))
      continue;
    if (!thing_beside(ctx, thing, BESIDE_ROOM, err) || !thing_beside(ctx, thing, BESIDE_WINNER, err))
      return err->code;
    code = thing->dat ? start_dat(ctx, thing, err) : start_gbl(ctx, thing, err);
  }
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; !code && i < site->nargs; i++) {
      const struct thing *thing = site->things[i];
      struct seeker s = {.ctx = ctx, .site = site, .args = args, .arg = i};
      if (!site_seeks(site, i))
        continue;
      s.best = thing->room;
      s.winner = thing->winner;
      if (!(s.candidates = extremes_candidates(ctx, site, i, err)))
        return err->code;
      code = pass == 0 ? find_best(&s, err) : find_winner(&s, err);
    }
  for (int i = 0; !code && i < site->nargs; i++)
    if (is_first(site, i))
      code = site->things[i]->dat ? end_dat(ctx, site->things[i], err) : end_gbl(ctx, site->things[i], err);
  return code;
}

int extremes_find(struct op_context *ctx, const struct site *site, unsigned char *values, struct error *err) {
  if (!site_seeks_any(site))
    return OP_OK;
  for (int i = 0; ctx->tapes->carrying && ctx->tapes->tape && i < site->nargs; i++)
    if (site_seeks(site, i) && site->things[i]->gbl) {
      error_set(
          err, OP_ERR_KERNEL,
          "loop %s, argument %d: OP_MIN and OP_MAX of a global have no second derivative; use a dat on a "
          "set of one element, or freeze the kernel (op_freeze_kernel)",
          site->name, i + 1);
      return agree_on_success(ctx->agreement, err->code, err); /* on all ranks alike */
    }
  ctx->tapes->seeking = true;
  const int code = find_winners(ctx, site, values, err);
  ctx->tapes->seeking = false;
  return code;
}

static int clear_gbl(struct op_context *ctx, const struct thing *thing, struct gbl *gbl, struct error *err) {
  struct gbl *winner = thing->winner->gbl;
  int code = tape_need_gbl(ctx, gbl, err);
  if (!code)
    code = tape_need_gbl(ctx, winner, err);
  const size_t size = type_info(gbl->type)->size;
  for (int c = 0; !code && c < gbl->dim; c++)
    if (((const long long *)(void *)winner->value)[c] >= 0)
      memset(gbl->value + (size_t)c * size, 0, size);
  if (!code)
    gbl_wrote(gbl, SPACE_HOST);
  return code;
}

int extremes_clear(struct op_context *ctx, const struct site *site, enum beside which, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < site->nargs; i++) {
    struct thing *thing = site->things[i];
    const struct thing *beside = is_first(site, i) ? thing_beside(ctx, thing, which, err) : NULL;
    if (!beside)
      continue;
    if (thing->gbl) {
      code = clear_gbl(ctx, thing, beside->gbl, err);
      continue;
    }
    const op_arg args[] = {tape_direct(thing->winner->dat, OP_READ), tape_direct(beside->dat, OP_RW)};
    code = on_targets(ctx, thing, "op2_lost", "const long *winner, %s *value",
                      "if (winner[c] >= 0)\n      value[c] = 0;", args, 2, err);
  }
  return err->code;
}
