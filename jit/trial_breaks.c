/* Does a run with made-up values break what is promised of an argument, leave it, or keep something? Memory holds what the
 * run left. */
#include <math.h>
#include <string.h>

#include "jit/trial.h"

/* ---- promises ---- */

static bool was_changed(struct trial *t, int k, unsigned long number, struct trial_result *out) {
  memcpy(t->first, t->memory, t->bytes);
  trial_fill(t, number); /* what it was */
  if (!trial_differs_in(t, k, out))
    return false;
  out->what = TRIAL_CHANGED;
  out->values[0] = trial_number_at(t, t->memory, out);
  out->values[1] = trial_number_at(t, t->first, out);
  return true;
}

static bool holds(const unsigned char *value, size_t size, int byte) {
  for (size_t b = 0; b < size; b++)
    if (value[b] != byte)
      return false;
  return true;
}

static bool is_unwritten(const struct trial *t, int k, struct trial_result *out) {
  const size_t size = trial_value_size(&t->loop->args[k]);
  for (int v = 0; v < trial_values(t, k); v++)
    if (holds(trial_value(t, t->first, k, v), size, trial_poison(t, k, 0)) &&
        holds(trial_value(t, t->memory, k, v), size, trial_poison(t, k, 1))) {
      *out = trial_at(t, TRIAL_UNWRITTEN, k, v);
      return true;
    }
  return false;
}

static bool was_not_written(struct trial *t, int k, unsigned long number, struct trial_result *out) {
  memcpy(t->first, t->memory, t->bytes);
  trial_fill(t, number);
  for (int r = 0; r < t->args[k].rows; r++)
    memset(trial_row(t, k, r), trial_poison(t, k, 1), t->args[k].bytes);
  return trial_go(t, 0) == 0 && (is_unwritten(t, k, out) || trial_differs(t, -1, TRIAL_OLD, out));
}

/* As large as what the kernel reads, so that a sum's rounding stays small against it. */
static double scale_of(const struct trial *t) {
  double largest = 1;
  for (int i = 0; i < t->loop->nargs; i++) {
    const struct desc_arg *a = &t->loop->args[i];
    for (int v = 0; trial_makes(a) && v < trial_values(t, i); v++)
      largest = fmax(largest, fabs(type_number(a->type, trial_value(t, t->first, i, v))));
  }
  return largest;
}

/* Runs from `start` in all components; true if one of them did not get what it gets from 0, or another argument got
 * something else. */
static bool adds_wrongly(struct trial *t, int k, unsigned long number, double start,
                         struct trial_result *out) {
  const enum type_code type = t->loop->args[k].type;
  const int values = trial_values(t, k);
  trial_fill(t, number);
  for (int v = 0; v < values; v++)
    made_put(type, start, trial_value(t, t->memory, k, v));
  if (trial_go(t, 0) != 0)
    return false;
  for (int v = 0; v < values; v++) {
    const unsigned char *step = trial_value(t, t->first, k, v), *got = trial_value(t, t->memory, k, v);
    if (made_is_added(type, start, step, got))
      continue;
    *out = trial_at(t, TRIAL_NOT_ADDED, k, v);
    out->values[0] = type_number(type, step);
    out->values[1] = start;
    out->values[2] = type_number(type, got);
    return true;
  }
  return trial_differs(t, k, TRIAL_OLD, out);
}

/* A difference that is only rounding does not show from every start. Whole numbers do not round. */
static bool was_not_added(struct trial *t, int k, unsigned long number, struct trial_result *out) {
  static const double whole[] = {1, 3, 1000, -7};
  const struct type_info *type = type_info(t->loop->args[k].type);
  if (t->loop->args[k].type == TYPE_BOOL)
    return false;
  memcpy(t->first, t->memory, t->bytes);
  for (int i = 0; !type->is_float && i < (type->is_signed ? 4 : 3); i++)
    if (adds_wrongly(t, k, number, whole[i], out))
      return true;
  const double scale = 1024 * scale_of(t);
  struct trial_result again;
  for (int sign = 1; type->is_float && sign >= -1; sign -= 2)
    if (adds_wrongly(t, k, number, sign * 1024 * scale, &again) &&
        adds_wrongly(t, k, number, sign * 1024 * 1024 * scale, &again) &&
        adds_wrongly(t, k, number, sign * scale, out))
      return true;
  return false;
}

