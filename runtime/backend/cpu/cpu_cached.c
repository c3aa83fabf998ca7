/* OP2_JIT=load: which shape a loop has depends on its data, so that a cache that was filled on a small mesh lacks
 * the shapes of a large one. Every shape gives the right results; one that is in the cache runs in place of one
 * that is not. */
#include <string.h>

#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "cpu_loop.h"
#include "ranks/agree.h"
#include "ranks/kind.h"
#include "record/record.h"

static const int widths[] = {8, 4, 16, 0};
enum { MARKS = 16, SHAPES = MARKS * (int)(sizeof widths / sizeof *widths) };

/* Shapes by number, those first that are worth more; none has a list. */
static struct shape shape_of(int number) {
  return (struct shape){.width = widths[number / MARKS],
                        .piped = number & 8,
                        .rows = number & 4,
                        .straight = number & 2,
                        .stream = number & 1};
}

static void note(void *user, const char *name, size_t length) {
  double *lacks = user;
  char whole[64] = "";
  struct shape found;
  memcpy(whole, name, length < sizeof whole ? length : 0);
  const bool known = shape_parse(whole, &found);
  for (int i = 0; known && i < SHAPES; i++) {
    const struct shape one = shape_of(i);
    if (shape_equal(&one, &found))
      lacks[i] = 0;
  }
}

/* In how much they differ: the width counts most. */
static int distance(const struct shape *a, const struct shape *b) {
  return 4 * (a->width != b->width) + (a->straight != b->straight) + (a->stream != b->stream) +
         (a->piped != b->piped) + (a->rows != b->rows);
}

/* The first such loop is worth a warning; OP2_LOG=cache names the others. */
static void tell(struct op_context *ctx, const struct loop *loop, const struct shape *wanted,
                 const struct shape *used) {
  struct text wish = {0}, there = {0};
  shape_print(wanted, &wish);
  shape_print(used, &there);
  log_line(
      ctx->log, ctx->reshaped_told ? LOG_INFO : LOG_WARN, "cache",
      "loop %s runs as %s: %s would suit these data better, but it is not in the cache, and OP2_JIT=load "
      "forbids compiling it%s",
      loop->name, text_str(&there), text_str(&wish),
      ctx->reshaped_told ? "" : "; OP2_LOG=cache names all such loops");
  ctx->reshaped_told = true;
  text_free(&wish);
  text_free(&there);
}

int cpu_prefer_cached(struct op_context *ctx, const struct loop *loop, struct jit *jit,
                      struct shape *standard, struct error *err) {
  double lacks[SHAPES];
  /* Only leaders have a database. A shape that some leader lacks is out on all ranks. */
  const bool looks = !ctx->kind || ctx->kind->jit.leads;
  if (strcmp(env_value(ctx->env, ENV_JIT), "load") != 0)
    return OP_OK;
  for (int i = 0; i < SHAPES; i++)
    lacks[i] = looks;
  if (looks)
    jit_shapes(jit, &loop->desc, standard, note, lacks);
  const int code = agree_on_largest(ctx->agreement, OP_OK, lacks, SHAPES, err);
  struct shape nearest = *standard;
  int best = 0;
  for (int i = 0; i < SHAPES; i++) {
    const struct shape one = shape_of(i);
    const int far = 1 + distance(&one, standard);
    if (lacks[i] == 0 && (!best || far < best)) {
      best = far;
      nearest = one;
    }
  }
  if (code || best <= 1)
    return code;
  tell(ctx, loop, standard, &nearest);
  *standard = nearest;
  return OP_OK;
}
