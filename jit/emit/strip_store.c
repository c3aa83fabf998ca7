/* Out of lanes: what a strip makes of data. */
#include <stdio.h>

#include "jit/emit/skeleton.h"
#include "jit/emit/strip.h"
#include "jit/emit/strip_lanes.h"

/* Lanes whose results can leave as one vector. Increments by several columns may meet on a target, and are added in the
 * order of elements. */
static bool leaves_at_once(const struct generator *g, const struct desc_arg *a) {
  return lanes_follow_in_memory(g, a) && (a->map < 0 || a->entry || !access_reduces(a->access) ||
                                          (!arg_is_vector(a) && arg_is_alone(g->d, a)));
}

static bool is_stored(const struct desc_arg *a) {
  return a->present && a->form == DESC_DAT && a->access != OP_READ && !a->dropped;
}

/* One target's part of op2_r3: its rows, or its columns of single components. */
static int result_part(const struct generator *g, const struct desc_arg *a) {
  return dat_is_apart(g->d, a->dat) ? a->dim * g->s->width : lanes_row(a->dim, g->s->width) * g->s->width;
}

void put_results(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  put(g, "%s op2_r%d[%d] __attribute__((aligned(64)));", word_type(g, a->type), arg,
      arg_columns(g->d, a) * result_part(g, a));
}

static void put_turned(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  int n = arg_columns(g->d, a), width = g->s->width;
  char name[32];
  if (lanes_follow_in_memory(g, a) || lanes_turned(g, a) == 1 || access_is_extremum(a->access))
    return;
  lanes_name(a->type, lanes_turned(g, a), name, sizeof name);
  if (stage_of(g, a) != STAGE_BEFORE)
    put_results(g, arg);
  for (int v = 0; v < n; v++)
    put(g, "op2_turn_%s(op2_r%d + %d, op2_l%d + %d);", name, arg, v * result_part(g, a), arg,
        v * a->dim * width);
}

static void put_contiguous_store(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  int width = g->s->width;
  for (int v = 0; v < arg_columns(g->d, a); v++)
    for (int c = 0; c < a->dim; c++) {
      const int from = (v * a->dim + c) * width;
      char where[160];
      lane_address(g, a, arg_column(a, v), c, "0", where, sizeof where);
      if (!access_reduces(a->access) || a->fresh) {
        put(g, "__builtin_memcpy(%s, op2_l%d + %d, sizeof(%s) * %d);", where, arg, from,
            word_type(g, a->type), width);
        continue;
      }
      put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", width);
      lane_address(g, a, arg_column(a, v), c, "op2_l", where, sizeof where);
      if (a->access == OP_INC)
        put(g, "*(%s) += op2_l%d[%d + op2_l];", where, arg, from);
      else
        put(g, "op2_better%d(%s, op2_b%d[%d + op2_l], op2_l%d[%d + op2_l]);", arg, where, arg, from, arg,
            from);
      put_close(g);
    }
}

/* Where one component of a lane's results goes. */
static void put_place(const struct generator *g, const struct desc_arg *a, int v, int c, const char *lane,
                      char *out, size_t size) {
  char element[64];
  if (access_is_extremum(a->access) && !dat_is_apart(g->d, a->dat) && a->dim > 1) {
    lane_target(g, a, arg_column(a, v), lane, element, sizeof element);
    snprintf(out, size, "op2_d%d + %s * %d + %d", a->dat, element, rows_step(g->d, a), c);
  } else {
    lane_address(g, a, arg_column(a, v), c, lane, out, size);
  }
}

void put_lane_store(struct generator *g, int arg, int lane) {
  const struct desc_arg *a = &g->d->args[arg];
  int width = g->s->width;
  char number[16], name[32], where[160];
  snprintf(number, sizeof number, "%d", lane);
  lanes_name(a->type, lanes_turned(g, a), name, sizeof name);
  const bool adds = a->access == OP_INC && !a->fresh;
  for (int v = 0; v < arg_columns(g->d, a); v++) {
    if (lanes_turned(g, a) > 1) {
      lane_address(g, a, arg_column(a, v), 0, number, where, sizeof where);
      put(g, "op2_%s_%s(%s, op2_r%d + %d);", adds ? "add" : "put", name, where, arg,
          v * result_part(g, a) + lane * lanes_row(a->dim, width));
      continue;
    }
    for (int c = 0; c < a->dim; c++) {
      put_place(g, a, v, c, number, where, sizeof where);
      put(g, "*(%s) %s op2_l%d[%d];", where, adds ? "+=" : "=", arg, (v * a->dim + c) * width + lane);
    }
  }
}

static void put_rows_store(struct generator *g, int arg) {
  for (int l = 0; l < g->s->width; l++)
    put_lane_store(g, arg, l);
}

static bool is_kept_by_lane(const struct generator *g, const struct desc_arg *a) {
  return is_stored(a) && !leaves_at_once(g, a) && !is_streamed(g, a) && stage_of(g, a) != STAGE_BEFORE;
}

/* A loop: a comparison for each component of each lane was most of the code. */
static void put_lane_extrema(struct generator *g) {
  const int width = g->s->width;
  char where[160];
  bool any = false;
  for (int i = 0; i < g->d->nargs; i++)
    any |= is_kept_by_lane(g, &g->d->args[i]) && access_is_extremum(g->d->args[i].access);
  if (!any)
    return;
  put(g, "#pragma clang loop vectorize(disable) interleave(disable) unroll(disable)");
  put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", width);
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *a = &g->d->args[i];
    if (!is_kept_by_lane(g, a) || !access_is_extremum(a->access))
      continue;
    for (int v = 0; v < arg_columns(g->d, a); v++)
      for (int c = 0; c < a->dim; c++) {
        const int from = (v * a->dim + c) * width;
        put_place(g, a, v, c, "op2_l", where, sizeof where);
        put(g, "op2_better%d(%s, op2_b%d[%d + op2_l], op2_l%d[%d + op2_l]);", i, where, i, from, i, from);
      }
  }
  put_close(g);
}

/* Element after element, so that lanes which meet on a target add to it in the order of elements. */
void put_stores(struct generator *g) {
  for (int i = 0; i < g->d->nargs; i++)
    if (is_stored(&g->d->args[i]) && !arg_is_loaded(&g->d->args[i]) &&
        stage_of(g, &g->d->args[i]) != STAGE_BEFORE)
      put_arg_entries(g, i);
  for (int i = 0; i < g->d->nargs; i++)
    if (is_stored(&g->d->args[i]))
      put_turned(g, i);
  for (int i = 0; i < g->d->nargs; i++)
    if (is_stored(&g->d->args[i]) && is_streamed(g, &g->d->args[i]))
      put_streamed_store(g, i, leaves_at_once(g, &g->d->args[i]) ? put_contiguous_store : put_rows_store);
    else if (is_stored(&g->d->args[i]) && leaves_at_once(g, &g->d->args[i]))
      put_contiguous_store(g, i);
  for (int l = 0; l < g->s->width; l++)
    for (int i = 0; i < g->d->nargs; i++)
      if (is_kept_by_lane(g, &g->d->args[i]) && !access_is_extremum(g->d->args[i].access))
        put_lane_store(g, i, l);
  put_lane_extrema(g);
}
