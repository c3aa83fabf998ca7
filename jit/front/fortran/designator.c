/* C text of variables and elements: arrays lie column by column, from the lower bounds on. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "jit/front/fortran/tree.h"

/* The number of an element: what is known of it, and the rest as text. */
struct flat {
  long long constant, stride; /* stride: of the dimension that is next */
  bool stride_known;
  struct text terms, stride_text;
};

static void add_term(struct flat *t, const struct text *sub) {
  text_add(&t->terms, t->terms.length ? " + " : "");
  text_add(&t->terms, text_str(sub));
  if (!t->stride_known)
    text_addf(&t->terms, " * %s", text_str(&t->stride_text));
  else if (t->stride != 1)
    text_addf(&t->terms, " * %lld", t->stride);
}

static void put_bound(struct fortran *f, const struct expr *e, long long value, bool known,
                      struct text *out) {
  if (known)
    text_addf(out, "%lld", value);
  else if (e)
    f_put(f, e, C_PRODUCT, out);
}

/* A subscript, in text or known, of a dimension that begins at its lower bound; `from_zero`: counted from that. */
static void add_subscript(struct fortran *f, struct flat *t, const struct bounds *b, const struct text *sub,
                          long long value, bool known, bool from_zero) {
  const long long lower = from_zero ? 0 : b->lower;
  const bool low_known = from_zero || b->low_known;
  if (t->stride_known && low_known) {
    if (known)
      t->constant += (value - lower) * t->stride;
    else {
      t->constant -= lower * t->stride;
      add_term(t, sub);
    }
    return;
  }
  struct text whole = {0};
  text_add(&whole, "(");
  if (known)
    text_addf(&whole, "%lld", value);
  else
    text_add(&whole, text_str(sub));
  if (!low_known || lower != 0) {
    text_add(&whole, " - ");
    put_bound(f, b->low, lower, low_known, &whole);
  }
  text_add(&whole, ")");
  add_term(t, &whole);
  text_free(&whole);
}

/* The stride of the dimension behind this one. */
static void widen(struct fortran *f, struct flat *t, const struct bounds *b) {
  struct text more = {0};
  if (t->stride_known && b->low_known && b->high_known) {
    t->stride *= b->upper - b->lower + 1;
    return;
  }
  if (t->stride_known)
    text_addf(&more, "%lld", t->stride);
  else
    text_add(&more, text_str(&t->stride_text));
  text_add(&more, " * (");
  put_bound(f, b->high, b->upper, b->high_known, &more);
  if (!b->low_known || b->lower != 1) {
    text_add(&more, " - ");
    put_bound(f, b->low, b->lower, b->low_known, &more);
    text_add(&more, " + 1");
  }
  text_add(&more, ")");
  text_free(&t->stride_text);
  t->stride_text = more;
  t->stride_known = false;
}

static void place_text(const struct place *p, long long step, struct text *out) {
  if (step == 1)
    text_add(out, p->name);
  else
    text_addf(out, "%s * %lld", p->name, step);
}

/* One dimension of an element: `sub` is its subscript, or the section that `p` counts in. True: it took a place. */
static bool add_dimension(struct fortran *f, struct flat *t, const struct bounds *b, const struct expr *sub,
                          const struct place *p) {
  struct text text = {0};
  bool placed = true;
  if (!sub) {
    if (!p->known)
      place_text(p, 1, &text);
    add_subscript(f, t, b, &text, p->value, p->known, true);
  } else if (sub->op == E_RANGE) {
    const long long from = sub->args->value, step = sub->args->next->next->value;
    if (p->known)
      add_subscript(f, t, b, &text, from + p->value * step, true, false);
    else {
      t->constant += t->stride_known ? from * t->stride : 0;
      if (!t->stride_known)
        text_addf(&text, "%lld + ", from);
      place_text(p, step, &text);
      add_subscript(f, t, b, &text, 0, false, false);
    }
  } else if (sub->rank == 1) {
    f_put_element(f, sub, p, C_PRODUCT, &text);
    add_subscript(f, t, b, &text, 0, false, false);
  } else {
    placed = false;
    const bool fixed = sub->op == E_VARIABLE && sub->symbol->fixed;
    if (!sub->known && !fixed)
      f_put(f, sub, t->stride_known && t->stride == 1 ? C_SUM : C_PRODUCT, &text);
    add_subscript(f, t, b, &text, fixed ? sub->symbol->value : sub->value, sub->known || fixed, false);
  }
  text_free(&text);
  return placed;
}

