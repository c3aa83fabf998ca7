#include "jit/generate/rows.h"

#include <stdio.h>
#include <string.h>

#include "jit/generate/generate.h"
#include "jit/generate/lanes.h"

int rows_open_map(const struct desc *d) {
  for (int m = 0; m < d->nmaps; m++)
    if (d->maps[m].ragged && !d->maps[m].equal)
      return m;
  return -1;
}

const struct desc *rows_of_strip(const struct desc *d, int targets, struct desc *room) {
  if (!desc_any_ragged(d))
    return d;
  *room = *d;
  for (int m = 0; m < d->nmaps; m++)
    if (d->maps[m].ragged)
      room->maps[m].arity = d->maps[m].equal ? d->maps[m].equal : targets;
  for (int i = 0; i < d->nargs; i++)
    if (d->args[i].entry)
      room->args[i].dim *= room->maps[d->args[i].map].arity;
  return room;
}

int rows_most(const struct desc *d) {
  int open = 0, most;
  struct desc room;
  for (int m = 0; m < d->nmaps; m++)
    open += d->maps[m].ragged && !d->maps[m].equal;
  if (open > 1)
    return 0;
  for (most = open ? ROWS_MOST : 1; most > 0; most--)
    if (lanes_fit(rows_of_strip(d, most, &room)))
      break;
  return most;
}

int rows_step(const struct desc *d, const struct desc_arg *a) {
  return a->entry ? a->dim / d->maps[a->map].arity : a->dim;
}

/* ---- one strip -----------------------------------------------------------------------------------*/

/* Elements of a strip have as many entries, so that those of its elements, if they follow one another, do too. */
void rows_first(const struct generator *g, int map, const char *lane, char *out, size_t size) {
  const struct desc_map *m = &g->d->maps[map];
  if (g->s->list && m->equal)
    snprintf(out, size, "op2_e[%s] * %d", lane, m->arity);
  else if (g->s->list)
    snprintf(out, size, "op2_f%d[%s]", map, lane);
  else if (m->equal)
    snprintf(out, size, "(op2_i + %s) * %d", lane, m->arity);
  else
    snprintf(out, size, "(op2_f%d + %s * %d)", map, lane, m->arity);
}

void put_rows_counts(struct generator *g) {
  for (int m = 0; m < g->d->nmaps; m++)
    if (g->d->maps[m].ragged)
      put(g, "const int op2_count%d = %d;", m, g->d->maps[m].arity);
}

/* ---- where elements differ -----------------------------------------------------------------------*/

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
  put_open(g, "for (; op2_i < op2_stop; op2_i++)");
  put(g, g->s->list ? "const long op2_e = op2_list[op2_i];" : "const long op2_e = op2_i;");
  put_element(g);
  put_close(g);
  put_close(g);
}
