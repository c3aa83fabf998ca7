#include "check/check.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/log.h"
#include "base/size.h"
#include "check/copies.h"
#include "check/rows.h"
#include "check/stale.h"
#include "check/trap.h"
#include "check/twin.h"
#include "check/watch.h"
#include "check/watch_say.h"
#include "context/context.h"
#include "jit/jit.h"
#include "loop/loop.h"
#include "mesh/data.h"
#include "op2jit.h"
#include "ranks/agree.h"
#include "record/launch.h"
#include "services/services.h"

/* All elements are watched thoroughly at so many first calls of a loop; later one in so many, another one at each
 * call, so that after as many calls all have been. */
enum { THOROUGH_CALLS = 2, THOROUGH_STRIDE = 16 };

struct check_state {
  struct cell *cell;
  struct twin *twin; /* NULL: the kernel's C function and its text have no reason to differ */
  long calls;        /* before this one, of those that found nothing */
  bool warned, noted;
};

/* One pass over the elements. */
struct pass {
  struct op_context *ctx;
  struct launch *launch;
  struct loop *loop;
  struct check_state *state;
  bool watched;                /* compare each element with its promises, else just run it */
  long stride;                 /* each so manieth element thoroughly */
  int *owners[OP_MAX_ARGS];    /* per written dat behind a map, by the first argument that writes it */
  uint64_t added[OP_MAX_ARGS]; /* at a loop's first call: a sum over elements of what they add, hashed */
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
  int *owners = is_owned(arg) ? p->owners[first_writer(p->loop, i)] : NULL;
  if (!owners)
    return OP_OK;
  const long target = row_target(arg, element, r);
  const int owner = owners[target] - 1;
  owners[target] = (int)element + 1;
  return owner < 0 ? OP_OK : tell_shared(p->loop, i, target, owner, element, err);
}

