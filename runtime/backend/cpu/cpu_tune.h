/* Tuning of one loop on the host: what may be spent, what an earlier run found, what this one found. */
#ifndef OP2JIT_BACKEND_CPU_TUNE_H
#define OP2JIT_BACKEND_CPU_TUNE_H

#include "backend/cpu/cpu_loop.h"

/* Does OP2_TUNE allow more candidates than the default? OP_ERR_ENV if its value is none of its values. */
int cpu_tune_mode(struct op_context *ctx, bool *candidates, struct error *err);
/* Make the tuner for the candidates there are. */
int cpu_tune_open(struct op_context *ctx, struct cpu_loop *cpu, struct error *err);
/* Start it at what the store remembers. Ranks: the first leader's store, for all. */
int cpu_tune_recall(struct op_context *ctx, const struct loop *loop, struct cpu_loop *cpu, struct error *err);
/* After a run: when the tuner has settled, remember every measured candidate and the winner, once. */
void cpu_tune_keep(struct op_context *ctx, const struct loop *loop, struct cpu_loop *cpu);
/* The loop ends before the tuner has settled: remember what is known, with a choice if that is enough to choose by. Else the
 * next run goes on from there (not with ranks). */
void cpu_tune_close(struct op_context *ctx, const struct loop *loop, struct cpu_loop *cpu);

#endif
