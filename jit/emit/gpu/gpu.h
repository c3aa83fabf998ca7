/* Kernels of GPUs from a description, in the language of a dialect: the kernel of a loop in one of several shapes, how its reductions are
 * combined, and what has to be passed to it. The text and the parameters are functions of description, shape and this library
 * alone. */
#ifndef OP2JIT_JIT_EMIT_GPU_GPU_H
#define OP2JIT_JIT_EMIT_GPU_GPU_H

#include "jit/emit/generate.h"
#include "jit/kernel/kernel.h"
#include "jit/kernel/rows.h"

/* How increments through maps meet on their targets. */
enum gpu_strategy {
  GPU_DIRECT,  /* there are none */
  GPU_ATOMICS, /* atomic additions in global memory */
  GPU_STAGED,  /* summed in shared memory by element colour, added to global memory by block colour */
  GPU_BLOCKS,  /* block colours, and element colours inside a block, both in global memory */
  GPU_COLOURS, /* one launch per colour of elements */
  GPU_APART,   /* stored apart, summed by one thread per target in a second kernel */
  GPU_WARPS, /* summed in shared memory by target for each warp, then one atomic addition for each value of a target */
  GPU_ORDERED, /* the same for patches, in the elements' order: what a target's first patch has is added to it, the rest is
                * stored apart, and added by a second kernel. Sums only */
  GPU_STRATEGIES
};

/* Languages of kernels. */
enum gpu_dialect { GPU_DIALECT_CUDA, GPU_DIALECT_HIP, GPU_DIALECT_OPENCL, GPU_DIALECTS };

struct gpu_shape {
  enum gpu_dialect dialect; /* not a part of its name: keys have the device */
  enum gpu_strategy strategy;
  int block;      /* threads of a block; STAGED and BLOCKS: also elements of a plan's block */
  int min_blocks; /* that have to fit on a multiprocessor, 0: whatever the compiler likes */
  bool vectors;   /* rows are moved by explicit vector loads and stores, through registers */
  bool sorted;    /* STAGED, BLOCKS: the elements of a block in the order of their colours */
  int rows;       /* threads that share the loops over an element's targets; 0: each element has one thread */
  bool joined; /* WARPS: the warps of a block sum together; in OpenCL always where there are no sub-groups */
  int near; /* rows of so many values and more are in shared memory while a warp's elements use them; 0: none */
  bool
      dependent; /* the kernel may begin before the one before it has ended, and waits itself. CUDA, since capability 9.0 */
  const struct gpu_tasks
      *tasks; /* it is the kernel of a graph of tasks, in groups of `block` threads; NULL: a loop's */
  bool
      no_ticket; /* blocks see what others wrote when the kernel has ended and not before; no part of the name either */
};
/* "staged/128", "atomics/256/vectors", "blocks/64/sorted", "direct/128/vectors/min4", "direct/128/vectors/rows8",
 * "warps/256/joined", "warps/64/vectors/near", "direct/128/vectors/dependent". */
void gpu_shape_print(const struct gpu_shape *s, struct text *out);
/* One such word, or "scalars", replaces what it names; false for any other. */
bool gpu_shape_word(const char *word, struct gpu_shape *s);
/* The strategy works on a plan's blocks. */
static inline bool gpu_has_blocks(enum gpu_strategy s) {
  return s == GPU_STAGED || s == GPU_BLOCKS;
}
/* It sums by targets, which a plan lists. */
static inline bool gpu_sums_by_targets(enum gpu_strategy s) {
  return s == GPU_WARPS || s == GPU_ORDERED;
}
/* The threads of a block work in shared memory. */
static inline bool gpu_has_shared(enum gpu_strategy s) {
  return s == GPU_STAGED || gpu_sums_by_targets(s);
}
/* A second kernel adds what this one kept apart. */
static inline bool gpu_adds_later(enum gpu_strategy s) {
  return s == GPU_APART || s == GPU_ORDERED;
}
/* Elements that a block of threads works on at a time. */
int gpu_elements(const struct gpu_shape *s);

/* ---- rows: several threads for an element ---- */
enum { GPU_ROWS_LEAST = 4, GPU_ROWS_MOST = 64 }; /* powers of two */
/* True: the loop can have that form with this strategy. */
bool gpu_rows_can(const struct desc *d, const struct gpu_shape *s, enum split_why *why);

