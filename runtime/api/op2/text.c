#include "api/op2/text.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "jit/jit.h"
#include "jit/kernel/prelude.h"
#include "jit/kernel/says.h"
#include "jit/texts.h"
#include "loop/loop.h"
#include "mesh/mesh.h"
#include "op2/op2jit_compiled.h"
#include "ranks/comm.h"
#include "record/sites.h"
#include "services/services.h"

/* A unit that a loop came from. */
struct met {
  char *unit, *program;
  struct texts_unit texts;
};

static void met_free(struct met *met) {
  texts_free(&met->texts);
  free(met->unit);
  free(met->program);
  free(met);
}

void text_forget(struct op_context *ctx) {
  for (int i = 0; i < ctx->texts->count; i++)
    met_free(ctx->texts->items[i]);
  list_free(ctx->texts);
}

/* ---- where things are ---- */

void text_program(const void *address, struct text *out) {
  Dl_info info;
  union {
    void *object;
    struct link_map *map;
  } extra = {NULL};
  char path[4096];
  if (!dladdr1(address, &info, &extra.object, RTLD_DL_LINKMAP) || !extra.map)
    return;
  if (*extra.map->l_name) {
    text_add(out, extra.map->l_name);
    return;
  }
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length > 0 && (size_t)length < sizeof path)
    text_add_bytes(out, path, (size_t)length);
}

static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) : 0;
}

/* ---- a unit is met for the first time ---- */

static struct met *find_met(const struct op_context *ctx, const char *unit, const char *program) {
  for (int i = 0; i < ctx->texts->count; i++) {
    struct met *met = ctx->texts->items[i];
    if (strcmp(met->unit, unit) == 0 && strcmp(met->program, program) == 0)
      return met;
  }
  return NULL;
}

static struct met *meet(const char *unit, const char *program) {
  struct met *met = calloc(1, sizeof *met);
  if (!met)
    return NULL;
  met->unit = strdup(unit);
  met->program = strdup(program);
  if (met->unit && met->program)
    return met;
  met_free(met);
  return NULL;
}

static bool find_embedded(const struct op2jit_origin *origin, struct texts_unit *out) {
  for (const char *at = origin->texts; texts_next(&at, origin->texts_end, out); texts_free(out))
    if (strcmp(out->unit, origin->unit) == 0)
      return true;
  return false;
}

bool text_may_read(const struct op_context *ctx) {
  return strcmp(env_value(ctx->env, ENV_JIT), "off") != 0 && strcmp(ctx->backend->name, "native") != 0;
}

static int read_unit(struct op_context *ctx, const struct op2jit_origin *origin, struct met *met,
                     struct error *err) {
  struct jit *jit = NULL;
  struct text headers = {0};
  text_add_bytes(&headers, origin->headers, folder_length(origin->headers));
  const struct read_request wish = {.unit = origin->unit,
                                    .flags = env_value(ctx->env, ENV_CXXFLAGS),
                                    .program = met->program,
                                    .headers = text_str(&headers),
                                    .when = origin->when,
                                    .standard = origin->standard,
                                    .is_gcc = origin->is_gcc};
  int code = context_jit(ctx, &jit, err);
  if (!code)
    code = jit_read(jit, &wish, &met->texts, err);
  text_free(&headers);
  return code;
}

int text_meet(struct op_context *ctx, const struct loop_call *call, struct error *err) {
  struct text program = {0};
  if (!call->origin->unit || !text_may_read(ctx) || !compiled_is_of_this(call->compiled))
    return OP_OK;
  text_program(call->compiled, &program);
  if (find_met(ctx, call->origin->unit, text_str(&program))) {
    text_free(&program);
    return OP_OK;
  }
  struct met *met = meet(call->origin->unit, text_str(&program));
  const bool inside = met && find_embedded(call->origin, &met->texts);
  text_free(&program);
  if (inside) {
    if (list_add(ctx->texts, met))
      return OP_OK;
    met_free(met);
    return error_memory(err, "the texts of kernels", sizeof *met);
  }
  int code =
      met ? read_unit(ctx, call->origin, met, err) : error_memory(err, "the texts of kernels", sizeof *met);
  if (!code && *met->texts.why && ctx->comm->rank == 0)
    log_line(ctx->log, LOG_WARN, "jit", "the loops of %s run as the program's compiler made them: %s",
             met->unit, met->texts.why);
  if (!code && !list_add(ctx->texts, met))
    code = error_memory(err, "the texts of kernels", sizeof *met);
  if (code && met)
    met_free(met);
  return code;
}

