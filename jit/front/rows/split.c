/* When in doubt, a loop stays whole: what is looked at is tokens, and no compiler has said what they mean. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "jit/front/parameters.h"
#include "jit/front/rows/split_inner.h"

/* ---- names -------------------------------------------------------------------------------------*/

static bool token_named(const struct tokens *t, size_t at, const char *name) {
  return token_is_identifier(t, at) && token_is(t, at, name);
}

/* The kernel's parameter of that name; -1: none. */
int split_parameter(const struct looking *s, size_t name) {
  for (int p = 0; p < s->k->nparameters; p++)
    if (token_named(s->t, name, s->k->parameters[p].name))
      return p;
  return -1;
}

/* The loop's argument that a parameter is; -1: the number of targets of a ragged map. */
int split_arg(const struct looking *s, int parameter) {
  for (int i = 0; i < s->d->nargs; i++)
    if (desc_parameter(s->d, i) == parameter)
      return i;
  return -1;
}

static bool is_number_of_targets(const struct looking *s, size_t name) {
  const int p = split_parameter(s, name);
  return p >= 0 && split_arg(s, p) < 0;
}

struct declared split_declared(const struct looking *s, const struct split_loop *l, size_t name) {
  const struct local *local = locals_meant(&s->locals, name);
  return (struct declared){.local = local,
                           .inside = local && local->name >= l->first && local->name < l->end,
                           .parameter = local ? -1 : split_parameter(s, name)};
}

/* A variable of one step: nobody else sees it. */
static const struct local *find_own(const struct looking *s, const struct split_loop *l, size_t name) {
  const struct declared found = split_declared(s, l, name);
  return found.inside ? found.local : NULL;
}

/* Rows of the element's own entries that the kernel writes. */
static bool is_written_entry(const struct looking *s, size_t name) {
  const int p = token_is_identifier(s->t, name) ? split_parameter(s, name) : -1,
            arg = p >= 0 ? split_arg(s, p) : -1;
  return arg >= 0 && desc_is_ragged(s->d, &s->d->args[arg]) && s->d->args[arg].access != OP_READ;
}

/* OP_ROW(x, k), k the loop's counter. */
static bool is_own_row(const struct looking *s, size_t at, size_t counter) {
  const struct tokens *t = s->t;
  return token_is(t, at, "OP_ROW") && token_is(t, at + 1, "(") && token_is_identifier(t, at + 2) &&
         token_is(t, at + 3, ",") && token_is_identifier(t, at + 4) &&
         locals_meant(&s->locals, at + 4) == locals_meant(&s->locals, counter) && token_is(t, at + 5, ")");
}

/* Behind `name(..)`, not `if (..)` or a cast. */
static bool ends_call(const struct tokens *t, size_t at) {
  size_t open = at;
  int depth = 0;
  do {
    depth += token_is(t, open, ")");
    depth -= token_is(t, open, "(");
  } while (depth && open-- > 0);
  return depth == 0 && open > 0 && token_is_identifier(t, open - 1) && !tokens_keyword(t, open - 1);
}

/* Is a single `&` at `at` one that may take an address? Behind another parenthesis than a call's nobody knows. */
bool split_takes_address(const struct tokens *t, size_t at) {
  if (!token_is(t, at, "&") || tokens_pair(t, at, '&', '&') || tokens_pair(t, at - 1, '&', '&') ||
      tokens_pair(t, at, '&', '='))
    return false;
  const bool operand = (token_is_identifier(t, at - 1) && !tokens_keyword(t, at - 1)) ||
                       t->items[at - 1].kind == TOKEN_NUMBER || token_is(t, at - 1, "]") ||
                       (token_is(t, at - 1, ")") && ends_call(t, at - 1));
  return !operand;
}

/* ---- what the whole kernel must not have ---------------------------------------------------------*/

/* Arguments that all threads of an element cannot have alike, or that one of them cannot store for all. */
static const char *argument_refusal(const struct desc *d) {
  enum { LONG_ROW = 32 }; /* each thread has a copy */
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (a->form != DESC_DAT || a->access == OP_READ)
      continue;
    if (desc_is_ragged(d, a) && !a->entry)
      return "it writes rows of targets of a ragged map";
    if (access_is_extremum(a->access))
      return "it keeps extrema of a dat";
    if (!desc_is_ragged(d, a) && a->dim > LONG_ROW)
      return "it writes rows of more than 32 values";
    for (int j = 0; j < d->nargs; j++)
      if (j != i && d->args[j].form == DESC_DAT && d->args[j].dat == a->dat &&
          (a->access != OP_INC || d->args[j].access != OP_INC || a->entry))
        return "it writes a dat that another of its arguments has too";
  }
  return NULL;
}

