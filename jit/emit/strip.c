#include "jit/emit/strip.h"

#include "jit/emit/skeleton.h"

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

/* Strips in three stages: while one is computed, the rows of the next one are brought into lanes, and what the one
 * before adds to rows goes to memory. The kernel's arithmetic has a long way from its first load to its last result,
 * and elements that meet add through memory one after the other: with the stages of one strip in line a processor waits
 * for both. Sums keep their order, for all that adds to such a dat waits, and scalar code comes behind the last strip's
 * additions. */

static void put_stage(struct generator *g, enum stage stage, void (*put_arg)(struct generator *g, int arg)) {
  for (int i = 0; i < g->d->nargs; i++)
    if (stage_of(g, &g->d->args[i]) == stage)
      put_arg(g, i);
}

static void put_rows_of_next(struct generator *g) {
  put_lane_elements(g);
  put_stage(g, STAGE_NEXT, put_dat_loads);
}

/* The last strip has none behind it, and loads its own again. */
static void put_next_strip(struct generator *g) {
  put_block(g);
  put(g, "const long op2_next = op2_i < op2_last ? op2_i + %d : op2_i;", g->s->width);
  put(g, "const long op2_i = op2_next;");
  put_rows_of_next(g);
  put_close(g);
}

/* Before the first strip of those that end before `stop`; in a strip, behind its kernel, additions of the strip before,
 * and rows of the next one. */
static void put_strip_before(struct generator *g) {
  put_open(g, "if (op2_i > op2_start)");
  put(g, "const long op2_before = op2_i - %d;", g->s->width);
  put_block(g);
  put(g, "const long op2_i = op2_before;");
  put_lane_elements(g);
  put_stage(g, STAGE_BEFORE, put_arg_entries);
  for (int l = 0; l < g->s->width; l++)
    for (int i = 0; i < g->d->nargs; i++)
      if (stage_of(g, &g->d->args[i]) == STAGE_BEFORE)
        put_lane_store(g, i, l);
  put_close(g);
  put_close(g);
}

/* Globals in strips: sums and extrema of each lane, and the element that an extremum belongs to. */
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
static void put_decisions(struct generator *g) {
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

/* A line for each component of a sum: before the first strip, in a strip or behind the last. */
static void put_along(struct generator *g, const char *format, int times) {
  for (int i = 0; i < g->d->nargs; i++)
    for (int c = 0; is_summed(g, i) && c < g->d->args[i].dim; c++)
      put(g, format, i, c, i, c * times);
}

/* Behind a strip's kernel: its sums, and which of its elements holds an extremum. */
static void put_sums(struct generator *g) {
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

static void put_pipe_begin(struct generator *g, const char *stop) {
  const int width = g->s->width;
  put(g, "const long op2_start = op2_i, op2_last = op2_i + (%s - op2_i) / %d * %d - %d;", stop, width, width,
      width);
  put_stage(g, STAGE_BEFORE, put_results);
  put_stage(g, STAGE_NEXT, put_dat_array);
  put_block(g);
  put_rows_of_next(g);
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

/* Strips inside straight ranges: a target of element e by some column is e + an offset that holds for the whole
 * range, so the lanes of a strip reach consecutive elements. Names: op2_u the ranges of the frame, op2_range the
 * one at hand (its words: begin, end, an offset for each column), op2_o0_1 the offset of map 0's column 1. */

/* Columns of a strip's description, in which ragged maps have an arity too. */
static int columns(const struct desc *d) {
  int count = 0;
  for (int m = 0; m < d->nmaps; m++)
    for (int c = 0; c < d->maps[m].arity; c++)
      count += desc_uses_column(d, m, c);
  return count;
}

/* The first range that does not end before op2_begin: where it is if all are equally long, which is how a mesh in
 * rows has them, or found by halving. Which half it is in cannot be foreseen, and a wrong guess costs as much as a
 * strip: no branch depends on it. */
void put_straight_helper(struct generator *g) {
  const int words = 2 + columns(g->d);
  put_open(g, "static const int *op2_find_range(const int *op2_u, long op2_begin)");
  put(g, "long op2_low = 0, op2_count = op2_u[0];");
  put(g, "const int *op2_first = op2_u + 1;");
  put_open(g, "if (op2_count > 0 && op2_begin < op2_first[(op2_count - 1) * %d + 1])", words);
  put(g,
      "const int *op2_guess = op2_first + op2_begin * op2_count / op2_first[(op2_count - 1) * %d + 1] * %d;",
      words, words);
  put(g, "if (op2_guess[0] <= op2_begin && op2_begin < op2_guess[1]) return op2_guess;");
  put_close(g);
  put_open(g, "while (op2_count > 0)");
  put(g, "const long op2_half = (op2_count + 1) / 2;");
  put(g, "const _Bool op2_later = op2_first[(op2_low + op2_half - 1) * %d + 1] <= op2_begin;", words);
  put(g, "op2_low += __builtin_unpredictable(op2_later) ? op2_half : 0;");
  put(g, "op2_count -= op2_half;");
  put_close(g);
  put(g, "return op2_first + op2_low * %d;", words);
  put_close(g);
}

static void put_offsets(struct generator *g) {
  int word = 2;
  for (int m = 0; m < g->d->nmaps; m++)
    for (int c = 0; c < g->d->maps[m].arity; c++)
      if (desc_uses_column(g->d, m, c))
        put(g, "const long op2_o%d_%d = op2_range[%d];", m, c, word++);
}

void put_straight_strips(struct generator *g) {
  const int width = g->s->width;
  put(g, "const int *op2_range = op2_find_range(op2_u, op2_begin);");
  put_open(g, "while (op2_i + %d <= op2_end)", width);
  put_open(g, "if (op2_range[1] <= op2_i)");
  put(g, "op2_range += %d;", 2 + columns(g->d));
  put(g, "continue;");
  put_close(g);
  put_open(g, "if (__builtin_expect(op2_range[0] <= op2_i, 1))");
  put(g, "const long op2_stop = op2_range[1] < op2_end ? op2_range[1] : op2_end;");
  put_offsets(g);
  g->straight = true;
  put_strips_until(g, "op2_stop");
  g->straight = false;
  put_open(g, "if (__builtin_expect(op2_i + %d > op2_end || op2_range[1] <= op2_i, 1))", width);
  put(g, "continue;");
  put_close(g);
  put_close(g);
  g->alone = true;
  put_strip(g);
  g->alone = false;
  put(g, "op2_i += %d;", width);
  put_close(g);
}

bool strips_sum(const struct generator *g) {
  bool any = false;
  for (int i = 0; i < g->d->nargs; i++)
    any |= is_summed(g, i);
  return any;
}

/* As fold_alike in base/exact.c, which says why. A piece may be longer here than there, and strips shorter: then the second
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
