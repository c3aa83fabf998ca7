/* Cuts out of a text what its kernel does not use (other kernels of the file, their helpers and constants,
 * comments between them), so that a change there does not change the code. Types stay. Only names are compared:
 * a declaration stays if it declares a name that occurs in what stays. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "jit/kernel/parameters.h"

/* A declaration at file scope, or a #define: tokens. */
struct piece {
  size_t first, end;
  bool is_function, is_define, is_named, stays;
};

struct name {
  const char *at;
  size_t length;
  int piece;
};

struct cut {
  const struct tokens *t;
  struct piece *pieces;
  size_t npieces;
  struct name *names; /* that pieces declare, sorted */
  size_t nnames;
  size_t *waiting; /* pieces whose words must still be read */
  size_t nwaiting;
};

/* ---- pieces --------------------------------------------------------------------------------------*/

static size_t end_of_directive(const struct tokens *t, size_t i) {
  do
    i++;
  while (i < t->count && t->items[i].directive && !t->items[i].line_first);
  return i;
}

/* The token behind the semicolon, or behind the body of a function. */
static size_t end_of_declaration(const struct tokens *t, size_t i, bool *is_function) {
  for (*is_function = false; i < t->count && !t->items[i].directive; i++) {
    if (token_is(t, i, ";"))
      return i + 1;
    *is_function = token_is(t, i, "{") && i > 0 && token_is(t, i - 1, ")");
    if (token_is(t, i, "{") || token_is(t, i, "(") || token_is(t, i, "["))
      i = kernel_skip_brackets(t, i) - 1;
    if (*is_function)
      return i + 1;
  }
  return i;
}

static bool find_pieces(struct cut *c) {
  const struct tokens *t = c->t;
  for (size_t i = 0; i < t->count;) {
    struct piece p = {.first = i, .is_define = t->items[i].directive};
    p.end = i = p.is_define ? end_of_directive(t, i) : end_of_declaration(t, i, &p.is_function);
    struct piece *pieces = array_more(c->pieces, c->npieces, sizeof *pieces);
    if (!pieces)
      return false;
    c->pieces = pieces;
    pieces[c->npieces++] = p;
  }
  return true;
}

/* ---- names ---------------------------------------------------------------------------------------*/

static bool add_name(struct cut *c, size_t token, size_t piece) {
  struct name *names = array_more(c->names, c->nnames, sizeof *names);
  if (!names)
    return false;
  const struct token *word = &c->t->items[token];
  c->names = names;
  names[c->nnames++] = (struct name){c->t->text + word->begin, word->end - word->begin, (int)piece};
  return true;
}

static bool add_names(struct cut *c) {
  bool *declares = array_new(c->t->count, sizeof *declares);
  bool good = declares != NULL;
  if (good)
    tokens_declared(c->t, declares);
  for (size_t p = 0; good && p < c->npieces; p++)
    for (size_t i = c->pieces[p].first; good && i < c->pieces[p].end; i++)
      if (declares[i]) {
        good = add_name(c, i, p);
        c->pieces[p].is_named = true;
      }
  free(declares);
  return good;
}