/* ---- one loop ----------------------------------------------------------------------------------*/

static bool is_counter_type(const struct tokens *t, size_t at, size_t end) {
  enum local_kind kind;
  bool narrow = false, all = end > at;
  for (; at < end; at++)
    all = all && tokens_type(t, at, &kind, &narrow) && kind == LOCAL_INTEGER && !narrow;
  return all;
}

/* n, or a constant that is n. Nothing changes either. */
static bool is_bound(const struct looking *s, size_t name) {
  const struct local *local = locals_meant(&s->locals, name);
  const size_t number = local ? local->name + 2 : name;
  if (local && (!local->is_const || local->form != LOCAL_VALUE || local->kind != LOCAL_INTEGER ||
                local->narrow || !token_is(s->t, local->name + 1, "=") ||
                (!token_is(s->t, number + 1, ";") && !token_is(s->t, number + 1, ","))))
    return false;
  if (!is_number_of_targets(s, number) || locals_meant(&s->locals, number))
    return false;
  for (size_t i = 0; i < s->locals.nwrites; i++)
    if (tokens_same(s->t, s->locals.writes[i].base, number))
      return false;
  for (size_t i = s->locals.begin; i < s->locals.end; i++)
    if (token_is_identifier(s->t, i) && tokens_same(s->t, i, number) && split_takes_address(s->t, i - 1))
      return false;
  return true;
}

static bool is_step(const struct tokens *t, size_t at, size_t end, size_t counter) {
  const bool behind = end == at + 3 && token_is_identifier(t, at) && tokens_same(t, at, counter) &&
                      tokens_pair(t, at + 1, '+', '+'),
             before = end == at + 3 && tokens_pair(t, at, '+', '+') && token_is_identifier(t, at + 2) &&
                      tokens_same(t, at + 2, counter),
             by_one = end == at + 4 && token_is_identifier(t, at) && tokens_same(t, at, counter) &&
                      tokens_pair(t, at + 1, '+', '=') && token_is(t, at + 3, "1");
  return behind || before || by_one;
}

/* `for (int k = 0; k < n; k++)` at `at`. */
static bool read_head(struct looking *s, size_t at, struct split_loop *l) {
  const struct tokens *t = s->t;
  const size_t open = at + 1, close = kernel_skip_brackets(t, open) - 1;
  size_t equals = open + 1;
  s->why = "the loop does not have the form for (int k = 0; k < n; k++), n the number of targets";
  while (equals < close && !token_is(t, equals, "=") && !token_is(t, equals, ";"))
    equals++;
  if (!token_is(t, open, "(") || !token_is(t, equals, "=") || !token_is(t, equals + 1, "0") ||
      !token_is(t, equals + 2, ";") || !is_counter_type(t, open + 1, equals - 1) ||
      !token_is_identifier(t, equals - 1))
    return false;
  l->counter = equals - 1;
  l->zero = equals + 1;
  const size_t condition = equals + 3;
  l->step = condition + 4;
  l->step_end = close;
  l->body = close + 1;
  l->end = tokens_statement(t, close + 1);
  return l->end <= s->locals.end && token_is_identifier(t, condition) &&
         tokens_same(t, condition, l->counter) && token_is(t, condition + 1, "<") &&
         token_is_identifier(t, condition + 2) && token_is(t, condition + 3, ";") &&
         is_step(t, l->step, close, l->counter) && is_bound(s, condition + 2);
}

/* Words and addresses of the body. */
static bool body_can_be_split(struct looking *s, const struct split_loop *l) {
  static const char *const leaving[] = {"break", "return", "switch", "case", "default"};
  const struct tokens *t = s->t;
  for (size_t i = l->body; i < l->end; i++) {
    s->why = "the loop has a break, a return or a switch";
    for (size_t w = 0; w < sizeof leaving / sizeof *leaving; w++)
      if (token_is(t, i, leaving[w]))
        return false;
    s->why = "the loop takes an address";
    if (split_takes_address(t, i)) {
      const struct local *own = token_is_identifier(t, i + 1) ? find_own(s, l, i + 1) : NULL;
      const bool row = token_is(t, i + 1, "OP_ROW") && token_is(t, i + 2, "(") &&
                       token_is_identifier(t, i + 3) && split_parameter(s, i + 3) >= 0 &&
                       !is_written_entry(s, i + 3);
      if (!row && (!own || own->form == LOCAL_POINTER || tokens_same(t, i + 1, l->counter)))
        return false;
    }
    s->why = token_is_identifier(t, i) && token_is(t, i + 1, "(") && !tokens_member(t, i)
                 ? split_call_refusal(s, i)
                 : NULL;
    if (s->why)
      return false;
  }
  return true;
}

