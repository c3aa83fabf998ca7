#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "capture/taking.h"
#include "mesh/data.h"
#include "mesh/halo.h"

/* A list of struct capture and what stands beside it grow together. */
static int room(void **things, size_t size, void **beside, size_t beside_size, int count, struct error *err) {
  void *more = array_more(*things, (size_t)count, size);
  if (more)
    *things = more;
  void *other = more ? array_more(*beside, (size_t)count, beside_size) : NULL;
  if (!other)
    return error_memory(err, "a capture", size);
  *beside = other;
  memset((char *)more + (size_t)count * size, 0, size);
  memset((char *)other + (size_t)count * beside_size, 0, beside_size);
  return OP_OK;
}

static int named(char **name, const char *from, struct error *err) {
  *name = strdup(from ? from : "");
  return *name ? OP_OK : error_memory(err, "a capture", 0);
}

/* ---- sets ---- */

struct place {
  int user, element;
};

static int by_user(const void *a, const void *b) {
  const struct place *x = a, *y = b;
  return (x->user > y->user) - (x->user < y->user);
}

/* Owned elements first, then those that run as well, then the rest, each in the user's order. */
static bool order_elements(const struct set *set, int *elements, long rows) {
  const long ends[] = {set->extents[EXTENT_OWNED], set->extents[EXTENT_EXEC], rows};
  struct place *places = array_new((size_t)rows, sizeof *places);
  for (long e = 0; places && e < rows; e++)
    places[e] = (struct place){set->to_user ? set->to_user[e] : (int)e, (int)e};
  long begin = 0;
  for (int p = 0; places && p < 3; p++) {
    if (ends[p] > begin)
      qsort(places + begin, (size_t)(ends[p] - begin), sizeof *places, by_user);
    begin = ends[p] > begin ? ends[p] : begin;
  }
  for (long e = 0; places && e < rows; e++)
    elements[e] = places[e].element;
  free(places);
  return places;
}

enum { NO_MAP = -1 }; /* the id of what the program has not */

/* Entries stand behind each other in the order of their elements. */
static void order_entries(const struct taking *t, const struct map *map, long long number, int *elements) {
  const struct taken_set *from = &t->sets[t->all.maps[number].from];
  long at = 0;
  for (long long e = 0; e < t->all.sets[t->all.maps[number].from].size; e++)
    if (from->elements[e] < from->set->extents[EXTENT_EXEC])
      for (long long k = map->first[from->elements[e]]; k < map->first[from->elements[e] + 1]; k++)
        elements[at++] = (int)k;
}

static long rows_of(const struct set *set) {
  const struct map *map = set->entries_of;
  return map ? (long)map->first[map->from->extents[EXTENT_EXEC]] : set_rows(set);
}

long long taking_set(struct taking *t, const struct set *set, struct error *err) {
  const long long entries_of = set->entries_of ? taking_map(t, set->entries_of, err) : -1;
  for (int i = 0; i < t->all.nsets; i++)
    if (entries_of >= 0 ? t->all.sets[i].entries_of == entries_of
                        : t->sets[i].set == set && t->sets[i].handle == set->handle)
      return i;
  const long rows = rows_of(set);
  if (err->code ||
      room((void **)&t->all.sets, sizeof *t->all.sets, (void **)&t->sets, sizeof *t->sets, t->all.nsets, err))
    return -1;
  struct capture_set *made = &t->all.sets[t->all.nsets];
  struct taken_set *taken = &t->sets[t->all.nsets++];
  *made = (struct capture_set){.size = rows, .owned = set->extents[EXTENT_OWNED], .entries_of = entries_of};
  *taken = (struct taken_set){set, set->handle, array_new((size_t)rows, sizeof(int)),
                              array_new((size_t)rows, sizeof(int))};
  if (named(&made->name, set->name, err))
    return -1;
  if (taken->elements && taken->numbers && set->entries_of)
    order_entries(t, set->entries_of, entries_of, taken->elements);
  else if (!taken->elements || !taken->numbers || !order_elements(set, taken->elements, rows)) {
    error_memory(err, "a capture", (size_t)rows * sizeof(int));
    return -1;
  }
  for (long e = 0; e < rows; e++)
    taken->numbers[taken->elements[e]] = (int)e;
  return t->all.nsets - 1;
}