static bool is_extremum(const struct loop_arg *arg) {
  return arg->access == OP_MIN || arg->access == OP_MAX;
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
    for (int r = 0; !is_undefined_before(arg) && !is_extremum(arg) && r < cell->args[i].rows; r++)
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

/* ---- passes ---- */

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

static int run_element(struct pass *p, long element, struct error *err) {
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

/* Backwards, or in a shuffled order that reaches each element once: e -> a e + b modulo n, a coprime to n. */
enum order { BACKWARDS, SHUFFLED };

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

static int run_forwards(struct pass *p, struct error *err) {
  int code = OP_OK;
  for (long e = 0; !code && e < loop_end(p->loop); e++)
    code = run_element(p, e, err);
  return code;
}

static int run_otherwise(struct pass *p, enum order order, struct error *err) {
  const long n = loop_end(p->loop);
  const long step = order == SHUFFLED && n > 0 ? coprime_near(n) % n : 0;
  for (long k = 0, e = n / 2; k < n; k++, e = (e + step) % n) {
    int code = run_element(p, order == BACKWARDS ? n - 1 - k : e, err);
    if (code)
      return code;
  }
  return OP_OK;
}

/* ---- the order does not matter ---- */

/* Where two results of an argument differ most. */
struct difference {
  bool found;
  double size;
  long element; /* of a dat */
  int component;
  const unsigned char *a, *b;
};

static void compare_values(const struct loop_arg *arg, const unsigned char *a, const unsigned char *b,
                           long element, int component, struct difference *most) {
  const enum type_code type = arg->type;
  if (memcmp(a, b, type_info(type)->size) == 0)
    return;
  const double size = fabs(type_number(type, a) - type_number(type, b));
  /* Of 0 and -0 either is the smallest. */
  if (size == 0 && type_info(type)->is_float && is_extremum(arg))
    return;
  if (!most->found || size > most->size)
    *most = (struct difference){true, size, element, component, a, b};
}

static void compare_dat(const struct loop_arg *arg, const unsigned char *forwards, struct difference *most) {
  const struct dat *dat = arg->dat;
  const unsigned char *now = dat->replicas[SPACE_HOST].memory;
  for (long e = 0; e < dat->set->extents[EXTENT_OWNED]; e++)
    for (int c = 0; c < dat->dim; c++) {
      const unsigned char *value = dat_value(dat, e, c);
      compare_values(arg, forwards + (value - now), value, e, c, most);
    }
}

static struct difference find_difference(const struct pass *p, const struct copies *forwards, int i) {
  const struct loop_arg *arg = &p->loop->args[i];
  struct difference most = {0};
  for (int j = 0; arg->dat && j <= i; j++) /* the first argument of a dat has the copy */
    if (forwards->dats[j] && p->loop->args[j].dat == arg->dat)
      compare_dat(arg, forwards->dats[j], &most);
  for (int c = 0; arg_is_reduction(arg) && c < arg->dim; c++) {
    const size_t at = arg->offset + (size_t)c * type_info(arg->type)->size;
    compare_values(arg, forwards->slots + at, p->launch->slots + at, 0, c, &most);
  }
  return most;
}

static int report_order(const struct pass *p, int i, const struct difference *d, enum order order,
                        struct error *err) {
  const struct loop_arg *arg = &p->loop->args[i];
  struct text what = {0};
  char x[64], y[64];
  if (!d->found)
    text_add(&what, "what the kernel adds depends on the order of the elements, although its sum does not");
  else {
    type_print(arg->type, d->a, x, sizeof x);
    type_print(arg->type, d->b, y, sizeof y);
    text_add(&what, "the result depends on the order of the elements: ");
    if (arg->dat)
      text_addf(&what, "dat \"%s\", element %d of set \"%s\", component %d,", arg->dat->name,
                user_number(arg->dat->set, d->element), arg->dat->set->name, d->component);
    else
      text_add(&what, "the global");
    text_addf(&what, " is %s forwards and %s %s", x, y,
              order == BACKWARDS ? "backwards" : "in a shuffled order");
  }
  error_set(err, OP_ERR_VIOLATION,
            "loop %s, argument %d: %s; a kernel must not keep anything from one element for the next",
            p->loop->name, i + 1, text_str(&what));
  text_free(&what);
  return OP_ERR_VIOLATION;
}

/* Sums differ by their rounding, rightly, if what was added is the same; all else not at all. */
static int compare(const struct pass *p, const struct copies *forwards, const uint64_t *added,
                   enum order order, struct error *err) {
  for (int i = 0; i < p->loop->nargs; i++) {
    const int access = p->loop->args[i].access;
    const bool adds = access == OP_INC;
    if (access == OP_READ || (adds && added[i] == p->added[i]))
      continue;
    const struct difference d = find_difference(p, forwards, i);
    if (adds || d.found)
      return report_order(p, i, &d, order, err);
  }
  return OP_OK;
}

static int check_order(struct pass *p, const struct copies *before, struct error *err) {
  struct copies forwards;
  uint64_t added[OP_MAX_ARGS];
  int code = copies_take(&forwards, p->launch, err);
  if (code)
    return code;
  memcpy(added, p->added, sizeof added);
  p->watched = false;
  for (enum order order = BACKWARDS; !code && order <= SHUFFLED; order++) {
    copies_restore(before, p->launch);
    memset(p->added, 0, sizeof p->added);
    code = run_otherwise(p, order, err);
    if (!code)
      code = compare(p, &forwards, added, order, err);
  }
  copies_free(&forwards);
  return code;
}

/* ---- the whole ---- */

/* The prover goes first, as in a normal run, for its words are better. A backend for CPUs has compiled the loop,
 * and so asked it. */
static int ask_prover(struct op_context *ctx, const struct loop *loop, struct error *err) {
  struct jit *jit = NULL;
  if (loop->backend->space != SPACE_DEVICE || loop->compiled)
    return OP_OK;
  int code = context_jit(ctx, &jit, err);
  if (!code)
    code = jit_prove(jit, &loop->desc, err);
  if (code)
    error_prefix(err, "loop %s: ", loop->name);
  return agree_on_success(ctx->agreement, code, err);
}

static int open_state(struct op_context *ctx, struct loop *loop, struct error *err) {
  if (loop->check)
    return OP_OK;
  if (ask_prover(ctx, loop, err))
    return err->code;
  loop->check = calloc(1, sizeof *loop->check);
  if (!loop->check)
    return error_memory(err, "the checking form", sizeof *loop->check);
  int code = cell_open(&loop->check->cell, ctx, loop, loop->native != NULL, err);
  if (!code)
    code = twin_open(&loop->check->twin, ctx, loop, err);
  if (code)
    check_drop(loop);
  return code;
}

void check_drop(struct loop *loop) {
  if (!loop->check)
    return;
  cell_free(loop->check->cell);
  twin_free(loop->check->twin);
  free(loop->check);
  loop->check = NULL;
}

static size_t owner_bytes(const struct loop *loop, int i) {
  return (size_t)loop->args[i].dat->set->extents[EXTENT_NONEXEC] * sizeof(int);
}

static int make_owners(struct pass *p, struct error *err) {
  const struct loop *loop = p->loop;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!is_owned(arg) || !arg->map || first_writer(loop, i) != i)
      continue;
    p->owners[i] = array_new(owner_bytes(loop, i), 1);
    if (!p->owners[i])
      return error_memory(err, "the checking form", owner_bytes(loop, i));
  }
  return OP_OK;
}

