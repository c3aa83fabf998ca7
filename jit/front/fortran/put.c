/* C text of expressions: of a value, or of one element of an array. C converts numbers of different types as Fortran
 * does, so conversions are written where Fortran has them. */
#include <string.h>

#include "jit/front/fortran/tree.h"

const char *f_said(struct fortran *f, const struct expr *e, const struct place *p, enum level level) {
  struct text *out = f_text(f);
  f_put_element(f, e, p, level, out);
  return text_str(out);
}

void f_put(struct fortran *f, const struct expr *e, enum level level, struct text *out) {
  f_put_element(f, e, NULL, level, out);
}

/* ---- numbers ---- */

static void put_integer(long long value, struct f_type type, enum level level, struct text *out) {
  const bool brackets = value < 0 && level > C_SUM;
  text_addf(out, "%s%lld%s%s", brackets ? "(" : "", value,
            type.kind == 8 || value > 2147483647LL || value < -2147483647LL ? "LL" : "", brackets ? ")" : "");
}

static void put_real(const struct expr *e, struct text *out) {
  const char *at = e->word;
  bool whole = true;
  for (; *at && *at != '_'; at++) {
    whole &= *at != '.' && *at != 'd' && *at != 'e';
    text_add_char(out, (char)(*at == 'd' ? 'e' : *at));
  }
  text_addf(out, "%s%s", whole ? "." : "", e->type.kind == 4 ? "f" : "");
}

/* ---- operators ---- */

static const struct operator_row {
  const char *word, *c;
  enum level level, left, right; /* of the whole, and what the operands must at least have */
} operators[] = {{"+", "+", C_SUM, C_SUM, C_PRODUCT},       {"-", "-", C_SUM, C_SUM, C_PRODUCT},
                 {"*", "*", C_PRODUCT, C_PRODUCT, C_UNARY}, {"/", "/", C_PRODUCT, C_PRODUCT, C_UNARY},
                 {"==", "==", C_EQUAL, C_SUM, C_SUM},       {"/=", "!=", C_EQUAL, C_SUM, C_SUM},
                 {"<", "<", C_LESS, C_SUM, C_SUM},          {"<=", "<=", C_LESS, C_SUM, C_SUM},
                 {">", ">", C_LESS, C_SUM, C_SUM},          {">=", ">=", C_LESS, C_SUM, C_SUM},
                 {".and.", "&&", C_AND, C_AND, C_EQUAL},    {".or.", "||", C_OR, C_EQUAL, C_EQUAL},
                 {".eqv.", "==", C_EQUAL, C_SUM, C_SUM},    {".neqv.", "!=", C_EQUAL, C_SUM, C_SUM}};

static void put_binary(struct fortran *f, const struct expr *e, const struct place *p, enum level level,
                       struct text *out) {
  const struct operator_row *o = operators;
  const struct expr *a = e->args, *b = a->next;
  while (strcmp(o->word, e->word) != 0)
    o++;
  text_add(out, o->level < level ? "(" : "");
  f_put_element(f, a, p, o->left, out);
  text_addf(out, " %s ", o->c);
  f_put_element(f, b, p, o->right, out);
  text_add(out, o->level < level ? ")" : "");
}

static void put_unary(struct fortran *f, const struct expr *e, const struct place *p, enum level level,
                      struct text *out) {
  const struct expr *a = e->args;
  if (*e->word == '+') {
    f_put_element(f, a, p, level, out);
    return;
  }
  struct text *inner = f_text(f); /* two signs side by side would be another one */
  f_put_element(f, a, p, C_UNARY, inner);
  text_addf(out, "%s%c%s%s%s%s", level > C_UNARY ? "(" : "", *e->word == '-' ? '-' : '!',
            *text_str(inner) == '-' ? "(" : "", text_str(inner), *text_str(inner) == '-' ? ")" : "",
            level > C_UNARY ? ")" : "");
}

/* ---- powers ---- */

