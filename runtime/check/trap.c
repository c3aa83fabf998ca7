#include "check/trap.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#include "jit/load/load_bounds.h"

static const int numbers[] = {SIGFPE, BOUNDS_STOP};
enum { NUMBERS = sizeof numbers / sizeof *numbers };
static struct sigaction own, before[NUMBERS];
static bool begun[NUMBERS];
/* The call that runs on this thread. */
static _Thread_local jmp_buf *volatile back;

/* A signal that is not of the call goes to the handler of before: one that a process sent is sent again, and an
 * instruction runs again. */
static void ended(int number, siginfo_t *info, void *context) {
  (void)context;
  jmp_buf *to = back;
  const enum trap_cause cause = number == SIGFPE && info->si_code == FPE_INTDIV ? TRAP_DIVIDED
                                : number == BOUNDS_STOP && info->si_code > 0    ? TRAP_LEFT
                                                                                : TRAP_NONE;
  if (to && cause != TRAP_NONE) {
    back = NULL;
    longjmp(*to, (int)cause);
  }
  sigaction(number, &before[number == BOUNDS_STOP], NULL);
  if (info->si_code <= 0) {
    raise(number);
    sigaction(number, &own, NULL);
  }
}

void trap_begin(void) {
  /* The handler is left by a jump, which would leave the signal blocked. */
  own = (struct sigaction){.sa_flags = SA_SIGINFO | SA_NODEFER};
  own.sa_sigaction = ended;
  sigemptyset(&own.sa_mask);
  for (int i = 0; i < NUMBERS; i++)
    begun[i] = sigaction(numbers[i], &own, &before[i]) == 0;
}

void trap_end(void) {
  for (int i = 0; i < NUMBERS; i++) {
    if (begun[i])
      sigaction(numbers[i], &before[i], NULL);
    begun[i] = false;
  }
}

static _Thread_local const char *failed;

void trap_assert_failed(const char *condition) {
  jmp_buf *to = back;
  if (!to)
    return;
  back = NULL;
  failed = condition;
  longjmp(*to, TRAP_ASSERTED);
}

const char *trap_condition(void) {
  return failed;
}

enum trap_cause trap_call(void (*run)(void *user), void *user) {
  jmp_buf here;
  switch (setjmp(here)) {
  case TRAP_DIVIDED: return TRAP_DIVIDED;
  case TRAP_LEFT: return TRAP_LEFT;
  case TRAP_ASSERTED: return TRAP_ASSERTED;
  default: break;
  }
  back = &here;
  run(user);
  back = NULL;
  return TRAP_NONE;
}
