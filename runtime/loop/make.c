/* The record of a loop: a copy of the call, checked and described. */
#include "loop/loop.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/list.h"
#include "base/log.h"
#include "base/text.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "jit/prove.h"
#include "loop/choose.h"
#include "mesh/data.h"
#include "op2/op2jit_compiled.h"
#include "record/launch.h"
#include "record/sites.h"

void loop_free(struct op_context *ctx, struct loop *loop) {
  if (loop->site)
    site_leave(loop->site);
  if (loop->shadow)
    loop_free(ctx, loop->shadow);
  tune_drop(ctx, loop);
  tune_free(loop);
  if (loop->form && loop->form->drop)
    loop->form->drop(loop);
  desc_free(&loop->desc);
  kernel_free(&loop->kernel);
  error_free(&loop->failure);
  free(loop->key.args);
  free(loop->name);
  free(loop->key.text);
  free(loop->key.name);
  free(loop->places);
  free(loop->no_source);
  free(loop->key.file);
  free(loop->ready.frame);
  free(loop->fusion);
  for (struct launch *next; loop->ready.spare; loop->ready.spare = next) {
    next = loop->ready.spare->next;
    launch_free(loop->ready.spare);
  }
  free(loop);
}

void loop_take_back(struct op_context *ctx, struct loop *loop) {
  struct loop_table *table = ctx->loops;
  struct loop **link = &table->buckets[loop->key.hash & (table->nbuckets - 1)];
  while (*link != loop)
    link = &(*link)->next;
  *link = loop->next;
  table->count--;
  table->next_order--;
  ctx->counters->records--;
  loop_free(ctx, loop);
}

static int copy_call(struct loop *loop, const struct loop_call *call, struct error *err) {
  loop->key.args = array_new((size_t)loop->nargs, sizeof *loop->key.args);
  loop->name = strdup(loop_call_told(call));
  loop->key.text = strdup(call->text);
  loop->key.name = strdup(call->name);
  loop->key.file = strdup(call->file ? call->file : "");
  if (!loop->key.args || !loop->name || !loop->key.text || !loop->key.name || !loop->key.file)
    return error_memory(err, "the record of a loop",
                        strlen(call->text) + (size_t)loop->nargs * sizeof *loop->key.args);
  memcpy(loop->key.args, call->args, (size_t)loop->nargs * sizeof *loop->key.args);
  return OP_OK;
}

static int check_kernel(const struct loop *loop, struct error *err) {
  int code = kernel_check(&loop->kernel, &loop->desc, err);
  if (!code && loop->backend->code) /* a procedure reads the variables themselves */
    code = kernel_check_variables(&loop->kernel, &loop->desc, err);
  return code ? error_prefix(err, "loop %s, ", loop->name) : OP_OK;
}

static int check_and_describe(struct op_context *ctx, struct loop *loop, const struct loop_call *call,
                              struct error *err) {
  int code = loop_check(ctx, loop, err);
  if (!code && loop->functions)
    code = loop->functions->choose(ctx, loop, call, err);
  if (!code && !loop->compiled &&
      (code = kernel_parse_unit(&loop->kernel, ctx->shared, loop->key.text, loop->key.name, err)))
    error_prefix(err, "loop %s: ", loop->name);
  if (!code)
    code = loop_describe(ctx, loop, err);
  if (!code && !loop->compiled)
    code = check_kernel(loop, err);
  if (!code)
    code = loop_layout(loop, err);
  loop->native =
      loop->compiled ? loop->compiled->kernel : native_find(ctx->natives, loop->key.text, loop->key.name);
  return code;
}

static struct loop *record_new(struct op_context *ctx, const struct backend *backend,
                               const struct loop_call *call, struct error *err) {
  struct loop *loop = calloc(1, sizeof *loop);
  if (!loop) {
    error_memory(err, "the record of a loop", sizeof *loop);
    return NULL;
  }
  loop->backend = backend;
  loop->space = backend_space(backend);
  loop->key.set = call->set;
  loop->nargs = call->nargs;
  loop->key.line = call->line;
  loop->compiled = call->compiled;
  loop->functions = call->functions;
  if (tune_new(loop, err) || copy_call(loop, call, err) || check_and_describe(ctx, loop, call, err)) {
    loop_free(ctx, loop);
    return NULL;
  }
  return loop;
}

