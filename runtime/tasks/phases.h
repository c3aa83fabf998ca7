/* A run in which a device takes part. Its tasks run in phases: all that wait for no task of the host any more, with those that
 * wait only for them, are one launch. One thread, beside the team's, copies what they need there, launches, and copies back
 * what tasks of the host need. */
#ifndef OP2JIT_TASKS_PHASES_H
#define OP2JIT_TASKS_PHASES_H

#include "base/behind.h"
#include "tasks/device.h"
#include "tasks/inner.h"

/* A piece of the host's memory that the device has a place for. What one resource has and another one has not are different
 * segments. */
enum newest { NEWEST_HOST, NEWEST_BOTH, NEWEST_DEVICE };
struct segment {
  unsigned char *host;
  size_t bytes, at;    /* at: in the device's data */
  bool wanted;         /* by those that come next */
  _Atomic char newest; /* who has it: changed under locks, or for those that use it */
};

struct phases;
/* The run's questions: it knows no device itself. */
struct phases_calls {
  /* A task that is ready, or has its locks: true if it is the device's, or waits for it to copy what it needs; then it is
   * ready again later. */
  bool (*put)(struct phases *p, struct task *task);
  /* A task of the host is over, and has its locks yet. */
  void (*changed)(struct phases *p, const struct task *task);
  /* Before anything is ready; when the first tasks are: true if the host's threads are to run meanwhile; when these end. */
  void (*begin)(struct phases *p, struct run *r);
  bool (*start)(struct phases *p);
  void (*end)(struct phases *p);
  /* Adds the device's work to the graph's figures; returns how many threads there were, its groups among them. */
  int (*sum)(struct phases *p);
};

struct phases {
  struct arrays arrays; /* but for `put` */
  const struct phases_calls *calls;
  struct task_graph *g;
  struct run *run;
  const struct tasks_device *device;
  struct worker *worker; /* counts what the device did */
  bool alone;            /* no task is the host's: the caller is the thread */
  struct behind behind;
  struct gate gate; /* raised when there may be something to do */
  pthread_mutex_t mutex;
  struct task **put; /* under the mutex: what is ready, and what of the host lacks data */
  size_t nput;
  struct task **ready; /* of the device's, those that could not get their locks too */
  int nready;
  /* A phase: its tasks, each behind those that it waits for, how many of these each waits for, and what it holds. */
  int *tasks, ntasks;
  int *inside;
  unsigned char *taken; /* of each task: it is in the phase; of each resource: see phases.c */
  unsigned char *held;
  int *locks, nlocks;
  int *ranks; /* of the tasks, by weight */
  struct tasks_tables tables;
  struct segment *segments;
  size_t nsegments, bytes;
  unsigned char *staging; /* all data, as the device has them */
  int *child, *sibling;   /* resources in one another; -1: none */
  int groups;             /* of the widest launch */
  size_t all_bytes;       /* there, with tables */
  double copies;
};

/* copies.c: what there is to copy; all that is wanted and old there, or newest there. Errors end the run. */
int copies_find(struct phases *p, struct error *err);
/* The segments of memory that a kernel is passed: from begin to end - 1. */
struct span {
  size_t begin, end;
};
struct span copies_of(const struct phases *p, const void *memory, size_t bytes);
/* A task of the host locks or uses these, with what lies in them. LOOK: is any newest on the device? WANT those; or they were
 * CHANGED. */
enum reach { REACH_LOOK, REACH_WANT, REACH_CHANGED };
bool copies_reach(struct phases *p, struct row row, enum reach reach);
bool copies_in(struct phases *p);
bool copies_out(struct phases *p, bool all);

/* tables.c: room for all tasks; those of the phase. */
int tables_open(struct phases *p, struct error *err);
int tables_make(struct phases *p, struct error *err);

#endif
