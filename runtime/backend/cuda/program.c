/* From a loop and a shape to a program on the device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/size.h"
#include "context/context.h"
#include "context/env.h"
#include "cuda.h"
#include "jit/dump.h"
#include "jit/jit.h"
#include "jit/key/elf_note.h"
#include "jit/messages.h"
#include "kernels-cache/store.h"
#include "mesh/mesh.h"
#include "op2jit.h"
#include "ranks/kind.h"
#include "record/record.h"
#include "services/services.h"

/* One request for a program, with everything that it needs. */
struct job {
  struct op_context *ctx;
  struct cuda *c;
  struct loop *loop;
  const struct desc *desc;
  const struct cuda_shape *shape; /* NULL: the kernels of messages */
  struct store *store;            /* NULL: nothing is kept */
  struct cuda_program *p;
  struct generated files;
  struct text messages; /* of the compiler, as messages_keep writes them */
  struct text where;    /* folder of the dump; empty: none */
  struct text binary;   /* for other ranks */
  struct error *err;
};

/* ---- keys ---- */
static void print_shape(const struct job *job, struct text *out) {
  if (job->shape)
    cuda_shape_print(job->shape, out);
  else
    text_add(out, "messages");
}

static int make_key(struct job *job, struct signature *key) {
  struct text shape = {0};
  print_shape(job, &shape);
  if (job->c->mistake)
    text_addf(&shape, "/mistake%d", job->c->mistake);
  const struct signature_inputs in = {.desc = job->desc,
                                      .shape = text_str(&shape),
                                      .generator = GENERATOR_VERSION,
                                      .library = text_str(&job->c->library),
                                      .compiler = text_str(&job->c->compiler),
                                      .cpu = job->c->arch,
                                      .features = "",
                                      .flags = ""};
  int code = text_ok(&shape) ? signature_make(key, &in, job->err) : error_memory(job->err, "a loop's key", 0);
  text_free(&shape);
  return code;
}

int cuda_identify(struct cuda *c, struct error *err) {
  library_identity(&c->library);
  text_addf(&c->compiler, "nvrtc %s\n", nvrtc_version(c->nvrtc));
  if (!elf_build_id(nvrtc_path(c->nvrtc), &c->compiler)) {
    struct stat file = {0};
    if (stat(nvrtc_path(c->nvrtc), &file) == 0)
      text_addf(&c->compiler, "%lld bytes", (long long)file.st_size);
  }
  bool good = text_ok(&c->library) && text_ok(&c->compiler);
  return good ? OP_OK : error_memory(err, "the compiler's identity", c->compiler.length);
}

static int generate(struct job *job) {
  int code = job->shape ? generate_cuda(job->desc, job->shape, job->c->mistake, &job->files, job->err)
                        : cuda_rows_generate(job->c, &job->files, job->err);
  return code ? error_prefix(job->err, "loop %s: ", job->loop->name) : OP_OK;
}

/* ---- what the compiler said ---- */
static int report(struct job *job) {
  char compiler[32];
  snprintf(compiler, sizeof compiler, "NVRTC %s", nvrtc_version(job->c->nvrtc));
  const struct told told = {.desc = job->desc,
                            .files = &job->files,
                            .compiler = compiler,
                            .source = job->where.length ? text_str(&job->where) : NULL};
  messages_error(text_str(&job->messages), &told, job->err);
  return error_prefix(job->err, "loop %s: ", job->loop->name);
}

/* ---- on the device ---- */
static int load(struct job *job, const void *binary) {
  return cuda_failed(job->c, job->c->driver.module_load(&job->p->module, binary, 0, NULL, NULL), job->err,
                     "loop %s: loading the compiled kernel on GPU %d", job->loop->name,
                     job->c->device.ordinal);
}

static void keep_for_others(struct job *job, const void *binary, size_t size) {
  if (job->ctx->gpus)
    text_add_bytes(&job->binary, binary, size);
}

