/* Elements of a list may lie anywhere, and no processor knows the next one: what maps and dats have of those that are some
 * places ahead is asked for. A list in the order of neighbours took four times as long without. */

#include "jit/generate/skeleton.h"

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
