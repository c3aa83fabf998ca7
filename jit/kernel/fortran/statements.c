/* Statements, one after the other. */
#include <string.h>

#include "jit/kernel/fortran/tree.h"

static void refuse_statement(struct fortran *f) {
  if (f_is_refused(f, true))
    return;
  if (f_is_type_word(f, f->at) || f_is_word(f, f->at, "parameter"))
    f_refuse(f, now(f), "declarations stand before the first statement");
  else
    f_refuse(f, now(f), "`%s` begins no statement of the subset of Fortran that kernels have",
             now(f)->spelled);
}

/* ---- actions ---- */

static void read_call(struct fortran *f) {
  f->at++;
  const struct f_token *at = now(f);
  f_take_name(f, "the name of a subroutine");
  struct symbol *s = failed(f) ? NULL : f_look_up(f, f->unit, at->word);
  if (!s || s->kind != S_PROCEDURE) {
    f_refuse_unknown(
        f, at,
        "put the subroutine into this file, or into a module that the kernel uses and whose source "
        "is beside this file");
    return;
  }
  if (s->unit->kind != U_SUBROUTINE)
    f_refuse(f, at, "%s is a function; it stands in expressions, without `call`", at->spelled);
  struct expr *e = f_new_expr(f, E_CALL, at);
  struct text *before = f->hoist = f_text(f);
  e->symbol = s;
  e->args = f_take(f, "(") ? f_read_arguments(f) : NULL;
  f_check_arguments(f, e);
  if (!failed(f) && e->rank)
    f_refuse(f, at, "an elemental subroutine with arrays is not in the subset; write a do loop");
  const char *arguments = failed(f) ? "" : f_said_arguments(f, e, NULL);
  text_addf(f->to, before->length ? "{ %s%s(%s); } " : "%s%s(%s); ", text_str(before), s->unit->c_name,
            arguments);
  f->hoist = NULL;
}

static void read_assignment(struct fortran *f) {
  struct expr *left = f_read_primary(f);
  if (f_is_word(f, f->at, "=>"))
    f_refuse(f, now(f), "pointers are not in the subset");
  if (!failed(f) && left->op == E_INTRINSIC)
    f_refuse(f, left->at, "%s is not declared as an array, so this is no assignment", left->at->spelled);
  f_expect(f, "=");
  struct text *before = f->hoist = f_text(f), *body = f_text(f), *to = f->to;
  struct expr *right = f_read_expression(f);
  f->to = body;
  if (!failed(f))
    f_assign(f, left, right, NULL);
  f->to = to;
  f->hoist = NULL;
  text_addf(to, before->length ? "{ %s%s} " : "%s%s", text_str(before), text_str(body));
}

/* Adds a text to a format of C. Two quotes in a text of Fortran mean one. */
static void add_words(struct fortran *f, const struct expr *e, struct text *out) {
  if (strlen(e->word) + 2 != strlen(e->at->spelled))
    f_refuse(f, e->at, "a text ends in the line in which it begins; write two, with a comma between them");
  for (const char *c = e->word; *c; c++) {
    c += *c == *e->at->spelled;
    if (strchr("%\\\"", *c))
      text_add_char(out, *c == '%' ? '%' : '\\');
    text_add_char(out, *c);
  }
}

/* Adds a value, with as many digits as give it back. */
static void add_item(struct fortran *f, const struct expr *e, struct text *format, struct text *values) {
  static const char *const reals[] = {[4] = " %.9g", [8] = " %.17g"};
  const enum type_base base = e->type.base;
  if (e->op == E_TEXT) {
    text_add_char(format, ' ');
    add_words(f, e, format);
    return;
  }
  if (e->rank || base == F_TEXT || base == F_NONE)
    f_refuse(f, e->at,
             "`print` has scalars and texts in quotes in kernels; write an array's values one by one");
  if (base == F_LOGICAL)
    text_addf(values, ", %s ? 'T' : 'F'", f_said(f, e, NULL, C_OR));
  else
    text_addf(values, ", (%s)%s", base == F_REAL ? "double" : "long long", f_said(f, e, NULL, C_UNARY));
  text_add(format, base == F_LOGICAL ? " %c" : base == F_REAL ? reals[e->type.kind] : " %lld");
}

static void read_print(struct fortran *f) {
  struct text *before = f->hoist = f_text(f), *format = f_text(f), *values = f_text(f);
  f->at++;
  if (!f_take(f, "*"))
    f_refuse(f, now(f), "formats are not in the subset; write `print *, ...`");
  while (!failed(f) && f_take(f, ",")) {
    const struct expr *e = f_read_expression(f);
    if (!failed(f))
      add_item(f, e, format, values);
  }
  f->hoist = NULL;
  text_addf(f->to, "{ %sprintf(\"%s\\n\"%s); } ", text_str(before), text_str(format), text_str(values));
}

static void read_return(struct fortran *f) {
  f->at++;
  if (!f_at_end(f))
    f_refuse(f, now(f), "a `return` with a value is not in the subset");
  text_add(f->to, f->unit->result && !f->unit->result->rank ? "return result_; " : "return; ");
}

void f_read_action(struct fortran *f) {
  if (failed(f))
    return;
  if (f_is_assignment(f, f->at))
    read_assignment(f);
  else if (f_is_word(f, f->at, "call"))
    read_call(f);
  else if (f_is_word(f, f->at, "print"))
    read_print(f);
  else if (f_is_word(f, f->at, "return"))
    read_return(f);
  else if (f_is_word(f, f->at, "continue"))
    f->at++;
  else if (!f_read_jump(f))
    refuse_statement(f);
}

/* `name:` before a construct. */
static const char *read_construct_name(struct fortran *f) {
  if (now(f)->form != T_NAME || !f_is_word(f, f->at + 1, ":"))
    return NULL;
  f->at += 2;
  return f->tokens[f->at - 2].word;
}

void f_read_statements(struct fortran *f) {
  struct f_unit *u = f->unit;
  for (f->at = u->executable; f->at < u->end && !failed(f);) {
    const char *label = now(f)->form == T_LABEL ? f->tokens[f->at++].word : NULL;
    const char *name = read_construct_name(f);
    f_mark(f, now(f), f->to);
    if (f->constructs && f->constructs->kind == IS_WHERE && !f_is_word(f, f->at, "end") &&
        !f_is_word(f, f->at, "endwhere") && !f_is_two(f, f->at, "else", "where"))
      f_refuse(f, now(f), "only assignments stand in a `where`; write a `where` of its own, or a do loop");
    if (f_is_assignment(f, f->at) || !f_read_block(f, name))
      f_read_action(f);
    if (!failed(f) && !f_at_end(f))
      f_refuse(f, now(f), "`%s` is not expected here", now(f)->spelled);
    if (label)
      f_end_labelled(f, label);
    f->at++;
  }
  if (f->constructs && !failed(f))
    f_refuse(f, f->constructs->at, "this is not ended before the procedure is");
}
