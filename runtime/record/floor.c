#include "record/floor.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/size.h"
#include "mesh/data.h"
#include "op2jit.h"

/* The data should fit into the cache of one core, and what elements reach must not be much more than they are. */
static const double piece_bytes = 128e3, most_bytes = 512e3;
enum { LEAST_ELEMENTS = 64, RUNS = 5, ALIGN = 64 };

struct copy {
  unsigned char *memory;
  size_t bytes; /* that are copied each time: of each component, or of all */
};

struct piece {
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
      copy->memory = calloc(arg->dat->replicas[SPACE_HOST].bytes + ALIGN, 1);
    if (!copy->memory || (all += (double)bytes) > most_bytes)
      return false;
    p->frame[desc_slot_dat(&loop->desc, loop->desc.args[i].dat)] = copy->memory;
  }
  return true;
}

static bool make(struct piece *p) {
  const struct loop *loop = p->launch->loop;
  const size_t frame_bytes = (size_t)p->work->nframe * sizeof *p->frame;
  p->copies = array_new((size_t)loop->nargs, sizeof *p->copies);
  p->frame = array_new((size_t)p->work->nframe, sizeof *p->frame);
  p->slot =
      loop->ready.nreductions ? aligned_alloc(ALIGN, (loop->ready.slot_bytes / ALIGN + 1) * ALIGN) : NULL;
  if (!p->copies || !p->frame || (loop->ready.nreductions && !p->slot))
    return false;
  memcpy(p->frame, p->work->frame, frame_bytes);
  for (int r = 0; r < p->work->nreductions; r++)
    p->frame[p->work->reductions[r].index] = p->slot + p->work->reductions[r].offset;
  return make_copies(p);
}

static void release(struct piece *p) {
  for (int d = 0; p->copies && d < p->launch->loop->nargs; d++)
    free(p->copies[d].memory);
  free(p->copies);
  free(p->frame);
  free(p->slot);
}

double floor_seconds(const struct launch *launch, const struct work *work) {
  struct piece p = {.launch = launch, .work = work, .elements = elements_of(launch->loop)};
  double least = 0;
  if (p.elements > 0 && make(&p))
    for (int run = 0; run < RUNS; run++) {
      fill(&p);
      const double start = clock_seconds();
      work->function(p.frame, NULL, 0, p.elements);
      const double seconds = clock_seconds() - start;
      least = run == 0 || seconds < least ? seconds : least;
    }
  release(&p);
  return p.elements > 0 ? least * (double)launch->loop->ready.most_elements / (double)p.elements : 0;
}
