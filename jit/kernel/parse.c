/* Turns a text into a kernel: finds its functions, and checks that what it opens is closed. */
#include "jit/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "jit/kernel/parameters.h"
#include "jit/kernel/unit.h"

static char *copy_bytes(const char *bytes, size_t length) {
  char *copy = array_new(length + 1, 1);
  if (copy && length)
    memcpy(copy, bytes, length);
  return copy;
}

/* ---- origin -------------------------------------------------------------------------------------*/

static bool is_one_line(const struct kernel *k, size_t token) {
  const struct origin *origin = origins_of(&k->origins, k->tokens.items[token].begin);
  return origin && origin->one_line;
}

/* A macro's argument has no lines: the text behind a directive would become part of it. */
static int check_one_line(const struct kernel *k, struct error *err) {
  for (size_t i = 0; i < k->tokens.count; i++)
    if (token_is(&k->tokens, i, "#") && is_one_line(k, i))
      return kernel_error(k, k->tokens.items[i].line, k->tokens.items[i].column, err,
                          "a preprocessor line cannot stand in OP_KERNEL, which makes one line of its text; "
                          "write the kernel as a "
                          "string, with \"\\n\" at the end of that line, or in a file for op_kernel_file. "
                          "Kernels have math.h, stdint.h, "
                          "limits.h, float.h, stdbool.h and stddef.h without it, and no other header");
  return OP_OK;
}

/* ---- functions ---------------------------------------------------------------------------------*/

static bool is_attribute(const struct tokens *t, size_t i) {
  return token_is(t, i, "__attribute__") || token_is(t, i, "__attribute");
}

/* True: the identifier at `i` is followed by a parameter list and a body. */
static bool defines_function(const struct tokens *t, size_t i) {
  if (!token_is_identifier(t, i) || is_attribute(t, i) || !token_is(t, i + 1, "("))
    return false;
  size_t behind = kernel_skip_brackets(t, i + 1);
  while (is_attribute(t, behind) && token_is(t, behind + 1, "("))
    behind = kernel_skip_brackets(t, behind + 1);
  return token_is(t, behind, "{");
}

static bool returns_nothing(const struct tokens *t, size_t declaration, size_t name) {
  bool is_void = false;
  for (size_t i = declaration; i < name; i++) {
    if (token_is(t, i, "*"))
      return false;
    is_void |= token_is(t, i, "void");
  }
  return is_void;
}

static bool add_function(struct kernel *k, size_t token, size_t declaration) {
  const struct tokens *t = &k->tokens;
  struct kernel_function *functions = array_more(k->functions, (size_t)k->nfunctions, sizeof *functions);
  if (!functions)
    return false;
  k->functions = functions;
  struct kernel_function *f = &functions[k->nfunctions];
  *f = (struct kernel_function){.token = token,
                                .open = token + 1,
                                .line = t->items[token].line,
                                .column = t->items[token].column,
                                .is_void = returns_nothing(t, declaration, token)};
  f->name = copy_bytes(t->text + t->items[token].begin, t->items[token].end - t->items[token].begin);
  k->nfunctions += f->name != NULL;
  return f->name != NULL;
}

static int find_functions(struct kernel *k, struct error *err) {
  const struct tokens *t = &k->tokens;
  size_t declaration = 0;
  for (size_t i = 0; i < t->count; i++) {
    if (t->items[i].directive) {
      declaration = i + 1;
      continue;
    }
    if (defines_function(t, i)) {
      if (!add_function(k, i, declaration))
        return error_memory(err, "the functions of a kernel text", sizeof *k->functions);
      while (!token_is(t, i, "{"))
        i = token_is(t, i, "(") ? kernel_skip_brackets(t, i) : i + 1;
      i = kernel_skip_brackets(t, i) - 1;
      declaration = i + 1;
    } else if (token_is(t, i, "{") || token_is(t, i, "(") || token_is(t, i, "["))
      i = kernel_skip_brackets(t, i) - 1;
    else if (token_is(t, i, ";"))
      declaration = i + 1;
  }
  return OP_OK;
}

