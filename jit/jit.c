#include "jit/jit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/size.h"
#include "jit/dump.h"
#include "jit/elf_note.h"
#include "jit/generate/generate.h"
#include "jit/load.h"
#include "jit/messages.h"
#include "jit/plugin.h"
#include "jit/signature.h"
#include "jit/target.h"

/* ---- what is in memory --------------------------------------------------------------------------*/

enum { BUCKETS = 256 };

/* One key: its code, or why there is none. */
struct entry {
  struct entry *next;
  struct signature key;
  struct code *code;
  range_function run;
  size_t size;
  struct text remarks, scalar;
  bool failed;
  struct text messages; /* of a failed compile, as messages_keep writes them */
  struct text source;   /* folder of its dump; empty: none */
};

struct jit {
  struct jit_options options;
  char *plugins, *dump;
  struct log silent;
  struct plugin plugin;
  struct text library, cpu, features;
  struct entry *buckets[BUCKETS];
  struct jit_counters counters;
};

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
  for (int i = 0; i < BUCKETS; i++)
    while (jit->buckets[i]) {
      struct entry *next = jit->buckets[i]->next;
      free_entry(jit->buckets[i]);
      jit->buckets[i] = next;
    }
  plugin_free(&jit->plugin);
  text_free(&jit->library);
  text_free(&jit->cpu);
  text_free(&jit->features);
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
  text_add(&jit->cpu, text_str(&cpu));
  if (!jit->features.length)
    text_add(&jit->features, text_str(&features));
  text_free(&cpu);
  text_free(&features);
}

/* What every key of this process has: found out once, without opening the compiler. */
static int identify(struct jit *jit, struct error *err) {
  if (plugin_find(&jit->plugin, jit->plugins, err) != OP_OK)
    return err->code;
  if (!jit->library.length)
    library_identity(&jit->library);
  identify_target(jit);
  bool good = text_ok(&jit->library) && text_ok(&jit->cpu) && text_ok(&jit->features);
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
                                .flags = ""};
  int code = signature_make(key, &in, err);
  text_free(&shape);
  return code;
}

int jit_compiler(struct jit *jit, struct text *out, struct error *err) {
  if (plugin_find(&jit->plugin, jit->plugins, err) != OP_OK)
    return err->code;
  plugin_label(&jit->plugin, out);
  return OP_OK;
}

/* ---- binaries become code ------------------------------------------------------------------------*/

static int load_entry(struct jit *jit, struct entry *e, const void *binary, size_t size, struct error *err) {
  struct code *code = NULL;
  if (code_load(&code, binary, size, e->key.loop, jit->options.perf_map, err) != OP_OK)
    return err->code;
  union {
    void *object;
    range_function function;
  } symbol = {.object = code_symbol(code, GENERATED_FUNCTION)};
  if (!symbol.object) {
    code_free(code);
    return error_set(err, OP_ERR_FILE, "the binary of kernel %s has no function %s", e->key.loop,
                     GENERATED_FUNCTION);
  }
  e->code = code;
  e->run = symbol.function;
  e->size = size;
  return OP_OK;
}

/* The part of a stored source that holds the compiler's messages begins with this line. */
static const char messages_mark[] = "/* op2jit: what the compiler said\n";

static void remember_messages(struct jit *jit, struct entry *e) {
  struct text source = {0};
  if (store_get_source(jit->options.store, e->key.hash, &source)) {
    const char *mark = strstr(text_str(&source), messages_mark);
    if (mark)
      text_add(&e->messages, mark + strlen(messages_mark));
  }
  text_free(&source);
}

/* True if the store had it and it loads. A binary that does not is set aside. */
static bool take_from_store(struct jit *jit, struct entry *e) {
  struct store_blob blob = {0};
  struct error why = {0};
  if (!store_get_binary(jit->options.store, &e->key.key, &blob))
    return false;
  if (load_entry(jit, e, blob.data, blob.size, &why) != OP_OK) {
    log_line(jit->options.log, LOG_WARN, "jit",
             "kernel %s: the cached binary is of no use and is made anew: %s", e->key.loop,
             error_message(&why));
    store_reject_binary(jit->options.store, &e->key.key, error_message(&why));
  } else
    remember_messages(jit, e);
  store_blob_free(&blob);
  error_free(&why);
  return e->run != NULL;
}

/* ---- compiling ---------------------------------------------------------------------------------*/

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One compile, with everything that it needs. */
struct job {
  struct jit *jit;
  const struct desc *d;
  struct entry *e;
  struct generated files;
  struct text shape;
  struct compile_result result;
  double seconds;
};

static struct told told(struct job *job, struct text *label) {
  plugin_label(&job->jit->plugin, label);
  return (struct told){.desc = job->d,
                       .files = &job->files,
                       .compiler = text_str(label),
                       .source = job->e->source.length ? text_str(&job->e->source) : NULL};
}

