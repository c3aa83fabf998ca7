/* Shared by the stand-in's driver and the code it runs: the machine that a kernel believes to run on.
 * Included by the driver (C) and by every compiled kernel program (C++). */
#ifndef STANDIN_MACHINE_H
#define STANDIN_MACHINE_H

struct standin_dim {
  unsigned x, y, z;
};

/* STANDIN_ALIGN: an address whose alignment does not fit what is behind it. No accesses: STANDIN_FENCE is __threadfence(),
 * STANDIN_WAIT waits for the kernel before this one. */
enum standin_access {
  STANDIN_READ,
  STANDIN_WRITE,
  STANDIN_ATOMIC,
  STANDIN_ALIGN,
  STANDIN_FENCE,
  STANDIN_WAIT
};

/* Operations that need other threads of the warp or of the block. */
enum standin_meeting {
  STANDIN_BARRIER,      /* __syncthreads and its voting forms */
  STANDIN_SYNCWARP,     /* __syncwarp */
  STANDIN_SHUFFLE,      /* value of lane `lane` */
  STANDIN_SHUFFLE_UP,   /* of the lane `lane` below */
  STANDIN_SHUFFLE_DOWN, /* of the lane `lane` above */
  STANDIN_SHUFFLE_XOR,  /* of lane number xor `lane` */
  STANDIN_BALLOT        /* one bit per lane */
};

struct standin_machine {
  struct standin_dim thread, block, block_dim, grid_dim;
  unsigned char *dynamic; /* the block's dynamic shared memory */
  /* Checked programs call it before every access of memory. */
  void (*access)(const void *address, unsigned size, int kind, const void *place);
  /* Wait for the others; the result is the value that the operation hands to this thread. */
  unsigned long long (*meet)(int meeting, unsigned long long mask, unsigned long long value, unsigned lane,
                             int width, int line);
  /* A failed assertion or a trap: does not return. */
  void (*trap)(const char *what, int line);
};

/* A kernel as a program exports it. */
struct standin_kernel {
  const char *name;
  int launch_bound; /* 0: none */
  int nparameters;
  const unsigned *sizes;           /* bytes of each parameter */
  const unsigned char *is_pointer; /* 1: an address of the device */
  void (*run)(void *const *parameters);
};

/* The one thing that a program exports, under the name "standin_program". */
struct standin_program {
  int checked, lanes; /* threads of a warp */
  const struct standin_kernel *kernels;
  int nkernels;
  unsigned char *shared_first, *shared_last; /* static shared memory */
  struct standin_machine **machine;          /* set by the driver */
};

/* Device addresses carry this bit, so that the host faults on them and a host address is recognised. */
#define STANDIN_TAG (1ULL << 60)

#endif
