/* Compilers behind one small table. A compiler turns virtual files into a binary, or into diagnostics.
 * The clang plugin (jit/clang) and NVRTC (jit/nvrtc.c) fill it. Plain C types only: the plugin is C++. */
#ifndef OP2JIT_JIT_COMPILER_H
#define OP2JIT_JIT_COMPILER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lowered;
struct prover;
struct deriver;
struct reader;

struct compile_file {
  const char *name; /* in messages and #include */
  const char *text;
  size_t length;
};

/* Code that is run to see whether a kernel does wrong, on CPUs only: it stops at an illegal instruction where it
 * leaves a variable or a constant, raises no floating-point exception that the text does not ask for, and its
 * variables without a value hold these. */
enum compile_trial { COMPILE_NO_TRIAL, COMPILE_ZEROS, COMPILE_PATTERN };

struct compile_request {
  /* The first is compiled; it may #include the others. With a line "#pragma op2jit bounds" code for CPUs calls
   * __ubsan_handle_out_of_bounds_abort before it uses an index beyond an array. With "#pragma op2jit rolled"
   * the compiler expects loops of few rounds, whose number varies. */
  const struct compile_file *files;
  int nfiles;
  const char *cpu;      /* CPU: name for tuning, as target_host has it; CUDA: "sm_90" */
  const char *features; /* CPU: "+avx2,+fma,-avx512f", complete; CUDA: NULL */
  const char *fp;       /* as in struct desc */
  int debug;            /* 1: debug information, so that a debugger stops by name and line */
  /* 1: -Wall -Wextra, 2: of these the serious ones; of several files not for the first: it is generated */
  int warnings;
  int remarks; /* 1: the vectorisers' remarks on loops, and spills, as COMPILE_REMARK */
  enum compile_trial trial;
  const char *processor; /* CPU: "aarch64"; NULL: the kind that the compiler runs on */
  struct lowered
      *lowered; /* these very files, as a prover parsed them for this request; NULL: they are parsed */
};

/* For aarch64 with SVE the last word of the features: "sve-bits=512". Code is made for vectors of that length. */
#define COMPILE_SVE_BITS "sve-bits="

enum compile_severity { COMPILE_ERROR, COMPILE_WARNING, COMPILE_NOTE, COMPILE_REMARK };

struct compile_message {
  enum compile_severity severity;
  const char *file; /* virtual file; "" if none */
  int line, column; /* from 1; 0 if none */
  const char *text; /* the compiler's words, without position */
};

struct compile_result {
  int status; /* 0: binary is there; 1: the source is wrong, see messages; 2: the compiler failed; 3: without memory */
  void *binary;
  size_t size;
  struct compile_message *messages;
  int nmessages;
  double seconds_front, seconds_middle, seconds_back; /* of a processor, where the compiler knows them */
  void *owner;                                        /* whatever the compiler needs to free the result */
};

struct compiler {
  int abi;                      /* COMPILER_ABI */
  const char *name;             /* "clang" */
  const char *(*version)(void); /* "19.1.7" */
  void (*compile)(const struct compile_request *request, struct compile_result *result);
  void (*release)(struct compile_result *result);
  /* The plugin's other tables, each with a number of its own: jit/prover.h, jit/deriver.h, jit/texts.h. */
  const struct prover *prover;
  const struct deriver *deriver;
  const struct reader *reader;
};
#define COMPILER_ABI 5

/* The only entry of the plugin, exported as "op2jit_compiler". */
typedef const struct compiler *compiler_entry(void);

#ifdef __cplusplus
}
#endif
#endif
