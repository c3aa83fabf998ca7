/* Expressions: read, with their types and shapes. */
#include <stdlib.h>
#include <string.h>

#include "jit/front/fortran/tree.h"

struct expr *new_expr(struct fortran *f, enum expr_op op, const struct f_token *at) {
  struct expr *e = f_new(f, sizeof *e);
  e->op = op;
  struct f_token *copy = f_new(f, sizeof *copy); /* it may be a copy that ends with its function */
  *copy = *at;
  e->at = copy;
  return e;
}

struct expr *integer_expr(struct fortran *f, const struct f_token *at, long long value) {
  struct expr *e = new_expr(f, E_INTEGER, at);
  e->type = (struct f_type){F_INTEGER, 4};
  e->known = true;
  e->value = value;
  return e;
}

bool same_type(struct f_type a, struct f_type b) {
  return a.base == b.base && a.kind == b.kind;
}

bool is_number(struct f_type t) {
  return t.base == F_INTEGER || t.base == F_REAL;
}

long long known_value(struct fortran *f, const struct expr *e, const char *what) {
  if (!failed(f) && (!e->known || e->type.base != F_INTEGER))
    refuse(f, e->at, "%s must be a number that the text says, as 4 or a parameter", what);
  return e->value;
}

/* ---- literals ---- */

/* What stands behind the `_` of a literal. */
static int literal_kind(struct fortran *f, const struct f_token *t, int otherwise) {
  const char *kind = strchr(t->word, '_');
  if (!kind)
    return otherwise;
  if (kind[1] >= '0' && kind[1] <= '9')
    return atoi(kind + 1);
  struct f_token name = *t;
  name.word = name.spelled = kind + 1;
  name.form = T_NAME;
  const struct symbol *s = look_up(f, f->unit, name.word);
  if (!s)
    refuse_unknown(f, &name, "it is to be the kind of this number: a parameter");
  else if (s->kind != S_PARAMETER || !s->init || !s->init->known)
    refuse(f, t, "%s is to be the kind of this number, and is no parameter", s->name);
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
  struct expr *e = new_expr(f, ops[t->form], t);
  e->word = t->word;
  e->type = (struct f_type){bases[t->form], 4};
  if (t->form == T_INTEGER) {
    e->known = true;
    e->value = strtoll(t->word, NULL, 10);
    e->type.kind = literal_kind(f, t, 4);
    if (e->type.kind == 4 && (e->value > 2147483647LL || strlen(t->word) > 18))
      refuse(f, t, "%s is too large for an integer(4); write %s_8", t->spelled, t->spelled);
  } else if (t->form == T_REAL)
    e->type.kind = literal_kind(f, t, strpbrk(t->word, "d") ? 8 : 4);
  else if (t->form == T_LOGICAL) {
    e->known = true;
    e->value = strncmp(t->word, ".true.", 6) == 0;
  }
  if (is_number(e->type) && e->type.kind != 4 && e->type.kind != 8)
    refuse(f, t, "kernels have no numbers of kind %d; use 4 or 8", e->type.kind);
  f->at++;
  return e;
}

/* ---- names ---- */

/* One of them: `name =` before it, a range, or an expression. */
static struct expr *read_argument(struct fortran *f) {
  const char *keyword = NULL;
  const struct f_token *at = now(f);
  if (at->form == T_NAME && is_word(f, f->at + 1, "=")) {
    keyword = at->word;
    f->at += 2;
  }
  struct expr *e = is_word(f, f->at, ":") ? new_expr(f, E_NOTHING, at) : read_expression(f);
  if (take(f, ":")) {
    struct expr *range = new_expr(f, E_RANGE, at);
    const bool ends = is_word(f, f->at, ",") || is_word(f, f->at, ")") || is_word(f, f->at, ":");
    range->args = e;
    e->next = ends ? new_expr(f, E_NOTHING, now(f)) : read_expression(f);
    e->next->next = take(f, ":") ? read_expression(f) : integer_expr(f, at, 1);
    e = range;
  }
  e->keyword = keyword;
  return e;
}

