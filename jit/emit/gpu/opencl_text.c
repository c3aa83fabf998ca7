/* The user's text, which is C, for a compiler of OpenCL C 1.2: every change to it. Lines stay. */
#include <string.h>

#include "jit/emit/gpu/write.h"
#include "jit/kernel/parameters.h"

/* Words of OpenCL C that are names in C. */
static const char foreign[] =
    " kernel global local constant private generic pipe half uchar ushort uint ulong quad "
    "read_only write_only read_write event_t sampler_t vec_step ";
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
  return word_is_among(word, length, foreign) || is_vector(word, length);
}

const char *opencl_before_name(const char *name) {
  return is_foreign(name, strlen(name)) ? "op2_c_" : "";
}

static bool is_function(const struct kernel *k, size_t token) {
  const struct tokens *t = &k->tokens;
  bool is = false;
  for (int f = 0; f < k->nfunctions; f++)
    is |= token_is(t, token, k->functions[f].name);
  return is;
}

/* The statement of depth 0 that begins here is a variable with values. */
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
  const struct desc *d;
  bool hands;
  int depth, square; /* braces and brackets that are open */
  bool fresh;        /* a declaration of depth 0 begins */
  bool declares;     /* it is one of variables with values */
  bool value;        /* behind an '=' of it */
  int function;      /* whose body this is, -1: none */
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

/* Hands the constants to a function before its arguments. `open`: the token of its parenthesis. */
static void add_handed(const struct state *s, size_t open, bool definition, struct text *out) {
  const struct tokens *t = &s->k->tokens;
  const bool none =
      token_is(t, open + 1, ")") || (token_is(t, open + 1, "void") && token_is(t, open + 2, ")"));
  text_add(out, definition ? "const op2_constants *op2_k" : "op2_k");
  text_add(out, none ? "" : ", ");
}

/* ---- constants that are handed: variables of each function, around its body ---------------------------*/

/* True: the function has a parameter of that name. */
static bool has_parameter(const struct state *s, int function, const char *name) {
  const struct tokens *t = &s->k->tokens;
  const size_t end = kernel_skip_brackets(t, s->k->functions[function].open);
  for (size_t i = s->k->functions[function].open + 1; i < end; i++)
    if (token_is(t, i, name) &&
        (token_is(t, i + 1, ",") || token_is(t, i + 1, ")") || token_is(t, i + 1, "[")))
      return true;
  return false;
}

/* True: the text makes something else of the name, for all its functions. */
static bool is_macro(const struct state *s, const char *name) {
  const struct tokens *t = &s->k->tokens;
  for (size_t i = 1; i < t->count; i++)
    if (t->items[i].directive && token_is(t, i, name) && token_is(t, i - 1, "define"))
      return true;
  return false;
}

/* True: the array itself may be wanted, its size or its address, and not its first value's. Behind macros nobody can say whose size. */
static bool is_wanted_whole(const struct state *s, const char *name) {
  const struct tokens *t = &s->k->tokens;
  for (size_t i = 1; i < t->count; i++) {
    size_t before = i - 1;
    while (before > 0 && token_is(t, before, "("))
      before--;
    if (token_is(t, i, "sizeof") ||
        (token_is(t, i, name) && !token_is(t, i + 1, "[") && token_is(t, before, "&")))
      return true;
  }
  return false;
}

/* The type's name in the text. */
static void add_type(enum type_code type, struct text *out) {
  const char *name = type_info(type)->name, *blank = strrchr(name, ' '), *last = blank ? blank + 1 : name;
  if (type_is_struct(type)) {
    text_add_bytes(out, name, (size_t)(last - name));
    text_addf(out, "%s%s", opencl_before_name(last), last);
  } else
    text_add(out, gpu_language(GPU_DIALECT_OPENCL)->words->types[type]);
}

