#include "loop/missing.h"

#include <string.h>

#include "context/context.h"
#include "record/record.h"

static bool has_result(const struct loop *loop) {
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    bool global = arg->form == DESC_GBL && arg->present;
    if (arg->form == DESC_INFO || (global && arg->access != OP_READ && arg->access != OP_WORK))
      return true;
  }
  return false;
}

static const char remedy[] = "OP2_JIT=load forbids compiling; run once with OP2_JIT=on";

int missing_tell(const struct missing *missing, struct error *err) {
  if (!missing->count)
    return OP_OK;
  return error_set(
      err, OP_ERR_CACHE_MISS,
      "%d loop%s would have to be compiled:%s\n%s. Loops after this call, which shows data, were not "
      "looked at",
      missing->count, missing->count == 1 ? "" : "s", text_str(&missing->list), remedy);
}

/* Records that differ in their data only have one kernel. */
static void add(struct missing *missing, const char *message) {
  struct text line = {0};
  text_addf(&line, "\n  %s", message);
  const char *at = strstr(text_str(&missing->list), text_str(&line));
  if (!at || (at[line.length] && at[line.length] != '\n')) {
    missing->count++;
    text_add(&missing->list, text_str(&line));
  }
  text_free(&line);
}

int missing_note(struct op_context *ctx, struct loop *loop, int code, struct error *err) {
  struct missing *missing = ctx->missing;
  if (code && code != OP_ERR_CACHE_MISS)
    return code;
  if (code && !missing->gather) {
    struct error one = {0};
    error_copy(&one, err);
    error_set(err, OP_ERR_CACHE_MISS, "%s; %s", error_message(&one), remedy);
    err->teller = one.teller;
    error_free(&one);
    return OP_ERR_CACHE_MISS;
  }
  if (code)
    add(missing, error_message(err));
  error_clear(err);
  return has_result(loop) ? missing_tell(missing, err) : OP_OK;
}
