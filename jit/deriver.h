/* The deriver of the clang plugin. From a kernel's text and arguments it writes the text of the
 * tangent or adjoint kernel, which is again a kernel, and says what each of its parameters is. Plain C types
 * only: the plugin is C++. */
#ifndef OP2JIT_JIT_DERIVER_H
#define OP2JIT_JIT_DERIVER_H

#include "jit/prover.h"

#ifdef __cplusplus
extern "C" {
#endif

enum derive_mode {
  DERIVE_TANGENT,   /* does what the kernel does, and computes the dots: yd = J xd */
  DERIVE_ADJOINT,   /* does not repeat the kernel's own effects, and computes the bars: xb += J^T yb */
  DERIVE_CANDIDATES /* only computes what this element makes of each active MIN and MAX */
};

/* The meaning of a parameter of the derived kernel. "As the argument": a dat or a global of the same type and
 * dim, through the same map and index. */
enum derive_role {
  DERIVE_VALUE, /* the argument itself. Tangent: with its own access. Else READ (or WORK): what it held before the loop.
                 * So this is what must be kept of the dat */
  DERIVE_DOT, /* as the argument: its dot. Of MIN and MAX access INC: dots of targets that have a winner must be zero
                 * before the loop, and get that of the winner; of globals too */
  DERIVE_BAR, /* as the argument: its bar. Of MIN and MAX access READ: bars of targets that have a winner must be set
                 * to zero after the loop */
  DERIVE_WINNER, /* as the argument, but of longs, READ: of each component of a MIN or MAX who won, -1 where the value from
                    * before the loop stayed. Entry k of an argument at element e is e * N + F + k: F entries have the active
                    * MINs and MAXs in front of the argument, N have all */
  DERIVE_ELEMENT, /* the element's own number: op_arg_idx(-1, OP_ID); comes once */
  DERIVE_CANDIDATE /* a dat on the loop's own set, direct, WRITE, of the argument's type; dim is arity times the
                    * argument's, and 1 for arity if it is no vector: what this element alone makes of the argument, the
                    * farthest number of the type where it makes nothing */
};

struct derive_parameter {
  enum derive_role role;
  int argument; /* from 0; -1: of a constant, or ELEMENT */
  int constant; /* number in the request's, from 0: role DOT a global READ, role BAR a global INC; -1: of none */
  op_access access;
  bool zeros; /* BAR: the kernel itself leaves zeros in all of the argument's row */
};

struct derive_argument {
  struct prove_argument
      is;       /* as the prover gets it: `arity` is 1 but of vectors, a payload's access is OP_RW */
  bool active;  /* of a real type, or a struct with reals: it has a dot or a bar */
  bool present; /* an absent one has no value, and nothing of it is passed */
  int map;      /* through the same map: the same number, from 0; -1: direct, or no dat */
  int ref;      /* PAYLOAD: the argument, from 0, of its MIN or MAX */
};

/* A variable at file scope that the kernel's text may name. */
struct derive_constant {
  const char *name, *type;
  int dim;
};

struct derive_request {
  const struct compile_file *files; /* as of a prove_request */
  int nfiles;
  const char *kernel;
  enum derive_mode mode;
  const struct derive_argument *arguments;
  int narguments;
  int most;                                /* parameters of the derived kernel, at most */
  const struct derive_constant *constants; /* the active ones */
  int nconstants;
};

/* Reasons for no derivative. jit/derivatives.c has the words and the remedy of each. */
enum derive_refusal {
  DERIVE_FINE,
  DERIVE_NO_RULE,    /* name: a function whose derivative is not known */
  DERIVE_WRITTEN_AT, /* name: of a row or array that is written at an index which is known at run time only */
  DERIVE_POINTER,    /* name: of a pointer that depends on data */
  DERIVE_POINTER_CAST, /* bytes of numbers are looked at as something else */
  DERIVE_NO_BOUND, /* of a loop that carries values and whose reverse needs each of them: rounds are not bounded */
  DERIVE_GOTO,
  DERIVE_STATEMENT, /* another statement or expression without a rule; name: clang's word for it */
  DERIVE_TYPE,      /* name: a type without a rule: long double, complex, a union with reals */
  DERIVE_CXX,
  DERIVE_UNSET, /* name: of a variable that is read and has no value */
  DERIVE_RAGGED_EXTREMUM,
  DERIVE_KEPT,      /* name: of a variable that keeps its value from element to element */
  DERIVE_TOO_LONG,  /* the derived text would be; numbers[0]: the limit, in operations */
  DERIVE_TOO_MANY,  /* the derived kernel would have numbers[0] parameters, more than `most` */
  DERIVE_NO_KERNEL, /* the text has no such function, or its parameters are not the arguments */
  DERIVE_REFUSAL_COUNT
};

struct derive_result {
  int status; /* as compile_result: 1: the text does not compile, see messages; 2: the deriver failed */
  enum derive_refusal refusal;
  const char *file; /* of the refusal; "" if there is no place */
  int line, column; /* from 1; 0 if none */
  const char *name; /* see the refusal; else "" */
  int numbers[2];
  /* Set without a refusal: the function's name and the text of a kernel file of its own. As for any kernel, the
   * number of targets comes before the first parameter of each ragged map; `parameters` has no row for it.
   * nparameters 0: the derived loop has no effect and need not run. */
  const char *derived, *text;
  const struct derive_parameter *parameters;
  int nparameters;
  struct compile_message *messages;
  int nmessages;
  void *owner;
};

struct deriver {
  int abi; /* DERIVER_ABI */
  void (*derive)(const struct derive_request *request, struct derive_result *result);
  void (*release)(struct derive_result *result);
};
/* Raised whenever the same request gets another answer: remembered texts are of one number. */
#define DERIVER_ABI 4

#ifdef __cplusplus
}
#endif
#endif
