#include "loop/partial.h"

#include <string.h>

#include "backend/backend.h"
#include "backend/code.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "mesh/data.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "services/services.h"

int loop_ask(struct op_context *ctx, const struct loop *loop, const struct jit_wish *wish, struct facts *out,
             struct error *err) {
  struct jit *jit = NULL;
  bool asked = false;
  int code = context_jit(ctx, &jit, err);
  if (!code && (code = jit_facts(jit, &loop->desc, wish, out, &asked, err)))
    error_prefix(err, "loop %s: ", loop->name);
  return code;
}

int loop_facts(struct op_context *ctx, struct loop *loop, bool recalled, struct error *err) {
  const struct jit_wish wish = {.recalled = recalled};
  const bool asks = !loop->facts.known && !loop->ranged && !loop->fusion && ctx->comm->rank == 0;
  const int code = asks ? loop_ask(ctx, loop, &wish, &loop->facts, err) : OP_OK;
  loop_tell_facts(ctx, loop);
  return code;
}

static bool is_written(const struct loop_arg *arg) {
  return arg->form == DESC_DAT && arg->present && arg->access == OP_WRITE;
}

/* The program's own functions have the rows themselves; and a loop that is made of others has their arguments. */
static bool is_asked(const struct loop *loop) {
  bool any = false;
  for (int i = 0; i < loop->nargs; i++)
    any |= is_written(&loop->args[i]);
  return any && !loop->ranged && !loop->fusion && loop->backend->plan;
}

/* By the facts of the kernel; without facts nothing is proved. A run that compiles nothing takes the code that was
 * made with what was known then. Errors in the text are told by whoever makes the code. */
static int find_partial(struct op_context *ctx, struct loop *loop, bool recalled, double partial[],
                        struct error *err) {
  const bool loads = strcmp(env_value(ctx->env, ENV_JIT), "load") == 0;
  const bool early = recalled || space_is_device(loop->space) || !comm_alone(ctx->comm);
  struct error said = {0};
  int code = loop->desc.unproved ? OP_OK : loop_facts(ctx, loop, recalled, early ? &said : err);
  const bool broken = code && (!early || code == OP_ERR_VIOLATION); /* else nobody knows */
  for (int i = 0; i < loop->nargs && ctx->comm->rank == 0 && !broken; i++)
    partial[i] =
        is_written(&loop->args[i]) && (loop->facts.known ? loop->facts.args[i].partial : !loads && !recalled);
  error_free(&said);
  return agree_on_largest(ctx->agreement, early ? OP_OK : code, partial, OP_MAX_ARGS, err);
}

int loop_keep_rest(struct op_context *ctx, struct loop *loop, bool recalled, bool *changed,
                   struct error *err) {
  double partial[OP_MAX_ARGS] = {0};
  *changed = false;
  if (!is_asked(loop))
    return OP_OK;
  const int code = find_partial(ctx, loop, recalled, partial, err);
  for (int i = 0; !code && i < loop->nargs; i++) {
    if (!(partial[i] > 0))
      continue;
    log_line(
        ctx->log, LOG_INFO, "check",
        "loop %s, argument %d: it is not proved that all components of OP_WRITE are written; what was there "
        "is loaded first, as for OP_RW",
        loop->name, i + 1);
    loop->args[i].access = OP_RW;
    loop->args[i].dat->read = true;
    *changed = true;
  }
  return code;
}
