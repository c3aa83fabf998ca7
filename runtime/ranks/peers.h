/* Ranks that run on one backend, where a job has several (OP2_BACKEND=cuda,openmp). While they choose, make and time the
 * ways to run a loop they are all the ranks there are: others have other ways, and try at other times. */
#ifndef OP2JIT_RUNTIME_PEERS_H
#define OP2JIT_RUNTIME_PEERS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"
#include "context/context.h"

/* The word, in a list of words with ',' between them, of the rank of this number on its machine: the last one holds for all that
 * follow. Gives its place in the list, or that of an equal word before it. Local. */
int node_word(const char *list, int number, struct text *out);

/* ctx->peers, by this rank's word of the list; stays NULL where all ranks have one word. Collective. */
int peers_open(struct op_context *ctx, const char *list, struct error *err);
void peers_close(struct op_context *ctx);

/* Ranks as they were. */
struct peers_all {
  struct comm *comm, *agreement;
};
/* From here to peers_leave the context's ranks are this one's peers. What these agreed on, an error too, the others do not know:
 * they are to be asked, or told, afterwards. Nothing where there are no peers. */
static inline struct peers_all peers_enter(struct op_context *ctx) {
  const struct peers_all all = {ctx->comm, ctx->agreement};
  if (ctx->peers)
    ctx->comm = ctx->agreement = ctx->peers;
  return all;
}
static inline int peers_leave(struct op_context *ctx, const struct peers_all *all, int code,
                              struct error *err) {
  ctx->comm = all->comm;
  ctx->agreement = all->agreement;
  if (ctx->peers && code)
    err->teller = ERROR_MINE;
  return code;
}

#endif
