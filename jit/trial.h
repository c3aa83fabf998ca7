/* A violation that the prover reads from a text is one only if a run shows it: the path may be one that no value
 * takes, or the prover followed the text wrongly. So the kernel is compiled for trials and run with made values,
 * in a process of its own, which may crash or go on for ever. */
#ifndef OP2JIT_JIT_TRIAL_H
#define OP2JIT_JIT_TRIAL_H

#include "jit/compiler.h"
#include "jit/found.h"
#include "jit/prover.h"

/* Values that a kernel is tried with. They are the same for a number in any process, and there are as many as one
 * likes: plain ones first, later mixtures in which the numbers of the kernel's text and of its constants occur
 * often. Never NaN or an infinity: what a kernel does with them is no mistake. */

enum { MADE_LITERALS = 64 };
struct made {
  double literals[MADE_LITERALS];
  int nliterals;
};

void made_open(struct made *m, const struct desc *d);
/* `place` numbers the values of one trial. */
void made_value(const struct made *m, unsigned long trial, unsigned place, enum type_code type, bool number,
                unsigned char *out);
/* A number as a value of that type: whole numbers are cut to it. */
void made_put(enum type_code type, double value, unsigned char *out);
/* Whether `got` is `start` plus `step`, but for rounding. A step, or a sum, that is not finite may be anything. */
bool made_is_added(enum type_code type, double start, const unsigned char *step, const unsigned char *got);

/* One element's memory, filled with made values, in which a kernel runs: does it break the promise that a finding
 * names? */

enum trial_what {
  TRIAL_NOTHING,
  TRIAL_CHANGED,    /* what is read only went from `values[0]` to `values[1]` */
  TRIAL_UNWRITTEN,  /* the component was not written */
  TRIAL_OLD,        /* the component depends on what the finding's argument held before */
  TRIAL_NOT_ADDED,  /* from 0 it became values[0], from values[1] values[2] */
  TRIAL_WRONG_SIDE, /* an extremum went from values[0] to values[1] */
  TRIAL_TWICE,      /* an extremum went from values[0] to values[1], and by the same element to values[2] */
  TRIAL_WROTE,      /* memory beyond the finding's argument */
  TRIAL_READ,       /* the component depends on memory beyond the finding's argument */
  TRIAL_STOPPED,    /* the kernel did not come to its end */
  TRIAL_KEPT,       /* the component was values[0], and values[1] for the same element later */
  TRIAL_UNSET       /* the component depends on what a local variable held before it had a value */
};

/* A trial's finding about one component of a row of an argument. */
struct trial_result {
  enum trial_what what;
  unsigned long trial;
  int argument, row, component;
  double values[3];
};

struct trial;

/* `loop` stays the caller's; `alone` is what the code was made from (desc_alone). codes[1]: with other values in
 * variables that have none; may be NULL. */
struct trial *trial_new(const struct desc *loop, const struct desc *alone, const struct made *made,
                        const range_function codes[2]);
void trial_free(struct trial *t);
/* From now on a run that crashes, or takes long, comes to an end. For a process that is there for that only. */
void trial_catch_signals(void);
/* False: nothing was seen. */
bool trial_run(struct trial *t, const struct prove_finding *f, unsigned long number,
               struct trial_result *out);
/* "argument 1 = {1, 2}, argument 3 = -1": what the trial of that number gives the kernel. */
void trial_print(struct trial *t, unsigned long number, struct text *out);

/* Shared by trial.c and trial_breaks.c. */
/* The element is number 1: an index of -1 stays inside the table. */
enum { TRIAL_HERE = 1 };

struct trial_arg {
  int rows; /* 0: it is absent */
  size_t bytes, guard_rows, at;
  int *table;
  long long first[TRIAL_HERE + 2]; /* through a ragged map */
};

struct trial {
  const struct desc *loop, *alone;
  const struct made *made;
  range_function codes[2];
  struct trial_arg args[OP_MAX_ARGS];
  size_t bytes;
  unsigned char *memory, *first; /* now, and after the run before */
  unsigned char **constants;
  void **frame;
};

static inline size_t trial_value_size(const struct desc_arg *a) {
  return type_info(a->type)->size;
}

static inline unsigned char *trial_row_in(const struct trial *t, unsigned char *memory, int i, int r) {
  const struct trial_arg *a = &t->args[i];
  return memory + a->at + ((size_t)r * (a->guard_rows + 1) + a->guard_rows) * a->bytes;
}

static inline unsigned char *trial_row(const struct trial *t, int i, int r) {
  return trial_row_in(t, t->memory, i, r);
}

/* How many values an argument has in all its rows, and where the one of that number is. */
static inline int trial_values(const struct trial *t, int i) {
  return t->args[i].rows * desc_row(t->loop, &t->loop->args[i]);
}

static inline unsigned char *trial_value(const struct trial *t, unsigned char *memory, int i, int v) {
  const struct desc_arg *a = &t->loop->args[i];
  const int row = desc_row(t->loop, a);
  return trial_row_in(t, memory, i, v / row) + (size_t)(v % row) * trial_value_size(a);
}

static inline struct trial_result trial_at(const struct trial *t, enum trial_what what, int i, int v) {
  const int row = desc_row(t->loop, &t->loop->args[i]);
  return (struct trial_result){.what = what, .argument = i, .row = v / row, .component = v % row};
}

/* The byte that fills memory which is undefined before a run: another one for each argument and side, which makes no number
 * that programs compute; of the first side it makes no bool. */
int trial_poison(const struct trial *t, int i, int side);
/* Puts the made-up value of that number in run `number`. */
void trial_make(const struct trial *t, int i, int v, unsigned long number, unsigned char *out);
/* Does the argument begin with made-up values? */
bool trial_makes(const struct desc_arg *a);
void trial_set_guards(const struct trial *t, int i, int side);
/* All rows and guards as run `number` begins with them. */
void trial_fill(const struct trial *t, unsigned long number);
/* A run of one of the two codes ends with 0, or with a signal. */
int trial_go(struct trial *t, int code);
/* The last run had a root of a negative number, a division by zero or a number that fits no int: such values were not meant
 * for the kernel, and what it does with NaN is no mistake. */
bool trial_was_odd(void);

double trial_number_at(const struct trial *t, unsigned char *memory, const struct trial_result *at);
/* Finds the first component of an argument, or of any but `but`, that the last run left otherwise than the one before. */
bool trial_differs_in(const struct trial *t, int i, struct trial_result *out);
bool trial_differs(const struct trial *t, int but, enum trial_what what, struct trial_result *out);

/* trial_breaks.c: argument k, in run `number`. */
bool trial_breaks_promise(struct trial *t, int k, unsigned long number, struct trial_result *out);
bool trial_left_argument(struct trial *t, int k, unsigned long number, struct trial_result *out);
bool trial_was_kept(struct trial *t, unsigned long number, struct trial_result *out);
bool trial_was_unset(struct trial *t, unsigned long number, struct trial_result *out);

/* For each finding of a violation whose evidence is in a run: words[i] becomes what a run showed, with `each` what each
 * of several showed; or the verdict PROVE_UNKNOWN, and they say so. False: without memory, or where no process can be
 * made, it is that too, and another day it may be found. */
bool witness_find(const struct compiler *compiler, const struct desc *d, bool each,
                  struct prove_result *result, struct text *words);

#endif
