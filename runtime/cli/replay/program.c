/* A small capture as a program in C, for a report of a mistake. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/replay/replay.h"

/* ---- values ---- */

static void print_string(const char *words, struct text *out) {
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
  for (int d = 0; d < c->ndats; d++)
    print_values(c->dats[d].type, c->dats[d].before, (size_t)(c->sets[c->dats[d].set].size * c->dats[d].dim),
                 "data", d, out);
  const struct {
    const struct capture_value *values;
    int count;
    const char *name;
  } lists[] = {{c->constants, c->nconstants, "constant"}, {c->globals, c->nglobals, "value"}};
  for (int l = 0; l < 2; l++)
    for (int i = 0; i < lists[l].count; i++)
      print_values(lists[l].values[i].type, lists[l].values[i].before, (size_t)lists[l].values[i].dim,
                   lists[l].name, i, out);
  for (int i = 0; i < c->ncalls; i++) {
    const struct capture_call *call = &c->calls[i];
    if (call->elements)
      print_values(TYPE_INT, call->elements, (size_t)call->count, "elements", i, out);
    for (int a = 0; a < call->nargs; a++)
      if (call->args[a].before)
        print_values(call->args[a].type, call->args[a].before, (size_t)call->args[a].dim, "variable",
                     i * OP_MAX_ARGS + a, out);
  }
}

/* ---- calls ---- */

static void print_types(struct text *out) {
  for (int i = 0; i < types_of_program()->count; i++) {
    const struct type_info *info = &types_of_program()->infos[i];
    text_addf(out, "  const op2jit_member members%d[] = {", i);
    for (int m = 0; m < info->nmembers; m++) {
      const char *type = type_info(info->members[m].type)->name;
      text_addf(out, "%s{\"%s\", \"%s\", %zu, %zu}", m ? ", " : "", info->members[m].name, type ? type : "",
                info->members[m].offset, info->members[m].size);
    }
    text_addf(out, "};\n  op2jit_decl_type(\"%s\", %zu, %d, members%d);\n", info->name, info->size,
              info->nmembers, i);
  }
}

static void print_map(const struct capture *c, int m, struct text *out) {
  const struct capture_map *map = &c->maps[m];
  text_addf(out, "  op_map map%d = op_decl_map%s(set%lld, set%lld, ", m, map->first ? "_ragged" : "",
            map->from, map->to);
  if (map->first)
    text_addf(out, "first%d, table%d, ", m, m);
  else
    text_addf(out, "%lld, table%d, ", map->arity, m);
  print_string(map->name, out);
  text_add(out, ");\n");
}

static bool has_entries(const struct capture *c, int m) {
  for (int s = 0; s < c->nsets; s++)
    if (c->sets[s].entries_of == m)
      return true;
  return false;
}

static void print_mesh(const struct capture *c, struct text *out) {
  for (int s = 0; s < c->nsets; s++) {
    const long long m = c->sets[s].entries_of;
    if (m >= 0) {
      print_map(c, (int)m, out);
      text_addf(out, "  op_set set%d = op_map_entries(map%lld);\n", s, m);
      continue;
    }
    text_addf(out, "  op_set set%d = op_decl_set(%lld, ", s, c->sets[s].size);
    print_string(c->sets[s].name, out);
    text_add(out, ");\n");
  }
  for (int m = 0; m < c->nmaps; m++)
    if (!has_entries(c, m))
      print_map(c, m, out);
}

static void print_declarations(const struct capture *c, struct text *out) {
  for (int d = 0; d < c->ndats; d++) {
    const struct capture_dat *dat = &c->dats[d];
    text_addf(out, "  op_dat dat%d = op_decl_dat%s(set%lld, %lld, \"%s%s\", (void *)data%d, ", d,
              dat->view ? "_view" : "", dat->set, dat->dim, type_info(dat->type)->name,
              dat->soa ? ":soa" : "", d);
    print_string(dat->name, out);
    text_add(out, ");\n");
  }
  for (int i = 0; i < c->nconstants; i++)
    text_addf(out, "  op_decl_const(\"%s\", %lld, \"%s\", (void *)constant%d);\n", c->constants[i].name,
              c->constants[i].dim, type_info(c->constants[i].type)->name, i);
  for (int i = 0; i < c->nglobals; i++)
    text_addf(out, "  op_gbl gbl%d = op_decl_gbl(%lld, \"%s\", (void *)value%d, NULL);\n", i,
              c->globals[i].dim, type_info(c->globals[i].type)->name, i);
}

