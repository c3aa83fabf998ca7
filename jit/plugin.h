/* The compiler plugin: found and identified without being opened; opened at the first compile. */
#ifndef OP2JIT_JIT_PLUGIN_H
#define OP2JIT_JIT_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "jit/compiler.h"

struct plugin {
  struct text path;
  struct text identity; /* "clang 19.1.7", and a line for each file that it consists of */
  void *library;        /* of dlopen; never closed: LLVM does not survive it */
  const struct compiler *compiler;
};

/* Looks in the folder `first` (may be NULL), beside the library, in the build tree. OP_ERR_NOT_BUILT names the
 * places, the package and the option. Tried once: later calls give the same answer. */
int plugin_find(struct plugin *p, const char *first, struct error *err);
/* After plugin_find. OP_ERR_BACKEND if it does not open or is of another version of this library. */
int plugin_open(struct plugin *p, struct error *err);
void plugin_free(struct plugin *p);
/* "clang 19.1.7": the first line of the identity. */
void plugin_label(const struct plugin *p, struct text *out);

/* Processes that run the same code: one of them, the leader, asks the store and the compiler, and gives the
 * others what it gets. The runtime transports the bytes. All make the same calls in the same order. */

struct jit_share {
  void *ranks; /* for broadcast */
  bool leads;
  const char *compiler; /* identity of the leader's compiler plugin; NULL: it has none */
  /* The leader's bytes become everybody's. */
  int (*broadcast)(void *ranks, void *data, size_t bytes, struct error *err);
  /* *yes becomes whether all of them say so. */
  int (*all)(void *ranks, bool *yes, struct error *err);
};

/* The outcome of one compile. */
struct jit_outcome {
  bool failed;          /* the text does not compile; `messages` say why */
  struct text binary;   /* none after a failure */
  struct text messages; /* of the compiler */
};
void jit_outcome_free(struct jit_outcome *o);

/* The leader's outcome becomes everybody's. `code` is this process's own outcome, with the error set; the leader's
 * failure becomes everybody's, with its message. OP_ERR_MEMORY if there is no memory for the outcome. */
int jit_share_outcome(const struct jit_share *share, struct jit_outcome *o, int code, struct error *err);

/* After an outcome was taken. `code` of this process; *kept: whether it keeps what it got, and then whether all
 * do. If not, the failure of others becomes this process's error too, so that all ask together the next time. */
int jit_share_kept(const struct jit_share *share, int code, bool *kept, struct error *err);

#endif
