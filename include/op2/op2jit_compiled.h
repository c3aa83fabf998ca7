/* Kernels that the program's own compiler compiles: between op_seq.h, whose templates make functions of them, and
 * the library, which runs those as it runs generated code. Programs use neither. */
#ifndef OP2JIT_COMPILED_H
#define OP2JIT_COMPILED_H

#include <op2jit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How an argument's pointer comes about. */
enum op2jit_kind {
  OP2JIT_ABSENT,
  OP2JIT_DIRECT, /* base + e * dim */
  OP2JIT_MAPPED, /* base + map[e * arity + column] * dim */
  OP2JIT_VECTOR, /* all of these, as an array of pointers */
  OP2JIT_GLOBAL, /* base; of an extremum with a payload a copy of `start` */
  OP2JIT_WORK,   /* a copy of base */
  OP2JIT_NUMBER, /* of the element, or of its target, in the library's numbers */
  OP2JIT_PAYLOAD /* scratch, which its extremum takes over */
};

/* Where the parts of one argument are in the frame. The frame's first slot points to an array of them; the one
 * behind the last has in `scratch` the bytes of all scratch, in `arity` that of all maps of which one target is passed,
 * if they have the same. */
typedef struct op2jit_placed {
  int kind;
  int base, map, start,
      numbers; /* slots, -1: none. `numbers`: the loop's elements as the user numbers them */
  int column, arity;
  int dim;
  int access;
  int payload;         /* of an extremum: the argument that goes with it, -1: none */
  long scratch, bytes; /* where its own is, aligned to 64; bytes of its values */
  /* For kernels that the library calls by their address, the same in all places but for the type. */
  int type, nargs, base_number;
  op_kernel_function kernel;
} op2jit_placed;

/* A payload's memory: who won, then its values. */
typedef struct op2jit_won {
  long long element; /* -1: nobody yet */
} op2jit_won;

typedef void (*op2jit_range)(void *const *frame, const int *list, long begin, long end);

typedef struct op2jit_parameter {
  const char *type;    /* what it points to in the end; "": none of the library's */
  int is_const, depth; /* 0: it is not known how deep */
} op2jit_parameter;

/* One kernel, with arguments of these kinds. Static: its address says which loop it is. */
typedef struct op2jit_compiled {
  int size; /* of this struct and of op2jit_origin: programs and library are of one version */
  int nargs;
  op_kernel_function kernel;
  op2jit_range even[2];       /* elements begin .. end-1; list[begin] .. list[end-1] */
  op2jit_range fast[2];       /* the same where maps differ in their arity */
  op2jit_range any[2];        /* the same where an argument turns out to be of another kind than was said */
  const unsigned char *kinds; /* that `even` and `fast` are for */
  const op2jit_parameter *parameters;
  int base;  /* the first number that op_arg_idx gives: 1 in Fortran */
  int alone; /* one thread only may call it */
} op2jit_compiled;

/* Where in the program's sources a loop is, and as what they were compiled: by this its kernel's text is found. */
typedef struct op2jit_origin {
  const char *kernel;      /* as the program wrote it: "inner::flux" */
  const char *file, *unit; /* with the loop; that the compiler was given, NULL: it is not C++ */
  const char *headers;     /* op_seq.h */
  const char *when;        /* __DATE__ and __TIME__ of the compile; "": not known */
  long standard;           /* __cplusplus */
  int line;
  int is_gcc;
  const char *texts, *texts_end; /* that op2jit-c++ put into the program; NULL: none */
} op2jit_origin;

/* Globals of at most so many values may be kept in registers, vectors have at most so many targets. */
enum { OP2JIT_NEAR = 8, OP2JIT_WIDEST = 64 };

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
/* op_par_loop of such a kernel. */
int op2jit_par_loop_compiled(const op2jit_compiled *compiled, const char *name, op_set set, int nargs,
                             const op_arg args[], const op2jit_origin *origin);
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
