#include "context.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void warn_each_line(const struct log *log, const struct text *lines) {
  for (const char *p = text_str(lines); *p;) {
    size_t length = strcspn(p, "\n");
    log_line(log, LOG_WARN, "env", "%.*s", (int)length, p);
    p += length + (p[length] == '\n');
  }
}

static int open_env(struct op_context *ctx, int argc, char **argv, struct error *err) {
  struct text warnings = {0};
  int code = env_read(&ctx->env, argc, argv, &warnings, err);
  ctx->log.rank = -1;
  if (!code && !log_configure(&ctx->log, env_value(&ctx->env, ENV_LOG)))
    code = error_set(err, OP_ERR_ENV,
                     "OP2_LOG=%s: expected words separated by ',': error, warn, info, debug, or the "
                     "categories jit, cache, tune, plan, loop, mpi, cuda, io, check, perf, env, team",
                     env_value(&ctx->env, ENV_LOG));
  if (!code)
    warn_each_line(&ctx->log, &warnings);
  text_free(&warnings);
  return code;
}

int context_open(struct op_context **out, struct handles *handles, int argc, char **argv, int diags,
                 struct error *err) {
  struct op_context *ctx = calloc(1, sizeof *ctx);
  if (!ctx)
    return error_memory(err, "the context", sizeof *ctx);
  ctx->handles = handles;
  ctx->diags = diags;
  int code = open_env(ctx, argc, argv, err);
  if (!code)
    code = backend_choose(ctx, err);
  if (code) {
    env_free(&ctx->env);
    free(ctx);
    return code;
  }
  *out = ctx;
  return OP_OK;
}

void context_close(struct op_context *ctx) {
  loop_forget(ctx, NULL);
  mesh_free(ctx);
  ctx->backend->close(ctx);
  native_free(&ctx->natives);
  for (int i = 0; i < ctx->kernel_files.count; i++)
    free(ctx->kernel_files.items[i]);
  list_free(&ctx->kernel_files);
  handles_release_all(ctx->handles);
  env_free(&ctx->env);
  free(ctx);
}

int ctx_flush(struct op_context *ctx, struct error *err) {
  (void)err;
  ctx->counters.flushes++;
  return OP_OK;
}
