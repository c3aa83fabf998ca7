/* Memory of a translation, and its messages. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "jit/kernel/excerpt.h"
#include "jit/kernel/fortran/tree.h"

enum { CHUNK = 1 << 16 };
_Static_assert(sizeof(struct f_unit) <= SPARE && sizeof(struct expr) <= SPARE &&
                   sizeof(struct symbol) <= SPARE,
               "the spare room has any of them");

void f_memory(struct fortran *f) {
  if (!failed(f))
    error_memory(f->err, "a kernel in Fortran", CHUNK);
}

static void *f_bytes(struct fortran *f, size_t bytes) {
  const size_t unit = sizeof(long long), size = (bytes + unit) / unit * unit;
  if (size > CHUNK || f->chunks.count == 0 || f->chunk_used + size > CHUNK) {
    char *chunk = array_new(size > CHUNK ? size : CHUNK, 1);
    if (!chunk || !list_add(&f->chunks, chunk)) {
      free(chunk);
      f_memory(f);
      return NULL;
    }
    f->chunk_used = 0;
  }
  char *at = (char *)f->chunks.items[f->chunks.count - 1] + f->chunk_used;
  f->chunk_used = size > CHUNK ? CHUNK : f->chunk_used + size;
  return at;
}

void *f_new(struct fortran *f, size_t bytes) {
  void *at = f_bytes(f, bytes);
  if (!at)
    memset(f->spare, 0, sizeof f->spare);
  return at ? at : f->spare;
}

const char *f_copy(struct fortran *f, const char *bytes, size_t length) {
  char *copy = f_bytes(f, length + 1);
  if (!copy)
    return "";
  if (length)
    memcpy(copy, bytes, length);
  copy[length] = '\0';
  return copy;
}

struct text *f_text(struct fortran *f) {
  struct text *t = failed(f) ? NULL : f_new(f, sizeof *t);
  if (t && !failed(f) && list_add(&f->texts, t))
    return t;
  f_memory(f);
  return &f->lost;
}

__attribute__((format(printf, 2, 0))) static const char *say(struct fortran *f, const char *format,
                                                             va_list args) {
  va_list again;
  va_copy(again, args);
  const int length = vsnprintf(NULL, 0, format, args);
  char *said = length < 0 ? NULL : f_bytes(f, (size_t)length + 1);
  if (said)
    vsnprintf(said, (size_t)length + 1, format, again);
  va_end(again);
  return said ? said : "";
}

const char *f_say(struct fortran *f, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *said = say(f, format, args);
  va_end(args);
  return said;
}

const char *f_in_brackets(struct fortran *f, bool needed, const char *said) {
  return needed ? f_say(f, "(%s)", said) : said;
}

void f_refuse(struct fortran *f, const struct f_token *at, const char *format, ...) {
  if (failed(f))
    return;
  const struct source source = {
      .text = at->file->text, .length = at->file->length, .file = at->file->path, .line = at->file->line};
  const int line = at->line - (source.line > 0 ? source.line : 1) + 1;
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  f->refused = say(f, format, again);
  va_end(again);
  const char *who = f_say(f, "kernel %s", f->kernel);
  if (!failed(f))
    source_error(&source, line, at->column, f->err, OP_ERR_KERNEL, who, format, args);
  va_end(args);
}

void f_mark(struct fortran *f, const struct f_token *at, struct text *out) {
  int file = 0;
  while (file < f->files.count && f->files.items[file] != at->file)
    file++;
  if (file == f->files.count && !list_add(&f->files, (void *)(size_t)at->file))
    f_memory(f);
  text_addf(out, "\001%d %d\001", file, at->line);
}
