/* How reports look: rows given as plain values become an aligned table, JSON, or a trace for a browser's trace
 * viewer. Whoever runs loops fills the rows. */
#ifndef OP2JIT_REPORT_FORMS_H
#define OP2JIT_REPORT_FORMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "context/trace.h"
#include "loop/chain/segments.h"
#include "loop/chain/tiled.h"
#include "loop/period.h"
#include "record/record.h"
#include "tasks/graph.h"

/* Where a loop's code came from. */
enum report_origin { REPORT_NATIVE, REPORT_COMPILED, REPORT_CACHE_HIT };
struct report_row;
enum report_origin report_origin(const struct report_row *row);

/* A variant that the tuner measured in this run. */
struct report_variant {
  const char *name;
  double median, spread; /* seconds a call; half the middle half, relative */
  int runs;
  bool rejected; /* it could not be made */
};

/* The same loop in an earlier run on this machine. */
struct report_speed {
  long long time, elements; /* seconds since 1970 */
  double seconds;           /* of the fastest call */
  char *version, *variant, *mesh;
};

/* Details for JSON and the page. Empty without a record of the loop. */
struct report_detail {
  struct text set, args, plan; /* args: a line each */
  struct text history;         /* what the cache says of the kernel, newest first: a line each */
  const char *no_text;         /* why it runs by the program's own function; NULL: it runs by a text */
  struct report_variant *variants;
  int nvariants;
  double one, many; /* seconds of a call on one thread and on all, measured in turns; 0: it was not */
  bool runs_on_one;
  struct report_speed *speeds; /* of earlier runs, newest first */
  int nspeeds;
  struct text slower; /* "was faster on this machine: ...", or empty */
  struct text unused; /* "argument 3 (dat "x")": those that its kernel does not name, with ',' between them */
};

/* The figures of one loop on one rank. Waiting is part of exchanging; `redundant`: copies executed for each element owned. */
struct report_rank {
  double seconds, exchange_seconds, waiting_seconds, messages, bytes_sent, exchanges, redundant;
};

struct report_row {
  const char *name;
  struct loop_stats stats;            /* of all calls; `bytes` are those that what ran last must move */
  double least, most;                 /* seconds over the ranks; ignored for one rank */
  struct report_rank across;          /* mean of the ranks; messages and their bytes: of all */
  const struct report_detail *detail; /* NULL: none */
  const struct report_rank *by_rank;  /* one for each rank; NULL: one process */
};

/* A view of which the library keeps a copy. */
struct report_view {
  const char *name, *why;
};

/* How the loops through a map fetch what it leads to. */
struct report_order {
  const char *map, *loop; /* loop: of these the one that takes the most time */
  double seconds;         /* of all of them */
  double fetches;         /* of each line of memory; 0: the data fit in the cache */
  double own_fetches;     /* the same into the cache that a core has for itself */
  const char *listed;  /* a loop whose blocks met so often that its elements run through a list; NULL: none */
  int blocks, colours; /* of that loop, in the order of its set */
};

/* A dat that no loop reads, and the program neither. */
struct report_unread {
  const char *name;
  double bytes;
};

/* A constant that has not followed the program's variable, which changed behind the declaration. */
struct report_moved {
  const char *name;
  int element, dim;       /* the first value that differs, of so many */
  struct text loops, now; /* the value that loops have, and that of the variable */
};

/* A graph of tasks: of its last run, and of all. */
struct report_graph {
  const char *name;
  const struct task_graph *graph;
  op_graph_facts_t last;
  struct tasks_sums sums;
};

/* Loops that took so little together say nothing. */
#define REPORT_SHORT 0.1

