/* Where what a lane works on is in memory. */
#include <stdio.h>

#include "jit/generate/rows.h"
#include "jit/generate/strips/strip.h"

/* The element of lane l (a number or "op2_l"). */
void lane_element(const struct generator *g, const char *lane, char *out, size_t size) {
  snprintf(out, size, g->s->list ? "op2_e[%s]" : "(op2_i + %s)", lane);
}

void lane_target(const struct generator *g, const struct desc_arg *a, int col, const char *lane, char *out,
                 size_t size) {
  if (a->map < 0)
    lane_element(g, lane, out, size);
  else if (a->entry)
    rows_entry(g, a, lane, out, size);
  else if (g->straight)
    snprintf(out, size, "(op2_i + op2_o%d_%d + %s)", a->map, col, lane);
  else
    snprintf(out, size, "op2_m%d_%d[%s]", a->map, col, lane);
}

/* Do lanes' elements or targets follow one another? */
bool lanes_follow(const struct generator *g, const struct desc_arg *a) {
  return a->map < 0 || a->entry ? !g->s->list && !a->scattered : g->straight;
}

/* Lanes of this argument that follow one another in memory: no row needs turning. */
bool lanes_follow_in_memory(const struct generator *g, const struct desc_arg *a) {
  return lanes_follow(g, a) && (a->dim == 1 || dat_is_apart(g->d, a->dat));
}

/* Components that are turned at once: a whole row, or one of data that lie apart. */
int lanes_turned(const struct generator *g, const struct desc_arg *a) {
  return dat_is_apart(g->d, a->dat) ? 1 : a->dim;
}

/* The address of a lane's row, or of component `c` of it. */
void lane_address(const struct generator *g, const struct desc_arg *a, int col, int c, const char *lane,
                  char *out, size_t size) {
  char element[64];
  lane_target(g, a, col, lane, element, sizeof element);
  if (dat_is_apart(g->d, a->dat))
    snprintf(out, size, "op2_d%d + %d * op2_s%d + %s", a->dat, c, a->dat, element);
  else if (rows_step(g->d, a) == 1)
    snprintf(out, size, "op2_d%d + %s", a->dat, element);
  else
    snprintf(out, size, "op2_d%d + %s * %d", a->dat, element, rows_step(g->d, a));
}
