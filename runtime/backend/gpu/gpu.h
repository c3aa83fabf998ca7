/* The backend of GPUs, whatever their driver: what it keeps in ctx->backend_state, an array of devices, and in each
 * loop. */
#ifndef OP2JIT_BACKEND_GPU_H
#define OP2JIT_BACKEND_GPU_H

#include "backend/backend.h"
#include "backend/gpu/count.h"
#include "backend/gpu/driver.h"
#include "base/list.h"
#include "mesh/data.h"
#include "op2jit.h"
#include "record/record.h"

struct gbl;
struct op_context;
struct launch;
struct plan;
struct plan_cache;
struct plan_entry;

extern const struct backend backend_cuda, backend_hip, backend_opencl;

/* ---- memory (memory.c) ---- */
/* A copy of an array of the host that does not change while it is in use: maps, numbers, plans. */
struct gpu_array {
  const void *host;
  size_t bytes;
  unsigned epoch;
  gpu_address at;
  int uses;
  struct gpu_array *next;
};

/* Loops whose kernels the GPU was given since it was last waited for. */
enum { GPU_UNDER_WAY = 6 };
struct gpu_under_way {
  int count;
  bool more; /* than have room */
  struct gpu_launched {
    char loop[80], variant[48];
  } items[GPU_UNDER_WAY];
};

struct gpu {
  const struct gpu_driver *driver;
  enum space space;
  void *self; /* the driver's; NULL: it is not open */
  struct gpu_device device;
  bool compiles;        /* its compiler is open; else another rank gives what it makes */
  struct text compiler; /* its identity */
  struct jit *jit;      /* programs; NULL until the first */
  struct jit *prover;   /* the context's */
  struct gpu_array *arrays;
  struct gpu_value *values; /* memory.c */
  struct gpu_rows *rows;    /* halo.c's; NULL until ranks exchange rows */
  struct plan_cache *plans; /* the context's */
  struct gpu_rates rates;   /* copy 0: not asked for yet; below: nobody can say */
  size_t used;              /* bytes of device memory */
  unsigned char *landing;   /* pinned memory that results are copied to */
  size_t landing_bytes;
  struct gpu_under_way under_way;
  bool no_graphs;               /* the driver failed to make one */
  bool holds;                   /* the driver holds launches back */
  struct gpu_given given;       /* since the newest chain began */
  unsigned long long turns;     /* by sets and parts: the newest loop ran forwards */
  op_counters_t *counters;      /* the context's */
  bool failed;                  /* a kernel failed: the driver takes no more work */
  bool gpu_to_mpi;              /* MPI is given the device's memory */
  bool shares;                  /* ranks of this machine are given it */
  struct device_pairs *dropped; /* peers.c's */
  long long direct;             /* exchanges in which MPI brought nothing, and the host waited for nothing */
};
/* The device of the space, which is open. */
struct gpu *gpu_of(const struct op_context *ctx, enum space space);

/* OP_ERR_MEMORY says how much `what` needs and how much is free. */
int gpu_allocate(struct gpu *c, gpu_address *out, size_t bytes, struct error *err, const char *what, ...)
    __attribute__((format(printf, 5, 6)));
void gpu_release(struct gpu *c, gpu_address at, size_t bytes);
/* The device's copy of the array, made if it is not there. Each one that was got is put back once. */
int gpu_array_get(struct gpu *c, const void *host, size_t bytes, unsigned epoch, struct gpu_array **out,
                  struct error *err);
void gpu_array_put(struct gpu *c, struct gpu_array *array);
/* At least so many bytes of pinned memory. */
int gpu_landing(struct gpu *c, size_t bytes, struct error *err);
/* Wait for everything; a failure is remembered. */
int gpu_wait(struct gpu *c, struct error *err, const char *doing, ...) __attribute__((format(printf, 3, 4)));
int gpu_dat_make(struct op_context *ctx, enum space space, struct dat *dat, struct error *err);
int gpu_dat_to_device(struct op_context *ctx, enum space space, struct dat *dat, struct error *err);
int gpu_dat_to_host(struct op_context *ctx, enum space space, struct dat *dat, struct error *err);
void gpu_dat_release(struct op_context *ctx, enum space space, struct dat *dat);
int gpu_dat_lend(struct op_context *ctx, enum space space, struct dat *dat, void **memory, struct error *err);
int gpu_where(const struct op_context *ctx);
gpu_address gpu_dat_address(const struct gpu *c, const struct dat *dat);

