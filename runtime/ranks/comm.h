/* Ranks. One process is a comm of one rank that needs no MPI; an MPI plugin (mpi/) fills the same table. Called
 * from the main thread only. Everything but what is marked local is collective: all ranks, in the same order.
 * Every call that waits does so through one loop that looks at the clock, so that a rank that never comes can be
 * named (OP2_HANG). */
#ifndef OP2JIT_RANKS_COMM_H
#define OP2JIT_RANKS_COMM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/list.h"
#include "base/text.h"
#include "context/context.h"

struct comm;
struct comm_gather;
struct comm_request;

/* How a plugin begins. */
struct comm_start {
  bool given;  /* over the communicator `fortran`, else over all ranks */
  int fortran; /* of MPI_Comm_c2f */
  double hang; /* for struct comm */
};

enum comm_value { COMM_DOUBLE, COMM_LLONG };
enum comm_op { COMM_SUM, COMM_MIN, COMM_MAX };

/* A message to, or from, each of some ranks: nothing here is as long as the list of all ranks. */
struct comm_messages {
  int count;
  int *ranks; /* ascending, each once */
  size_t *bytes;
};

/* The table that a plugin exports as `op2jit_comm_table`. All int calls: OP_OK or OP_ERR_MPI with the error set. Sizes are
 * bytes and may exceed what MPI counts in one message. */
struct comm_table {
  int version;      /* of this table: COMM_TABLE_VERSION */
  const char *name; /* "openmpi", "mpich" */
  /* Begins MPI if nobody has, and takes a duplicate of the communicator. MPI that was begun here ends with the process,
   * once no comm is open: not before, because it can begin only once. */
  int (*open)(struct comm **out, const struct comm_start *start, struct error *err);
  int (*barrier)(struct comm *c, struct error *err);
  int (*broadcast)(struct comm *c, void *data, size_t bytes, int root, struct error *err);
  int (*reduce_all)(struct comm *c, void *values, int count, enum comm_value type, enum comm_op op,
                    struct error *err);
  /* Sum of what the ranks before this one gave. */
  int (*scan_before)(struct comm *c, long long mine, long long *before, struct error *err);
  /* `bytes` of every rank, in rank order, to every rank. */
  int (*gather_all)(struct comm *c, const void *mine, size_t bytes, void *all, struct error *err);
  /* gather_all of `bytes`, at most INT_MAX, which is waited for by its end: several may be on their way, among whatever
   * else is collective. `mine` is copied. NULL for one process without MPI. */
  int (*gather_begin)(struct comm *c, const void *mine, size_t bytes, struct comm_gather **out,
                      struct error *err);
  int (*gather_test)(struct comm *c, struct comm_gather *gather, bool *done, struct error *err); /* local */
  /* *all is there until the gather is freed. */
  int (*gather_end)(struct comm *c, struct comm_gather *gather, const unsigned char **all, struct error *err);
  /* NULL is allowed. One that has not ended is left to MPI. Local. */
  void (*gather_free)(struct comm *c, struct comm_gather *gather);
  /* Messages one after the other in rank order; sizes known on both sides. Empty ones are not sent. */
  int (*exchange)(struct comm *c, const void *send, const struct comm_messages *to, void *receive,
                  const struct comm_messages *from, struct error *err);
  /* The same where only senders know: *from becomes what came (comm_messages_free), and *receive all of it, in the order
   * of the ranks, for the caller to free. `send` is taken over, to be freed (also at an error: messages may be on their
   * way then). */
  int (*post)(struct comm *c, void *send, const struct comm_messages *to, void **receive,
              struct comm_messages *from, struct error *err);
  /* Persistent messages: made once, started and waited for many times. Local calls. Tags: 0 .. COMM_MOST_TAG. NULL
   * for one process without MPI, which sends none. */
  int (*send_init)(struct comm *c, const void *data, size_t bytes, int peer, int tag,
                   struct comm_request **out, struct error *err);
  int (*receive_init)(struct comm *c, void *data, size_t bytes, int peer, int tag, struct comm_request **out,
                      struct error *err);
  int (*start)(struct comm *c, struct comm_request *const *requests, int count, struct error *err);
  int (*test)(struct comm *c, struct comm_request *const *requests, int count, bool *done, struct error *err);
  int (*wait)(struct comm *c, struct comm_request *const *requests, int count, struct error *err);
  void (*request_free)(struct comm *c, struct comm_request *request);
  /* One that this rank starts by itself, while others do something else; and those of a list that are over: done[i] for
   * each, which are started again before they are asked for again. Local. */
  int (*start_own)(struct comm *c, struct comm_request *request, struct error *err);
  int (*test_some)(struct comm *c, struct comm_request *const *requests, int count, bool *done,
                   struct error *err);
  /* Once for each round in which such messages are asked for in vain; `anew`: the first one. It gives the CPU away, and
   * fails where another rank failed alone, or makes other calls. Local. */
  int (*pause)(struct comm *c, bool anew, struct error *err);
  /* Ranks of one colour become a comm of their own, in the same order. A negative colour: *out is NULL. */
  int (*split)(struct comm *c, int colour, struct comm **out, struct error *err);
  /* True if MPI says that it sends from and receives into the memory of NVIDIA's GPUs. Local. */
  bool (*takes_gpu_memory)(const struct comm *c);
  /* This rank failed alone in a call of all ranks, which the others cannot know: from now on each rank that waits
   * for it, on this comm or one split from it for all ranks, gets the error with the rank in front, and whatever
   * is collective fails with it at once. Local; the first failure counts. */
  void (*tell)(struct comm *c, const struct error *err);
  /* OP_OK, or the error that this rank told or was told. Local. */
  int (*told)(struct comm *c, struct error *err);
  /* NULL is allowed. After a failure that was told MPI keeps what it may still use. */
  void (*close)(struct comm *c);
  void (*abort)(struct comm *c, int status); /* does not return. Local */
};
enum { COMM_TABLE_VERSION = 12, COMM_MOST_TAG = 32000 };

