/* From a loop and a shape to a program on the device. */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "base/size.h"
#include "context.h"
#include "jit/excerpt.h"

/* ---- what the compiler said ---- */
static const struct compile_message *first_error(const struct compile_result *r) {
  for (int i = 0; i < r->nmessages; i++)
    if (r->messages[i].severity == COMPILE_ERROR)
      return &r->messages[i];
  return NULL;
}

static int compile_error(const struct cuda *c, const struct loop *loop, const struct generated *g,
                         const struct compile_result *r, struct error *err) {
  const struct compile_message *m = first_error(r);
  const struct desc *d = &loop->desc;
  struct source source = {.text = d->text,
                          .length = strlen(d->text),
                          .file = d->origin_file,
                          .line = d->origin_line ? d->origin_line : 1,
                          .one_line = d->one_line};
  struct text place = {0}, excerpt = {0};
  bool users = m && strcmp(m->file, g->kernel_file) == 0;
  if (users) {
    source_place(&source, m->line, m->column, &place);
    source_excerpt(&source, m->line, m->column, &excerpt);
  } else if (m && *m->file) {
    text_addf(&place, "%s:%d (generated code)", m->file, m->line);
  }
  error_set(err, OP_ERR_COMPILE, "loop %s: NVRTC %s cannot compile the kernel: %s%s%s%s%s", loop->name,
            nvrtc_version(c->nvrtc), text_str(&place), place.length ? ": " : "",
            m ? m->text : "no reason given", excerpt.length ? "\n" : "", text_str(&excerpt));
  text_free(&place);
  text_free(&excerpt);
  return OP_ERR_COMPILE;
}

static int compile(struct op_context *ctx, const struct loop *loop, const struct generated *g,
                   struct compile_result *result, struct error *err) {
  struct cuda *c = cuda_of(ctx);
  const struct compile_file files[] = {{g->main_file, text_str(&g->main), g->main.length},
                                       {g->kernel_file, text_str(&g->kernel), g->kernel.length},
                                       {g->prelude_file, g->prelude, strlen(g->prelude)}};
  const struct compile_request request = {.files = files, .nfiles = 3, .cpu = c->arch, .fp = loop->desc.fp};
  nvrtc_compile(c->nvrtc, &request, NULL, 0, result);
  if (result->status)
    return compile_error(c, loop, g, result, err);
  for (int i = 0; i < result->nmessages; i++)
    if (result->messages[i].severity == COMPILE_NOTE)
      log_line(&ctx->log, LOG_INFO, "cuda", "loop %s: %s", loop->name, result->messages[i].text);
  return OP_OK;
}

static int load(struct op_context *ctx, struct loop *loop, const struct generated *g, struct cuda_program *p,
                struct error *err) {
  struct cuda *c = cuda_of(ctx);
  struct compile_result result = {0};
  int code = compile(ctx, loop, g, &result, err);
  if (!code) {
    ctx->counters.compiles++;
    loop->stats.compiled = true;
    loop->stats.compile_seconds += result.seconds_front + result.seconds_middle + result.seconds_back;
    code = cuda_check(&c->driver, c->driver.module_load(&p->module, result.binary, 0, NULL, NULL), err,
                      "loop %s: loading the compiled kernel on GPU %d", loop->name, c->device.ordinal);
  }
  nvrtc_release(&result);
  return code;
}

static char *whole_text(const struct generated *g) {
  struct text t = {0};
  text_addf(&t, "%s\n%s", text_str(&g->main), text_str(&g->kernel));
  return text_take(&t);
}

static int add_program(struct op_context *ctx, struct loop *loop, const struct generated *g, char *text,
                       struct cuda_program **out, struct error *err) {
  struct cuda *c = cuda_of(ctx);
  struct cuda_program *p = calloc(1, sizeof *p);
  if (p)
    p->constant_changes = array_new((size_t)loop->desc.nconsts, sizeof *p->constant_changes);
  if (!p || !p->constant_changes) {
    free(p);
    return error_memory(err, "a program for the GPU", sizeof *p);
  }
  for (int i = 0; i < loop->desc.nconsts; i++)
    p->constant_changes[i] = -1;
  int code = load(ctx, loop, g, p, err);
  if (code) {
    free(p->constant_changes);
    free(p);
    return code;
  }
  p->text = text;
  p->next = c->programs;
  c->programs = p;
  *out = p;
  return OP_OK;
}

int cuda_program_get(struct op_context *ctx, struct loop *loop, const struct cuda_shape *shape,
                     struct cuda_program **out, struct error *err) {
  struct cuda *c = cuda_of(ctx);
  struct generated g;
  int code = generate_cuda(&loop->desc, shape, c->mistake, &g, err);
  if (code)
    return error_prefix(err, "loop %s: ", loop->name);
  char *text = whole_text(&g);
  if (!text)
    code = error_memory(err, "generated code", g.main.length);
  *out = NULL;
  for (struct cuda_program *p = c->programs; p && text && !*out; p = p->next)
    if (strcmp(p->text, text) == 0)
      *out = p;
  if (*out) {
    ctx->counters.cache_hits++;
    free(text);
  } else if (!code && (code = add_program(ctx, loop, &g, text, out, err))) {
    free(text);
  }
  generated_free(&g);
  return code;
}

void cuda_programs_free(struct cuda *c) {
  while (c->programs) {
    struct cuda_program *p = c->programs;
    c->programs = p->next;
    if (!c->failed)
      c->driver.module_unload(p->module);
    free(p->constant_changes);
    free(p->text);
    free(p);
  }
}

int cuda_program_constants(struct op_context *ctx, const struct loop *loop, struct cuda_program *program,
                           struct error *err) {
  struct cuda *c = cuda_of(ctx);
  for (int i = 0; i < loop->desc.nconsts; i++) {
    const struct desc_const *k = &loop->desc.consts[i];
    if (k->folded)
      continue;
    const struct constant *constant = mesh_find_constant(&ctx->mesh, k->name);
    if (program->constant_changes[i] == constant->changes)
      continue;
    cuda_address at = 0;
    size_t bytes = 0;
    int code = c->driver.module_global(&at, &bytes, program->module, k->name);
    if (!code)
      code = c->driver.copy_in(at, constant->value, constant->bytes, c->stream);
    if (code)
      return cuda_check(&c->driver, code, err, "loop %s: copying constant %s to GPU %d", loop->name, k->name,
                        c->device.ordinal);
    program->constant_changes[i] = constant->changes;
  }
  return OP_OK;
}
