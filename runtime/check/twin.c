#include "check/twin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/log.h"
#include "check/rows.h"
#include "check/watch/watch_say.h"
#include "context/context.h"
#include "context/env.h"

/* Two compilers round differently: this much of the largest value that the element has to do with. */
#define TOLERANCE_DOUBLE 1e-6
#define TOLERANCE_FLOAT 1e-3

struct twin {
  struct cell *cell; /* of the compiled text */
  bool told;
};

/* With OP2_JIT=load nothing is compiled only to be compared. */
static bool is_wanted(const struct op_context *ctx, const struct loop *loop) {
  return loop->native && loop->desc.nconsts > 0 && strcmp(loop->backend->name, "native") != 0 &&
         strcmp(env_value(ctx->env, ENV_JIT), "on") == 0;
}

int twin_open(struct twin **out, struct op_context *ctx, const struct loop *loop, struct error *err) {
  *out = NULL;
  if (!is_wanted(ctx, loop))
    return OP_OK;
  *out = calloc(1, sizeof **out);
  return *out ? cell_open(&(*out)->cell, ctx, loop, false, err)
              : error_memory(err, "the checking form", sizeof **out);
}

void twin_free(struct twin *twin) {
  if (twin)
    cell_free(twin->cell);
  free(twin);
}

void twin_take(struct twin *twin, const struct launch *launch) {
  if (twin)
    twin->cell->launch = launch;
}

void twin_tell_constants(const struct op_context *ctx, const struct loop *loop, struct text *out) {
  enum { NAMES = 6, VALUES = 4 };
  const struct desc *d = &loop->desc;
  for (int c = 0; c < d->nconsts && c < NAMES; c++) {
    const struct constant *constant = mesh_find_constant(ctx->mesh, d->consts[c].name);
    text_addf(out, "%s%s =", c ? ", " : "", constant->name);
    for (int v = 0; v < constant->dim && v < VALUES; v++) {
      text_add_char(out, ' ');
      type_add_shortest(constant->type, constant->value + (size_t)v * type_info(constant->type)->size, out);
    }
    text_add(out, constant->dim > VALUES ? " ..." : "");
  }
  text_add(out, d->nconsts > NAMES ? ", ..." : "");
}

/* Extrema may start from anything. */
static double largest_value(const struct cell *cell) {
  double largest = 0;
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct loop_arg *arg = &cell->loop->args[i];
    const size_t size = type_info(arg->type)->size;
    if (!type_info(arg->type)->is_float || access_is_extremum(arg->access) || arg->access == OP_WORK)
      continue;
    for (int r = 0; r < cell->args[i].rows; r++)
      for (int c = 0; c < arg->dim; c++) {
        const double x = fabs(type_number(arg->type, cell_row(cell, 0, i, r) + (size_t)c * size));
        largest = isfinite(x) && x > largest ? x : largest;
      }
  }
  return largest;
}

static bool differs(enum type_code type, const unsigned char *a, const unsigned char *b, double largest) {
  const struct type_info *info = type_info(type);
  if (memcmp(a, b, info->size) == 0)
    return false;
  const double x = type_number(type, a), y = type_number(type, b);
  const double tolerance = (type == TYPE_FLOAT ? TOLERANCE_FLOAT : TOLERANCE_DOUBLE) * largest;
  return !info->is_float || (isfinite(x) && isfinite(y) && fabs(x - y) > tolerance);
}

struct place {
  int arg, row, component;
};

static bool find_difference(const struct cell *function, const struct cell *text, struct place *found) {
  const double largest = largest_value(function);
  for (int i = 0; i < function->loop->nargs; i++) {
    const struct loop_arg *arg = &function->loop->args[i];
    const size_t size = type_info(arg->type)->size;
    for (int r = 0; access_changes(arg->access) && r < function->args[i].rows; r++)
      for (int c = 0; c < arg->dim; c++) {
        const size_t at = (size_t)c * size;
        if (!differs(arg->type, cell_row(function, 0, i, r) + at, cell_row(text, 0, i, r) + at, largest))
          continue;
        *found = (struct place){i, r, c};
        return true;
      }
  }
  return false;
}

static void warn(const struct twin *twin, struct op_context *ctx, const struct cell *cell, long element,
                 const struct place *p) {
  const struct loop *loop = cell->loop;
  const enum type_code type = loop->args[p->arg].type;
  const size_t at = (size_t)p->component * type_info(type)->size;
  struct text title = {0}, where = {0}, constants = {0};
  char function[64], text[64];
  type_print(type, cell_row(cell, 0, p->arg, p->row) + at, function, sizeof function);
  type_print(type, cell_row(twin->cell, 0, p->arg, p->row) + at, text, sizeof text);
  watch_title(loop, p->arg, &title);
  watch_place(cell, p->arg, p->row, p->component, element, &where);
  twin_tell_constants(ctx, loop, &constants);
  log_line(
      ctx->log, LOG_WARN, "check",
      "%s, element %d of set \"%s\": the kernel's C function makes %s %s, and its text, which %s runs and "
      "whose results count, makes it %s; the function reads the program's own variables, and the text has "
      "what op_decl_const or op_update_const was given: compare the variables with %s",
      text_str(&title), user_number(loop->set, element), loop->set->name, text_str(&where), function,
      loop->backend->name, text, text_str(&constants));
  text_free(&title);
  text_free(&where);
  text_free(&constants);
}

void twin_compare(struct twin *twin, struct op_context *ctx, const struct cell *cell, long element) {
  struct place place;
  if (!twin || twin->told)
    return;
  rows_load(twin->cell, 0, element);
  cell_run(twin->cell, 0, -1);
  if (twin->cell->trap != TRAP_NONE || twin->cell->condition || cell_left_variable(twin->cell) ||
      !find_difference(cell, twin->cell, &place))
    return;
  twin->told = true;
  warn(twin, ctx, cell, element, &place);
}
