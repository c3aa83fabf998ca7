/* One pass over the elements of a checked loop, and what is found across them. */
#include "check/pass.h"

#include <string.h>

#include "base/log.h"
#include "check/twin.h"
#include "check/watch/watch.h"
#include "check/watch/watch_say.h"
#include "context/context.h"
#include "op2jit.h"

bool pass_owns(const struct loop_arg *arg) {
  return arg->dat && arg->present && (arg->access == OP_WRITE || arg->access == OP_RW);
}

int pass_first_writer(const struct loop *loop, int i) {
  for (int j = 0; j < i; j++)
    if (pass_owns(&loop->args[j]) && loop->args[j].dat == loop->args[i].dat)
      return j;
  return i;
}

static int tell_shared(const struct loop *loop, int i, long target, long first, long second,
                       struct error *err) {
  const struct loop_arg *arg = &loop->args[i];
  struct text title = {0}, map = {0};
  watch_title(loop, i, &title);
  if (arg->map)
    text_addf(&map, " (map \"%s\")", arg->map->name);
  error_set(
      err, OP_ERR_VIOLATION,
      "%s: elements %d and %d of set \"%s\" both write element %d of set \"%s\"%s, so the result depends on "
      "their order; use OP_INC, or a map in which no two elements share a target",
      text_str(&title), user_number(loop->set, first), user_number(loop->set, second), loop->set->name,
      user_number(arg->dat->set, target), arg->dat->set->name, text_str(&map));
  text_free(&title);
  text_free(&map);
  return OP_ERR_VIOLATION;
}

/* Two elements, or one twice, that write one target break the promise of indirect OP_WRITE and OP_RW. */
static int claim(struct pass *p, int i, int r, long element, struct error *err) {
  const struct loop_arg *arg = &p->loop->args[i];
  int *owners = pass_owns(arg) ? p->owners[pass_first_writer(p->loop, i)] : NULL;
  if (!owners)
    return OP_OK;
  const long target = row_target(arg, element, r);
  const int owner = owners[target] - 1;
  owners[target] = (int)element + 1;
  return owner < 0 ? OP_OK : tell_shared(p->loop, i, target, owner, element, err);
}

static bool is_output(const struct loop_arg *arg) {
  return (arg->form == DESC_DAT || arg->form == DESC_GBL) &&
         (arg->access == OP_WRITE || arg->access == OP_RW || arg->access == OP_INC);
}

/* The first output component that is not finite; -1: none. */
static int find_not_finite(const struct cell *cell, int *argument, int *row) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    for (int r = 0; is_output(arg) && r < cell->args[i].rows; r++) {
      const int component = watch_not_finite(arg, cell_row(cell, 0, i, r));
      if (component < 0)
        continue;
      *argument = i;
      *row = r;
      return component;
    }
  }
  return -1;
}

/* Nothing of the element was stored yet, so the mesh still has what it started from. Extrema start from infinity,
 * rightly. */
static bool inputs_are_finite(struct cell *cell, long element) {
  rows_load(cell, 1, element);
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    for (int r = 0; !is_undefined_before(arg) && !arg_is_extreme(arg) && r < cell->args[i].rows; r++)
      if (watch_not_finite(arg, cell_row(cell, 1, i, r)) >= 0)
        return false;
  }
  return true;
}

/* ", which adds it to element 7 of set "cells"", where the element's own set does not say it. */
static void tell_target(const struct loop_arg *arg, long element, int r, struct text *out) {
  const char *verb = arg->access == OP_INC ? "adds" : "writes";
  if (arg->dat && arg->map)
    text_addf(out, ", which %s it to element %d of set \"%s\"", verb,
              user_number(arg->dat->set, row_target(arg, element, r)), arg->dat->set->name);
  else if (arg->access == OP_INC)
    text_addf(out, ", which adds it");
}

static void warn_not_finite(struct pass *p, long element) {
  int i = 0, r = 0;
  struct cell *cell = p->state->cell;
  if (p->state->warned)
    return;
  const int component = find_not_finite(cell, &i, &r);
  if (component < 0 || !inputs_are_finite(cell, element))
    return;
  p->state->warned = true;
  const struct loop_arg *arg = &p->loop->args[i];
  struct text title = {0}, target = {0};
  char value[64];
  type_print(arg->type, cell_row(cell, 0, i, r) + (size_t)component * type_info(arg->type)->size, value,
             sizeof value);
  watch_title(p->loop, i, &title);
  tell_target(arg, element, r, &target);
  log_line(
      p->ctx->log, LOG_WARN, "check",
      "%s: the first %s is in component %d at element %d of set \"%s\"%s; all that the kernel read there "
      "was finite, so look in it for a division by zero, a root or logarithm of a number out of range, or "
      "an overflow",
      text_str(&title), value, component, user_number(p->loop->set, element), p->loop->set->name,
      text_str(&target));
  text_free(&title);
  text_free(&target);
}

/* An element adds the same in any order. What it adds is compared, not the sums, whose rounding depends on the
 * order. */
static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

static void note_increments(struct pass *p, long element) {
  const struct loop *loop = p->loop;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    for (int r = 0; arg->access == OP_INC && r < p->state->cell->args[i].rows; r++) {
      const unsigned char *row = cell_row(p->state->cell, 0, i, r);
      uint64_t hash = mix((uint64_t)element, (uint64_t)r);
      for (size_t at = 0; at < arg->bytes; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, row + at, arg->bytes - at < sizeof word ? arg->bytes - at : sizeof word);
        hash = mix(hash, word);
      }
      p->added[i] += mix(hash, 0);
    }
  }
}

/* ---- the elements ---- */

static void note_rows(struct pass *p) {
  if (!p->state->cell->passed || p->state->noted)
    return;
  p->state->noted = true;
  log_line(p->ctx->log, LOG_INFO, "check",
           "loop %s: the kernel reaches the next row of a table by an index beyond the row before, which C "
           "does not "
           "define; give the row an index of its own",
           p->loop->name);
}

int pass_element(struct pass *p, long element, struct error *err) {
  struct cell *cell = p->state->cell;
  if (p->watched) {
    const bool thorough = p->stride == 1 || (element + p->state->calls) % p->stride == 0;
    int code = watch_element(cell, element, thorough, err);
    for (int i = 0; !code && i < p->loop->nargs; i++)
      for (int r = 0; !code && r < cell->args[i].rows; r++)
        code = claim(p, i, r, element, err);
    if (code)
      return code;
    warn_not_finite(p, element);
    note_rows(p);
    if (thorough)
      twin_compare(p->state->twin, p->ctx, cell, element);
  } else {
    rows_load(cell, 0, element);
    cell_run(cell, 0, -1);
    if (cell->trap == TRAP_DIVIDED)
      return watch_tell_division(p->loop, element, err);
  }
  if (p->state->calls == 0)
    note_increments(p, element);
  rows_store(cell, element);
  p->ctx->counters->checks++;
  return OP_OK;
}

int pass_forwards(struct pass *p, struct error *err) {
  int code = OP_OK;
  for (long e = 0; !code && e < loop_end(p->loop); e++)
    code = pass_element(p, e, err);
  return code;
}
