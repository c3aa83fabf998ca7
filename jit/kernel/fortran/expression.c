/* Expressions: read, with their types and shapes. */
#include <stdlib.h>
#include <string.h>

#include "jit/kernel/fortran/tree.h"

/* ---- literals ---- */

/* The kind behind the `_` of a literal. */
static int literal_kind(struct fortran *f, const struct f_token *t, int otherwise) {
  const char *kind = strchr(t->word, '_');
  if (!kind)
    return otherwise;
  if (kind[1] >= '0' && kind[1] <= '9')
    return atoi(kind + 1);
  struct f_token name = *t;
  name.word = name.spelled = kind + 1;
  name.form = T_NAME;
  const struct symbol *s = f_look_up(f, f->unit, name.word);
  if (!s)
    f_refuse_unknown(f, &name, "it is to be the kind of this number: a parameter");
  else if (s->kind != S_PARAMETER || !s->init || !s->init->known)
    f_refuse(f, t, "%s is to be the kind of this number, and is no parameter", s->name);
  else
    return (int)s->init->value;
  return otherwise;
}

static struct expr *read_literal(struct fortran *f) {
  const struct f_token *t = now(f);
  static const enum expr_op ops[] = {
      [T_INTEGER] = E_INTEGER, [T_REAL] = E_REAL, [T_LOGICAL] = E_LOGICAL, [T_STRING] = E_TEXT};
  static const enum type_base bases[] = {
      [T_INTEGER] = F_INTEGER, [T_REAL] = F_REAL, [T_LOGICAL] = F_LOGICAL, [T_STRING] = F_TEXT};
  struct expr *e = f_new_expr(f, ops[t->form], t);
  e->word = t->word;
  e->type = (struct f_type){bases[t->form], 4};
  if (t->form == T_INTEGER) {
    e->known = true;
    e->value = strtoll(t->word, NULL, 10);
    e->type.kind = literal_kind(f, t, 4);
    if (e->type.kind == 4 && (e->value > 2147483647LL || strlen(t->word) > 18))
      f_refuse(f, t, "%s is too large for an integer(4); write %s_8", t->spelled, t->spelled);
  } else if (t->form == T_REAL)
    e->type.kind = literal_kind(f, t, strpbrk(t->word, "d") ? 8 : 4);
  else if (t->form == T_LOGICAL) {
    e->known = true;
    e->value = strncmp(t->word, ".true.", 6) == 0;
  }
  if (f_is_number(e->type) && e->type.kind != 4 && e->type.kind != 8)
    f_refuse(f, t, "kernels have no numbers of kind %d; use 4 or 8", e->type.kind);
  f->at++;
  return e;
}

/* ---- names ---- */

/* One of them: `name =` before it, a range, or an expression. */
static struct expr *read_argument(struct fortran *f) {
  const char *keyword = NULL;
  const struct f_token *at = now(f);
  if (at->form == T_NAME && f_is_word(f, f->at + 1, "=")) {
    keyword = at->word;
    f->at += 2;
  }
  const bool begins = f_is_word(f, f->at, ":") || f_is_word(f, f->at, "::");
  struct expr *e = begins ? f_new_expr(f, E_NOTHING, at) : f_read_expression(f);
  const bool two = f_take(f, "::"); /* `a(1::2)` */
  if (two || f_take(f, ":")) {
    struct expr *range = f_new_expr(f, E_RANGE, at);
    const bool ends = two || f_is_word(f, f->at, ",") || f_is_word(f, f->at, ")") || f_is_word(f, f->at, ":");
    range->args = e;
    e->next = ends ? f_new_expr(f, E_NOTHING, now(f)) : f_read_expression(f);
    e->next->next = two || f_take(f, ":") ? f_read_expression(f) : f_integer_expr(f, at, 1);
    e = range;
  }
  e->keyword = keyword;
  return e;
}

struct expr *f_read_arguments(struct fortran *f) {
  struct expr *first = NULL, **last = &first;
  if (f_take(f, ")"))
    return NULL;
  do {
    struct expr *e = read_argument(f);
    /* The `next` of an expression that was read before may belong to another list. */
    *last = e;
    last = &e->next;
  } while (!failed(f) && f_take(f, ","));
  f_expect(f, ")");
  return first;
}

