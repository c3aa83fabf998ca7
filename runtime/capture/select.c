/* Some elements of a capture, with what they touch. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "capture/capture.h"

/* By set and element: whether it is there in the end, and its new number. By map and element: whether its row counts; rows of
 * others lead to element 0, or nowhere. By dat, map and set: its new number, -1: nothing needs it. */
struct picking {
  const struct capture *from;
  const unsigned char *const *run;
  unsigned char **used, **mapped;
  int **numbers;
  int *dats, *maps, *sets;
  bool changed;
};

static void picking_free(struct picking *p) {
  for (int s = 0; s < p->from->nsets; s++) {
    free(p->used ? p->used[s] : NULL);
    free(p->numbers ? p->numbers[s] : NULL);
  }
  for (int m = 0; p->mapped && m < p->from->nmaps; m++)
    free(p->mapped[m]);
  void *const arrays[] = {p->used, p->mapped, p->numbers, p->dats, p->maps, p->sets};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    free(arrays[i]);
}

static bool picking_make(struct picking *p) {
  const struct capture *c = p->from;
  p->used = array_new((size_t)c->nsets, sizeof *p->used);
  p->numbers = array_new((size_t)c->nsets, sizeof *p->numbers);
  p->mapped = array_new((size_t)c->nmaps, sizeof *p->mapped);
  p->dats = array_new((size_t)c->ndats, sizeof *p->dats);
  p->maps = array_new((size_t)c->nmaps, sizeof *p->maps);
  p->sets = array_new((size_t)c->nsets, sizeof *p->sets);
  bool good = p->used && p->numbers && p->mapped && p->dats && p->maps && p->sets;
  for (int s = 0; good && s < c->nsets; s++) {
    p->used[s] = array_new((size_t)c->sets[s].size, 1);
    p->numbers[s] = array_new((size_t)c->sets[s].size, sizeof **p->numbers);
    good = p->used[s] && p->numbers[s];
  }
  for (int m = 0; good && m < c->nmaps; m++) {
    p->mapped[m] = array_new((size_t)c->sets[c->maps[m].from].size, 1);
    good = p->mapped[m];
  }
  return good;
}

/* ---- what is touched ---- */

static void use(struct picking *p, long long set, long long element) {
  p->changed |= !p->used[set][element];
  p->used[set][element] = 1;
}

static void use_row(struct picking *p, long long m, long long element) {
  const struct capture_map *map = &p->from->maps[m];
  use(p, map->from, element);
  p->changed |= !p->mapped[m][element];
  p->mapped[m][element] = 1;
  for (long long k = capture_begin(map, element); k < capture_end(map, element); k++)
    use(p, map->to, map->table[k]);
}

static bool runs(const struct picking *p, const struct capture_call *call, long long i) {
  const long long element = call->elements ? call->elements[i] : i;
  return !p->run || !p->run[call->set] || p->run[call->set][element];
}

