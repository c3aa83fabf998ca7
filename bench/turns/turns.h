/* A sample of which one process runs the hand-written OpenMP loop and another the library, a batch of steps whenever it
 * is told to (turns.py). Each driver includes its sample, whose functions it calls, and defines these. */
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H

#include <op2jit.h>

/* Makes what all batches need, of the library's only if `library`, and sets turns_bytes. Returns how many values the
 * answer has. */
long long turns_prepare(int size, int library);

/* One batch: `steps` steps from the same start. Leaves the answer, returns the seconds of one step. */
double turns_library(int steps, double *answer);

/* The same by hand with OpenMP, in several forms; one without a name ends them. */
struct turns_form {
  const char *name;
  double (*run)(int steps, double *answer);
};
extern const struct turns_form turns_forms[];

/* What a step must move between memory and processor at least: each loop's data once, its maps once. 0: not said. */
extern double turns_bytes;

/* The largest difference between the two answers that the sample's own checks let pass. */
extern const double turns_limit;

/* What the sample gives to op_init besides its own words, such as "OP2_FP=strict"; NULL: nothing. */
extern const char *const turns_word;

/* On a GPU, what a batch must not take its time for, or must: the dat, one double for each element of the set, is copied
 * there, and nothing else runs any more; all loops have ended. Nothing is copied back. */
void turns_bring(op_dat dat, op_set set);
void turns_wait(void);

#endif