static void tell_order(const struct op_context *ctx, const struct loop *loop) {
  if (loop_is_disordered(loop))
    log_line(ctx->log, site_weight(ctx, loop, "order"), "loop",
             "loop %s: OP2_REPRODUCIBLE=on has no effect here: the program's own function runs; sums are "
             "rounded in whatever order they run",
             loop->name);
}

struct loop *loop_new(struct op_context *ctx, const struct loop_call *call, struct error *err) {
  struct loop_site *site = site_get(ctx, call, err);
  struct loop *loop = site ? record_new(ctx, ctx->backend, call, err) : NULL;
  if (!loop)
    return NULL;
  site_enter(site, loop);
  tell_order(ctx, loop);
  for (const struct loop_form *form = ctx->forms; form->name && !loop->form; form++)
    loop->form = form->wanted(ctx, loop) ? form : NULL;
  const struct backend *second = ctx->shadow ? ctx->shadow : loop->doubted ? loop->functions->second() : NULL;
  if (second && !(loop->shadow = record_new(ctx, second, call, err))) {
    loop_free(ctx, loop);
    return NULL;
  }
  return loop;
}

/* A kind of thing that the environment names: loops that ran, dats that were declared. */
struct things {
  const char *what, *said, *lister;
  const struct text *seen;
};

static void warn(const struct op_context *ctx, enum env_name variable, const struct things *things,
                 const char *name, size_t length) {
  struct text word = {0};
  if (length == 0 || names_have(things->seen, name, length))
    return;
  text_add_bytes(&word, name, length);
  const char *near = names_nearest(things->seen, text_str(&word));
  log_line(ctx->log, LOG_WARN, "env", "%s names the %s \"%s\", and no %s of that name %s%s%s%s",
           env_row(variable)->name, things->what, text_str(&word), things->what, things->said,
           near ? "; did you mean \"" : things->lister, near ? near : "", near ? "\"?" : "");
  text_free(&word);
}

/* The layouts soa=DAT and aos=DAT in the part of OP2_VARIANT for all loops. */
static void warn_of_dats(const struct op_context *ctx, const struct things *dats, const char *part,
                         size_t length) {
  for (size_t at = 0; at < length;) {
    const char *word = part + at;
    size_t end = strcspn(word, "/");
    if (end > length - at)
      end = length - at;
    if (end > 4 && (strncmp(word, "soa=", 4) == 0 || strncmp(word, "aos=", 4) == 0))
      warn(ctx, ENV_VARIANT, dats, word + 4, end - 4);
    at += end + 1;
  }
}

void loop_names_warn(const struct op_context *ctx) {
  struct text met = {0};
  const struct things loops = {"loop", "ran", "; op_timing_output lists those that ran", &met};
  const struct things dats = {"dat", "was declared", "; op_diagnostic_output lists them", ctx->dat_names};
  for (int i = 0; i < ctx->sites->count; i++)
    names_note(&met, ((const struct loop_site *)ctx->sites->items[i])->name);
  for (const char *p = checked_names(ctx); *p;) {
    const size_t part = strcspn(p, ",");
    warn(ctx, ENV_CHECK, &loops, p, part);
    p += part + (p[part] == ',');
  }
  const char *captured = env_value(ctx->env, ENV_CAPTURE);
  warn(ctx, ENV_CAPTURE, &loops, captured, strcspn(captured, ":"));
  for (const char *p = env_value(ctx->env, ENV_VARIANT); *p;) {
    const size_t part = strcspn(p, ","), colon = strcspn(p, ":");
    if (colon < part)
      warn(ctx, ENV_VARIANT, &loops, p, colon);
    else
      warn_of_dats(ctx, &dats, p, part);
    p += part + (p[part] == ',');
  }
  text_free(&met);
}
