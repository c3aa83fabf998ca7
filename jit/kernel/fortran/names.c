/* Names: their meaning at a place, and their names in C. */
#include <string.h>

#include "base/text.h"
#include "jit/kernel/fortran/tree.h"
#include "jit/kernel/prelude.h"

struct symbol *f_own_symbol(const struct f_unit *u, const char *name) {
  for (struct symbol *s = u->symbols; s; s = s->next)
    if (strcmp(s->name, name) == 0)
      return s;
  return NULL;
}

/* ---- names in C ---- */

/* Words of C, C++ and OpenCL C. */
static const char words_of_c[] =
    " alignas alignof and asm auto bool break case catch char class compl const constant constexpr "
    "continue decltype default delete do double else enum event_t explicit export extern false float "
    "for friend global goto half if inline int kernel local long mutable namespace new noexcept not "
    "nullptr operator or private protected public register restrict return sampler_t short signed "
    "sizeof static struct switch template this throw true try typedef typeid typename uint ulong "
    "uniform union unsigned using virtual void volatile while xor ";

const char *f_c_name_of(struct fortran *f, const char *name) {
  const size_t length = strlen(name);
  const bool odd = constant_name_wrong(name) || f_is_one_of(name, words_of_c) ||
                   (length && name[length - 1] == '_') || strncmp(name, "op", 2) == 0;
  return odd ? f_say(f, "%s_", name) : name;
}

/* Constants of the library have names that it has checked itself. */
static const char *constant_c_name(struct fortran *f, const char *name) {
  return constant_name_wrong(name) ? f_say(f, "const_%s", name) : name;
}

/* ---- symbols ---- */

struct symbol *f_add_symbol(struct fortran *f, struct f_unit *u, const char *name, const struct f_token *at) {
  struct symbol *s = f_new(f, sizeof *s);
  *s = (struct symbol){.name = name, .at = at, .unit = u};
  s->kind = u->kind == U_MODULE || u->kind == U_PROGRAM ? S_MODULE : S_LOCAL;
  s->c_name = s->kind == S_MODULE ? constant_c_name(f, name) : f_c_name_of(f, name);
  *u->last = s;
  u->last = &s->next;
  return s;
}

struct symbol *f_add_index(struct fortran *f, const struct f_token *at) {
  struct f_unit *u = f->unit;
  struct symbol *s = f_new(f, sizeof *s);
  *s = (struct symbol){.next = u->symbols, .name = at->word, .at = at, .unit = u, .kind = S_INDEX};
  s->c_name = f_say(f, "i%d_", ++f->labels);
  s->type = (struct f_type){F_INTEGER, 4};
  s->typed = s->used = true;
  if (!u->symbols)
    u->last = &s->next;
  u->symbols = s;
  return s;
}

static struct symbol *procedure_symbol(struct fortran *f, struct f_unit *at, struct f_unit *of) {
  struct symbol *s = f_add_symbol(f, at, of->name, &f->tokens[of->header]);
  s->kind = S_PROCEDURE;
  s->unit = of;
  s->type = of->result ? of->result->type : (struct f_type){F_NONE, 0};
  return s;
}

static struct symbol *look_in(struct fortran *f, struct f_unit *u, const char *name);

static bool has_name(const struct rename *list, const char *name) {
  for (; list; list = list->next)
    if (strcmp(list->name, name) == 0)
      return true;
  return false;
}

static bool is_private(const struct f_unit *module, const char *name) {
  return module->hides ? !has_name(module->shown, name) : has_name(module->hidden, name);
}

static struct symbol *look_in_uses(struct fortran *f, struct f_unit *u, const char *name) {
  struct symbol *found = NULL;
  for (struct use *use = u->uses; use && !found && !failed(f); use = use->next) {
    const char *there = use->only ? NULL : name;
    for (struct rename *r = use->names; r; r = r->next) {
      if (strcmp(r->local, name) == 0)
        there = r->name;
      else if (!use->only && strcmp(r->name, name) == 0)
        there = NULL;
    }
    found = there ? look_in(f, use->module, there) : NULL;
    found = found && is_private(use->module, there) ? NULL : found;
  }
  return found;
}

