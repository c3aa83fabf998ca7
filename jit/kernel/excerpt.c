#include "jit/kernel/excerpt.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "jit/kernel/lexer.h"

enum { AROUND = 2, WIDEST = 400, DEEPEST = 40 };

/* The part of the text that comes from where this line does; *line becomes one of the part. */
static struct source part_of(const struct source *s, int *line) {
  const struct origin *o = origins_at(s->origins, *line);
  if (!o)
    return *s;
  const bool last = o == &s->origins->items[s->origins->count - 1];
  *line -= o->line - 1;
  return (struct source){.text = s->text + o->begin,
                         .length = (last ? s->length : o[1].begin) - o->begin,
                         .file = o->file,
                         .line = o->file_line,
                         .one_line = o->one_line,
                         .made = s->origins->fortran && o->begin >= s->origins->own};
}

/* ---- a text that was made of another ------------------------------------------------------------*/

static const char made_of[] = "//!"; /* The source line of Fortran stands behind this mark. */

struct shown {
  const char *at;
  size_t length;
  int column; /* of the place in it */
};

/* Where the word that begins at `name` occurs for the given time, or for the last; -1: nowhere. */
static long find_word(const struct shown *line, const char *name, size_t length, int number) {
  long found = -1;
  for (size_t i = 0; i + length <= line->length; i++) {
    const bool begins =
        (i == 0 || !is_in_word(line->at[i - 1])) && strncasecmp(line->at + i, name, length) == 0;
    if (begins && (i + length == line->length || !is_in_word(line->at[i + length])) && number-- >= 0)
      found = (long)i;
  }
  return found;
}

/* The column of the name in the line that this one was made of; else of the first word. */
static int column_in(const struct shown *made, const struct shown *from) {
  size_t at = made->column > 0 ? (size_t)made->column - 1 : 0, length = 0;
  if (at > made->length) /* a compiler's column may lie behind the mark */
    at = made->length;
  while (at < made->length && !is_in_word(made->at[at]))
    at++;
  while (at > 0 && is_in_word(made->at[at - 1]))
    at--;
  while (at + length < made->length && is_in_word(made->at[at + length]))
    length++;
  struct shown before = *made;
  int number = 0;
  for (before.length = at; before.length > 0 && length; before.length--) {
    const size_t i = before.length - 1;
    number += (i == 0 || !is_in_word(made->at[i - 1])) && i + length < at &&
              !is_in_word(made->at[i + length]) && strncmp(made->at + i, made->at + at, length) == 0;
  }
  long found = length ? find_word(from, made->at + at, length, number) : -1;
  if (found < 0 && length > 1 && made->at[at + length - 1] == '_')
    found = find_word(from, made->at + at, length - 1, number);
  for (size_t i = 0; found < 0 && i < from->length; i++)
    if (!isspace((unsigned char)from->at[i]))
      found = (long)i;
  return (int)found + 1;
}

/* Line `line` of a part, or the line that it was made of; false: there is no such line. */
static bool shown_line(const struct source *s, int line, int column, struct shown *out) {
  const char *at = s->text, *end = s->text + s->length;
  for (int i = 1; i < line; i++) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    if (!newline)
      return false;
    at = newline + 1;
  }
  const char *newline = memchr(at, '\n', (size_t)(end - at));
  *out = (struct shown){at, (size_t)((newline ? newline : end) - at), column};
  if (out->length && at[out->length - 1] == '\r')
    out->length--;
  const char *mark = s->made ? memmem(at, out->length, made_of, sizeof made_of - 1) : NULL;
  if (!mark)
    return true;
  const char *from = mark + sizeof made_of - 1;
  const struct shown made = {at, (size_t)(mark - at), column};
  *out = (struct shown){from, out->length - (size_t)(from - at), column};
  if (column > 0)
    out->column = column_in(&made, out);
  return true;
}

void source_place(const struct source *whole, int line, int column, struct text *out) {
  const struct source part = part_of(whole, &line), *s = &part;
  struct shown where;
  text_add(out, s->file ? s->file : "kernel text");
  int shown = s->line > 0 ? s->line + line - 1 : line;
  text_addf(out, ":%d", shown);
  if (column > 0 && !s->one_line)
    text_addf(out, ":%d", shown_line(s, line, column, &where) ? where.column : column);
}

/* One line "  number | text", and "         |  ^" under it if the caret is here. */
static void add_line(struct text *out, int number, const char *line, size_t length, long caret) {
  char gutter[24];
  int width = snprintf(gutter, sizeof gutter, "%6d | ", number);
  if (number <= 0)
    width = snprintf(gutter, sizeof gutter, "       | ");
  size_t from = caret > WIDEST / 2 ? (size_t)caret - WIDEST / 2 : 0;
  if (length < WIDEST || from > length)
    from = 0;
  size_t shown = length - from > WIDEST ? WIDEST : length - from;
  text_add(out, gutter);
  text_add_bytes(out, line + from, shown);
  text_add_char(out, '\n');
  if (caret < 0)
    return;
  text_addf(out, "%*s| ", width - 2, "");
  for (size_t i = from; i < (size_t)caret; i++)
    text_add_char(out, i < length && line[i] == '\t' ? '\t' : ' ');
  text_add(out, "^\n");
}

