/* The dialect of C for CPUs: range functions. */
#include <stdlib.h>
#include <string.h>

#include "jit/emit/generate.h"
#include "jit/emit/skeleton.h"
#include "jit/emit/strip.h"
#include "jit/emit/strip_lanes.h"
#include "jit/kernel/prelude.h"
#include "jit/kernel/rows.h"

static void add_in_memory(struct generator *g, enum type_code type, const char *target, const char *value) {
  (void)type;
  put(g, "%s += %s;", target, value);
}

static bool adds_apart(const struct generator *g, const struct desc_arg *a) {
  return g->lanes || dat_is_apart(g->d, a->dat) || desc_reproduces(g->d);
}

static const struct word c_named[] = {{"wide", "long"},
                                      {"restricted", "restrict"},
                                      {"constant", "static const"},
                                      {"toint", "(int)"},
                                      {NULL, NULL}};

static const struct words c_words = {
    .types = {[TYPE_DOUBLE] = "double",
              [TYPE_FLOAT] = "float",
              [TYPE_INT] = "int",
              [TYPE_UINT] = "unsigned int",
              [TYPE_LONGLONG] = "op2_longlong",
              [TYPE_ULONGLONG] = "op2_ulonglong",
              [TYPE_BOOL] = "_Bool",
              [TYPE_CHAR] = "char",
              [TYPE_SHORT] = "short"},
    .named = c_named,
    .adds_apart = adds_apart,
    .add = add_in_memory,
};

/* ---- constants that are not folded: variables, set from the frame ---------------------------------*/

static void put_variable_constants(struct generator *g) {
  for (int i = 0; i < g->d->nconsts; i++) {
    const struct desc_const *c = &g->d->consts[i];
    if (c->folded || type_is_struct(c->type))
      continue;
    put(g, c->dim == 1 ? "%s%s %s;" : "%s%s %s[%d];", g->d->entry ? "" : "static ", word_type(g, c->type),
        c->name, c->dim);
    put(g, "static void *const op2_c%d = (void *)&%s;", i, c->name);
  }
}

/* All threads may do this at once, with the same values. Only what differs is written, so that it costs reads. */
static void put_constant_updates(struct generator *g) {
  static const char *const carriers[] = {[1] = "char", [2] = "short", [4] = "int", [8] = "long long"};
  for (int i = 0; i < g->d->nconsts; i++) {
    const struct desc_const *c = &g->d->consts[i];
    if (c->folded)
      continue;
    const bool bytes = type_is_struct(c->type); /* one by one */
    const size_t size = type_info(c->type)->size;
    put_open(g, "for (long op2_c = 0; op2_c < %ld; op2_c++)",
             bytes ? (long)c->dim * (long)size : (long)c->dim);
    put(g, "typedef unsigned %s __attribute__((may_alias)) op2_bits;", carriers[bytes ? 1 : size]);
    put(g, "const op2_bits op2_new = ((const op2_bits *)op2_frame[%d])[op2_c];", desc_slot_const(g->d, i));
    put_open(g, "if (((op2_bits *)op2_c%d)[op2_c] != op2_new)", i);
    put(g, "((op2_bits *)op2_c%d)[op2_c] = op2_new;", i);
    put_close(g);
    put_close(g);
  }
}

/* ---- the file ----------------------------------------------------------------------------------*/

/* Helpers of strips, once for each type and row length. */
struct helpers {
  bool types[TYPE_COUNT], rows[TYPE_COUNT][LANES_LONGEST_ROW + 1];
};

static void put_helper(struct generator *g, enum type_code type, int dim, struct helpers *known) {
  if (!known->types[type])
    put_lane_types(g, type);
  if (!known->rows[type][dim])
    put_lane_helpers(g, type, dim);
  known->types[type] = known->rows[type][dim] = true;
}

static void put_helpers(struct generator *g) {
  struct helpers known = {0};
  struct desc room;
  for (int i = 0; i < g->d->ndats; i++)
    put_helper(g, g->d->dats[i].type, dat_is_apart(g->d, i) ? 1 : g->d->dats[i].dim, &known);
  for (int targets = 1; desc_any_ragged(g->d) && targets <= rows_most(g->d); targets++) {
    const struct desc *d = rows_of_strip(g->d, targets, &room);
    for (int i = 0; i < d->nargs; i++)
      if (d->args[i].entry)
        put_helper(g, d->args[i].type, d->args[i].dim, &known);
  }
}

/* A kernel in C++: the compiler reads this file as C++ too, where it holds the kernel and what the loop calls, which
 * takes any pointers, and links both. */
