/* The form of a file: what struct capture has, in its order. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/aside.h"
#include "base/list.h"
#include "capture/capture.h"

/* The last digit is the version; the number is another one where bytes are the other way round. */
static const char magic[16] = "op2jit-capture-2";
static const long long order = 0x0102030405060708;
enum { MOST_FACTS = 256, MOST_THINGS = 1 << 16, MOST_CALLS = 4096, MOST_MEMBERS = 32, MOST_STRUCT = 1 << 20 };

/* ---- values to a file or from one, by the same calls: what is written and what is read cannot differ; nor what is freed. A file
 * is hostile: no count is believed before the bytes that it speaks of are there ---- */

struct stream {
  struct text *out; /* it is written; NULL: it is read, */
  bool frees;       /* or what was read is freed: numbers are not looked at */
  bool within;      /* of this process, which knows its structs */
  const unsigned char *at, *end;
  struct error *err;
  int code; /* of the first thing that is wrong, OP_ERR_FILE or OP_ERR_MEMORY: calls behind it do nothing */
};

__attribute__((format(printf, 2, 3))) static void stream_fail(struct stream *s, const char *format, ...) {
  char words[256];
  va_list list;
  va_start(list, format);
  vsnprintf(words, sizeof words, format, list);
  va_end(list);
  if (!s->code)
    s->code = error_set(s->err, OP_ERR_FILE, "%s", words);
}

/* So many bytes are there to be read. */
static bool has(struct stream *s, size_t size, const char *what) {
  if (!s->code && (size_t)(s->end - s->at) < size)
    stream_fail(s, "it ends within %s", what);
  return !s->code;
}

/* The bytes of a value, either way. */
static void take(struct stream *s, void *value, size_t size, const char *what) {
  if (s->code || s->frees)
    return;
  if (s->out) {
    text_add_bytes(s->out, value, size);
    if (!text_ok(s->out))
      s->code = error_memory(s->err, "a capture", s->out->length);
  } else if (has(s, size, what)) {
    if (size)
      memcpy(value, s->at, size);
    s->at += size;
  }
}

/* A number from `least` to `most`: `least` where what is read is none of them, so that what is computed from it is in bounds. */
static void stream_number(struct stream *s, long long *n, long long least, long long most, const char *what) {
  take(s, n, sizeof *n, what);
  if (s->frees || (*n >= least && *n <= most))
    return;
  stream_fail(s, "%s is %lld; expected %lld to %lld", what, *n, least, most);
  if (!s->out)
    *n = least;
}

static void stream_real(struct stream *s, double *x) {
  take(s, x, sizeof *x, "a number");
}

static void stream_truth(struct stream *s, bool *b, const char *what) {
  long long n = *b;
  stream_number(s, &n, 0, 1, what);
  *b = n == 1;
}

/* Memory for what is read. */
static void *room(struct stream *s, size_t count, size_t size, const char *what) {
  void *memory = s->code ? NULL : array_new(count, size);
  if (!memory && !s->code)
    s->code = error_memory(s->err, what, count * size);
  return memory;
}

static void let_go(void **memory) {
  free(*memory);
  *memory = NULL;
}

/* Allocated where it is read; no NUL is in it, and what could command a terminal is a blank. */
static void stream_words(struct stream *s, char **words, const char *what) {
  long long length = s->out && *words ? (long long)strlen(*words) : 0;
  stream_number(s, &length, 0, PTRDIFF_MAX - 1, what);
  if (s->frees)
    let_go((void **)words);
  else if (!s->out && has(s, (size_t)length, what)) {
    if (memchr(s->at, '\0', (size_t)length))
      stream_fail(s, "%s has a NUL in it", what);
    *words = room(s, (size_t)length + 1, 1, what);
  }
  if (length && *words)
    take(s, *words, (size_t)length, what);
  for (char *c = *words; !s->out && c && *c; c++)
    if (((unsigned char)*c < ' ' && *c != '\n') || *c == '\x7f')
      *c = ' ';
}

/* `count` things of `size` bytes, allocated where they are read. */
static void stream_bytes(struct stream *s, void **bytes, size_t count, size_t size, const char *what) {
  size_t length;
  if (s->frees)
    let_go(bytes);
  else if (!size_mul(count, size, &length))
    stream_fail(s, "%s would have more bytes than there may be", what);
  else {
    if (!s->out)
      *bytes = has(s, length, what) ? room(s, count, size, what) : NULL;
    take(s, *bytes, length, what);
  }
}

