#include <stdio.h>

#include "jit/generate/rows.h"
#include "jit/generate/strips/lanes.h"

/* Names in a strip: op2_l3 the lanes of argument 3, value c of lane l of target v at [(v * dim + c) * width + l];
 * op2_b3 what an extremum began with; op2_r3 its results turned back into rows; op2_m0_1[l] map entries, or op2_o0_1 what they are more than their
 * elements; inside the loop over lanes op2_a3 and op2_v3 as for one element. */

/* ---- addresses ---------------------------------------------------------------------------------*/

/* The element of lane l (a number or "op2_l"). */
static void lane_element(const struct generator *g, const char *lane, char *out, size_t size) {
  snprintf(out, size, g->s->list ? "op2_e[%s]" : "(op2_i + %s)", lane);
}

static void lane_target(const struct generator *g, const struct desc_arg *a, int col, const char *lane,
                        char *out, size_t size) {
  if (a->map < 0)
    lane_element(g, lane, out, size);
  else if (a->entry)
    rows_first(g, a->map, lane, out, size);
  else if (g->straight)
    snprintf(out, size, "(op2_i + op2_o%d_%d + %s)", a->map, col, lane);
  else
    snprintf(out, size, "op2_m%d_%d[%s]", a->map, col, lane);
}

/* Do lanes' elements or targets follow one another? */
static bool lanes_follow(const struct generator *g, const struct desc_arg *a) {
  return a->map < 0 || a->entry ? !g->s->list : g->straight;
}

/* Lanes of this argument that follow one another in memory: no row needs turning. */
static bool is_contiguous(const struct generator *g, const struct desc_arg *a) {
  return lanes_follow(g, a) && (a->dim == 1 || dat_is_apart(g->d, a->dat));
}

/* Lanes whose results can leave as one vector. Increments by several columns may meet on a target, and are added in the
 * order of elements. */
static bool leaves_at_once(const struct generator *g, const struct desc_arg *a) {
  return is_contiguous(g, a) && (a->map < 0 || a->entry || !access_reduces(a->access) ||
                                 (!arg_is_vector(a) && arg_is_alone(g->d, a)));
}

/* What is turned at once: a whole row, or one component of data that lie apart. */
static int turned_dim(const struct generator *g, const struct desc_arg *a) {
  return dat_is_apart(g->d, a->dat) ? 1 : a->dim;
}

/* The address of a lane's row, or of component `c` of it. */
static void lane_address(const struct generator *g, const struct desc_arg *a, int col, int c,
                         const char *lane, char *out, size_t size) {
  char element[64];
  lane_target(g, a, col, lane, element, sizeof element);
  if (dat_is_apart(g->d, a->dat))
    snprintf(out, size, "op2_d%d + %d * op2_s%d + %s", a->dat, c, a->dat, element);
  else if (rows_step(g->d, a) == 1)
    snprintf(out, size, "op2_d%d + %s", a->dat, element);
  else
    snprintf(out, size, "op2_d%d + %s * %d", a->dat, element, rows_step(g->d, a));
}

/* ---- into lanes --------------------------------------------------------------------------------*/

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
static bool is_loaded(const struct desc_arg *a) {
  return a->form == DESC_IDX || a->access == OP_READ || a->access == OP_RW || access_is_extremum(a->access);
}

static bool has_entries(const struct desc_arg *a) {
  return a->present && (a->form == DESC_DAT || a->form == DESC_IDX) && a->map >= 0 && !a->entry &&
         (is_loaded(a) || !a->dropped);
}

