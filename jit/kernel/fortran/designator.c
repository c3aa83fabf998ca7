/* C text of variables and elements: arrays lie column by column, from the lower bounds on. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "jit/kernel/fortran/tree.h"

/* The number of an element: a known part, and the rest as text. */
struct flat {
  long long constant, stride; /* stride: of the dimension that is next */
  const char *stride_text;    /* of one that is not known */
  struct text *terms;
};

static void add_term(struct flat *t, const char *sub) {
  text_addf(t->terms, "%s%s", t->terms->length ? " + " : "", sub);
  if (t->stride_text)
    text_addf(t->terms, " * %s", t->stride_text);
  else if (t->stride != 1)
    text_addf(t->terms, " * %lld", t->stride);
}

static const char *said_bound(struct fortran *f, const struct expr *e, long long value, bool known) {
  return known || !e ? f_say(f, "%lld", value) : f_said(f, e, NULL, C_PRODUCT);
}

/* A subscript, in text or known, of a dimension that begins at its lower bound; `from_zero`: counted from that. */
static void add_subscript(struct fortran *f, struct flat *t, const struct bounds *b, const char *sub,
                          long long value, bool known, bool from_zero) {
  const long long lower = from_zero ? 0 : b->lower;
  const bool low_known = from_zero || b->low_known;
  if (!t->stride_text && low_known) {
    t->constant += ((known ? value : 0) - lower) * t->stride;
    if (!known)
      add_term(t, sub);
    return;
  }
  sub = known ? f_say(f, "%lld", value) : sub;
  const bool counted = low_known && lower == 0;
  add_term(t, counted ? f_say(f, "(%s)", sub)
                      : f_say(f, "(%s - %s)", sub, said_bound(f, b->low, lower, low_known)));
}

/* The stride of the dimension behind this one. */
static void widen(struct fortran *f, struct flat *t, const struct bounds *b) {
  if (!t->stride_text && b->low_known && b->high_known) {
    t->stride *= b->upper - b->lower + 1;
    return;
  }
  const char *before = t->stride_text ? t->stride_text : f_say(f, "%lld", t->stride);
  const char *high = said_bound(f, b->high, b->upper, b->high_known);
  if (b->low_known && b->lower == 1)
    t->stride_text = f_say(f, "%s * (%s)", before, high);
  else
    t->stride_text =
        f_say(f, "%s * (%s - %s + 1)", before, high, said_bound(f, b->low, b->lower, b->low_known));
}

/* One dimension of an element: `sub` is its subscript, or the section that `p` counts in. True: it took a place. */
static bool add_dimension(struct fortran *f, struct flat *t, const struct bounds *b, const struct expr *sub,
                          const struct place *p) {
  if (!sub)
    add_subscript(f, t, b, p->name, p->value, p->known, true);
  else if (sub->op == E_RANGE) {
    const long long from = sub->args->value, step = sub->args->next->next->value;
    const char *said = p->known ? "" : step == 1 ? p->name : f_say(f, "%s * %lld", p->name, step);
    if (!p->known && t->stride_text)
      said = f_say(f, "%lld + %s", from, said);
    t->constant += p->known || t->stride_text ? 0 : from * t->stride;
    add_subscript(f, t, b, said, from + p->value * step, p->known, false);
  } else if (sub->rank == 1)
    add_subscript(f, t, b, f_said(f, sub, p, C_PRODUCT), 0, false, false);
  else {
    const bool fixed = sub->op == E_VARIABLE && sub->symbol->fixed, known = sub->known || fixed;
    const enum level level = !t->stride_text && t->stride == 1 ? C_SUM : C_PRODUCT;
    const char *said = known ? "" : f_said(f, sub, NULL, level);
    add_subscript(f, t, b, said, fixed ? sub->symbol->value : sub->value, known, false);
    return false;
  }
  return true;
}

static void flatten(struct fortran *f, const struct expr *e, const struct place *p, struct flat *t) {
  const struct symbol *s = e->symbol;
  const struct expr *sub = e->op == E_ELEMENT ? e->args : NULL;
  static const struct place first = {.known = true, .value = 0, .name = ""};
  *t = (struct flat){.stride = 1, .terms = f_text(f)};
  for (int i = 0; i < s->rank && !failed(f); i++) {
    if (add_dimension(f, t, &s->bounds[i], sub, p ? p : &first) && p)
      p++;
    if (i + 1 < s->rank)
      widen(f, t, &s->bounds[i]);
    sub = sub ? sub->next : NULL;
  }
}

static const char *said_flat(struct fortran *f, const struct flat *t) {
  if (!t->terms->length || !t->constant)
    return t->terms->length ? text_str(t->terms) : f_say(f, "%lld", t->constant);
  return f_say(f, "%s %c %lld", text_str(t->terms), t->constant < 0 ? '-' : '+', llabs(t->constant));
}

/* ---- variables ---- */

/* Refuses two variables of one name in C: a module's variable keeps its name there, also if this procedure
 * renames it. */
