#include "jit/texts/texts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/size.h"

static const char first_line[] = "op2jit texts 3\n";

static void free_word(const char *word) {
  free((char *)(size_t)word);
}

static void free_kernel(struct read_kernel *k) {
  const char *const words[] = {k->function, k->spelled, k->file, k->text, k->why, k->doubt};
  for (int i = 0; i < k->nvariables; i++) {
    free_word(k->variables[i].name);
    free_word(k->variables[i].type);
  }
  for (int i = 0; i < k->norigins; i++)
    free_word(k->origins[i].file);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    free_word(words[i]);
  free((void *)(size_t)k->origins);
  free((void *)(size_t)k->variables);
}

void texts_free(struct texts_unit *u) {
  for (int i = 0; i < u->nkernels; i++)
    free_kernel(&u->kernels[i]);
  for (int i = 0; i < u->nfiles; i++) {
    free_word(u->files[i].path);
    free_word(u->files[i].hash);
  }
  free(u->kernels);
  free(u->files);
  free_word(u->unit);
  free_word(u->why);
  free_word(u->from);
  *u = (struct texts_unit){0};
}

/* ---- as text: words are "length:bytes", numbers themselves, each with a line of its own ---- */

static void put_word(struct text *out, const char *word) {
  text_addf(out, "%zu:%s\n", word ? strlen(word) : 0, word ? word : "");
}

static void print_kernel(const struct read_kernel *k, struct text *out) {
  put_word(out, k->function);
  put_word(out, k->spelled);
  put_word(out, k->file);
  text_addf(out, "%d\n%d\n", k->line, k->last_line);
  put_word(out, k->text);
  put_word(out, k->why);
  put_word(out, k->doubt);
  text_addf(out, "%d\n", k->nvariables);
  for (int i = 0; i < k->nvariables; i++) {
    const struct read_variable *v = &k->variables[i];
    put_word(out, v->name);
    put_word(out, v->type);
    text_addf(out, "%d\n%d\n%d\n%d\n", v->dim, v->is_array, v->declared, v->external);
  }
  text_addf(out, "%d\n", k->norigins);
  for (int i = 0; i < k->norigins; i++) {
    text_addf(out, "%d\n%d\n", k->origins[i].line, k->origins[i].file_line);
    put_word(out, k->origins[i].file);
  }
}

void texts_print(const struct texts_unit *u, struct text *out) {
  text_add(out, first_line);
  put_word(out, u->unit);
  put_word(out, u->why);
  put_word(out, u->from);
  text_addf(out, "%d\n%d\n", u->nfiles, u->nkernels);
  for (int i = 0; i < u->nfiles; i++) {
    put_word(out, u->files[i].path);
    put_word(out, u->files[i].hash);
  }
  for (int i = 0; i < u->nkernels; i++)
    print_kernel(&u->kernels[i], out);
}

/* The text that is left to be read; `bad` after the first mistake. */
struct rest {
  const char *at, *end;
  bool bad;
};

static long get_number(struct rest *r, char behind) {
  const bool minus = r->at < r->end && *r->at == '-';
  long number = 0;
  const char *first = r->at += minus;
  for (; r->at < r->end && *r->at >= '0' && *r->at <= '9' && number < 1L << 30; r->at++)
    number = number * 10 + (*r->at - '0');
  r->bad |= r->at == first || r->at >= r->end || *r->at != behind;
  if (r->bad)
    return 0;
  r->at++;
  return minus ? -number : number;
}

static int get_int(struct rest *r) {
  return (int)get_number(r, '\n');
}

static char *get_word(struct rest *r) {
  const long length = get_number(r, ':');
  char *word = NULL;
  r->bad = r->bad || length < 0 || r->end - r->at <= length || r->at[length] != '\n';
  if (!r->bad && (word = array_new((size_t)length + 1, 1)) != NULL) {
    memcpy(word, r->at, (size_t)length);
    r->at += length + 1;
  }
  r->bad |= !word;
  return word;
}

