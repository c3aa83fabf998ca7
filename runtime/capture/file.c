/* The form of a file: what struct capture has, in its order. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/aside.h"
#include "base/size.h"
#include "capture/capture.h"
#include "capture/stream.h"

/* The last digit is the version; the number is another one where bytes are the other way round. */
static const char magic[16] = "op2jit-capture-1";
static const long long order = 0x0102030405060708;
enum { MOST_FACTS = 256, MOST_THINGS = 4096, MOST_CALLS = 1024, MOST_MEMBERS = 32, MOST_STRUCT = 1 << 20 };

/* ---- types: structs first, then each by its name ---- */

struct members {
  op2jit_member *items;
  int count;
};

static void members_free(struct members *m) {
  for (int i = 0; i < m->count; i++) {
    free((char *)(size_t)m->items[i].name);
    free((char *)(size_t)m->items[i].type);
  }
  free(m->items);
}

static int member(struct stream *s, op2jit_member *m, long long struct_size) {
  char *name = (char *)(size_t)m->name, *type = (char *)(size_t)m->type;
  long long offset = (long long)m->offset, size = (long long)m->size;
  int code = stream_words(s, &name, "a member's name");
  m->name = name;
  if (!code)
    code = stream_words(s, &type, "a member's type");
  m->type = type;
  if (!code)
    code = stream_number(s, &offset, 0, struct_size - 1, "a member's offset");
  if (!code)
    code = stream_number(s, &size, 1, struct_size - offset, "a member's size");
  m->offset = (size_t)offset;
  m->size = (size_t)size;
  return code;
}

static int read_struct(struct stream *s) {
  char *name = NULL;
  long long size = 0;
  struct members m = {0};
  int code = stream_words(s, &name, "a struct's name");
  if (!code)
    code = stream_number(s, &size, 1, MOST_STRUCT, "a struct's size");
  if (!code)
    code = stream_items(s, &m.count, MOST_MEMBERS, (void **)&m.items, sizeof *m.items, "a struct's members");
  for (int i = 0; !code && i < m.count; i++)
    code = member(s, &m.items[i], size);
  if (!code && type_declare(name, (size_t)size, m.count, m.items, s->err) != OP_OK)
    code = s->err->code == OP_ERR_MEMORY ? OP_ERR_MEMORY : (s->err->code = OP_ERR_FILE);
  members_free(&m);
  free(name);
  return code;
}

static int write_struct(struct stream *s, enum type_code type) {
  const struct type_info *info = type_info(type);
  char *name = (char *)(size_t)info->name;
  long long size = (long long)info->size;
  int code = stream_words(s, &name, ""), count = info->nmembers;
  if (!code)
    code = stream_number(s, &size, 1, MOST_STRUCT, "a struct's size");
  if (!code)
    code = stream_items(s, &count, MOST_MEMBERS, NULL, 0, "a struct's members");
  for (int i = 0; !code && i < count; i++) {
    const struct type_member *m = &info->members[i];
    op2jit_member said = {m->name, type_info(m->type)->name ? type_info(m->type)->name : "", m->offset,
                          m->size};
    code = member(s, &said, size);
  }
  return code;
}

/* All that the process has, as their numbers are: few, and what one has of another is a member's type. */
static int structs(struct stream *s) {
  int count = s->out ? types_of_program()->count : 0, code;
  long long n = count;
  code = stream_number(s, &n, 0, TYPES_OF_PROGRAM, "the structs");
  for (int i = 0; !code && i < n; i++)
    code = s->out ? write_struct(s, (enum type_code)(TYPE_COUNT + 1 + i)) : read_struct(s);
  return code;
}

static int type(struct stream *s, enum type_code *t) {
  char *name = s->out ? (char *)(size_t)type_info(*t)->name : NULL;
  int code = stream_words(s, &name, "a type");
  if (code || s->out)
    return code;
  *t = type_parse(name, NULL);
  if (*t == TYPE_NONE)
    code = error_set(s->err, OP_ERR_FILE, "the type \"%.60s\" is unknown", name);
  free(name);
  return code;
}

/* ---- things ---- */

static int fact(struct stream *s, struct capture_fact *f) {
  const int code = stream_words(s, &f->name, "a fact");
  return code ? code : stream_words(s, &f->words, "a fact");
}

static int set(struct stream *s, const struct capture *c, struct capture_set *set) {
  int code = stream_words(s, &set->name, "a set's name");
  if (!code)
    code = stream_number(s, &set->size, 0, INT_MAX, "a set's size");
  if (!code)
    code = stream_number(s, &set->owned, 0, set->size, "what is owned of a set");
  (void)c;
  return code ? code
              : stream_number(s, &set->entries_of, -1, MOST_THINGS, "the map that a set has entries of");
}

