#include "reports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "data.h"
#include "plan_cache.h"

static const char *origin(const struct loop *loop) {
  return loop->stats.compiled ? "compiled" : loop->stats.from_cache ? "cache hit" : "-";
}

int context_timing(struct op_context *ctx, struct text *out, struct error *err) {
  struct loop **loops = loop_records(ctx);
  if (!loops)
    return error_memory(err, "a report", ctx->loops.count * sizeof(void *));
  text_addf(out, "%-20s %10s %12s %10s %10s %10s  %-10s %s\n", "loop", "calls", "seconds", "plan s",
            "compile s", "GB/s", "code", "variant");
  for (size_t i = 0; i < ctx->loops.count; i++) {
    const struct loop_stats *s = &loops[i]->stats;
    double rate = s->seconds > 0 ? s->bytes * (double)s->calls / s->seconds * 1e-9 : 0;
    text_addf(out, "%-20s %10lld %12.6f %10.6f %10.6f %10.3f  %-10s %s\n", loops[i]->name, s->calls,
              s->seconds, s->plan_seconds, s->compile_seconds, rate, origin(loops[i]),
              s->variant ? s->variant : "-");
  }
  free(loops);
  return OP_OK;
}

static void describe_mesh(const struct op_context *ctx, struct text *out) {
  const struct mesh *mesh = &ctx->mesh;
  text_addf(out, "%-20s %12s\n", "set", "elements");
  for (int i = 0; i < mesh->sets.count; i++) {
    const struct set *set = mesh->sets.items[i];
    text_addf(out, "%-20s %12ld\n", set->name, set->size);
  }
  text_addf(out, "%-20s %-20s %-20s %6s\n", "map", "from", "to", "arity");
  for (int i = 0; i < mesh->maps.count; i++) {
    const struct map *map = mesh->maps.items[i];
    text_addf(out, "%-20s %-20s %-20s %6d\n", map->name, map->from->name, map->to->name, map->arity);
  }
  text_addf(out, "%-20s %-20s %6s %-18s %-6s %12s\n", "dat", "set", "dim", "type", "layout", "bytes");
  for (int i = 0; i < mesh->dats.count; i++) {
    const struct dat *dat = mesh->dats.items[i];
    text_addf(out, "%-20s %-20s %6d %-18s %-6s %12zu\n", dat->name, dat->set->name, dat->dim,
              type_info(dat->type)->name, dat->soa ? "soa" : "aos", (size_t)dat->set->size * dat->row_bytes);
  }
}

int context_diagnostics(struct op_context *ctx, struct text *out, struct error *err) {
  (void)err;
  text_addf(out, "backend %s\n", ctx->backend->name);
  describe_mesh(ctx, out);
  if (ctx->plans)
    plan_cache_describe(ctx->plans, out);
  return OP_OK;
}

int context_check_plans(struct op_context *ctx, int level, struct error *err) {
  return ctx->plans ? plan_cache_verify(ctx->plans, level, err) : OP_OK;
}

static int report_to_stdout(struct op_context *ctx, struct error *err) {
  struct text out = {0};
  int code = context_timing(ctx, &out, err);
  if (!code)
    fputs(text_str(&out), stdout);
  text_free(&out);
  return code;
}

int context_report(struct op_context *ctx, struct error *err) {
  const char *wanted = env_value(&ctx->env, ENV_TIMING);
  return strcmp(wanted, "text") == 0 ? report_to_stdout(ctx, err) : OP_OK;
}
