#include "context/checked.h"

#include <stdbool.h>
#include <string.h>

#include "context/context.h"
#include "context/env.h"

/* The form of a value that names loops is that of those that it names. */
static enum checked parse(const char *value, const char **loops) {
  static const char list[] = "list:";
  *loops = "";
  if (strcmp(value, "off") == 0 || !*value)
    return CHECKED_OFF;
  if (strcmp(value, "on") == 0)
    return CHECKED_ON;
  if (strcmp(value, "list") == 0)
    return CHECKED_LIST;
  const bool lists = strncmp(value, list, sizeof list - 1) == 0;
  *loops = value + (lists ? sizeof list - 1 : 0);
  return lists ? CHECKED_LIST : CHECKED_ON;
}

enum checked context_checked(const struct op_context *ctx, const char *name) {
  const char *loops;
  const enum checked form = parse(env_value(ctx->env, ENV_CHECK), &loops);
  if (form != CHECKED_OFF && (!*loops || env_lists(loops, ',', name)))
    return form;
  return ctx->diags >= 7 ? CHECKED_ON : CHECKED_OFF;
}

const char *checked_names(const struct op_context *ctx) {
  const char *loops;
  parse(env_value(ctx->env, ENV_CHECK), &loops);
  return loops;
}
