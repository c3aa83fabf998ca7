/* Strips in three stages: while one is computed, the rows of the next one are brought into lanes, and what the one
 * before adds to rows goes to memory. The kernel's arithmetic has a long way from its first load to its last result,
 * and elements that meet add through memory one after the other: with the stages of one strip in line a processor waits
 * for both. Sums keep their order, for all that adds to such a dat waits, and scalar code comes behind the last strip's
 * additions. */
#include "jit/generate/strips/strip.h"

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

void put_pipe_begin(struct generator *g, const char *stop) {
  const int width = g->s->width;
  put(g, "const long op2_start = op2_i, op2_last = op2_i + (%s - op2_i) / %d * %d - %d;", stop, width, width,
      width);
  put_stage(g, STAGE_BEFORE, put_results);
  put_stage(g, STAGE_NEXT, put_dat_array);
  put_block(g);
  put_rows_of_next(g);
  put_close(g);
}
