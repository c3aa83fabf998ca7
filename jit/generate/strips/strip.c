#include "jit/generate/strips/strip.h"

#include "jit/generate/rows.h"

/* op2_a3: the values that the kernel gets. */
static void put_lane_values(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  int n = a->form == DESC_DAT && a->present ? arg_columns(g->d, a) * a->dim
          : a->form == DESC_IDX             ? arg_columns(g->d, a)
                                            : a->dim;
  bool passed_as_it_is = a->form == DESC_GBL && a->access == OP_READ && a->present;
  if (passed_as_it_is)
    return;
  put(g, "%s op2_a%d[%d];", word_type(g, a->type), arg, n);
  const bool number = a->present && a->form == DESC_IDX, made = number && !arg_has_number_lanes(g, a);
  const bool from_lanes = a->present && (number || (a->form == DESC_DAT && arg_is_loaded(a)));
  /* A payload that the kernel leaves alone in one lane must not seem to come from the lane before. */
  bool zero = !a->present || a->matrix || (a->form == DESC_DAT && a->access == OP_INC) ||
              a->form == DESC_INFO || (arg_is_accumulated(a) && a->access == OP_INC);
  if (made)
    put_made_numbers(g, arg);
  else if (from_lanes)
    put_components(g, n, "op2_a%d[#] = op2_l%d[# * %d + op2_l];", arg, arg, g->s->width);
  else if (zero)
    put_components(g, n, "op2_a%d[#] = %s;", arg,
                   a->access == OP_INC && !a->matrix ? word_sum(a->type) : "0");
  else if (arg_is_extremum_with_info(a))
    put(g, "op2_a%d[0] = *op2_b%d;", arg, arg);
  else if (arg_is_accumulated(a))
    put_components(g, n, "op2_a%d[#] = op2_k%d[# * %d + op2_l];", arg, arg, g->s->width);
  if (desc_is_vector(a))
    put_pointers(g, arg);
}

static void put_lane_results(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  if (!a->present)
    return;
  if (a->form == DESC_DAT && a->access != OP_READ)
    put_components(g, arg_columns(g->d, a) * a->dim, "op2_l%d[# * %d + op2_l] = op2_a%d[#];", arg,
                   g->s->width, arg);
  else if (arg_keeps_lanes(a))
    put_components(g, a->dim, "op2_l%d[# * %d + op2_l] = op2_a%d[#];", arg, g->s->width, arg);
  else if (arg_is_accumulated(a))
    put_components(g, a->dim, "op2_k%d[# * %d + op2_l] = op2_a%d[#];", arg, g->s->width, arg);
}

static void put_lane_loop(struct generator *g) {
  put(g, "#pragma clang loop vectorize(enable) vectorize_width(%d) interleave_count(1) unroll(disable)",
      g->s->width);
  put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", g->s->width);
  g->lanes = true;
  for (int i = 0; i < g->d->nargs; i++)
    put_lane_values(g, i);
  put_kernel_call(g);
  g->lanes = false;
  for (int i = 0; i < g->d->nargs; i++)
    put_lane_results(g, i);
  put_close(g);
}

void put_strip(struct generator *g) {
  put_ask_early(g, g->s->width);
  put_rows_counts(g);
  put_lane_elements(g);
  for (int i = 0; i < g->d->nargs; i++)
    put_lanes(g, i);
  put_lane_loop(g);
  if (g->s->piped && !g->alone) {
    put_strip_before(g);
    put_next_strip(g);
  }
  put_stores(g);
  put_sums(g);
  put_decisions(g);
}

static void put_strip_loop(struct generator *g, const char *stop) {
  put_open(g, "for (; op2_i + %d <= %s; op2_i += %d)", g->s->width, stop, g->s->width);
  put_strip(g);
  put_close(g);
}

void put_strips_until(struct generator *g, const char *stop) {
  if (!g->s->piped) {
    put_strip_loop(g, stop);
    return;
  }
  put_open(g, "if (op2_i + %d <= %s)", g->s->width, stop);
  put_pipe_begin(g, stop);
  put_strip_loop(g, stop);
  put_strip_before(g);
  put_close(g);
}
