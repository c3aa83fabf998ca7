/* OP2_JIT=load: which shape a loop has depends on its data, so that a cache that was filled on a small mesh lacks the shapes of a large
 * one. Every shape gives the right results; one that is in the cache runs in place of one that is not. */
#include <string.h>

#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "cpu_loop.h"
#include "jit/generate/generate.h"
#include "loop/missing.h"
#include "ranks/agree.h"
#include "ranks/kind.h"
#include "record/record.h"

enum { MOST_SHAPES = 16 };

struct shapes {
  struct shape list[MOST_SHAPES];
  int count;
};

static void add(struct shapes *s, const struct shape *one) {
  for (int i = 0; i < s->count; i++)
    if (shape_equal(&s->list[i], one))
      return;
  if (s->count < MOST_SHAPES)
    s->list[s->count++] = *one;
}

/* What is first in data of another kind than these: not larger than the caches, not straight, or the other way round. */
static void add_first_of_others(struct shapes *s, const struct desc *d, int vector_bytes,
                                struct shape_wish wish) {
  for (int other = 1; other < 4; other++) {
    struct shape found[SHAPE_CANDIDATES];
    const struct shape_wish its = {.stream = wish.stream ^ (other & 1),
                                   .straight = wish.straight ^ (other >> 1)};
    if (shape_candidates(d, vector_bytes, its, found) > 0)
      add(s, &found[0]);
  }
}

/* What only OP2_VARIANT or a processor of another kind asks for. */
static void add_rest(struct shapes *s, const struct desc *d) {
  static const int widths[] = {8, 4, 16, 0};
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
    for (int marks = 0; marks < 4; marks++) {
      struct shape one = {.width = widths[w]};
      one.stream = marks & 1 && shape_can_stream(d, &one);
      one.straight = marks & 2 && shape_can_be_straight(d, &one);
      if (shape_fits(d, &one))
        add(s, &one);
    }
}

/* Those that some leader, who alone has a database, does not have are out on all ranks. */
static int find_cached(struct op_context *ctx, struct jit *jit, const struct desc *d, const struct shapes *s,
                       int *found, struct error *err) {
  double lacks[MOST_SHAPES] = {0};
  const bool looks = !ctx->kind || ctx->kind->jit.leads;
  for (int i = 0; i < s->count; i++)
    lacks[i] = looks && !jit_has(jit, d, &s->list[i]);
  const int code = agree_on_largest(ctx->agreement, OP_OK, lacks, s->count, err);
  *found = 0;
  while (!code && *found < s->count && lacks[*found] > 0)
    ++*found;
  return code;
}

/* The first such loop is worth a warning, the others are for who asks. */
static void tell(struct op_context *ctx, const struct loop *loop, const struct shape *wanted,
                 const struct shape *used) {
  struct text wish = {0}, there = {0};
  shape_print(wanted, &wish);
  shape_print(used, &there);
  log_line(ctx->log, ctx->missing->reshaped ? LOG_INFO : LOG_WARN, "cache",
           "loop %s runs as %s, which is in the cache: %s, which suits these data, is not, and OP2_JIT=load "
           "forbids compiling it%s",
           loop->name, text_str(&there), text_str(&wish),
           ctx->missing->reshaped ? "" : "; OP2_LOG=cache names all such loops");
  ctx->missing->reshaped = true;
  text_free(&wish);
  text_free(&there);
}

int cpu_prefer_cached(struct op_context *ctx, const struct loop *loop, struct jit *jit, int vector_bytes,
                      struct shape_wish wish, struct shape *standard, struct error *err) {
  struct shapes s = {0};
  struct shape own[SHAPE_CANDIDATES];
  if (strcmp(env_value(ctx->env, ENV_JIT), "load") != 0)
    return OP_OK;
  add(&s, standard);
  add_first_of_others(&s, &loop->desc, vector_bytes, wish);
  const int count = shape_candidates(&loop->desc, vector_bytes, wish, own);
  for (int i = 0; i < count; i++)
    add(&s, &own[i]);
  add_rest(&s, &loop->desc);
  int found = 0;
  const int code = find_cached(ctx, jit, &loop->desc, &s, &found, err);
  if (code || found == 0 || found == s.count)
    return code;
  tell(ctx, loop, standard, &s.list[found]);
  *standard = s.list[found];
  return OP_OK;
}
