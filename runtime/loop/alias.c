/* One dat passed several times. Allowed whatever the maps: READ with READ, INC with INC, MIN with MIN, MAX with MAX.
 * Two that write (WRITE, RW), or one that writes all columns of a map, are allowed unless one element comes to one target
 * by both, or twice; of different elements see meet.h. Anything else is allowed only if the elements reached by the two
 * arguments do not meet, and nothing is allowed directly twice. Two of INC, MIN and MAX never go together: what collects
 * in one dat collects in one way. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "context/forced.h"
#include "loop/loop.h"
#include "loop/meet.h"
#include "mesh/data.h"
#include "record/findings.h"
#include "record/sites.h"

/* Call `visit` for each target of the argument, in the library's numbers, until it returns true. */
typedef bool visit_target(unsigned char *marks, long target);

static bool mark(unsigned char *marks, long target) {
  marks[target / 8] |= (unsigned char)(1u << target % 8);
  return false;
}

static bool is_marked(unsigned char *marks, long target) {
  return marks[target / 8] >> target % 8 & 1;
}

/* The loop element at which a visit stopped, -1 if none did. */
static long visit(const struct loop *loop, const struct loop_arg *arg, unsigned char *marks, visit_target *f,
                  long *target) {
  const long size = loop->set->extents[EXTENT_EXEC];
  for (long e = 0; e < size; e++)
    for (long place = arg_begin(arg, e); place < arg_end(arg, e); place++) {
      *target = arg_target(arg, place);
      if (f(marks, *target))
        return e;
    }
  return -1;
}

/* Both arguments may be sums. */
static bool may_add(const struct loop_arg *arg) {
  return arg->access == OP_RW || arg->access == OP_INC;
}

static int report(const struct loop *loop, int i, int j, long element, long target, struct error *err) {
  const struct loop_arg *a = &loop->args[i], *b = &loop->args[j];
  return error_set(
      err, OP_ERR_ALIAS,
      "loop %s: dat \"%s\" is passed as argument %d (%s) and as argument %d (%s), and both reach element "
      "%ld of set \"%s\" (argument %d from element %ld of set \"%s\"), so the result would depend on the "
      "order of execution; %sread from a copy of the dat, or write to another one",
      loop->name, a->dat->name, i + 1, access_name(a->access), j + 1, access_name(b->access),
      set_said(a->dat->set, target), a->dat->set->name, j + 1, set_said(loop->set, element), loop->set->name,
      may_add(a) && may_add(b)
          ? "declare both OP_INC where the kernel only adds to them, with += or -=; otherwise "
          : "");
}

/* A compiled kernel's promises are its own: it runs by the safe reading, where a mistake is no error. */
static bool is_forgiven(const struct op_context *ctx, const struct loop *loop) {
  return loop->compiled && context_checked(ctx, loop->name) != CHECKED_ON;
}

/* Strips and devices have copies of an element's rows: two of one target, of which the last one wins. */
static bool may_repeat(const struct loop_arg *a) {
  return a->present && a->dat && !a->entry && arg_most(a) > 1 && access_assigns(a->access);
}

static int tell_both(const struct loop *loop, int i, int j, long element, long target, struct error *err) {
  const struct loop_arg *a = &loop->args[i], *b = &loop->args[j];
  return error_set(
      err, OP_ERR_ALIAS,
      "loop %s: dat \"%s\" is passed as argument %d (%s) and as argument %d (%s), and element %ld of "
      "set \"%s\" reaches element %ld of set \"%s\" by both, so the result would depend on which is "
      "stored last; declare both OP_INC where the kernel only adds to them, with += or -=; otherwise "
      "use maps in which nothing is listed twice",
      loop->name, a->dat->name, i + 1, access_name(a->access), j + 1, access_name(b->access),
      set_said(loop->set, element), loop->set->name, set_said(a->dat->set, target), a->dat->set->name);
}

/* Two arguments that write. */
static int check_both(const struct loop *loop, int i, int j, unsigned char *marks, struct error *err) {
  const struct loop_arg *a = &loop->args[i], *b = &loop->args[j];
  for (long e = 0; e < loop->set->extents[EXTENT_EXEC]; e++) {
    for (long place = arg_begin(a, e); place < arg_end(a, e); place++)
      mark(marks, arg_target(a, place));
    for (long place = arg_begin(b, e); place < arg_end(b, e); place++)
      if (is_marked(marks, arg_target(b, place)))
        return tell_both(loop, i, j, e, arg_target(b, place), err);
    for (long place = arg_begin(a, e); place < arg_end(a, e); place++)
      marks[arg_target(a, place) / 8] = 0;
  }
  return OP_OK;
}

