/* A shorter text: without arguments and statements that the fault does not need. Whether what is left is C, compilers say. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "cli/replay.h"
#include "jit/kernel/kernel.h"
#include "jit/kernel/parameters.h"

enum { RUNS_OF_TEXTS = 400 };

/* The call with another text, tried; `arg` of its arguments is left out (-1: none). True: it is the capture's from now on. */
static bool try_text(struct judge *j, struct capture *c, int call, const struct text *words, int arg,
                     const struct fault *f) {
  struct capture less = {0};
  struct error err = {0};
  bool still = false;
  char *text = text_ok(words) ? strdup(text_str(words)) : NULL;
  if (text && capture_copy(c, &less, &err) == OP_OK) {
    struct capture_call *to = &less.calls[call];
    free(to->text);
    to->text = text;
    text = NULL;
    if (arg >= 0)
      capture_drop_arg(to, arg);
    still = capture_select(&less, NULL, NULL, NULL, &err) == OP_OK && capture_check(&less, &err) == OP_OK &&
            fault_is_there(j, &less, f);
  }
  free(text);
  if (still) {
    capture_free(c);
    *c = less;
  } else
    capture_free(&less);
  error_free(&err);
  return still;
}

/* ---- arguments ---- */

/* The parameter becomes a variable of zeros: "double x_zeros[4] = {0}; const double *x = x_zeros;". */
static bool leave_out(const struct kernel *k, const struct capture_arg *arg, int which, struct text *out) {
  const struct tokens *t = &k->tokens;
  const struct kernel_parameter *p = &k->parameters[which];
  const size_t open = k->functions[k->function].open, body = kernel_skip_brackets(t, open);
  if (!p->understood || p->depth != 1 || !*p->name || !token_is(t, body, "{"))
    return false;
  size_t name = open + 1, begin, end;
  while (t->items[name].line != p->line || t->items[name].column != p->column)
    name++;
  for (begin = name; !token_is(t, begin - 1, "(") && !token_is(t, begin - 1, ",");)
    begin--;
  for (end = name + 1; token_is(t, end, "[");)
    end = kernel_skip_brackets(t, end);
  const size_t from = t->items[begin].begin, to = t->items[end].begin, start = t->items[body].end;
  const bool last = token_is(t, end, ")");
  const size_t cut = last && which ? t->items[begin - 1].begin : from;
  text_add_bytes(out, k->text, cut);
  text_add_bytes(out, k->text + (last ? to : t->items[end].end), start - (last ? to : t->items[end].end));
  text_addf(out, " %s %s_zeros[%lld] = {0}; %s = %s_zeros;", type_info(arg->type)->name, p->name, arg->dim,
            p->spelling, p->name);
  text_add(out, k->text + start);
  return true;
}

static bool has_payload(const struct capture_call *call, int arg) {
  for (int a = 0; a < call->nargs; a++)
    if (call->args[a].form == DESC_INFO && call->args[a].ref == arg)
      return true;
  return false;
}

static void shorten_arguments(struct judge *j, struct capture *c, int call, const struct fault *f) {
  for (int a = c->calls[call].nargs - 1; a >= 0 && c->calls[call].nargs > 1; a--) {
    const struct capture_call *from = &c->calls[call];
    struct kernel k = {0};
    struct error err = {0};
    struct text words = {0};
    if (kernel_parse(&k, from->text, strlen(from->text), from->name, &err) == OP_OK &&
        k.nparameters == from->nargs && from->args[a].dim <= 1000 && !has_payload(from, a) &&
        leave_out(&k, &from->args[a], a, &words))
      try_text(j, c, call, &words, a, f);
    kernel_free(&k);
    error_free(&err);
    text_free(&words);
  }
}

/* ---- statements ---- */

/* From a token that begins one: to the semicolon, or the brace that closes it. */
static size_t statement_end(const struct tokens *t, size_t at) {
  for (size_t i = at; i < t->count; i++) {
    const bool values = i > at && token_is(t, i - 1, "=");
    if (token_is(t, i, "{") && !values)
      return kernel_skip_brackets(t, i);
    if (token_is(t, i, "(") || token_is(t, i, "{"))
      i = kernel_skip_brackets(t, i) - 1;
    else if (token_is(t, i, ";"))
      return i + 1;
    else if (token_is(t, i, "}"))
      return i;
  }
  return t->count;
}

static bool begins_statement(const struct tokens *t, size_t i) {
  return i > 1 && !t->items[i].directive && !token_is(t, i, "}") && !token_is(t, i - 2, "=") &&
         (token_is(t, i - 1, ";") || token_is(t, i - 1, "{") || token_is(t, i - 1, "}"));
}

/* Without the statement that begins number `which`, from 0; false: there are not so many. */
static bool without_statement(const char *text, int which, struct text *out) {
  struct tokens t;
  struct error err = {0};
  bool found = false;
  if (lex(&t, text, strlen(text), &err) == OP_OK) {
    size_t at = 0;
    while (at < t.count && (!begins_statement(&t, at) || which-- > 0))
      at++;
    found = at < t.count;
    const size_t end = found ? statement_end(&t, at) : at;
    if (end > at) {
      text_add_bytes(out, text, t.items[at].begin);
      text_add(out, text + t.items[end - 1].end);
    }
    tokens_free(&t);
  }
  error_free(&err);
  return found;
}

/* The last ones first: what they use is not needed then. */
static void shorten_text(struct judge *j, struct capture *c, int call, const struct fault *f) {
  const int most = j->runs + RUNS_OF_TEXTS;
  struct text words = {0};
  int count = 0;
  while (without_statement(c->calls[call].text, count, &words)) {
    text_clear(&words);
    count++;
  }
  for (int which = count - 1; which >= 0 && j->runs < most; which--) {
    text_clear(&words);
    if (without_statement(c->calls[call].text, which, &words) && words.length)
      try_text(j, c, call, &words, -1, f);
  }
  text_free(&words);
}

void shorten(struct judge *j, struct capture *c, const struct fault *f) {
  for (int i = 0; i < c->ncalls; i++) {
    shorten_arguments(j, c, i, f);
    shorten_text(j, c, i, f);
  }
}