struct expr *read_arguments(struct fortran *f) {
  struct expr *first = NULL, **last = &first;
  if (take(f, ")"))
    return NULL;
  do {
    struct expr *e = read_argument(f);
    /* What was read before may stand in another list. */
    *last = e;
    last = &e->next;
  } while (!failed(f) && take(f, ","));
  expect(f, ")");
  return first;
}

int count_args(const struct expr *e) {
  int count = 0;
  for (; e; e = e->next)
    count++;
  return count;
}

static struct expr *read_reference(struct fortran *f, const struct f_token *at, struct symbol *s) {
  struct expr *e = new_expr(f, s->kind == S_PROCEDURE ? E_CALL : E_VARIABLE, at);
  e->symbol = s;
  e->type = s->type;
  s->used = true;
  if (s->wrong)
    refuse(f, at, "%s %s", s->name, s->wrong);
  if (s->kind == S_PROCEDURE) {
    if (!take(f, "("))
      refuse(f, at, "%s is a procedure; write %s(...)", s->name, s->name);
    e->args = read_arguments(f);
    check_arguments(f, e);
    return e->rank && !s->unit->is_elemental ? hoist_call(f, e) : e;
  }
  if (s->kind == S_PARAMETER && s->rank == 0 && s->init) {
    e->known = s->init->known && s->type.base == s->init->type.base && s->type.base != F_REAL;
    e->value = s->init->value;
  }
  if (s->fixed)
    e->known = true, e->value = s->value;
  shape_of_symbol(e, s);
  if (take(f, "(")) {
    if (s->rank == 0)
      refuse(f, at, "%s is no array, and no function of this name is here", s->name);
    e->op = E_ELEMENT;
    e->args = read_arguments(f);
    type_element(f, e);
  }
  if (is_word(f, f->at, "%"))
    refuse(f, now(f), "components of derived types are not in the subset; use a variable for each");
  return e;
}

static struct expr *read_name(struct fortran *f) {
  const struct f_token at = *now(f);
  const bool call = is_word(f, f->at + 1, "(");
  struct symbol *s = look_up(f, f->unit, at.word);
  const struct intrinsic *intrinsic = s ? NULL : find_intrinsic(at.word);
  f->at++;
  if (failed(f))
    return integer_expr(f, &at, 0);
  if (intrinsic && call) {
    struct expr *e = new_expr(f, E_INTRINSIC, &at);
    f->at++;
    e->intrinsic = intrinsic;
    e->args = read_arguments(f);
    if (!failed(f))
      type_intrinsic(f, e);
    return e;
  }
  if (!s && call) {
    const char *near = nearest_intrinsic(at.word);
    if (near)
      refuse(f, &at, "%s is neither an array nor a function that kernels have; did you mean %s?", at.spelled, near);
    else
      refuse_unknown(f, &at, "it is neither an array nor a function that kernels have: put the function into this "
                             "file or into a module that the kernel uses");
    return integer_expr(f, &at, 0);
  }
  if (!s)
    s = look_up_or_make(f, f->unit, &at);
  return s ? read_reference(f, &at, s) : integer_expr(f, &at, 0);
}

/* ---- constructors ---- */

static struct expr *read_items(struct fortran *f, const char *close);

/* `(items, i = from, to, step)`: does an open bracket here begin one? */
static bool is_implied(const struct fortran *f, int at) {
  const int end = skip_brackets(f, at);
  int depth = 0;
  for (int i = at; i < end; i++) {
    depth += is_word(f, i, "(") || is_word(f, i, "[");
    depth -= is_word(f, i, ")") || is_word(f, i, "]");
    if (depth == 1 && is_word(f, i, ",") && f->tokens[i + 1].form == T_NAME && is_word(f, i + 2, "="))
      return true;
  }
  return false;
}

