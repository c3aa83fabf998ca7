#include "jit/front/parameters.h"

/* True: a variable, type, function or enumerator is declared here. In brackets there are only types and
 * enumerators. Code that looks alike and declares nothing, as "sizeof (a)", is inside brackets. */
static bool is_declared(const struct tokens *t, size_t i, int depth, bool in_enum) {
  static const char *const behind[] = {"=", ";", "[", ",", "(", "__attribute__", "__attribute", NULL};
  static const char *const tags[] = {"struct", "union", "enum", NULL};
  static const char *const never[] = {"__attribute__", "__attribute", "_Static_assert", "static_assert",
                                      NULL};
  if (!token_is_identifier(t, i) || token_is_any(t, i, never))
    return false;
  const bool tag = i > 0 && token_is_any(t, i - 1, tags);
  const bool pointer = token_is(t, i + 1, "(") && token_is(t, i + 2, "*"); /* of a type, to functions */
  return (depth == 0 && !pointer && token_is_any(t, i + 1, behind)) ||
         (tag && (token_is(t, i + 1, "{") || token_is(t, i + 1, ";"))) ||
         (in_enum && (token_is(t, i - 1, "{") || token_is(t, i - 1, ",")));
}

void tokens_declared(const struct tokens *t, bool *declares) {
  size_t enum_end = 0;
  int depth = 0;
  for (size_t i = 0; i < t->count; i++) /* also in a body: a macro is for all that follows */
    declares[i] = t->items[i].directive && i > 0 && token_is(t, i - 1, "define");
  for (size_t i = 0; i < t->count; i++) {
    if (t->items[i].directive)
      continue;
    if (depth == 0 && token_is(t, i, "{") && i > 0 && token_is(t, i - 1, ")")) { /* a function's body */
      i = kernel_skip_brackets(t, i) - 1;
      continue;
    }
    const size_t open = token_is(t, i + 1, "{") ? i + 1 : i + 2;
    if (token_is(t, i, "enum") && token_is(t, open, "{"))
      enum_end = kernel_skip_brackets(t, open);
    declares[i] = is_declared(t, i, depth, i < enum_end);
    depth += token_is(t, i, "(") || token_is(t, i, "[") || token_is(t, i, "{");
    depth -= token_is(t, i, ")") || token_is(t, i, "]") || token_is(t, i, "}");
  }
}
