/* Owner ranges: each of `threads` threads owns a contiguous range of every target set, runs the elements whose
 * targets are all its own without any synchronisation, and the elements between the ranges follow, by
 * colour. One barrier and a few short phases instead of one phase for each colour of the set. */
#ifndef OP2JIT_OWNERS_H
#define OP2JIT_OWNERS_H

#include "plan/plan.h"

/* Figures of a schedule of owner ranges. */
struct owner_shares {
  long elements;   /* of the set */
  long listed;     /* run through a list, because their neighbours belong to others */
  long between;    /* between ranges: they wait for all owners */
  long alone;      /* among them those that run while all other threads wait */
  int colours;     /* of the elements between */
  long most, mean; /* elements of one thread's own: the largest and the average number */
};

/* Thread k of `threads` owns [n*k/threads, n*(k+1)/threads) of a set of n, unless the request says that elements differ in
 * their work: then as many entries lead to each range. */
static inline long owner_begin(long n, int k, int threads) {
  return n * k / threads;
}
static inline int owner_of(long n, long element, int threads) {
  return (int)(((element + 1) * threads - 1) / n);
}

/* Items are of WORK_RANGE, or of WORK_LIST for parts of the schedule's list. Sums of floating point numbers depend
 * on `threads`; everything else does not. Uses the request's size, columns and whether it has work. Linear time. Errors: OP_ERR_MEMORY,
 * OP_ERR_ARGUMENT. */
int schedule_owners(struct schedule *s, const struct plan_request *request, int threads,
                    struct owner_shares *shares, struct error *err);

#endif
