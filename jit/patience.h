/* A line on stderr while a compile takes long: most take some 0.1 s, and a kernel of many thousand lines takes minutes. */
#ifndef OP2JIT_JIT_PATIENCE_H
#define OP2JIT_JIT_PATIENCE_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "base/log.h"

struct patience {
  const struct log *log;
  const char *kernel;
  int lines;
  double seconds;
  struct timespec until;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t over;
  bool started, done;
};

/* Until patience_end, which has to follow: after so many seconds it is said that the kernel is being compiled, on a terminal to all, else
 * to who wants information on "jit". The log may be NULL. */
void patience_begin(struct patience *p, const struct log *log, const char *kernel, const char *text,
                    double seconds);
void patience_end(struct patience *p);

#endif
