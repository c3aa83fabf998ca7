#include "backend/code.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backend/alternatives.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "context/trace.h"
#include "op2jit.h"
#include "ranks/comm.h"
#include "record/record.h"

int backend_may_compile(const struct op_context *ctx, struct error *err) {
  if (strcmp(env_value(ctx->env, ENV_JIT), "off") != 0)
    return OP_OK;
  return error_set(
      err, OP_ERR_BACKEND,
      "OP2_JIT=off: backends that compile are switched off; use OP2_BACKEND=native, or OP2_JIT=on or load");
}

void loop_tell_facts(const struct op_context *ctx, struct loop *loop) {
  if (comm_alone(ctx->comm))
    facts_tell(&loop->facts, &loop->desc);
}

int backend_code(struct op_context *ctx, struct loop *loop, struct jit *jit, const struct desc *desc,
                 const void *shape, struct jit_code *out, struct error *err) {
  const int code = jit_code(jit, desc, shape, out, err);
  if (loop && out->prove_seconds > 0)
    trace_span(ctx->trace, TRACE_PROVE, loop->name, NULL, out->prove_start, out->prove_seconds, 0);
  if (code)
    return loop ? error_prefix(err, "loop %s: ", loop->name) : code;
  const bool fresh = out->from == JIT_FROM_COMPILER;
  ctx->counters->compiles += fresh;
  ctx->counters->cache_hits += !fresh;
  if (!loop)
    return OP_OK;
  if (out->facts.known)
    loop->facts = out->facts;
  loop_tell_facts(ctx, loop);
  if (out->compile_seconds > loop->ready.code_seconds)
    loop->ready.code_seconds = out->compile_seconds;
  loop->ready.behind_seconds += out->behind_seconds;
  loop_count_code(loop, fresh);
  loop->stats.compile_seconds += fresh ? out->seconds : 0;
  return OP_OK;
}

static const char threads_word[] = "threads", sorted_word[] = "sorted";

void variant_print(const struct variant *variant, struct text *out) {
  text_addf(out, "%s/", variant->strategy->name);
  shape_print(&variant->shape, out);
  if (variant->sorted)
    text_addf(out, "/%s", sorted_word);
  if (variant->block_size)
    text_addf(out, "/%d", variant->block_size);
  if (variant->threads)
    text_addf(out, "/%s%d", threads_word, variant->threads);
}

/* A number from 1 on, and nothing behind it. */
static bool read_count(const char *word, int *out) {
  char *end;
  long count = strtol(word, &end, 10);
  if (end == word || *end || count <= 0 || count > INT_MAX)
    return false;
  *out = (int)count;
  return true;
}

/* A variant has one word of each kind. */
enum word_kind { WORD_UNKNOWN, WORD_STRATEGY, WORD_THREADS, WORD_BLOCK, WORD_SHAPE, WORD_ORDER, WORD_KINDS };

static const char *const kinds[WORD_KINDS] = {[WORD_STRATEGY] = "strategy",
                                              [WORD_THREADS] = "number of threads",
                                              [WORD_BLOCK] = "block size",
                                              [WORD_SHAPE] = "shape",
                                              [WORD_ORDER] = "order"};

static enum word_kind apply_word(struct variant *variant, const char *word) {
  for (int i = 0; strategies[i]; i++)
    if (strategies[i]->deals && strcmp(word, strategies[i]->name) == 0) {
      variant->strategy = strategies[i];
      return WORD_STRATEGY;
    }
  if (strcmp(word, sorted_word) == 0) {
    variant->sorted = true;
    return WORD_ORDER;
  }
  const size_t prefix = sizeof threads_word - 1;
  if (strncmp(word, threads_word, prefix) == 0)
    return read_count(word + prefix, &variant->threads) ? WORD_THREADS : WORD_UNKNOWN;
  if (read_count(word, &variant->block_size))
    return WORD_BLOCK;
  return shape_parse(word, &variant->shape) ? WORD_SHAPE : WORD_UNKNOWN;
}

static int unknown_word(const char *word, struct error *err) {
  struct text names = {0};
  for (int i = 0; strategies[i]; i++)
    if (strategies[i]->deals)
      text_addf(&names, "%s%s", names.length ? ", " : "", strategies[i]->name);
  const int code = error_set(
      err, OP_ERR_ENV,
      "OP2_VARIANT: \"%s\" is not a variant; expected a strategy (%s), a shape (scalar, strip4, strip8, "
      "strip16, strip8+straight, strip8+stream, strip4+piped, scalar+rows), sorted, a block size or a number "
      "of threads (threads4), separated by '/'; soa or aos for the layout of all dats, soa=DAT or aos=DAT "
      "for one; coo or csr for the form of all matrices",
      word, text_str(&names));
  text_free(&names);
  return code;
}

int variant_apply(struct variant *variant, const char *spec, struct error *err) {
  char word[FORCED_WORD];
  bool seen[WORD_KINDS] = {false};
  for (struct forced_word w = {.at = spec}; forced_next_word(&w, spec + strlen(spec));) {
    const enum word_kind kind = apply_word(variant, forced_copy_word(&w, word));
    if (kind == WORD_UNKNOWN)
      return unknown_word(word, err);
    if (seen[kind])
      return error_set(err, OP_ERR_ENV, "OP2_VARIANT: \"%s\" in \"%s\" is a second %s; give one", word, spec,
                       kinds[kind]);
    seen[kind] = true;
  }
  return OP_OK;
}

/* Seconds: waking threads that sleep takes a part of the first. */
#define LONG_CALL 20e-6
#define VERY_LONG_CALL 1e-3
enum { VERY_LONG_COUNTS = 4 };

/* The least that loops are cut into usually, see plan/chunks.c and plan/colours.c. */
static const long usual_piece = 256;
static const long pieces_per_thread = 4, usual_pieces = 64;

bool heavy_is_few(long elements, int threads) {
  return threads > 1 && elements > 1 && elements < TUNED_ELEMENTS &&
         elements < usual_piece * pieces_per_thread * threads;
}

void heavy_note(int *long_calls, double seconds) {
  if (*long_calls == HEAVY_NEVER)
    return;
  if (seconds >= LONG_CALL)
    *long_calls += seconds >= VERY_LONG_CALL ? VERY_LONG_COUNTS : 1;
  else if (*long_calls > 0)
    --*long_calls;
  if (*long_calls > HEAVY_ENOUGH)
    *long_calls = HEAVY_ENOUGH;
}

int heavy_piece(long elements, int threads, int strip) {
  const long lanes = strip > 0 ? strip : 1;
  const long wanted = pieces_per_thread * threads;
  const long pieces = wanted > usual_pieces ? wanted : usual_pieces;
  if (2 * elements <= lanes * threads)
    return (int)((elements + threads - 1) / threads);
  const long size = (elements + pieces - 1) / pieces;
  return (int)((size + lanes - 1) / lanes * lanes);
}
