/* A launch: what it has, and what it starts from. Reductions have one slot per schedule item.
 * Also the time of a loop whose data are in the caches. */
#include "record/launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exact.h"
#include "base/list.h"
#include "include/op2jit.h"
#include "mesh/data.h"
#include "record/results.h"

enum { ALIGN = 16, SLOT_ALIGN = 64 };

/* ---- where things are ---- */

static bool place(size_t *end, size_t bytes, size_t *offset) {
  *offset = *end;
  return size_add(*end, bytes + (ALIGN - bytes % ALIGN) % ALIGN, end);
}

/* Behind an exact sum, which is limbs of each value, there is a row for an element; behind an exact extremum its start, and
 * such a row. */
static size_t slot_bytes(const struct loop_arg *arg) {
  const size_t more = arg->form == DESC_INFO  ? PAYLOAD_NUMBER
                      : !arg->exact           ? 0
                      : arg->access == OP_INC ? (size_t)arg->dim * sizeof(struct exact)
                                              : 2 * arg->bytes;
  return arg->bytes + more;
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
      size_t bytes = slot_bytes(arg);
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

int launch_ended(const struct launch *launch, int code, struct error *err) {
  return code && launch->line > 0 && launch->file ? error_prefix(err, "%s:%d: ", launch->file, launch->line)
                                                  : code;
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
      if (arg->exact && arg->access == OP_INC)
        memset(slot + arg->offset, 0, (size_t)arg->dim * sizeof(struct exact));
      else if (arg->access == OP_INC)
        type_start_sum(arg->type, slot + arg->offset, (size_t)arg->dim);
      else
        for (int copy = 0; copy <= arg->exact; copy++)
          memcpy(slot + arg->offset + (size_t)copy * arg->bytes, launch->user[i], arg->bytes);
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

/* The data should fit into the cache of one core, and what elements reach must not be much more than they are. */
static const double piece_bytes = 128e3, most_bytes = 512e3;
enum { LEAST_ELEMENTS = 64, RUNS = 5, CACHE_LINE = 64 };

struct copy {
  unsigned char *memory;
  size_t bytes; /* that are copied each time: of each component, or of all */
};

struct piece {
  struct arrays arrays; /* all of these */
  const struct launch *launch;
  const struct work *work;
  long elements;
  struct copy *copies; /* of the description's dats */
  void **frame;
  unsigned char *slot;
};

static long elements_of(const struct loop *loop) {
  const double bytes = loop->stats.bytes / (double)loop->ready.most_elements;
  const double wanted = bytes > 0 ? piece_bytes / bytes : 0;
  const long n = wanted < (double)loop->ready.most_elements ? (long)wanted : loop->ready.most_elements;
  return n / LEAST_ELEMENTS * LEAST_ELEMENTS;
}

/* Rows that the first elements reach. */
static long rows_of(const struct loop_arg *arg, long elements) {
  if (!arg->map)
    return elements;
  long most = -1;
  for (long e = 0; e < elements; e++)
    for (long place = arg_begin(arg, e); place < arg_end(arg, e); place++)
      if (arg_target(arg, place) > most)
        most = arg_target(arg, place);
  return most + 1;
}

/* Component c of the copies is as far from the first one as of the originals. */
static void fill(const struct piece *p) {
  const struct loop *loop = p->launch->loop;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    const struct copy *copy =
        arg->form == DESC_DAT && arg->present ? &p->copies[loop->desc.args[i].dat] : NULL;
    if (!copy)
      continue;
    const unsigned char *from = arg->dat->replicas[SPACE_HOST].memory;
    const size_t apart = arg->dat->soa ? (size_t)arg->dat->stride * arg->dat->value_size : 0;
    for (int c = 0; c < (arg->dat->soa ? arg->dim : 1); c++)
      memcpy(copy->memory + (size_t)c * apart, from + (size_t)c * apart, copy->bytes);
  }
  if (p->slot)
    launch_start_slot(p->launch, p->slot);
}

/* Room that is not touched costs nothing. */
static bool make_copies(struct piece *p) {
  const struct loop *loop = p->launch->loop;
  double all = 0;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->form != DESC_DAT || !arg->present)
      continue;
    struct copy *copy = &p->copies[loop->desc.args[i].dat];
    const size_t bytes =
        (size_t)rows_of(arg, p->elements) * (arg->dat->soa ? arg->dat->value_size : arg->dat->row_bytes);
    copy->bytes = copy->bytes > bytes ? copy->bytes : bytes;
    if (!copy->memory)
      copy->memory = arrays_add(&p->arrays, arg->dat->replicas[SPACE_HOST].bytes + CACHE_LINE, 1);
    if (!copy->memory || (all += (double)bytes) > most_bytes)
      return false;
    p->frame[desc_slot_dat(&loop->desc, loop->desc.args[i].dat)] = copy->memory;
  }
  return true;
}

static bool make_piece(struct piece *p) {
  const struct loop *loop = p->launch->loop;
  const size_t frame_bytes = (size_t)p->work->nframe * sizeof *p->frame;
  p->copies = arrays_add(&p->arrays, (size_t)loop->nargs, sizeof *p->copies);
  p->frame = arrays_add(&p->arrays, (size_t)p->work->nframe, sizeof *p->frame);
  p->slot = loop->ready.nreductions
                ? aligned_alloc(CACHE_LINE, (loop->ready.slot_bytes / CACHE_LINE + 1) * CACHE_LINE)
                : NULL;
  if (p->arrays.failed || (loop->ready.nreductions && !p->slot))
    return false;
  memcpy(p->frame, p->work->frame, frame_bytes);
  for (int r = 0; r < p->work->nreductions; r++)
    p->frame[p->work->reductions[r].index] = p->slot + p->work->reductions[r].offset;
  return make_copies(p);
}

double floor_seconds(const struct launch *launch, const struct work *work) {
  struct piece p = {.launch = launch, .work = work, .elements = elements_of(launch->loop)};
  double least = 0;
  if (p.elements > 0 && make_piece(&p))
    for (int run = 0; run < RUNS; run++) {
      fill(&p);
      const double start = clock_seconds();
      work->function(p.frame, NULL, 0, p.elements);
      const double seconds = clock_seconds() - start;
      least = run == 0 || seconds < least ? seconds : least;
    }
  arrays_free(&p.arrays);
  free(p.slot);
  return p.elements > 0 ? least * (double)launch->loop->ready.most_elements / (double)p.elements : 0;
}
