/* Declarations that the files of the dialects of GPUs share. */
#ifndef OP2JIT_JIT_EMIT_GPU_WRITE_H
#define OP2JIT_JIT_EMIT_GPU_WRITE_H

#include "jit/emit/gpu/gpu.h"
#include "jit/emit/skeleton.h"

/* A language: the dialect's words, and all else in which languages differ. */
struct gpu_language {
  const struct words *words;
  const char *main_ending, *prelude_file;
  const char *front; /* before everything; NULL: nothing */
  const char *(*prelude)(void);
  /* Pointers have a space each, and C's have none: kernels are passed copies of rows, but for those of ragged maps that
   * can stay where they are; helpers are macros or end in their type, and all work of a block meets in shared
   * memory. */
  bool copies;
  /* The user's text, changed where the language would read something else. Lines stay. */
  void (*copy_text)(const struct kernel *k, const struct desc *d, struct text *out);
  /* How threads that share an element's loops talk to one another, and those of a warp that bring rows near; NULL: they
   * cannot. */
  const char *rows, *near;
};
const struct gpu_language *gpu_language(enum gpu_dialect dialect);

/* A kernel that may begin before the one before it has ended: that one has ended, and what it wrote is seen, when this returns.
 * Nothing of memory may be touched before. From then on the next one may come, so that no more than two are there at once. */
#define GPU_WAIT_TEXT                                                                                        \
  "#if defined(__EDG__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900\n"                                 \
  "static __device__ __forceinline__ void op2_wait_for_before() {\n"                                         \
  "  asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n"                                               \
  "  asm volatile(\"griddepcontrol.launch_dependents;\" ::: \"memory\");\n"                                  \
  "}\n"                                                                                                      \
  "#endif\n"

/* Names beside the skeleton's:
 *   op2_r results of this thread, op2_y3 values of a global, op2_b3 start values
 *   op2_nth this block's number in the launch, whatever the order they run in
 *   op2_lane which of an element's threads this is
 *   op2_rows3(x, k) a row of argument 3 that stays where it is, op2_to3 its targets
 *   op2_h0 shared memory of a target, op2_l0_1 this element's place in it by column 1, op2_p0 rows apart
 *   op2_width elements that sum together, op2_in which of them this one is, op2_size0 summands of a component
 *   op2_mine which thread of its warp this is, op2_here elements of the warp, op2_on: this thread has one
 *   op2_w3 the near row of argument 3, op2_step3 values to the next column's; op2_row3_1 what
 *   the element names by column 1 of map 2, op2_row0_0 the element */
struct gpu_writer {
  struct generator g;
  const struct gpu_language *language;
  const struct gpu_shape *shape;
  struct gpu_targets targets;
};

/* The words of the dialect for a type in memory, which need not be what a variable is; and what the name of a helper
 * for it ends in. */
const char *gpu_memory_type(const struct gpu_writer *w, enum type_code type);
const char *gpu_of_type(const struct gpu_writer *w, enum type_code type);
const char *gpu_named_type(const struct gpu_writer *w, enum type_code type);
/* The last argument of op2_better and its like. */
static inline const char *gpu_most(int access) {
  return access == OP_MAX ? "true" : "false";
}
/* "MEMORY += VALUE;" of each component, or "=" where the access is no increment. Truth values may be bytes in memory,
 * where their sum would be 2. */
void gpu_put_stored(struct gpu_writer *w, enum type_code type, int dim, int access, const char *memory,
                    const char *value);
/* Some constants are not folded. */
bool gpu_has_variables(const struct desc *d);
/* Constants that are not folded travel with each launch, as a struct that the user's functions are handed. */
bool gpu_hands_constants(const struct gpu_writer *w);

/* frame.c: the user's text, in a namespace of its own, where none of CUDA's names is in its way; structs of globals' values;
 * the kernel's parameters and what is at hand before its elements; arrays that begin with the part's first element. */
void gpu_put_user_text(struct gpu_writer *w, const struct generated *files);
void gpu_put_value_types(struct gpu_writer *w, const struct gpu_parameters *p);
void gpu_put_head(struct gpu_writer *w, const struct gpu_parameters *p);
void gpu_put_part(struct gpu_writer *w, const struct gpu_parameters *p);

/* An increment that others may meet: of a target. */
bool gpu_is_increment(const struct gpu_writer *w, const struct desc_arg *a);
/* The number of the target that holds this dat; which of its columns entry `v` of an argument is. */
int gpu_target_of(const struct gpu_targets *t, int dat);
int gpu_column_of(const struct gpu_writer *w, int arg, int v);
/* Components that one operation adds to, where the device
 * can: 4 or 2, or 1. */
int gpu_piece(const struct gpu_writer *w, int dat);

/* element.c: everything for element op2_e but its increments of targets, whose rows are declared before. */
void gpu_put_rows(struct gpu_writer *w); /* rows of increments, cleared */
void gpu_put_element(struct gpu_writer *w);
void gpu_put_increments(struct gpu_writer *w); /* rows of increments to where the strategy wants them */

/* warps.c, for WARPS: types in the kernel's parameters; the whole of a block. */
void gpu_put_sum_types(struct gpu_writer *w);
void gpu_put_warps(struct gpu_writer *w);

/* tasks.c: everything of the kernel of a graph of tasks. */
void gpu_put_tasks(struct gpu_writer *w, const struct generated *files);

/* near.c, for shapes that are `near`: what the kernel's text calls; where rows are, from `begin` bytes into shared memory on;
 * rows to there, which all threads of a warp do together; what the element adds begins with nothing; rows back. */
bool gpu_near_arg(const struct gpu_writer *w, const struct desc_arg *a);
void gpu_put_near_helpers(struct gpu_writer *w);
void gpu_put_near_places(struct gpu_writer *w, const char *begin);
void gpu_put_brought(struct gpu_writer *w);
void gpu_put_near_cleared(struct gpu_writer *w);
void gpu_put_taken_back(struct gpu_writer *w);

/* exact.c, for results with gpu_is_exact: the helpers; the lines before the kernel's call for an element, and behind
 * it; the better one of two stays in `best`. '#' in both is the component. */
void gpu_put_exact_helpers(struct gpu_writer *w);
void gpu_put_exact_before(struct gpu_writer *w, int arg);
void gpu_put_exact_after(struct gpu_writer *w, int arg);
void gpu_put_exact_better(struct gpu_writer *w, int arg, const char *value, const char *best);

/* rows.c, for shapes with `rows`: what the kernel's text calls; that text with its loops over targets dealt out. */
void gpu_put_rows_helpers(struct gpu_writer *w);
int gpu_rows_split(struct kernel *k, const struct desc *d, struct error *err);

/* row_places.c: rows of ragged maps that stay where they are, though kernels are passed copies. Is there room for the others?
 * OP_ERR_SIZE. What OP_ROW becomes, before the kernel's text; what the kernel is passed; its text, in the language. */
int gpu_check_places(const struct gpu_writer *w, struct kernel *k, struct error *err);
void gpu_put_row_macros(struct gpu_writer *w);
void gpu_row_place(const struct gpu_writer *w, int arg, char *out, size_t size);
int gpu_put_text(struct gpu_writer *w, struct text *out, struct error *err);

/* result.c: struct op2_slot, how two of them meet, the combining kernel. */
void gpu_put_slot(struct gpu_writer *w);
void gpu_put_start(struct gpu_writer *w);  /* op2_r before the first element */
void gpu_put_finish(struct gpu_writer *w); /* behind the last */

#endif
