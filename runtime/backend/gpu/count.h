/* The load of a loop's kernel on a GPU's memory, counted from its maps before it runs: operations of the L2 cache,
 * each on one sector of 32 bytes. A read counts once for each sector that the elements of a block touch, since the L1
 * cache has it then. A store or an atomic addition counts once for each sector that an instruction of a warp touches,
 * and again for each lane that names the same value. */
#ifndef OP2JIT_BACKEND_GPU_COUNT_H
#define OP2JIT_BACKEND_GPU_COUNT_H

#include "jit/emit/gpu/gpu.h"
#include "record/record.h"

enum { COUNT_SECTOR = 32, COUNT_WARP = 32, COUNT_GROUPS = 32, COUNT_ELEMENTS = 256 };
/* Elements that add up what they have for a target before it goes to memory: those of a warp, or of a block. */
enum { COUNT_SUMS = 4 };

/* Counts for 32 elements, but for `bytes`. They come from up to COUNT_GROUPS groups of COUNT_ELEMENTS elements,
 * spread over the set. */
struct gpu_sample {
  double warps;           /* 32 elements each, of the whole loop */
  double reads;           /* what is no target, but for rows that may be near (GPU_NEAR_VALUES); maps too */
  double far, near;       /* those: read by each thread, brought by warps */
  double stores, scalars; /* rows that are no targets: whole where two lanes store together, value by value */
  double near_stores;     /* whole where they are near, too */
  double pieces, values;  /* of targets: what one element after the other adds, by 16 bytes, value by value */
  double reds,
      fours;        /* the same by atomic additions of warps: value by value, by lanes that exchange values */
  double near_reds; /* of rows that are near whole sectors */
  struct gpu_sums {
    int elements;            /* that add up: 32, 64, 128, 256 */
    double sectors, targets; /* of the rows that they reach */
  } sums[COUNT_SUMS];
  double entries;     /* columns of targets, for 32 elements */
  double once, again; /* bytes between L2 and memory: by one launch; if each block finds nothing there */
};

/* OP_ERR_MEMORY. `cache`: bytes of the L2 that hold what one loop uses; `adds_rows`: the device adds several floats of a row at
 * once. */
int gpu_sample_take(const struct loop *loop, const struct gpu_targets *targets, double cache, bool adds_rows,
                    struct gpu_sample *out, struct error *err);

/* ---- what a device is able to ---- */
struct gpu_rates {
  double copy;    /* bytes a second, read and written */
  double sectors; /* operations of the L2 a second */
  double red;     /* how many of them an atomic addition to a sector costs as much as */
  double launch;  /* seconds from one kernel to the next */
  double node,
      graph; /* the same in a graph, and what a graph takes beside them; without graphs as `launch`, and 0 */
  double
      dependent; /* as `launch`, to a kernel that waits itself for the one before; without such as `launch` */
};
/* An H100's, from `bench/results/2026-11-26-h100`: where nothing was measured. Small loops ran 1.05 times as fast as a graph. */
#define GPU_RATES_USUAL                                                                                      \
  ((struct gpu_rates){                                                                                       \
      .copy = 3.02e12, .sectors = 139e9, .red = 1.47, .launch = 3e-6, .node = 2.85e-6, .dependent = 3e-6})

/* ---- forms of kernels ---- */
struct gpu_counts {
  double reads, writes, reds; /* of 32 elements */
  double bytes;               /* of the loop */
  int launches;
};
/* False: the form is not one that is counted. */
bool gpu_count_form(const struct gpu_sample *s, const struct gpu_shape *shape, struct gpu_counts *out);
/* Seconds that a form's operations of the L2 take, and its bytes: it takes the longer of them, beside its launches. */
struct gpu_bounds {
  double cache, memory;
};
struct gpu_bounds gpu_bounds_of(const struct gpu_sample *s, const struct gpu_counts *c,
                                const struct gpu_rates *rates);
/* Seconds; HUGE_VAL for a form that is not counted. */
double gpu_predict(const struct gpu_sample *s, const struct gpu_shape *shape, const struct gpu_rates *rates);

#endif
