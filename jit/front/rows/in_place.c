#include "jit/front/rows/in_place.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "jit/front/parameters.h"
#include "jit/front/rows/split_inner.h"

static bool is_row(const struct tokens *t, size_t at) {
  return token_is(t, at, "OP_ROW") && token_is(t, at + 1, "(") && token_is_identifier(t, at + 2) &&
         token_is(t, at + 3, ",");
}

int in_place_row(const struct kernel *k, const struct desc *d, const struct in_place *p, size_t at) {
  for (int i = 0; is_row(&k->tokens, at) && i < d->nargs; i++)
    if (p->args[i] && token_is(&k->tokens, at + 2, k->parameters[desc_parameter(d, i)].name))
      return i;
  return -1;
}

/* ---- uses of a pointer -------------------------------------------------------------------------*/

/* From `begin` to `end` stands a pointer: is nothing used but what it points to? */
static bool is_followed(const struct tokens *t, size_t begin, size_t end) {
  size_t before = begin - 1;
  if (!token_is(t, end, "[") && !token_is(t, before, "*"))
    return false;
  while (token_is(t, before, "*") || token_is(t, before, "("))
    before--;
  return !split_takes_address(t, before);
}

static bool is_followed_everywhere(const struct looking *s, const struct local *pointer) {
  for (size_t i = pointer->name + 1; i < pointer->end; i++)
    if (token_is_identifier(s->t, i) && tokens_same(s->t, i, pointer->name) &&
        locals_meant(&s->locals, i) == pointer && !is_followed(s->t, i, i + 1))
      return false;
  return true;
}

/* ---- declarations of pointers to rows ----------------------------------------------------------*/

/* The row that a declared pointer begins with: `*p = OP_ROW(x, k)`; 0: it is no such pointer. */
static size_t row_of(const struct looking *s, const struct local *pointer) {
  const struct tokens *t = s->t;
  const size_t row = pointer->name + 2;
  size_t star = pointer->name - 1;
  while (token_is(t, star, "const") || token_is(t, star, "restrict"))
    star--;
  const bool one = token_is(t, star, "*") && !token_is(t, star - 1, "*");
  if (pointer->form != LOCAL_POINTER || !one || !token_is(t, row - 1, "=") || !is_row(t, row))
    return 0;
  const size_t end = kernel_skip_brackets(t, row + 1);
  return token_is(t, end, ",") || token_is(t, end, ";") ? row : 0;
}

/* Where the declaration of a name begins. */
static size_t declaration(const struct tokens *t, size_t name) {
  int depth = 0;
  for (; name > 0; name--) {
    const size_t before = name - 1;
    if (token_is(t, before, ")") || token_is(t, before, "]"))
      depth++;
    else if (token_is(t, before, "(") || token_is(t, before, "["))
      depth--;
    if (depth < 0 || token_is(t, before, ";") || token_is(t, before, "{") || token_is(t, before, "}"))
      break;
  }
  return name;
}

/* Are all names of the declaration such pointers? They have one type, and so one space. */
static bool is_kept(const struct looking *s, const struct in_place *p, size_t row) {
  const size_t begin = declaration(s->t, row - 2);
  bool found = false;
  for (size_t i = 0; i < s->locals.count; i++) {
    const struct local *l = &s->locals.items[i];
    if (l->name < begin || declaration(s->t, l->name) != begin)
      continue;
    const size_t other = row_of(s, l);
    if (!other || in_place_row(s->k, s->d, p, other) < 0 || !is_followed_everywhere(s, l))
      return false;
    found |= other == row;
  }
  return found;
}

static bool add_declarations(const struct looking *s, struct in_place *p) {
  for (size_t i = 0; i < s->locals.count; i++) {
    const size_t row = row_of(s, &s->locals.items[i]);
    if (!row || in_place_row(s->k, s->d, p, row) < 0)
      continue;
    const size_t begin = declaration(s->t, row - 2);
    if (p->ndeclared && p->declared[p->ndeclared - 1] == begin)
      continue;
    size_t *declared = array_more(p->declared, p->ndeclared, sizeof *declared);
    if (!declared)
      return false;
    p->declared = declared;
    declared[p->ndeclared++] = begin;
  }
  return true;
}

