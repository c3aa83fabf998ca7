#include "check/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "check/cell.h"
#include "check/copies.h"
#include "check/watch.h"
#include "context.h"
#include "data.h"

struct check_state {
  struct cell *cell;
  struct watch watch;
  bool order_checked, warned;
};

/* One pass over the elements. */
struct pass {
  struct op_context *ctx;
  struct loop *loop;
  struct check_state *state;
  bool watched;                /* compare each element with its promises, else just run it */
  int *owners[OP_MAX_ARGS];    /* per written dat behind a map, by the first argument that writes it */
  double largest[OP_MAX_ARGS]; /* increment */
};

bool check_wanted(const char *value, const char *loop_name) {
  if (strcmp(value, "off") == 0 || !*value)
    return false;
  if (strcmp(value, "on") == 0)
    return true;
  const size_t length = strlen(loop_name);
  for (const char *p = value; *p;) {
    size_t n = strcspn(p, ",");
    if (n == length && memcmp(p, loop_name, n) == 0)
      return true;
    p += n;
    p += *p == ',';
  }
  return false;
}

/* ---- rows in and out ---- */

static long target_of(const struct loop_arg *arg, long element, int r) {
  if (!arg->map)
    return element;
  return arg->map->table[(size_t)element * (size_t)arg->map->arity + (size_t)(arg->idx < 0 ? r : arg->idx)];
}

static int user_number(const struct set *set, long element) {
  return set->to_user ? set->to_user[element] : (int)element;
}

static void load_numbers(const struct loop *loop, const struct loop_arg *arg, long element,
                         unsigned char *row) {
  const struct set *set = arg->map ? arg->map->to : loop->set;
  for (int c = 0; c < arg->dim; c++) {
    int number = user_number(set, target_of(arg, element, c));
    memcpy(row + (size_t)c * sizeof number, &number, sizeof number);
  }
}

static void load_global(const struct loop *loop, int i, unsigned char *row) {
  const struct loop_arg *arg = &loop->args[i];
  switch (arg->access) {
  case OP_INC: memset(row, 0, arg->bytes); break;
  case OP_MIN:
  case OP_MAX: memcpy(row, arg->info >= 0 ? loop->user[i] : loop->slots + arg->offset, arg->bytes); break;
  case OP_WORK: break;
  default: memcpy(row, loop->globals + arg->offset, arg->bytes); break;
  }
}

static void load_row(const struct cell *cell, int i, int r, long element) {
  const struct loop *loop = cell->loop;
  const struct loop_arg *arg = &loop->args[i];
  unsigned char *row = cell_row(cell, i, r);
  switch (arg->form) {
  case DESC_IDX: load_numbers(loop, arg, element, row); return;
  case DESC_INFO: memcpy(row, loop->user[i], arg->bytes); return;
  case DESC_GBL: load_global(loop, i, row); return;
  case DESC_DAT: break;
  }
  if (arg->access == OP_INC) {
    memset(row, 0, arg->bytes);
    return;
  }
  for (int c = 0; c < arg->dim; c++)
    memcpy(row + (size_t)c * arg->dat->value_size, dat_value(arg->dat, target_of(arg, element, r), c),
           arg->dat->value_size);
}

static void store_dat(struct pass *p, int i, int r, long element) {
  const struct loop_arg *arg = &p->loop->args[i];
  const unsigned char *row = cell_row(p->state->cell, i, r);
  for (int c = 0; c < arg->dim; c++) {
    void *value = dat_value(arg->dat, target_of(arg, element, r), c);
    const unsigned char *fresh = row + (size_t)c * arg->dat->value_size;
    if (arg->access == OP_INC)
      type_combine(arg->type, OP_INC, value, fresh);
    else
      memcpy(value, fresh, arg->dat->value_size);
  }
}

static void store_row(struct pass *p, int i, int r, long element) {
  const struct loop *loop = p->loop;
  const struct loop_arg *arg = &loop->args[i];
  const struct cell *cell = p->state->cell;
  const unsigned char *row = cell_row(cell, i, r);
  const size_t size = type_info(arg->type)->size;
  if (arg->access == OP_READ || arg->access == OP_WORK || arg->form == DESC_INFO || arg->form == DESC_IDX)
    return;
  if (arg->form == DESC_DAT)
    store_dat(p, i, r, element);
  else if (arg->info >= 0)
    loop_offer_extremum(loop, i, loop->slots, row, cell_row(cell, arg->info, 0),
                        user_number(loop->set, element));
  else if (arg->access == OP_WRITE || arg->access == OP_RW)
    memcpy(loop->globals + arg->offset, row, arg->bytes);
  else
    for (int c = 0; c < arg->dim; c++)
      type_combine(arg->type, arg->access, loop->slots + arg->offset + (size_t)c * size,
                   row + (size_t)c * size);
}

