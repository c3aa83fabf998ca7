#include "files/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double QUIET_SECONDS = 1, STEP_SECONDS = 0.2;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct progress progress_begin(const char *what, const char *path, double total, bool wanted) {
  return (struct progress){.what = what,
                           .path = path,
                           .total = total,
                           .begun = seconds(),
                           .wanted = wanted && isatty(STDERR_FILENO)};
}

void progress_add(struct progress *p, double done) {
  p->done += done;
  if (!p->wanted)
    return;
  const double now = seconds(), passed = now - p->begun;
  if (passed < QUIET_SECONDS || now - p->shown < STEP_SECONDS)
    return;
  p->shown = now;
  p->visible = true;
  fprintf(stderr, "\r\033[Kop2jit: %s %s: %3.0f %%, %.0f s", p->what, p->path,
          p->total > 0 ? 100 * p->done / p->total : 100.0, passed);
  fflush(stderr);
}

void progress_end(struct progress *p) {
  if (p->visible)
    fputs("\r\033[K", stderr);
  p->visible = false;
}