static void check_own_name(struct fortran *f, const struct expr *e) {
  const struct symbol *s = e->symbol;
  for (const struct symbol *i = f->unit->symbols; i; i = i->next)
    if (i != s && i->kind != S_MODULE && i->kind != S_PROCEDURE && strcmp(i->c_name, s->c_name) == 0)
      f_refuse(f, e->at,
               "%s of module %s and a variable of this procedure have one name; rename the variable", s->name,
               s->unit->name);
}

/* The values of a parameter, where an index that only the run knows asks for one. */
static void need_table(struct fortran *f, const struct expr *e) {
  const struct symbol *s = e->symbol;
  struct text *table = f_text(f), *tables = f->unit->tables;
  const long long count = f_count_of(s);
  const char *begin = f_say(f, " %s[] = {", s->c_name);
  text_addf(table, "const %s%s", f_type_in_c(s->type), begin);
  for (long long i = 0; i < count && !failed(f); i++)
    text_addf(table, "%s%s", i ? ", " : "", f_said_item(f, s->init, s->init->rank ? i : 0, s->type, C_COND));
  text_add(table, "}; ");
  if (strstr(text_str(tables), text_str(table)))
    return;
  if (strstr(text_str(tables), begin))
    f_refuse(f, e->at, "two modules have an array %s, which has one name in kernels; rename one", s->name);
  check_own_name(f, e);
  text_add(tables, text_str(table));
}

static const char *said_parameter(struct fortran *f, const struct expr *e, const struct flat *t,
                                  enum level as) {
  const struct symbol *s = e->symbol;
  if (s->rank == 0)
    return f_said_as(f, s->init, NULL, s->type, as);
  if (!t->terms->length)
    return f_said_item(f, s->init, s->init->rank ? t->constant : 0, s->type, as);
  need_table(f, e);
  return f_say(f, "%s[%s]", s->c_name, said_flat(f, t));
}

/* How a program declares its variable by op_decl_const; see fortran_variable. */
static int is_declared(const struct fortran *f, const struct symbol *s, long long count) {
  bool found = false, others = false;
  for (int at = s->unit->body; s->unit->kind == U_PROGRAM && at < s->unit->end - 3; at++) {
    const bool here =
        f_is_word(f, at, "op_decl_const") && f_is_word(f, at + 1, "(") && f_is_word(f, at + 3, ",");
    const struct symbol *other = here ? f_own_symbol(s->unit, f->tokens[at + 2].word) : NULL;
    found |= other == s;
    others |= other && other != s && f_same_type(other->type, s->type) && f_count_of(other) == count;
  }
  return found + (found && others);
}

static bool note_variable(struct fortran *f, const struct symbol *s, long long count) {
  struct fortran_made *m = f->made;
  const char *module = s->unit->kind == U_MODULE ? s->unit->name : "";
  for (int i = 0; i < m->nvariables; i++)
    if (strcmp(m->variables[i].name, s->c_name) == 0) {
      if (strcmp(m->variables[i].module, module) != 0)
        f_refuse(f, s->at, "two modules have a variable %s, and constants of the library have one name each",
                 s->name);
      return true;
    }
  struct fortran_variable *more = array_more(m->variables, (size_t)m->nvariables, sizeof *more);
  if (!more)
    return false;
  m->variables = more;
  struct fortran_variable *v = &more[m->nvariables++];
  *v = (struct fortran_variable){.name = strdup(s->c_name),
                                 .module = strdup(module),
                                 .type = f_type_in_c(s->type),
                                 .dim = (int)count,
                                 .declared = is_declared(f, s, count),
                                 .is_array = s->rank > 0 && count > 1};
  return v->name && v->module;
}

/* A variable of a module is a constant of the library; one of a single value is no array there. */
static bool is_alone(struct fortran *f, const struct expr *e) {
  const struct symbol *s = e->symbol;
  const long long count = f_count_of(s);
  if (count < 0 || count > MOST_VALUES)
    f_refuse(f, e->at,
             "%s is of a module, and kernels read only constants there: declare it with constant extents, or "
             "pass it as an argument",
             s->name);
  else if (!note_variable(f, s, count))
    f_memory(f);
  return count <= 1;
}

const char *f_said_designator(struct fortran *f, const struct expr *e, const struct place *p, bool address,
                              enum level as) {
  const struct symbol *s = e->symbol;
  struct flat t = {0};
  if (failed(f) || !s)
    return "";
  if (s->fixed && !address)
    return f_in_brackets(f, s->value < 0, f_say(f, "%lld", s->value));
  const bool alone = s->kind == S_MODULE && is_alone(f, e), pointer = s->kind == S_DUMMY && !s->by_value;
  if (s->kind == S_MODULE)
    check_own_name(f, e);
  if (s->rank)
    flatten(f, e, e->rank ? p : NULL, &t);
  if (s->kind == S_PARAMETER)
    return said_parameter(f, e, &t, as);
  if (s->rank && !alone)
    return address && !t.terms->length && t.constant == 0
               ? s->c_name
               : f_say(f, "%s%s[%s]", address ? "&" : "", s->c_name, said_flat(f, &t));
  if (pointer == address)
    return s->c_name;
  return f_in_brackets(f, as > C_UNARY, f_say(f, "%c%s", address ? '&' : '*', s->c_name));
}
