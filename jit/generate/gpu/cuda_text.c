/* The user's text, which is C, for a compiler that reads C++: every change to it, and the names that change. */
#include <string.h>

#include "jit/front/parameters.h"
#include "jit/generate/gpu/write.h"

/* Words of C++ that are names in C. */
static const char *const foreign[] = {
    "alignas",     "alignof",   "and",      "and_eq",           "bitand",       "bitor",
    "catch",       "char16_t",  "char32_t", "char8_t",          "class",        "co_await",
    "co_return",   "co_yield",  "compl",    "concept",          "const_cast",   "consteval",
    "constexpr",   "constinit", "decltype", "delete",           "dynamic_cast", "explicit",
    "export",      "friend",    "mutable",  "namespace",        "new",          "noexcept",
    "not",         "not_eq",    "nullptr",  "operator",         "or",           "or_eq",
    "private",     "protected", "public",   "reinterpret_cast", "requires",     "static_assert",
    "static_cast", "template",  "this",     "thread_local",     "throw",        "try",
    "typeid",      "typename",  "using",    "virtual",          "xor",          "xor_eq"};

static bool is_foreign(const char *word, size_t length) {
  return gpu_is_word(foreign, sizeof foreign / sizeof *foreign, word, length);
}

const char *cuda_before_name(const char *name) {
  return is_foreign(name, strlen(name)) ? "op2_c_" : "";
}

void cuda_constant_symbol(const char *name, struct text *out) {
  const char *before = cuda_before_name(name);
  text_addf(out, "_ZN8op2_user%zu%s%sE", strlen(before) + strlen(name), before, name);
}

/* Tokens `first` up to `end` become blanks; lines stay. */
static void blank(const struct tokens *t, size_t first, size_t end, char *text) {
  for (size_t at = t->items[first].begin; first < end && at < t->items[end - 1].end; at++)
    if (text[at] != '\n')
      text[at] = ' ';
}

/* Words that C allows in a parameter's brackets and C++ does not: `double b[restrict 2]`. */
static void blank_qualifiers(const struct tokens *t, size_t open, char *text) {
  static const char *const words[] = {"static", "restrict", "const", "volatile"};
  for (size_t at = open + 1, w = 0; w < sizeof words / sizeof *words; w++)
    if (token_is(t, at, words[w])) {
      blank(t, at, at + 1, text);
      at++;
      w = (size_t)-1;
    }
}

/* `double w[n]` is a pointer, whatever n is. `open`: the parenthesis of a function's parameters. */
static void blank_lengths(const struct tokens *t, size_t open, char *text) {
  const size_t end = kernel_skip_brackets(t, open);
  for (size_t i = open + 1; i < end; i++)
    if (token_is(t, i, "[") || token_is(t, i, "(")) {
      const size_t behind = kernel_skip_brackets(t, i);
      bool named = false;
      for (size_t j = i + 1; j < behind; j++)
        named |= token_is_identifier(t, j);
      if (named && token_is(t, i, "[") && token_is_identifier(t, i - 1))
        blank(t, i + 1, behind - 1, text);
      i = behind - 1;
    }
}

static bool declares_function(const struct tokens *t, size_t open) {
  return open > 1 && token_is(t, open, "(") && token_is_identifier(t, open - 1) &&
         (token_is_identifier(t, open - 2) || token_is(t, open - 2, "*"));
}

/* `(void *)0`, which C++ converts to no other pointer: C's NULL, with its macro replaced. */
static bool is_null(const struct tokens *t, size_t i) {
  return token_is(t, i, "(") && token_is(t, i + 1, "void") && token_is(t, i + 2, "*") &&
         token_is(t, i + 3, ")") && token_is(t, i + 4, "0");
}

static void change(const struct tokens *t, char *text) {
  static const char null[] = {'N', 'U', 'L', 'L'};
  int depth = 0;
  for (size_t i = 0; i < t->count; i++) {
    if (token_is(t, i, "["))
      blank_qualifiers(t, i, text);
    if (is_null(t, i)) {
      blank(t, i, i + 5, text);
      memcpy(text + t->items[i].begin, null, sizeof null);
    }
    if (t->items[i].directive)
      continue;
    depth += token_is(t, i, "{") - token_is(t, i, "}");
    if (depth == 0 && declares_function(t, i))
      blank_lengths(t, i, text);
  }
}

void cuda_copy_text(const struct kernel *k, const struct desc *d, struct text *out) {
  (void)d;
  const struct tokens *t = &k->tokens;
  struct text changed = {0};
  size_t done = 0;
  text_add_bytes(&changed, k->text, k->length);
  if (text_ok(&changed) && changed.length)
    change(t, changed.data);
  const char *text = text_str(&changed);
  for (size_t i = 0; text_ok(&changed) && i < t->count; i++) {
    const struct token *token = &t->items[i];
    if (token->kind != TOKEN_IDENTIFIER || !is_foreign(text + token->begin, token->end - token->begin))
      continue;
    text_add_bytes(out, text + done, token->begin - done);
    text_add(out, "op2_c_");
    done = token->begin;
  }
  text_add_bytes(out, text + done, changed.length - done);
  text_add_char(out, '\n');
  out->failed |= changed.failed;
  text_free(&changed);
}
