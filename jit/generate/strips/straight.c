/* Strips inside straight ranges: a target of element e by some column is e + an offset that holds for the whole
 * range, so the lanes of a strip reach consecutive elements. Names: op2_u the ranges of the frame, op2_range the
 * one at hand (its words: begin, end, an offset for each column), op2_o0_1 the offset of map 0's column 1. */
#include "jit/generate/strips/strip.h"

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
