/* Ranks without MPI: threads of one process that fill a comm's table, so that what runs on many ranks can be
 * tested, and counted, in one process. Persistent messages are not there. */
#ifndef OP2JIT_TESTS_CREW_H
#define OP2JIT_TESTS_CREW_H

#include "ranks/comm.h"

typedef int crew_work(struct comm *comm, void *user, struct error *err);

/* Run `work` on all ranks. If one of them fails the process ends, with a line on stderr, since the others would
 * wait for ever. */
void crew_run(int ranks, crew_work *work, void *user);

/* The bytes and messages that this rank sent to others by exchanges and post since the last call, and how often there was post; and calls in which
 * all ranks take part: how many, and the bytes of the largest. In `everybody` each rank gets something of each other one. */
struct crew_traffic {
  long long bytes, messages, received, posts;
  long long collectives, widest, everybody;
};
struct crew_traffic crew_traffic(struct comm *comm);

#endif
