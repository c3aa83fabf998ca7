#include "jit/kernel/parameters.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* ---- type specifiers ---------------------------------------------------------------------------*/

/* A type of C as it may be spelled: counts of its words. `signed` counts only before char. */
struct words {
  int is_const, is_unsigned, is_signed, is_long, is_short, is_int, is_char, is_float, is_double, is_bool;
  enum type_code alias; /* of a typedef name */
  bool alias_longer;
  int names; /* typedef names seen */
  bool unknown;
  bool is_struct;  /* or a union */
  bool short_name; /* one that op_decl_dat knows and C does not */
};

struct alias {
  const char *name;
  enum type_code type;
  bool longer;
};

static const struct alias standard_aliases[] = {
    {"int32_t", TYPE_INT, false},        {"uint32_t", TYPE_UINT, false},
    {"int16_t", TYPE_SHORT, false},      {"int64_t", TYPE_LONGLONG, true},
    {"uint64_t", TYPE_ULONGLONG, true},  {"size_t", TYPE_ULONGLONG, true},
    {"ptrdiff_t", TYPE_LONGLONG, true},  {"intptr_t", TYPE_LONGLONG, true},
    {"uintptr_t", TYPE_ULONGLONG, true},
};

/* Types that are known, and that no dat has. */
static const char foreign_types[] = " void uint8_t uint16_t int8_t ";

static bool word_is(const char *word, size_t length, const char *name) {
  return strlen(name) == length && memcmp(word, name, length) == 0;
}

/* A row per word of a type: which counter it raises. */
struct word_row {
  const char *word;
  size_t counter;
};
#define WORD(w, member)                                                                                      \
  { w, offsetof(struct words, member) }
static const struct word_row word_rows[] = {
    WORD("const", is_const),   WORD("__const", is_const), WORD("unsigned", is_unsigned),
    WORD("signed", is_signed), WORD("long", is_long),     WORD("short", is_short),
    WORD("int", is_int),       WORD("char", is_char),     WORD("float", is_float),
    WORD("double", is_double), WORD("bool", is_bool),     WORD("_Bool", is_bool),
};
static const char ignored_words[] =
    " volatile restrict __restrict __restrict__ __volatile__ register static typedef ";

static bool count_word(struct words *w, const char *word, size_t length) {
  for (size_t i = 0; i < sizeof word_rows / sizeof *word_rows; i++)
    if (word_is(word, length, word_rows[i].word)) {
      ++*(int *)(void *)((char *)w + word_rows[i].counter);
      return true;
    }
  return word_is_among(word, length, ignored_words);
}

static bool spells_type(const struct words *w) {
  return w->is_unsigned || w->is_signed || w->is_long || w->is_short || w->is_int || w->is_char ||
         w->is_float || w->is_double || w->is_bool || w->names;
}

/* The type that the words make; TYPE_NONE with *known true: one that no dat has. */
static enum type_code words_type(const struct words *w, bool *known, bool *longer) {
  bool plain = !w->is_unsigned && !w->is_signed && !w->is_short && !w->is_int;
  *known = true;
  *longer = false;
  if (w->unknown || w->names > 1 || !spells_type(w)) {
    *known = false;
    return TYPE_NONE;
  }
  if (w->names) {
    *longer = w->alias_longer;
    return w->alias;
  }
  if (w->is_double || w->is_float || w->is_bool)
    return !plain || w->is_long ? TYPE_NONE
           : w->is_double       ? TYPE_DOUBLE
           : w->is_float        ? TYPE_FLOAT
                                : TYPE_BOOL;
  if (w->is_char)
    return w->is_unsigned || w->is_signed ? TYPE_NONE : TYPE_CHAR;
  if (w->is_short)
    return w->is_unsigned ? TYPE_NONE : TYPE_SHORT;
  *longer = w->is_long == 1;
  if (w->is_long)
    return w->is_unsigned ? TYPE_ULONGLONG : TYPE_LONGLONG;
  return w->is_unsigned ? TYPE_UINT : TYPE_INT;
}

