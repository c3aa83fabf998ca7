/* The inside of checkpoints: what happened so far and what left, which dats are to be kept, and the file. Within this
 * room. */
#ifndef OP2JIT_CHECKPOINT_INNER_H
#define OP2JIT_CHECKPOINT_INNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/behind.h"
#include "base/error.h"
#include "base/text.h"
#include "checkpoint/tell.h"
#include "files/layout.h"
#include "files/writing.h"
#include "mesh/data.h"
#include "op2jit_checkpoint.h"
#include "record/recorder.h"

struct comm;
struct file_table;
struct loop;
struct loop_call;
struct log;

/* ---- what happened (log.c) ---- */

/* A loop's use of a dat, for the choice of the place of the next checkpoint. */
struct kind_access {
  int dat; /* its id */
  bool reads, kills;
  long long bytes;
};

/* One kind of event: a loop with its set and arguments, or a call of an object. */
struct kind {
  uint64_t hash;  /* the same in every run, on any number of ranks and any backend */
  char *line;     /* for messages */
  long long last; /* event of this kind that came last; -1: none */
  struct kind_access *accesses;
  int naccesses;
};

/* Events are written as pairs of numbers: 0 and a kind, or a distance and how many events are those so far back. A
 * program that repeats itself needs few. */
struct pair {
  int distance, what;
};
enum { HISTORY = 4096 }; /* events that are known one by one: no distance is longer */

struct history {
  int ring[HISTORY];
  long long count; /* of all events */
};

struct happened {
  struct kind *kinds;
  size_t nkinds;
  struct history history;
  struct pair *pairs;
  size_t npairs;
  struct pair open; /* is growing; distance 0: none */
};

/* OP_ERR_MEMORY. */
int happened_add(struct happened *h, int kind, struct error *err);
/* The pair that is growing ends: all events are in `pairs`. */
int happened_end_pair(struct happened *h, struct error *err);
/* The number of a kind, a new one if there is none; -1: no memory. `line` is copied. */
int happened_kind(struct happened *h, uint64_t hash, const char *line);
void happened_free(struct happened *h);

/* Reads pairs again. -1: at the end, or they are damaged. */
struct replay {
  const struct pair *pairs;
  size_t npairs, at;
  int done; /* events of the pair */
  struct history history;
};
int replay_next(struct replay *r);

/* ---- loop.c ---- */
/* The kind of a call; `name` and `dim` are those of its dat or global. */
int kind_of_call(struct happened *h, const char *call, const char *name, int dim);

/* ---- values.c: where least has to be kept ---- */
/* Events from now on (0: here), by the last period, and that period; 0 and 0: nothing repeats. `counts` says of a dat's
 * id whether it would have to be kept at all. */
struct place {
  int wait, period;
};
struct place place_best(const struct happened *h, const struct op_context *ctx);

/* ---- the file (write.c, read.c) ---- */

/* Bytes of rows that left: of all ranks' those of this one. They lie one behind the other, and so does what all have. */
struct piece {
  long long first, bytes;
};

/* A table of rows: of dats in the user's order, each rank those that it declared; of logs the root alone. */
struct table {
  char *name;
  long long rows;        /* of all ranks */
  long long first, mine; /* this rank's */
  size_t width;          /* bytes of a row */
  unsigned char *data;   /* this rank's rows; owned. NULL: there are none */
  struct piece *pieces;  /* of the data; owned. NULL: it is one, from `first` on */
  size_t npieces;
  struct dat *source; /* in place of data: they did not fit, and are read as they are written */
  bool zeros;         /* all rows are zero, and not in the file */
  /* The names by which a dat is found; NULL: it is no dat. */
  char *dat, *set, *type;
  int dim, ordinal;
};

/* The first table: what the others are. Bytes, but for events, loops, ranks, seconds since 1970, and numbers of tables. */
enum {
  FACT_FORMAT,
  FACT_EVENT,
  FACT_LOOPS,
  FACT_RANKS,
  FACT_TIME,
  FACT_LEFT,
  FACT_DATS,
  FACT_PAIRS,
  FACT_KINDS,
  FACT_VALUES,
  FACT_OWN,
  FACT_GLOBALS,
  FACT_SECONDS, /* that the run and those before it took so far */
  FACTS
};
enum { CHECKPOINT_FORMAT = 2 };
#define FACTS_TABLE "checkpoint"
#define SUMS_TABLE "sums"