/* A failed dump is a warning: the loop runs all the same. */
static void dump_before(struct job *job) {
  struct error why = {0};
  if (job->jit->dump && dump_sources(job->jit->dump, &job->e->key, text_str(&job->shape), &job->files,
                                     &job->e->source, &why) != OP_OK)
    log_line(job->jit->options.log, LOG_WARN, "jit", "%s", error_message(&why));
  error_free(&why);
}

static void dump_after(struct job *job) {
  struct error why = {0};
  const char *where = text_str(&job->e->source);
  struct text object = {0};
  text_addf(&object, "%s.o", job->e->key.loop);
  if (job->e->source.length && (dump_file(where, "messages.txt", text_str(&job->e->messages),
                                          job->e->messages.length, &why) != OP_OK ||
                                (job->result.binary && dump_file(where, text_str(&object), job->result.binary,
                                                                 job->result.size, &why) != OP_OK)))
    log_line(job->jit->options.log, LOG_WARN, "jit", "%s", error_message(&why));
  text_free(&object);
  error_free(&why);
}

/* With a dump the compiler is told the files' real paths, for the debugger. */
static void run_compiler(struct job *job) {
  struct text names[3] = {{0}};
  const char *plain[3] = {job->files.main_file, job->files.kernel_file, job->files.prelude_file};
  const char *where = text_str(&job->e->source);
  for (int i = 0; i < 3; i++)
    text_addf(&names[i], "%s%s%s", where, *where ? "/" : "", plain[i]);
  struct compile_file files[3] = {
      {text_str(&names[0]), text_str(&job->files.main), job->files.main.length},
      {text_str(&names[1]), text_str(&job->files.kernel), job->files.kernel.length},
      {text_str(&names[2]), job->files.prelude, strlen(job->files.prelude)}};
  struct compile_request request = {.files = files,
                                    .nfiles = 3,
                                    .cpu = text_str(&job->jit->cpu),
                                    .features = text_str(&job->jit->features),
                                    .fp = job->d->fp,
                                    .debug = *where != '\0',
                                    .warnings = log_wants(job->jit->options.log, LOG_INFO, "jit"),
                                    .remarks = 1};
  double start = now();
  job->jit->plugin.compiler->compile(&request, &job->result);
  job->seconds = now() - start;
  messages_keep(job->result.messages, job->result.nmessages, &job->files, &job->e->messages);
  for (int i = 0; i < 3; i++)
    text_free(&names[i]);
}

static void keep_binary(struct job *job) {
  struct text source = {0};
  text_add_bytes(&source, text_str(&job->files.main), job->files.main.length);
  text_addf(&source, "/* op2jit: %s */\n", job->files.kernel_file);
  text_add_bytes(&source, text_str(&job->files.kernel), job->files.kernel.length);
  text_add(&source, messages_mark);
  text_add(&source, text_str(&job->e->messages));
  struct store_new_binary binary = {.data = job->result.binary,
                                    .size = job->result.size,
                                    .source = text_ok(&source) ? text_str(&source) : NULL,
                                    .source_length = source.length,
                                    .seconds = job->seconds};
  store_put_binary(job->jit->options.store, &job->e->key.key, &binary);
  text_free(&source);
}

static void show_outcome(struct job *job) {
  struct text label = {0}, warnings = {0};
  struct told t = told(job, &label);
  messages_warnings(text_str(&job->e->messages), &t, &warnings);
  if (warnings.length)
    log_line(job->jit->options.log, LOG_INFO, "jit", "kernel %s has warnings\n%s", job->e->key.loop,
             text_str(&warnings));
  log_line(job->jit->options.log, LOG_INFO, "jit", "kernel %s (%s): compiled in %.1f ms, %zu bytes",
           job->e->key.loop, text_str(&job->shape), 1e3 * job->seconds, job->result.size);
  text_free(&warnings);
  text_free(&label);
}

static int report_failure(struct job *job, struct error *err) {
  struct text label = {0};
  struct told t = told(job, &label);
  int code = messages_error(text_str(&job->e->messages), &t, err);
  text_free(&label);
  return code;
}

static int compile_failed(struct job *job, struct error *err) {
  job->e->failed = true;
  job->jit->counters.failures++;
  /* A compiler that broke down is not asked again by this process, but by the next. */
  if (job->result.status == 1 && !job->jit->dump)
    store_put_failure(job->jit->options.store, &job->e->key.key, text_str(&job->jit->plugin.identity),
                      text_str(&job->e->messages), 0);
  else
    store_lease_end(job->jit->options.store, &job->e->key.key);
  return report_failure(job, err);
}

