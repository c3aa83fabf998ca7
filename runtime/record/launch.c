/* A launch: what it starts from, and what it hands back. Reductions have one slot per schedule item, combined in item
 * order, so that the result does not depend on the number of threads. */
#include "record/launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/size.h"
#include "context/context.h"
#include "context/trace.h"
#include "mesh/globals.h"
#include "ranks/agree.h"
#include "ranks/comm.h"

/* A payload's slot: the number of the element that won, then its values. */
enum { NUMBER_BYTES = sizeof(long long), ALIGN = 16, SLOT_ALIGN = 64, NAME_BYTES = 32 };

/* ---- where things are ---- */

static bool place(size_t *end, size_t bytes, size_t *offset) {
  *offset = *end;
  return size_add(*end, bytes + (ALIGN - bytes % ALIGN) % ALIGN, end);
}

/* Slots lie close, and none on more lines than it must: those of one thread are neighbours but for a few, and what the
 * others have written is fetched line by line. */
static bool round_slot(size_t *bytes) {
  size_t rounded = ALIGN;
  while (rounded < *bytes && rounded < SLOT_ALIGN)
    rounded *= 2;
  if (*bytes > rounded)
    return size_add(*bytes, (SLOT_ALIGN - *bytes % SLOT_ALIGN) % SLOT_ALIGN, bytes);
  *bytes = *bytes ? rounded : 0;
  return true;
}

int loop_layout(struct loop *loop, struct error *err) {
  size_t slot = 0, globals = 0;
  bool fits = true;
  loop->ready.nreductions = loop->nvalues = 0;
  loop->ready.tells = loop->ready.hands_on = false;
  for (int i = 0; i < loop->nargs; i++) {
    struct loop_arg *arg = &loop->args[i];
    bool payload = arg->form == DESC_INFO;
    if (payload || arg_is_copied(arg) || arg_is_reduction(arg))
      loop->values[loop->nvalues++] = (unsigned char)i;
    if (arg->gbl)
      loop->ready.hands_on = true;
    else
      loop->ready.tells |= payload || arg_is_reduction(arg) || (arg_is_global(arg) && arg->access != OP_READ);
    if (arg_is_copied(arg))
      fits &= place(&globals, arg->bytes, &arg->offset);
    else if (arg_is_reduction(arg) || payload) {
      size_t bytes = arg->bytes + (payload ? NUMBER_BYTES : 0);
      fits &= place(&slot, bytes, &arg->offset);
      if (arg->info >= 0)
        fits &= place(&globals, arg->bytes, &arg->start);
      loop->ready.reductions[loop->ready.nreductions++] =
          (struct reduction){.index = desc_slot_arg(&loop->desc, i), .offset = arg->offset, .bytes = bytes};
    }
  }
  fits &= round_slot(&slot);
  if (!fits)
    return error_set(err, OP_ERR_SIZE, "loop %s: the globals are more than can be addressed", loop->name);
  loop->ready.slot_bytes = slot;
  loop->ready.global_bytes = globals;
  free(loop->ready.frame);
  loop->ready.frame = array_new((size_t)desc_slots(&loop->desc), sizeof *loop->ready.frame);
  return loop->ready.frame ? OP_OK : error_memory(err, "a loop's frame", (size_t)desc_slots(&loop->desc));
}

/* ---- life, and what it starts from ---- */

struct launch *launch_new(struct loop *loop, struct error *err) {
  struct launch *launch = calloc(1, sizeof *launch);
  if (launch)
    launch->loop = loop;
  else
    error_memory(err, "a loop's launch", sizeof *launch);
  return launch;
}

void launch_free(struct launch *launch) {
  if (!launch)
    return;
  free(launch->globals);
  free(launch->frame);
  free(launch->slots);
  free(launch->file);
  free(launch);
}

static int make(struct launch *launch, struct error *err) {
  const struct loop *loop = launch->loop;
  const size_t nframe = (size_t)desc_slots(&loop->desc);
  free(launch->globals);
  free(launch->frame);
  free(launch->slots);
  launch->slots = NULL;
  launch->slots_capacity = 0;
  launch->exchange = NULL;
  launch->globals = array_new(loop->ready.global_bytes, 1);
  launch->frame = array_new(nframe, sizeof *launch->frame);
  if (!launch->globals || !launch->frame)
    return error_memory(err, "a loop's globals", loop->ready.global_bytes);
  memcpy(launch->frame, loop->ready.frame, nframe * sizeof *launch->frame);
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->form == DESC_GBL && (arg->access != OP_WORK || arg->started) && arg->present)
      launch->frame[desc_slot_arg(&loop->desc, i)] = launch->globals + arg->offset;
    if (arg->info >= 0)
      launch->frame[desc_slot_start(&loop->desc, i)] = launch->globals + arg->start;
  }
  launch->made = loop->ready.made;
  return OP_OK;
}

