#include "check/cell.h"

#include <string.h>

/* Most rows are a few doubles, for which a call costs more than the copying. */
static inline void copy(unsigned char *to, const unsigned char *from, size_t bytes) {
  switch (bytes) {
  case 8: memcpy(to, from, 8); return;
  case 16: memcpy(to, from, 16); return;
  case 32: memcpy(to, from, 32); return;
  default: memcpy(to, from, bytes);
  }
}

static inline bool same(const unsigned char *a, const unsigned char *b, size_t bytes) {
  uint64_t x, y;
  if (bytes != sizeof x)
    return memcmp(a, b, bytes) == 0;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return x == y;
}

static void load_numbers(const struct loop *loop, const struct loop_arg *arg, long element,
                         unsigned char *row) {
  const struct set *set = arg->map ? arg->map->to : loop->set;
  for (int c = 0; c < arg->dim; c++) {
    const int target = (int)row_target(arg, element, c);
    const int number = loop->compiled ? target : user_number(set, target);
    memcpy(row + (size_t)c * sizeof number, &number, sizeof number);
  }
}

static const unsigned char *global_start(const struct cell *cell, int arg) {
  const struct loop_arg *a = &cell->loop->args[arg];
  return a->info >= 0 ? cell->launch->user[arg] : cell->launch->slots + a->offset;
}

static void load_global(const struct cell *cell, int i, unsigned char *row) {
  const struct loop_arg *arg = &cell->loop->args[i];
  copy(row, access_is_extremum(arg->access) ? global_start(cell, i) : cell->launch->globals + arg->offset,
       arg->bytes);
}

static void load_row(const struct cell *cell, int side, int i, int r, long element) {
  const struct loop *loop = cell->loop;
  const struct loop_arg *arg = &loop->args[i];
  unsigned char *row = cell_row(cell, side, i, r);
  if (is_undefined_before(arg)) {
    memset(row, row_poison(loop, side, i), arg->bytes);
    return;
  }
  switch (arg->form) {
  case DESC_IDX: load_numbers(loop, arg, element, row); return;
  case DESC_INFO: memcpy(row, cell->launch->user[i], arg->bytes); return;
  case DESC_GBL:
  case DESC_DAT: break;
  }
  if (arg->access == OP_INC || is_matrix(arg))
    memset(row, 0, arg->bytes);
  else if (arg->form == DESC_GBL)
    load_global(cell, i, row);
  else if (!arg->dat->soa)
    copy(row, dat_value(arg->dat, row_target(arg, element, r), 0), arg->bytes);
  else
    for (int c = 0; c < arg->dim; c++)
      memcpy(row + (size_t)c * arg->dat->value_size, dat_value(arg->dat, row_target(arg, element, r), c),
             arg->dat->value_size);
}

const unsigned char *row_start(struct cell *cell, int arg, int r, long element) {
  const struct loop_arg *a = &cell->loop->args[arg];
  if (a->form == DESC_GBL)
    return global_start(cell, arg);
  load_row(cell, 1, arg, r, element);
  return cell_row(cell, 1, arg, r);
}

void rows_load(struct cell *cell, int side, long element) {
  cell_turn(cell, element);
  for (int i = 0; i < cell->loop->nargs; i++)
    for (int r = 0; r < cell->args[i].rows; r++)
      load_row(cell, side, i, r, element);
}

bool row_is_unchanged(struct cell *cell, int side, int arg, int r, long element) {
  const struct loop_arg *a = &cell->loop->args[arg];
  const unsigned char *row = cell_row(cell, side, arg, r);
  if (a->form == DESC_DAT && !a->dat->soa)
    return same(row, dat_value(a->dat, row_target(a, element, r), 0), a->bytes);
  load_row(cell, 1, arg, r, element);
  return same(row, cell_row(cell, 1, arg, r), a->bytes);
}

static void increase(enum type_code type, unsigned char *value, const unsigned char *by) {
  double a, b;
  if (type != TYPE_DOUBLE) {
    type_combine(type, OP_INC, value, by);
    return;
  }
  memcpy(&a, value, sizeof a);
  memcpy(&b, by, sizeof b);
  a += b;
  memcpy(value, &a, sizeof a);
}

static void store_dat(const struct cell *cell, int i, int r, long element) {
  const struct loop_arg *arg = &cell->loop->args[i];
  const unsigned char *row = cell_row(cell, 0, i, r);
  const long target = row_target(arg, element, r);
  if (!access_reduces(arg->access) && !arg->dat->soa) {
    copy(dat_value(arg->dat, target, 0), row, arg->bytes);
    return;
  }
  for (int c = 0; c < arg->dim; c++) {
    unsigned char *value = dat_value(arg->dat, target, c);
    const unsigned char *fresh = row + (size_t)c * arg->dat->value_size;
    if (arg->access == OP_INC)
      increase(arg->type, value, fresh);
    else if (access_is_extremum(arg->access))
      type_improve(arg->type, arg->access, value, value, fresh);
    else
      memcpy(value, fresh, arg->dat->value_size);
  }
}

void rows_remedy(const struct cell *cell, int i, struct text *out) {
  text_addf(out, "let k in OP_ROW(x, k) go from 0 to n - 1 (n is %d here)", cell->args[i].rows);
}

static void store_global(const struct cell *cell, int i, long element) {
  const struct launch *launch = cell->launch;
  const struct loop_arg *arg = &launch->loop->args[i];
  const unsigned char *row = cell_row(cell, 0, i, 0);
  const size_t size = type_info(arg->type)->size;
  if (arg->info >= 0)
    launch_offer_extremum(launch, i, launch->slots, row, cell_row(cell, 0, arg->info, 0),
                          user_number(launch->loop->set, element));
  else if (access_assigns(arg->access))
    memcpy(launch->globals + arg->offset, row, arg->bytes);
  else
    for (int c = 0; c < arg->dim; c++)
      type_combine(arg->type, arg->access, launch->slots + arg->offset + (size_t)c * size,
                   row + (size_t)c * size);
}

void rows_store(struct cell *cell, long element) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    if (!access_changes(arg->access) || arg->form == DESC_INFO || arg->form == DESC_IDX)
      continue;
    for (int r = 0; r < cell->args[i].rows; r++)
      if (arg->form == DESC_DAT)
        store_dat(cell, i, r, element);
      else if (element < cell->loop->set->extents[EXTENT_OWNED]) /* others count their own */
        store_global(cell, i, element);
  }
}
