/* Calls of other procedures: their arguments, by value or by address. */
#include <string.h>

#include "jit/kernel/fortran/tree.h"

/* ---- arguments are put in order ---- */

static void order_arguments(struct fortran *f, struct expr *call) {
  const struct f_unit *u = call->symbol->unit;
  struct expr *ordered[64] = {NULL}, **link = &call->args;
  const int count = f_count_args(call->args);
  int number = 0;
  if (count != u->ndummies)
    f_refuse(f, call->at, "%s has %d argument%s, and this call gives %d", u->name, u->ndummies,
             u->ndummies == 1 ? "" : "s", count);
  for (struct expr *e = call->args; e && !failed(f); e = e->next, number++) {
    int place = e->keyword ? count - 1 : number;
    while (e->keyword && place >= 0 && strcmp(e->keyword, u->dummies[place]->name) != 0)
      place--;
    if (place >= 0)
      ordered[place] = e;
  }
  for (int i = 0; i < count && !failed(f); i++) {
    if (!ordered[i])
      f_refuse(f, call->at, "%s has the argument %s, which this call does not give", u->name,
               u->dummies[i]->name);
    else {
      *link = ordered[i];
      link = &ordered[i]->next;
      *link = NULL;
    }
  }
}

/* ---- each fits ---- */

static bool is_designator(const struct expr *e) {
  return (e->op == E_VARIABLE || e->op == E_ELEMENT) && !e->grouped && !e->symbol->fixed &&
         e->symbol->kind != S_PARAMETER && e->symbol->kind != S_INDEX &&
         !(e->symbol->kind == S_MODULE && e->symbol->rank == 0) &&
         !(e->symbol->kind == S_DUMMY && e->symbol->by_value);
}

static bool is_in_row(const struct expr *e) {
  const struct symbol *s = e->symbol;
  bool full = true;
  int dimension = 0;
  for (const struct expr *i = e->op == E_ELEMENT ? e->args : NULL; i; i = i->next, dimension++) {
    if (i->op != E_RANGE) {
      if (i->rank)
        return false;
      full = false;
      continue;
    }
    const struct bounds *b = &s->bounds[dimension];
    const struct expr *from = i->args, *to = from->next;
    if (to->next->value != 1 || (!full && to->value != from->value))
      return false;
    full &= b->low_known && b->high_known && from->value == b->lower && to->value == b->upper;
  }
  return true;
}

static void check_shape(struct fortran *f, const struct symbol *dummy, const struct expr *e, bool elemental) {
  const long long wanted = f_count_of(dummy), given = e->rank ? f_elements_of(e) : -1;
  if (dummy->rank == 0) {
    if (e->rank && !elemental)
      f_refuse(f, e->at, "%s is one value, and gets an array", dummy->name);
  } else if (e->rank == 0 && (e->op != E_ELEMENT || !is_designator(e)))
    f_refuse(f, e->at, "%s is an array, and gets one value", dummy->name);
  else if (e->rank && wanted >= 0 && given >= 0 && given < wanted)
    f_refuse(f, e->at, "%s has %lld elements, and gets an array of %lld", dummy->name, wanted, given);
  else if (e->rank && is_designator(e) && !is_in_row(e))
    f_refuse(f, e->at,
             "the elements of this section do not lie one behind the other, so it cannot be passed; copy "
             "them into an array of their own");
}

static void check_one(struct fortran *f, const struct f_unit *u, struct symbol *dummy, struct expr *e) {
  if (e->op == E_RANGE || e->op == E_NOTHING)
    f_refuse(f, e->at, "this is no argument");
  else if (!f_same_type(dummy->type, e->type))
    f_refuse(f, e->at, "argument %s of %s is %s, and gets %s%s", dummy->name, u->name,
             f_type_said(f, dummy->type), f_type_said(f, e->type),
             f_is_number(e->type) && f_is_number(dummy->type)
                 ? "; convert it, as by real(x, 8), or write 1d0 for 1.0"
                 : "");
  else
    check_shape(f, dummy, e, u->is_elemental);
  if (failed(f) || dummy->by_value)
    return;
  const bool changes = dummy->written || dummy->intent == INTENT_OUT || dummy->intent == INTENT_INOUT;
  if (changes && (e->op == E_VARIABLE || e->op == E_ELEMENT) && !e->grouped)
    f_set_written(f, e, "given to an argument that changes");
  else if (changes)
    f_refuse(f, e->at, "argument %s of %s changes, so it needs a variable", dummy->name, u->name);
}

