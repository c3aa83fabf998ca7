/* This machine's processors: C by clang, objects by our own loader. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "jit/job.h"
#include "jit/load/load.h"
#include "jit/plugin.h"
#include "jit/prove.h"
#include "jit/target.h"
#include "jit/texts.h"

struct processor {
  struct jit_options options; /* its strings: below */
  char *plugins;
  struct plugin plugin;
  struct text cpu, features, mathematics;
  struct text warned; /* warnings that were told */
};

static void processor_close(void *self) {
  struct processor *p = self;
  plugin_free(&p->plugin);
  text_free(&p->warned);
  text_free(&p->cpu);
  text_free(&p->features);
  text_free(&p->mathematics);
  free(p->plugins);
  free(p);
}

static int processor_open(void **self, const struct jit_options *options, struct error *err) {
  struct processor *p = array_new(1, sizeof *p);
  const bool named = options->plugins && *options->plugins;
  if (!p || (named && !(p->plugins = strdup(options->plugins)))) {
    free(p);
    return error_memory(err, "the compiler's state", sizeof *p);
  }
  p->options = *options;
  if (options->cpu)
    text_add(&p->cpu, options->cpu);
  if (options->features)
    text_add(&p->features, options->features);
  *self = p;
  return OP_OK;
}

/* ---- what it is ----------------------------------------------------------------------------------*/

static void identify_host(struct processor *p) {
  if (p->cpu.length)
    return;
  struct text cpu = {0}, features = {0};
  target_host(&cpu, &features);
  /* Half of it would be another target; without memory it is asked for again. */
  if (text_ok(&cpu) && text_ok(&features)) {
    if (!p->features.length)
      text_add(&p->features, text_str(&features));
    text_add(&p->cpu, text_str(&cpu));
  }
  text_free(&cpu);
  text_free(&features);
}

int jit_vector_bytes(struct jit *jit) {
  struct processor *p = jit->self;
  identify_host(p);
  return target_vector_bytes(text_str(&p->features));
}

/* The leader's compiler counts: this process may have none. */
static bool follows(const struct processor *p) {
  const struct jit_share *share = p->options.share;
  return share && !share->leads && share->compiler;
}

static int processor_identify(void *self, struct target_words *out, struct error *err) {
  struct processor *p = self;
  if (follows(p) && !p->plugin.identity.length)
    text_add(&p->plugin.identity, p->options.share->compiler);
  if (plugin_find(&p->plugin, p->plugins, err) != OP_OK)
    return err->code;
  if (!p->mathematics.length)
    target_mathematics(&p->mathematics);
  identify_host(p);
  *out = (struct target_words){.compiler = text_str(&p->plugin.identity),
                               .cpu = text_str(&p->cpu),
                               .features = text_str(&p->features),
                               .mathematics = text_str(&p->mathematics)};
  const bool good = text_ok(&p->cpu) && text_ok(&p->features) && text_ok(&p->mathematics) && p->cpu.length;
  return good ? OP_OK : error_memory(err, "a loop's key", p->features.length);
}

/* ---- the compiler --------------------------------------------------------------------------------*/

static void processor_print_shape(const void *shape, struct text *out) {
  shape_print(shape, out);
}

static int processor_generate(const struct desc *d, const void *shape, bool stepped, struct generated *out,
                              struct error *err) {
  struct shape s = *(const struct shape *)shape;
  s.stepped = stepped && !s.width;
  return generate_c(d, &s, out, err);
}

static int processor_open_compiler(void *self, struct error *err) {
  struct processor *p = self;
  return plugin_open(&p->plugin, err);
}

static int processor_prove(void *self, const struct desc *d, const void *shape, const struct generated *files,
                           const struct compile_request *then, struct facts *facts, struct prove_result *kept,
                           struct error *err) {
  struct processor *p = self;
  const struct proving proving = {.plugin = &p->plugin,
                                  .store = p->options.store,
                                  .log = p->options.log,
                                  .told = &p->warned,
                                  .then = then};
  (void)shape;
  return prove_kernel(&proving, d, files, facts, kept, err);
}

static void processor_forget(void *self, struct prove_result *kept) {
  const struct processor *p = self;
  if (kept->owner)
    p->plugin.compiler->prover->release(kept);
}

static int processor_recall(void *self, const struct desc *d, struct error *err) {
  const struct processor *p = self;
  return facts_get_violation(&p->plugin, p->options.store, d, err);
}

static int read_now(struct processor *p, const struct desc *d, const struct jit_wish *wish, struct facts *out,
                    struct error *err) {
  const struct shape scalar = {0};
  const struct proving proving = {.plugin = &p->plugin,
                                  .store = p->options.store,
                                  .log = p->options.log,
                                  .told = &p->warned,
                                  .reads = wish->reads,
                                  .alone = wish->alone};
  struct generated files = {0};
  int code = generate_c(d, &scalar, &files, err);
  if (!code)
    code = prove_kernel(&proving, d, &files, out, NULL, err);
  generated_free(&files);
  return code;
}

