#include "check/watch/watch_say.h"

#include <string.h>

#include "check/cause.h"
#include "check/rows.h"
#include "jit/front/excerpt.h"
#include "jit/front/rows/rows.h"
#include "mesh/subset.h"

static const char *const access_names[] = {"OP_READ", "OP_WRITE", "OP_RW",  "OP_INC",
                                           "OP_MIN",  "OP_MAX",   "OP_WORK"};

/* Elements have the numbers of the set that a subset is of. */
#define SET_FORMAT "set \"%s\"%s%s%s"
#define SET_WORDS(set)                                                                                       \
  (set)->sub ? (set)->sub->parent->name : (set)->name, (set)->sub ? " (subset \"" : "",                      \
      (set)->sub ? (set)->name : "", (set)->sub ? "\")" : ""

void watch_title(const struct loop *loop, int arg, struct text *out) {
  const struct loop_arg *a = &loop->args[arg];
  text_addf(out, "loop %s, argument %d (", loop->name, arg + 1);
  if (a->dat)
    text_addf(out, "dat \"%s\", %s)", a->dat->name, access_names[a->access]);
  else
    text_addf(out, "%s, %s)", a->present ? "a global" : "absent", access_names[a->access]);
}

int watch_violation(const struct loop *loop, int arg, long element, struct error *err, const char *format,
                    ...) {
  struct text title = {0}, what = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&what, format, args);
  va_end(args);
  watch_title(loop, arg, &title);
  error_set(err, OP_ERR_VIOLATION, "%s, element %d of " SET_FORMAT ": %s", text_str(&title),
            user_number(loop->set, element), SET_WORDS(loop->set), text_str(&what));
  text_free(&title);
  text_free(&what);
  return OP_ERR_VIOLATION;
}

void watch_place(const struct cell *cell, int i, int r, int component, long element, struct text *out) {
  const struct loop_arg *arg = &cell->loop->args[i];
  text_addf(out, "component %d", component);
  if (arg->map && arg->dat)
    text_addf(out, " (element %d of set \"%s\", entry %d of map \"%s\")",
              user_number(arg->dat->set, row_target(arg, element, r)), arg->dat->set->name,
              arg->idx < 0 ? r : arg->idx, arg->map->name);
}

int watch_tell(const struct cell *cell, int i, int r, int component, long element, const char *said,
               struct error *err) {
  struct text where = {0};
  watch_place(cell, i, r, component, element, &where);
  int code = watch_violation(cell->loop, i, element, err, said, text_str(&where));
  text_free(&where);
  return code;
}

/* Rounded, as people read it. */
static void add_value(const struct loop_arg *arg, const unsigned char *value, struct text *out) {
  char exact[64];
  if (type_info(arg->type)->is_float) {
    text_addf(out, "%.10g", type_number(arg->type, value));
    return;
  }
  type_print(arg->type, value, exact, sizeof exact);
  text_add(out, exact);
}

int watch_tell_change(const struct cell *cell, int i, int r, int component, long element,
                      const unsigned char *before, const unsigned char *after, const char *said,
                      struct error *err) {
  const struct loop_arg *arg = &cell->loop->args[i];
  const size_t at = (size_t)component * type_info(arg->type)->size;
  struct text where = {0}, old = {0}, new = {0};
  watch_place(cell, i, r, component, element, &where);
  add_value(arg, before + at, &old);
  add_value(arg, after + at, &new);
  int code =
      watch_violation(cell->loop, i, element, err, said, text_str(&where), text_str(&old), text_str(&new));
  text_free(&where);
  text_free(&old);
  text_free(&new);
  return code;
}

