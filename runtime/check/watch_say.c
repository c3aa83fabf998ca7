#include <string.h>

#include "check/cell.h"
#include "check/watch.h"
#include "jit/kernel/excerpt.h"
#include "jit/kernel/fortran/fortran.h"
#include "jit/kernel/rows.h"
#include "mesh/subset.h"

/* Elements have the numbers of the set that a subset is of. */
#define SET_FORMAT "set \"%s\"%s%s%s"
#define SET_WORDS(set)                                                                                       \
  (set)->sub ? (set)->sub->parent->name : (set)->name, (set)->sub ? " (subset \"" : "",                      \
      (set)->sub ? (set)->name : "", (set)->sub ? "\")" : ""

void watch_title(const struct loop *loop, int arg, struct text *out) {
  const struct loop_arg *a = &loop->args[arg];
  text_addf(out, "loop %s, argument %d (", loop->name, arg + 1);
  if (is_matrix(a))
    text_addf(out, "matrix \"%s\")", a->dat->name);
  else if (a->dat)
    text_addf(out, "dat \"%s\", %s)", a->dat->name, access_name(a->access));
  else
    text_addf(out, "%s, %s)", a->present ? "a global" : "absent", access_name(a->access));
}

static int note_and_free(const struct loop *loop, enum rule rule, int arg, struct text *words,
                         struct notes *notes) {
  const int code = note(notes, loop, rule, arg, text_str(words));
  text_free(words);
  return code;
}

int watch_violation(const struct loop *loop, enum rule rule, int arg, long element, struct notes *notes,
                    const char *format, ...) {
  struct text words = {0};
  va_list args;
  watch_title(loop, arg, &words);
  text_addf(&words, ", element %ld of " SET_FORMAT ": ", set_said(loop->set, element), SET_WORDS(loop->set));
  va_start(args, format);
  text_vaddf(&words, format, args);
  va_end(args);
  return note_and_free(loop, rule, arg, &words, notes);
}

void watch_place(const struct look *look, int i, int r, int component, struct text *out) {
  const struct cell *cell = look->cell;
  const struct loop_arg *arg = &cell->loop->args[i];
  text_addf(out, "component %d", component + cell->desc.origins.fortran);
  if (arg->map && arg->dat)
    text_addf(out, " (element %ld of set \"%s\", entry %d of map \"%s\")",
              set_said(arg->dat->set, row_target(arg, look->element, r)), arg->dat->set->name,
              (arg->idx < 0 ? r : arg->idx) + arg->map->from->first_said, arg->map->name);
}

static int tell_and_free(const struct look *look, enum rule rule, int i, struct text *what) {
  const struct cell *cell = look->cell;
  const struct loop_arg *arg = &cell->loop->args[i];
  const char *remedy = rule_remedy(rule, arg);
  text_add(what, remedy ? "; " : "");
  rules_say(remedy ? remedy : "", arg->access, cell->desc.origins.fortran, what);
  const int code = watch_violation(cell->loop, rule, i, look->element, look->notes, "%s", text_str(what));
  text_free(what);
  return code;
}