static int map(struct stream *s, const struct capture *c, struct capture_map *map) {
  int code = stream_words(s, &map->name, "a map's name");
  if (!code)
    code = stream_number(s, &map->from, 0, c->nsets - 1, "the set that a map begins at");
  if (!code)
    code = stream_number(s, &map->to, 0, c->nsets - 1, "the set that a map leads to");
  if (!code)
    code = stream_number(s, &map->arity, 0, INT_MAX, "a map's arity");
  if (code)
    return code;
  const size_t rows = (size_t)c->sets[map->from].size;
  size_t entries = 0;
  if (map->arity && !size_mul(rows, (size_t)map->arity, &entries))
    return error_set(s->err, OP_ERR_FILE, "a map has more entries than there may be");
  if (!map->arity) {
    code = stream_bytes(s, (void **)&map->first, rows + 1, sizeof *map->first, "a map's rows");
    for (size_t e = 0; !code && e <= rows; e++)
      if (map->first[e] < (e ? map->first[e - 1] : 0) || (!e && map->first[0]) || map->first[e] > INT_MAX)
        code = error_set(s->err, OP_ERR_FILE, "a ragged map's rows do not follow one another");
    entries = code ? 0 : (size_t)map->first[rows];
  }
  if (!code)
    code = stream_bytes(s, (void **)&map->table, entries, sizeof *map->table, "a map's targets");
  for (size_t e = 0; !code && e < entries; e++)
    if (map->table[e] < 0 || map->table[e] >= c->sets[map->to].size)
      code = error_set(s->err, OP_ERR_FILE, "target %d of a map is outside of its set", map->table[e]);
  return code;
}

/* Values that may be there or not. */
static int values(struct stream *s, unsigned char **bytes, size_t count, size_t size) {
  bool there = *bytes != NULL;
  const int code = stream_truth(s, &there, "whether values are there");
  return code || !there ? code : stream_bytes(s, (void **)bytes, count, size, "values");
}

static int dat(struct stream *s, const struct capture *c, struct capture_dat *d) {
  size_t row;
  int code = stream_words(s, &d->name, "a dat's name");
  if (!code)
    code = stream_number(s, &d->set, 0, c->nsets - 1, "a dat's set");
  if (!code)
    code = stream_number(s, &d->dim, 1, INT_MAX, "a dat's dim");
  if (!code)
    code = type(s, &d->type);
  if (!code)
    code = stream_truth(s, &d->soa, "how a dat lies");
  if (!code)
    code = stream_truth(s, &d->view, "whether a dat is a view");
  if (!code && !size_mul((size_t)d->dim, type_info(d->type)->size, &row))
    code = error_set(s->err, OP_ERR_FILE, "a dat's rows are longer than they may be");
  if (!code)
    code = stream_bytes(s, (void **)&d->before, (size_t)c->sets[d->set].size, row, "a dat's values");
  return code ? code : values(s, &d->after, (size_t)c->sets[d->set].size, row);
}

static int value(struct stream *s, const struct capture *c, struct capture_value *v) {
  int code = stream_words(s, &v->name, "a constant's name");
  if (!code)
    code = stream_number(s, &v->dim, 1, INT_MAX, "a constant's dim");
  if (!code)
    code = type(s, &v->type);
  if (!code)
    code = stream_bytes(s, (void **)&v->before, (size_t)v->dim, type_info(v->type)->size, "a constant");
  (void)c;
  return code ? code : values(s, &v->after, (size_t)v->dim, type_info(v->type)->size);
}

static int arg(struct stream *s, const struct capture *c, struct capture_arg *a) {
  const struct {
    long long *number, least, most;
    const char *what;
  } numbers[] = {{&a->form, DESC_DAT, DESC_INFO, "an argument's form"},
                 {&a->access, OP_READ, OP_WORK, "an access"},
                 {&a->present, 0, 1, "whether an argument is present"},
                 {&a->dat, -1, c->ndats - 1, "an argument's dat"},
                 {&a->map, -1, c->nmaps - 1, "an argument's map"},
                 {&a->idx, OP_ALL, INT_MAX, "an argument's index"},
                 {&a->gbl, -1, c->nglobals - 1, "an argument's global"},
                 {&a->dim, 1, INT_MAX, "an argument's dim"},
                 {&a->ref, -1, OP_MAX_ARGS - 1, "the argument that a payload goes with"}};
  int code = OP_OK;
  for (size_t i = 0; !code && i < sizeof numbers / sizeof *numbers; i++)
    code = stream_number(s, numbers[i].number, numbers[i].least, numbers[i].most, numbers[i].what);
  if (!code)
    code = stream_truth(s, &a->may_meet, "whether elements may meet");
  if (!code)
    code = type(s, &a->type);
  if (!code)
    code = values(s, &a->before, (size_t)a->dim, type_info(a->type)->size);
  return code ? code : values(s, &a->after, (size_t)a->dim, type_info(a->type)->size);
}

