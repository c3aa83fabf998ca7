#include "jit/kernel/origins.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

bool origins_add(struct origins *o, struct origin next) {
  struct origin *items = array_more(o->items, (size_t)o->count, sizeof *items);
  if (!items)
    return false;
  o->items = items;
  if (next.file && !(next.file = strdup(next.file)))
    return false;
  items[o->count++] = next;
  return true;
}

bool origins_copy(struct origins *to, const struct origins *from) {
  *to = (struct origins){.own = from->own, .fortran = from->fortran};
  for (int i = 0; i < from->count; i++)
    if (!origins_add(to, from->items[i])) {
      origins_free(to);
      return false;
    }
  return true;
}

void origins_free(struct origins *o) {
  for (int i = 0; i < o->count; i++)
    free(o->items[i].file);
  free(o->items);
  *o = (struct origins){0};
}

const struct origin *origins_at(const struct origins *o, int line) {
  const struct origin *found = NULL;
  for (int i = 0; o && i < o->count && (i == 0 || o->items[i].line <= line); i++)
    found = &o->items[i];
  return found;
}

const struct origin *origins_of(const struct origins *o, size_t byte) {
  const struct origin *found = NULL;
  for (int i = 0; o && i < o->count && (i == 0 || o->items[i].begin <= byte); i++)
    found = &o->items[i];
  return found;
}
