/* The gain of waiting on a device. The program goes on while its loops run, so that clocks of the host say nothing: a
 * model counts the bytes that fused loops save, and the launches (struct backend's expect). */
#ifndef OP2JIT_LOOP_AUTO_DEVICE_H
#define OP2JIT_LOOP_AUTO_DEVICE_H

#include <stdbool.h>

struct loop;
struct op_context;

/* Seconds, added up over the parts of a period. */
struct device_gain {
  double seconds;      /* as called */
  double fused;        /* that are saved by loops made of several */
  double graph, whole; /* that are saved by graphs: of loops as they are, of those made of several */
};
/* Loops that follow one another, and between which nobody looks. False: too little is known yet. */
bool device_add(struct op_context *ctx, struct loop *const *loops, int n, struct device_gain *gain);
/* Seconds that a period gains; 0: not enough to wait. *fuses: its neighbours are to be one loop. */
double device_pays(const struct device_gain *gain, bool *fuses);
/* The same of loops that wait as the program wants it (OP2_LAZY=on). */
bool device_fuses(struct op_context *ctx, struct loop *const *loops, int n);

#endif
