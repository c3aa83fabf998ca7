/* The declarations of a unit. */
#include <string.h>

#include "jit/kernel/fortran/tree.h"

/* The part of a declaration before the names. */
struct declared {
  struct f_type type;
  const char *wrong;
  enum intent intent;
  bool parameter, by_value, assumed_size;
  const char *access; /* public or private */
  int rank;
  struct bounds bounds[RANKS];
};

/* ---- shapes ---- */

static void set_bound(const struct expr *e, long long *value, bool *known) {
  *known = e->known && e->type.base == F_INTEGER;
  *value = e->value;
}

static void read_bounds(struct fortran *f, struct declared *d, struct bounds *b) {
  const struct f_token *at = now(f);
  *b = (struct bounds){.lower = 1, .low_known = true};
  struct expr *e = f_is_word(f, f->at, ":") || f_is_word(f, f->at, "*") ? NULL : f_read_expression(f);
  const bool colon = f_take(f, ":"), open = colon && (f_is_word(f, f->at, ",") || f_is_word(f, f->at, ")"));
  if (colon && e) {
    b->low = e;
    set_bound(e, &b->lower, &b->low_known);
  }
  if (open && !d->wrong)
    d->wrong = "has an assumed shape; kernels get addresses alone: write its extents, as (4), (0:3) or (*)";
  const bool star = f_take(f, "*");
  d->assumed_size |= star;
  b->high = star || open ? NULL : colon ? f_read_expression(f) : e;
  if (b->high)
    set_bound(b->high, &b->upper, &b->high_known);
  if (b->high_known && b->low_known && b->upper < b->lower - 1)
    f_refuse(f, at, "the upper bound %lld is below the lower bound %lld", b->upper, b->lower);
}

static void read_shape(struct fortran *f, struct declared *d) {
  d->rank = 0;
  d->assumed_size = false;
  f_expect(f, "(");
  do {
    if (d->rank == RANKS)
      f_refuse(f, now(f), "an array has at most %d dimensions", RANKS);
    else
      read_bounds(f, d, &d->bounds[d->rank++]);
    if (d->assumed_size && !f_is_word(f, f->at, ")") && !d->parameter)
      f_refuse(f, now(f), "`*` stands for the last dimension only");
  } while (!failed(f) && f_take(f, ","));
  f_expect(f, ")");
}

/* ---- attributes ---- */

static const struct {
  const char *word, *wrong;
} unfit[] = {
    {"allocatable", "is allocatable; kernels allocate nothing: give it constant bounds, as w(4)"},
    {"pointer", "is a pointer; pass the array itself"},
    {"optional", "is optional; kernels get all their arguments"},
    {"save", "is saved; kernels keep nothing between elements: leave `save` out, or make it a parameter"},
    {"volatile", "is volatile; leave that out"},
    {"asynchronous", "is asynchronous; leave that out"},
};

static void read_intent(struct fortran *f, struct declared *d) {
  f_expect(f, "(");
  const struct f_token *at = now(f);
  if (f_take_two(f, "in", "out"))
    d->intent = INTENT_INOUT;
  else if (f_take(f, "in"))
    d->intent = INTENT_IN;
  else if (f_take(f, "out"))
    d->intent = INTENT_OUT;
  else
    f_refuse(f, at, "`%s` is no intent; write in, out or inout", at->spelled);
  f_expect(f, ")");
}

static void read_attribute(struct fortran *f, struct declared *d, bool in_module) {
  const struct f_token *at = now(f);
  const char *word = f_take_name(f, "an attribute");
  bool known = true;
  if (f_is_one_of(word, " public private "))
    d->access = word;
  else if (strcmp(word, "parameter") == 0)
    d->parameter = true;
  else if (strcmp(word, "dimension") == 0)
    read_shape(f, d);
  else if (strcmp(word, "intent") == 0)
    read_intent(f, d);
  else if (strcmp(word, "value") == 0)
    d->by_value = true;
  else if (strcmp(word, "bind") == 0)
    f->at = f_skip_brackets(f, f->at);
  else
    known = f_is_one_of(word, " target contiguous protected intrinsic external ");
  for (size_t i = 0; i < sizeof unfit / sizeof *unfit && !known; i++)
    if (strcmp(word, unfit[i].word) == 0) {
      known = true;
      if (!in_module || strcmp(word, "save") != 0)
        d->wrong = unfit[i].wrong;
    }
  if (!known)
    f_refuse(f, at, "`%s` is no attribute that kernels know", at->spelled);
}

/* ---- who sees the names of a module ---- */

static void note_access(struct fortran *f, struct f_unit *u, const char *access, const char *name) {
  struct rename *r = f_new(f, sizeof *r), **list = *access == 'u' ? &u->shown : &u->hidden;
  *r = (struct rename){.next = *list, .local = name, .name = name};
  *list = r;
}

