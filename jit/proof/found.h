/* What a finding of the prover says: codes become words here, and nowhere else. */
#ifndef OP2JIT_JIT_PROOF_FOUND_H
#define OP2JIT_JIT_PROOF_FOUND_H

#include "jit/front/describe.h"
#include "jit/prover.h"

/* What must happen in a run for a violation to be one. The text shows only that it might: the path may be one that
 * no value takes. */
enum evidence {
  EVIDENCE_TEXT,    /* nothing: the text alone shows it */
  EVIDENCE_PROMISE, /* the argument's promise is broken */
  EVIDENCE_OUTSIDE, /* memory beyond the argument's is used */
  EVIDENCE_INDEX,   /* an array of the kernel's own or a constant is left */
  EVIDENCE_NULL,    /* a null pointer is followed */
  EVIDENCE_KEPT,    /* what one element left changes what another gives */
  EVIDENCE_UNSET    /* a variable without a value changes what the kernel gives */
};

/* What OP_WRITE through a map can be instead: who reads what others left there mostly wants to add to it, and OP_RW
 * makes the promise of OP_WRITE once more. */
#define FOUND_INSTEAD_OF_WRITE                                                                               \
  "or declare it OP_INC and only add to it; OP_RW is right only where no two elements share a target"

enum evidence found_evidence(enum prove_found what);
/* Which error a violation is. */
int found_code(enum prove_found what);
/* Why threads cannot share a loop over an element's targets. */
const char *found_why(enum split_why why);
/* The access, OP_READ and so on, whose promise it says is broken; -1: none. `fact` of an error may be one. */
int found_access(int fact);
/* "argument 2 (sum) is declared OP_INC, and the kernel reads it" */
void found_reason(const struct desc *d, const struct prove_finding *f, struct text *out);
/* What to do about it. Nothing is appended if nothing is known. */
void found_remedy(const struct desc *d, const struct prove_finding *f, struct text *out);

#endif
