/* What a loop changes outside of itself, as far as its steps may come in any order: sums, products and extrema. */
#include <string.h>

#include "jit/front/parameters.h"
#include "jit/front/rows/split_inner.h"

/* Do two names mean one variable? */
static bool is_same(const struct looking *s, size_t a, size_t b) {
  return token_is_identifier(s->t, a) && tokens_same(s->t, a, b) && !tokens_member(s->t, a) &&
         locals_meant(&s->locals, a) == locals_meant(&s->locals, b);
}

/* Where a statement of the loop, that begins at `begin`, ends: its semicolon; 0: it is none by itself. */
static size_t whole_statement(const struct tokens *t, const struct split_loop *l, size_t begin,
                              size_t behind) {
  int depth = 0;
  const bool starts = token_is(t, begin - 1, ";") || token_is(t, begin - 1, "{") ||
                      token_is(t, begin - 1, "}") || token_is(t, begin - 1, ")") ||
                      token_is(t, begin - 1, "else") || token_is(t, begin - 1, "do");
  size_t i = behind;
  for (size_t b = l->body; b < begin; b++)
    depth += token_is(t, b, "(") - token_is(t, b, ")");
  while (i < t->count && !token_is(t, i, ";") && !token_is(t, i, ",") && !token_is(t, i, ")") &&
         !token_is(t, i, "}"))
    i = token_is(t, i, "(") || token_is(t, i, "[") ? kernel_skip_brackets(t, i) : i + 1;
  return starts && depth == 0 && token_is(t, i, ";") ? i : 0;
}

/* `(int)(...)`, which is whole whatever stands in it. */
static bool is_cast_to_whole(const struct tokens *t, size_t begin, size_t end) {
  enum local_kind kind = LOCAL_OTHER;
  bool narrow, types = true;
  const size_t behind = token_is(t, begin, "(") ? kernel_skip_brackets(t, begin) : begin;
  for (size_t i = begin + 1; i + 1 < behind; i++)
    types = types && tokens_type(t, i, &kind, &narrow) && kind == LOCAL_INTEGER;
  return types && kind == LOCAL_INTEGER && token_is(t, behind, "(") && kernel_skip_brackets(t, behind) == end;
}

/* Whole numbers only: sums of them that a fraction is added to depend on the order. */
static bool is_whole(const struct looking *s, const struct split_loop *l, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++) {
    const struct token *token = &s->t->items[i];
    enum local_kind kind;
    bool narrow;
    if (token->kind == TOKEN_NUMBER) {
      for (size_t c = token->begin; c < token->end; c++)
        if (!strchr("0123456789uUlL", s->t->text[c]))
          return false;
      continue;
    }
    if (!token_is_identifier(s->t, i) || token_is(s->t, i, "OP_ROW"))
      continue;
    if (tokens_type(s->t, i, &kind, &narrow) ? kind == LOCAL_INTEGER : token_is(s->t, i, "const"))
      continue;
    const struct declared found = split_declared(s, l, i);
    const enum type_code type = found.parameter < 0                 ? TYPE_NONE
                                : split_arg(s, found.parameter) < 0 ? TYPE_INT
                                : s->k->parameters[found.parameter].understood
                                    ? s->k->parameters[found.parameter].type
                                    : TYPE_NONE;
    const bool whole = found.local ? found.local->kind == LOCAL_INTEGER
                                   : type != TYPE_NONE && !type_is_struct(type) && !type_info(type)->is_float;
    if (!whole || tokens_member(s->t, i))
      return false;
  }
  return true;
}

/* What a variable outside of the loop, of which the write changes values, is. False: not what can be put together. */
static bool read_variable(struct looking *s, const struct split_loop *l, const struct write *w,
                          struct split_result *r, bool *whole) {
  const struct declared found = split_declared(s, l, w->base);
  r->name = w->base;
  s->why = "the loop changes something that is neither its own nor a sum";
  if (w->odd || w->member || token_is(s->t, w->base, "OP_ROW") || found.inside)
    return false;
  if (found.local) {
    const struct local *local = found.local;
    r->address = local->form == LOCAL_ARRAY;
    r->count = r->address ? local->count : 1;
    *whole = local->kind == LOCAL_INTEGER;
    return local->form != LOCAL_POINTER && local->kind != LOCAL_OTHER && !local->is_const && r->count > 0 &&
           w->stars == 0 && w->indices == (r->address ? 1 : 0);
  }
  const int arg = found.parameter >= 0 ? split_arg(s, found.parameter) : -1;
  if (arg < 0)
    return false;
  const struct desc_arg *a = &s->d->args[arg];
  const struct kernel_parameter *p = &s->k->parameters[found.parameter];
  r->address = true;
  r->count = a->dim;
  *whole = p->understood && p->type != TYPE_NONE && !type_is_struct(p->type) && !type_info(p->type)->is_float;
  return p->understood && p->type != TYPE_NONE && p->type != TYPE_BOOL && !type_is_struct(p->type) &&
         !p->is_const && p->depth == 1 && a->access != OP_READ &&
         (a->form == DESC_DAT || a->form == DESC_GBL) && w->stars + w->indices == 1;
}

