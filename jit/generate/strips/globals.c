/* Globals in strips: sums and extrema of each lane, and the element that an extremum belongs to. */
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

static bool is_summed(const struct generator *g, int arg) {
  return g->d->args[arg].summed && g->s->width && !g->s->list;
}

bool strips_sum(const struct generator *g) {
  bool any = false;
  for (int i = 0; i < g->d->nargs; i++)
    any |= is_summed(g, i);
  return any;
}

/* As fold_alike in base/exact/exact.c, which says why. A piece may be longer here than there, and strips shorter: then the second
 * sum may leave its binade, too. As long as nothing is lost on the way, it is enough to see that in the end. */
void put_exact_helpers(struct generator *g) {
  static const char *const lines[] = {
      "struct op2_along { double first, second; unsigned long long whole, rest; long long outside, left, "
      "done; };",
      "struct op2_sum { op2_sums began, first, second; op2_bits outside, left; };",
      "static inline __attribute__((always_inline)) void op2_begin_along(struct op2_sum *s, const struct "
      "op2_along *a) {",
      "  const op2_sums none = {0};",
      "  s->began = s->first = none + a->first;",
      "  s->second = none + a->second;",
      "  s->outside = s->left = (op2_bits)none;",
      "}",
      "static inline __attribute__((always_inline)) void op2_add_along(struct op2_sum *s, const double "
      "*lanes) {",
      "  op2_sums x;",
      "  __builtin_memcpy(&x, lanes, sizeof x);",
      "  const op2_sums more = s->first + x;",
      "  x -= more - s->first;",
      "  s->first = more;",
      "  s->outside |= (op2_bits)more ^ (op2_bits)s->began;",
      "  const op2_sums next = s->second + x;",
      "  s->left |= (op2_bits)(next - s->second) ^ (op2_bits)x;",
      "  s->second = next;",
      "}",
      "static inline __attribute__((always_inline)) void op2_end_along(const struct op2_sum *s, struct "
      "op2_along *a, long done) {",
      "  const op2_sums none = {0};",
      "  const op2_bits began = (op2_bits)(none + a->second), whole = (op2_bits)s->first - "
      "(op2_bits)s->began,",
      "                 rest = (op2_bits)s->second - began, far = (op2_bits)s->second ^ began;",
      "  for (int l = 0; l < (int)(sizeof whole / sizeof whole[0]); l++) {",
      "    a->whole += whole[l];",
      "    a->rest += rest[l];",
      "    a->outside |= (long long)(s->outside[l] | far[l]);",
      "    a->left |= (long long)s->left[l];",
      "  }",
      "  a->done = done;",
      "}"};
  if (!strips_sum(g))
    return;
  put(g, "typedef double op2_sums __attribute__((vector_size(%d)));", g->s->width * 8);
  put(g, "typedef unsigned long long op2_bits __attribute__((vector_size(%d)));", g->s->width * 8);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    put(g, "%s", lines[i]);
}

/* A line for each component of a sum: before the first strip, in a strip or behind the last. */
static void put_along(struct generator *g, const char *format, int times) {
  for (int i = 0; i < g->d->nargs; i++)
    for (int c = 0; is_summed(g, i) && c < g->d->args[i].dim; c++)
      put(g, format, i, c, i, c * times);
}

void put_sums(struct generator *g) {
  int width = g->s->width;
  put_along(g, "op2_add_along(&op2_h%d[%d], op2_l%d + %d);", width);
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
  for (int i = 0; i < g->d->nargs; i++)
    if (is_summed(g, i))
      put(g, "struct op2_sum op2_h%d[%d];", i, g->d->args[i].dim);
  put_along(g, "op2_begin_along(&op2_h%d[%d], op2_y%d + %d);", 1);
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
  put_along(g, "op2_end_along(&op2_h%d[%d], op2_y%d + %d, op2_i - op2_begin);", 1);
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
          ": op2_k%d[# * %d + op2_l] != op2_k%d[# * %d + op2_l])) op2_a%d[#] = op2_k%d[# * %d + op2_l];",
          i, width, a->access == OP_MAX ? '>' : '<', i, i, i, i, i, i, width, i, width, i, i, width);
    put_close(g);
  }
}