/* ---- which text is a loop's ---- */

static const char *last_part(const char *path, char separator) {
  const char *found = strrchr(path, separator);
  return found ? found + 1 : path;
}

static const struct read_kernel *find_kernel(const struct texts_unit *unit,
                                             const struct op2jit_origin *origin) {
  for (int i = 0; i < unit->nkernels; i++) {
    const struct read_kernel *k = &unit->kernels[i];
    if (origin->line >= k->line && origin->line <= k->last_line && strcmp(k->spelled, origin->kernel) == 0 &&
        strcmp(last_part(k->file, '/'), last_part(origin->file, '/')) == 0)
      return k;
  }
  return NULL;
}

bool text_constant_name(const char *name, struct text *out) {
  const bool plain = constant_name_wrong(name) == NULL;
  text_addf(out, "%s%s", plain ? "" : "const_", name);
  return text_ok(out) && (plain || constant_name_wrong(text_str(out)) == NULL);
}

static const struct constant *find_constant(const struct op_context *ctx, const struct read_variable *v) {
  struct text name = {0};
  const bool good = text_constant_name(v->name, &name);
  const struct constant *found = good ? mesh_find_constant(ctx->mesh, text_str(&name)) : NULL;
  text_free(&name);
  return found;
}

/* True if a constant of the program stands for the variable that the text names. */
static bool is_constant(const struct op_context *ctx, const struct read_variable *v, struct text *why) {
  const struct constant *constant = find_constant(ctx, v);
  if (constant && constant->several)
    text_addf(why, "it names the variable '%s', and op_decl_const declared several of this name", v->name);
  else if (!constant || v->declared < 0 || (!v->declared && !v->external) || !constant->live)
    text_addf(why, "it names the variable '%s', which is not declared by op_decl_const", v->name);
  else if (type_parse(v->type, NULL) != constant->type || (v->dim && v->dim != constant->dim) ||
           v->is_array != (constant->dim > 1))
    text_addf(why, "it names the variable '%s', and op_decl_const declared %d of type %s", v->name,
              constant->dim, type_info(constant->type)->name);
  return !why->length;
}

bool text_suits(const struct op_context *ctx, const struct loop *loop, const struct read_kernel *k,
                struct text *why) {
  bool numbers = false, payload = false;
  if (loop->forgiven && !safe_on_device(loop, why))
    text_add(why, why->length ? "" : "what comes of it depends on the order of elements");
  else if (*k->why)
    text_add(why, k->why);
  for (int i = 0; i < k->nvariables && !why->length; i++)
    is_constant(ctx, &k->variables[i], why);
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->started && !why->length)
      text_addf(why, "argument %d is OP_WORK that starts from values", i + 1);
    payload |= arg->form == DESC_INFO && loop->set->to_user;
    numbers |= arg->form == DESC_IDX;
  }
  if (numbers && payload && !why->length)
    text_add(why, "it has op_arg_idx and op_arg_info, and the elements are renumbered");
  return !why->length;
}

/* Why there is none; `found` otherwise. Returns the code of its unit, which texts.h describes. */
static int look(const struct op_context *ctx, const struct loop *loop, const struct loop_call *call,
                const struct read_kernel **found, struct text *why) {
  struct text program = {0};
  if (!call->origin->unit) {
    text_add(why, "it is no C++");
    return OP_OK;
  }
  text_program(call->compiled, &program);
  const struct met *met = find_met(ctx, call->origin->unit, text_str(&program));
  text_free(&program);
  const struct read_kernel *kernel = met ? find_kernel(&met->texts, call->origin) : NULL;
  if (!text_may_read(ctx) || !met)
    text_add(why, "OP2_JIT=off");
  else if (*met->texts.why)
    text_add(why, met->texts.why);
  else if (!kernel)
    text_addf(why, "%s has no op_par_loop of it at line %d: it is not the source of the program",
              call->origin->file, call->origin->line);
  else if (text_suits(ctx, loop, kernel, why))
    *found = kernel;
  return met ? met->texts.code : OP_OK;
}

