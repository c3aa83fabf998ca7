/* One loop on the host: its variants, each made when it is first wanted. */
#ifndef OP2JIT_BACKEND_CPU_LOOP_H
#define OP2JIT_BACKEND_CPU_LOOP_H

#include "backend/code.h"
#include "exec/executor.h"
#include "jit/emit/generate.h"
#include "jit/jit.h"
#include "plan/strategy.h"
#include "record/record.h"

struct op_context;

/* How one part of the loop runs; an empty one has no schedule. */
struct cpu_part {
  const struct schedule *schedule;
  struct plan_entry own;          /* where no plan is needed */
  const struct plan_entry *entry; /* where one is: shared with other loops */
  struct schedule sorted;         /* of the entry's, or own, where elements are sorted; else empty */
  struct gather *gather;          /* where increments are apart */
  int threads;                    /* to use at most, and what the plan is made for */
};

struct cpu_variant {
  struct variant variant;
  char *name;                  /* NULL: nobody asked for it yet */
  int spills;                  /* of its code, see jit_code */
  const char *scalar;          /* why its strips are not vector code, "" if they are; the jit's */
  range_function functions[2]; /* of WORK_RANGE, and of WORK_LIST where a schedule has one */
  range_function for_chains;   /* where that of WORK_RANGE cannot be one of several in a tile */
  struct cpu_part parts[LOOP_PARTS];
  /* For a loop that is ordered: the rows of all parts that are apart, and how they are collected behind the last one
   * (NULL: nothing is). */
  struct gather *ordered;
  const struct plan_entry *collects;
  struct schedule
      numbered; /* of one whose elements meet and lie in another order: all run behind the last part; else empty */
  bool listed, ready; /* listed: on some rank a schedule has lists */
};

struct cpu_loop {
  struct cpu_variant *variants;
  int nvariants;       /* the first is the heuristic's choice, or what OP2_VARIANT forces */
  struct shape sorted; /* of strips of sorted elements; scalar: of no use */
  size_t turned_bytes; /* that one element increments through maps; 0: none */
  bool forces_threads; /* OP2_VARIANT says how many, however small the set is */
  /* Straight ranges of each part that has elements, where a shape can make use of them; shared with other loops. */
  const struct plan_entry *straight[LOOP_PARTS];
  bool
      in_numbers; /* of a loop that is ordered: its elements lie in the order of the user's numbers, on one rank */
  double spared; /* bytes of maps that shapes with straight ranges do not read */
};

/* For a run of that part now. */
static inline int cpu_threads(const struct loop *loop, const struct cpu_part *part) {
  const int crew = loop->ready.crew;
  return crew > 0 && crew < part->threads ? crew : part->threads;
}
void cpu_tell_plan(const struct loop *loop, int which, struct text *out);

/* Where the loop's targets follow one another, and for which share of this rank's elements. */
int cpu_find_straight(struct op_context *ctx, struct loop *loop, struct cpu_loop *cpu, double *share,
                      struct error *err);
/* How the numbers of targets of the loop's elements lie: shares of this rank's elements in strips that have as many, and
 * of targets that belong to elements with many. */
void cpu_find_rows(const struct loop *loop, double *even, double *in_long);
/* The loop needs no straight ranges, or none any longer. */
void cpu_drop_straight(struct op_context *ctx, struct cpu_loop *cpu);
/* Asks the data which shapes suit them: are they straight, are they large? Ranks do this together, also those that
 * failed before (`code`). */
int cpu_look_at_data(struct op_context *ctx, struct loop *loop, struct cpu_loop *cpu, int code,
                     struct error *err);
/* Would it be cut finer if its calls were long? Not where OP2_VARIANT says what runs, and not with ranks, which would
 * have to find the same. */
bool cpu_may_be_heavy(const struct op_context *ctx, const struct loop *loop);
/* OP2_JIT=load: where the cache lacks the standard shape and has another one of the loop, that becomes the
 * standard. Ranks do this together. */
int cpu_prefer_cached(struct op_context *ctx, const struct loop *loop, struct jit *jit,
                      struct shape *standard, struct error *err);
/* All variants that make sense for the loop, or only the default. Nothing is compiled. */
int cpu_candidates(struct op_context *ctx, struct loop *loop, struct cpu_loop *cpu, bool all,
                   struct error *err);
/* The schedule of one variant, then its code. With `wait` false the code may be compiled behind the program: the
 * variant is not ready then, and this is to be called again. */
int cpu_plan(struct op_context *ctx, struct loop *loop, int which, struct error *err);
int cpu_code(struct op_context *ctx, struct loop *loop, int which, bool wait, struct error *err);
/* The function for tiles of chains, if it is not there yet. */
int cpu_code_for_chains(struct op_context *ctx, struct loop *loop, int which, struct error *err);
/* Does it need none but the loop's own, or has it? Else that is compiled behind the program. */
bool cpu_has_work(struct op_context *ctx, struct loop *loop, int which);
bool cpu_needs_other_code(const struct cpu_variant *v, const struct loop *loop);
/* ---- loops that are ordered (cpu_ordered.c) ---- */
void ordered_look(const struct loop *loop, struct cpu_loop *cpu);
/* In place of one that adds in another order. */
const struct strategy *ordered_strategy(const struct loop *loop, const struct cpu_loop *cpu,
                                        const struct strategy *wanted);
/* How the elements of a part are dealt out; may be another one. */
const struct strategy *ordered_dealing(const struct loop *loop, const struct strategy *strategy);
int ordered_plan(struct op_context *ctx, struct loop *loop, const struct cpu_loop *cpu, struct cpu_variant *v,
                 struct error *err);
/* The works of a part's run, complete else but for `own`, which is the loop's plain one. */
void ordered_works(const struct cpu_variant *v, const struct launch *launch, const struct work *own,
                   struct execution *e);
void ordered_free(struct op_context *ctx, struct cpu_variant *v);

void cpu_unmake(struct op_context *ctx, struct loop *loop, int which);
void cpu_loop_free(struct op_context *ctx, struct cpu_loop *cpu);

#endif