static void excerpt_as_written(const struct source *s, int line, int column, struct text *out) {
  struct shown where;
  if (shown_line(s, line, column, &where))
    add_line(out, (s->line > 0 ? s->line : 1) + line - 1, where.at, where.length,
             where.column > 0 ? where.column - 1 : -1);
}

/* ---- a text of one line, laid out --------------------------------------------------------------*/

struct layout {
  const struct tokens *tokens;
  struct text laid;
  size_t line_begin; /* of the laid line being written */
  int line, depth, parens, initialiser;
  int caret_line;
  long caret;
};

static void break_line(struct layout *l) {
  if (l->laid.length == l->line_begin)
    return;
  text_add_char(&l->laid, '\n');
  l->line_begin = l->laid.length;
  l->line++;
}

static void put_token(struct layout *l, size_t index, size_t caret_at) {
  const struct token *token = &l->tokens->items[index];
  if (l->laid.length == l->line_begin)
    for (int i = 0; i < l->depth && i < DEEPEST; i++)
      text_add(&l->laid, "  ");
  else if (index > 0 && l->tokens->items[index - 1].end < token->begin)
    text_add_char(&l->laid, ' ');
  if (l->caret_line == 0 && caret_at < token->end) {
    l->caret_line = l->line;
    size_t inside = caret_at > token->begin ? caret_at - token->begin : 0;
    l->caret = (long)(l->laid.length - l->line_begin + inside);
  }
  text_add_bytes(&l->laid, l->tokens->text + token->begin, token->end - token->begin);
}

/* A brace behind these opens a list of values, which stays on its line. */
static bool opens_initialiser(const struct layout *l, size_t index) {
  if (l->initialiser || l->parens)
    return true;
  return index > 0 && (token_is(l->tokens, index - 1, "=") || token_is(l->tokens, index - 1, "]"));
}

static bool stays_with_brace(const struct layout *l, size_t index) {
  static const char *const words[] = {";", ",", ")", "else", "while", NULL};
  return token_is_any(l->tokens, index, words);
}

static void lay_token(struct layout *l, size_t index, size_t caret_at) {
  const struct tokens *t = l->tokens;
  if (token_is(t, index, "{")) {
    bool inner = opens_initialiser(l, index);
    put_token(l, index, caret_at);
    if (inner)
      l->initialiser++;
    else {
      l->depth++;
      break_line(l);
    }
  } else if (token_is(t, index, "}") && l->initialiser) {
    l->initialiser--;
    put_token(l, index, caret_at);
  } else if (token_is(t, index, "}")) {
    break_line(l);
    if (l->depth > 0)
      l->depth--;
    put_token(l, index, caret_at);
    if (!stays_with_brace(l, index + 1))
      break_line(l);
  } else {
    l->parens += token_is(t, index, "(") || token_is(t, index, "[");
    l->parens -= (token_is(t, index, ")") || token_is(t, index, "]")) && l->parens > 0;
    put_token(l, index, caret_at);
    if (token_is(t, index, ";") && !l->parens && !l->initialiser)
      break_line(l);
  }
}

static void excerpt_laid_out(const struct source *s, int column, struct text *out) {
  struct error ignored = {0};
  struct tokens tokens;
  if (lex(&tokens, s->text, s->length, &ignored) != OP_OK) {
    error_free(&ignored);
    return;
  }
  struct layout l = {.tokens = &tokens, .line = 1};
  size_t caret_at = column > 0 ? (size_t)column - 1 : 0;
  for (size_t i = 0; i < tokens.count; i++)
    lay_token(&l, i, caret_at);
  int line = 0;
  for (const char *at = text_str(&l.laid); *at;) {
    size_t length = strcspn(at, "\n");
    line++;
    if (line >= l.caret_line - AROUND && line <= l.caret_line + AROUND)
      add_line(out, 0, at, length, line == l.caret_line && column > 0 ? l.caret : -1);
    at += length + (at[length] == '\n');
  }
  text_free(&l.laid);
  tokens_free(&tokens);
  error_free(&ignored);
}

void source_excerpt(const struct source *s, int line, int column, struct text *out) {
  if (line < 1)
    return;
  const struct source part = part_of(s, &line);
  if (part.one_line)
    excerpt_laid_out(&part, column, out);
  else
    excerpt_as_written(&part, line, column, out);
}

int source_error(const struct source *s, int line, int column, struct error *err, int code, const char *who,
                 const char *format, va_list args) {
  struct text message = {0};
  text_addf(&message, "%s: ", who);
  text_vaddf(&message, format, args);
  text_add_char(&message, '\n');
  source_place(s, line, column, &message);
  text_add(&message, ":\n");
  source_excerpt(s, line, column, &message);
  text_drop_newline(&message);
  error_set(err, code, "%s", text_str(&message));
  text_free(&message);
  return code;
}