static struct expr *read_reference(struct fortran *f, const struct f_token *at, struct symbol *s) {
  struct expr *e = f_new_expr(f, s->kind == S_PROCEDURE ? E_CALL : E_VARIABLE, at);
  e->symbol = s;
  e->type = s->type;
  s->used = true;
  if (s->wrong)
    f_refuse(f, at, "%s %s", s->name, s->wrong);
  if (s->unit != f->unit && (s->kind == S_LOCAL || s->kind == S_DUMMY || s->kind == S_RESULT))
    f_refuse(f, at, "%s is a variable of %s, which is around this procedure; pass it as an argument", s->name,
             s->unit->name);
  if (s->kind == S_PROCEDURE) {
    if (!f_take(f, "("))
      f_refuse(f, at, "%s is a procedure; write %s(...)", s->name, s->name);
    e->args = f_read_arguments(f);
    f_check_arguments(f, e);
    return e->rank && !s->unit->is_elemental ? f_hoist_call(f, e) : e;
  }
  if (s->kind == S_PARAMETER && s->rank == 0 && s->init) {
    e->known = s->init->known && s->type.base == s->init->type.base && s->type.base != F_REAL;
    e->value = s->init->value;
  }
  if (s->fixed)
    e->known = true, e->value = s->value;
  f_shape_of_symbol(e, s);
  if (f_take(f, "(")) {
    if (s->rank == 0)
      f_refuse(
          f, at,
          "%s is declared as one value; write its extents there, as %s(3), or the function %s in this file",
          s->name, s->name, s->name);
    e->op = E_ELEMENT;
    e->args = f_read_arguments(f);
    f_type_element(f, e);
  }
  if (f_is_word(f, f->at, "%"))
    f_refuse(f, now(f), "components of derived types are not in the subset; use a variable for each");
  return e;
}

static struct expr *read_name(struct fortran *f) {
  const struct f_token *at = now(f);
  const bool call = f_is_word(f, f->at + 1, "(");
  struct symbol *s = f_look_up(f, f->unit, at->word);
  const struct intrinsic *intrinsic = s ? NULL : f_find_intrinsic(f, at->word);
  f->at++;
  if (failed(f))
    return f_integer_expr(f, at, 0);
  if (intrinsic && call) {
    struct expr *e = f_new_expr(f, E_INTRINSIC, at);
    f->at++;
    e->intrinsic = intrinsic;
    e->args = f_read_arguments(f);
    if (!failed(f))
      f_type_intrinsic(f, e);
    return e;
  }
  if (!s && call) {
    const char *near = f_nearest_intrinsic(f, at->word);
    if (near)
      f_refuse(f, at, "%s is neither an array nor a function that kernels have; did you mean %s?",
               at->spelled, near);
    else
      f_refuse_unknown(f, at,
                       "it is neither an array nor a function that kernels have: put the function into this "
                       "file or into a module that the kernel uses");
    return f_integer_expr(f, at, 0);
  }
  if (!s)
    s = f_look_up_or_make(f, f->unit, at);
  return s ? read_reference(f, at, s) : f_integer_expr(f, at, 0);
}

/* ---- constructors ---- */

static struct expr *read_items(struct fortran *f, const char *close);

/* The token of the index in `(items, i = from, to, step)`; 0: the bracket begins no such values. */
static int find_index(const struct fortran *f, int at) {
  const int end = f_skip_brackets(f, at);
  int depth = 0;
  for (; at < end; at++) {
    depth += f_bracket(f, at);
    if (depth == 1 && f_is_word(f, at, ",") && f->tokens[at + 1].form == T_NAME && f_is_word(f, at + 2, "="))
      return at + 1;
  }
  return 0;
}

static struct expr *read_implied(struct fortran *f) {
  struct expr *e = f_new_expr(f, E_IMPLIED, now(f));
  const int index = find_index(f, f->at);
  f->at++;
  e->symbol = f_add_index(f, &f->tokens[index]);
  struct text *const hoist = f->hoist;
  f->hoist = NULL; /* The index has no value yet before the statement. */
  e->args = read_items(f, NULL);
  f->hoist = hoist;
  e->symbol->name = "";
  f->at = index + 2;
  e->from = f_read_expression(f);
  f_expect(f, ",");
  e->to = f_read_expression(f);
  e->step = f_take(f, ",") ? f_read_expression(f) : f_integer_expr(f, &f->tokens[index], 1);
  f_expect(f, ")");
  f_known_value(f, e->from, "a bound of the values' index");
  f_known_value(f, e->to, "a bound of the values' index");
  f_known_value(f, e->step, "a bound of the values' index");
  e->type = e->args ? e->args->type : e->type;
  return e;
}

