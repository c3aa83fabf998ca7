/* Messages of a run. A task of such a type is begun as soon as it waits for nothing, and is over when MPI says so; thread
 * 0 sees to both, between its tasks. */
#ifndef OP2JIT_TASKS_RANKS_MESSAGES_H
#define OP2JIT_TASKS_RANKS_MESSAGES_H

#include "tasks/ranks.h"

struct message {
  int node, next; /* the part's task; the next message of the same one, -1: none */
  int resource;   /* -1: nothing travels but that something is over */
  int waits;      /* of one that is received: a task of the part that waits for it */
  int peer, tag;
  size_t bytes;
  struct comm_request *request;
  long began;
};

struct messages {
  struct arrays arrays; /* but for the items */
  struct comm *comm;
  struct message *items;
  int count;
  unsigned char *signals; /* one for each, for those without bytes */
  int *first, *left;      /* of each task of the part: its messages; how many are on their way */
  pthread_mutex_t mutex;  /* for `put`: tasks that may begin */
  struct task **put, **taken;
  _Atomic int nput; /* changes under the mutex; thread 0 looks at it without */
  int *active;      /* messages on their way */
  struct comm_request **requests;
  bool *done;
  int nactive;
  long tested, stalled; /* when MPI was asked last; since when nothing came, 0: something did */
  long waited;
  bool told;
};

void messages_free(struct messages *m);
/* Their memory and MPI's requests; room is made where the library keeps the memory. */
int messages_open(struct task_graph *local, struct comm *comm, struct error *err);

void messages_begin(struct run *r);
/* false: the task is no message. */
bool messages_put(struct run *r, struct worker *w, struct task *task);
/* Begin, and ask. `idle`: the thread has nothing else to do. */
void messages_move(struct run *r, struct worker *w, bool idle);
/* Thread 0 does not sleep while there are some: false if there are none. */
bool messages_await(struct run *r, struct worker *w);

#endif
