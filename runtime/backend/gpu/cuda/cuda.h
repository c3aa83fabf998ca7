/* The state behind the CUDA driver's table. */
#ifndef OP2JIT_BACKEND_GPU_CUDA_CUDA_H
#define OP2JIT_BACKEND_GPU_CUDA_CUDA_H

#include "backend/gpu/cuda/driver.h"
#include "backend/gpu/driver.h"
#include "jit/nvrtc.h"

struct comm;

struct cuda {
  struct cuda_driver driver;
  struct cuda_device device;
  void *context; /* retained; NULL: not yet */
  cuda_stream stream;
  cuda_event before, after;
  struct cuda_messages *messages; /* NULL: no rank was sent anything yet */
  struct cuda_held *held;         /* NULL: nothing was ever held back */
  struct comm *comm;              /* the context's */
  struct cuda_flags *flags;       /* NULL: no stream ever waited for another rank's */
  struct error told;              /* another rank failed while a stream waited for it */
  struct nvrtc *nvrtc;            /* NULL: another rank has one and gives what it makes */
};

/* The device of OP2_DEVICE or of this rank, its context, stream and events. OP_ERR_ENV: OP2_DEVICE is no number. */
int cuda_begin(struct cuda *cuda, const struct op_context *ctx, struct gpu_device *out, struct error *err);
void cuda_end(struct cuda *cuda); /* all but the compiler */

/* peers.c: what ranks of a machine share, as struct gpu_driver has it. */
enum { CUDA_TOLD = -1 }; /* the code of what cuda->told says */
bool cuda_has_peers(const struct cuda_driver *d);
int cuda_peer_give(void *self, gpu_address at, struct gpu_handle *out);
int cuda_peer_take(void *self, const struct gpu_handle *handle, gpu_address *out);
int cuda_peer_drop(void *self, gpu_address at);
int cuda_flag_set(void *self, gpu_address flag, unsigned number);
int cuda_flag_await(void *self, const gpu_address *flags, int n, unsigned number);
int cuda_flag_try(void *self, double seconds, bool *come);
/* Before whatever makes the host wait for the stream: what is held back is given, and other ranks' flags have come. */
int cuda_settle(void *self);
void cuda_flags_free(struct cuda *cuda);

/* cuda.c: launches that are held back, as struct gpu_driver has them. */
int cuda_hold(void *self, struct gpu_given *given);
int cuda_give(void *self);
/* The launch is held back; false: nothing is, or there is no memory for it. */
bool cuda_held_takes(struct cuda *cuda, cuda_function function, unsigned blocks, unsigned threads,
                     unsigned shared, void *const *values, const struct gpu_sizes *sizes);
/* Forgets all graphs: a function of theirs may be gone. */
void cuda_held_forget(struct cuda *cuda);
void cuda_held_free(struct cuda *cuda);

#endif
