#include "jit/generate/watched.h"

#include <stdio.h>

#include "jit/generate/skeleton.h"

/* Names beside the skeleton's:
 *   op2_r3  the first row of argument 3   op2_v3  pointers to its rows, between pointers to guards
 *   op2_odd is there anything to say of the element?   op2_bits8 eight bytes as a whole number */

/* ---- where things are --------------------------------------------------------------------------*/

static size_t value_size(const struct desc_arg *a) {
  return type_info(a->type)->size;
}

static int guard_values(const struct desc_arg *a) {
  return a->dim * (int)watched_guard_rows((size_t)a->dim * value_size(a));
}

/* Values from the first row to row `number`. */
static int row_offset(const struct desc_arg *a, int number) {
  return number * (guard_values(a) + a->dim);
}

static int rows_of(const struct generator *g, const struct desc_arg *a) {
  return a->form == DESC_DAT ? arg_columns(g->d, a) : 1;
}

/* Component '#' of a row as a whole number, for put_components. */
static void row_bits(const struct desc_arg *a, int arg, int number, char *out, size_t size) {
  snprintf(out, size, "((const op2_bits%zu *)op2_r%d)[%d + #]", value_size(a), arg, row_offset(a, number));
}

/* What a kernel does to a bool may leave none, so those that it writes are copied as bytes. */
static bool is_byte(const struct desc_arg *a) {
  return a->type == TYPE_BOOL && a->access != OP_READ;
}

static void row_component(const struct desc_arg *a, int arg, int number, char *out, size_t size) {
  if (is_byte(a))
    snprintf(out, size, "((op2_bits1 *)op2_r%d)[%d + #]", arg, row_offset(a, number));
  else if (a->form == DESC_DAT)
    snprintf(out, size, "op2_r%d[%d + #]", arg, row_offset(a, number));
  else
    snprintf(out, size, "op2_r%d[#]", arg);
}

/* Where the row comes from and goes to. */
static void memory_component(const struct generator *g, int arg, int number, char *out, size_t size) {
  const struct desc_arg *a = &g->d->args[arg];
  char place[128];
  if (a->form == DESC_DAT)
    arg_component(g, a, arg_column(a, number), place, sizeof place);
  else
    snprintf(place, sizeof place, "op2_%s%d[#]", arg_is_extremum_with_info(a) ? "b" : "g", arg);
  snprintf(out, size, is_byte(a) ? "*(op2_bits1 *)&%s" : "%s", place);
}

static bool is_sum(const struct desc_arg *a) {
  return a->access == OP_INC && (a->form == DESC_DAT || a->form == DESC_GBL);
}

static bool is_extremum(const struct desc_arg *a) {
  return a->form == DESC_GBL && (a->access == OP_MIN || a->access == OP_MAX);
}

/* Is its row stored as it is? */
static bool is_assigned(const struct desc_arg *a) {
  return (a->form == DESC_DAT || a->form == DESC_GBL) && (a->access == OP_WRITE || a->access == OP_RW);
}

static bool may_be_infinite(const struct desc_arg *a) {
  return (is_assigned(a) || is_sum(a)) && type_info(a->type)->is_float;
}

/* ---- before the call ---------------------------------------------------------------------------*/

static void put_poison(struct generator *g, int arg, int number) {
  const struct desc_arg *a = &g->d->args[arg];
  put_components(g, a->dim, "((op2_bits%zu *)op2_r%d)[%d + #] = op2_poison%d;", value_size(a), arg,
                 row_offset(a, number), arg);
}

static void put_numbers(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  for (int v = 0; v < arg_columns(g->d, a); v++) {
    char to[32];
    put(g, "int op2_n%d_%d;", arg, v);
    snprintf(to, sizeof to, "op2_n%d_%d", arg, v);
    put_number(g, a, arg_column(a, v), to);
    put(g, "op2_r%d[%d] = op2_n%d_%d;", arg, v, arg, v);
  }
}

static void put_copied(struct generator *g, int arg, int number) {
  char row[48], memory[160];
  row_component(&g->d->args[arg], arg, number, row, sizeof row);
  memory_component(g, arg, number, memory, sizeof memory);
  put_components(g, g->d->args[arg].dim, "%s = %s;", row, memory);
}

static void put_loaded(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  if (!a->present || a->form == DESC_INFO || a->access == OP_WORK)
    return;
  if (a->form == DESC_IDX) {
    put_numbers(g, arg);
    return;
  }
  for (int v = 0; v < rows_of(g, a); v++)
    if (a->access == OP_WRITE)
      put_poison(g, arg, v);
    else if (is_sum(a))
      put_components(g, a->dim, "op2_r%d[%d + #] = 0;", arg, row_offset(a, v));
    else
      put_copied(g, arg, v);
}

/* A pointer beyond the vector leads to a guard. */
static void put_row_pointers(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  const int n = arg_columns(g->d, a), guard = guard_values(a);
  struct text list = {0};
  for (int v = -WATCHED_GUARD_POINTERS; v < n + WATCHED_GUARD_POINTERS; v++) {
    text_add(&list, v > -WATCHED_GUARD_POINTERS ? ", " : "");
    if (!a->present)
      text_addf(&list, "op2_r%d", arg);
    else if (v < 0)
      text_addf(&list, "op2_r%d - %d", arg, guard);
    else
      text_addf(&list, "op2_r%d + %d", arg, row_offset(a, v < n ? v : n) - (v < n ? 0 : guard));
  }
  put(g, "%s%s *op2_v%d[%d] = {%s};", a->access == OP_READ ? "const " : "", word_type(g, a->type), arg,
      n + 2 * WATCHED_GUARD_POINTERS, text_str(&list));
  g->out->failed |= list.failed;
  text_free(&list);
}

