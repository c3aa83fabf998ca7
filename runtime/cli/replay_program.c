/* A small capture as a program in C, for a report of a mistake. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/replay.h"

/* ---- values ---- */

void text_add_string(struct text *out, const char *words) {
  text_add_char(out, '"');
  for (const char *c = words; *c; c++)
    if (*c == '\n')
      text_add(out, c[1] ? "\\n\"\n    \"" : "\\n");
    else if (*c == '"' || *c == '\\' || *c == '?')
      text_addf(out, "\\%c", *c);
    else
      text_add_char(out, *c);
  text_add_char(out, '"');
}

static void print_number(enum type_code type, const unsigned char *value, struct text *out) {
  const double x = type_info(type)->is_float ? type_number(type, value) : 0;
  char words[64];
  if (isnan(x) || isinf(x))
    text_add(out, isnan(x) ? "NAN" : x > 0 ? "INFINITY" : "-INFINITY");
  else if (type == TYPE_CHAR)
    text_addf(out, "%d", *(const signed char *)value);
  else {
    type_print(type, value, words, sizeof words);
    const bool zero = type_info(type)->is_float && x == 0 && signbit(x); /* -0 is a whole number in C */
    text_addf(out, "%s%s", words, zero ? ".0" : type == TYPE_ULONGLONG ? "u" : "");
  }
}

/* "static double x[] = {1, 2};"; a struct's bytes. */
static void print_values(enum type_code type, const void *from, size_t count, const char *name, int number,
                         struct text *out) {
  const unsigned char *values = from;
  const bool bytes = type_is_struct(type);
  const size_t size = bytes ? 1 : type_info(type)->size, all = bytes ? count * type_info(type)->size : count;
  text_addf(out, "static _Alignas(16) %s %s%d[] = {", bytes ? "unsigned char" : type_info(type)->name, name,
            number);
  for (size_t k = 0; k < all; k++) {
    text_add(out, k == 0 ? "" : k % 12 ? ", " : ",\n    ");
    print_number(bytes ? TYPE_CHAR : type, values + k * size, out);
  }
  text_add(out, all ? "};\n" : "0};\n");
}

static void print_data(const struct capture *c, struct text *out) {
  for (int m = 0; m < c->nmaps; m++) {
    const long long rows = c->sets[c->maps[m].from].size;
    if (c->maps[m].first)
      print_values(TYPE_LONGLONG, c->maps[m].first, (size_t)rows + 1, "first", m, out);
    print_values(TYPE_INT, c->maps[m].table, (size_t)capture_end(&c->maps[m], rows - 1), "table", m, out);
  }
  for (int d = 0; d < c->ndata; d++) {
    const struct capture_data *data = &c->data[d];
    print_values(data->type, data->before, capture_rows(c, data) * (size_t)data->dim, "data", d, out);
  }
  for (int i = 0; i < c->ncalls; i++)
    if (c->calls[i].elements)
      print_values(TYPE_INT, c->calls[i].elements, (size_t)c->calls[i].count, "elements", i, out);
}

/* Prints the results: dats on the standard output, which is written to as a file, all else on standard error. */
static void print_result(const struct place *p, struct text *out) {
  const int i = p->number;
  if (p->data->kind == CAPTURE_DAT)
    text_addf(out, "  op_print_dat_to_txtfile(dat%d, \"/dev/stdout\");\n", i);
  else if (p->data->kind == CAPTURE_GLOBAL)
    text_addf(out, "  op_get_gbl(gbl%d, data%d);\n", i, i);
  if (p->data->kind != CAPTURE_DAT && !type_is_struct(p->data->type))
    text_addf(out,
              "  for (int k = 0; k < %lld; k++)\n    fprintf(stderr, \"data%d[%%d] = %%.17g\\n\", k, "
              "(double)data%d[k]);\n",
              p->data->dim, i, i);
}

static void print_results(const struct capture *c, struct text *out) {
  struct places places;
  struct error err = {0};
  if (places_find(c, &places, &err) == OP_OK)
    for (int p = 0; p < places.count; p++)
      print_result(&places.items[p], out);
  places_free(&places);
  error_free(&err);
}

static void print_heading(const struct capture *c, const struct rerun *t, const struct fault *f,
                          struct text *out) {
  text_add(out, "/* ");
  for (const char *at = text_str(&f->words); *at; at++) {
    text_add_char(out, *at);
    text_add(out, *at == '*' && at[1] == '/' ? " " : ""); /* nothing may end the comment */
  }
  text_addf(out, "\n * Loop %s, captured by op2jit %s on %s. Settings:", c->calls[0].name,
            capture_fact(c, "version"), capture_fact(c, "machine"));
  if (f->kind == FAULT_CHECK)
    text_add(out, " OP2_BACKEND=seq OP2_CHECK=on");
  for (int i = 0; f->kind != FAULT_CHECK && t->words[i]; i++)
    if (strncmp(t->words[i], "OP2_CACHE", 9) != 0)
      text_addf(out, " %s", t->words[i]);
  text_add(out, " */\n");
}

void program_print(const struct capture *c, const struct rerun *t, const struct fault *f, struct text *out) {
  print_heading(c, t, f, out);
  text_add(out, "#include <math.h>\n#include <op2jit.h>\n#include <stdbool.h>\n#include <stdio.h>\n\n");
  for (int i = 0; i < c->ncalls; i++) {
    text_addf(out, "static const char kernel%d[] =\n    ", i);
    text_add_string(out, c->calls[i].text);
    text_add(out, ";\n");
  }
  print_data(c, out);
  text_add(out, "\nint main(int argc, char **argv) {\n  op_init(argc, argv, 0);\n");
  calls_print(c, out);
  print_results(c, out);
  text_add(out, "  op_exit();\n  return 0;\n}\n");
}
