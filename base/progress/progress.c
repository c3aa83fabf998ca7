#include "base/progress/progress.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"

/* Codes of any terminal since the VT100: `before` keeps the cursor's place and writes without going on to a
 * second line; `behind` wipes what is left of the line and goes back. */
static const char before[] = "\0337\033[?7l", behind[] = "\033[K\033[?7h\0338", wipe[] = "\033[K";

static const double pause = 0.1; /* seconds between two drawings of a step */

/* One write, so that nothing gets in between. */
__attribute__((format(printf, 2, 0))) static void draw(struct progress *p, const char *format, va_list args) {
  struct text line = {0};
  const bool terminal = p->form == PROGRESS_TERMINAL;
  text_add(&line, terminal ? before : "");
  text_add(&line, "op2jit: ");
  text_vaddf(&line, format, args);
  text_add(&line, terminal ? behind : "\n");
  if (text_ok(&line)) {
    fflush(stdout); /* what the program wrote on this line comes first */
    fputs(text_str(&line), stderr);
  }
  text_free(&line);
  p->shown = terminal;
  p->drawn = clock_seconds();
}

void progress_step(struct progress *p, const char *format, ...) {
  va_list args;
  if (!p || p->form == PROGRESS_NONE)
    return;
  va_start(args, format);
  draw(p, format, args);
  va_end(args);
}

void progress_more(struct progress *p, const char *format, ...) {
  va_list args;
  if (!p || p->form != PROGRESS_TERMINAL || (p->shown && clock_seconds() - p->drawn < pause))
    return;
  va_start(args, format);
  draw(p, format, args);
  va_end(args);
}

void progress_wipe(struct progress *p) {
  fputs(wipe, stderr);
  p->shown = false;
}