/* `private`, or `public :: a, b`. */
static void read_access(struct fortran *f, struct f_unit *u) {
  const char *access = f->tokens[f->at++].word + 1; /* from "ublic", "rivate" */
  f_take(f, "::");
  if (f_at_end(f))
    u->hides = *access == 'r';
  for (; now(f)->form == T_NAME; f_take(f, ",")) {
    note_access(f, u, access, f->tokens[f->at++].word);
    if (f_is_word(f, f->at, "("))
      f->at = f_skip_brackets(f, f->at); /* operator(+) */
  }
}

/* ---- entities ---- */

static void set_shape(struct symbol *s, const struct declared *d) {
  if (!d->rank)
    return;
  s->rank = d->rank;
  memcpy(s->bounds, d->bounds, sizeof s->bounds);
  s->assumed_size = d->assumed_size;
}

static void fill(struct fortran *f, struct symbol *s, const struct declared *d) {
  s->type = d->type;
  s->typed = true;
  s->wrong = d->wrong;
  set_shape(s, d);
  s->intent = d->intent ? d->intent : s->intent;
  s->by_value |= d->by_value;
  if (d->parameter)
    s->kind = S_PARAMETER;
  if (s->kind == S_LOCAL && d->intent)
    f_refuse(f, s->at, "%s has an intent, and is no argument", s->name);
}

/* `(*)` of a parameter: as long as its values. */
static void set_init(struct fortran *f, struct symbol *s, struct expr *init) {
  s->init = init;
  if (s->rank == 1 && s->assumed_size) {
    s->assumed_size = false;
    s->bounds[0].upper = s->bounds[0].lower + f_items_of(f, init) - 1;
    s->bounds[0].high_known = true;
  }
  if (s->kind == S_PARAMETER && s->rank == 0 && init->rank > 0)
    f_refuse(f, init->at, "%s is one value, and gets an array", s->name);
}

static struct symbol *symbol_here(struct fortran *f, struct f_unit *u, const struct f_token *at) {
  struct symbol *s = f_own_symbol(u, at->word);
  return s ? s : f_add_symbol(f, u, at->word, at);
}

static void read_entity(struct fortran *f, struct f_unit *u, const struct declared *d) {
  struct declared own = *d;
  const struct f_token *at = now(f);
  const bool in_module = u->kind == U_MODULE || u->kind == U_PROGRAM;
  f_take_name(f, "a name");
  if (failed(f))
    return;
  struct symbol *s = symbol_here(f, u, at);
  if (f_is_word(f, f->at, "("))
    read_shape(f, &own);
  if (f_take(f, "*"))
    f_read_primary(f);
  s->at = at;
  fill(f, s, &own);
  if (own.access)
    note_access(f, u, own.access + 1, s->name);
  if (!in_module && own.wrong)
    f_refuse(f, at, "%s %s", at->spelled, own.wrong);
  if (!in_module && own.assumed_size && !own.parameter && s->kind != S_DUMMY)
    f_refuse(f, at, "%s is no argument, and `*` is an extent of arguments only; write a number", at->spelled);
  if (f_is_word(f, f->at, "=") || f_is_word(f, f->at, "=>")) {
    const struct f_token *sign = now(f);
    f->at++;
    struct expr *init = f_read_expression(f);
    if (s->kind == S_PARAMETER)
      set_init(f, s, init);
    else if (!in_module)
      f_refuse(f, sign,
               "a value in the declaration of %s makes it saved, so that it keeps its value between "
               "elements; give it the value in a statement, or make it a parameter",
               s->name);
  } else if (s->kind == S_PARAMETER)
    f_refuse(f, at, "the parameter %s has no value", at->spelled);
}

static void read_type_statement(struct fortran *f, struct f_unit *u) {
  struct declared d = {0};
  f_read_type(f, &d.type, &d.wrong, false);
  while (f_take(f, ",") && !failed(f))
    read_attribute(f, &d, u->kind == U_MODULE || u->kind == U_PROGRAM);
  f_take(f, "::");
  do
    read_entity(f, u, &d);
  while (!failed(f) && f_take(f, ","));
}

/* ---- other statements ---- */

/* `dimension x(3)`, `intent(in) x`, `parameter (n = 3)`. */
static void read_about(struct fortran *f, struct f_unit *u) {
  struct declared d = {.intent = INTENT_NONE};
  const bool parameter = f_take(f, "parameter");
  if (parameter)
    f_expect(f, "(");
  else if (f_take(f, "intent"))
    read_intent(f, &d);
  else
    f_take(f, "dimension");
  f_take(f, "::");
  do {
    const struct f_token *at = now(f);
    f_take_name(f, "a name");
    struct symbol *s = symbol_here(f, u, at);
    if (parameter) {
      if (!s->typed)
        s->type = f_implicit_type(u, at->word), s->typed = true;
      s->kind = S_PARAMETER;
      f_expect(f, "=");
      set_init(f, s, f_read_expression(f));
    } else if (d.intent)
      s->intent = d.intent;
    else {
      read_shape(f, &d);
      set_shape(s, &d);
    }
  } while (!failed(f) && f_take(f, ","));
  if (parameter)
    f_expect(f, ")");
}

