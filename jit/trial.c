#include "jit/trial.h"

#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/list.h"
#include "include/op2jit.h"
#include "jit/load/load_bounds.h"

static sigjmp_buf back;
static volatile sig_atomic_t running;
static void *volatile fault;

/* Where the last run that ended with SIGSEGV reached. */
static const void *trial_fault(void) {
  return fault;
}

/* Whether a run that ended with this signal shows the finding. */
static bool is_stop(const struct prove_finding *f, int number) {
  const uintptr_t page = 4096;
  if (found_evidence(f->what) == EVIDENCE_NULL && number == SIGSEGV)
    return (uintptr_t)trial_fault() < page;
  return number == BOUNDS_STOP &&
         (found_evidence(f->what) == EVIDENCE_NULL || found_evidence(f->what) == EVIDENCE_INDEX ||
          found_evidence(f->what) == EVIDENCE_OUTSIDE);
}

bool trial_run(struct trial *t, const struct prove_finding *f, unsigned long number,
               struct trial_result *out) {
  bool seen = false;
  *out = (struct trial_result){0};
  trial_fill(t, number);
  const int stopped = trial_go(t, 0);
  if (stopped) {
    seen = is_stop(f, stopped);
    out->what = TRIAL_STOPPED;
  } else if (!trial_was_odd())
    switch (found_evidence(f->what)) {
    case EVIDENCE_PROMISE: seen = trial_breaks_promise(t, f->argument, number, out); break;
    case EVIDENCE_OUTSIDE: seen = trial_left_argument(t, f->argument, number, out); break;
    case EVIDENCE_KEPT: seen = trial_was_kept(t, number, out); break;
    case EVIDENCE_UNSET: seen = trial_was_unset(t, number, out); break;
    default: break;
    }
  out->trial = number;
  return seen;
}

void trial_print(struct trial *t, unsigned long number, struct text *out) {
  enum { MOST_ARGUMENTS = 6, MOST_VALUES = 8 };
  const bool fortran = t->loop->origins.fortran;
  int told = 0;
  trial_fill(t, number);
  for (int i = 0; i < t->loop->nargs && told < MOST_ARGUMENTS; i++) {
    const struct desc_arg *a = &t->loop->args[i];
    const int values = trial_values(t, i);
    if (!trial_makes(a) || !values)
      continue;
    text_addf(out, "%sargument %d = %s", told++ ? ", " : "", i + 1, values == 1 ? "" : fortran ? "[" : "{");
    for (int v = 0; v < values && v < MOST_VALUES; v++) {
      const double value = type_number(a->type, trial_value(t, t->memory, i, v));
      text_add(out, v ? ", " : "");
      text_addf(out, type_info(a->type)->is_float ? "%.6g" : "%.0f", value);
    }
    text_add(out, values > MOST_VALUES ? ", ..." : "");
    text_add(out, values == 1 ? "" : fortran ? "]" : "}");
  }
}

/* ---- the memory of a run, what it starts from, and the run itself ---- */
/* Behind a ragged map's table, which an index beyond the element's targets leads to, are so many numbers of guards. */
enum { BEHIND = 16 };

/* A guard is so many bytes wide and a row more. */
enum { GUARD_BYTES = 64, ALIGNMENT = 64 };
/* Bytes of guards: of the first side numbers so small that adding to them shows, of the second NaN. */
static const unsigned char patterns[2] = {0x05, 0xFF};

/* ---- life ---- */

