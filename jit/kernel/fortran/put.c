/* C text of expressions: of a value, or of one element of an array. C converts numbers of different types as Fortran
 * does, so conversions are written where Fortran has them. */
#include <string.h>

#include "jit/kernel/fortran/tree.h"

/* ---- numbers ---- */

static const char *said_integer(struct fortran *f, long long value, struct f_type type, enum level as) {
  const bool large = type.kind == 8 || value > 2147483647LL || value < -2147483647LL;
  return f_in_brackets(f, value < 0 && as > C_SUM, f_say(f, "%lld%s", value, large ? "LL" : ""));
}

static const char *said_real(struct fortran *f, const struct expr *e) {
  const int length = (int)strcspn(e->word, "_");
  char *digits = (char *)(size_t)f_say(f, "%.*s", length, e->word), *d = strchr(digits, 'd');
  if (d)
    *d = 'e';
  return f_say(f, "%s%s%s", digits, strpbrk(digits, ".e") ? "" : ".", e->type.kind == 4 ? "f" : "");
}

/* ---- operators ---- */

static const struct operator_row {
  const char *word, *c;
  enum level level, left, right; /* of the whole; the least that the operands must have */
} operators[] = {{"+", "+", C_SUM, C_SUM, C_PRODUCT},       {"-", "-", C_SUM, C_SUM, C_PRODUCT},
                 {"*", "*", C_PRODUCT, C_PRODUCT, C_UNARY}, {"/", "/", C_PRODUCT, C_PRODUCT, C_UNARY},
                 {"==", "==", C_EQUAL, C_SUM, C_SUM},       {"/=", "!=", C_EQUAL, C_SUM, C_SUM},
                 {"<", "<", C_LESS, C_SUM, C_SUM},          {"<=", "<=", C_LESS, C_SUM, C_SUM},
                 {">", ">", C_LESS, C_SUM, C_SUM},          {">=", ">=", C_LESS, C_SUM, C_SUM},
                 {".and.", "&&", C_AND, C_AND, C_EQUAL},    {".or.", "||", C_OR, C_EQUAL, C_EQUAL},
                 {".eqv.", "==", C_EQUAL, C_SUM, C_SUM},    {".neqv.", "!=", C_EQUAL, C_SUM, C_SUM}};

static const char *said_binary(struct fortran *f, const struct expr *e, const struct place *p,
                               enum level as) {
  const struct operator_row *o = operators;
  while (strcmp(o->word, e->word) != 0)
    o++;
  const char *a = f_said(f, e->args, p, o->left), *b = f_said(f, e->args->next, p, o->right);
  return f_in_brackets(f, o->level < as, f_say(f, "%s %s %s", a, o->c, b));
}

