#include "jit/key/difference_rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/types.h"
#include "jit/kernel/number.h"

/* ---- words ---------------------------------------------------------------------------------------*/

static const struct noun {
  const char *kind, *word;
} nouns[] = {{"arg", "argument"}, {"member", "fused loop"}, {"set", "set"},
             {"map", "map"},      {"dat", "dat"},           {"const", "constant"}};

static const char *noun_of(struct piece kind) {
  for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++)
    if (piece_is(kind, nouns[i].kind))
      return nouns[i].word;
  return "";
}

/* The meaning of a member's value. */
enum value { VALUE_PLAIN, VALUE_WORD, VALUE_FLAG, VALUE_NUMBER, VALUE_DAT, VALUE_COMPONENTS };

static const struct member {
  const char *kind, *key;
  enum value value;
  const char *said;    /* of a flag: the words for 1; else the member's name for people */
  const char *refers;  /* VALUE_NUMBER: the kind of thing that it counts */
  const char *nothing; /* VALUE_NUMBER: the words for 0; of a flag too */
} members[] = {
    {"arg", "form", VALUE_WORD, "made by", NULL, NULL},
    {"arg", "type", VALUE_PLAIN, "type", NULL, NULL},
    {"arg", "dim", VALUE_PLAIN, "dim", NULL, NULL},
    {"arg", "access", VALUE_WORD, "access", NULL, NULL},
    {"arg", "map", VALUE_NUMBER, "map", "map", "OP_ID"},
    {"arg", "idx", VALUE_PLAIN, "index", NULL, NULL},
    {"arg", "dat", VALUE_DAT, "dat", NULL, NULL},
    {"arg", "ref", VALUE_NUMBER, "payload of", "arg", "none"},
    {"arg", "info", VALUE_NUMBER, "payload", "arg", "none"},
    {"arg", "present", VALUE_FLAG, "is present now", NULL, "is absent now"},
    {"arg", "entry", VALUE_FLAG, "is on the map's entries now", NULL, "is on the map's targets now"},
    {"arg", "scattered", VALUE_FLAG, "is of a subset's elements now", NULL, "is of all elements now"},
    {"arg", "summed", VALUE_FLAG, "is added up exactly along the way now", NULL,
     "is no longer added up along the way"},
    {"arg", "fresh", VALUE_FLAG, "goes to rows of its own now", NULL, "is added to what is there now"},
    {"arg", "dropped", VALUE_FLAG, "is not stored now", NULL, "is stored now"},
    {"arg", "kept", VALUE_FLAG, "stays on the device now", NULL, "comes from the host now"},
    {"arg", "matrix", VALUE_FLAG, "is an element's matrix now", NULL, "is data now"},
    {"member", "kernel", VALUE_PLAIN, "kernel", NULL, NULL},
    {"member", "function", VALUE_PLAIN, "function", NULL, NULL},
    {"member", "args", VALUE_PLAIN, "arguments", NULL, NULL},
    {"set", "renumbered", VALUE_FLAG, "is renumbered now", NULL, "is no longer renumbered"},
    {"map", "arity", VALUE_PLAIN, "arity", NULL, NULL},
    {"map", "to", VALUE_NUMBER, "to set", "set", "none"},
    {"map", "ragged", VALUE_FLAG, "is ragged now", NULL, "is no longer ragged"},
    {"map", "equal", VALUE_PLAIN, "targets of every element (0: they differ)", NULL, NULL},
    {"map", "most", VALUE_PLAIN, "room for targets", NULL, NULL},
    {"map", "none", VALUE_FLAG, "has elements without targets now", NULL,
     "has no elements without targets now"},
    {"dat", "type", VALUE_PLAIN, "type", NULL, NULL},
    {"dat", "dim", VALUE_PLAIN, "dim", NULL, NULL},
    {"dat", "set", VALUE_NUMBER, "on set", "set", "none"},
    {"dat", "soa", VALUE_FLAG, "is kept by components (soa) now", NULL, "is kept by rows (aos) now"},
    {"dat", "wide", VALUE_FLAG, "has 2^31 values or more now", NULL, "has less than 2^31 values now"},
    {"const", "type", VALUE_PLAIN, "type", NULL, NULL},
    {"const", "dim", VALUE_PLAIN, "dim", NULL, NULL},
    {"const", "folded", VALUE_FLAG, "is compiled in now", NULL, "is passed at run time now"},
    {"const", "value", VALUE_COMPONENTS, "", NULL, NULL},
};

