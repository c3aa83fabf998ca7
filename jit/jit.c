#include "jit/jit.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/size.h"
#include "jit/job.h"
#include "jit/key/elf_note.h"
#include "jit/prove.h"
#include "jit/target.h"

/* ---- what is in memory --------------------------------------------------------------------------*/

static struct entry **bucket(struct jit *jit, const char *hash) {
  char first[3] = {hash[0], hash[1], '\0'};
  return &jit->buckets[strtoul(first, NULL, 16) % BUCKETS];
}

static struct entry *find_entry(struct jit *jit, const struct signature *key) {
  for (struct entry *e = *bucket(jit, key->hash); e; e = e->next)
    if (signature_equal(&e->key, key))
      return e;
  return NULL;
}

static void free_entry(struct entry *e) {
  code_free(e->code);
  signature_free(&e->key);
  text_free(&e->remarks);
  text_free(&e->scalar);
  text_free(&e->messages);
  text_free(&e->source);
  free(e);
}

/* ---- life --------------------------------------------------------------------------------------*/

static bool copy_option(char **to, const char *from) {
  *to = from && *from ? strdup(from) : NULL;
  return !from || !*from || *to;
}

int jit_open(struct jit **out, const struct jit_options *options, struct error *err) {
  struct jit *jit = array_new(1, sizeof *jit);
  *out = jit;
  if (jit)
    ahead_open(&jit->ahead);
  if (!jit || !copy_option(&jit->plugins, options->plugins) || !copy_option(&jit->dump, options->dump)) {
    jit_close(jit);
    *out = NULL;
    return error_memory(err, "the compiler's state", sizeof *jit);
  }
  jit->options = *options;
  jit->silent = (struct log){.level = LOG_ERROR, .rank = -1};
  if (!jit->options.log)
    jit->options.log = &jit->silent;
  if (options->cpu)
    text_add(&jit->cpu, options->cpu);
  if (options->features)
    text_add(&jit->features, options->features);
  jit->options.cpu = jit->options.features = NULL;
  return OP_OK;
}

void jit_close(struct jit *jit) {
  if (!jit)
    return;
  ahead_close(&jit->ahead);
  for (int i = 0; i < BUCKETS; i++)
    while (jit->buckets[i]) {
      struct entry *next = jit->buckets[i]->next;
      free_entry(jit->buckets[i]);
      jit->buckets[i] = next;
    }
  plugin_free(&jit->plugin);
  text_free(&jit->library);
  text_free(&jit->warned);
  text_free(&jit->cpu);
  text_free(&jit->features);
  text_free(&jit->mathematics);
  free(jit->plugins);
  free(jit->dump);
  free(jit);
}

const struct jit_counters *jit_counters(const struct jit *jit) {
  return &jit->counters;
}

/* ---- the key -----------------------------------------------------------------------------------*/

static void identify_target(struct jit *jit) {
  if (jit->cpu.length)
    return;
  struct text cpu = {0}, features = {0};
  target_host(&cpu, &features);
  /* Half of it would be another target; without memory it is asked for again. */
  if (text_ok(&cpu) && text_ok(&features)) {
    if (!jit->features.length)
      text_add(&jit->features, text_str(&features));
    text_add(&jit->cpu, text_str(&cpu));
  }
  text_free(&cpu);
  text_free(&features);
}

int jit_vector_bytes(struct jit *jit) {
  identify_target(jit);
  return target_vector_bytes(text_str(&jit->features));
}

/* The leader's compiler counts: this process may have none. */
static bool follows(const struct jit *jit) {
  const struct jit_share *share = jit->options.share;
  return share && !share->leads && share->compiler;
}

/* What every key of this process has: found out once, without opening the compiler. */
static int identify(struct jit *jit, struct error *err) {
  if (follows(jit) && !jit->plugin.identity.length)
    text_add(&jit->plugin.identity, jit->options.share->compiler);
  if (plugin_find(&jit->plugin, jit->plugins, err) != OP_OK)
    return err->code;
  if (!jit->mathematics.length)
    target_mathematics(&jit->mathematics);
  if (!jit->library.length)
    library_identity(&jit->library);
  identify_target(jit);
  bool good = text_ok(&jit->library) && text_ok(&jit->cpu) && text_ok(&jit->features) &&
              text_ok(&jit->mathematics) && jit->cpu.length;
  return good ? OP_OK : error_memory(err, "a loop's key", jit->features.length);
}

