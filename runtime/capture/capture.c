#include "capture/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"

const char *capture_fact(const struct capture *c, const char *name) {
  for (int i = 0; i < c->nfacts; i++)
    if (strcmp(c->facts[i].name, name) == 0)
      return c->facts[i].words;
  return "";
}

int capture_add_fact(struct capture *c, const char *name, const char *words, struct error *err) {
  struct capture_fact *more = array_more(c->facts, (size_t)c->nfacts, sizeof *more);
  if (!more)
    return error_memory(err, "a capture", sizeof *more);
  c->facts = more;
  more[c->nfacts] = (struct capture_fact){strdup(name), strdup(words)};
  const bool good = more[c->nfacts].name && more[c->nfacts].words;
  c->nfacts++;
  return good ? OP_OK : error_memory(err, "a capture", strlen(words));
}

size_t capture_row(const struct capture_dat *dat) {
  return (size_t)dat->dim * type_info(dat->type)->size;
}

size_t capture_bytes(const struct capture *c, const struct capture_dat *dat) {
  return (size_t)c->sets[dat->set].size * capture_row(dat);
}

long long capture_begin(const struct capture_map *map, long long element) {
  return map->first ? map->first[element] : element * map->arity;
}

long long capture_end(const struct capture_map *map, long long element) {
  return map->first ? map->first[element + 1] : (element + 1) * map->arity;
}

void capture_drop_arg(struct capture_call *call, int number) {
  free(call->args[number].before);
  free(call->args[number].after);
  call->nargs--;
  for (int a = number; a < call->nargs; a++)
    call->args[a] = call->args[a + 1];
  for (int a = 0; a < call->nargs; a++)
    call->args[a].ref -= call->args[a].ref > number;
}

/* ---- what nobody may rely on until it is checked ---- */

static bool is_identifier(const char *name) {
  const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return *name && !(*name >= '0' && *name <= '9') && strspn(name, letters) == strlen(name);
}

static int check_sets(const struct capture *c, struct error *err) {
  for (int i = 0; i < c->nsets; i++) {
    const long long m = c->sets[i].entries_of;
    if (m < 0)
      continue;
    if (m >= c->nmaps || c->maps[m].arity || c->maps[m].from >= i ||
        c->maps[m].first[c->sets[c->maps[m].from].size] != c->sets[i].size)
      return error_set(err, OP_ERR_FILE, "set %d has the entries of no map", i);
    for (int k = 0; k < i; k++)
      if (c->sets[k].entries_of == m)
        return error_set(err, OP_ERR_FILE, "sets %d and %d have the entries of one map", k, i);
  }
  /* Sets are declared in their order, and a map once its sets are there. */
  for (int i = 0; i < c->nmaps; i++)
    for (int k = 0; k < c->nsets; k++)
      if (c->sets[k].entries_of == i && c->maps[i].to >= k)
        return error_set(err, OP_ERR_FILE, "map %d leads to a set behind its entries", i);
  return OP_OK;
}

static bool good_place(const struct capture *c, const struct capture_call *call,
                       const struct capture_arg *a) {
  const struct capture_map *map = a->map >= 0 ? &c->maps[a->map] : NULL;
  const struct capture_dat *dat = a->dat >= 0 ? &c->dats[a->dat] : NULL;
  if (map && (map->from != call->set ||
              (a->idx != OP_ALL && (!map->arity || a->idx < -map->arity || a->idx >= map->arity))))
    return false;
  if (a->form == DESC_IDX)
    return dat && dat->set == call->set && dat->type == TYPE_INT;
  if (!dat)
    return !a->present;
  const bool entry = map && c->sets[dat->set].entries_of == a->map;
  return dat->dim == a->dim && dat->type == a->type && (entry || dat->set == (map ? map->to : call->set));
}

static bool good_arg(const struct capture *c, const struct capture_call *call, const struct capture_arg *a) {
  switch (a->form) {
  case DESC_GBL:
    return a->gbl < 0 ? a->before || a->access == OP_WORK || !a->present
                      : c->globals[a->gbl].dim == a->dim && c->globals[a->gbl].type == a->type;
  case DESC_INFO: return a->before && a->ref >= 0 && a->ref < call->nargs;
  default: return good_place(c, call, a);
  }
}

static int check_call(const struct capture *c, const struct capture_call *call, struct error *err) {
  const long long size = c->sets[call->set].size;
  int last = -1;
  if (!is_identifier(call->name))
    return error_set(err, OP_ERR_FILE, "the name of a kernel is none");
  if (!call->elements && call->count != size)
    return error_set(err, OP_ERR_FILE, "loop %s runs over elements that are not said", call->name);
  for (long long i = 0; call->elements && i < call->count; last = call->elements[i++])
    if (call->elements[i] <= last || call->elements[i] >= size)
      return error_set(err, OP_ERR_FILE, "the elements of loop %s do not ascend in its set", call->name);
  for (int i = 0; i < call->nargs; i++)
    if (!good_arg(c, call, &call->args[i]))
      return error_set(err, OP_ERR_FILE, "argument %d of loop %s is none", i + 1, call->name);
  return OP_OK;
}

int capture_check(const struct capture *c, struct error *err) {
  int code = check_sets(c, err);
  if (!code && !c->ncalls)
    code = error_set(err, OP_ERR_FILE, "it has no calls");
  for (int i = 0; !code && i < c->nconstants; i++)
    if (!is_identifier(c->constants[i].name))
      code = error_set(err, OP_ERR_FILE, "the name of a constant is none");
  for (int i = 0; !code && i < c->ncalls; i++)
    code = check_call(c, &c->calls[i], err);
  return code;
}
