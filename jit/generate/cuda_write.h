/* What the files of the CUDA dialect share. */
#ifndef OP2JIT_JIT_GENERATE_CUDA_WRITE_H
#define OP2JIT_JIT_GENERATE_CUDA_WRITE_H

#include "jit/generate/cuda.h"
#include "jit/generate/skeleton.h"

/* Names beside the skeleton's:
 *   op2_r results of this thread, op2_y3 values of a global, op2_b3 start values
 *   op2_h0 shared memory of a target, op2_l0_1 this element's place in it by column 1, op2_p0 rows apart */
struct cuda_writer {
  struct generator g;
  const struct cuda_shape *shape;
  struct cuda_targets targets;
};

/* An increment that others may meet: of a target. */
bool cuda_is_increment(const struct cuda_writer *w, const struct desc_arg *a);
/* The number of the target that holds this dat. */
int cuda_target_of(const struct cuda_targets *t, int dat);

/* cuda_element.c: everything for element op2_e but its increments of targets, whose rows are declared before. */
void cuda_put_rows(struct cuda_writer *w); /* rows of increments, cleared */
void cuda_put_element(struct cuda_writer *w);
void cuda_put_increments(struct cuda_writer *w); /* rows of increments to where the strategy wants them */
void cuda_put_places(struct cuda_writer *w);     /* op2_l...: where in shared memory */

/* cuda_result.c: struct op2_slot, how two of them meet, the combining kernel. */
void cuda_put_slot(struct cuda_writer *w);
void cuda_put_start(struct cuda_writer *w);  /* op2_r before the first element */
void cuda_put_finish(struct cuda_writer *w); /* behind the last */

#endif
