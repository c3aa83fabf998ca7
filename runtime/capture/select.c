/* Some elements of a capture, with what they touch. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "capture/capture.h"

/* By set and element: whether it is there in the end, and its new number. By map and element: whether its row counts; rows of
 * others lead to element 0, or nowhere. By data, map and set: its new number, -1: nothing needs it. */
struct picking {
  struct capture *c;
  int nsets, nmaps; /* as they were */
  const unsigned char *const *run;
  unsigned char **used, **mapped;
  int **numbers;
  int *data, *maps, *sets;
  bool changed;
};

static void picking_free(struct picking *p) {
  capture_flags_free(p->used, p->nsets);
  for (int s = 0; p->numbers && s < p->nsets; s++)
    free(p->numbers[s]);
  for (int m = 0; p->mapped && m < p->nmaps; m++)
    free(p->mapped[m]);
  void *const arrays[] = {p->mapped, p->numbers, p->data, p->maps, p->sets};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    free(arrays[i]);
}

static bool picking_make(struct picking *p) {
  const struct capture *c = p->c;
  p->used = capture_flags(c);
  p->numbers = array_new((size_t)c->nsets, sizeof *p->numbers);
  p->mapped = array_new((size_t)c->nmaps, sizeof *p->mapped);
  p->data = array_new((size_t)c->ndata, sizeof *p->data);
  p->maps = array_new((size_t)c->nmaps, sizeof *p->maps);
  p->sets = array_new((size_t)c->nsets, sizeof *p->sets);
  bool good = p->used && p->numbers && p->mapped && p->data && p->maps && p->sets;
  for (int s = 0; good && s < c->nsets; s++)
    good = (p->numbers[s] = array_new((size_t)c->sets[s].size, sizeof **p->numbers));
  for (int m = 0; good && m < c->nmaps; m++)
    good = (p->mapped[m] = array_new((size_t)c->sets[c->maps[m].from].size, 1));
  return good;
}

/* ---- what is touched ---- */

static void use(struct picking *p, long long set, long long element) {
  p->changed |= !p->used[set][element];
  p->used[set][element] = 1;
}

static void use_row(struct picking *p, long long m, long long element) {
  const struct capture_map *map = &p->c->maps[m];
  use(p, map->from, element);
  p->changed |= !p->mapped[m][element];
  p->mapped[m][element] = 1;
  for (long long k = capture_begin(map, element); k < capture_end(map, element); k++)
    use(p, map->to, map->table[k]);
}

static bool runs(const struct picking *p, const struct capture_call *call, long long i) {
  return !p->run || p->run[call->set][capture_element(call, i)];
}

static void use_call(struct picking *p, const struct capture_call *call) {
  for (long long i = 0; i < call->count; i++) {
    const long long element = capture_element(call, i);
    if (!runs(p, call, i))
      continue;
    use(p, call->set, element);
    for (int a = 0; a < call->nargs; a++)
      if (call->args[a].map >= 0)
        use_row(p, call->args[a].map, element);
  }
}

/* An entry is there with its whole row, and a row with all its entries. */
static void use_entries(struct picking *p, int set) {
  const long long m = p->c->sets[set].entries_of;
  const struct capture_map *map = m >= 0 ? &p->c->maps[m] : NULL;
  for (long long e = 0; map && e < p->c->sets[map->from].size; e++) {
    bool any = p->mapped[m][e];
    for (long long k = map->first[e]; !any && k < map->first[e + 1]; k++)
      any = p->used[set][k];
    if (!any)
      continue;
    use_row(p, m, e);
    for (long long k = map->first[e]; k < map->first[e + 1]; k++)
      use(p, set, k);
  }
}

/* Rows that do not count lead to the first element that is there: one has to be. */
static void use_any(struct picking *p, const struct capture_map *map, const unsigned char *mapped) {
  const long long rows = p->c->sets[map->from].size, targets = p->c->sets[map->to].size;
  bool wanted = false;
  for (long long e = 0; map->arity && !wanted && e < rows; e++)
    wanted = p->used[map->from][e] && !mapped[e];
  for (long long k = 0; wanted && k < targets; k++)
    wanted = !p->used[map->to][k];
  if (wanted && targets)
    use(p, map->to, 0);
}

static void need_map(struct picking *p, long long m) {
  p->maps[m] = p->sets[p->c->maps[m].from] = p->sets[p->c->maps[m].to] = 1;
}

static void need_things(struct picking *p) {
  const struct capture *c = p->c;
  for (int i = 0; i < c->ncalls; i++) {
    p->sets[c->calls[i].set] = 1;
    for (int a = 0; a < c->calls[i].nargs; a++) {
      const struct capture_arg *arg = &c->calls[i].args[a];
      if (arg->data >= 0)
        p->data[arg->data] = 1;
      if (arg->map >= 0)
        need_map(p, arg->map);
    }
  }
  for (int d = 0; d < c->ndata; d++) {
    p->data[d] |= c->data[d].kind == CAPTURE_CONSTANT;
    if (p->data[d] && c->data[d].set >= 0)
      p->sets[c->data[d].set] = 1;
  }
  /* Sets of entries come behind what they are made of, and a set of entries may have more of them. */
  for (int s = c->nsets - 1; s >= 0; s--)
    if (p->sets[s] && c->sets[s].entries_of >= 0)
      need_map(p, c->sets[s].entries_of);
}

