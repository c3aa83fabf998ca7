/* Maps of a random mesh, ordinary and ragged: their tables, and their declarations. */
#include "mirror.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>

/* `count` different numbers below `size`, to every `stride`-th place: in any order, or one after the other. */
static void fill_injective(struct world *w, int *table, int count, int stride, int size) {
  int *order = world_take((size_t)size * sizeof *order);
  const bool straight = w->in_order;
  const int first = straight && size ? random_below(&w->random, size) : 0;
  for (int i = 0; i < size; i++)
    order[i] = (first + i) % size;
  if (!straight)
    random_shuffle(&w->random, order, size);
  for (int i = 0; i < count; i++)
    table[(size_t)i * (size_t)stride] = order[i];
  free(order);
}

/* The targets of each element follow those of the one before, as on a structured mesh, but for a break now and then. */
static void fill_straight(struct world *w, struct wmap *m) {
  int from = w->sets[m->from].size, to = w->sets[m->to].size;
  for (long e = 0; e < from; e++) {
    const bool breaks = e == 0 || random_chance(&w->random, 1);
    for (int c = 0; c < m->arity; c++) {
      int *entry = &m->table[e * m->arity + c];
      *entry = breaks ? random_below(&w->random, to) : (entry[-m->arity] + 1) % to;
    }
  }
}

/* A row of targets that are all different. */
static void take_apart(int *row, long count, int size) {
  for (long i = 0; i < count; i++)
    for (long j = 0; j < i; j++)
      if (row[i] == row[j]) {
        for (long k = 1; k < count; k++)
          row[k] = (int)((row[0] + k) % size);
        return;
      }
}

static void fill_map(struct world *w, struct wmap *m, int column, enum wsharing sharing) {
  int from = w->sets[m->from].size, to = w->sets[m->to].size;
  /* Neighbours that are near, or anywhere, or all the same, or in order. */
  const int kind = random_below(&w->random, 5);
  const bool straight = w->in_order && random_chance(&w->random, 90);
  if (straight)
    fill_straight(w, m);
  for (long i = 0; !straight && i < (long)from * m->arity; i++)
    m->table[i] = kind < 2   ? (int)((i / m->arity * to / from + random_below(&w->random, 3)) % to)
                  : kind < 4 ? random_below(&w->random, to)
                             : 0;
  if (sharing == W_ALONE && column < 0)
    fill_injective(w, m->table, from * m->arity, 1, to);
  else if (sharing == W_ALONE)
    fill_injective(w, m->table + column, from, m->arity, to);
  for (long e = 0; m->once && e < from; e++)
    take_apart(m->table + e * m->arity, m->arity, to);
}

static int new_map(struct world *w, int from, int arity, int column, enum wsharing sharing) {
  const bool alone = sharing == W_ALONE;
  if (w->nmaps == MAX_MAPS)
    return -1;
  struct wmap *m = &w->maps[w->nmaps];
  int n = w->sets[from].size;
  const long least = sharing == W_ANY ? 1 : sharing == W_ONCE ? arity : column < 0 ? (long)n * arity : n;
  int to = world_target_set(w, n == 0 ? 0 : least);
  if (to < 0)
    return -1;
  *m = (struct wmap){.from = from, .to = to, .arity = arity, .once = sharing != W_ANY && column < 0};
  m->table = world_take((size_t)n * (size_t)arity * sizeof(int));
  if (n)
    fill_map(w, m, column, sharing);
  m->injective = alone && column < 0;
  for (int c = 0; c < arity; c++)
    m->column_injective[c] = alone && (column < 0 || c == column);
  world_say(w, "static int t%d[] = ", w->nmaps);
  world_say_values(w, V_INT, m->table, (long)n * arity);
  world_say(w, ";\nop_map m%d = op_decl_map(s%d, s%d, %d, t%d, \"m%d\");\n", w->nmaps, from, to, arity,
            w->nmaps, w->nmaps);
  const long first = (long)w->sets[from].begin * arity;
  char name[16];
  snprintf(name, sizeof name, "m%d", w->nmaps);
  if (random_chance(&w->random, 20)) {
    long long *wide = world_take((size_t)n * (size_t)arity * sizeof *wide);
    for (long i = 0; i < (long)n * arity; i++)
      wide[i] = m->table[i];
    m->handle = op_decl_map_long(w->sets[from].handle, w->sets[to].handle, arity, wide + first, name);
    free(wide);
  } else
    m->handle =
        op_decl_map(w->sets[from].handle, w->sets[to].handle, arity, n ? m->table + first : NULL, name);
  if (!m->handle)
    world_fail(w, "op_decl_map failed: %s", op_last_error()->message);
  else if (w->mirrored)
    mirror_map(m->handle, &w->random);
  return w->nmaps++;
}

