/* Allocations that fail on command. The linker sends the library's malloc and its kin here (--wrap). */
#ifndef OP2JIT_TESTS_MEMORY_H
#define OP2JIT_TESTS_MEMORY_H

#include <stdbool.h>

enum failing { FAIL_NEVER, FAIL_ONCE, FAIL_FROM };

/* From now on: allocation number `at`, counted from 0, fails; FAIL_FROM: and all after it. */
void memory_fail(enum failing how, long at);
/* How many allocations were asked for, and how many were refused, since memory_fail. */
long memory_asked(void);
long memory_refused(void);
/* Asks as an allocation does: for allocators of others. */
bool memory_refuses(void);
/* Blocks that are allocated now. */
long memory_live(void);

#endif
