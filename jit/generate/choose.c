/* Which shapes a loop can have, and which are worth trying. */
#include "jit/generate/generate.h"
#include "jit/generate/skeleton.h"

/* Lanes hold every component of a strip's rows in registers or close by; rows longer than these do not gain. */
enum { LONGEST_ROW = 24, MOST_COMPONENTS = 96 };

/* Sums and extrema per lane are for the short ones; what the kernel writes at a global's own address cannot be in lanes. */
static bool global_fits(const struct desc_arg *a) {
  if (!a->present || a->access == OP_READ || a->access == OP_WORK)
    return true;
  return a->access != OP_WRITE && a->access != OP_RW && (arg_is_accumulated(a) || a->info >= 0);
}

bool shape_fits(const struct desc *d, const struct shape *s) {
  int components = 0;
  if (s->width == 0)
    return true;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (a->form == DESC_GBL && !global_fits(a))
      return false;
    if (a->form == DESC_DAT && a->dim > LONGEST_ROW)
      return false;
    if (a->form == DESC_DAT)
      components += a->dim * arg_columns(d, a);
  }
  return components <= MOST_COMPONENTS;
}

/* Does each element work on whole rows, on other sets' data, or add up floating-point numbers? Otherwise the compiler
 * makes vectors of the plain loop by itself. */
static bool gains(const struct desc *d) {
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (a->present && a->form == DESC_DAT && (a->map >= 0 || (a->dim > 1 && !d->dats[a->dat].soa)))
      return true;
    if (a->present && a->form == DESC_GBL && a->access == OP_INC && type_info(a->type)->is_float)
      return true;
  }
  return false;
}

/* The widest floating-point type: its values fill one vector register. */
static int natural_width(const struct desc *d, int vector_bytes) {
  int bytes = 4;
  for (int i = 0; i < d->nargs; i++)
    if (d->args[i].present && type_info(d->args[i].type)->size == 8)
      bytes = 8;
  int width = vector_bytes / bytes;
  return width < 4 ? 4 : width > 16 ? 16 : width;
}

static int add_shape(const struct desc *d, int width, struct shape *out, int count) {
  struct shape s = {.width = width};
  for (int i = 0; i < count; i++)
    if (out[i].width == width)
      return count;
  if (!shape_fits(d, &s))
    return count;
  out[count] = s;
  return count + 1;
}

int shape_candidates(const struct desc *d, int vector_bytes, struct shape out[SHAPE_CANDIDATES]) {
  int width = natural_width(d, vector_bytes), count = 0;
  bool strips = vector_bytes >= 32;
  if (strips && gains(d))
    count = add_shape(d, width, out, count);
  count = add_shape(d, 0, out, count);
  if (strips) {
    count = add_shape(d, width, out, count);
    count = add_shape(d, width == 4 ? 8 : width / 2, out, count);
  }
  return count;
}
