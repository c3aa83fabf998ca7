/* Graphs that several ranks run together. Every rank knows the whole graph: each adds all of it, or they bring their parts
 * together (ranks_parts.c). What travels are units, the memory of resources. Tasks get their ranks by who has what
 * they lock (ranks_place.c). Then each rank builds its part: its own tasks, and one task for each message that it sends or
 * receives (ranks_wires.c). A part is an ordinary graph, but for messages, which thread 0 begins and asks for (ranks_messages.c). */
#ifndef OP2JIT_TASKS_RANKS_H
#define OP2JIT_TASKS_RANKS_H

#include "ranks/comm.h"
#include "tasks/inner.h"

/* The first types of such a graph. */
enum { TYPE_SEND, TYPE_RECEIVE, TYPES_OF_MESSAGES };
/* In the place of a rank. */
enum { EVERY_RANK = -1, NO_RANK = -2 };

/* A fact about a task, from the program: its key, the key of a task before it, or its rank. */
struct keyed {
  long long key, task; /* alike, so that there is nothing between them where they are compared as bytes */
};

enum { PLACED, KEYS, WAITS, KEYED }; /* ranks of tasks; their keys; those of what they wait for */
struct keyed_list {
  struct keyed *items;
  size_t count;
};

/* Whole resources that are locked and travel by themselves: `count` of them, in the order in which resources lie in one
 * another. Who locks or uses resource r touches those from begin[r] to end[r] - 1. */
struct units {
  struct arrays arrays;
  int count;
  int *resource, *begin, *end;
  size_t *bytes; /* 0: only a lock */
  int *owner;    /* the rank that has it between runs */
};

/* Memory that the library keeps for a resource. */
struct kept_room {
  int resource;
  size_t bytes;
  void *memory;
};

struct graph_ranks {
  int form;
  struct keyed_list said[KEYED];
  size_t *sizes; /* of parts: the bytes of each task's data */
  bool changed;  /* since the part was built */

  struct task_graph *whole; /* of parts that were brought together; NULL: the graph itself */
  /* In the whole: first[r] is the first task of rank r's part, and behind the last part the end; resources[from[r]] and those that
   * follow are the numbers of rank r's resources. */
  struct arrays arrays;
  int *first, *from, *resources;
  int ranks, me;
  struct kept_room *rooms;
  size_t nrooms;

  struct units units;
  int *place; /* of each task of the whole: a rank or EVERY_RANK */
  int *home;  /* of each resource of the whole: who had it last; NO_RANK */
  int nhomes;
  bool ordered;
  struct task_graph *local;
  long long messages, bytes; /* that this rank sends in a run */
  int size;                  /* ranks that ran it last */
  double waited; /* seconds of the last run in which this rank had nothing but messages to wait for */
};

static inline struct task_graph *ranks_whole(struct task_graph *g) {
  return g->ranks->whole ? g->ranks->whole : g;
}

/* said.c: all but its graphs goes. */
void ranks_free(struct graph_ranks *k);
void ranks_changed(struct task_graph *g);
int ranks_add_keyed(const struct task_graph *g, struct keyed_list *list, struct keyed one, struct error *err);
/* The last task has so many bytes of data. */
int ranks_size(struct task_graph *g, size_t bytes, struct error *err);
/* The resource in this rank's part that has the program's number. -1 with an error. */
int ranks_resource(const struct task_graph *local, op_resource number, struct error *err);
/* "task 3 (sort) of rank 1" of parts that were brought together; false: of nothing else. */
bool ranks_task_words(const struct task_graph *g, int task, struct text *out);
bool ranks_resource_words(const struct task_graph *g, int resource, struct text *out);

/* ranks.c */
/* Tasks cost the most that a rank says: `from`, the whole or this rank's part, has what it knows. Collective. */
int ranks_costs(struct task_graph *whole, const struct task_graph *from, struct comm *comm,
                struct error *err);
/* The home of a new resource: that of the nearest one around it that has memory. Those have lower numbers. */
int ranks_first_home(const struct task_graph *whole, const int *home, int resource);

/* parts.c: the whole, which is the same on all ranks. Collective, and agreed. */
int ranks_share(struct task_graph *g, struct comm *comm, struct error *err);

/* units.c */
int units_find(const struct task_graph *whole, struct units *units, struct error *err);
void units_free(struct units *units);

/* place.c: of so many ranks. Owners first: those that the program named, and others by `home` or by parts. */
int place_units(struct task_graph *whole, struct units *units, const int *home, int ranks,
                const struct tasks_options *options, struct error *err);
int place_tasks(const struct task_graph *whole, const struct units *units, int ranks, int *place,
                struct error *err);
/* The rank that the program named for the resource, or for the nearest one around it; -1: none. */
int place_named(const struct task_graph *whole, int resource);
/* The largest sum of costs of a rank, by the mean of all. */
double place_imbalance(const struct task_graph *whole, const int *place, int ranks);

/* ranks_wires.c: the part of one rank, with what it sends and receives. `home` NULL: units begin where their owners are. */
struct wires {
  struct task_graph *whole;
  const struct units *units;
  const int *place, *home;
  int me, ranks;
  bool ordered; /* all that touch a unit do it one after the other, in one order for any number of ranks */
};
int wires_build(const struct wires *w, struct task_graph **local, struct error *err);

/* simulate.c: seconds of a run of these parts, one for each rank. What a thread needs between two tasks is as it was in the
 * last run of `measured`. -1 with an error. */
double simulate_parts(struct task_graph *const *parts, const op_graph_network_t *said,
                      const struct task_graph *measured, struct error *err);

#endif