static struct symbol *look_in(struct fortran *f, struct f_unit *u, const char *name) {
  f->parts->declare(f, u);
  struct symbol *s = f_own_symbol(u, name);
  struct f_unit *procedure = s ? NULL : f_find_unit(f, name, u);
  if (procedure)
    s = procedure_symbol(f, u, procedure);
  return s ? s : look_in_uses(f, u, name);
}

struct symbol *f_look_up(struct fortran *f, struct f_unit *u, const char *name) {
  for (; u && !failed(f); u = u->parent) {
    struct symbol *s = look_in(f, u, name);
    struct f_unit *procedure = s || u->parent ? NULL : f_find_unit(f, name, NULL);
    if (procedure && procedure->kind != U_MODULE)
      s = procedure_symbol(f, u, procedure);
    if (s)
      return s;
  }
  return NULL;
}

static void near_names(const struct fortran *f, struct text *names) {
  for (const struct f_unit *u = f->unit; u; u = u->parent) {
    for (const struct f_unit *inner = f->units; inner; inner = inner->next)
      if (inner->parent == u)
        names_note(names, inner->name);
    for (const struct symbol *s = u->symbols; s; s = s->next)
      names_note(names, s->name);
    for (const struct use *use = u->uses; use; use = use->next)
      for (const struct symbol *s = use->module->symbols; s; s = s->next)
        names_note(names, s->name);
  }
}

void f_refuse_unknown(struct fortran *f, const struct f_token *at, const char *what) {
  struct text *names = f_text(f);
  const char *lost = NULL;
  near_names(f, names);
  for (const struct f_unit *u = f->unit; u && !lost; u = u->parent)
    lost = u->lost;
  const char *near = names_nearest(names, at->word);
  if (near)
    f_refuse(f, at, "%s is not declared; did you mean %s?", at->spelled, near);
  else if (lost)
    f_refuse(f, at,
             "%s is not declared here, and the source of module %s, which may have it, was not found "
             "beside this file nor in OP2_INCLUDE; put %s.f90 there, or declare it",
             at->spelled, lost, lost);
  else
    f_refuse(f, at, "%s is not declared; %s", at->spelled, what);
}

struct f_type f_implicit_type(const struct f_unit *u, const char *name) {
  for (; u; u = u->parent) {
    if (u->implicit_none)
      return (struct f_type){F_NONE, 0};
    const int letter = *name - 'a';
    if (letter >= 0 && letter < 26 && u->implicit[letter].base)
      return u->implicit[letter];
  }
  return *name >= 'i' && *name <= 'n' ? (struct f_type){F_INTEGER, 4} : (struct f_type){F_REAL, 4};
}

struct symbol *f_look_up_or_make(struct fortran *f, struct f_unit *u, const struct f_token *at) {
  struct symbol *s = f_look_up(f, u, at->word);
  if (s || failed(f))
    return s;
  const struct f_type type = f_implicit_type(u, at->word);
  if (type.base == F_NONE) {
    f_refuse_unknown(f, at,
                     "write its declaration, as `real(8) :: x`; a constant of the library is a variable of a "
                     "module that the kernel uses");
    return NULL;
  }
  s = f_add_symbol(f, u, at->word, at);
  s->type = type;
  return s;
}

/* ---- types ---- */

const char *f_type_in_c(struct f_type t) {
  switch (t.base) {
  case F_INTEGER: return t.kind == 8 ? "long long" : "int";
  case F_REAL: return t.kind == 8 ? "double" : "float";
  case F_LOGICAL: return t.kind == 1 ? "bool" : "int";
  default: return "void";
  }
}

const char *f_type_said(struct fortran *f, struct f_type t) {
  static const char *const words[] = {"no value", "integer", "real", "logical", "character"};
  return t.base == F_NONE || t.base == F_TEXT ? words[t.base] : f_say(f, "%s(%d)", words[t.base], t.kind);
}
