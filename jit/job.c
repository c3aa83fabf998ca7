/* One compile: takes the code from the store or the compiler, and keeps, dumps and reports what comes of it. */
#include "jit/job.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "jit/jit.h"
#include "jit/messages.h"

/* ---- binaries become code ------------------------------------------------------------------------*/

static int load_entry(struct job *job, const void *binary, size_t size, struct error *err) {
  struct jit *jit = job->jit;
  job->e->size = size;
  return jit->target->load(jit->self, job->d, binary, size, &job->e->loaded, err);
}

/* Keeps a copy of the binary for other ranks. */
static void keep_for_others(struct job *job, const void *binary, size_t size) {
  if (job->jit->options.share)
    text_add_bytes(&job->outcome.binary, binary, size);
}

/* The part of a stored source that holds the compiler's messages begins with this line. */
static const char messages_mark[] = "/* op2jit: what the compiler said\n";

static void remember_messages(struct jit *jit, struct entry *e) {
  struct text source = {0};
  if (store_get_source(jit->options.store, e->key.hash, &source)) {
    /* not a message: the store's format */
    const char *mark = strstr(text_str(&source), messages_mark);
    if (mark)
      text_add(&e->messages, mark + strlen(messages_mark));
  }
  text_free(&source);
}

/* Logs a hit with its row. */
static void log_hit(const struct job *job, const struct store_blob *blob) {
  struct text where = {0};
  if (!log_wants(job->jit->options.log, LOG_DEBUG, "cache"))
    return;
  store_blob_print(blob, &where);
  log_line(job->jit->options.log, LOG_DEBUG, "cache", "kernel %s (%s): %s, %zu bytes for %s",
           job->e->key.loop, text_str(&job->shape), text_str(&where), blob->size, job->jit->words.cpu);
  text_free(&where);
}

static bool is_broken(const struct jit *jit) {
  return jit->target->is_broken && jit->target->is_broken(jit->self);
}

/* True if the store had it and it loads, or cannot be loaded now: `err`. A binary that is of no use is set aside. */
static bool take_from_store(struct job *job, struct error *err) {
  struct jit *jit = job->jit;
  struct entry *e = job->e;
  struct store_blob blob = {0};
  struct error why = {0};
  if (!store_get_binary(jit->options.store, &e->key.key, &blob))
    return false;
  const int code = load_entry(job, blob.data, blob.size, &why);
  const bool broken = code && is_broken(jit);
  if (broken) {
    error_copy(err, &why);
  } else if (code) {
    log_line(jit->options.log, LOG_WARN, "jit",
             "kernel %s: the cached binary is of no use and is made anew: %s", e->key.loop,
             error_message(&why));
    store_reject_binary(jit->options.store, &e->key.key, error_message(&why));
  } else {
    job->seconds = blob.seconds;
    log_hit(job, &blob);
    remember_messages(jit, e);
    keep_for_others(job, blob.data, blob.size);
  }
  store_blob_free(&blob);
  error_free(&why);
  return !code || broken;
}

/* ---- compiling ---------------------------------------------------------------------------------*/

static struct told told(struct job *job, struct text *label) {
  const struct jit *jit = job->jit;
  const size_t line = strcspn(jit->words.compiler, "\n"), name = strcspn(jit->words.compiler, " \n");
  const size_t from = jit->target->compiler ? name : 0;
  text_add(label, jit->target->compiler ? jit->target->compiler : "");
  text_add_bytes(label, jit->words.compiler + from, line - from);
  return (struct told){.desc = job->d,
                       .files = &job->files,
                       .compiler = text_str(label),
                       .source = job->e->source.length ? text_str(&job->e->source) : NULL};
}

/* A failed dump is a warning, once: the loops run all the same. */
static void dump_failed(struct jit *jit, const struct error *why) {
  if (!jit->dump_told)
    log_line(jit->options.log, LOG_WARN, "jit", "%s; of other loops this is not said again",
             error_message(why));
  jit->dump_told = true;
}

static void dump_before(struct job *job) {
  struct error why = {0};
  if (job->jit->dump && dump_sources(job->jit->dump, &job->e->key, text_str(&job->shape), &job->files,
                                     &job->e->source, &why) != OP_OK)
    dump_failed(job->jit, &why);
  error_free(&why);
}

static void dump_after(struct job *job) {
  struct error why = {0};
  const char *where = text_str(&job->e->source);
  struct text object = {0};
  text_addf(&object, "%s%s", job->e->key.loop, job->jit->target->ending);
  if (job->e->source.length && (dump_file(where, "messages.txt", text_str(&job->e->messages),
                                          job->e->messages.length, &why) != OP_OK ||
                                (job->result.binary && dump_file(where, text_str(&object), job->result.binary,
                                                                 job->result.size, &why) != OP_OK)))
    dump_failed(job->jit, &why);
  text_free(&object);
  error_free(&why);
}

struct compile_request job_request(const struct jit *jit, const struct desc *d) {
  return (struct compile_request){.cpu = jit->words.cpu,
                                  .features = jit->words.features,
                                  .fp = d->fp,
                                  .warnings = log_wants(jit->options.log, LOG_INFO, "jit"),
                                  .remarks = 1};
}

