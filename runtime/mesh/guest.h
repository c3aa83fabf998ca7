/* Dats whose rows are somebody else's for a while. Lent: a bridge reads or writes them. Placed: they lie in memory of a
 * bridge's, and loops work there. Local; who calls sees to it that no loop waits. */
#ifndef OP2JIT_GUEST_H
#define OP2JIT_GUEST_H

#include "mesh/data.h"

struct guest {
  bool lent, placed;
  op_access access;
  enum space space; /* lent: whose replica */
  /* Placed: what it is to be in, and what it was in. */
  void *memory;
  void *
      room; /* where it works: there, or where code may read behind the memory's end, in rows that are copied */
  struct replica own;
  bool own_blank, own_borrowed;
};

/* *memory: the space's rows, with the values of what is owned unless the access is OP_WRITE. */
int guest_lend(struct op_context *ctx, struct dat *dat, enum space space, op_access access, void **memory,
               struct error *err);
void guest_lend_end(struct op_context *ctx, struct dat *dat);
/* `memory` has room for all rows. The dat is neither lent nor placed, and its rows are whole. */
int guest_place(struct op_context *ctx, struct dat *dat, void *memory, op_access access, struct error *err);
/* OP_ERR_STATE: the mesh changed meanwhile, and the values went elsewhere. */
int guest_place_end(struct op_context *ctx, struct dat *dat, struct error *err);
/* Free the guest of a dat that is about to go. */
void guest_free(struct dat *dat);

#endif
