#include "check/trap.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static struct sigaction own, before;
static bool begun;
/* The call that runs on this thread. */
static _Thread_local jmp_buf *volatile back;

/* What is not the call's goes to who had the signal before: what a process sent is sent once more, and an
 * instruction is run once more. */
static void divided(int number, siginfo_t *info, void *context) {
  (void)context;
  jmp_buf *to = back;
  if (to && info->si_code == FPE_INTDIV) {
    back = NULL;
    longjmp(*to, 1);
  }
  sigaction(number, &before, NULL);
  if (info->si_code <= 0) {
    raise(number);
    sigaction(number, &own, NULL);
  }
}

void trap_begin(void) {
  /* The handler is left by a jump, which would leave the signal blocked. */
  own = (struct sigaction){.sa_flags = SA_SIGINFO | SA_NODEFER};
  own.sa_sigaction = divided;
  sigemptyset(&own.sa_mask);
  begun = sigaction(SIGFPE, &own, &before) == 0;
}

void trap_end(void) {
  if (begun)
    sigaction(SIGFPE, &before, NULL);
  begun = false;
}

bool trap_call(void (*run)(void *user), void *user) {
  jmp_buf here;
  if (setjmp(here) != 0)
    return false;
  back = &here;
  run(user);
  back = NULL;
  return true;
}