static const char letter_of[] = {[F_INTEGER] = 'i', [F_REAL] = 'r'};

/* `x2 = x * x, x3 = x2 * x`, as compilers multiply. */
static void add_products(int n, unsigned char *made, struct text *out) {
  static const int parts[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 6, 5, 6, 6, 10, 7, 9, 8};
  if (n < 2 || made[n])
    return;
  const int part = n <= 16 ? parts[n] : n / 2;
  made[n] = 1;
  add_products(n - part, made, out);
  add_products(part, made, out);
  text_addf(out, "%s x%d = x%d * x%d", out->length ? "," : "", n, n - part, part);
}

enum { MOST_POWER = 64 };

static const char *add_power(struct fortran *f, struct f_type type, int n) {
  unsigned char made[MOST_POWER + 1] = {0};
  struct text *products = f_text(f);
  const char *c = f_type_in_c(type), *name = f_say(f, "f_pow_%c%d_%d", letter_of[type.base], type.kind, n);
  add_products(n, made, products);
  f_add_helper(f, f_say(f, "static inline %s %s(%s x1) { const %s%s; return x%d; }", c, name, c, c,
                        text_str(products), n));
  return name;
}

static const char *add_any_power(struct fortran *f, struct f_type type) {
  const char *c = f_type_in_c(type), *name = f_say(f, "f_pow_%c%d", letter_of[type.base], type.kind);
  const char *negative = "if (n < 0) return x == 1 ? 1 : x == -1 ? (k % 2 ? -1 : 1) : 0; ";
  f_add_helper(
      f,
      f_say(f,
            "static inline %s %s(%s x, long long n) { %s y = 1; long long k = n < 0 ? -n : n; "
            "%sfor (; k > 0; k = k / 2) { if (k %% 2) y = y * x; if (k > 1) x = x * x; } return n < 0 ? 1 / "
            "y : y; }",
            c, name, c, c, type.base == F_INTEGER ? negative : ""));
  return name;
}

static bool is_plain(const struct expr *e) {
  return (e->op == E_VARIABLE || e->op == E_ELEMENT || e->op == E_REAL) && !f_mentions(e, NULL);
}

static void put_whole_power(struct fortran *f, const struct expr *e, const struct place *p,
                            struct text *out) {
  const struct expr *a = e->args, *b = a->next;
  const long long n = b->value < 0 ? -b->value : b->value;
  const char *one = e->type.base == F_REAL ? (e->type.kind == 8 ? "1." : "1.f") : "1";
  text_addf(out, b->value < 0 ? "(%s / " : "(", one);
  if (n == 0)
    text_add(out, one);
  else if (n == 1)
    f_put_element_as(f, a, p, e->type, C_UNARY, out);
  else if (n == 2 && is_plain(a)) {
    struct text *x = f_text(f);
    f_put_element_as(f, a, p, e->type, C_UNARY, x);
    text_addf(out, "(%s * %s)", text_str(x), text_str(x));
  } else
    text_addf(out, "%s(%s)", add_power(f, e->type, (int)n), f_said(f, a, p, C_ALL));
  text_add(out, ")");
}

void f_put_power(struct fortran *f, const struct expr *e, const struct place *p, struct text *out) {
  const struct expr *a = e->args, *b = a->next;
  const bool whole = b->type.base == F_INTEGER;
  const long long least = e->type.base == F_REAL ? -MOST_POWER : 0;
  if (whole && b->known && b->value >= least && b->value <= MOST_POWER) {
    put_whole_power(f, e, p, out);
    return;
  }
  const char *name = whole ? add_any_power(f, e->type) : e->type.kind == 4 ? "powf" : "pow";
  text_addf(out, "%s(%s, %s)", name, f_said(f, a, p, C_ALL), f_said(f, b, p, C_ALL));
}

/* ---- constructors ---- */

static long long steps_of(const struct expr *e) {
  const long long step = e->step->value ? e->step->value : 1;
  const long long count = (e->to->value - e->from->value + step) / step;
  return count > 0 ? count : 0;
}