static bool lay_out(struct trial *t, int i) {
  const struct desc_arg *from = &t->loop->args[i];
  struct trial_arg *a = &t->args[i];
  a->rows = !from->present ? 0 : desc_is_vector(from) ? t->loop->maps[from->map].arity : 1;
  a->bytes = (size_t)desc_row(t->loop, from) * trial_value_size(from);
  a->guard_rows = GUARD_BYTES / a->bytes + 1;
  a->at = (t->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  size_t bytes;
  if (!size_mul(a->bytes, ((size_t)a->rows + 1) * (a->guard_rows + 1), &bytes) ||
      !size_add(a->at, bytes, &t->bytes))
    return false;
  a->table = array_new((size_t)(TRIAL_HERE + 1) * (size_t)(a->rows ? a->rows : 1) + BEHIND, sizeof(int));
  for (int e = 0; e < TRIAL_HERE + 2; e++)
    a->first[e] = (long long)e * a->rows;
  for (int r = 0; a->table && r < a->rows; r++)
    a->table[TRIAL_HERE * a->rows + r] = (int)((size_t)r * (a->guard_rows + 1) + a->guard_rows);
  return a->table != NULL;
}

static void fill_frame(struct trial *t) {
  const struct desc *d = t->alone;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (a->dat >= 0) {
      t->frame[desc_slot_dat(d, a->dat)] = t->memory + t->args[i].at;
      t->frame[desc_slot_map(d, a->map)] = t->args[i].table;
      if (d->maps[a->map].ragged)
        t->frame[desc_slot_first(d, a->map)] = t->args[i].first;
    } else if (a->present)
      t->frame[desc_slot_arg(d, i)] = trial_row(t, i, 0);
  }
}

/* A constant that nobody gave a value is 1. */
static bool fill_constants(struct trial *t) {
  const struct desc *d = t->alone;
  t->constants = array_new((size_t)d->nconsts, sizeof *t->constants);
  for (int i = 0; t->constants && i < d->nconsts; i++) {
    const struct desc_const *known = &d->consts[i];
    const size_t size = type_info(known->type)->size;
    if (known->folded)
      continue;
    t->constants[i] = array_new((size_t)known->dim, size);
    if (!t->constants[i])
      return false;
    for (int c = 0; c < known->dim; c++)
      if (known->value)
        memcpy(t->constants[i] + (size_t)c * size, known->value + (size_t)c * size, size);
      else
        made_put(known->type, 1, t->constants[i] + (size_t)c * size);
    t->frame[desc_slot_const(d, i)] = t->constants[i];
  }
  return t->constants != NULL;
}

struct trial *trial_new(const struct desc *loop, const struct desc *alone, const struct made *made,
                        const range_function codes[2]) {
  struct trial *t = array_new(1, sizeof *t);
  if (!t)
    return NULL;
  *t = (struct trial){.loop = loop, .alone = alone, .made = made, .codes = {codes[0], codes[1]}};
  bool good = true;
  for (int i = 0; good && i < loop->nargs; i++)
    good = lay_out(t, i);
  good = good && (t->memory = array_new(t->bytes, 1)) && (t->first = array_new(t->bytes, 1)) &&
         (t->frame = array_new((size_t)desc_slots(alone), sizeof(void *))) && fill_constants(t);
  if (!good) {
    trial_free(t);
    return NULL;
  }
  fill_frame(t);
  return t;
}

void trial_free(struct trial *t) {
  if (!t)
    return;
  for (int i = 0; i < OP_MAX_ARGS; i++)
    free(t->args[i].table);
  for (int i = 0; t->constants && i < t->alone->nconsts; i++)
    free(t->constants[i]);
  free(t->constants);
  free(t->memory);
  free(t->first);
  free(t->frame);
  free(t);
}

/* ---- what a run starts from ---- */

static bool is_undefined_before(const struct desc_arg *a) {
  return a->form != DESC_INFO && (a->access == OP_WRITE || a->access == OP_WORK);
}

bool trial_makes(const struct desc_arg *a) {
  return !is_undefined_before(a) && (a->form == DESC_INFO || a->access != OP_INC);
}

int trial_poison(const struct trial *t, int i, int side) {
  const bool truth = t->loop->args[i].type == TYPE_BOOL;
  return side == 0 ? 0xA0 + i % 16 : truth ? 0 : 0x50 + i % 16;
}

