/* The change between two keys, in words. */
#include "jit/emit/choose.h"
#include "jit/key/difference_rows.h"
#include "jit/key/signature.h"

/* ---- one column at a time ------------------------------------------------------------------------*/

typedef void sentence(const char *name, struct piece from, struct piece to, struct text *out);

static void add_value(struct text *out, struct piece p) {
  piece_add(out, p.length ? p : (struct piece){"nothing", 7});
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

static void add_excerpt(struct text *out, struct piece p, size_t at) {
  enum { BEFORE = 12, MOST = 32 };
  const size_t first = at > BEFORE ? at - BEFORE : 0, left = p.length - first;
  text_addf(out, "\"%s%.*s%s\"", first ? "..." : "", (int)(left < MOST ? left : MOST), p.at + first,
            left > MOST ? "..." : "");
}

/* Shows a text of OP_KERNEL, which is one line, around the first character that differs. */
static void say_place(const char *name, struct piece from, struct piece to, struct text *out) {
  size_t at = 0;
  while (at < from.length && at < to.length && from.at[at] == to.at[at])
    at++;
  text_addf(out, "%s ", name);
  add_excerpt(out, from, at);
  text_add(out, " -> ");
  add_excerpt(out, to, at);
}

static bool is_one_line(struct piece p) {
  return !memchr(p.at, '\n', p.length);
}

/* Texts: the first line that differs. */
static void say_line(const char *name, struct piece from, struct piece to, struct text *out) {
  if (is_one_line(from) && is_one_line(to)) {
    say_place(name, from, to, out);
    return;
  }
  for (int line = 1; from.length || to.length; line++)
    if (!piece_same(piece_next(&from, '\n'), piece_next(&to, '\n'))) {
      text_addf(out, "%s line %d", name, line);
      return;
    }
  text_addf(out, "%s", name);
}

/* The compiler: its name and version, else which build of it. */
static void say_compiler(const char *name, struct piece from, struct piece to, struct text *out) {
  struct piece a = piece_next(&from, '\n'), b = piece_next(&to, '\n');
  if (piece_same(a, b))
    text_addf(out, "another build of the %s", name);
  else
    say_values(name, a, b, out);
}

static bool has_feature(struct piece list, struct piece feature) {
  while (list.length)
    if (piece_same(piece_next(&list, ','), feature))
      return true;
  return false;
}

static void say_features(const char *name, struct piece from, struct piece to, struct text *out) {
  int shown = 0;
  text_addf(out, "target %s", name);
  for (struct piece rest = to; rest.length && shown < 4;) {
    struct piece feature = piece_next(&rest, ',');
    if (has_feature(from, feature))
      continue;
    text_add_char(out, ' ');
    piece_add(out, feature);
    shown++;
  }
}

/* ---- keys --------------------------------------------------------------------------------------*/

static const struct said {
  const char *column;
  sentence *say; /* NULL: rows of things */
} said[] = {{"kernel text", say_line},  {"arguments", NULL},
            {"sets and maps", NULL},    {"dats", NULL},
            {"constants", NULL},        {"library", say_changed},
            {"compiler", say_compiler}, {"features", say_features}};

static const struct said plain = {"", say_values};

static const struct said *said_of(const char *column) {
  for (size_t i = 0; i < sizeof said / sizeof *said; i++)
    if (strcmp(said[i].column, column) == 0)
      return &said[i];
  return &plain;
}

static struct piece find_column(const struct store_key *key, const char *name) {
  for (int i = 0; i < key->ncolumns; i++)
    if (strcmp(key->columns[i].name, name) == 0)
      return (struct piece){key->columns[i].value ? key->columns[i].value : "", key->columns[i].length};
  return (struct piece){"", 0};
}

static struct difference_side side_of(const struct store_key *key, struct piece column) {
  return (struct difference_side){
      .column = column, .arguments = find_column(key, "arguments"), .names = piece_of(key->names)};
}

static void say_column(const struct store_key *from, const struct store_key *to, const char *name,
                       bool strict, struct text *out) {
  struct piece a = find_column(from, name), b = find_column(to, name);
  const struct said *how = said_of(name);
  struct difference_side before = side_of(from, a), now = side_of(to, b);
  if (piece_same(a, b))
    return;
  if (how->say)
    how->say(name, a, b, out);
  else
    difference_rows(&before, &now, strict, out);
}

static void say_columns(const struct store_key *from, const struct store_key *to, bool strict,
                        struct text *out) {
  size_t before = out->length;
  for (int i = 0; i < to->ncolumns; i++) {
    struct text sentence = {0};
    say_column(from, to, to->columns[i].name, strict, &sentence);
    if (sentence.length && out->length > before)
      text_add(out, ", ");
    text_add(out, text_str(&sentence));
    text_free(&sentence);
  }
}

void signature_difference(const struct store_key *from, const struct store_key *to, struct text *out) {
  size_t before = out->length;
  say_columns(from, to, false, out);
  if (out->length == before)
    say_columns(from, to, true, out);
}

const char *signature_kind(const struct store_key *key) {
  const struct piece shape = find_column(key, "shape");
  const size_t bounds = sizeof SHAPE_BOUNDS - 1;
  if (shape.length > bounds && memcmp(shape.at + shape.length - bounds, SHAPE_BOUNDS, bounds) == 0)
    return "the checking form of the kernel, for OP2_CHECK";
  return "";
}