/* ---- maps ---- */

static bool take_rows(const struct taking *t, const struct map *map, struct capture_map *to) {
  const struct taken_set *from = &t->sets[to->from], *targets = &t->sets[to->to];
  const long long rows = t->all.sets[to->from].size;
  const long known = map->from->extents[EXTENT_EXEC];
  long long at = 0;
  to->first = map->first ? array_new((size_t)rows + 1, sizeof *to->first) : NULL;
  to->table = array_new(map->first ? (size_t)map->first[known] : (size_t)rows * (size_t)map->arity,
                        sizeof *to->table);
  if (!to->table || (map->first && !to->first))
    return false;
  for (long long e = 0; e < rows; e++) {
    const long element = from->elements[e];
    if (element < known)
      for (long k = map_begin(map, element); k < map_end(map, element); k++)
        to->table[at++] = targets->numbers[map->table[k]];
    else
      at += map->arity;
    if (to->first)
      to->first[e + 1] = at;
  }
  return true;
}

long long taking_map(struct taking *t, const struct map *map, struct error *err) {
  for (int i = 0; i < t->all.nmaps; i++)
    if (t->maps[i] == map->id)
      return i;
  const long long from = taking_set(t, map->from, err), to = from < 0 ? -1 : taking_set(t, map->to, err);
  if (to < 0 ||
      room((void **)&t->all.maps, sizeof *t->all.maps, (void **)&t->maps, sizeof *t->maps, t->all.nmaps, err))
    return -1;
  struct capture_map *made = &t->all.maps[t->all.nmaps];
  t->maps[t->all.nmaps++] = map->id;
  *made = (struct capture_map){.from = from, .to = to, .arity = map->arity};
  if (named(&made->name, map->name, err))
    return -1;
  if (take_rows(t, map, made))
    return t->all.nmaps - 1;
  error_memory(err, "a capture", 0);
  return -1;
}

/* The map from a set of the elements that other ranks own to these, among all of `set`. */
static long long taking_others(struct taking *t, long long set, struct error *err) {
  const long long owned = t->all.sets[set].owned, count = t->all.sets[set].size - owned;
  const int s = t->all.nsets, m = t->all.nmaps;
  for (int i = 0; i < m; i++)
    if (t->maps[i] == NO_MAP && t->all.maps[i].to == set)
      return i;
  if (room((void **)&t->all.sets, sizeof *t->all.sets, (void **)&t->sets, sizeof *t->sets, s, err) ||
      room((void **)&t->all.maps, sizeof *t->all.maps, (void **)&t->maps, sizeof *t->maps, m, err))
    return -1;
  t->all.nsets++;
  t->all.nmaps++;
  t->maps[m] = NO_MAP;
  t->all.sets[s] = (struct capture_set){.size = count, .owned = count, .entries_of = -1};
  t->all.maps[m] =
      (struct capture_map){.from = s, .to = set, .arity = 1, .table = array_new((size_t)count, sizeof(int))};
  if (named(&t->all.sets[s].name, "received", err) || named(&t->all.maps[m].name, "received", err))
    return -1;
  if (!t->all.maps[m].table) {
    error_memory(err, "a capture", (size_t)count * sizeof(int));
    return -1;
  }
  for (long long i = 0; i < count; i++)
    t->all.maps[m].table[i] = (int)(owned + i);
  return m;
}

/* ---- values ---- */

unsigned char *taking_rows(const struct taking *t, long long number, const struct dat *dat) {
  const struct capture_data *d = &t->all.data[number];
  unsigned char *to = array_new(capture_rows(&t->all, d), capture_row(d)), *at = to;
  for (size_t e = 0; to && e < capture_rows(&t->all, d); e++)
    for (int c = 0; c < dat->dim; c++, at += dat->value_size)
      memcpy(at, dat_value(dat, t->sets[d->set].elements[e], c), dat->value_size);
  return to;
}