static void use_call(struct picking *p, const struct capture_call *call) {
  for (long long i = 0; i < call->count; i++) {
    const long long element = call->elements ? call->elements[i] : i;
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
  const long long m = p->from->sets[set].entries_of;
  const struct capture_map *map = m >= 0 ? &p->from->maps[m] : NULL;
  for (long long e = 0; map && e < p->from->sets[map->from].size; e++) {
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
  const long long rows = p->from->sets[map->from].size, targets = p->from->sets[map->to].size;
  bool wanted = false;
  for (long long e = 0; map->arity && !wanted && e < rows; e++)
    wanted = p->used[map->from][e] && !mapped[e];
  for (long long k = 0; wanted && k < targets; k++)
    wanted = !p->used[map->to][k];
  if (wanted && targets)
    use(p, map->to, 0);
}

static void need_map(struct picking *p, long long m) {
  p->maps[m] = p->sets[p->from->maps[m].from] = p->sets[p->from->maps[m].to] = 1;
}

static void need_things(struct picking *p) {
  const struct capture *c = p->from;
  for (int i = 0; i < c->ncalls; i++) {
    p->sets[c->calls[i].set] = 1;
    for (int a = 0; a < c->calls[i].nargs; a++) {
      const struct capture_arg *arg = &c->calls[i].args[a];
      if (arg->dat >= 0)
        p->dats[arg->dat] = p->sets[c->dats[arg->dat].set] = 1;
      if (arg->map >= 0)
        need_map(p, arg->map);
    }
  }
  /* Sets of entries come behind what they are made of, and a set of entries may have more of them. */
  for (int s = c->nsets - 1; s >= 0; s--)
    if (p->sets[s] && c->sets[s].entries_of >= 0)
      need_map(p, c->sets[s].entries_of);
}

/* 1 and 0 become numbers and -1; how many there are. */
static int number(int *flags, int count) {
  int next = 0;
  for (int i = 0; i < count; i++)
    flags[i] = flags[i] ? next++ : -1;
  return next;
}

/* ---- copies ---- */

static void *copy_bytes(const void *from, size_t bytes, bool *good) {
  void *to = from ? malloc(bytes ? bytes : 1) : NULL;
  if (to && bytes)
    memcpy(to, from, bytes);
  *good &= to || !from;
  return to;
}

static char *copy_words(const char *from, bool *good) {
  return copy_bytes(from ? from : "", strlen(from ? from : "") + 1, good);
}

static void pick_sets(struct picking *p, struct capture *out, bool *good) {
  for (int s = 0; *good && s < p->from->nsets; s++) {
    const struct capture_set *from = &p->from->sets[s];
    if (p->sets[s] < 0)
      continue;
    struct capture_set *to = &out->sets[p->sets[s]];
    *to = (struct capture_set){.name = copy_words(from->name, good),
                               .entries_of = from->entries_of < 0 ? -1 : p->maps[from->entries_of]};
    for (long long e = 0; e < from->size; e++)
      if (p->used[s][e]) {
        to->owned += e < from->owned;
        p->numbers[s][e] = (int)to->size++;
      }
  }
}

static void pick_map(const struct picking *p, int m, struct capture_map *to, bool *good) {
  const struct capture_map *from = &p->from->maps[m];
  const long long rows = p->from->sets[from->from].size;
  long long row = 0, entries = 0;
  *to = (struct capture_map){.name = copy_words(from->name, good),
                             .from = p->sets[from->from],
                             .to = p->sets[from->to],
                             .arity = from->arity};
  to->table = array_new((size_t)capture_end(from, rows - 1), sizeof *to->table);
  to->first = from->first ? array_new((size_t)rows + 1, sizeof *to->first) : NULL;
  *good &= to->table && (to->first || !from->first);
  for (long long e = 0; *good && e < rows; e++) {
    if (!p->used[from->from][e])
      continue;
    for (long long k = capture_begin(from, e); k < capture_end(from, e); k++)
      if (p->mapped[m][e])
        to->table[entries++] = p->numbers[from->to][from->table[k]];
      else if (from->arity)
        to->table[entries++] = 0;
    row++;
    if (to->first)
      to->first[row] = entries;
  }
}

static void *pick_rows(const struct picking *p, const struct capture_dat *d, const unsigned char *from,
                       size_t rows, bool *good) {
  const size_t row = capture_row(d);
  unsigned char *to = from ? array_new(rows, row) : NULL, *at = to;
  *good &= to || !from;
  for (long long e = 0; to && e < p->from->sets[d->set].size; e++)
    if (p->used[d->set][e]) {
      memcpy(at, from + (size_t)e * row, row);
      at += row;
    }
  return to;
}

static void pick_dat(const struct picking *p, const struct capture *out, const struct capture_dat *from,
                     struct capture_dat *to, bool *good) {
  *to = *from;
  to->name = copy_words(from->name, good);
  to->set = p->sets[from->set];
  const size_t rows = (size_t)out->sets[to->set].size;
  to->before = pick_rows(p, from, from->before, rows, good);
  to->after = pick_rows(p, from, from->after, rows, good);
}

static void pick_values(const struct capture_value *from, int count, struct capture_value *to, bool *good) {
  for (int i = 0; to && i < count; i++) {
    const size_t bytes = (size_t)from[i].dim * type_info(from[i].type)->size;
    to[i] = from[i];
    to[i].name = copy_words(from[i].name, good);
    to[i].before = copy_bytes(from[i].before, bytes, good);
    to[i].after = copy_bytes(from[i].after, bytes, good);
  }
}

static void pick_elements(const struct picking *p, const struct capture *out, const struct capture_call *from,
                          struct capture_call *to, bool *good) {
  to->count = 0;
  to->elements = array_new((size_t)from->count, sizeof *to->elements);
  *good &= to->elements != NULL;
  for (long long i = 0; to->elements && i < from->count; i++)
    if (runs(p, from, i))
      to->elements[to->count++] = p->numbers[from->set][from->elements ? from->elements[i] : i];
  if (to->count == out->sets[to->set].size) {
    free(to->elements);
    to->elements = NULL;
  }
}

static void pick_call(const struct picking *p, const struct capture *out, const struct capture_call *from,
                      struct capture_call *to, bool *good) {
  *to = *from;
  to->name = copy_words(from->name, good);
  to->text = copy_words(from->text, good);
  to->file = copy_words(from->file, good);
  to->variant = copy_words(from->variant, good);
  to->set = p->sets[from->set];
  pick_elements(p, out, from, to, good);
  for (int i = 0; i < from->nargs; i++) {
    struct capture_arg *a = &to->args[i];
    const size_t bytes = (size_t)a->dim * type_info(a->type)->size;
    a->dat = a->dat < 0 ? -1 : p->dats[a->dat];
    a->map = a->map < 0 ? -1 : p->maps[a->map];
    a->before = copy_bytes(a->before, bytes, good);
    a->after = copy_bytes(a->after, bytes, good);
  }
}

static bool make_room(const struct picking *p, struct capture *out) {
  const struct capture *c = p->from;
  out->nsets = number(p->sets, c->nsets);
  out->nmaps = number(p->maps, c->nmaps);
  out->ndats = number(p->dats, c->ndats);
  out->sets = array_new((size_t)out->nsets, sizeof *out->sets);
  out->maps = array_new((size_t)out->nmaps, sizeof *out->maps);
  out->dats = array_new((size_t)out->ndats, sizeof *out->dats);
  out->constants = array_new((size_t)c->nconstants, sizeof *out->constants);
  out->globals = array_new((size_t)c->nglobals, sizeof *out->globals);
  out->calls = array_new((size_t)c->ncalls, sizeof *out->calls);
  const bool good = out->sets && out->maps && out->dats && out->constants && out->globals && out->calls;
  if (!good)
    out->nsets = out->nmaps = out->ndats = 0;
  out->nconstants = good ? c->nconstants : 0;
  out->nglobals = good ? c->nglobals : 0;
  out->ncalls = good ? c->ncalls : 0;
  return good;
}

static bool pick_all(struct picking *p, struct capture *out, struct error *err) {
  const struct capture *c = p->from;
  bool good = make_room(p, out);
  for (int i = 0; good && i < c->nfacts; i++)
    good = capture_add_fact(out, c->facts[i].name, c->facts[i].words, err) == OP_OK;
  if (!good)
    return false;
  pick_sets(p, out, &good);
  for (int m = 0; good && m < c->nmaps; m++)
    if (p->maps[m] >= 0)
      pick_map(p, m, &out->maps[p->maps[m]], &good);
  for (int d = 0; good && d < c->ndats; d++)
    if (p->dats[d] >= 0)
      pick_dat(p, out, &c->dats[d], &out->dats[p->dats[d]], &good);
  pick_values(c->constants, c->nconstants, out->constants, &good);
  pick_values(c->globals, c->nglobals, out->globals, &good);
  for (int i = 0; i < c->ncalls; i++)
    pick_call(p, out, &c->calls[i], &out->calls[i], &good);
  return good;
}

int capture_select(const struct capture *from, const unsigned char *const *run, struct capture *out,
                   struct error *err) {
  struct picking p = {.from = from, .run = run};
  *out = (struct capture){0};
  bool good = picking_make(&p);
  for (int i = 0; good && i < from->ncalls; i++)
    use_call(&p, &from->calls[i]);
  for (p.changed = good; p.changed;) {
    p.changed = false;
    for (int s = 0; s < from->nsets; s++)
      use_entries(&p, s);
    for (int m = 0; m < from->nmaps; m++)
      use_any(&p, &from->maps[m], p.mapped[m]);
  }
  if (good) {
    need_things(&p);
    good = pick_all(&p, out, err);
  }
  picking_free(&p);
  if (good)
    return OP_OK;
  capture_free(out);
  return error_memory(err, "a capture", 0);
}