/* How many items follow, of which each takes 8 bytes at least; and where they are read, zeros for them. */
static void stream_items(struct stream *s, int *count, int most, void **items, size_t size,
                         const char *what) {
  long long n = *count;
  stream_number(s, &n, 0, most, what);
  if (s->out || s->frees)
    return;
  *count = 0;
  if (!s->code && (s->end - s->at) / 8 < n)
    stream_fail(s, "it ends within %s", what);
  *items = room(s, (size_t)n, size, what);
  if (*items)
    *count = (int)n;
}

/* ---- types: structs first, then each by its name ---- */

static void member(struct stream *s, op2jit_member *m, long long struct_size) {
  char *name = (char *)(size_t)m->name, *type = (char *)(size_t)m->type;
  long long offset = (long long)m->offset, size = (long long)m->size;
  stream_words(s, &name, "a member's name");
  stream_words(s, &type, "a member's type");
  stream_number(s, &offset, 0, struct_size - 1, "a member's offset");
  stream_number(s, &size, 1, struct_size - offset, "a member's size");
  *m = (op2jit_member){name, type, (size_t)offset, (size_t)size};
}

/* Reads a struct and declares it to the process, or writes `info`. */
static void one_struct(struct stream *s, const struct type_info *info) {
  op2jit_member members[MOST_MEMBERS] = {0};
  char *name = info ? (char *)(size_t)info->name : NULL;
  long long size = info ? (long long)info->size : 0, count = info ? info->nmembers : 0;
  stream_words(s, &name, "a struct's name");
  stream_number(s, &size, 1, MOST_STRUCT, "a struct's size");
  stream_number(s, &count, 0, MOST_MEMBERS, "a struct's members");
  for (int i = 0; !s->code && i < count; i++) {
    const struct type_member *m = info ? &info->members[i] : NULL;
    if (m)
      members[i] = (op2jit_member){m->name, type_info(m->type)->name ? type_info(m->type)->name : "",
                                   m->offset, m->size};
    member(s, &members[i], size);
  }
  if (info)
    return;
  if (!s->code && type_declare(name, (size_t)size, (int)count, members, s->err) != OP_OK)
    s->code = s->err->code == OP_ERR_MEMORY ? OP_ERR_MEMORY : (s->err->code = OP_ERR_FILE);
  for (int i = 0; i < MOST_MEMBERS; i++) {
    free((char *)(size_t)members[i].name);
    free((char *)(size_t)members[i].type);
  }
  free(name);
}

/* All that the process has, as their numbers are: few, and what one has of another is a member's type. */
static void structs(struct stream *s) {
  long long n = s->out ? types_of_program()->count : 0;
  stream_number(s, &n, 0, TYPES_OF_PROGRAM, "the structs");
  for (int i = 0; !s->code && i < n; i++)
    one_struct(s, s->out ? &types_of_program()->infos[i] : NULL);
}

static void type(struct stream *s, enum type_code *t) {
  char *name = s->out ? (char *)(size_t)type_info(*t)->name : NULL;
  if (s->frees)
    return;
  stream_words(s, &name, "a type");
  if (s->out || s->code)
    return;
  *t = type_parse(name, NULL);
  if (*t == TYPE_NONE)
    stream_fail(s, "the type \"%.60s\" is unknown", name);
  free(name);
}

/* ---- things: a function for each, which writes, reads and frees it ---- */

/* The size of a set if nothing is wrong so far, else 0. */
static size_t size_of(const struct stream *s, const struct capture *c, long long set) {
  return s->code || s->frees ? 0 : (size_t)c->sets[set].size;
}

static void fact(struct stream *s, struct capture_fact *f) {
  stream_words(s, &f->name, "a fact");
  stream_words(s, &f->words, "a fact");
}

static void set(struct stream *s, struct capture_set *set) {
  stream_words(s, &set->name, "a set's name");
  stream_number(s, &set->size, 0, INT_MAX, "a set's size");
  stream_number(s, &set->owned, 0, set->size, "what is owned of a set");
  stream_number(s, &set->entries_of, -1, MOST_THINGS, "the map that a set has entries of");
}

/* The number of entries of a ragged map that is read. */
static size_t check_rows(struct stream *s, const struct capture_map *map, size_t rows) {
  for (size_t e = 0; !s->code && e <= rows; e++)
    if (map->first[e] < (e ? map->first[e - 1] : 0) || (!e && map->first[0]) || map->first[e] > INT_MAX)
      stream_fail(s, "a ragged map's rows do not follow one another");
  return s->code ? 0 : (size_t)map->first[rows];
}

