#include "jit/generate/rows.h"

#include <stdio.h>
#include <string.h>

#include "jit/generate/strips/lanes.h"

/* Lanes hold every component of a strip's rows in registers or close by; more do not gain. */
enum { MOST_COMPONENTS = 96 };

/* Sums and extrema per lane are for the short ones; what the kernel writes at a global's own address cannot be in
 * lanes. */
static bool global_fits(const struct desc_arg *a) {
  if (!a->present || !access_changes(a->access))
    return true;
  return !access_assigns(a->access) && (arg_is_accumulated(a) || a->info >= 0);
}

static bool lanes_fit(const struct desc *d) {
  int components = 0;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (type_is_struct(a->type) || (a->form == DESC_GBL && !global_fits(a)))
      return false;
    if (a->form == DESC_DAT && a->dim > LANES_LONGEST_ROW)
      return false;
    if (a->form == DESC_DAT)
      components += a->dim * arg_columns(d, a);
  }
  return components <= MOST_COMPONENTS;
}

/* ---- ragged maps in strips -------------------------------------------------------------------------*/

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

void rows_entry(const struct generator *g, const struct desc_arg *a, const char *lane, char *out,
                size_t size) {
  char first[80];
  rows_first(g, a->map, lane, first, sizeof first);
  if (a->scattered) /* an element in a strip has some */
    snprintf(out, size, "(long)op2_entries%d[%s]", a->map, first);
  else
    snprintf(out, size, "%s", first);
}

void put_rows_counts(struct generator *g) {
  for (int m = 0; m < g->d->nmaps; m++)
    if (g->d->maps[m].ragged)
      put(g, "const int op2_count%d = %d;", m, g->d->maps[m].arity);
}