/* All that goes into one file. */
struct image {
  long long facts[FACTS];
  char version[64], backend[32];
  struct table *tables;
  size_t ntables;
  const char *path;    /* the checkpoint's */
  struct writing file; /* that is being written */
  long long *places;   /* of the tables in it */
};
void image_free(struct image *image);
/* A new table, to be filled; NULL: no memory. */
struct table *image_table(struct image *image, const char *name, int number);
/* A file is begun beside `path`, with all tables but no rows: `image` is complete. All ranks; after an error there is nothing
 * to end. */
int image_begin(const struct file_table *files, struct comm *comm, const char *path, struct image *image,
                struct error *err);
/* This rank's rows. `ctx` NULL: all tables have data, and it may be on any thread, each rank at its own pace; else all ranks
 * do it together. */
int image_rows(struct op_context *ctx, struct image *image, struct error *err);
/* It takes the place of what is there, which becomes PATH.previous. `code`: how this rank's rows went. All ranks. */
int image_end(struct image *image, int code, struct error *err);
/* Sums of rows, in any order and from any ranks. */
uint64_t sum_rows(const unsigned char *rows, long long first, long long count, size_t width);

/* The contents of an earlier run's file. */
struct past {
  struct text path;   /* that is read */
  struct layout file; /* open until the run has arrived: another run may give its name to a newer one */
  char version[64], backend[32];
  long long facts[FACTS];
  uint64_t *sums; /* of the rows of tables, by their numbers */
  long long nsums;
  struct kind *kinds;
  size_t nkinds;
  struct pair *pairs;
  struct replay replay;
  struct text values, own, globals;
  bool has_own; /* as many ranks as then */
  size_t values_at, own_at;
  struct table *dats; /* without rows */
};
/* A file that is there, all of which is looked at. OP_ERR_FILE. `comm` NULL: this process alone. */
int past_read(const struct file_table *files, struct comm *comm, const char *path, struct past **out,
              struct error *err);
/* *out NULL: there is no file. Of two that are there the newest that is whole. */
int past_open(struct op_context *ctx, const char *path, struct past **out, struct error *err);
void past_free(struct past *past);
/* Rows of a table as this rank declares them. */
int past_rows(struct op_context *ctx, const struct past *past, long long number, const struct set *set,
              size_t width, void *out, struct error *err);
/* Bytes of what left, from `first` on. */
int past_left(struct op_context *ctx, const struct past *past, long long first, long long bytes, void *out,
              struct error *err);
#define PREVIOUS ".previous"

/* ---- the checkpoint of a context ---- */

/* A dat's state, by its id. */
struct mark {
  bool changed;   /* by loops, since the program gave it its values */
  bool open;      /* whether it has to be kept is not known yet */
  bool lost;      /* it was not kept, and nothing may read it before it is written */
  long long born; /* how many were declared before; the same in every run */
  int ordinal;    /* of one that is open: dat_ordinal when the checkpoint began, for others like it may go */
};

/* A loop's record, and what it is. */
struct seen {
  const struct loop *loop;
  size_t order;
  int kind;
};
enum { SEEN = 256 };

/* A sum over the rows of a map. */
struct map_sum {
  int id;
  long long sum;
};

struct checkpoint {
  struct recorder recorder; /* the context's */
  char *path;
  int lock;              /* the root's descriptor of FILE.lock; -1: none */
  long long every_loops; /* 0: seconds */
  double every_seconds;
  size_t most; /* bytes of values */
  bool beside;

  struct happened happened;
  struct seen seen[SEEN];
  struct map_sum *maps;
  size_t nmaps;
  long long loops;
  struct text values, own; /* the same on all ranks; of this rank alone */
  struct text left;        /* rows of dats, of this rank */
  struct piece *pieces;
  size_t npieces;
  long long left_bytes; /* of all ranks */
  size_t bytes;         /* of all three */
  struct mark *marks;
  size_t nmarks;
  int nlost;
  long long declared; /* dats */

