#include <string.h>

#include "jit/kernel/fused.h"
#include "loop/chain/fused.h"

const struct loop_arg *fused_arg_of(const struct fusion *f, int number, int *member, int *arg) {
  for (int m = 0; m < f->n; m++)
    for (int i = 0; i < f->members[m]->nargs; i++)
      if (f->number[m][i] == number) {
        *member = m;
        *arg = i;
        return &f->members[m]->args[i];
      }
  *member = *arg = -1;
  return NULL;
}

int fused_describe(struct loop *loop, struct error *err) {
  const struct desc *members[DESC_MOST_MEMBERS];
  struct desc *d = &loop->desc;
  const struct fusion *f = loop->fusion;
  for (int m = 0; m < f->n; m++)
    members[m] = &f->members[m]->desc;
  d->kernel_name = strdup(loop->key.name);
  d->fp = strdup(members[0]->fp); /* they have it in common */
  if (!d->kernel_name || !d->fp)
    return error_memory(err, "a fused loop's name", strlen(loop->name));
  return fused_text(d, members, f->n, err);
}

void fused_describe_args(struct loop *loop) {
  const struct fusion *f = loop->fusion;
  for (int m = 0; m < f->n; m++) {
    struct desc_member *to = &loop->desc.members[m];
    to->nargs = f->members[m]->nargs;
    for (int i = 0; i < to->nargs; i++) {
      to->args[i] = f->number[m][i];
      to->accesses[i] = (unsigned char)f->members[m]->desc.args[i].access;
    }
  }
  for (int i = 0; i < loop->nargs; i++)
    loop->desc.args[i].dropped = f->dropped >> i & 1;
}
