/* Fewer calls and elements, by halves first (Zeller's delta debugging), then fewer arguments and statements. */
#include <stdlib.h>
#include <string.h>

#include "cli/replay.h"
#include "jit/kernel/parameters.h"

/* So many runs are enough; and so many for the text of a call. */
enum { RUNS_MOST = 3000, RUNS_OF_TEXT = 400 };

static void replace(struct capture *c, struct capture *with) {
  capture_free(c);
  *c = *with;
  *with = (struct capture){0};
}

/* ---- elements ---- */

/* By set: which elements run, a byte each. NULL: no memory. */
static unsigned char **find_running(const struct capture *c) {
  unsigned char **runs = capture_flags(c);
  for (int i = 0; runs && i < c->ncalls; i++)
    for (long long k = 0; k < c->calls[i].count; k++)
      runs[c->calls[i].set][capture_element(&c->calls[i], k)] = 1;
  return runs;
}

/* All that run but number `begin` to `end`, in the order of sets and elements; and how many ran. */
static int without(const struct capture *c, long long begin, long long end, struct capture *out,
                   long long *count, struct error *err) {
  unsigned char **runs = find_running(c);
  int code = capture_copy(c, out, err);
  if (!runs && !code)
    code = error_memory(err, "a capture", 0);
  *count = 0;
  for (int s = 0; !code && s < c->nsets; s++)
    for (long long e = 0; e < c->sets[s].size; e++)
      if (runs[s][e]) {
        runs[s][e] = *count < begin || *count >= end;
        (*count)++;
      }
  if (!code)
    code = capture_select(out, (const unsigned char *const *)runs, err);
  capture_flags_free(runs, c->nsets);
  return code;
}

static int reduce_elements(struct judge *j, struct capture *c, const struct fault *f, struct error *err) {
  long long count = 0, parts = 2, ignored;
  struct capture all;
  int code = without(c, 0, 0, &all, &count, err);
  capture_free(&all);
  while (!code && count > 1 && j->runs < RUNS_MOST) {
    bool any = false;
    for (long long p = 0; !code && p < parts && count > 1 && j->runs < RUNS_MOST;) {
      struct capture less;
      const long long begin = count * p / parts, end = count * (p + 1) / parts;
      code = without(c, begin, end, &less, &ignored, err);
      const bool still = !code && end > begin && end - begin < count && fault_is_there(j, &less, f);
      if (still) {
        replace(c, &less);
        count -= end - begin;
        parts = parts > 2 ? parts - 1 : 2;
        any = true;
      } else
        p++;
      capture_free(&less);
    }
    if (!any && parts >= count)
      break;
    parts = any ? parts : 2 * parts;
    parts = parts > count ? count : parts;
  }
  return code;
}

/* ---- calls ---- */

static int reduce_calls(struct judge *j, struct capture *c, const struct fault *f, struct error *err) {
  int code = OP_OK;
  for (int i = c->ncalls - 1; !code && i >= 0 && c->ncalls > 1; i--) {
    struct capture less;
    code = capture_copy(c, &less, err);
    if (!code) {
      capture_drop_call(&less, i);
      code = capture_select(&less, NULL, err);
    }
    if (!code && fault_is_there(j, &less, f))
      replace(c, &less);
    capture_free(&less);
  }
  return code;
}

/* ---- arguments and statements: whether what is left is C, compilers say ---- */

static void drop_arg(struct capture_call *call, int number) {
  call->nargs--;
  for (int a = number; a < call->nargs; a++)
    call->args[a] = call->args[a + 1];
  for (int a = 0; a < call->nargs; a++)
    call->args[a].ref -= call->args[a].ref > number;
}

/* The call gets another text, and loses argument `arg` (-1: none), if the fault stays then. */
static void try_text(struct judge *j, struct capture *c, int number, struct text *words, int arg,
                     const struct fault *f) {
  struct capture less = {0};
  struct error err = {0};
  if (text_ok(words) && capture_copy(c, &less, &err) == OP_OK) {
    struct capture_call *call = &less.calls[number];
    free(call->text);
    call->text = text_take(words);
    if (arg >= 0)
      drop_arg(call, arg);
    if (capture_select(&less, NULL, &err) == OP_OK && capture_check(&less, &err) == OP_OK &&
        fault_is_there(j, &less, f))
      replace(c, &less);
  }
  capture_free(&less);
  error_free(&err);
}