static void log_hit(const struct job *job, const struct store_blob *blob) {
  struct text shape = {0}, where = {0};
  if (!log_wants(job->ctx->log, LOG_DEBUG, "cache"))
    return;
  print_shape(job, &shape);
  store_blob_print(blob, &where);
  log_line(job->ctx->log, LOG_DEBUG, "cache", "kernel %s (%s): %s, %zu bytes for %s", job->desc->kernel_name,
           text_str(&shape), text_str(&where), blob->size, job->c->arch);
  text_free(&shape);
  text_free(&where);
}

static bool take_from_store(struct job *job) {
  struct store_blob blob = {0};
  struct error why = {0}, *err = job->err;
  if (!store_get_binary(job->store, &job->p->key.key, &blob))
    return false;
  job->err = &why;
  bool good = load(job, blob.data) == OP_OK;
  job->err = err;
  if (good)
    keep_for_others(job, blob.data, blob.size);
  else if (job->c->failed) /* an earlier kernel: the binary may be a good one */
    error_copy(err, &why);
  else {
    log_line(job->ctx->log, LOG_WARN, "cuda", "loop %s: the cached binary is of no use and is made anew: %s",
             job->loop->name, error_message(&why));
    store_reject_binary(job->store, &job->p->key.key, error_message(&why));
  }
  if (good)
    log_hit(job, &blob);
  store_blob_free(&blob);
  error_free(&why);
  return good;
}

/* True if the store settles it: there is a program, or *code says why not. */
static bool settled_by_store(struct job *job, int *code) {
  *code = OP_OK;
  if (take_from_store(job)) {
    job->ctx->counters->cache_hits++;
    loop_count_code(job->loop, false);
    return true;
  }
  if (job->c->failed) {
    *code = job->err->code;
    return true;
  }
  text_clear(&job->messages);
  if (!store_get_failure(job->store, &job->p->key.key, text_str(&job->c->compiler), &job->messages))
    return false;
  *code = generate(job);
  if (!*code)
    *code = report(job);
  return true;
}

/* ---- compiling ---- */
static void dump(struct job *job, const struct compile_result *result) {
  const char *folder = env_value(job->ctx->env, ENV_DUMP);
  struct text shape = {0};
  struct error why = {0};
  if (!*folder)
    return;
  print_shape(job, &shape);
  for (size_t i = 0; i < shape.length; i++)
    if (shape.data[i] == '/')
      shape.data[i] = '-';
  int code = dump_sources(folder, &job->p->key, text_str(&shape), &job->files, &job->where, &why);
  if (!code)
    code = dump_file(text_str(&job->where), "messages.txt", text_str(&job->messages), job->messages.length,
                     &why);
  if (!code && result->binary)
    code = dump_file(text_str(&job->where), "binary", result->binary, result->size, &why);
  if (code && !job->ctx->dump_told)
    log_line(job->ctx->log, LOG_WARN, "cuda", "%s; of other loops this is not said again",
             error_message(&why));
  job->ctx->dump_told |= code != OP_OK;
  error_free(&why);
  text_free(&shape);
}

static void keep(struct job *job, const struct compile_result *result) {
  struct text source = {0};
  keep_for_others(job, result->binary, result->size + 1);
  text_addf(&source, "%s/* op2jit: %s */\n%s", text_str(&job->files.main), job->files.kernel_file,
            text_str(&job->files.kernel));
  const struct store_new_binary binary = {.data = result->binary,
                                          .size = result->size + 1, /* PTX ends with a NUL */
                                          .source = text_ok(&source) ? text_str(&source) : NULL,
                                          .source_length = source.length,
                                          .seconds = result->seconds_front};
  store_put_binary(job->store, &job->p->key.key, &binary);
  text_free(&source);
}

static int compile_failed(struct job *job, const struct compile_result *result) {
  struct text summary = {0};
  messages_first_error(text_str(&job->messages), job->desc, &summary);
  if (result->status == 1)
    store_put_failure(job->store, &job->p->key.key, text_str(&job->c->compiler), text_str(&job->messages),
                      text_str(&summary), 0);
  else
    store_lease_end(job->store, &job->p->key.key);
  text_free(&summary);
  return report(job);
}

