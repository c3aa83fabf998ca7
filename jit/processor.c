/* This machine's processors: C by clang, objects by our own loader. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "jit/job.h"
#include "jit/load/load.h"
#include "jit/plugin.h"
#include "jit/proof/prove.h"
#include "jit/target.h"
#include "jit/texts/read.h"

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

int jit_compiler(struct jit *jit, struct text *out, struct error *err) {
  struct processor *p = jit->self;
  if (plugin_find(&p->plugin, p->plugins, err) != OP_OK)
    return err->code;
  plugin_label(&p->plugin, out);
  return OP_OK;
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

static int processor_recall(void *self, const struct desc *d, struct error *err) {
  const struct processor *p = self;
  return prove_recall(&p->plugin, p->options.store, d, err);
}

static int processor_prove(void *self, const struct desc *d, const void *shape, const struct generated *files,
                           struct error *err) {
  struct processor *p = self;
  (void)shape;
  return prove_kernel(&p->plugin, p->options.store, p->options.log, &p->warned, d, files, false, false, NULL,
                      err);
}

int jit_prove(struct jit *jit, const struct desc *d, struct error *err) {
  struct processor *p = jit->self;
  const struct shape scalar = {0};
  struct generated files = {0};
  if (p->options.mode != JIT_ON || d->unproved)
    return OP_OK;
  int code = plugin_find(&p->plugin, p->plugins, err);
  if (!code && prove_is_known(&p->plugin, p->options.store, d, true))
    return OP_OK;
  if (!code && prove_recall(&p->plugin, p->options.store, d, err))
    return err->code;
  if (!code)
    code = plugin_open(&p->plugin, err);
  if (code) {
    error_clear(err);
    return OP_OK;
  }
  code = generate_c(d, &scalar, &files, err);
  if (!code)
    code = prove_kernel(&p->plugin, p->options.store, p->options.log, &p->warned, d, &files, true, false,
                        NULL, err);
  generated_free(&files);
  return code;
}

int jit_check(struct jit *jit, const struct desc *d, bool as_cxx, bool *asked, struct error *err) {
  struct processor *p = jit->self;
  const struct shape scalar = {0};
  struct generated files = {0};
  struct error why = {0};
  const bool led = p->options.share && !p->options.share->leads;
  *asked = p->options.mode != JIT_OFF;
  if (p->options.mode != JIT_ON || led)
    return OP_OK;
  *asked = plugin_find(&p->plugin, p->plugins, &why) == OP_OK;
  if (*asked && prove_is_known(&p->plugin, p->options.store, d, as_cxx))
    return OP_OK;
  *asked = *asked && plugin_open(&p->plugin, &why) == OP_OK && prove_find(&p->plugin);
  error_free(&why);
  int code = *asked ? generate_c(d, &scalar, &files, err) : OP_OK;
  if (!code && *asked)
    code = prove_kernel(&p->plugin, p->options.store, p->options.log, &p->warned, d, &files, as_cxx, true,
                        NULL, err);
  generated_free(&files);
  return code;
}

int jit_verdicts(struct jit *jit, const struct desc *d, enum prove_verdict verdicts[], bool *understood,
                 struct error *err) {
  struct processor *p = jit->self;
  const struct shape scalar = {0};
  struct generated files = {0};
  int code = plugin_find(&p->plugin, p->plugins, err);
  if (!code)
    code = plugin_open(&p->plugin, err);
  if (!code && !prove_find(&p->plugin))
    code = error_set(err, OP_ERR_NOT_BUILT, "%s has no prover; install library and plugin together",
                     text_str(&p->plugin.path));
  if (!code)
    code = generate_c(d, &scalar, &files, err);
  if (!code)
    *understood = prove_verdicts(&p->plugin, d, &files, verdicts);
  generated_free(&files);
  return code;
}

/* False: nobody knows. */
static bool find_facts(struct processor *p, const struct desc *d, struct prove_facts *found, bool *broken) {
  const struct shape scalar = {0};
  struct generated files = {0};
  struct error said = {0};
  bool untried = false;
  *broken = false;
  if (plugin_find(&p->plugin, p->plugins, &said) == OP_OK)
    prove_facts(&p->plugin, p->options.store, d, &untried, found);
  if (!said.code && p->options.mode == JIT_ON && (!found->known || untried)) {
    found->known = false;
    *broken = prove_recall(&p->plugin, p->options.store, d, &said) != OP_OK;
    /* What is wrong is said when the code is asked for. */
    if (!*broken && plugin_open(&p->plugin, &said) == OP_OK && generate_c(d, &scalar, &files, &said) == OP_OK)
      *broken = prove_kernel(&p->plugin, p->options.store, p->options.log, &p->warned, d, &files, false,
                             false, found, &said) != OP_OK;
  }
  generated_free(&files);
  error_free(&said);
  return found->known;
}

