/* Does a kernel do what its access descriptors say? A second entry of the clang plugin: it follows the
 * kernel's text, through helpers, copied pointers and loops of constant length, and gives a verdict per
 * argument. Plain C types only: the plugin is C++. */
#ifndef OP2JIT_JIT_PROVER_H
#define OP2JIT_JIT_PROVER_H

#include <stdbool.h>

#include "jit/compiler.h"

#ifdef __cplusplus
extern "C" {
#endif

enum prove_form {
  PROVE_DATA,    /* `dim` values: a dat's row, or a global */
  PROVE_VECTOR,  /* `arity` pointers to `dim` values each */
  PROVE_NUMBERS, /* op_arg_idx: `dim` ints, only read */
  PROVE_PAYLOAD  /* op_arg_info: free */
};
enum prove_access {
  PROVE_READ,
  PROVE_WRITE, /* every component on every path, not read before */
  PROVE_RW,    /* free */
  PROVE_INC,   /* += -= ++ -- only */
  PROVE_MIN,   /* assigned only after comparing */
  PROVE_MAX,
  PROVE_WORK /* free */
};

struct prove_argument {
  enum prove_form form;
  enum prove_access access;
  const char *type; /* as C spells it: "double" */
  int dim, arity;
  bool ragged;  /* VECTOR: the rows of an element that has `arity` targets, which OP_ROW leads to */
  bool counted; /* before its parameter stands that number, an int */
};

struct prove_request {
  const struct compile_file *files; /* the first holds the prelude and #includes the kernel's */
  int nfiles;
  const char *kernel; /* the function's name */
  const struct prove_argument *arguments;
  int narguments;
};

/* The kernel's parameter, from 0, that an argument is passed as. */
static inline int prove_parameter(const struct prove_request *request, int argument) {
  int parameter = argument;
  for (int i = 0; i <= argument; i++)
    parameter += request->arguments[i].counted;
  return parameter;
}

enum prove_verdict {
  PROVE_PROVED,
  PROVE_C_ONLY, /* a compiler that reads the text as C++ would take it for something else, without a word */
  PROVE_UNKNOWN,
  PROVE_VIOLATED
};

/* What must happen in a run for a violation to be one. The text shows only that it might: the path may be one that
 * no value takes. */
enum prove_evidence {
  PROVE_TEXT,    /* nothing: the text alone shows it */
  PROVE_PROMISE, /* the argument's promise is broken */
  PROVE_OUTSIDE, /* memory beyond the argument's is used */
  PROVE_INDEX,   /* an array of the kernel's own or a constant is left */
  PROVE_NULL,    /* a null pointer is followed */
  PROVE_KEPT,    /* what one element left changes what another gives */
  PROVE_UNSET    /* a variable without a value changes what the kernel gives */
};

/* The first thing found about an argument; without one it is proved. */
struct prove_finding {
  int argument; /* from 0; -1: about the kernel as a whole */
  enum prove_verdict verdict;
  enum prove_evidence evidence;
  const char *file; /* "" if there is no place */
  int line, column; /* from 1; 0 if none */
  const char *reason, *remedy;
};

struct prove_result {
  int status; /* as compile_result: 1: the text does not compile, see messages; 2: the prover failed */
  struct prove_finding *findings;
  int nfindings;
  struct compile_message *messages; /* of a text that compiles: the serious warnings */
  int nmessages;
  void *owner;
};

struct prover {
  int abi; /* PROVER_ABI */
  void (*prove)(const struct prove_request *request, struct prove_result *result);
  void (*release)(struct prove_result *result);
};
#define PROVER_ABI 4

/* What the plugin exports, under the name "op2jit_prover". */
typedef const struct prover *prover_entry(void);

#ifdef __cplusplus
}
#endif
#endif