static void print_dat_arg(const struct capture_arg *a, struct text *out) {
  const bool numbers = a->form == DESC_IDX; /* of elements, which the capture has as a dat */
  text_addf(out, "%sop_opt_arg_dat(%lld, ", a->may_meet ? "op_arg_may_meet(" : "", a->present);
  text_addf(out, a->dat >= 0 ? "dat%lld, " : "NULL, ", a->dat);
  if (numbers || a->map < 0)
    text_add(out, "-1, OP_ID");
  else if (a->idx == OP_ALL)
    text_addf(out, "OP_ALL, map%lld", a->map);
  else
    text_addf(out, "%lld, map%lld", a->idx, a->map);
  text_addf(out, ", %lld, \"%s\", %s)%s", a->dim, type_info(a->type)->name,
            numbers ? "OP_READ" : access_name((int)a->access), a->may_meet ? ")" : "");
}

static void print_arg(const struct capture_arg *a, int number, struct text *out) {
  const char *type = type_info(a->type)->name;
  if (a->form == DESC_GBL && a->gbl >= 0)
    text_addf(out, "op_arg_global(gbl%lld, %s)", a->gbl, access_name((int)a->access));
  else if (a->form == DESC_GBL) {
    text_addf(out, "op_opt_arg_gbl(%lld, (void *)", a->present);
    text_addf(out, a->before ? "variable%d" : "0", number);
    text_addf(out, ", %lld, \"%s\", %s)", a->dim, type, access_name((int)a->access));
  } else if (a->form == DESC_INFO)
    text_addf(out, "op_arg_info((void *)variable%d, %lld, \"%s\", %lld)", number, a->dim, type, a->ref + 1);
  else
    print_dat_arg(a, out);
}

static void print_calls(const struct capture *c, struct text *out) {
  for (int i = 0; i < c->ncalls; i++) {
    const struct capture_call *call = &c->calls[i];
    if (call->elements)
      text_addf(out, "  op_set some%d = op_decl_subset(set%lld, %lld, elements%d, NULL);\n", i, call->set,
                call->count, i);
    text_addf(out, "  op_par_loop(kernel%d, \"%s\", ", i, call->name);
    if (call->elements)
      text_addf(out, "some%d", i);
    else
      text_addf(out, "set%lld", call->set);
    for (int a = 0; a < call->nargs; a++) {
      text_add(out, ",\n              ");
      print_arg(&call->args[a], i * OP_MAX_ARGS + a, out);
    }
    text_add(out, ");\n");
  }
}

static void print_variable(enum type_code type, long long dim, const char *name, int number,
                           struct text *out) {
  if (!type_is_struct(type))
    text_addf(out,
              "  for (int k = 0; k < %lld; k++)\n    fprintf(stderr, \"%s%d[%%d] = %%.17g\\n\", k, "
              "(double)%s%d[k]);\n",
              dim, name, number, name, number);
}

/* What comes of it; what is no dat on standard error, for dats are written to a file of that name. */
static void print_result(const struct capture *c, const struct place *p, struct text *out) {
  if (p->kind == PLACE_DAT)
    text_addf(out, "  op_print_dat_to_txtfile(dat%d, \"/dev/stdout\");\n", p->number);
  else if (p->kind == PLACE_GLOBAL) {
    text_addf(out, "  op_get_gbl(gbl%d, value%d);\n", p->number, p->number);
    print_variable(c->globals[p->number].type, c->globals[p->number].dim, "value", p->number, out);
  } else {
    const struct capture_arg *a = &c->calls[p->number].args[p->arg];
    print_variable(a->type, a->dim, "variable", p->number * OP_MAX_ARGS + p->arg, out);
  }
}

static void print_results(const struct capture *c, struct text *out) {
  struct places places;
  struct error err = {0};
  if (places_find(c, &places, &err) == OP_OK)
    for (int p = 0; p < places.count; p++)
      print_result(c, &places.items[p], out);
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
    print_string(c->calls[i].text, out);
    text_add(out, ";\n");
  }
  print_data(c, out);
  text_add(out, "\nint main(int argc, char **argv) {\n  op_init(argc, argv, 0);\n");
  print_types(out);
  print_mesh(c, out);
  print_declarations(c, out);
  print_calls(c, out);
  print_results(c, out);
  text_add(out, "  op_exit();\n  return 0;\n}\n");
}