/* ---- globals that stay on the device (memory.c) ---- */
int gpu_value_to_device(struct op_context *ctx, enum space space, const struct gbl *gbl, struct error *err);
int gpu_value_to_host(struct op_context *ctx, enum space space, struct gbl *gbl, struct error *err);
/* Where it is, after value_to_device. */
gpu_address gpu_value_address(const struct gpu *c, const struct gbl *gbl);
void gpu_values_free(struct gpu *c);

/* ---- failures (failure.c) ---- */
/* The GPU is given kernels of the loop; it has done all it was given. */
void gpu_given(struct gpu *c, const char *loop, const char *variant);
void gpu_waited(struct gpu *c);
/* As the driver's check, for calls that may also say that a kernel failed which was given before: the message names the
 * loops that it can be of. */
int gpu_failed(struct gpu *c, int code, struct error *err, const char *doing, ...)
    __attribute__((format(printf, 4, 5)));
/* The same while this variant of a loop is launched or waited for: the driver takes no more work then. */
int gpu_kernel_failed(struct gpu *c, int code, const char *loop, const char *variant, const char *doing,
                      struct error *err);
/* gpu_wait after this variant was launched. */
int gpu_wait_for(struct gpu *c, const char *loop, const char *variant, struct error *err);

/* ---- halos (halo.c): the mover's messages ---- */
int gpu_messages_new(struct op_context *ctx, enum space space, size_t bytes, struct device_messages **out,
                     unsigned char **memory, struct error *err);
void gpu_messages_free(struct op_context *ctx, enum space space, struct device_messages *m);
int gpu_pack_rows(struct op_context *ctx, enum space space, struct device_messages *m,
                  const struct message_rows *rows, int n, struct error *err);
int gpu_unpack_rows(struct op_context *ctx, enum space space, struct device_messages *m,
                    const struct message_rows *rows, int n, struct error *err);
int gpu_hand_over(struct op_context *ctx, enum space space, struct device_messages *m, bool *later,
                  struct error *err);
int gpu_handed_over(struct op_context *ctx, enum space space, struct error *err);
int gpu_take_over(struct op_context *ctx, enum space space, struct device_messages *m, struct error *err);
/* Ranks that write into each other's memory (peers.c): the mover's pairs, and what messages ask of them. */
enum { GPU_TURNS = 2 };
/* c->shares: all ranks are able to, and may. Collective. */
int gpu_pairs_ask(struct op_context *ctx, struct gpu *c, struct error *err);
int gpu_pairs_new(struct op_context *ctx, enum space space, struct message_pair *pairs, int n, int code,
                  struct device_pairs **out, struct error *err);
void gpu_pairs_free(struct op_context *ctx, enum space space, struct device_pairs *pairs);
int gpu_pairs_tell(struct op_context *ctx, enum space space, struct device_pairs *pairs, struct error *err);
int gpu_pairs_await(struct op_context *ctx, enum space space, struct device_pairs *pairs, struct error *err);
/* Where the place of a direction's messages is; 0: in the device's own. */
gpu_address gpu_pairs_place(const struct device_pairs *pairs, bool sent, size_t at);
/* The turn of the next pack or unpack, below GPU_TURNS. */
int gpu_pairs_turn(const struct device_pairs *pairs, bool sent);
/* The first bytes that MPI brings, up to the next that it does not. */
void gpu_pairs_leave(const struct device_pairs *pairs, bool sent, size_t *begin, size_t *end);
/* Memory that others had, and have dropped. */
void gpu_pairs_close(struct gpu *c);
/* As the mover's pairs_new. */
int gpu_messages_share(struct op_context *ctx, enum space space, struct device_messages *send,
                       struct device_messages *receive, struct message_pair *pairs, int n, int code,
                       struct device_pairs **out, struct error *err);
/* The kernels for it, before the first exchange of the loop's halos. Collective. */
int gpu_rows_prepare(struct op_context *ctx, struct loop *loop, struct error *err);
/* Files of their text, which is a description's. */
int gpu_rows_generate(const struct desc *d, struct generated *out, struct error *err);
void gpu_rows_free(struct gpu *c);

/* ---- programs (program.c) ---- */
struct gpu_variant;
struct gpu_program {
  gpu_module module;
  int *constant_changes; /* per constant: which value it holds, -1: none */
};
/* From memory, the cache, the compiler or the rank that asks them for this kind of GPU; collective over its ranks.
 * `shape` NULL: the kernels of messages (halo.c), which `loop` needs first. `loop` NULL: a graph of tasks. Belongs to the
 * backend's jit. */
int gpu_program_get(struct op_context *ctx, struct gpu *c, struct loop *loop, const struct desc *desc,
                    const struct gpu_shape *shape, struct gpu_program **out, struct error *err);
