/* How the elements of a loop are dealt out. */
#ifndef OP2JIT_STRATEGY_H
#define OP2JIT_STRATEGY_H

enum strategy {
  STRATEGY_COLOURS,  /* blocks by colour */
  STRATEGY_OWNERS,   /* each thread its range of the targets, the elements between ranges by colour */
  STRATEGY_GATHER,   /* each element writes its increments apart, each target collects its own */
  STRATEGY_WHOLE,    /* all elements in order, on one thread */
  STRATEGY_CHUNKS,   /* chunks in any order: nothing is incremented through a map */
  STRATEGY_PLAN,     /* a plan without schedule: for devices */
  STRATEGY_STRAIGHT, /* no way to deal out: where the elements' targets follow one another */
  STRATEGIES
};

#endif