static void add_constant(const struct state *s, const struct desc_const *c, struct text *out) {
  const char *before = opencl_before_name(c->name);
  struct text type = {0}, from = {0};
  add_type(c->type, &type);
  if (type_is_struct(c->type) || c->type == TYPE_BOOL) /* bytes */
    text_addf(&from, "((const %s *)op2_k->op2_c_%s)", text_str(&type), c->name);
  else
    text_addf(&from, "op2_k->op2_c_%s", c->name);
  if (c->dim == 1)
    text_addf(out, "const %s %s%s = *%s; ", text_str(&type), before, c->name, text_str(&from));
  else if (!is_wanted_whole(s, c->name))
    text_addf(out, "const %s *const %s%s = %s; ", text_str(&type), before, c->name, text_str(&from));
  else {
    text_addf(out, "const %s %s%s[%d] = {", text_str(&type), before, c->name, c->dim);
    for (int i = 0; i < c->dim; i++)
      text_addf(out, "%s%s[%d]", i ? ", " : "", text_str(&from), i);
    text_add(out, "}; ");
  }
  out->failed |= type.failed || from.failed;
  text_free(&type);
  text_free(&from);
}

/* The body has a block of its own, so that its variables may have these names, as those of a function may have the name
 * of one of the file. */
static void add_constants(const struct state *s, struct text *out) {
  for (int i = 0; i < s->d->nconsts; i++) {
    const struct desc_const *c = &s->d->consts[i];
    if (!c->folded && !has_parameter(s, s->function, c->name) && !is_macro(s, c->name))
      add_constant(s, c, out);
  }
}

/* The function whose body this brace opens; -1: none. */
static int body_of(const struct kernel *k, size_t brace) {
  for (int f = 0; f < k->nfunctions; f++) {
    size_t body = kernel_skip_brackets(&k->tokens, k->functions[f].open);
    while (body < brace && !token_is(&k->tokens, body, "{"))
      body++;
    if (body == brace)
      return f;
  }
  return -1;
}

static void add_brace(struct state *s, size_t i, struct text *out) {
  if (!s->hands || s->depth != token_is(&s->k->tokens, i, "}"))
    return;
  if (token_is(&s->k->tokens, i, "}")) {
    text_add(out, s->function >= 0 ? "}" : "");
    s->function = -1;
  } else if ((s->function = body_of(s->k, i)) >= 0) {
    text_add(out, "{ ");
    add_constants(s, out);
  }
}

/* ---- all tokens ------------------------------------------------------------------------------------*/

/* A variable of the file, and the values it points to, are in the space of constants. */
static void add_space(struct state *s, size_t i, struct text *out) {
  const struct tokens *t = &s->k->tokens;
  if (s->fresh) {
    s->declares = s->depth == 0 && is_variable(t, i);
    s->value = false;
  }
  if (s->fresh && s->declares)
    text_add(out, "__constant ");
  s->fresh = false;
  s->square += token_is(t, i, "[") - token_is(t, i, "]");
  if (s->depth > 0 || s->square > 0)
    return;
  s->value = token_is(t, i, "=") || (s->value && !token_is(t, i, ","));
  s->declares &= !token_is(t, i, ";");
}

static void add_token(struct state *s, size_t i, struct text *out) {
  const struct tokens *t = &s->k->tokens;
  const struct token *token = &t->items[i];
  const char *word = t->text + token->begin;
  const size_t length = token->end - token->begin;
  if (!token->directive) {
    add_space(s, i, out);
    if (token_is(t, i, "{") || token_is(t, i, "}"))
      add_brace(s, i, out);
  }
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
  if (s->declares && !s->value && s->depth == 0 && s->square == 0 && token_is(t, i, "*"))
    text_add(out, "__constant ");
  s->depth += token_is(t, i, "{") - token_is(t, i, "}");
  if (s->depth == 0 && (token_is(t, i, ";") || (token_is(t, i, "}") && !s->declares)))
    s->fresh = true;
}

void opencl_copy_text(const struct kernel *k, const struct desc *d, struct text *out) {
  const struct tokens *t = &k->tokens;
  struct state s = {.k = k, .d = d, .hands = gpu_has_variables(d), .fresh = true, .function = -1};
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
