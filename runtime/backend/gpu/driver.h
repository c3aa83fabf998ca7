/* The drivers of GPUs: one table of functions each for CUDA, HIP and OpenCL. Functions that return a code return the
 * driver's own, 0 is success; `self` is what `open` made. Work is done in the order in which it is given. */
#ifndef OP2JIT_BACKEND_GPU_DRIVER_H
#define OP2JIT_BACKEND_GPU_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"
#include "jit/compiler.h"
#include "jit/emit/gpu/gpu.h"

struct gpu;
struct op_context;

typedef unsigned long long gpu_address; /* of device memory, 0: none */
typedef void *gpu_module;
typedef void *gpu_function;

struct gpu_device {
  int ordinal;
  char label[32]; /* for messages: "GPU 0" */
  char name[128];
  char arch[256];                 /* what code is made for: "sm_90" */
  char platform[176], driver[64]; /* where binaries are a driver's: whose, and its version; else "" */
  int max_threads;                /* of a block */
  int width;                      /* threads that run in step: sizes of blocks are multiples of it */
  int lanes; /* that sum together where a block's do not: those, or a sub-group's; 0: there are no such */
  int shared_usual, shared_most; /* bytes of a block: without asking, and at all */
  bool is_cpu;                   /* a driver that runs kernels on the host's processors */
  bool no_double;                /* it has no type double */
  bool no_atomics;               /* nor atomic operations on words of 8 bytes */
  bool peers;                    /* the calls of `peer_give` and what follows are there */
  bool no_tickets;               /* blocks see what others wrote when the kernel has ended */
  bool far_host;                 /* kernels do not reach host_alloc's memory */
  bool dependents; /* launch_dependent works, and this process's compiler knows how such kernels wait */
};

/* The name of memory for another process. */
struct gpu_handle {
  unsigned char bytes[64];
};

/* The parameters of a kernel: their bytes, 0 for a gpu_address. */
struct gpu_sizes {
  int count;
  const int *bytes;
};

/* The fate of launches that were held back. */
struct gpu_given {
  long long launches, calls; /* that the driver took, and the calls in which it got them */
  long long graphs;          /* those of the calls that launch a graph */
  int refused;               /* the code with which the driver failed to make a graph; 0: it did not fail */
};

struct gpu_driver {
  const char *backend; /* "cuda" */
  enum gpu_dialect dialect;
  int out_of_memory; /* the code */
  int where; /* whose addresses its memory has, for other libraries: enum op2jit_where; OP_ON_HOST: nobody's */

  /* ---- opening: these make errors of ours ---- */
  /* Library, device and queue: fills c->self and c->device. `c->self` is there after a failure too, if it has to be
   * closed. OP_ERR_BACKEND says what is missing. */
  int (*open)(struct gpu *c, struct op_context *ctx, struct error *err);
  void (*close)(struct gpu *c);
  /* The calls that follow come from this thread. NULL: they may come from any. */
  void (*enter)(void *self);
  /* Fills c->compiler, the compiler's identity. Ranks with the same device have one. */
  int (*open_compiler)(struct gpu *c, struct op_context *ctx, struct error *err);
  /* Driver, devices and compiler, for `op2jit info`. */
  void (*describe)(struct op_context *ctx, struct text *out);
  /* As struct compiler's. */
  void (*compile)(void *self, const struct compile_request *request, struct compile_result *result);
  void (*release)(void *self, struct compile_result *result);
  /* OP_OK for code 0; else OP_ERR_DEVICE, or OP_ERR_MEMORY where that is the reason: "DOING failed: out of memory
   * (NAME, 2)". */
  int (*check)(void *self, int code, struct error *err, const char *doing);
  /* The code is that of a kernel that was running, whatever the call. */
  bool (*is_of_kernel)(int code);

