#include "jit/emit/skeleton.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "jit/emit/strip_lanes.h"
#include "jit/kernel/number.h"

/* Rows up to here are written out component by component; longer ones in a loop. */
enum { UNROLLED = 16 };

/* ---- writing -----------------------------------------------------------------------------------*/

static const char *word_of(const struct generator *g, const char *name, size_t length) {
  for (const struct word *w = g->w->named; w->name; w++)
    if (strlen(w->name) == length && memcmp(w->name, name, length) == 0)
      return w->text;
  return "";
}

const char *word_named(const struct generator *g, const char *name) {
  return word_of(g, name, strlen(name));
}

static void vadd_words(const struct generator *g, struct text *out, const char *format, va_list args) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
  struct text whole = {0};
  const char *rest = format;
  for (const char *at; (at = strchr(rest, '$')); rest = at + 1 + strspn(at + 1, letters)) {
    text_add_bytes(&whole, rest, (size_t)(at - rest));
    text_add(&whole, word_of(g, at + 1, strspn(at + 1, letters)));
  }
  text_add(&whole, rest);
  text_vaddf(out, text_str(&whole), args);
  out->failed |= whole.failed;
  text_free(&whole);
}

void add_words(const struct generator *g, struct text *out, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vadd_words(g, out, format, args);
  va_end(args);
}

static void put_indented(struct generator *g, const char *format, va_list args) {
  for (int i = 0; i < g->depth; i++)
    text_add(g->out, "  ");
  vadd_words(g, g->out, format, args);
}

void put(struct generator *g, const char *format, ...) {
  va_list args;
  va_start(args, format);
  put_indented(g, format, args);
  va_end(args);
  text_add_char(g->out, '\n');
}

void put_open(struct generator *g, const char *format, ...) {
  va_list args;
  va_start(args, format);
  put_indented(g, format, args);
  va_end(args);
  text_add(g->out, " {\n");
  g->depth++;
}

void put_block(struct generator *g) {
  put(g, "{");
  g->depth++;
}

void put_else(struct generator *g, const char *condition) {
  g->depth--;
  put(g, "} else %s{", condition);
  g->depth++;
}

void put_close(struct generator *g) {
  g->depth--;
  put(g, "}");
}

void piece_free(const struct generator *g, struct text *piece) {
  g->out->failed |= piece->failed;
  text_free(piece);
}

const char *word_type(const struct generator *g, enum type_code type) {
  return type_is_struct(type) ? struct_word(g->d, type) : g->w->types[type];
}

/* ---- questions ---------------------------------------------------------------------------------*/

bool arg_is_alone(const struct desc *d, const struct desc_arg *a) {
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *other = &d->args[i];
    if (other != a && other->present && other->form == DESC_DAT && other->dat == a->dat)
      return false;
  }
  return true;
}

bool uses_numbers(const struct desc *d, int set) {
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    bool asks = a->form == DESC_INFO || (a->form == DESC_IDX && a->map < 0) ? set == 0
                : a->form == DESC_IDX                                       ? set == d->maps[a->map].to
                                                                            : false;
    if (asks && a->present && d->renumbered[set])
      return true;
  }
  return false;
}

bool dat_is_written(const struct desc *d, int dat) {
  for (int i = 0; i < d->nargs; i++)
    if (d->args[i].form == DESC_DAT && d->args[i].dat == dat && d->args[i].access != OP_READ)
      return true;
  return false;
}

/* ---- constants ---------------------------------------------------------------------------------*/

static void put_folded(struct generator *g, const struct desc_const *c) {
  size_t size = type_info(c->type)->size;
  struct text values = {0};
  for (int i = 0; i < c->dim; i++) {
    if (i)
      text_add(&values, i % 8 ? ", " : ",\n    ");
    number_print_c(c->type, c->value + (size_t)i * size, &values);
  }
  if (c->dim == 1)
    put(g, "$constant %s %s%s __attribute__((unused)) = %s;", word_type(g, c->type), word_before(g, c->name),
        c->name, text_str(&values));
  else
    put(g, "$constant %s %s%s[%d] __attribute__((unused)) = {%s};", word_type(g, c->type),
        word_before(g, c->name), c->name, c->dim, text_str(&values));
  piece_free(g, &values);
}

