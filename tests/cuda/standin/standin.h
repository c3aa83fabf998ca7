/* Inside the stand-in for the driver: memory, the checker and the machine that runs blocks. One process, one
 * thread inside at a time; its state is global because the entry points of the driver are. */
#ifndef STANDIN_H
#define STANDIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine.h"

/* The driver's own numbers, those that the stand-in gives. */
enum {
  CODE_OK = 0,
  CODE_INVALID_VALUE = 1,
  CODE_OUT_OF_MEMORY = 2,
  CODE_NOT_INITIALIZED = 3,
  CODE_NO_DEVICE = 100,
  CODE_INVALID_DEVICE = 101,
  CODE_INVALID_IMAGE = 200,
  CODE_INVALID_CONTEXT = 201,
  CODE_NO_BINARY_FOR_GPU = 209,
  CODE_INVALID_HANDLE = 400,
  CODE_NOT_FOUND = 500,
  CODE_NOT_READY = 600,
  CODE_ILLEGAL_ADDRESS = 700,
  CODE_LAUNCH_OUT_OF_RESOURCES = 701,
  CODE_LAUNCH_TIMEOUT = 702,
  CODE_ASSERT = 710,
  CODE_MISALIGNED = 716,
  CODE_LAUNCH_FAILED = 719,
  CODE_NOT_SUPPORTED = 801
};

/* ---- settings: STANDIN_* variables, read at cuInit ---- */
struct standin_settings {
  bool checked, reachable; /* the host reaches memory of the device */
  unsigned long long seed; /* 0: the natural order */
  size_t memory;           /* bytes of the device */
  int devices, capability; /* 90 */
  int gfx;                 /* of HIP: 0x90a */
  int driver_version;      /* 13000 */
  bool dependents;         /* STANDIN_DEPENDENT: launches may begin before the one before has ended */
  int fail_code;           /* STANDIN_FAIL=CALL:N:CODE: the Nth call of that name gives the code */
  long fail_at;
  char fail_call[32];
};
extern struct standin_settings standin_settings;

/* ---- memory ---- */
struct mark { /* who touched a byte last */
  uint32_t launch, block, epoch, warp_epoch;
  int16_t thread; /* -1: several of one warp, -2: of several warps */
  uint8_t kind;
  const void *place;
};
#define MARK_BLOCKS UINT32_MAX /* several blocks */
struct shadow {
  struct mark write, read;
  uint8_t defined;
};
struct region {
  uintptr_t base;
  size_t bytes, mapped;
  bool live, pinned, taken; /* taken: of another process */
  int file;                 /* other processes may have it: its number + 1 */
  int serial;
  struct shadow *shadow; /* one per byte, checked mode only */
};
enum { MEMORY_NEW = 0xFF }; /* every byte of it: a NaN, an index out of every range */
/* NULL: no memory. Device addresses come without tag and are never given twice. */
struct region *memory_new(size_t bytes, bool pinned);
bool memory_free(uintptr_t address, bool pinned);
/* Memory of the device becomes a file that other processes may take: its number, -1: it cannot. */
int memory_give(uintptr_t address);
struct region *memory_take(int file, size_t bytes);
struct region *memory_find(uintptr_t address); /* also regions that are freed */
size_t memory_used(void);
void memory_define(uintptr_t address, size_t bytes); /* the host wrote it */
struct shadow *memory_shadow(size_t bytes);
bool memory_in_arena(uintptr_t address);

/* ---- programs ---- */
struct standin_module {
  void *handle;
  int file; /* the program, for addr2line */
  uintptr_t offset;
  uintptr_t first, last; /* its image in memory */
  const struct standin_program *program;
};
struct standin_function {
  struct standin_module *module;
  const struct standin_kernel *kernel;
  int dynamic_limit;
};

/* ---- the machine ---- */
struct launch {
  const struct standin_function *function;
  struct standin_dim grid, block;
  unsigned dynamic_bytes;
  void *const *parameters; /* tagged addresses inside */
  bool dependent;          /* may begin before the launch before it has ended */
};
/* Run it: CODE_OK or what the driver would say. */
int blocks_run(const struct launch *launch);

struct thread_state {
  int number; /* in its block */
  uint32_t epoch, warp_epoch;
  bool waited; /* for the launch before this one */
};
struct running {
  const struct launch *launch;
  uint32_t serial; /* of the launch */
  int lanes;       /* of a warp */
  uint32_t block;
  struct thread_state *thread;
  unsigned char *dynamic;
  struct shadow *dynamic_shadow, *static_shadow;
  const char *stacks;
  size_t stacks_bytes;
};
extern struct running running;
/* End the launch from inside a kernel with this code; does not return. */
void blocks_abort(int code) __attribute__((noreturn));

/* ---- what orders blocks (order.c), in checked mode ---- */
bool order_launch(uint32_t blocks); /* false: no memory */
void order_block(uint32_t number);
void order_fence(void); /* of the running thread */
void order_atomic(uintptr_t word);
/* Whether the touch, of another block or of several, is ordered before what the running thread does now. */
bool order_before(const struct mark *m);

/* ---- the checker ---- */
void check_access(const void *address, unsigned size, int kind, const void *place);
/* A finding: "race: ...". `place` is an address in the program (NULL: none), `line` a line of the source (0:
 * unknown). */
void finding(const char *kind, const void *place, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int finding_count(void);

/* ---- what the second-level cache would have to do (count.c), in checked mode ---- */
struct standin_counts {
  long long stores, atomics, loads; /* sectors of 32 bytes, for each instruction of a warp */
};
bool count_is_on(void);
void count_access(uintptr_t address, unsigned size, int kind, const void *place);
void count_block(void); /* a block has ended */
/* Exported for tests: count from now on, or no more; what was counted since. */
__attribute__((visibility("default"))) void standin_count(int on);
__attribute__((visibility("default"))) void standin_counted(struct standin_counts *out);

/* Exported for tests: the findings since the last call, as text; returns how many. */
__attribute__((visibility("default"))) int standin_findings(char *out, size_t size);
/* Exported for tests: another seed or mode without a new process. */
__attribute__((visibility("default"))) void standin_seed(unsigned long long seed);
/* Bytes that are allocated, pinned memory included. */
__attribute__((visibility("default"))) size_t standin_live(void);

#endif
