/* The loop whose kernel failed: the driver says so with whatever call comes next, and that may belong to another
 * loop. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpu.h"

static bool is_of(const struct gpu_launched *l, const char *loop, const char *variant) {
  return strncmp(l->loop, loop, sizeof l->loop - 1) == 0 &&
         strncmp(l->variant, variant, sizeof l->variant - 1) == 0;
}

void gpu_given(struct gpu *c, const char *loop, const char *variant) {
  struct gpu_under_way *u = &c->under_way;
  for (int i = 0; i < u->count; i++)
    if (is_of(&u->items[i], loop, variant))
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

/* `named`: `doing` names the one loop that it can be of. */
static int tell(struct gpu *c, int code, struct error *err, const char *doing, bool named) {
  const struct gpu_under_way *u = &c->under_way;
  struct text what = {0};
  c->failed |= c->driver->is_of_kernel(code);
  const int kind = c->driver->check(c->self, code, err, doing);
  if (u->count && c->driver->is_of_kernel(code) && !named) {
    text_add(&what, error_message(err));
    add_suspects(u, &what);
    error_set(err, kind, "%s", text_str(&what));
  }
  text_free(&what);
  return kind;
}

int gpu_failed(struct gpu *c, int code, struct error *err, const char *doing, ...) {
  struct text what = {0};
  va_list args;
  if (!code)
    return OP_OK;
  va_start(args, doing);
  text_vaddf(&what, doing, args);
  va_end(args);
  const int kind = tell(c, code, err, text_str(&what), false);
  text_free(&what);
  return kind;
}

int gpu_kernel_failed(struct gpu *c, int code, const char *loop, const char *variant, const char *doing,
                      struct error *err) {
  const struct gpu_under_way *u = &c->under_way;
  struct text what = {0};
  if (!code)
    return OP_OK;
  c->failed = true;
  text_addf(&what, "loop %s, variant %s, %s: %s", loop, variant, c->device.label, doing);
  const int kind = tell(c, code, err, text_str(&what), u->count == 1 && is_of(&u->items[0], loop, variant));
  text_free(&what);
  return kind;
}

int gpu_wait_for(struct gpu *c, const char *loop, const char *variant, struct error *err) {
  const int code = gpu_kernel_failed(c, c->driver->wait(c->self), loop, variant, "running the kernel", err);
  if (!code)
    gpu_waited(c);
  return code;
}
