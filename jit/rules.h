/* What a finding of the prover says: codes become words here, and nowhere else. */
#ifndef OP2JIT_JIT_RULES_H
#define OP2JIT_JIT_RULES_H

#include "jit/front/describe.h"
#include "jit/prover.h"

/* What must happen in a run for a violation to be one. The text shows only that it might: the path may be one that
 * no value takes. */
enum rule_evidence {
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
#define RULE_INSTEAD_OF_WRITE                                                                                \
  "or declare it OP_INC and only add to it; OP_RW is right only where no two elements share a target"

enum rule_evidence rule_evidence(enum prove_rule rule);
/* "argument 2 (sum) is declared OP_INC, and the kernel reads it" */
void rule_reason(const struct desc *d, const struct prove_finding *f, struct text *out);
/* What to do about it. Nothing is appended if nothing is known. */
void rule_remedy(const struct desc *d, const struct prove_finding *f, struct text *out);

#endif
