/* How fast each rank is beside the others: parts weigh accordingly. */
#ifndef OP2JIT_SPREAD_PARTS_SPEEDS_H
#define OP2JIT_SPREAD_PARTS_SPEEDS_H

#include <stdbool.h>

#include "base/error.h"
#include "spread/parts/build.h"

struct op_context;
struct partition_call;

enum { MOST_SPEED = 1 << 14 };

/* OP2_SPEEDS: OP_ERR_ENV if it is neither a word that is known nor numbers. Local. */
int speeds_check(const struct op_context *ctx, struct error *err);
/* The number that it gives for this rank; 0: none. Local. */
double speeds_given(const struct op_context *ctx);
/* True if speeds are to be measured. The same on all ranks. Local. */
bool speeds_are_measured(const struct op_context *ctx);

/* The speed of each rank, 1 .. MOST_SPEED, for the caller to free; NULL: all are as fast. As OP2_SPEEDS says; else what each rank owns
 * by the time that it took (`cost` of an element of each set; NULL: those of the prime set count alone), and where nothing ran
 * yet, how fast its memory is. Collective. */
int parts_speeds(struct op_context *ctx, const struct partition_call *call, const struct share *share,
                 const int *cost, int **speeds, struct error *err);

#endif