/* ---- what is found across elements ---- */

static bool is_owned(const struct loop_arg *arg) {
  return arg->dat && arg->present && (arg->access == OP_WRITE || arg->access == OP_RW);
}

static int first_writer(const struct loop *loop, int i) {
  for (int j = 0; j < i; j++)
    if (is_owned(&loop->args[j]) && loop->args[j].dat == loop->args[i].dat)
      return j;
  return i;
}

/* Two elements, or one twice, that write one target break the promise of indirect OP_WRITE and OP_RW. */
static int claim(struct pass *p, int i, int r, long element, struct error *err) {
  const struct loop *loop = p->loop;
  const struct loop_arg *arg = &loop->args[i];
  int *owners = is_owned(arg) ? p->owners[first_writer(loop, i)] : NULL;
  if (!owners)
    return OP_OK;
  const long target = target_of(arg, element, r);
  const int owner = owners[target] - 1;
  owners[target] = (int)element + 1;
  if (owner < 0)
    return OP_OK;
  return error_set(
      err, OP_ERR_VIOLATION,
      "loop %s, argument %d (dat \"%s\", %s): elements %d and %d of set \"%s\" both write element %d of set "
      "\"%s\", so the result depends on their order; use OP_INC, or a map in which no two elements share a "
      "target",
      loop->name, i + 1, arg->dat->name, arg->access == OP_RW ? "OP_RW" : "OP_WRITE",
      user_number(loop->set, owner), user_number(loop->set, element), loop->set->name,
      user_number(arg->dat->set, target), arg->dat->set->name);
}

static bool is_finite_value(enum type_code type, const unsigned char *value) {
  double wide;
  float narrow;
  if (type == TYPE_FLOAT) {
    memcpy(&narrow, value, sizeof narrow);
    return isfinite(narrow);
  }
  memcpy(&wide, value, sizeof wide);
  return isfinite(wide);
}

static bool is_output(const struct loop_arg *arg) {
  return arg->dat && (arg->access == OP_WRITE || arg->access == OP_RW || arg->access == OP_INC);
}

/* The first output component that is not finite; -1: none. */
static int find_not_finite(const struct cell *cell, int *argument, int *row) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    const struct type_info *info = type_info(arg->type);
    for (int r = 0; info->is_float && is_output(arg) && r < cell->args[i].rows; r++)
      for (int c = 0; c < arg->dim; c++)
        if (!is_finite_value(arg->type, cell_row(cell, i, r) + (size_t)c * info->size)) {
          *argument = i;
          *row = r;
          return c;
        }
  }
  return -1;
}

static bool inputs_are_finite(const struct cell *cell, const struct watch *watch) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    const struct type_info *info = type_info(arg->type);
    if (!info->is_float || arg->access == OP_WRITE || arg->access == OP_WORK)
      continue;
    for (int r = 0; r < cell->args[i].rows; r++)
      for (int c = 0; c < arg->dim; c++)
        if (!is_finite_value(arg->type, watch_before(watch, cell, i, r) + (size_t)c * info->size))
          return false;
  }
  return true;
}

static void warn_not_finite(struct pass *p, long element) {
  int i = 0, r = 0;
  const struct cell *cell = p->state->cell;
  if (p->state->warned)
    return;
  const int component = find_not_finite(cell, &i, &r);
  if (component < 0 || !inputs_are_finite(cell, &p->state->watch))
    return;
  p->state->warned = true;
  const struct loop_arg *arg = &p->loop->args[i];
  char value[64];
  type_print(arg->type, cell_row(cell, i, r) + (size_t)component * type_info(arg->type)->size, value,
             sizeof value);
  log_line(&p->ctx->log, LOG_WARN, "check",
           "loop %s, argument %d (dat \"%s\"): %s appears first at element %d of set \"%s\", component %d, "
           "target %d of "
           "set \"%s\", from finite values",
           p->loop->name, i + 1, arg->dat->name, value, user_number(p->loop->set, element),
           p->loop->set->name, component, user_number(arg->dat->set, target_of(arg, element, r)),
           arg->dat->set->name);
}