static int compile(struct job *job, struct error *err) {
  dump_before(job);
  run_compiler(job);
  dump_after(job);
  job->jit->counters.seconds += job->seconds;
  if (job->result.status != 0)
    return compile_failed(job, err);
  job->jit->counters.compiles++;
  if (load_entry(job->jit, job->e, job->result.binary, job->result.size, err) != OP_OK) {
    store_lease_end(job->jit->options.store, &job->e->key.key);
    return error_prefix(
        err,
        "kernel %s: the compiled code does not load; this is a mistake of the library, please report "
        "it: ",
        job->e->key.loop);
  }
  /* Code with the paths of a dump in it is for this run only. */
  if (!job->jit->dump)
    keep_binary(job);
  show_outcome(job);
  return OP_OK;
}

/* ---- where code comes from -----------------------------------------------------------------------*/

static bool failed_before(struct jit *jit, struct entry *e) {
  e->failed =
      store_get_failure(jit->options.store, &e->key.key, text_str(&jit->plugin.identity), &e->messages);
  return e->failed;
}

static int missing(struct job *job, struct error *err) {
  struct text why = {0};
  if (job->jit->options.store)
    store_why(job->jit->options.store, &job->e->key.key, &why);
  else
    text_add(&why, "there is no cache");
  error_set(
      err, OP_ERR_CACHE_MISS,
      "kernel %s (%s) would have to be compiled, and OP2_JIT=load forbids it: %s; run once with OP2_JIT=on",
      job->e->key.loop, text_str(&job->shape), text_str(&why));
  text_free(&why);
  return OP_ERR_CACHE_MISS;
}

/* Ask the store. True if that settles it: `e` has code, or is a failure. */
static bool settled_by_store(struct jit *jit, struct entry *e) {
  if (take_from_store(jit, e)) {
    jit->counters.cache_hits++;
    return true;
  }
  return failed_before(jit, e);
}

static int obtain(struct job *job, enum jit_from *from, struct error *err) {
  struct jit *jit = job->jit;
  bool fresh = jit->dump && jit->options.mode == JIT_ON;
  *from = JIT_FROM_CACHE;
  if (!fresh && settled_by_store(jit, job->e))
    return job->e->failed ? report_failure(job, err) : OP_OK;
  if (jit->options.mode == JIT_LOAD)
    return missing(job, err);
  if (plugin_open(&jit->plugin, err) != OP_OK)
    return err->code;
  if (!fresh && store_lease(jit->options.store, &job->e->key.key) == STORE_LEASE_READY &&
      settled_by_store(jit, job->e))
    return job->e->failed ? report_failure(job, err) : OP_OK;
  *from = JIT_FROM_COMPILER;
  return compile(job, err);
}

static void fill_remarks(struct job *job) {
  struct text label = {0};
  struct told t = told(job, &label);
  messages_remarks(text_str(&job->e->messages), &t, &job->e->remarks);
  if (job->files.width > 0)
    messages_scalar_reason(text_str(&job->e->messages), &job->e->scalar);
  if (job->e->scalar.length)
    log_line(job->jit->options.log, LOG_INFO, "jit", "kernel %s (%s) runs without vector instructions: %s",
             job->e->key.loop, text_str(&job->shape), text_str(&job->e->scalar));
  text_free(&label);
}

/* A new entry, owning the key. It is kept if it has code, or a compile of it failed. */
static int add_entry(struct jit *jit, struct signature *key, const struct desc *d, const struct shape *s,
                     struct entry **out, enum jit_from *from, struct error *err) {
  struct entry *e = array_new(1, sizeof *e);
  if (!e)
    return error_memory(err, "a loop's code", sizeof *e);
  struct job job = {.jit = jit, .d = d, .e = e};
  signature_move(&e->key, key);
  shape_print(s, &job.shape);
  int code = generate_c(d, s, &job.files, err);
  if (code == OP_OK)
    code = obtain(&job, from, err);
  if (code == OP_OK)
    fill_remarks(&job);
  if (job.result.owner)
    jit->plugin.compiler->release(&job.result);
  generated_free(&job.files);
  text_free(&job.shape);
  if (e->run || e->failed) {
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
    code = report_failure(&job, err);
  generated_free(&job.files);
  return code;
}

int jit_code(struct jit *jit, const struct desc *d, const struct shape *s, struct jit_code *out,
             struct error *err) {
  struct signature key;
  double start = now();
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
  else
    jit->counters.memory_hits++;
  signature_free(&key);
  out->seconds = now() - start;
  if (code != OP_OK)
    return code;
  out->run = e->run;
  out->size = e->size;
  out->hash = e->key.hash;
  out->remarks = text_str(&e->remarks);
  out->scalar = text_str(&e->scalar);
  return OP_OK;
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
