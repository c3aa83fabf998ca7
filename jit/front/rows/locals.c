#include "jit/front/rows/locals.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "jit/front/parameters.h"

/* ---- tokens ------------------------------------------------------------------------------------*/

bool tokens_same(const struct tokens *t, size_t a, size_t b) {
  const struct token *x = &t->items[a], *y = &t->items[b];
  return x->end - x->begin == y->end - y->begin &&
         memcmp(t->text + x->begin, t->text + y->begin, x->end - x->begin) == 0;
}

static char sign(const struct tokens *t, size_t at) {
  return at < t->count && t->items[at].kind == TOKEN_PUNCTUATOR ? t->text[t->items[at].begin] : '\0';
}

bool tokens_pair(const struct tokens *t, size_t at, char first, char second) {
  return sign(t, at) == first && sign(t, at + 1) == second && t->items[at].end == t->items[at + 1].begin;
}

bool tokens_member(const struct tokens *t, size_t at) {
  return token_is(t, at - 1, ".") || tokens_pair(t, at - 2, '-', '>');
}

bool tokens_listed(const struct tokens *t, size_t at, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (token_is(t, at, words[i]))
      return true;
  return false;
}

bool tokens_keyword(const struct tokens *t, size_t at) {
  static const char *const words[] = {"if",      "else",  "for",    "while",  "do",   "switch",  "case",
                                      "default", "break", "return", "sizeof", "goto", "continue"};
  return tokens_listed(t, at, words, sizeof words / sizeof *words);
}

