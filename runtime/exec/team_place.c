#include "exec/team_place.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "exec/team_fill.h"
#include "exec/team_quota.h"

bool cpus_allowed(struct cpus *out) {
  for (int room = 1024; room <= 1 << 20; room *= 2) {
    *out = (struct cpus){.mask = CPU_ALLOC((size_t)room), .bytes = CPU_ALLOC_SIZE((size_t)room)};
    if (!out->mask)
      return false;
    if (sched_getaffinity(0, out->bytes, out->mask) == 0 && cpus_count(out) > 0)
      return true;
    cpus_free(out);
  }
  return false;
}

int cpus_count(const struct cpus *cpus) {
  return CPU_COUNT_S(cpus->bytes, cpus->mask);
}

void cpus_free(struct cpus *cpus) {
  CPU_FREE(cpus->mask);
  cpus->mask = NULL;
}

struct places *places_open(void) {
  long ncpus = sysconf(_SC_NPROCESSORS_CONF);
  size_t bytes;
  struct places *places = NULL;
  if (ncpus < 1 || !size_mul((size_t)ncpus, sizeof *places->cpu, &bytes) ||
      !size_add(bytes, sizeof *places, &bytes) ||
      posix_memalign((void **)&places, _Alignof(struct places), bytes) != 0)
    return NULL;
  memset(places, 0, bytes);
  places->ncpus = (size_t)ncpus;
  return places;
}

void places_close(struct places *places) {
  free(places);
}

bool place_leave(struct places *places, uint64_t run) {
  struct cpus mine;
  if (!cpus_allowed(&mine))
    return false;
  cpu_set_t *other = CPU_ALLOC(mine.bytes * 8);
  bool left = false;
  if (other) {
    CPU_OR_S(mine.bytes, other, mine.mask, mine.mask);
    for (size_t cpu = 0; cpu < places->ncpus && cpu < mine.bytes * 8; cpu++) {
      /* relaxed: an old number means a CPU that is less free than it looked */
      const uint64_t last = atomic_load_explicit(&places->cpu[cpu].run, memory_order_relaxed);
      if (last > 0 && last + 1 >= run)
        CPU_CLR_S(cpu, mine.bytes, other);
    }
    /* The kernel moves the thread at once when it forbids it the CPU that it is on. */
    left = CPU_COUNT_S(mine.bytes, other) > 0 && sched_setaffinity(0, mine.bytes, other) == 0;
    if (left)
      sched_setaffinity(0, mine.bytes, mine.mask);
    CPU_FREE(other);
  }
  cpus_free(&mine);
  return left;
}

/* ---- how many threads a team has, if nobody says so ---- */
static const long spin_ns = 1000000;

int team_cpus(void) {
  struct cpus cpus;
  if (!cpus_allowed(&cpus))
    return 1;
  const int count = cpus_count(&cpus), quota = quota_cpus("");
  cpus_free(&cpus);
  return quota > 0 && quota < count ? quota : count;
}

void team_decide(struct team *team, int threads) {
  int cpus = team_cpus();
  if (!team->threads)
    team->threads = threads > 0 ? threads : cpus;
  team->patience.spin_ns = team->threads > cpus ? 0 : spin_ns;
}
