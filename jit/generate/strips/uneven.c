/* Strips where a ragged map's elements differ in their number of targets: each is looked at before it runs. */
#include "jit/generate/rows.h"
#include "jit/generate/strips/strip.h"

/* op2_f0: where the entries of the strip's first element begin, or of each; op2_n: how many it has, 0: the elements
 * differ. */
static void put_look(struct generator *g, int map) {
  const int width = g->s->width;
  const char *wide = word_type(g, TYPE_LONGLONG);
  if (g->s->list) {
    put(g, "%s op2_f%d[%d], op2_n, op2_differ = 0;", wide, map, width);
    put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", width);
    put(g, "op2_f%d[op2_l] = op2_z%d[op2_list[op2_i + op2_l]];", map, map);
    put_close(g);
    put(g, "op2_n = op2_z%d[op2_list[op2_i] + 1] - op2_f%d[0];", map, map);
    put_open(g, "for (int op2_l = 1; op2_l < %d; op2_l++)", width);
    put(g, "op2_differ |= op2_z%d[op2_list[op2_i + op2_l] + 1] - op2_f%d[op2_l] - op2_n;", map, map);
    put_close(g);
  } else {
    put(g, "const %s op2_f%d = op2_z%d[op2_i];", wide, map, map);
    put(g, "%s op2_n = op2_z%d[op2_i + 1] - op2_f%d, op2_differ = 0;", wide, map, map);
    put_open(g, "for (int op2_l = 2; op2_l <= %d; op2_l++)", width);
    put(g, "op2_differ |= op2_z%d[op2_i + op2_l] - op2_f%d - op2_l * op2_n;", map, map);
    put_close(g);
  }
  put(g, "op2_n = op2_differ ? 0 : op2_n;");
}

static void put_kinds(struct generator *g, int map) {
  const struct desc *whole = g->d;
  const int width = g->s->width, most = rows_most(whole);
  struct desc room;
  put_open(g, "if (op2_stop - op2_i == %d)", width);
  put_look(g, map);
  for (int targets = 1; targets <= most; targets++) {
    put_open(g, "if (op2_n == %d)", targets);
    g->d = rows_of_strip(whole, targets, &room);
    put_strip(g);
    g->d = whole;
    put(g, "op2_i += %d;", width);
    put(g, "continue;");
    put_close(g);
  }
  put_close(g);
}

void put_rows_strips(struct generator *g) {
  const int width = g->s->width;
  put_open(g, "while (op2_i < op2_end)");
  put(g, "const long op2_stop = op2_end - op2_i < %d ? op2_end : op2_i + %d;", width, width);
  put_kinds(g, rows_open_map(g->d));
  put(g, "#pragma clang loop vectorize(disable) interleave(disable) unroll(disable)");
  put_one_by_one(g, "op2_stop");
  put_close(g);
}
