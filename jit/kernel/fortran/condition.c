/* Lines of the preprocessor: conditions, names for numbers, files. Macros with arguments are refused. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "jit/kernel/fortran/tree.h"

struct line {
  struct fortran *f;
  const char *at, *end;
  struct f_token token; /* for messages */
};

struct macro *f_find_macro(const struct fortran *f, const char *name) {
  for (int i = f->macros.count - 1; i >= 0; i--) {
    struct macro *m = f->macros.items[i];
    if (strcmp(m->name, name) == 0)
      return m->value ? m : NULL;
  }
  return NULL;
}

static void blanks(struct line *l) {
  while (l->at < l->end && isspace((unsigned char)*l->at))
    l->at++;
}

static const char *name_of(struct line *l) {
  blanks(l);
  const char *from = l->at;
  while (l->at < l->end && is_in_word(*l->at))
    l->at++;
  return f_copy(l->f, from, (size_t)(l->at - from));
}

static bool eat(struct line *l, const char *sign) {
  blanks(l);
  const size_t length = strlen(sign);
  if ((size_t)(l->end - l->at) < length || memcmp(l->at, sign, length) != 0)
    return false;
  l->at += length;
  return true;
}

/* Names that begin with __ are the compiler's own. The -D names of the program's compiler are not known here. */
static bool is_defined(struct fortran *f, const char *name) {
  if (f_find_macro(f, name))
    return true;
  bool undefined = strncmp(name, "__", 2) == 0;
  for (int i = 0; i < f->macros.count; i++)
    undefined |= strcmp(((const struct macro *)f->macros.items[i])->name, name) == 0;
  f->doubted |= !undefined;
  return false;
}

static long long condition(struct line *l, int level);

/* Reads the whole line, up to a comment. */
static long long whole_condition(struct line *l) {
  const long long value = condition(l, 0);
  blanks(l);
  if (l->at < l->end && !eat(l, "/*") && !eat(l, "//"))
    f_refuse(l->f, &l->token,
             "this condition has signs that kernels do not have; write `==`, `<`, `&&` and their like");
  return value;
}

static long long value_of(struct line *l, struct macro *m) {
  struct line inner = {.f = l->f, .at = m->value, .end = m->value + strlen(m->value), .token = l->token};
  if (m->busy)
    return 0;
  m->busy = true;
  const long long value = whole_condition(&inner);
  m->busy = false;
  return value;
}

static long long operand(struct line *l) {
  if (eat(l, "!"))
    return !operand(l);
  if (eat(l, "(")) {
    const long long value = condition(l, 0);
    if (!eat(l, ")"))
      f_refuse(l->f, &l->token,
               "this condition cannot be read; write #if with `==`, `<`, `&&` and their like");
    return value;
  }
  blanks(l);
  if (l->at < l->end && isdigit((unsigned char)*l->at))
    return strtoll(name_of(l), NULL, 0);
  const char *name = name_of(l);
  if (strcmp(name, "defined") == 0) {
    const bool open = eat(l, "(");
    const bool value = is_defined(l->f, name_of(l));
    if (open)
      eat(l, ")");
    return value;
  }
  if (!*name)
    f_refuse(l->f, &l->token, "this condition cannot be read; write #ifdef NAME");
  return is_defined(l->f, name) ? value_of(l, f_find_macro(l->f, name)) : 0;
}

/* Signs of one level from weak to strong; two letters before one. */
static const struct {
  int level;
  const char *sign;
} signs[] = {{0, "||"}, {1, "&&"}, {2, "=="}, {2, "!="}, {3, "<="}, {3, ">="}, {3, "<"}, {3, ">"}};

static long long apply(size_t sign, long long a, long long b) {
  const long long values[] = {a || b, a && b, a == b, a != b, a <= b, a >= b, a<b, a> b};
  return values[sign];
}

static long long condition(struct line *l, int level) {
  enum { STRONGEST = 4 };
  if (level == STRONGEST)
    return operand(l);
  long long value = condition(l, level + 1);
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (signs[i].level == level && eat(l, signs[i].sign)) {
      value = apply(i, value, condition(l, level + 1));
      i = (size_t)-1;
    }
  return value;
}

static void define(struct line *l, bool undefine) {
  struct macro *m = f_new(l->f, sizeof *m);
  m->name = name_of(l);
  if (!undefine && l->at < l->end && *l->at == '(')
    f_refuse(l->f, &l->token, "%s is a macro with arguments, which kernels do not have; write a function",
             m->name);
  blanks(l);
  m->value = undefine ? NULL : f_copy(l->f, l->at, (size_t)(l->end - l->at));
  if (!list_add(&l->f->macros, m))
    f_memory(l->f);
}

static void include(struct line *l) {
  blanks(l);
  const char *from = l->at < l->end ? l->at + 1 : l->at, *to = from;
  while (to < l->end && *to != '"' && *to != '>')
    to++;
  f_scan_named(l->f, f_copy(l->f, from, (size_t)(to - from)), l->token.file->path, &l->token, false);
}

static void begin(struct line *l, struct conditions *c, bool holds) {
  enum { MOST = sizeof c->taken / sizeof *c->taken };
  if (++c->depth >= MOST) {
    f_refuse(l->f, &l->token, "conditions are nested too deeply");
    c->depth = MOST - 1;
  }
  c->taken[c->depth] = holds;
  if (!c->dead && !holds)
    c->dead = c->depth;
}

/* #elif and #else: the first that holds. */
static void otherwise(struct line *l, struct conditions *c, bool is_else) {
  if (c->dead && c->dead < c->depth)
    return;
  const bool holds = !c->taken[c->depth] && (is_else || whole_condition(l));
  c->dead = holds ? 0 : c->depth;
  c->taken[c->depth] |= holds;
}

void f_scan_directive(struct fortran *f, const struct source_file *file, size_t from, size_t to, int line,
                      struct conditions *c) {
  struct line l = {.f = f, .at = file->text + from + 1, .end = file->text + to};
  l.token =
      (struct f_token){.file = file, .begin = from, .line = line, .column = 1, .word = "#", .spelled = "#"};
  const char *word = name_of(&l);
  if (strcmp(word, "ifdef") == 0)
    begin(&l, c, c->dead || is_defined(f, name_of(&l)));
  else if (strcmp(word, "ifndef") == 0)
    begin(&l, c, c->dead || !is_defined(f, name_of(&l)));
  else if (strcmp(word, "if") == 0)
    begin(&l, c, c->dead || whole_condition(&l));
  else if (c->depth && (strcmp(word, "elif") == 0 || strcmp(word, "else") == 0))
    otherwise(&l, c, word[2] == 's');
  else if (c->depth && strcmp(word, "endif") == 0) {
    if (c->dead == c->depth)
      c->dead = 0;
    c->depth--;
  } else if (!c->dead && strcmp(word, "include") == 0)
    include(&l);
  else if (!c->dead && (strcmp(word, "define") == 0 || strcmp(word, "undef") == 0))
    define(&l, *word == 'u');
  else if (!c->dead && strcmp(word, "line") != 0 && strcmp(word, "pragma") != 0)
    f_refuse(f, &l.token, "#%s is no line of the preprocessor that kernels have", word);
}