static const struct member *find_member(struct piece kind, struct piece key) {
  for (size_t i = 0; i < sizeof members / sizeof *members; i++)
    if (piece_is(kind, members[i].kind) && piece_is(key, members[i].key))
      return &members[i];
  return NULL;
}

static const struct spelling {
  const char *word, *spelled;
} spellings[] = {
    {"dat", "op_arg_dat"}, {"gbl", "op_arg_gbl"}, {"idx", "op_arg_idx"}, {"info", "op_arg_info"}};

static struct piece spelled(struct piece word) {
  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
    if (piece_is(word, spellings[i].word))
      return piece_of(spellings[i].spelled);
  for (int i = 0; i < ACCESSES; i++)
    if (piece_is(word, access_rows[i].word))
      return piece_of(access_rows[i].name);
  return word.length ? word : piece_of("nothing");
}

/* ---- names and rows ------------------------------------------------------------------------------*/

/* A line "arg 2 form dat ...", of a column, or of names: its kind, its number, and the rest. */
struct row {
  struct piece kind, number, rest;
};

static bool next_row(struct piece *all, struct row *row) {
  row->rest = piece_next(all, '\n');
  row->kind = piece_next(&row->rest, ' ');
  row->number = piece_next(&row->rest, ' ');
  return row->kind.length > 0;
}

/* The rest of the row of this kind and number; empty: there is none. */
static struct piece find_row(struct piece all, struct piece kind, struct piece number) {
  struct row row;
  while (next_row(&all, &row))
    if (piece_same(row.kind, kind) && piece_same(row.number, number))
      return row.rest;
  return (struct piece){"", 0};
}

/* The program's name of a thing; empty: not known. */
static struct piece name_of(const struct difference_side *side, struct piece kind, struct piece number) {
  return find_row(side->names, kind, number);
}

/* The number under a name; empty: there is none, or several. */
static struct piece number_of(const struct difference_side *side, struct piece kind, struct piece name) {
  struct piece found = {"", 0}, all = side->names;
  struct row row;
  while (next_row(&all, &row)) {
    if (!piece_same(row.kind, kind) || !piece_same(row.rest, name))
      continue;
    if (found.length)
      return (struct piece){"", 0};
    found = row.number;
  }
  return found;
}

static struct piece member_of(struct piece row, const char *key) {
  while (row.length) {
    struct piece found = piece_next(&row, ' '), value = piece_next(&row, ' ');
    if (piece_is(found, key))
      return value;
  }
  return (struct piece){"", 0};
}

/* The number on side `on` of a thing of side `of`: that of the same name if names are known, else the same
 * number. Empty: it is not there. */
static struct piece counterpart(const struct difference_side *of, const struct difference_side *on,
                                struct piece kind, struct piece number, bool strict) {
  struct piece name = name_of(of, kind, number), other = number;
  if (!strict && name.length && on->names.length && !piece_is(kind, "arg")) {
    /* Several things of one name are told apart by their numbers. */
    if (number_of(of, kind, name).length && number_of(on, kind, name).length)
      other = number_of(on, kind, name);
    else if (!piece_same(name_of(on, kind, number), name))
      other.length = 0;
  }
  if (!find_row(on->column, kind, other).length)
    other.length = 0;
  return other;
}

/* ---- saying --------------------------------------------------------------------------------------*/