int jit_facts(struct jit *jit, const struct desc *d, const struct jit_wish *wish, struct facts *out,
              bool *asked, struct error *err) {
  struct processor *p = jit->self;
  struct error why = {0};
  const bool led = wish->alone && p->options.share && !p->options.share->leads;
  const bool found = !led && p->options.mode != JIT_OFF && plugin_find(&p->plugin, p->plugins, &why) == OP_OK;
  error_free(&why);
  *out = (struct facts){0};
  *asked = found || led || p->options.mode == JIT_LOAD;
  if (!found)
    return OP_OK;
  if (facts_get(&p->plugin, p->options.store, d, out) && !facts_refuse(out, wish->reads) &&
      (!out->untried || p->options.mode != JIT_ON))
    return OP_OK;
  *out = (struct facts){0};
  if (facts_get_violation(&p->plugin, p->options.store, d, err))
    return err->code;
  if (wish->recalled || p->options.mode != JIT_ON)
    return OP_OK;
  *asked = plugin_open(&p->plugin, &why) == OP_OK;
  error_free(&why);
  return *asked ? read_now(p, d, wish, out, err) : OP_OK;
}

int jit_verdicts(struct jit *jit, const struct desc *d, enum prove_verdict verdicts[], bool *understood,
                 struct error *err) {
  struct processor *p = jit->self;
  const struct shape scalar = {0};
  struct generated files = {0};
  struct proof proof = {0};
  int code = plugin_find(&p->plugin, p->plugins, err);
  if (!code)
    code = plugin_open(&p->plugin, err);
  if (!code)
    code = generate_c(d, &scalar, &files, err);
  if (code)
    return code;
  prove_ask(&p->plugin, d, &files, NULL, NULL, &proof);
  for (int i = 0; i < d->nargs; i++)
    verdicts[i] = PROVE_PROVED;
  for (int i = 0; i < proof.result.nfindings; i++) {
    const struct prove_finding *f = &proof.result.findings[i];
    if (f->argument >= 0 && f->verdict > verdicts[f->argument])
      verdicts[f->argument] = f->verdict;
  }
  *understood = proof.result.status == 0;
  proof_free(&p->plugin, &proof);
  generated_free(&files);
  return OP_OK;
}

static void processor_compile(void *self, const struct compile_request *request,
                              struct compile_result *result) {
  struct processor *p = self;
  p->plugin.compiler->compile(request, result);
}

static void processor_release(void *self, struct compile_result *result) {
  struct processor *p = self;
  p->plugin.compiler->release(result);
}

/* ---- texts of C++ programs -----------------------------------------------------------------------*/

static int read_alone(struct processor *p, const struct read_request *wish, struct texts_unit *out,
                      struct error *err) {
  int code = plugin_find(&p->plugin, p->plugins, err);
  if (!code && texts_recall(&p->plugin, p->options.store, wish, out))
    return OP_OK;
  if (!code && p->options.mode == JIT_LOAD)
    code = error_set(err, OP_ERR_CACHE_MISS, "OP2_JIT=load, and the cache does not have its text");
  if (!code)
    code = plugin_open(&p->plugin, err);
  return code ? code : texts_read(&p->plugin, p->options.store, wish, out, err);
}

static int read_together(const struct jit_share *share, struct processor *p, const struct read_request *wish,
                         struct texts_unit *out, struct error *err) {
  struct jit_outcome words = {0};
  struct texts_unit own = {0};
  int code = share->leads ? read_alone(p, wish, &own, err) : OP_OK;
  if (share->leads && !code)
    texts_print(&own, &words.binary);
  texts_free(&own);
  code = jit_share_outcome(share, &words, code, err);
  if (!code && !texts_parse(text_str(&words.binary), words.binary.length, out))
    code = error_memory(err, "the texts of kernels", words.binary.length);
  jit_outcome_free(&words);
  return code;
}

int jit_read(struct jit *jit, const struct read_request *wish, struct texts_unit *out, struct error *err) {
  struct processor *p = jit->self;
  const struct jit_share *share = p->options.share;
  *out = (struct texts_unit){0};
  const int code = share ? read_together(share, p, wish, out, err) : read_alone(p, wish, out, err);
  /* With several ranks an error of memory is an answer too, for the others do not ask again. */
  if (!code || code == OP_ERR_MPI || (code == OP_ERR_MEMORY && !share))
    return code;
  texts_free(out);
  const bool good = texts_refuse(error_message(err), out);
  out->code = code;
  error_clear(err);
  return good ? OP_OK : error_memory(err, "the texts of kernels", sizeof *out);
}

/* ---- code ----------------------------------------------------------------------------------------*/

static int processor_load(void *self, const struct desc *d, const void *binary, size_t size,
                          struct loaded *out, struct error *err) {
  const struct processor *p = self;
  struct code *code = NULL;
  if (code_load(&code, binary, size, d->kernel_name, p->options.perf_map, err) != OP_OK)
    return err->code;
  const range_function run = code_function(code);
  if (!run) {
    code_free(code);
    return error_set(err, OP_ERR_FILE, "the binary of kernel %s has no function %s", d->kernel_name,
                     GENERATED_FUNCTION);
  }
  *out = (struct loaded){.code = code, .run = run};
  return OP_OK;
}

static void processor_unload(void *self, void *code) {
  (void)self;
  code_free(code);
}

const struct target target_processor = {
    .ending = ".o",
    .no_load = "the compiled code does not load; this is a mistake of the library, please report it: ",
    .debugs = true,
    .open = processor_open,
    .close = processor_close,
    .identify = processor_identify,
    .print_shape = processor_print_shape,
    .generate = processor_generate,
    .open_compiler = processor_open_compiler,
    .recall = processor_recall,
    .prove = processor_prove,
    .forget = processor_forget,
    .compile = processor_compile,
    .release = processor_release,
    .load = processor_load,
    .unload = processor_unload};
