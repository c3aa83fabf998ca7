/* A bit of everything that a run does with the store, for tests in which something fails along the way. */
#ifndef OP2JIT_TESTS_CACHE_SCENARIO_H
#define OP2JIT_TESTS_CACHE_SCENARIO_H

#include "support.h"

/* Rows 0 .. SCENARIO_ROWS-1 are there before; the scenario reads them and adds as many. */
#define SCENARIO_ROWS 2

void scenario_fill(const char *path);
/* Wrong bytes abort; everything else may succeed or not. */
void scenario_run(const struct store_options *options);
/* Without faults: after compiling again what is missing, everything is there; the file is good. At most one warning.
 * Returns how many of the rows that were there before had to be put again. */
int scenario_check(const char *path);

#endif