/* ---- increments through maps, and extrema ---- */
struct gpu_target {
  int dat;
  int access; /* OP_INC, OP_MIN or OP_MAX */
  int ncolumns;
  struct gpu_column {
    int arg, map, column; /* map and column -1: the element itself; of a ragged map all, column 0 */
  } * columns;
};
struct gpu_targets {
  int count;
  struct gpu_target items[OP_MAX_ARGS];
};
/* A target is reached by a ragged map: the kernel adds in memory, and COLOURS is the only strategy. */
bool gpu_targets_are_ragged(const struct desc *d, const struct gpu_targets *t);
/* Every dat that is incremented through maps, with all columns that reach it, in the order of the arguments: also
 * the elements themselves, where it is incremented directly too. */
int gpu_targets_find(const struct desc *d, struct gpu_targets *out, struct error *err);
void gpu_targets_free(struct gpu_targets *t);
/* WARPS, ORDERED: bytes of shared memory in which `width` elements' increments meet. */
size_t gpu_sums_bytes(const struct desc *d, const struct gpu_shape *s, const struct gpu_targets *t,
                      int width);

/* ---- near: rows in shared memory ---- */
enum { GPU_NEAR_VALUES = 16 }; /* usually: what is shorter is in registers, or a cache holds it */
/* Values from an increment's row to the next: threads use other banks. */
static inline int gpu_near_apart(int dim) {
  return dim | 1;
}
/* True: rows of this argument are, in a shape that is near. */
bool gpu_is_near(const struct desc *d, const struct gpu_shape *s, const struct gpu_targets *t, int arg);
/* True: the loop has such rows, and the strategy a place for them. */
bool gpu_near_can(const struct desc *d, const struct gpu_shape *s, const struct gpu_targets *t);
/* Bytes of shared memory for each thread of a block, beside those of gpu_sums_bytes. */
size_t gpu_near_bytes(const struct desc *d, const struct gpu_shape *s, const struct gpu_targets *t);

/* ---- parameters ---- */
enum gpu_parameter_kind {
  GPU_P_DAT,          /* index: dat */
  GPU_P_STRIDE,       /* long long, of dat `index` */
  GPU_P_MAP,          /* index: map */
  GPU_P_OFFSETS,      /* long long, of ragged map `index`: where rows begin in its table */
  GPU_P_ENTRIES,      /* of ragged map `index`: which of its entries are those of a subset's elements */
  GPU_P_NUMBERS,      /* index: set */
  GPU_P_GLOBAL,       /* values of argument `index`: themselves, or their address if `column` is 1 */
  GPU_P_START,        /* the user's values before the loop, of MIN or MAX argument `index`: as GPU_P_GLOBAL */
  GPU_P_SLOTS,        /* one struct op2_slot per block */
  GPU_P_WARPS,        /* one per warp, scratch */
  GPU_P_SLOT,         /* int: slot of the launch's first block */
  GPU_P_TICKET,       /* how many blocks have left their results; this and the next: where gpu_has_ticket */
  GPU_P_COUNT,        /* int: how many do, of all launches of the loop */
  GPU_P_RESULT,       /* where the last of them leaves the loop's: memory of the host, as kernels reach it */
  GPU_P_KEPT,         /* the same of argument `index`, which stays on the device */
  GPU_P_LIST,         /* elements in another order */
  GPU_P_BEGIN,        /* int: first element or position in the list */
  GPU_P_END,          /* int: behind the last */
  GPU_P_BACK,         /* int: 1, blocks from the last to the first; slots and elements go by their number */
  GPU_P_BLOCKS,       /* block numbers by colour */
  GPU_P_FIRST,        /* int: position in them of the launch's first block */
  GPU_P_COLOURS,      /* unsigned short per element */
  GPU_P_COUNTS,       /* element colours per block */
  GPU_P_STAGED_FIRST, /* of target `index`: long long, nblocks + 1 */
  GPU_P_STAGED_TARGETS, /* int */
  GPU_P_STAGED_AT,      /* int: bytes into the shared memory */
  GPU_P_STAGED_LOCAL,   /* unsigned short per element, of column `column` */
  GPU_P_SUMS_LAST,      /* per target, unsigned char or short: its last summand */
  GPU_P_SUMS_SLOTS,     /* per summand, the same type: where it is */
  GPU_P_APART, /* rows of increments of target `index`: of all elements, or ORDERED: of those that are added later */
  GPU_P_CONSTANTS /* those that are not folded, one behind the other at multiples of 16: OpenCL */
};
struct gpu_parameter {
  enum gpu_parameter_kind kind;
  int index, column;
  size_t bytes; /* 0: it is an address */
};
struct gpu_parameters {
  int count;
  bool failed; /* while they were found: no memory */
  struct gpu_parameter *items;
};
int gpu_parameters_find(const struct desc *d, const struct gpu_shape *s, const struct gpu_targets *t,
                        struct gpu_parameters *out, struct error *err);
