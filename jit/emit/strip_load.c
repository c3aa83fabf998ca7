/* Into lanes: entries of maps, data and numbers. */
#include <stdio.h>

#include "jit/emit/skeleton.h"
#include "jit/emit/strip.h"
#include "jit/emit/strip_lanes.h"

/* ---- entries of maps -----------------------------------------------------------------------------*/

/* LLVM would load the entries of a strip as one vector, scale them, and take them apart again for the addresses,
 * which takes longer than loading each: adding to rows of three in strips, by a quarter. Atomic loads, which are
 * ordinary ones, it leaves apart. No entry is negative, so that the load makes it as wide as an address. */
static bool are_addresses(const struct desc *d, int map) {
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (a->present && a->form == DESC_DAT && a->map == map)
      return true;
  }
  return false;
}

/* Where a lane's row of a map begins. */
static void row_of_map(const struct generator *g, int map, const char *lane, char *out, size_t size) {
  char element[64];
  if (g->d->maps[map].ragged) {
    rows_first(g, map, lane, out, size);
    return;
  }
  lane_element(g, lane, element, sizeof element);
  snprintf(out, size, "%s * %d", element, g->d->maps[map].arity);
}

/* Numbers are wanted with what is loaded, before the kernel; where increments go, behind it. */
bool arg_is_loaded(const struct desc_arg *a) {
  return a->form == DESC_IDX || access_reads(a->access) || access_is_extremum(a->access);
}

static bool has_entries(const struct desc_arg *a) {
  return a->present && (a->form == DESC_DAT || a->form == DESC_IDX) && a->map >= 0 && !a->entry &&
         (arg_is_loaded(a) || !a->dropped);
}

/* Some argument before this one has the same column, among those whose targets are looked up together. */
static bool is_known(const struct generator *g, int arg, int v) {
  const struct desc_arg *a = &g->d->args[arg];
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *other = &g->d->args[i];
    const int before = i == arg ? v : arg_columns(g->d, other);
    if (!has_entries(other) || other->map != a->map || stage_of(g, other) != stage_of(g, a) ||
        (arg_is_loaded(other) == arg_is_loaded(a) ? i > arg : arg_is_loaded(a)))
      continue;
    for (int o = 0; o < before; o++)
      if (arg_column(other, o) == arg_column(a, v))
        return true;
  }
  return false;
}

/* As late as may be: sixteen entries at once would take all registers of addresses. */
static void put_entries(struct generator *g, int arg, int v) {
  const struct desc_arg *a = &g->d->args[arg];
  const int m = a->map, c = has_entries(a) ? arg_column(a, v) : 0, width = g->s->width;
  struct text entries = {0};
  if (g->straight || !has_entries(a) || is_known(g, arg, v))
    return;
  const bool apart = are_addresses(g->d, m);
  for (int l = 0; l < width; l++) {
    char lane[16], row[80];
    snprintf(lane, sizeof lane, "%d", l);
    row_of_map(g, m, lane, row, sizeof row);
    text_addf(&entries,
              apart ? "%s(unsigned)__atomic_load_n(&op2_t%d[%s + %d], __ATOMIC_RELAXED)"
                    : "%sop2_t%d[%s + %d]",
              l ? ", " : "", m, row, c);
  }
  put(g, "const %s op2_m%d_%d[%d] = {%s};", apart ? "long" : "int", m, c, width, text_str(&entries));
  piece_free(g, &entries);
}

void put_arg_entries(struct generator *g, int arg) {
  for (int v = 0; has_entries(&g->d->args[arg]) && v < arg_columns(g->d, &g->d->args[arg]); v++)
    put_entries(g, arg, v);
}

void put_lane_elements(struct generator *g) {
  struct text list = {0};
  for (int l = 0; l < g->s->width; l++)
    text_addf(&list, "%sop2_list[op2_i + %d]", l ? ", " : "", l);
  if (g->s->list)
    put(g, "const long op2_e[%d] = {%s};", g->s->width, text_str(&list));
  text_free(&list);
}

/* ---- data ----------------------------------------------------------------------------------------*/

