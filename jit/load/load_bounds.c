#include "jit/load/load_bounds.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

/* As compilers lay it out for -fsanitize=array-bounds. */
struct bounds_type {
  unsigned short kind,
      info; /* of a whole number: bit 0 says that it has a sign, the rest is log2 of its bits */
  char name[];
};
struct bounds_place {
  const char *file;
  unsigned line, column;
  const struct bounds_type *array, *index;
};

/* The call that runs on this thread. */
static _Thread_local struct {
  jmp_buf *back;
  struct bounds_finding *found;
} running;

static long long number(const struct bounds_type *type, unsigned long index) {
  const int bits = 1 << (type->info >> 1);
  if (bits >= 64 || bits == 0)
    return (long long)index;
  const unsigned long low = index & ((1ul << bits) - 1);
  const bool negative = (type->info & 1) && low >> (bits - 1);
  return (long long)low - (negative ? 1ll << bits : 0);
}

void bounds_outside(const struct bounds_place *place, unsigned long index) {
  if (!running.back) { /* such code runs in bounds_call only */
    fprintf(stderr, "op2jit: %s:%u: index %ld is outside %s\n", place->file, place->line, (long)index,
            place->array->name);
    abort();
  }
  struct bounds_finding *found = running.found;
  *found = (struct bounds_finding){
      .line = (int)place->line, .column = (int)place->column, .index = number(place->index, index)};
  snprintf(found->type, sizeof found->type, "%s", place->array->name);
  longjmp(*running.back, 1);
}

void bounds_left(void) {
  running.back = NULL;
}

bool bounds_call(range_function function, void *const *frame, long begin, long end,
                 struct bounds_finding *found) {
  jmp_buf back;
  *found = (struct bounds_finding){0};
  running.found = found;
  running.back = &back;
  if (setjmp(back) == 0)
    function(frame, NULL, begin, end);
  running.back = NULL;
  return found->line == 0;
}
