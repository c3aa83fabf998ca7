#include "ranges.h"

#include <alloca.h>
#include <stdint.h>
#include <string.h>

#include "base/types.h"
#include "call.h"
#include "op2/op2jit_compiled.h"

/* Rows one behind the other: the pointer is base + row * step. A step of 0 is the same memory for all elements. */
struct reach {
  char *base;
  const int *map; /* at its column; NULL: the row is the element */
  long step, arity;
};

struct walk {
  void *const *frame;
  const op2jit_place *places;
  char *scratch;
  void **vectors; /* OP2JIT_WIDEST for each argument that has special[] */
  struct reach reach[OP_MAX_ARGS];
  int special[OP_MAX_ARGS]; /* arguments that are more than that */
  int nspecial;
};

static bool is_extremum(const op2jit_place *place) {
  return place->kind == OP2JIT_GLOBAL && place->payload >= 0;
}

static struct reach reach_of(const struct walk *w, const op2jit_place *place) {
  struct reach reach = {.base = place->kind == OP2JIT_ABSENT ? NULL : w->frame[place->base],
                        .step = place->kind == OP2JIT_GLOBAL ? 0 : place->bytes,
                        .arity = place->arity};
  if (place->map >= 0 && place->kind != OP2JIT_ABSENT)
    reach.map = (const int *)w->frame[place->map] + place->column;
  return reach;
}

static void prepare(struct walk *w) {
  for (int i = 0; i < w->places->nargs; i++) {
    const op2jit_place *place = &w->places[i];
    w->reach[i] = reach_of(w, place);
    const bool plain = place->kind == OP2JIT_DIRECT || place->kind == OP2JIT_MAPPED ||
                       (place->kind == OP2JIT_GLOBAL && !is_extremum(place));
    if (place->kind == OP2JIT_ABSENT)
      w->reach[i].step = 0;
    else if (!plain)
      w->special[w->nspecial++] = i;
  }
}

static char *row_of(const struct reach *reach, long e) {
  return reach->base + (reach->map ? reach->map[e * reach->arity] : e) * reach->step;
}

static void *targets_of(const struct reach *reach, long e, void **targets) {
  for (long n = 0; n < reach->arity; n++)
    targets[n] = reach->base + reach->map[e * reach->arity + n] * reach->step;
  return targets;
}

static void *numbers_of(const op2jit_place *place, const struct reach *reach, long e, int *numbers) {
  for (long n = 0; n < place->dim; n++)
    numbers[n] = (reach->map ? reach->map[e * reach->arity + n] : (int)e) + place->base_number;
  return numbers;
}

/* The pointer of an argument that is more than a row. */
static void *special_of(const struct walk *w, int i, long e, void **targets) {
  const op2jit_place *place = &w->places[i];
  char *own = w->scratch + place->scratch;
  const char *from = w->frame[place->base];
  switch (place->kind) {
  case OP2JIT_VECTOR: return targets_of(&w->reach[i], e, targets);
  case OP2JIT_NUMBER: return numbers_of(place, &w->reach[i], e, (int *)(void *)own);
  case OP2JIT_GLOBAL: from = w->frame[place->start]; break;
  case OP2JIT_PAYLOAD: from += sizeof(op2jit_won); break;
  default: break;
  }
  return from ? memcpy(own, from, (size_t)place->bytes) : own;
}

/* The kernel saw the program's own value. Of those that made a better one of it the best wins, of equal ones the
 * lowest element, in whatever order they come. */
static void offer(const struct walk *w, const op2jit_place *place, long e) {
  const char *value = w->scratch + place->scratch, *start = w->frame[place->start];
  const size_t bytes = (size_t)place->bytes;
  if (memcmp(value, start, bytes) == 0)
    return;
  char *best = w->frame[place->base];
  const op2jit_place *payload = &w->places[place->payload];
  op2jit_won *won = w->frame[payload->base];
  const int *numbers = place->numbers >= 0 ? w->frame[place->numbers] : NULL;
  const long long number = numbers ? numbers[e] : e;
  char improved[sizeof(long double)];
  memcpy(improved, best, bytes);
  type_improve((enum type_code)place->type, place->access, improved, start, value);
  const bool better = memcmp(improved, best, bytes) != 0, equal = memcmp(value, best, bytes) == 0;
  if (!better && !(equal && number < won->element))
    return;
  memcpy(best, value, bytes);
  won->element = number;
  memcpy(won + 1, w->scratch + payload->scratch, (size_t)payload->bytes);
}

void native_range(void *const *frame, const int *list, long begin, long end) {
  const op2jit_place *places = frame[0];
  const int nargs = places->nargs;
  const op_kernel_function kernel = places->kernel;
  native_call *const call = native_call_of(nargs);
  enum { LINE = 64 };
  void *pointers[OP_MAX_ARGS];
  struct walk w = {.frame = frame, .places = places};
  prepare(&w);
  if (w.nspecial) {
    /* cppcheck-suppress allocaCalled ; an array's length cannot end with the branch */
    char *room = alloca((size_t)places[nargs].scratch + LINE);
    w.scratch = room + (LINE - (uintptr_t)room % LINE) % LINE;
    /* cppcheck-suppress allocaCalled */
    w.vectors = alloca((size_t)w.nspecial * OP2JIT_WIDEST * sizeof *w.vectors);
  }
  for (long n = begin; n < end; n++) {
    const long e = list ? list[n] : n;
    for (int i = 0; i < nargs; i++)
      pointers[i] = row_of(&w.reach[i], e);
    for (int s = 0; s < w.nspecial; s++)
      pointers[w.special[s]] = special_of(&w, w.special[s], e, w.vectors + (long)s * OP2JIT_WIDEST);
    call(kernel, pointers);
    for (int s = 0; s < w.nspecial; s++)
      if (is_extremum(&places[w.special[s]]))
        offer(&w, &places[w.special[s]], e);
  }
}