int watch_tell(const struct look *look, enum rule rule, int i, int r, int component, const char *said) {
  struct text where = {0}, what = {0};
  watch_place(look, i, r, component, &where);
  text_addf(&what, said, text_str(&where));
  text_free(&where);
  return tell_and_free(look, rule, i, &what);
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

int watch_tell_change(const struct look *look, enum rule rule, int i, int r, int component,
                      const unsigned char *before, const unsigned char *after, const char *said) {
  const struct loop_arg *arg = &look->cell->loop->args[i];
  const size_t at = (size_t)component * type_info(arg->type)->size;
  struct text where = {0}, old = {0}, new = {0}, what = {0};
  watch_place(look, i, r, component, &where);
  add_value(arg, before + at, &old);
  add_value(arg, after + at, &new);
  text_addf(&what, said, text_str(&where), text_str(&old), text_str(&new));
  text_free(&where);
  text_free(&old);
  text_free(&new);
  return tell_and_free(look, rule, i, &what);
}

/* A finding about the whole loop at an element; `format` continues behind the set. */
static __attribute__((format(printf, 3, 4))) int tell_element(const struct look *look, enum rule rule,
                                                              const char *format, ...) {
  const struct loop *loop = look->cell->loop;
  struct text words = {0};
  va_list args;
  text_addf(&words, "loop %s, element %ld of " SET_FORMAT, loop->name, set_said(loop->set, look->element),
            SET_WORDS(loop->set));
  va_start(args, format);
  text_vaddf(&words, format, args);
  va_end(args);
  return note_and_free(loop, rule, -1, &words, look->notes);
}

/* C has arrays of Fortran as rows of elements, whatever their bounds are. */
static void add_array(const struct bounds_finding *f, bool fortran, const char *name, int length,
                      struct text *out) {
  const char *extent = fortran ? strchr(f->type, '[') : NULL;
  if (extent)
    text_addf(out, "%s%.*s, which has %.*s, the first of them at its lower bounds",
              length ? "the array " : "an array", length ? fortran_name_length(name, length) : 0, name,
              (int)strcspn(extent + 1, "]"), extent + 1);
  else if (length)
    text_addf(out, "the array %.*s, whose type is %s", length, name, f->type);
  else
    text_addf(out, "an array whose type is %s", f->type);
}

int watch_tell_index(const struct look *look) {
  const struct cell *cell = look->cell;
  const struct desc *d = &cell->desc;
  const struct bounds_finding *f = &cell->outside;
  const struct source source = desc_source(d);
  struct text place = {0}, what = {0}, excerpt = {0};
  const char *name;
  if (!f->line)
    return tell_element(look, RULE_INDEX,
                        ": the kernel reaches memory outside its own variables; check its indices and "
                        "pointers");
  const size_t length = bounds_name(d->text, f->line, f->column, &name);
  const long long index = f->index + d->origins.fortran;
  text_addf(&what, "the kernel uses element %lld of ", index);
  add_array(f, d->origins.fortran, name, length && bounds_subscripts(name + length) ? (int)length : 0, &what);
  for (int i = 0; i < d->nconsts; i++)
    if (strlen(d->consts[i].name) == length && memcmp(d->consts[i].name, name, length) == 0) {
      text_clear(&what);
      text_addf(&what, "constant %s has dim %d, and the kernel uses component %lld", d->consts[i].name,
                d->consts[i].dim, index);
    }
  source_place(&source, f->line, f->column, &place);
  source_excerpt(&source, f->line, f->column, &excerpt);
  if (excerpt.length && excerpt.data[excerpt.length - 1] == '\n')
    excerpt.data[--excerpt.length] = '\0';
  const int code = tell_element(look, RULE_INDEX, " (%s): %s; check the index\n%s", text_str(&place),
                                text_str(&what), text_str(&excerpt));
  text_free(&place);
  text_free(&what);
  text_free(&excerpt);
  return code;
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

/* Says by which map's number of targets k is bounded. Each map is named once, by its first argument. */
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

int watch_tell_assertion(const struct look *look) {
  const struct cell *cell = look->cell;
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
  const int code = tell_element(look, row ? RULE_ROW : RULE_ASSERT, ": %s", text_str(&what));
  text_free(&what);
  return code;
}

int watch_tell_division(const struct look *look) {
  return tell_element(look, RULE_DIVISION,
                      ": the kernel divides a whole number by zero, or the smallest one by -1; look at its / "
                      "and %%");
}

/* The place is put into words behind the runs: what is allocated before them may lie where an index leads. */
int watch_tell_cause(const struct look *look, int i, int r, int c, bool *known) {
  struct text where = {0}, cause = {0};
  const enum rule rule = cause_tell(look->cell, look->element, &cause);
  *known = rule != RULE_NO_RIGHT;
  watch_place(look, i, r, c, &where);
  const int code = *known ? watch_violation(look->cell->loop, rule, i, look->element, look->notes,
                                            "%s depends on %s", text_str(&where), text_str(&cause))
                          : OP_OK;
  text_free(&where);
  text_free(&cause);
  return code;
}

int watch_tell_dependence(const struct look *look, int i, int r, int c, int extremum) {
  const struct loop *loop = look->cell->loop;
  struct text where = {0};
  watch_place(look, i, r, c, &where);
  int code = watch_violation(loop, RULE_EXTREMUM, i, look->element, look->notes,
                             "%s depends on the value of argument %d (%s) so far, and so on the order of the "
                             "elements; only compare with it, or read the extremum in a second loop",
                             text_str(&where), extremum + 1, access_name(loop->args[extremum].access));
  text_free(&where);
  return code;
}
