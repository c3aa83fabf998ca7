/* One CPU, one thread of a team. Linux may start or wake a thread on the CPU of the thread that did so although
 * another one is free (in virtual machines often: a CPU that sleeps there does not count as free), and leaves the
 * two in each other's way for some 30 milliseconds, longer than many a run. So each thread of a run claims the CPU
 * that it is on, and one that finds it claimed goes elsewhere. Nobody is bound: a thread may go wherever it might
 * before. For runtime/exec/team*.c. */
#ifndef OP2JIT_EXEC_TEAM_PLACE_H
#define OP2JIT_EXEC_TEAM_PLACE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CPUs as sched_getaffinity gives them; `bytes` long. */
struct cpus {
  cpu_set_t *mask;
  size_t bytes;
};

/* The CPUs that the calling thread may run on, to be released with cpus_free. False, and nothing to release:
 * unknown. */
bool cpus_allowed(struct cpus *out);
int cpus_count(const struct cpus *cpus);
void cpus_free(struct cpus *cpus);

/* The run that claimed each CPU last. A line each: threads that stay where they are write to lines of their own. */
struct place {
  _Alignas(64) _Atomic uint64_t run;
};
struct places {
  size_t ncpus;
  struct place cpu[];
};

/* NULL without memory: then nobody claims. */
struct places *places_open(void);
void places_close(struct places *places);

/* Claim the caller's CPU for a run (numbered from 1, upwards). False: another thread of this run has it. */
static inline bool place_claim(struct places *places, uint64_t run) {
  int here = sched_getcpu();
  if (here < 0 || (size_t)here >= places->ncpus)
    return true;
  /* relaxed: of two threads one gets the other's number whatever the order, for it is one variable; nothing else is
   * handed over by it */
  return atomic_exchange_explicit(&places->cpu[here].run, run, memory_order_relaxed) != run;
}
/* Go to a CPU that no thread of this run or of the one before claimed. False: there is none that the caller may use. */
bool place_leave(struct places *places, uint64_t run);

#endif
