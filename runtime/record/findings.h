/* Broken rules of loops. The first one is an error, or all are collected (OP2_CHECK=list). */
#ifndef OP2JIT_FINDINGS_H
#define OP2JIT_FINDINGS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/list.h"
#include "jit/facts.h"

struct loop;
struct loop_arg;

/* The remedy for an argument that breaks the rule; NULL: there are no words for it. */
const char *rule_remedy(enum rule rule, const struct loop_arg *arg);

/* One loop, rule and argument: how often, and the words of the first time. */
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
struct finding *findings_find(const struct findings *f, const struct finding *like);
/* `one` stays the caller's. OP_ERR_MEMORY. */
int findings_add(struct findings *f, const struct finding *one, struct error *err);
int findings_merge(struct findings *to, const struct findings *from, struct error *err);
/* One readable block, by loop, argument and rule; appended. */
void findings_print(struct findings *f, struct text *out);
void findings_free(struct findings *f);

/* The place for findings. */
struct notes {
  struct error *err;
  struct findings *list; /* NULL: the first is an error */
  long place;            /* for struct finding */
  bool elsewhere;        /* another rank lists what is found at this place */
};
/* OP_OK if it is listed: then the caller goes on. Else OP_ERR_VIOLATION, or OP_ERR_MEMORY. */
int note(struct notes *n, const struct loop *loop, enum rule rule, int argument, const char *words);

#endif
