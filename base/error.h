/* The one error idiom. A function that can fail takes a `struct error *` and returns 0 or a code; at
 * the place of the failure it says `return error_set(err, OP_ERR_..., "...", ...)`. Callers pass codes
 * on and may add context in front with error_prefix. A message says what happened, to what, what was
 * expected and what to do. */
#ifndef OP2JIT_BASE_ERROR_H
#define OP2JIT_BASE_ERROR_H

#include "op2jit.h"
#include "text.h"

/* With MPI: the rank that tells the user of an error. */
enum error_teller {
  ERROR_MINE,     /* this rank, which may be the only one that has it */
  ERROR_AGREED,   /* this rank; all ranks have the same, and the message names those where it happened */
  ERROR_ELSEWHERE /* another rank, with the same message */
};

struct error {
  int code;
  struct text message;
  size_t prefix; /* bytes that error_prefix put in front last */
  enum error_teller teller;
  int fact; /* code of the room that found it, for those who act on it; 0: none */
};

/* One row per code: op_last_error's name, and what docs/errors.md says of it. */
struct error_kind {
  const char *name, *meaning, *remedy;
};
/* Never NULL; unknown codes give the row of OP_ERR_INTERNAL. */
const struct error_kind *error_kind(int code);

/* Replaces the old error by one of this rank; returns `code`. */
int error_set(struct error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same for a mistake of the library: the message also asks to report it. */
int error_mistake(struct error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* OP_ERR_MEMORY: `what` could not be allocated. Needs no memory itself. */
int error_memory(struct error *err, const char *what, size_t bytes);
/* The same for a named thing: `what` "dat", `name` "q" or NULL. */
int error_memory_of(struct error *err, const char *what, const char *name, size_t bytes);
/* Put context in front of the message, e.g. "loop res_calc: "; returns the code. */
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The message; never NULL, also when there was no memory to build it. */
const char *error_message(const struct error *err);
/* The same without what error_prefix put in front last. */
const char *error_bare(const struct error *err);
void error_clear(struct error *err);
void error_free(struct error *err);
/* Copy `from` over `to`, returning the code. */
int error_copy(struct error *to, const struct error *from);

#endif
