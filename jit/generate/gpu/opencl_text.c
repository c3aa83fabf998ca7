/* The user's text, which is C, for a compiler of OpenCL C 1.2: every change to it. Lines stay. */
#include <string.h>

#include "jit/front/parameters.h"
#include "jit/generate/gpu/gpu.h"

/* Words of OpenCL C that are names in C. */
static const char *const foreign[] = {"kernel",     "global",  "local",     "constant",  "private",
                                      "generic",    "pipe",    "half",      "uchar",     "ushort",
                                      "uint",       "ulong",   "quad",      "read_only", "write_only",
                                      "read_write", "event_t", "sampler_t", "vec_step"};
static const char *const vectors[] = {"char", "uchar", "short", "ushort", "int",   "uint",
                                      "long", "ulong", "float", "half",   "double"};

/* double2, int4 and the others. */
static bool is_vector(const char *word, size_t length) {
  static const char *const sizes[] = {"2", "3", "4", "8", "16"};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
      const size_t head = strlen(vectors[i]), tail = strlen(sizes[k]);
      if (length == head + tail && memcmp(word, vectors[i], head) == 0 &&
          memcmp(word + head, sizes[k], tail) == 0)
        return true;
    }
  return false;
}

static bool is_foreign(const char *word, size_t length) {
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
    if (strlen(foreign[i]) == length && memcmp(foreign[i], word, length) == 0)
      return true;
  return is_vector(word, length);
}

const char *opencl_before_name(const char *name) {
  return is_foreign(name, strlen(name)) ? "op2_c_" : "";
}

static bool hands_constants(const struct desc *d) {
  for (int i = 0; i < d->nconsts; i++)
    if (!d->consts[i].folded)
      return true;
  return false;
}

static bool is_function(const struct kernel *k, size_t token) {
  const struct tokens *t = &k->tokens;
  const size_t length = t->items[token].end - t->items[token].begin;
  for (int f = 0; f < k->nfunctions; f++)
    if (strlen(k->functions[f].name) == length &&
        memcmp(k->functions[f].name, t->text + t->items[token].begin, length) == 0)
      return true;
  return false;
}

/* Is the statement of depth 0 that begins here a variable with values? */
static bool is_variable(const struct tokens *t, size_t first) {
  if (t->items[first].directive || token_is(t, first, "typedef"))
    return false;
  for (size_t i = first; i < t->count && !token_is(t, i, ";"); i++) {
    if (token_is(t, i, "="))
      return true;
    if (i > first && token_is(t, i, "{") && token_is(t, i - 1, ")"))
      return false; /* a function's body */
    if (token_is(t, i, "(") || token_is(t, i, "{") || token_is(t, i, "["))
      i = kernel_skip_brackets(t, i) - 1;
  }
  return false;
}

static bool is_definition(const struct kernel *k, size_t token) {
  for (int f = 0; f < k->nfunctions; f++)
    if (k->functions[f].token == token)
      return true;
  return false;
}

/* A number whose type C has and OpenCL C has not: 1LL is 1L there, 1.0L is 1.0. */
static void add_number(const char *word, size_t length, struct text *out) {
  const bool hex = length > 1 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
  const bool real =
      memchr(word, '.', length) || (hex ? memchr(word, 'p', length) || memchr(word, 'P', length)
                                        : memchr(word, 'e', length) || memchr(word, 'E', length));
  int longs = 0;
  for (size_t i = 0; i < length; i++) {
    const bool suffix = word[i] == 'l' || word[i] == 'L';
    longs += suffix;
    text_add_char(out, suffix && (real || longs > 1) ? ' ' : word[i]);
  }
}

struct state {
  const struct kernel *k;
  bool hands;
  int depth;
  bool fresh; /* a declaration of depth 0 begins */
};

static void add_word(const struct state *s, size_t i, const char *word, size_t length, struct text *out) {
  const struct tokens *t = &s->k->tokens;
  const bool again = i > 0 && token_is(t, i, "long") && token_is(t, i - 1, "long");
  const bool wider = token_is(t, i, "long") && token_is(t, i + 1, "double");
  const bool lasts = s->depth > 0 && token_is(t, i, "static");
  if (again || wider || lasts) {
    for (size_t c = 0; c < length; c++)
      text_add_char(out, ' ');
    return;
  }
  if (is_foreign(word, length))
    text_add(out, "op2_c_");
  text_add_bytes(out, word, length);
}

/* What a function is handed before its arguments. `open`: the token of its parenthesis. */
static void add_handed(const struct state *s, size_t open, bool definition, struct text *out) {
  const struct tokens *t = &s->k->tokens;
  const bool none =
      token_is(t, open + 1, ")") || (token_is(t, open + 1, "void") && token_is(t, open + 2, ")"));
  text_add(out, definition ? "const op2_constants *op2_k" : "op2_k");
  text_add(out, none ? "" : ", ");
}

static void add_token(struct state *s, size_t i, struct text *out) {
  const struct tokens *t = &s->k->tokens;
  const struct token *token = &t->items[i];
  const char *word = t->text + token->begin;
  const size_t length = token->end - token->begin;
  if (s->fresh && !token->directive && s->depth == 0 && is_variable(t, i))
    text_add(out, "__constant ");
  if (!token->directive)
    s->fresh = false;
  if (token->kind == TOKEN_IDENTIFIER)
    add_word(s, i, word, length, out);
  else if (token->kind == TOKEN_NUMBER)
    add_number(word, length, out);
  else
    text_add_bytes(out, word, length);
  if (s->hands && i > 0 && token_is(t, i, "(") && is_function(s->k, i - 1))
    add_handed(s, i, is_definition(s->k, i - 1) || (s->depth == 0 && !token->directive), out);
  if (token->directive)
    return;
  s->depth += token_is(t, i, "{") - token_is(t, i, "}");
  if (s->depth == 0 && (token_is(t, i, ";") || token_is(t, i, "}")))
    s->fresh = true;
}

void opencl_copy_text(const struct kernel *k, const struct desc *d, struct text *out) {
  const struct tokens *t = &k->tokens;
  struct state s = {.k = k, .hands = hands_constants(d), .fresh = true};
  size_t done = 0;
  for (size_t i = 0; i < t->count; i++) {
    const struct token *token = &t->items[i];
    /* `f(void)` is handed something, so its void goes. */
    const bool nothing = s.hands && i > 1 && token_is(t, i, "void") && token_is(t, i + 1, ")") &&
                         token_is(t, i - 1, "(") && is_function(k, i - 2);
    text_add_bytes(out, k->text + done, token->begin - done);
    done = token->end;
    if (!nothing)
      add_token(&s, i, out);
  }
  text_add_bytes(out, k->text + done, k->length - done);
  text_add_char(out, '\n');
}
