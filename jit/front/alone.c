/* A loop as its kernel sees it: one element, and addresses only. */
#include <stdlib.h>
#include <string.h>

#include "jit/front/describe.h"

static void name_arg(struct text *names, const struct desc *from, int arg, int dat) {
  struct text name = {0};
  if (desc_find_name(from, "arg", arg, &name) || desc_find_name(from, "dat", from->args[arg].dat, &name)) {
    desc_name(names, "arg", arg, text_str(&name));
    if (dat >= 0)
      desc_name(names, "dat", dat, text_str(&name));
  }
  text_free(&name);
}

static void change_arg(struct desc *d, const struct desc *from, int i) {
  const bool vector = desc_is_vector(&from->args[i]);
  const int arity = vector ? from->maps[from->args[i].map].arity : 0;
  struct desc_arg *a = &d->args[i];
  *a = (struct desc_arg){.form = vector ? DESC_DAT : DESC_GBL,
                         .type = a->type,
                         .dim = desc_row(from, &from->args[i]),
                         .access = vector && a->access == OP_READ ? OP_READ : OP_RW,
                         .map = -1,
                         .idx = -1,
                         .dat = -1,
                         .ref = -1,
                         .info = -1,
                         .present = a->present,
                         .counted = a->counted};
  if (!vector)
    return;
  a->map = d->nmaps;
  a->dat = d->ndats;
  const bool ragged = desc_is_ragged(from, &from->args[i]);
  a->idx = ragged ? -1 : -arity;
  d->maps[d->nmaps++] = (struct desc_map){.arity = arity, .to = d->nsets, .ragged = ragged};
  d->dats[d->ndats++] = (struct desc_dat){.type = a->type, .dim = a->dim, .set = d->nsets++};
}

int desc_alone(struct desc *out, const struct desc *from, struct error *err) {
  struct text names = {0};
  const int code = desc_copy(out, from, err);
  if (code)
    return code;
  out->nmaps = out->ndats = 0;
  out->nsets = 1;
  memset(out->renumbered, 0, sizeof out->renumbered);
  for (int i = 0; i < out->nargs; i++) {
    change_arg(out, from, i);
    name_arg(&names, from, i, out->args[i].dat);
  }
  free(out->names);
  out->names = text_take(&names);
  return out->names ? OP_OK : error_memory(err, "the names in a loop", names.length);
}