/* The parameter becomes a variable of zeros: "double x_zeros[4] = {0}; const double *x = x_zeros;". */
static bool leave_out(const struct kernel *k, const struct capture_arg *arg, int which, struct text *out) {
  const struct tokens *t = &k->tokens;
  const struct kernel_parameter *p = &k->parameters[which];
  const size_t open = k->functions[k->function].open, body = kernel_skip_brackets(t, open);
  if (!p->understood || p->depth != 1 || !*p->name || !token_is(t, body, "{"))
    return false;
  size_t begin = open + 1, end;
  while (t->items[begin].line != p->line || t->items[begin].column != p->column)
    begin++;
  for (end = begin + 1; token_is(t, end, "[");)
    end = kernel_skip_brackets(t, end);
  while (!token_is(t, begin - 1, "(") && !token_is(t, begin - 1, ","))
    begin--;
  /* With the comma before it, or behind the first one. */
  const size_t from = t->items[which ? begin - 1 : begin].begin, to = t->items[which ? end : end + 1].begin;
  const size_t start = t->items[body].end;
  text_add_bytes(out, k->text, from);
  text_add_bytes(out, k->text + to, start - to);
  text_addf(out, " %s %s_zeros[%lld] = {0}; %s = %s_zeros;%s", type_info(arg->type)->name, p->name, arg->dim,
            p->spelling, p->name, k->text + start);
  return true;
}

static void reduce_arguments(struct judge *j, struct capture *c, int number, const struct fault *f) {
  for (int a = c->calls[number].nargs - 1; a >= 0 && c->calls[number].nargs > 1; a--) {
    const struct capture_call *call = &c->calls[number];
    struct kernel k = {0};
    struct error err = {0};
    struct text words = {0};
    if (kernel_parse(&k, call->text, strlen(call->text), call->name, &err) == OP_OK &&
        k.nparameters == call->nargs && call->args[a].dim <= 1000 && leave_out(&k, &call->args[a], a, &words))
      try_text(j, c, number, &words, a, f);
    kernel_free(&k);
    error_free(&err);
    text_free(&words);
  }
}

static bool begins_statement(const struct tokens *t, size_t i) {
  return i > 1 && i < t->count && !t->items[i].directive && !token_is(t, i, "}") &&
         !token_is(t, i - 2, "=") &&
         (token_is(t, i - 1, ";") || token_is(t, i - 1, "{") || token_is(t, i - 1, "}"));
}

/* From a token that begins one: behind the semicolon, or the brace that closes it. */
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

/* The last ones first: what they use is not needed then. What stands before token `at` is still the same. */
static void reduce_statements(struct judge *j, struct capture *c, int number, const struct fault *f) {
  const int most = j->runs + RUNS_OF_TEXT;
  for (size_t at = strlen(c->calls[number].text); at-- > 0 && j->runs < most;) {
    const char *text = c->calls[number].text;
    struct tokens t = {0};
    struct error err = {0};
    struct text words = {0};
    if (lex(&t, text, strlen(text), &err) == OP_OK && begins_statement(&t, at)) {
      text_add_bytes(&words, text, t.items[at].begin);
      text_add(&words, text + t.items[statement_end(&t, at) - 1].end);
      try_text(j, c, number, &words, -1, f);
    }
    at = at < t.count ? at : t.count; /* it began with the number of letters */
    tokens_free(&t);
    error_free(&err);
    text_free(&words);
  }
}

int reduce(struct judge *j, struct capture *c, const struct fault *f, struct error *err) {
  int code = reduce_calls(j, c, f, err);
  if (!code)
    code = reduce_elements(j, c, f, err);
  for (int i = 0; !code && i < c->ncalls; i++) {
    reduce_arguments(j, c, i, f);
    reduce_statements(j, c, i, f);
  }
  return code;
}
