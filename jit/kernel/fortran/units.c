/* Modules and procedures: where each begins and ends. Their statements are read on demand. */
#include <string.h>

#include "jit/kernel/fortran/tree.h"

/* ---- reading tokens ---- */

bool f_is_word(const struct fortran *f, int at, const char *word) {
  if (at >= f->ntokens)
    return false;
  const struct f_token *t = &f->tokens[at];
  return (t->form == T_NAME || t->form == T_SIGN) && strcmp(t->word, word) == 0;
}

bool f_is_any(const struct fortran *f, int at, const char *words) {
  return at < f->ntokens && f->tokens[at].form == T_NAME && f_is_one_of(f->tokens[at].word, words);
}

bool f_take(struct fortran *f, const char *word) {
  if (!f_is_word(f, f->at, word))
    return false;
  f->at++;
  return true;
}

void f_refuse_here(struct fortran *f, const char *what) {
  const struct f_token *t = now(f);
  if (t->form == T_END)
    f_refuse(f, t, "the statement ends where %s is expected", what);
  else
    f_refuse(f, t, "`%s` stands where %s is expected", t->spelled, what);
}

void f_expect(struct fortran *f, const char *word) {
  if (!f_take(f, word))
    f_refuse_here(f, f_say(f, "`%s`", word));
}

const char *f_take_name(struct fortran *f, const char *what) {
  if (now(f)->form == T_NAME)
    return f->tokens[f->at++].word;
  f_refuse_here(f, what);
  return "";
}

bool f_at_end(const struct fortran *f) {
  return now(f)->form == T_END;
}

static int next_statement(const struct fortran *f, int at) {
  while (f->tokens[at].form != T_END)
    at++;
  return at + 1;
}

void f_skip_statement(struct fortran *f) {
  f->at = next_statement(f, f->at);
}

int f_bracket(const struct fortran *f, int at) {
  const bool opens = f_is_word(f, at, "(") || f_is_word(f, at, "[");
  return opens - (f_is_word(f, at, ")") || f_is_word(f, at, "]"));
}

int f_skip_brackets(const struct fortran *f, int at) {
  int depth = 0;
  for (; f->tokens[at].form != T_END; at++)
    if ((depth += f_bracket(f, at)) <= 0)
      return at + 1;
  return at;
}

bool f_is_two(const struct fortran *f, int at, const char *first, const char *second) {
  if (f_is_word(f, at, first))
    return f_is_word(f, at + 1, second);
  const size_t length = strlen(first);
  const struct f_token *t = &f->tokens[at];
  return t->form == T_NAME && strncmp(t->word, first, length) == 0 && strcmp(t->word + length, second) == 0;
}

bool f_take_two(struct fortran *f, const char *first, const char *second) {
  if (!f_is_two(f, f->at, first, second))
    return false;
  f->at += f_is_word(f, f->at, first) ? 2 : 1;
  return true;
}

/* `name =`, `name(...) =`, `name(...)%part =`: there are no words that cannot be names. */
bool f_is_assignment(const struct fortran *f, int at) {
  if (f->tokens[at].form != T_NAME)
    return false;
  at++;
  while (f_is_word(f, at, "(") || f_is_word(f, at, "%"))
    at = f_is_word(f, at, "(") ? f_skip_brackets(f, at) : at + 2;
  return f_is_word(f, at, "=") || f_is_word(f, at, "=>");
}

/* ---- units ---- */

static int skip_label(const struct fortran *f, int at) {
  return f->tokens[at].form == T_LABEL ? at + 1 : at;
}

/* The token of a procedure's name, or -1. Words and brackets may stand before it. */
static int procedure_name(const struct fortran *f, int at, enum unit_kind *kind) {
  while (f_is_word(f, at, "*") || f->tokens[at].form == T_INTEGER ||
         f_is_any(f, at,
                  " pure elemental impure recursive integer real module double precision "
                  "doubleprecision logical complex character type class "))
    at = f_is_word(f, at + 1, "(") ? f_skip_brackets(f, at + 1) : at + 1;
  *kind = f_is_word(f, at, "function") ? U_FUNCTION : U_SUBROUTINE;
  return f_is_any(f, at, " subroutine function ") && f->tokens[at + 1].form == T_NAME ? at + 1 : -1;
}

/* The name's token of a unit that begins with this statement, or -1. */
static int unit_name(const struct fortran *f, int at, enum unit_kind *kind) {
  if (f_is_assignment(f, at))
    return -1;
  const bool is_name =
      f->tokens[at].form == T_NAME && f->tokens[at + 1].form == T_NAME && f->tokens[at + 2].form == T_END;
  *kind = f_is_word(f, at, "module") ? U_MODULE : U_PROGRAM;
  if (is_name &&
      ((f_is_word(f, at, "module") && !f_is_word(f, at + 1, "procedure")) || f_is_word(f, at, "program")))
    return at + 1;
  return procedure_name(f, at, kind);
}

