/* Where least has to be kept: the last period is taken for the next one, and the live dats are counted at each of its
 * boundaries. What is really kept does not depend on it. */
#include <stdlib.h>

#include "checkpoint/inner.h"
#include "context/context.h"

static const struct kind *kind_at(const struct happened *h, long long event) {
  return &h->kinds[h->history.ring[event % HISTORY]];
}

/* Stages of a step repeat one another inside a longer period: so many events have to agree, where there are as many. */
enum { CONVINCING = 32 };

static bool repeats(const struct happened *h, int period, long long known) {
  const long long n = h->history.count, wanted = period < CONVINCING ? CONVINCING : period;
  const long long first = n - (wanted < known - period ? wanted : known - period);
  for (long long e = n - 1; e >= first; e--)
    if (kind_at(h, e) != kind_at(h, e - period))
      return false;
  return true;
}

static int find_period(const struct happened *h) {
  const long long known = h->history.count < HISTORY ? h->history.count : HISTORY;
  for (int period = 1; 2 * period <= known; period++)
    if (repeats(h, period, known))
      return period;
  return 0;
}

/* Backwards over an event: what it writes whole is dead before it, what it reads is live. */
static long long pass(const struct checkpoint *k, const struct kind *kind, bool *live, long long bytes) {
  for (int turn = 0; turn < 2; turn++)
    for (int i = 0; i < kind->naccesses; i++) {
      const struct kind_access *a = &kind->accesses[i];
      if ((size_t)a->dat >= k->nmarks || !k->marks[a->dat].changed || a->kills == (turn == 1) ||
          live[a->dat] == (turn == 1))
        continue;
      live[a->dat] = turn == 1;
      bytes += turn == 1 ? a->bytes : -a->bytes;
    }
  return bytes;
}

struct place place_best(const struct happened *h, const struct op_context *ctx) {
  const struct checkpoint *k = checkpoint_of(ctx);
  struct place best = {0, find_period(h)};
  bool *live = best.period ? calloc(k->nmarks + 1, sizeof *live) : NULL;
  long long bytes = 0, least = -1;
  for (int round = 0; live && round < 2; round++)
    for (int wait = best.period - 1; wait >= 0; wait--) {
      bytes = pass(k, kind_at(h, h->history.count - best.period + wait), live, bytes);
      if (round && (least < 0 || bytes <= least)) {
        least = bytes;
        best.wait = wait;
      }
    }
  free(live);
  return best;
}
