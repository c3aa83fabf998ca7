#include "jit/texts/read.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/size.h"
#include "jit/front/prelude.h"
#include "jit/key/elf_note.h"
#include "jit/texts/reader.h"
#include "kernels-cache/store.h"

static const struct reader *find_reader(const struct plugin *plugin) {
  reader_entry *entry = NULL;
  /* POSIX lets an object pointer from dlsym be a function; C has no conversion for it. */
  void *symbol = dlsym(plugin->library, "op2jit_reader");
  memcpy(&entry, &symbol, sizeof entry);
  return entry && entry()->abi == READER_ABI ? entry() : NULL;
}

/* Debug information that is taken out leaves a file the identity that it had. */
static long long size_of(const char *program) {
  struct stat status;
  return stat(program, &status) == 0 ? (long long)status.st_size : 0;
}

/* All that the answer depends on, but for the files. */
static void make_key(const struct plugin *plugin, const struct texts_wish *wish, struct text *key) {
  text_addf(key,
            "texts %d\n%s\nunit %s\nflags %s\nheaders %s\nwhen %s\nstandard %ld gcc %d\nprogram %s %lld ",
            READER_ABI, text_str(&plugin->identity), wish->unit, wish->flags, wish->headers, wish->when,
            wish->standard, wish->is_gcc, wish->program, size_of(wish->program));
  elf_identity(wish->program, key);
  text_add_char(key, ' ');
  library_identity(key);
}

bool texts_recall(const struct plugin *plugin, struct store *store, const struct texts_wish *wish,
                  struct texts_unit *out) {
  struct text key = {0}, known = {0};
  make_key(plugin, wish, &key);
  bool found = text_ok(&key) && store_get_verdict(store, text_str(&key), &known) && text_ok(&known) &&
               texts_parse(text_str(&known), known.length, out);
  if (found && !texts_hold(out)) {
    texts_free(out);
    found = false;
  }
  text_free(&key);
  text_free(&known);
  return found;
}

static bool copy_word(char **to, const char *from) {
  *to = strdup(from ? from : "");
  return *to != NULL;
}

static bool copy_kernel(struct texts_kernel *to, const struct read_kernel *from) {
  bool good = copy_word(&to->function, from->function) && copy_word(&to->spelled, from->spelled) &&
              copy_word(&to->file, from->file) && copy_word(&to->text, from->text) &&
              copy_word(&to->why, from->why) && copy_word(&to->doubt, from->doubt);
  to->line = from->line;
  to->last_line = from->last_line;
  to->variables = array_new((size_t)from->nvariables, sizeof *to->variables);
  good = good && to->variables;
  for (int i = 0; good && i < from->nvariables; i++) {
    const struct read_variable *v = &from->variables[i];
    struct texts_variable *out = &to->variables[to->nvariables++];
    *out = (struct texts_variable){
        .dim = v->dim, .is_array = v->is_array, .declared = v->declared, .external = v->external};
    good = copy_word(&out->name, v->name) && copy_word(&out->type, v->type);
  }
  to->origins = array_new((size_t)from->norigins, sizeof *to->origins);
  good = good && to->origins;
  for (int i = 0; good && i < from->norigins; i++) {
    const struct read_origin *o = &from->origins[i];
    to->origins[to->norigins++] = (struct texts_origin){.line = o->line, .file_line = o->file_line};
    good = copy_word(&to->origins[i].file, o->file);
  }
  return good;
}

static bool copy_file(struct texts_file *to, const char *path) {
  char hash[65];
  return copy_word(&to->path, path) && copy_word(&to->hash, texts_hash(path, hash) ? hash : TEXTS_ABSENT);
}

static bool copy(const struct read_result *result, struct texts_unit *out) {
  bool good = copy_word(&out->unit, result->unit) && copy_word(&out->why, result->why) &&
              copy_word(&out->from, result->from);
  out->kernels = array_new((size_t)result->nkernels, sizeof *out->kernels);
  out->files = array_new((size_t)result->nfiles, sizeof *out->files);
  good = good && out->kernels && out->files;
  for (int i = 0; good && i < result->nkernels; i++)
    good = copy_kernel(&out->kernels[out->nkernels++], &result->kernels[i]);
  for (int i = 0; good && i < result->nfiles; i++)
    good = copy_file(&out->files[out->nfiles++], result->files[i]);
  return good;
}

static void keep(const struct plugin *plugin, struct store *store, const struct texts_wish *wish,
                 const struct texts_unit *unit) {
  struct text key = {0}, words = {0};
  make_key(plugin, wish, &key);
  texts_print(unit, &words);
  if (text_ok(&key) && text_ok(&words))
    store_put_verdict(store, text_str(&key), text_str(&words));
  text_free(&key);
  text_free(&words);
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

int texts_read(const struct plugin *plugin, struct store *store, const struct texts_wish *wish,
               struct texts_unit *out, struct error *err) {
  const struct reader *reader = find_reader(plugin);
  struct stat status;
  const struct read_request request = {
      .unit = wish->unit,
      .flags = wish->flags,
      .program = wish->program,
      .headers = wish->headers,
      .prelude = jit_prelude_cxx(),
      .standard = wish->standard,
      .is_gcc = wish->is_gcc,
      .made = *wish->program && stat(wish->program, &status) == 0 ? (long long)status.st_mtime : 0,
      .compiled = seconds_of(wish->when),
      .when = wish->when};
  struct read_result result = {
      .status = 2, .why = "the compiler plugin is of an older op2jit", .unit = "", .from = ""};
  *out = (struct texts_unit){0};
  if (reader)
    reader->read(&request, &result);
  const bool good = copy(&result, out);
  if (good && result.status != 2)
    keep(plugin, store, wish, out);
  if (reader)
    reader->release(&result);
  if (!good)
    texts_free(out);
  return good ? OP_OK : error_memory(err, "the texts of kernels", sizeof *out);
}