/* ---- arguments ---------------------------------------------------------------------------------*/

/* Truth values are bytes in memory; of a struct more than values could be used. */
static bool can_stay(const struct looking *s, int arg) {
  const struct desc_arg *a = &s->d->args[arg];
  const int number = desc_parameter(s->d, arg);
  return a->present && a->form == DESC_DAT && desc_is_ragged(s->d, a) && !a->dropped &&
         a->type != TYPE_BOOL && !type_is_struct(a->type) && number < s->k->nparameters &&
         s->k->parameters[number].understood && s->k->parameters[number].depth == 2 &&
         strchr(s->k->parameters[number].spelling, '*');
}

static bool is_unused(const struct tokens *t, size_t at) {
  return token_is(t, at - 1, ")") && token_is(t, at - 2, "void") && token_is(t, at + 1, ";");
}

static bool stays(const struct looking *s, const struct in_place *p, int arg) {
  const struct tokens *t = s->t;
  const char *name = s->k->parameters[desc_parameter(s->d, arg)].name;
  for (size_t i = s->locals.begin + 1; i < s->locals.end; i++) {
    if (!token_is_identifier(t, i) || !token_is(t, i, name) || tokens_member(t, i) || is_unused(t, i))
      continue;
    if (!is_row(t, i - 2) || !(is_followed(t, i - 2, kernel_skip_brackets(t, i - 1)) || is_kept(s, p, i - 2)))
      return false;
  }
  return true;
}

/* What the kernel's text as a whole must not have. */
static bool can_be_read(const struct looking *s) {
  static const char *const words[] = {"typeof", "__typeof__", "__typeof", "op2jit_row"};
  const struct kernel *k = s->k;
  const size_t name = k->functions[k->function].token;
  for (size_t w = 0; w < sizeof words / sizeof *words; w++)
    if (kernel_uses(k, words[w]))
      return false;
  for (size_t i = 0; i < s->t->count; i++)
    if (i != name && token_is_identifier(s->t, i) && tokens_same(s->t, i, name))
      return false; /* a prototype, or a call */
  for (size_t i = k->functions[k->function].open; i < s->locals.end; i++)
    if (s->t->items[i].directive ||
        (i > s->locals.begin && token_is_identifier(s->t, i) && tokens_macro(s->t, i)))
      return false;
  return true;
}

bool rows_in_place(const struct kernel *k, const struct desc *d, struct in_place *out) {
  struct looking s = {.k = k, .d = d, .t = &k->tokens};
  bool changed = true;
  *out = (struct in_place){0};
  if (d->entry || d->nmembers || !desc_any_ragged(d) || !k->certain || k->function < 0)
    return true;
  const size_t begin = kernel_skip_brackets(s.t, k->functions[k->function].open);
  if (!token_is(s.t, begin, "{"))
    return true;
  const size_t end = kernel_skip_brackets(s.t, begin) - 1;
  if (locals_find(&s.locals, s.t, begin, end)) { /* not understood: no pointers are declared */
    locals_free(&s.locals);
    s.locals = (struct locals){.tokens = s.t, .begin = begin, .end = end};
  }
  const bool readable = can_be_read(&s);
  for (int i = 0; i < d->nargs; i++)
    out->args[i] = readable && can_stay(&s, i);
  while (changed) {
    changed = false;
    for (int i = 0; i < d->nargs; i++)
      if (out->args[i] && !stays(&s, out, i)) {
        out->args[i] = false;
        changed = true;
      }
  }
  const bool good = add_declarations(&s, out);
  locals_free(&s.locals);
  return good;
}

void in_place_free(struct in_place *p) {
  free(p->declared);
  *p = (struct in_place){0};
}