void gpu_parameters_free(struct gpu_parameters *p);

/* ---- results ---- */
/* True: the argument's result has the same bits in any order of the elements. Then a sum is in slots as a struct gpu_exact for each
 * component, which base/exact.h takes: limb i counts 2^(32 (top - 3 + i) - 1074). */
enum { GPU_EXACT_LIMBS = 4 };
struct gpu_exact {
  long long limbs[GPU_EXACT_LIMBS];
  int top, odd;
};
bool gpu_is_exact(const struct desc *d, int arg);
bool gpu_is_exact_sum(const struct desc *d, int arg);
/* Bytes of a slot; 0: the loop has none. */
size_t gpu_slot_bytes(const struct desc *d);
/* Where argument `arg` is in it: dim values, or the struct of an INFO; -1: nowhere. */
long gpu_slot_offset(const struct desc *d, int arg);
size_t gpu_slot_size(const struct desc *d, int arg);
/* True: the last block that leaves a slot combines them, in the loop's own kernel. Else GPU_COMBINE does it. */
static inline bool gpu_has_ticket(const struct gpu_shape *s) {
  return !s->no_ticket;
}
/* True: the host has to see some of the results. */
bool gpu_tells_host(const struct desc *d);

/* ---- code ---- */
/* Kernels, all extern "C": the loop; where there is no ticket `op2_combine(slots, count, warps)`, one block of
 * GPU_COMBINE_THREADS threads, which leaves the result in slot 0; op2_sum0, op2_sum1 ... (dat, stride, first, entries, apart,
 * ntargets) for APART; for ORDERED `entries` are targets that something is added to later, and all of `apart` from
 * first[i] to first[i + 1] belongs to the i-th of them. */
#define GPU_COMBINE "op2_combine"
#define GPU_SUM "op2_sum"
enum { GPU_COMBINE_THREADS = 256, GPU_SUM_THREADS = 128 };
/* The loop's kernel: "op2_loop_" and the user's name. */
char *gpu_kernel_name(const struct desc *d);

/* Errors: OP_ERR_MEMORY; OP_ERR_KERNEL for C that cannot be CUDA C, with line and remedy. */
int generate_gpu(const struct desc *d, const struct gpu_shape *s, struct generated *out, struct error *err);
/* The kernel of a graph of tasks, GPU_TASKS(data, tables, places), of a text with the functions of all types. What is in the
 * tables says runtime/tasks/device.h. `places`: of each task's parameters, where in the data they are, or -1. */
#define GPU_TASKS "op2_tasks"
struct gpu_tasks {
  int count;
  struct gpu_task_kernel {
    const char *name; /* NULL: tasks of this type do nothing */
    int parameters;
  } * items; /* by type */
};
void gpu_tasks_print(const struct gpu_shape *s, struct text *out);
/* The kernels of messages: "op2_pack(table, n)" and "op2_unpack" for all rows of a direction, GPU_ROWS_WORDS words of 64 bits
 * for each. Where kernels take no addresses from memory: "op2_pack4(dat, rows, at, elements, count, dim, row, step)"
 * and "op2_unpack4" for values of 1, 2, 4 and 8 bytes. */
enum { GPU_ROWS_WORDS = 9 };
static inline bool gpu_has_row_tables(enum gpu_dialect dialect) {
  return dialect != GPU_DIALECT_OPENCL;
}
void gpu_rows_text(enum gpu_dialect dialect, struct text *out);
/* The kernels that measure a device: "op2_fill(to, n)" and "op2_copy(to, from, n)" of pieces of 16 bytes, "op2_read(data, mask,
 * times)" and "op2_red": each thread goes to a sector `times` times, of mask + 1. Where the device
 * can, "op2_behind(to, n)" as op2_fill, dependent. */
void gpu_rates_text(enum gpu_dialect dialect, bool dependents, struct text *out);
/* The name of a constant that is not folded, as a module knows it. */
void cuda_constant_symbol(const char *name, struct text *out);
const char *opencl_before_name(const char *name);
void opencl_copy_text(const struct kernel *k, const struct desc *d, struct text *out);
const char *opencl_prelude(void);
/* Bytes of the program's own shared memory in which a block combines its results; 0: it does so elsewhere. */
size_t gpu_meeting_bytes(const struct desc *d, const struct gpu_shape *s);
const char *cuda_prelude(void);

#endif
