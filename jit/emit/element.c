#include "jit/emit/skeleton.h"

#include <stdio.h>

/* ---- addresses ---------------------------------------------------------------------------------*/

/* The element that column `column` of the argument names: op2_e or a map's entry. */
void arg_element(const struct generator *g, const struct desc_arg *a, int column, char *out, size_t size) {
  const bool wide = a->dat >= 0 && g->d->dats[a->dat].wide;
  if (a->map < 0)
    snprintf(out, size, "%sop2_e", wide ? word_named(g, "widen") : "");
  else if (wide)
    snprintf(out, size, "(%s)op2_m%d_%d", word_named(g, "wide"), a->map, column);
  else
    snprintf(out, size, "op2_m%d_%d", a->map, column);
}

static void address(const struct generator *g, const struct desc_arg *a, int column, char *out, size_t size) {
  char element[48];
  arg_element(g, a, column, element, sizeof element);
  if (a->dim == 1)
    snprintf(out, size, "op2_d%d + %s", a->dat, element);
  else
    snprintf(out, size, "op2_d%d + %s * %d", a->dat, element, a->dim);
}

static bool is_staged(const struct generator *g, const struct desc_arg *a) {
  if (desc_is_ragged(g->d, a) && !g->lanes)
    return false;
  return g->lanes || a->matrix || (a->access == OP_INC && desc_reproduces(g->d)) ||
         desc_is_shared(g->d, (int)(a - g->d->args)) || dat_is_apart(g->d, a->dat);
}

/* The component '#' of one target in memory, for put_components. */
void arg_component(const struct generator *g, const struct desc_arg *a, int col, char *out, size_t size) {
  char element[48];
  arg_element(g, a, col, element, sizeof element);
  if (dat_is_apart(g->d, a->dat))
    snprintf(out, size, "op2_d%d[# * op2_s%d + %s]", a->dat, a->dat, element);
  else
    snprintf(out, size, "op2_d%d[%s * %d + #]", a->dat, element, a->dim);
}

/* ---- before the call ---------------------------------------------------------------------------*/

static void put_row(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  int n = arg_columns(g->d, a);
  put(g, "%s op2_a%d[%d];", word_type(g, a->type), arg, n * a->dim);
  if (a->matrix)
    put_components(g, n * a->dim, "op2_a%d[#] = 0;", arg);
  if (a->matrix || a->access == OP_WRITE)
    return;
  if (access_is_extremum(a->access))
    put(g, "%s op2_b%d[%d];", word_type(g, a->type), arg, n * a->dim);
  for (int v = 0; v < n; v++) {
    char memory[128];
    arg_component(g, a, arg_column(a, v), memory, sizeof memory);
    put_components(g, a->dim, "op2_a%d[%d + #] = %s;", arg, v * a->dim,
                   a->access == OP_INC ? word_sum(a->type) : memory);
  }
  if (access_is_extremum(a->access))
    put_components(g, n * a->dim, "op2_b%d[#] = op2_a%d[#];", arg, arg);
}

/* The handle of a ragged map's rows, as OP_ROW reads it: where rows are counted from, the numbers of the targets, from
 * one row to the next, how many. The element's own entries follow one another: the third is negative for them. What is
 * absent is one row. */
void put_handle(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  struct text type = {0};
  text_addf(&type, "%s%s *", a->access == OP_READ ? "const " : "", word_type(g, a->type));
  if (!a->present)
    put(g, "%sop2_v%d[4] = {op2_a%d, (%s)0, (%s)0, (%s)0};", text_str(&type), arg, arg, text_str(&type),
        text_str(&type), text_str(&type));
  else if (g->lanes)
    put(g, "%sop2_v%d[4] = {op2_a%d, (%s)0, (%s)-%dL, (%s)%dL};", text_str(&type), arg, arg, text_str(&type),
        text_str(&type), rows_step(g->d, a), text_str(&type), g->d->maps[a->map].arity);
  else if (a->entry)
    put(g, "%sop2_v%d[4] = {op2_d%d + op2_%s%d * %d, (%s)0, (%s)($wide)-%d, (%s)($wide)op2_count%d};",
        text_str(&type), arg, a->dat, a->scattered ? "entry" : "first", a->map, a->dim, text_str(&type),
        text_str(&type), a->dim, text_str(&type), a->map);
  else
    put(g, "%sop2_v%d[4] = {op2_d%d, (%s)(op2_t%d + op2_first%d), (%s)($wide)%d, (%s)($wide)op2_count%d};",
        text_str(&type), arg, a->dat, text_str(&type), a->map, a->map, text_str(&type), a->dim,
        text_str(&type), a->map);
  piece_free(g, &type);
}