static void put_cxx_kernel(struct generator *g, const struct generated *files) {
  struct text parameters = {0}, arguments = {0};
  for (int i = 0; i < g->d->nargs; i++) {
    text_addf(&parameters, "%sconst void *op2_p%d", i ? ", " : "", i);
    text_addf(&arguments, "%sop2_any{op2_p%d}", i ? ", " : "", i);
  }
  put(g, "#ifdef __cplusplus");
  put(g, "#include \"%s\"", files->prelude_file);
  put(g, "#pragma clang diagnostic ignored \"-Weverything\"");
  put(g, "typedef long long op2_longlong; typedef unsigned long long op2_ulonglong; typedef bool _Bool;");
  put_constants(g);
  for (int i = 0; i < g->d->nconsts; i++) {
    const struct desc_const *c = &g->d->consts[i];
    if (!c->folded)
      put(g, c->dim == 1 ? "extern \"C\" %s %s;" : "extern \"C\" %s %s[%d];",
          c->type == TYPE_BOOL ? "bool" : type_info(c->type)->name, c->name, c->dim);
  }
  put(g, "#include \"%s\"", files->kernel_file);
  put(g, "struct op2_any {");
  put(g, "  const void *op2_p;");
  put(g, "  template <class op2_t> operator op2_t *() const { return (op2_t *)op2_p; }");
  put(g, "};");
  put(g, "extern \"C\" __attribute__((%s)) void op2_kernel(%s) {",
      g->s->stepped ? "used" : "always_inline, flatten", text_str(&parameters));
  put(g, "  ::%s(%s);", g->d->entry, text_str(&arguments));
  put(g, "}");
  put(g, "#else");
  put(g, "void op2_kernel(%s);", text_str(&parameters));
  piece_free(g, &parameters);
  piece_free(g, &arguments);
}

static void put_types(struct generator *g) {
  put(g, "typedef long long __attribute__((may_alias)) op2_longlong;");
  put(g, "typedef unsigned long long __attribute__((may_alias)) op2_ulonglong;");
  if (!g->d->entry)
    put_constants(g);
  put_variable_constants(g);
  put_info_types(g);
  put_extrema(g);
  /* All of ours that has short names stands before the kernel's text, whose macros could mean them. */
  if (g->s->width)
    put_helpers(g);
  put_exact_helpers(g);
  if (g->s->straight) {
    const struct desc *whole = g->d;
    struct desc room;
    g->d = rows_of_strip(whole, 0, &room);
    put_straight_helper(g);
    g->d = whole;
  }
}

/* A declaration without parameters fits any definition; it makes the function static and inlined. One that is `used`
 * keeps its parameters. */
static void put_kernel_declaration(struct generator *g, const char *function) {
  put(g,
      g->s->stepped ? "static __attribute__((internal_linkage, used)) void %s();"
                    : "static inline __attribute__((always_inline, internal_linkage)) void %s();",
      function);
}

static void put_checked_rows(struct generator *g) {
  put_open(g,
           "static inline __attribute__((always_inline)) long op2_row(const void *to, const void *dim, const "
           "void *n, long k)");
  put(g, "op2jit_assert(k >= 0 && k < (long)n, \"" ROWS_CONDITION "\");");
  put(g, "return op2jit_row(to, dim, n, k);");
  put_close(g);
  put(g, "#define op2jit_row op2_row");
}

/* Told to make vector code of a loop, clang adds up in another order. */
static void put_any_order(struct generator *g) {
  put(g, "#undef OP_ANY_ORDER");
  put(g, "#define OP_ANY_ORDER _Pragma(\"clang loop vectorize(enable)\")");
}

/* Told of each warning that there is, clang takes a tenth of a small loop's compile for that. Of those that are on by default it
 * says nothing of this file; what of them would be an error is named. */
static void put_no_warnings(struct generator *g) {
  static const char *const groups[] = {"all", "extra", "int-conversion"};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    put(g, "#pragma clang diagnostic ignored \"-W%s\"", groups[i]);
}

