/* C that cannot be CUDA C, or OpenCL C, found before the compiler sees it: it would say less. */
#include <string.h>

#include "jit/front/parameters.h"
#include "jit/generate/gpu/gpu.h"

static bool is_type_word(const struct tokens *t, size_t i) {
  static const char *const words[] = {"double", "float",   "int",     "unsigned", "long",
                                      "short",  "char",    "bool",    "_Bool",    "signed",
                                      "size_t", "int32_t", "int64_t", "uint32_t", "uint64_t"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (token_is(t, i, words[k]))
      return true;
  return false;
}

static int refuse_in(const char *language, const struct kernel *k, size_t at, struct error *err,
                     const char *what, const char *remedy) {
  const struct token *token = &k->tokens.items[at];
  return kernel_error(k, token->line, token->column, err, "%s is C that %s does not have; %s", what, language,
                      remedy);
}

static int refuse(const struct kernel *k, size_t at, struct error *err, const char *what,
                  const char *remedy) {
  return refuse_in("a GPU's compiler, which reads C++,", k, at, err, what, remedy);
}

/* The opening parenthesis that belongs to the closing one at `close`. */
static size_t opening(const struct tokens *t, size_t close) {
  int depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    depth += token_is(t, i, ")") - token_is(t, i, "(");
    if (depth == 0)
      return i;
  }
  return 0;
}

/* `(type){...}`: a parenthesis and a brace, and nothing before that makes them a statement or a function. */
static bool is_compound_literal(const struct tokens *t, size_t close) {
  if (!token_is(t, close, ")") || !token_is(t, close + 1, "{"))
    return false;
  size_t open = opening(t, close);
  if (open == 0)
    return false;
  bool named = token_is_identifier(t, open - 1) && !token_is(t, open - 1, "return");
  return !named && !token_is(t, open - 1, ")") && !token_is(t, open - 1, "]");
}

static bool same(const struct tokens *t, size_t a, size_t b) {
  size_t length = t->items[a].end - t->items[a].begin;
  return length == t->items[b].end - t->items[b].begin &&
         memcmp(t->text + t->items[a].begin, t->text + t->items[b].begin, length) == 0;
}

/* Is the identifier at `use` a variable of its function: a parameter, or declared before without const? */
static bool is_variable(const struct tokens *t, size_t first, size_t use) {
  for (size_t i = first; i + 1 < use; i++) {
    if (!same(t, i, use) || !token_is_identifier(t, i) || i == 0)
      continue;
    size_t before = i - 1;
    while (before > first && token_is(t, before, "*"))
      before--;
    if (!is_type_word(t, before))
      continue;
    while (before > first && is_type_word(t, before))
      before--;
    return !token_is(t, before, "const") && !token_is(t, before, "constexpr");
  }
  return false;
}

/* A declaration `type name[size]` whose size is a variable: the place of that variable, else 0. */
static size_t variable_length(const struct tokens *t, size_t first, size_t at) {
  if (!is_type_word(t, at) || !token_is_identifier(t, at + 1) || !token_is(t, at + 2, "["))
    return 0;
  for (size_t i = at + 2; token_is(t, i, "[");) {
    size_t end = kernel_skip_brackets(t, i);
    for (size_t j = i + 1; j + 1 < end; j++)
      if (token_is_identifier(t, j) && !token_is(t, j - 1, ".") && is_variable(t, first, j))
        return j;
    i = end;
  }
  return 0;
}

/* ---- initialisers with the names of members ---- */

enum { MOST_NAMES = 32 };

struct names {
  size_t at[MOST_NAMES]; /* tokens */
  int count;
};

static int place_of(const struct tokens *t, const struct names *in, size_t name) {
  for (int i = 0; i < in->count; i++)
    if (same(t, in->at[i], name))
      return i;
  return -1;
}

static size_t past_brackets(const struct tokens *t, size_t i) {
  return token_is(t, i, "{") || token_is(t, i, "(") || token_is(t, i, "[") ? kernel_skip_brackets(t, i)
                                                                           : i + 1;
}

/* The members of the structure whose brace this is, in their order. */
static void read_members(const struct tokens *t, size_t open, struct names *out) {
  const size_t end = kernel_skip_brackets(t, open) - 1;
  out->count = 0;
  for (size_t i = open + 1; i < end; i = past_brackets(t, i)) {
    bool last = token_is(t, i + 1, ",") || token_is(t, i + 1, ";") || token_is(t, i + 1, "[") ||
                token_is(t, i + 1, ":");
    if (token_is_identifier(t, i) && last && out->count < MOST_NAMES)
      out->at[out->count++] = i;
  }
}

