#include "record/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/types.h"
#include "context/context.h"

/* `reserved` of an argument: 0 for one without values of its own, else where they are, or the number of the copy. */
enum { NOWHERE = -2, INSIDE = -1 };
/* The most copies; fewer, but not too few for loops that are called in turns, if they are large. */
enum { MOST = 4096, LEAST = 4 * OP_MAX_ARGS, ROOM = 64 << 20 };

struct kept {
  long long oldest, next; /* numbers of copies */
  size_t bytes;
  struct copy {
    void *values;
    size_t bytes;
  } copies[MOST]; /* by number */
};

static size_t bytes_of(const op_arg *arg) {
  size_t bytes;
  return arg->dim_ > 0 && size_mul((size_t)arg->dim_, type_info((enum type_code)arg->type_)->size, &bytes)
             ? bytes
             : 0;
}

/* Numbers go on from the time, so that those from before an op_exit are not met again. */
static struct kept *find(struct op_context *ctx) {
  if (!ctx->kept && (ctx->kept = calloc(1, sizeof *ctx->kept)))
    ctx->kept->oldest = ctx->kept->next = 1 + (long long)(clock_seconds() * 1e9);
  return ctx->kept;
}

static void drop_oldest(struct kept *k) {
  struct copy *c = &k->copies[k->oldest++ % MOST];
  k->bytes -= c->bytes;
  free(c->values);
  *c = (struct copy){0};
}

static long long add(struct kept *k, const void *data, size_t bytes) {
  while (k->next - k->oldest >= MOST || (k->next - k->oldest >= LEAST && k->bytes + bytes > ROOM))
    drop_oldest(k);
  void *values = malloc(bytes);
  if (!values)
    return NOWHERE;
  k->copies[k->next % MOST] = (struct copy){memcpy(values, data, bytes), bytes};
  k->bytes += bytes;
  return k->next++;
}

void kept_take(struct op_context *ctx, op_arg *arg) {
  const size_t bytes = bytes_of(arg);
  if (bytes == 0 || !arg->data_)
    return;
  if (bytes <= sizeof arg->said_) {
    memcpy(arg->said_, arg->data_, bytes);
    arg->reserved_[0] = INSIDE;
    return;
  }
  struct kept *k = ctx ? find(ctx) : NULL;
  arg->reserved_[0] = k ? add(k, arg->data_, bytes) : NOWHERE;
}

void *kept_values(const struct op_context *ctx, const op_arg *arg) {
  const struct kept *k = ctx->kept;
  const long long number = arg->reserved_[0];
  if (number == INSIDE)
    return (char *)arg->said_;
  return k && number >= k->oldest && number < k->next ? k->copies[number % MOST].values : NULL;
}

int kept_move(const struct op_context *ctx, op_arg *args, int nargs, unsigned char **memory) {
  size_t bytes = 0, at = 0;
  for (int i = 0; i < nargs; i++)
    if (args[i].reserved_[0] > 0)
      bytes += bytes_of(&args[i]);
  *memory = array_new(bytes, 1);
  for (int i = 0; *memory && i < nargs; i++) {
    if (args[i].reserved_[0] == 0 || args[i].reserved_[0] == INSIDE)
      continue;
    const void *values = kept_values(ctx, &args[i]);
    if (!values)
      return i + 1;
    args[i].data_ = memcpy(*memory + at, values, bytes_of(&args[i]));
    args[i].reserved_[0] = 0;
    at += bytes_of(&args[i]);
  }
  return 0;
}

void kept_free(struct op_context *ctx) {
  while (ctx->kept && ctx->kept->oldest < ctx->kept->next)
    drop_oldest(ctx->kept);
  free(ctx->kept);
}
