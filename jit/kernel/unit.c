#include "jit/kernel/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "jit/kernel/excerpt.h"
#include "jit/kernel/include.h"
#include "jit/kernel/rows.h"

enum { DEEPEST = 40 };

/* ---- life ----------------------------------------------------------------------------------------*/

void unit_free(struct unit *u) {
  text_free(&u->text);
  origins_free(&u->origins);
  list_free(&u->once);
  fortran_free(&u->fortran);
  *u = (struct unit){0};
}

static bool unit_copy(struct unit *to, const struct unit *from) {
  *to = (struct unit){.line = from->line ? from->line : 1};
  text_add_bytes(&to->text, text_str(&from->text), from->text.length);
  bool good = text_ok(&to->text) && origins_copy(&to->origins, &from->origins);
  for (int i = 0; good && i < from->once.count; i++)
    good = list_add(&to->once, from->once.items[i]);
  if (!good)
    unit_free(to);
  return good;
}

void shared_free(struct shared *s) {
  for (int i = 0; i < s->files.count; i++)
    shared_file_free(s->files.items[i]);
  for (int i = 0; i < s->said.count; i++)
    free(s->said.items[i]);
  list_free(&s->files);
  list_free(&s->said);
  unit_free(&s->before);
  *s = (struct shared){0};
}

/* ---- where a text is from --------------------------------------------------------------------------*/

const char *text_behind_mark(const char *text, size_t *length) {
  static const char mark[] = "\xEF\xBB\xBF";
  const size_t size = sizeof mark - 1;
  if (*length < size || memcmp(text, mark, size) != 0)
    return text;
  *length -= size;
  return text + size;
}

const char *origin_split(const char *text, size_t *length, struct origin *out) {
  const char *end = text + *length, *at = text;
  static const char word[] = "#line ";
  *out = (struct origin){.line = 1, .file_line = 1};
  if (*length < sizeof word || memcmp(at, word, sizeof word - 1) != 0)
    return text;
  at += sizeof word - 1;
  long line = 0;
  for (; at < end && *at >= '0' && *at <= '9' && line < 100000000; at++)
    line = line * 10 + (*at - '0');
  const char *newline = memchr(at, '\n', (size_t)(end - at));
  if (!newline || end - at < 4 || at[0] != ' ' || at[1] != '"' || newline[-1] != '"' || newline - at < 3)
    return text;
  out->file = strndup(at + 2, (size_t)(newline - at) - 3);
  out->file_line = (int)line;
  *length = (size_t)(end - newline) - 1;
  out->one_line = !memchr(newline + 1, '\n', *length);
  return newline + 1;
}

/* ---- putting together ------------------------------------------------------------------------------*/

/* A text on its way into a unit, and those that include it. */
struct inserted {
  const struct inserted *by;
  const struct shared_file *file; /* NULL: a string */
  const char *text;
  size_t length;
  struct origin origin; /* of its first line; the file is borrowed */
  int depth;
};

static const char prelude[] = "the prelude";
static char prelude_text[] = "prelude text";

struct making {
  struct unit *u;
  struct shared *s;
  const char *what; /* "kernel flux", "the prelude" */
  const char *name; /* the kernel's; NULL: the prelude is made */
  struct error *err;
};

static bool put_lines(struct unit *u, const struct inserted *in, size_t from, size_t to, int line) {
  struct origin next = in->origin;
  next.begin = u->text.length;
  next.line = u->line;
  next.file_line += line - 1;
  if (from == to)
    return true;
  text_add_bytes(&u->text, in->text + from, to - from);
  for (size_t i = from; i < to; i++)
    u->line += in->text[i] == '\n';
  if (in->text[to - 1] != '\n') {
    text_add_char(&u->text, '\n');
    u->line++;
  }
  return text_ok(&u->text) && origins_add(&u->origins, next);
}

static bool is_open(const struct inserted *in, const struct shared_file *file) {
  for (; in; in = in->by)
    if (in->file == file)
      return true;
  return false;
}

static int fail(const struct making *m, const struct inserted *in, const struct token *at, int code,
                const char *format, ...) __attribute__((format(printf, 5, 6)));
static int fail(const struct making *m, const struct inserted *in, const struct token *at, int code,
                const char *format, ...) {
  const struct source source = {.text = in->text,
                                .length = in->length,
                                .file = in->origin.file,
                                .line = in->origin.file_line,
                                .one_line = in->origin.one_line};
  va_list args;
  va_start(args, format);
  source_error(&source, at->line, at->column, m->err, code, m->what, format, args);
  va_end(args);
  return code;
}