static void put_head(struct generator *g, const struct generated *files) {
  if (g->s->bounds)
    put(g, "#pragma op2jit bounds");
  if (!g->s->rows && rows_open_map(g->d) >= 0)
    put(g, "#pragma op2jit rolled");
  if (g->d->entry) {
    put_cxx_kernel(g, files);
    put_no_warnings(g);
    put_types(g);
    return;
  }
  put(g, "#include \"%s\"", files->prelude_file);
  put(g, "#pragma clang diagnostic push");
  put_no_warnings(g);
  /* Only the checking form asks. */
  if (g->s->bounds) {
    put(g, "__attribute__((noreturn)) void op2jit_assert_failed(const char *);");
    put(g, "#define op2jit_assert(c, words) ((c) ? (void)0 : op2jit_assert_failed(words))");
    if (desc_any_ragged(g->d))
      put_checked_rows(g);
  } else
    put(g, "#define op2jit_assert(c, words) ((void)0)");
  put_types(g);
  for (int m = 0; m < g->d->nmembers; m++)
    put_kernel_declaration(g, g->d->members[m].function);
  if (!g->d->nmembers)
    put_kernel_declaration(g, g->d->kernel_name);
  if (g->s->rows)
    put_any_order(g);
  put(g, "#pragma clang diagnostic pop");
  put(g, "#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)");
  put(g, "#pragma GCC visibility push(hidden)");
  if (g->s->stepped)
    put(g, "#pragma clang optimize off");
  put(g, "#pragma clang diagnostic push"); /* what the text asks for ends with it */
  put(g, "#include \"%s\"", files->kernel_file);
  put(g, "#pragma clang diagnostic pop");
  if (g->s->stepped)
    put(g, "#pragma clang optimize on");
  put(g, "#pragma GCC visibility pop");
  put(g, "#pragma clang attribute pop");
  put_no_warnings(g);
  put_structs(g, "", true);
  put(g, "#pragma clang diagnostic error \"-Wincompatible-pointer-types\"");
  put(g, "#pragma clang diagnostic error \"-Wincompatible-pointer-types-discards-qualifiers\"");
}

/* A parameter of the loop function: its declaration, and the frame's slot that it comes from. Restrict is true: all
 * arguments of one dat go through one pointer, and different dats do not overlap. */
struct parameter {
  struct text declaration, value;
};

static void add_parameter(struct parameter *p, const char *before, const char *name, int number, int slot,
                          bool pointer) {
  text_addf(&p->declaration, "%s%s%d, ", before, name, number);
  text_addf(&p->value, pointer ? "op2_frame[%d], " : "(long)op2_frame[%d], ", slot);
}

static void dat_parameters(const struct generator *g, struct parameter *p) {
  const struct desc *d = g->d;
  const char *restricted = word_named(g, "restricted");
  for (int i = 0; i < d->ndats; i++) {
    struct text type = {0};
    text_addf(&type, "%s%s *%s ", dat_is_written(d, i) ? "" : "const ", word_type(g, d->dats[i].type),
              restricted);
    add_parameter(p, text_str(&type), "op2_d", i, desc_slot_dat(d, i), true);
    text_free(&type);
    if (dat_is_apart(d, i))
      add_parameter(p, "long ", "op2_s", i, desc_slot_stride(d, i), false);
  }
  for (int m = 0; m < d->nmaps; m++)
    add_parameter(p, "const int *restrict ", "op2_t", m, desc_slot_map(d, m), true);
  for (int m = 0; m < d->nmaps; m++)
    if (d->maps[m].ragged)
      add_parameter(p, "const op2_longlong *restrict ", "op2_z", m, desc_slot_first(d, m), true);
  for (int m = 0; m < d->nmaps; m++)
    if (desc_scatters(d, m))
      add_parameter(p, "const int *restrict ", "op2_entries", m, desc_slot_entries(d, m), true);
  for (int s = 0; s < d->nsets; s++)
    if (uses_numbers(d, s))
      add_parameter(p, "const int *restrict ", "op2_x", s, desc_slot_numbers(d, s), true);
}

static void global_parameters(const struct generator *g, struct parameter *p) {
  const struct desc *d = g->d;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    struct text type = {0};
    if (a->summed && strips_sum(g))
      add_parameter(p, "struct op2_along *restrict ", "op2_y", i, desc_slot_arg(d, i), true);
    if (!arg_has_pointer(a))
      continue;
    if (a->form == DESC_INFO)
      text_addf(&type, "struct op2_info%d *restrict ", i);
    else
      text_addf(&type, "%s%s *restrict ", a->access == OP_READ ? "const " : "", word_type(g, a->type));
    add_parameter(p, text_str(&type), "op2_g", i, desc_slot_arg(d, i), true);
    text_free(&type);
    text_addf(&type, "const %s *restrict ", word_type(g, a->type));
    if (arg_is_extremum_with_info(a))
      add_parameter(p, text_str(&type), "op2_b", i, desc_slot_start(d, i), true);
    text_free(&type);
  }
}