/* The same behind the program, alone: false as long as it is being compiled, or something else is. */
bool gpu_program_prepare(struct op_context *ctx, struct gpu *c, const struct desc *desc,
                         const struct gpu_shape *shape);
/* The functions of the variant's program: its launches are known. OP_ERR_SIZE for one that the driver made too large. */
int gpu_program_functions(struct gpu *c, const struct loop *loop, struct gpu_variant *v,
                          const struct gpu_targets *targets, struct error *err);
/* Constants that are not folded, where they changed. */
int gpu_program_constants(struct op_context *ctx, const struct loop *loop, struct gpu_program *program,
                          struct error *err);

/* ---- variants (variant.c) ---- */
struct gpu_launch {
  int blocks;
  int begin, end; /* elements, or positions in a list */
  int first;      /* position in the plan's list of blocks */
  int slot;
};

struct gpu_memory {
  gpu_address at;
  size_t bytes;
};

/* The plan, launches and memory of one part of a loop; an empty part has no launches. */
struct gpu_part {
  struct arrays memory; /* of the arrays that no other line has */
  struct gpu_launch *launches;
  int nlaunches;
  unsigned shared; /* bytes */
  int *staged_at;  /* per target: bytes into the shared memory */
  struct gpu_array **
      arrays; /* in the order of the parameters, NULL where there is none; then 2 per target for APART and ORDERED */
  int narrays;
  const struct plan_entry **plans;
  int nplans;
  struct plan *levels; /* COLOURS of a reproducible loop, owned */
  union gpu_word {
    gpu_address address;
    long long wide;
    int number;
  } * words;       /* what each parameter is */
  void **values;   /* what the driver takes: a pointer to each parameter's bytes */
  int *sizes;      /* and how many, as struct gpu_sizes */
  bool filled;     /* all but the globals, which are looked at in every call */
  unsigned moved;  /* of the mesh, when that was */
  void *constants; /* that travel with a launch, as the kernel's struct has them */
  int *list;       /* elements of blocks sorted by colour, or of colours, owned */
  struct gpu_memory *apart;
};

struct gpu_variant {
  struct gpu_shape shape;
  int each; /* elements per thread, where a thread walks */
  char *name;
  bool planned, ready;
  struct gpu_program *program;
  gpu_function function, combine,
      *sums; /* combine: where there is no ticket; sums: one per target, APART and ORDERED */
  struct gpu_parameters parameters;
  struct gpu_part parts[LOOP_PARTS];
  int nslots, nresults;             /* slots that count come first */
  int ordering;                     /* gpu_ordering_part's */
  gpu_address slots, warps, ticket; /* 0: there is none. It is behind the slots, or memory of its own */
  size_t slots_bytes, warps_bytes;
  bool owns_ticket;
  bool under_way;             /* some parts with results were launched, and not the last one */
  struct gpu_memory *globals; /* by parameter: of those that do not travel with a launch */
};

struct gpu_loop {
  struct gpu_targets targets;
  struct gpu_variant *variants; /* the first is the default */
  int nvariants;
};
/* All variants that make sense for the loop, or only the default. Nothing is compiled. */
int gpu_candidates(struct op_context *ctx, struct loop *loop, struct gpu_loop *l, bool all,
                   struct error *err);
/* As struct backend's. */
bool gpu_promise(struct op_context *ctx, struct loop *loop, struct dat *apart, double *seconds);
/* Fills c->rates: from the store, else measured once, else the usual ones. Collective: `code` is this rank's outcome
 * so far. */
int gpu_rates_get(struct op_context *ctx, struct loop *loop, int code, struct error *err);
/* As struct backend's. */
double gpu_bandwidth(struct op_context *ctx);
/* The same for a process alone, whose program goes on: false as long as the kernels that measure are being compiled, or where
 * nobody can say. */
bool gpu_rates_known(struct op_context *ctx, struct loop *loop);

/* ---- what loops can run (fits.c) ---- */
/* A device without doubles runs no loop with them: OP_ERR_BACKEND. */
int gpu_check_types(const struct gpu *c, const struct loop *loop, struct error *err);
/* In OpenCL, for copies of rows of ragged maps: OP_ERR_SIZE. */
int gpu_make_room(struct loop *loop, struct error *err);
bool gpu_are_sums(const struct gpu_targets *t);
/* Has what elements add to be added in one order: theirs, or where the loop is reproducible that of the program's numbers? */
bool gpu_is_in_order(const struct loop *loop, const struct gpu_targets *t);
/* With ranks elements run in parts. Where a reproducible loop needs one order through all of them, it is made in the last
 * part that has elements, which this is: there all that was kept apart is added, or all elements run. -1: each part has its
 * own. */