/* Rows `offset` and on of op2_lARG, from memory. */
static void put_load(struct generator *g, const struct desc_arg *a, int arg, int col, int c, int offset) {
  char name[32], where[160];
  int width = g->s->width;
  lanes_name(a->type, lanes_turned(g, a), name, sizeof name);
  if (lanes_follow_in_memory(g, a)) {
    lane_address(g, a, col, c, "0", where, sizeof where);
    put(g, "__builtin_memcpy(op2_l%d + %d, %s, sizeof(%s) * %d);", arg, offset, where, word_type(g, a->type),
        width);
    return;
  }
  struct text rows = {0};
  for (int l = 0; l < width; l++) {
    char lane[16];
    snprintf(lane, sizeof lane, "%d", l);
    lane_address(g, a, col, c, lane, where, sizeof where);
    text_addf(&rows, "%s%s", l ? ", " : "", where);
  }
  put(g, "op2_load_%s(op2_l%d + %d, (const %s *const[%d]){%s});", name, arg, offset, word_type(g, a->type),
      width, text_str(&rows));
  piece_free(g, &rows);
}

void put_dat_loads(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  int n = arg_columns(g->d, a), width = g->s->width;
  for (int v = 0; arg_is_loaded(a) && v < n; v++) {
    put_entries(g, arg, v);
    for (int c = 0; c < a->dim; c += lanes_turned(g, a))
      put_load(g, a, arg, arg_column(a, v), c, (v * a->dim + c) * width);
  }
}

void put_dat_array(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  put(g, "%s op2_l%d[%d] __attribute__((aligned(64)));", word_type(g, a->type), arg,
      arg_columns(g->d, a) * a->dim * g->s->width);
}

static void put_dat_lanes(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  int n = arg_columns(g->d, a), width = g->s->width;
  if (stage_of(g, a) == STAGE_NEXT)
    return;
  put_dat_array(g, arg);
  put_dat_loads(g, arg);
  if (!access_is_extremum(a->access))
    return;
  put(g, "%s op2_b%d[%d] __attribute__((aligned(64)));", word_type(g, a->type), arg, n * a->dim * width);
  put(g, "__builtin_memcpy(op2_b%d, op2_l%d, sizeof op2_l%d);", arg, arg, arg);
}

/* ---- numbers -------------------------------------------------------------------------------------*/

/* True: lanes' elements or targets follow one another. */
static bool lanes_follow(const struct generator *g, const struct desc_arg *a) {
  return a->map < 0 || a->entry ? !g->s->list && !a->scattered : g->straight;
}

/* Numbers that are looked up one by one stand in lanes before the loop over them; others are made there, for LLVM
 * takes what it knows of them apart. */
bool arg_has_number_lanes(const struct generator *g, const struct desc_arg *a) {
  const int set = a->map < 0 ? 0 : g->d->maps[a->map].to;
  return g->d->renumbered[set] && !lanes_follow(g, a);
}

/* The number of a lane, by column `v` of the argument. */
static void number_of_lane(const struct generator *g, const struct desc_arg *a, int v, char *out,
                           size_t size) {
  const int set = a->map < 0 ? 0 : g->d->maps[a->map].to;
  const bool renumbered = g->d->renumbered[set];
  char element[64];
  const bool counted = lanes_follow(g, a) && !renumbered;
  lane_target(g, a, arg_column(a, v), counted ? "0" : "op2_l", element, sizeof element);
  if (renumbered)
    snprintf(out, size, "op2_x%d[%s]", set, element);
  else
    snprintf(out, size, counted ? "(int)%s + op2_l" : "(int)%s", element);
}

static void put_number_lanes(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  const int n = arg_columns(g->d, a), width = g->s->width;
  put_arg_entries(g, arg);
  if (!arg_has_number_lanes(g, a))
    return;
  put(g, "int op2_l%d[%d] __attribute__((aligned(64)));", arg, n * width);
  put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", width);
  for (int v = 0; v < n; v++) {
    char number[96];
    number_of_lane(g, a, v, number, sizeof number);
    put(g, "op2_l%d[%d + op2_l] = %s;", arg, v * width, number);
  }
  put_close(g);
}

void put_made_numbers(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  for (int v = 0; v < arg_columns(g->d, a); v++) {
    char number[96];
    number_of_lane(g, a, v, number, sizeof number);
    put(g, "op2_a%d[%d] = %s;", arg, v, number);
  }
}

/* ---- all -----------------------------------------------------------------------------------------*/

bool arg_keeps_lanes(const struct desc_arg *a) {
  return arg_is_extremum_with_info(a) || a->form == DESC_INFO ||
         (arg_is_accumulated(a) && a->access == OP_INC);
}

void put_lanes(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  if (!a->present)
    return;
  if (a->form == DESC_DAT)
    put_dat_lanes(g, arg);
  else if (a->form == DESC_IDX)
    put_number_lanes(g, arg);
  else if (arg_keeps_lanes(a))
    put(g, "%s op2_l%d[%d] __attribute__((aligned(64)));", word_type(g, a->type), arg, a->dim * g->s->width);
}

/* ---- where what a lane works on is in memory ---- */
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
