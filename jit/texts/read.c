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

static void keep(const struct plugin *plugin, struct store *store, const struct read_request *wish,
                 const char *words) {
  struct text key = {0};
  make_key(plugin, wish, &key);
  if (text_ok(&key))
    store_put_verdict(store, text_str(&key), words);
  text_free(&key);
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
  const struct reader *reader = find_reader(plugin);
  struct stat status;
  const bool there = *wish->program && stat(wish->program, &status) == 0;
  struct read_request request = *wish;
  request.prelude = jit_prelude_cxx();
  request.made = there ? (long long)status.st_mtime : 0;
  request.compiled = seconds_of(wish->when);
  struct read_result result = {
      .status = 2, .why = "the compiler plugin is of an older op2jit", .unit = "", .from = ""};
  struct text words = {0};
  *out = (struct texts_unit){0};
  if (reader)
    reader->read(&request, &result);
  print(&result, &words);
  const bool good = text_ok(&words) && texts_parse(text_str(&words), words.length, out);
  if (good && result.status != 2)
    keep(plugin, store, wish, text_str(&words));
  if (reader)
    reader->release(&result);
  text_free(&words);
  return good ? OP_OK : error_memory(err, "the texts of kernels", sizeof *out);
}
