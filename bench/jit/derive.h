/* How long a derivative takes to make. */
#ifndef OP2JIT_BENCH_DERIVE_H
#define OP2JIT_BENCH_DERIVE_H

/* Seconds of the processor for the tangent or the adjoint of one of the program's loops, without a cache: the most of all loops
 * that ran so far, and the loop. */
double slowest_to_derive(const char **loop);

#endif