static int call(struct stream *s, const struct capture *c, struct capture_call *call) {
  char **const words[] = {&call->name, &call->text, &call->file, &call->variant};
  long long nargs = call->nargs;
  bool some = call->elements != NULL;
  int code = OP_OK;
  for (size_t i = 0; !code && i < sizeof words / sizeof *words; i++)
    code = stream_words(s, words[i], "the words of a call");
  if (!code)
    code = stream_number(s, &call->line, 0, INT_MAX, "a line");
  if (!code)
    code = stream_real(s, &call->seconds);
  if (!code)
    code = stream_number(s, &call->set, 0, c->nsets - 1, "a call's set");
  if (!code)
    code = stream_number(s, &call->count, 0, c->sets[call->set].size, "a call's elements");
  if (!code)
    code = stream_truth(s, &some, "which elements run");
  if (!code && some)
    code = stream_bytes(s, (void **)&call->elements, (size_t)call->count, sizeof *call->elements,
                        "a call's elements");
  if (!code)
    code = stream_number(s, &nargs, 1, OP_MAX_ARGS, "the number of arguments");
  call->nargs = code ? call->nargs : (int)nargs;
  for (int i = 0; !code && i < call->nargs; i++)
    code = arg(s, c, &call->args[i]);
  return code;
}

/* ---- the whole ---- */

#define ALL(what, most, one)                                                                                 \
  do {                                                                                                       \
    if (!code)                                                                                               \
      code = stream_items(s, &c->n##what, most, (void **)&c->what, sizeof *c->what, #what);                  \
    for (int i = 0; !code && i < c->n##what; i++)                                                            \
      code = one;                                                                                            \
  } while (0)

static int all(struct stream *s, struct capture *c) {
  long long number = order;
  int code = stream_number(s, &number, order, order, "the order of bytes");
  ALL(facts, MOST_FACTS, fact(s, &c->facts[i]));
  if (!code)
    code = structs(s);
  ALL(sets, MOST_THINGS, set(s, c, &c->sets[i]));
  ALL(maps, MOST_THINGS, map(s, c, &c->maps[i]));
  ALL(dats, MOST_THINGS, dat(s, c, &c->dats[i]));
  ALL(constants, MOST_THINGS, value(s, c, &c->constants[i]));
  ALL(globals, MOST_THINGS, value(s, c, &c->globals[i]));
  ALL(calls, MOST_CALLS, call(s, c, &c->calls[i]));
  return code;
}

int capture_read(struct capture *out, const void *bytes, size_t length, struct error *err) {
  struct stream s = {.at = bytes, .err = err};
  *out = (struct capture){0};
  if (length < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
    return error_set(err, OP_ERR_FILE, "it is no capture of this version of op2jit");
  s.end = s.at + length;
  s.at += sizeof magic;
  int code = all(&s, out);
  if (!code && s.at != s.end)
    code = error_set(err, OP_ERR_FILE, "something follows its end");
  if (!code)
    code = capture_check(out, err);
  if (code)
    capture_free(out);
  return code;
}

int capture_print(const struct capture *c, struct text *out, struct error *err) {
  struct stream s = {.out = out, .err = err};
  struct capture copy = *c;
  text_add_bytes(out, magic, sizeof magic);
  return all(&s, &copy);
}

int capture_load(struct capture *out, const char *path, struct error *err) {
  struct text bytes = {0};
  char part[1 << 16];
  size_t n;
  *out = (struct capture){0};
  FILE *file = fopen(path, "rb");
  if (!file)
    return error_set(err, OP_ERR_FILE, "%s cannot be opened: %s", path, strerror(errno));
  while ((n = fread(part, 1, sizeof part, file)) > 0)
    text_add_bytes(&bytes, part, n);
  const bool failed = ferror(file);
  fclose(file);
  int code = failed            ? error_set(err, OP_ERR_FILE, "it cannot be read")
             : text_ok(&bytes) ? capture_read(out, text_str(&bytes), bytes.length, err)
                               : error_memory(err, "a capture", bytes.length);
  text_free(&bytes);
  return code ? error_prefix(err, "%s: ", path) : OP_OK;
}

int capture_save(const struct capture *c, const char *path, struct error *err) {
  struct text bytes = {0};
  int code = capture_print(c, &bytes, err);
  if (!code)
    code = aside_whole(path, text_str(&bytes), bytes.length, err);
  text_free(&bytes);
  return code;
}