/* The next data, with the dat's values, or those at `values`; both NULL: zeros. */
static long long add(struct taking *t, struct capture_data made, const char *name, const struct dat *dat,
                     const void *values, struct error *err) {
  const int number = t->all.ndata;
  if (room((void **)&t->all.data, sizeof *t->all.data, (void **)&t->data, sizeof *t->data, number, err))
    return -1;
  struct capture_data *to = &t->all.data[t->all.ndata++];
  *to = made;
  const size_t bytes = capture_bytes(&t->all, to);
  to->before = dat ? taking_rows(t, number, dat) : array_new(bytes, 1);
  if (named(&to->name, name, err) || !to->before) {
    error_memory(err, "a capture", bytes);
    return -1;
  }
  if (values)
    memcpy(to->before, values, bytes);
  return number;
}

long long taking_dat(struct taking *t, struct dat *dat, struct error *err) {
  for (int i = 0; i < t->all.ndata; i++)
    if (t->data[i].dat == dat)
      return i;
  const long long set = taking_set(t, dat->set, err);
  const struct capture_data made = {
      .set = set, .dim = dat->dim, .type = dat->type, .soa = dat->asked_soa, .view = dat->view != NULL};
  const long long number = set < 0 ? -1 : add(t, made, dat->name, dat, NULL, err);
  if (number >= 0)
    t->data[number] = (struct taken_data){
        .dat = dat, .id = dat->id, .version = dat->version, .known = {dat->version, dat->copies}};
  return number;
}

long long taking_zeros(struct taking *t, long long set, int dim, enum type_code type, const char *name,
                       struct error *err) {
  return add(t, (struct capture_data){.set = set, .dim = dim, .type = type}, name, NULL, NULL, err);
}

static long long add_value(struct taking *t, enum capture_kind kind, int dim, enum type_code type,
                           const char *name, const void *values, struct error *err) {
  const struct capture_data made = {.kind = kind, .set = -1, .dim = dim, .type = type};
  return add(t, made, name, NULL, values, err);
}

long long taking_variable(struct taking *t, int dim, enum type_code type, const void *values,
                          struct error *err) {
  return add_value(t, CAPTURE_VARIABLE, dim, type, "", values, err);
}

long long taking_global(struct taking *t, struct gbl *gbl, struct error *err) {
  for (int i = 0; i < t->all.ndata; i++)
    if (t->data[i].gbl == gbl)
      return i;
  const long long number = add_value(t, CAPTURE_GLOBAL, gbl->dim, gbl->type, gbl->name, gbl->value, err);
  if (number >= 0)
    t->data[number].gbl = gbl;
  return number;
}

long long taking_constant(struct taking *t, const struct constant *constant, struct error *err) {
  for (int i = 0; i < t->all.ndata; i++)
    if (t->all.data[i].kind == CAPTURE_CONSTANT && strcmp(t->all.data[i].name, constant->name) == 0) {
      if (memcmp(t->all.data[i].before, constant->value, constant->bytes) != 0)
        t->failed = "a constant got another value meanwhile";
      return i;
    }
  return add_value(t, CAPTURE_CONSTANT, constant->dim, constant->type, constant->name, constant->value, err);
}

struct capture_call *taking_call(struct taking *t, struct error *err) {
  struct capture_call *more = array_more(t->all.calls, (size_t)t->all.ncalls, sizeof *more);
  if (!more) {
    error_memory(err, "a capture", sizeof *more);
    return NULL;
  }
  t->all.calls = more;
  more[t->all.ncalls] = (struct capture_call){.set = 0};
  return &more[t->all.ncalls++];
}

void taking_free(struct taking *t) {
  for (int i = 0; i < t->all.nsets; i++) {
    free(t->sets[i].elements);
    free(t->sets[i].numbers);
  }
  capture_free(&t->all);
  free(t->sets);
  free(t->maps);
  free(t->data);
  free(t->loop);
  free(t->file);
}