int world_map(struct world *w, int from, int arity, int column, enum wsharing sharing) {
  const bool alone = sharing == W_ALONE;
  int start = w->nmaps ? random_below(&w->random, w->nmaps) : 0;
  if (random_chance(&w->random, 60))
    for (int i = 0; i < w->nmaps; i++) {
      int m = (start + i) % w->nmaps;
      const struct wmap *q = &w->maps[m];
      bool fits = column < 0 ? q->arity == arity && (!alone || q->injective) && (sharing == W_ANY || q->once)
                             : q->arity > column && (!alone || q->column_injective[column]);
      if (q->from == from && fits)
        return m;
    }
  if (column >= 0)
    arity = column + 1 + random_below(&w->random, MAX_WIDTH - column);
  return new_map(w, from, arity, column, sharing);
}

/* Elements with no target, with one, with a few, and now and then one with very many. */
static void random_lengths(struct world *w, struct wmap *m) {
  const int size = w->sets[m->from].size, kind = random_below(&w->random, 4);
  const int most = size > 5000 ? 4 : 9,
            many = size && random_chance(&w->random, 40) ? random_below(&w->random, size) : -1;
  m->offsets = world_take(((size_t)size + 1) * sizeof *m->offsets);
  for (int e = 0; e < size; e++) {
    const int length = e == many   ? random_between(&w->random, 20, 700)
                       : kind == 0 ? 1
                       : kind == 1 ? (random_chance(&w->random, 70) ? 0 : random_below(&w->random, most))
                                   : random_below(&w->random, most);
    m->offsets[e + 1] = m->offsets[e] + (w->longest && length > w->longest ? w->longest : length);
  }
}

/* The set of its entries is one like others: data live on it, loops run over it, maps lead to it. */
static bool declare_ragged(struct world *w, struct wmap *m) {
  const struct wset *s = &w->sets[m->from];
  const long long first = m->offsets[s->begin], total = m->offsets[s->size];
  long long *offsets = world_take((size_t)(s->end - s->begin + 1) * sizeof *offsets);
  char name[16];
  snprintf(name, sizeof name, "m%d", w->nmaps);
  for (int e = s->begin; e <= s->end; e++)
    offsets[e - s->begin] = m->offsets[e] - first;
  world_say(w, "static const long long o%d[] = ", w->nmaps);
  world_say_values(w, V_LL, m->offsets, s->size + 1);
  world_say(w, ";\nstatic int t%d[] = ", w->nmaps);
  world_say_values(w, V_INT, m->table, (long)total);
  world_say(
      w,
      ";\nop_map m%d = op_decl_map_ragged(s%d, s%d, o%d, t%d, \"m%d\");\nop_set s%d = op_map_entries(m%d);\n",
      w->nmaps, m->from, m->to, w->nmaps, w->nmaps, w->nmaps, w->nsets, w->nmaps);
  m->handle = op_decl_map_ragged(s->handle, w->sets[m->to].handle, offsets, m->table + first, name);
  free(offsets);
  m->entries = w->nsets;
  w->sets[w->nsets++] = (struct wset){.handle = m->handle ? op_map_entries(m->handle) : NULL,
                                      .size = (int)total,
                                      .begin = (int)first,
                                      .end = (int)m->offsets[s->end],
                                      .entries = true};
  if (!m->handle)
    world_fail(w, "op_decl_map_ragged failed: %s", op_last_error()->message);
  else if (w->mirrored)
    mirror_ragged(m->handle, &w->random);
  return m->handle != NULL;
}

static int new_ragged(struct world *w, int from, enum wsharing sharing) {
  const bool alone = sharing == W_ALONE;
  if (w->nmaps == MAX_MAPS || w->nsets > MAX_SETS - 2)
    return -1;
  struct wmap *m = &w->maps[w->nmaps];
  *m = (struct wmap){.from = from, .injective = alone, .once = sharing != W_ANY};
  random_lengths(w, m);
  const long long total = m->offsets[w->sets[from].size];
  long long least = alone ? total : 1;
  for (int e = 0; m->once && e < w->sets[from].size; e++)
    least = m->offsets[e + 1] - m->offsets[e] > least ? m->offsets[e + 1] - m->offsets[e] : least;
  m->to = world_target_set(w, total ? (long)least : 0);
  if (m->to < 0) {
    free(m->offsets);
    return -1;
  }
  m->table = world_take((size_t)total * sizeof(int));
  const int to = w->sets[m->to].size, kind = random_below(&w->random, 4);
  for (long long i = 0; i < total; i++)
    m->table[i] = kind < 2   ? (int)((i * to / total + random_below(&w->random, 3)) % to)
                  : kind < 3 ? random_below(&w->random, to)
                             : 0;
  if (alone)
    fill_injective(w, m->table, (int)total, 1, to);
  for (int e = 0; m->once && e < w->sets[from].size; e++)
    take_apart(m->table + m->offsets[e], (long)(m->offsets[e + 1] - m->offsets[e]), to);
  declare_ragged(w, m);
  return w->nmaps++;
}

int world_ragged(struct world *w, int from, enum wsharing sharing, int other) {
  const bool alone = sharing == W_ALONE;
  if (random_chance(&w->random, 60))
    for (int m = 0; m < w->nmaps; m++)
      if (w->maps[m].offsets && w->maps[m].from == from && m != other && (!alone || w->maps[m].injective) &&
          (sharing == W_ANY || w->maps[m].once))
        return m;
  return new_ragged(w, from, sharing);
}
