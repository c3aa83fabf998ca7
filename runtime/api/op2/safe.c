#include "api/op2/text.h"
#include "backend/backend.h"
#include "base/log.h"
#include "context/context.h"
#include "jit/found.h"
#include "mesh/data.h"
#include "op2/op2jit_compiled.h"
#include "record/columns.h"
#include "record/sites.h"

static bool is_alone(const struct loop *loop, const struct loop_arg *arg) {
  for (int i = 0; i < loop->nargs; i++)
    if (&loop->args[i] != arg && loop->args[i].dat == arg->dat)
      return false;
  return true;
}

/* The row that entry `entry` of the argument has for an element. */
static int row_of(const struct loop_arg *arg, long element, int entry) {
  return arg->map ? arg->map->table[(size_t)element * (size_t)arg->map->arity +
                                    (size_t)(arg->idx < 0 ? entry : arg->idx)]
                  : (int)element;
}

static bool share_a_row(const struct loop *loop, const struct loop_arg *a, const struct loop_arg *b,
                        long *element) {
  for (*element = 0; *element < loop->set->extents[EXTENT_OWNED]; ++*element)
    for (int i = 0; i < (a->map ? arg_columns(a) : 1); i++)
      for (int j = 0; j < (b->map ? arg_columns(b) : 1); j++)
        if ((a != b || i != j) && row_of(a, *element, i) == row_of(b, *element, j))
          return true;
  return false;
}

/* There each argument has a copy of its row, and what one changes another of the same row would not see. */
bool safe_on_device(const struct loop *loop, struct text *why) {
  if (!space_is_device(loop->space))
    return false;
  for (int i = 0; i < loop->nargs; i++)
    for (int j = i; j < loop->nargs; j++) {
      const struct loop_arg *a = &loop->args[i], *b = &loop->args[j];
      long element = 0;
      if (a->dat && a->present && b->present && a->dat == b->dat &&
          (a->access != OP_READ || b->access != OP_READ) && share_a_row(loop, a, b, &element)) {
        text_addf(why, "arguments %d and %d are one row of dat \"%s\" for element %ld, and it changes", i + 1,
                  j + 1, a->dat->name, set_said(loop->set, element));
        return false;
      }
    }
  return true;
}

/* OP_RW is OP_WRITE of a part, which keeps the rest; and OP_INC where no other element comes to the same place, or none
 * that does runs at the same time. */
static bool can_be_rw(const struct loop *loop, const struct loop_arg *arg, const struct error *err) {
  struct text why = {0};
  if (!arg->dat || !arg->present || arg->access != found_access(err->fact))
    return false;
  if (arg->access != OP_INC)
    return arg->access == OP_WRITE;
  const bool can = safe_on_device(loop, &why) || (!arg->map && is_alone(loop, arg));
  text_free(&why);
  return can;
}

/* False: there is no such reading. */
static bool run_with_text(struct op_context *ctx, struct loop *loop, struct error *err) {
  const char *was = NULL;
  for (int i = 0; i < loop->nargs; i++) {
    struct loop_arg *arg = &loop->args[i];
    if (!can_be_rw(loop, arg, err))
      continue;
    was = arg->access == OP_WRITE ? "OP_WRITE" : "OP_INC";
    loop->forgiven |= arg->access == OP_INC && arg->map;
    arg->access = OP_RW;
  }
  if (was) {
    log_line(ctx->log, site_weight(ctx, loop, "safe"), "loop", "loop %s: %s\nit runs as if %s were OP_RW%s",
             loop->name, error_bare(err), was,
             loop->forgiven ? ", no two elements that meet at the same time" : "");
    error_clear(err);
  }
  return was != NULL;
}

/* Dats of this access become OP_RW, but for those that the kernel cannot write to: no two elements that meet run at
 * the same time then, and ranks have what others wrote before. */
static bool become_rw(struct loop *loop, int access) {
  bool found = false;
  for (int i = 0; i < loop->nargs; i++) {
    struct loop_arg *arg = &loop->args[i];
    if (!arg->dat || !arg->present || arg->access != access || loop->compiled->parameters[i].is_const)
      continue;
    arg->access = OP_RW;
    loop->forgiven |= arg->map != NULL;
    found = true;
  }
  return found;
}

static int run_without_text(struct op_context *ctx, struct loop *loop, int code, struct error *err) {
  struct text why = {0}, how = {0};
  const int access = found_access(err->fact);
  text_add(&why, error_bare(err));
  if (code == OP_ERR_VIOLATION && (access == OP_INC || access == OP_READ) && become_rw(loop, access))
    text_addf(&how, " as if %s were OP_RW,", access == OP_INC ? "OP_INC" : "OP_READ");
  if (code == OP_ERR_VIOLATION)
    log_line(ctx->log, site_weight(ctx, loop, "unsafe"), "loop",
             "loop %s: %s\nit runs as the program's compiler made it,%s no two elements that meet at the "
             "same time",
             loop->name, text_str(&why), text_str(&how));
  error_clear(err);
  code = text_give_up(ctx, loop, code, text_str(&why), err);
  text_free(&why);
  text_free(&how);
  return code;
}

/* A device has the text alone. */
bool safe_reread(struct op_context *ctx, struct loop *loop, int code, struct error *err) {
  if (code == OP_ERR_VIOLATION && run_with_text(ctx, loop, err))
    return true;
  if (space_is_device(loop->space))
    return false;
  run_without_text(ctx, loop, code, err); /* what fails stays in err */
  return true;
}