void put_constants(struct generator *g) {
  for (int i = 0; i < g->d->nconsts; i++)
    if (g->d->consts[i].folded)
      put_folded(g, &g->d->consts[i]);
}

void put_info_types(struct generator *g) {
  for (int i = 0; i < g->d->nargs; i++)
    if (g->d->args[i].form == DESC_INFO)
      put(g, "struct op2_info%d { %s element; %s payload[%d]; };", i, word_type(g, TYPE_LONGLONG),
          word_type(g, g->d->args[i].type), g->d->args[i].dim);
}

void put_extrema(struct generator *g) {
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *a = &g->d->args[i];
    if (!a->present || a->form != DESC_DAT || !access_is_extremum(a->access))
      continue;
    const char *type = word_type(g, a->type);
    put_open(g, "static inline __attribute__((always_inline)) void op2_better%d(%s *to, %s start, %s value)",
             i, type, type, type);
    put(g, "const int beats = value %c *to;", a->access == OP_MAX ? '>' : '<');
    if (type_info(a->type)->is_float)
      put(g, "if (start != start ? value == value && (*to != *to || beats) : value != value || beats) *to = "
             "value;");
    else
      put(g, "if (beats) *to = value;");
    put_close(g);
  }
}

/* ---- one value per component --------------------------------------------------------------------*/

int component_lines(struct generator *g, int dim) {
  if (dim <= UNROLLED)
    return dim;
  put_open(g, "for (int op2_c = 0; op2_c < %d; op2_c++)", dim);
  return 1;
}

void component_expand(int dim, int component, const char *pattern, struct text *out) {
  for (; *pattern; pattern++)
    if (*pattern != '#')
      text_add_char(out, *pattern);
    else if (dim > UNROLLED)
      text_add(out, "op2_c");
    else
      text_addf(out, "%d", component);
}

void component_end(struct generator *g, int dim) {
  if (dim > UNROLLED)
    put_close(g);
}

void put_components(struct generator *g, int dim, const char *format, ...) {
  struct text pattern = {0}, line = {0};
  va_list args;
  va_start(args, format);
  vadd_words(g, &pattern, format, args);
  va_end(args);
  int lines = component_lines(g, dim);
  for (int c = 0; c < lines; c++) {
    text_clear(&line);
    component_expand(dim, c, text_str(&pattern), &line);
    put(g, "%s", text_str(&line));
  }
  component_end(g, dim);
  piece_free(g, &pattern);
  piece_free(g, &line);
}

/* ---- globals over a range ----------------------------------------------------------------------*/

void put_accumulators(struct generator *g) {
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *a = &g->d->args[i];
    if (!arg_is_accumulated(a))
      continue;
    put(g, "%s op2_a%d[%d];", word_type(g, a->type), i, a->dim);
    if (a->access == OP_INC)
      put_components(g, a->dim, "op2_a%d[#] = %s;", i, word_sum(a->type));
    else
      put_components(g, a->dim, "op2_a%d[#] = op2_g%d[#];", i, i);
  }
}

void put_accumulated(struct generator *g) {
  for (int i = 0; i < g->d->nargs; i++)
    if (arg_is_accumulated(&g->d->args[i]))
      put_components(g, g->d->args[i].dim, "op2_g%d[#] %s op2_a%d[#];", i,
                     g->d->args[i].access == OP_INC ? "+=" : "=", i);
}

/* ---- the text ----------------------------------------------------------------------------------*/