static int make_key(struct jit *jit, const struct desc *d, const struct shape *s, struct signature *key,
                    struct error *err) {
  struct text shape = {0};
  if (identify(jit, err) != OP_OK)
    return err->code;
  shape_print(s, &shape);
  struct signature_inputs in = {.desc = d,
                                .shape = text_str(&shape),
                                .generator = GENERATOR_VERSION,
                                .library = text_str(&jit->library),
                                .compiler = text_str(&jit->plugin.identity),
                                .cpu = text_str(&jit->cpu),
                                .features = text_str(&jit->features),
                                .flags = strcmp(d->fp, "strict") == 0 ? "" : text_str(&jit->mathematics)};
  /* Half a shape would be the key of other code. */
  int code =
      text_ok(&shape) ? signature_make(key, &in, err) : error_memory(err, "a loop's key", shape.length);
  text_free(&shape);
  return code;
}

int jit_compiler(struct jit *jit, struct text *out, struct error *err) {
  if (plugin_find(&jit->plugin, jit->plugins, err) != OP_OK)
    return err->code;
  plugin_label(&jit->plugin, out);
  return OP_OK;
}

/* A new entry, owning the key. It is kept if it has code, or a compile of it failed. */
static int add_entry(struct jit *jit, struct signature *key, const struct desc *d, const struct shape *s,
                     struct entry **out, enum jit_from *from, struct error *err) {
  /* Without memory for it this process takes part in what others ask together. */
  struct entry none = {0}, *e = array_new(1, sizeof *e);
  struct job job = {.jit = jit, .d = d, .e = e ? e : &none};
  int code = e ? OP_OK : error_memory(err, "a loop's code", sizeof *e);
  signature_move(&job.e->key, key);
  shape_print(s, &job.shape);
  if (code == OP_OK)
    code = generate_c(d, s, &job.files, err);
  if (jit->options.share)
    code = job_obtain_together(&job, code, from, err);
  else if (code == OP_OK)
    code = job_obtain(&job, from, err);
  if (job.result.owner)
    jit->plugin.compiler->release(&job.result);
  generated_free(&job.files);
  text_free(&job.shape);
  if (!e)
    signature_free(&none.key);
  else if (e->run || e->failed) {
    struct entry **head = bucket(jit, e->key.hash);
    e->next = *head;
    *head = e;
    *out = e;
  } else
    free_entry(e);
  return code;
}

/* ---- the calls ---------------------------------------------------------------------------------*/

/* A failure that is known already, told in terms of this call's description. */
static int known_failure(struct jit *jit, struct entry *e, const struct desc *d, const struct shape *s,
                         struct error *err) {
  struct job job = {.jit = jit, .d = d, .e = e};
  int code = generate_c(d, s, &job.files, err);
  if (code == OP_OK)
    code = job_report_failure(&job, err);
  generated_free(&job.files);
  return code;
}

int jit_code(struct jit *jit, const struct desc *d, const struct shape *s, struct jit_code *out,
             struct error *err) {
  struct signature key;
  double start = clock_seconds();
  *out = (struct jit_code){.from = JIT_FROM_MEMORY};
  if (jit->options.mode == JIT_OFF)
    return error_set(err, OP_ERR_BACKEND,
                     "kernel %s needs code, and OP2_JIT=off forbids it; use OP2_BACKEND=native or OP2_JIT=on",
                     d->kernel_name);
  if (make_key(jit, d, s, &key, err) != OP_OK)
    return err->code;
  struct entry *e = find_entry(jit, &key);
  int code = OP_OK;
  if (!e)
    code = add_entry(jit, &key, d, s, &e, &out->from, err);
  else if (e->failed)
    code = known_failure(jit, e, d, s, err);
  else {
    jit->counters.memory_hits++;
    log_line(jit->options.log, LOG_DEBUG, "cache",
             "kernel %s: the code is in memory, from another loop of this run", d->kernel_name);
  }
  signature_free(&key);
  out->seconds = clock_seconds() - start;
  if (code != OP_OK)
    return code;
  out->run = e->run;
  out->size = e->size;
  out->hash = e->key.hash;
  out->remarks = text_str(&e->remarks);
  out->scalar = text_str(&e->scalar);
  return OP_OK;
}

