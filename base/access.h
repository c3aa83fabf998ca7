/* What each access means: one row for each, by op_access. */
#ifndef OP2JIT_BASE_ACCESS_H
#define OP2JIT_BASE_ACCESS_H

#include <stdbool.h>

#include "op2jit.h"

enum { ACCESSES = OP_WORK + 1 };

struct access_row {
  const char *name, *word; /* "OP_INC"; in descriptions, "inc" */
  bool reads;              /* the kernel gets the value that was there */
  bool changes;            /* the kernel leaves another value, which counts */
  bool assigns;            /* ... in the place of the one that was there: elements must not meet */
  bool reduces;            /* ... which is put together with what other elements leave, in any order */
  bool is_extremum;        /* ... by keeping the smaller or the larger */
  bool of_dats;            /* globals have all of them */
};
extern const struct access_row access_rows[ACCESSES];

static inline const char *access_name(int access) {
  return access_rows[access].name;
}
static inline bool access_reads(int access) {
  return access_rows[access].reads;
}
static inline bool access_changes(int access) {
  return access_rows[access].changes;
}
static inline bool access_assigns(int access) {
  return access_rows[access].assigns;
}
static inline bool access_reduces(int access) {
  return access_rows[access].reduces;
}
static inline bool access_is_extremum(int access) {
  return access_rows[access].is_extremum;
}

#endif
