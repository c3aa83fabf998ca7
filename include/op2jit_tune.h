/* Where elements lie, what loops took, and whether plans are right: a part of op2jit.h, which includes it. */
#ifndef OP2JIT_TUNE_H
#define OP2JIT_TUNE_H

/* ---- order -------------------------------------------------------------------------------------*/

/* Renumber all sets that maps connect with `base`, so that neighbours are near in memory (reverse
 * Cuthill-McKee). Nothing that the user sees changes its number. */
int op_renumber(op_map base);
/* method "rcm" (coords may be NULL), "hilbert" or "rcb" (coords on base's target set, dim 1 to 3). */
int op_renumber_by(const char *method, op_map base, op_dat coords);
/* Distribute all sets over the ranks. `lib` says how the set `prime` is shared out; the others follow along maps.
 *   "ptscotch"                 few cut edges; needs `prime_map`, a map from or to the prime set
 *   "rcb" or "geom"            boxes; needs `coords`, on the prime set or on one that a map leads to
 *   "inertial"                 slices across the longest axis; needs `coords`
 *   "diffusive"                from the parts that are, over borders; needs `prime_map`, as "ptscotch"
 *   "block", "random"          need nothing
 *   "external"                 `coords` is a dat of ints on the prime set: a rank for each element
 * Capitals count as small letters. `method` is "" or NULL; "kway" of ptscotch is the same. Arguments that are not
 * needed may be NULL. May be called again, also between loops. With one rank it only checks. Errors: OP_ERR_HANDLE,
 * OP_ERR_METHOD, OP_ERR_NOT_BUILT, OP_ERR_ARGUMENT, OP_ERR_RANGE. */
int op_partition(const char *lib, const char *method, op_set prime, op_map prime_map, op_dat coords);

/* ---- reports ----------------------------------------------------------------------------------*/

#if defined(__GNUC__)
#define OP2JIT_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define OP2JIT_PRINTF(f, a)
#endif

/* printf to stdout on rank 0 only. */
void op_printf(const char *format, ...) OP2JIT_PRINTF(1, 2);
/* Seconds since some fixed time. Local. Loops of this thread that wait by themselves (OP2_LAZY=auto) run first. */
double op_wtime(void);
/* Processor and wall-clock seconds. Local. Like op_wtime, it runs what waits. */
void op_timers(double *cpu, double *wall);
/* Per loop: calls, time, planning, compiling, GB/s, variant. To stdout. */
void op_timing_output(void);
/* The same as OP2_TIMING=json has it, of the loops so far, into `out` of `size` bytes, the final zero included.
 * Errors: OP_ERR_SIZE on all ranks where one needs more; the message says how much. OP_ERR_ARGUMENT. */
int op_report_json(char *out, size_t size);
/* Sets, maps, dats and plans. To stdout. */
void op_diagnostic_output(void);

/* Counts of the library's work in this process since op_init. Valid until op_exit; changes with every call. Local. */
typedef struct op2jit_counters {
  long long loops;            /* loops called */
  long long records;          /* different loops seen */
  long long compiles;         /* kernels compiled */
  long long cache_hits;       /* kernels taken from the cache database or from memory */
  long long plans, plan_hits; /* execution plans built, and found again */
  long long trials;           /* timed runs of the tuner */
  long long bytes_to_device, bytes_from_device;
  long long bytes_converted; /* between the user's order and the library's */
  long long exchanges, messages, bytes_sent;
  long long flushes;        /* calls that queued loops run before */
  long long checks;         /* elements run in the checking form */
  long long tiled;          /* chains run in tiles */
  long long waiting;        /* of the loops, those that did not run yet (OP2_LAZY) */
  long long bytes_of_views; /* copied between arrays of views and the library's own copies */
  long long fused;          /* of the loops, those that ran as part of one made of several (OP2_FUSE) */
  long long unstored; /* temporaries that such a loop made and nobody looked at: they were never stored */
  long long graphs;   /* chains that a GPU was given as one graph of kernels, known from before */
  long long waits;    /* times that the host waited for a GPU */
  long long tasked;   /* chains run as blocks that wait for one another, without barriers between loops */
  long long late, awaited; /* results of ranks that a loop did not wait for; those that a later call did */
  long long launches;      /* times that a GPU was given a kernel, or a graph of them */
  long long iterations;    /* of solvers */
  long long dependent;     /* launches that may begin before the one before ends */
  long long reserved[3];
} op_counters_t;
const op_counters_t *op_counters(void);

/* Verify everything that the execution plans claim. level 0: nothing, 1: sizes, 2: all. Errors: OP_ERR_PLAN. */
int op_plan_check(int level);

/* ---- accesses ----------------------------------------------------------------------------------*/

/* Find the accesses of such a call that are OP_UNSAID, by what can be proved of the kernel; nothing runs. A parameter
 * that points to const gives OP_READ, else the first that holds of INC, WRITE, RW for a dat (of structs RW), of INC,
 * MIN, MAX for a global. Through a map only READ and INC are found: only the program knows that no two elements write
 * to one target. For callers that take the accesses from the kernel, such as other languages. Errors: those of
 * op_par_loop; OP_ERR_ACCESS where none holds; OP_ERR_NOT_BUILT without the compiler plugin. */
int op_find_accesses(const char *kernel_source, const char *kernel_name, op_set set, int nargs, op_arg args[],
                     const char *file, int line);

#endif
