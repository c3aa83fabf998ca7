/* Structs that jit.c and job.c share. */
#ifndef OP2JIT_JIT_JOB_H
#define OP2JIT_JIT_JOB_H

#include "jit/ahead.h"
#include "jit/key/signature.h"
#include "jit/targets.h"

/* The code of one key, or its failure. */
struct entry {
  struct entry *next;
  struct signature key;
  struct loaded loaded;
  size_t size;
  struct text remarks, scalar;
  int spills;
  bool failed;
  struct facts facts;   /* of the kernel; known where they were found before the compile */
  struct text messages; /* of a failed compile, as messages_keep writes them */
  struct text source;   /* folder of its dump; empty: none */
};

struct jit {
  struct jit_options options;
  const struct target *target;
  void *self; /* the target's */
  char *dump;
  bool dump_told; /* that something could not be dumped */
  struct log silent;
  struct text library;
  struct target_words words;
  struct entry *entries; /* the newest first */
  struct jit_counters counters;
  struct ahead ahead;
};

/* One compile, with everything that it needs. */
struct job {
  struct jit *jit;
  const struct desc *d;
  const void *form;
  struct entry *e;
  struct generated files;
  struct text shape;
  struct compile_result result;
  struct prove_result proved; /* work of the prover for the compiler */
  double seconds, behind;     /* of the compile; the same, if it ran behind the program */
  double prove_start, prove_seconds;
  struct jit_outcome outcome; /* for others */
};

/* The request to the compiler, without files and debug information. */
struct compile_request job_request(const struct jit *jit, const struct desc *d);
/* Gets the entry's code from the store, or by compiling job->files, with the remarks. */
int job_obtain(struct job *job, enum jit_from *from, struct error *err);
/* The same with other ranks. `code`: of what came before. The leader gets the code and gives it to all. */
int job_obtain_together(struct job *job, int code, enum jit_from *from, struct error *err);
/* Tell of the failed compile that the entry remembers: OP_ERR_COMPILE. */
int job_report_failure(struct job *job, struct error *err);

#endif
