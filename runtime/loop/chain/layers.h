/* Layers of others' elements that a program asks for (OP2_LAYERS): so far loops that wait may run into other ranks' parts.
 * The mesh gets them when a chain comes that exchanges less often with them. */
#ifndef OP2JIT_LOOP_CHAIN_LAYERS_H
#define OP2JIT_LOOP_CHAIN_LAYERS_H

#include "loop/chain/tiled_describe.h"
#include "plan/depth.h"

struct copies_set;

/* At least 1. */
int layers_asked(const struct op_context *ctx);
/* Says where they have less effect than the user may think. */
void layers_warn(const struct op_context *ctx);
/* Has the mesh so many, by all maps that lead to what the chain changes? */
bool layers_are_there(const struct op_context *ctx, const struct tiled_description *d);
/* It is to get them, by layers_make. Local, on all ranks alike. OP_ERR_MEMORY. */
int layers_want(struct op_context *ctx, const struct tiled_description *d, struct error *err);
/* There is something to do for layers_make. The same on all ranks. */
bool layers_are_wanted(const struct op_context *ctx);
/* Give the mesh the layers that are wanted; later if a dat is lent or placed. No loop waits, and none is ready to
 * run. If a rank has no memory nothing is wanted from then on. Collective. */
int layers_make(struct op_context *ctx, struct error *err);
void layers_free(struct op_context *ctx);

/* The cost of a chain for a rank, or for the rank with the highest. */
struct layers_cost {
  int exchanges;
  double bytes; /* received */
  double twice; /* elements that others own, run here, for each that is owned */
};
/* This rank's. Loops that are apart are not counted. OP_ERR_MEMORY. */
int layers_cost(struct loop *const *loops, const struct tiled_description *d, const struct copies_set *sets,
                const struct depths *depths, struct layers_cost *out, struct error *err);
/* Seconds that several layers save in place of one by a simple model of this machine, whose messages were measured: those of
 * messages less those of what runs twice. `seconds`: of the loops. */
double layers_gain(const struct op_context *ctx, const struct layers_cost *one,
                   const struct layers_cost *several, double seconds);

#endif