/* 1 and 0 become numbers and -1. */
static void number(int *flags, int count) {
  int next = 0;
  for (int i = 0; i < count; i++)
    flags[i] = flags[i] ? next++ : -1;
}

/* ---- what is left moves up ---- */

static void pick_map(const struct picking *p, int m) {
  struct capture_map *map = &p->c->maps[m];
  long long row = 0, entries = 0, k = 0;
  for (long long e = 0; e < p->c->sets[map->from].size; e++) {
    const bool used = p->used[map->from][e], wanted = used && p->mapped[m][e];
    for (const long long end = capture_end(map, e); k < end; k++)
      if (wanted || (used && map->arity))
        map->table[entries++] = wanted ? p->numbers[map->to][map->table[k]] : 0;
    row += used;
    if (map->first)
      map->first[row] = entries;
  }
}

static void pick_rows(const struct picking *p, const struct capture_data *d, unsigned char *rows) {
  const size_t row = capture_row(d);
  unsigned char *at = rows;
  for (long long e = 0; rows && d->set >= 0 && e < p->c->sets[d->set].size; e++)
    if (p->used[d->set][e]) {
      memmove(at, rows + (size_t)e * row, row);
      at += row;
    }
}

static void pick_set(const struct picking *p, int s) {
  struct capture_set *set = &p->c->sets[s];
  long long size = 0, owned = 0;
  for (long long e = 0; e < set->size; e++) {
    size += p->used[s][e];
    owned += p->used[s][e] && e < set->owned;
  }
  set->size = size;
  set->owned = owned;
  set->entries_of = set->entries_of < 0 ? -1 : p->maps[set->entries_of];
}

static bool pick_elements(const struct picking *p, struct capture_call *call) {
  long long count = 0;
  int *elements = array_new((size_t)call->count, sizeof *elements);
  for (long long i = 0; elements && i < call->count; i++)
    if (runs(p, call, i))
      elements[count++] = p->numbers[call->set][capture_element(call, i)];
  if (!elements)
    return false;
  free(call->elements);
  call->count = count;
  call->elements = count == p->c->sets[call->set].size ? NULL : elements;
  if (!call->elements)
    free(elements);
  return true;
}

static void renumber(const struct picking *p) {
  struct capture *c = p->c;
  for (int m = 0; m < c->nmaps; m++) {
    c->maps[m].from = p->sets[c->maps[m].from];
    c->maps[m].to = p->sets[c->maps[m].to];
  }
  for (int d = 0; d < c->ndata; d++)
    c->data[d].set = c->data[d].set < 0 ? -1 : p->sets[c->data[d].set];
  for (int i = 0; i < c->ncalls; i++) {
    struct capture_call *call = &c->calls[i];
    call->set = p->sets[call->set];
    for (int k = 0; k < call->nargs; k++) {
      struct capture_arg *a = &call->args[k];
      a->data = a->data < 0 ? -1 : p->data[a->data];
      a->map = a->map < 0 ? -1 : p->maps[a->map];
    }
  }
  capture_keep(c, p->sets, p->maps, p->data);
}

static bool pick_all(const struct picking *p) {
  struct capture *c = p->c;
  bool good = true;
  number(p->sets, c->nsets);
  number(p->maps, c->nmaps);
  number(p->data, c->ndata);
  for (int s = 0; s < c->nsets; s++)
    for (long long e = 0, next = 0; e < c->sets[s].size; e++)
      p->numbers[s][e] = p->used[s][e] ? (int)next++ : 0;
  for (int m = 0; m < c->nmaps; m++)
    pick_map(p, m);
  for (int d = 0; d < c->ndata; d++) {
    pick_rows(p, &c->data[d], c->data[d].before);
    pick_rows(p, &c->data[d], c->data[d].after);
  }
  for (int s = 0; s < c->nsets; s++)
    pick_set(p, s);
  for (int i = 0; good && i < c->ncalls; i++)
    good = pick_elements(p, &c->calls[i]);
  return good;
}

int capture_select(struct capture *c, const unsigned char *const *run, struct error *err) {
  struct picking p = {.c = c, .nsets = c->nsets, .nmaps = c->nmaps, .run = run};
  bool good = picking_make(&p);
  for (int i = 0; good && i < c->ncalls; i++)
    use_call(&p, &c->calls[i]);
  for (p.changed = good; p.changed;) {
    p.changed = false;
    for (int s = 0; s < c->nsets; s++)
      use_entries(&p, s);
    for (int m = 0; m < c->nmaps; m++)
      use_any(&p, &c->maps[m], p.mapped[m]);
  }
  if (good) {
    need_things(&p);
    good = pick_all(&p);
  }
  if (good)
    renumber(&p);
  picking_free(&p);
  return good ? OP_OK : error_memory(err, "a capture", 0);
}
