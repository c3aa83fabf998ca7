/* Tokens tell what a function does only if each of its words is known. So the kernel and the functions that it reaches
 * may have the words listed here, names that they declare, functions of mathematics and of the text, and constants.
 * Everything else is a doubt, whatever it may be. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "jit/front/parameters.h"
#include "jit/front/rows/split_inner.h"

static const char unknown_name[] = "it, or a function that it calls, uses a name that is not known here";

static bool is_type(const struct tokens *t, size_t at) {
  enum local_kind kind;
  bool narrow;
  return tokens_type(t, at, &kind, &narrow);
}

/* Words of the language, and of the headers that every kernel has. */
static bool is_word(const struct tokens *t, size_t at) {
  static const char *const words[] = {
      "if",      "else",     "for",      "while",       "do",      "switch",   "case",
      "default", "break",    "return",   "continue",    "sizeof",  "const",    "static",
      "inline",  "register", "restrict", "true",        "false",   "OP_ROW",   "INFINITY",
      "NAN",     "HUGE_VAL", "DBL_MAX",  "DBL_MIN",     "FLT_MAX", "FLT_MIN",  "DBL_EPSILON",
      "INT_MAX", "INT_MIN",  "LONG_MAX", "FLT_EPSILON", "M_PI",    "LONG_MIN", "OP_ANY_ORDER"};
  return tokens_listed(t, at, words, sizeof words / sizeof *words) || is_type(t, at);
}

/* A function of math.h, in double or float, which changes nothing. */
static bool is_pure(const struct tokens *t, size_t at) {
  static const char *const alone[] = {"abs",      "labs",     "llabs",   "isnan",     "isinf",
                                      "isfinite", "isnormal", "signbit", "op_assert", "assert"};
  static const char *const names[] = {
      "acos",  "asin",      "atan",     "atan2",     "cos",   "sin",       "tan",    "acosh", "asinh",
      "atanh", "cosh",      "sinh",     "tanh",      "exp",   "exp2",      "expm1",  "log",   "log10",
      "log1p", "log2",      "logb",     "cbrt",      "fabs",  "hypot",     "pow",    "sqrt",  "erf",
      "erfc",  "lgamma",    "tgamma",   "ceil",      "floor", "nearbyint", "rint",   "round", "trunc",
      "fmod",  "remainder", "copysign", "nextafter", "fdim",  "fmax",      "fmin",   "fma",   "ilogb",
      "lrint", "lround",    "llrint",   "llround",   "ldexp", "scalbn",    "scalbln"};
  const size_t length = t->items[at].end - t->items[at].begin;
  const char *word = t->text + t->items[at].begin;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const size_t n = strlen(names[i]);
    if (length >= n && memcmp(word, names[i], n) == 0 && (length == n || (length == n + 1 && word[n] == 'f')))
      return true;
  }
  return tokens_listed(t, at, alone, sizeof alone / sizeof *alone);
}

static int find_function(const struct kernel *k, size_t at) {
  for (int f = 0; f < k->nfunctions; f++)
    if (token_is(&k->tokens, at, k->functions[f].name))
      return f;
  return -1;
}

bool split_is_maths(const struct kernel *k, size_t at) {
  const struct tokens *t = &k->tokens;
  if (!is_pure(t, at) || find_function(k, at) >= 0 || tokens_macro(t, at))
    return false;
  for (size_t i = 0; i < t->count; i++) /* a pointer or a variable of that name */
    if (token_is_identifier(t, i) && tokens_same(t, i, at) && !token_is(t, i + 1, "("))
      return false;
  return true;
}

/* ---- names -------------------------------------------------------------------------------------*/

static bool is_parameter(const struct kernel *k, int function, size_t at) {
  const struct tokens *t = &k->tokens;
  const size_t open = k->functions[function].open, close = kernel_skip_brackets(t, open) - 1;
  for (size_t i = open + 1; i < close; i++)
    if (token_is_identifier(t, i) && tokens_same(t, i, at) &&
        (i + 1 == close || token_is(t, i + 1, ",") || token_is(t, i + 1, "[")))
      return true;
  return false;
}

/* `enum { .., name, .. }` at `at`. */
static bool is_enumerated(const struct tokens *t, size_t at, size_t name) {
  const size_t open = at + 1 + token_is_identifier(t, at + 1),
               end = token_is(t, at, "enum") && token_is(t, open, "{") ? kernel_skip_brackets(t, open) : open;
  for (size_t i = open + 1; i < end; i++)
    if (token_is_identifier(t, i) && tokens_same(t, i, name) &&
        (token_is(t, i - 1, "{") || token_is(t, i - 1, ",")))
      return true;
  return false;
}

/* A macro that is a number, or `static const double name = ..` outside of functions, and nothing of that name
 * otherwise. */