static void map(struct stream *s, const struct capture *c, struct capture_map *map) {
  stream_words(s, &map->name, "a map's name");
  stream_number(s, &map->from, 0, c->nsets - 1, "the set that a map begins at");
  stream_number(s, &map->to, 0, c->nsets - 1, "the set that a map leads to");
  stream_number(s, &map->arity, 0, INT_MAX, "a map's arity");
  const size_t rows = size_of(s, c, map->from);
  size_t entries = 0;
  if (!size_mul(rows, (size_t)map->arity, &entries))
    stream_fail(s, "a map has more entries than there may be");
  if (!map->arity || s->frees)
    stream_bytes(s, (void **)&map->first, rows + 1, sizeof *map->first, "a map's rows");
  if (!map->arity && !s->frees)
    entries = check_rows(s, map, rows);
  stream_bytes(s, (void **)&map->table, entries, sizeof *map->table, "a map's targets");
  for (size_t e = 0; !s->code && !s->out && !s->within && e < entries; e++)
    if (map->table[e] < 0 || map->table[e] >= c->sets[map->to].size)
      stream_fail(s, "target %d of a map is outside of its set", map->table[e]);
}

static void data(struct stream *s, const struct capture *c, struct capture_data *d) {
  size_t row = 0;
  stream_words(s, &d->name, "a name of data");
  stream_number(s, &d->kind, CAPTURE_DAT, CAPTURE_VARIABLE, "the kind of data");
  const bool is_dat = d->kind == CAPTURE_DAT;
  stream_number(s, &d->set, is_dat ? 0 : -1, is_dat ? c->nsets - 1 : -1, "a dat's set");
  stream_number(s, &d->dim, 1, INT_MAX, "a dim of data");
  type(s, &d->type);
  stream_truth(s, &d->soa, "how a dat lies");
  stream_truth(s, &d->view, "whether a dat is a view");
  if (!s->code && !size_mul((size_t)d->dim, type_info(d->type)->size, &row))
    stream_fail(s, "rows of data are longer than they may be");
  const size_t rows = s->code || s->frees ? 0 : capture_rows(c, d);
  stream_bytes(s, (void **)&d->before, rows, row, "values");
  bool there = d->after != NULL;
  stream_truth(s, &there, "whether values are there");
  if (there)
    stream_bytes(s, (void **)&d->after, rows, row, "values");
}

