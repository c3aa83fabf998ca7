/* A violation that the prover reads from a text is one only if a run shows it: the path may be one that no value
 * takes, or the prover followed the text wrongly. So the kernel is compiled for trials and run with made values,
 * in a process of its own, which may crash or go on for ever. */
#ifndef OP2JIT_JIT_WITNESS_H
#define OP2JIT_JIT_WITNESS_H

#include "jit/compiler.h"
#include "jit/kernel/kernel.h"
#include "jit/prover.h"

/* For each finding of a violation whose evidence is in a run: words[i] becomes what a run showed, with `each` what each
 * of several showed; or the verdict PROVE_UNKNOWN, and they say so. False: without memory, or where no process can be
 * made, it is that too, and another day it may be found. */
bool witness_find(const struct compiler *compiler, const struct desc *d, bool each,
                  struct prove_result *result, struct text *words);

#endif
