/* When strips in stages move an argument's data, see strip.c. */
#include "jit/emit/strip.h"

/* Single values are brought into lanes by a few instructions; they would only take registers. */
static bool are_rows(const struct desc *d, const struct desc_arg *a) {
  return a->present && a->form == DESC_DAT && a->dim > 1 && !dat_is_apart(d, a->dat);
}

/* Rows to which all arguments of the dat do the same. */
static bool are_only(const struct desc *d, const struct desc_arg *a, int access) {
  bool only = are_rows(d, a);
  for (int i = 0; only && i < d->nargs; i++) {
    const struct desc_arg *other = &d->args[i];
    if (other->present && other->form == DESC_DAT && other->dat == a->dat)
      only = other->access == access && !other->dropped &&
             (access == OP_READ || (other->map >= 0 && !other->entry));
  }
  return only;
}

/* Rows that are only added to, through maps. */
static bool can_wait(const struct desc *d, const struct desc_arg *a) {
  return are_only(d, a, OP_INC);
}

static bool can_be_ahead(const struct desc *d, const struct desc_arg *a) {
  return are_only(d, a, OP_READ);
}

bool stages_wait(const struct desc *d) {
  bool any = false;
  for (int i = 0; i < d->nargs; i++)
    any |= can_wait(d, &d->args[i]);
  return any;
}

int stages_keep(const struct desc *d) {
  int count = 0;
  for (int i = 0; i < d->nargs; i++)
    if (can_wait(d, &d->args[i]) || can_be_ahead(d, &d->args[i]))
      count += d->args[i].dim * arg_columns(d, &d->args[i]);
  return count;
}

enum stage stage_of(const struct generator *g, const struct desc_arg *a) {
  if (!g->s->piped || g->alone)
    return STAGE_STRIP;
  return can_wait(g->d, a) ? STAGE_BEFORE : can_be_ahead(g->d, a) ? STAGE_NEXT : STAGE_STRIP;
}
