/* How much the last-level caches hold, as far as the machine can be believed. Virtual machines say what they like:
 * the cache of a whole socket for each of two CPUs, or nothing. What no processor has is not believed. */
#ifndef OP2JIT_EXEC_CACHES_H
#define OP2JIT_EXEC_CACHES_H

#include <stddef.h>

#include "base/text.h"
#include "context/env.h"

/* Bytes that so many threads of this machine can have at most; loops over less are marked in reports. */
size_t caches_bytes(const struct env *env, int threads);
/* Bytes of one thread's own cache, the second-level one; no more than all that it can have. */
size_t caches_own_bytes(const struct env *env);
/* In words: what is believed of the whole machine, what it said, and why the two differ. */
void caches_describe(const struct env *env, struct text *out);

#endif
