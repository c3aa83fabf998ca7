/* Counters of the processor and the system (Linux' perf_event), for OP2_COUNTERS: what this process and the threads that
 * it starts later do, outside the kernel. */
#ifndef OP2JIT_EXEC_HARDWARE_H
#define OP2JIT_EXEC_HARDWARE_H

#include <stdbool.h>

#include "base/error.h"

struct text;

enum { HARDWARE_MOST = 6 };

struct hardware {
  int count;
  const char *names[HARDWARE_MOST];
  int files[HARDWARE_MOST];
};

/* Open those of `wanted`: names with ',' between them, or "on" for all. What the machine has not or does not allow is
 * left out, and told in `refused`. OP_ERR_ENV for a name that there is not. To be closed in any case. */
int hardware_open(struct hardware *h, const char *wanted, struct text *refused, struct error *err);
void hardware_close(struct hardware *h);
/* Where they stand. task-clock is in nanoseconds. */
void hardware_read(const struct hardware *h, double values[HARDWARE_MOST]);
/* Add `share` of what was counted since `before` was read. NULL in place of the counters: nothing. */
void hardware_add(const struct hardware *h, const double before[HARDWARE_MOST], double share,
                  double sums[HARDWARE_MOST]);

#endif