static void arg(struct stream *s, const struct capture *c, struct capture_arg *a) {
  const struct {
    long long *number, least, most;
    const char *what;
  } numbers[] = {{&a->form, DESC_DAT, DESC_INFO, "an argument's form"},
                 {&a->access, OP_READ, OP_WORK, "an access"},
                 {&a->present, 0, 1, "whether an argument is present"},
                 {&a->data, -1, c->ndata - 1, "an argument's data"},
                 {&a->map, -1, c->nmaps - 1, "an argument's map"},
                 {&a->idx, OP_ALL, INT_MAX, "an argument's index"},
                 {&a->dim, 1, INT_MAX, "an argument's dim"},
                 {&a->ref, -1, OP_MAX_ARGS - 1, "the argument that a payload goes with"}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    stream_number(s, numbers[i].number, numbers[i].least, numbers[i].most, numbers[i].what);
  stream_truth(s, &a->may_meet, "whether elements may meet");
  type(s, &a->type);
}

static void call(struct stream *s, const struct capture *c, struct capture_call *call) {
  char **const words[] = {&call->name, &call->text, &call->file, &call->variant};
  long long nargs = call->nargs;
  bool some = call->elements != NULL;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    stream_words(s, words[i], "the words of a call");
  stream_number(s, &call->line, 0, INT_MAX, "a line");
  stream_real(s, &call->seconds);
  stream_number(s, &call->set, 0, c->nsets - 1, "a call's set");
  stream_number(s, &call->count, 0, (long long)size_of(s, c, call->set), "a call's elements");
  stream_truth(s, &some, "which elements run");
  if (some)
    stream_bytes(s, (void **)&call->elements, (size_t)call->count, sizeof *call->elements,
                 "a call's elements");
  stream_number(s, &nargs, 1, OP_MAX_ARGS, "the number of arguments");
  if (!s->code)
    call->nargs = (int)nargs;
  for (int i = 0; i < call->nargs; i++)
    arg(s, c, &call->args[i]);
}

/* ---- the whole ---- */

#define ALL(what, most, one)                                                                                 \
  do {                                                                                                       \
    stream_items(s, &c->n##what, most, (void **)&c->what, sizeof *c->what, #what);                           \
    for (int i = 0; !s->code && i < c->n##what; i++)                                                         \
      one;                                                                                                   \
    if (s->frees)                                                                                            \
      free(c->what);                                                                                         \
  } while (0)

static int all(struct stream *s, struct capture *c) {
  long long number = order;
  stream_number(s, &number, order, order, "the order of bytes");
  ALL(facts, MOST_FACTS, fact(s, &c->facts[i]));
  if (!s->frees && !s->within)
    structs(s);
  ALL(sets, MOST_THINGS, set(s, &c->sets[i]));
  ALL(maps, MOST_THINGS, map(s, c, &c->maps[i]));
  ALL(data, MOST_THINGS, data(s, c, &c->data[i]));
  ALL(calls, MOST_CALLS, call(s, c, &c->calls[i]));
  return s->code;
}

void capture_free(struct capture *c) {
  struct stream s = {.frees = true};
  all(&s, c);
  *c = (struct capture){0};
}

/* Those with -1 go, and the others get the numbers that they have there. */
#define KEEP(what, numbers, one)                                                                             \
  do {                                                                                                       \
    int count = 0;                                                                                           \
    for (int i = 0; i < c->n##what; i++)                                                                     \
      if ((numbers)[i] < 0)                                                                                  \
        one;                                                                                                 \
      else                                                                                                   \
        c->what[count++] = c->what[i];                                                                       \
    c->n##what = count;                                                                                      \
  } while (0)

void capture_keep(struct capture *c, const int *sets, const int *maps, const int *numbers) {
  struct stream frees = {.frees = true}, *s = &frees;
  KEEP(maps, maps, map(s, c, &c->maps[i]));
  KEEP(data, numbers, data(s, c, &c->data[i]));
  KEEP(sets, sets, set(s, &c->sets[i]));
}

void capture_drop_call(struct capture *c, int number) {
  struct stream s = {.frees = true};
  call(&s, c, &c->calls[number]);
  memmove(&c->calls[number], &c->calls[number + 1], (size_t)(--c->ncalls - number) * sizeof *c->calls);
}

int capture_read(struct capture *out, const void *bytes, size_t length, struct error *err) {
  struct stream s = {.at = bytes, .err = err};
  *out = (struct capture){0};
  if (length < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
    return error_set(err, OP_ERR_FILE, "it is no capture of this version of op2jit");
  s.end = s.at + length;
  s.at += sizeof magic;
  all(&s, out);
  if (s.at != s.end)
    stream_fail(&s, "something follows its end");
  const int code = s.code ? s.code : capture_check(out, err);
  if (code)
    capture_free(out);
  return code;
}

static int print(const struct capture *c, bool within, struct text *out, struct error *err) {
  struct stream s = {.out = out, .within = within, .err = err};
  struct capture copy = *c; /* nothing of it changes */
  return all(&s, &copy);
}

int capture_print(const struct capture *c, struct text *out, struct error *err) {
  text_add_bytes(out, magic, sizeof magic);
  return print(c, false, out, err);
}

int capture_copy(const struct capture *c, struct capture *out, struct error *err) {
  struct text bytes = {0};
  *out = (struct capture){0};
  int code = print(c, true, &bytes, err);
  struct stream s = {.within = true, .err = err};
  s.at = (const unsigned char *)text_str(&bytes);
  s.end = s.at + bytes.length;
  if (!code && (code = all(&s, out)))
    capture_free(out);
  text_free(&bytes);
  return code;
}

int capture_load(struct capture *out, const char *path, struct error *err) {
  struct text bytes = {0};
  *out = (struct capture){0};
  int code = file_read(path, &bytes, err);
  if (!code && (code = capture_read(out, text_str(&bytes), bytes.length, err)))
    error_prefix(err, "%s: ", path);
  text_free(&bytes);
  return code;
}

int capture_save(const struct capture *c, const char *path, struct error *err) {
  struct text bytes = {0};
  int code = capture_print(c, &bytes, err);
  if (!code)
    code = aside_whole(path, text_str(&bytes), bytes.length, err);
  text_free(&bytes);
  return code;
}
