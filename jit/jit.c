#include "jit/jit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/list.h"
#include "jit/job.h"
#include "jit/key/elf_note.h"

/* ---- what is in memory --------------------------------------------------------------------------*/

static struct entry *find_entry(struct jit *jit, const struct signature *key) {
  for (struct entry *e = jit->entries; e; e = e->next)
    if (signature_equal(&e->key, key))
      return e;
  return NULL;
}

static void free_entry(struct jit *jit, struct entry *e) {
  if (e->loaded.code)
    jit->target->unload(jit->self, e->loaded.code);
  signature_free(&e->key);
  text_free(&e->remarks);
  text_free(&e->scalar);
  text_free(&e->messages);
  text_free(&e->source);
  free(e);
}

/* ---- life --------------------------------------------------------------------------------------*/

int jit_open(struct jit **out, const struct jit_options *options, struct error *err) {
  struct jit *jit = array_new(1, sizeof *jit);
  const bool dumps = options->dump && *options->dump;
  *out = NULL;
  if (!jit || (dumps && !(jit->dump = strdup(options->dump)))) {
    free(jit);
    return error_memory(err, "the compiler's state", sizeof *jit);
  }
  ahead_open(&jit->ahead, options->behind);
  jit->options = *options;
  jit->silent = (struct log){.level = LOG_ERROR, .rank = -1};
  if (!jit->options.log)
    jit->options.log = &jit->silent;
  jit->target = options->target ? options->target : &target_processor;
  if (jit->target->open(&jit->self, &jit->options, err) != OP_OK) {
    jit_close(jit);
    return err->code;
  }
  *out = jit;
  return OP_OK;
}

void jit_close(struct jit *jit) {
  if (!jit)
    return;
  ahead_close(&jit->ahead);
  while (jit->entries) {
    struct entry *next = jit->entries->next;
    free_entry(jit, jit->entries);
    jit->entries = next;
  }
  if (jit->self)
    jit->target->close(jit->self);
  text_free(&jit->library);
  free(jit->dump);
  free(jit);
}

const struct jit_counters *jit_counters(const struct jit *jit) {
  return &jit->counters;
}

/* ---- the key -----------------------------------------------------------------------------------*/

static int make_key(struct jit *jit, const struct desc *d, const void *form, struct signature *key,
                    struct error *err) {
  struct text shape = {0};
  const struct target_words *words = &jit->words;
  if (jit->target->identify(jit->self, &jit->words, err) != OP_OK)
    return err->code;
  if (!jit->library.length)
    library_identity(&jit->library);
  jit->target->print_shape(form, &shape);
  struct signature_inputs in = {.desc = d,
                                .shape = text_str(&shape),
                                .generator = GENERATOR_VERSION,
                                .library = text_str(&jit->library),
                                .compiler = words->compiler,
                                .cpu = words->cpu,
                                .features = words->features,
                                .platform = words->platform,
                                .device = words->device,
                                .driver = words->driver,
                                .flags = strcmp(d->fp, "strict") == 0 ? "" : words->mathematics};
  /* Half a shape would be the key of other code. */
  int code = text_ok(&shape) && text_ok(&jit->library) ? signature_make(key, &in, err)
                                                       : error_memory(err, "a loop's key", shape.length);
  text_free(&shape);
  return code;
}

/* A new entry, owning the key. It is kept if it has code, or a compile of it failed. */
static int add_entry(struct jit *jit, struct signature *key, const struct desc *d, const void *form,
                     struct entry **out, struct jit_code *got, struct error *err) {
  /* Without memory for an entry this process still takes part in what all ask together. */
  struct entry none = {0}, *e = array_new(1, sizeof *e);
  struct job job = {.jit = jit, .d = d, .form = form, .e = e ? e : &none};
  int code = e ? OP_OK : error_memory(err, "a loop's code", sizeof *e);
  signature_move(&job.e->key, key);
  jit->target->print_shape(form, &job.shape);
  if (code == OP_OK)
    code = jit->target->generate(d, form, jit->dump, &job.files, err);
  if (jit->options.share)
    code = job_obtain_together(&job, code, &got->from, err);
  else if (code == OP_OK)
    code = job_obtain(&job, &got->from, err);
  got->compile_seconds = job.seconds;
  got->behind_seconds = job.behind;
  got->prove_start = job.prove_start;
  got->prove_seconds = job.prove_seconds;
  if (job.result.owner)
    jit->target->release(jit->self, &job.result);
  if (jit->target->forget)
    jit->target->forget(jit->self, &job.proved);
  generated_free(&job.files);
  text_free(&job.shape);
  if (!e)
    signature_free(&none.key);
  else if (e->loaded.code || e->failed) {
    e->next = jit->entries;
    jit->entries = e;
    *out = e;
  } else
    free_entry(jit, e);
  return code;
}

