/* What changed between two keys, in words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/number.h"
#include "jit/signature.h"

/* A piece of a column: not NUL-terminated. */
struct piece {
  const char *at;
  size_t length;
};

static bool same(struct piece a, struct piece b) {
  return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

static bool piece_is(struct piece a, const char *word) {
  return a.length == strlen(word) && memcmp(a.at, word, a.length) == 0;
}

static void add_piece(struct text *out, struct piece p) {
  text_add_bytes(out, p.at, p.length);
}

/* Split off what comes before the next `stop`; empty at the end. */
static struct piece next_piece(struct piece *rest, char stop) {
  const char *end = rest->length ? memchr(rest->at, stop, rest->length) : NULL;
  struct piece first = {rest->at, end ? (size_t)(end - rest->at) : rest->length};
  size_t used = first.length + (end != NULL);
  rest->at += used;
  rest->length -= used;
  return first;
}

/* ---- one column at a time ------------------------------------------------------------------------*/

typedef void sentence(const char *name, struct piece from, struct piece to, struct text *out);

static void add_value(struct text *out, struct piece p) {
  add_piece(out, p.length ? p : (struct piece){"nothing", 7});
}

static void say_values(const char *name, struct piece from, struct piece to, struct text *out) {
  text_addf(out, "%s ", name);
  add_value(out, from);
  text_add(out, " -> ");
  add_value(out, to);
}

static void say_changed(const char *name, struct piece from, struct piece to, struct text *out) {
  (void)from;
  (void)to;
  text_addf(out, "%s changed", name);
}

/* Texts: the first line that differs. */
static void say_line(const char *name, struct piece from, struct piece to, struct text *out) {
  for (int line = 1; from.length || to.length; line++)
    if (!same(next_piece(&from, '\n'), next_piece(&to, '\n'))) {
      text_addf(out, "%s line %d", name, line);
      return;
    }
  text_addf(out, "%s", name);
}

/* The compiler: its name and version, else which build of it. */
static void say_compiler(const char *name, struct piece from, struct piece to, struct text *out) {
  struct piece a = next_piece(&from, '\n'), b = next_piece(&to, '\n');
  if (same(a, b))
    text_addf(out, "another build of the %s", name);
  else
    say_values(name, a, b, out);
}

static bool has_feature(struct piece list, struct piece feature) {
  while (list.length)
    if (same(next_piece(&list, ','), feature))
      return true;
  return false;
}

static void say_features(const char *name, struct piece from, struct piece to, struct text *out) {
  int shown = 0;
  text_addf(out, "target %s", name);
  for (struct piece rest = to; rest.length && shown < 4;) {
    struct piece feature = next_piece(&rest, ',');
    if (has_feature(from, feature))
      continue;
    text_add_char(out, ' ');
    add_piece(out, feature);
    shown++;
  }
}

/* ---- columns of rows: "arg 2 form dat type double ...", "const gam type double ... value ..." ------*/

static const struct noun {
  const char *kind, *word;
} nouns[] = {{"arg", "argument"}, {"set", "set"}, {"map", "map"}, {"dat", "dat"}, {"const", "constant"}};

static void say_name(struct piece kind, struct piece name, struct text *out) {
  for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++)
    if (piece_is(kind, nouns[i].kind)) {
      text_addf(out, "%s ", nouns[i].word);
      add_piece(out, name);
    }
}

/* The fewest digits that give the same number back. */
static void add_decimal(enum type_code type, const unsigned char *bytes, struct text *out) {
  char shown[40];
  type_print(type, bytes, shown, sizeof shown);
  for (int digits = 1; type_info(type)->is_float && digits < 17; digits++) {
    char shorter[40];
    double number;
    float single;
    memcpy(&single, bytes, sizeof single);
    memcpy(&number, bytes, type == TYPE_DOUBLE ? sizeof number : sizeof single);
    snprintf(shorter, sizeof shorter, "%.*g", digits, type == TYPE_DOUBLE ? number : (double)single);
    double back = strtod(shorter, NULL);
    single = (float)back;
    if (memcmp(type == TYPE_DOUBLE ? (void *)&back : (void *)&single, bytes, type_info(type)->size) == 0) {
      memcpy(shown, shorter, sizeof shown);
      break;
    }
  }
  text_add(out, shown);
}

