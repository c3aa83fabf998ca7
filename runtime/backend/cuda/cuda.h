/* The CUDA backend's own contract: what it keeps in ctx->backend_state and in each loop. */
#ifndef OP2JIT_BACKEND_CUDA_H
#define OP2JIT_BACKEND_CUDA_H

#include "backend/backend.h"
#include "driver.h"
#include "jit/generate/cuda.h"
#include "jit/nvrtc/nvrtc.h"
#include "mesh/data.h"
#include "record/record.h"

struct op_context;
struct plan_cache;
struct plan_entry;

extern const struct backend backend_cuda;

/* ---- memory (memory.c) ---- */
/* A copy of an array of the host that does not change while it is in use: maps, numbers, plans. */
struct cuda_array {
  const void *host;
  size_t bytes;
  unsigned epoch;
  cuda_address at;
  int uses;
  struct cuda_array *next;
};

/* Loops whose kernels the GPU was given since it was last waited for. */
enum { CUDA_UNDER_WAY = 6 };
struct cuda_under_way {
  int count;
  bool more; /* than have room */
  struct cuda_launched {
    char loop[80], variant[48];
  } items[CUDA_UNDER_WAY];
};

struct cuda {
  struct cuda_driver driver;
  struct cuda_device device;
  bool context; /* retained */
  cuda_stream stream;
  cuda_event before, after;
  struct nvrtc *nvrtc;  /* NULL: another rank has one and gives what it makes */
  char arch[16];        /* "sm_90" */
  struct text compiler; /* its identity */
  struct jit *jit;      /* programs; NULL until the first */
  struct jit *prover;   /* the context's */
  struct cuda_array *arrays;
  struct cuda_rows *rows;   /* halo.c's; NULL until ranks exchange rows */
  struct plan_cache *plans; /* the context's */
  size_t used;              /* bytes of device memory */
  unsigned char *landing;   /* pinned memory that results are copied to */
  size_t landing_bytes;
  struct cuda_under_way under_way;
  bool failed;     /* a kernel failed: the driver takes no more work */
  bool gpu_to_mpi; /* MPI is given the device's memory */
};
struct cuda *cuda_of(const struct op_context *ctx);

/* OP_ERR_MEMORY says how much `what` needs and how much is free. */
int cuda_allocate(struct cuda *c, cuda_address *out, size_t bytes, struct error *err, const char *what, ...)
    __attribute__((format(printf, 5, 6)));
void cuda_release(struct cuda *c, cuda_address at, size_t bytes);
/* The device's copy of the array, made if it is not there. Each one that was got is put back once. */
int cuda_array_get(struct cuda *c, const void *host, size_t bytes, unsigned epoch, struct cuda_array **out,
                   struct error *err);
void cuda_array_put(struct cuda *c, struct cuda_array *array);
/* At least so many bytes of pinned memory. */
int cuda_landing(struct cuda *c, size_t bytes, struct error *err);
/* Wait for everything; a failure is remembered. */
int cuda_wait(struct cuda *c, struct error *err, const char *doing, ...)
    __attribute__((format(printf, 3, 4)));
extern const struct mover cuda_mover;
cuda_address cuda_dat_address(const struct dat *dat);

/* ---- failures (failure.c) ---- */
/* The GPU is given kernels of the loop; it has done all it was given. */
void cuda_given(struct cuda *c, const char *loop, const char *variant);
void cuda_waited(struct cuda *c);
/* As cuda_check, for calls that may also say that a kernel failed which was given before: the message names the
 * loops that it can be of. */