int generated_kernel(struct kernel *k, const struct desc *d, const char *word, bool places,
                     struct error *err) {
  if (d->nmembers)
    return kernel_parse(k, d->text, strlen(d->text), d->members[0].function, err);
  if (!d->entry && !word)
    return kernel_parse(k, d->text, strlen(d->text), d->kernel_name, err);
  if (!d->entry) {
    struct text text = {0};
    int code = structs_text(d, word, places, &text, err);
    if (!code)
      code = kernel_parse(k, text_str(&text), text.length, d->kernel_name, err);
    text_free(&text);
    return code;
  }
  *k = (struct kernel){.text = strdup(d->text), .length = strlen(d->text)};
  return k->text ? OP_OK : error_memory(err, "a kernel text", k->length);
}

/* Lanes hold every component of a strip's rows in registers or close by; more do not gain. */
enum { MOST_COMPONENTS = 96 };

/* Sums and extrema per lane are for the short ones; what the kernel writes at a global's own address cannot be in
 * lanes. */
static bool global_fits(const struct desc_arg *a) {
  if (!a->present || !access_changes(a->access))
    return true;
  return !access_assigns(a->access) && (arg_is_accumulated(a) || a->info >= 0);
}

static bool lanes_fit(const struct desc *d) {
  int components = 0;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (type_is_struct(a->type) || (a->form == DESC_GBL && !global_fits(a)))
      return false;
    if (a->form == DESC_DAT && a->dim > LANES_LONGEST_ROW)
      return false;
    if (a->form == DESC_DAT)
      components += a->dim * arg_columns(d, a);
  }
  return components <= MOST_COMPONENTS;
}

/* ---- ragged maps in strips -------------------------------------------------------------------------*/

const struct desc *rows_of_strip(const struct desc *d, int targets, struct desc *room) {
  if (!desc_any_ragged(d))
    return d;
  *room = *d;
  for (int m = 0; m < d->nmaps; m++)
    if (d->maps[m].ragged)
      room->maps[m].arity = d->maps[m].equal ? d->maps[m].equal : targets;
  for (int i = 0; i < d->nargs; i++)
    if (d->args[i].entry)
      room->args[i].dim *= room->maps[d->args[i].map].arity;
  return room;
}

int rows_most(const struct desc *d) {
  int open = 0, most;
  struct desc room;
  for (int m = 0; m < d->nmaps; m++)
    open += d->maps[m].ragged && !d->maps[m].equal;
  if (open > 1)
    return 0;
  for (most = open ? ROWS_MOST : 1; most > 0; most--)
    if (lanes_fit(rows_of_strip(d, most, &room)))
      break;
  return most;
}

int rows_step(const struct desc *d, const struct desc_arg *a) {
  return a->entry ? a->dim / d->maps[a->map].arity : a->dim;
}

/* ---- one strip -----------------------------------------------------------------------------------*/

/* Elements of a strip have as many entries, so that those of its elements, if they follow one another, do too. */
void rows_first(const struct generator *g, int map, const char *lane, char *out, size_t size) {
  const struct desc_map *m = &g->d->maps[map];
  if (g->s->list && m->equal)
    snprintf(out, size, "op2_e[%s] * %d", lane, m->arity);
  else if (g->s->list)
    snprintf(out, size, "op2_f%d[%s]", map, lane);
  else if (m->equal)
    snprintf(out, size, "(op2_i + %s) * %d", lane, m->arity);
  else
    snprintf(out, size, "(op2_f%d + %s * %d)", map, lane, m->arity);
}

void rows_entry(const struct generator *g, const struct desc_arg *a, const char *lane, char *out,
                size_t size) {
  char first[80];
  rows_first(g, a->map, lane, first, sizeof first);
  if (a->scattered) /* an element in a strip has some */
    snprintf(out, size, "(long)op2_entries%d[%s]", a->map, first);
  else
    snprintf(out, size, "%s", first);
}

void put_rows_counts(struct generator *g) {
  for (int m = 0; m < g->d->nmaps; m++)
    if (g->d->maps[m].ragged)
      put(g, "const int op2_count%d = %d;", m, g->d->maps[m].arity);
}
