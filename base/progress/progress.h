/* What takes long says so while it lasts: one line on the terminal, which the next one writes over, and which is gone
 * at the end. On a terminal it stands behind what the program wrote, whose place the cursor keeps. One thread at a
 * time. Every function takes NULL, and does nothing then. */
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

/* A step begins: what is done, and to what. */
void progress_step(struct progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same step goes on. Called as often as one likes: few of them are drawn. */
void progress_more(struct progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Nothing is done any more that anybody need know of. */
void progress_wipe(struct progress *p);
static inline void progress_end(struct progress *p) {
  if (p && p->shown)
    progress_wipe(p);
}

#endif
