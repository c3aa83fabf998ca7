/* Constructs: if, do, select case. */
#include <string.h>

#include "jit/kernel/fortran/tree.h"

struct construct *f_open_construct(struct fortran *f, enum construct_kind kind, const char *name) {
  struct construct *c = f_new(f, sizeof *c);
  *c = (struct construct){.outer = f->constructs, .kind = kind, .at = now(f), .name = name, .close = "} "};
  c->number = ++f->labels;
  c->to = f->to;
  f->constructs = c;
  return c;
}

static const char *const end_words[] = {
    [IS_IF] = "end if", [IS_DO] = "end do", [IS_SELECT] = "end select", [IS_WHERE] = "end where"};

/* The innermost one, which must be of this kind. */
static struct construct *inner(struct fortran *f, enum construct_kind kind, const char *words) {
  struct construct *c = f->constructs;
  if (!c)
    f_refuse(f, now(f), "`%s` has no beginning", words);
  else if (c->kind != kind)
    f_refuse(f, now(f), "`%s` stands where `%s` is expected, for line %d", words, end_words[c->kind],
             c->at->line);
  return failed(f) ? NULL : c;
}

static void pop(struct fortran *f) {
  struct construct *c = f->constructs;
  if (c->cycled)
    text_addf(f->to, "c%d_:; ", c->number);
  text_add(f->to, c->close);
  if (c->exited)
    text_addf(f->to, "x%d_:; ", c->number);
  f->constructs = c->outer;
}

static void close_construct(struct fortran *f, enum construct_kind kind) {
  struct construct *c = inner(f, kind, end_words[kind]);
  if (!c)
    return;
  if (now(f)->form == T_NAME) {
    if (!c->name || strcmp(c->name, now(f)->word) != 0)
      f_refuse(f, now(f), "%s is not the name of the construct that ends here", now(f)->spelled);
    f->at++;
  }
  pop(f);
}

/* ---- if ---- */

struct expr *f_read_condition(struct fortran *f, bool array) {
  f_expect(f, "(");
  struct expr *e = f_read_expression(f);
  f_expect(f, ")");
  if (!failed(f) && (e->type.base != F_LOGICAL || (e->rank > 0) != array))
    f_refuse(f, e->at, "%s, and this is %s%s",
             array ? "`where` chooses by an array of logical values" : "a condition is one logical value",
             e->rank ? "an array of " : "", f_type_said(f, e->type));
  return e;
}

static const char *read_condition(struct fortran *f) {
  return f_said(f, f_read_condition(f, false), NULL, C_ALL);
}

static void read_if(struct fortran *f, const char *name) {
  struct construct *c = f_open_construct(f, IS_IF, name);
  f->at++;
  text_addf(f->to, "if (%s) { ", read_condition(f));
  if (f_take(f, "then"))
    return;
  if (now(f)->form == T_INTEGER)
    f_refuse(f, now(f),
             "an if that jumps to one of three labels is not in the subset; write `if (...) then`");
  f->parts->action(f);
  text_add(f->to, "} ");
  f->constructs = c->outer;
}

static void read_else(struct fortran *f) {
  struct construct *c = inner(f, IS_IF, "else");
  const bool more = f_take_two(f, "else", "if");
  if (!c)
    return;
  if (c->last)
    f_refuse(f, now(f), "an `else` came before, and it is the last part of an if");
  if (more) {
    text_addf(f->to, "} else if (%s) { ", read_condition(f));
    f_expect(f, "then");
  } else {
    f->at++;
    c->last = true;
    text_add(f->to, "} else { ");
  }
  if (c->name)
    f_take(f, c->name);
}

/* ---- do ---- */

static struct expr *read_bound(struct fortran *f) {
  struct expr *e = f_read_expression(f);
  if (!failed(f) && (e->type.base != F_INTEGER || e->rank))
    f_refuse(f, e->at, "a do loop counts in whole numbers, and this is %s", f_type_said(f, e->type));
  return e;
}

/* The range of a loop: from, to and step, linked by `next`. */
static struct expr *read_range(struct fortran *f, const char *sign) {
  struct expr *from = read_bound(f);
  f_expect(f, sign);
  from->next = read_bound(f);
  from->next->next = f_take(f, sign) ? read_bound(f) : f_integer_expr(f, now(f), 1);
  return from;
}

