/* Temporaries that a program makes and frees again and again (op_decl_dat_temp). One that is freed while loops wait that
 * use it lives until they have run, and they need not store it. One that has ended is kept for a while: a declaration
 * that is like it gets it, with its memory and all that is known of its loops, plans, chains and times. */
#ifndef OP2JIT_LOOP_TEMPORARY_H
#define OP2JIT_LOOP_TEMPORARY_H

#include "mesh/data.h"

/* The program has freed it. OP_OK, or what loops fail with that run for the memory that they hold. */
int temporary_end(struct op_context *ctx, struct dat *dat, struct error *err);
/* A declaration: *out is an ended temporary like it, full of zeros; NULL: none. If loops wait for it, they run. */
struct temporary_wish {
  const struct set *set;
  int dim;
  const char *type, *name;
};
int temporary_again(struct op_context *ctx, const struct temporary_wish *wish, struct dat **out,
                    struct error *err);
/* Loops have run: bury the temporaries that none waits for. */
void temporaries_bury(struct op_context *ctx);
/* The set is about to go. */
void temporaries_forget(struct op_context *ctx, const struct set *set);
/* The dat, and what is known of it, goes for good. */
void dat_forget(struct op_context *ctx, struct dat *dat);

#endif