/* Exchanges of ranks and sums of matrices as calls with kernels of their own, so that a replay needs nothing but calls. */

static struct capture_arg arg_of(const struct taking *t, long long data, op_access access) {
  return (struct capture_arg){.form = DESC_DAT,
                              .access = access,
                              .present = 1,
                              .data = data,
                              .map = -1,
                              .idx = -1,
                              .dim = t->all.data[data].dim,
                              .ref = -1,
                              .type = t->all.data[data].type};
}

/* Over all of `set`; NULL: no memory. `text` is taken. */
static struct capture_call *add_step(struct taking *t, const char *name, struct text *text, long long set,
                                     const struct capture_arg args[2], struct error *err) {
  struct capture_call *made = taking_call(t, err);
  if (made) {
    *made = (struct capture_call){.name = strdup(name),
                                  .text = text_take(text),
                                  .file = strdup(""),
                                  .variant = strdup(""),
                                  .set = set,
                                  .count = t->all.sets[set].size,
                                  .nargs = 2,
                                  .args = {args[0], args[1]}};
    if (!made->name || !made->text || !made->file || !made->variant) {
      error_memory(err, "a capture", 0);
      made = NULL;
    }
  }
  text_free(text);
  return made;
}

int taking_receive(struct taking *t, const struct loop *loop, long long number, struct error *err) {
  struct taken_data *taken = &t->data[number];
  const struct capture_data to = t->all.data[number];
  const size_t row = capture_row(&to), owned = (size_t)t->all.sets[to.set].owned;
  if (taken->known[0] == taken->dat->version && taken->known[1] == taken->dat->copies)
    return OP_OK;
  taken->known[0] = taken->dat->version;
  taken->known[1] = taken->dat->copies;
  if (owned == capture_rows(&t->all, &to))
    return OP_OK;
  const long long map = taking_others(t, to.set, err), set = map < 0 ? -1 : t->all.maps[map].from;
  const long long from = map < 0 ? -1 : taking_zeros(t, set, (int)to.dim, to.type, to.name, err);
  if (from < 0)
    return err->code;
  unsigned char *rows = taking_rows(t, number, t->data[number].dat);
  if (!rows)
    return error_memory(err, "a capture", 0);
  memcpy(t->all.data[from].before, rows + owned * row, capture_bytes(&t->all, &t->all.data[from]));
  free(rows);
  struct text text = {0};
  const char *type = type_info(to.type)->name;
  text_addf(
      &text,
      "%s\nvoid receive_copies(const %s *from, %s *to) {\n  for (int i = 0; i < %lld; i++)\n    to[i] = "
      "from[i];\n}\n",
      type_is_struct(to.type) ? loop->desc.text : "", type, type, to.dim);
  struct capture_arg args[] = {arg_of(t, from, OP_READ), arg_of(t, number, OP_WRITE)};
  args[1].map = map;
  args[1].idx = 0;
  return add_step(t, "receive_copies", &text, set, args, err) ? OP_OK : err->code;
}

int taking_give(struct taking *t, int call, long long from, long long to, int access, struct error *err) {
  struct text text = {0};
  text_addf(
      &text,
      "void give_to_matrix(double *from, double *to) {\n  for (int i = 0; i < %lld; i++) {\n    to[i] %s "
      "from[i];\n    from[i] = 0;\n  }\n}\n",
      t->all.data[from].dim, access == OP_INC ? "+=" : "=");
  const struct capture_arg args[] = {arg_of(t, from, OP_RW), arg_of(t, to, (op_access)access)};
  struct capture_call *made = add_step(t, "give_to_matrix", &text, t->all.calls[call].set, args, err);
  const struct capture_call *like = &t->all.calls[call];
  if (!made || !like->elements)
    return made ? OP_OK : err->code;
  made->count = like->count;
  made->elements = array_new((size_t)like->count, sizeof *made->elements);
  if (!made->elements)
    return error_memory(err, "a capture", (size_t)like->count * sizeof *made->elements);
  memcpy(made->elements, like->elements, (size_t)like->count * sizeof *made->elements);
  return OP_OK;
}