static int compare(const void *a, const void *b) {
  const struct name *x = a, *y = b;
  const int order = memcmp(x->at, y->at, x->length < y->length ? x->length : y->length);
  return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* The first of the names that the token is; the end: none. */
static size_t find_name(const struct cut *c, size_t token) {
  const struct token *word = &c->t->items[token];
  const struct name wanted = {c->t->text + word->begin, word->end - word->begin, 0};
  const struct name *found = c->nnames ? bsearch(&wanted, c->names, c->nnames, sizeof wanted, compare) : NULL;
  while (found && found > c->names && compare(found - 1, &wanted) == 0)
    found--;
  return found ? (size_t)(found - c->names) : c->nnames;
}

/* ---- texts that are left as they are ---------------------------------------------------------------*/

/* More than words of a type: it may declare names that stand nowhere else. */
static bool hides_names(const struct tokens *t, const struct piece *define) {
  for (size_t i = define->first + 3; i < define->end; i++)
    if (t->items[i].kind == TOKEN_OTHER || (t->items[i].kind == TOKEN_PUNCTUATOR && !token_is(t, i, "*")))
      return true;
  return false;
}

static bool is_plain_directive(const struct cut *c, const struct piece *p) {
  const struct tokens *t = c->t;
  if (!t->items[p->first].line_first || !token_is(t, p->first + 1, "define") || p->end < p->first + 3)
    return false;
  for (size_t i = p->first + 1; i < p->end; i++)
    if (token_is(t, i, "#"))
      return false;
  const size_t name = find_name(c, p->first + 2);
  return name + 1 >= c->nnames || compare(&c->names[name], &c->names[name + 1]) != 0;
}

/* No macro of the text's own declares anything. */
static bool is_plain_declaration(const struct cut *c, const struct piece *p) {
  const struct tokens *t = c->t;
  for (size_t i = p->first; i < p->end; i++)
    if (t->items[i].line_first && t->items[i].directive && !token_is(t, i + 1, "pragma"))
      return false;
  for (size_t i = p->first; i < p->end; i++) {
    const size_t name = token_is_identifier(t, i) ? find_name(c, i) : c->nnames;
    const struct piece *of = name < c->nnames ? &c->pieces[c->names[name].piece] : NULL;
    if (of && of->is_define && hides_names(t, of))
      return false;
    if (token_is(t, i, "(") || token_is(t, i, "[") || token_is(t, i, "{"))
      i = kernel_skip_brackets(t, i) - 1;
  }
  return true;
}

/* False: a word goes over two lines, or brackets are spelled otherwise, so that tokens are not what a compiler
 * sees. */
static bool is_spelled_plainly(const struct tokens *t) {
  static const char *const pairs[] = {"<%", "%>", "<:", ":>", "%:", "??"};
  for (size_t i = 1; i + 1 < t->length; i++) {
    const char *at = t->text + i;
    if (at[0] == '\\' && (at[1] == '\n' || at[1] == '\r') && is_in_word(at[-1]))
      return false;
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
      if (memcmp(at, pairs[p], 2) == 0)
        return false;
  }
  return true;
}

/* No conditions, and no macros that make names. A pragma stands in a function. */
static bool is_plain(const struct cut *c) {
  if (!is_spelled_plainly(c->t))
    return false;
  for (size_t i = 0; i < c->npieces; i++) {
    const struct piece *p = &c->pieces[i];
    if (p->is_define ? !is_plain_directive(c, p) : !is_plain_declaration(c, p))
      return false;
  }
  return true;
}

/* ---- what stays ----------------------------------------------------------------------------------*/

static void keep(struct cut *c, size_t piece) {
  if (!c->pieces[piece].stays)
    c->waiting[c->nwaiting++] = piece;
  c->pieces[piece].stays = true;
}

/* True: a type, which a constant of the program may have; or a piece that declares nothing that is understood. */
static bool always_stays(const struct tokens *t, const struct piece *p) {
  static const char *const words[] = {"typedef", "struct", "union", "_Static_assert", "static_assert", NULL};
  const bool unclear = !p->is_named && p->end > p->first + 1;
  return unclear || (!p->is_function && token_is_any(t, p->first, words));
}

static void find_what_stays(struct cut *c, const struct kernel *k) {
  for (size_t i = 0; i < c->npieces; i++)
    if (always_stays(c->t, &c->pieces[i]))
      keep(c, i);
  for (size_t i = 0; i < c->nnames; i++)
    if (c->names[i].length == strlen(k->name) && memcmp(c->names[i].at, k->name, c->names[i].length) == 0)
      keep(c, (size_t)c->names[i].piece);
  while (c->nwaiting) {
    const struct piece p = c->pieces[c->waiting[--c->nwaiting]];
    for (size_t i = p.first; i < p.end; i++) {
      if (!token_is_identifier(c->t, i))
        continue;
      const size_t first = find_name(c, i);
      for (size_t n = first; n < c->nnames && compare(&c->names[n], &c->names[first]) == 0; n++)
        keep(c, (size_t)c->names[n].piece);
    }
  }
}

/* True: the text has more than what stays. */
static bool leaves_out(const struct cut *c, const struct kernel *k) {
  size_t at = 0;
  for (size_t i = 0; i <= c->npieces; i++) {
    const bool last = i == c->npieces;
    if (!last && !c->pieces[i].stays)
      return true;
    const size_t end = last ? k->length : c->t->items[c->pieces[i].first].begin;
    for (; at < end; at++)
      if (!strchr(" \t\r\n", k->text[at]))
        return true;
    at = last ? at : c->t->items[c->pieces[i].end - 1].end;
  }
  return false;
}

/* ---- the new text --------------------------------------------------------------------------------*/

static struct origin origin_at(const struct kernel *k, const struct token *first) {
  const struct origin *o = origins_of(&k->origins, first->begin);
  return o ? (struct origin){.file = o->file,
                             .file_line = o->file_line + first->line - o->line,
                             .one_line = o->one_line}
           : (struct origin){.file_line = first->line};
}

/* Columns stay, but of a text that is laid out anew where it is shown. */
static bool add_piece(const struct cut *c, const struct kernel *k, const struct piece *p, struct text *out,
                      struct origins *origins, int *line) {
  const struct token *first = &c->t->items[p->first], *last = &c->t->items[p->end - 1];
  struct origin o = origin_at(k, first);
  o.begin = out->length;
  o.line = *line;
  for (int i = 1; i < first->column && !o.one_line; i++)
    text_add_char(out, ' ');
  const size_t begin = out->length;
  text_add_bytes(out, k->text + first->begin, last->end - first->begin);
  text_add_char(out, '\n');
  for (size_t i = first->begin; i < last->end; i++)
    *line += k->text[i] == '\n';
  ++*line;
  bool good = text_ok(out) && origins_add(origins, o);
  for (int i = 0; good && i < k->origins.count; i++) { /* of files that are included within the piece */
    struct origin inner = k->origins.items[i];
    if (inner.begin <= first->begin || inner.begin >= last->end)
      continue;
    inner.begin += begin - first->begin;
    inner.line += o.line - first->line;
    good = origins_add(origins, inner);
  }
  return good;
}

static int make_text(const struct cut *c, struct kernel *k, struct error *err) {
  struct text text = {0};
  struct origins origins = {.fortran = k->origins.fortran};
  int line = 1;
  bool good = true;
  for (size_t i = 0; good && i < c->npieces; i++)
    if (c->pieces[i].stays)
      good = add_piece(c, k, &c->pieces[i], &text, &origins, &line);
  const size_t length = text.length;
  char *words = text_take(&text);
  if (!good || !words) {
    free(words);
    origins_free(&origins);
    return error_memory(err, "a kernel text", length);
  }
  free(k->text);
  origins_free(&k->origins);
  k->text = words;
  k->length = length;
  k->origins = origins;
  return OP_OK;
}

int kernel_cut(struct kernel *k, bool *changed, struct error *err) {
  struct cut c = {.t = &k->tokens};
  *changed = false;
  bool good =
      find_pieces(&c) && add_names(&c) && (c.waiting = array_new(c.npieces, sizeof *c.waiting)) != NULL;
  int code = good ? OP_OK : error_memory(err, "the declarations of a kernel text", k->tokens.count);
  if (good && c.nnames)
    qsort(c.names, c.nnames, sizeof *c.names, compare);
  if (good && k->certain && is_plain(&c)) {
    find_what_stays(&c, k);
    *changed = leaves_out(&c, k);
    if (*changed)
      code = make_text(&c, k, err);
  }
  free(c.pieces);
  free(c.names);
  free(c.waiting);
  return code;
}

/* True: a variable, type, function or enumerator is declared here. In brackets there are only types and
 * enumerators. Code that looks alike and declares nothing, as "sizeof (a)", is inside brackets. */
static bool is_declared(const struct tokens *t, size_t i, int depth, bool in_enum) {
  static const char *const behind[] = {"=", ";", "[", ",", "(", "__attribute__", "__attribute", NULL};
  static const char *const tags[] = {"struct", "union", "enum", NULL};
  static const char *const never[] = {"__attribute__", "__attribute", "_Static_assert", "static_assert",
                                      NULL};
  if (!token_is_identifier(t, i) || token_is_any(t, i, never))
    return false;
  const bool tag = i > 0 && token_is_any(t, i - 1, tags);
  const bool pointer = token_is(t, i + 1, "(") && token_is(t, i + 2, "*"); /* of a type, to functions */
  return (depth == 0 && !pointer && token_is_any(t, i + 1, behind)) ||
         (tag && (token_is(t, i + 1, "{") || token_is(t, i + 1, ";"))) ||
         (in_enum && (token_is(t, i - 1, "{") || token_is(t, i - 1, ",")));
}

void tokens_declared(const struct tokens *t, bool *declares) {
  size_t enum_end = 0;
  int depth = 0;
  for (size_t i = 0; i < t->count; i++) /* also in a body: a macro is for all that follows */
    declares[i] = t->items[i].directive && i > 0 && token_is(t, i - 1, "define");
  for (size_t i = 0; i < t->count; i++) {
    if (t->items[i].directive)
      continue;
    if (depth == 0 && token_is(t, i, "{") && i > 0 && token_is(t, i - 1, ")")) { /* a function's body */
      i = kernel_skip_brackets(t, i) - 1;
      continue;
    }
    const size_t open = token_is(t, i + 1, "{") ? i + 1 : i + 2;
    if (token_is(t, i, "enum") && token_is(t, open, "{"))
      enum_end = kernel_skip_brackets(t, open);
    declares[i] = is_declared(t, i, depth, i < enum_end);
    depth += token_is(t, i, "(") || token_is(t, i, "[") || token_is(t, i, "{");
    depth -= token_is(t, i, ")") || token_is(t, i, "]") || token_is(t, i, "}");
  }
}
