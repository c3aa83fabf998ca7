#include "loop/names.h"

#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "base/nearest.h"
#include "context/checked.h"
#include "context/context.h"
#include "context/env.h"
#include "record/sites.h"

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
