#include "record/columns.h"

#include "base/list.h"

struct columns {
  const struct loop *loop;
  const struct loop_part *part;
  struct plan_column *items;
  int count;
};

/* `table` and `first` from the part's first element on. */
static void push(struct columns *l, const int *table, const long long *first, int arity, int column,
                 const struct set *target) {
  l->items[l->count++] = (struct plan_column){.table = table,
                                              .first = first,
                                              .arity = arity,
                                              .column = column,
                                              .target = target->id,
                                              .target_size = target->extents[EXTENT_NONEXEC]};
}

/* Rows of a ragged map that all are as long are those of a map of one arity. */
static void add_column(struct columns *l, const struct map *map, int arity, int column) {
  push(l, map->table + (size_t)l->part->begin * (size_t)arity, NULL, arity, column, map->to);
}

static void add(struct columns *l, const struct map *map, int column) {
  if (map->first)
    push(l, map->table, map->first + l->part->begin, 1, 0, map->to);
  else
    add_column(l, map, map->arity, column);
}

static void add_turned(struct columns *l) {
  for (int i = 0; i < l->loop->nargs; i++) {
    const struct loop_arg *arg = &l->loop->args[i];
    for (int c = 0; arg_is_turned(arg) && c < arg_columns(arg); c++)
      add(l, arg->map, arg->idx < 0 ? c : arg->idx);
  }
}

static bool shares_its_dat(const struct loop *loop, const struct loop_arg *direct) {
  for (int i = 0; i < loop->nargs; i++)
    if (loop->args[i].dat == direct->dat && arg_is_turned(&loop->args[i]))
      return true;
  return false;
}

/* A dat that is changed and reached through a map, by whatever arguments. Nothing but descriptors is known of a
 * compiled kernel, and where elements meet their order counts: all that reaches such a dat decides which elements may
 * run at the same time. */
static bool is_shared(const struct loop *loop, const struct dat *dat) {
  bool changed = false, mapped = false;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->form != DESC_DAT || !arg->present || arg->dat != dat)
      continue;
    changed |= arg->access != OP_READ;
    mapped |= !arg_is_own(arg);
  }
  return changed && mapped;
}

bool loop_arg_meets(const struct loop *loop, const struct loop_arg *arg) {
  return arg_is_turned(arg) || ((loop->compiled || loop->meets) && arg->form == DESC_DAT && arg->present &&
                                is_shared(loop, arg->dat));
}

bool loop_meets(const struct loop *loop) {
  bool meets = false;
  for (int i = 0; i < loop->nargs; i++)
    meets |= loop_arg_meets(loop, &loop->args[i]);
  return meets;
}

static void add_arg(struct columns *l, const struct loop_arg *arg) {
  if (arg->entry)
    push(l, arg->map->numbers, arg->map->first + l->part->begin, 1, 0, arg->map->entries);
  else if (!arg->map)
    push(l, NULL, NULL, 1, (int)l->part->begin, l->loop->set);
  else
    for (int c = 0; c < arg_columns(arg); c++)
      add(l, arg->map, arg->idx < 0 ? c : arg->idx);
}

static void add_met(struct columns *l) {
  for (int i = 0; i < l->loop->nargs; i++) {
    const struct loop_arg *arg = &l->loop->args[i];
    if (arg->form == DESC_DAT && arg->present && is_shared(l->loop, arg->dat))
      add_arg(l, arg);
  }
}

/* A dat that is also incremented directly meets the elements themselves. */
static void add_written(struct columns *l) {
  if (l->loop->compiled || l->loop->meets) {
    add_met(l);
    return;
  }
  add_turned(l);
  for (int i = 0; i < l->loop->nargs; i++) {
    const struct loop_arg *arg = &l->loop->args[i];
    if (arg->form != DESC_DAT || !arg->present || !arg_is_own(arg) || !access_reduces(arg->access) ||
        !shares_its_dat(l->loop, arg))
      continue;
    add_arg(l, arg);
  }
}

static const struct map *map_of(const struct loop *loop, int map) {
  int i = 0;
  while (loop->desc.args[i].map != map)
    i++;
  return loop->args[i].map;
}

static void add_used(struct columns *l) {
  const struct desc *d = &l->loop->desc;
  for (int m = 0; m < d->nmaps; m++)
    for (int c = 0; c < desc_arity(&d->maps[m]); c++)
      if (desc_uses_column(d, m, c))
        add_column(l, map_of(l->loop, m), desc_arity(&d->maps[m]), c);
}

/* Entries of the loop's elements. */
static bool has_more(const struct loop *loop, const struct map *map, const struct map *than) {
  const long size = loop->set->extents[EXTENT_EXEC];
  return !than || map_begin(map, size) > map_begin(than, size);
}

/* The ragged map with most entries. `open`: of those whose rows are not known to be equal. */
static const struct map *longest_map(const struct loop *loop, bool open) {
  const struct map *most = NULL;
  for (int i = 0; i < loop->nargs; i++) {
    const struct map *map = loop->args[i].map;
    if (map && map->first && has_more(loop, map, most) &&
        !(open && loop->desc.maps[loop->desc.args[i].map].equal))
      most = map;
  }
  return most;
}

const struct map *loop_open_map(const struct loop *loop) {
  return longest_map(loop, true);
}

const long long *loop_work(const struct loop *loop, const struct loop_part *part) {
  const struct map *most = longest_map(loop, false);
  return most ? most->first + part->begin : NULL;
}

int loop_columns(const struct loop *loop, const struct loop_part *part, enum plan_columns which,
                 struct plan_column **out, int *count, struct error *err) {
  static void (*const adders[])(struct columns * l) = {
      [COLUMNS_WRITTEN] = add_written, [COLUMNS_TURNED] = add_turned, [COLUMNS_USED] = add_used};
  struct columns l = {.loop = loop, .part = part};
  size_t most = 0;
  for (int i = 0; i < loop->nargs; i++)
    most += 2 + (size_t)(loop->args[i].map ? loop->args[i].map->arity : 0);
  for (int m = 0; m < loop->desc.nmaps; m++)
    most += (size_t)desc_arity(&loop->desc.maps[m]);
  *out = l.items = array_new(most, sizeof *l.items);
  *count = 0;
  if (!l.items)
    return error_memory(err, "a plan", most * sizeof *l.items);
  if (adders[which])
    adders[which](&l);
  *count = l.count;
  return OP_OK;
}