  /* When the next one is due. */
  double opened, first, began;            /* this run; its first event; the last one, or this run */
  long long seconds_before;               /* of the runs before */
  long long began_loops, ask_at, ask_gap; /* the loops then; of ranks, when they ask again */
  int due;                                /* 1: it is; 2: for a whole interval */
  long long choose_at, choose_by; /* events: when to look for a place again, and at last; 0: not yet */
  long long begin_at;             /* event; -1: not chosen */
  int period;
  bool places;   /* the program says where */
  bool running;  /* a loop was told of, and has not run */
  pid_t process; /* whose file it is: its children do not write, and leave what is there */
  bool stopped;  /* a loop failed, which a run that goes on would pass: no further one is begun */

  /* One that has begun: what is to be kept shows. */
  bool begun;
  int nopen;
  long long deadline; /* event */
  struct image image; /* what of it is there */
  size_t nlog;        /* tables of the image that are no dats */
  long long left_out;

  /* One that is being written beside the program: on a thread of each rank, which ranks ask one another about now and then. */
  bool writing;
  struct behind behind;
  struct image behind_image;
  long long look_at, look_gap; /* events: when ranks ask again */
  const struct file_table *files;
  int behind_code;
  struct error behind_error;
  double behind_seconds;

  struct past *past; /* this run is on its way to where it was; NULL: it is beyond, or there was none */
  bool keep;
  op_checkpoint_facts_t facts;
};

/* NULL: none is wanted. */
struct checkpoint *checkpoint_of(const struct op_context *ctx);

/* event.c: one event. After it k->past says whether it is only passed. `here`: it is a good place. */
int checkpoint_event(struct op_context *ctx, struct checkpoint *k, int kind, bool here, struct error *err);
/* begun.c */
int checkpoint_begin(struct op_context *ctx, struct checkpoint *k, struct error *err);
/* It is about to be read, or written whole. */
int checkpoint_keeps(struct op_context *ctx, struct checkpoint *k, struct dat *dat, struct error *err);
void checkpoint_drops(struct checkpoint *k, const struct dat *dat);
/* Writes the file: nothing is open, or the deadline has passed. */
int checkpoint_finish(struct op_context *ctx, struct checkpoint *k, struct error *err);
/* One that is being written has ended, if all ranks are done with it; is waited for. All ranks. */
int checkpoint_look_behind(struct op_context *ctx, struct checkpoint *k, struct error *err);
void checkpoint_join(struct op_context *ctx, struct checkpoint *k);
/* It is thrown away. */
void checkpoint_abandon(struct checkpoint *k);
/* values.c. NULL: no memory. */
struct mark *checkpoint_mark(struct checkpoint *k, const struct dat *dat);
int checkpoint_look(struct op_context *ctx, struct checkpoint *k, const char *what, struct dat *dat,
                    struct error *err);
/* values.c: bytes leave: they are counted against the budget. */
int values_add(struct checkpoint *k, struct text *to, const char *what, const void *bytes, size_t count,
               struct error *err);
/* Those that left then. `*at` moves on. */
int values_take(const struct checkpoint *k, const struct text *from, size_t *at, const char *what, void *out,
                size_t count, struct error *err);
int values_add_rows(struct checkpoint *k, const char *what, const struct dat *dat, const void *rows,
                    struct error *err);
int values_take_rows(struct op_context *ctx, struct checkpoint *k, const char *what, const struct dat *dat,
                     void *rows, struct error *err);
/* loop.c */
void checkpoint_record(struct checkpoint *k);
/* The ordinal of a dat among those of its name, set, dim and type, by when they were declared: a temporary may have got the
 * place of one that was freed. It is the program's. */
bool dat_counts(const struct dat *dat);
int dat_ordinal(const struct op_context *ctx, const struct checkpoint *k, const struct dat *dat);

#endif
