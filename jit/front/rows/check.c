/* A ragged map's rows are `T **x` in C, for which `x[k]` is something too, and only the text shows that it is not meant.
 * Which parameters have them is followed from the kernel through the calls of helpers. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "jit/front/parameters.h"
#include "jit/front/rows/rows.h"

/* What a parameter of a function is. */
enum kind { ONE_ROW, VECTOR, RAGGED };

struct use {
  int function, parameter;
  enum kind kind;
  int arg; /* of the loop, from 0 */
};

struct search {
  const struct kernel *k;
  const struct desc *d;
  struct use *uses;
  size_t count;
};

static bool same_words(const struct tokens *t, size_t a, size_t b) {
  const struct token *x = &t->items[a], *y = &t->items[b];
  return x->end - x->begin == y->end - y->begin &&
         memcmp(t->text + x->begin, t->text + y->begin, x->end - x->begin) == 0;
}

/* The token of the name of parameter `number` of a function: its last word that is in no brackets. 0: it has none. */
static size_t parameter_name(const struct tokens *t, size_t open, int number) {
  const size_t close = kernel_skip_brackets(t, open) - 1;
  size_t name = 0;
  int at = 0;
  for (size_t i = open + 1; i < close && at <= number; i++)
    if (token_is(t, i, "(") || token_is(t, i, "[") || token_is(t, i, "{"))
      i = kernel_skip_brackets(t, i) - 1;
    else if (token_is(t, i, ","))
      at++;
    else if (at == number && token_is_identifier(t, i))
      name = i;
  return name;
}

static bool add_use(struct search *s, struct use use) {
  for (size_t i = 0; i < s->count; i++)
    if (s->uses[i].function == use.function && s->uses[i].parameter == use.parameter &&
        s->uses[i].kind == use.kind)
      return true;
  struct use *uses = array_more(s->uses, s->count, sizeof *uses);
  if (!uses)
    return false;
  s->uses = uses;
  uses[s->count++] = use;
  return true;
}

/* ---- where the name stands ---------------------------------------------------------------------*/

/* Between `before` and `behind`, without parentheses around it alone. */
struct spot {
  size_t before, behind;
};

static struct spot around(const struct tokens *t, size_t at) {
  struct spot s = {at - 1, at + 1};
  while (token_is(t, s.before, "(") && token_is(t, s.behind, ")") && !token_is_identifier(t, s.before - 1)) {
    s.before--;
    s.behind++;
  }
  return s;
}

/* The bracket that the spot is in directly, and which of the things between commas it is. */
static size_t opened_before(const struct tokens *t, size_t at, size_t first, int *number) {
  int depth = 0;
  for (*number = 0; at > first; at--) {
    if (token_is(t, at, ")") || token_is(t, at, "]") || token_is(t, at, "}"))
      depth++;
    else if (token_is(t, at, "(") || token_is(t, at, "[") || token_is(t, at, "{")) {
      if (depth-- == 0)
        return at;
    } else
      *number += depth == 0 && token_is(t, at, ",");
  }
  return first;
}

/* Another thing of that name: a member, or a variable that hides the parameter (`hides`). */
static bool is_another(const struct tokens *t, size_t at, bool *hides) {
  static const char *const words[] = {"return", "else", "do", "case", "sizeof"};
  if (token_is(t, at - 1, ".") || (token_is(t, at - 1, ">") && token_is(t, at - 2, "-")))
    return true;
  const bool pointer = token_is(t, at - 1, "*") && token_is(t, at + 1, "=");
  const size_t type = pointer ? at - 2 : at - 1;
  *hides = token_is_identifier(t, type);
  for (size_t w = 0; w < sizeof words / sizeof *words; w++)
    *hides &= !token_is(t, type, words[w]);
  return *hides;
}

/* ---- what is wrong -----------------------------------------------------------------------------*/

static void add_words(const struct tokens *t, size_t first, size_t last, struct text *out) {
  if (first < last)
    text_add_bytes(out, t->text + t->items[first].begin, t->items[last - 1].end - t->items[first].begin);
}

/* "x, which is argument 2", as the function calls it. */
static void add_title(const struct search *s, const struct use *u, size_t at, struct text *out) {
  add_words(&s->k->tokens, at, at + 1, out);
  text_addf(out, u->function == s->k->function ? " (argument %d)" : " (argument %d of the loop)", u->arg + 1);
}

