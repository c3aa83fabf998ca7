/* The plain sentence that says how two keys differ, for any columns. */
#include <ctype.h>
#include <string.h>

#include "inner.h"

#define SHOWN 60 /* characters of a value */

static bool has_newline(const struct store_column *c) {
  return c->length && memchr(c->value, '\n', c->length) != NULL;
}

static void add_value(struct text *out, const struct store_column *c) {
  for (size_t i = 0; i < c->length && i < SHOWN; i++)
    text_add_char(out, isprint((unsigned char)c->value[i]) ? c->value[i] : '?');
  if (c->length > SHOWN)
    text_add(out, "...");
  if (c->length == 0)
    text_add(out, "(empty)");
}

/* The first line that differs, counting from 1. */
static int first_line(const struct store_column *a, const struct store_column *b) {
  int line = 1;
  for (size_t i = 0; i < a->length && i < b->length && a->value[i] == b->value[i]; i++)
    line += a->value[i] == '\n';
  return line;
}

/* A long text of one line: the first word that differs, with a little round it. */
static size_t first_word(const struct store_column *a, const struct store_column *b) {
  size_t i = 0;
  while (i < a->length && i < b->length && a->value[i] == b->value[i])
    i++;
  return i;
}

static void add_change(struct text *out, const struct store_column *from, const struct store_column *to) {
  text_add(out, to->name);
  if (has_newline(from) || has_newline(to)) {
    text_addf(out, " line %d", first_line(from, to));
    return;
  }
  struct store_column a = *from, b = *to;
  if (a.length > SHOWN && b.length > SHOWN) {
    size_t at = first_word(from, to), back = at > 12 ? at - 12 : 0;
    text_addf(out, " at character %zu,", at + 1);
    a.value += back;
    a.length -= back;
    b.value += back;
    b.length -= back;
  }
  text_add_char(out, ' ');
  add_value(out, &a);
  text_add(out, " -> ");
  add_value(out, &b);
}

void store_differences(const struct store_key *from, const struct store_key *to, struct text *out) {
  const char *gap = "";
  for (int i = 0; i < to->ncolumns; i++) {
    const struct store_column *now = &to->columns[i], *before = key_column(from, now->name);
    if (before && before->length == now->length &&
        (now->length == 0 || memcmp(before->value, now->value, now->length) == 0))
      continue;
    text_add(out, gap);
    gap = ", ";
    if (before)
      add_change(out, before, now);
    else {
      text_addf(out, "%s is new: ", now->name);
      add_value(out, now);
    }
  }
  for (int i = 0; i < from->ncolumns; i++)
    if (!key_column(to, from->columns[i].name)) {
      text_addf(out, "%s%s is gone", gap, from->columns[i].name);
      gap = ", ";
    }
}
