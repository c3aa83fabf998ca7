#include "check/forms.h"

#include "backend/backend.h"
#include "check/check.h"
#include "check/shadow/shadow.h"
#include "context/context.h"
#include "context/env.h"
#include "loop/form.h"

static bool wants_check(const struct op_context *ctx, const struct loop *loop) {
  return ctx->diags >= 7 || check_wanted(env_value(ctx->env, ENV_CHECK), loop->name);
}

/* What is checked runs plainly afterwards, so that its results are those of a plain run, bit for bit. */
static int run_checked(struct op_context *ctx, struct launch *launch, struct error *err) {
  int code = loop_look(ctx, launch, check_run, NULL, err);
  if (!code)
    code = loop_run_plainly(ctx, launch, err);
  if (!code)
    launch->loop->stats.variant = "checking form";
  return code;
}

static bool wants_shadow(const struct op_context *ctx, const struct loop *loop) {
  (void)loop;
  return ctx->shadow != NULL;
}

/* Both runs start from the same halos, also where the first one's are on a device only. */
static int run_twice(struct op_context *ctx, struct launch *launch, struct error *err) {
  const struct loop *loop = launch->loop;
  struct shadow_run run;
  int code = loop_prepare(ctx, launch, err);
  if (!code)
    code = loop_exchange_now(ctx, launch, loop->backend->space, err);
  if (!code && loop->shadow->backend->space == SPACE_HOST)
    code = loop_exchange_now(ctx, launch, SPACE_HOST, err);
  if (!code)
    code = shadow_begin(ctx, launch, &run, err);
  if (code)
    return code;
  code = loop_run_plainly(ctx, launch, err);
  if (code) {
    shadow_drop(&run);
    return code;
  }
  return shadow_end(ctx, launch, &run, err);
}

static int run_shadowed(struct op_context *ctx, struct launch *launch, struct error *err) {
  const bool due = (launch->loop->stats.calls - 1) % ctx->shadow_every == 0;
  return due ? run_twice(ctx, launch, err) : loop_run_plainly(ctx, launch, err);
}

const struct loop_form check_forms[] = {
    {.name = "checked", .wanted = wants_check, .run = run_checked, .drop = check_drop},
    {.name = "shadowed", .wanted = wants_shadow, .run = run_shadowed},
    {0},
};
