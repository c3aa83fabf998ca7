/* A ragged map's rows are `T **x` in C, for which `x[k]` is something too, and only the text shows that it is not meant.
 * Which parameters have them is followed from the kernel through the calls of helpers and the macros of the text; a macro
 * that is defined several times is left to the prover. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "jit/front/parameters.h"
#include "jit/front/rows/locals.h"
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
  size_t *macros; /* tokens of the names that the text defines */
  size_t nmacros;
  int depth; /* of macros that are looked into */
  int entered;
};

/* A function's body or a macro's, without `first`: its brace, or the macro's name. */
struct span {
  size_t first, begin, end;
  bool macro;
};

/* Ten macros of ten uses each, one in the other, are too many to follow. */
enum { DEEPEST = 16, MOST_ENTERED = 20000 };

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

/* ---- macros ------------------------------------------------------------------------------------*/

static bool defines(const struct tokens *t, size_t i) {
  return t->items[i].directive && t->items[i].line_first && token_is(t, i + 1, "define") &&
         token_is_identifier(t, i + 2);
}

static bool find_macros(struct search *s) {
  const struct tokens *t = &s->k->tokens;
  for (size_t i = 0; i < t->count; i++) {
    if (!defines(t, i))
      continue;
    size_t *macros = array_more(s->macros, s->nmacros, sizeof *macros);
    if (!macros)
      return false;
    s->macros = macros;
    macros[s->nmacros++] = i + 2;
  }
  return true;
}

static bool takes_arguments(const struct tokens *t, size_t macro) {
  return token_is(t, macro + 1, "(") && t->items[macro + 1].begin == t->items[macro].end;
}

static struct span macro_span(const struct tokens *t, size_t macro) {
  struct span span = {.first = macro, .begin = macro + 1, .macro = true};
  if (takes_arguments(t, macro))
    span.begin = kernel_skip_brackets(t, macro + 1);
  for (span.end = span.begin; span.end < t->count; span.end++)
    if (!t->items[span.end].directive || t->items[span.end].line_first)
      break;
  return span;
}

/* The token of the macro's name where it is defined; 0: it is no macro, or one of several definitions. */
static size_t find_macro(const struct search *s, size_t at) {
  size_t found = 0;
  for (size_t i = 0; i < s->nmacros; i++)
    if (tokens_same(&s->k->tokens, s->macros[i], at)) {
      if (found)
        return 0;
      found = s->macros[i];
    }
  return found;
}

static bool has_parameter(const struct tokens *t, size_t macro, size_t name) {
  const size_t end = takes_arguments(t, macro) ? kernel_skip_brackets(t, macro + 1) : macro;
  for (size_t i = macro + 1; i < end; i++)
    if (token_is_identifier(t, i) && tokens_same(t, i, name))
      return true;
  return false;
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

static int search_span(struct search *s, const struct use *u, size_t name, const struct span *span,
                       struct error *err);

static int search_macro(struct search *s, const struct use *u, size_t name, size_t macro, struct error *err) {
  const struct span span = macro_span(&s->k->tokens, macro);
  if (s->depth == DEEPEST || s->entered++ >= MOST_ENTERED)
    return OP_OK;
  s->depth++;
  const int code = search_span(s, u, name, &span, err);
  s->depth--;
  return code;
}

/* Helpers and macros get what they are called with. What the text does not define may do with it what it likes. */
static int enter_called(struct search *s, const struct use *u, size_t callee, int number, struct error *err) {
  const struct kernel *k = s->k;
  const size_t macro = find_macro(s, callee);
  const size_t name =
      macro && takes_arguments(&k->tokens, macro) ? parameter_name(&k->tokens, macro + 1, number) : 0;
  if (name)
    return search_macro(s, u, name, macro, err);
  for (int f = 0; f < k->nfunctions; f++)
    if (tokens_same(&k->tokens, callee, k->functions[f].token) &&
        !add_use(s, (struct use){f, number, u->kind, u->arg}))
      return error_memory(err, "the calls in a kernel text", s->count * sizeof *s->uses);
  return OP_OK;
}

/* Where a macro is used, and not in itself, stands what its first or last word is used for. */
static bool is_open(const struct tokens *t, const struct spot *spot, const struct span *span) {
  const bool begins = spot->before < span->begin, ends = spot->behind >= span->end;
  return span->macro && ((begins && (ends || token_is(t, spot->behind, ","))) ||
                         (ends && (token_is(t, spot->before, "(") || token_is(t, spot->before, ","))));
}

static int look(struct search *s, const struct use *u, size_t at, const struct span *span,
                struct error *err) {
  const struct tokens *t = &s->k->tokens;
  const struct spot spot = around(t, at);
  const bool passed = (token_is(t, spot.before, "(") || token_is(t, spot.before, ",")) &&
                      (token_is(t, spot.behind, ")") || token_is(t, spot.behind, ","));
  int number = 0;
  if (is_open(t, &spot, span))
    return OP_OK;
  const size_t open = passed ? opened_before(t, spot.before, span->first, &number) : span->first;
  if (token_is(t, open, "(") && token_is_identifier(t, open - 1)) {
    if (token_is(t, open - 1, "OP_ROW"))
      return u->kind == RAGGED || number ? OP_OK : not_ragged(s, u, at, err);
    return enter_called(s, u, open - 1, number, err);
  }
  const bool unused = token_is(t, spot.before, ")") && token_is(t, spot.behind, ";"); /* (void)x; */
  return u->kind != RAGGED || unused ? OP_OK : misused(s, u, at, &spot, err);
}

static int search_span(struct search *s, const struct use *u, size_t name, const struct span *span,
                       struct error *err) {
  const struct tokens *t = &s->k->tokens;
  int code = OP_OK;
  bool hides = false;
  for (size_t i = span->begin; i < span->end && !code && !hides; i++) {
    if (!token_is_identifier(t, i) || t->items[i].directive != span->macro)
      continue;
    if (tokens_same(t, i, name)) {
      if ((span->macro && i == span->begin) || !is_another(t, i, &hides))
        code = look(s, u, i, span, err);
      continue;
    }
    const size_t macro = find_macro(s, i);
    if (macro && macro != span->first && !has_parameter(t, macro, name))
      code = search_macro(s, u, name, macro, err);
  }
  return code;
}

static int search_body(struct search *s, const struct use *u, struct error *err) {
  const struct tokens *t = &s->k->tokens;
  const size_t open = s->k->functions[u->function].open, name = parameter_name(t, open, u->parameter);
  size_t body = kernel_skip_brackets(t, open);
  while (body < t->count && !token_is(t, body, "{"))
    body++;
  const struct span span = {.first = body, .begin = body + 1, .end = kernel_skip_brackets(t, body)};
  return name ? search_span(s, u, name, &span, err) : OP_OK;
}

int rows_check(const struct kernel *k, const struct desc *d, struct error *err) {
  struct search s = {.k = k, .d = d};
  int code = OP_OK;
  /* OP_ROW of a macro that is no text of ours. */
  if (kernel_uses(k, "op2jit_row") || !(desc_any_ragged(d) || kernel_uses(k, "OP_ROW")))
    return OP_OK;
  if (!find_macros(&s))
    code = error_memory(err, "the macros of a kernel text", s.nmacros * sizeof *s.macros);
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
  free(s.macros);
  return code ? code : rows_check_values(k, err);
}
