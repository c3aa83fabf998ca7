/* How reports look: rows given as plain values become an aligned table, JSON, or a trace for a browser's trace
 * viewer. Whoever runs loops fills the rows. */
#ifndef OP2JIT_REPORT_FORMS_H
#define OP2JIT_REPORT_FORMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "loop/tiled.h"
#include "record/trace.h"

/* Where a loop's code came from. */
enum report_origin { REPORT_NATIVE, REPORT_COMPILED, REPORT_CACHE_HIT };

/* Halos of one loop over all ranks. */
struct report_across {
  double exchange_seconds, waiting_seconds; /* mean of the ranks; waiting is part of exchanging */
  long long exchanges;                      /* of a rank */
  long long messages;                       /* of all ranks, and their bytes */
  double bytes_sent;
  double redundant; /* copies executed for each element owned */
};

struct report_row {
  const char *name, *variant; /* variant may be NULL */
  long long calls;
  double seconds, plan_seconds, compile_seconds; /* of all calls */
  double bytes;                                  /* that a call must move, by its descriptors */
  double working_set;                            /* bytes that a call touches */
  enum report_origin origin;
  double least, mean, most; /* seconds over the ranks; ignored for one rank */
  long long trials;         /* of the tuner */
  double
      trial_seconds; /* what they cost beyond what the best variant would have taken, with preparing them */
  const char *
      scalar; /* why a strip is not vector code, in the compiler's words; NULL or "": it is, or is no strip */
  struct report_across across;
  long long tried; /* variants compiled for trials, beside the loop's own code */
  double moved;    /* bytes between host and device in all calls */
};

struct report {
  const char *backend, *team; /* team: NULL without threads */
  int threads, ranks;
  double triad;       /* GB/s of the machine with these threads, 0: not measured */
  size_t cache_bytes; /* loops that touch less are marked: their bandwidth is not the memory's */
  const struct report_row *rows;
  int nrows;
  const struct tiled_facts *chains; /* that ran in tiles */
  int nchains;
  const struct trace_event *events;
  int nevents;
};

void report_text(const struct report *r, struct text *out);
void report_json(const struct report *r, struct text *out);
/* A line for each loop, for programs of OP2. */
void report_csv(const struct report *r, struct text *out);
/* Chrome's trace event format. */
void report_trace(const struct report *r, struct text *out);

/* GB/s of a row, 0 if it took no time; its share of the triad, 0 if unknown; whether its data fit in the cache. */
double report_rate(const struct report_row *row);
double report_share(const struct report *r, const struct report_row *row);
bool report_in_cache(const struct report *r, const struct report_row *row);

#endif
