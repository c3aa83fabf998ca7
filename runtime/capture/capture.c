#include "capture/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

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

size_t capture_row(const struct capture_data *data) {
  return (size_t)data->dim * type_info(data->type)->size;
}

size_t capture_rows(const struct capture *c, const struct capture_data *data) {
  return data->set < 0 ? 1 : (size_t)c->sets[data->set].size;
}

size_t capture_bytes(const struct capture *c, const struct capture_data *data) {
  return capture_rows(c, data) * capture_row(data);
}

long long capture_begin(const struct capture_map *map, long long element) {
  return map->first ? map->first[element] : element * map->arity;
}

long long capture_end(const struct capture_map *map, long long element) {
  return map->first ? map->first[element + 1] : (element + 1) * map->arity;
}

struct capture_reach capture_reach(const struct capture *c, const struct capture_arg *arg,
                                   long long element) {
  const struct capture_map *map = arg->map >= 0 ? &c->maps[arg->map] : NULL;
  if (!map)
    return (struct capture_reach){element, element + 1, NULL};
  const bool entry = c->sets[c->data[arg->data].set].entries_of == arg->map;
  struct capture_reach reach = {capture_begin(map, element), capture_end(map, element),
                                entry ? NULL : map->table};
  if (map->arity && arg->idx >= 0) {
    reach.begin += arg->idx;
    reach.end = reach.begin + 1;
  }
  return reach;
}

bool capture_arg_changes(const struct capture_arg *arg) {
  return arg->present &&
         (arg->form == DESC_INFO || ((arg->form == DESC_DAT || arg->form == DESC_GBL) &&
                                     arg->access != OP_WORK && access_changes((int)arg->access)));
}

void capture_flags_free(unsigned char **flags, int nsets) {
  for (int s = 0; flags && s < nsets; s++)
    free(flags[s]);
  free(flags);
}

unsigned char **capture_flags(const struct capture *c) {
  unsigned char **flags = array_new((size_t)c->nsets, sizeof *flags);
  for (int s = 0; flags && s < c->nsets; s++)
    if (!(flags[s] = array_new((size_t)c->sets[s].size, 1))) {
      capture_flags_free(flags, s);
      return NULL;
    }
  return flags;
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

static bool good_column(const struct capture_map *map, const struct capture_call *call,
                        const struct capture_arg *a) {
  return map->from == call->set &&
         (a->idx == OP_ALL || (map->arity && a->idx >= -map->arity && a->idx < map->arity));
}

/* Numbers stand for a map's targets one by one, or all of a row. */
static bool good_numbers(const struct capture *c, const struct capture_arg *a) {
  return a->map < 0 || (c->maps[a->map].arity && a->dim == (a->idx < 0 ? c->maps[a->map].arity : 1));
}

static bool good_arg(const struct capture *c, const struct capture_call *call, const struct capture_arg *a) {
  const struct capture_data *d = a->data >= 0 ? &c->data[a->data] : NULL;
  if (!d)
    return a->form == DESC_GBL ? a->access == OP_WORK || !a->present : a->form == DESC_DAT && !a->present;
  if (d->dim != a->dim || d->type != a->type || (a->map >= 0 && !good_column(&c->maps[a->map], call, a)))
    return false;
  if (a->form == DESC_GBL)
    return d->kind == CAPTURE_GLOBAL || d->kind == CAPTURE_VARIABLE;
  if (a->form == DESC_INFO)
    return d->kind == CAPTURE_VARIABLE && a->ref >= 0 && a->ref < call->nargs;
  if (a->form == DESC_IDX)
    return d->kind == CAPTURE_DAT && d->set == call->set && d->type == TYPE_INT && good_numbers(c, a);
  const bool entry = d->kind == CAPTURE_DAT && a->map >= 0 && c->sets[d->set].entries_of == a->map;
  return d->kind == CAPTURE_DAT && (entry || d->set == (a->map < 0 ? call->set : c->maps[a->map].to));
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
  for (int i = 0; !code && i < c->ndata; i++)
    if (c->data[i].kind == CAPTURE_CONSTANT && !is_identifier(c->data[i].name))
      code = error_set(err, OP_ERR_FILE, "the name of a constant is none");
  for (int i = 0; !code && i < c->ncalls; i++)
    code = check_call(c, &c->calls[i], err);
  return code;
}