static void add_thing(const struct difference_side *side, struct piece kind, struct piece number,
                      struct text *out) {
  struct piece name = name_of(side, kind, number);
  text_addf(out, "%s ", noun_of(kind));
  if (!piece_is(kind, "arg")) {
    piece_add(out, name.length ? name : number);
    return;
  }
  /* An argument goes by its number, with the dat that it passes in brackets. */
  piece_add(out, number);
  const struct piece dat = member_of(find_row(side->arguments, kind, number), "dat");
  if (dat.length && !piece_is(dat, "0"))
    name = name_of(side, piece_of("dat"), dat);
  if (name.length) {
    text_add(out, " (");
    piece_add(out, name);
    text_add_char(out, ')');
  }
}

/* Floating-point numbers stand in hexadecimal in the row, others as people write them. */
static void add_number(struct piece type, struct piece word, struct text *out) {
  char copy[64];
  const bool is_hex = memchr(word.at, 'x', word.length) && word.length < sizeof copy;
  if (!is_hex) { /* a NaN is told without its bits */
    piece_add(out, piece_next(&word, ':'));
    return;
  }
  memcpy(copy, word.at, word.length);
  copy[word.length] = '\0';
  const double wide = number_read_hex(copy);
  const float narrow = (float)wide;
  if (piece_is(type, "float"))
    type_add_shortest(TYPE_FLOAT, &narrow, out);
  else
    type_add_shortest(TYPE_DOUBLE, &wide, out);
}