int launch_fit(struct launch *launch, struct error *err) {
  return launch->made == launch->loop->ready.made ? OP_OK : make(launch, err);
}

void launch_set_slots(struct launch *launch, int part, int nslots) {
  launch->part_slots[part].count = nslots;
  launch->part_slots[part].first =
      part ? launch->part_slots[part - 1].first + launch->part_slots[part - 1].count : 0;
}

static int count_slots(const struct launch *launch) {
  const int last = launch->loop->ready.nparts - 1;
  return launch->part_slots[last].first + launch->part_slots[last].count;
}

void launch_start_slot(const struct launch *launch, unsigned char *slot) {
  static const long long nobody = -1;
  for (int i = 0; i < launch->loop->nargs; i++) {
    const struct loop_arg *arg = &launch->loop->args[i];
    if (arg->form == DESC_INFO) {
      memcpy(slot + arg->offset, &nobody, sizeof nobody);
      memcpy(slot + arg->offset + sizeof nobody, launch->user[i], arg->bytes);
    } else if (arg_is_reduction(arg)) {
      if (arg->access == OP_INC)
        type_start_sum(arg->type, slot + arg->offset, (size_t)arg->dim);
      else
        memcpy(slot + arg->offset, launch->user[i], arg->bytes);
    }
  }
}

/* One by what it holds, the others as copies of all that there are already. */
static void start_slots(const struct launch *launch, size_t nslots) {
  const size_t bytes = launch->loop->ready.slot_bytes;
  launch_start_slot(launch, launch->slots);
  for (size_t done = 1, next; done < nslots; done = next) {
    next = nslots - done < done ? nslots : 2 * done;
    memcpy(launch->slots + done * bytes, launch->slots, (next - done) * bytes);
  }
}

static int grow_slots(struct launch *launch, int nslots, struct error *err) {
  size_t bytes;
  unsigned char *slots = NULL;
  if (size_mul((size_t)nslots, launch->loop->ready.slot_bytes, &bytes) && size_add(bytes, SLOT_ALIGN, &bytes))
    slots = aligned_alloc(SLOT_ALIGN, bytes / SLOT_ALIGN * SLOT_ALIGN);
  if (!slots)
    return error_memory(err, "partial results", (size_t)nslots * launch->loop->ready.slot_bytes);
  free(launch->slots);
  launch->slots = slots;
  launch->slots_capacity = nslots;
  return OP_OK;
}

static void start_value(struct launch *launch, int i) {
  const struct loop_arg *arg = &launch->loop->args[i];
  if (arg_is_copied(arg))
    memcpy(launch->globals + arg->offset, launch->user[i], arg->bytes);
  else if (arg_is_reduction(arg) && arg->info >= 0)
    memcpy(launch->globals + arg->start, launch->user[i], arg->bytes);
}

int launch_start_slots(struct launch *launch, struct error *err) {
  const int nslots = launch->loop->ready.nreductions ? count_slots(launch) : 0;
  if (nslots > launch->slots_capacity && grow_slots(launch, nslots, err))
    return err->code;
  if (nslots > 0)
    start_slots(launch, (size_t)nslots);
  return OP_OK;
}

int launch_start(struct launch *launch, struct error *err) {
  const struct loop *loop = launch->loop;
  for (int v = 0; v < loop->nvalues; v++)
    start_value(launch, loop->values[v]);
  return launch_start_slots(launch, err);
}

void launch_start_handles(struct launch *launch) {
  const struct loop *loop = launch->loop;
  if (!loop->ready.hands_on)
    return;
  for (int v = 0; v < loop->nvalues; v++)
    if (loop->args[loop->values[v]].gbl)
      start_value(launch, loop->values[v]);
  if (loop->ready.nreductions && count_slots(launch) > 0) /* a rank may have no element */
    start_slots(launch, (size_t)count_slots(launch));
}

/* ---- results ---- */

/* Partial results, one behind the other: of parts and blocks, or of ranks. */
struct partial {
  const unsigned char *first;
  size_t distance;
  int count;
};

static void combine(const struct loop *loop, int i, const struct partial *from, unsigned char *into) {
  const struct loop_arg *arg = &loop->args[i];
  const size_t size = type_info(arg->type)->size;
  for (int c = 0; c < arg->dim; c++)
    type_combine_many(arg->type, arg->access, into + (size_t)c * size,
                      from->first + arg->offset + (size_t)c * size, from->distance, (size_t)from->count);
}