bool tokens_type(const struct tokens *t, size_t at, enum local_kind *kind, bool *narrow) {
  static const struct {
    const char *word;
    enum local_kind kind;
    bool narrow;
  } types[] = {{"double", LOCAL_FLOATING, false}, {"float", LOCAL_FLOATING, false},
               {"int", LOCAL_INTEGER, false},     {"long", LOCAL_INTEGER, false},
               {"signed", LOCAL_INTEGER, false},  {"unsigned", LOCAL_INTEGER, false},
               {"short", LOCAL_INTEGER, true},    {"char", LOCAL_INTEGER, true},
               {"size_t", LOCAL_INTEGER, false},  {"ptrdiff_t", LOCAL_INTEGER, false},
               {"int8_t", LOCAL_INTEGER, true},   {"uint8_t", LOCAL_INTEGER, true},
               {"int16_t", LOCAL_INTEGER, true},  {"uint16_t", LOCAL_INTEGER, true},
               {"int32_t", LOCAL_INTEGER, false}, {"uint32_t", LOCAL_INTEGER, false},
               {"int64_t", LOCAL_INTEGER, false}, {"uint64_t", LOCAL_INTEGER, false},
               {"void", LOCAL_OTHER, false},      {"bool", LOCAL_OTHER, false},
               {"_Bool", LOCAL_OTHER, false}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (token_is(t, at, types[i].word)) {
      *kind = types[i].kind;
      *narrow = types[i].narrow;
      return true;
    }
  return false;
}

static bool is_name(const struct tokens *t, size_t at) {
  enum local_kind kind;
  bool narrow;
  return token_is_identifier(t, at) && !tokens_keyword(t, at) && !tokens_type(t, at, &kind, &narrow);
}

size_t tokens_statement(const struct tokens *t, size_t at) {
  for (;;) {
    if (token_is(t, at, "{"))
      return kernel_skip_brackets(t, at);
    const bool heads = token_is(t, at, "for") || token_is(t, at, "if") || token_is(t, at, "while") ||
                       token_is(t, at, "switch");
    if (token_is(t, at, "OP_ANY_ORDER")) {
      at++;
    } else if (token_is(t, at, "do")) {
      at = tokens_statement(t, at + 1); /* the `while`, whose statement is a semicolon */
    } else if (heads) {
      const bool asks = token_is(t, at, "if");
      at = kernel_skip_brackets(t, at + 1);
      if (!asks)
        continue;
      at = tokens_statement(t, at);
      if (!token_is(t, at, "else"))
        return at;
      at++;
    } else {
      while (at < t->count && !token_is(t, at, ";"))
        at = token_is(t, at, "(") || token_is(t, at, "[") || token_is(t, at, "{")
                 ? kernel_skip_brackets(t, at)
                 : at + 1;
      return at + 1;
    }
  }
}

bool tokens_macro(const struct tokens *t, size_t at) {
  for (size_t i = 0; i + 2 < t->count; i++) {
    if (!t->items[i].directive || !t->items[i].line_first || !token_is(t, i + 1, "define") ||
        !token_is_identifier(t, i + 2) || !tokens_same(t, i + 2, at))
      continue;
    const bool number = i + 3 < t->count && t->items[i + 3].kind == TOKEN_NUMBER &&
                        t->items[i + 3].directive &&
                        (i + 4 >= t->count || !t->items[i + 4].directive || t->items[i + 4].line_first);
    if (!number)
      return true;
  }
  return false;
}

/* ---- declarations ------------------------------------------------------------------------------*/

static bool add_local(struct locals *l, struct local local) {
  struct local *items = array_more(l->items, l->count, sizeof *items);
  if (!items)
    return false;
  l->items = items;
  items[l->count++] = local;
  return true;
}

/* The type before the declarators. Returns where these begin, or `at`: it is no declaration. */
static size_t read_type(const struct tokens *t, size_t at, struct local *type, const char **why) {
  static const char *const silent[] = {"restrict", "register", "auto"}, *const sixty_four[] = {
                                                                            "long", "size_t", "ptrdiff_t",
                                                                            "int64_t", "uint64_t"};
  bool known = false, wide = false;
  size_t i = at;
  *type = (struct local){.kind = LOCAL_INTEGER};
  for (;; i++) {
    enum local_kind kind;
    bool narrow;
    if (token_is(t, i, "const")) {
      type->is_const = true;
    } else if (token_is(t, i, "static") && token_is(t, i + 1, "const")) {
      continue;
    } else if (token_is(t, i, "static") || token_is(t, i, "extern") || token_is(t, i, "volatile") ||
               token_is(t, i, "typedef")) {
      *why = "it has a variable that is static or volatile, or a type of its own";
      return at;
    } else if (tokens_type(t, i, &kind, &narrow)) {
      type->kind = !known || kind != LOCAL_INTEGER ? kind : type->kind;
      type->narrow |= narrow;
      type->wide |= tokens_listed(t, i, sixty_four, sizeof sixty_four / sizeof *sixty_four);
      type->single |= token_is(t, i, "float");
      wide |= kind == LOCAL_FLOATING;
      known = true;
    } else if (token_is(t, i, "struct") || token_is(t, i, "union") || token_is(t, i, "enum")) {
      i += token_is_identifier(t, i + 1);
      if (token_is(t, i + 1, "{"))
        i = kernel_skip_brackets(t, i + 1) - 1;
      type->kind = LOCAL_OTHER;
      known = true;
    } else if (!known && is_name(t, i) &&
               (is_name(t, i + 1) || (token_is(t, i + 1, "*") && is_name(t, i + 2) &&
                                      (token_is(t, i + 3, "=") || token_is(t, i + 3, ";") ||
                                       token_is(t, i + 3, ",") || token_is(t, i + 3, "["))))) {
      type->kind = LOCAL_OTHER;
      known = true;
    } else if (!tokens_listed(t, i, silent, sizeof silent / sizeof *silent)) {
      break;
    }
  }
  type->narrow &= !wide;
  return known ? i : at;
}

static int read_count(const struct tokens *t, size_t open) {
  int count = 0;
  if (t->items[open + 1].kind != TOKEN_NUMBER || !token_is(t, open + 2, "]"))
    return 0;
  for (size_t at = t->items[open + 1].begin; at < t->items[open + 1].end; at++) {
    if (t->text[at] < '0' || t->text[at] > '9' || count > 1000 || (!count && t->text[at] == '0'))
      return 0;
    count = 10 * count + (t->text[at] - '0');
  }
  return count;
}

/* Returns the token behind it: a comma or the end; 0: it is not understood. */
static size_t read_declarator(struct locals *l, size_t at, struct local type) {
  const struct tokens *t = l->tokens;
  int dims = 0;
  for (; token_is(t, at, "*") || token_is(t, at, "const") || token_is(t, at, "restrict"); at++)
    if (token_is(t, at, "*"))
      type.form = LOCAL_POINTER;
  if (!is_name(t, at))
    return 0;
  type.name = at++;
  for (; token_is(t, at, "["); at = kernel_skip_brackets(t, at)) {
    type.count = dims++ ? 0 : read_count(t, at);
    if (type.form == LOCAL_VALUE)
      type.form = LOCAL_ARRAY;
  }
  if (token_is(t, at, "=") && !tokens_pair(t, at, '=', '='))
    while (at < l->end && !token_is(t, at, ",") && !token_is(t, at, ";"))
      at = token_is(t, at, "(") || token_is(t, at, "[") || token_is(t, at, "{") ? kernel_skip_brackets(t, at)
                                                                                : at + 1;
  if (!token_is(t, at, ",") && !token_is(t, at, ";"))
    return 0;
  return add_local(l, type) ? at : 0;
}

static bool begins_statement(const struct tokens *t, size_t at) {
  return token_is(t, at - 1, "{") || token_is(t, at - 1, "}") || token_is(t, at - 1, ";") ||
         (token_is(t, at - 1, "(") && token_is(t, at - 2, "for"));
}

/* Behind the block that `at` is in, or the loop in whose head it is. */
static size_t known_until(const struct locals *l, size_t at) {
  const struct tokens *t = l->tokens;
  if (token_is(t, at - 1, "(")) /* for ( */
    return tokens_statement(t, at - 2);
  while (at < l->end && !token_is(t, at, "}"))
    at = token_is(t, at, "{") ? kernel_skip_brackets(t, at) : at + 1;
  return at;
}

const struct local *locals_meant(const struct locals *l, size_t name) {
  const struct local *found = NULL;
  for (size_t i = 0; i < l->count; i++)
    if (l->items[i].name <= name && name < l->items[i].end && tokens_same(l->tokens, l->items[i].name, name))
      found = &l->items[i]; /* of several the one that is declared last */
  return found;
}

static const char *find_locals(struct locals *l) {
  static const char not_read[] = "it has a declaration that is not understood here";
  const struct tokens *t = l->tokens;
  for (size_t i = l->begin + 1; i < l->end; i++) {
    const char *why = NULL;
    struct local type;
    size_t at;
    if (t->items[i].directive)
      return "it has a preprocessor line";
    if (!begins_statement(t, i))
      continue;
    at = read_type(t, i, &type, &why);
    if (why)
      return why;
    if (at == i || token_is(t, at, ";")) /* no declaration; one of a type alone */
      continue;
    type.end = known_until(l, i);
    do {
      at = read_declarator(l, at, type);
    } while (at && token_is(t, at, ",") && at++);
    if (!at)
      return not_read;
    i = at - 1;
  }
  return NULL;
}

/* ---- writes ------------------------------------------------------------------------------------*/

static size_t opening(const struct tokens *t, size_t close) {
  int depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    depth += token_is(t, i, ")") || token_is(t, i, "]");
    depth -= token_is(t, i, "(") || token_is(t, i, "[");
    if (depth == 0)
      return i;
  }
  return 0;
}