static struct expr *read_items(struct fortran *f, const char *close) {
  struct expr *first = NULL, **last = &first;
  do {
    if (!close && now(f)->form == T_NAME && f_is_word(f, f->at + 1, "="))
      break;
    struct expr *e =
        f_is_word(f, f->at, "(") && find_index(f, f->at) ? read_implied(f) : f_read_expression(f);
    *last = e;
    last = &e->next;
  } while (!failed(f) && f_take(f, ","));
  if (close)
    f_expect(f, close);
  return first;
}

/* `[real(8) :: ...]`: does the bracket that opens here begin with a type? */
static bool says_type(const struct fortran *f, int at) {
  const int behind = f_is_word(f, at + 2, "(") ? f_skip_brackets(f, at + 2) : at + 2;
  return f_is_type_word(f, at + 1) && (f_is_word(f, behind, "::") || f_is_word(f, behind + 1, "::"));
}

static struct expr *read_list(struct fortran *f) {
  struct expr *e = f_new_expr(f, E_LIST, now(f));
  struct f_type type = {F_NONE, 0};
  const bool typed = says_type(f, f->at);
  f->at++;
  if (typed) {
    f_read_type(f, &type, NULL, false);
    f_expect(f, "::");
  }
  e->args = read_items(f, "]");
  if (failed(f))
    return e;
  e->type = type.base ? type : e->args->type;
  for (const struct expr *i = e->args; i; i = i->next)
    if (!type.base && !f_same_type(i->type, e->type))
      f_refuse(f, i->at,
               "the values of an array are of one type, and this is %s behind %s; write [real(8) :: ...] or "
               "convert it",
               f_type_said(f, i->type), f_type_said(f, e->type));
  e->rank = 1;
  e->extent[0] = f_items_of(f, e);
  return e;
}

/* ---- operators ---- */

struct expr *f_read_primary(struct fortran *f) {
  const struct f_token *t = now(f);
  if (failed(f))
    return f_integer_expr(f, t, 0);
  if (t->form == T_NAME)
    return read_name(f);
  if (t->form <= T_STRING)
    return read_literal(f);
  if (f_take(f, "(")) {
    struct expr *inner = f_read_expression(f);
    inner->grouped = true;
    f_expect(f, ")");
    return inner;
  }
  if (f_is_word(f, f->at, "["))
    return read_list(f);
  f_refuse_here(f, "a value");
  return f_integer_expr(f, t, 0);
}

enum operator_class { CLASS_SUM, CLASS_COMPARE, CLASS_LOGICAL };

static long long power_of(long long a, long long b) {
  long long result = 1;
  for (; b > 0; b--)
    if (__builtin_mul_overflow(result, a, &result))
      return 0;
  return b < 0 ? (a == 1) - 0 : result;
}

static void fold(struct expr *e, long long a, long long b) {
  long long value = 0;
  bool good = e->type.base == F_INTEGER;
  if (strcmp(e->word, "+") == 0)
    good &= !__builtin_add_overflow(a, b, &value);
  else if (strcmp(e->word, "-") == 0)
    good &= !__builtin_sub_overflow(a, b, &value);
  else if (strcmp(e->word, "*") == 0)
    good &= !__builtin_mul_overflow(a, b, &value);
  else if (strcmp(e->word, "/") == 0 && b != 0)
    value = a / b;
  else if (strcmp(e->word, "**") == 0 && b >= 0 && b < 63)
    value = power_of(a, b);
  else
    good = false;
  e->known = good;
  e->value = value;
}

static void type_binary(struct fortran *f, struct expr *e, enum operator_class class) {
  const struct expr *a = e->args, *b = a->next;
  const bool logical = class == CLASS_LOGICAL;
  const struct expr *bad = NULL;
  if (failed(f))
    return;
  for (const struct expr *i = b; i; i = i == b ? a : NULL)
    if (logical ? i->type.base != F_LOGICAL : !f_is_number(i->type))
      bad = i;
  if (bad && !logical && bad->type.base == F_LOGICAL)
    f_refuse(f, e->at, "`%s` stands between numbers, and one is logical%s", e->at->spelled,
             class == CLASS_COMPARE ? "; write .eqv. or .neqv." : "");
  else if (bad)
    f_refuse(f, e->at, "`%s` stands between %s, and one is %s", e->at->spelled,
             logical ? "logical values" : "numbers", f_type_said(f, bad->type));
  e->type = class == CLASS_SUM ? f_common_type(a->type, b->type)
            : logical          ? a->type.kind >= b->type.kind ? a->type : b->type
                               : (struct f_type){F_LOGICAL, 4};
  f_take_shape(f, e, a);
  f_take_shape(f, e, b);
  if (class == CLASS_SUM && a->known && b->known)
    fold(e, a->value, b->value);
}