/* ---- the calls ---------------------------------------------------------------------------------*/

/* A failure that is known already, told in terms of this call's description. */
static int known_failure(struct jit *jit, struct entry *e, const struct desc *d, const void *form,
                         struct error *err) {
  struct job job = {.jit = jit, .d = d, .e = e};
  int code = jit->target->generate(d, form, jit->dump, &job.files, err);
  if (code == OP_OK)
    code = job_report_failure(&job, err);
  generated_free(&job.files);
  return code;
}

int jit_code(struct jit *jit, const struct desc *d, const void *form, struct jit_code *out,
             struct error *err) {
  struct signature key;
  double start = clock_seconds();
  *out = (struct jit_code){.from = JIT_FROM_MEMORY};
  if (jit->options.mode == JIT_OFF)
    return error_set(err, OP_ERR_BACKEND,
                     "kernel %s needs code, and OP2_JIT=off forbids it; use OP2_BACKEND=native or OP2_JIT=on",
                     d->kernel_name);
  if (make_key(jit, d, form, &key, err) != OP_OK)
    return err->code;
  struct entry *e = find_entry(jit, &key);
  int code = OP_OK;
  if (!e)
    code = add_entry(jit, &key, d, form, &e, out, err);
  else if (e->failed)
    code = known_failure(jit, e, d, form, err);
  else {
    jit->counters.memory_hits++;
    log_line(jit->options.log, LOG_DEBUG, "cache",
             "kernel %s: the code is in memory, from another loop of this run", d->kernel_name);
  }
  signature_free(&key);
  out->seconds = clock_seconds() - start;
  if (code != OP_OK)
    return code;
  out->run = e->loaded.run;
  out->code = e->loaded.code;
  out->size = e->size;
  out->hash = e->key.hash;
  out->remarks = text_str(&e->remarks);
  out->facts = e->facts;
  out->spills = e->spills;
  out->scalar = text_str(&e->scalar);
  return OP_OK;
}

/* ---- ahead ---------------------------------------------------------------------------------------*/

/* True: there is an answer without the compiler. */
static bool is_known(struct jit *jit, const struct signature *key) {
  return find_entry(jit, key) || ahead_has(&jit->ahead, key->hash) ||
         store_has_binary(jit->options.store, &key->key);
}

/* True if it is being compiled now. */
static bool begin_compile(struct jit *jit, const struct desc *d, const void *form, const char *hash,
                          struct error *err) {
  struct generated files = {0};
  const struct compile_request like = job_request(jit, d);
  bool begun = jit->target->open_compiler(jit->self, err) == OP_OK &&
               jit->target->generate(d, form, false, &files, err) == OP_OK &&
               ahead_begin(&jit->ahead, jit->target, jit->self, hash, &files, &like);
  generated_free(&files);
  return begun;
}

/* With several ranks the leader answers: the others have the code that it has. */
bool jit_prepare(struct jit *jit, const struct desc *d, const void *form) {
  const struct jit_share *share = jit->options.share;
  struct signature key;
  struct error ignored = {0};
  bool ready = true;
  if (jit->options.mode != JIT_ON || jit->dump)
    return true;
  if (!share && ahead_is_busy(&jit->ahead))
    return false;
  if ((!share || share->leads) && make_key(jit, d, form, &key, &ignored) == OP_OK) {
    ready = is_known(jit, &key) || (!share && !begin_compile(jit, d, form, key.hash, &ignored));
    signature_free(&key);
  }
  if (share)
    share->all(share->ranks, &ready, &ignored);
  error_free(&ignored);
  return ready;
}