/* Has the variable all its values unchanged when fmax or fmaxf (`single`) has given them back? Else threads without a
 * step have others. */
static bool survives(const struct looking *s, const struct split_loop *l, size_t name, bool single) {
  const struct declared found = split_declared(s, l, name);
  if (found.local)
    return single ? found.local->single : found.local->kind == LOCAL_FLOATING || !found.local->wide;
  const enum type_code type = s->k->parameters[found.parameter].type;
  return single ? type == TYPE_FLOAT : type_info(type)->is_float || type_info(type)->size < 8;
}

/* `s = fmax(s, e)`: how. */
static bool is_extreme(const struct looking *s, const struct split_loop *l, const struct write *w, size_t end,
                       struct split_result *r) {
  const struct tokens *t = s->t;
  const size_t name = w->behind, open = name + 1, length = w->end - w->begin;
  size_t comma = open + 1;
  const bool most = token_is(t, name, "fmax") || token_is(t, name, "fmaxf"),
             least = token_is(t, name, "fmin") || token_is(t, name, "fminf"),
             single = token_is(t, name, "fmaxf") || token_is(t, name, "fminf");
  if ((!most && !least) || !split_is_maths(s->k, name) || !survives(s, l, w->base, single) ||
      !token_is(t, open, "(") || kernel_skip_brackets(t, open) != end)
    return false;
  while (comma < end && !token_is(t, comma, ","))
    comma = token_is(t, comma, "(") || token_is(t, comma, "[") ? kernel_skip_brackets(t, comma) : comma + 1;
  bool first = comma == open + 1 + length, second = end - 1 == comma + 1 + length;
  for (size_t i = 0; i < length; i++) {
    first = first && tokens_same(t, open + 1 + i, w->begin + i);
    second = second && tokens_same(t, comma + 1 + i, w->begin + i);
  }
  r->kind = most ? SPLIT_MOST : SPLIT_LEAST;
  return first || second;
}

static bool add_result(struct looking *s, struct split_loop *l, struct split_result r) {
  for (int i = 0; i < l->nresults; i++)
    if (is_same(s, l->results[i].name, r.name)) {
      s->why = "the loop changes one variable in several ways";
      return l->results[i].kind == r.kind;
    }
  s->why = "the loop has many sums";
  if (l->nresults == SPLIT_RESULTS || r.count > 16)
    return false;
  l->results[l->nresults++] = r;
  return true;
}

bool split_sum(struct looking *s, struct split_loop *l, const struct write *w) {
  struct split_result r = {0};
  bool whole = false;
  const size_t end = whole_statement(s->t, l, w->prefix ? w->at : w->begin, w->prefix ? w->end : w->behind);
  if (!read_variable(s, l, w, &r, &whole))
    return false;
  s->why = "the loop's sum is a part of another expression";
  if (!end || (w->counts && end != (w->prefix ? w->end : w->behind)))
    return false;
  s->why = "the loop changes a variable in a way that depends on the order";
  if (w->op == '=' ? !is_extreme(s, l, w, end, &r) : !strchr("+-*", w->op))
    return false;
  if (w->op != '=')
    r.kind = w->op == '*' ? SPLIT_PRODUCT : SPLIT_SUM;
  s->why = "the loop adds fractions to whole numbers";
  if (w->op != '=' && whole && !w->counts && !is_cast_to_whole(s->t, w->behind, end) &&
      !is_whole(s, l, w->behind, end))
    return false;
  return add_result(s, l, r);
}

static int count_uses(const struct looking *s, size_t begin, size_t end, size_t name) {
  int count = 0;
  for (size_t i = begin; i < end; i++)
    count += is_same(s, i, name);
  return count;
}

/* In the loop nothing but the sum itself uses it; nowhere does a pointer lead to it. */
bool split_sum_is_apart(struct looking *s, const struct split_loop *l, const struct split_result *r) {
  const struct tokens *t = s->t;
  int expected = 0;
  for (size_t i = 0; i < s->locals.nwrites; i++) {
    const struct write *w = &s->locals.writes[i];
    if (w->at >= l->first && w->at < l->end && is_same(s, w->base, r->name))
      expected += w->op == '=' ? 2 : 1;
  }
  s->why = "the loop uses its sum";
  if (count_uses(s, l->first, l->end, r->name) != expected)
    return false;
  s->why = "a pointer may lead to the loop's sum";
  for (size_t i = s->locals.begin; i < s->locals.end; i++) {
    if (!is_same(s, i, r->name))
      continue;
    size_t before = i - 1;
    while (token_is(t, before, "(") || token_is(t, before, "*")) /* &*y is y */
      before--;
    if (split_takes_address(t, before))
      return false;
    bool declares = false;
    for (size_t j = 0; j < s->locals.count; j++)
      declares |= s->locals.items[j].name == i;
    const bool moved = tokens_pair(t, i + 1, '+', '+') || tokens_pair(t, i + 1, '-', '-');
    if (r->address && !declares && (moved || (!token_is(t, i + 1, "[") && !token_is(t, i - 1, "*"))))
      return false;
  }
  return true;
}