int watch_tell_index(const struct cell *cell, long element, struct error *err) {
  const struct desc *d = &cell->desc;
  const struct loop *loop = cell->loop;
  const struct bounds_finding *f = &cell->outside;
  const struct source source = desc_source(d);
  struct text place = {0}, what = {0}, excerpt = {0};
  const char *name;
  if (!f->line)
    return error_set(err, OP_ERR_VIOLATION,
                     "loop %s, element %d of " SET_FORMAT
                     ": the kernel reaches memory outside its own variables; "
                     "check its indices and pointers",
                     loop->name, user_number(loop->set, element), SET_WORDS(loop->set));
  const size_t length = bounds_name(d->text, f->line, f->column, &name);
  text_addf(&what, "the kernel uses element %lld of ", f->index);
  if (length && bounds_subscripts(name + length))
    text_addf(&what, "the array %.*s, whose type is %s", (int)length, name, f->type);
  else
    text_addf(&what, "an array whose type is %s", f->type);
  for (int i = 0; i < d->nconsts; i++)
    if (strlen(d->consts[i].name) == length && memcmp(d->consts[i].name, name, length) == 0) {
      text_clear(&what);
      text_addf(&what, "constant %s has dim %d, and the kernel uses component %lld", d->consts[i].name,
                d->consts[i].dim, f->index);
    }
  source_place(&source, f->line, f->column, &place);
  source_excerpt(&source, f->line, f->column, &excerpt);
  if (excerpt.length && excerpt.data[excerpt.length - 1] == '\n')
    excerpt.data[--excerpt.length] = '\0';
  error_set(err, OP_ERR_VIOLATION, "loop %s, element %d of " SET_FORMAT " (%s): %s; check the index\n%s",
            loop->name, user_number(loop->set, element), SET_WORDS(loop->set), text_str(&place),
            text_str(&what), text_str(&excerpt));
  text_free(&place);
  text_free(&what);
  text_free(&excerpt);
  return OP_ERR_VIOLATION;
}

/* The k may be of any of the loop's ragged maps: -1 if these give the element different numbers of targets. */
static int only_ragged(const struct cell *cell) {
  int found = -1;
  for (int i = 0; i < cell->loop->nargs; i++)
    if (cell->args[i].ragged && cell->loop->args[i].present) {
      if (found >= 0 && cell->args[found].rows != cell->args[i].rows)
        return -1;
      found = i;
    }
  return found;
}

/* Which map's number bounds k? Each map is named once, by its first argument. */
static void tell_numbers(const struct cell *cell, struct text *out) {
  const struct loop *loop = cell->loop;
  const char *before = "let k go from 0 to n - 1, by the n of the argument's own map: here n is ";
  for (int i = 0; i < loop->nargs; i++) {
    bool known = !cell->args[i].ragged || !loop->args[i].present;
    for (int j = 0; j < i; j++)
      known |= cell->args[j].ragged && loop->args[j].map == loop->args[i].map;
    if (known)
      continue;
    text_addf(out, "%s%d by map \"%s\" (argument %d)", before, cell->args[i].rows, loop->args[i].map->name,
              i + 1);
    before = " and ";
  }
}

int watch_tell_assertion(const struct cell *cell, long element, struct error *err) {
  const struct loop *loop = cell->loop;
  const bool row = strcmp(cell->condition, ROWS_CONDITION) == 0;
  const int arg = row ? only_ragged(cell) : -1;
  struct text what = {0};
  if (row)
    text_add(&what, "the kernel uses OP_ROW(x, k) with a k for which there is no target; ");
  else
    text_addf(&what, "op_assert(%s) does not hold", cell->condition);
  if (arg >= 0)
    rows_remedy(cell, arg, &what);
  else if (row)
    tell_numbers(cell, &what);
  error_set(err, OP_ERR_VIOLATION, "loop %s, element %d of " SET_FORMAT ": %s", loop->name,
            user_number(loop->set, element), SET_WORDS(loop->set), text_str(&what));
  text_free(&what);
  return OP_ERR_VIOLATION;
}

int watch_tell_division(const struct loop *loop, long element, struct error *err) {
  return error_set(err, OP_ERR_VIOLATION,
                   "loop %s, element %d of " SET_FORMAT ": the kernel divides a whole number by zero, or the "
                   "smallest one by -1; look at its / and %%",
                   loop->name, user_number(loop->set, element), SET_WORDS(loop->set));
}

bool watch_tell_cause(struct cell *cell, int i, const char *where, long element, struct error *err) {
  struct text cause = {0};
  const bool known = cause_tell(cell, element, &cause);
  if (known)
    watch_violation(cell->loop, i, element, err, "%s depends on %s", where, text_str(&cause));
  text_free(&cause);
  return known;
}

int watch_tell_dependence(struct cell *cell, int i, int r, int c, int extremum, long element,
                          struct error *err) {
  struct text where = {0};
  watch_place(cell, i, r, c, element, &where);
  int code = watch_violation(cell->loop, i, element, err,
                             "%s depends on the value of argument %d (%s) so far, and so on the order of the "
                             "elements; only compare with it, or read the extremum in a second loop",
                             text_str(&where), extremum + 1, access_names[cell->loop->args[extremum].access]);
  text_free(&where);
  return code;
}
