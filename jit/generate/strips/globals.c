/* What a strip makes of globals: sums and extrema of each lane, and which element an extremum belongs to. */
#include "jit/generate/strips/strip.h"

static void put_lane_decision(struct generator *g, int arg) {
  char element[64];
  lane_element(g, "op2_l", element, sizeof element);
  put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", g->s->width);
  /* op2_e is the list's name outside. */
  put(g, "const long op2_lane = %s;", element);
  put(g, "const long op2_e = op2_lane;");
  for (int p = 0; p < g->d->nargs; p++) {
    const struct desc_arg *a = &g->d->args[p];
    if (p != arg && !(a->form == DESC_INFO && a->ref == arg))
      continue;
    put(g, "%s op2_a%d[%d];", word_type(g, a->type), p, a->dim);
    put_components(g, a->dim, "op2_a%d[#] = op2_l%d[# * %d + op2_l];", p, p, g->s->width);
  }
  put_extremum_decision(g, arg);
  put_close(g);
}

/* Most strips hold nothing that could win; one comparison of all lanes says so. */
void put_decisions(struct generator *g) {
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *a = &g->d->args[i];
    if (!arg_is_extremum_with_info(a))
      continue;
    put(g, "int op2_any%d = 0;", i);
    put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", g->s->width);
    put(g, "op2_any%d |= !(op2_l%d[op2_l] %c *op2_g%d);", i, i, a->access == OP_MAX ? '<' : '>', i);
    put_close(g);
    put_open(g, "if (op2_any%d)", i);
    put_lane_decision(g, i);
    put_close(g);
  }
}

/* Sums: per lane, or in the order of elements where the order may not change. */
static bool keeps_order(const struct generator *g) {
  return g->d->fp[0] == 's' || desc_reproduces(g->d);
}

void put_sums(struct generator *g) {
  int width = g->s->width;
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *a = &g->d->args[i];
    if (!arg_is_accumulated(a) || a->access != OP_INC)
      continue;
    put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", width);
    if (keeps_order(g))
      put_components(g, a->dim, "op2_a%d[#] += op2_l%d[# * %d + op2_l];", i, i, width);
    else
      put_components(g, a->dim, "op2_k%d[# * %d + op2_l] += op2_l%d[# * %d + op2_l];", i, width, i, width);
    put_close(g);
  }
}

void put_lane_accumulators(struct generator *g) {
  int width = g->s->width;
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *a = &g->d->args[i];
    if (!arg_is_accumulated(a) || (a->access == OP_INC && keeps_order(g)))
      continue;
    put(g, "%s op2_k%d[%d] __attribute__((aligned(64)));", word_type(g, a->type), i, a->dim * width);
    put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", width);
    if (a->access == OP_INC)
      put_components(g, a->dim, "op2_k%d[# * %d + op2_l] = %s;", i, width, word_sum(a->type));
    else
      put_components(g, a->dim, "op2_k%d[# * %d + op2_l] = op2_a%d[#];", i, width, i);
    put_close(g);
  }
}

void put_lanes_accumulated(struct generator *g) {
  int width = g->s->width;
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *a = &g->d->args[i];
    if (!arg_is_accumulated(a) || (a->access == OP_INC && keeps_order(g)))
      continue;
    put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", width);
    if (a->access == OP_INC)
      put_components(g, a->dim, "op2_a%d[#] += op2_k%d[# * %d + op2_l];", i, i, width);
    else
      put_components(
          g, a->dim,
          "if (op2_k%d[# * %d + op2_l] %c op2_a%d[#] || (op2_g%d[#] != op2_g%d[#] ? op2_a%d[#] != op2_a%d[#] "
          ": "
          "op2_k%d[# * %d + op2_l] != op2_k%d[# * %d + op2_l])) op2_a%d[#] = op2_k%d[# * %d + op2_l];",
          i, width, a->access == OP_MAX ? '>' : '<', i, i, i, i, i, i, width, i, width, i, i, width);
    put_close(g);
  }
}