void put_pointers(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  if (desc_is_ragged(g->d, a)) {
    put_handle(g, arg);
    return;
  }
  int n = arg_columns(g->d, a);
  struct text list = {0};
  for (int v = 0; v < n; v++) {
    char where[128];
    if (!a->present)
      snprintf(where, sizeof where, "op2_a%d", arg);
    else if (is_staged(g, a))
      snprintf(where, sizeof where, "op2_a%d + %d", arg, v * a->dim);
    else
      address(g, a, v, where, sizeof where);
    text_addf(&list, "%s%s", v ? ", " : "", where);
  }
  put(g, "%s%s *op2_v%d[%d] = {%s};", a->access == OP_READ ? "const " : "", word_type(g, a->type), arg, n,
      text_str(&list));
  piece_free(g, &list);
}

static void put_number(struct generator *g, const struct desc_arg *a, int col, const char *to) {
  int set = a->map < 0 ? 0 : g->d->maps[a->map].to;
  char element[48];
  arg_element(g, a, col, element, sizeof element);
  if (g->d->renumbered[set])
    put(g, "%s = op2_x%d[%s];", to, set, element);
  else
    put(g, "%s = %s%s;", to, word_named(g, "toint"), element);
}

void put_idx(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  int n = arg_columns(g->d, a);
  put(g, "int op2_a%d[%d];", arg, n);
  for (int v = 0; v < n; v++) {
    char to[32];
    snprintf(to, sizeof to, "op2_a%d[%d]", arg, v);
    put_number(g, a, arg_column(a, v), to);
  }
}

static void put_before(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  if (!a->present)
    put(g, "%s op2_a%d[%d] = {0};", word_type(g, a->type), arg, a->dim);
  else if (a->form == DESC_IDX)
    put_idx(g, arg);
  else if (a->form == DESC_INFO || (a->form == DESC_GBL && a->access == OP_WORK))
    put(g, "%s op2_a%d[%d];", word_type(g, a->type), arg, a->dim);
  else if (arg_is_extremum_with_info(a))
    put(g, "%s op2_a%d[1] = {*op2_b%d};", word_type(g, a->type), arg, arg);
  else if (a->form == DESC_DAT && is_staged(g, a))
    put_row(g, arg);
  if (desc_is_vector(a))
    put_pointers(g, arg);
}

/* ---- the call ----------------------------------------------------------------------------------*/

static void passed(const struct generator *g, int arg, char *out, size_t size) {
  const struct desc_arg *a = &g->d->args[arg];
  if (desc_is_vector(a))
    snprintf(out, size, "op2_v%d", arg);
  else if (a->present && a->form == DESC_DAT && !is_staged(g, a))
    address(g, a, a->idx, out, size);
  else if (a->present && a->form == DESC_GBL && a->access != OP_WORK && !arg_is_accumulated(a) && a->info < 0)
    snprintf(out, size, "op2_g%d", arg);
  else
    snprintf(out, size, "op2_a%d", arg);
}

/* `long` where data are `long long`: as wide, but another type to C. */
static void cast(const struct generator *g, int arg, struct text *out) {
  const struct desc_arg *a = &g->d->args[arg];
  const int number = desc_parameter(g->d, arg);
  if (number >= g->k->nparameters || !g->k->parameters[number].understood || !g->k->parameters[number].longer)
    return;
  text_addf(out, "(%s%slong *%s)", g->k->parameters[number].is_const ? "const " : "",
            a->type == TYPE_ULONGLONG ? "unsigned " : "", desc_is_vector(a) ? "*" : "");
}

