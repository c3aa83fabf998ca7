#include "loop/loop_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/nearest.h"
#include "base/size.h"
#include "base/text.h"
#include "context/context.h"
#include "context/env.h"

static const char *list_of(const struct op_context *ctx, enum env_name variable) {
  const char *value = env_value(ctx->env, variable);
  bool names_loops = variable == ENV_CHECK ? strcmp(value, "on") != 0 && strcmp(value, "off") != 0
                                           : strchr(value, ':') != NULL;
  return names_loops ? value : "";
}

/* The names are kept one behind the other, each with a NUL. */
static bool is_seen(const struct text *seen, const char *name, size_t length) {
  for (size_t at = 0; at < seen->length; at += strlen(seen->data + at) + 1)
    if (strlen(seen->data + at) == length && memcmp(seen->data + at, name, length) == 0)
      return true;
  return false;
}

void loop_names_note(struct op_context *ctx, const char *name) {
  if ((*list_of(ctx, ENV_CHECK) || *list_of(ctx, ENV_VARIANT)) &&
      !is_seen(ctx->loop_names, name, strlen(name)))
    text_add_bytes(ctx->loop_names, name, strlen(name) + 1);
}

static const char *nearest_seen(const struct text *seen, const char *name) {
  int count = 0, n = 0;
  for (size_t at = 0; at < seen->length; at += strlen(seen->data + at) + 1)
    count++;
  const char **names = array_new((size_t)count, sizeof *names);
  for (size_t at = 0; names && at < seen->length; at += strlen(seen->data + at) + 1)
    names[n++] = seen->data + at;
  const int near = names ? nearest_name(name, names, n) : -1;
  const char *found = near >= 0 ? names[near] : NULL;
  free(names);
  return found;
}

void loop_names_note_dat(struct op_context *ctx, const char *name) {
  const char *value = env_value(ctx->env, ENV_VARIANT);
  if ((strstr(value, "soa=") || strstr(value, "aos=")) && !is_seen(ctx->dat_names, name, strlen(name)))
    text_add_bytes(ctx->dat_names, name, strlen(name) + 1);
}

/* What the environment names: a loop that ran, a dat that was declared. */
struct things {
  const char *what, *said, *lister;
  const struct text *seen;
};

static void warn(const struct op_context *ctx, enum env_name variable, const struct things *things,
                 const char *name, size_t length) {
  struct text word = {0};
  if (length == 0 || is_seen(things->seen, name, length))
    return;
  text_add_bytes(&word, name, length);
  const char *near = nearest_seen(things->seen, text_str(&word));
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
  const struct things loops = {"loop", "ran", "; op_timing_output lists those that ran", ctx->loop_names};
  const struct things dats = {"dat", "was declared", "; op_diagnostic_output lists them", ctx->dat_names};
  for (const char *p = list_of(ctx, ENV_CHECK); *p;) {
    const size_t part = strcspn(p, ",");
    warn(ctx, ENV_CHECK, &loops, p, part);
    p += part + (p[part] == ',');
  }
  for (const char *p = env_value(ctx->env, ENV_VARIANT); *p;) {
    const size_t part = strcspn(p, ","), colon = strcspn(p, ":");
    if (colon < part)
      warn(ctx, ENV_VARIANT, &loops, p, colon);
    else
      warn_of_dats(ctx, &dats, p, part);
    p += part + (p[part] == ',');
  }
}
