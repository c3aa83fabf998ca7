/* Checkpoints: a run that died goes on from where its file says (docs/checkpoints.md). OP2_CHECKPOINT=FILE,every=10min
 * turns them on, and nothing in the program has to change. These calls help. Without OP2_CHECKPOINT they do nothing. */
#ifndef OP2JIT_CHECKPOINT_H
#define OP2JIT_CHECKPOINT_H

#include "op2jit.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define op_checkpoint op2jit_checkpoint
#define op_checkpoint_keep op2jit_checkpoint_keep
#define op_checkpoint_facts op2jit_checkpoint_facts

/* Here is a good place: a checkpoint that is due is written here. A program that makes this call has none elsewhere,
 * unless it makes no call for a whole interval after one is due. Errors: those of reading data. */
int op_checkpoint(void);
/* The program ends before its work is done: op_exit leaves the file, and the next run goes on from it. Else op_exit
 * removes it, and the next run begins anew. */
int op_checkpoint_keep(void);

typedef struct op_checkpoint_facts {
  long long written; /* checkpoints that are in files, since op_init */
  long long failed;  /* that could not be written; a warning said why */
  long long dats,
      zeros;          /* of the newest: dats with rows in it; and those known to be zero, which need none */
  long long left_out; /* of the newest: dats that were written whole before anything read them */
  long long bytes;    /* of the newest: rows of dats, of all ranks */
  long long
      values; /* bytes of values that have left the library so far, all of which each checkpoint holds */
  long long skipped;  /* loops that this run did not run, because a run before had */
  long long position; /* loops before the checkpoint that this run went on from; 0: it began anew */
  double forward;     /* seconds from this run's first event until it had come there, dats read */
  double seconds;     /* that the program waited for checkpoints */
  double behind;      /* that they took beside the program */
} op_checkpoint_facts_t;
/* Facts about checkpoints so far, in this process. Local. Errors: OP_ERR_ARGUMENT. */
int op_checkpoint_facts(op_checkpoint_facts_t *out);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