int cuda_failed(struct cuda *c, int code, struct error *err, const char *doing, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- halos (halo.c): the mover's messages ---- */
int cuda_messages_new(struct op_context *ctx, size_t bytes, struct device_messages **out,
                      unsigned char **memory, struct error *err);
void cuda_messages_free(struct op_context *ctx, struct device_messages *m);
int cuda_pack_rows(struct op_context *ctx, struct device_messages *m, size_t at, struct dat *dat,
                   const int *elements, long count, struct error *err);
int cuda_unpack_rows(struct op_context *ctx, struct device_messages *m, size_t at, struct dat *dat,
                     const int *elements, long count, struct error *err);
int cuda_hand_over(struct op_context *ctx, struct device_messages *m, struct error *err);
int cuda_take_over(struct op_context *ctx, struct device_messages *m, struct error *err);
/* The kernels for it, before the first exchange of the loop's halos. Collective. */
int cuda_rows_prepare(struct op_context *ctx, struct loop *loop, struct error *err);
/* Files of their text, which is a description's. */
int cuda_rows_generate(const struct desc *d, struct generated *out, struct error *err);
void cuda_rows_free(struct cuda *c);

/* ---- programs (program.c) ---- */
struct cuda_program {
  cuda_module module;
  int *constant_changes; /* per constant: which value it holds, -1: none */
};
/* From memory, the cache, NVRTC or the rank that asks them for this kind of GPU; collective over its ranks.
 * `shape` NULL: the kernels of messages (halo.c), which `loop` needs first. Belongs to the backend's jit. */
int cuda_program_get(struct op_context *ctx, struct loop *loop, const struct desc *desc,
                     const struct cuda_shape *shape, struct cuda_program **out, struct error *err);
/* Fills c->compiler, which is part of every key. */
int cuda_identify(struct cuda *c, struct error *err);
/* Constants that are not folded, where they changed. */
int cuda_program_constants(struct op_context *ctx, const struct loop *loop, struct cuda_program *program,
                           struct error *err);

/* ---- variants (variant.c) ---- */
struct cuda_launch {
  int blocks;
  int begin, end; /* elements, or positions in a list */
  int first;      /* position in the plan's list of blocks */
  int slot;
};

/* What one part of a loop needs of its own; an empty part has no launches. */
struct cuda_part {
  struct cuda_launch *launches;
  int nlaunches;
  unsigned shared; /* bytes */
  int *staged_at;  /* per target: bytes into the shared memory */
  struct cuda_array *
      *arrays; /* in the order of the parameters, NULL where there is none; then 2 per target for APART */
  int narrays;
  const struct plan_entry **plans;
  int nplans;
  union cuda_word {
    cuda_address address;
    long long wide;
    int number;
  } * words;     /* what each parameter is */
  void **values; /* what the driver takes: a pointer to each parameter's bytes */
  bool filled;   /* all but the globals, which are looked at in every call */
  int *list;     /* elements of blocks sorted by colour, or of colours, owned */
  cuda_address *apart;
  size_t *apart_bytes;
};

struct cuda_variant {
  struct cuda_shape shape;
  int each; /* elements per thread, where a thread walks */
  char *name;
  bool ready;
  struct cuda_program *program;
  cuda_function function, combine, *sums; /* sums: one per target, APART only */
  struct cuda_parameters parameters;
  struct cuda_part parts[LOOP_PARTS];
  int nslots, nresults; /* slots that count come first */
  cuda_address slots, warps, globals;
  size_t slots_bytes, warps_bytes, globals_bytes;
};

struct cuda_loop {
  struct cuda_targets targets;
  struct cuda_variant *variants; /* the first is the default */
  int nvariants;
};
/* All variants that make sense for the loop, or only the default. Nothing is compiled. */
int cuda_candidates(struct op_context *ctx, struct loop *loop, struct cuda_loop *l, bool all,
                    struct error *err);
/* ready.c: the plan and its memory, then the code of one variant. Ranks do it together; another one may fail where
 * this one does not. */
int cuda_plan(struct op_context *ctx, struct loop *loop, int which, struct error *err);
int cuda_code(struct op_context *ctx, struct loop *loop, int which, bool wait, struct error *err);
/* Everything that was made is released; what the variant is stays. */
void cuda_unmake(struct cuda *c, struct cuda_variant *v, const struct cuda_targets *targets);
void cuda_variant_free(struct cuda *c, struct cuda_variant *v, const struct cuda_targets *targets);
void cuda_loop_free(struct cuda *c, struct cuda_loop *l);

/* ---- launches (launch.c) ---- */
int cuda_launch_part(struct op_context *ctx, struct launch *launch, struct cuda_variant *v, int part,
                     struct error *err);
/* Combine the results on the device and wait for them. */
int cuda_fetch_results(struct op_context *ctx, struct launch *launch, struct cuda_variant *v,
                       struct error *err);

#endif