/* The head of a loop over the variable of that name, which was checked. Returns how many brackets it opened. */
static int put_head(struct fortran *f, const char *name, const char *type, const struct expr *from, int n) {
  const struct expr *to = from->next, *step = to->next;
  const char *first = f_said(f, from, NULL, C_COND), *last = f_said(f, to, NULL, C_COND);
  if (!step->known) {
    text_addf(f->to,
              "{ const %s a%d_ = %s, b%d_ = %s, s%d_ = %s; %s n%d_ = (b%d_ - a%d_ + s%d_) / s%d_; for (%s = "
              "a%d_; n%d_ > 0; n%d_--, %s += s%d_) { ",
              type, n, first, n, last, n, f_said(f, step, NULL, C_COND), type, n, n, n, n, n, name, n, n, n,
              name, n);
    return 2;
  }
  if (step->value == 0)
    f_refuse(f, step->at, "a do loop with step 0 never ends");
  if (!to->known) {
    text_addf(f->to, "{ const %s b%d_ = %s; ", type, n, last);
    last = f_say(f, "b%d_", n);
  }
  const bool up = step->value > 0, one = step->value == 1 || step->value == -1;
  text_addf(f->to, "for (%s = %s; %s %s %s; %s%s) { ", name, first, name, up ? "<=" : ">=", last, name,
            !one ? f_say(f, " += %lld", step->value)
            : up ? "++"
                 : "--");
  return to->known ? 1 : 2;
}

static void read_counted(struct fortran *f, struct construct *c) {
  struct expr *variable = f_read_primary(f);
  if (failed(f))
    return;
  if (variable->type.base != F_INTEGER || variable->op != E_VARIABLE || variable->rank)
    f_refuse(f, variable->at, "a do loop counts in an integer variable");
  f_set_written(f, variable, "counted in");
  const char *name = f_said_designator(f, variable, NULL, false, C_PRIMARY);
  f_expect(f, "=");
  const struct expr *from = read_range(f, ",");
  if (!failed(f) && put_head(f, name, f_type_in_c(variable->type), from, c->number) == 2)
    c->close = "} } ";
}

/* Reads an index of do concurrent, whose name ends with the loop. Its head goes behind those of the others.
 * Returns the number of rounds; 0: not known. */
static long long read_index(struct fortran *f, const struct construct *c, int part, int *brackets) {
  const struct f_token *at = now(f);
  f->at += 2;
  const struct expr *from = read_range(f, ":"), *to = from->next, *step = to->next;
  struct symbol *s = f_add_index(f, at); /* which the bounds do not know */
  s->at = c->at;
  text_addf(f->to, "{ int %s; ", s->c_name);
  if (!failed(f))
    *brackets += 1 + put_head(f, s->c_name, "int", from, c->number * 10 + part);
  const bool known = from->known && to->known && step->known && step->value != 0;
  return known ? (to->value - from->value + step->value) / step->value : 0;
}

/* The whole mask is computed before the first round changes anything. */
static void put_concurrent_mask(struct fortran *f, const struct construct *c, const struct text *heads,
                                long long count, int brackets) {
  const int number = c->number;
  struct expr *e = f_read_expression(f);
  if (!failed(f) && (e->type.base != F_LOGICAL || e->rank))
    f_refuse(f, e->at, "a mask is logical, and this is %s", f_type_said(f, e->type));
  if (count < 1 || count > MOST_ELEMENTS)
    f_refuse(f, e->at,
             "a mask of do concurrent needs bounds that the text says, of at most %d rounds; write an `if` "
             "in a do loop",
             MOST_ELEMENTS);
  text_addf(f->to, "{ int m%d_[%lld], q%d_ = 0; %sm%d_[q%d_++] = %s; ", number, count, number,
            text_str(heads), number, number, f_said(f, e, NULL, C_COND));
  for (int i = 0; i < brackets; i++)
    text_add(f->to, "} ");
  text_addf(f->to, "q%d_ = 0; %sif (m%d_[q%d_++]) { ", number, text_str(heads), number, number);
}