/* ---- names that the text itself gives to types ---------------------------------------------------*/

static size_t skip_attributes(const struct tokens *t, size_t i) {
  while ((token_is(t, i, "__attribute__") || token_is(t, i, "__attribute") || token_is(t, i, "_Alignas")) &&
         token_is(t, i + 1, "("))
    i = kernel_skip_brackets(t, i + 1);
  while (token_is(t, i, "[") && token_is(t, i + 1, "["))
    i = kernel_skip_brackets(t, i);
  return i;
}

static size_t read_specifiers(const struct kernel *k, size_t i, size_t end, int depth, struct words *w);

/* The tokens that a `typedef WORDS NAME;` or `#define NAME WORDS` at `i` gives to a name. */
struct own_alias {
  size_t name, first, last;
};

static bool read_own_alias(const struct tokens *t, size_t i, struct own_alias *a) {
  bool is_typedef = token_is(t, i, "typedef") && !t->items[i].directive;
  bool is_define = t->items[i].directive && t->items[i].line_first && token_is(t, i + 1, "define");
  if (!is_typedef && !is_define)
    return false;
  a->first = is_typedef ? i + 1 : i + 3;
  a->last = a->first;
  while (a->last < t->count && (is_typedef ? !token_is(t, a->last, ";")
                                           : t->items[a->last].directive && !t->items[a->last].line_first))
    a->last = is_typedef && token_is(t, a->last, "{") ? kernel_skip_brackets(t, a->last) : a->last + 1;
  a->name = is_typedef ? a->last - 1 : i + 2;
  if (is_typedef)
    a->last--;
  return a->name > i && a->name < t->count && a->first <= a->last;
}

/* The meaning that the text itself gives to `name`; the last one wins. */
static bool find_own_alias(const struct kernel *k, const char *name, int depth, struct words *w) {
  const struct tokens *t = &k->tokens;
  struct own_alias a, last = {0};
  bool found = false;
  for (size_t i = 0; i + 2 < t->count; i++)
    if ((t->items[i].directive || token_is(t, i, "typedef")) && read_own_alias(t, i, &a) &&
        token_is(t, a.name, name)) {
      last = a;
      found = true;
    }
  if (found && read_specifiers(k, last.first, last.last, depth + 1, w) != last.last)
    w->unknown = true;
  return found;
}

static void resolve_name(const struct kernel *k, const char *name, size_t length, int depth,
                         struct words *w) {
  w->names++;
  for (size_t i = 0; i < sizeof standard_aliases / sizeof *standard_aliases; i++)
    if (word_is(name, length, standard_aliases[i].name)) {
      w->alias = standard_aliases[i].type;
      w->alias_longer = standard_aliases[i].longer;
      return;
    }
  if (word_is_among(name, length, foreign_types))
    return;
  char buffer[64];
  struct words inner = {0};
  if (length >= sizeof buffer || depth > 4) {
    w->unknown = true;
    return;
  }
  memcpy(buffer, name, length);
  buffer[length] = '\0';
  bool known = false;
  if (find_own_alias(k, buffer, depth, &inner)) {
    w->alias = words_type(&inner, &known, &w->alias_longer);
    w->is_const += inner.is_const;
    w->is_struct = inner.is_struct;
  } else {
    const enum type_code type = type_parse(buffer, NULL);
    w->short_name = type != TYPE_NONE && !type_is_struct(type);
  }
  w->unknown |= !known;
}

/* Read the words of a type from `i`; stops at a star, a bracket, or the name that is declared. */
static size_t read_specifiers(const struct kernel *k, size_t i, size_t end, int depth, struct words *w) {
  const struct tokens *t = &k->tokens;
  while ((i = skip_attributes(t, i)) < end && token_is_identifier(t, i)) {
    const char *word = t->text + t->items[i].begin;
    size_t length = t->items[i].end - t->items[i].begin;
    if (word_is(word, length, "struct") || word_is(word, length, "union") || word_is(word, length, "enum")) {
      w->unknown = true;
      w->is_struct |= *word != 'e';
      w->names++;
      i = skip_attributes(t, i + 1);
      i += token_is_identifier(t, i);
      if (token_is(t, i, "{"))
        i = kernel_skip_brackets(t, i);
    } else if (count_word(w, word, length))
      i++;
    else if (spells_type(w))
      break;
    else {
      resolve_name(k, word, length, depth, w);
      i++;
    }
  }
  return i;
}