/* `{ .a = 1, .b = 2 }`: the names. */
static void read_designators(const struct tokens *t, size_t open, struct names *out) {
  const size_t end = kernel_skip_brackets(t, open) - 1;
  out->count = 0;
  for (size_t i = open + 1; i < end; i = past_brackets(t, i))
    if (token_is(t, i, ".") && (token_is(t, i - 1, "{") || token_is(t, i - 1, ",")) &&
        token_is_identifier(t, i + 1) && out->count < MOST_NAMES)
      out->at[out->count++] = i + 1;
}

/* The first name that stands behind one of a later member, 0: none. *known: all of them are members. */
static size_t out_of_order(const struct tokens *t, const struct names *members, const struct names *used,
                           bool *known) {
  size_t found = 0;
  int last = -1;
  for (int i = 0; i < used->count; i++) {
    const int place = place_of(t, members, used->at[i]);
    if (place < 0)
      return 0;
    if (place < last && !found)
      found = used->at[i];
    last = place;
  }
  *known = true;
  return found;
}

/* Of several structures with these members one in this order is enough. */
static size_t misplaced_designator(const struct tokens *t, size_t open) {
  struct names used, members;
  size_t found = 0;
  read_designators(t, open, &used);
  for (size_t i = 0; used.count > 1 && i + 2 < t->count; i++) {
    if (!token_is(t, i, "struct"))
      continue;
    const size_t brace = token_is(t, i + 1, "{") ? i + 1 : i + 2;
    bool known = false;
    if (!token_is(t, brace, "{"))
      continue;
    read_members(t, brace, &members);
    const size_t at = out_of_order(t, &members, &used, &known);
    if (known && !at)
      return 0;
    found = at ? at : found;
  }
  return found;
}

int cuda_check_kernel(const struct kernel *k, struct error *err) {
  const struct tokens *t = &k->tokens;
  for (int f = 0; f < k->nfunctions; f++) {
    size_t first = k->functions[f].open, body = kernel_skip_brackets(t, first);
    size_t end = token_is(t, body, "{") ? kernel_skip_brackets(t, body) : body;
    for (size_t i = body; i < end; i++) {
      if (t->items[i].directive)
        continue;
      size_t variable = variable_length(t, first, i);
      if (variable)
        return refuse(k, variable, err, "an array whose length is a variable",
                      "give it a constant length, the largest that occurs");
      if (i > body && is_compound_literal(t, i))
        return refuse(k, opening(t, i), err, "a compound literal, (type){...},",
                      "declare a variable with these values and use it instead");
      if (token_is(t, i, "_Generic"))
        return refuse(k, i, err, "_Generic", "write what it would choose, or a function for each type");
      const size_t misplaced = token_is(t, i, "{") ? misplaced_designator(t, i) : 0;
      if (misplaced)
        return refuse(k, misplaced, err,
                      "an initialiser whose members are in another order than in the structure",
                      "write them in the order of the structure");
      if (token_is(t, i, "[") && i > body && (token_is(t, i - 1, "{") || token_is(t, i - 1, ",")))
        return refuse(k, i, err, "a designator for an array, [i] = value,",
                      "write the values in their order");
    }
  }
  return OP_OK;
}

int opencl_check_kernel(const struct kernel *k, struct error *err) {
  const struct tokens *t = &k->tokens;
  for (int f = 0; f < k->nfunctions; f++) {
    size_t first = k->functions[f].open, body = kernel_skip_brackets(t, first);
    size_t end = token_is(t, body, "{") ? kernel_skip_brackets(t, body) : body;
    for (size_t i = body; i < end; i++) {
      if (t->items[i].directive)
        continue;
      const size_t variable = variable_length(t, first, i);
      if (variable)
        return refuse_in("OpenCL C", k, variable, err, "an array whose length is a variable",
                         "give it a constant length, the largest that occurs");
      if (i > body && is_compound_literal(t, i) && token_is(t, i - 1, "]"))
        return refuse_in("OpenCL C", k, opening(t, i), err, "a compound literal of an array, (type[]){...},",
                         "declare a variable with these values and use it instead");
    }
  }
  return OP_OK;
}