/* Where the user's start is a NaN, numbers are better, as in type_combine_many. */
static bool improves(const struct loop_arg *arg, const void *start, const void *now, const void *candidate) {
  unsigned char best[sizeof(long double)];
  if (isnan(type_number(arg->type, start)) &&
      (isnan(type_number(arg->type, now)) || isnan(type_number(arg->type, candidate))))
    return !isnan(type_number(arg->type, candidate));
  memcpy(best, now, arg->bytes);
  type_combine(arg->type, arg->access, best, candidate);
  return memcmp(best, now, arg->bytes) != 0;
}

void launch_offer_extremum(const struct launch *launch, int i, unsigned char *slot, const void *value,
                           const void *payload, long long number) {
  const struct loop *loop = launch->loop;
  const struct loop_arg *arg = &loop->args[i], *info = &loop->args[arg->info];
  unsigned char *best = slot + arg->offset;
  long long winner;
  /* The kernel saw the user's own value; if it left it, the element is no candidate. */
  if (memcmp(value, launch->user[i], arg->bytes) == 0)
    return;
  memcpy(&winner, slot + info->offset, sizeof winner);
  bool equal = memcmp(value, best, arg->bytes) == 0;
  if (!improves(arg, launch->user[i], best, value) && !(equal && number < winner))
    return;
  memcpy(best, value, arg->bytes);
  memcpy(slot + info->offset, &number, sizeof number);
  memcpy(slot + info->offset + NUMBER_BYTES, payload, info->bytes);
}

/* An extremum with a payload: only slots in which an element won count; ties go to the lowest number, and the
 * user's own value wins over an equal element. */
static void combine_with_payload(const struct launch *launch, int i, const struct partial *from) {
  const struct loop *loop = launch->loop;
  const struct loop_arg *arg = &loop->args[i], *payload = &loop->args[arg->info];
  unsigned char start[sizeof(long double)];
  long long best = -1;
  memcpy(start, launch->user[i], arg->bytes);
  for (int s = 0; s < from->count; s++) {
    const unsigned char *slot = from->first + (size_t)s * from->distance;
    const unsigned char *value = slot + arg->offset;
    long long element;
    memcpy(&element, slot + payload->offset, sizeof element);
    if (element < 0)
      continue;
    bool equal = memcmp(value, launch->user[i], arg->bytes) == 0;
    if (!improves(arg, start, launch->user[i], value) && !(equal && best >= 0 && element < best))
      continue;
    best = element;
    memcpy(launch->user[i], value, arg->bytes);
    memcpy(launch->user[arg->info], slot + payload->offset + NUMBER_BYTES, payload->bytes);
  }
}

/* Of the parts whose results count. */
static struct partial own_results(const struct launch *launch) {
  const int last = launch->loop->ready.nresults - 1;
  return (struct partial){.first = launch->slots,
                          .distance = launch->loop->ready.slot_bytes,
                          .count = launch->part_slots[last].first + launch->part_slots[last].count};
}

static void hand_back(const struct launch *launch, const struct partial *from, const unsigned char *globals) {
  const struct loop *loop = launch->loop;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    const bool result = arg_is_reduction(arg) || (arg_is_global(arg) && arg->access != OP_READ);
    if (!result || loop->desc.args[i].kept)
      continue;
    if (arg->gbl)
      gbl_wrote(arg->gbl, SPACE_HOST);
    if (arg_is_reduction(arg) && arg->info >= 0)
      combine_with_payload(launch, i, from);
    else if (arg_is_reduction(arg))
      combine(loop, i, from, launch->user[i]);
    else
      memcpy(launch->user[i], globals + arg->offset, arg->bytes);
  }
}

/* ---- ranks: each one's results in one slot, then these in the order of the ranks, so that all have the same bits
 * ---- */

static void merge(const struct launch *launch, const struct partial *from, unsigned char *slot) {
  const struct loop *loop = launch->loop;
  launch_start_slot(launch, slot);
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!arg_is_reduction(arg))
      continue;
    if (arg->info < 0)
      combine(loop, i, from, slot + arg->offset);
    for (int s = 0; arg->info >= 0 && s < from->count; s++) {
      const unsigned char *part = from->first + (size_t)s * from->distance;
      const unsigned char *payload = part + loop->args[arg->info].offset;
      long long element;
      memcpy(&element, payload, sizeof element);
      if (element >= 0)
        launch_offer_extremum(launch, i, slot, part + arg->offset, payload + NUMBER_BYTES, element);
    }
  }
}