void jit_finish(struct jit *jit) {
  ahead_finish(&jit->ahead);
}

void jit_collect(struct jit *jit) {
  if (behind_is_done(&jit->ahead.behind)) /* as cheap as it can be: loops ask before they run */
    ahead_collect(&jit->ahead);
}

bool jit_is_busy(const struct jit *jit) {
  return ahead_is_busy(&jit->ahead);
}

void jit_shapes(struct jit *jit, const struct desc *d, const void *form,
                void (*visit)(void *user, const char *name, size_t length), void *user) {
  struct signature key;
  struct error ignored = {0};
  if (make_key(jit, d, form, &key, &ignored) == OP_OK) {
    store_others(jit->options.store, &key.key, "shape", visit, user);
    signature_free(&key);
  }
  error_free(&ignored);
}

enum { HASH_SHOWN = 8 };

static int make_folder(const char *path, struct error *err) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST)
    return OP_OK;
  return error_set(err, OP_ERR_FILE, "OP2_DUMP: the folder %s cannot be made: %s", path, strerror(errno));
}

/* The folder and those above it. */
static int make_folders(const char *path, struct error *err) {
  struct text part = {0};
  int code = OP_OK;
  for (const char *p = path; code == OP_OK && *p; p++) {
    if (*p == '/' && part.length)
      code = make_folder(text_str(&part), err);
    text_add_char(&part, *p);
  }
  if (code == OP_OK)
    code = make_folder(path, err);
  text_free(&part);
  return code;
}

int dump_file(const char *where, const char *name, const void *bytes, size_t length, struct error *err) {
  struct text path = {0};
  text_addf(&path, "%s/%s", where, name);
  FILE *file = fopen(text_str(&path), "wb");
  bool good = file && fwrite(bytes, 1, length, file) == length;
  if (file && fclose(file) != 0)
    good = false;
  if (!good)
    error_set(err, OP_ERR_FILE, "OP2_DUMP: %s cannot be written: %s", text_str(&path), strerror(errno));
  text_free(&path);
  return good ? OP_OK : err->code;
}

static int dump_key(const char *where, const struct signature *key, struct error *err) {
  struct text list = {0};
  text_addf(&list, "hash %s\n", key->hash);
  for (int i = 0; i < key->key.ncolumns; i++) {
    const struct store_column *c = &key->columns[i];
    bool long_one = memchr(c->value, '\n', c->length) != NULL;
    text_addf(&list, "%s%s", c->name, long_one ? ":\n" : ": ");
    text_add_bytes(&list, c->value, c->length);
    text_add(&list, long_one && c->value[c->length - 1] == '\n' ? "" : "\n");
  }
  int code = dump_file(where, "key.txt", text_str(&list), list.length, err);
  text_free(&list);
  return code;
}

int dump_sources(const char *folder, const struct signature *key, const char *shape,
                 const struct generated *files, struct text *where, struct error *err) {
  struct text path = {0};
  struct compile_file parts[GENERATED_FILES];
  text_addf(&path, "%s/%s-", folder, key->loop);
  for (; *shape; shape++)
    text_add_char(&path, *shape == '/' ? '-' : *shape);
  text_addf(&path, "-%.*s", HASH_SHOWN, key->hash);
  char *absolute = NULL;
  int code = make_folders(text_str(&path), err);
  if (code == OP_OK && !(absolute = realpath(text_str(&path), NULL)))
    code = error_set(err, OP_ERR_FILE, "OP2_DUMP: %s: %s", text_str(&path), strerror(errno));
  if (code == OP_OK) {
    text_add(where, absolute);
    generated_files(files, parts);
  }
  for (int i = 0; i < GENERATED_FILES && code == OP_OK; i++)
    code = dump_file(absolute, parts[i].name, parts[i].text, parts[i].length, err);
  if (code == OP_OK)
    code = dump_key(absolute, key, err);
  free(absolute);
  text_free(&path);
  return code;
}