static int check_repeats(const struct loop *loop, int i, unsigned char *marks, struct error *err) {
  const struct loop_arg *a = &loop->args[i];
  for (long e = 0; e < loop->set->extents[EXTENT_EXEC]; e++) {
    for (long place = arg_begin(a, e); place < arg_end(a, e); place++) {
      const long target = arg_target(a, place);
      if (is_marked(marks, target))
        return error_set(err, OP_ERR_ALIAS,
                         "loop %s: argument %d (dat \"%s\", %s) reaches element %ld of set \"%s\" twice from "
                         "element %ld of set \"%s\", which lists it twice in %smap \"%s\"; use OP_INC, "
                         "OP_MIN or OP_MAX, or a map in which nothing is listed twice",
                         loop->name, i + 1, a->dat->name, access_name(a->access),
                         set_said(a->dat->set, target), a->dat->set->name, set_said(loop->set, e),
                         loop->set->name, a->map->first ? "ragged " : "", a->map->name);
      mark(marks, target);
    }
    for (long place = arg_begin(a, e); place < arg_end(a, e); place++)
      marks[arg_target(a, place) / 8] = 0;
  }
  return OP_OK;
}

static int check_pair(const struct loop *loop, int i, int j, unsigned char *marks, size_t bytes,
                      struct error *err) {
  const struct loop_arg *a = &loop->args[i], *b = &loop->args[j];
  memset(marks, 0, bytes);
  if (i == j)
    return check_repeats(loop, i, marks, err);
  if (access_reduces(a->access) && access_reduces(b->access))
    return error_set(
        err, OP_ERR_ALIAS,
        "loop %s: dat \"%s\" is passed as argument %d (%s) and as argument %d (%s); a loop takes one "
        "of OP_INC, OP_MIN and OP_MAX of a dat: keep the others in a dat of their own",
        loop->name, a->dat->name, i + 1, access_name(a->access), j + 1, access_name(b->access));
  if (arg_is_own(a) && arg_is_own(b))
    return error_set(
        err, OP_ERR_ALIAS,
        "loop %s: dat \"%s\" is passed directly as argument %d (%s) and as argument %d (%s); pass it once "
        "with OP_RW, or as OP_INC only",
        loop->name, a->dat->name, i + 1, access_name(a->access), j + 1, access_name(b->access));
  if (meet_writes(a) && meet_writes(b))
    return check_both(loop, i, j, marks, err);
  long target = 0;
  visit(loop, a, marks, mark, &target);
  long element = visit(loop, b, marks, is_marked, &target);
  return element < 0 ? OP_OK : report(loop, i, j, element, target, err);
}

/* Pairs that need no look at the tables. */
static bool is_harmless(const struct loop_arg *a, const struct loop_arg *b) {
  if (a == b)
    return !may_repeat(a);
  if (a->dat != b->dat || !a->dat || !a->present || !b->present)
    return true;
  return a->access == b->access && (a->access == OP_READ || access_reduces(a->access));
}

/* OP2_CHECK=list. */
static int list_alias(const struct op_context *ctx, const struct loop *loop, struct error *err) {
  struct error ignored = {0};
  struct notes notes = {.err = &ignored, .list = ctx->findings, .place = -1};
  int code = OP_OK;
  if (context_checked(ctx, loop->name) == CHECKED_LIST)
    code = note(&notes, loop, RULE_ALIAS, -1, error_message(err));
  error_clear(err);
  if (code)
    error_copy(err, &ignored);
  error_free(&ignored);
  return code;
}

/* One look at all that writes a dat tells of most meshes that no target is met twice, by whatever element. */
static int look(const struct op_context *ctx, const struct loop *loop, int i, int j, bool *again,
                struct error *err) {
  const struct loop_arg *a = &loop->args[i], *b = &loop->args[j];
  struct meeting found;
  *again = true;
  if (!meet_writes(a) || !meet_writes(b) || (arg_is_own(a) && arg_is_own(b)))
    return OP_OK;
  const int code = meet_find(ctx, loop, a, &found, err);
  *again = found.repeats;
  return code;
}

int loop_check_aliases(struct op_context *ctx, struct loop *loop, struct error *err) {
  for (int i = 0; i < loop->nargs; i++)
    for (int j = i; j < loop->nargs; j++) {
      bool again = false;
      if (is_harmless(&loop->args[i], &loop->args[j]))
        continue;
      if (look(ctx, loop, i, j, &again, err))
        return err->code;
      if (!again)
        continue;
      size_t bytes = (size_t)loop->args[i].dat->set->extents[EXTENT_NONEXEC] / 8 + 1;
      unsigned char *marks = array_new(bytes, 1);
      if (!marks)
        return error_memory(err, "the check of a dat that is passed twice", bytes);
      int code = check_pair(loop, i, j, marks, bytes, err);
      free(marks);
      if (code == OP_ERR_ALIAS && is_forgiven(ctx, loop)) {
        log_line(ctx->log, site_weight(ctx, loop, "alias"), "loop",
                 "%s; no two elements that meet there run at the same time", error_message(err));
        loop->forgiven = true;
        return list_alias(ctx, loop, err);
      }
      if (code)
        return code;
    }
  return OP_OK;
}