static void flatten(struct fortran *f, const struct expr *e, const struct place *p, struct flat *t) {
  const struct symbol *s = e->symbol;
  const struct expr *sub = e->op == E_ELEMENT ? e->args : NULL;
  static const struct place first = {.known = true, .value = 0, .name = ""};
  *t = (struct flat){.stride = 1, .stride_known = true};
  for (int i = 0; i < s->rank && !failed(f); i++) {
    if (add_dimension(f, t, &s->bounds[i], sub, p ? p : &first) && p)
      p++;
    if (i + 1 < s->rank)
      widen(f, t, &s->bounds[i]);
    sub = sub ? sub->next : NULL;
  }
}

static void put_flat(const struct flat *t, struct text *out) {
  const char *sign = t->constant < 0 ? " - " : " + ";
  if (!t->terms.length)
    text_addf(out, "%lld", t->constant);
  else if (t->constant)
    text_addf(out, "%s%s%lld", text_str(&t->terms), sign, t->constant < 0 ? -t->constant : t->constant);
  else
    text_add(out, text_str(&t->terms));
}

/* ---- variables ---- */

/* Under another name in this procedure, it has its own in C. */
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
  struct text begin = {0}, table = {0};
  struct expr shape = {.op = E_NOTHING};
  struct text *tables = &f->unit->tables;
  f_shape_of_symbol(&shape, s);
  const long long count = f_elements_of(&shape);
  text_addf(&begin, " %s[] = {", s->c_name);
  text_addf(&table, "const %s%s", f_type_in_c(s->type), text_str(&begin));
  for (long long i = 0; i < count && !failed(f); i++) {
    text_add(&table, i ? ", " : "");
    f_put_item(f, s->init, s->init->rank ? i : 0, s->type, C_COND, &table);
  }
  text_add(&table, "}; ");
  if (!strstr(text_str(tables), text_str(&table))) {
    if (strstr(text_str(tables), text_str(&begin)))
      f_refuse(f, e->at, "two modules have an array %s, which has one name in kernels; rename one", s->name);
    check_own_name(f, e);
    text_add(tables, text_str(&table));
  }
  text_free(&begin);
  text_free(&table);
}

static void put_parameter(struct fortran *f, const struct expr *e, const struct flat *t, enum level level,
                          struct text *out) {
  const struct symbol *s = e->symbol;
  if (s->rank == 0)
    f_put_as(f, s->init, s->type, level, out);
  else if (!t->terms.length)
    f_put_item(f, s->init, s->init->rank ? t->constant : 0, s->type, level, out);
  else {
    need_table(f, e);
    text_addf(out, "%s[", s->c_name);
    put_flat(t, out);
    text_add(out, "]");
  }
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
  struct fortran_variable *v = &more[m->nvariables];
  *v = (struct fortran_variable){.name = strdup(s->c_name),
                                 .module = strdup(module),
                                 .type = f_type_in_c(s->type),
                                 .dim = (int)count,
                                 .is_array = s->rank > 0 && count > 1};
  m->nvariables++;
  return v->name && v->module;
}

/* A variable of a module is a constant of the library; one of a single value is no array there. */
static bool is_alone(struct fortran *f, const struct expr *e) {
  struct expr whole = {.op = E_NOTHING};
  const struct symbol *s = e->symbol;
  f_shape_of_symbol(&whole, s);
  const long long count = f_elements_of(&whole);
  if (count < 0 || count > 1 << 20)
    f_refuse(f, e->at,
             "%s is of a module, and kernels read only constants there: declare it with constant extents, or "
             "pass it as an argument",
             s->name);
  else if (!note_variable(f, s, count))
    f_memory(f);
  return count <= 1;
}

void f_put_designator(struct fortran *f, const struct expr *e, const struct place *p, bool address,
                      enum level level, struct text *out) {
  const struct symbol *s = e->symbol;
  struct flat t = {0};
  if (failed(f) || !s)
    return;
  if (s->fixed && !address) {
    text_addf(out, "%s%lld%s", s->value < 0 ? "(" : "", s->value, s->value < 0 ? ")" : "");
    return;
  }
  const bool alone = s->kind == S_MODULE && is_alone(f, e);
  if (s->kind == S_MODULE)
    check_own_name(f, e);
  const bool pointer = s->kind == S_DUMMY && !s->by_value;
  if (s->rank)
    flatten(f, e, p, &t);
  if (s->kind == S_PARAMETER) {
    put_parameter(f, e, &t, level, out);
  } else if (s->rank == 0 || alone) {
    const bool star = pointer && !address, brackets = level > C_UNARY && (star || (address && !pointer));
    text_addf(out, "%s%s%s%s", brackets ? "(" : "",
              star                  ? "*"
              : address && !pointer ? "&"
                                    : "",
              s->c_name, brackets ? ")" : "");
  } else if (address && !t.terms.length && t.constant == 0)
    text_add(out, s->c_name);
  else {
    text_addf(out, "%s%s[", address ? "&" : "", s->c_name);
    put_flat(&t, out);
    text_add(out, "]");
  }
  text_free(&t.terms);
  text_free(&t.stride_text);
}
