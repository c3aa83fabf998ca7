/* The shape of a range function: how generated CPU code walks over its elements. A shape has a canonical
 * name, which is a column of the key and part of a variant's name. */
#ifndef OP2JIT_JIT_EMIT_CHOOSE_H
#define OP2JIT_JIT_EMIT_CHOOSE_H

#include <stdbool.h>

#include "base/text.h"

/* Targets of an element that is in a strip, where a ragged map's elements differ. */
enum { ROWS_MOST = 8 };

struct shape {
  int width; /* lanes of a strip; 0: one element at a time */
  bool list; /* elements list[begin] .. list[end-1]; else begin .. end-1 */
  /* Strips inside straight ranges (see runtime/plan/straight.c) read their targets as they follow one another in
   * memory, without the map. Only with a width and without a list. */
  bool straight;
  /* Results that strips write whole go past the caches: no loop reads them soon. Only with a width and without a
   * list. */
  bool stream;
  /* While a strip is computed, rows of the next one are loaded, and what the one before adds to rows goes to memory.
   * Only with a width. */
  bool piped;
  /* Loops of the kernel before which it says OP_ANY_ORDER have their own vector code: several targets of one element
   * side by side, and a sum of each lane. */
  bool rows;
  /* The kernel is left as it is written, so that a debugger steps through it and shows its arguments. Only without
   * a width, and only in code that nobody keeps: no part of the name. */
  bool stepped;
  bool bounds; /* indices are watched, see jit/load/load_bounds.h: for the checking form; then nothing else */
};

static inline bool shape_equal(const struct shape *a, const struct shape *b) {
  return a->width == b->width && a->list == b->list && a->straight == b->straight && a->stream == b->stream &&
         a->piped == b->piped && a->rows == b->rows && a->bounds == b->bounds;
}

/* The name's end in the checking form. */
#define SHAPE_BOUNDS "+bounds"

/* "scalar", "strip8", "scalar+list", "strip8+straight+stream", "strip4+piped", "scalar+rows", "scalar+bounds". */
void shape_print(const struct shape *s, struct text *out);
/* Reads the output of shape_print, but for "+bounds", which is no variant; false for anything else. Widths are 4, 8
 * and 16. */
bool shape_parse(const char *name, struct shape *s);

#endif