static void put_strips(struct generator *g) {
  const struct desc *whole = g->d;
  struct desc room;
  put_lane_accumulators(g);
  if (g->s->stream)
    put_stream_check(g);
  if (rows_open_map(whole) >= 0)
    put_rows_strips(g);
  else {
    g->d = rows_of_strip(whole, 0, &room);
    if (g->s->straight)
      put_straight_strips(g);
    else
      put_strips_until(g, "op2_end");
    g->d = whole;
  }
  if (g->s->stream)
    put_stream_end(g);
  put_lanes_accumulated(g);
}

static void put_loop(struct generator *g) {
  put_accumulators(g);
  put(g, "long op2_i = op2_begin;");
  if (g->s->width) {
    put_strips(g);
    put(g, "#pragma clang loop vectorize(disable) interleave(disable) unroll(disable)");
  } else if (rows_open_map(g->d) >= 0) /* unrolled, short rows of many lengths took 1.3 times as long */
    put(g, "#pragma clang loop unroll(disable)");
  put_one_by_one(g, "op2_end");
  put_accumulated(g);
}

static void put_functions(struct generator *g) {
  struct parameter p = {0};
  dat_parameters(g, &p);
  global_parameters(g, &p);
  if (g->s->straight) {
    text_add(&p.declaration, "const int *restrict op2_u, ");
    text_addf(&p.value, "op2_frame[%d], ", desc_slot_straight(g->d));
  }
  put_open(g, "static void op2_loop(%sconst int *restrict op2_list, long op2_begin, long op2_end)",
           text_str(&p.declaration));
  put_loop(g);
  put_close(g);
  /* A strip has more values than there are registers. Without this vectors come to lie across lines of the cache, or
   * do not, as the caller's stack has it. */
  put_open(g, "%svoid %s(void *const *op2_frame, const int *op2_list, long op2_begin, long op2_end)",
           g->s->width ? "__attribute__((force_align_arg_pointer)) " : "", GENERATED_FUNCTION);
  put_constant_updates(g);
  put(g, "op2_loop(%sop2_list, op2_begin, op2_end);", text_str(&p.value));
  put_close(g);
  if (g->d->entry)
    put(g, "#endif");
  piece_free(g, &p.declaration);
  piece_free(g, &p.value);
}

/* ---- everything --------------------------------------------------------------------------------*/

static char *joined(const char *name, const char *ending) {
  struct text both = {0};
  text_addf(&both, "%s%s", name, ending);
  return text_take(&both);
}

void generated_name(struct generated *g, const char *name, const char *ending, const char *kernel_ending,
                    const char *prelude_file) {
  g->main_file = joined(name, ending);
  g->kernel_file = joined(name, kernel_ending);
  g->prelude_file = joined(prelude_file, "");
}

int generated_end(struct generated *g, int code, struct error *err) {
  const bool whole =
      text_ok(&g->main) && text_ok(&g->kernel) && g->main_file && g->kernel_file && g->prelude_file;
  if (!code && !whole)
    code = error_memory(err, "generated code", g->main.length);
  if (code)
    generated_free(g);
  return code;
}

static void generate(struct generator *g, struct generated *out) {
  struct text shape = {0};
  generated_name(out, g->d->kernel_name, ".loop.c", g->d->entry ? ".cc" : ".c", "op2jit_prelude.h");
  out->prelude = g->d->entry ? jit_prelude_cxx() : jit_prelude();
  shape_print(g->s, &shape);
  put(g, "/* Made by op2jit (generator %s): loop %s, %s, %s. */", GENERATOR_VERSION, g->d->kernel_name,
      text_str(&shape), g->d->fp);
  text_free(&shape);
  put_head(g, out);
  put_functions(g);
  text_add_bytes(&out->kernel, g->k->text, g->k->length);
  text_add_char(&out->kernel, '\n');
}

int generate_c(const struct desc *d, const struct shape *s, struct generated *out, struct error *err) {
  struct kernel k;
  *out = (struct generated){0};
  int code = generated_kernel(&k, d, "static", true, err);
  if (code)
    return code;
  struct shape fitting = *s;
  if (!shape_fits(d, s))
    fitting.width = 0;
  fitting.straight &= shape_can_be_straight(d, &fitting);
  fitting.rows &= shape_has_rows(d);
  fitting.stream &= shape_can_stream(d, &fitting);
  fitting.piped &= shape_can_be_piped(d, &fitting);
  out->width = fitting.width;
  struct generator g = {.d = d, .s = &fitting, .w = &c_words, .k = &k, .out = &out->main};
  generate(&g, out);
  kernel_free(&k);
  return generated_end(out, OP_OK, err);
}

void generated_free(struct generated *g) {
  free(g->main_file);
  free(g->kernel_file);
  free(g->prelude_file);
  text_free(&g->main);
  text_free(&g->kernel);
  *g = (struct generated){0};
}