/* Whether y is worse than x by more than rounding. */
static bool is_worse(const struct desc_arg *a, double x, double y) {
  const double by = a->access == OP_MAX ? x - y : y - x;
  return by > 1e-6 * fabs(x);
}

static bool was_no_extremum(struct trial *t, int k, unsigned long number, struct trial_result *out) {
  const struct desc_arg *a = &t->loop->args[k];
  memcpy(t->first, t->memory, t->bytes);
  trial_fill(t, number);
  const int values = trial_values(t, k);
  for (int v = 0; v < values; v++) {
    *out = trial_at(t, TRIAL_WRONG_SIDE, k, v);
    out->values[0] = trial_number_at(t, t->memory, out);
    out->values[1] = trial_number_at(t, t->first, out);
    if (is_worse(a, out->values[0], out->values[1]))
      return true;
  }
  for (int r = 0; r < t->args[k].rows; r++)
    memcpy(trial_row(t, k, r), trial_row_in(t, t->first, k, r), t->args[k].bytes);
  if (trial_go(t, 0) != 0 || trial_was_odd())
    return false;
  for (int v = 0; v < values; v++) {
    unsigned char start[sizeof(long double)];
    *out = trial_at(t, TRIAL_TWICE, k, v);
    trial_make(t, k, v, number, start);
    out->values[0] = type_number(a->type, start);
    out->values[1] = trial_number_at(t, t->first, out);
    out->values[2] = trial_number_at(t, t->memory, out);
    if (fabs(out->values[2] - out->values[1]) > 1e-6 * fabs(out->values[1]))
      return true;
  }
  return false;
}

bool trial_breaks_promise(struct trial *t, int k, unsigned long number, struct trial_result *out) {
  const struct desc_arg *a = &t->loop->args[k];
  switch (a->form == DESC_IDX ? OP_READ : a->access) {
  case OP_READ: return was_changed(t, k, number, out);
  case OP_WRITE: return was_not_written(t, k, number, out);
  case OP_INC: return was_not_added(t, k, number, out);
  case OP_MIN:
  case OP_MAX: return was_no_extremum(t, k, number, out);
  default: return false;
  }
}

/* ---- memory ---- */

bool trial_left_argument(struct trial *t, int k, unsigned long number, struct trial_result *out) {
  const struct trial_arg *a = &t->args[k];
  memcpy(t->first, t->memory, t->bytes);
  trial_fill(t, number);
  out->argument = k;
  out->what = TRIAL_WROTE;
  for (int g = 0; g <= a->rows; g++) {
    const size_t at = a->at + (size_t)g * (a->guard_rows + 1) * a->bytes;
    if (memcmp(t->first + at, t->memory + at, a->guard_rows * a->bytes) != 0)
      return true;
  }
  trial_set_guards(t, k, 1);
  return trial_go(t, 0) == 0 && trial_differs(t, -1, TRIAL_READ, out);
}

bool trial_was_kept(struct trial *t, unsigned long number, struct trial_result *out) {
  memcpy(t->first, t->memory, t->bytes);
  trial_fill(t, number + 1);
  if (trial_go(t, 0) != 0)
    return false;
  trial_fill(t, number);
  return trial_go(t, 0) == 0 && trial_differs(t, -1, TRIAL_KEPT, out);
}

bool trial_was_unset(struct trial *t, unsigned long number, struct trial_result *out) {
  memcpy(t->first, t->memory, t->bytes);
  trial_fill(t, number);
  return t->codes[1] && trial_go(t, 1) == 0 && trial_differs(t, -1, TRIAL_UNSET, out);
}