/* The values of a constant: the first component that differs. */
static void say_components(struct piece type, struct piece from, struct piece to, struct text *out) {
  for (int i = 0; from.length || to.length; i++) {
    struct piece x = piece_next(&from, ' '), y = piece_next(&to, ' ');
    if (piece_same(x, y))
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

static void add_referred(const struct difference_side *side, const struct member *m, struct piece number,
                         struct text *out) {
  struct piece kind = piece_of(m->refers), name = name_of(side, kind, number);
  if (piece_is(number, "0"))
    text_add(out, m->nothing);
  else if (piece_is(kind, "arg"))
    add_thing(side, kind, number, out);
  else
    piece_add(out, name.length ? name : number);
}

/* The first argument with this dat. */
static struct piece owner_of(const struct difference_side *side, struct piece dat) {
  struct piece all = side->arguments;
  struct row row;
  while (next_row(&all, &row))
    if (piece_same(member_of(row.rest, "dat"), dat))
      return row.number;
  return (struct piece){"", 0};
}

/* Two rows and their sides. */
struct pair {
  const struct difference_side *from, *to;
  struct piece kind, from_number, to_number;
};

static bool are_namesakes(const struct pair *p, const struct member *m, struct piece x, struct piece y) {
  struct piece kind = piece_of(m->refers), a = name_of(p->from, kind, x), b = name_of(p->to, kind, y);
  return a.length && piece_same(a, b);
}

static bool have_names(const struct pair *p, const struct member *m, struct piece x, struct piece y) {
  struct piece kind = piece_of(m->refers);
  return name_of(p->from, kind, x).length && name_of(p->to, kind, y).length;
}

static bool is_different(const struct pair *p, const struct member *m, struct piece x, struct piece y,
                         bool strict) {
  if (!m || m->value != VALUE_NUMBER || strict || piece_is(x, "0") || piece_is(y, "0"))
    return !piece_same(x, y);
  return !are_namesakes(p, m, x, y) && (have_names(p, m, x, y) || !piece_same(x, y));
}

/* Dats are numbered by first use, so another number means that the dat is shared with another argument. */
static void say_sharing(const struct pair *p, struct piece x, struct piece y, struct text *out) {
  struct piece before = owner_of(p->from, x), now = owner_of(p->to, y);
  if (piece_is(y, "0"))
    text_add(out, "passes no dat now");
  else if (!piece_same(now, p->to_number)) {
    text_add(out, "passes the dat of ");
    add_thing(p->to, p->kind, now, out);
    text_add(out, " too now");
  } else {
    text_add(out, "passes a dat of its own now");
    if (before.length && !piece_same(before, p->from_number)) {
      text_add(out, ", no longer that of ");
      add_thing(p->from, p->kind, before, out);
    }
  }
}

static void add_value(const struct difference_side *side, const struct member *m, struct piece value,
                      struct text *out) {
  if (m->value == VALUE_NUMBER)
    add_referred(side, m, value, out);
  else
    piece_add(out, m->value == VALUE_WORD ? spelled(value) : value);
}

static void say_member(const struct pair *p, const struct member *m, struct piece x, struct piece y,
                       struct text *out) {
  text_add_char(out, ' ');
  if (m->value == VALUE_FLAG)
    text_add(out, piece_is(y, "1") ? m->said : m->nothing);
  else if (m->value == VALUE_DAT)
    say_sharing(p, x, y, out);
  else {
    text_addf(out, "%s ", m->said);
    add_value(p->from, m, x, out);
    text_add(out, " -> ");
    if (m->value == VALUE_NUMBER && are_namesakes(p, m, x, y))
      text_add(out, "another ");
    add_value(p->to, m, y, out);
  }
}

static void add_subject(const struct pair *p, struct text *out) {
  struct piece before = name_of(p->from, p->kind, p->from_number),
               now = name_of(p->to, p->kind, p->to_number);
  add_thing(p->to, p->kind, p->to_number, out);
  if (before.length && now.length && !piece_same(before, now) && !piece_is(p->kind, "arg")) {
    text_add(out, " (in place of ");
    piece_add(out, before);
    text_add_char(out, ')');
  }
}

/* The first member that differs. */
static bool say_members(const struct pair *p, struct piece from, struct piece to, bool strict,
                        struct text *out) {
  struct piece type = {"", 0};
  while (from.length || to.length) {
    struct piece key = piece_next(&from, ' '), other = piece_next(&to, ' ');
    const struct member *m = find_member(p->kind, key.length ? key : other);
    if (m && m->value == VALUE_COMPONENTS && piece_same(key, other)) {
      if (piece_same(from, to))
        return false;
      add_subject(p, out);
      say_components(type, from, to, out);
      return true;
    }
    struct piece x = piece_next(&from, ' '), y = piece_next(&to, ' ');
    if (piece_is(key, "type"))
      type = x;
    if (!m || (piece_same(key, other) && !is_different(p, m, x, y, strict)))
      continue;
    add_subject(p, out);
    say_member(p, m, x, y, out);
    return true;
  }
  return false;
}

/* ---- columns -------------------------------------------------------------------------------------*/

/* True: a thing of the same kind and number stands in the place of one that is gone. */
static bool is_replaced(const struct difference_side *from, const struct difference_side *to,
                        const struct row *row, bool strict) {
  return find_row(to->column, row->kind, row->number).length &&
         !counterpart(to, from, row->kind, row->number, strict).length;
}

/* Things that are on both sides or, `replaced`, have come in the place of another. */
static bool say_changed_row(const struct difference_side *from, const struct difference_side *to,
                            bool replaced, bool strict, struct text *out) {
  struct piece all = from->column;
  struct row row;
  while (next_row(&all, &row)) {
    const struct piece now = counterpart(from, to, row.kind, row.number, strict);
    const struct pair p = {from, to, row.kind, row.number, replaced ? row.number : now};
    if (replaced ? now.length || !is_replaced(from, to, &row, strict) : !now.length)
      continue;
    if (say_members(&p, row.rest, find_row(to->column, p.kind, p.to_number), strict, out))
      return true;
  }
  return false;
}

/* A row of `from` that is not in `to`, nor has another in its place. */
static bool say_missing_row(const struct difference_side *from, const struct difference_side *to,
                            const char *missing, bool strict, struct text *out) {
  struct piece all = from->column;
  struct row row;
  while (next_row(&all, &row)) {
    if (counterpart(from, to, row.kind, row.number, strict).length || is_replaced(from, to, &row, strict))
      continue;
    add_thing(from, row.kind, row.number, out);
    text_addf(out, " %s", missing);
    return true;
  }
  return false;
}

void difference_rows(const struct difference_side *from, const struct difference_side *to, bool strict,
                     struct text *out) {
  if (!say_changed_row(from, to, false, strict, out) && !say_changed_row(from, to, true, strict, out) &&
      !say_missing_row(from, to, "is gone", strict, out))
    say_missing_row(to, from, "is new", strict, out);
}
