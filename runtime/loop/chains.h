/* How a chain that repeats runs: loop by loop, as it was called, or with neighbours fused; or either in tiles of some size,
 * cut over some of its periods, or as tasks. The ways are timed while the program runs, as variants of loops are, and the best
 * is remembered. The first guess runs at once, and is compared with the loops as called; then it is decided which of the two
 * runs. Each other way is compared with the best one known as soon as the share of the time that trials may cost allows to
 * make it; in this run or, as what was measured is remembered, in a later one. */
#ifndef OP2JIT_LOOP_CHAINS_H
#define OP2JIT_LOOP_CHAINS_H

#include <stdbool.h>

#include "base/error.h"

struct loop;
struct op_context;

struct chain_way {
  double bytes; /* of a tile; 0: loop by loop */
  int periods;  /* that tiles are cut over */
  bool fused;   /* neighbours that can be are one loop */
  bool tasks;   /* blocks of so many bytes that wait for one another, in place of tiles */
  bool
      loop_by_loop; /* the pieces of tiles, but those of one loop after those of another: to compare with tiles */
  bool forced;      /* whatever the mesh, and verified */
  bool stays;       /* loops made of several run in the best variant known: the ways are compared now */
  int number;       /* among those of a period that is tuned */
  bool behind;      /* and nobody waits for their code: their members run one by one until it is there */
};

struct chain_tuning;

/* The times of the ways, for reports: for each kind the best one. The last kind is fused, and in tiles or tasks. */
enum chain_kind { CHAIN_LOOPS, CHAIN_FUSED, CHAIN_TILED, CHAIN_TASKS, CHAIN_BOTH, CHAIN_KINDS };
enum { CHAIN_NAME = 32 };
struct chain_tried {
  char way[CHAIN_NAME];        /* the best one known: "fused/tiles/512K/periods2" */
  bool settled;                /* no other one is to be tried */
  double seconds[CHAIN_KINDS]; /* that a period took; 0: nobody measured it */
  double runs;                 /* the same as it runs now: that way's */
  long long from[CHAIN_KINDS],
      runs_from; /* when an earlier run measured these, in seconds since 1970; 0: this one did */
};

/* Reasons why a period may gain: some of its loops can be one; its data are large enough for tiles; there are
 * threads, which wait at barriers between loops. */
struct chain_wish {
  bool fuse, tiles, tasks;
  int periods;            /* that wait in a row */
  struct chain_way guess; /* of tiles; over no more periods than wait */
  bool expects;    /* code is compiled behind the program, where a model says so before it is paid for */
  double called;   /* seconds that it took before anything waited; 0: not known */
  double fused;    /* of the bytes that it moves as called, the part that it moves fused; 0: not known */
  double barriers; /* of these seconds, what its threads need to come together */
};
/* For a period of `n` loops. *out NULL: OP2_TUNE=off. OP_ERR_MEMORY. */
int chain_tuning_open(struct op_context *ctx, struct loop *const *loops, int n, const struct chain_wish *wish,
                      struct chain_tuning **out, struct error *err);
/* It has a share of the time to pay from: who says how much to spend, or tries everything or nothing, waits for all. */
bool chain_tuning_shares(const struct chain_tuning *t);
/* The number of periods to run in that way, of those that wait: few while ways are tried, though a program that never
 * looks at its results lets hundreds wait. */
int chain_tuning_piece(const struct chain_tuning *t, const struct chain_way *way, int periods);
/* The way to run next; is it the best one known? */
struct chain_way chain_tuning_next(struct chain_tuning *t);
bool chain_tuning_is_best(const struct chain_tuning *t);
/* That one, whatever would be next. */
struct chain_way chain_tuning_best(struct chain_tuning *t);
/* A way's needs were made before it ran; remember it. */
bool chain_tuning_is_made(const struct chain_tuning *t, const struct chain_way *way);
void chain_tuning_made(struct chain_tuning *t, const struct chain_way *way);
/* It ran as called, so many periods, each for so long, since what its way needs is being made. */
void chain_tuning_called(struct chain_tuning *t, int periods, double seconds);
/* Seconds that making tiles, or tasks, over so many periods takes, as far as is known. */
double chain_tuning_cutting(const struct chain_tuning *t, const struct chain_way *way, int periods);
/* So much is spent on making what a way to compare needs, before it is made. */
void chain_tuning_spend(struct chain_tuning *t, double seconds);
/* May so much be spent on making loops? */
bool chain_tuning_can_spend(const struct chain_tuning *t, double seconds);
/* A way that nobody compared yet and that may be better than the best one known by more than noise, as far as a model can
 * say: the one of the least number from this on; -1: there is none, or others are being compared. */
int chain_tuning_later(const struct chain_tuning *t, int from, struct chain_way *way);
/* By a model fused loops would have gained by now what making them costs: so it need not be paid from the share. */
bool chain_tuning_expects(const struct chain_tuning *t, const struct chain_way *way, double making);
/* The part of a period's time that fused loops are expected to gain, which move so large a part of its bytes. */
double chain_fused_gain(double moved);
/* More than trials may cost: it comes before others, which would take the share. */
bool chain_tuning_awaits(const struct chain_tuning *t, const struct chain_way *way);
/* May one be compared that takes so many seconds to make? */
bool chain_tuning_can_begin(const struct chain_tuning *t, double making);
/* Then it runs next. */
void chain_tuning_begin(struct chain_tuning *t, int which);
/* The way of chain_tuning_next cannot be paid for: ask again. Not for the best one. */
void chain_tuning_postpone(struct chain_tuning *t);
/* Something is being compared, or will be. */
bool chain_tuning_is_open(const struct chain_tuning *t);
/* So many periods ran as called, for the trials of their own loops, which is paid from the same share. May another one? Not
 * before ways are compared whose loops are others, if much is expected of them. */
bool chain_tuning_may_rest(struct chain_tuning *t, int rested);
/* The tiles for it cannot be made, or took so long to make. OP_ERR_MEMORY. */
int chain_tuning_reject(struct chain_tuning *t, struct error *err);
void chain_tuning_paid(struct chain_tuning *t, double seconds);
/* So many periods ran in a way that is not looked at yet, or while something else was going on, each for so long: what they took
 * longer than the best way is paid. */
void chain_tuning_passed(struct chain_tuning *t, int periods, double seconds);
/* Each of so many periods took so long, run that way. */
void chain_tuning_ran(struct op_context *ctx, struct chain_tuning *t, int periods, double seconds);
bool chain_tuning_is_settled(const struct chain_tuning *t);
void chain_tuning_tell(const struct chain_tuning *t, struct chain_tried *out);
/* Remembers what is known, if it was not remembered yet. */
void chain_tuning_close(struct op_context *ctx, struct chain_tuning *t);

#endif