static const char *said_unary(struct fortran *f, const struct expr *e, const struct place *p, enum level as) {
  if (*e->word == '+')
    return f_said(f, e->args, p, as);
  const char *said = f_said(f, e->args, p, C_UNARY); /* -- would be another operator */
  said = f_say(f, *e->word == '-' ? "-%s" : "!%s", f_in_brackets(f, *said == '-', said));
  return f_in_brackets(f, as > C_UNARY, said);
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

static const char *said_whole_power(struct fortran *f, const struct expr *e, const struct place *p) {
  const struct expr *a = e->args;
  const long long n = a->next->value < 0 ? -a->next->value : a->next->value;
  const char *one = e->type.base != F_REAL ? "1" : e->type.kind == 8 ? "1." : "1.f", *said = one;
  if (n == 1 || (n == 2 && is_plain(a))) {
    said = f_said_as(f, a, p, e->type, C_UNARY);
    said = n == 2 ? f_say(f, "(%s * %s)", said, said) : said;
  } else if (n > 1) {
    const char *name = add_power(f, e->type, (int)n);
    said = f_say(f, "%s(%s)", name, f_said(f, a, p, C_ALL));
  }
  return f_say(f, "(%s%s%s)", a->next->value < 0 ? one : "", a->next->value < 0 ? " / " : "", said);
}

static const char *said_power(struct fortran *f, const struct expr *e, const struct place *p) {
  const struct expr *a = e->args, *b = a->next;
  const bool whole = b->type.base == F_INTEGER;
  const long long least = e->type.base == F_REAL ? -MOST_POWER : 0;
  if (whole && b->known && b->value >= least && b->value <= MOST_POWER)
    return said_whole_power(f, e, p);
  const char *name = whole ? add_any_power(f, e->type) : e->type.kind == 4 ? "powf" : "pow";
  const char *base = f_said(f, a, p, C_ALL);
  return f_say(f, "%s(%s, %s)", name, base, f_said(f, b, p, C_ALL));
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

const char *f_said_item(struct fortran *f, const struct expr *e, long long number, struct f_type type,
                        enum level as) {
  const bool implied = e->op == E_IMPLIED;
  const char *said = "";
  if (e->op != E_LIST && !implied) {
    struct place p[RANKS];
    f_places_of(e, number, p);
    return f_said_as(f, e, p, type, as);
  }
  long long each = 0, before = e->symbol ? e->symbol->value : 0;
  for (const struct expr *i = e->args; i; i = i->next)
    each += f_items_of(f, i);
  if (implied && each > 0) {
    e->symbol->fixed = true;
    e->symbol->value = e->from->value + number / each * e->step->value;
    number %= each;
  }
  const struct expr *i = e->args;
  for (long long items; i && number >= (items = f_items_of(f, i)) && !failed(f); i = i->next)
    number -= items;
  if (i && !failed(f))
    said = f_said_item(f, i, number, type, as);
  if (implied)
    e->symbol->value = before;
  return said;
}

/* ---- one element ---- */

static const char *said_list(struct fortran *f, const struct expr *e, const struct place *p, enum level as) {
  if (p && p[0].known)
    return f_said_item(f, e, p[0].value, e->type, as);
  f_refuse(f, e->at, "this array has more than %d values; write a do loop", UNROLLED);
  return "";
}

static const char *said_by_op(struct fortran *f, const struct expr *e, const struct place *p, enum level as) {
  switch (e->op) {
  case E_INTEGER:
  case E_LOGICAL: return said_integer(f, e->value, e->type, as);
  case E_REAL: return said_real(f, e);
  case E_VARIABLE:
  case E_ELEMENT: return f_said_designator(f, e, p, false, as);
  case E_CALL: return f->parts->call(f, e, p);
  case E_INTRINSIC: return f_said_intrinsic(f, e, p, as);
  case E_UNARY: return said_unary(f, e, p, as);
  case E_BINARY: return strcmp(e->word, "**") == 0 ? said_power(f, e, p) : said_binary(f, e, p, as);
  case E_LIST: return said_list(f, e, p, as);
  default: f_refuse(f, e->at, "this is no value"); return "";
  }
}

const char *f_said(struct fortran *f, const struct expr *e, const struct place *p, enum level as) {
  enum { LONGEST = 1 << 20, LARGEST = 1 << 26 }; /* of one text, of all texts */
  if (failed(f))
    return "";
  const char *said = e->known && e->rank == 0 && e->op != E_NOTHING
                         ? said_integer(f, e->value, e->type, as)
                         : said_by_op(f, e, e->rank ? p : NULL, as);
  const size_t length = strlen(said);
  f->said += length;
  if (length > LONGEST || f->said > LARGEST)
    f_refuse(f, e->at, "this expression becomes too long; write it in several statements or as a do loop");
  return said;
}

const char *f_said_as(struct fortran *f, const struct expr *e, const struct place *p, struct f_type type,
                      enum level as) {
  if (f_same_type(e->type, type) || (e->known && type.base == F_INTEGER))
    return f_said(f, e, p, as);
  return f_in_brackets(f, as > C_UNARY, f_say(f, "(%s)%s", f_type_in_c(type), f_said(f, e, p, C_UNARY)));
}