static int misused(const struct search *s, const struct use *u, size_t at, const struct spot *spot,
                   struct error *err) {
  const struct tokens *t = &s->k->tokens;
  struct text title = {0}, name = {0}, instead = {0};
  add_title(s, u, at, &title);
  add_words(t, at, at + 1, &name);
  if (token_is(t, spot->behind, "[")) {
    const size_t close = kernel_skip_brackets(t, spot->behind) - 1;
    text_addf(&instead, "write OP_ROW(%s, ", text_str(&name));
    add_words(t, spot->behind + 1, close, &instead);
    text_addf(&instead, ") in place of %s[", text_str(&name));
    add_words(t, spot->behind + 1, close, &instead);
    text_add(&instead, "]");
  } else
    text_addf(&instead, "write OP_ROW(%s, k) for the row of target k", text_str(&name));
  kernel_error(s->k, t->items[at].line, t->items[at].column, err,
               "%s has the rows of a ragged map, and nothing but OP_ROW leads to them; %s", text_str(&title),
               text_str(&instead));
  text_free(&title);
  text_free(&name);
  text_free(&instead);
  return err->code;
}

static int not_ragged(const struct search *s, const struct use *u, size_t at, struct error *err) {
  const struct tokens *t = &s->k->tokens;
  struct text title = {0}, name = {0};
  add_title(s, u, at, &title);
  add_words(t, at, at + 1, &name);
  if (u->kind == VECTOR)
    kernel_error(
        s->k, t->items[at].line, t->items[at].column, err,
        "%s goes through a map with %d targets for each element, and OP_ROW is for ragged maps; write "
        "%s[k] in place of OP_ROW(%s, k)",
        text_str(&title), s->d->maps[s->d->args[u->arg].map].arity, text_str(&name), text_str(&name));
  else
    kernel_error(s->k, t->items[at].line, t->items[at].column, err,
                 "%s is one row, and OP_ROW is for the rows of ragged maps (OP_ALL); use %s itself",
                 text_str(&title), text_str(&name));
  text_free(&title);
  text_free(&name);
  return err->code;
}

/* ---- looking for it ----------------------------------------------------------------------------*/

/* Helpers get what they are called with. A macro, or what the text does not define, may do with it what it likes. */
static int enter_called(struct search *s, const struct use *u, size_t callee, int number, struct error *err) {
  const struct kernel *k = s->k;
  for (int f = 0; f < k->nfunctions; f++)
    if (same_words(&k->tokens, callee, k->functions[f].token) &&
        !add_use(s, (struct use){f, number, u->kind, u->arg}))
      return error_memory(err, "the calls in a kernel text", s->count * sizeof *s->uses);
  return OP_OK;
}

static int look(struct search *s, const struct use *u, size_t at, size_t body, struct error *err) {
  const struct tokens *t = &s->k->tokens;
  const struct spot spot = around(t, at);
  const bool passed = (token_is(t, spot.before, "(") || token_is(t, spot.before, ",")) &&
                      (token_is(t, spot.behind, ")") || token_is(t, spot.behind, ","));
  int number = 0;
  const size_t open = passed ? opened_before(t, spot.before, body, &number) : body;
  if (token_is(t, open, "(") && token_is_identifier(t, open - 1)) {
    if (token_is(t, open - 1, "OP_ROW"))
      return u->kind == RAGGED || number ? OP_OK : not_ragged(s, u, at, err);
    return enter_called(s, u, open - 1, number, err);
  }
  const bool unused = token_is(t, spot.before, ")") && token_is(t, spot.behind, ";"); /* (void)x; */
  return u->kind != RAGGED || unused ? OP_OK : misused(s, u, at, &spot, err);
}

static int search_body(struct search *s, const struct use *u, struct error *err) {
  const struct tokens *t = &s->k->tokens;
  const size_t open = s->k->functions[u->function].open, name = parameter_name(t, open, u->parameter);
  size_t body = kernel_skip_brackets(t, open);
  while (body < t->count && !token_is(t, body, "{"))
    body++;
  const size_t end = kernel_skip_brackets(t, body);
  int code = OP_OK;
  bool hides = false;
  for (size_t i = body + 1; name && i < end && !code && !hides; i++)
    if (token_is_identifier(t, i) && !t->items[i].directive && same_words(t, i, name) &&
        !is_another(t, i, &hides))
      code = look(s, u, i, body, err);
  return code;
}

int rows_check(const struct kernel *k, const struct desc *d, struct error *err) {
  struct search s = {.k = k, .d = d};
  int code = OP_OK;
  /* OP_ROW of a macro that is no text of ours. */
  if (kernel_uses(k, "op2jit_row") || !(desc_any_ragged(d) || kernel_uses(k, "OP_ROW")))
    return OP_OK;
  for (int i = 0; i < d->nargs && !code; i++) {
    const struct desc_arg *a = &d->args[i];
    const enum kind kind = desc_is_ragged(d, a) ? RAGGED : desc_is_vector(a) ? VECTOR : ONE_ROW;
    if (!add_use(&s, (struct use){k->function, desc_parameter(d, i), kind, i}))
      code = error_memory(err, "the arguments of a kernel text", s.count * sizeof *s.uses);
  }
  for (size_t i = 0; i < s.count && !code; i++) {
    const struct use use = s.uses[i]; /* more come, and the array moves */
    code = search_body(&s, &use, err);
  }
  free(s.uses);
  return code;
}