static bool is_constant(const struct looking *s, size_t at) {
  const struct tokens *t = s->t;
  for (int c = 0; c < s->d->nconsts; c++)
    if (token_is(t, at, s->d->consts[c].name))
      return true;
  bool found = false;
  for (size_t i = 0; i < t->count; i = token_is(t, i, "{") ? kernel_skip_brackets(t, i) : i + 1) {
    found |= is_enumerated(t, i, at);
    if (!token_is_identifier(t, i) || !tokens_same(t, i, at))
      continue;
    if (t->items[i].directive && (token_is(t, i - 1, "undef") || token_is(t, i - 1, "define")))
      return token_is(t, i - 1, "define");
    size_t first = i;
    bool constant = false;
    for (; first > 0 &&
           (is_type(t, first - 1) || token_is(t, first - 1, "const") || token_is(t, first - 1, "static"));
         first--)
      constant |= token_is(t, first - 1, "const");
    const bool begins = first == 0 || token_is(t, first - 1, ";") || token_is(t, first - 1, "}") ||
                        t->items[first - 1].directive;
    if (!constant || !begins || !(token_is(t, i + 1, "=") || token_is(t, i + 1, "[")))
      return false;
    found = true;
  }
  return found;
}

/* Behind `for (..)` and the like a name with a colon is a label; behind a cast it is a value of `?:`. */
static bool ends_head(const struct tokens *t, size_t at) {
  static const char *const heads[] = {"for", "if", "while", "switch"};
  int depth = 0;
  for (; at > 0; at--) {
    depth += token_is(t, at, ")");
    depth -= token_is(t, at, "(");
    if (depth == 0)
      return tokens_listed(t, at - 1, heads, sizeof heads / sizeof *heads);
  }
  return true;
}

static bool is_label(const struct tokens *t, size_t at) {
  static const char *const before[] = {";", "{", "}", ":", "else", "do", "OP_ANY_ORDER"};
  return token_is(t, at + 1, ":") && (tokens_listed(t, at - 1, before, sizeof before / sizeof *before) ||
                                      (token_is(t, at - 1, ")") && ends_head(t, at - 1)));
}

/* `tag {`: does it have members that are numbers, or arrays of them, and nothing else? */
static bool has_numbers(const struct tokens *t, size_t open) {
  const size_t close = kernel_skip_brackets(t, open) - 1;
  for (size_t i = open + 1; i < close; i++)
    if (token_is(t, i, "["))
      i = kernel_skip_brackets(t, i) - 1;
    else if (tokens_macro(t, i) ||
             !(is_type(t, i) || token_is(t, i, ",") || token_is(t, i, ";") ||
               (token_is_identifier(t, i) &&
                (token_is(t, i + 1, ",") || token_is(t, i + 1, ";") || token_is(t, i + 1, "[")))))
      return false;
  return true;
}

/* A struct without pointers: its values are as good as numbers. */
static bool is_plain_struct(const struct tokens *t, size_t at) {
  bool found = false;
  if (!token_is(t, at, "struct") || !token_is_identifier(t, at + 1))
    return false;
  for (size_t i = 1; i < t->count; i++) {
    if (!token_is(t, i - 1, "struct") || !token_is_identifier(t, i) || !tokens_same(t, i, at + 1) ||
        !token_is(t, i + 1, "{"))
      continue;
    if (!has_numbers(t, i + 1))
      return false;
    found = true;
  }
  return found;
}

/* A local that stays must be a constant, and no pointer. */
static bool is_lasting(const struct tokens *t, size_t at) {
  bool lasts = !token_is(t, at + 1, "const");
  for (; at < t->count && !token_is(t, at, ";") && !token_is(t, at, "("); at++)
    lasts |= token_is(t, at, "*");
  return lasts;
}

static const char *name_refusal(const struct looking *s, int function, size_t body, size_t at) {
  const struct tokens *t = s->t;
  const bool called = token_is(t, at + 1, "(");
  if (tokens_macro(t, at))
    return "it has a macro of its own text";
  if (is_word(t, at))
    return token_is(t, at, "static") && at > body && is_lasting(t, at) ? "it has something static" : NULL;
  if (token_is(t, at, "goto") || is_label(t, at))
    return "it has a goto, or a label";
  if (token_is(t, at, "struct") || token_is(t, at, "union") || token_is(t, at, "enum"))
    return is_plain_struct(t, at) ? NULL
                                  : "it, or a function that it calls, has a type that may hold a pointer";
  if (token_is(t, at - 1, "struct") || tokens_member(t, at))
    return called ? unknown_name : NULL;
  if (locals_meant(&s->locals, at) || is_parameter(s->k, function, at))
    return called ? unknown_name : NULL;
  if (find_function(s->k, at) >= 0 || split_is_maths(s->k, at))
    return called || at < body ? NULL : unknown_name;
  return is_constant(s, at) ? NULL : unknown_name;
}