static int insert(const struct making *m, const struct inserted *in);

/* A file that is nowhere. Between conditions it may be meant for the program only: then the compiler is told, which
 * knows whether the line counts. */
static int not_found(const struct making *m, const struct inserted *in, const struct token *at,
                     const char *name, bool conditional, const char *where) {
  if (!conditional)
    return fail(m, in, at, OP_ERR_KERNEL,
                "the file \"%s\" was not found: looked for it %s. Kernels have what %s declare without any "
                "#include, and no other header of the system",
                name, where, include_known);
  struct unit *u = m->u;
  struct origin next = in->origin;
  next.begin = u->text.length;
  next.line = u->line++;
  next.file_line += at->line - 1;
  text_addf(&u->text, "#error the file \"%s\" was not found: looked for it %s\n", name, where);
  return text_ok(&u->text) && origins_add(&u->origins, next)
             ? OP_OK
             : error_memory(m->err, "a kernel text", u->text.length);
}

static int put_file(const struct making *m, const struct inserted *in, const struct token *at,
                    const struct shared_file *file) {
  if (list_has(&m->u->once, file))
    return OP_OK;
  if (is_open(in, file) || in->depth >= DEEPEST)
    return fail(m, in, at, OP_ERR_KERNEL,
                is_open(in, file) ? "%s includes itself; write #pragma once in its first line"
                                  : "%s is included by files that include one another too deeply",
                file->path);
  if (file->once && !list_add(&m->u->once, (void *)(size_t)file))
    return error_memory(m->err, "a kernel text", sizeof file);
  const struct inserted inner = {.by = in,
                                 .file = file,
                                 .text = text_str(&file->text),
                                 .length = file->text.length,
                                 .origin = {.file = file->path, .file_line = 1},
                                 .depth = in->depth + 1};
  return insert(m, &inner);
}

static int put_include(const struct making *m, const struct inserted *in, const struct token *at,
                       const struct include *include, bool conditional) {
  struct shared_file *file = NULL;
  struct text where = {0};
  const char *from = include->system || in->origin.file == prelude_text ? NULL : in->origin.file;
  int code = include_find(m->s, include->name, from, &file, &where, m->err);
  if (code)
    error_prefix(m->err, "%s: ", m->what);
  else
    code =
        file ? put_file(m, in, at, file) : not_found(m, in, at, include->name, conditional, text_str(&where));
  text_free(&where);
  return code;
}