static bool has_output(const struct loop *loop) {
  for (int i = 0; i < loop->nargs; i++)
    if (arg_is_global(&loop->args[i]) && loop->args[i].access != OP_READ)
      return true;
  return false;
}

/* The one element that wrote the globals is owned by one rank. */
static const unsigned char *owners_globals(const unsigned char *all, size_t bytes, size_t slot_bytes,
                                           int size) {
  for (int r = 0; r < size; r++, all += bytes)
    if (all[bytes - 1])
      return all + slot_bytes;
  return NULL;
}

/* The slower ranks are waited for here. */
static int gather_results(struct op_context *ctx, struct loop *loop, const void *mine, size_t bytes,
                          void *all, struct error *err) {
  const double start = clock_seconds();
  ctx->comm->where = loop->name;
  int code = ctx->comm->table->gather_all(ctx->comm, mine, bytes, all, err);
  const double waited = clock_seconds() - start;
  ctx->comm->where = NULL;
  trace_span(ctx->trace, TRACE_WAIT, loop->name, "results", start, waited, 0);
  loop->stats.exchange_seconds += waited;
  loop->stats.waiting_seconds += waited;
  return code;
}

/* Known loops do not agree on each call; what came of another one's must not be taken for a result. */
static int check_names(const struct op_context *ctx, const char *names, size_t distance, struct error *err) {
  for (int r = 1; r < ctx->comm->size; r++) {
    const char *name = names + (size_t)r * distance;
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

/* What comes of the values that it has before the loop: what each rank starts from. */
static bool starts(const struct loop *loop, int i) {
  const struct loop_arg *arg = &loop->args[i];
  const bool kept =
      loop->desc.args[i].kept || type_is_struct(arg->type); /* which has bytes without a value */
  return !kept &&
         (arg_is_reduction(arg) || arg->form == DESC_INFO || (arg_is_global(arg) && arg->access == OP_RW));
}

/* Of all that the loop starts from: it travels with the results. */
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
static int check_starts(struct op_context *ctx, const struct launch *launch, const unsigned char *hashes,
                        size_t distance, struct error *err) {
  const struct loop *loop = launch->loop;
  struct text facts = {0};
  bool same = true;
  for (int r = 1; r < ctx->comm->size; r++)
    same &= memcmp(hashes + (size_t)r * distance, hashes, sizeof(uint64_t)) == 0;
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

static int hand_back_over_ranks(struct op_context *ctx, struct launch *launch, struct error *err) {
  struct loop *loop = launch->loop;
  const size_t globals = has_output(loop) ? loop->ready.global_bytes : 0;
  const size_t slot = loop->ready.nreductions ? loop->ready.slot_bytes : 0;
  /* Of each rank: its slot, its globals, the loop, what it starts from, and whether the globals count. */
  const size_t tail = globals + NAME_BYTES + sizeof(uint64_t),
               bytes = slot + tail + SLOT_ALIGN - tail % SLOT_ALIGN;
  if (!slot && !globals)
    return OP_OK;
  unsigned char *all = array_new((size_t)ctx->comm->size + 1, bytes);
  if (!all)
    return error_memory(err, "the results of all ranks", ((size_t)ctx->comm->size + 1) * bytes);
  unsigned char *mine = all + (size_t)ctx->comm->size * bytes;
  const struct partial own = own_results(launch);
  if (slot)
    merge(launch, &own, mine);
  memcpy(mine + slot, launch->globals, globals);
  memcpy(mine + slot + globals, loop->name, strnlen(loop->name, NAME_BYTES - 1));
  const uint64_t start = hash_starts(launch);
  memcpy(mine + slot + globals + NAME_BYTES, &start, sizeof start);
  mine[bytes - 1] = loop->set->extents[EXTENT_OWNED] > 0;
  int code = gather_results(ctx, loop, mine, bytes, all, err);
  if (!code)
    code = check_names(ctx, (const char *)all + slot + globals, bytes, err);
  if (!code)
    code = check_starts(ctx, launch, all + slot + globals + NAME_BYTES, bytes, err);
  if (!code)
    hand_back(launch, &(struct partial){.first = all, .distance = bytes, .count = ctx->comm->size},
              owners_globals(all, bytes, slot, ctx->comm->size));
  free(all);
  return code;
}

int launch_results(struct op_context *ctx, struct launch *launch, struct error *err) {
  if (launch->loop->set->spread)
    return hand_back_over_ranks(ctx, launch, err);
  const struct partial own = own_results(launch);
  hand_back(launch, &own, launch->globals);
  return OP_OK;
}
