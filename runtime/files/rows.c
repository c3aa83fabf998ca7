#include "files/rows.h"

#include <limits.h>
#include <stdlib.h>

#include "base/size.h"
#include "context/context.h"
#include "files/io.h"
#include "mesh/data.h"
#include "spread/spread.h"

int rows_of_dat(struct op_context *ctx, void *object, long low, long count, void *out, struct error *err) {
  return data_fetch(ctx, object, out, low, low + count - 1, err);
}

enum type_code map_number_type(const struct map *map) {
  return map->to->global_size > INT_MAX ? TYPE_LONGLONG : TYPE_INT;
}

/* With ranks all rows come at once, as long as `out` takes them. */
static int spread_rows(struct op_context *ctx, const struct map *map, long low, long count, void *out,
                       struct error *err) {
  const size_t width = (size_t)map_width(map), entries = (size_t)map_rows_of(map)->size * width;
  const enum type_code type = map_number_type(map);
  long long *rows = array_new(entries, sizeof *rows);
  int code = rows ? spread_fetch_map(ctx, map, rows, err)
                  : error_memory(err, "a map's rows", entries * sizeof *rows);
  for (size_t i = 0; !code && i < (size_t)count * width; i++) {
    const long long number = rows[(size_t)low * width + i];
    if (type == TYPE_INT)
      ((int *)out)[i] = (int)number;
    else
      ((long long *)out)[i] = number;
  }
  free(rows);
  return code;
}

int rows_of_map(struct op_context *ctx, void *object, long low, long count, void *out, struct error *err) {
  const struct map *map = object;
  if (spread_wanted(ctx))
    return spread_rows(ctx, map, low, count, out, err);
  const int *rows = map_rows_of(map)->from_user, *users = map->to->to_user, width = map_width(map);
  int *at = out;
  for (long e = low; e < low + count; e++) {
    const int *row = map->table + (size_t)(rows ? rows[e] : e) * (size_t)width;
    for (int i = 0; i < width; i++)
      *at++ = users ? users[row[i]] : row[i];
  }
  return OP_OK;
}

int rows_know(struct op_context *ctx, const struct map *map, struct rows_known *out, struct error *err) {
  const size_t elements = (size_t)map->from->size;
  const size_t targets = (size_t)map_rows_of(map)->size * (size_t)map_width(map);
  *out = (struct rows_known){array_new(elements + 1, sizeof *out->first),
                             array_new(targets, sizeof *out->targets)};
  int code = out->first && out->targets
                 ? OP_OK
                 : error_memory_of(err, "the rows of map", map->name, targets * sizeof *out->targets);
  code = together_agree(ctx->comm, code, err);
  if (!code && map->first)
    code = spread_fetch_offsets(ctx, map, out->first, err);
  const long long before = code ? 0 : out->first[0];
  for (size_t e = 0; !code && e <= elements; e++)
    out->first[e] = map->first ? out->first[e] - before : (long long)e * map->arity;
  if (!code && spread_wanted(ctx))
    return spread_fetch_map(ctx, map, out->targets, err);
  const int *rows = map_rows_of(map)->from_user, *users = map->to->to_user, width = map_width(map);
  for (size_t i = 0; !code && i < targets; i++) {
    const size_t row = i / (size_t)width, column = i % (size_t)width;
    const int target = map->table[(rows ? (size_t)rows[row] : row) * (size_t)width + column];
    out->targets[i] = users ? users[target] : target;
  }
  return code;
}

void rows_forget(struct rows_known *rows) {
  free(rows->first);
  free(rows->targets);
  *rows = (struct rows_known){0};
}

int rows_write(struct op_context *ctx, struct layout *l, const struct rows_table *t, struct error *err) {
  const size_t row_bytes = (size_t)t->dim * type_info(t->type)->size;
  const struct set *set = t->set;
  const long batch = !together_alone(ctx->comm) ? set->size
                     : row_bytes < LAYOUT_ROUND ? (long)(LAYOUT_ROUND / row_bytes)
                                                : 1;
  const long room = batch < set->size ? batch : set->size;
  void *rows = array_new((size_t)room, row_bytes);
  int code = together_agree(l->comm,
                            rows ? OP_OK : error_memory(err, "a file's rows", (size_t)room * row_bytes), err);
  layout_expect(l, (double)set->size * (double)row_bytes);
  /* Once at least: ranks without rows take part. */
  for (long low = 0, left = set->size; !code && (low == 0 || left > 0); low += batch, left -= batch) {
    const long count = left < batch ? left : batch;
    code = together_agree(l->comm, t->source(ctx, t->object, low, count, rows, err), err);
    if (!code)
      code = layout_write(l, t->name, t->type, t->dim, t->before + set->global_first + low, count, rows, err);
    if (!batch)
      break;
  }
  layout_expect(l, 0);
  free(rows);
  return code;
}
