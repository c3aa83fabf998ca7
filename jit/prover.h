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

/* What was found. jit/rules.c has the words, the remedy and the evidence of each: the prover hands out codes only. */
enum prove_rule {
  RULE_NONE,
  /* The promise of an argument is broken. */
  RULE_READ_WRITTEN,
  RULE_INC_READ, /* numbers: see prove_finding */
  RULE_INC_ASSIGNED,
  RULE_INC_CHANGED,
  RULE_MIN_NOT_COMPARED, /* numbers: 1: it is compared the other way round */
  RULE_MAX_NOT_COMPARED,
  RULE_WRITE_READ_FIRST,
  RULE_WRITE_NEVER, /* numbers, of this and the next three: the component, and the row of a vector */
  RULE_WRITE_SOMETIMES,
  RULE_WRITE_MAYBE,
  RULE_WRITE_IN_TURN,
  /* An argument could not be followed. */
  RULE_LOST_ORDER,
  RULE_LOST_INDEX,
  RULE_LOST_CAST,
  RULE_LOST_NUMBER,
  RULE_LOST_POINTER,
  RULE_LOST_POINTERS,
  RULE_LOST_PLACES,
  RULE_LOST_RETURN,
  RULE_LOST_CALL,
  RULE_LOST_STORED,
  RULE_LOST_RECORD,
  RULE_LOST_CXX,
  RULE_LOST_STATEMENT,
  /* Memory beyond an argument. numbers: what there is, and what is used */
  RULE_ROW_OUTSIDE,
  RULE_POINTER_OUTSIDE,
  RULE_COMPONENT_OUTSIDE,
  RULE_NOT_BY_ROW,
  /* The kernel as a whole. name: of the constant, array, variable or function. numbers: as above */
  RULE_CONSTANT_INDEX,
  RULE_CONSTANT_OUTSIDE,
  RULE_ARRAY_INDEX,
  RULE_ARRAY_OUTSIDE,
  RULE_VARIABLE_OUTSIDE,
  RULE_NEXT_ROW,
  RULE_NULL_POINTER,
  RULE_KEPT,
  RULE_UNSET,
  RULE_COMPILER_UNSET, /* name: what the compiler says */
  RULE_ENDLESS,
  RULE_ROUNDS,
  RULE_RECURSION,
  RULE_NO_KERNEL,
  RULE_PARAMETER_COUNT, /* numbers: of parameters */
  RULE_PARAMETER_TYPE,  /* name: its type; numbers: the parameter from 1, the argument from 0 */
  RULE_PARAMETER_CONST, /* the same */
  RULE_SIZE_IN_CXX,
  RULE_EMPTY_IN_CXX,
  RULE_SIGN_IN_CXX,
  RULES
};

/* The first thing found about an argument; without one it is proved. */
struct prove_finding {
  int argument; /* from 0; -1: about the kernel as a whole */
  enum prove_verdict verdict;
  enum prove_rule rule;
  const char *file;      /* "" if there is no place */
  int line, column;      /* from 1; 0 if none */
  const char *parameter; /* that the argument is passed as; "" if it has no name */
  const char *name;      /* see the rule; else "" */
  /* See the rule. Of OP_INC that is not only added to, the second is 1 if each change keeps the smaller of two values
   * there, 2 if the larger. */
  long long numbers[2];
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
#define PROVER_ABI 5

/* What the plugin exports, under the name "op2jit_prover". */
typedef const struct prover *prover_entry(void);

#ifdef __cplusplus
}
#endif
#endif
