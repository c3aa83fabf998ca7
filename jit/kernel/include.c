#include "jit/kernel/include.h"

#include <stdlib.h>
#include <string.h>

#include "base/aside.h"
#include "base/list.h"

/* ---- the directive -------------------------------------------------------------------------------*/

static const char known[] =
    " math.h stdint.h limits.h float.h stdbool.h stddef.h stdio.h string.h stdlib.h assert.h ";
const char include_known[] = "math.h, stdint.h, limits.h, float.h, stdbool.h and stddef.h";

bool include_is_known(const char *name) {
  return word_is_among(name, strlen(name), known);
}

bool include_read(const struct tokens *t, size_t hash, struct include *out) {
  const struct token *items = t->items;
  const size_t first = hash + 2;
  size_t last = first;
  *out = (struct include){0};
  if (hash >= t->count || !items[hash].directive || !items[hash].line_first || !token_is(t, hash, "#") ||
      !token_is(t, hash + 1, "include"))
    return false;
  while (last < t->count && items[last].directive && !items[last].line_first)
    last++;
  if (last == first)
    return true;
  const size_t begin = items[first].begin + 1, end = items[last - 1].end - 1;
  size_t length = end > begin ? end - begin : 0;
  if (length >= sizeof out->name)
    length = sizeof out->name - 1;
  memcpy(out->name, t->text + begin, length);
  out->system = token_is(t, first, "<");
  return true;
}

/* ---- files ---------------------------------------------------------------------------------------*/

static int read_all(const char *path, struct text *out, struct error *err) {
  const int code = file_read(path, out, err);
  if (code == OP_ERR_FILE)
    return error_set(err, code, "%s; expected a file of C text", error_message(err));
  if (!code && memchr(text_str(out), '\0', out->length))
    return error_set(err, OP_ERR_FILE, "%s holds a NUL byte; expected C text", path);
  return code;
}

static bool is_directive(const struct tokens *t, size_t at, const char *word) {
  return at < t->count && t->items[at].line_first && token_is(t, at, "#") && token_is(t, at + 1, word);
}

/* A guard: `#ifndef NAME`, `#define NAME`. That its #endif is the last line is taken for granted. */
static bool counts_once(const struct tokens *t) {
  for (size_t i = 0; i < t->count && i < 64; i++)
    if (is_directive(t, i, "pragma") && token_is(t, i + 2, "once"))
      return true;
  return is_directive(t, 0, "ifndef") && is_directive(t, 3, "define") && token_is_identifier(t, 2) &&
         token_is_identifier(t, 5) &&
         t->items[2].end - t->items[2].begin == t->items[5].end - t->items[5].begin &&
         memcmp(t->text + t->items[2].begin, t->text + t->items[5].begin,
                t->items[2].end - t->items[2].begin) == 0;
}

void shared_file_free(struct shared_file *f) {
  if (!f)
    return;
  free(f->path);
  free(f->real);
  text_free(&f->text);
  free(f);
}

static int load(struct shared *s, const char *path, const char *real, struct shared_file **out,
                struct error *err) {
  struct shared_file *f = array_new(1, sizeof *f);
  struct tokens tokens = {0};
  if (!f || !(f->path = strdup(path)) || !(f->real = strdup(real))) {
    shared_file_free(f);
    return error_memory(err, "a file of C text", strlen(path));
  }
  int code = read_all(path, &f->text, err);
  if (!code)
    code = lex(&tokens, text_str(&f->text), f->text.length, err);
  if (!code) {
    f->once = counts_once(&tokens);
    tokens_free(&tokens);
    if (!list_add(&s->files, f))
      code = error_memory(err, "a file of C text", strlen(path));
  }
  if (code)
    shared_file_free(f);
  else
    *out = f;
  return code;
}

/* The file of that path if there is one. */
static int try(struct shared *s, const struct text *path, struct shared_file **out, struct error *err) {
  if (!text_ok(path))
    return error_memory(err, "the path of a file", path->length);
  char *real = realpath(text_str(path), NULL);
  int code = OP_OK;
  for (int i = 0; real && i < s->files.count && !*out; i++) {
    struct shared_file *f = s->files.items[i];
    *out = strcmp(f->real, real) == 0 ? f : NULL;
  }
  if (real && !*out)
    code = load(s, text_str(path), real, out, err);
  free(real);
  return code;
}

/* `length` bytes of `folder`, empty: the working folder. */
static int try_in(struct shared *s, const char *folder, size_t length, const char *name,
                  struct shared_file **out, struct error *err) {
  struct text path = {0};
  text_add_bytes(&path, folder, length);
  text_addf(&path, "%s%s", length && folder[length - 1] != '/' ? "/" : "", name);
  const int code = try(s, &path, out, err);
  text_free(&path);
  return code;
}

static void tell_places(const struct shared *s, const char *from, struct text *where) {
  if (from)
    text_addf(where, "beside %s, ", from);
  text_addf(where, "in OP2_INCLUDE (%s), in the working folder",
            s->folders && *s->folders ? s->folders : "not set");
}

int include_find(struct shared *s, const char *name, const char *from, struct shared_file **out,
                 struct text *where, struct error *err) {
  *out = NULL;
  if (*name == '/')
    return try_in(s, "", 0, name, out, err);
  const char *slash = from ? strrchr(from, '/') : NULL;
  int code = from ? try_in(s, from, slash ? (size_t)(slash - from) + 1 : 0, name, out, err) : OP_OK;
  for (const char *at = s->folders; !code && !*out && at && *at; at += *at == ':') {
    const size_t length = strcspn(at, ":");
    if (length)
      code = try_in(s, at, length, name, out, err);
    at += length;
  }
  if (!code && !*out)
    code = try_in(s, "", 0, name, out, err);
  if (!code && !*out)
    tell_places(s, from, where);
  return code;
}