/* Sums that would begin with nothing if the kernel ran alone. */
static bool has_own_sums(const struct generator *g, const struct desc_member *m, int i) {
  const int arg = m->args[i];
  return m->accesses[i] == OP_INC && desc_is_shared(g->d, arg) && g->d->args[arg].access != OP_INC &&
         g->w->adds_apart(g, &g->d->args[arg]);
}

static void put_member_call(struct generator *g, int number,
                            void (*pass)(const struct generator *g, int arg, char *out, size_t size)) {
  const struct desc_member *m = &g->d->members[number];
  struct text list = {0};
  text_addf(&list, "%s%s", g->first ? g->first : "", g->first && m->nargs ? ", " : "");
  for (int i = 0; i < m->nargs; i++) {
    const int arg = m->args[i], dim = g->d->args[arg].dim;
    char expression[160];
    pass(g, arg, expression, sizeof expression);
    if (has_own_sums(g, m, i)) {
      snprintf(expression, sizeof expression, "op2_p%d_%d", number, i);
      put(g, "%s %s[%d];", word_type(g, g->d->args[arg].type), expression, dim);
      put_components(g, dim, "%s[#] = %s;", expression, word_sum(g->d->args[arg].type));
    }
    text_addf(&list, g->w->wraps ? "%s(%s)" : "%s%s", i ? ", " : "", expression);
  }
  put(g, "$user%s%s(%s);", word_before(g, m->function), m->function, text_str(&list));
  for (int i = 0; i < m->nargs; i++)
    if (has_own_sums(g, m, i))
      put_components(g, g->d->args[m->args[i]].dim, "op2_a%d[#] += op2_p%d_%d[#];", m->args[i], number, i);
  piece_free(g, &list);
}

void put_call_with(struct generator *g,
                   void (*pass)(const struct generator *g, int arg, char *out, size_t size)) {
  struct text list = {0};
  for (int m = 0; m < g->d->nmembers; m++)
    put_member_call(g, m, pass);
  if (g->d->nmembers)
    return;
  text_addf(&list, "%s%s", g->first ? g->first : "", g->first && g->d->nargs ? ", " : "");
  for (int i = 0; i < g->d->nargs; i++) {
    char expression[160];
    pass(g, i, expression, sizeof expression);
    text_add(&list, i ? ", " : "");
    if (g->d->args[i].counted)
      text_addf(&list, g->w->wraps ? "(op2_count%d), " : "op2_count%d, ", g->d->args[i].map);
    struct text prefix = {0};
    cast(g, i, &prefix);
    if (g->d->entry && g->w->wraps)
      text_addf(&list, "%sop2_any{%s}", word_named(g, "user"), expression);
    else
      text_addf(&list, prefix.length || g->w->wraps ? "%s(%s)" : "%s%s", text_str(&prefix), expression);
    text_free(&prefix);
  }
  if (g->d->entry)
    put(g, "$user%s(%s);", g->w->wraps ? g->d->entry : "op2_kernel", text_str(&list));
  else
    put(g, "$user%s%s(%s);", word_before(g, g->d->kernel_name), g->d->kernel_name, text_str(&list));
  piece_free(g, &list);
}

void put_kernel_call(struct generator *g) {
  put_call_with(g, passed);
}

/* ---- behind the call ---------------------------------------------------------------------------*/

static void put_added(struct generator *g, const struct desc_arg *a, const char *memory, const char *row) {
  struct text to = {0}, from = {0};
  int lines = component_lines(g, a->dim);
  for (int c = 0; c < lines; c++) {
    text_clear(&to);
    text_clear(&from);
    component_expand(a->dim, c, memory, &to);
    component_expand(a->dim, c, row, &from);
    g->w->add(g, a->type, text_str(&to), text_str(&from));
  }
  component_end(g, a->dim);
  piece_free(g, &to);
  piece_free(g, &from);
}

