#include "check/forms.h"

#include "backend/backend.h"
#include "base/log.h"
#include "check/check.h"
#include "check/shadow/shadow.h"
#include "context/checked.h"
#include "context/context.h"
#include "loop/form.h"
#include "record/sites.h"

static bool wants_check(const struct op_context *ctx, const struct loop *loop) {
  return context_checked(ctx, loop->name) != CHECKED_OFF;
}

static int tell(const struct op_context *ctx, const struct launch *launch, int code) {
  if (code == OP_ERR_VIOLATION)
    site_tell_capture(ctx, launch->loop, 0, 1);
  return code;
}

/* A checked loop runs plainly afterwards, so that its results are those of a plain run, bit for bit. */
static int run_checked(struct op_context *ctx, struct launch *launch, struct error *err) {
  int code = loop_look(ctx, launch, check_run, NULL, err);
  if (!code)
    code = loop_run_plainly(ctx, launch, err);
  if (!code)
    launch->loop->stats.variant = "checking form";
  return tell(ctx, launch, code);
}

static bool wants_shadow(const struct op_context *ctx, const struct loop *loop) {
  (void)loop;
  return ctx->shadow != NULL;
}

/* Both runs start from the same halos, also where the first one's are on a device only. `undo`: if they differ, the loop has
 * not run. */
static int run_twice(struct op_context *ctx, struct launch *launch, bool undo, struct error *err) {
  const struct loop *loop = launch->loop;
  struct shadow_run run;
  int code = loop_prepare(ctx, launch, err);
  if (!code)
    code = loop_exchange_now(ctx, launch, loop->space, err);
  if (!code && loop->shadow->space == SPACE_HOST)
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
  return shadow_end(ctx, launch, &run, undo, err);
}

static int run_shadowed(struct op_context *ctx, struct launch *launch, struct error *err) {
  const bool due = (launch->loop->stats.calls - 1) % ctx->shadow_every == 0;
  return due ? tell(ctx, launch, run_twice(ctx, launch, false, err)) : loop_run_plainly(ctx, launch, err);
}

/* A text that may not be the program's: calls 1, 2, 4 and so on run as the program's own function too, and that counts
 * if they differ. Not the first one alone: where all data are still zero it shows little. */
enum { LAST_COMPARED = 64 };

static bool wants_comparison(const struct op_context *ctx, const struct loop *loop) {
  (void)ctx;
  return loop->doubted;
}

static int run_compared(struct op_context *ctx, struct launch *launch, struct error *err) {
  struct loop *loop = launch->loop;
  const long long call = loop->stats.calls;
  const bool undo = loop->space == SPACE_HOST;
  if (!loop->doubted || !loop->source || !loop->shadow || (call & (call - 1)))
    return loop_run_plainly(ctx, launch, err);
  loop->doubted = call < LAST_COMPARED;
  int code = run_twice(ctx, launch, undo, err);
  if (code != OP_ERR_VIOLATION || !undo)
    return code;
  struct text why = {0};
  text_addf(&why, "the text found gives other results: %s", error_bare(err));
  log_line(ctx->log, site_weight(ctx, loop, "text"), "loop",
           "loop %s: %s; say the program's flags in OP2_CXXFLAGS", loop->name, text_str(&why));
  error_clear(err);
  code = loop->functions->give_up(ctx, loop, code, text_str(&why), err);
  text_free(&why);
  loop->ready.epoch = ctx->mesh->epoch - 1;
  return code ? code : loop_run_plainly(ctx, launch, err);
}

const struct loop_form check_forms[] = {
    {.name = "checked", .orders = true, .wanted = wants_check, .run = run_checked, .drop = check_drop},
    {.name = "shadowed", .wanted = wants_shadow, .run = run_shadowed},
    {.name = "compared", .wanted = wants_comparison, .run = run_compared},
    {0},
};
