/* Modules and procedures: where each begins and ends. What is in them is read when somebody needs it. */
#include <string.h>

#include "jit/front/fortran/tree.h"

/* ---- reading tokens ---- */

bool f_is_word(const struct fortran *f, int at, const char *word) {
  if (at >= f->ntokens)
    return false;
  const struct f_token *t = &f->tokens[at];
  return (t->form == T_NAME || t->form == T_SIGN) && strcmp(t->word, word) == 0;
}

bool f_take(struct fortran *f, const char *word) {
  if (!f_is_word(f, f->at, word))
    return false;
  f->at++;
  return true;
}

void f_expect(struct fortran *f, const char *word) {
  if (!f_take(f, word) && !failed(f)) {
    const struct f_token *t = now(f);
    if (t->form == T_END)
      f_refuse(f, t, "the statement ends where `%s` is expected", word);
    else
      f_refuse(f, t, "`%s` stands where `%s` is expected", t->spelled, word);
  }
}

const char *f_take_name(struct fortran *f, const char *what) {
  const struct f_token *t = now(f);
  if (t->form == T_NAME) {
    f->at++;
    return t->word;
  }
  if (t->form == T_END)
    f_refuse(f, t, "the statement ends where %s is expected", what);
  else
    f_refuse(f, t, "`%s` stands where %s is expected", t->spelled, what);
  return "";
}

bool f_at_end(const struct fortran *f) {
  return now(f)->form == T_END;
}

void f_skip_statement(struct fortran *f) {
  while (!f_at_end(f))
    f->at++;
  f->at++;
}

int f_skip_brackets(const struct fortran *f, int at) {
  int depth = 0;
  for (; f->tokens[at].form != T_END; at++) {
    depth += f_is_word(f, at, "(") || f_is_word(f, at, "[");
    depth -= f_is_word(f, at, ")") || f_is_word(f, at, "]");
    if (depth <= 0)
      return at + 1;
  }
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

static int next_statement(const struct fortran *f, int at) {
  while (f->tokens[at].form != T_END)
    at++;
  return at + 1;
}

static int skip_label(const struct fortran *f, int at) {
  return f->tokens[at].form == T_LABEL ? at + 1 : at;
}

/* Of a procedure: words and brackets may stand before it. Returns the token of its name, or -1. */
static int procedure_name(const struct fortran *f, int at, enum unit_kind *kind) {
  static const char *const before[] = {"pure",    "elemental", "impure",          "recursive", "integer",
                                       "real",    "module",    "double",          "precision", "logical",
                                       "complex", "character", "doubleprecision", "type",      "class"};
  for (bool known = true; known;) {
    if (f_is_word(f, at, "subroutine") || f_is_word(f, at, "function")) {
      *kind = f_is_word(f, at, "function") ? U_FUNCTION : U_SUBROUTINE;
      return f->tokens[at + 1].form == T_NAME ? at + 1 : -1;
    }
    known = f_is_word(f, at, "*") || f->tokens[at].form == T_INTEGER;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
      known |= f_is_word(f, at, before[i]);
    at = f_is_word(f, at + 1, "(") ? f_skip_brackets(f, at + 1) : at + 1;
  }
  return -1;
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
  static const char *const units[] = {"subroutine", "function",  "module",
                                      "program",    "procedure", "submodule"};
  if (f_is_word(f, at, "end") && f->tokens[at + 1].form == T_END)
    return true;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (f_is_two(f, at, "end", units[i]) && !f_is_assignment(f, at))
      return true;
  return f_is_two(f, at, "end", "block") && f_is_word(f, at + 2, "data");
}

static struct f_unit *add_unit(struct fortran *f, enum unit_kind kind, int name, int header) {
  struct f_unit *u = f_new(f, sizeof *u);
  *u = (struct f_unit){.kind = kind, .parent = f->unit, .header = header, .last = &u->symbols};
  u->name = name < 0 ? "main" : f->tokens[name].word;
  u->body = next_statement(f, header);
  u->end = -1;
  *f->last_unit = u;
  f->last_unit = &u->next;
  return u;
}

/* Of an interface or a type, which may have a `contains` of its own. */
static int skip_to_end(const struct fortran *f, int at, const char *what) {
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
    if (f_is_word(f, at, "interface") ||
        (f_is_word(f, at, "abstract") && f_is_word(f, at + 1, "interface"))) {
      start = skip_to_end(f, start, "interface");
      continue;
    }
    if (name < 0 && f->unit && f_is_word(f, at, "type") && !f_is_word(f, at + 1, "(") &&
        !f_is_assignment(f, at)) {
      start = skip_to_end(f, start, "type");
      continue;
    }
    if (name >= 0)
      f->unit = add_unit(f, kind, name, at);
    else if (f->unit && f_is_word(f, at, "contains") && f->tokens[at + 1].form == T_END && f->unit->end < 0)
      f->unit->end = start;
    else if (f->unit && ends_unit(f, at)) {
      if (f->unit->end < 0)
        f->unit->end = start;
      f->unit = f->unit->parent;
    } else if (!f->unit) { /* a program without its statement, or a part of one */
      f->unit = add_unit(f, U_PROGRAM, -1, at);
      f->unit->body = start;
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

struct f_unit *f_find_module(const struct fortran *f, const char *name) {
  struct f_unit *u = f_find_unit(f, name, NULL);
  return u && u->kind == U_MODULE ? u : NULL;
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
  bool found = at.form != T_NAME || strcmp(at.word, "iso_c_binding") == 0 ||
               strcmp(at.word, "iso_fortran_env") == 0 || is_here(f, at.word);
  for (size_t i = 0; !found && !failed(f) && i < sizeof endings / sizeof *endings; i++) {
    struct text path = {0};
    text_addf(&path, "%s%s", at.word, endings[i]);
    found = f_scan_named(f, text_str(&path), at.file->path, &at, true);
    text_free(&path);
  }
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
