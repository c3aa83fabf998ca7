/* Whose kernel failed: the driver says it with whatever call comes next, and that may belong to another loop. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpu.h"

void gpu_given(struct gpu *c, const char *loop, const char *variant) {
  struct gpu_under_way *u = &c->under_way;
  for (int i = 0; i < u->count; i++)
    if (strncmp(u->items[i].loop, loop, sizeof u->items[i].loop - 1) == 0 &&
        strncmp(u->items[i].variant, variant, sizeof u->items[i].variant - 1) == 0)
      return;
  if (u->count == GPU_UNDER_WAY) {
    u->more = true;
    return;
  }
  struct gpu_launched *new = &u->items[u->count++];
  snprintf(new->loop, sizeof new->loop, "%s", loop);
  snprintf(new->variant, sizeof new->variant, "%s", variant);
}

void gpu_waited(struct gpu *c) {
  c->counters->waits++;
  c->under_way.count = 0;
  c->under_way.more = false;
}

/* Does the message name the one loop that it can be? */
static bool is_named(const struct gpu_under_way *u, const char *message) {
  struct text words = {0};
  text_addf(&words, "loop %s, variant %s,", u->items[0].loop, u->items[0].variant);
  const bool named = u->count == 1 && text_ok(&words) && strstr(message, text_str(&words));
  text_free(&words);
  return named;
}

static void add_suspects(const struct gpu_under_way *u, struct text *out) {
  text_add(out, u->count == 1
                    ? "; the kernel that failed is that of loop "
                    : "; loops are not waited for, so the kernel that failed is that of one of the loops ");
  for (int i = 0; i < u->count; i++)
    text_addf(out, "%s%s (%s)", i ? ", " : "", u->items[i].loop, u->items[i].variant);
  if (u->more)
    text_add(out, " and later ones");
  if (u->count > 1)
    text_add(out, ": with OP2_TIMING=text each one is waited for, and the message has the one that failed");
}

int gpu_failed(struct gpu *c, int code, struct error *err, const char *doing, ...) {
  const struct gpu_under_way *u = &c->under_way;
  struct text what = {0};
  va_list args;
  if (!code)
    return OP_OK;
  va_start(args, doing);
  text_vaddf(&what, doing, args);
  va_end(args);
  c->failed |= c->driver->is_of_kernel(code);
  const int kind = c->driver->check(c->self, code, err, text_str(&what));
  text_clear(&what);
  if (u->count && c->driver->is_of_kernel(code) && !is_named(u, error_message(err))) {
    text_add(&what, error_message(err));
    add_suspects(u, &what);
    error_set(err, kind, "%s", text_str(&what));
  }
  text_free(&what);
  return kind;
}
