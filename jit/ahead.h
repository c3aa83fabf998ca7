/* Compiling ahead: the compiler runs behind the program (base/behind.h). One
 * compile at a time; the thread touches nothing but the compiler, and all calls here are for the jit's own thread. */
#ifndef OP2JIT_JIT_AHEAD_H
#define OP2JIT_JIT_AHEAD_H

#include <stdbool.h>

#include "base/behind.h"
#include "jit/targets.h"

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

#endif