static bool ends_unit(const struct fortran *f, int at) {
  static const char units[] = " subroutine function module program procedure submodule blockdata ";
  const struct f_token *t = &f->tokens[at];
  if (f_is_word(f, at, "end"))
    return t[1].form == T_END || (f_is_any(f, at + 1, units) && !f_is_assignment(f, at)) ||
           (f_is_word(f, at + 1, "block") && f_is_word(f, at + 2, "data"));
  return t->form == T_NAME && strncmp(t->word, "end", 3) == 0 && f_is_one_of(t->word + 3, units) &&
         !f_is_assignment(f, at);
}

struct f_unit *f_add_unit(struct fortran *f, enum unit_kind kind, struct f_unit *parent, const char *name) {
  struct f_unit *u = f_new(f, sizeof *u);
  *u = (struct f_unit){.kind = kind, .parent = parent, .name = name, .end = -1, .last = &u->symbols};
  *f->last_unit = u;
  f->last_unit = &u->next;
  return u;
}

int f_skip_to_end(const struct fortran *f, int at, const char *what) {
  while (at < f->ntokens && !f_is_two(f, at, "end", what))
    at = next_statement(f, at);
  return at < f->ntokens ? next_statement(f, at) : at;
}

void f_find_units(struct fortran *f) {
  struct f_unit *before = f->unit;
  f->unit = NULL;
  for (int start = 0; start < f->ntokens && !failed(f);) {
    const int at = skip_label(f, start);
    enum unit_kind kind = U_PROGRAM;
    const int name = unit_name(f, at, &kind);
    const bool interface = f_is_word(f, at, "interface") || f_is_two(f, at, "abstract", "interface");
    if (interface || (name < 0 && f->unit && f_is_word(f, at, "type") && !f_is_word(f, at + 1, "(") &&
                      !f_is_assignment(f, at))) {
      start = f_skip_to_end(f, start, interface ? "interface" : "type");
      continue;
    }
    if (name >= 0 || !f->unit) { /* without a name: a program without its statement, or a part of one */
      f->unit = f_add_unit(f, name < 0 ? U_PROGRAM : kind, f->unit, name < 0 ? "main" : f->tokens[name].word);
      f->unit->header = at;
      f->unit->body = name < 0 ? start : next_statement(f, start);
    } else if (f_is_word(f, at, "contains") && f->tokens[at + 1].form == T_END && f->unit->end < 0)
      f->unit->end = start;
    else if (ends_unit(f, at)) {
      if (f->unit->end < 0)
        f->unit->end = start;
      f->unit = f->unit->parent;
    }
    start = next_statement(f, start);
  }
  if (f->unit && !failed(f)) {
    const struct f_token *t = &f->tokens[f->unit->header];
    f_refuse(f, t, "%s is not ended; write `end` behind its last line", f->unit->name);
  }
  f->unit = before;
}

struct f_unit *f_find_unit(const struct fortran *f, const char *name, const struct f_unit *parent) {
  for (struct f_unit *u = f->units; u; u = u->next)
    if (u->parent == parent && u->kind != U_PROGRAM && strcmp(u->name, name) == 0)
      return u;
  return NULL;
}

static bool is_here(const struct fortran *f, const char *module) {
  for (int at = 0; at < f->ntokens; at = next_statement(f, at))
    if (f_is_word(f, at, "module") && f_is_word(f, at + 1, module) && f->tokens[at + 2].form == T_END)
      return true;
  return false;
}

static void scan_module(struct fortran *f, int name) {
  static const char *const endings[] = {".f90", ".F90", ".f", ".F", ".f95", ".f03", ".f08"};
  const struct f_token at = f->tokens[name];
  bool found =
      at.form != T_NAME || f_is_any(f, name, " iso_c_binding iso_fortran_env ") || is_here(f, at.word);
  for (size_t i = 0; !found && !failed(f) && i < sizeof endings / sizeof *endings; i++)
    found = f_scan_named(f, f_say(f, "%s%s", at.word, endings[i]), at.file->path, &at, true);
}

void f_scan_modules(struct fortran *f) {
  for (int at = 0; at < f->ntokens && !failed(f); at = next_statement(f, at))
    if (f_is_word(f, at, "use") && !f_is_assignment(f, at)) {
      int name = at + 1;
      while (f->tokens[name].form == T_SIGN || f_is_word(f, name, "intrinsic"))
        name++;
      scan_module(f, name);
    }
}
