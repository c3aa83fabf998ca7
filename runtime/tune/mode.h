/* The value of OP2_TUNE, the same for every backend. */
#ifndef OP2JIT_MODE_H
#define OP2JIT_MODE_H

#include <stdbool.h>

#include "base/error.h"
#include "tune/tuner.h"

struct tune_mode {
  bool candidates; /* more than the default are wanted */
  bool recall;     /* start at what an earlier run found */
  bool keep;       /* remember what this run finds */
  struct tuner_options options;
};

/* OP_ERR_ENV if the value is not off, use, auto, force or a number of seconds. */
int tune_mode_parse(const char *value, struct tune_mode *mode, struct error *err);

#endif
