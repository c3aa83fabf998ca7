/* The nine types as the property test knows them: a table of its own, because the reference must share no
 * code with the library. Every value that a loop reads is inside `bound` and, for floating point, a
 * multiple of 2^-bits; sums and products of such values are exact whatever their order, so answers are
 * compared bit by bit. */
#ifndef OP2JIT_TESTS_VALUE_H
#define OP2JIT_TESTS_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "random.h"

enum vtype { V_DOUBLE, V_FLOAT, V_INT, V_UINT, V_LL, V_ULL, V_BOOL, V_CHAR, V_SHORT, V_TYPES };

struct vtype_info {
  const char *c, *alias; /* as C and the library spell it; a second name or NULL */
  size_t size;
  bool floating;
  double low, high; /* of the values that a loop may read */
};
extern const struct vtype_info vtypes[V_TYPES];
enum { VALUE_BITS = 2 };

/* One number while a tree is evaluated: `f` in floating trees, `w` in whole ones. */
struct value {
  double f;
  long long w;
};

struct value value_load(enum vtype type, const void *at);
/* Conversion as C does it. */
void value_store(enum vtype type, void *at, struct value v);
/* at += v (or -= v) as C does it for this type; sums wrap. */
void value_add(enum vtype type, void *at, struct value v, bool minus);
/* Whether *a < *b as this type. */
bool value_less(enum vtype type, const void *a, const void *b);
/* The same bits, or both zero; or nearly the same if `tolerance` is not 0. */
bool value_same(enum vtype type, const void *a, const void *b, double tolerance);
/* May a loop read it? Where nothing is compared it need only be of that size. */
bool value_tame(enum vtype type, const void *at);
bool value_in_range(enum vtype type, const void *at);
void value_random(enum vtype type, void *at, struct random *r);
int value_print(enum vtype type, const void *at, char *out, size_t size);

/* Constants that kernels use. The variables are the program's own, as native kernels need them. */
struct constant {
  const char *name;
  enum vtype type;
  int dim;
  void *at;
};
enum { CONSTANTS = 5 };
extern const struct constant constants[CONSTANTS];

#endif