static void forget_owners(struct pass *p) {
  for (int i = 0; i < p->loop->nargs; i++)
    if (p->owners[i])
      memset(p->owners[i], 0, owner_bytes(p->loop, i));
}

/* What is found while not every element is watched thoroughly may have begun at an earlier one, whose guards were
 * not looked at: then all are watched, to find the first. */
static int run_watched(struct pass *p, const struct copies *before, struct error *err) {
  p->stride = p->state->calls < THOROUGH_CALLS ? 1 : THOROUGH_STRIDE;
  const int code = run_forwards(p, err);
  const int broken = cell_broken_guard(p->state->cell, 0);
  if (p->stride == 1 || (code != OP_ERR_VIOLATION && broken < 0))
    return code;
  copies_restore(before, p->launch);
  forget_owners(p);
  p->stride = 1;
  const int again = run_forwards(p, err);
  return again || code
             ? OP_ERR_VIOLATION
             : error_set(
                   err, OP_ERR_VIOLATION,
                   "loop %s, argument %d: the kernel wrote outside the argument for some element, and not "
                   "again when the loop was run once more; check its indices, and what it keeps from "
                   "element to element",
                   p->loop->name, broken + 1);
}

static int prepare_pass(struct pass *p, struct copies *before, struct error *err) {
  p->state->cell->launch = p->launch;
  twin_take(p->state->twin, p->launch);
  int code = stale_find(p->loop, err);
  if (!code)
    code = copies_take(before, p->launch, err);
  /* The map's entries stay what they are. */
  if (!code && p->state->calls == 0)
    code = make_owners(p, err);
  return code;
}

int check_run(struct op_context *ctx, struct launch *launch, void *unused, struct error *err) {
  (void)unused;
  struct copies before = {0};
  struct loop *loop = launch->loop;
  int code = loop_exchange_anew(ctx, launch, err);
  if (!code)
    code = open_state(ctx, loop, err);
  struct pass pass = {.ctx = ctx, .launch = launch, .loop = loop, .state = loop->check, .watched = true};
  if (!code)
    code = prepare_pass(&pass, &before, err);
  const bool begun = !code;
  trap_begin();
  if (!code)
    code = run_watched(&pass, &before, err);
  if (!code && pass.state->calls == 0)
    code = check_order(&pass, &before, err);
  trap_end();
  code = agree_on_success(ctx->agreement, code, err);
  if (begun)
    copies_restore(&before, launch);
  if (!code)
    pass.state->calls++;
  copies_free(&before);
  for (int i = 0; i < OP_MAX_ARGS; i++)
    free(pass.owners[i]);
  return code;
}