static void read_concurrent(struct fortran *f, struct construct *c) {
  int brackets = 0, part = 0;
  long long count = 1;
  struct text *heads = f_text(f), *close = f_text(f), *to = f->to;
  f_expect(f, "(");
  if (f_is_type_word(f, f->at)) {
    struct f_type ignored;
    f_read_type(f, &ignored, NULL, false);
    f_expect(f, "::");
  }
  f->to = heads;
  while (!failed(f) && now(f)->form == T_NAME && f_is_word(f, f->at + 1, "=")) {
    count *= read_index(f, c, part++, &brackets);
    if (!f_take(f, ","))
      break;
  }
  f->to = to;
  if (f_is_word(f, f->at, ")"))
    text_add(f->to, text_str(heads));
  else if (!failed(f)) {
    put_concurrent_mask(f, c, heads, count, brackets);
    brackets += 2;
  }
  f_expect(f, ")");
  if (!f_at_end(f))
    f_refuse(f, now(f), "words behind the bracket of do concurrent are not in the subset");
  for (int i = 0; i < brackets; i++)
    text_add(close, "} ");
  c->close = text_str(close);
}

static void read_do(struct fortran *f, const char *name) {
  struct construct *c = f_open_construct(f, IS_DO, name);
  f->at++;
  if (now(f)->form == T_INTEGER)
    c->label = f->tokens[f->at++].word;
  f_take(f, ",");
  if (f_at_end(f))
    text_add(f->to, "for (;;) { ");
  else if (f_is_word(f, f->at, "while") && f_is_word(f, f->at + 1, "(")) {
    f->at++;
    text_addf(f->to, "while (%s) { ", read_condition(f));
  } else if (f_take(f, "concurrent"))
    read_concurrent(f, c);
  else
    read_counted(f, c);
}

/* The names of its indices end, too. */
static void end_do(struct fortran *f) {
  const struct construct *c = f->constructs;
  if (c && c->kind == IS_DO && c->label)
    f_refuse(f, now(f), "the loop of line %d ends at the label %s", c->at->line, c->label);
  close_construct(f, IS_DO);
  for (struct symbol *s = f->unit->symbols; s && !failed(f); s = s->next)
    if (s->kind == S_INDEX && c && s->at == c->at)
      s->name = "";
}

void f_end_labelled(struct fortran *f, const char *label) {
  while (!failed(f) && f->constructs && f->constructs->kind == IS_DO && f->constructs->label &&
         strcmp(f->constructs->label, label) == 0)
    pop(f);
}

/* ---- leaving loops ---- */

static void leave(struct fortran *f, struct construct *to, bool cycle) {
  struct construct *c = f->constructs;
  while (c && c->kind != IS_DO)
    c = c->outer;
  if (c == to && (cycle || strcmp(to->close, "} ") == 0 || strcmp(to->close, "} } ") == 0))
    text_add(f->to, cycle ? "continue; " : "break; ");
  else {
    text_addf(f->to, "goto %s%d_; ", cycle ? "c" : "x", to->number);
    to->cycled |= cycle;
    to->exited |= !cycle;
  }
}

static void read_exit(struct fortran *f, bool cycle) {
  const struct f_token *at = now(f);
  f->at++;
  const char *name = now(f)->form == T_NAME ? f->tokens[f->at++].word : NULL;
  struct construct *c = f->constructs;
  while (c && (name ? !c->name || strcmp(c->name, name) != 0 : c->kind != IS_DO))
    c = c->outer;
  if (!c || (cycle && c->kind != IS_DO))
    f_refuse(f, at, name ? "no loop around this has the name %s%s" : "`%s` stands in no loop%s",
             name ? name : at->spelled, "");
  else
    leave(f, c, cycle);
}

/* True: the label stands at a `continue`. At another statement a jump would have to do that statement. */
static bool is_continue(const struct fortran *f, const char *label) {
  for (int at = f->at; at < f->unit->end; at++)
    if (f->tokens[at].form == T_LABEL && strcmp(f->tokens[at].word, label) == 0)
      return f_is_word(f, at + 1, "continue") && f->tokens[at + 2].form == T_END;
  return false;
}

static void read_goto(struct fortran *f) {
  const struct f_token *at = now(f);
  f_take_two(f, "go", "to");
  const char *label = now(f)->form == T_INTEGER ? f->tokens[f->at++].word : "";
  struct construct *c = f->constructs, *found = NULL;
  for (; c; c = c->outer) /* of several that end there the innermost */
    if (!found && c->kind == IS_DO && c->label && strcmp(c->label, label) == 0)
      found = c;
  if (!found)
    f_refuse(f, at,
             "`go to` is in the subset only to the end of a loop that it stands in; write if, exit or cycle");
  else if (!is_continue(f, label))
    f_refuse(f, at,
             "`go to` is in the subset only to a `continue`; write `%s continue` behind the loop's last "
             "statement",
             label);
  else
    leave(f, found, true);
}