static int find_index(const struct fortran *f, int at) {
  int depth = 1;
  for (at++; depth > 0; at++) {
    depth += is_word(f, at, "(") || is_word(f, at, "[");
    depth -= is_word(f, at, ")") || is_word(f, at, "]");
    if (depth == 1 && is_word(f, at, ",") && is_word(f, at + 2, "="))
      return at + 1;
  }
  return at;
}

static struct expr *read_implied(struct fortran *f) {
  struct expr *e = new_expr(f, E_IMPLIED, now(f));
  const int index = find_index(f, f->at);
  const struct f_token name = f->tokens[index];
  struct symbol *s = f_new(f, sizeof *s), **list = &f->unit->symbols;
  *s = (struct symbol){.name = name.word, .c_name = name.word, .at = &f->tokens[index], .kind = S_INDEX, .typed = true};
  s->type = (struct f_type){F_INTEGER, 4};
  s->next = *list; /* in front of the others, as long as the items are read */
  *list = s;
  f->at++;
  e->symbol = s;
  e->args = read_items(f, NULL);
  *list = s->next;
  f->at = index + 2;
  e->from = read_expression(f);
  expect(f, ",");
  e->to = read_expression(f);
  e->step = take(f, ",") ? read_expression(f) : integer_expr(f, &name, 1);
  expect(f, ")");
  const struct expr *const bounds[] = {e->from, e->to, e->step};
  for (int i = 0; i < 3; i++)
    known_value(f, bounds[i], "a bound of the values' index");
  e->type = e->args ? e->args->type : e->type;
  return e;
}

static struct expr *read_items(struct fortran *f, const char *close) {
  struct expr *first = NULL, **last = &first;
  do {
    if (!close && now(f)->form == T_NAME && is_word(f, f->at + 1, "="))
      break;
    struct expr *e = is_word(f, f->at, "(") && is_implied(f, f->at) ? read_implied(f) : read_expression(f);
    *last = e;
    last = &e->next;
  } while (!failed(f) && take(f, ","));
  if (close)
    expect(f, close);
  return first;
}

static struct expr *read_list(struct fortran *f) {
  struct expr *e = new_expr(f, E_LIST, now(f));
  struct f_type type = {F_NONE, 0};
  f->at++;
  if (is_type_word(f, f->at)) {
    read_type(f, &type);
    expect(f, "::");
  }
  e->args = read_items(f, "]");
  if (failed(f))
    return e;
  e->type = type.base ? type : e->args->type;
  for (const struct expr *i = e->args; i; i = i->next)
    if (!type.base && !same_type(i->type, e->type))
      refuse(f, i->at, "the values of an array are of one type, and this is %s behind %s; write [real(8) :: ...] or "
                       "convert it",
             type_said_f(f, i->type), type_said_f(f, e->type));
  e->rank = 1;
  e->extent[0] = items_of(f, e);
  return e;
}

/* ---- operators ---- */

struct expr *read_primary(struct fortran *f) {
  const struct f_token *t = now(f);
  if (failed(f))
    return integer_expr(f, t, 0);
  if (t->form == T_NAME)
    return read_name(f);
  if (t->form <= T_STRING)
    return read_literal(f);
  if (take(f, "(")) {
    struct expr *inner = read_expression(f);
    inner->grouped = true;
    expect(f, ")");
    return inner;
  }
  if (is_word(f, f->at, "["))
    return read_list(f);
  if (t->form == T_END)
    refuse(f, t, "the statement ends where a value is expected");
  else
    refuse(f, t, "`%s` stands where a value is expected", t->spelled);
  return integer_expr(f, t, 0);
}

