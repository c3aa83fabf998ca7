/* The prover of the clang plugin. It tells whether a kernel does what its access descriptors
 * say. It follows the kernel's text, through helpers, copied pointers and loops of constant length, and gives a
 * verdict for each argument. Plain C types only: the plugin is C++. */
#ifndef OP2JIT_JIT_PROVER_H
#define OP2JIT_JIT_PROVER_H

#include <stdbool.h>

#include "jit/compiler.h"
#include "jit/kernel/rows.h"
#include "jit/kernel/says.h"
#include "op2jit.h"

#ifdef __cplusplus
extern "C" {
#endif

enum prove_form {
  PROVE_DATA,    /* `dim` values: a dat's row, or a global */
  PROVE_VECTOR,  /* `arity` pointers to `dim` values each */
  PROVE_NUMBERS, /* op_arg_idx: `dim` ints, only read */
  PROVE_PAYLOAD  /* op_arg_info: free */
};

struct prove_argument {
  enum prove_form form;
  op_access access; /* OP_INC: += -= ++ -- only; OP_MIN, OP_MAX: assigned only after comparing; OP_RW: free */
  const char *type; /* as C spells it: "double" */
  int dim, arity;
  bool ragged;  /* VECTOR: the rows of an element that has `arity` targets, which OP_ROW leads to */
  bool counted; /* before its parameter stands that number, an int */
  bool same;    /* all elements find the same values there */
  bool own;     /* ragged: the rows are of the element's own entries, and written */
  bool adds;    /* one row of numbers, which is there and may be written */
  bool stays;   /* ragged: its rows may stay where they are, if the text lets them */
};

struct prove_request {
  const struct compile_file *files; /* the first holds the prelude and #includes the kernel's */
  int nfiles;
  const char *kernel; /* the function's name */
  const struct prove_argument *arguments;
  int narguments;
  /* The request to the compiler for the same files, to be made if nothing is found; its own files are not
   * looked at. NULL: none. */
  const struct compile_request *then;
  bool any_order; /* sums of all loops may be added up in any order */
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
  PROVE_C_ONLY, /* a compiler of GPUs, which reads the text as C++, refuses it or takes it for something else */
  PROVE_UNKNOWN,
  PROVE_VIOLATED
};

/* The codes of findings. jit/found.c has the words, the remedy and the evidence of each. */
enum prove_found {
  FOUND_NONE,
  /* The promise of an argument is broken. */
  FOUND_READ_WRITTEN,
  FOUND_INC_READ, /* numbers: see prove_finding */
  FOUND_INC_ASSIGNED,
  FOUND_INC_CHANGED,
  FOUND_MIN_NOT_COMPARED, /* numbers: 1: it is compared the other way round */
  FOUND_MAX_NOT_COMPARED,
  FOUND_WRITE_READ_FIRST,
  FOUND_WRITE_NEVER, /* numbers, of this and the next three: the component, and the row of a vector */
  FOUND_WRITE_SOMETIMES,
  FOUND_WRITE_MAYBE,
  FOUND_WRITE_IN_TURN,
  /* An argument could not be followed. */
  FOUND_LOST_ORDER,
  FOUND_LOST_INDEX,
  FOUND_LOST_CAST,
  FOUND_LOST_NUMBER,
  FOUND_LOST_POINTER,
  FOUND_LOST_POINTERS,
  FOUND_LOST_PLACES,
  FOUND_LOST_RETURN,
  FOUND_LOST_CALL,
  FOUND_LOST_STORED,
  FOUND_LOST_RECORD,
  FOUND_LOST_CXX,
  FOUND_LOST_STATEMENT,
  /* Memory beyond an argument. numbers: the size, and the place that is used */
  FOUND_ROW_OUTSIDE,
  FOUND_POINTER_OUTSIDE,
  FOUND_COMPONENT_OUTSIDE,
  /* OP_ROW of something else, and ragged maps without it. parameter: the name there; numbers: whether it is a helper's, and how
   * many targets the map has */
  FOUND_NOT_BY_ROW, /* name: the index */
  FOUND_ROWS_USED,
  FOUND_ROW_OF_VECTOR,
  FOUND_ROW_OF_ONE,
  FOUND_ROW_AS_NUMBER, /* name: the row */
  /* The kernel as a whole. name: of the constant, array, variable or function. numbers: as above */
  FOUND_CONSTANT_INDEX,
  FOUND_CONSTANT_OUTSIDE,
  FOUND_ARRAY_INDEX,
  FOUND_ARRAY_OUTSIDE,
  FOUND_VARIABLE_OUTSIDE,
  FOUND_NEXT_ROW,
  FOUND_NULL_POINTER,
  FOUND_KEPT,
  FOUND_UNSET,
  FOUND_COMPILER_UNSET, /* name: what the compiler says */
  FOUND_ENDLESS,
  FOUND_ROUNDS,
  FOUND_RECURSION,
  FOUND_NO_KERNEL,
  FOUND_PARAMETER_COUNT, /* numbers: of parameters */
  /* name: the parameter, or its type; numbers: the parameter from 1, the argument from 0. Without a compiler tokens find them
   * (jit/fits.c). */
  FOUND_PARAMETER_SHORT_NAME,
  FOUND_PARAMETER_STRUCT,
  FOUND_PARAMETER_VALUE,
  FOUND_PARAMETER_ROW,
  FOUND_PARAMETER_DEEP,
  FOUND_PARAMETER_TYPE,
  FOUND_PARAMETER_CONST,
  /* C that another compiler does not have, or takes for something else: all, then those for C++. */
  FOUND_SIZE_IN_CXX,
  FOUND_EMPTY_IN_CXX,
  FOUND_SIGN_IN_CXX,
  FOUND_VARIABLE_LENGTH,
  FOUND_ARRAY_LITERAL,
  FOUND_LITERAL_IN_CXX,
  FOUND_GENERIC_IN_CXX,
  FOUND_INDEX_IN_CXX,
  FOUND_ORDER_IN_CXX,
  /* No finding of the prover: a description `believed` a promise of OP_WRITE that is not proved. */
  FOUND_NOT_TO_BELIEVE,
  FOUND_COUNT
};

/* The first thing found about an argument; without one it is proved. */
struct prove_finding {
  int argument; /* from 0; -1: about the kernel as a whole */
  enum prove_verdict verdict;
  enum prove_found what;
  const char *file;      /* "" if there is no place */
  int line, column;      /* from 1; 0 if none */
  const char *parameter; /* that the argument is passed as; "" if it has no name */
  const char *name;      /* see what was found; else "" */
  /* See what was found. Of OP_INC that is not only added to, the second is 1 if each change keeps the smaller of two values
   * there, 2 if the larger. */
  long long numbers[2];
};

/* The effect of elements that meet in an argument's row on one another, and what an element leaves of the row. */
struct prove_fact {
  bool partial; /* of WRITE: it is not proved that all components are written on every path */
  bool reads;   /* the value from before the element may be read */
  int same; /* arguments of one number get the same value in each component, by any element; 0: values may differ */
};

struct prove_result {
  int status; /* as compile_result: 1: the text does not compile, see messages; 2: the prover failed */
  struct prove_finding *findings;
  int nfindings;
  const struct prove_fact *facts;   /* of each argument; NULL: none are known */
  const struct row_facts *rows;     /* of ragged maps; NULL: none are known */
  int says;                         /* enum says: what the kernel and the functions that it reaches do */
  struct compile_message *messages; /* of a text that compiles: the serious warnings */
  int nmessages;
  struct lowered *lowered; /* for that request, until it is released; NULL: there is none */
  void *owner;
};

struct prover {
  int abi; /* PROVER_ABI */
  void (*prove)(const struct prove_request *request, struct prove_result *result);
  void (*release)(struct prove_result *result);
};
#define PROVER_ABI 9

#ifdef __cplusplus
}
#endif
#endif
