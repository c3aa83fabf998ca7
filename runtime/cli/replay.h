/* `op2jit replay`: runs a capture by the public calls, each time in a process of its own, since its code is a stranger's and may
 * do anything; compares what comes of it; and makes it smaller while it stays wrong. */
#ifndef OP2JIT_CLI_REPLAY_H
#define OP2JIT_CLI_REPLAY_H

#include "capture/capture.h"
#include "cli/cli.h"

/* ---- what calls leave (replay_places.c) ---- */

struct place {
  int number;                      /* of the data */
  const struct capture_data *data; /* after NULL: nobody knows */
  size_t count;                    /* values that are compared: those of rows that were owned */
  size_t offset;                   /* in an outcome */
  double additions;                /* to one value, at most */
};
struct places {
  struct place *items;
  int count;
  size_t bytes; /* of an outcome */
};
/* OP_ERR_MEMORY; they point into the capture. */
int places_find(const struct capture *c, struct places *out, struct error *err);
void places_free(struct places *p);
/* The first value of a place that differs by more than rounding may do (`bits`: at all), or its count. */
size_t place_differs(const struct place *place, const unsigned char *a, const unsigned char *b, bool bits);
/* "dat "q", element 3, component 0", appended. */
void place_tell(const struct capture *c, const struct place *place, size_t value, struct text *out);

/* ---- runs (replay_rerun.c, replay_declare.c) ---- */

enum { RERUN_WORDS = ENV_COUNT + 8 };
struct rerun {
  char *words[RERUN_WORDS]; /* OP2_NAME=VALUE; NULL ends them */
  int times;                /* that it is done once more, and timed */
  int seconds;              /* after which it is ended; 0: ten minutes */
};
enum rerun_end { RERUN_RAN, RERUN_REFUSED, RERUN_DIED };
struct outcome {
  enum rerun_end end;
  int code, fact; /* of RERUN_REFUSED; the signal of RERUN_DIED */
  char message[1000];
  char variant[64];
  double first, best;    /* seconds of all calls; best of `times` more */
  unsigned char *values; /* by places */
  struct places places;
};
/* Words of the environment that the command was given, but for the two (or NULL). OP_ERR_MEMORY. */
int rerun_make(struct rerun *t, const struct cli *cli, const struct capture *c, const char *const words[],
               struct error *err);
void rerun_free(struct rerun *t);
/* In a child. OP_ERR_MEMORY and the like if it could not be begun. outcome_free releases what came. */
int rerun(const struct rerun *t, const struct capture *c, struct outcome *out, struct error *err);
void outcome_free(struct outcome *o);
/* The child's part: everything between op_init and op_exit, into shared memory. The public calls' code. */
int replay_calls(const struct capture *c, const struct places *places, int times, struct outcome *out);

/* ---- what is wrong, and less of it (replay_fault.c, replay_reduce.c) ---- */

enum fault_kind {
  FAULT_OF_NOTHING,
  FAULT_CHECK,   /* the checking form finds a mistake */
  FAULT_REFUSED, /* an error, or a crash, where plain code by one thread has none */
  FAULT_DIFFERS, /* results are others than plain code's by one thread */
  FAULT_KEPT     /* all ways have the same results, and the file has others */
};
struct fault {
  enum fault_kind kind;
  enum rerun_end end;
  int code, fact;
  struct text words; /* the first difference, or the message */
};
struct judge {
  struct rerun wanted, plain, checked;
  bool bits;
  int runs; /* so far */
};
/* Finds what is wrong with the capture; `only` looks for one kind (FAULT_OF_NOTHING: any). fault_free releases it. */
int fault_find(struct judge *j, const struct capture *c, enum fault_kind only, struct fault *out,
               struct error *err);
/* The same of one run: it must end, with the results that are kept. */
void fault_of(const struct judge *j, const struct capture *c, const struct outcome *ran, struct fault *out);
void fault_free(struct fault *f);
/* True if this one has the same fault. */
bool fault_is_there(struct judge *j, const struct capture *c, const struct fault *f);

/* `c` becomes smaller while the fault stays, which is none of FAULT_KEPT. */
int reduce(struct judge *j, struct capture *c, const struct fault *f, struct error *err);

/* The calls of a program in C between op_init and op_exit: what replay_calls does. */
void calls_print(const struct capture *c, struct text *out);
void text_add_string(struct text *out, const char *words);
/* The capture as a program in C. */
void program_print(const struct capture *c, const struct rerun *t, const struct fault *f, struct text *out);
#endif
