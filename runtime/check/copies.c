#include "check/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "mesh/data.h"

static bool changes_first(const struct loop *loop, int i) {
  if (!loop->args[i].dat || !loop->args[i].present || loop->args[i].access == OP_READ)
    return false;
  for (int j = 0; j < i; j++)
    if (loop->args[j].dat == loop->args[i].dat && loop->args[j].present && loop->args[j].access != OP_READ)
      return false;
  return true;
}

void copies_free(struct copies *c) {
  for (int i = 0; i < OP_MAX_ARGS; i++)
    free(c->dats[i]);
  free(c->slots);
  free(c->globals);
  *c = (struct copies){0};
}

static void *duplicate(const void *memory, size_t bytes) {
  void *copy = array_new(bytes, 1);
  if (copy && bytes)
    memcpy(copy, memory, bytes);
  return copy;
}

int copies_take(struct copies *c, const struct launch *launch, struct error *err) {
  const struct loop *loop = launch->loop;
  *c = (struct copies){0};
  c->slot_bytes = launch->slots ? loop->ready.slot_bytes : 0;
  bool good = (c->slots = duplicate(launch->slots, c->slot_bytes)) &&
              (c->globals = duplicate(launch->globals, loop->ready.global_bytes));
  for (int i = 0; good && i < loop->nargs; i++)
    if (changes_first(loop, i)) {
      const struct replica *host = &loop->args[i].dat->replicas[SPACE_HOST];
      good = (c->dats[i] = duplicate(host->memory, host->bytes)) != NULL;
    }
  if (good)
    return OP_OK;
  copies_free(c);
  return error_memory(err, "the copies of the checking form", 0);
}

void copies_restore(const struct copies *c, const struct launch *launch) {
  const struct loop *loop = launch->loop;
  if (c->slot_bytes)
    memcpy(launch->slots, c->slots, c->slot_bytes);
  memcpy(launch->globals, c->globals, loop->ready.global_bytes);
  for (int i = 0; i < loop->nargs; i++)
    if (c->dats[i])
      memcpy(loop->args[i].dat->replicas[SPACE_HOST].memory, c->dats[i],
             loop->args[i].dat->replicas[SPACE_HOST].bytes);
}