static void add_number(struct piece type, struct piece word, struct text *out) {
  char name[32], value[64];
  unsigned char bytes[8];
  if (type.length >= sizeof name || word.length >= sizeof value) {
    add_piece(out, word);
    return;
  }
  memcpy(name, type.at, type.length);
  name[type.length] = '\0';
  memcpy(value, word.at, word.length);
  value[word.length] = '\0';
  enum type_code code = type_parse(name, NULL);
  if (code != TYPE_NONE && number_parse(code, value, bytes))
    add_decimal(code, bytes, out);
  else
    add_piece(out, word);
}

/* The values of a constant: the first component that differs. */
static void say_components(struct piece type, struct piece from, struct piece to, struct text *out) {
  for (int i = 0; from.length || to.length; i++) {
    struct piece x = next_piece(&from, ' '), y = next_piece(&to, ' ');
    if (same(x, y))
      continue;
    if (i > 0 || from.length || to.length)
      text_addf(out, "[%d]", i);
    text_add_char(out, ' ');
    add_number(type, x, out);
    text_add(out, " -> ");
    add_number(type, y, out);
    return;
  }
}

/* Two rows of one name: the first member that differs. */
static void say_members(struct piece from, struct piece to, struct text *out) {
  struct piece type = {"", 0};
  while (from.length || to.length) {
    struct piece key = next_piece(&from, ' '), other = next_piece(&to, ' ');
    if (piece_is(key, "value") && same(key, other)) {
      say_components(type, from, to, out);
      return;
    }
    struct piece x = next_piece(&from, ' '), y = next_piece(&to, ' ');
    if (piece_is(key, "type"))
      type = x;
    if (same(x, y) && same(key, other))
      continue;
    text_add_char(out, ' ');
    add_piece(out, key.length ? key : other);
    text_add_char(out, ' ');
    add_value(out, x);
    text_add(out, " -> ");
    add_value(out, y);
    return;
  }
}

/* The row of this kind and name in a column. */
static bool find_row(struct piece column, struct piece kind, struct piece name, struct piece *rest) {
  while (column.length) {
    struct piece row = next_piece(&column, '\n');
    if (same(next_piece(&row, ' '), kind) && same(next_piece(&row, ' '), name)) {
      *rest = row;
      return true;
    }
  }
  return false;
}

/* Rows of `from` that are missing or different in `to`. */
static bool say_rows_of(struct piece from, struct piece to, const char *missing, bool members,
                        struct text *out) {
  for (struct piece all = from; all.length;) {
    struct piece row = next_piece(&all, '\n'), other;
    struct piece kind = next_piece(&row, ' '), name = next_piece(&row, ' ');
    bool there = find_row(to, kind, name, &other);
    if (there && (!members || same(row, other)))
      continue;
    say_name(kind, name, out);
    if (there)
      say_members(row, other, out);
    else
      text_addf(out, " %s", missing);
    return true;
  }
  return false;
}

static void say_rows(const char *name, struct piece from, struct piece to, struct text *out) {
  if (!say_rows_of(from, to, "is gone", true, out) && !say_rows_of(to, from, "is new", false, out))
    text_addf(out, "order of %s", name);
}

/* ---- keys --------------------------------------------------------------------------------------*/

static const struct said {
  const char *column;
  sentence *say;
} said[] = {{"kernel text", say_line},  {"arguments", say_rows},   {"sets and maps", say_rows},
            {"dats", say_rows},         {"constants", say_rows},   {"library", say_changed},
            {"compiler", say_compiler}, {"features", say_features}};

static sentence *sentence_of(const char *column) {
  for (size_t i = 0; i < sizeof said / sizeof *said; i++)
    if (strcmp(said[i].column, column) == 0)
      return said[i].say;
  return say_values;
}

static struct piece find_column(const struct store_key *key, const char *name) {
  for (int i = 0; i < key->ncolumns; i++)
    if (strcmp(key->columns[i].name, name) == 0)
      return (struct piece){key->columns[i].value ? key->columns[i].value : "", key->columns[i].length};
  return (struct piece){"", 0};
}

void signature_difference(const struct store_key *from, const struct store_key *to, struct text *out) {
  bool first = true;
  for (int i = 0; i < to->ncolumns; i++) {
    const char *name = to->columns[i].name;
    struct piece a = find_column(from, name), b = find_column(to, name);
    if (same(a, b))
      continue;
    if (!first)
      text_add(out, ", ");
    sentence_of(name)(name, a, b, out);
    first = false;
  }
}