long long f_items_of(struct fortran *f, const struct expr *e) {
  if (e->op != E_LIST && e->op != E_IMPLIED)
    return e->rank ? f_elements_of(e) : 1;
  long long count = 0;
  for (const struct expr *i = e->args; i && !failed(f); i = i->next) {
    const long long items = f_items_of(f, i);
    if (items < 0)
      f_refuse(f, i->at, "the extents of this array are not known here");
    count += items;
  }
  if (e->op == E_IMPLIED)
    count *= steps_of(e);
  if (count > 65536)
    f_refuse(f, e->at, "this array has too many values");
  return count;
}

void f_put_item(struct fortran *f, const struct expr *e, long long number, struct f_type type,
                enum level level, struct text *out) {
  if (e->op != E_LIST && e->op != E_IMPLIED) {
    struct place p[RANKS];
    f_places_of(e, number, p);
    f_put_element_as(f, e, p, type, level, out);
    return;
  }
  long long each = 0, before = e->symbol ? e->symbol->value : 0;
  for (const struct expr *i = e->args; i; i = i->next)
    each += f_items_of(f, i);
  if (e->op == E_IMPLIED && each > 0) {
    e->symbol->fixed = true;
    e->symbol->value = e->from->value + number / each * e->step->value;
    number %= each;
  }
  for (const struct expr *i = e->args; i && !failed(f); i = i->next) {
    const long long items = f_items_of(f, i);
    if (number < items) {
      f_put_item(f, i, number, type, level, out);
      break;
    }
    number -= items;
  }
  if (e->op == E_IMPLIED)
    e->symbol->value = before;
}

static void put_list(struct fortran *f, const struct expr *e, const struct place *p, enum level level,
                     struct text *out) {
  if (!p || !p[0].known)
    f_refuse(f, e->at, "this array has more than %d values; write a do loop", UNROLLED);
  else
    f_put_item(f, e, p[0].value, e->type, level, out);
}

/* ---- one element ---- */

void f_put_element(struct fortran *f, const struct expr *e, const struct place *p, enum level level,
                   struct text *out) {
  enum { LARGEST = 1 << 20 };
  if (failed(f))
    return;
  p = e->rank ? p : NULL;
  if (out->length > LARGEST) {
    f_refuse(f, e->at, "this expression becomes too long; write it in several statements or as a do loop");
    return;
  }
  if (e->known && e->rank == 0 && e->op != E_NOTHING) {
    put_integer(e->value, e->type, level, out);
    return;
  }
  switch (e->op) {
  case E_INTEGER:
  case E_LOGICAL: put_integer(e->value, e->type, level, out); break;
  case E_REAL: put_real(e, out); break;
  case E_VARIABLE:
  case E_ELEMENT: f_put_designator(f, e, p, false, level, out); break;
  case E_CALL: f->parts->call(f, e, p, out); break;
  case E_INTRINSIC: f_put_intrinsic(f, e, p, level, out); break;
  case E_UNARY: put_unary(f, e, p, level, out); break;
  case E_BINARY:
    if (strcmp(e->word, "**") == 0)
      f_put_power(f, e, p, out);
    else
      put_binary(f, e, p, level, out);
    break;
  case E_LIST: put_list(f, e, p, level, out); break;
  default: f_refuse(f, e->at, "this is no value");
  }
}

void f_put_element_as(struct fortran *f, const struct expr *e, const struct place *p, struct f_type type,
                      enum level level, struct text *out) {
  if (f_same_type(e->type, type) || (e->known && type.base == F_INTEGER)) {
    f_put_element(f, e, p, level, out);
    return;
  }
  text_addf(out, "%s(%s)", level > C_UNARY ? "(" : "", f_type_in_c(type));
  f_put_element(f, e, p, C_UNARY, out);
  text_add(out, level > C_UNARY ? ")" : "");
}
