/* The other way of threads that add to targets which several elements share: each thread owns a range of targets, runs
 * all elements that meet one of them, and adds to its own alone. What meets targets of two threads runs twice. */
#ifndef BENCH_COMMON_OWNERS_H
#define BENCH_COMMON_OWNERS_H

/* Thread t owns the targets low[t] .. low[t+1]-1. All targets of the elements begin .. end-1 of its runs are its own: pairs
 * run[2 * first_run[t]] .. before run[2 * first_run[t+1]]; not all are of border[first_border[t]] .. . */
struct owners {
  int threads;
  int *low, *first_run, *run, *first_border, *border;
};

/* `table` holds elements * arity numbers below `targets`; of each row those of the first `adding` columns are added to.
 * For as many threads as OpenMP has. Free with owners_free. */
struct owners owners_make(int elements, int arity, int adding, const int *table, int targets);
void owners_free(struct owners *owners);

/* Whether thread t owns the target. */
static inline int owners_has(const struct owners *owners, int t, int target) {
  return target >= owners->low[t] && target < owners->low[t + 1];
}

#endif
