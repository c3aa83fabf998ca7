/* Words for the prover's findings: codes become words here, and nowhere else. */
#ifndef OP2JIT_JIT_FOUND_H
#define OP2JIT_JIT_FOUND_H

#include "jit/facts.h"
#include "jit/kernel/kernel.h"
#include "jit/prover.h"

/* The rule that is broken, and what shows it. `fact` of an error may be one of the findings. */
enum rule found_rule(int fact);
enum evidence found_evidence(enum prove_found what);
/* Which error a violation is. */
int found_code(enum prove_found what);
/* The first reading in which such C is refused, or something else. */
enum reading found_reading(enum prove_found what);
/* Why threads cannot share a loop over an element's targets. */
const char *found_why(enum split_why why);
/* The access whose promise it says is broken: OP_READ, OP_WRITE or OP_INC; -1: of none of them. */
int found_access(int fact);
/* "argument 2 (sum) is declared OP_INC, and the kernel reads it" */
void found_reason(const struct desc *d, const struct prove_finding *f, struct text *out);
/* The remedy. Nothing is appended if none is known. */
void found_remedy(const struct desc *d, const struct prove_finding *f, struct text *out);
/* The parameter that argument `arg` (from 0) asks for: "const double *NAME". */
void found_expected(const struct desc *d, int arg, const char *name, struct text *out);

#endif