static void put_stored(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  for (int v = 0; v < arg_columns(g->d, a); v++) {
    char row[48], memory[128];
    snprintf(row, sizeof row, "op2_a%d[%d + #]", arg, v * a->dim);
    arg_component(g, a, arg_column(a, v), memory, sizeof memory);
    if (a->access == OP_INC && !a->fresh)
      put_added(g, a, memory, row);
    else if (access_is_extremum(a->access))
      put_components(g, a->dim, "op2_better%d(&%s, op2_b%d[%d + #], %s);", arg, memory, arg, v * a->dim, row);
    else
      put_components(g, a->dim, "%s = %s;", memory, row);
  }
}

/* op2_w: this element's value beats the one in the slot. Ties go to the lowest of the user's numbers, and to the user's
 * own initial value; a NaN beats all that is none, unless it is where the user began. */
void put_extremum_decision(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  int info = a->info;
  char sign = a->access == OP_MAX ? '>' : '<';
  if (g->d->renumbered[0])
    put(g, "const long long op2_i%d = op2_x0[op2_e];", arg);
  else
    put(g, "const long long op2_i%d = op2_e;", arg);
  put(g, "const int op2_n%d = op2_a%d[0] != op2_a%d[0], op2_o%d = op2_g%d[0] != op2_g%d[0];", arg, arg, arg,
      arg, arg, arg);
  put(g,
      "const int op2_w%d = op2_a%d[0] %c op2_g%d[0] || (op2_b%d[0] != op2_b%d[0] ? op2_o%d && !op2_n%d : "
      "op2_n%d && !op2_o%d), op2_q%d = op2_a%d[0] == op2_g%d[0] || (op2_n%d && op2_o%d);",
      arg, arg, sign, arg, arg, arg, arg, arg, arg, arg, arg, arg, arg, arg, arg);
  put_open(g, "if (op2_w%d || (op2_q%d && op2_i%d < op2_g%d->element))", arg, arg, arg, info);
  put(g, "op2_g%d[0] = op2_a%d[0];", arg, arg);
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *payload = &g->d->args[i];
    if (payload->form != DESC_INFO || payload->ref != arg)
      continue;
    put(g, "op2_g%d->element = op2_i%d;", i, arg);
    put_components(g, payload->dim, "op2_g%d->payload[#] = op2_a%d[#];", i, i);
  }
  put_close(g);
}

static void put_after(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  if (!a->present)
    return;
  if (a->form == DESC_DAT && a->access != OP_READ && !a->dropped && is_staged(g, a))
    put_stored(g, arg);
  else if (arg_is_extremum_with_info(a))
    put_extremum_decision(g, arg);
}

/* ---- one element -------------------------------------------------------------------------------*/

void put_map_entries(struct generator *g) {
  for (int m = 0; m < g->d->nmaps; m++)
    if (g->d->maps[m].equal) {
      put(g, "const %s op2_first%d = (%s)op2_e * %d;", word_type(g, TYPE_LONGLONG), m,
          word_type(g, TYPE_LONGLONG), g->d->maps[m].equal);
      put(g, "const int op2_count%d = %d;", m, g->d->maps[m].equal);
    } else if (g->d->maps[m].ragged) {
      put(g, "const %s op2_first%d = op2_z%d[op2_e];", word_type(g, TYPE_LONGLONG), m, m);
      put(g, "const int op2_count%d = (int)(op2_z%d[op2_e + 1] - op2_first%d);", m, m, m);
    }
  for (int m = 0; m < g->d->nmaps; m++)
    if (desc_scatters(g->d, m))
      put(g, "const %s op2_entry%d = op2_count%d ? op2_entries%d[op2_first%d] : 0;",
          word_type(g, TYPE_LONGLONG), m, m, m, m);
  for (int m = 0; m < g->d->nmaps; m++)
    for (int c = 0; c < g->d->maps[m].arity; c++)
      if (desc_uses_column(g->d, m, c))
        put(g, "const int op2_m%d_%d = op2_t%d[%sop2_e * %d + %d];", m, c, m, word_named(g, "widen"),
            g->d->maps[m].arity, c);
}

void put_element(struct generator *g) {
  put_map_entries(g);
  for (int i = 0; i < g->d->nargs; i++)
    put_before(g, i);
  put_kernel_call(g);
  for (int i = 0; i < g->d->nargs; i++)
    put_after(g, i);
}
