#include <signal.h>
#include <stdint.h>

#include "jit/load/load_bounds.h"
#include "jit/witness/trial_inner.h"

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
