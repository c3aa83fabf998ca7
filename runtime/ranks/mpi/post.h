/* Declarations that the files of an MPI plugin share. The plugin is compiled once per MPI library, and exports its table only. */
#ifndef OP2JIT_RANKS_MPI_POST_H
#define OP2JIT_RANKS_MPI_POST_H

#include <mpi.h>

#include "ranks/comm.h"

/* The longest single message. Longer ones go in pieces: MPI counts in int. */
enum { PIECE = 1 << 24 };
/* Tags of the calls that send by themselves; those of persistent messages are lower. */
enum { TAG_EXCHANGE = COMM_MOST_TAG + 1, TAG_POST, TAG_POST_NEXT };

struct mpi_watch;

/* Waits that look at the clock: after `hang` seconds they say where (post.c). */
struct mpi_wait {
  const struct comm *comm;
  const char *call;
  double begin; /* 0: the clock was not looked at yet */
  long rounds;
  bool told, noted;
  long long number; /* of what is waited for */
};

/* The pieces that MPI is asked for at once, and the request of each. */
struct mpi_tested {
  struct arrays arrays;
  MPI_Request *handles;
  MPI_Status *statuses; /* MPICH's header and gcc warn where there are none */
  int *of, *indices, most;
};

struct mpi_state {
  struct comm comm;
  MPI_Comm mpi;
  MPI_Op operations[3]; /* of doubles, by enum comm_op: in rank order, and a NaN stays */
  bool crowded; /* more ranks than CPUs, or than their quota pays for: give the CPU away while waiting */
  struct mpi_watch *watch;  /* NULL: not all ranks are in this comm */
  struct mpi_watch *around; /* then: of the comm that it is a part of */
  int number;               /* of this comm there */
  long long started;        /* the number of what `start` began last */
  int posts;                /* called so far: 1 if an odd number */
  unsigned char *room;      /* through which small collectives go */
  size_t room_bytes;
  struct mpi_wait own; /* for messages that this rank begins by itself */
  struct mpi_tested tested;
};

static inline struct mpi_state *mpi_state(const struct comm *c) {
  return c->state;
}

/* OP_OK, or OP_ERR_MPI with MPI's own words. */
int mpi_check(int status, const char *call, struct error *err);

/* Once per round of a wait. Fails if this rank waits for what another one does not call. */
int mpi_pause(struct mpi_wait *wait, struct error *err);
/* `number`: of what all ranks begin on the comm. */
int mpi_wait_for(struct comm *c, MPI_Request *requests, int count, const char *call, long long number,
                 struct error *err);

/* watch.c: what ranks that wait long tell each other. The watch belongs to the comms that share it. */
int mpi_watch_new(struct comm *c, struct error *err);
void mpi_watch_share(struct mpi_watch *watch, struct comm *c);
/* `part` was split from c. */
void mpi_watch_around(const struct comm *c, struct comm *part);
void mpi_watch_drop(struct mpi_watch *watch, bool ended);
/* Before whatever all ranks of the comm begin. Fails once ranks were found to differ. */
int mpi_watch_begin(struct comm *c, struct error *err);
/* The number of what was begun last. */
long long mpi_watch_number(const struct comm *c);
/* Look at what others told; with `tells` they are told where this rank waits. */
int mpi_watch_look(struct mpi_wait *wait, bool tells, struct error *err);
/* Were ranks found to differ, or did one fail alone? */
bool mpi_watch_broken(const struct comm *c);
/* comm_table's. */
void mpi_watch_tell(struct comm *c, const struct error *err);
int mpi_watch_told(struct comm *c, struct error *err);

/* Ends messages that nobody waits for any more, the first `receives` of which are received: nothing arrives in
 * their memory from then on. False: some that are sent are still on their way, and their memory has to stay. */
bool mpi_abandon(MPI_Request *requests, int receives, int count);

/* Pieces of `bytes`. */
static inline int mpi_pieces(size_t bytes) {
  return (int)((bytes + PIECE - 1) / PIECE);
}
static inline int mpi_piece(size_t bytes, int number) {
  const size_t rest = bytes - (size_t)number * PIECE;
  return (int)(rest < PIECE ? rest : PIECE);
}

/* messages.c */
int mpi_send_init(struct comm *c, const void *data, size_t bytes, int peer, int tag,
                  struct comm_request **out, struct error *err);
int mpi_receive_init(struct comm *c, void *data, size_t bytes, int peer, int tag, struct comm_request **out,
                     struct error *err);
int mpi_start(struct comm *c, struct comm_request *const *requests, int count, struct error *err);
int mpi_test(struct comm *c, struct comm_request *const *requests, int count, bool *done, struct error *err);
int mpi_wait(struct comm *c, struct comm_request *const *requests, int count, struct error *err);
void mpi_request_free(struct comm *c, struct comm_request *request);
int mpi_start_own(struct comm *c, struct comm_request *request, struct error *err);
int mpi_test_some(struct comm *c, struct comm_request *const *requests, int count, bool *done,
                  struct error *err);
int mpi_pause_own(struct comm *c, bool anew, struct error *err);
/* collectives.c */
int mpi_barrier(struct comm *c, struct error *err);
int mpi_broadcast(struct comm *c, void *data, size_t bytes, int root, struct error *err);
int mpi_reduce_all(struct comm *c, void *values, int count, enum comm_value type, enum comm_op op,
                   struct error *err);
int mpi_scan_before(struct comm *c, long long mine, long long *before, struct error *err);
int mpi_gather_all(struct comm *c, const void *mine, size_t bytes, void *all, struct error *err);
int mpi_exchange(struct comm *c, const void *send, const struct comm_messages *to, void *receive,
                 const struct comm_messages *from, struct error *err);
/* post.c */
int mpi_post(struct comm *c, void *send, const struct comm_messages *to, void **receive,
             struct comm_messages *from, struct error *err);
/* The functions of `operations`. */
int mpi_make_operations(MPI_Op operations[3], struct error *err);

#endif