/* ---- ahead ---------------------------------------------------------------------------------------*/

/* Is there an answer without the compiler? */
static bool is_known(struct jit *jit, const struct signature *key) {
  struct text messages = {0};
  bool known = find_entry(jit, key) || ahead_has(&jit->ahead, key->hash) ||
               store_has_binary(jit->options.store, &key->key) ||
               store_get_failure(jit->options.store, &key->key, text_str(&jit->plugin.identity), &messages);
  text_free(&messages);
  return known;
}

/* True if it is being compiled now. */
static bool begin_compile(struct jit *jit, const struct desc *d, const struct shape *s, const char *hash,
                          struct error *err) {
  struct generated files = {0};
  const struct compile_request like = job_request(jit, d);
  bool begun = plugin_open(&jit->plugin, err) == OP_OK && generate_c(d, s, &files, err) == OP_OK &&
               ahead_begin(&jit->ahead, jit->plugin.compiler, hash, &files, &like);
  generated_free(&files);
  return begun;
}

bool jit_prepare(struct jit *jit, const struct desc *d, const struct shape *s) {
  struct signature key;
  struct error ignored = {0};
  bool ready = true;
  if (jit->options.mode != JIT_ON || jit->dump || jit->options.share)
    return true;
  if (ahead_is_busy(&jit->ahead))
    return false;
  if (make_key(jit, d, s, &key, &ignored) == OP_OK) {
    ready = is_known(jit, &key) || !begin_compile(jit, d, s, key.hash, &ignored);
    signature_free(&key);
  }
  error_free(&ignored);
  return ready;
}

void jit_finish(struct jit *jit) {
  ahead_finish(&jit->ahead);
}

int jit_threads(struct jit *jit) {
  return ahead_threads(&jit->ahead);
}

bool jit_is_busy(const struct jit *jit) {
  return ahead_is_busy(&jit->ahead);
}

bool jit_has(struct jit *jit, const struct desc *d, const struct shape *s) {
  struct signature key;
  struct error ignored = {0};
  bool has = false;
  if (make_key(jit, d, s, &key, &ignored) == OP_OK) {
    const struct entry *e = find_entry(jit, &key);
    has = e ? e->run != NULL : store_has_binary(jit->options.store, &key.key);
    signature_free(&key);
  }
  error_free(&ignored);
  return has;
}

int jit_prove(struct jit *jit, const struct desc *d, struct error *err) {
  const struct shape scalar = {0};
  struct generated files = {0};
  if (jit->options.mode != JIT_ON)
    return OP_OK;
  int code = plugin_find(&jit->plugin, jit->plugins, err);
  if (!code && prove_is_known(&jit->plugin, jit->options.store, d))
    return OP_OK;
  if (!code)
    code = plugin_open(&jit->plugin, err);
  if (code) {
    error_clear(err);
    return OP_OK;
  }
  code = generate_c(d, &scalar, &files, err);
  if (!code)
    code = prove_kernel(&jit->plugin, jit->options.store, jit->options.log, &jit->warned, d, &files, err);
  generated_free(&files);
  return code;
}

int jit_source(const struct desc *d, const struct shape *s, struct text *out, struct error *err) {
  struct generated files;
  if (generate_c(d, s, &files, err) != OP_OK)
    return err->code;
  text_add_bytes(out, text_str(&files.main), files.main.length);
  text_addf(out, "/* %s */\n", files.kernel_file);
  text_add_bytes(out, text_str(&files.kernel), files.kernel.length);
  generated_free(&files);
  return OP_OK;
}