static void note_largest(struct pass *p) {
  const struct loop *loop = p->loop;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    const size_t size = type_info(arg->type)->size;
    for (int r = 0;
         arg->access == OP_INC && type_info(arg->type)->is_float && r < p->state->cell->args[i].rows; r++)
      for (int c = 0; c < arg->dim; c++)
        p->largest[i] = fmax(p->largest[i],
                             fabs(type_number(arg->type, cell_row(p->state->cell, i, r) + (size_t)c * size)));
  }
}

/* ---- passes ---- */

static int run_element(struct pass *p, long element, struct error *err) {
  struct cell *cell = p->state->cell;
  for (int i = 0; i < p->loop->nargs; i++)
    for (int r = 0; r < cell->args[i].rows; r++)
      load_row(cell, i, r, element);
  int code = OP_OK;
  if (p->watched)
    code = watch_element(cell, &p->state->watch, user_number(p->loop->set, element), err);
  else
    cell_run(cell, 0);
  for (int i = 0; !code && p->watched && i < p->loop->nargs; i++)
    for (int r = 0; !code && r < cell->args[i].rows; r++)
      code = claim(p, i, r, element, err);
  if (code)
    return code;
  if (p->watched) {
    warn_not_finite(p, element);
    if (!p->state->order_checked)
      note_largest(p);
  }
  for (int i = 0; i < p->loop->nargs; i++)
    for (int r = 0; r < cell->args[i].rows; r++)
      store_row(p, i, r, element);
  p->ctx->counters.checks++;
  return OP_OK;
}

/* Forwards, backwards, or in a shuffled order that reaches each element once: e -> a e + b modulo n, a coprime to n. */
enum order { FORWARDS, BACKWARDS, SHUFFLED };

static long coprime_near(long n) {
  long a = (long)(0.6180339887 * (double)n) | 1;
  for (;; a += 2) {
    long x = a, y = n;
    while (y) {
      long rest = x % y;
      x = y;
      y = rest;
    }
    if (x == 1)
      return a;
  }
}

static int run_pass(struct pass *p, enum order order, struct error *err) {
  const long n = p->loop->set->extents[EXTENT_EXEC];
  const long step = order == SHUFFLED ? coprime_near(n) % n : 0;
  for (long k = 0, e = n / 2; k < n; k++, e = (e + step) % n) {
    int code = run_element(p, order == FORWARDS ? k : order == BACKWARDS ? n - 1 - k : e, err);
    if (code)
      return code;
  }
  return OP_OK;
}

/* ---- the order does not matter ---- */

/* Increments may differ by rounding, which is small against the largest of them; all else not at all. */
static bool differs(const struct pass *p, int i, enum type_code type, const unsigned char *a,
                    const unsigned char *b) {
  const size_t size = type_info(type)->size;
  if (memcmp(a, b, size) == 0)
    return false;
  double largest = 0;
  for (int j = 0; j < p->loop->nargs; j++)
    if (j == i || (p->loop->args[j].dat && p->loop->args[j].dat == p->loop->args[i].dat))
      largest = fmax(largest, p->largest[j]);
  if (p->loop->args[i].access != OP_INC || !type_info(type)->is_float)
    return true;
  const double u = type_number(type, a), v = type_number(type, b);
  double tolerance = (type == TYPE_FLOAT ? 1e-3 : 1e-7) * (largest + 1e-6 * (fabs(u) + fabs(v)));
  return !(fabs(u - v) <= tolerance) && !(isnan(u) && isnan(v));
}

static int report_order(const struct pass *p, int i, const char *where, const unsigned char *a,
                        const unsigned char *b, enum order order, struct error *err) {
  const struct loop_arg *arg = &p->loop->args[i];
  char x[64], y[64];
  type_print(arg->type, a, x, sizeof x);
  type_print(arg->type, b, y, sizeof y);
  return error_set(err, OP_ERR_VIOLATION,
                   "loop %s, argument %d: the result depends on the order of the elements: %s is %s forwards "
                   "and %s %s; a kernel "
                   "must not keep anything from one element for the next",
                   p->loop->name, i + 1, where, x, y,
                   order == BACKWARDS ? "backwards" : "in a shuffled order");
}

