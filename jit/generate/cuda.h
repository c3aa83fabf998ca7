/* CUDA C from a description: the kernel of a loop in one of several shapes, the kernel that combines reductions, and
 * what has to be passed to them. The text and the parameters are functions of description, shape and this library
 * alone. */
#ifndef OP2JIT_JIT_GENERATE_CUDA_H
#define OP2JIT_JIT_GENERATE_CUDA_H

#include "jit/front/kernel.h"
#include "jit/generate/generate.h"

/* How increments through maps meet on their targets. */
enum cuda_strategy {
  CUDA_DIRECT,  /* there are none */
  CUDA_ATOMICS, /* atomic additions in global memory */
  CUDA_STAGED,  /* summed in shared memory by element colour, added to global memory by block colour */
  CUDA_BLOCKS,  /* block colours, and element colours inside a block, both in global memory */
  CUDA_COLOURS, /* one launch per colour of elements */
  CUDA_APART,   /* stored apart, summed by one thread per target in a second kernel */
  CUDA_WHOLE, /* as STAGED, the element colours around the whole kernel, which adds to shared memory itself */
  CUDA_STRATEGIES
};

struct cuda_shape {
  enum cuda_strategy strategy;
  int block;      /* threads of a block; STAGED, BLOCKS and WHOLE: also elements of a plan's block */
  int min_blocks; /* that have to fit on a multiprocessor, 0: whatever the compiler likes */
  bool vectors;   /* rows are moved by explicit vector loads and stores, through registers */
  bool sorted;    /* STAGED, BLOCKS, WHOLE: the elements of a block in the order of their colours */
};
/* "staged/128", "atomics/256/vectors", "blocks/64/sorted", "direct/128/vectors/min4". */
void cuda_shape_print(const struct cuda_shape *s, struct text *out);
/* One such word, or "scalars", replaces what it names; false for any other. */
bool cuda_shape_word(const char *word, struct cuda_shape *s);
bool cuda_has_blocks(enum cuda_strategy s); /* works on a plan's blocks */

/* ---- increments through maps, and extrema ---- */
struct cuda_target {
  int dat;
  int access; /* OP_INC, OP_MIN or OP_MAX */
  int ncolumns;
  struct cuda_column {
    int arg, map, column; /* map and column -1: the element itself */
  } * columns;
};
struct cuda_targets {
  int count;
  struct cuda_target items[OP_MAX_ARGS];
};
/* Every dat that is incremented through maps, with all columns that reach it, in the order of the arguments: also
 * the elements themselves, where it is incremented directly too. */
int cuda_targets_find(const struct desc *d, struct cuda_targets *out, struct error *err);
void cuda_targets_free(struct cuda_targets *t);

/* ---- parameters ---- */
enum cuda_parameter_kind {
  CUDA_P_DAT,     /* index: dat */
  CUDA_P_STRIDE,  /* long long, of dat `index` */
  CUDA_P_MAP,     /* index: map */
  CUDA_P_NUMBERS, /* index: set */
  CUDA_P_GLOBAL,  /* values of argument `index`: themselves, or their address if `column` is 1 */
  CUDA_P_START,   /* the user's values before the loop, of MIN or MAX argument `index`: as CUDA_P_GLOBAL */
  CUDA_P_SLOTS,   /* one struct op2_slot per block */
  CUDA_P_WARPS,   /* one per warp, scratch */
  CUDA_P_SLOT,    /* int: slot of the launch's first block */
  CUDA_P_LIST,    /* elements in another order */
  CUDA_P_BEGIN,   /* int: first element or position in the list */
  CUDA_P_END,     /* int: behind the last */
  CUDA_P_BLOCKS,  /* block numbers by colour */
  CUDA_P_FIRST,   /* int: position in them of the launch's first block */
  CUDA_P_COLOURS, /* unsigned short per element */
  CUDA_P_COUNTS,  /* element colours per block */
  CUDA_P_STAGED_FIRST,   /* of target `index`: long long, nblocks + 1 */
  CUDA_P_STAGED_TARGETS, /* int */
  CUDA_P_STAGED_AT,      /* int: bytes into the shared memory */
  CUDA_P_STAGED_LOCAL,   /* unsigned short per element, of column `column` */
  CUDA_P_APART           /* rows of increments of target `index` */
};
struct cuda_parameter {
  enum cuda_parameter_kind kind;
  int index, column;
  size_t bytes;
};
struct cuda_parameters {
  int count;
  struct cuda_parameter *items;
};
int cuda_parameters_find(const struct desc *d, const struct cuda_shape *s, const struct cuda_targets *t,
                         struct cuda_parameters *out, struct error *err);
void cuda_parameters_free(struct cuda_parameters *p);

/* ---- results ---- */
/* Has the loop slots at all? Bytes of one. */
size_t cuda_slot_bytes(const struct desc *d);
/* Where argument `arg` is in it: dim values, or the struct of an INFO; -1: nowhere. */
long cuda_slot_offset(const struct desc *d, int arg);
size_t cuda_slot_size(const struct desc *d, int arg);

/* ---- code ---- */
/* Kernels, all extern "C": the loop; `op2_combine(slots, count, warps)`, one block of CUDA_COMBINE_THREADS
 * threads, which leaves the result in slot 0; op2_sum0, op2_sum1 ... (dat, stride, first, entries, apart,
 * ntargets) for APART. */
#define CUDA_COMBINE "op2_combine"
#define CUDA_SUM "op2_sum"
enum { CUDA_COMBINE_THREADS = 256, CUDA_SUM_THREADS = 128 };
/* The loop's kernel: "op2_loop_" and the user's name. */
char *cuda_kernel_name(const struct desc *d);

/* Errors: OP_ERR_MEMORY; OP_ERR_KERNEL for C that cannot be CUDA C, with line and remedy. */
int generate_cuda(const struct desc *d, const struct cuda_shape *s, struct generated *out, struct error *err);
/* The user's text, changed where C++ would read something else. Lines stay. */
void cuda_copy_text(const struct kernel *k, struct text *out);
/* What stands before a name of the user's there: nothing, or what makes a word of C++ a name again. */
const char *cuda_before_name(const char *name);
/* The name of a constant that is not folded, as a module knows it. */
void cuda_constant_symbol(const char *name, struct text *out);
/* C that NVRTC's C++ cannot take: variable-length arrays, compound literals, designators of arrays and out of order. */
int cuda_check_kernel(const struct kernel *k, struct error *err);
const char *cuda_prelude(void);

#endif
