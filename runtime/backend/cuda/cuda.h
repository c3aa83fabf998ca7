/* What the CUDA driver's table has behind it. */
#ifndef OP2JIT_BACKEND_CUDA_H
#define OP2JIT_BACKEND_CUDA_H

#include "backend/cuda/driver.h"
#include "backend/gpu/driver.h"
#include "jit/nvrtc/nvrtc.h"

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

/* ---- what HIP's table shares, whose functions are called alike ---- */
/* The device of OP2_DEVICE or of this rank, its context, stream and events. OP_ERR_ENV: OP2_DEVICE is no number. */
int cuda_begin(struct cuda *cuda, const struct op_context *ctx, struct gpu_device *out, struct error *err);
void cuda_end(struct cuda *cuda); /* all but the compiler */
#define CUDA_TABLE(X)                                                                                        \
  X(enter, void, (void *self))                                                                               \
  X(check, int, (void *self, int code, struct error *err, const char *doing))                                \
  X(is_of_kernel, bool, (int code))                                                                          \
  X(memory_info, int, (void *self, size_t *left, size_t *total))                                             \
  X(memory_alloc, int, (void *self, gpu_address *out, size_t bytes))                                         \
  X(memory_free, int, (void *self, gpu_address at))                                                          \
  X(host_alloc, int, (void *self, void **out, size_t bytes))                                                 \
  X(host_free, int, (void *self, void *p))                                                                   \
  X(copy_in, int, (void *self, gpu_address to, const void *from, size_t bytes))                              \
  X(copy_out, int, (void *self, void *to, gpu_address from, size_t bytes))                                   \
  X(module_load, int, (void *self, gpu_module *out, const void *binary, size_t size))                        \
  X(module_unload, int, (void *self, gpu_module module))                                                     \
  X(module_function, int, (void *self, gpu_function *out, gpu_module module, const char *name))              \
  X(module_global, int, (void *self, gpu_address *out, size_t *bytes, gpu_module module, const char *name))  \
  X(function_groups, int, (void *self, gpu_function function, int threads, int *groups))                     \
  X(launch, int,                                                                                             \
    (void *self, gpu_function function, unsigned blocks, unsigned threads, unsigned shared, void **values,   \
     const struct gpu_sizes *sizes))                                                                         \
  X(wait, int, (void *self))                                                                                 \
  X(time_begin, int, (void *self))                                                                           \
  X(time_end, int, (void *self, double *seconds))
#define CUDA_TABLE_FUNCTION(name, result, parameters) result cuda_table_##name parameters;
CUDA_TABLE(CUDA_TABLE_FUNCTION)
#undef CUDA_TABLE_FUNCTION
#define CUDA_TABLE_ROW(name, result, parameters) .name = cuda_table_##name,
#define CUDA_GRAPH_ROWS                                                                                      \
  .graph_new = cuda_graph_new, .graph_kernel = cuda_graph_kernel, .graph_finish = cuda_graph_finish,         \
  .graph_set = cuda_graph_set, .graph_launch = cuda_graph_launch, .graph_free = cuda_graph_free,             \
  .hold = cuda_hold, .give = cuda_give
#define CUDA_MESSAGE_ROWS                                                                                    \
  .message_out = cuda_message_out, .message_wait = cuda_message_wait, .message_in = cuda_message_in

/* graph.c: graphs, as struct gpu_driver has them. */
bool cuda_has_graphs(const struct cuda_driver *d);
int cuda_graph_new(void *self, void **out);
int cuda_graph_kernel(void *self, void *graph, void *function, unsigned blocks, unsigned threads,
                      unsigned shared, void **values);
int cuda_graph_finish(void *self, void *graph);
int cuda_graph_set(void *self, void *graph, int kernel, void *function, unsigned blocks, unsigned threads,
                   unsigned shared, void **values);
int cuda_graph_launch(void *self, void *graph);
void cuda_graph_free(void *self, void *graph);

/* messages.c: copies of messages, as struct gpu_driver has them. */
int cuda_message_out(void *self, void *to, gpu_address from, size_t bytes);
int cuda_message_wait(void *self);
int cuda_message_in(void *self, gpu_address to, const void *from, size_t bytes);
void cuda_messages_free(struct cuda *cuda);

/* peers.c: what ranks of a machine share, as struct gpu_driver has it. */
enum { CUDA_TOLD = -1 }; /* the code of what cuda->told says */
#define CUDA_PEER_ROWS                                                                                       \
  .peer_give = cuda_peer_give, .peer_take = cuda_peer_take, .peer_drop = cuda_peer_drop,                     \
  .flag_set = cuda_flag_set, .flag_await = cuda_flag_await, .flag_try = cuda_flag_try
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

/* held.c: launches that are held back, as struct gpu_driver has them. */
int cuda_hold(void *self, struct gpu_given *given);
int cuda_give(void *self);
/* The launch is held back; false: nothing is, or there is no memory for it. */
bool cuda_held_takes(struct cuda *cuda, cuda_function function, unsigned blocks, unsigned threads,
                     unsigned shared, void *const *values, const struct gpu_sizes *sizes);
/* No graph is known any more: a function may be gone. */
void cuda_held_forget(struct cuda *cuda);
void cuda_held_free(struct cuda *cuda);

#endif