static void read_implicit(struct fortran *f, struct f_unit *u) {
  f->at++;
  if (f_take(f, "none")) {
    u->implicit_none = true;
    return;
  }
  do {
    struct f_type type;
    const int behind = f->at + 1;
    /* The bracket of the letters is not that of a kind. */
    const bool plain = f_is_word(f, behind, "(") && !f_is_word(f, f_skip_brackets(f, behind), "(");
    if (!f_read_type(f, &type, NULL, plain))
      f_refuse_here(f, "a type");
    f_expect(f, "(");
    do {
      const char *from = f_take_name(f, "a letter"), *to = f_take(f, "-") ? f_take_name(f, "a letter") : from;
      for (char c = *from; c >= 'a' && c <= *to && c <= 'z'; c++)
        u->implicit[c - 'a'] = type;
    } while (!failed(f) && f_take(f, ","));
    f_expect(f, ")");
  } while (!failed(f) && f_take(f, ","));
}

/* Names of kinds in the modules that compilers have themselves. */
static const struct {
  const char *module, *name;
  int value;
} kinds[] = {
    {"iso_c_binding", "c_double", 8},    {"iso_c_binding", "c_float", 4},   {"iso_c_binding", "c_int", 4},
    {"iso_c_binding", "c_int32_t", 4},   {"iso_c_binding", "c_int64_t", 8}, {"iso_c_binding", "c_long", 8},
    {"iso_c_binding", "c_long_long", 8}, {"iso_c_binding", "c_bool", 1},    {"iso_c_binding", "c_size_t", 8},
    {"iso_fortran_env", "real64", 8},    {"iso_fortran_env", "real32", 4},  {"iso_fortran_env", "int32", 4},
    {"iso_fortran_env", "int64", 8}};

static struct f_unit *find_module(struct fortran *f, const char *name, const struct f_token *at) {
  struct f_unit *u = f_find_unit(f, name, NULL);
  if (u || !f_is_one_of(name, " iso_c_binding iso_fortran_env "))
    return u && u->kind == U_MODULE ? u : NULL;
  u = f_add_unit(f, U_MODULE, NULL, name);
  u->declared = STATE_DONE;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strcmp(kinds[i].module, name) != 0)
      continue;
    struct symbol *s = f_add_symbol(f, u, kinds[i].name, at);
    s->kind = S_PARAMETER;
    s->type = (struct f_type){F_INTEGER, 4};
    s->init = f_integer_expr(f, at, kinds[i].value);
  }
  return u;
}

static void read_use(struct fortran *f, struct f_unit *u) {
  f->at++;
  if (f_take(f, ","))
    f->at++; /* intrinsic */
  f_take(f, "::");
  const struct f_token *at = now(f);
  const char *name = f_take_name(f, "the name of a module");
  struct use *use = f_new(f, sizeof *use);
  use->module = failed(f) ? NULL : find_module(f, name, at);
  if (f_take(f, ",")) {
    if (f_take(f, "only")) {
      use->only = true;
      f_expect(f, ":");
    }
    while (!f_at_end(f) && !failed(f)) {
      struct rename *r = f_new(f, sizeof *r);
      r->local = r->name = f_take_name(f, "a name");
      if (f_take(f, "("))
        f->at = f_skip_brackets(f, f->at - 1); /* operator(+) */
      if (f_take(f, "=>"))
        r->name = f_take_name(f, "a name");
      r->next = use->names;
      use->names = r;
      if (!f_take(f, ","))
        break;
    }
  }
  if (!use->module) {
    u->lost = u->lost ? u->lost : name;
    return;
  }
  use->next = u->uses;
  u->uses = use;
}

/* ---- a unit ---- */

