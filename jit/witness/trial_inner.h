/* Shared by trial.c, trial_cell.c and trial_breaks.c. */
#ifndef OP2JIT_JIT_WITNESS_TRIAL_INNER_H
#define OP2JIT_JIT_WITNESS_TRIAL_INNER_H

#include "jit/witness/trial.h"

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
/* Where the last one that ended with SIGSEGV reached. */
const void *trial_fault(void);
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

#endif