/* True: the function is in the kernel's own text, not in the text that kernels share. */
static bool is_own(const struct kernel *k, int function) {
  return k->tokens.items[k->functions[function].token].begin >= k->origins.own;
}

static int no_such_function(const struct kernel *k, struct error *err) {
  struct text message = {0}, names = {0}, own = {0};
  for (int i = 0; i < k->nfunctions; i++) {
    names_note(&names, k->functions[i].name);
    if (is_own(k, i))
      text_addf(&own, "%s%s", own.length ? ", " : "", k->functions[i].name);
  }
  const char *nearest = own.length ? names_nearest(&names, k->name) : NULL;
  if (!own.length)
    text_addf(&message,
              "the kernel text defines no function, so there is no kernel %s in it; a kernel is the text of "
              "\"void %s(...) {...}\"",
              k->name, k->name);
  else
    text_addf(&message, "the kernel text has no function %s; it defines %s", k->name, text_str(&own));
  if (nearest)
    text_addf(&message, "; did you mean %s?", nearest);
  if (k->tokens.comment_line)
    text_add(&message, " (a comment in it is not closed)");
  error_set(err, OP_ERR_KERNEL, "%s", text_str(&message));
  text_free(&message);
  text_free(&names);
  text_free(&own);
  return OP_ERR_KERNEL;
}

/* True: conditions may choose between several definitions. Then nothing is checked here. */
static bool has_conditions(const struct kernel *k) {
  static const char *const words[] = {"if", "ifdef", "ifndef", "elif", "else", NULL};
  for (size_t i = 0; i + 1 < k->tokens.count; i++)
    if (k->tokens.items[i].directive && k->tokens.items[i].line_first &&
        token_is_any(&k->tokens, i + 1, words))
      return true;
  return false;
}

static int find_kernel(struct kernel *k, struct error *err) {
  int found = 0, calls = 0;
  k->function = -1;
  for (int i = 0; i < k->nfunctions; i++)
    if (strcmp(k->functions[i].name, k->name) == 0) {
      found++;
      if (k->function < 0)
        k->function = i;
    }
  if (k->function < 0)
    return no_such_function(k, err);
  for (size_t i = 0; i + 1 < k->tokens.count; i++)
    calls +=
        !k->tokens.items[i].directive && token_is(&k->tokens, i, k->name) && token_is(&k->tokens, i + 1, "(");
  k->certain = found == 1 && !(has_conditions(k) && calls > 1);
  const struct kernel_function *f = &k->functions[k->function];
  if (k->certain && !f->is_void)
    return kernel_error(k, f->line, f->column, err,
                        "the kernel function must be void; write \"void %s(...)\"", k->name);
  return OP_OK;
}

/* ---- what was opened is closed ------------------------------------------------------------------*/

static bool is_closing(const struct kernel *k, const struct token *open, const struct token *close) {
  static const char pairs[] = "(){}[]";
  return strchr(pairs, k->text[open->begin])[1] == k->text[close->begin];
}

static int match_brackets(const struct kernel *k, size_t first, size_t *stack, struct error *err) {
  const struct token *items = k->tokens.items;
  size_t depth = 0;
  for (size_t i = first; i < k->tokens.count; i++) {
    const struct token *token = &items[i];
    char c = k->text[token->begin];
    if (token->kind != TOKEN_PUNCTUATOR || token->directive || !strchr("(){}[]", c))
      continue;
    if (strchr("({[", c)) {
      stack[depth++] = i;
      continue;
    }
    if (depth == 0)
      return kernel_error(k, token->line, token->column, err, "this '%c' closes nothing; remove it", c);
    if (!is_closing(k, &items[stack[depth - 1]], token))
      break; /* which one is wrong the compiler can say better */
    depth--;
  }
  if (depth == 0)
    return OP_OK;
  const struct token *open = &items[stack[depth - 1]];
  return kernel_error(k, open->line, open->column, err, "this '%c' is not closed; write its '%c'",
                      k->text[open->begin], strchr("(){}[]", k->text[open->begin])[1]);
}

