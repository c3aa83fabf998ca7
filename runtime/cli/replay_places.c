#include <math.h>
#include <stdlib.h>

#include "base/list.h"
#include "check/shadow.h"
#include "cli/replay.h"

/* ---- how often a value is added to ---- */

static void count_rows(const struct capture *c, const struct capture_call *call, const struct capture_arg *a,
                       double *rows) {
  if (a->form != DESC_DAT)
    rows[0] += (double)call->count;
  for (long long i = 0; a->form == DESC_DAT && i < call->count; i++) {
    const struct capture_reach reach = capture_reach(c, a, capture_element(call, i));
    for (long long k = reach.begin; k < reach.end; k++)
      rows[capture_place(&reach, k)]++;
  }
}

/* Finds how calls change it; false: no memory. */
static bool look_at(const struct capture *c, struct place *place, bool *changed) {
  const size_t size = capture_rows(c, place->data);
  double *rows = array_new(size, sizeof *rows);
  for (int i = 0; rows && i < c->ncalls; i++)
    for (int a = 0; a < c->calls[i].nargs; a++) {
      const struct capture_arg *arg = &c->calls[i].args[a];
      if (arg->data != place->number || !capture_arg_changes(arg))
        continue;
      *changed = true;
      if (arg->form != DESC_INFO && arg->access == OP_INC)
        count_rows(c, &c->calls[i], arg, rows);
    }
  for (size_t e = 0; rows && e < size; e++)
    place->additions = fmax(place->additions, rows[e]);
  free(rows);
  return rows;
}

/* ---- finding them ---- */

static bool add(struct places *p, const struct place *place, size_t bytes) {
  struct place *more = array_more(p->items, (size_t)p->count, sizeof *more);
  size_t end = 0;
  if (!more || !size_add(p->bytes, bytes, &end) || !size_add(end, 15, &end))
    return false;
  p->items = more;
  more[p->count] = *place;
  more[p->count++].offset = p->bytes;
  p->bytes = end & ~(size_t)15;
  return true;
}

int places_find(const struct capture *c, struct places *out, struct error *err) {
  bool good = true;
  *out = (struct places){0};
  for (int d = 0; good && d < c->ndata; d++) {
    const struct capture_data *data = &c->data[d];
    const long long owned = data->set < 0 ? 1 : c->sets[data->set].owned;
    struct place place = {.number = d, .data = data, .count = (size_t)(owned * data->dim)};
    bool changed = false;
    good = look_at(c, &place, &changed) && (!changed || add(out, &place, capture_bytes(c, data)));
  }
  if (good)
    return OP_OK;
  places_free(out);
  return error_memory(err, "what calls leave", 0);
}

void places_free(struct places *p) {
  free(p->items);
  *p = (struct places){0};
}

/* ---- comparing ---- */

size_t place_differs(const struct place *place, const unsigned char *a, const unsigned char *b, bool bits) {
  const enum type_code type = place->data->type;
  const size_t size = type_info(type)->size;
  size_t k = 0;
  while (bits && k < place->count && type_same(type, a + k * size, b + k * size))
    k++;
  if (bits)
    return k;
  double largest = values_largest(type, place->data->before, place->count, 0);
  largest = values_largest(type, a, place->count, largest);
  return values_differ(type, a, b, place->count, values_allowed(type, place->additions) * largest);
}

void place_tell(const struct capture *c, const struct place *place, size_t value, struct text *out) {
  const struct capture_data *data = place->data;
  const size_t dim = (size_t)data->dim;
  if (data->kind == CAPTURE_DAT)
    text_addf(out, "dat \"%s\", element %zu of set \"%s\", component %zu", data->name, value / dim,
              c->sets[data->set].name, value % dim);
  else if (data->kind == CAPTURE_GLOBAL)
    text_addf(out, "global \"%s\", value %zu", data->name, value);
  for (int i = 0; data->kind == CAPTURE_VARIABLE && i < c->ncalls; i++)
    for (int a = 0; a < c->calls[i].nargs; a++)
      if (c->calls[i].args[a].data == place->number)
        text_addf(out, "loop %s, argument %d, value %zu", c->calls[i].name, a + 1, value);
}
