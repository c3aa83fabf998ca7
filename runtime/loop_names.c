#include "loop_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/size.h"
#include "context.h"

static const char *list_of(const struct op_context *ctx, enum env_name variable) {
  const char *value = env_value(&ctx->env, variable);
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
      !is_seen(&ctx->loop_names, name, strlen(name)))
    text_add_bytes(&ctx->loop_names, name, strlen(name) + 1);
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

static void warn(const struct op_context *ctx, enum env_name variable, const char *name, size_t length) {
  struct text word = {0};
  if (length == 0 || is_seen(&ctx->loop_names, name, length))
    return;
  text_add_bytes(&word, name, length);
  const char *near = nearest_seen(&ctx->loop_names, text_str(&word));
  log_line(&ctx->log, LOG_WARN, "env", "%s names the loop \"%s\", and no loop of that name ran%s%s%s",
           env_row(variable)->name, text_str(&word),
           near ? "; did you mean \"" : "; op_timing_output lists those that ran", near ? near : "",
           near ? "\"?" : "");
  text_free(&word);
}

void loop_names_warn(const struct op_context *ctx) {
  for (const char *p = list_of(ctx, ENV_CHECK); *p;) {
    const size_t part = strcspn(p, ",");
    warn(ctx, ENV_CHECK, p, part);
    p += part + (p[part] == ',');
  }
  for (const char *p = list_of(ctx, ENV_VARIANT); *p;) {
    const size_t part = strcspn(p, ","), colon = strcspn(p, ":");
    if (colon < part)
      warn(ctx, ENV_VARIANT, p, colon);
    p += part + (p[part] == ',');
  }
}
