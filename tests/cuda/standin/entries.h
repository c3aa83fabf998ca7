/* Inside the stand-in for the driver: what the files with its entry points share. */
#ifndef STANDIN_ENTRIES_H
#define STANDIN_ENTRIES_H

#include "standin.h"

#define EXPORT __attribute__((visibility("default")))

typedef unsigned long long address; /* of the device, as programs see it */

/* ---- driver.c ---- */
/* Every entry point's first work: the sticky error of a failed kernel, no context, or a call that is to fail. */
int driver_enter(const char *call);
int driver_enter_context(const char *call);
#define ENTER()                                                                                              \
  do {                                                                                                       \
    int code_ = driver_enter_context(__func__);                                                              \
    if (code_)                                                                                               \
      return code_;                                                                                          \
  } while (0)
int driver_error(void);
int driver_fail(int code); /* sticky; gives the code back */
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device);
EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned dynamic, void *stream, void **parameters, void **extra);

/* ---- graph.c ---- */
/* As cuda.h lays it out. */
struct node_launch {
  void *function;
  unsigned gx, gy, gz, bx, by, bz, dynamic;
  void **parameters, **extra;
};

/* ---- queue.c ---- */
enum work_kind {
  WORK_COPY,
  WORK_SET,
  WORK_LAUNCH,
  WORK_EVENT,
  WORK_WAIT,
  WORK_SET_FLAG,  /* the word at `to` becomes `flag` */
  WORK_AWAIT_FLAG /* it is, or is above it */
};
struct work {
  enum work_kind kind;
  void *stream;
  long number, waits; /* waits: number of the event's work, of WORK_WAIT */
  bool needed;
  uintptr_t to, from;
  size_t bytes;
  void *staged;
  unsigned char value;
  uint32_t flag;
  struct launch launch;
  void **parameters;
  struct event *event;
  struct work *next;
};
/* Work is done as late as is allowed: when somebody waits for it, or what somebody waits for waits for it. NULL: no memory. */
struct work *queue_add(enum work_kind kind, void *stream);
int queue_drain(void); /* all of it */
int queue_drain_to(const struct work *w);

/* ---- transfer.c ---- */
/* Device addresses carry a tag, unless the host may reach them (STANDIN_REACHABLE). */
address device_address(uintptr_t at);
bool is_of_device(address p);
/* The range is inside one live allocation of the device: where it is, or 0. */
uintptr_t device_range(address p, size_t bytes);
/* In memory of the host that kernels reach as well. */
bool is_pinned(const void *p);
/* A variable of a program that the host has asked for. */
void remember_variable(uintptr_t base, size_t bytes);

#endif
