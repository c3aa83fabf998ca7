#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/size.h"
#include "check/shadow/shadow.h"
#include "cli/replay/replay.h"

/* ---- how often a value is added to ---- */

static void count_rows(const struct capture *c, const struct capture_call *call, const struct capture_arg *a,
                       double *rows) {
  const struct capture_map *map = a->map >= 0 ? &c->maps[a->map] : NULL;
  const bool entry = map && c->sets[c->dats[a->dat].set].entries_of == a->map;
  for (long long i = 0; i < call->count; i++) {
    const long long e = call->elements ? call->elements[i] : i;
    if (!map)
      rows[e]++;
    for (long long k = map ? capture_begin(map, e) : 0; map && k < capture_end(map, e); k++)
      if (!capture_arg_is_column(map, a) || k == capture_begin(map, e) + a->idx)
        rows[entry ? k : map->table[k]]++;
  }
}

static double most_additions(const struct capture *c, int dat, bool *good) {
  const long long size = c->sets[c->dats[dat].set].size;
  double most = 0, *rows = array_new((size_t)size, sizeof *rows);
  *good &= rows != NULL;
  for (int i = 0; rows && i < c->ncalls; i++)
    for (int a = 0; a < c->calls[i].nargs; a++)
      if (c->calls[i].args[a].dat == dat && c->calls[i].args[a].access == OP_INC)
        count_rows(c, &c->calls[i], &c->calls[i].args[a], rows);
  for (long long e = 0; rows && e < size; e++)
    most = fmax(most, rows[e]);
  free(rows);
  return most;
}

/* ---- finding them ---- */

static bool add(struct places *p, const struct place *place) {
  struct place *more = array_more(p->items, (size_t)p->count, sizeof *more);
  size_t end = 0;
  if (!more || !size_add(p->bytes, place->bytes, &end) || !size_add(end, 15, &end))
    return false;
  p->items = more;
  more[p->count] = *place;
  more[p->count++].offset = p->bytes;
  p->bytes = end & ~(size_t)15;
  return true;
}

static bool is_changed(const struct capture_arg *a) {
  return a->present && (a->form == DESC_INFO || ((a->form == DESC_DAT || a->form == DESC_GBL) &&
                                                 a->access != OP_WORK && access_changes((int)a->access)));
}

static bool is_written(const struct capture *c, int dat, int global) {
  for (int i = 0; i < c->ncalls; i++)
    for (int a = 0; a < c->calls[i].nargs; a++) {
      const struct capture_arg *arg = &c->calls[i].args[a];
      if (is_changed(arg) && ((dat >= 0 && arg->form == DESC_DAT && arg->dat == dat) ||
                              (global >= 0 && arg->form == DESC_GBL && arg->gbl == global)))
        return true;
    }
  return false;
}

/* How calls come to a global: what its first argument that changes it says. */
static long long access_of(const struct capture *c, int global) {
  for (int i = 0; i < c->ncalls; i++)
    for (int a = 0; a < c->calls[i].nargs; a++)
      if (c->calls[i].args[a].gbl == global && is_changed(&c->calls[i].args[a]))
        return c->calls[i].args[a].access;
  return OP_READ;
}

static int extreme_of(long long access) {
  return access == OP_MAX ? 1 : access == OP_MIN ? -1 : 0;
}

static bool add_variables(const struct capture *c, int i, struct places *out) {
  bool good = true;
  for (int a = 0; good && a < c->calls[i].nargs; a++) {
    const struct capture_arg *arg = &c->calls[i].args[a];
    if (is_changed(arg) && arg->before && arg->gbl < 0)
      good =
          add(out, &(struct place){PLACE_VARIABLE, i, a, (size_t)arg->dim,
                                   (size_t)arg->dim * type_info(arg->type)->size, 0, arg->type, arg->before,
                                   arg->after, arg->access == OP_INC ? (double)c->calls[i].count : 0,
                                   extreme_of(arg->form == DESC_GBL ? arg->access : OP_READ)});
  }
  return good;
}

int places_find(const struct capture *c, struct places *out, struct error *err) {
  bool good = true;
  *out = (struct places){0};
  for (int d = 0; good && d < c->ndats; d++) {
    const struct capture_dat *dat = &c->dats[d];
    if (is_written(c, d, -1))
      good = add(out, &(struct place){PLACE_DAT, d, 0, (size_t)(c->sets[dat->set].owned * dat->dim),
                                      capture_bytes(c, dat), 0, dat->type, dat->before, dat->after,
                                      most_additions(c, d, &good), 0});
  }
  for (int g = 0; good && g < c->nglobals; g++) {
    const struct capture_value *v = &c->globals[g];
    if (is_written(c, -1, g))
      good =
          add(out, &(struct place){PLACE_GLOBAL, g, 0, (size_t)v->dim,
                                   (size_t)v->dim * type_info(v->type)->size, 0, v->type, v->before, v->after,
                                   c->ncalls ? (double)c->calls[0].count : 0, extreme_of(access_of(c, g))});
  }
  for (int i = 0; good && i < c->ncalls; i++)
    good = add_variables(c, i, out);
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
  const size_t size = type_info(place->type)->size;
  for (size_t k = 0; bits && k < place->count; k++)
    if (!type_same(place->type, a + k * size, b + k * size))
      return k;
  if (bits)
    return place->count;
  const double rounds = 2 * place->additions * (place->type == TYPE_FLOAT ? FLT_EPSILON : DBL_EPSILON);
  double largest = values_largest(place->type, place->before, place->count, 0);
  largest = values_largest(place->type, a, place->count, largest);
  return values_differ(place->type, a, b, place->count,
                       fmax(values_tolerance(place->type), rounds) * largest);
}

size_t place_beyond(const struct place *place, const unsigned char *a, const unsigned char *b) {
  const size_t size = type_info(place->type)->size;
  for (size_t k = 0; place->extreme && k < place->count; k++)
    if (place->extreme * (type_number(place->type, a + k * size) - type_number(place->type, b + k * size)) >
        0)
      return k;
  return place->count;
}

void place_tell(const struct capture *c, const struct place *place, size_t value, struct text *out) {
  if (place->kind == PLACE_DAT) {
    const struct capture_dat *dat = &c->dats[place->number];
    text_addf(out, "dat \"%s\", element %zu of set \"%s\", component %zu", dat->name,
              value / (size_t)dat->dim, c->sets[dat->set].name, value % (size_t)dat->dim);
  } else if (place->kind == PLACE_GLOBAL)
    text_addf(out, "global \"%s\", value %zu", c->globals[place->number].name, value);
  else
    text_addf(out, "loop %s, argument %d, value %zu", c->calls[place->number].name, place->arg + 1, value);
}