/* ---- functions ---------------------------------------------------------------------------------*/

/* `*)`, as casts have it that take const away. */
static bool makes_pointer(const struct tokens *t, size_t at) {
  if (!token_is(t, at, "*"))
    return false;
  do
    at++;
  while (token_is(t, at, "const") || token_is(t, at, "restrict"));
  return token_is(t, at, ")");
}

static const char *function_refusal(const struct looking *s, int function, size_t end) {
  const struct tokens *t = s->t;
  const size_t body = kernel_skip_brackets(t, s->k->functions[function].open);
  size_t i = s->k->functions[function].token;
  const char *why = NULL;
  while (i > 0 && !t->items[i - 1].directive && !token_is(t, i - 1, ";") && !token_is(t, i - 1, "}"))
    i--; /* what it gives */
  for (; !why && i < end; i++) {
    if (function != s->k->function && makes_pointer(t, i))
      why = "a function that it calls makes a pointer from another";
    else if (token_is_identifier(t, i))
      why = name_refusal(s, function, body, i);
    else if (token_is(t, i, "\\") || t->items[i].kind == TOKEN_OTHER || t->items[i].directive)
      why = "it has something that is not C";
  }
  return why;
}

/* Lines that go on within a word, and other spellings of brackets: these tokens are not what a compiler sees. */
static bool is_spelled_plainly(const struct tokens *t) {
  static const char pairs[][3] = {"<%", "%>", "<:", ":>", "%:"};
  for (size_t i = 1; i < t->length; i++) {
    const bool joined = t->text[i - 1] == '\\' && (t->text[i] == '\n' || t->text[i] == '\r');
    if ((t->text[i] == '?' && t->text[i - 1] == '?') ||
        (joined && (i == 1 || (t->text[i - 2] != ' ' && t->text[i - 2] != '\t'))))
      return false;
  }
  for (size_t i = 0; i < t->count; i++)
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
      if (tokens_pair(t, i, pairs[p][0], pairs[p][1]))
        return false;
  return true;
}

static const char *reached_refusal(const struct looking *s, int function) {
  struct looking other = {.k = s->k, .d = s->d, .t = s->t};
  const size_t body = kernel_skip_brackets(s->t, s->k->functions[function].open),
               end = kernel_skip_brackets(s->t, body);
  if (!token_is(s->t, body, "{"))
    return "a function that it calls has an attribute";
  const char *why = locals_find(&other.locals, s->t, body, end - 1);
  if (!why)
    why = function_refusal(&other, function, end);
  locals_free(&other.locals);
  return why;
}

const char *split_text_refusal(const struct looking *s) {
  const struct kernel *k = s->k;
  if (!is_spelled_plainly(s->t))
    return "its text has words over two lines, or digraphs";
  const char *why = function_refusal(s, k->function, s->locals.end + 1);
  bool *reached = array_new((size_t)k->nfunctions, sizeof *reached);
  if (!why && (!reached || !kernel_reach(k, reached)))
    why = "nobody knows which functions it calls";
  for (int f = 0; !why && f < k->nfunctions; f++)
    if (reached[f] && f != k->function)
      why = reached_refusal(s, f);
  free(reached);
  return why;
}

/* ---- calls -------------------------------------------------------------------------------------*/

/* Its parameters are numbers, or `const T *`, through which it changes nothing. */
static bool changes_nothing(const struct kernel *k, int function) {
  const struct tokens *t = &k->tokens;
  const size_t open = k->functions[function].open, close = kernel_skip_brackets(t, open) - 1;
  bool constant = false;
  int pointers = 0;
  for (size_t i = open + 1; i < close; i++) {
    if (token_is(t, i, ",")) {
      constant = false;
      pointers = 0;
    } else if (token_is(t, i, "const")) {
      constant |= pointers == 0;
    } else if (token_is(t, i, "*") || token_is(t, i, "[")) {
      if (!constant || pointers++)
        return false;
      i = token_is(t, i, "[") ? kernel_skip_brackets(t, i) - 1 : i;
    } else if (is_plain_struct(t, i)) {
      i++;
    } else if (!is_type(t, i) && !token_is(t, i, "restrict") &&
               (!token_is_identifier(t, i) ||
                !(token_is(t, i + 1, ",") || token_is(t, i + 1, "[") || i + 1 == close))) {
      return false;
    }
  }
  return true;
}

const char *split_call_refusal(const struct looking *s, size_t at) {
  const int function = find_function(s->k, at);
  if (tokens_keyword(s->t, at) || token_is(s->t, at, "OP_ROW"))
    return NULL;
  if (function >= 0)
    return changes_nothing(s->k, function)
               ? NULL
               : "in the loop a function is called that could change what it is passed";
  return split_is_maths(s->k, at) ? NULL : "in the loop a function is called that is not known";
}