bool jit_facts(struct jit *jit, const struct desc *d, struct prove_fact facts[], bool *broken) {
  struct prove_facts found = {0};
  find_facts(jit->self, d, &found, broken);
  memcpy(facts, found.items, (size_t)d->nargs * sizeof *facts);
  return found.known;
}

void jit_rows(struct jit *jit, const struct desc *d, struct row_facts *out) {
  struct prove_facts found = {0};
  bool broken;
  find_facts(jit->self, d, &found, &broken);
  *out = found.known ? found.rows : (struct row_facts){0};
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

static bool say_why(struct texts_unit *out, const char *why) {
  texts_free(out);
  out->unit = strdup("");
  out->why = strdup(why);
  out->from = strdup("");
  return out->unit && out->why && out->from;
}

static int read_alone(struct processor *p, const struct texts_wish *wish, struct texts_unit *out,
                      struct error *err) {
  struct error why = {0};
  int code = plugin_find(&p->plugin, p->plugins, &why);
  if (!code && texts_recall(&p->plugin, p->options.store, wish, out))
    return OP_OK;
  if (!code && p->options.mode == JIT_LOAD)
    code = error_set(&why, OP_ERR_CACHE_MISS, "OP2_JIT=load, and the cache does not have its text");
  if (!code)
    code = plugin_open(&p->plugin, &why);
  if (!code)
    code = texts_read(&p->plugin, p->options.store, wish, out, &why);
  if (code && code != OP_ERR_MEMORY)
    code = say_why(out, error_message(&why)) ? OP_OK : OP_ERR_MEMORY;
  error_free(&why);
  return code ? error_memory(err, "the texts of kernels", sizeof *out) : OP_OK;
}

static int read_together(const struct jit_share *share, struct processor *p, const struct texts_wish *wish,
                         struct texts_unit *out, struct error *err) {
  struct text words = {0};
  struct texts_unit own = {0};
  if (share->leads && read_alone(p, wish, &own, err) == OP_OK)
    texts_print(&own, &words);
  texts_free(&own);
  error_clear(err);
  if (!text_ok(&words))
    text_clear(&words);
  const int code = jit_share_text(share, &words, err);
  const bool good = !code && text_ok(&words) && texts_parse(text_str(&words), words.length, out);
  const size_t length = words.length;
  text_free(&words);
  if (code)
    return code;
  return good || say_why(out, "there is no memory for its text")
             ? OP_OK
             : error_memory(err, "the texts of kernels", length);
}

int jit_read(struct jit *jit, const struct texts_wish *wish, struct texts_unit *out, struct error *err) {
  struct processor *p = jit->self;
  const struct jit_share *share = p->options.share;
  *out = (struct texts_unit){0};
  return share ? read_together(share, p, wish, out, err) : read_alone(p, wish, out, err);
}

/* ---- code ----------------------------------------------------------------------------------------*/

static int processor_load(void *self, const struct desc *d, const void *binary, size_t size,
                          struct loaded *out, struct error *err) {
  const struct processor *p = self;
  struct code *code = NULL;
  if (code_load(&code, binary, size, d->kernel_name, p->options.perf_map, err) != OP_OK)
    return err->code;
  union {
    void *object;
    range_function function;
  } symbol = {.object = code_symbol(code, GENERATED_FUNCTION)};
  if (!symbol.object) {
    code_free(code);
    return error_set(err, OP_ERR_FILE, "the binary of kernel %s has no function %s", d->kernel_name,
                     GENERATED_FUNCTION);
  }
  *out = (struct loaded){.code = code, .run = symbol.function};
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
    .compile = processor_compile,
    .release = processor_release,
    .load = processor_load,
    .unload = processor_unload};
