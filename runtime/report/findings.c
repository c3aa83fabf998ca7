/* The list of OP2_CHECK=list at op_exit: what all ranks found. */
#include "record/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "report/report.h"

/* One after the other: numbers, then the two texts, each with its NUL. */
static void pack(const struct findings *f, struct text *out) {
  for (int i = 0; i < f->list.count; i++) {
    const struct finding *one = f->list.items[i];
    text_add_bytes(out, (const char *)one, sizeof *one);
    text_add_bytes(out, one->loop, strlen(one->loop) + 1);
    text_add_bytes(out, one->first, strlen(one->first) + 1);
  }
}

static int unpack(struct findings *f, char *from, const char *end, struct error *err) {
  int code = OP_OK;
  while (!code && from < end) {
    struct finding one;
    memcpy(&one, from, sizeof one);
    one.loop = from + sizeof one;
    one.first = one.loop + strlen(one.loop) + 1;
    from = one.first + strlen(one.first) + 1;
    code = findings_add(f, &one, err);
  }
  return code;
}

/* The root adds what the others found to its own. `sizes`: of each rank. */
static int gather(struct op_context *ctx, const struct text *mine, const size_t *sizes, struct error *err) {
  struct comm *c = ctx->agreement;
  size_t bytes = 0;
  for (int r = 0; r < c->size; r++)
    bytes += sizes[r];
  char *all = array_new(c->rank == 0 ? bytes : 1, 1);
  int code = all && text_ok(mine) ? OP_OK : error_memory(err, "the list of OP2_CHECK", bytes);
  code = agree_on_success(c, code, err);
  if (!code)
    code = comm_gather(c, text_str(mine), mine->length, all, sizes, 0, err);
  if (!code && c->rank == 0)
    code = unpack(ctx->findings, all + sizes[0], all + bytes, err);
  free(all);
  return agree_on_success(c, code, err);
}

/* *any: some rank found something. */
static int gather_all(struct op_context *ctx, bool *any, struct error *err) {
  struct comm *c = ctx->agreement;
  struct text mine = {0};
  pack(ctx->findings, &mine);
  size_t *sizes = array_new((size_t)c->size, sizeof *sizes);
  int code = sizes ? OP_OK : error_memory(err, "the list of OP2_CHECK", (size_t)c->size * sizeof *sizes);
  code = agree_on_success(c, code, err);
  if (!code)
    code = c->table->gather_all(c, &mine.length, sizeof mine.length, sizes, err);
  for (int r = 0; !code && r < c->size; r++)
    *any |= sizes[r] > 0;
  if (!code && *any)
    code = gather(ctx, &mine, sizes, err);
  free(sizes);
  text_free(&mine);
  return code;
}

static void print(struct findings *f, const struct log *log) {
  struct text words = {0};
  findings_print(f, &words);
  fflush(stdout);
  log_line(log, LOG_ERROR, "check", "%s", text_str(&words));
  text_free(&words);
}

void context_print_findings(const struct op_context *ctx) {
  if (ctx->findings->list.count)
    print(ctx->findings, ctx->log);
}

int context_findings(struct op_context *ctx, struct error *err) {
  bool any = ctx->findings->list.count > 0;
  const int code = comm_alone(ctx->comm) ? OP_OK : gather_all(ctx, &any, err);
  if (code || !any)
    return code;
  struct log of_all = *ctx->log;
  of_all.rank = -1;
  if (ctx->comm->rank == 0)
    print(ctx->findings, &of_all);
  error_set(err, OP_ERR_VIOLATION,
            "kernels do not do what their access descriptors say: OP2_CHECK=list has listed it");
  err->teller = ctx->comm->rank == 0 ? ERROR_AGREED : ERROR_ELSEWHERE;
  return OP_ERR_VIOLATION;
}