  /* ---- memory ---- */
  int (*memory_info)(void *self, size_t *left, size_t *total);
  int (*memory_alloc)(void *self, gpu_address *out, size_t bytes);
  int (*memory_free)(void *self, gpu_address at);
  /* Where copies go from and to; unless device.far_host, kernels reach it too: launches are given its addresses. */
  int (*host_alloc)(void *self, void **out, size_t bytes);
  int (*host_free)(void *self, void *p);
  /* The bytes of memory that is not host_alloc's are taken when it returns. */
  int (*copy_in)(void *self, gpu_address to, const void *from, size_t bytes);
  /* Done when the next wait returns. */
  int (*copy_out)(void *self, void *to, gpu_address from, size_t bytes);
  /* The same from a byte of the memory on. NULL: that can be added to an address. */
  int (*part_in)(void *self, gpu_address to, size_t at, const void *from, size_t bytes);
  int (*part_out)(void *self, void *to, gpu_address from, size_t at, size_t bytes);

  /* ---- programs ---- */
  int (*module_load)(void *self, gpu_module *out, const void *binary, size_t size);
  int (*module_unload)(void *self, gpu_module module);
  int (*module_function)(void *self, gpu_function *out, gpu_module module, const char *name);
  /* Memory of a variable of the program; NULL: constants are passed with each launch. */
  int (*module_global)(void *self, gpu_address *out, size_t *bytes, gpu_module module, const char *name);
  /* How many threads a block of it may have, where that can be fewer than device.max_threads. NULL: it cannot. */
  int (*function_threads)(void *self, gpu_function function, int *most);
  /* Before a launch with more than device.shared_usual bytes. NULL: needless */
  int (*function_shared)(void *self, gpu_function function, int bytes);
  /* How many of its groups of so many threads run at once: of a kernel whose groups wait for one another. */
  int (*function_groups)(void *self, gpu_function function, int threads, int *groups);
  int (*launch)(void *self, gpu_function function, unsigned blocks, unsigned threads, unsigned shared,
                void **values, const struct gpu_sizes *sizes);
  /* The same of a kernel that waits itself for the one before it, and may begin earlier. NULL: there is no such thing. */
  int (*launch_dependent)(void *self, gpu_function function, unsigned blocks, unsigned threads,
                          unsigned shared, void **values, const struct gpu_sizes *sizes);

  /* ---- launches that are held back; NULL: the driver has no graphs ---- */
  /* From now on (NULL: no longer) launches are held back, until something else is asked of the device, or `give`. Then it is
   * given all of them; as a graph, where the same kernels came in this order before. */
  int (*hold)(void *self, struct gpu_given *given);
  int (*give)(void *self);

  /* ---- messages of ranks, beside what kernels do; NULL: the driver has no second queue ---- */
  /* Behind all that was given so far: this copy (bytes 0: none), while what is given next is done. */
  int (*message_out)(void *self, void *to, gpu_address from, size_t bytes);
  int (*message_wait)(void *self); /* for the newest message_out */
  /* Behind the newest message_out, and not behind what was given since; what is given next waits for it. `from` is
   * host_alloc's. */
  int (*message_in)(void *self, gpu_address to, const void *from, size_t bytes);

  /* ---- ranks of a machine that write into each other's memory; NULL: the driver has no such calls ---- */
  /* Memory of memory_alloc, for another process: that takes it, and drops it before it is freed. */
  int (*peer_give)(void *self, gpu_address at, struct gpu_handle *out);
  int (*peer_take)(void *self, const struct gpu_handle *handle, gpu_address *out);
  int (*peer_drop)(void *self, gpu_address at);
  /* Behind all that was given so far the flag, a word of such memory, becomes the number. */
  int (*flag_set)(void *self, gpu_address flag, unsigned number);
  /* The next work waits until each of these flags is the number, or one above it. The list stays as it is until then.
   * Calls that would make the host wait behind it look meanwhile whether another rank failed; its error comes back by
   * `check`. */
  int (*flag_await)(void *self, const gpu_address *flags, int n, unsigned number);
  /* Are they? If `seconds` have passed and they are not, the device waits no longer. */
  int (*flag_try)(void *self, double seconds, bool *come);

  /* ---- waiting and time ---- */
  int (*wait)(void *self);
  int (*time_begin)(void *self);
  int (*time_end)(void *self, double *seconds); /* since time_begin; waits */
};

extern const struct gpu_driver gpu_cuda, gpu_hip, gpu_opencl;

#endif