/* With a dump the compiler gets the files' real paths, for the debugger. */
static void compile_now(struct job *job) {
  struct text names[GENERATED_FILES] = {{0}};
  struct compile_file files[GENERATED_FILES];
  const char *where = job->jit->target->debugs ? text_str(&job->e->source) : "";
  generated_files(&job->files, files);
  for (int i = 0; i < GENERATED_FILES; i++) {
    text_addf(&names[i], "%s%s%s", where, *where ? "/" : "", files[i].name);
    files[i].name = text_str(&names[i]);
  }
  struct compile_request request = job_request(job->jit, job->d);
  request.files = files;
  request.nfiles = GENERATED_FILES;
  request.debug = *where != '\0';
  request.lowered = job->proved.lowered;
  double start = clock_seconds();
  job->jit->target->compile(job->jit->self, &request, &job->result);
  job->seconds = clock_seconds() - start;
  for (int i = 0; i < GENERATED_FILES; i++)
    text_free(&names[i]);
}

static void run_compiler(struct job *job) {
  if (ahead_take(&job->jit->ahead, job->e->key.hash, &job->result, &job->seconds))
    job->behind = job->seconds;
  else
    compile_now(job);
  messages_keep(job->result.messages, job->result.nmessages, &job->files, &job->e->messages);
}