/* ---- one parameter -----------------------------------------------------------------------------*/

static void normalised(const struct tokens *t, size_t first, size_t last, struct text *out) {
  for (size_t i = first; i < last; i++) {
    const struct token *token = &t->items[i];
    if (i > first && t->items[i - 1].end < token->begin)
      text_add_char(out, ' ');
    text_add_bytes(out, t->text + token->begin, token->end - token->begin);
  }
}

static size_t skip_qualifiers(const struct tokens *t, size_t i, size_t end) {
  struct words ignored = {0};
  while (i < end && token_is_identifier(t, i) &&
         count_word(&ignored, t->text + t->items[i].begin, t->items[i].end - t->items[i].begin) &&
         !spells_type(&ignored))
    i++;
  return i;
}

/* Stars, the name, brackets. Returns where it stopped. */
static size_t read_declarator(const struct kernel *k, size_t i, size_t end, struct kernel_parameter *p) {
  const struct tokens *t = &k->tokens;
  while (i < end && token_is(t, i, "*")) {
    p->depth++;
    i = skip_qualifiers(t, i + 1, end);
  }
  i = skip_attributes(t, i);
  if (i < end && token_is_identifier(t, i)) {
    struct text name = {0};
    normalised(t, i, i + 1, &name);
    p->name = text_take(&name);
    p->line = t->items[i].line;
    p->column = t->items[i].column;
    i++;
  }
  while (i < end && token_is(t, i, "[")) {
    p->depth++;
    i = kernel_skip_brackets(t, i);
  }
  return skip_attributes(t, i);
}

static bool read_parameter(const struct kernel *k, size_t first, size_t last, struct kernel_parameter *p) {
  const struct tokens *t = &k->tokens;
  struct words words = {0};
  struct text spelling = {0};
  *p = (struct kernel_parameter){.line = t->items[first].line, .column = t->items[first].column};
  normalised(t, first, last, &spelling);
  p->spelling = text_take(&spelling);
  size_t i = read_specifiers(k, first, last, 0, &words);
  i = read_declarator(k, i, last, p);
  bool known = false, plain = i == last;
  p->type = words_type(&words, &known, &p->longer);
  for (size_t d = first; d < last; d++)
    plain &= !t->items[d].directive;
  p->understood = plain && known;
  p->short_name = words.short_name;
  p->is_struct = words.is_struct;
  p->is_const = words.is_const > 0;
  if (!p->name)
    p->name = array_new(1, 1);
  return p->name && p->spelling;
}

static bool add_parameter(struct kernel *k, size_t first, size_t last) {
  struct kernel_parameter *parameters = array_more(k->parameters, (size_t)k->nparameters, sizeof *parameters);
  if (!parameters)
    return false;
  k->parameters = parameters;
  return read_parameter(k, first, last, &parameters[k->nparameters++]);
}

int parameters_parse(struct kernel *k, struct error *err) {
  const struct tokens *t = &k->tokens;
  size_t open = k->functions[k->function].open;
  size_t close = kernel_skip_brackets(t, open) - 1;
  size_t first = open + 1;
  bool none = first == close || (first + 1 == close && token_is(t, first, "void"));
  for (size_t i = first; !none && i <= close; i++) {
    if (i < close && (token_is(t, i, "(") || token_is(t, i, "[") || token_is(t, i, "{")))
      i = kernel_skip_brackets(t, i) - 1;
    else if (i == close || token_is(t, i, ",")) {
      if (first < i && !add_parameter(k, first, i))
        return error_memory(err, "the parameters of a kernel", sizeof *k->parameters);
      first = i + 1;
    }
  }
  return OP_OK;
}