static int compile_and_load(struct job *job, struct compile_result *result) {
  const struct generated *g = &job->files;
  const struct compile_file files[] = {{g->main_file, text_str(&g->main), g->main.length},
                                       {g->kernel_file, text_str(&g->kernel), g->kernel.length},
                                       {g->prelude_file, g->prelude, strlen(g->prelude)}};
  const struct compile_request request = {
      .files = files, .nfiles = 3, .cpu = job->c->arch, .fp = job->desc->fp};
  nvrtc_compile(job->c->nvrtc, &request, NULL, 0, result);
  messages_keep(result->messages, result->nmessages, g, &job->messages);
  dump(job, result);
  if (result->status)
    return compile_failed(job, result);
  job->ctx->counters->compiles++;
  loop_count_code(job->loop, true);
  job->loop->stats.compile_seconds += result->seconds_front;
  int code = load(job, result->binary);
  if (code)
    store_lease_end(job->store, &job->p->key.key);
  else
    keep(job, result);
  if (!code)
    log_line(job->ctx->log, LOG_INFO, "jit", "loop %s: compiled by NVRTC %s in %.1f ms, %zu bytes",
             job->loop->name, nvrtc_version(job->c->nvrtc), 1e3 * result->seconds_front, result->size);
  return code;
}

static void explain_miss(const struct job *job, struct text *why) {
  if (job->store)
    store_why(job->store, &job->p->key.key, why);
  else
    text_add(why, "there is no cache");
}

/* Before the compile, since afterwards the cache has the kernel. */
static void log_miss(const struct job *job) {
  struct text why = {0}, shape = {0};
  if (!log_wants(job->ctx->log, LOG_INFO, "cache"))
    return;
  explain_miss(job, &why);
  print_shape(job, &shape);
  log_line(job->ctx->log, LOG_INFO, "cache", "kernel %s (%s) is not there: %s", job->desc->kernel_name,
           text_str(&shape), text_str(&why));
  text_free(&shape);
  text_free(&why);
}

static int missing(struct job *job) {
  struct text why = {0}, shape = {0};
  explain_miss(job, &why);
  print_shape(job, &shape);
  error_set(job->err, OP_ERR_CACHE_MISS, "loop %s: kernel %s (%s) is not in the cache: %s", job->loop->name,
            job->desc->kernel_name, text_str(&shape), text_str(&why));
  text_free(&shape);
  text_free(&why);
  return OP_ERR_CACHE_MISS;
}

static int obtain(struct job *job) {
  const char *mode = env_value(job->ctx->env, ENV_JIT);
  int code = OP_OK;
  bool fresh = *env_value(job->ctx->env, ENV_DUMP) && strcmp(mode, "on") == 0;
  if (!fresh && settled_by_store(job, &code))
    return code;
  if (strcmp(mode, "load") == 0)
    return missing(job);
  code = generate(job);
  if (code)
    return code;
  if (!fresh && store_lease(job->store, &job->p->key.key) == STORE_LEASE_READY &&
      settled_by_store(job, &code))
    return code;
  struct compile_result result = {0};
  code = job->shape ? jit_prove(job->ctx->jit, &job->loop->desc, job->err) : OP_OK;
  if (code) {
    store_lease_end(job->store, &job->p->key.key);
    return error_prefix(job->err, "loop %s: ", job->loop->name);
  }
  log_miss(job);
  code = compile_and_load(job, &result);
  nvrtc_release(&result);
  return code;
}

/* ---- ranks ---- */
static int adopt(struct job *job) {
  int code = load(job, text_str(&job->binary));
  if (code) {
    log_line(job->ctx->log, LOG_WARN, "cuda", "%s", error_message(job->err));
    return code;
  }
  job->ctx->counters->cache_hits++;
  loop_count_code(job->loop, false);
  return OP_OK;
}

/* All ranks of the kind have it, or none: the next time they ask together again. */
static int all_have_it(struct job *job, int code) {
  struct comm *ranks = job->ctx->gpus->comm;
  struct error trouble = {0};
  long long failed = code != OP_OK;
  const int status = ranks->table->reduce_all(ranks, &failed, 1, COMM_LLONG, COMM_MAX, &trouble);
  if (!code && status)
    code = error_copy(job->err, &trouble);
  else if (!code && failed)
    code = error_set(job->err, OP_ERR_DEVICE,
                     "loop %s: the compiled kernel does not load on another rank, which says why",
                     job->loop->name);
  error_free(&trouble);
  return code;
}