struct report {
  const char *program, *host, *date,
      *sets;                        /* with its arguments; "edges 600, cells 300"; NULL: nothing is said */
  const struct trace_call *outside; /* what the program called beside loops */
  int noutside;
  const struct op_checkpoint_facts *checkpoints; /* NULL: none are wanted */
  bool idle;                                     /* a rank owns nothing, and nobody called op_partition */
  const char *backend, *team;                    /* team: NULL without threads */
  const char *device;                            /* NULL: loops run on the host's threads */
  bool on_devices;                               /* this rank's loops run on one, or others' may */
  const char *backends; /* of ranks that differ in it, as OP2_BACKEND has them; else NULL */
  int threads, ranks, rank;
  double wall, began;      /* seconds since op_init, and when that was on the one clock */
  bool all, colour;        /* text: every row; as for a terminal */
  double triad;            /* GB/s of the machine with these threads, 0: not measured */
  double cache_rate;       /* the same of data in its caches, 0: not measured */
  size_t own_cache_bytes;  /* of one core */
  size_t cache_bytes;      /* loops that touch less are marked: their bandwidth is not the memory's */
  long long calls, waited; /* of loops; waited: how many did, -1: none could */
  struct report_row *rows;
  struct report_detail *details; /* of the rows */
  struct report_rank *by_rank;   /* of each row and rank; NULL: one process */
  int nrows;
  const char *const *counters; /* names of what was counted */
  int ncounters;
  struct tiled_facts *chains; /* that ran in tiles */
  int nchains;
  const struct queue_single *singles; /* loops that end chains of ranks */
  int nsingles;
  struct chain_facts *ways; /* of chains that come again: what was tried */
  int nways;
  struct layers_facts *layers; /* of chains of ranks, in several layers */
  int nlayers;
  struct report_graph *graphs; /* of tasks, that ran */
  int ngraphs;
  struct report_view *views;
  int nviews;
  struct report_order *orders;
  int norders;
  struct report_unread *unread;
  int nunread;
  struct report_moved *moved;
  int nmoved;
  const struct trace_event *events;
  int nevents;
  long long lost; /* events that there was no room for */
};

void report_text(const struct report *r, struct text *out);
void report_json(const struct report *r, struct text *out);
/* The same as a page for a browser (page.html). */
void report_html(const struct report *r, struct text *out);
/* The page of a JSON report; beside it that of a run before, or NULL. */
void page_of_json(const char *json, const char *before, struct text *out);
/* A line for each loop, for programs of OP2. */
void report_csv(const struct report *r, struct text *out);
/* Chrome's trace event format. */
void report_trace(const struct report *r, struct text *out);

struct loop_site;
struct op_context;
struct store;

/* ---- finding what a report says ---- */

/* Details of one loop. `store`: whose history is told; NULL: none (speed.c). */
int detail_fill(struct report_detail *out, const struct loop_site *site, struct store *store,
                struct error *err);
void detail_free(struct report_detail *detail);
/* Finds the loop's earlier runs on this machine with as many threads, and puts a line into `slower` if it was faster then by
 * more than times vary. Without a store it finds nothing. */
void speeds_find(const struct op_context *ctx, const struct loop_site *site, struct report_detail *out);
/* Fills what rows, which are of the same loops on all ranks, have of the ranks, and r->by_rank. `code`: what went wrong
 * so far. Collective. */
int report_over_ranks(struct op_context *ctx, struct report *r, int code, struct error *err);
/* Fills what the report says of the mesh and its data, as far as there is memory: one without them is still a report. The rows
 * and the size of the caches are there. */
void facts_find(const struct op_context *ctx, struct report *r);

/* ---- parts of a text ---- */

/* Advice to the user, a line each. */
void report_advice(const struct report *r, struct text *out);
/* The sentences below the table. */
void report_notes(const struct report *r, struct text *out);

/* Three digits: more say nothing of a time. */
void report_three(char *out, size_t size, double value);
/* Three digits and a unit: "2.50 s", "83.1 ms". */
void report_time(char *out, size_t size, double seconds);
/* The seconds of all loops. */
double report_seconds(const struct report *r);
/* GB/s of a row, 0 if it took no time; its share of the triad, 0 if unknown; whether its data fit in the cache. */
double report_rate(const struct report_row *row);
double report_share(const struct report *r, const struct report_row *row);
bool report_in_cache(const struct report *r, const struct report_row *row);
/* GB/s that a chain in tiles, or as tasks, asks of the memory. */
double report_chain_rate(const struct tiled_facts *c);
/* It ran in tiles mostly: much of what it counts came from the caches, and its rate is not the memory's. */
bool report_in_tiles(const struct report_row *row);

#endif
