/* What breaks a rule of loops, as it is found. Each rule has a code; the first thing found is an error, or all are
 * collected (OP2_CHECK=list). */
#ifndef OP2JIT_FINDINGS_H
#define OP2JIT_FINDINGS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/list.h"

struct loop;

enum rule {
  RULE_TEXT,         /* the prover's: the text breaks a promise */
  RULE_ALIAS,        /* one dat is passed twice, and the arguments meet */
  RULE_READ,         /* what is to be read only is changed */
  RULE_WRITE,        /* a component of OP_WRITE is not written */
  RULE_ADD,          /* what is to be added to is read or assigned */
  RULE_COMPARE,      /* an extremum is assigned without comparing */
  RULE_EXTREMUM,     /* something else depends on an extremum so far */
  RULE_OUTSIDE,      /* memory outside an argument is written */
  RULE_ABSENT,       /* an absent argument is used */
  RULE_OLD_VALUES,   /* what OP_WRITE or OP_WORK held before is read */
  RULE_READ_OUTSIDE, /* memory outside an argument is read */
  RULE_FAR,          /* memory far outside all arguments is read */
  RULE_UNSET,        /* a variable without a value is read */
  RULE_KEPT,         /* a variable keeps its value from element to element */
  RULE_NO_RIGHT,     /* it depends on one of these, and nobody knows which */
  RULE_INDEX,        /* an array of the kernel's own, or a constant, is left */
  RULE_ASSERT,       /* an op_assert does not hold */
  RULE_ROW,          /* OP_ROW(x, k) of a target that is not there */
  RULE_DIVISION,     /* a whole number is divided by zero */
  RULE_MEET,         /* two elements write one target, and the order decides what it gets */
  RULE_ORDER,        /* the result depends on the order of elements */
  RULE_STALE,        /* the library's: an old copy of another rank's element is read */
  RULE_COUNT
};

/* One row per code. */
struct rule_row {
  const char *name;  /* "outside" */
  const char *words; /* what is wrong, for the list */
  bool ends;         /* a run without the check would end the process */
};
const struct rule_row *rule_row(enum rule rule);

/* Of a loop, a rule and an argument: how often, and the words of the first. */
struct finding {
  char *loop, *first;
  enum rule rule;
  int argument; /* from 0; -1: of the loop as a whole */
  long place;   /* where it was counted last: a place counts once. -1: each time */
  long long count;
};
struct findings {
  struct list list;
};

/* NULL: there is none. */
const struct finding *findings_find(const struct findings *f, const struct finding *like);
/* `one` stays the caller's. OP_ERR_MEMORY. */
int findings_add(struct findings *f, const struct finding *one, struct error *err);
int findings_merge(struct findings *to, const struct findings *from, struct error *err);
/* One readable block, by loop, argument and rule; appended. */
void findings_print(struct findings *f, struct text *out);
void findings_free(struct findings *f);

/* Where what is found goes. */
struct notes {
  struct error *err;
  struct findings *list; /* NULL: the first is an error */
  long place;            /* for struct finding */
  bool elsewhere;        /* another rank lists what is found at this place */
};
/* OP_OK if it is listed: then the caller goes on. Else OP_ERR_VIOLATION, or OP_ERR_MEMORY. */
int note(struct notes *n, const struct loop *loop, enum rule rule, int argument, const char *words);

#endif