static int compare_dat(const struct pass *p, int i, const void *forwards, enum order order,
                       struct error *err) {
  const struct loop_arg *arg = &p->loop->args[i];
  const struct dat *dat = arg->dat;
  const unsigned char *now = dat->replicas[SPACE_HOST].memory, *then = forwards;
  for (long e = 0; e < dat->set->size; e++)
    for (int c = 0; c < dat->dim; c++) {
      const size_t at = (size_t)((unsigned char *)dat_value(dat, e, c) - now);
      if (!differs(p, i, dat->type, then + at, now + at))
        continue;
      struct text where = {0};
      text_addf(&where, "dat \"%s\", element %d of set \"%s\", component %d,", dat->name,
                user_number(dat->set, e), dat->set->name, c);
      int code = report_order(p, i, text_str(&where), then + at, now + at, order, err);
      text_free(&where);
      return code;
    }
  return OP_OK;
}

static int compare(const struct pass *p, const struct copies *forwards, enum order order, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < p->loop->nargs; i++) {
    const struct loop_arg *arg = &p->loop->args[i];
    if (forwards->dats[i])
      code = compare_dat(p, i, forwards->dats[i], order, err);
    const bool reduction = arg->form == DESC_GBL && arg->present &&
                           (arg->access == OP_INC || arg->access == OP_MIN || arg->access == OP_MAX);
    const size_t size = type_info(arg->type)->size;
    for (int c = 0; reduction && !code && c < arg->dim; c++) {
      const size_t at = arg->offset + (size_t)c * size;
      if (differs(p, i, arg->type, forwards->slots + at, p->loop->slots + at))
        code = report_order(p, i, "the global", forwards->slots + at, p->loop->slots + at, order, err);
    }
  }
  return code;
}

/* The data are as after a run forwards, at the end too. */
static int check_order(struct pass *p, const struct copies *before, struct error *err) {
  struct copies forwards;
  int code = copies_take(&forwards, p->loop, err);
  if (code)
    return code;
  p->watched = false;
  for (enum order order = BACKWARDS; !code && order <= SHUFFLED; order++) {
    copies_restore(before, p->loop);
    code = run_pass(p, order, err);
    if (!code)
      code = compare(p, &forwards, order, err);
  }
  if (!code)
    copies_restore(&forwards, p->loop);
  copies_free(&forwards);
  return code;
}

/* ---- the whole ---- */

static int open_state(struct op_context *ctx, struct loop *loop, struct error *err) {
  if (loop->check)
    return OP_OK;
  loop->check = calloc(1, sizeof *loop->check);
  if (!loop->check)
    return error_memory(err, "the checking form", sizeof *loop->check);
  int code = cell_open(&loop->check->cell, ctx, loop, err);
  if (!code)
    code = watch_open(&loop->check->watch, loop->check->cell, err);
  if (code)
    check_drop(loop);
  return code;
}

void check_drop(struct loop *loop) {
  if (!loop->check)
    return;
  cell_free(loop->check->cell);
  watch_close(&loop->check->watch);
  free(loop->check);
  loop->check = NULL;
}

static int make_owners(struct pass *p, struct error *err) {
  const struct loop *loop = p->loop;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!is_owned(arg) || !arg->map || first_writer(loop, i) != i)
      continue;
    p->owners[i] = array_new((size_t)arg->dat->set->extents[EXTENT_NONEXEC], sizeof(int));
    if (!p->owners[i])
      return error_memory(err, "the checking form",
                          (size_t)arg->dat->set->extents[EXTENT_NONEXEC] * sizeof(int));
  }
  return OP_OK;
}

int check_run(struct op_context *ctx, struct loop *loop, struct error *err) {
  struct copies before = {0};
  int code = open_state(ctx, loop, err);
  struct pass pass = {.ctx = ctx, .loop = loop, .state = loop->check, .watched = true};
  if (!code)
    code = copies_take(&before, loop, err);
  if (!code)
    code = make_owners(&pass, err);
  if (!code) {
    code = run_pass(&pass, FORWARDS, err);
    if (!code && !loop->check->order_checked)
      code = check_order(&pass, &before, err);
    loop->check->order_checked = true;
    if (code)
      copies_restore(&before, loop);
  }
  copies_free(&before);
  for (int i = 0; i < OP_MAX_ARGS; i++)
    free(pass.owners[i]);
  return code;
}
