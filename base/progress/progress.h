/* Progress of long work: one line on the terminal. The next line writes over it, and it is gone at the end. It
 * stands behind what the program wrote and keeps the cursor's place. One thread at a time. Every function takes
 * NULL and then does nothing. */
#ifndef OP2JIT_BASE_PROGRESS_H
#define OP2JIT_BASE_PROGRESS_H

#include <stdbool.h>

enum progress_form {
  PROGRESS_NONE,
  PROGRESS_TERMINAL,
  PROGRESS_LINES /* stderr goes elsewhere: each step is a line that stays, and how far it is is not said */
};

struct progress {
  enum progress_form form;
  bool shown;   /* there is something to wipe away */
  double drawn; /* when */
};

/* A step begins. The line says what is done, and to what. */
void progress_step(struct progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same step goes on. Called as often as one likes: few of them are drawn. */
void progress_more(struct progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The work is over: wipe the line. */
void progress_wipe(struct progress *p);
static inline void progress_end(struct progress *p) {
  if (p && p->shown)
    progress_wipe(p);
}

#endif