static struct expr *binary(struct fortran *f, const struct f_token *at, struct expr *a, struct expr *b,
                           enum operator_class class) {
  struct expr *e = f_new_expr(f, E_BINARY, at);
  e->word = at->word;
  e->args = a;
  a->next = b;
  b->next = NULL;
  type_binary(f, e, class);
  return e;
}

static struct expr *unary(struct fortran *f, const struct f_token *at, struct expr *a) {
  const bool logical = strcmp(at->word, ".not.") == 0;
  struct expr *e = f_new_expr(f, E_UNARY, at);
  e->word = at->word;
  e->args = a;
  e->type = a->type;
  if (!failed(f) && (logical ? a->type.base != F_LOGICAL : !f_is_number(a->type)))
    f_refuse(f, at, "`%s` stands before %s, and this is %s", at->spelled,
             logical ? "a logical value" : "a number", f_type_said(f, a->type));
  f_take_shape(f, e, a);
  e->known = a->known && a->type.base == F_INTEGER;
  e->value = *at->word == '-' ? -a->value : a->value;
  return e;
}

/* Operators from weak to strong; those of one level go from left to right. */
static const struct {
  const char *words[7];
  enum operator_class class;
} levels[] = {{{".eqv.", ".neqv."}, CLASS_LOGICAL},
              {{".or."}, CLASS_LOGICAL},
              {{".and."}, CLASS_LOGICAL},
              {{0}, CLASS_LOGICAL}, /* .not. */
              {{"==", "/=", "<", "<=", ">", ">="}, CLASS_COMPARE},
              {{"+", "-"}, CLASS_SUM},
              {{"*", "/"}, CLASS_SUM}};
enum { LEVEL_NOT = 3, LEVEL_SUM = 5, LEVEL_PRODUCT = 6, LEVELS = 7 };

static bool is_operator(const struct fortran *f, int level) {
  for (int i = 0; i < 7 && levels[level].words[i]; i++)
    if (f_is_word(f, f->at, levels[level].words[i]))
      return true;
  return false;
}

static struct expr *read_power(struct fortran *f) {
  struct expr *a = f_read_primary(f);
  const struct f_token *at = now(f);
  if (!f_take(f, "**"))
    return a;
  struct expr *b; /* from right to left; a sign may stand before the exponent, as compilers allow */
  if (f_is_word(f, f->at, "-") || f_is_word(f, f->at, "+")) {
    const struct f_token *sign = now(f);
    f->at++;
    b = unary(f, sign, read_power(f));
  } else
    b = read_power(f);
  struct expr *e = binary(f, at, a, b, CLASS_SUM);
  if (a->type.base == F_REAL && b->type.base == F_INTEGER)
    e->type = a->type;
  return e;
}

static struct expr *read_level(struct fortran *f, int level) {
  const struct f_token *sign = now(f);
  struct expr *a;
  if (level == LEVELS && (f_take(f, "-") || f_take(f, "+"))) /* behind an operator, as compilers allow */
    return unary(f, sign, read_power(f));
  if (level == LEVELS)
    return read_power(f);
  if (level == LEVEL_NOT)
    return f_take(f, ".not.") ? unary(f, sign, read_level(f, LEVEL_NOT)) : read_level(f, level + 1);
  if (level == LEVEL_SUM && (f_take(f, "-") || f_take(f, "+")))
    a = unary(f, sign, read_level(f, LEVEL_PRODUCT));
  else
    a = read_level(f, level + 1);
  while (is_operator(f, level) && !failed(f)) {
    const struct f_token *at = now(f);
    f->at++;
    a = binary(f, at, a, read_level(f, level + 1), levels[level].class);
  }
  return a;
}

struct expr *f_read_expression(struct fortran *f) {
  enum { DEEPEST = 200 };
  if (f->nesting > DEEPEST) {
    f_refuse(f, now(f), "this expression is nested too deeply; write it in several statements");
    return f_integer_expr(f, now(f), 0);
  }
  f->nesting++;
  struct expr *e = read_level(f, 0);
  f->nesting--;
  if (f->nesting == 0)
    f_check_calls(f, e, false);
  if (f_is_word(f, f->at, "//"))
    f_refuse(f, now(f), "kernels have no text to join");
  return e;
}