bool f_read_jump(struct fortran *f) {
  if (f_is_word(f, f->at, "exit") || f_is_word(f, f->at, "cycle"))
    read_exit(f, f_is_word(f, f->at, "cycle"));
  else if (f_is_two(f, f->at, "go", "to"))
    read_goto(f);
  else
    return false;
  return true;
}

/* ---- select case ---- */

static void read_select(struct fortran *f, const char *name) {
  struct construct *c = f_open_construct(f, IS_SELECT, name);
  f_take_two(f, "select", "case");
  f_expect(f, "(");
  struct expr *e = f_read_expression(f);
  f_expect(f, ")");
  if (failed(f))
    return;
  if ((e->type.base != F_INTEGER && e->type.base != F_LOGICAL) || e->rank)
    f_refuse(f, e->at, "select case chooses by a whole number or a logical value, and this is %s",
             f_type_said(f, e->type));
  c->value = e;
  c->later = f_text(f);
  text_addf(f->to, "{ const %s v%d_ = %s; ", f_type_in_c(e->type), c->number, f_said(f, e, NULL, C_COND));
  c->close = "} ";
}

static const char *said_case(struct fortran *f, const struct construct *c, const char *sign, struct expr *e) {
  if (!failed(f) && (!e->known || e->type.base != c->value->type.base))
    f_refuse(f, e->at, "the value of a case is one that the text says, of the type of select's");
  return f_say(f, "v%d_ %s %s", c->number, sign, f_said(f, e, NULL, C_SUM));
}

static void read_case_value(struct fortran *f, const struct construct *c) {
  struct expr *low = f_is_word(f, f->at, ":") ? NULL : f_read_expression(f);
  const bool range = f_take(f, ":");
  const bool open = !range || (low && (f_is_word(f, f->at, ",") || f_is_word(f, f->at, ")")));
  struct expr *high = open ? NULL : f_read_expression(f);
  const char *from = low ? said_case(f, c, range ? ">=" : "==", low) : "";
  text_addf(f->to, low && high ? "(%s && %s)" : "%s%s", from, high ? said_case(f, c, "<=", high) : "");
}

static void read_case(struct fortran *f) {
  struct construct *c = inner(f, IS_SELECT, "case");
  f->at++;
  if (!c)
    return;
  f->to = c->to;
  if (f_take(f, "default")) {
    if (c->last)
      f_refuse(f, now(f), "there is a default case already");
    c->last = true;
    f->to = c->later;
    f_mark(f, now(f), f->to);
    return;
  }
  text_add(f->to, c->any ? "} else if (" : "if (");
  c->any = true;
  f_expect(f, "(");
  do {
    read_case_value(f, c);
    text_add(f->to, f_is_word(f, f->at, ",") ? " || " : "");
  } while (!failed(f) && f_take(f, ","));
  f_expect(f, ")");
  text_add(f->to, ") { ");
}

static void end_select(struct fortran *f) {
  struct construct *c = inner(f, IS_SELECT, end_words[IS_SELECT]);
  if (!c)
    return;
  f->to = c->to;
  text_add(f->to, c->any ? "} " : "");
  if (c->last)
    text_addf(f->to, "%s{ %s} ", c->any ? "else " : "", text_str(c->later));
  close_construct(f, IS_SELECT);
}

/* ---- all of them ---- */

static bool read_end(struct fortran *f) {
  int kind = IS_IF;
  while (kind <= IS_WHERE && !f_take_two(f, "end", end_words[kind] + strlen("end ")))
    kind++;
  if (kind == IS_DO)
    end_do(f);
  else if (kind == IS_SELECT)
    end_select(f);
  else if (kind <= IS_WHERE)
    close_construct(f, (enum construct_kind)kind);
  return kind <= IS_WHERE;
}

bool f_read_block(struct fortran *f, const char *name) {
  if (read_end(f))
    return true;
  if (f_is_word(f, f->at, "if"))
    read_if(f, name);
  else if (f_is_two(f, f->at, "else", "where"))
    f_read_elsewhere(f);
  else if (f_is_word(f, f->at, "else") || f_is_word(f, f->at, "elseif"))
    read_else(f);
  else if (f_is_word(f, f->at, "do"))
    read_do(f, name);
  else if (f_is_two(f, f->at, "select", "case"))
    read_select(f, name);
  else if (f_is_word(f, f->at, "case"))
    read_case(f);
  else if (!f_is_word(f, f->at, "where") || !f_read_where(f, name))
    return false;
  return true;
}