void f_check_arguments(struct fortran *f, struct expr *e) {
  struct f_unit *u = e->symbol->unit;
  f->parts->translate(f, u, e->at);
  if (failed(f))
    return;
  order_arguments(f, e);
  const struct expr *i = e->args;
  for (int d = 0; d < u->ndummies && i && !failed(f); d++, i = i->next)
    check_one(f, u, u->dummies[d], (struct expr *)(size_t)i);
  e->type = u->result ? u->result->type : (struct f_type){F_NONE, 0};
  if (u->result)
    f_shape_of_symbol(e, u->result);
  for (i = u->is_elemental ? e->args : NULL; i; i = i->next)
    f_take_shape(f, e, i);
}

/* ---- C text ---- */

/* A place for a value that has none. */
static const char *said_temporary(struct fortran *f, const struct symbol *dummy, const struct expr *e) {
  const long long count = e->rank ? f_elements_of(e) : 1;
  struct text *values = f_text(f);
  if (!f->hoist || count < 0 || count > MOST_ELEMENTS) {
    f_refuse(f, e->at, "argument %s gets a value without a place here; assign it to a variable and pass that",
             dummy->name);
    return "";
  }
  const int number = ++f->labels;
  for (long long i = 0; i < count && !failed(f); i++) {
    struct place p[RANKS];
    f_places_of(e, i, p);
    text_addf(values, "%s%s", i ? ", " : "", f_said(f, e, p, C_COND));
  }
  text_addf(f->hoist, "const %s t%d_[] = {%s}; ", f_type_in_c(dummy->type), number, text_str(values));
  return f_say(f, "t%d_", number);
}

const char *f_said_arguments(struct fortran *f, const struct expr *e, const struct place *p) {
  const struct f_unit *u = e->symbol->unit;
  const struct expr *i = e->args;
  struct text *out = f_text(f);
  for (int d = 0; d < u->ndummies && i && !failed(f); d++, i = i->next) {
    const char *said = u->dummies[d]->by_value ? f_said(f, i, p, C_COND)
                       : is_designator(i)
                           ? f_said_designator(f, i, i->rank && u->is_elemental ? p : NULL, true, C_COND)
                           : said_temporary(f, u->dummies[d], i);
    text_addf(out, "%s%s", d ? ", " : "", said);
  }
  return text_str(out);
}

const char *f_said_call(struct fortran *f, const struct expr *e, const struct place *p) {
  const struct f_unit *u = e->symbol->unit;
  if (u->kind != U_FUNCTION)
    f_refuse(f, e->at, "%s is a subroutine and gives no value; write `call %s(...)`", e->symbol->name,
             e->symbol->name);
  return failed(f) ? "" : f_say(f, "%s(%s)", u->c_name, f_said_arguments(f, e, p));
}

struct expr *f_hoist_call(struct fortran *f, const struct expr *call) {
  const struct f_unit *u = call->symbol->unit;
  if (!f->hoist)
    f_refuse(f, call->at, "%s gives an array; call it in an assignment of its own", u->name);
  for (const struct expr *i = call->args; i; i = i->next)
    f_check_calls(f, i, false);
  if (failed(f))
    return f_integer_expr(f, call->at, 0);
  struct expr *t = f_new_local(f, call->at, call->type, call, f->hoist);
  text_addf(f->hoist, "%s(%s%s%s); ", u->c_name, f_said_arguments(f, call, NULL), u->ndummies ? ", " : "",
            t->symbol->c_name);
  return t;
}
