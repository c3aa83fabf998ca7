/* The time of a loop that never waits for memory. */
#ifndef OP2JIT_FLOOR_H
#define OP2JIT_FLOOR_H

#include "record/launch.h"
#include "run/schedule.h"

/* Seconds of all elements on one thread, by the loop's own code on some of its first elements, whose data are copied
 * to where the caches have them: a small mesh. Nothing of the program's is changed. 0: it is not known, as the loop has
 * few elements, these reach far, or there is no memory. `work` is generated code that runs ranges of elements, with its
 * frame. */
double floor_seconds(const struct launch *launch, const struct work *work);

#endif
