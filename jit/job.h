/* Structs and functions that jit.c, job.c and ahead.c share. */
#ifndef OP2JIT_JIT_JOB_H
#define OP2JIT_JIT_JOB_H

#include "base/behind.h"
#include "jit/key/signature.h"
#include "jit/targets.h"

/* Compiling ahead: the compiler runs behind the program (base/behind.h). One
 * compile at a time; the thread touches nothing but the compiler, and all calls here are for the jit's own thread. */

struct ahead_result;

struct ahead {
  struct behind behind;
  int *threads; /* counts the threads of a compile under way; NULL: not counted */
  int counted;
  struct compile_request request;
  struct compile_file files[GENERATED_FILES];
  struct generated generated;
  char *fp;
  struct ahead_result *result;  /* filled by the thread */
  struct ahead_result *results; /* finished, not yet taken */
};

/* Looks where the process may run. */
void ahead_open(struct ahead *a, int *threads);
/* Waits for a compile that is under way. */
void ahead_close(struct ahead *a);

/* Starts a compile of what was generated, which is taken over. `like` has cpu and features, which must stay
 * until ahead_close, fp and other wishes, but no files. False: a compile is under way, or no thread can be
 * started. */
bool ahead_begin(struct ahead *a, const struct target *target, void *self, const char *hash,
                 struct generated *generated, const struct compile_request *like);
/* Wait for a compile that is under way: it can be taken then. */
void ahead_finish(struct ahead *a);
/* A compile that is done is joined. */
void ahead_collect(struct ahead *a);
bool ahead_is_busy(const struct ahead *a);
bool ahead_has(struct ahead *a, const char *hash);
/* Takes the result of a compile; the caller gives it back to the compiler. *seconds: of a processor, for the
 * thread may have waited for one. False: there is nothing under this key. */
bool ahead_take(struct ahead *a, const char *hash, struct compile_result *result, double *seconds);

/* ---- jobs ---- */

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
