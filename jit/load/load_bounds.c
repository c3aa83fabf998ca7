#include "jit/load/load_bounds.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The layout that compilers use for -fsanitize=array-bounds. */
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
  bounds_passes *passes;
  void *user;
} running;

static long long number(const struct bounds_type *type, unsigned long index) {
  const int bits = 1 << (type->info >> 1);
  if (bits >= 64 || bits == 0)
    return (long long)index;
  const unsigned long low = index & ((1ul << bits) - 1);
  const bool negative = (type->info & 1) && low >> (bits - 1);
  return (long long)low - (negative ? 1ll << bits : 0);
}

static struct bounds_finding *note_finding(const struct bounds_place *place, unsigned long index) {
  if (!running.back) { /* such code runs in bounds_call only */
    fprintf(stderr, "op2jit: %s:%u: index %ld is outside %s\n", place->file, place->line, (long)index,
            place->array->name);
    abort();
  }
  struct bounds_finding *found = running.found;
  *found = (struct bounds_finding){
      .line = (int)place->line, .column = (int)place->column, .index = number(place->index, index)};
  snprintf(found->type, sizeof found->type, "%s", place->array->name);
  return found;
}

void bounds_outside(const struct bounds_place *place, unsigned long index) {
  struct bounds_finding *found = note_finding(place, index);
  found->passed = running.passes(found, running.user);
  if (!found->passed)
    longjmp(*running.back, 1);
}

void bounds_assert_failed(const char *condition) {
  if (!running.back) {
    fprintf(stderr, "op2jit: op_assert(%s) does not hold\n", condition);
    abort();
  }
  *running.found = (struct bounds_finding){.condition = condition};
  longjmp(*running.back, 1);
}

void bounds_left(void) {
  running.back = NULL;
}

bool bounds_call(range_function function, void *const *frame, long begin, long end, bounds_passes *passes,
                 void *user, struct bounds_finding *found) {
  jmp_buf back;
  *found = (struct bounds_finding){0};
  running.found = found;
  running.passes = passes;
  running.user = user;
  running.back = &back;
  if (setjmp(back) == 0)
    function(frame, NULL, begin, end);
  running.back = NULL;
  return !found->condition && (found->line == 0 || found->passed);
}

/* ---- where it was ---- */

static const char blanks[] = " \t\n";

size_t bounds_name(const char *text, int line, int column, const char **name) {
  for (int i = 1; i < line && *text; i++)
    text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
  const size_t length = strcspn(text, "\n");
  *name = text + ((size_t)column <= length ? (size_t)column - 1 : length);
  size_t n = 0;
  while (is_in_word((*name)[n]))
    n++;
  return n;
}

int bounds_subscripts(const char *after) {
  int count = 0;
  for (after += strspn(after, blanks); *after == '['; after += strspn(after, blanks)) {
    int depth = 0;
    do {
      depth += *after == '[' ? 1 : *after == ']' ? -1 : 0;
      after++;
    } while (depth > 0 && *after);
    count++;
  }
  return count;
}

static bool is_member(const char *text, const char *name) {
  while (name > text && strchr(blanks, name[-1]))
    name--;
  return name > text && (name[-1] == '.' || name[-1] == '>');
}

bool bounds_is_of_row(const char *text, const struct bounds_finding *finding) {
  const char *name;
  const size_t length = bounds_name(text, finding->line, finding->column, &name);
  int dimensions = 0;
  for (const char *at = finding->type; (at = strchr(at, '[')); at++)
    dimensions++;
  return length && bounds_subscripts(name + length) > dimensions && !is_member(text, name);
}
