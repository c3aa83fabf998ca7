/* Results over ranks: all bring theirs, and each rank combines them in the order of the ranks. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "context/context.h"
#include "context/trace.h"
#include "mesh/globals.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/results.h"

enum { NAME_BYTES = 32, ALIGN = 64 };

static bool has_output(const struct loop *loop) {
  for (int i = 0; i < loop->nargs; i++)
    if (arg_is_global(&loop->args[i]) && loop->args[i].access != OP_READ)
      return true;
  return false;
}

struct brought results_brought(const struct loop *loop) {
  struct brought b = {.slot = loop->ready.nreductions ? loop->ready.slot_bytes : 0,
                      .globals = has_output(loop) ? loop->ready.global_bytes : 0};
  const size_t tail = b.globals + NAME_BYTES + sizeof(uint64_t);
  if (b.slot || b.globals)
    b.bytes = b.slot + tail + ALIGN - tail % ALIGN;
  return b;
}

static size_t name_at(const struct brought *b) {
  return b->slot + b->globals;
}

static size_t start_at(const struct brought *b) {
  return name_at(b) + NAME_BYTES;
}

void results_bring(const struct launch *launch, const struct brought *b, uint64_t start,
                   unsigned char *mine) {
  const struct loop *loop = launch->loop;
  memset(mine, 0, b->bytes);
  if (b->slot)
    results_merge(launch, mine);
  memcpy(mine + b->slot, launch->globals, b->globals);
  memcpy(mine + name_at(b), loop->name, strnlen(loop->name, NAME_BYTES - 1));
  memcpy(mine + start_at(b), &start, sizeof start);
  mine[b->bytes - 1] = loop->set->extents[EXTENT_OWNED] > 0;
}

const unsigned char *results_of_owner(const struct brought *b, const unsigned char *all, int ranks) {
  for (int r = 0; r < ranks; r++, all += b->bytes)
    if (all[b->bytes - 1])
      return all + b->slot;
  return NULL;
}

int results_check_names(const struct op_context *ctx, const struct brought *b, const unsigned char *all,
                        struct error *err) {
  const char *names = (const char *)all + name_at(b);
  for (int r = 1; r < ctx->comm->size; r++) {
    const char *name = names + (size_t)r * b->bytes;
    if (strncmp(name, names, NAME_BYTES) == 0)
      continue;
    error_set(
        err, OP_ERR_MPI,
        "rank %d calls loop %s, rank 0 calls loop %s; all ranks must make the same calls in the same order",
        r, name, names);
    err->teller = ctx->comm->rank == 0 ? ERROR_AGREED : ERROR_ELSEWHERE;
    return err->code;
  }
  return OP_OK;
}

/* ---- what the loop starts from ---- */

/* The result depends on the argument's value before the loop. */
static bool starts(const struct loop *loop, int i) {
  const struct loop_arg *arg = &loop->args[i];
  const bool kept =
      loop->desc.args[i].kept || type_is_struct(arg->type); /* which has bytes without a value */
  return !kept &&
         (arg_is_reduction(arg) || arg->form == DESC_INFO || (arg_is_global(arg) && arg->access == OP_RW));
}

/* A hash of all starting values, which travels with the results. */
static uint64_t hash_starts(const struct launch *launch) {
  uint64_t hash = 0;
  for (int i = 0; i < launch->loop->nargs; i++) {
    const unsigned char *value = launch->user[i];
    for (size_t left = starts(launch->loop, i) ? launch->loop->args[i].bytes : 0, n; left;
         left -= n, value += n) {
      uint64_t word = 0;
      n = left < sizeof word ? left : sizeof word;
      memcpy(&word, value, n);
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
  }
  return hash;
}

/* Each rank's start would give each rank its own result. All know of it, so that the values can be asked for. */
static int check_starts(struct op_context *ctx, const struct launch *launch, const struct brought *b,
                        const unsigned char *all, struct error *err) {
  const struct loop *loop = launch->loop;
  const unsigned char *hashes = all + start_at(b);
  struct text facts = {0};
  bool same = true;
  for (int r = 1; r < ctx->comm->size; r++)
    same &= memcmp(hashes + (size_t)r * b->bytes, hashes, sizeof(uint64_t)) == 0;
  if (same)
    return OP_OK;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!starts(loop, i))
      continue;
    text_addf(&facts, "\nargument %d, which the loop changes, before it\t", i + 1);
    agree_print_values(&facts, (int)arg->type, arg->dim, launch->user[i]);
  }
  const int code = text_ok(&facts) ? OP_OK : error_memory(err, "what a loop starts from", facts.length);
  const int status = agree_on_call(ctx, code, err, "loop %s%s", loop->name, text_str(&facts));
  text_free(&facts);
  return status;
}

/* ---- together ---- */

void loop_note_wait(struct loop *loop, double start) {
  const double waited = clock_seconds() - start;
  loop->stats.exchange_seconds += waited;
  loop->stats.waiting_seconds += waited;
}

/* The slower ranks are waited for here. */
static int gather_results(struct op_context *ctx, struct loop *loop, const void *mine, size_t bytes,
                          void *all, struct error *err) {
  const double start = clock_seconds();
  ctx->comm->where = loop->name;
  int code = ctx->comm->table->gather_all(ctx->comm, mine, bytes, all, err);
  ctx->comm->where = NULL;
  trace_span(ctx->trace, TRACE_WAIT, loop->name, "results", start, clock_seconds() - start, 0);
  loop_note_wait(loop, start);
  return code;
}

/* From now on no rank has a value of its own there. */
static void note_common(const struct loop *loop) {
  for (int i = 0; i < loop->nargs; i++)
    if (loop->args[i].gbl && arg_is_result(&loop->args[i]))
      loop->args[i].gbl->common = true;
}

static int results_over_ranks(struct op_context *ctx, struct launch *launch, struct error *err) {
  const struct brought b = results_brought(launch->loop);
  const size_t ranks = (size_t)ctx->comm->size;
  if (!b.bytes)
    return OP_OK;
  unsigned char *all = array_new(ranks + 1, b.bytes);
  if (!all)
    return error_memory(err, "the results of all ranks", (ranks + 1) * b.bytes);
  unsigned char *mine = all + ranks * b.bytes;
  results_bring(launch, &b, hash_starts(launch), mine);
  int code = gather_results(ctx, launch->loop, mine, b.bytes, all, err);
  if (!code)
    code = results_check_names(ctx, &b, all, err);
  if (!code)
    code = check_starts(ctx, launch, &b, all, err);
  if (!code) {
    results_hand_back(launch, &(struct partial){all, b.bytes, (int)ranks},
                      results_of_owner(&b, all, (int)ranks));
    note_common(launch->loop);
  }
  free(all);
  return code;
}

/* Results of earlier loops come first, or they would be added to this one's. A loop that waited, and starts from none,
 * awaits them only here. */
static int await_earlier(struct op_context *ctx, struct loop *loop, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < loop->nargs; i++) {
    struct gbl *gbl = loop->args[i].gbl;
    if (!gbl || !gbl->late || !arg_is_result(&loop->args[i]))
      continue;
    const double start = clock_seconds();
    code = gbl_await(ctx, gbl, err);
    loop_note_wait(loop, start);
  }
  return code;
}

int results_with_others(struct op_context *ctx, struct launch *launch, struct error *err) {
  const int code = ctx->late ? await_earlier(ctx, launch->loop, err) : OP_OK;
  if (code)
    return code;
  if (launch->loop->set->spread)
    return results_over_ranks(ctx, launch, err);
  results_here(launch);
  return OP_OK;
}