/* A value of the step's own, or a row that no other step has. */
static bool is_own_write(const struct looking *s, const struct split_loop *l, const struct write *w) {
  if (w->odd)
    return false;
  if (token_is(s->t, w->base, "OP_ROW"))
    return is_own_row(s, w->base, l->counter) && is_written_entry(s, w->base + 2) &&
           w->stars + w->indices == 1;
  const struct local *own = find_own(s, l, w->base);
  if (!own || w->stars || own == locals_meant(&s->locals, l->counter))
    return false;
  return own->form == LOCAL_ARRAY ? w->indices > 0 && !w->member
                                  : w->indices == 0 && (own->form == LOCAL_VALUE || !w->member);
}

static bool can_be_split(struct looking *s, struct split_loop *l) {
  if (!body_can_be_split(s, l))
    return false;
  for (size_t i = 0; i < s->locals.nwrites; i++) {
    const struct write *w = &s->locals.writes[i];
    if (w->at >= l->body && w->at < l->end && !is_own_write(s, l, w) && !split_sum(s, l, w))
      return false;
  }
  for (int r = 0; r < l->nresults; r++)
    if (!split_sum_is_apart(s, l, &l->results[r]))
      return false;
  return true;
}

/* ---- the kernel --------------------------------------------------------------------------------*/

/* What is written in entries is written in such loops only, each row by the thread that has its step. */
static const char *entries_refusal(const struct looking *s, const struct split *out) {
  for (size_t i = s->locals.begin; i < s->locals.end; i++) {
    if (!is_written_entry(s, i) || tokens_member(s->t, i))
      continue;
    bool good = false;
    for (int l = 0; l < out->count; l++)
      good |=
          i > out->loops[l].body - 1 && i < out->loops[l].end && is_own_row(s, i - 2, out->loops[l].counter);
    if (!good)
      return "it uses rows of entries that it writes otherwise than as OP_ROW(x, k) of its loop over targets";
  }
  return NULL;
}

static const char *find_loops(struct looking *s, bool unmarked, struct split *out) {
  const char *why =
      unmarked ? "it has no loop over targets" : "it says OP_ANY_ORDER before none of its loops";
  for (size_t i = s->locals.begin; i < s->locals.end && out->count < SPLIT_LOOPS; i++) {
    const bool marked = token_is(s->t, i, "OP_ANY_ORDER");
    struct split_loop l = {.first = i};
    if (!token_is(s->t, i + marked, "for") || !(marked || unmarked))
      continue;
    if (read_head(s, i + marked, &l) && can_be_split(s, &l)) {
      out->loops[out->count++] = l;
      i = l.end - 1;
    } else {
      why = s->why;
      i += marked;
    }
  }
  return out->count ? entries_refusal(s, out) : why;
}

static const char *look(struct looking *s, bool unmarked, struct split *out) {
  const struct kernel *k = s->k;
  const char *why = NULL;
  if (s->d->entry || s->d->nmembers)
    return "it is C++, or several kernels in one";
  if (!desc_any_ragged(s->d))
    return "it goes through no ragged map";
  if (!k->certain || k->function < 0)
    return "its text has conditions";
  why = argument_refusal(s->d);
  const size_t body = kernel_skip_brackets(s->t, k->functions[k->function].open);
  if (!why && !token_is(s->t, body, "{"))
    why = "it has an attribute";
  if (!why)
    why = locals_find(&s->locals, s->t, body, kernel_skip_brackets(s->t, body) - 1);
  if (!why)
    why = split_text_refusal(s);
  return why ? why : find_loops(s, unmarked, out);
}

bool rows_split(const struct kernel *k, const struct desc *d, bool unmarked, struct split *out) {
  struct looking s = {.k = k, .d = d, .t = &k->tokens};
  *out = (struct split){0};
  out->why = look(&s, unmarked, out);
  if (out->why)
    out->count = 0;
  locals_free(&s.locals);
  return out->count > 0;
}
