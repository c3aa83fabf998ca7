/* Loops over few elements that take long all the same: chemistry in each cell, a dense row for each element. The
 * number of elements says nothing of that, so that time tells: after some long calls such a loop is cut finer than
 * others, for all threads. Pure functions, with no clock of their own. */
#ifndef OP2JIT_HEAVY_H
#define OP2JIT_HEAVY_H

#include <stdbool.h>

/* Long calls of such loops are counted: at HEAVY_ENOUGH a loop is heavy. HEAVY_NEVER: it cannot be cut finer. */
enum { HEAVY_ENOUGH = 8, HEAVY_NEVER = -1 };

/* So few elements that the usual pieces do not occupy these threads, and that tuning leaves the loop alone. */
bool heavy_is_few(long elements, int threads);

/* A call took so long. A short one takes a long one back, so that what disturbs the machine now and then makes no
 * loop heavy; very long ones count for several, for a program may make few of them. */
void heavy_note(int *long_calls, double seconds);

/* Elements of a piece: whole strips of so many lanes (0: none), and the same for any usual number of threads, so
 * that sums have the same bits; where there are too few strips for the threads, each has its share. */
int heavy_piece(long elements, int threads, int strip);

#endif