/* One rank of the kind gets it and gives it to the others. */
static int obtain_together(struct job *job) {
  const struct jit_share *share = &job->ctx->gpus->jit;
  int code = share->leads ? obtain(job) : OP_OK;
  struct jit_outcome outcome = {.binary = job->binary};
  code = jit_share_outcome(share, &outcome, code, job->err);
  job->binary = outcome.binary;
  if (!code && !share->leads)
    code = adopt(job);
  code = all_have_it(job, code);
  if (code && job->p->module) {
    job->c->driver.module_unload(job->p->module);
    job->p->module = NULL;
  }
  text_free(&outcome.messages);
  return code;
}

static struct cuda_program *find(const struct cuda *c, const struct signature *key) {
  for (struct cuda_program *p = c->programs; p; p = p->next)
    if (signature_equal(&p->key, key))
      return p;
  return NULL;
}

static void program_free(struct cuda_program *p) {
  if (p)
    signature_free(&p->key);
  if (p)
    free(p->constant_changes);
  free(p);
}

static int add_program(struct job *job, struct signature *key, struct cuda_program **out) {
  const size_t nconsts = (size_t)job->desc->nconsts;
  struct cuda_program *p = job->p = calloc(1, sizeof *p);
  if (!p || !(p->constant_changes = array_new(nconsts, sizeof *p->constant_changes))) {
    program_free(p);
    return error_memory(job->err, "a program for the GPU", sizeof *p);
  }
  for (size_t i = 0; i < nconsts; i++)
    p->constant_changes[i] = -1;
  signature_move(&p->key, key);
  int code = job->ctx->gpus ? obtain_together(job) : obtain(job);
  generated_free(&job->files);
  text_free(&job->binary);
  text_free(&job->messages);
  text_free(&job->where);
  if (code) {
    program_free(p);
    return code;
  }
  p->next = job->c->programs;
  job->c->programs = p;
  *out = p;
  return OP_OK;
}

int cuda_program_get(struct op_context *ctx, struct loop *loop, const struct cuda_shape *shape,
                     struct cuda_program **out, struct error *err) {
  struct cuda *c = cuda_of(ctx);
  struct jit *jit = NULL; /* opens the store */
  const struct cuda_loop *l = loop->backend_state;
  struct desc messages = {0};
  struct job job = {
      .ctx = ctx, .c = c, .loop = loop, .desc = shape ? &l->desc : &messages, .shape = shape, .err = err};
  struct signature key = {0};
  int code = context_jit(ctx, &jit, err);
  job.store = ctx->store;
  if (!code && !shape)
    code = cuda_rows_describe(c, &messages, err);
  if (!code)
    code = make_key(&job, &key);
  if (!code) {
    *out = find(c, &key);
    if (*out)
      ctx->counters->cache_hits++;
    else
      code = add_program(&job, &key, out);
  }
  signature_free(&key);
  desc_free(&messages);
  return code;
}

void cuda_programs_free(struct cuda *c) {
  while (c->programs) {
    struct cuda_program *p = c->programs;
    c->programs = p->next;
    if (!c->failed)
      c->driver.module_unload(p->module);
    program_free(p);
  }
}

int cuda_program_constants(struct op_context *ctx, const struct loop *loop, struct cuda_program *program,
                           struct error *err) {
  struct cuda *c = cuda_of(ctx);
  for (int i = 0; i < loop->desc.nconsts; i++) {
    const struct desc_const *k = &loop->desc.consts[i];
    if (k->folded)
      continue;
    const struct constant *constant = mesh_find_constant(ctx->mesh, k->name);
    if (program->constant_changes[i] == constant->changes)
      continue;
    cuda_address at = 0;
    size_t bytes = 0;
    int code = c->driver.module_global(&at, &bytes, program->module, k->name);
    if (!code)
      code = c->driver.copy_in(at, constant->value, constant->bytes, c->stream);
    if (code)
      return cuda_failed(c, code, err, "loop %s: copying constant %s to GPU %d", loop->name, k->name,
                         c->device.ordinal);
    program->constant_changes[i] = constant->changes;
  }
  return OP_OK;
}
