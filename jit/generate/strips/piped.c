/* Strips in three stages: while one is computed, the rows of the next one are brought into lanes, and what the one
 * before adds to rows goes to memory. The kernel's arithmetic has a long way from its first load to its last result,
 * and elements that meet add through memory one after the other: with the stages of one strip in line a processor waits
 * for both. Sums keep their order, for all that adds to such a dat waits, and scalar code comes behind the last strip's
 * additions. */
#include "jit/generate/generate.h"
#include "jit/generate/rows.h"
#include "jit/generate/strips/lanes.h"

/* Single values are brought into lanes by a few instructions; they would only take registers. */
static bool are_rows(const struct desc *d, const struct desc_arg *a) {
  return a->present && a->form == DESC_DAT && a->dim > 1 && !dat_is_apart(d, a->dat);
}

/* Rows to which nothing is done but adding, through maps. */
static bool can_wait(const struct desc *d, const struct desc_arg *a) {
  bool waits = are_rows(d, a);
  for (int i = 0; waits && i < d->nargs; i++) {
    const struct desc_arg *other = &d->args[i];
    if (other->present && other->form == DESC_DAT && other->dat == a->dat)
      waits = other->access == OP_INC && other->map >= 0 && !other->entry && !other->dropped;
  }
  return waits;
}

/* Rows that are only read. */
static bool can_be_ahead(const struct desc *d, const struct desc_arg *a) {
  bool ahead = are_rows(d, a);
  for (int i = 0; ahead && i < d->nargs; i++) {
    const struct desc_arg *other = &d->args[i];
    if (other->present && other->form == DESC_DAT && other->dat == a->dat)
      ahead = other->access == OP_READ && !other->dropped;
  }
  return ahead;
}

bool shape_can_be_piped(const struct desc *d, const struct shape *s) {
  bool any = false;
  for (int i = 0; i < d->nargs; i++)
    any |= can_wait(d, &d->args[i]);
  return any && s->width && rows_open_map(d) < 0 && shape_fits(d, s);
}

int piped_values(const struct desc *d) {
  int count = 0;
  for (int i = 0; i < d->nargs; i++)
    if (can_wait(d, &d->args[i]) || can_be_ahead(d, &d->args[i]))
      count += d->args[i].dim * arg_columns(d, &d->args[i]);
  return count;
}

enum stage stage_of(const struct generator *g, const struct desc_arg *a) {
  if (!g->s->piped || g->alone)
    return STAGE_STRIP;
  return can_wait(g->d, a) ? STAGE_BEFORE : can_be_ahead(g->d, a) ? STAGE_NEXT : STAGE_STRIP;
}

static void put_block(struct generator *g) {
  put(g, "{");
  g->depth++;
}

static void put_stage(struct generator *g, enum stage stage, void (*put_arg)(struct generator *g, int arg)) {
  for (int i = 0; i < g->d->nargs; i++)
    if (stage_of(g, &g->d->args[i]) == stage)
      put_arg(g, i);
}

static void put_rows_of_next(struct generator *g) {
  put_lane_elements(g);
  put_stage(g, STAGE_NEXT, put_dat_loads);
}

/* The last strip has none behind it, and loads its own again. */
void put_next_strip(struct generator *g) {
  put_block(g);
  put(g, "const long op2_next = op2_i < op2_last ? op2_i + %d : op2_i;", g->s->width);
  put(g, "const long op2_i = op2_next;");
  put_rows_of_next(g);
  put_close(g);
}

void put_strip_before(struct generator *g) {
  put_open(g, "if (op2_i > op2_start)");
  put(g, "const long op2_before = op2_i - %d;", g->s->width);
  put_block(g);
  put(g, "const long op2_i = op2_before;");
  put_lane_elements(g);
  put_stage(g, STAGE_BEFORE, put_arg_entries);
  for (int l = 0; l < g->s->width; l++)
    for (int i = 0; i < g->d->nargs; i++)
      if (stage_of(g, &g->d->args[i]) == STAGE_BEFORE)
        put_lane_store(g, i, l);
  put_close(g);
  put_close(g);
}

static void put_loop(struct generator *g, const char *stop) {
  put_open(g, "for (; op2_i + %d <= %s; op2_i += %d)", g->s->width, stop, g->s->width);
  put_strip(g);
  put_close(g);
}

void put_strips_until(struct generator *g, const char *stop) {
  const int width = g->s->width;
  if (!g->s->piped) {
    put_loop(g, stop);
    return;
  }
  put_open(g, "if (op2_i + %d <= %s)", width, stop);
  put(g, "const long op2_start = op2_i, op2_last = op2_i + (%s - op2_i) / %d * %d - %d;", stop, width, width,
      width);
  put_stage(g, STAGE_BEFORE, put_results);
  put_stage(g, STAGE_NEXT, put_dat_array);
  put_block(g);
  put_rows_of_next(g);
  put_close(g);
  put_loop(g, stop);
  put_strip_before(g);
  put_close(g);
}
