/* Prefetches, for elements of a list. */
#ifndef OP2JIT_JIT_GENERATE_EARLY_H
#define OP2JIT_JIT_GENERATE_EARLY_H

struct generator;

/* So many elements are in hand: of as many that come later. Nothing where there is no list. */
void put_ask_early(struct generator *g, int elements);
/* Elements from op2_i on up to `stop`, one after the other. */
void put_elements(struct generator *g, const char *stop);

#endif