/* The type of an operation with numbers of both. */
static struct f_type common_type(struct f_type a, struct f_type b) {
  if (a.base == b.base)
    return a.kind > b.kind ? a : b;
  return a.base == F_REAL ? a : b;
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
    if (logical ? i->type.base != F_LOGICAL : !is_number(i->type))
      bad = i;
  if (bad && !logical && bad->type.base == F_LOGICAL)
    refuse(f, e->at, "`%s` stands between numbers, and one is logical%s", e->at->spelled,
           class == CLASS_COMPARE ? "; write .eqv. or .neqv." : "");
  else if (bad)
    refuse(f, e->at, "`%s` stands between %s, and one is %s", e->at->spelled, logical ? "logical values" : "numbers",
           type_said_f(f, bad->type));
  e->type = class == CLASS_SUM ? common_type(a->type, b->type)
            : logical          ? a->type.kind >= b->type.kind ? a->type : b->type
                               : (struct f_type){F_LOGICAL, 4};
  take_shape(f, e, a);
  take_shape(f, e, b);
  if (class == CLASS_SUM && a->known && b->known)
    fold(e, a->value, b->value);
}

static struct expr *binary(struct fortran *f, const struct f_token *at, struct expr *a, struct expr *b,
                           enum operator_class class) {
  struct expr *e = new_expr(f, E_BINARY, at);
  e->word = at->word;
  e->args = a;
  a->next = b;
  b->next = NULL;
  type_binary(f, e, class);
  return e;
}

static struct expr *unary(struct fortran *f, const struct f_token *at, struct expr *a) {
  const bool logical = strcmp(at->word, ".not.") == 0;
  struct expr *e = new_expr(f, E_UNARY, at);
  e->word = at->word;
  e->args = a;
  e->type = a->type;
  if (!failed(f) && (logical ? a->type.base != F_LOGICAL : !is_number(a->type)))
    refuse(f, at, "`%s` stands before %s, and this is %s", at->spelled, logical ? "a logical value" : "a number",
           type_said_f(f, a->type));
  take_shape(f, e, a);
  e->known = a->known && a->type.base == F_INTEGER;
  e->value = *at->word == '-' ? -a->value : a->value;
  return e;
}

/* From weak to strong; those of one level from left to right. */
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
    if (is_word(f, f->at, levels[level].words[i]))
      return true;
  return false;
}

static struct expr *read_power(struct fortran *f) {
  struct expr *a = read_primary(f);
  const struct f_token at = *now(f);
  if (!take(f, "**"))
    return a;
  struct expr *b; /* from right to left; a sign may stand before the exponent, as compilers allow */
  if (is_word(f, f->at, "-") || is_word(f, f->at, "+")) {
    const struct f_token sign = *now(f);
    f->at++;
    b = unary(f, &sign, read_power(f));
  } else
    b = read_power(f);
  struct expr *e = binary(f, &at, a, b, CLASS_SUM);
  if (a->type.base == F_REAL && b->type.base == F_INTEGER)
    e->type = a->type;
  return e;
}

static struct expr *read_level(struct fortran *f, int level) {
  const struct f_token sign = *now(f);
  struct expr *a;
  if (level == LEVELS)
    return read_power(f);
  if (level == LEVEL_NOT)
    return take(f, ".not.") ? unary(f, &sign, read_level(f, LEVEL_NOT)) : read_level(f, level + 1);
  if (level == LEVEL_SUM && (take(f, "-") || take(f, "+")))
    a = unary(f, &sign, read_level(f, LEVEL_PRODUCT));
  else
    a = read_level(f, level + 1);
  while (is_operator(f, level) && !failed(f)) {
    const struct f_token at = *now(f);
    f->at++;
    a = binary(f, &at, a, read_level(f, level + 1), levels[level].class);
  }
  return a;
}

struct expr *read_expression(struct fortran *f) {
  enum { DEEPEST = 200 };
  if (f->nesting > DEEPEST) {
    refuse(f, now(f), "this expression is nested too deeply; write it in several statements");
    return integer_expr(f, now(f), 0);
  }
  f->nesting++;
  struct expr *e = read_level(f, 0);
  f->nesting--;
  if (is_word(f, f->at, "//"))
    refuse(f, now(f), "kernels have no text to join");
  return e;
}