/* What stands before `end`: a name with what belongs to it, or a row. */
static void read_before(const struct tokens *t, size_t end, struct write *w) {
  size_t at = end;
  w->end = end;
  for (;;) {
    if (token_is(t, at - 1, "]")) {
      at = opening(t, at - 1);
      w->indices++;
    } else if (token_is_identifier(t, at - 1) && token_is(t, at - 2, ".")) {
      at -= 2;
      w->member = true;
    } else {
      break;
    }
  }
  if (token_is(t, at - 1, ")")) {
    at = opening(t, at - 1);
    w->odd = !token_is(t, at - 1, "OP_ROW");
  }
  w->odd |= !token_is_identifier(t, at - 1) || tokens_keyword(t, at - 1);
  w->base = w->begin = at - 1;
  w->odd |= tokens_pair(t, w->base - 2, '-', '>');
  for (; token_is(t, w->begin - 1, "*"); w->begin--)
    w->stars++;
  w->odd |= w->counts && w->stars; /* *y++ is the pointer's */
}

static void read_behind(const struct tokens *t, size_t at, struct write *w) {
  w->begin = at;
  for (; token_is(t, at, "*"); at++)
    w->stars++;
  w->odd = !is_name(t, at) || token_is(t, at, "OP_ROW");
  w->base = at++;
  for (; token_is(t, at, "["); at = kernel_skip_brackets(t, at))
    w->indices++;
  w->member = token_is(t, at, ".");
  w->odd |= tokens_pair(t, at, '-', '>') || token_is(t, at, "(");
  w->end = at;
}