static void pass_row(const struct generator *g, int arg, char *out, size_t size) {
  const struct desc_arg *a = &g->d->args[arg];
  if (a->form == DESC_DAT && arg_is_vector(a))
    snprintf(out, size, "op2_v%d + %d", arg, WATCHED_GUARD_POINTERS);
  else
    snprintf(out, size, "op2_r%d", arg);
}

/* ---- behind the call: is there anything to say? --------------------------------------------------*/

static void put_changed(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  for (int v = 0; a->form == DESC_IDX && v < arg_columns(g->d, a); v++)
    put(g, "op2_odd |= op2_r%d[%d] != op2_n%d_%d;", arg, v, arg, v);
  for (int v = 0; a->form != DESC_IDX && v < rows_of(g, a); v++) {
    char bits[96], memory[128];
    row_bits(a, arg, v, bits, sizeof bits);
    if (a->form == DESC_DAT)
      arg_component(g, a, arg_column(a, v), memory, sizeof memory);
    else
      snprintf(memory, sizeof memory, "op2_g%d[#]", arg);
    put_components(g, a->dim, "op2_odd |= %s != *(const op2_bits%zu *)&%s;", bits, value_size(a), memory);
  }
}

static void put_not_finite(struct generator *g, int arg) {
  static const char *const exponents[] = {
      [TYPE_DOUBLE] = "0x7ff0000000000000ull", [TYPE_FLOAT] = "0x7f800000u"};
  const struct desc_arg *a = &g->d->args[arg];
  for (int v = 0; v < rows_of(g, a); v++) {
    char bits[96];
    row_bits(a, arg, v, bits, sizeof bits);
    put_components(g, a->dim, "op2_odd |= (%s & %s) == %s;", bits, exponents[a->type], exponents[a->type]);
  }
}

/* From one element to the next an extremum moves one way. One with a payload starts from the user's value each time; of an element
 * that may win the caller has to say so. */
static void put_extremum(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  const char *way = a->access == OP_MAX ? ">=" : "<=", *worse = a->access == OP_MAX ? "<" : ">";
  if (arg_is_extremum_with_info(a))
    put(g, "op2_odd |= op2_r%d[0] != op2_b%d[0] && !(op2_r%d[0] %s op2_g%d[0] && op2_r%d[0] %s op2_b%d[0]);",
        arg, arg, arg, worse, arg, arg, way, arg);
  else {
    char row[48], memory[160];
    row_component(a, arg, 0, row, sizeof row);
    memory_component(g, arg, 0, memory, sizeof memory);
    put_components(g, a->dim, "op2_odd |= !(%s %s %s);", row, way, memory);
  }
}

static void put_judged(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  if (!a->present || a->form == DESC_INFO)
    return;
  if (a->access == OP_READ)
    put_changed(g, arg);
  for (int v = 0; a->access == OP_WRITE && v < rows_of(g, a); v++) {
    char bits[96];
    row_bits(a, arg, v, bits, sizeof bits);
    put_components(g, a->dim, "op2_odd |= %s == op2_poison%d;", bits, arg);
  }
  if (may_be_infinite(a))
    put_not_finite(g, arg);
  if (is_extremum(a))
    put_extremum(g, arg);
}

/* ---- what is stored ----------------------------------------------------------------------------*/

/* One bool and another are true if one of them is. */
static void put_kept_row(struct generator *g, int arg, int number) {
  const struct desc_arg *a = &g->d->args[arg];
  char row[48], memory[160];
  row_component(a, arg, number, row, sizeof row);
  memory_component(g, arg, number, memory, sizeof memory);
  if (is_sum(a) && is_byte(a))
    put_components(g, a->dim, "%s = %s || %s;", memory, memory, row);
  else
    put_components(g, a->dim, "%s %s %s;", memory, is_sum(a) ? "+=" : "=", row);
}

static void put_kept(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  const bool changes = is_assigned(a) || is_sum(a) || is_extremum(a);
  for (int v = 0; a->present && changes && !arg_is_extremum_with_info(a) && v < rows_of(g, a); v++)
    put_kept_row(g, arg, v);
}

/* ---- everything --------------------------------------------------------------------------------*/

static void put_types(struct generator *g) {
  static const char *const carriers[] = {[1] = "char", [2] = "short", [4] = "int", [8] = "long long"};
  for (size_t size = 1; size <= 8; size *= 2)
    put(g, "typedef unsigned %s __attribute__((may_alias)) op2_bits%zu;", carriers[size], size);
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *a = &g->d->args[i];
    if (a->access == OP_WRITE && is_assigned(a))
      put(g, "const op2_bits%zu op2_poison%d = (op2_bits%zu)0x%016llxull;", value_size(a), i, value_size(a),
          0x0101010101010101ull * (unsigned)watched_poison(a->type, i));
  }
}

void put_watched(struct generator *g) {
  put_types(g);
  put_open(g, "for (long op2_e = op2_begin; op2_e < op2_end; op2_e++)");
  put_map_entries(g);
  for (int i = 0; i < g->d->nargs; i++) {
    put_loaded(g, i);
    if (g->d->args[i].form == DESC_DAT && arg_is_vector(&g->d->args[i]))
      put_row_pointers(g, i);
  }
  put_call_with(g, pass_row);
  put(g, "int op2_odd = 0;");
  for (int i = 0; i < g->d->nargs; i++)
    put_judged(g, i);
  put_open(g, "if (__builtin_expect(op2_odd, 0))");
  put(g, "*op2_stop = op2_e;");
  put(g, "return;");
  put_close(g);
  for (int i = 0; i < g->d->nargs; i++)
    put_kept(g, i);
  put_close(g);
}