static int count_condition(const struct tokens *t, size_t hash) {
  static const struct {
    const char *word;
    int change;
  } rows[] = {{"if", 1}, {"ifdef", 1}, {"ifndef", 1}, {"endif", -1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (t->items[hash].line_first && t->items[hash].directive && token_is(t, hash + 1, rows[i].word))
      return rows[i].change;
  return 0;
}

static size_t end_of_line(const struct inserted *in, size_t from) {
  const char *newline = memchr(in->text + from, '\n', in->length - from);
  return newline ? (size_t)(newline - in->text) + 1 : in->length;
}

static int insert_pieces(const struct making *m, const struct inserted *in, const struct tokens *t) {
  const bool guarded = in->file && in->file->once && t->count && token_is(t, 1, "ifndef");
  size_t done = 0;
  int line = 1, conditions = guarded ? -1 : 0, code = OP_OK;
  for (size_t i = 0; i < t->count && !code; i++) {
    struct include include;
    conditions += count_condition(t, i);
    if (in->origin.one_line || !include_read(t, i, &include) || include_is_known(include.name))
      continue;
    const struct token *at = &t->items[i];
    if (!put_lines(m->u, in, done, at->begin, line))
      return error_memory(m->err, "a kernel text", in->length);
    code = put_include(m, in, at, &include, conditions > 0);
    done = end_of_line(in, at->begin);
    line = at->line + 1;
  }
  if (!code && !put_lines(m->u, in, done, in->length, line))
    code = error_memory(m->err, "a kernel text", in->length);
  return code;
}

static int insert(const struct making *m, const struct inserted *in) {
  struct tokens tokens;
  struct inserted without = *in;
  without.text = text_behind_mark(in->text, &without.length);
  int code = lex(&tokens, without.text, without.length, m->err);
  if (code)
    return code;
  code = insert_pieces(m, &without, &tokens);
  tokens_free(&tokens);
  return code;
}

/* The C text of a kernel in Fortran, piece by piece of the files that it is from. */
static int insert_fortran(const struct making *m, const struct origin *from, const char *text,
                          size_t length) {
  const struct fortran_source source = {
      .text = text, .length = length, .file = from->file, .line = from->file_line, .kernel = m->name};
  struct fortran_made made;
  int code = fortran_translate(m->s, &source, &made, m->err);
  for (int i = 0; !code && i < made.origins.count; i++) {
    const struct origin *o = &made.origins.items[i];
    const size_t end = i + 1 < made.origins.count ? o[1].begin : made.text.length;
    const struct inserted piece = {.text = text_str(&made.text) + o->begin,
                                   .length = end - o->begin,
                                   .origin = {.file = o->file, .file_line = o->file_line}};
    code = insert(m, &piece);
  }
  text_free(&made.text);
  origins_free(&made.origins);
  m->u->fortran = made;
  m->u->origins.fortran = true;
  return code;
}

static int insert_text(const struct making *m, const char *text, size_t length) {
  struct inserted in = {0};
  struct text folded = {0};
  in.text = rows_folded(origin_split(text, &length, &in.origin), &length, &folded);
  in.length = length;
  char *file = in.origin.file;
  if (m->name && in.text && fortran_is(file, in.text, length)) {
    const int code = insert_fortran(m, &in.origin, in.text, length);
    text_free(&folded);
    free(file);
    return code;
  }
  if (!file && m->what == prelude) /* of the text of a kernel it is said so */
    in.origin.file = prelude_text;
  const int code = in.text ? insert(m, &in) : error_memory(m->err, "a kernel text", length);
  text_free(&folded);
  free(file);
  return code;
}

int unit_make(struct unit *u, struct shared *s, const char *text, size_t length, const char *name,
              struct error *err) {
  struct text what = {0};
  if (!unit_copy(u, &s->before))
    return error_memory(err, "a kernel text", s->before.text.length);
  text_addf(&what, "kernel %s", name);
  u->origins.own = u->text.length;
  const struct making m = {.u = u, .s = s, .what = text_str(&what), .name = name, .err = err};
  const int code = insert_text(&m, text, length);
  text_free(&what);
  if (code)
    unit_free(u);
  return code;
}

/* ---- what is shared --------------------------------------------------------------------------------*/

static bool was_said(const struct shared *s, const char *words) {
  for (int i = 0; i < s->said.count; i++)
    if (strcmp(s->said.items[i], words) == 0)
      return true;
  return false;
}

/* Adds text behind `before`. After an error `before` is as it was. */
static int add(struct shared *s, const char *words, const char *text, const struct shared_file *file,
               struct error *err) {
  struct unit more;
  char *said = strdup(words);
  if (!said || !unit_copy(&more, &s->before)) {
    free(said);
    return error_memory(err, "a prelude", strlen(words));
  }
  const struct making m = {.u = &more, .s = s, .what = prelude, .err = err};
  const struct inserted none = {0};
  int code = file ? put_file(&m, &none, NULL, file) : insert_text(&m, text, strlen(text));
  if (!code && !list_add(&s->said, said))
    code = error_memory(err, "a prelude", strlen(words));
  if (code) {
    free(said);
    unit_free(&more);
    return code;
  }
  s->earlier.length = s->before.text.length;
  s->earlier.line = s->before.line;
  s->earlier.origins = s->before.origins.count;
  s->earlier.once = s->before.once.count;
  unit_free(&s->before);
  s->before = more;
  return OP_OK;
}

void shared_undo(struct shared *s) {
  struct unit *u = &s->before;
  free(s->said.items[--s->said.count]);
  if (u->text.data)
    u->text.data[u->text.length = s->earlier.length] = '\0';
  u->line = s->earlier.line;
  while (u->origins.count > s->earlier.origins)
    free(u->origins.items[--u->origins.count].file);
  u->once.count = s->earlier.once;
}

int shared_add_text(struct shared *s, const char *text, bool *again, struct error *err) {
  *again = was_said(s, text);
  return *again ? OP_OK : add(s, text, text, NULL, err);
}

int shared_add_file(struct shared *s, const char *path, bool *again, struct error *err) {
  struct shared_file *file = NULL;
  struct text where = {0};
  int code = include_find(s, path, NULL, &file, &where, err);
  if (!code && !file)
    code = where.length ? error_set(err, OP_ERR_FILE, "the file \"%s\" was not found: looked for it %s", path,
                                    text_str(&where))
                        : error_set(err, OP_ERR_FILE, "the file \"%s\" was not found", path);
  text_free(&where);
  if (code)
    return code;
  *again = was_said(s, file->real);
  return *again ? OP_OK : add(s, file->real, NULL, file, err);
}