/* Is an operator with `=` at its end at `at`? Its tokens; 0: it is none. */
static int assignment(const struct tokens *t, size_t at) {
  static const char with[] = "+-*/%&|^";
  const char c = sign(t, at);
  if (c == '=' && !tokens_pair(t, at, '=', '=') && !tokens_pair(t, at - 1, '=', '=') &&
      !tokens_pair(t, at - 1, '!', '=') && !tokens_pair(t, at - 1, '<', '=') &&
      !tokens_pair(t, at - 1, '>', '='))
    return 1;
  if (c && strchr(with, c) && tokens_pair(t, at, c, '='))
    return 2;
  if ((c == '<' || c == '>') && tokens_pair(t, at, c, c) && tokens_pair(t, at + 1, c, '='))
    return 3;
  return 0;
}

static bool is_declared_at(const struct locals *l, size_t name) {
  for (size_t i = 0; i < l->count; i++)
    if (l->items[i].name == name)
      return true;
  return false;
}

static bool add_write(struct locals *l, struct write w) {
  struct write *writes = array_more(l->writes, l->nwrites, sizeof *writes);
  if (!writes)
    return false;
  l->writes = writes;
  writes[l->nwrites++] = w;
  return true;
}

static const char *find_writes(struct locals *l) {
  const struct tokens *t = l->tokens;
  for (size_t i = l->begin + 1; i < l->end; i++) {
    struct write w = {.at = i};
    const int length = assignment(t, i);
    const bool counts = tokens_pair(t, i, '+', '+') || tokens_pair(t, i, '-', '-');
    if (length) {
      w.op = sign(t, i);
      w.behind = i + (size_t)length;
      read_before(t, i, &w);
    } else if (counts) {
      const bool behind = (token_is_identifier(t, i - 1) && !tokens_keyword(t, i - 1)) ||
                          token_is(t, i - 1, "]") ||
                          (token_is(t, i - 1, ")") && !is_name(t, i + 2) && !token_is(t, i + 2, "*") &&
                           !token_is(t, i + 2, "("));
      w.op = sign(t, i);
      w.counts = true;
      w.prefix = !behind;
      w.behind = i + 2;
      if (behind)
        read_before(t, i, &w);
      else
        read_behind(t, i + 2, &w);
    }
    if ((length || counts) && !(length == 1 && is_declared_at(l, w.base)) && !add_write(l, w))
      return "there is no memory to look at it";
    i += length ? (size_t)length - 1 : counts;
  }
  return NULL;
}

const char *locals_find(struct locals *l, const struct tokens *t, size_t begin, size_t end) {
  *l = (struct locals){.tokens = t, .begin = begin, .end = end};
  const char *why = find_locals(l);
  return why ? why : find_writes(l);
}

void locals_free(struct locals *l) {
  free(l->items);
  free(l->writes);
  *l = (struct locals){0};
}
