#include "jit/kernel/lexer.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

struct cursor {
  struct tokens *out;
  size_t at;
  size_t line_begin;
  int line;
  bool line_empty; /* no token on this line yet */
  bool directive;
  bool no_memory;
};

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* The character `ahead` bytes on; NUL beyond the end. */
static char peek(const struct cursor *c, size_t ahead) {
  return c->out->length - c->at > ahead ? c->out->text[c->at + ahead] : '\0';
}

static bool at_end(const struct cursor *c) {
  return c->at >= c->out->length;
}

/* The length of a backslash and line end here, or 0. */
static size_t splice(const struct cursor *c, size_t ahead) {
  if (peek(c, ahead) != '\\')
    return 0;
  if (peek(c, ahead + 1) == '\n')
    return 2;
  return peek(c, ahead + 1) == '\r' && peek(c, ahead + 2) == '\n' ? 3 : 0;
}

static void next_line(struct cursor *c) {
  c->line++;
  c->line_begin = c->at;
}

static void skip_comment(struct cursor *c) {
  const int line = c->line, column = (int)(c->at - c->line_begin) + 1;
  c->at += 2;
  while (!at_end(c)) {
    if (peek(c, 0) == '*' && peek(c, 1) == '/') {
      c->at += 2;
      return;
    }
    c->at++;
    if (c->out->text[c->at - 1] == '\n')
      next_line(c);
  }
  c->out->comment_line = line;
  c->out->comment_column = column;
}

/* Skips to the end of the line, which stays; a spliced line goes on. */
static void skip_line_comment(struct cursor *c) {
  while (!at_end(c) && peek(c, 0) != '\n') {
    size_t joined = splice(c, 0);
    c->at += joined ? joined : 1;
    if (joined)
      next_line(c);
  }
}

/* Blanks and comments in front of the next token. */
static void skip_space(struct cursor *c) {
  while (!at_end(c)) {
    char here = peek(c, 0);
    size_t joined = splice(c, 0);
    if (here == '\n') {
      c->at++;
      next_line(c);
      c->line_empty = true;
      c->directive = false;
    } else if (joined) {
      c->at += joined;
      next_line(c);
    } else if (here == ' ' || here == '\t' || here == '\r' || here == '\f' || here == '\v')
      c->at++;
    else if (here == '/' && peek(c, 1) == '*')
      skip_comment(c);
    else if (here == '/' && peek(c, 1) == '/')
      skip_line_comment(c);
    else
      return;
  }
}

static void scan_identifier(struct cursor *c) {
  while (!at_end(c) && (is_letter(peek(c, 0)) || is_digit(peek(c, 0))))
    c->at++;
}

/* A preprocessing number: 1e+5, 0x1p-3, 1.5f. */
static void scan_number(struct cursor *c) {
  while (!at_end(c)) {
    char here = peek(c, 0), sign = peek(c, 1);
    bool exponent = here == 'e' || here == 'E' || here == 'p' || here == 'P';
    if (exponent && (sign == '+' || sign == '-'))
      c->at += 2;
    else if (is_letter(here) || is_digit(here) || here == '.')
      c->at++;
    else
      return;
  }
}

/* Scans to the closing quote, or to the end of the line if there is none. */
static void scan_quoted(struct cursor *c, char quote) {
  c->at++;
  while (!at_end(c) && peek(c, 0) != '\n') {
    char here = peek(c, 0);
    size_t joined = splice(c, 0);
    if (joined) {
      c->at += joined;
      next_line(c);
      continue;
    }
    c->at += here == '\\' && peek(c, 1) != '\n' && c->out->length - c->at > 1 ? 2 : 1;
    if (here == quote)
      return;
  }
}

static enum token_kind scan(struct cursor *c) {
  char here = peek(c, 0);
  if (is_letter(here)) {
    scan_identifier(c);
    return TOKEN_IDENTIFIER;
  }
  if (is_digit(here) || (here == '.' && is_digit(peek(c, 1)))) {
    scan_number(c);
    return TOKEN_NUMBER;
  }
  if (here == '"' || here == '\'') {
    scan_quoted(c, here);
    return here == '"' ? TOKEN_STRING : TOKEN_CHARACTER;
  }
  c->at++;
  return here && strchr("{}[]()<>;:,.?!~+-*/%&|^=#@\\`", here) ? TOKEN_PUNCTUATOR : TOKEN_OTHER;
}

static void push(struct cursor *c, struct token token) {
  struct tokens *out = c->out;
  struct token *items = array_more(out->items, out->count, sizeof *items);
  c->no_memory = !items;
  if (!items)
    return;
  out->items = items;
  items[out->count++] = token;
}

int lex(struct tokens *out, const char *text, size_t length, struct error *err) {
  *out = (struct tokens){.text = text, .length = length};
  struct cursor c = {.out = out, .line = 1, .line_empty = true};
  for (skip_space(&c); !at_end(&c) && !c.no_memory; skip_space(&c)) {
    struct token token = {.begin = c.at, .line = c.line, .column = (int)(c.at - c.line_begin) + 1};
    token.line_first = c.line_empty;
    if (c.line_empty && peek(&c, 0) == '#')
      c.directive = true;
    token.directive = c.directive;
    c.line_empty = false;
    token.kind = scan(&c);
    token.end = c.at;
    push(&c, token);
  }
  if (c.no_memory) {
    tokens_free(out);
    return error_memory(err, "the tokens of a kernel text", length);
  }
  return OP_OK;
}

void tokens_free(struct tokens *t) {
  free(t->items);
  *t = (struct tokens){0};
}