int gpu_ordering_part(const struct loop *loop, const struct gpu_shape *s);
/* Would the elements of several parts have to be in one order? */
bool gpu_is_parted(const struct loop *loop);
/* Why a reproducible loop cannot have the shape; NULL: it can. */
const char *gpu_order_refusal(const struct loop *loop, const struct gpu_targets *t,
                              const struct gpu_shape *s);

/* A plan's elements, of a part that begins there: by colour, and in each those first that lie before `owned`, whose results
 * count; or those of each block in the order of their colours. The caller frees it; NULL: no memory. */
int *gpu_list_colours(const struct plan *plan, long begin, long owned);
int *gpu_list_blocks(const struct plan *plan, long begin);

/* ---- what loops take (count.c, rank.c) ---- */
/* Counted for the device. OP_ERR_MEMORY. */
int gpu_sample(const struct gpu *c, const struct loop *loop, const struct gpu_targets *targets,
               struct gpu_sample *out, struct error *err);
/* As struct backend's. */
bool gpu_expect(struct op_context *ctx, struct loop *loop, struct expected *out);
/* So many launches are better given as a graph, by what is known of the device. */
bool gpu_graph_pays(const struct gpu *c, int launches);

/* ---- several threads for an element (fits.c) ---- */
/* On all ranks alike. */
struct gpu_together {
  double mean, longest; /* targets of an element, by the loop's ragged maps */
};
/* Adds to the loop's description the facts of its kernel's rows of ragged maps that rank 0 knows. Collective, if the
 * loop goes through one. `code` is this rank's outcome so far. */
int gpu_look_at_rows(struct op_context *ctx, struct loop *loop, int code, struct error *err);
/* Collective, if the loop goes through a ragged map. */
int gpu_together_look(struct op_context *ctx, const struct loop *loop, int code, struct gpu_together *out,
                      struct error *err);
/* How many threads the first guess has for an element, 0: one; and what else is worth a try: how many numbers. */
int gpu_together_first(const struct gpu_together *w, int warp);
enum { GPU_TOGETHER_OTHERS = 3 };
int gpu_together_others(const struct gpu_together *w, int warp, int out[GPU_TOGETHER_OTHERS]);
/* Why the loop cannot have more than one; NULL: it can. */
const char *gpu_together_refusal(const struct loop *loop, const struct gpu_shape *s);

/* ready.c: the plan and its memory, then the code of one variant. Ranks do it together; another one may fail where
 * this one does not. */
int gpu_plan(struct op_context *ctx, struct loop *loop, int which, struct error *err);
int gpu_code(struct op_context *ctx, struct loop *loop, int which, bool wait, struct error *err);
/* Everything that was made is released; what the variant is stays. */
void gpu_unmake(struct gpu *c, struct gpu_variant *v, const struct gpu_targets *targets);
void gpu_loop_free(struct gpu *c, struct gpu_loop *l);

/* tasks.c: a graph of tasks, as struct backend has it: one kernel, in as many groups as run at once, takes tasks until none
 * is left. */
int gpu_run_tasks(struct op_context *ctx, struct task_graph *g, const struct tasks_options *options,
                  struct error *err);

/* ---- chains (graph.c) ---- */
/* Launches that are ready, as struct backend's run_chain. A chain that comes again runs as one graph. */
int gpu_run_chain(struct op_context *ctx, struct launch *const *launches, int n, bool *ran,
                  struct error *err);
/* Chains of ranks: what loops and messages launch is held back from now on, as far as the driver can; false: no longer. */
int gpu_hold(struct op_context *ctx, enum space space, bool on, struct error *err);
/* As the mover's: what is held back begins. */
int gpu_give(struct op_context *ctx, enum space space, struct error *err);
/* ---- launches (launch.c) ---- */
/* `landing`: pinned memory where results come to, of gpu_result_bytes and no other launch's until they are taken. */
int gpu_launch_part(struct op_context *ctx, struct launch *launch, struct gpu_variant *v, int part,
                    unsigned char *landing, struct error *err);
/* The results, in two steps: on their way to pinned memory, combined on the device if the loop's kernel did not do it; there,
 * when it was waited for. Bytes that they have, 0: there are none. */
size_t gpu_result_bytes(const struct launch *launch, const struct gpu_variant *v);
int gpu_send_results(struct op_context *ctx, struct launch *launch, struct gpu_variant *v,
                     unsigned char *landing, struct error *err);
void gpu_take_results(struct op_context *ctx, struct launch *launch, const unsigned char *landing);
/* Send the results and wait for them. */
int gpu_fetch_results(struct op_context *ctx, struct launch *launch, struct gpu_variant *v,
                      struct error *err);

#endif
