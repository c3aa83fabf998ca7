/* Whose kernel failed: the driver says it with whatever call comes next, and that may belong to another loop. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cuda.h"

void cuda_given(struct cuda *c, const char *loop, const char *variant) {
  struct cuda_under_way *u = &c->under_way;
  for (int i = 0; i < u->count; i++)
    if (strncmp(u->items[i].loop, loop, sizeof u->items[i].loop - 1) == 0 &&
        strncmp(u->items[i].variant, variant, sizeof u->items[i].variant - 1) == 0)
      return;
  if (u->count == CUDA_UNDER_WAY) {
    u->more = true;
    return;
  }
  struct cuda_launched *new = &u->items[u->count++];
  snprintf(new->loop, sizeof new->loop, "%s", loop);
  snprintf(new->variant, sizeof new->variant, "%s", variant);
}

void cuda_waited(struct cuda *c) {
  c->under_way.count = 0;
  c->under_way.more = false;
}

/* Codes of a kernel that was running, whatever the call. */
static bool is_of_kernel(int code) {
  static const int codes[] = {214, 700, 702, 710, 714, 715, 716, 717, 718, 719};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (code == codes[i])
      return true;
  return false;
}

/* Does the message name the one loop that it can be? */
static bool is_named(const struct cuda_under_way *u, const char *message) {
  struct text words = {0};
  text_addf(&words, "loop %s, variant %s,", u->items[0].loop, u->items[0].variant);
  const bool named = u->count == 1 && text_ok(&words) && strstr(message, text_str(&words));
  text_free(&words);
  return named;
}

static void add_suspects(const struct cuda_under_way *u, struct text *out) {
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

int cuda_failed(struct cuda *c, int code, struct error *err, const char *doing, ...) {
  const struct cuda_under_way *u = &c->under_way;
  struct text what = {0};
  va_list args;
  if (!code)
    return OP_OK;
  va_start(args, doing);
  text_vaddf(&what, doing, args);
  va_end(args);
  c->failed |= is_of_kernel(code);
  const int kind = cuda_check(&c->driver, code, err, "%s", text_str(&what));
  text_clear(&what);
  if (u->count && is_of_kernel(code) && !is_named(u, error_message(err))) {
    text_add(&what, error_message(err));
    add_suspects(u, &what);
    error_set(err, kind, "%s", text_str(&what));
  }
  text_free(&what);
  return kind;
}