/* Of those arguments whose targets are looked up together, does one before this one have the same column? */
static bool is_known(const struct generator *g, int arg, int v) {
  const struct desc_arg *a = &g->d->args[arg];
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *other = &g->d->args[i];
    const int before = i == arg ? v : arg_columns(g->d, other);
    if (!has_entries(other) || other->map != a->map || stage_of(g, other) != stage_of(g, a) ||
        (is_loaded(other) == is_loaded(a) ? i > arg : is_loaded(a)))
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
  g->out->failed |= entries.failed;
  text_free(&entries);
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

/* Rows `offset` and on of op2_lARG, from memory. */
static void put_load(struct generator *g, const struct desc_arg *a, int arg, int col, int c, int offset) {
  char name[32], where[160];
  int width = g->s->width;
  lanes_name(a->type, turned_dim(g, a), name, sizeof name);
  if (is_contiguous(g, a)) {
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
  g->out->failed |= rows.failed;
  text_free(&rows);
}

void put_dat_loads(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  int n = arg_columns(g->d, a), width = g->s->width;
  for (int v = 0; is_loaded(a) && v < n; v++) {
    put_entries(g, arg, v);
    for (int c = 0; c < a->dim; c += turned_dim(g, a))
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

/* Numbers that are looked up one by one stand in lanes before the loop over them; others are made there, for LLVM
 * takes what it knows of them apart. */
static bool has_number_lanes(const struct generator *g, const struct desc_arg *a) {
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
  if (!has_number_lanes(g, a))
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

static void put_made_numbers(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  for (int v = 0; v < arg_columns(g->d, a); v++) {
    char number[96];
    number_of_lane(g, a, v, number, sizeof number);
    put(g, "op2_a%d[%d] = %s;", arg, v, number);
  }
}

static bool keeps_lanes(const struct desc_arg *a) {
  return arg_is_extremum_with_info(a) || a->form == DESC_INFO ||
         (arg_is_accumulated(a) && a->access == OP_INC);
}

static void put_lanes(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  if (!a->present)
    return;
  if (a->form == DESC_DAT)
    put_dat_lanes(g, arg);
  else if (a->form == DESC_IDX)
    put_number_lanes(g, arg);
  else if (keeps_lanes(a))
    put(g, "%s op2_l%d[%d] __attribute__((aligned(64)));", word_type(g, a->type), arg, a->dim * g->s->width);
}

/* ---- one lane ----------------------------------------------------------------------------------*/

/* op2_a3: the values that the kernel gets. */
static void put_lane_values(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  int n = a->form == DESC_DAT && a->present ? arg_columns(g->d, a) * a->dim
          : a->form == DESC_IDX             ? arg_columns(g->d, a)
                                            : a->dim;
  bool passed_as_it_is = a->form == DESC_GBL && a->access == OP_READ && a->present;
  if (passed_as_it_is)
    return;
  put(g, "%s op2_a%d[%d];", word_type(g, a->type), arg, n);
  const bool number = a->present && a->form == DESC_IDX, made = number && !has_number_lanes(g, a);
  const bool from_lanes = a->present && (number || (a->form == DESC_DAT && is_loaded(a)));
  /* A payload that the kernel leaves alone in one lane must not seem to come from the lane before. */
  bool zero = !a->present || (a->form == DESC_DAT && a->access == OP_INC) || a->form == DESC_INFO ||
              (arg_is_accumulated(a) && a->access == OP_INC);
  if (made)
    put_made_numbers(g, arg);
  else if (from_lanes)
    put_components(g, n, "op2_a%d[#] = op2_l%d[# * %d + op2_l];", arg, arg, g->s->width);
  else if (zero)
    put_components(g, n, "op2_a%d[#] = %s;", arg, a->access == OP_INC ? word_sum(a->type) : "0");
  else if (arg_is_extremum_with_info(a))
    put(g, "op2_a%d[0] = *op2_b%d;", arg, arg);
  else if (arg_is_accumulated(a))
    put_components(g, n, "op2_a%d[#] = op2_k%d[# * %d + op2_l];", arg, arg, g->s->width);
  if (a->form == DESC_DAT && arg_is_vector(a))
    put_pointers(g, arg);
}

static void put_lane_results(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  if (!a->present)
    return;
  if (a->form == DESC_DAT && a->access != OP_READ)
    put_components(g, arg_columns(g->d, a) * a->dim, "op2_l%d[# * %d + op2_l] = op2_a%d[#];", arg,
                   g->s->width, arg);
  else if (keeps_lanes(a))
    put_components(g, a->dim, "op2_l%d[# * %d + op2_l] = op2_a%d[#];", arg, g->s->width, arg);
  else if (arg_is_accumulated(a))
    put_components(g, a->dim, "op2_k%d[# * %d + op2_l] = op2_a%d[#];", arg, g->s->width, arg);
}

static void put_lane_loop(struct generator *g) {
  put(g, "#pragma clang loop vectorize(enable) vectorize_width(%d) interleave_count(1) unroll(disable)",
      g->s->width);
  put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", g->s->width);
  g->lanes = true;
  for (int i = 0; i < g->d->nargs; i++)
    put_lane_values(g, i);
  put_kernel_call(g);
  g->lanes = false;
  for (int i = 0; i < g->d->nargs; i++)
    put_lane_results(g, i);
  put_close(g);
}

/* ---- out of lanes ------------------------------------------------------------------------------*/

static bool is_stored(const struct desc_arg *a) {
  return a->present && a->form == DESC_DAT && a->access != OP_READ && !a->dropped;
}

/* One target's part of op2_r3: its rows, or its columns of single components. */
static int result_part(const struct generator *g, const struct desc_arg *a) {
  return dat_is_apart(g->d, a->dat) ? a->dim * g->s->width : lanes_row(a->dim, g->s->width) * g->s->width;
}

void put_results(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  put(g, "%s op2_r%d[%d] __attribute__((aligned(64)));", word_type(g, a->type), arg,
      arg_columns(g->d, a) * result_part(g, a));
}

static void put_turned(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  int n = arg_columns(g->d, a), width = g->s->width;
  char name[32];
  if (is_contiguous(g, a) || turned_dim(g, a) == 1 || access_is_extremum(a->access))
    return;
  lanes_name(a->type, turned_dim(g, a), name, sizeof name);
  if (stage_of(g, a) != STAGE_BEFORE)
    put_results(g, arg);
  for (int v = 0; v < n; v++)
    put(g, "op2_turn_%s(op2_r%d + %d, op2_l%d + %d);", name, arg, v * result_part(g, a), arg,
        v * a->dim * width);
}

static void put_contiguous_store(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  int width = g->s->width;
  for (int v = 0; v < arg_columns(g->d, a); v++)
    for (int c = 0; c < a->dim; c++) {
      const int from = (v * a->dim + c) * width;
      char where[160];
      lane_address(g, a, arg_column(a, v), c, "0", where, sizeof where);
      if (!access_reduces(a->access)) {
        put(g, "__builtin_memcpy(%s, op2_l%d + %d, sizeof(%s) * %d);", where, arg, from,
            word_type(g, a->type), width);
        continue;
      }
      put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", width);
      lane_address(g, a, arg_column(a, v), c, "op2_l", where, sizeof where);
      if (a->access == OP_INC)
        put(g, "*(%s) += op2_l%d[%d + op2_l];", where, arg, from);
      else
        put(g, "op2_better%d(%s, op2_b%d[%d + op2_l], op2_l%d[%d + op2_l]);", arg, where, arg, from, arg,
            from);
      put_close(g);
    }
}

/* One component of a lane's results at one target. */
static void put_component_store(struct generator *g, int arg, int v, int c, int lane) {
  const struct desc_arg *a = &g->d->args[arg];
  const int from = (v * a->dim + c) * g->s->width + lane;
  char number[16], where[160], element[64];
  snprintf(number, sizeof number, "%d", lane);
  lane_address(g, a, arg_column(a, v), c, number, where, sizeof where);
  if (!access_is_extremum(a->access)) {
    put(g, "*(%s) %s op2_l%d[%d];", where, a->access == OP_INC ? "+=" : "=", arg, from);
    return;
  }
  if (!dat_is_apart(g->d, a->dat) && a->dim > 1) {
    lane_target(g, a, arg_column(a, v), number, element, sizeof element);
    snprintf(where, sizeof where, "op2_d%d + %s * %d + %d", a->dat, element, rows_step(g->d, a), c);
  }
  put(g, "op2_better%d(%s, op2_b%d[%d], op2_l%d[%d]);", arg, where, arg, from, arg, from);
}

void put_lane_store(struct generator *g, int arg, int lane) {
  const struct desc_arg *a = &g->d->args[arg];
  int width = g->s->width;
  char number[16], name[32], where[160];
  snprintf(number, sizeof number, "%d", lane);
  lanes_name(a->type, turned_dim(g, a), name, sizeof name);
  for (int v = 0; v < arg_columns(g->d, a); v++) {
    if (turned_dim(g, a) > 1 && !access_is_extremum(a->access)) {
      lane_address(g, a, arg_column(a, v), 0, number, where, sizeof where);
      put(g, "op2_%s_%s(%s, op2_r%d + %d);", a->access == OP_INC ? "add" : "put", name, where, arg,
          v * result_part(g, a) + lane * lanes_row(a->dim, width));
      continue;
    }
    for (int c = 0; c < a->dim; c++) {
      put_component_store(g, arg, v, c, lane);
    }
  }
}

static void put_rows_store(struct generator *g, int arg) {
  for (int l = 0; l < g->s->width; l++)
    put_lane_store(g, arg, l);
}

/* Element after element, so that lanes which meet on a target add to it in the order of elements. */
static void put_stores(struct generator *g) {
  for (int i = 0; i < g->d->nargs; i++)
    if (is_stored(&g->d->args[i]) && !is_loaded(&g->d->args[i]) &&
        stage_of(g, &g->d->args[i]) != STAGE_BEFORE)
      put_arg_entries(g, i);
  for (int i = 0; i < g->d->nargs; i++)
    if (is_stored(&g->d->args[i]))
      put_turned(g, i);
  for (int i = 0; i < g->d->nargs; i++)
    if (is_stored(&g->d->args[i]) && is_streamed(g, &g->d->args[i]))
      put_streamed_store(g, i, leaves_at_once(g, &g->d->args[i]) ? put_contiguous_store : put_rows_store);
    else if (is_stored(&g->d->args[i]) && leaves_at_once(g, &g->d->args[i]))
      put_contiguous_store(g, i);
  for (int l = 0; l < g->s->width; l++)
    for (int i = 0; i < g->d->nargs; i++)
      if (is_stored(&g->d->args[i]) && !leaves_at_once(g, &g->d->args[i]) &&
          !is_streamed(g, &g->d->args[i]) && stage_of(g, &g->d->args[i]) != STAGE_BEFORE)
        put_lane_store(g, i, l);
}

static void put_lane_decision(struct generator *g, int arg) {
  char element[64];
  lane_element(g, "op2_l", element, sizeof element);
  put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", g->s->width);
  /* op2_e is the list's name outside. */
  put(g, "const long op2_lane = %s;", element);
  put(g, "const long op2_e = op2_lane;");
  for (int p = 0; p < g->d->nargs; p++) {
    const struct desc_arg *a = &g->d->args[p];
    if (p != arg && !(a->form == DESC_INFO && a->ref == arg))
      continue;
    put(g, "%s op2_a%d[%d];", word_type(g, a->type), p, a->dim);
    put_components(g, a->dim, "op2_a%d[#] = op2_l%d[# * %d + op2_l];", p, p, g->s->width);
  }
  put_extremum_decision(g, arg);
  put_close(g);
}

/* Most strips hold nothing that could win; one comparison of all lanes says so. */
static void put_decisions(struct generator *g) {
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *a = &g->d->args[i];
    if (!arg_is_extremum_with_info(a))
      continue;
    put(g, "int op2_any%d = 0;", i);
    put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", g->s->width);
    put(g, "op2_any%d |= !(op2_l%d[op2_l] %c *op2_g%d);", i, i, a->access == OP_MAX ? '<' : '>', i);
    put_close(g);
    put_open(g, "if (op2_any%d)", i);
    put_lane_decision(g, i);
    put_close(g);
  }
}

/* Sums: per lane, or in the order of elements where the order may not change. */
static bool keeps_order(const struct generator *g) {
  return g->d->fp[0] == 's';
}

static void put_sums(struct generator *g) {
  int width = g->s->width;
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *a = &g->d->args[i];
    if (!arg_is_accumulated(a) || a->access != OP_INC)
      continue;
    put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", width);
    if (keeps_order(g))
      put_components(g, a->dim, "op2_a%d[#] += op2_l%d[# * %d + op2_l];", i, i, width);
    else
      put_components(g, a->dim, "op2_k%d[# * %d + op2_l] += op2_l%d[# * %d + op2_l];", i, width, i, width);
    put_close(g);
  }
}

void put_lane_accumulators(struct generator *g) {
  int width = g->s->width;
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *a = &g->d->args[i];
    if (!arg_is_accumulated(a) || (a->access == OP_INC && keeps_order(g)))
      continue;
    put(g, "%s op2_k%d[%d] __attribute__((aligned(64)));", word_type(g, a->type), i, a->dim * width);
    put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", width);
    if (a->access == OP_INC)
      put_components(g, a->dim, "op2_k%d[# * %d + op2_l] = %s;", i, width, word_sum(a->type));
    else
      put_components(g, a->dim, "op2_k%d[# * %d + op2_l] = op2_a%d[#];", i, width, i);
    put_close(g);
  }
}

void put_lanes_accumulated(struct generator *g) {
  int width = g->s->width;
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *a = &g->d->args[i];
    if (!arg_is_accumulated(a) || (a->access == OP_INC && keeps_order(g)))
      continue;
    put_open(g, "for (int op2_l = 0; op2_l < %d; op2_l++)", width);
    if (a->access == OP_INC)
      put_components(g, a->dim, "op2_a%d[#] += op2_k%d[# * %d + op2_l];", i, i, width);
    else
      put_components(
          g, a->dim,
          "if (op2_k%d[# * %d + op2_l] %c op2_a%d[#] || (op2_g%d[#] != op2_g%d[#] ? op2_a%d[#] != op2_a%d[#] "
          ": "
          "op2_k%d[# * %d + op2_l] != op2_k%d[# * %d + op2_l])) op2_a%d[#] = op2_k%d[# * %d + op2_l];",
          i, width, a->access == OP_MAX ? '>' : '<', i, i, i, i, i, i, width, i, width, i, i, width);
    put_close(g);
  }
}

void put_strip(struct generator *g) {
  put_rows_counts(g);
  put_lane_elements(g);
  for (int i = 0; i < g->d->nargs; i++)
    put_lanes(g, i);
  put_lane_loop(g);
  if (g->s->piped && !g->alone) {
    put_strip_before(g);
    put_next_strip(g);
  }
  put_stores(g);
  put_sums(g);
  put_decisions(g);
}
