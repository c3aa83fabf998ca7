#include "check/watch.h"

#include <string.h>

#include "base/sha256.h"
#include "check/cell.h"

enum kind { KIND_NOTHING, KIND_OLD_VALUES, KIND_OUTSIDE, KIND_LOCALS };

/* Everything on side 1 as on side 0, but for one thing. */
static void run_changed(struct cell *cell, long element, enum kind kind, int arg) {
  rows_load(cell, 1, element);
  for (int i = 0; i < cell->loop->nargs; i++) {
    const int old_values = row_poison(cell->loop, kind == KIND_OLD_VALUES && i == arg ? 1 : 0, i);
    for (int r = 0; is_undefined_before(&cell->loop->args[i]) && r < cell->args[i].rows; r++)
      memset(cell_row(cell, 1, i, r), old_values, cell->args[i].row_bytes);
    cell_set_guards(cell, 1, i, kind == KIND_OUTSIDE && i == arg ? 1 : 0);
  }
  cell_run(cell, 1, kind == KIND_LOCALS ? 1 : 0);
  for (int i = 0; i < cell->loop->nargs; i++)
    cell_set_guards(cell, 1, i, 1);
}

static bool is_result(const struct loop_arg *arg) {
  return access_changes(arg->access);
}

static bool differs(const struct cell *cell) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    for (int r = 0; is_result(arg) && r < cell->args[i].rows; r++)
      if (memcmp(cell_row(cell, 0, i, r), cell_row(cell, 1, i, r), arg->bytes) != 0)
        return true;
  }
  return false;
}

static bool is_changed_by(struct cell *cell, long element, enum kind kind, int arg) {
  run_changed(cell, element, kind, arg);
  return differs(cell);
}

static void name_argument(const struct cell *cell, int i, struct text *out) {
  const struct loop_arg *arg = &cell->loop->args[i];
  text_addf(out, "argument %d", i + 1);
  if (arg->dat)
    text_addf(out, " (dat \"%s\")", arg->dat->name);
}

static void tell_old_values(const struct cell *cell, int i, struct text *out) {
  const struct loop_arg *arg = &cell->loop->args[i];
  const bool write = arg->access == OP_WRITE;
  text_add(out, "what ");
  name_argument(cell, i, out);
  text_addf(out, " held before, and it is declared %s; %s", write ? "OP_WRITE" : "OP_WORK",
            write ? rule_remedy(RULE_OLD_VALUES, arg) : "write it first");
}

static void tell_outside(const struct cell *cell, int i, struct text *out) {
  const int dim = cell->loop->args[i].dim;
  if (!cell->loop->args[i].present) {
    name_argument(cell, i, out);
    text_add(out,
             ", which is absent in this call; pass another argument that says whether it is there, and test "
             "that first");
    return;
  }
  text_add(out, "memory outside ");
  name_argument(cell, i, out);
  text_addf(out, ", which has %d component%s", dim, dim == 1 ? "" : "s");
  if (cell->args[i].rows > 1)
    text_addf(out, " on each of %d targets", cell->args[i].rows);
  text_add(out, "; ");
  if (cell->args[i].ragged)
    rows_remedy(cell, i, out);
  else
    text_add(out, "check the indices that it is read with");
}

/* The first single thing that changes the result. */
static enum rule find_cause(struct cell *cell, long element, struct text *out) {
  for (int i = 0; i < cell->loop->nargs; i++)
    if (is_undefined_before(&cell->loop->args[i]) && is_changed_by(cell, element, KIND_OLD_VALUES, i)) {
      tell_old_values(cell, i, out);
      return RULE_OLD_VALUES;
    }
  for (int i = 0; i < cell->loop->nargs; i++)
    if (is_changed_by(cell, element, KIND_OUTSIDE, i)) {
      tell_outside(cell, i, out);
      return cell->loop->args[i].present ? RULE_READ_OUTSIDE : RULE_ABSENT;
    }
  if (!is_changed_by(cell, element, KIND_LOCALS, -1))
    return RULE_NO_RIGHT;
  text_addf(out, "a local variable that has no value yet; %s", rule_row(RULE_UNSET)->remedy[PASSED_DIRECT]);
  return RULE_UNSET;
}

/* The results of the element on side 0. */
static void digest_of(const struct cell *cell, unsigned char digest[32]) {
  struct sha256 s;
  sha256_begin(&s);
  for (int i = 0; i < cell->loop->nargs; i++)
    for (int r = 0; is_result(&cell->loop->args[i]) && r < cell->args[i].rows; r++)
      sha256_add(&s, cell_row(cell, 0, i, r), cell->loop->args[i].bytes);
  sha256_end(&s, digest);
}

/* The element once more, on side 0, from where it began. Side 1 is as it was before, too: an index may lead there. */
static void digest_again(struct cell *cell, long element, unsigned char digest[32]) {
  rows_load(cell, 0, element);
  rows_load(cell, 1, element);
  cell_run(cell, 0, 0);
  digest_of(cell, digest);
}

/* Runs on the same memory give something else; what is kept may come round again after one. *once: only the run before these
 * gave something else. */
static bool keeps_something(struct cell *cell, long element, bool *once) {
  unsigned char before[32], first[32], again[32];
  bool keeps = false;
  digest_of(cell, before);
  digest_again(cell, element, first);
  for (int call = 0; call < 2 && !keeps; call++) {
    digest_again(cell, element, again);
    keeps = memcmp(first, again, sizeof first) != 0;
  }
  *once = memcmp(before, first, sizeof first) != 0;
  return keeps;
}

/* Memory that the library allocated meanwhile may lie where an index far outside leads. So the two sides, which differ only
 * in their addresses, are compared before the earlier run is. */
enum rule cause_tell(struct cell *cell, long element, struct text *out) {
  bool once;
  const bool keeps = keeps_something(cell, element, &once);
  if (!keeps && is_changed_by(cell, element, KIND_NOTHING, -1)) {
    text_add(out, "memory far outside all arguments; check the indices that they are read with");
    return RULE_FAR;
  }
  if (!keeps && !once)
    return find_cause(cell, element, out);
  text_addf(out, "a static or global variable that keeps its value from element to element; %s",
            rule_row(RULE_KEPT)->remedy[PASSED_DIRECT]);
  return RULE_KEPT;
}
