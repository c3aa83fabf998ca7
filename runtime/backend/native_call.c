/* Calling a function of 1 to 64 pointer parameters by its address. */
#include "native_call.h"

#include <alloca.h>
#include <stdint.h>
#include <string.h>

#include "base/types.h"
#include "op2/op2jit_compiled.h"

/* R: up to eight of a kind from number b on; E: eights from 0 on, each with a comma behind it. */
#define R1(M, b) M(b)
#define R2(M, b) R1(M, b), M(b + 1)
#define R3(M, b) R2(M, b), M(b + 2)
#define R4(M, b) R3(M, b), M(b + 3)
#define R5(M, b) R4(M, b), M(b + 4)
#define R6(M, b) R5(M, b), M(b + 5)
#define R7(M, b) R6(M, b), M(b + 6)
#define R8(M, b) R7(M, b), M(b + 7)
#define E0(M)
#define E1(M) R8(M, 0),
#define E2(M) E1(M) R8(M, 8),
#define E3(M) E2(M) R8(M, 16),
#define E4(M) E3(M) R8(M, 24),
#define E5(M) E4(M) R8(M, 32),
#define E6(M) E5(M) R8(M, 40),
#define E7(M) E6(M) R8(M, 48),

#define TYPE(i) void *
#define POINTER(i) p[i]
/* Nothing else happens here, also under the thread sanitizer: the checking form has prepared the stack below. */
#define SHIM(q, r)                                                                                           \
  static __attribute__((no_sanitize_thread)) void call##q##r(op_kernel_function f, void *const *p) {         \
    ((void (*)(E##q(TYPE) R##r(TYPE, 0)))f)(E##q(POINTER) R##r(POINTER, 8 * q));                             \
  }
#define ROW(q, r) [8 * q + r] = call##q##r,

/* 8 * q + r parameters. Laid out by hand: clang-format would move one M with each run. */
/* clang-format off */
#define EIGHT(M, q) M(q, 1) M(q, 2) M(q, 3) M(q, 4) M(q, 5) M(q, 6) M(q, 7) M(q, 8)
#define EACH(M)                                                                                               \
  EIGHT(M, 0) EIGHT(M, 1) EIGHT(M, 2) EIGHT(M, 3) EIGHT(M, 4) EIGHT(M, 5) EIGHT(M, 6) EIGHT(M, 7)
/* clang-format on */

EACH(SHIM)
static native_call *const calls[OP_MAX_ARGS + 1] = {EACH(ROW)};

native_call *native_call_of(int nargs) {
  return calls[nargs];
}

/* Rows one behind the other: the pointer is base + row * step. A step of 0 is the same memory for all elements. */
struct reach {
  char *base;
  const int *map; /* at its column; NULL: the row is the element */
  long step, arity;
};

struct walk {
  void *const *frame;
  const op2jit_placed *places;
  char *scratch;
  void **vectors; /* OP2JIT_WIDEST for each argument that has special[] */
  struct reach reach[OP_MAX_ARGS];
  int special[OP_MAX_ARGS]; /* arguments that are more than that */
  int nspecial;
};

static bool is_extremum(const op2jit_placed *place) {
  return place->kind == OP2JIT_GLOBAL && place->payload >= 0;
}

static struct reach reach_of(const struct walk *w, const op2jit_placed *place) {
  struct reach reach = {.base = place->kind == OP2JIT_ABSENT ? NULL : w->frame[place->base],
                        .step = place->kind == OP2JIT_GLOBAL ? 0 : place->bytes,
                        .arity = place->arity};
  if (place->map >= 0 && place->kind != OP2JIT_ABSENT)
    reach.map = (const int *)w->frame[place->map] + place->column;
  return reach;
}

static void prepare(struct walk *w) {
  for (int i = 0; i < w->places->nargs; i++) {
    const op2jit_placed *place = &w->places[i];
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

static void *numbers_of(const op2jit_placed *place, const struct reach *reach, long e, int *numbers) {
  for (long n = 0; n < place->dim; n++)
    numbers[n] = (reach->map ? reach->map[e * reach->arity + n] : (int)e) + place->base_number;
  return numbers;
}

/* The pointer of an argument that is more than a row. */
static void *special_of(const struct walk *w, int i, long e, void **targets) {
  const op2jit_placed *place = &w->places[i];
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
static void offer(const struct walk *w, const op2jit_placed *place, long e) {
  const char *value = w->scratch + place->scratch, *start = w->frame[place->start];
  const size_t bytes = (size_t)place->bytes;
  if (memcmp(value, start, bytes) == 0)
    return;
  char *best = w->frame[place->base];
  const op2jit_placed *payload = &w->places[place->payload];
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
  const op2jit_placed *places = frame[0];
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