void trial_make(const struct trial *t, int i, int v, unsigned long number, unsigned char *out) {
  const struct desc_arg *a = &t->loop->args[i];
  made_value(t->made, number, (unsigned)i << 20 | (unsigned)v, a->type, a->form == DESC_IDX, out);
}

void trial_set_guards(const struct trial *t, int i, int side) {
  const struct trial_arg *a = &t->args[i];
  for (int g = 0; g <= a->rows; g++)
    memset(t->memory + a->at + (size_t)g * (a->guard_rows + 1) * a->bytes, patterns[side],
           a->guard_rows * a->bytes);
}

void trial_fill(const struct trial *t, unsigned long number) {
  for (int i = 0; i < t->loop->nargs; i++) {
    const struct desc_arg *a = &t->loop->args[i];
    const int byte = is_undefined_before(a) ? trial_poison(t, i, 0) : 0;
    trial_set_guards(t, i, 0);
    for (int v = 0; v < trial_values(t, i); v++)
      if (trial_makes(a))
        trial_make(t, i, v, number, trial_value(t, t->memory, i, v));
      else
        memset(trial_value(t, t->memory, i, v), byte, trial_value_size(a));
  }
}

/* ---- a run ---- */

static void stop(int number, siginfo_t *info, void *context) {
  (void)context;
  if (!running)
    _Exit(number);
  running = 0;
  fault = number == SIGSEGV ? info->si_addr : NULL;
  siglongjmp(back, number);
}

void trial_catch_signals(void) {
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGVTALRM};
  enum { STACK = 1 << 16 };
  static unsigned char stack[STACK];
  sigset_t none;
  fesetenv(FE_DFL_ENV);
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
  action.sa_sigaction = stop;
  sigemptyset(&action.sa_mask);
  sigemptyset(&none);
  for (int n = 1; n < NSIG; n++)
    signal(n, SIG_DFL); /* the program's handlers are not for this process */
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = STACK}, NULL);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    sigaction(numbers[i], &action, NULL);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

int trial_go(struct trial *t, int code) {
  const struct itimerval most = {.it_value.tv_usec = 100000}, none = {0};
  const int number = sigsetjmp(back, 0);
  if (number == 0) {
    setitimer(ITIMER_VIRTUAL, &most, NULL);
    feclearexcept(FE_ALL_EXCEPT);
    running = 1;
    t->codes[code](t->frame, NULL, TRIAL_HERE, TRIAL_HERE + 1);
  }
  running = 0;
  setitimer(ITIMER_VIRTUAL, &none, NULL);
  return number;
}

bool trial_was_odd(void) {
  return fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) != 0;
}

static bool is_output(const struct desc_arg *a) {
  return a->form == DESC_INFO || (a->form != DESC_IDX && access_changes(a->access));
}

double trial_number_at(const struct trial *t, unsigned char *memory, const struct trial_result *at) {
  const struct desc_arg *a = &t->loop->args[at->argument];
  return type_number(a->type, trial_row_in(t, memory, at->argument, at->row) +
                                  (size_t)at->component * trial_value_size(a));
}

bool trial_differs_in(const struct trial *t, int i, struct trial_result *out) {
  for (int r = 0; r < t->args[i].rows; r++) {
    const unsigned char *now = trial_row(t, i, r), *then = trial_row_in(t, t->first, i, r);
    if (memcmp(now, then, t->args[i].bytes) == 0)
      continue;
    size_t b = 0;
    while (now[b] == then[b])
      b++;
    out->argument = i;
    out->row = r;
    out->component = (int)(b / trial_value_size(&t->loop->args[i]));
    return true;
  }
  return false;
}

bool trial_differs(const struct trial *t, int but, enum trial_what what, struct trial_result *out) {
  for (int i = 0; i < t->loop->nargs; i++)
    if (i != but && is_output(&t->loop->args[i]) && trial_differs_in(t, i, out)) {
      out->values[0] = trial_number_at(t, t->first, out);
      out->values[1] = trial_number_at(t, t->memory, out);
      out->what = what;
      return true;
    }
  return false;
}
