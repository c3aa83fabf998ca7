/* Fewer calls and elements, by halves first (Zeller's delta debugging). */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "cli/replay.h"

/* So many runs are enough. */
enum { RUNS_MOST = 3000 };

static void replace(struct capture *c, struct capture *with) {
  capture_free(c);
  *c = *with;
  *with = (struct capture){0};
}

/* ---- elements ---- */

/* By set: which elements run, a byte each. NULL: no memory. */
static unsigned char **find_running(const struct capture *c) {
  unsigned char **runs = capture_flags(c);
  for (int i = 0; runs && i < c->ncalls; i++)
    for (long long k = 0; k < c->calls[i].count; k++)
      runs[c->calls[i].set][capture_element(&c->calls[i], k)] = 1;
  return runs;
}

/* All that run but number `begin` to `end`, in the order of sets and elements; and how many ran. */
static int without(const struct capture *c, long long begin, long long end, struct capture *out,
                   long long *count, struct error *err) {
  unsigned char **runs = find_running(c);
  int code = capture_copy(c, out, err);
  if (!runs && !code)
    code = error_memory(err, "a capture", 0);
  *count = 0;
  for (int s = 0; !code && s < c->nsets; s++)
    for (long long e = 0; e < c->sets[s].size; e++)
      if (runs[s][e]) {
        runs[s][e] = *count < begin || *count >= end;
        (*count)++;
      }
  if (!code)
    code = capture_select(out, (const unsigned char *const *)runs, err);
  capture_flags_free(runs, c->nsets);
  return code;
}

static int reduce_elements(struct judge *j, struct capture *c, const struct fault *f, struct error *err) {
  long long count = 0, parts = 2, ignored;
  struct capture all;
  int code = without(c, 0, 0, &all, &count, err);
  capture_free(&all);
  while (!code && count > 1 && j->runs < RUNS_MOST) {
    bool any = false;
    for (long long p = 0; !code && p < parts && count > 1 && j->runs < RUNS_MOST;) {
      struct capture less;
      const long long begin = count * p / parts, end = count * (p + 1) / parts;
      code = without(c, begin, end, &less, &ignored, err);
      const bool still = !code && end > begin && end - begin < count && fault_is_there(j, &less, f);
      if (still) {
        replace(c, &less);
        count -= end - begin;
        parts = parts > 2 ? parts - 1 : 2;
        any = true;
      } else
        p++;
      capture_free(&less);
    }
    if (!any && parts >= count)
      break;
    parts = any ? parts : 2 * parts;
    parts = parts > count ? count : parts;
  }
  return code;
}

/* ---- calls ---- */

static int reduce_calls(struct judge *j, struct capture *c, const struct fault *f, struct error *err) {
  int code = OP_OK;
  for (int i = c->ncalls - 1; !code && i >= 0 && c->ncalls > 1; i--) {
    struct capture less;
    code = capture_copy(c, &less, err);
    if (!code) {
      capture_drop_call(&less, i);
      code = capture_select(&less, NULL, err);
    }
    if (!code && fault_is_there(j, &less, f))
      replace(c, &less);
    capture_free(&less);
  }
  return code;
}

int reduce(struct judge *j, struct capture *c, const struct fault *f, struct error *err) {
  int code = reduce_calls(j, c, f, err);
  return code ? code : reduce_elements(j, c, f, err);
}