/* Left open, it would swallow the code around the kernel, and the compiler would speak of that. */
static int check_closed(const struct kernel *k, struct error *err) {
  const struct tokens *t = &k->tokens;
  size_t first = 0;
  if (t->comment_line)
    return kernel_error(k, t->comment_line, t->comment_column, err,
                        "the comment is not closed; write \"*/\" at its end");
  while (first < t->count &&
         t->items[first].begin < k->origins.own) /* that was checked when it was declared */
    first++;
  for (size_t i = first; i < t->count; i++) {
    const struct token *token = &t->items[i];
    bool quoted = token->kind == TOKEN_STRING || token->kind == TOKEN_CHARACTER;
    if (quoted && (token->end - token->begin < 2 || k->text[token->end - 1] != k->text[token->begin]))
      return kernel_error(
          k, token->line, token->column, err,
          "the quotation mark is not closed; write it again at the end of the text in quotes");
    /* Macros and conditions may hold half of a pair. */
    if (token->directive)
      return OP_OK;
  }
  size_t *stack = array_new(t->count, sizeof *stack);
  if (!stack)
    return error_memory(err, "the check of a kernel text", t->count * sizeof *stack);
  int code = match_brackets(k, first, stack, err);
  free(stack);
  return code;
}

/* ---- the whole ---------------------------------------------------------------------------------*/

static int parse(struct kernel *k, struct error *err) {
  if (!k->name || !k->text)
    return error_memory(err, "a kernel text", k->length);
  if (lex(&k->tokens, k->text, k->length, err) != OP_OK || check_one_line(k, err) != OP_OK ||
      kernel_blank(k, err) != OP_OK || find_functions(k, err) != OP_OK || find_kernel(k, err) != OP_OK ||
      check_closed(k, err) != OP_OK)
    return err->code;
  return parameters_parse(k, err);
}

static int parse_or_free(struct kernel *k, struct error *err) {
  int code = parse(k, err);
  if (code != OP_OK)
    kernel_free(k);
  return code;
}

/* Leaves only what the kernel uses. */
static int parse_less(struct kernel *k, struct error *err) {
  bool changed;
  int code = kernel_cut(k, &changed, err);
  if (code)
    kernel_free(k);
  if (code || !changed)
    return code;
  kernel_forget(k);
  return parse_or_free(k, err);
}

int kernel_parse(struct kernel *k, const char *text, size_t length, const char *name, struct error *err) {
  struct origin origin;
  const char *rest = text_behind_mark(origin_split(text, &length, &origin), &length);
  *k = (struct kernel){.function = -1,
                       .name = copy_bytes(name, strlen(name)),
                       .text = copy_bytes(rest, length),
                       .length = length};
  if (!origins_add(&k->origins, origin)) {
    free(k->text);
    k->text = NULL;
  }
  free(origin.file);
  return parse_or_free(k, err);
}

int kernel_parse_unit(struct kernel *k, struct shared *shared, const char *text, const char *name,
                      struct error *err) {
  struct unit unit;
  *k = (struct kernel){.function = -1};
  if (unit_make(&unit, shared, text, strlen(text), name, err) != OP_OK)
    return err->code;
  const size_t length = unit.text.length;
  *k = (struct kernel){.function = -1,
                       .name = copy_bytes(name, strlen(name)),
                       .text = length ? text_take(&unit.text) : copy_bytes("", 0),
                       .length = length,
                       .origins = unit.origins,
                       .fortran = unit.fortran};
  unit.origins = (struct origins){0};
  unit.fortran = (struct fortran_made){0};
  unit_free(&unit);
  return parse_or_free(k, err) ? err->code : parse_less(k, err);
}

int shared_check(const struct shared *shared, struct error *err) {
  struct kernel k = {.text = shared->before.text.data, .length = shared->before.text.length};
  if (!k.length || lex(&k.tokens, k.text, k.length, err) != OP_OK)
    return err->code;
  k.origins = shared->before.origins;
  int code = check_one_line(&k, err);
  if (!code)
    code = check_closed(&k, err);
  tokens_free(&k.tokens);
  return code;
}
