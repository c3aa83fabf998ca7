/* One pass over the elements of a checked loop, and what is found across them. */
#include "check/pass.h"

#include <string.h>

#include "base/log.h"
#include "check/watch.h"
#include "context/context.h"
#include "op2jit.h"

static bool is_output(const struct loop_arg *arg) {
  return (arg->form == DESC_DAT || arg->form == DESC_GBL) &&
         (access_assigns(arg->access) || arg->access == OP_INC);
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
    text_addf(out, ", which %s it to element %ld of set \"%s\"", verb,
              set_said(arg->dat->set, row_target(arg, element, r)), arg->dat->set->name);
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
      "%s: the first %s is in component %d at element %ld of set \"%s\"%s; all that the kernel read there "
      "was finite, so look in it for a division by zero, a root or logarithm of a number out of range, or "
      "an overflow",
      text_str(&title), value, component + p->loop->desc.origins.fortran, set_said(p->loop->set, element),
      p->loop->set->name, text_str(&target));
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

int pass_note(const struct pass *p, enum rule rule, int argument, bool elsewhere, struct text *words) {
  struct notes notes = p->notes;
  notes.place = -1;
  notes.elsewhere = elsewhere;
  const int code = note(&notes, p->loop, rule, argument, text_str(words));
  text_free(words);
  return code;
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

static int watch(struct pass *p, long element, bool *ended) {
  struct cell *cell = p->state->cell;
  const bool thorough = p->stride == 1 || (element + p->state->calls) % p->stride == 0;
  int code = watch_element(cell, element, thorough, ended, &p->notes);
  if (!code && *ended)
    code = meets_write(p, element);
  if (code || !*ended)
    return code;
  warn_not_finite(p, element);
  note_rows(p);
  return OP_OK;
}

/* Where all is listed, it may be found in this order of the elements alone. */
static int just_run(struct pass *p, long element, bool *ended) {
  struct cell *cell = p->state->cell;
  rows_load(cell, 0, element);
  cell_run(cell, 0, -1);
  return watch_end(&(struct look){.cell = cell, .element = element, .notes = &p->notes}, ended);
}

int pass_element(struct pass *p, long element) {
  bool ended;
  p->notes.place = element;
  p->notes.elsewhere = element >= p->loop->set->extents[EXTENT_OWNED];
  const int code = p->watched ? watch(p, element, &ended) : just_run(p, element, &ended);
  if (code)
    return code;
  if (ended && p->adds)
    note_increments(p, element);
  if (ended)
    rows_store(p->state->cell, element);
  p->ctx->counters->checks++;
  return OP_OK;
}

int pass_forwards(struct pass *p) {
  int code = OP_OK;
  for (long e = 0; !code && e < loop_end(p->loop); e++)
    code = pass_element(p, e);
  return code;
}
