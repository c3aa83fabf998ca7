#include "jit/texts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/list.h"
#include "base/sha256.h"
#include "jit/facts.h"
#include "jit/kernel/prelude.h"
#include "jit/key/elf_note.h"
#include "kernels-cache/store.h"

static const char first_line[] = "op2jit texts 3\n";

void texts_free(struct texts_unit *u) {
  struct arrays memory = {.last = u->memory};
  arrays_free(&memory);
  *u = (struct texts_unit){0};
}

bool texts_refuse(const char *why, struct texts_unit *out) {
  struct arrays memory = {0};
  char *words = arrays_add(&memory, strlen(why) + 1, 1);
  *out = (struct texts_unit){
      .unit = "", .why = words ? strcpy(words, why) : "", .from = "", .memory = memory.last};
  return words != NULL;
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
  struct arrays memory; /* of all words and lists */
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
  if (!r->bad && (word = arrays_add(&r->memory, (size_t)length + 1, 1)) != NULL) {
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
    items = arrays_add(&r->memory, (size_t)count, size);
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
  out->memory = r.memory.last;
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

/* SHA-256 of a plain file's bytes, hexadecimal; false if it cannot be read. */
static bool texts_hash(const char *path, char out[65]) {
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

/* True: the files are still what they were. */
static bool texts_hold(const struct texts_unit *u) {
  char hash[65];
  for (int i = 0; i < u->nfiles; i++) {
    const bool there = texts_hash(u->files[i].path, hash);
    if (strcmp(there ? hash : TEXTS_ABSENT, u->files[i].hash) != 0)
      return false;
  }
  return true;
}

/* Debug information that is taken out leaves a file the identity that it had. */
static long long size_of(const char *program) {
  struct stat status;
  return stat(program, &status) == 0 ? (long long)status.st_size : 0;
}

/* The key: all that the answer depends on, except the files. */
static void make_key(const struct plugin *plugin, const struct read_request *wish, struct text *key) {
  text_addf(key,
            "texts %d\n%s\nunit %s\nflags %s\nheaders %s\nwhen %s\nstandard %ld gcc %d\nprogram %s %lld ",
            READER_ABI, text_str(&plugin->identity), wish->unit, wish->flags, wish->headers, wish->when,
            wish->standard, wish->is_gcc, wish->program, size_of(wish->program));
  elf_identity(wish->program, key);
  text_add_char(key, ' ');
  library_identity(key);
}

bool texts_recall(const struct plugin *plugin, struct store *store, const struct read_request *wish,
                  struct texts_unit *out) {
  struct text key = {0}, known = {0};
  make_key(plugin, wish, &key);
  bool found = words_get(store, &key, &known) && texts_parse(text_str(&known), known.length, out);
  if (found && !texts_hold(out)) {
    texts_free(out);
    found = false;
  }
  text_free(&known);
  return found;
}

/* The result as text, with the hashes of the files; out->failed without memory. */
static void print(const struct read_result *result, struct text *out) {
  char(*hashes)[65] = array_new((size_t)result->nfiles, sizeof *hashes);
  struct texts_file *files = array_new((size_t)result->nfiles, sizeof *files);
  for (int i = 0; hashes && files && i < result->nfiles; i++) {
    const bool there = texts_hash(result->files[i], hashes[i]);
    files[i] = (struct texts_file){result->files[i], there ? hashes[i] : TEXTS_ABSENT};
  }
  const struct texts_unit unit = {.unit = result->unit,
                                  .why = result->why,
                                  .from = result->from,
                                  .kernels = result->kernels,
                                  .nkernels = result->nkernels,
                                  .files = files,
                                  .nfiles = result->nfiles};
  texts_print(&unit, out);
  out->failed |= !hashes || !files;
  free(hashes);
  free(files);
}

/* "Nov 24 2026 02:41:25", in this place's time, as seconds since 1970; 0: it is no time. */
static long long seconds_of(const char *when) {
  static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  char month[4] = "";
  struct tm t = {.tm_isdst = -1};
  const int fields = sscanf(when, "%3s %2d %4d %2d:%2d:%2d", month, &t.tm_mday, &t.tm_year, &t.tm_hour,
                            &t.tm_min, &t.tm_sec);
  const char *found = fields == 6 ? strstr(months, month) : NULL;
  if (!found || (found - months) % 3)
    return 0;
  t.tm_mon = (int)(found - months) / 3;
  t.tm_year -= 1900;
  const time_t seconds = mktime(&t);
  return seconds > 0 ? (long long)seconds : 0;
}

int texts_read(const struct plugin *plugin, struct store *store, const struct read_request *wish,
               struct texts_unit *out, struct error *err) {
  struct stat status;
  const bool there = *wish->program && stat(wish->program, &status) == 0;
  struct read_request request = *wish;
  request.prelude = jit_prelude_cxx();
  request.made = there ? (long long)status.st_mtime : 0;
  request.compiled = seconds_of(wish->when);
  struct read_result result;
  struct text key = {0}, words = {0};
  *out = (struct texts_unit){0};
  plugin->compiler->reader->read(&request, &result);
  print(&result, &words);
  const bool good = text_ok(&words) && texts_parse(text_str(&words), words.length, out);
  if (good && result.status != 2) {
    make_key(plugin, wish, &key);
    words_put(store, &key, &words);
  }
  plugin->compiler->reader->release(&result);
  text_free(&words);
  return good ? OP_OK : error_memory(err, "the texts of kernels", sizeof *out);
}