/* Each item takes at least a byte of text. */
static void *get_array(struct rest *r, int count, size_t size) {
  void *items = NULL;
  if (!r->bad && count >= 0 && count <= r->end - r->at + 1)
    items = array_new((size_t)count, size);
  r->bad |= !items;
  return items;
}

static void parse_kernel(struct rest *r, struct read_kernel *k) {
  k->function = get_word(r);
  k->spelled = get_word(r);
  k->file = get_word(r);
  k->line = get_int(r);
  k->last_line = get_int(r);
  k->text = get_word(r);
  k->why = get_word(r);
  k->doubt = get_word(r);
  const int count = get_int(r);
  struct read_variable *variables = get_array(r, count, sizeof *variables);
  k->variables = variables;
  for (int i = 0; !r->bad && i < count; i++) {
    struct read_variable *v = &variables[k->nvariables++];
    v->name = get_word(r);
    v->type = get_word(r);
    v->dim = get_int(r);
    v->is_array = get_int(r);
    v->declared = get_int(r);
    v->external = get_int(r);
  }
  const int lines = get_int(r);
  struct read_origin *origins = get_array(r, lines, sizeof *origins);
  k->origins = origins;
  for (int i = 0; !r->bad && i < lines; i++) {
    struct read_origin *o = &origins[k->norigins++];
    o->line = get_int(r);
    o->file_line = get_int(r);
    o->file = get_word(r);
  }
}

bool texts_parse(const char *text, size_t length, struct texts_unit *out) {
  const size_t head = sizeof first_line - 1;
  struct rest r = {.at = text + head, .end = text + length};
  *out = (struct texts_unit){0};
  if (length < head || memcmp(text, first_line, head) != 0) /* not a message: the format's name */
    return false;
  out->unit = get_word(&r);
  out->why = get_word(&r);
  out->from = get_word(&r);
  const int nfiles = get_int(&r), nkernels = get_int(&r);
  out->files = get_array(&r, nfiles, sizeof *out->files);
  for (int i = 0; !r.bad && i < nfiles; i++) {
    struct texts_file *file = &out->files[out->nfiles++];
    file->path = get_word(&r);
    file->hash = get_word(&r);
  }
  out->kernels = get_array(&r, nkernels, sizeof *out->kernels);
  for (int i = 0; !r.bad && i < nkernels; i++)
    parse_kernel(&r, &out->kernels[out->nkernels++]);
  if (r.bad || r.at != r.end)
    texts_free(out);
  return out->unit != NULL;
}

bool texts_next(const char **at, const char *end, struct texts_unit *out) {
  while (*at && *at < end) {
    unsigned long length = 0;
    const char *p = *at;
    for (; p < end && *p >= '0' && *p <= '9' && length < (size_t)(end - p); p++)
      length = length * 10 + (unsigned long)(*p - '0');
    const bool is_zero = p == *at && !*p;
    if (!is_zero && (p == end || *p != ':' || length > (size_t)(end - p - 1)))
      return false;
    *at = is_zero ? p + 1 : p + 1 + length;
    if (!is_zero && texts_parse(p + 1, length, out))
      return true;
  }
  return false;
}

/* ---- files ---- */

bool texts_hash(const char *path, char out[65]) {
  unsigned char bytes[4096], digest[32];
  struct sha256 sum;
  struct stat status;
  ssize_t n = -1;
  /* O_NONBLOCK: a pipe may never be written. */
  const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return false;
  sha256_begin(&sum);
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
    while ((n = read(file, bytes, sizeof bytes)) > 0)
      sha256_add(&sum, bytes, (size_t)n);
  sha256_end(&sum, digest);
  sha256_hex(digest, out);
  close(file);
  return n == 0;
}

bool texts_hold(const struct texts_unit *u) {
  char hash[65];
  for (int i = 0; i < u->nfiles; i++) {
    const bool there = texts_hash(u->files[i].path, hash);
    if (strcmp(there ? hash : TEXTS_ABSENT, u->files[i].hash) != 0)
      return false;
  }
  return true;
}