static void keep_binary(struct job *job) {
  struct text source = {0};
  text_add_bytes(&source, text_str(&job->files.main), job->files.main.length);
  text_addf(&source, "/* op2jit: %s */\n", job->files.kernel_file);
  text_add_bytes(&source, text_str(&job->files.kernel), job->files.kernel.length);
  text_add(&source, messages_mark);
  text_add(&source, text_str(&job->e->messages));
  struct store_new_binary binary = {.data = job->result.binary,
                                    .size = job->result.size + job->jit->target->tail,
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

int job_report_failure(struct job *job, struct error *err) {
  struct text label = {0};
  struct told t = told(job, &label);
  int code = messages_error(text_str(&job->e->messages), &t, err);
  text_free(&label);
  return code;
}

/* Code with the paths of a dump in it is for this run only. */
static bool is_kept(const struct jit *jit) {
  return !(jit->dump && jit->target->debugs);
}

static int compile_failed(struct job *job, struct error *err) {
  job->e->failed = true;
  job->jit->counters.failures++;
  struct text summary = {0};
  messages_first_error(text_str(&job->e->messages), job->d, &summary);
  if (job->result.status == 1 && is_kept(job->jit))
    store_note_failure(job->jit->options.store, &job->e->key.key, text_str(&summary));
  else
    store_lease_end(job->jit->options.store, &job->e->key.key);
  text_free(&summary);
  return job_report_failure(job, err);
}

static int compile(struct job *job, struct error *err) {
  dump_before(job);
  run_compiler(job);
  dump_after(job);
  job->jit->counters.seconds += job->seconds;
  if (job->result.status == 3) { /* which may be there the next time */
    store_lease_end(job->jit->options.store, &job->e->key.key);
    return error_set(err, OP_ERR_MEMORY, "kernel %s: there is not enough memory to compile it",
                     job->e->key.loop);
  }
  if (job->result.status != 0)
    return compile_failed(job, err);
  job->jit->counters.compiles++;
  const struct target *target = job->jit->target;
  if (load_entry(job, job->result.binary, job->result.size, err) != OP_OK) {
    store_lease_end(job->jit->options.store, &job->e->key.key);
    return target->no_load ? error_prefix(err, "kernel %s: %s", job->e->key.loop, target->no_load)
                           : err->code;
  }
  keep_for_others(job, job->result.binary, job->result.size + target->tail);
  if (is_kept(job->jit))
    keep_binary(job);
  show_outcome(job);
  return OP_OK;
}

/* ---- where code comes from -----------------------------------------------------------------------*/

static void explain_miss(struct job *job, struct text *why) {
  if (job->jit->options.store)
    store_why(job->jit->options.store, &job->e->key.key, why);
  else
    text_add(why, "there is no cache");
}

/* Must come before the compile, for afterwards the cache has the kernel. */
static void log_miss(struct job *job) {
  struct text why = {0};
  if (!log_wants(job->jit->options.log, LOG_INFO, "cache"))
    return;
  explain_miss(job, &why);
  log_line(job->jit->options.log, LOG_INFO, "cache", "kernel %s (%s) is not there: %s", job->e->key.loop,
           text_str(&job->shape), text_str(&why));
  text_free(&why);
}

static int missing(struct job *job, struct error *err) {
  struct text why = {0};
  explain_miss(job, &why);
  error_set(
      err, OP_ERR_CACHE_MISS,
      "kernel %s (%s) is not in the cache: %s; OP2_JIT=load forbids compiling; run once with OP2_JIT=on",
      job->e->key.loop, text_str(&job->shape), text_str(&why));
  text_free(&why);
  return OP_ERR_CACHE_MISS;
}

/* Ask the store. True if that settles it: `e` has code, or *code says why not. */
static bool answered_by_store(struct job *job, int *code, struct error *err) {
  *code = OP_OK;
  if (!take_from_store(job, err))
    return false;
  *code = job->e->loaded.code ? OP_OK : err->code;
  job->jit->counters.cache_hits += !*code;
  return true;
}

/* The prover parses the same files as the compiler, and lowers them too. It does not lower them if a compile
 * was begun already, uses other file names (a dump), or gives warnings. */
static int prove(struct job *job, struct error *err) {
  struct jit *jit = job->jit;
  const struct compile_request then = job_request(jit, job->d);
  const bool lowers = !jit->dump && !then.warnings && !ahead_has(&jit->ahead, job->e->key.hash);
  int code = jit->target->prove(jit->self, job->d, job->form, &job->files, lowers ? &then : NULL,
                                &job->e->facts, &job->proved, err);
  for (int i = 0; !code && job->d->believed && !job->d->nmembers && i < job->d->nargs; i++)
    if (facts_leave_rest(&job->e->facts, &job->d->args[i], i)) {
      code = error_set(err, OP_ERR_VIOLATION, "argument %d: OP_WRITE is not proved", i + 1);
      err->fact = FOUND_NOT_TO_BELIEVE;
    }
  return code;
}

static int find_or_compile(struct job *job, enum jit_from *from, struct error *err) {
  struct jit *jit = job->jit;
  bool fresh = jit->dump && jit->options.mode == JIT_ON;
  int code = OP_OK;
  *from = JIT_FROM_CACHE;
  if (!fresh && answered_by_store(job, &code, err))
    return code;
  if (jit->target->recall && jit->target->recall(jit->self, job->d, err) != OP_OK)
    return err->code;
  if (jit->options.mode == JIT_LOAD)
    return missing(job, err);
  progress_step(jit->options.log->progress, "proving kernel %s", job->e->key.loop);
  if (jit->target->open_compiler(jit->self, err) != OP_OK)
    return err->code;
  job->prove_start = clock_seconds();
  code = prove(job, err);
  job->prove_seconds = clock_seconds() - job->prove_start;
  if (code)
    return code;
  if (!fresh && store_lease(jit->options.store, &job->e->key.key) == STORE_LEASE_READY &&
      answered_by_store(job, &code, err))
    return code;
  *from = JIT_FROM_COMPILER;
  log_miss(job);
  progress_step(jit->options.log->progress, "compiling kernel %s (%s), number %lld", job->e->key.loop,
                text_str(&job->shape), jit->counters.compiles + 1);
  return compile(job, err);
}

static void fill_remarks(struct job *job) {
  struct text label = {0};
  struct told t = told(job, &label);
  messages_remarks(text_str(&job->e->messages), &t, &job->e->remarks);
  job->e->spills = messages_spills(text_str(&job->e->messages));
  if (job->files.width > 0)
    messages_scalar_reason(text_str(&job->e->messages), &job->e->scalar);
  if (job->e->scalar.length)
    log_line(job->jit->options.log, LOG_INFO, "jit", "kernel %s (%s) runs without vector instructions: %s",
             job->e->key.loop, text_str(&job->shape), text_str(&job->e->scalar));
  text_free(&label);
}

int job_obtain(struct job *job, enum jit_from *from, struct error *err) {
  int code = find_or_compile(job, from, err);
  progress_end(job->jit->options.log->progress);
  if (code == OP_OK)
    fill_remarks(job);
  return code;
}

/* Takes over the leader's outcome. */
static int adopt(struct job *job, struct error *err) {
  struct entry *e = job->e;
  e->failed = job->outcome.failed;
  e->messages = job->outcome.messages;
  job->outcome.messages = (struct text){0};
  if (!job->outcome.binary.length)
    return err->code;
  int code = load_entry(job, job->outcome.binary.data, job->outcome.binary.length, err);
  if (!code)
    fill_remarks(job);
  else
    log_line(job->jit->options.log, LOG_WARN, "jit", "%s", error_message(err));
  return code;
}

int job_obtain_together(struct job *job, int code, enum jit_from *from, struct error *err) {
  const struct jit_share *share = job->jit->options.share;
  const bool broken = code != OP_OK; /* without the generated text no message can be made */
  if (share->leads && !broken) {
    code = job_obtain(job, from, err);
    job->outcome.failed = job->e->failed;
    text_add_bytes(&job->outcome.messages, text_str(&job->e->messages), job->e->messages.length);
  }
  code = jit_share_outcome(share, &job->outcome, code, err);
  if (!share->leads && !broken && (!code || job->outcome.failed)) {
    *from = JIT_FROM_LEADER;
    code = adopt(job, err);
  }
  bool kept = !broken && (job->e->loaded.code || job->e->failed);
  code = jit_share_kept(share, code, &kept, err);
  if (!kept) {
    if (job->e->loaded.code)
      job->jit->target->unload(job->jit->self, job->e->loaded.code);
    job->e->loaded = (struct loaded){0};
    job->e->failed = false;
  }
  jit_outcome_free(&job->outcome);
  return code;
}
