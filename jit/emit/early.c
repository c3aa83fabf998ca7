/* Elements of a list may lie anywhere, and no processor knows the next one: what maps and dats have of those that are some
 * places ahead is asked for. A list in the order of neighbours took four times as long without. */
#include "jit/emit/skeleton.h"
#include "jit/emit/strip.h"

enum { PLACES_EARLY = 32 };

/* Each element has a row of the dat for itself, in one piece. */
static bool is_own_row(const struct desc *d, int dat) {
  bool own = false;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    own |= a->present && a->form == DESC_DAT && a->dat == dat && a->map < 0;
  }
  return own && !d->dats[dat].soa;
}

void put_ask_early(struct generator *g, int elements) {
  const struct desc *d = g->d;
  if (!g->s->list)
    return;
  put_open(g, "for (long op2_p = op2_i + %d; op2_p < op2_i + %d && op2_p < op2_end; op2_p++)", PLACES_EARLY,
           PLACES_EARLY + elements);
  put(g, "const long op2_q = op2_list[op2_p];");
  for (int m = 0; m < d->nmaps; m++)
    if (d->maps[m].ragged)
      put(g, "__builtin_prefetch(op2_z%d + op2_q);", m);
    else
      put(g, "__builtin_prefetch(op2_t%d + op2_q * %d);", m, d->maps[m].arity);
  for (int i = 0; i < d->ndats; i++)
    if (is_own_row(d, i))
      put(g, "__builtin_prefetch(op2_d%d + op2_q * %d);", i, d->dats[i].dim);
  put_close(g);
}

void put_one_by_one(struct generator *g, const char *stop) {
  put_open(g, "for (; op2_i < %s; op2_i++)", stop);
  put_ask_early(g, 1);
  put(g, g->s->list ? "const long op2_e = op2_list[op2_i];" : "const long op2_e = op2_i;");
  put_element(g);
  put_close(g);
}

/* Strips where a ragged map's elements differ in their number of targets: each is looked at before it runs. */

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