struct comm {
  const struct comm_table *table;
  int rank, size;
  int node_rank, node_size; /* among the ranks of this machine */
  int node;                 /* the lowest of them */
  int share; /* CPUs for this rank, if it shares them or their time with others there; 0: it does not */
  int alike,
      place; /* ranks of this machine that are allowed on exactly the same CPUs, and which of them this is */
  int world; /* ranks of the whole job, as MPI sees it */
  int fortran;       /* the communicator as MPI_Comm_c2f gives it, for other plugins; -1: none */
  const char *where; /* what the library is doing, for OP2_HANG: one line. Set by its caller; NULL: unknown */
  double hang;       /* seconds, 0: wait for ever */
  /* The same ranks once more, for what they agree on (agree.h); NULL: this comm. Borrowed. */
  struct comm *agreement;
  /* Why this rank came to the call it waits in, if it failed: the others may never come there. NULL: it did not.
   * Borrowed. */
  const struct error *failure;
  void *state; /* the plugin's */
};

/* Room for as many messages; false: no memory, and nothing to be freed. */
static inline bool comm_messages_new(struct comm_messages *m, int count) {
  *m = (struct comm_messages){.count = count,
                              .ranks = array_new((size_t)count, sizeof *m->ranks),
                              .bytes = array_new((size_t)count, sizeof *m->bytes)};
  if (m->ranks && m->bytes)
    return true;
  free(m->ranks);
  free(m->bytes);
  *m = (struct comm_messages){0};
  return false;
}
static inline void comm_messages_free(struct comm_messages *m) {
  free(m->ranks);
  free(m->bytes);
  *m = (struct comm_messages){0};
}

/* gather_all to the root only, of different sizes: sizes[rank] on the root. */
int comm_gather(struct comm *c, const void *mine, size_t bytes, void *all, const size_t *sizes, int root,
                struct error *err);

static inline bool comm_alone(const struct comm *c) {
  return c->size == 1;
}

/* ---- how a process gets its comm (comm.c) ---- */

/* The arguments of op_init_comm. */
struct comm_given {
  int fortran;
  const char *library; /* what MPI_Get_library_version says in the program */
};

struct comm_options {
  const char *wanted;   /* OP2_MPI: "auto", "on" or "off" */
  const char *launcher; /* the plugin that the launcher's variables name; NULL: not started by one */
  int launched;         /* how many processes it started, as its variables say; 0: they do not */
  const char *plugins;  /* folder to look for plugins in first */
  double hang;          /* seconds; 0: never speak up */
  const struct comm_given *given; /* NULL: op_init */
};

/* The comm of this process: alone, or by the plugin for the MPI that is in the process or that started it.
 * OP_ERR_NOT_BUILT if that plugin is not there, OP_ERR_MPI if MPI fails or is not the one that the program or the
 * launcher has. */
int comm_open(struct comm **out, const struct comm_options *options, struct error *err);
/* One rank, without MPI and without messages. */
int comm_open_alone(struct comm **out, struct error *err);
/* NULL is allowed. */
void comm_close(struct comm *c);

/* Ranks that run on one backend, where a job has several (OP2_BACKEND=cuda,openmp). While they choose, make and time the
 * ways to run a loop they are all the ranks there are: others have other ways, and try at other times. */

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