/* The kernel cannot write to what its parameter calls const. */
static void read_only(struct loop *loop) {
  for (int i = 0; i < loop->nargs; i++)
    if (loop->args[i].dat && loop->args[i].present && loop->compiled->parameters[i].is_const)
      loop->args[i].access = OP_READ;
}

int text_settle(struct op_context *ctx, struct loop *loop, const struct read_kernel *k, int code,
                const struct text *why, struct error *err) {
  loop->source = k;
  loop->ranged = !k;
  loop->doubted = k && *k->doubt;
  if (k)
    read_only(loop);
  if (loop->doubted)
    log_line(ctx->log, LOG_INFO, "jit", "loop %s: its first calls run in two forms, which are compared: %s",
             loop->name, k->doubt);
  return k ? code : text_give_up(ctx, loop, code, text_str(why), err);
}

int text_choose(struct op_context *ctx, struct loop *loop, const struct loop_call *call, struct error *err) {
  struct text why = {0};
  const struct read_kernel *found = NULL;
  loop->ranged = true;
  if (strcmp(loop->backend->name, "native") == 0)
    return OP_OK;
  int code = look(ctx, loop, call, &found, &why);
  code = text_settle(ctx, loop, found, code, &why, err);
  text_free(&why);
  return code;
}

const struct backend *text_second(void) {
  const struct backend *const *b = backend_list();
  while (*b && strcmp((*b)->name, "native") != 0)
    b++;
  return *b;
}

/* With OP2_JIT=load it is a warning that the cache does not have the text. */
int text_give_up(struct op_context *ctx, struct loop *loop, int code, const char *why, struct error *err) {
  loop->ranged = true;
  loop->source = NULL;
  log_line(ctx->log, code == OP_ERR_CACHE_MISS ? site_weight(ctx, loop, "load") : LOG_INFO, "jit",
           "loop %s runs as the program's compiler made it: %s", loop->name, why);
  free(loop->no_source);
  loop->no_source = strdup(why);
  return loop->no_source ? OP_OK : error_memory(err, "a loop's text", strlen(why));
}

/* ---- the description ---- */

/* The text, in which variables have the names that loops have for them; how many lines stand before it. */
static int copy_text(const struct op_context *ctx, const struct read_kernel *k, struct text *out) {
  int lines = 0;
  for (int i = 0; i < k->nvariables; i++) {
    const char *name = k->variables[i].name, *known = find_constant(ctx, &k->variables[i])->name;
    if (strcmp(name, known) != 0) {
      text_addf(out, "#define %s %s\n", name, known);
      lines++;
    }
  }
  text_add(out, k->text);
  for (int i = 0; lines && i < k->nvariables; i++)
    text_addf(out, "#undef %s\n", k->variables[i].name);
  return lines;
}

/* For messages: which lines of the program the text is of. */
static bool copy_origins(const struct read_kernel *k, const char *text, int lines, struct origins *out) {
  size_t begin = 0;
  int line = 1;
  for (int i = 0; i < k->norigins; i++) {
    const struct read_origin *o = &k->origins[i];
    for (; line < o->line + lines && text[begin]; begin++)
      line += text[begin] == '\n';
    if (!origins_add(out, (struct origin){.begin = begin,
                                          .line = o->line + lines,
                                          .file = (char *)(size_t)o->file,
                                          .file_line = o->file_line}))
      return false;
  }
  return true;
}

int text_describe(struct op_context *ctx, struct loop *loop, struct error *err) {
  struct desc *d = &loop->desc;
  const struct read_kernel *k = loop->source;
  struct text text = {0};
  d->kernel_name = strdup(last_part(k->function, ':'));
  const int lines = copy_text(ctx, k, &text);
  d->text = text_take(&text);
  const bool is_c = !*k->spelled; /* of a procedure in Fortran */
  d->entry = is_c ? NULL : strdup(k->function);
  d->fp = strdup(context_fp(ctx, loop->reproducible));
  d->says = desc_says(d);
  d->consts = array_new((size_t)k->nvariables, sizeof *d->consts);
  d->origins.fortran = is_c;
  bool good = d->text && copy_origins(k, d->text, lines, &d->origins) && d->kernel_name &&
              (d->entry || is_c) && d->fp && d->consts;
  for (int i = 0; good && i < k->nvariables; i++)
    good = loop_describe_constant(d, find_constant(ctx, &k->variables[i]));
  return good ? OP_OK : error_memory(err, "a loop's kernel text", strlen(k->text));
}