/* Reads a declaration. False: an executable statement begins here. */
static bool read_declaration(struct fortran *f, struct f_unit *u) {
  const bool in_procedure = u->kind == U_SUBROUTINE || u->kind == U_FUNCTION;
  if (f_is_assignment(f, f->at))
    return false;
  if (f_is_any(f, f->at, " external intrinsic import target protected bind contiguous "))
    return true;
  if (f_is_any(f, f->at, " common equivalence namelist data format entry save "))
    return f_is_refused(f, in_procedure);
  if (f_is_any(f, f->at, " public private ")) {
    read_access(f, u);
    return true;
  }
  if (f_is_word(f, f->at, "use"))
    read_use(f, u);
  else if (f_is_word(f, f->at, "implicit"))
    read_implicit(f, u);
  else if (f_is_word(f, f->at, "interface") || f_is_two(f, f->at, "abstract", "interface"))
    f->at = f_skip_to_end(f, f->at, "interface") - 1;
  else if (f_is_any(f, f->at, " type enum ") && !f_is_word(f, f->at + 1, "("))
    f->at = f_skip_to_end(f, f->at, now(f)->word) - 1;
  else if (f_is_type_word(f, f->at))
    read_type_statement(f, u);
  else if (f_is_any(f, f->at, " parameter dimension intent "))
    read_about(f, u);
  else
    return false;
  if (!f_at_end(f))
    f_refuse(f, now(f), "`%s` is not expected here", now(f)->spelled);
  return true;
}

/* A wrong declaration in a module is an error only if a kernel uses the name. */
static void forgive(struct fortran *f, struct f_unit *u) {
  if (f->err->code != OP_ERR_KERNEL)
    return;
  error_clear(f->err);
  for (struct symbol *s = u->symbols; s; s = s->next)
    if (!s->next && !s->wrong)
      s->wrong = f_say(f, "has a declaration that kernels cannot have: %s", f->refused);
}

static void read_header(struct fortran *f, struct f_unit *u) {
  struct f_type type = {F_NONE, 0};
  const char *wrong;
  f->at = u->header;
  while (!f_is_word(f, f->at, "subroutine") && !f_is_word(f, f->at, "function") && !failed(f)) {
    u->is_elemental |= f_is_word(f, f->at, "elemental");
    if (!f_is_type_word(f, f->at))
      f->at++;
    else if (f_read_type(f, &type, &wrong, false) && wrong)
      f_refuse(f, &f->tokens[u->header], "the result of %s is of a type that kernels do not have", u->name);
  }
  f->at += 2;
  for (bool more = f_take(f, "(") && !f_take(f, ")"); more && !failed(f); more = f_take(f, ",")) {
    const struct f_token *at = now(f);
    struct symbol *s = f_add_symbol(f, u, f_take_name(f, "an argument's name"), at);
    s->kind = S_DUMMY;
    if (u->ndummies == sizeof u->dummies / sizeof *u->dummies)
      f_refuse(f, at, "a procedure has at most 64 arguments here");
    else
      u->dummies[u->ndummies++] = s;
  }
  if (u->ndummies)
    f_expect(f, ")");
  const struct f_token *at = &f->tokens[u->header];
  const char *result = u->name;
  while (!f_at_end(f) && !failed(f)) {
    if (f_take(f, "result")) {
      f_expect(f, "(");
      result = f_take_name(f, "the result's name");
      f_expect(f, ")");
    } else
      f->at = f_is_word(f, f->at + 1, "(") ? f_skip_brackets(f, f->at + 1) : f->at + 1; /* bind(c) */
  }
  if (u->kind == U_FUNCTION) {
    u->result = f_add_symbol(f, u, result, at);
    u->result->kind = S_RESULT;
    u->result->type = type;
    u->result->typed = type.base != F_NONE;
    u->result->c_name = "result_";
  }
}

static void type_rest(struct fortran *f, struct f_unit *u) {
  for (struct symbol *s = u->symbols; s && !failed(f); s = s->next) {
    if (s->typed || s->kind == S_PROCEDURE)
      continue;
    s->type = f_implicit_type(u, s->name);
    s->typed = true;
    if (s->type.base == F_NONE)
      f_refuse(f, s->at, "%s is not declared; write its declaration, as `real(8), intent(in) :: %s`", s->name,
               s->name);
  }
}

void f_declare_unit(struct fortran *f, struct f_unit *u) {
  if (u->declared != STATE_NEW || failed(f))
    return;
  struct f_unit *before = f->unit;
  const int at = f->at;
  const bool tolerant = u->kind == U_MODULE || u->kind == U_PROGRAM;
  u->declared = STATE_BUSY;
  f->unit = u;
  if (!tolerant)
    read_header(f, u);
  for (f->at = u->body; f->at < u->end && !failed(f);) {
    u->executable = f->at;
    if (f->tokens[f->at].form == T_LABEL)
      f->at++;
    const bool is_declaration = read_declaration(f, u);
    if (tolerant && failed(f))
      forgive(f, u);
    if (!is_declaration)
      break;
    f_skip_statement(f);
    u->executable = f->at;
  }
  if (f->at >= u->end)
    u->executable = u->end;
  if (!tolerant)
    type_rest(f, u);
  u->declared = STATE_DONE;
  f->unit = before;
  f->at = at;
}
