/* The watched shape: generated code of the checking form. Each element's rows are copied into rows of the caller's, between
 * guards, the kernel runs on them, and what it did is compared with what its descriptors promise, before anything is stored. At
 * the first element of which there is anything to say the function stops, with nothing of it stored. Frames have slots behind
 * those of jit/front/describe.h:
 *   rows   one per argument: the address of its first row; of an absent one, of a guard
 *   stop   where the number of the element goes at which it stopped; untouched if it ran to the end
 * Afterwards rows hold anything, and guards what they held unless the kernel wrote there. */
#ifndef OP2JIT_JIT_GENERATE_WATCHED_H
#define OP2JIT_JIT_GENERATE_WATCHED_H

#include "jit/front/describe.h"

/* A guard is so many bytes wide or a row more, and so many pointers to guards are around the pointers of a vector. */
enum { WATCHED_GUARD_BYTES = 64, WATCHED_GUARD_POINTERS = 8 };

/* Guards are whole rows: guard, row, guard, row, ..., guard. */
static inline size_t watched_guard_rows(size_t row_bytes) {
  return WATCHED_GUARD_BYTES / row_bytes + 1;
}

/* What each byte of an OP_WRITE argument holds before the kernel runs: another for each argument, and as floating point or whole
 * numbers nothing that programs compute. A bool that is none counts as true in all code, also in that which looks at its last bit
 * only. */
static inline int watched_poison(enum type_code type, int arg) {
  return 0xA0 + arg % 16 + (type == TYPE_BOOL && arg % 2 == 0);
}

static inline int watched_slot_row(const struct desc *d, int arg) {
  return desc_slots(d) + arg;
}

static inline int watched_slot_stop(const struct desc *d) {
  return desc_slots(d) + d->nargs;
}

static inline int watched_slots(const struct desc *d) {
  return watched_slot_stop(d) + 1;
}

#endif
